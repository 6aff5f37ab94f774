"""The PTX of tests/semantics on a GPU: a checksum of each form's results."""
import gzip
import pathlib
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PTX = ROOT / "tests/fixtures/maxwell/semantics/ptx"
BUILD = ROOT / "tools/gpu/build"
COUNT = 2048
MASK = {"Predicate": 1, "Bits16": 0xFFFF, "Bits32": 0xFFFFFFFF, "Bits64": 0xFFFFFFFFFFFFFFFF}


def groups():
    return sorted(path.stem for path in PTX.glob("*.ptx"))


def forms_of(group):
    """Kernel, width, warploom's checksums, by itself and with the GPU's reciprocals, and text of each form."""
    return [line.split("\t", 4) for line in (BUILD / f"{group}.forms").read_text().splitlines()]


def run(driver, out):
    """Writes semantics.txt: group, number and checksum of each form."""
    told = []
    for group in groups():
        forms = forms_of(group)
        inputs = np.fromfile(BUILD / f"{group}.inputs", np.uint64).reshape(3, COUNT)
        module = driver.load((PTX / f"{group}.ptx").read_text())
        operands = [driver.upload(row) for row in inputs]
        kernels, differ = {}, 0
        for n, form in enumerate(forms):
            kernels.setdefault(form[0], []).append(n)
        for kernel, numbers in kernels.items():
            room = driver.upload(np.full(COUNT * len(numbers), 0xA5A5A5A5A5A5A5A5, np.uint64))
            driver.launch(module, kernel, 64, 32, room, *operands)
            found = driver.download(room, np.uint64, COUNT * len(numbers)).reshape(len(numbers), COUNT)
            driver.free(room)
            for n, row in zip(numbers, found):
                checksum = zlib.crc32((row & np.uint64(MASK[forms[n][1]])).tobytes())
                differ += checksum != int(forms[n][2], 16)
                told.append(f"{group}\t{n}\t{checksum:08x}")
        print(group, len(forms), "forms", differ, "differ")
    (out / "semantics.txt").write_text("\n".join(told))


def keep(out):
    """Writes gpu.txt.gz: group, checksum and text of the forms for which warploom's is the same."""
    lines = []
    for line in (out / "semantics.txt").read_text().splitlines():
        group, n, checksum = line.split("\t")
        _, _, plain, with_tables, text = forms_of(group)[int(n)]
        if checksum in (plain, with_tables):
            lines.append(f"{group if checksum == plain else group + ' with tables'}\t{checksum}\t{text}\n")
    (PTX / "gpu.txt.gz").write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    print(len(lines), "forms kept")
