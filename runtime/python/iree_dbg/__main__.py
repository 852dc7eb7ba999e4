"""`python -m iree_dbg ARGUMENTS` is `iree-dbg ARGUMENTS`."""

import os
import subprocess
import sys

from ._binary import find_binary


def main() -> None:
    """Becomes the program; on Windows, where a process cannot, runs it and waits."""
    command = [find_binary(), *sys.argv[1:]]
    if sys.platform == "win32":
        try:
            sys.exit(subprocess.run(command).returncode)
        except KeyboardInterrupt:
            sys.exit(2)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
