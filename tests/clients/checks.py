"""Checks of a client, each a function; prints what fails, and how many passed."""
import sys
import time
import traceback

CHECKS = []


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
