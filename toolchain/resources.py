"""Where the data are: folders beside the package in a checkout, inside it in a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_ROOT = _PACKAGE / "_data" if (_PACKAGE / "_data").is_dir() else _PACKAGE.parent

BOARDS = _ROOT / "boards"
CMSIS_GLUE = _ROOT / "cmsis_glue"
TEMPLATES = _ROOT / "templates"
COSTS = _PACKAGE / "select" / "costs.json"
