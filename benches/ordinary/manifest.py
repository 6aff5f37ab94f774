"""Launches as files: manifests and arrays."""
import collections
import pathlib
import struct

import suite

Guest = collections.namedtuple("Guest", "title suffix")
GUESTS = {"maxwell": Guest("Maxwell", "sm_50.cubin"), "turing": Guest("Turing", "sm_80.cubin"), "ptx": Guest("PTX", "sm_70.ptx"),
          "gfx9": Guest("GFX9", "gfx900.hsaco"), "visa": Guest("vISA", "skl.zebin")}
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


def npy(dtype, data):
    """A file of NumPy's, version 1."""
    size = int(dtype[1])
    order = "|" if size == 1 else "<"
    head = f"{{'descr': '{order}{dtype}', 'fortran_order': False, 'shape': ({len(data) // size},), }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def exists(program, guest):
    """Whether there is a binary: opencl.py says which cannot be made."""
    return (PROGRAMS / f"{program.name}.{GUESTS[guest].suffix}").exists()


def write(program, launch, results, folder, guest, binary=None):
    """Writes FOLDER/NAME.GUEST.toml with its arrays. `binary` is the path of its binary without the suffix."""
    binary = binary or PROGRAMS / program.name
    folder = pathlib.Path(folder)
    lines = [f"# {program.kind}", "[kernel]", f'binary = "{binary}.{GUESTS[guest].suffix}"', f'entry = "{program.name}"', "[launch]",
             f"grid = {[*launch.grid, 1]}", f"block = {[*launch.block, 1]}"]
    if launch.stack:
        lines.append(f"stack_bytes = {launch.stack}")
    buffers = []
    for number, (argument, result) in enumerate(zip(launch.arguments, results)):
        lines.append("[[arg]]")
        if isinstance(argument, suite.Scalar):
            # TOML's own integers have a sign.
            value = f'"{argument.value:#x}"' if argument.dtype == "u8" else argument.value
            lines.append(f"{suite.TYPES[argument.dtype][1]} = {value}")
            continue
        name = f"b{number}"
        lines.append(f'buffer = "{name}"')
        buffers.append(f"[buffer.{name}]")
        if any(argument.data):
            (folder / f"{program.name}.{name}.npy").write_bytes(npy(argument.dtype, argument.data))
            buffers.append(f'file = "{program.name}.{name}.npy"')
        else:
            buffers.append(f"zeros = {len(argument.data)}")
        if argument.result:
            (folder / f"{program.name}.{name}.expected.npy").write_bytes(npy(argument.dtype, result))
            buffers.append(f'expect = "{program.name}.{name}.expected.npy"')
            buffers += [f"{key} = {getattr(program, key)}" for key in ("rtol", "atol") if getattr(program, key)]
    path = folder / f"{program.name}.{guest}.toml"
    path.write_text("\n".join(lines + buffers) + "\n")
    return path
