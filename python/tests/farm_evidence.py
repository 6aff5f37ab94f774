"""Runs many short launches on a local cluster whose workers are killed, and checks all results.

    python farm_evidence.py --launches 10000 --workers 4 --kills 2

The same launches run in one process first, for the time and for the results to expect.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from distributed import Client, LocalCluster
from warploom import farm
from warploom.farm import engine

sys.path.insert(0, str(Path(__file__).parent))
from test_farm import FAULT, write_launch

FAULT_IN = 100
"""One launch in so many ends in a fault."""


def kill(client: Client, kills: int, seconds: float, killed: list[str]) -> None:
    """Kills workers, each another one, at random times of the run."""
    start = time.monotonic()
    dead: set[int] = set()
    for at in sorted(random.uniform(0.1, 0.8) * seconds for _ in range(kills)):
        time.sleep(max(0.0, start + at - time.monotonic()))
        found = set(client.run(os.getpid, on_error="ignore").values()) - dead
        pid = random.choice(sorted(found))
        os.kill(pid, signal.SIGKILL)
        dead.add(pid)
        killed.append(f"{time.monotonic() - start:.1f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launches", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--engine", default="both")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return measure(Path(folder), options)


def cpu_seconds() -> float:
    """Returns the CPU time of this process and of its children that ended."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in [resource.getrusage(w) for w in who])


def measure(folder: Path, options: argparse.Namespace) -> int:
    names = [f"launch{i:07}" for i in range(options.launches)]
    paths = [
        write_launch(folder / "launches", name, FAULT if i % FAULT_IN == 0 else [i])
        for i, name in enumerate(names)
    ]
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    engine.replay(str(paths[0]), engine=options.engine)
    start, cpu = time.perf_counter(), cpu_seconds()
    expected = {
        path.name: engine.replay(str(path), engine=options.engine)["outcome"] for path in paths
    }
    alone = time.perf_counter() - start
    cpu, before = cpu_seconds() - cpu, cpu_seconds()
    each = alone / len(paths) * 1e3
    print(f"one process: {alone:.1f} s, CPU {cpu:.1f} s, {each:.2f} ms a launch")

    store = folder / "results.jsonl"
    killed: list[str] = []
    with (
        LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=100,
            scheduler_kwargs={"allowed_failures": 0},
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(options.workers)
        args = (client, options.kills, alone / min(options.workers, os.cpu_count() or 1), killed)
        killer = threading.Thread(target=kill, args=args)
        start = time.perf_counter()
        killer.start()
        results = farm.replay(
            folder / "launches", engine=options.engine, client=client, store=store
        )
        together = time.perf_counter() - start
        killer.join()
    cpu = cpu_seconds() - before
    print(f"{options.workers} workers: {together:.1f} s, CPU {cpu:.1f} s with their start")
    print(f"killed after {', '.join(killed)}")

    found = Counter(row["manifest"] for row in results)
    once = found == Counter(f"launches/{name}.toml" for name in names)
    equal = all(row["outcome"] == expected[Path(row["manifest"]).name] for row in results)
    print(results.summary())
    print(f"{store.stat().st_size / len(paths):.0f} bytes a row")
    print(f"every launch exactly once: {once}; outcomes as in one process: {equal}")
    return 0 if once and equal and len(killed) == options.kills else 1


if __name__ == "__main__":
    sys.exit(main())
