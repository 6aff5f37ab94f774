"""The results file: a header, then one JSON object for each item.

A row is on disk as soon as its batch arrives. A last line without its end, which a crash leaves, is
dropped, and its item runs again.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left, bisect_right
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO, Iterator, Union

from .errors import Error

Key = Union[int, str]
Row = dict[str, Any]

HEADER = "warploom_farm"


class Keys:
    """A set of keys. Integers are kept as intervals, so that 10^9 seeds take little memory."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def add(self, key: Key | list[int]) -> None:
        """Adds a key, or a list of the first and the last integer of an interval."""
        if isinstance(key, str):
            self._names.add(key)
            return
        first, last = (key, key) if isinstance(key, int) else key
        begin = bisect_left(self._lasts, first - 1)
        end = bisect_right(self._firsts, last + 1)
        if begin < end:
            first = min(first, self._firsts[begin])
            last = max(last, self._lasts[end - 1])
        self._firsts[begin:end] = [first]
        self._lasts[begin:end] = [last]

    def __contains__(self, key: Key) -> bool:
        if isinstance(key, str):
            return key in self._names
        at = bisect_right(self._firsts, key) - 1
        return at >= 0 and key <= self._lasts[at]

    def gaps(self, wanted: range) -> Iterator[range]:
        """Returns the parts of a range of step 1 that have no key yet."""
        at = wanted.start
        for first, last in list(zip(self._firsts, self._lasts)):
            if last < at or first >= wanted.stop:
                continue
            if at < first:
                yield range(at, first)
            at = last + 1
        if at < wanted.stop:
            yield range(at, wanted.stop)


class Store:
    """The results file of a running campaign, open for new rows."""

    def __init__(self, path: Path, campaign: Row, retry_failed: bool = False) -> None:
        self.path = path
        self.keys = Keys()
        self.counts: Counter[str] = Counter()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = open(path, "a+b")
        except OSError as error:
            raise Error(f"{path}: cannot be written: {error.strerror}") from error
        try:
            self._open(campaign, retry_failed)
        except BaseException:
            self._file.close()
            raise

    def _open(self, campaign: Row, retry_failed: bool) -> None:
        _lock(self._file, self.path)
        # The header of a new file, in the form that an old file's header has after reading.
        header = json.loads(json.dumps({HEADER: 1, "campaign": campaign}))
        self._file.seek(0)
        found, end = read_header(self._file, self.path)
        if found is None:
            self._file.truncate(0)
            self._append(json.dumps(header))
            self.flush()
        elif found != header:
            raise Error(
                f"{self.path}: has the results of another campaign: {_short(found)}; "
                f"expected {_short(header)}. Name another file for this campaign"
            )
        kept: list[bytes] = []
        for line, row in read_rows(self._file, self.path):
            end += len(line)
            if retry_failed and row["outcome"] != "ok":
                continue
            if retry_failed:
                kept.append(line)
            self.keys.add(row["key"])
            self.counts[row["outcome"]] += row.get("count", 1)
        if found is None:
            return
        self._file.truncate(end)
        if retry_failed:
            self._rewrite(json.dumps(header).encode() + b"\n" + b"".join(kept))

    def _rewrite(self, content: bytes) -> None:
        """Replaces the file in one step."""
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_bytes(content)
        os.replace(beside, self.path)
        self._file.close()
        self._file = open(self.path, "a+b")
        _lock(self._file, self.path)

    def add(self, outcome: str, count: int, line: str) -> None:
        """Appends a row as a line of JSON."""
        self._append(line)
        self.counts[outcome] += count

    def _append(self, line: str) -> None:
        self._file.write(line.encode() + b"\n")

    def flush(self) -> None:
        self._file.flush()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def read_header(file: BinaryIO, path: Path) -> tuple[Row | None, int]:
    """Reads the first line. Returns it, or None for an empty file, and its length."""
    line = file.readline()
    if not line or (not line.endswith(b"\n") and line.startswith(b'{"' + HEADER.encode())):
        return None, 0
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get(HEADER) != 1:
        start = line[:40].decode(errors="replace").strip()
        raise Error(
            f"{path}: is no results file of warploom.farm: line 1 begins with `{start}`; "
            f'expected {{"{HEADER}": 1, ...}}'
        )
    return header, len(line)


def read_rows(file: BinaryIO, path: Path) -> Iterator[tuple[bytes, Row]]:
    """Returns all whole lines behind the header, and their rows."""
    for number, line in enumerate(file, 2):
        if not line.endswith(b"\n"):
            return
        try:
            row = json.loads(line)
            row["key"], row["outcome"]
        except (ValueError, TypeError, KeyError) as error:
            raise Error(
                f"{path}: line {number} is no row; expected an object with `key` and `outcome`"
            ) from error
        yield line, row


def _short(header: Row) -> str:
    return json.dumps(header.get("campaign"))


def _lock(file: BinaryIO, path: Path) -> None:
    """Keeps a second campaign from the file, where the system has locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Error(f"{path}: another campaign writes to this file") from None
    except OSError:
        return
