"""Entry point: Ctrl-C ends the command quietly, also while its modules are still loading."""

import os
import signal
from types import FrameType


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(130)


def main() -> None:
    """Load the command line, which takes a second, and run it."""
    signal.signal(signal.SIGINT, _leave)
    from toolchain.cli import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
