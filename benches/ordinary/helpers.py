"""How often code calls helpers in the steady state: for all programs, and for the kernels of benches/suite."""
import datetime
import json
import pathlib
import subprocess

import host
import manifest
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Code that proves hot is made anew in some of the first launches.
LAUNCHES = 30


class Row:
    """A program's line of the table: by guest the counts of a part of a launch."""

    def __init__(self, suite, program):
        self.suite, self.program, self.steady = suite, program, {}

    def measure(self, command, guest, path, report_file):
        """What went wrong, if anything did."""
        words = [command, "run", path, "--engine", "jit", "--threads", "1", "--repeat", str(LAUNCHES), "--steady", "--report", report_file]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return f"{self.program}, {guest}: {(done.stderr.strip() or f'exit code {done.returncode}').splitlines()[0]}"
        self.steady[guest] = json.loads(pathlib.Path(report_file).read_text())["steady"]

    def calls(self, guest):
        """For each 1,000 instructions."""
        steady = self.steady[guest]
        return 1000 * (steady["helper_calls"] + steady["interp_instructions"]) / max(steady["instructions"], 1)

    def cell(self, guest):
        if guest not in self.steady:
            return "-"
        calls = self.calls(guest)
        return "0" if calls == 0 else f"{calls:.3f}" if calls >= 0.0005 else "< 0.001"


def bench():
    """The program that has the suite's kernels."""
    command = ["cargo", "bench", "--bench", "speed", "--no-run", "--message-format=json-render-diagnostics"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return next(line["executable"] for line in map(json.loads, lines) if line.get("executable") and line["target"]["name"] == "speed")


def kept(bench, folder):
    """The manifests of the suite's kernels: their names, guests and paths. A guest may have a kernel in several ways."""
    done = subprocess.run([bench, "--manifests", folder], check=True, stdout=subprocess.PIPE, text=True)
    for case in json.loads(done.stdout.splitlines()[-1])["full"]:
        for target in case["targets"]:
            guest = next((guest for guest in manifest.GUESTS if target.startswith(guest)), None)
            way = target.removeprefix(guest).strip("_") if guest else target
            yield f"{case['name']}, {way}" if way else case["name"], guest or "maxwell", pathlib.Path(case["folder"]) / f"{target}.toml"


def ordinary(programs, guests, folder):
    for program in programs:
        launch = program.launch(program.full)
        _, results = host.Host(program, folder).launch(launch, 0)
        for guest in guests:
            if manifest.exists(program, guest):
                yield program.name, guest, manifest.write(program, launch, results, folder, guest)


def measure(command, launches, suite, folder):
    """The rows of a suite, which are printed as they are found, and what went wrong."""
    rows, problems = {}, []
    for name, guest, path in launches:
        row = rows.setdefault(name, Row(suite, name))
        if problem := row.measure(command, guest, path, pathlib.Path(folder) / "report.json"):
            problems.append(problem)
        else:
            steady = row.steady[guest]
            print(f"{name:24} {guest:8} {steady['instructions']:12} {steady['helper_calls']:9} {steady['interp_instructions']:9} "
                  f"{row.calls(guest):9.3f}", flush=True)
    return list(rows.values()), problems


def markdown(rows, problems):
    lines = [
        "# Helper calls", "",
        "Calls of helpers, and interpreted instructions, for each 1,000 instructions of warps in the steady",
        "state. A helper is a function of warploom's that compiled code calls for work that it has no code",
        "for. The table has both suites: the [ordinary programs](ordinary.md), and the",
        "[kernels](benchmarking.md#the-kernels) that the JIT was tuned with. The aim is 0.",
        "[cliffs.md](cliffs.md#helper-calls) says which helpers are left, and why.", "",
        f"Each program is launched {LAUNCHES} times with one thread, so that hot code is made for speed. Then it is",
        "launched with a limit of a half and with a limit of nine tenths of its instructions. The table has",
        "the difference of the counts. A launch begins with a TLB that knows nothing, so that code asks",
        "helpers where memory is when it first comes to it. These calls mostly belong to the first half.",
        "The last tenth may have blocks with few lanes, whose code has not run before.", "",
        f"Written by `python3 benches/ordinary --helpers --docs` on {datetime.date.today().isoformat()}, commit {report.commit()}.", ""]
    for suite in dict.fromkeys(row.suite for row in rows):
        of_it = [row for row in rows if row.suite == suite]
        guests = [guest for guest in manifest.GUESTS if any(guest in row.steady for row in of_it)]
        lines += [f"## {suite}", "", f"| program | {' | '.join(manifest.GUESTS[guest].title for guest in guests)} |",
                  f"| --- | {' | '.join('---:' for _ in guests)} |"]
        lines += [f"| {row.program} | {' | '.join(map(row.cell, guests))} |" for row in of_it] + [""]
    if problems:
        lines += ["Not measured:", "", *(f"- {problem}" for problem in problems), ""]
    return "\n".join(lines)
