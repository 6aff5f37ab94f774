"""`python -m warploom.farm`"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn, Sequence

from .corpus import fuzz
from .errors import Error
from .launches import ENGINES, TIME_LIMIT, replay

HELP = """\
Runs captured launches, or seeds of a fuzzing campaign, on the workers of a Dask cluster.

A campaign appends a row for each item to its results file (--store). The same command goes on from
there: items that have a row do not run again.
"""
REPLAY = """\
Runs manifests, and all manifests in folders, and compares with expected results and, by default,
the engines with each other.
"""
FUZZ = """\
Runs `warploom fuzz MANIFEST` for each seed. All seeds share a corpus: a seed begins with the inputs
of seeds that ended before, and adds inputs that reach something new.
"""
REPLAY_EXAMPLES = """\
examples:
  python -m warploom.farm replay launches/ --workers 8
  python -m warploom.farm replay launches/ --scheduler tcp://host:8786 --store run.jsonl
"""
FUZZ_EXAMPLES = """\
examples:
  python -m warploom.farm fuzz m.toml --seeds 0:64 --seconds 600
  python -m warploom.farm fuzz m.toml --scheduler tcp://host:8786 \\
      --corpus s3://bucket/corpus --findings s3://bucket/findings
"""
CODES = "exit codes: 0 all items are ok, 1 some are not, 3 bad input, 130 interrupted"


def seeds(text: str) -> range:
    """Reads N (seeds 0 to N-1) or FIRST:END."""
    first, colon, end = text.partition(":")
    try:
        found = range(int(first), int(end)) if colon else range(int(first))
    except ValueError:
        found = range(0)
    if not found or found[0] < 0:
        raise argparse.ArgumentTypeError(f"`{text}`: expected N or FIRST:END, such as 64 or 64:128")
    return found


class Parser(argparse.ArgumentParser):
    """A parser with the exit code of `warploom` for a bad command line."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(3, f"{self.prog}: {message}\n")


def parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    main = Parser("python -m warploom.farm", description=HELP, epilog=CODES, formatter_class=raw)
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str, examples: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=text.split(". ")[0].replace("\n", " ").strip().rstrip("."),
            description=text,
            epilog=f"{examples}\n{CODES}",
            formatter_class=raw,
        )

    one = command("replay", REPLAY, REPLAY_EXAMPLES)
    one.add_argument("paths", nargs="+", metavar="PATH", help="a manifest, or a folder of them")
    one.add_argument("--engine", choices=ENGINES, default="both", help="default: both")
    one.add_argument(
        "--time-limit",
        type=float,
        default=TIME_LIMIT,
        metavar="SECONDS",
        help=f"the limit of a launch on each engine; default: {TIME_LIMIT:g}",
    )
    one.add_argument("--instruction-limit", type=int, metavar="N", help="of warps, for a launch")
    one.add_argument("--arch", metavar="GPU", help="chooses among code for several GPUs")
    one.add_argument("--threads", type=int, default=1, help="of a launch; default: 1")
    _campaign(one)

    one = command("fuzz", FUZZ, FUZZ_EXAMPLES)
    one.add_argument("manifest", metavar="MANIFEST", help="the launch to fuzz")
    one.add_argument(
        "--seeds", type=seeds, default=range(16), help="N, or FIRST:END; default: 16 seeds from 0"
    )
    one.add_argument("--seconds", type=int, help="the time of a seed; default: 60")
    one.add_argument("--inputs", type=int, metavar="N", help="the number of inputs of a seed")
    one.add_argument(
        "--keep",
        dest="keep_parts",
        action="append",
        default=[],
        metavar="NAME",
        help="a buffer, or the number of an argument from 1, that stays as it is",
    )
    one.add_argument("--arch", metavar="GPU", help="chooses among code for several GPUs")
    for name in ("corpus", "findings"):
        text = f"a folder or a URL; default: {name}"
        one.add_argument(f"--{name}", default=name, metavar="URL", help=text)
    _campaign(one)
    return main


def _campaign(one: argparse.ArgumentParser) -> None:
    group = one.add_argument_group("the campaign")
    where = group.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, default=4, metavar="N", help="processes; default: 4")
    where.add_argument(
        "--scheduler", dest="client", metavar="ADDRESS", help="a cluster, such as tcp://host:8786"
    )
    group.add_argument(
        "--store", default="results.jsonl", metavar="FILE", help="default: results.jsonl"
    )
    group.add_argument(
        "--retry-failed", action="store_true", help="runs items again whose row is not ok"
    )
    group.add_argument(
        "--deaths",
        type=int,
        default=3,
        metavar="N",
        help="an item is lost when it has killed its process so often; default: 3",
    )
    group.add_argument(
        "--batch", type=int, metavar="N", help="items of a task; default: about a second of work"
    )
    group.add_argument("--csv", metavar="FILE", help="also writes the results as a table")
    group.add_argument("--quiet", action="store_true", help="shows no progress")


def main(arguments: Sequence[str] | None = None) -> int:
    options: dict[str, Any] = vars(parser().parse_args(arguments))
    command = options.pop("command")
    table = options.pop("csv")
    if command == "fuzz":
        if options["seconds"] is None and options["inputs"] is None:
            options["seconds"] = 60
        if options["batch"] is None:
            del options["batch"]
    try:
        results = replay(**options) if command == "replay" else fuzz(**options)
        if table:
            results.write_csv(table)
    except Error as error:
        print(f"warploom.farm: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("warploom.farm: interrupted; the same command goes on", file=sys.stderr)
        return 130
    print(results.summary())
    return 0 if results.ok else 1


if __name__ == "__main__":
    sys.exit(main())
