"""The command line."""

from toolchain.cli.commands import app
from toolchain.cli.entry import main

__all__ = ["app", "main"]
