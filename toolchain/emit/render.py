"""The one jinja2 environment: templates loop and print; a misspelt name is an error."""

from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from toolchain.emit.literals import array_body, braces, c_type, comment, float_literal, number_lines
from toolchain.resources import TEMPLATES


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(
        array_body=array_body,
        braces=braces,
        c_type=c_type,
        comment=comment,
        float_literal=float_literal,
        number_lines=number_lines,
    )
    return environment


def render(template: str, /, **context: Any) -> str:
    """Text of a template of templates/."""
    return _environment().get_template(template).render(**context)
