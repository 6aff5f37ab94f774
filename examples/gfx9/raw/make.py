#!/usr/bin/env python3
"""Makes the manifests, inputs and expected results of the plain instruction streams, and with --capture the streams.

    python3 examples/gfx9/raw/make.py              # needs numpy
    python3 examples/gfx9/raw/make.py --capture    # needs what tools/radv-capture needs

What SGPRs hold is RADV's convention, as the code shows: s[0:1] the ring offsets (scratch), then for each descriptor set the low
half of its address, push constants, the address of the numbers of workgroups if the shader asks for them, the workgroup's ids
that it uses, and last the offset of the wave's scratch. The high half of a set's address is always 0xffff8000.
"""
import argparse
import pathlib
import struct
import subprocess

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
CAPTURE = HERE.parents[2] / "tools" / "radv-capture" / "capture.sh"
OPTIONS = {
    "scale": ["--push", "8", "--set", "0:u,1:s,2:s"],
    "transpose": ["--push", "8", "--set", "0:s,1:s"],
    "nearest": ["--set", "0:u", "--set", "3:s,4:s"],
    "census": ["--push", "4", "--set", "0:s,1:s"],
    "texels": ["--set", "0:b,1:b,2:s"],
}


def bits(x):
    """A float as the word that a register holds."""
    return struct.unpack("<I", struct.pack("<f", x))[0]


def launch(name, comment, grid, block, sgprs, sets, buffers, vgprs_used=("thread_id_x",), variant=None):
    """Writes a manifest and its arrays. `sgprs` are pairs of a register and TOML, `sets` the buffers of each descriptor set, with
    what their descriptors have besides, `buffers` as in the other examples. The registers and LDS that the shader needs are in the statistics."""
    statistics = dict(line.split(": ") for line in (HERE / f"{name}.asm").read_text().splitlines() if ": " in line)
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += ["[kernel]", f'binary = "{name}.bin"', 'format = "gfx9-raw"', "[launch]", f"grid = {grid}", f"block = {block}",
              "[raw]", f"vgprs = {statistics['VGPRs']}"]
    if statistics["LDS size"] != "0":
        lines += [f"lds_bytes = {statistics['LDS size']}"]
    # RADV_FORCE_FAMILY or not: denormals of single precision are flushed, NaNs are clamped to 0.
    lines += ["mode = { denorm_64_16 = 3, dx10_clamp = true }"]
    for i, _ in enumerate(sets):
        lines += ["[[raw.sgpr]]", f"first = {2 + i}", f'buffer_low = "set{i}"']
    for first, value in sgprs:
        lines += ["[[raw.sgpr]]", f"first = {first}", value]
    for first, builtin in enumerate(vgprs_used):
        lines += ["[[raw.vgpr]]", f"first = {first}", f'builtin = "{builtin}"']
    for i, names in enumerate(sets):
        lines += [f"[buffer.set{i}]", f"zeros = {16 * len(names)}", f'address = "{0xFFFF800000010000 + 0x10000 * i:#x}"', "parts = ["]
        for k, b in enumerate(names):
            b, more = b if isinstance(b, tuple) else (b, "")
            lines += [f'  {{ at = {16 * k}, buffer_descriptor = {{ buffer = "{b}"{more} }} }},']
        lines += ["]"]
    prefix = f"{name}-{variant}" if variant else name
    for buffer, content in buffers.items():
        initial, expected = content if isinstance(content, tuple) else (content, None)
        lines += [f"[buffer.{buffer}]"]
        if isinstance(initial, int):
            lines += [f"zeros = {initial}"]
        else:
            np.save(HERE / f"{prefix}.{buffer}.npy", initial)
            lines += [f'file = "{prefix}.{buffer}.npy"']
        if expected is not None:
            np.save(HERE / f"{prefix}.{buffer}.expected.npy", expected)
            lines += [f'expect = "{prefix}.{buffer}.expected.npy"']
    (HERE / f"{prefix}.toml").write_text("\n".join(lines) + "\n")


def scale():
    n, bias = 1_000, 0.625
    draw = np.random.default_rng(30)
    factors = draw.normal(size=(4, 4)).astype(np.float32)
    x = draw.normal(size=n).astype(np.float32)
    f = factors[np.arange(n) // 64 & 3]
    # v_mac_f32 rounds the product.
    y = f[:, 0] * x + f[:, 1] + f[:, 2] * f[:, 3] + np.float32(bias)
    launch("scale", "A uniform buffer by s_buffer_load with an offset in an SGPR, two storage buffers.\n"
           "s2: set 0. s3, s4: push constants n and bias. s5: workgroup id.", [16, 1, 1], [64, 1, 1],
           [(3, f"values = [{n}, {bits(bias)}]"), (5, 'builtin = "workgroup_id_x"')], [["factors", "x", "y"]],
           {"factors": factors, "x": x, "y": (4 * n, y)})


def transpose():
    w, h = 75, 50
    picture = np.random.default_rng(31).integers(0, 2**32, (h, w), dtype=np.uint32)
    grid = [-(-w // 16), -(-h // 16), 1]
    launch("transpose", "Tiles in LDS, a barrier, two-dimensional workgroups.\n"
           "s2: set 0. s3, s4: push constants w and h. s[5:6]: address of the numbers of workgroups. s7, s8: workgroup ids.",
           grid, [16, 16, 1],
           [(3, f"values = [{w}, {h}]"), (5, 'buffer = "groups"'), (7, 'builtin = "workgroup_id_x"'),
            (8, 'builtin = "workgroup_id_y"')], [["from", "to"]],
           {"groups": np.array(grid, np.uint32), "from": picture, "to": (4 * w * h, np.ascontiguousarray(picture.T))},
           ("thread_id_x", "thread_id_y"))


def nearest():
    n, count = 730, 37
    draw = np.random.default_rng(32)
    centres = np.zeros(401, np.float32)
    centres[:400].reshape(100, 4)[:count] = draw.uniform(-50, 50, (count, 4))
    centres[400] = np.uint32(count).view(np.float32)
    points = draw.uniform(-60, 60, (n, 2)).astype(np.float32)
    d = centres[:400].reshape(100, 4)[:count, :2] - points[:, None]
    distance = d[:, :, 0] * d[:, :, 0] + d[:, :, 1] * d[:, :, 1]
    which = distance.argmin(1)
    steps = np.zeros(n, np.uint32)
    least = distance.min(1)
    while (least >= 1).any():
        steps += least >= 1
        least = np.where(least >= 1, least * np.float32(0.5), least)
    launch("nearest", "A loop over a uniform buffer by scalar loads, workgroups of 100 lanes, the length of a buffer from its\n"
           "descriptor, lanes that leave a loop at different times.\ns2, s3: sets 0 and 1. s4: workgroup id.", [8, 1, 1], [100, 1, 1],
           [(4, 'builtin = "workgroup_id_x"')], [["centres"], ["points", "nearest"]],
           {"centres": centres.view(np.uint32), "points": points,
            "nearest": (8 * n, np.stack([which.astype(np.uint32), steps], 1))})


def census():
    n = 1_000
    numbers = np.random.default_rng(33).integers(0, 2**32, n, dtype=np.uint32)
    counts = np.concatenate([np.bincount(numbers & 31, minlength=32),
                             [numbers.sum(dtype=np.uint32), numbers.max()]]).astype(np.uint32)
    launch("census", "Atomics in LDS and by buffer_atomic, reductions of waves by DPP in all lanes (also those that are not there:\n"
           "workgroups have 96).\ns2: set 0. s3: push constant n. s4: workgroup id.", [11, 1, 1], [96, 1, 1],
           [(3, f"u32 = {n}"), (4, 'builtin = "workgroup_id_x"')], [["numbers", "counts"]],
           {"numbers": numbers, "counts": (136, counts)})


def texels():
    n = 333
    draw = np.random.default_rng(34)
    colours = draw.integers(0, 256, (n + 1, 4)).astype(np.uint8)
    indices = draw.integers(0, n + 6, n).astype(np.uint16)
    texel = np.zeros((n, 4), np.float32)
    inside = indices <= n
    texel[inside] = colours[indices[inside]].astype(np.float32) / np.float32(255)
    # Beyond the end a texel is 0.
    launch("texels", "Typed buffers, by buffer_load_format: indices of 16 bits, colours of four normalised bytes; some are beyond the\n"
           "end and read as zeros.\ns2: set 0. s3: workgroup id.", [6, 1, 1], [64, 1, 1], [(3, 'builtin = "workgroup_id_x"')],
           # DST_SEL x 0 0 1, NUM_FORMAT uint (4), DATA_FORMAT 16 (2); DST_SEL x y z w, unorm (0), 8_8_8_8 (10).
           [[("indices", ", stride = 2, word3 = 0x00014204"), ("colours", ", stride = 4, word3 = 0x00050fac"), "out"]],
           {"indices": indices, "colours": colours, "out": (16 * n, texel)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capture", action="store_true")
    arguments = parser.parse_args()
    np.seterr(over="ignore")
    for name, options in OPTIONS.items():
        if arguments.capture:
            subprocess.check_call([CAPTURE, HERE / f"{name}.comp", HERE / name, *options])
        globals()[name]()


if __name__ == "__main__":
    main()
