"""The command line: the same program as without Python."""

import signal
import sys

from ._invar import command


def main() -> int:
    """Runs ``invar`` with the arguments of this process."""
    # Until the program listens itself, Ctrl-C ends it, as it ends other programs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["invar", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
