"""The worker's side: runs a function on the items of a batch.

A batch first runs in the worker's own process. If that process dies, the batch comes again and runs
in a child process. The child names the item that kills it, and the worker stays alive.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence

from .store import Key, Row

Function = Callable[[Any], Any]
TOO_LONG = 124
"""The exit code of a process whose item took too long."""
WATCH = 0.2
"""Seconds between two looks at the time of items."""


class Work(NamedTuple):
    """The part of a campaign that workers need."""

    function: Function
    """Returns the row of an item, without its key. A missing outcome means `ok`."""
    key: Callable[[Any], Key]
    deaths: int
    """An item that kills its process so often is lost."""
    fold: bool
    """Good integers that follow each other become one row."""
    wall_limit: float | None
    """An item that takes more seconds kills its process."""


def own(item: Any) -> Any:
    """Returns an item that is its own key: a seed or a name."""
    return item


Line = tuple[str, int, str]
"""A row for the store: its outcome, the number of its items, and its JSON."""


def run(work: Work, items: Sequence[Any], deaths: int) -> tuple[float, list[Line]]:
    """Runs a batch whose workers died `deaths` times. Returns its seconds and its rows."""
    start = time.perf_counter()
    rows = rows_of(work, items) if deaths == 0 else _in_children(work, items, deaths)
    if work.fold:
        rows = _fold(rows)
    lines = [(row["outcome"], row.get("count", 1), to_json(row)) for row in rows]
    return time.perf_counter() - start, lines


def rows_of(work: Work, items: Iterable[Any]) -> Iterator[Row]:
    """Runs items in this process."""
    for item in items:
        start = time.perf_counter()
        try:
            with _limited(work.wall_limit):
                made = work.function(item)
            if not isinstance(made, (dict, type(None))):
                raise TypeError(f"the function returned {type(made).__name__}; expected a dict")
        except (Exception, SystemExit) as error:
            made = {"outcome": "error", "message": f"{type(error).__name__}: {error}"}
        seconds = round(time.perf_counter() - start, 6)
        row = {"key": None, "outcome": "ok", "seconds": seconds, **(made or {})}
        row["key"] = work.key(item)
        yield row


_deadlines: dict[int, float] = {}
"""The time by which the item of a thread must end."""


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Ends this process unless the context ends in time: nothing else stops native code."""
    if seconds is None:
        yield
        return
    _watch()
    thread = threading.get_ident()
    _deadlines[thread] = time.monotonic() + seconds
    try:
        yield
    finally:
        del _deadlines[thread]


@lru_cache(maxsize=None)
def _watch() -> None:
    """Starts the thread that looks at the deadlines."""

    def look() -> None:
        while all(time.monotonic() < deadline for deadline in list(_deadlines.values())):
            time.sleep(WATCH)
        os._exit(TOO_LONG)

    threading.Thread(target=look, daemon=True, name="warploom-farm-watch").start()


def _in_children(work: Work, items: Sequence[Any], deaths: int) -> Iterator[Row]:
    """Runs items in a child process. A new child follows one that dies."""
    at = 0
    # The worker died on one of these items, so each item has fewer tries left.
    died = deaths
    while at < len(items):
        before = at
        end = ""
        for made in _child(work, items[at:]):
            if isinstance(made, str):
                end = made
            else:
                at += 1
                yield made
        if at == len(items):
            return
        died = (died if at == before else deaths) + 1
        if died >= work.deaths:
            yield lost(work.key(items[at]), died, end)
            at += 1
            died = deaths


def _child(work: Work, items: Sequence[Any]) -> Iterator[Row | str]:
    """Returns the rows of a child process, and how it ended."""
    import cloudpickle

    path = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(
        [sys.executable, "-m", "warploom.farm.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    ) as child:
        assert child.stdin and child.stdout
        try:
            with child.stdin as to_child:
                cloudpickle.dump((work, items), to_child)
        except BrokenPipeError:
            pass
        for line in child.stdout:
            if line.endswith(b"\n"):
                yield json.loads(line)
    yield ending(child.returncode)


def ending(code: int) -> str:
    """Says how a process ended."""
    if code == TOO_LONG:
        return "the limit of its time"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"


def lost(key: Key, deaths: int, reason: str) -> Row:
    """Returns the row of an item that killed its process."""
    times = "once" if deaths == 1 else f"{deaths} times"
    return {
        "key": key,
        "outcome": "lost",
        "message": f"its process died {times}, the last time by {reason}",
    }


def _fold(rows: Iterable[Row]) -> Iterator[Row]:
    """Joins the rows of good integers that follow each other."""
    run: Row | None = None
    for row in rows:
        key = row["key"]
        good = row["outcome"] == "ok" and isinstance(key, int)
        if run and good and key == run["key"][1] + 1:
            run["key"][1] = key
            run["count"] += 1
            run["seconds"] = round(run["seconds"] + row["seconds"], 6)
            continue
        if run:
            yield run
        run = None
        if good:
            run = {"key": [key, key], "outcome": "ok", "count": 1, "seconds": row["seconds"]}
        else:
            yield row
    if run:
        yield run


def to_json(row: Row) -> str:
    """Returns a row as one line. NumPy numbers become numbers, other objects text."""
    return json.dumps(row, default=_plain, skipkeys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
