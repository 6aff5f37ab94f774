"""A campaign: a function on many items, by the workers of a cluster."""

from __future__ import annotations

import os
from pathlib import Path
from pickle import PicklingError
from typing import Any, Callable, Iterable

from .batch import Function, Work, own
from .cluster import connect
from .errors import Error, need
from .loop import Loop
from .progress import Bar
from .results import Results
from .store import Key, Row, Store


def map(
    function: Function,
    items: Iterable[Any],
    *,
    campaign: Row | None = None,
    key: Callable[[Any], Key] = own,
    total: int | None = None,
    client: Any = None,
    workers: int = 4,
    store: str | os.PathLike[str] = "results.jsonl",
    retry_failed: bool = False,
    keep: str = "all",
    batch: int | None = None,
    deaths: int = 3,
    wall_limit: float | None = None,
    quiet: bool = False,
) -> Results:
    """Runs `function(item)` for each item on a cluster, and returns the results.

    The function returns a dict with any fields, or None. Its field `outcome` is `ok` if it is
    missing. An exception becomes a row with the outcome `error`. An item that kills its process
    `deaths` times becomes a row with the outcome `lost`. Neither stops the campaign.

    - `items` may be any iterable. The campaign takes items as workers need them, so
      `range(10**9)` is never a list. `total` is their number, if `len(items)` does not give it.
    - `key` returns an integer or a string for an item, different for each item. An item whose key
      has a row in the file does not run again.
    - `campaign` describes the campaign in the header of the file. A file with another description
      is an error. The default is the function's name.
    - `client` is a `distributed.Client`, the address of a scheduler, or None for a local cluster
      of `workers` processes.
    - `retry_failed` runs items again whose row is not `ok`.
    - `keep="failures"` joins the rows of good seeds (integers) that follow each other.
    - `batch` is the number of items of a task. By default, a task takes about a second.
    - `wall_limit` is in seconds. An item that takes longer kills its process.
    - `quiet` hides the progress.
    """
    if keep not in ("all", "failures"):
        raise Error(f"keep={keep!r}: expected 'all' or 'failures'")
    for name, value in (("workers", workers), ("batch", batch), ("deaths", deaths)):
        if value is not None and value < 1:
            raise Error(f"{name}={value}: expected 1 or more")
    if campaign is None:
        name = getattr(function, "__qualname__", type(function).__qualname__)
        campaign = {"function": f"{function.__module__}.{name}"}
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    work = Work(function, key, deaths, keep == "failures", wall_limit)
    try:
        need("cloudpickle").dumps(work)
    except (TypeError, AttributeError, PicklingError) as error:
        raise Error(f"{campaign}: the function cannot be sent to workers: {error}") from error
    path = Path(store)
    with Store(path, campaign, retry_failed) as rows, connect(client, workers) as connected:
        before = sum(rows.counts.values())
        with Bar(str(next(iter(campaign.values()))), rows.counts, total, before, quiet) as bar:
            Loop(connected, work, rows, bar, batch).run(items)
    return Results(path)
