#!/usr/bin/env python3
"""LLVM's tests of its PTX back end: ptxas and warploom agree about each module that llc makes.

    llvm_nvptx.py --ptxas TOOL [--ptxas TOOL] [--llc LLC] [--clone FOLDER] [--all]

The modules are those of the RUN lines of llvm/test/CodeGen/NVPTX/*.ll that call llc. A module that llc
refuses (it may be older than the suite) is counted, not asked about. Reasons for differences stand in
llvm_nvptx.expected, a line for each file.
"""

import re
import shlex
import subprocess
import sys
import tempfile

import peer

FOLDER = "llvm/test/CodeGen/NVPTX"


def runs(text):
    """The arguments of each llc in the RUN lines."""
    lines = re.findall(r"^; *RUN: *(.*?)$", text, re.MULTILINE)
    for command in re.split(r"\n", "\n".join(lines).replace("\\\n", " ")):
        for part in re.split(r"[|&]+", re.sub(r"%if .*?%\{.*?%\}", "", command)):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            if words and words[0] == "llc":
                yield [word for word in words[1:] if word not in ("<", "%s") and not word.startswith("-o")]


def main():
    given, llc = split_llc()
    suite = peer.Suite(given, [FOLDER])
    reasons = peer.expected("llvm_nvptx.expected")
    made = refused = differ = narrow = 0
    with tempfile.NamedTemporaryFile(suffix=".ptx") as module:
        path = peer.pathlib.Path(module.name)
        for file in suite.files(FOLDER + "/**/*.ll"):
            name = str(file.relative_to(suite.root / FOLDER))
            seen = set()
            for words in runs(file.read_text(errors="replace")):
                command = [llc, *words, "-filetype=asm", "-o", "-", str(file)]
                done = subprocess.run(command, capture_output=True, check=False)
                if done.returncode != 0:
                    refused += 1
                    continue
                if done.stdout in seen or b".version" not in done.stdout:
                    continue
                seen.add(done.stdout)
                path.write_bytes(done.stdout)
                made += 1
                problems = [peer.ptxas(tool, path) for tool in given.ptxas]
                takes = None in problems or peer.is_narrow(problems)
                narrow += None not in problems and takes
                code, text = peer.warploom(given, "inspect", path)
                reads = code == 0
                if takes == reads and not given.all:
                    continue
                reason = reasons.get(name, "")
                differ += takes != reads and not reason
                verdict = "takes it" if takes else f"refuses it: {problems[0] if problems else 'not asked'}"
                ours = "reads it" if reads else text.strip().splitlines()[0].replace(str(path), "")
                print(f"{name} {' '.join(words)} | ptxas {verdict} | warploom: {ours} | {reason}")
    print(f"{made} modules, {narrow} with addresses of 32 bits, {refused} RUN lines that llc refuses, {differ} differences without a reason")
    sys.exit(differ > 0)


def split_llc():
    """The command line, of which --llc is this script's own."""
    llc = "llc"
    if "--llc" in sys.argv:
        at = sys.argv.index("--llc")
        llc = sys.argv[at + 1]
        del sys.argv[at : at + 2]
    return peer.arguments(__doc__, "llvm/llvm-project", "llvmorg-19.1.7"), llc


if __name__ == "__main__":
    main()
