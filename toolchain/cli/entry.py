"""From the arguments of the process to its exit code."""

import os
import sys

import typer

from toolchain.cli.commands import app
from toolchain.errors import ToolchainError
from toolchain.report.terminal import complain, print_anything

_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The base of what typer raises for a wrong command line; newer versions bring their own click."""


def main() -> None:
    """Entry point: a user's mistake ends in two lines, never in a traceback."""
    print_anything()
    arguments = sys.argv[1:] or ["--help"]
    try:
        code = app(arguments, prog_name="onnx2mcu", standalone_mode=False)
        sys.stdout.flush()
    except ToolchainError as error:
        code = error.exit_code
        where = f"{error.where}: " if error.where else ""
        complain(f"{error.stage}: {where}{error.reason}", error.hint)
    except _USAGE_ERROR as error:
        code = 2
        command = getattr(getattr(error, "ctx", None), "command_path", "onnx2mcu")
        message = str(getattr(error, "format_message", error.__str__)()).rstrip(".")
        message = message.replace("Value error, ", "")
        complain(f"command line: {message}", f"{command} --help lists what there is")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        code = 1
        complain(f"system: {error}", "look at free space and permissions")
    except Exception as error:
        if "ONNX2MCU_DEBUG" in os.environ:
            raise
        code = 1
        complain(
            f"internal: {type(error).__name__}: {error}",
            "this is a bug; ONNX2MCU_DEBUG=1 shows where",
        )
    sys.exit(code)
