"""The command `warploom`, which the wheel carries, and the folder of the CUDA libraries."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Optional, Sequence

from ._native import Error

#: The variable that names another command than the wheel's.
VARIABLE = "WARPLOOM_COMMAND"


def path() -> str:
    """Returns the path of the command: of $WARPLOOM_COMMAND, of the wheel, or on PATH.

    Raises Error if there is none.
    """
    given = os.environ.get(VARIABLE)
    if given:
        if not os.access(given, os.X_OK):
            raise Error(f"{VARIABLE} is `{given}`: expected the path of the command `warploom`")
        return given
    own = Path(__file__).parent / "bin" / "warploom"
    if own.is_file():
        if not os.access(own, os.X_OK):  # Some installers drop permissions.
            own.chmod(own.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return str(own)
    found = shutil.which("warploom")
    # The script of this package would call itself.
    if found is not None and not _is_script(found):
        return found
    raise Error(
        "the command `warploom` is not part of this build of the package: build it with "
        f"`cargo build --release --workspace`, and name it in {VARIABLE}"
    )


def _is_script(command: str) -> bool:
    with open(command, "rb") as file:
        return file.read(2) == b"#!"


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command in place of this process: the console script `warploom`."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        command = path()
    except Error as problem:
        print(f"warploom: {problem}", file=sys.stderr)
        return 3
    os.execv(command, ["warploom", *given])
