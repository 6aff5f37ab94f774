"""`python -m warploom cuda [OPTIONS] SCRIPT.py ...`, and all other commands of `warploom`."""

from __future__ import annotations

import sys

from .command import main


def with_python(arguments: list[str]) -> list[str]:
    """Puts this Python before the script: `cuda --device sm_80 x.py` runs `python x.py`.

    A script is the first argument that is no option and no option's value, or `-m` or `-c`. Each
    option of `warploom cuda` has a value.
    """
    at = 1
    while at < len(arguments) and arguments[at].startswith("--"):
        if arguments[at] == "--" or arguments[at] == "--help":
            return arguments
        at += 1 if "=" in arguments[at] else 2
    if at >= len(arguments) or arguments[at] == "-h":
        return arguments
    return [*arguments[:at], "--", sys.executable, *arguments[at:]]


def run() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["cuda"]:
        arguments = with_python(arguments)
    return main(arguments)


if __name__ == "__main__":
    sys.exit(run())
