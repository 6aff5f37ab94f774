"""A farm: launches, seeds and any other items, spread over the workers of a Dask cluster.

    from warploom import farm

    results = farm.replay("launches", client="tcp://host:8786")
    print(results.summary())

`replay` runs captured launches, `fuzz` runs seeds with one shared corpus, and `map` runs a function
on any items. A campaign writes one row for each item to a file. A campaign that stopped goes on
from its file. `python -m warploom.farm --help` shows the same as commands.
"""

from __future__ import annotations

from .campaign import map
from .corpus import fuzz
from .errors import Error
from .launches import replay
from .results import Results

__all__ = ["Error", "Results", "fuzz", "map", "replay"]
