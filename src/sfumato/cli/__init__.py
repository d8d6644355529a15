"""The command line: parse, call, show. The only package that knows Typer and Rich.

Nothing heavy is imported before a command runs, so that help answers at once.
"""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        from sfumato.cli.interrupt import interruptible

        with interruptible():
            from sfumato.cli.app import run

            return run(arguments)
    except KeyboardInterrupt as interrupt:
        if str(interrupt):
            print(interrupt, file=sys.stderr)
        return 130
