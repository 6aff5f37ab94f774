#!/usr/bin/env python3
"""Asks ptxas for the floors of PTX statements: which versions each target takes.

    ptx_floors.py --ptxas TOOL [--ptxas TOOL] --out FILE.txt.gz [--jobs N]

TOOL is the path of a ptxas; releases 12.9 and 13.5 made tests/ptx/ptx-floors.txt.gz, which has what one of
them takes. That takes a quarter of an hour. The statements are those of
tests/ptx/ptx-forms.txt.gz that some target takes, and others of the opcodes of PTX 1 on targets below sm_20.

A line of the output is `FLOORS <tab> STATEMENT`. FLOORS lists each target whose versions differ from
those of the target before it in TARGETS, as `TARGET:FIRST`, `TARGET:FIRST-LAST` or `TARGET:-` (none).
FIRST is 1.0 where the target's own first version takes the statement, LAST the last version that does.
"""

import argparse
import gzip
import pathlib
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

VERSIONS = [
    (major, minor)
    for major, last in [(1, 5), (2, 3), (3, 2), (4, 3), (5, 1), (6, 5), (7, 8), (8, 8), (9, 5)]
    for minor in range(last + 1)
]
# Targets and the first version of each, as src/isa/ptx/text/head.rs has them.
TARGETS = {
    "10": (1, 0), "11": (1, 0), "12": (1, 2), "13": (1, 2), "20": (2, 0), "21": (2, 0), "30": (3, 0),
    "32": (4, 0), "35": (3, 1), "37": (4, 1), "50": (4, 0), "52": (4, 1), "53": (4, 2), "60": (5, 0),
    "61": (5, 0), "62": (5, 0), "70": (5, 1), "72": (6, 1), "75": (6, 3), "80": (7, 0), "86": (7, 1),
    "87": (7, 4), "88": (9, 0), "89": (7, 8), "90": (7, 8), "90a": (8, 0), "100": (8, 6),
    "100a": (8, 6), "100f": (8, 8), "103": (8, 8), "103a": (8, 8), "103f": (8, 8), "120": (8, 7),
    "120a": (8, 7), "120f": (8, 8), "121": (8, 8), "121a": (8, 8), "121f": (8, 8),
}  # fmt: skip
# Opcodes of PTX 1 whose forms on old targets may be no forms later.
OLD = set(
    "add sub mul mad mul24 mad24 sad div rem abs neg min max set setp selp slct and or xor not cnot shl shr mov "
    "ld st cvt tex bra call ret exit bar red atom vote rcp sqrt rsqrt sin cos lg2 ex2 fma".split()
)
FORMS = pathlib.Path(__file__).parent.parent / "ptx" / "ptx-forms.txt.gz"


def number(target):
    return int(target.rstrip("af"))


def module(statements, target, version):
    """A module with one statement a line, and the number of lines before the first statement."""
    head = f".version {version[0]}.{version[1]}\n.target sm_{target}\n"
    if version >= (2, 3):
        head += ".address_size 64\n"
    space = ".global .align 16 .b8 g[256]; .const .align 16 .b8 c[256]; .shared .align 16 .b8 s[256];\n"
    head += space
    if version >= (1, 5):
        head += ".global .surfref surf; .global .texref tex;\n"
    else:
        head += ".tex .u32 tex;\n"
    head += """.func (.reg .b32 r0) fn (.reg .b32 a0) { mov.b32 r0, a0; ret; }
.func fn2 (.reg .b32 a0) { ret; }
.func fn0 { ret; }
"""
    if version >= (2, 0) and number(target) >= 20:
        head += ".func (.param .b32 r0) fnp (.param .b32 a0) { ret; }\n"
    # Parameters stand in the body before version 1.4.
    parameter = ".param .align 16 .b8 pp[256]"
    head += f".entry k ({parameter}) {{\n" if version >= (1, 4) else f".entry k {{\n{parameter};\n"
    head += """.reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<32>; .reg .f64 %fd<32>; .reg .pred %p<8>;
.reg .b16 %h<32>; .reg .b8 %c<8>; .local .align 16 .b8 l[256];
"""
    if version >= (2, 0) and number(target) >= 20:
        head += ".param .b32 pa0; .param .b32 pr0;\n"
    if version >= (8, 3) and number(target) >= 70:
        head += ".reg .b128 %q<8>;\n"
    head += "L1:\n"
    lists = ""
    if version >= (2, 1) and number(target) >= 20:
        lists += "ct: .calltargets fnp;\npr: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    if version >= (6, 0) and number(target) >= 30:
        lists += "ts: .branchtargets L1, L2;\n"
    head += lists
    # The last statement is wrong, so that ptxas makes no code.
    return head + "\n".join(statements) + "\nbogus.u32 %r1;\nL2: ret;\n}\n", head.count("\n")


def ask(tool, statements, certain, target, version, late):
    """The statements that ptxas takes, as a set of their numbers; none if it does not know the target.

    Some target takes the first `certain` statements.

    ptxas stops at a fatal error: the statements behind it are asked again. Statements with fatal
    errors come into `late`, and stand last from then on; those that no target takes are not asked again.
    """
    known = set(late)
    keys = [n for n in range(len(statements)) if n not in known] + sorted(n for n in known if n < certain)
    taken = set()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.ptx"
        while keys:
            text, before = module([statements[key] for key in keys], target, version)
            path.write_text(text)
            arch = target if number(target) >= 75 else "75"
            command = [tool, f"-arch=sm_{arch}", "-o", "/dev/null", str(path)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            out = run.stderr + run.stdout
            if "is not defined for option" in out or "Unsupported .version" in out:
                return None
            wrong, end = set(), None
            for line in out.splitlines():
                found = re.search(r"line (\d+); (\w+) *: (.*)", line)
                if not found or found[2] in ("warning", "info") or found[3].startswith("Advisory"):
                    continue
                at = int(found[1]) - before - 1
                if at < 0:
                    raise SystemExit(f"sm_{target} {version}: {line}")
                wrong.add(at)
                if found[2] == "fatal" or "Parsing error" in found[3]:
                    end = at
            if end is None and len(keys) not in wrong:
                # It crashed: at the last statement with an error, or at the first of all.
                end = max(wrong, default=0)
            end = len(keys) if end is None else end
            taken.update(keys[n] for n in range(end) if n not in wrong)
            late.update(keys[end : end + 1])
            keys = keys[end + 1 :]
    return taken


def floors(taken, statement, pairs):
    """The text of one statement's floors; `taken` has the statements of each pair of target and version."""
    parts, last = [], ""
    for target, first in TARGETS.items():
        versions = [v for v in VERSIONS if v >= first and (target, v) in pairs]
        if not versions:
            continue
        has = [v for v in versions if statement in taken[target, v]]
        if not has:
            text = "-"
        else:
            text = "1.0" if has[0] == versions[0] else "%d.%d" % has[0]
            if has != [v for v in versions if has[0] <= v <= has[-1]]:
                raise SystemExit(f"sm_{target}: {has} of {versions}")
            if has[-1] != versions[-1]:
                text += "-%d.%d" % has[-1]
        # A target of which the versions say as much as the target before.
        if text != last:
            parts.append(f"{target}:{text}")
            last = text
    return " ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ptxas", required=True, action="append")
    parser.add_argument("--out", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    with gzip.open(FORMS, "rt") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    # What the back end alone refuses has no floor that can be seen here: ptxas ends before it.
    late = {line[2] for line in lines if line[1].startswith("codegen")}
    taken_somewhere = [line[2] for line in lines if line[0] == "accept" and line[2].endswith(";")]
    taken_somewhere = [statement for statement in dict.fromkeys(taken_somewhere) if statement not in late]
    others = {line[2] for line in lines if re.split(r"\W", line[2])[0] in OLD and line[2].endswith(";")}
    others -= set(taken_somewhere) | {line[2] for line in lines if re.match("crash|wrongcode", line[1])}
    statements = taken_somewhere + sorted(others)
    wanted = [(target, v) for target, first in TARGETS.items() for v in VERSIONS if v >= first]
    # Nothing wrote later versions for targets below sm_20.
    wanted = [pair for pair in wanted if number(pair[0]) >= 20 or pair[1] < (3, 0)]
    taken = {}
    for tool in arguments.ptxas:
        fatal = set()

        def one(pair, tool=tool, fatal=fatal):
            count = len(statements) if number(pair[0]) < 20 else len(taken_somewhere)
            return ask(tool, statements[:count], len(taken_somewhere), *pair, fatal)

        with ThreadPoolExecutor(arguments.jobs) as pool:
            for pair, found in zip(wanted, pool.map(one, wanted)):
                if found is not None:
                    taken.setdefault(pair, set()).update(found)
    with gzip.GzipFile(arguments.out, "wb", mtime=0) as packed:
        place = {}
        for line in lines:
            place.setdefault(line[2], len(place))
        for n, statement in sorted(enumerate(statements), key=lambda one: place[one[1]]):
            text = floors(taken, n, taken.keys())
            if text not in ("", "10:-"):
                packed.write(f"{text}\t{statement}\n".encode())


if __name__ == "__main__":
    main()
