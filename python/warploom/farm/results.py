"""The results of a campaign, as a table."""

from __future__ import annotations

import csv
import heapq
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

from .errors import need
from .store import Row, read_header, read_rows

SLOWEST = 5
GROUPS = 20


class Results:
    """The rows of a results file, one for each item.

    Iteration reads the file row by row, so the table need not fit into memory.
    """

    def __init__(self, path: str | os.PathLike[str] = "results.jsonl") -> None:
        self.path = Path(path)

    def __iter__(self) -> Iterator[Row]:
        with open(self.path, "rb") as file:
            read_header(file, self.path)
            for _, row in read_rows(file, self.path):
                yield row

    @property
    def rows(self) -> list[Row]:
        """All rows, as a list of dicts."""
        return list(self)

    @property
    def counts(self) -> Counter[str]:
        """The number of items for each outcome."""
        counts: Counter[str] = Counter()
        for row in self:
            counts[row["outcome"]] += row.get("count", 1)
        return counts

    @property
    def ok(self) -> bool:
        """True if every item has the outcome `ok`."""
        return all(row["outcome"] == "ok" for row in self)

    def __len__(self) -> int:
        """The number of items. One row may stand for many good seeds."""
        return sum(self.counts.values())

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Results {self.path}: {outcomes(self.counts)}>"

    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame` with a column for each field."""
        return need("pandas").DataFrame(self.rows)

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes a table with a column for each field. Lists and dicts become JSON."""
        columns = list(dict.fromkeys(name for row in self for name in row))
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            for row in self:
                writer.writerow({name: _cell(value) for name, value in row.items()})

    def failures(self) -> list[Row]:
        """Returns distinct failures, the most frequent first.

        Failures of one kernel, one kind (of the fault, or else the outcome) and one pc are one.
        A failure has `number`, `kernel`, `kind`, `pc`, and `key` and `message` of its first item.
        """
        groups: dict[tuple[Any, ...], Row] = {}
        for row in self:
            if row["outcome"] == "ok":
                continue
            for part in row.get("findings") or [row]:
                kind = part.get("kind") or row["outcome"]
                kernel, pc = part.get("kernel"), part.get("pc")
                first = {"number": 0, "kernel": kernel, "kind": kind, "pc": pc}
                first.update(key=row["key"], message=part.get("message", ""))
                groups.setdefault((kernel, kind, pc), first)["number"] += 1
        return sorted(groups.values(), key=lambda group: -group["number"])

    def summary(self) -> str:
        """Returns outcomes, the slowest items and distinct failures, as text."""
        seconds = sum(row.get("seconds", 0) for row in self)
        counts = self.counts
        items = sum(counts.values())
        lines = [f"{items:,} item{'s' if items != 1 else ''}: {outcomes(counts)}"]
        lines.append(f"{seconds:,.1f} s of work, in {self.path}")
        single = (row for row in self if "count" not in row and "seconds" in row)
        slowest = heapq.nlargest(SLOWEST, single, key=lambda row: row["seconds"])
        if slowest:
            lines.append("slowest:")
            lines += [f"  {row['seconds']:9.3f} s  {name(row['key'])}" for row in slowest]
        failures = self.failures()
        if failures:
            lines.append("failures:")
        for group in failures[:GROUPS]:
            kernel = f"kernel `{group['kernel']}`: " if group["kernel"] else ""
            pc = f" at pc {group['pc']:#x}" if group["pc"] is not None else ""
            first = name(group["key"])
            lines.append(f"  {group['number']:,} x {kernel}{group['kind']}{pc}, first in {first}")
            if group["message"]:
                lines.append(f"      {group['message'].splitlines()[0]}")
        if len(failures) > GROUPS:
            lines.append(f"  and {len(failures) - GROUPS:,} more kinds")
        return "\n".join(lines)


def outcomes(counts: Counter[str]) -> str:
    """Returns counts of outcomes as text, `ok` first."""
    order = sorted(counts, key=lambda outcome: (outcome != "ok", outcome))
    return ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in order) or "no results"


def name(key: Any) -> str:
    """Returns a key for people: an item's number, or a manifest without the hash."""
    return key.split("#")[0] if isinstance(key, str) else f"item {key}"


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value
