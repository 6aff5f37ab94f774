"""The progress of a campaign: a bar on a terminal, else a line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TextIO

from .results import outcomes

WIDTH = 24
REDRAW = 0.1
LINE = 10.0


class Bar:
    """Shows counts of outcomes, of which `before` items were done at the start.

    `total` is None if the number of items is unknown.
    """

    def __init__(
        self, label: str, counts: Counter[str], total: int | None, before: int, quiet: bool
    ) -> None:
        self.workers = 0
        self._label = label
        self._counts = counts
        self._total = total
        self._before = before
        self._quiet = quiet
        self._stream: TextIO = sys.stderr
        self._is_terminal = self._stream.isatty()
        self._start = self._shown = time.monotonic()
        self._drawn = 0

    def update(self) -> None:
        """Shows the counts, if the last picture is old enough."""
        now = time.monotonic()
        if self._quiet or now - self._shown < (REDRAW if self._is_terminal else LINE):
            return
        self._shown = now
        self._draw(self._text(now - self._start))

    def note(self, text: str) -> None:
        """Prints a line of its own."""
        self._clear()
        print(f"{self._label}: {text}", file=self._stream, flush=True)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        """Shows the last picture of a bar, and ends its line."""
        if self._is_terminal and not self._quiet:
            self._draw(self._text(time.monotonic() - self._start))
            print(file=self._stream, flush=True)

    def _text(self, spent: float) -> str:
        done = sum(self._counts.values())
        rate = (done - self._before) / spent if spent > 0 else 0.0
        bar, of = "", ""
        if self._total:
            of = f" of {self._total:,}"
            if self._is_terminal:
                filled = min(WIDTH, WIDTH * done // self._total)
                bar = f"[{'#' * filled}{'.' * (WIDTH - filled)}] "
        parts = [f"{bar}{done:,}{of}", outcomes(self._counts), f"{rate:,.1f}/s"]
        parts.append(f"{self.workers} workers")
        if self._total and rate > 0 and done < self._total:
            parts.append(f"{_time((self._total - done) / rate)} left")
        return f"{self._label}: " + ", ".join(parts)

    def _draw(self, text: str) -> None:
        if not self._is_terminal:
            print(text, file=self._stream, flush=True)
            return
        blanks = " " * (self._drawn - len(text))
        print(f"\r{text}{blanks}", end="", file=self._stream, flush=True)
        self._drawn = len(text)

    def _clear(self) -> None:
        if self._drawn:
            print("\r" + " " * self._drawn + "\r", end="", file=self._stream)
            self._drawn = 0


def _time(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
