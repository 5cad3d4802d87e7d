"""Templates of what a browser shows: text of models is escaped, a misspelt name is an error."""

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from toolchain.report.table import decibel, number, percent
from toolchain.resources import TEMPLATES


@cache
def template(name: str) -> Template:
    """A template of templates/report."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES / "report"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.filters.update(number=number, decibel=decibel, percent=percent)
    return environment.get_template(name)
