#!/usr/bin/env python3
"""ZLUDA's tests of single PTX kernels: both engines give the suite's values.

    zluda.py --ptxas TOOL [--ptxas TOOL] [--clone FOLDER] [--all]

Inputs and outputs are those of `test_ptx!`, `test_ptx_with_32!` and `test_ptx_warp!` in the suite's mod.rs.
A difference counts if a ptxas takes the module, or if its addresses have 32 bits, which no ptxas
takes now. Floats may differ in the last bits where an instruction of the module is approximate.
"""

import ast
import pathlib
import re
import struct
import sys
import tempfile

import peer

FORMATS = {
    "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q",
    "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip
PARENTHESES = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def split(text):
    """The parts of a list at its top-level commas."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += PARENTHESES.get(character, 0)
        if character == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return [part for part in [*parts, part.strip()] if part]


def type_of(text):
    found = re.search(r"\.to_bits\(\)$", text)
    if found:
        return {"f16": "u16", "f32": "u32", "f64": "u64"}[type_of(text[: found.start()])]
    found = re.search(r"\b(?:half::)?(f16|f32|f64|[iu](?:8|16|32|64))::", text) or re.search(
        r"(?:[0-9a-fA-F_.]|\b)(f32|f64|[iu](?:8|16|32|64))$", text.split(" /")[0]
    )
    return found[1] if found else None


def value(text, kind):
    """The bytes of an expression of a type."""
    form = "<" + FORMATS[kind]
    if text.endswith(".to_bits()"):
        inner = text.removesuffix(".to_bits()")
        return value(inner, type_of(inner))
    found = re.fullmatch(r"(?:half::)?f\d+::from_bits\((.*)\)", text)
    if found:
        return value(found[1], "u" + kind[1:])
    found = re.fullmatch(r"half::f16::from_f\d+\((.*)\)", text)
    if found:
        return struct.pack("<e", float(found[1]))
    text = re.sub(r"(?:std::f32::consts::)PI", "3.1415927410125732", text)
    bits = int(kind[1:])
    low = -(1 << bits - 1) if kind[0] == "i" else 0
    named = {
        "MAX": low + (1 << bits) - 1, "max_value()": low + (1 << bits) - 1, "MIN": low, "NAN": float("nan"),
        "INFINITY": float("inf"), "NEG_INFINITY": float("-inf"),
    }  # fmt: skip
    found = re.fullmatch(r"(-?)(?:half::)?\w+::(\S+)", text)
    if found:
        number = named[found[2]]
        return struct.pack(form, -number if found[1] else number)
    if re.match(r"-?0[xb]", text):
        number = ast.literal_eval(re.sub(r"_*([iu](8|16|32|64))?$", "", re.sub(r"_+", "_", text)))
    else:
        parts = re.sub(r"_*(f32|f64|[iu](8|16|32|64))(?=$|\s)", "", text).split("/")
        numbers = [float(part) if kind[0] == "f" else int(part) for part in parts]
        number = numbers[0] / numbers[1] if len(numbers) == 2 else numbers[0]
    if kind[0] == "u":
        number %= 1 << bits
    return struct.pack(form, number)


def values(text):
    """The bytes of an array, and the type of its elements."""
    items = split(text.strip()[1:-1])
    kinds = [kind for kind in map(type_of, items) if kind]
    kind = kinds[0] if kinds else "i32"
    return b"".join(value(item, kind) for item in items), kind


def tests(text):
    """Name, inputs, outputs, lanes and whether a module of 32 bits is there."""
    text = re.sub(r"//.*", "", text)
    for found in re.finditer(r"^test_ptx(\w*)!\(", text, re.MULTILINE):
        end, depth = found.end(), 1
        while depth:
            depth += PARENTHESES.get(text[end], 0)
            end += 1
        parts = split(text[found.end() : end - 1])
        if len(parts) == 3:
            yield parts[0], parts[1], parts[2], 1, found[1] == "_with_32"
        elif len(parts) == 2:
            yield parts[0], None, parts[1], 64, False


def launch(given, path, name, inputs, output, lanes, folder):
    """What the output buffer holds after the launch, or what went wrong."""
    manifest = f'[kernel]\nbinary = "{path}"\nentry = "{name}"\n'
    manifest += f"[launch]\ngrid = [1, 1, 1]\nblock = [{lanes}, 1, 1]\nshared_bytes = 1024\n"
    # The driver passes an input and an output, of which a kernel may take the first only.
    head = re.search(rf"\.entry\s+{name}\s*\((.*?)\)", path.read_text(), re.DOTALL)[1]
    buffers = ["i" if inputs else "o", "o"][: head.count(".param")]
    manifest += "".join(f'[[arg]]\nbuffer = "{buffer}"\n' for buffer in buffers)
    manifest += f"[buffer.o]\nzeros = {len(output)}\n"
    if inputs:
        manifest += f'[buffer.i]\nvalues = {list(inputs)}\ndtype = "u8"\n'
    (folder / "m.toml").write_text(manifest)
    out = folder / "out"
    for old in out.glob("*"):
        old.unlink()
    code, text = peer.warploom(given, "run", folder / "m.toml", "--engine", "both", "--out", out)
    if code != 0:
        return text.strip().splitlines()[-1] if text.strip() else f"exit code {code}"
    if not (out / "o.npy").exists():
        return bytes(len(output))
    array = (out / "o.npy").read_bytes()
    return array[10 + struct.unpack("<H", array[8:10])[0] :][: len(output)]


def agrees(found, wanted, kind):
    if found == wanted or not isinstance(found, bytes) or kind[0] != "f":
        return found == wanted
    form = f"<{len(wanted) // struct.calcsize(FORMATS[kind])}{FORMATS[kind]}"
    close = 1e-6 if kind != "f16" else 2e-3
    pairs = zip(struct.unpack(form, found), struct.unpack(form, wanted))
    return all(a == b or (a != a and b != b) or abs(a - b) <= close * max(1, abs(b)) for a, b in pairs)


def main():
    given = peer.arguments(__doc__, "vosen/ZLUDA", "8a7931be87d758835776f54ea2e33d30621c74ce")
    suite = peer.Suite(given, ["ptx/src/test/spirv_run"])
    root = suite.root / "ptx" / "src" / "test" / "spirv_run"
    reasons = peer.expected("zluda.expected")
    count = right = differ = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, inputs, outputs, lanes, narrow in tests((root / "mod.rs").read_text()):
            given_bytes = values(inputs)[0] if inputs else None
            wanted, kind = values(outputs)
            for path in [root / f"{name}.ptx", *([root / "32" / f"{name}.ptx"] if narrow else [])]:
                problems = [peer.ptxas(tool, path) for tool in given.ptxas]
                takes = None in problems or peer.is_narrow(problems)
                count += takes
                found = launch(given, path, name, given_bytes, wanted, lanes, folder)
                fits = agrees(found, wanted, kind)
                right += takes and fits
                label = str(path.relative_to(root))
                reason = reasons.get(label, "")
                differ += takes and not fits and not reason
                if given.all or (takes and not fits):
                    verdict = "takes it" if takes else f"refuses it: {problems[0] if problems else 'not asked'}"
                    ours = "right" if fits else found.hex() if isinstance(found, bytes) else found
                    print(f"{label} | ptxas {verdict} | {ours}, expected {wanted.hex()} | {reason}")
    print(f"{count} tests that ptxas takes, {right} give the suite's values, {differ} differences without a reason")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
