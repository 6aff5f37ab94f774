"""Checks of a client, each a function; prints what fails, and how many passed. With --time also how long kernels take, see timed()."""
import sys
import time
import traceback

CHECKS = []
TIMES = "--time" in sys.argv
if TIMES:
    sys.argv.remove("--time")


def timed(name, work, launch, wait=lambda: None):
    """With --time, prints the shortest of a few launches that have had one before, for so many pieces of work."""
    if not TIMES:
        return
    best, end = float("inf"), time.perf_counter() + 1.0
    for _ in range(50):
        start = time.perf_counter()
        launch()
        wait()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() > end:
            break
    print(f"time    {name} {work} {best * 1e9:.0f} ns", flush=True)


def check(function):
    CHECKS.append(function)
    return function


def main():
    """Runs the checks that the command line names, or all."""
    wanted = sys.argv[1:]
    failed = 0
    chosen = [c for c in CHECKS if not wanted or c.__name__ in wanted]
    for function in chosen:
        start = time.time()
        try:
            function()
            print(f"ok      {function.__name__} ({time.time() - start:.2f} s)", flush=True)
        except Exception:  # a check may fail in any way
            failed += 1
            print(f"FAILED  {function.__name__}", flush=True)
            traceback.print_exc(limit=-3)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(failed != 0)
