"""The results as text, and as a page of the documentation."""
import dataclasses
import datetime
import math
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass
class Row:
    program: str
    kind: str
    guest: str
    jit: float
    c: float
    # Of the first three launches, in seconds.
    translate: float
    # Of the first launch: instructions of warps, of them interpreted, and calls of helpers.
    instructions: int
    helpers: int
    interpreted: int

    @property
    def ratio(self):
        """1: as fast as C; more is faster."""
        return self.c / self.jit


def line(row):
    """Times in ms; interpreted instructions and helper calls for each instruction of the first launch, which also warms up."""
    return f"{row.program:16} {row.guest:8} {row.jit * 1e3:9.3f} {row.c * 1e3:9.3f} {row.ratio:7.2f} {row.translate * 1e3:9.1f} "\
        f"{row.interpreted / row.instructions:8.3f} {row.helpers / row.instructions:8.3f}  {row.kind}"


def summary(rows):
    """For each guest its geometric mean, and how many are as fast as C."""
    for guest in dict.fromkeys(row.guest for row in rows):
        ratios = [row.ratio for row in rows if row.guest == guest]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        level = sum(ratio >= 1 for ratio in ratios)
        yield f"{guest}: geometric mean {mean:.2f}, {level} of {len(ratios)} at least as fast as C, {sum(r < 0.2 for r in ratios)} below 0.2"


def text(rows):
    head = f"{'program':16} {'guest':8} {'JIT, ms':>9} {'C, ms':>9} {'C/JIT':>7} {'transl.':>9} {'interp.':>8} {'helpers':>8}  kind"
    return "\n".join([head, *map(line, sorted(rows, key=lambda row: row.ratio)), "", *summary(rows)])


def commit():
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()


def markdown(rows, problems, seconds):
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    guests = list(dict.fromkeys(row.guest for row in rows))
    programs = {}
    for row in rows:
        programs.setdefault((row.program, row.kind), {})[row.guest] = row
    worst = lambda found: min(row.ratio for row in found.values())
    lines = [
        "# Ordinary programs", "",
        "How many times as long as the JIT a plain C loop takes: 1 is as fast, more is faster. Worst first.",
        "[benchmarking.md](benchmarking.md#ordinary-programs) says what is measured.", "",
        f"Written by `python3 benches/ordinary --docs --seconds {seconds}` on {datetime.date.today().isoformat()}, commit "
        f"{commit()}, on {names[0] if names else platform.machine()}. One thread.", "",
        *(f"- {entry}" for entry in summary(rows)), "",
        f"| program | kind | C, ms | {' | '.join(guests)} |", f"| --- | --- | ---: | {' | '.join('---:' for _ in guests)} |"]
    for (program, kind), found in sorted(programs.items(), key=lambda item: worst(item[1])):
        c = min(row.c for row in found.values())
        cells = [f"{found[guest].ratio:.2f}" if guest in found else "-" for guest in guests]
        lines.append(f"| {program} | {kind} | {c * 1e3:.2f} | {' | '.join(cells)} |")
    if problems:
        lines += ["", "Not measured:", "", *(f"- {problem}" for problem in problems)]
    return "\n".join(lines) + "\n"
