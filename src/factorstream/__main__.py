"""The command ``factorstream``, which ``python -m factorstream`` is too.

It is here and not in ``cli`` that a process begins, so that an interruption is answered while ``cli`` is imported, too.
"""

from __future__ import annotations

import signal
import sys
from typing import Any, NoReturn

__all__ = ["main"]


def main() -> int:
    """Run the command line as a process of its own, and return its exit code."""
    try:
        signal.signal(signal.SIGTERM, _end)
        from .cli import main as run

        return run()
    except KeyboardInterrupt:
        print("factorstream: interrupted.", file=sys.stderr)
        return 130


def _end(number: int, _: Any) -> NoReturn:
    """End as after Ctrl-C: what is half-written is taken away. The exit code is that of other programs."""
    print("factorstream: interrupted.", file=sys.stderr)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
