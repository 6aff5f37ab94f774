"""The special functions of a GPU over whole ranges of operands: results as differences, in places, from the nearest float."""
import concurrent.futures
import lzma
import pathlib
import struct
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = """
.visible .entry %s(.param .u64 out, .param .u64 start)
{
    .reg .b32 t, u, v, i, s, r;
    .reg .f32 x, y;
    .reg .f64 X, Y;
    .reg .b64 R, I;
    mov.u32 t, %%ctaid.x; mov.u32 u, %%ntid.x; mov.u32 v, %%tid.x; mad.lo.u32 i, t, u, v;
    ld.param.u64 R, [out]; ld.param.u64 I, [start]; cvt.u32.u64 s, I; add.u32 s, s, i;
    mul.wide.u32 I, i, 4; add.u64 R, R, I; mov.b32 x, s;
    %s
    st.global.b32 [R], r;
    ret;
}
"""
SINGLE = "%s.ftz.f32 y, x; mov.b32 r, y;"
DOUBLE = "mov.b64 X, {0, s}; %s.ftz.f64 Y, X; mov.b64 {t, r}, Y;"
KERNELS = {"rcp": SINGLE % "rcp.approx", "rsq": SINGLE % "rsqrt.approx", "sqrt": SINGLE % "sqrt.approx", "lg2": SINGLE % "lg2.approx",
           "ex2": SINGLE % "ex2.approx", "sin": SINGLE % "sin.approx", "cos": SINGLE % "cos.approx", "rcp64h": DOUBLE % "rcp.approx",
           "rsq64h": DOUBLE % "rsqrt.approx"}
TURN = np.float64(2) * np.pi
REFERENCE = {"rcp": lambda x: 1 / x, "rsq": lambda x: 1 / np.sqrt(x), "sqrt": np.sqrt, "lg2": np.log2, "ex2": np.exp2,
             "sin": lambda x: np.sin(TURN * x), "cos": lambda x: np.cos(TURN * x), "rcp64h": lambda x: 1 / x, "rsq64h": lambda x: 1 / np.sqrt(x)}


def word(x):
    return int(np.float32(x).view(np.uint32))


BINADE = 1 << 23
# name, first operand's bits, how many
RANGES = [("rcp", word(1), BINADE), ("rsq", word(1), 2 * BINADE), ("sqrt", word(1), 2 * BINADE), ("lg2", word(0.5), 3 * BINADE),
          ("lg2", word(2.0 ** 40), BINADE), ("ex2", word(0.5), 2 * BINADE), ("ex2", word(-1), BINADE), ("ex2", word(2.0 ** -10), BINADE), ("ex2", word(16), BINADE),
          ("sin", word(0.25), 3 * BINADE), ("sin", word(2.0 ** -3), BINADE), ("sin", word(2.0 ** -12), BINADE), ("cos", word(0.25), 3 * BINADE),
          ("cos", word(2.0 ** -6), BINADE), ("rcp64h", 0x3FF00000, 1 << 20), ("rsq64h", 0x3FF00000, 2 << 20)]
PARTICULAR = [0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x807FFFFF, 0x800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
       0x7F800001, 0xFFC12345, 0x7EFFFFFF, 0x7F000000, 0x7E800000, 0x7E800001, 0xFE800001, 0x42FFFFFF, 0x43000000, 0xC2FC0000, 0xC2FC0001, 0xC3160000,
       0x3F800000, 0xBF800000, 0x4B000000, 0x4B800000, 0x5F000000, 0x7FF00000, 0xFFF00000, 0x000FFFFF, 0x00100000, 0x7FEFFFFF, 0x7FD00000,
       0x7FE00000, 0xFFF80000, 0x7FF80000, 0x3FF00000]


def reference(name, words):
    """The nearest number's bits; of the 64-bit ones the high word, cut."""
    if name.endswith("64h"):
        return (REFERENCE[name]((words.astype(np.uint64) << np.uint64(32)).view(np.float64)).view(np.uint64) >> np.uint64(32)).astype(np.uint32)
    return REFERENCE[name](words.view(np.float32).astype(np.float64)).astype(np.float32).view(np.uint32)


def packed(job):
    name, first, found = job
    words = np.arange(first, first + len(found), dtype=np.uint32)
    difference = (found.astype(np.int64) - reference(name, words).astype(np.int64)).astype(np.int32)
    planes = difference.view(np.uint8).reshape(-1, 4).T.copy()  # bytes apart: they compress better
    limits = f"{difference.min()} to {difference.max()}, {np.count_nonzero(difference)} of {len(difference)}"
    return f"{name}_{first:08x}", limits, lzma.compress(planes.tobytes(), preset=6)


def prepare(build):
    """Sine and cosine without the multiplication that the compiler puts before them."""
    sys.path.insert(0, str(HERE.parent))
    import nv
    for name in ("sin", "cos"):
        path = build / f"{name}.ptx"
        path.write_text(HEAD + KERNEL % (name, KERNELS[name]))
        subprocess.check_call([str(nv.PTXAS), "-arch=sm_90", str(path), "-o", str(build / f"{name}.cubin")])
        cubin, turn = (build / f"{name}.cubin").read_bytes(), struct.pack("<I", 0x3E22F983)
        assert cubin.count(turn) == 1
        (build / f"{name}.cubin").write_bytes(cubin.replace(turn, struct.pack("<f", 1.0)))


def run(driver, out):
    """Writes mufu.npz: of each range the differences, and what particular operands give."""
    modules = {}
    for name, line in KERNELS.items():
        path = HERE / "build" / f"{name}.cubin"
        modules[name] = driver.load(path.read_bytes() if path.exists() else HEAD + KERNEL % (name, line))
    jobs = []
    for name, first, count in RANGES:
        room = driver.upload(np.zeros(count, np.uint32))
        driver.launch(modules[name], name, count // 128, 128, room, first)
        jobs.append((name, first, driver.download(room, np.uint32, count)))
        driver.free(room)
    files = {}
    for name in KERNELS:
        room = driver.upload(np.zeros(128, np.uint32))
        results = []
        for operand in PARTICULAR:
            driver.launch(modules[name], name, 1, 128, room, operand)
            results.append((operand, int(driver.download(room, np.uint32, 1)[0])))
        files[f"particular_{name}"] = np.array(results, np.uint32)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for label, limits, data in pool.map(packed, jobs):
            print(label, limits)
            files[label] = np.frombuffer(data, np.uint8)
    np.savez(out / "mufu.npz", **files)


def results(out):
    """(name, operands, results) of each range of a run, as bits."""
    with np.load(out / "mufu.npz") as file:
        for label in file.files:
            name, first = label.rsplit("_", 1)
            if name == "particular":
                continue
            planes = np.frombuffer(lzma.decompress(file[label].tobytes()), np.uint8).reshape(4, -1)
            difference = np.ascontiguousarray(planes.T).reshape(-1).view(np.int32)
            words = np.arange(int(first, 16), int(first, 16) + len(difference), dtype=np.uint32)
            yield name, words, (reference(name, words).astype(np.int64) + difference).astype(np.uint32)
