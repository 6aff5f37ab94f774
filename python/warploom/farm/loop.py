"""The loop of a campaign: keeps a bounded number of tasks on the cluster, and stores their rows."""

from __future__ import annotations

import asyncio
import queue
import time
import uuid
from collections import deque
from concurrent.futures import CancelledError
from itertools import islice
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

from .batch import Work, lost, own, run, to_json
from .errors import Error, need
from .progress import Bar
from .store import Store

SECONDS_OF_BATCH = 1.0
LARGEST_BATCH = 100_000
TASKS_OF_THREAD = 4
FEWEST_TASKS = 32
THREADS_OF_SECOND = 100
"""With more threads, batches get longer, so that the scheduler has at most so many each second."""
WAIT_FOR_WORKERS = 30.0


class Batch(NamedTuple):
    """The items of one task. `deaths` counts workers that died with it.

    A suspect runs while no other task is on the cluster, so that a death is its own.
    """

    items: Sequence[Any]
    deaths: int = 0
    suspect: bool = False


class Loop:
    def __init__(
        self, client: Any, work: Work, store: Store, bar: Bar, batch: int | None = None
    ) -> None:
        self._client = client
        self._work = work
        self._store = store
        self._bar = bar
        self._batch = batch
        self._seconds_of_item = SECONDS_OF_BATCH
        self._threads = 0
        self._asked = 0.0
        self._idle_since = time.monotonic()
        self._killed: type[Exception] = need("distributed").KilledWorker
        self._name = f"warploom-{uuid.uuid4().hex[:8]}"
        self._number = 0

    def run(self, items: Iterable[Any]) -> None:
        """Runs all items that have no row yet."""
        new = self._batches(items)
        again: deque[Batch] = deque()
        suspects: deque[Batch] = deque()
        running: dict[Any, Batch] = {}
        finished: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def submit(batch: Batch) -> None:
            future = self._submit(batch)
            running[future] = batch
            future.add_done_callback(finished.put)

        try:
            while True:
                self._look_at_workers()
                if suspects and not running:
                    submit(suspects.popleft())
                alone = suspects or any(batch.suspect for batch in running.values())
                tasks = 0 if alone else max(FEWEST_TASKS, TASKS_OF_THREAD * self._threads)
                while len(running) < tasks:
                    batch = again.popleft() if again else next(new, None)
                    if batch is None:
                        break
                    submit(batch)
                if not running:
                    return
                try:
                    future = finished.get(timeout=0.5)
                except queue.Empty:
                    continue
                for batch in self._finish(future, running.pop(future)):
                    (suspects if batch.suspect else again).append(batch)
                self._bar.update()
        finally:
            if running:
                self._client.cancel(list(running))

    def _batches(self, items: Iterable[Any]) -> Iterator[Batch]:
        """Cuts items without a row into batches, as late as the loop asks for them."""
        keys = self._store.keys
        if isinstance(items, range) and items.step == 1 and self._work.key is own:
            for gap in keys.gaps(items):
                while gap:
                    size = self._size()
                    yield Batch(gap[:size])
                    gap = gap[size:]
            return

        def fresh() -> Iterator[Any]:
            for item in items:
                key = self._work.key(item)
                if key not in keys:
                    keys.add(key)
                    yield item

        remaining = fresh()
        while part := list(islice(remaining, self._size())):
            yield Batch(part)

    def _size(self) -> int:
        if self._batch:
            return self._batch
        wanted = SECONDS_OF_BATCH * max(1.0, self._threads / THREADS_OF_SECOND)
        return max(1, min(LARGEST_BATCH, int(wanted / self._seconds_of_item)))

    def _submit(self, batch: Batch) -> Any:
        self._number += 1
        key = f"{self._name}-{self._number}"
        return self._client.submit(run, self._work, batch.items, batch.deaths, key=key, pure=False)

    def _finish(self, future: Any, batch: Batch) -> list[Batch]:
        """Stores the rows of a task. Returns batches that must run again."""
        try:
            seconds, lines = future.result()
        except self._killed as error:
            return self._after_death(batch, error)
        except (CancelledError, asyncio.CancelledError) as error:
            raise self._gone(error) from error
        except Exception as error:
            raise Error(
                f"a worker cannot run tasks: {type(error).__name__}: {error}. Expected equal "
                "versions of Python, dask and warploom on workers and here"
            ) from error
        for line in lines:
            self._store.add(*line)
        self._store.flush()
        each = max(seconds / len(batch.items), 1e-6)
        self._seconds_of_item += (each - self._seconds_of_item) * 0.5
        return []

    def _gone(self, error: BaseException) -> Error:
        return Error(
            f"the scheduler is gone ({type(error).__name__}). The results so far are in "
            f"{self._store.path}; an equal campaign goes on from there"
        )

    def _after_death(self, batch: Batch, error: Any) -> list[Batch]:
        """Returns the batches that replace one whose workers died.

        The first death moves the batch to child processes, which find the item that is to blame.
        If a worker dies nevertheless, suspects get smaller until one item is left.
        """
        items = batch.items
        deaths = batch.deaths + error.allowed_failures + 1
        if batch.deaths == 0:
            return [Batch(items, deaths)]
        if len(items) > 1:
            half = len(items) // 2
            return [Batch(part, 1, suspect=True) for part in (items[:half], items[half:])]
        if not batch.suspect or deaths < self._work.deaths:
            return [Batch(items, deaths, suspect=True)]
        row = lost(self._work.key(items[0]), deaths, "the death of its Dask worker")
        self._store.add(row["outcome"], 1, to_json(row))
        self._store.flush()
        return []

    def _look_at_workers(self) -> None:
        """Counts threads of workers once a second. Says so if there are none for long."""
        now = time.monotonic()
        if now - self._asked < 1.0:
            return
        self._asked = now
        try:
            threads = self._client.nthreads()
        except OSError as error:
            raise self._gone(error) from error
        self._threads = sum(threads.values())
        self._bar.workers = len(threads)
        self._bar.update()
        if threads:
            self._idle_since = now
        elif now - self._idle_since > WAIT_FOR_WORKERS:
            self._idle_since = now
            address = self._client.scheduler.address
            self._bar.note(f"no worker is connected to the scheduler at {address}; waiting")
