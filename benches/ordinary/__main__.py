#!/usr/bin/env python3
"""Measures how fast programs that nobody tuned for run, against the same source as a plain C loop on the host, and prints the
ratios, worst first.

    python3 benches/ordinary                          # all programs: some five minutes
    python3 benches/ordinary gcd crc --guest gfx9     # these only
    python3 benches/ordinary --docs                   # also writes docs/ordinary.md
    python3 benches/ordinary --helpers --docs         # writes docs/helper-calls.md: how often code calls helpers
    python3 benches/ordinary --small                  # writes the small launches anew that tests/ordinary.rs runs

Needs cargo, g++ and Python 3.11 or later without further packages. docs/benchmarking.md says what is measured, and how.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import helpers
import host
import manifest
import report
import suite

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SMALL = ROOT / "benches/ordinary/small"

# What is measured begins without code of earlier runs.
os.environ["WARPLOOM_CACHE"] = "off"


def build():
    """The command, made for speed."""
    command = ["cargo", "build", "--profile=dist", "--message-format=json-render-diagnostics"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return next(line["executable"] for line in map(json.loads, lines) if line.get("executable"))


def launches(command, path, count, report_file):
    """The report of so many launches, or what went wrong."""
    done = subprocess.run([command, "run", path, "--engine", "jit", "--threads", "1", "--repeat", str(count), "--report", report_file],
                          capture_output=True, text=True)
    if done.returncode:
        return None, (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[0]
    return json.loads(pathlib.Path(report_file).read_text()), None


class Measuring:
    """A program: its launch, its plain loop, and a manifest for each guest."""

    def __init__(self, program, command, guests, folder):
        self.program, self.command, self.report_file = program, command, pathlib.Path(folder) / "report.json"
        self.launch, self.plain = program.launch(program.full), host.Host(program, folder)
        self.c, results = self.plain.launch(self.launch, 0)
        self.paths = {guest: manifest.write(program, self.launch, results, folder, guest) for guest in guests
                      if manifest.exists(program, guest)}
        self.found, self.problems = {}, []
        for guest, path in self.paths.items():
            self.found[guest], problem = launches(self.command, path, 3, self.report_file)
            if problem:
                self.problems.append(f"{program.name}, {manifest.GUESTS[guest].title}: {problem}")

    def round(self, seconds):
        """C and all guests in turn, so that all have the same neighbours."""
        self.c = min(self.c, self.plain.launch(self.launch, seconds)[0])
        for guest, path in self.paths.items():
            if found := self.found[guest]:
                # Code that proves hot is made anew, in some of the first launches.
                count = max(20, int(seconds * 1e9 / min(found["kernel_ns"])))
                again, _ = launches(self.command, path, count, self.report_file)
                found["kernel_ns"] += again["kernel_ns"]

    def rows(self):
        return [report.Row(self.program.name, self.program.kind, manifest.GUESTS[guest].title, min(found["kernel_ns"]) * 1e-9, self.c,
                           found["translate_ns"] * 1e-9, found["instructions"], found["helper_calls"], found["interp_instructions"])
                for guest, found in self.found.items() if found]


def measure(options, programs, folder):
    command = options.program or build()
    rows, problems = [], []
    for program in programs:
        measuring = Measuring(program, command, options.guest or list(manifest.GUESTS), folder)
        for _ in range(options.rounds):
            measuring.round(options.seconds / options.rounds)
        print("\n".join([*map(report.line, measuring.rows()), *measuring.problems]), flush=True)
        rows += measuring.rows()
        problems += measuring.problems
    return rows, problems


def write_small(programs, folder):
    """Launches, and what the host makes of them."""
    for program in programs:
        launch = program.launch(program.small)
        _, results = host.Host(program, folder).launch(launch, 0)
        target = SMALL / program.name
        target.mkdir(parents=True, exist_ok=True)
        manifest.write(program, launch, results, target, "maxwell", f"../../programs/{program.name}")


def count_helpers(options, programs, folder):
    """Of both suites, or of the programs that are named."""
    command = options.program or build()
    launches = helpers.ordinary(programs, options.guest or list(manifest.GUESTS), folder)
    rows, problems = helpers.measure(command, launches, "Ordinary programs", folder)
    if not options.programs:
        launches = helpers.kept(options.bench or helpers.bench(), folder)
        kept, more = helpers.measure(command, launches, "Kernels of the suite", folder)
        rows, problems = kept + rows, more + problems
    text = helpers.markdown(rows, problems)
    print(text)
    if options.docs:
        (ROOT / "docs/helper-calls.md").write_text(text)
    sys.exit(1 if problems else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--guest", action="append", choices=manifest.GUESTS, help="these only; may be given several times")
    parser.add_argument("--seconds", type=float, default=1, help="how long each is measured")
    parser.add_argument("--rounds", type=int, default=2, help="in so many turns; the best counts")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--helpers", action="store_true", help="count calls of helpers in the steady state, also of benches/suite")
    parser.add_argument("--program", help="the command warploom, in place of the one that cargo builds")
    parser.add_argument("--bench", help="the benchmark `speed`, in place of the one that cargo builds")
    options = parser.parse_args()
    names = [program.name for program in suite.PROGRAMS]
    if unknown := set(options.programs) - set(names):
        sys.exit(f"no program {', '.join(sorted(unknown))}; there is {', '.join(names)}")
    programs = [program for program in suite.PROGRAMS if program.name in options.programs or not options.programs]
    with tempfile.TemporaryDirectory() as folder:
        if options.small:
            return write_small(programs, folder)
        if options.helpers:
            return count_helpers(options, programs, folder)
        rows, problems = measure(options, programs, folder)
    print()
    print(report.text(rows))
    if problems:
        print("\n".join(["", "not measured:", *problems]))
    if options.docs:
        (ROOT / "docs/ordinary.md").write_text(report.markdown(rows, problems, options.seconds))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
