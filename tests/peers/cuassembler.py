#!/usr/bin/env python3
"""Instruction words of CuAssembler's tables: warploom prints each as nvdisasm does for Maxwell.

    cuassembler.py --nvdisasm TOOL [--clone FOLDER] [--all]

The tables are for sm_60 and sm_61. Where a table's text differs, nvdisasm is asked about the word on sm_50 to sm_53 with
no control bits. Prints the words whose text of warploom's is none of the table's, with the cause.
"""

import collections
import re
import struct
import subprocess
import sys
import tempfile

import peer

TABLES = "CuAsm/InsAsmRepos"
RECORD = re.compile(r'\((0x[0-9a-f]+), (0x[0-9a-f]+), "([^"]*)"\)')
LINE = re.compile(r"\s*/\*0008\*/\s+(.*?)\s*;?\s*/\* 0x")
# A bundle's control word without waits, stalls, reused operands and phases, and NOP.
CONTROL, NOP = 0x001F8000FC0007E0, 0x50B0000000070F00
# The chips that warploom's table is for.
CHIPS = ["SM50", "SM52", "SM53"]


def plain(text):
    """A text without what the control word adds to operands."""
    return re.sub(r"\s+", " ", text.rstrip("; ").replace(".reuse", "").replace("{", "").replace("}", "")).strip()


def vendor(tool, chip, word):
    """nvdisasm's text of a word at address 8; none if it refuses it."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(struct.pack("<4Q", CONTROL, word, NOP, NOP))
        file.flush()
        command = [tool, "-b", chip, "-ndf", "-hex", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = next(filter(None, map(LINE.match, done.stdout.splitlines())), None)
    return plain(found[1]) if found else "illegal"


def cause(tool, word, ours, texts):
    """Why the table says something else; none if warploom is wrong."""
    theirs = {chip: vendor(tool, chip, word) for chip in CHIPS}
    if ours in theirs.values():
        phase = any(re.sub(r"\.[TP](?=\.| )", "", text, count=1) == ours for text in texts)
        return "its phase is in the control word" if phase else "another instruction on sm_60 and later"
    if re.search(r"-?0x[0-9a-f]+$", ours) and re.match(r"(@\S+ )?(BRA|CAL|SSY|PBK|PCNT|PRET|JMP|JCAL)\b", ours):
        return "its target depends on its address"
    return None


def main():
    at = sys.argv.index("--nvdisasm") if "--nvdisasm" in sys.argv else sys.exit(__doc__)
    tool = sys.argv[at + 1]
    del sys.argv[at : at + 2]
    given = peer.arguments(__doc__, "cloudcores/CuAssembler", "96a9f72baf00f40b9b299653fcef8d3e2b4a3d49")
    suite = peer.Suite(given, [TABLES])
    records = collections.defaultdict(set)
    for path in suite.files(f"{TABLES}/DefaultInsAsmRepos.sm_6[01].txt"):
        for _, word, text in RECORD.findall(path.read_text()):
            records[int(word, 16) & (1 << 64) - 1].add(plain(text))
    with tempfile.NamedTemporaryFile("w", suffix=".hex") as words:
        words.writelines(f"{word:016x}\n" for word in records)
        words.flush()
        code, text = peer.warploom(given, "disasm", "--isa", "maxwell", "--hex-lines", words.name)
    lines = text.splitlines()
    if code != 0 or len(lines) != len(records):
        sys.exit(f"{len(records)} words, {len(lines)} texts: {text[:200]}")
    causes = collections.Counter()
    for (word, texts), ours in zip(records.items(), map(plain, lines)):
        if ours in texts:
            causes["as the table has it"] += 1
            continue
        why = cause(tool, word, ours, texts)
        causes[why or "warploom is wrong"] += 1
        if given.all or why is None:
            print(f"{word:016x} | {sorted(texts)[0]} | warploom: {ours} | {why or ''}")
    print(", ".join(f"{count} {why}" for why, count in causes.most_common()))
    sys.exit(causes["warploom is wrong"] > 0)


if __name__ == "__main__":
    main()
