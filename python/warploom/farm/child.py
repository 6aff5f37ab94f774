"""The child process of a worker: `python -m warploom.farm.child`.

Standard input has the pickled work and items. Standard output gets a row a line, as soon as an item
is done.
"""

from __future__ import annotations

import os
import pickle
import sys

from .batch import rows_of, to_json


def main() -> None:
    # A function that prints must not disturb the rows.
    rows = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    work, items = pickle.load(sys.stdin.buffer)
    for row in rows_of(work, items):
        rows.write(to_json(row) + "\n")


if __name__ == "__main__":
    main()
