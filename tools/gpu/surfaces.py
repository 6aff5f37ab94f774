"""The golden cases of tests/maxwell_surfaces on a GPU, as far as PTX can say them, against their model."""
import base64
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time
import zlib
from collections import Counter
from importlib.machinery import SourceFileLoader

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Not by its name: tests/maxwell_textures has a model too.
model = SourceFileLoader("surface_model", str(ROOT / "tests/maxwell_surfaces/model.py")).load_module()

HEAD = ".version 8.1\n.target sm_90\n.address_size 64\n"
KERNEL = """
.visible .entry %s(.param .u64 surface, .param .u64 coords, .param .u64 data, .param .u64 results)
{
    .reg .b16 h;
    .reg .b32 i, x, y, z, a, b, c, d, r0, r1, r2, r3;
    .reg .b64 S, C, D, R, I, A;
    mov.u32 i, %%tid.x;
    ld.param.u64 S, [surface]; ld.param.u64 C, [coords]; ld.param.u64 D, [data]; ld.param.u64 R, [results];
    mul.wide.u32 I, i, 12; add.u64 C, C, I; mul.wide.u32 I, i, 16; add.u64 D, D, I; add.u64 R, R, I;
    ld.global.b32 x, [C]; ld.global.b32 y, [C+4]; ld.global.b32 z, [C+8];
    ld.global.v4.b32 {a, b, c, d}, [D]; mov.b64 A, {a, b}; cvt.u16.u32 h, a;
    mov.b32 r0, 0; mov.b32 r1, 0; mov.b32 r2, 0; mov.b32 r3, 0;
    %s
    st.global.v4.b32 [R], {r0, r1, r2, r3};
    ret;
}
"""
GEOMETRY = {"1D": ("1d", "{x}"), "1D_ARRAY": ("a1d", "{y, x}"), "2D": ("2d", "{x, y}"), "2D_ARRAY": ("a2d", "{z, x, y, y}"),
            "3D": ("3d", "{x, y, z, z}")}
CLAMP = {"IGN": "zero", "NEAR": "clamp", "TRAP": "trap"}
DIMS = {"1d": "1D", "1d_array": "1D_ARRAY", "2d": "2D", "2d_array": "2D_ARRAY", "3d": "3D"}
LOADS = {"U8": "b8 {h}, %s; cvt.u32.u16 r0, h;", "U16": "b16 {h}, %s; cvt.u32.u16 r0, h;", "32": "b32 {r0}, %s;", "64": "v2.b32 {r0, r1}, %s;",
         "128": "v4.b32 {r0, r1, r2, r3}, %s;"}
STORES = {"U8": ("b8", "{h}"), "U16": ("b16", "{h}"), "32": ("b32", "{a}"), "64": ("v2.b32", "{a, b}"), "128": ("v4.b32", "{a, b, c, d}")}
SECONDS = 90
WORKERS = 6
VECTORS = {"R": ("", "{a}"), "RG": ("v2.", "{a, b}"), "RGBA": ("v4.", "{a, b, c, d}")}


def kernel(insn):
    """Name and text of the kernel for an instruction, or None."""
    if insn.dim not in GEOMETRY or insn.sparse:
        return None
    geometry, coords = GEOMETRY[insn.dim]
    at, clamp = f"[S, {coords}]", CLAMP[insn.clamp]
    if insn.name == "SULD" and insn.byte_address and insn.size in LOADS:
        kind, rest = LOADS[insn.size].split(" ", 1)
        text = f"suld.b.{geometry}.{kind}.{clamp} {rest % at}"
    elif insn.name == "SUST" and insn.byte_address and insn.size in STORES:
        kind, value = STORES[insn.size]
        text = f"sust.b.{geometry}.{kind}.{clamp} {at}, {value};"
    elif insn.name == "SUST" and insn.mode == "P" and insn.mask in VECTORS:
        vector, value = VECTORS[insn.mask]
        text = f"sust.p.{geometry}.{vector}b32.{clamp} {at}, {value};"
    elif insn.name == "SURED" and insn.dim in ("1D", "2D", "3D") and insn.op in ("ADD", "MIN", "MAX", "AND", "OR"):
        logic = insn.op in ("AND", "OR")
        if insn.mode == "P":
            text = f"sured.p.{insn.op.lower()}.{geometry}.b32.{clamp} {at}, a;"
        elif insn.byte_address and insn.type in ("U32", "S32", "U64", "S64"):
            wide = insn.type.endswith("64")
            if logic and wide or insn.type == "S64" and insn.op == "ADD":
                return None
            type = "b32" if logic else insn.type.lower()
            text = f"sured.b.{insn.op.lower()}.{geometry}.{type}.{clamp} {at}, {'A' if wide else 'a'};"
        else:
            return None
    else:
        return None
    name = "k" + "".join(c if c.isalnum() else "_" for c in text.split(" ")[0])
    return name, KERNEL % (name, text)


def rebuilt(s):
    surface = model.Surface(s["dim"], s["size"], s["format"], s["layout"], s["block_height"], s["block_depth"], s["sparse_pages"], s["handle"])
    memory = base64.b64decode(s["memory"])
    surface.memory = bytearray(memory)
    return surface


def possible(s):
    f = model.FORMATS[s["format"]]
    return (s["handle"] == "valid" and not s["sparse_pages"] and s["dim"] in DIMS and not f.srgb and len(set(f.fields)) == 1
            and len(f.fields) in (1, 2, 4) and f.fields[0] in (8, 16, 32) and f.name not in ("rgbx8_unorm",))


def upload(driver, s, surface):
    f = surface.format
    number = {"unorm": "uint", "snorm": "sint"}.get(f.kind, f.kind)
    w, h, d = s["size"]
    kind, array = s["dim"].split("_")[0], s["dim"].endswith("array")
    return driver.Image(kind, (w, h, 1 if array else d), number, f.fields[0], len(f.fields), [surface.linear()], array,
                        d if array else 1, surface=True)


def cases():
    with gzip.open(ROOT / "tests/maxwell_surfaces/cases.json.gz") as file:
        return json.load(file)


def run_case(driver, data, case, uploaded, modules):
    s = data["surfaces"][case["surface"]]
    insn = model.parse(case["text"])
    name, text = kernel(insn)
    surface = rebuilt(s)
    if case["surface"] not in uploaded:
        uploaded[case["surface"]] = upload(driver, s, surface)
    image = uploaded[case["surface"]]
    image.write(surface.linear())
    if name not in modules:
        modules[name] = driver.load(HEAD + text)
    handle = image.surface()
    coords = driver.upload(np.array(data["coords"][case["coords"]], np.uint32))
    words = driver.upload(np.array(data["data"][case["data"]], np.uint32))
    room = driver.upload(np.zeros(128, np.uint32))
    driver.launch(modules[name], name, 1, 32, handle, coords, words, room)
    result = driver.download(room, np.uint32, 128).reshape(-1, 4).tolist()
    left = image.read()
    for address in (coords, words, room):
        driver.free(address)
    driver.drop_surface(handle)
    return {"result": result, "memory": base64.b64encode(zlib.compress(left)).decode()}


def fits(data, case):
    s = data["surfaces"][case["surface"]]
    insn = model.parse(case["text"])
    return possible(s) and DIMS[s["dim"]] == insn.dim and kernel(insn) is not None


def run(_, out):
    """A fault loses the process: one goes on behind it where another ended. What the model has fault comes last, some of every kind."""
    data, seen = cases(), {}
    numbers = [n for n, case in enumerate(data["cases"]) if fits(data, case) and "fault" not in case]
    for n, case in enumerate(data["cases"]):
        if "fault" in case and fits(data, case):
            key = (case["text"].split(" ")[0].split(".")[0], case["fault"]["kind"], model.parse(case["text"]).clamp)
            seen[key] = seen.get(key, 0) + 1
            if seen[key] <= 4:
                numbers.append(n)
    results, start = {}, time.time()
    parts = [numbers[k::WORKERS] for k in range(WORKERS)]
    while any(parts) and time.time() - start < SECONDS:
        running = []
        for part in parts:
            command = [sys.executable, __file__, ",".join(map(str, part))]
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) if part else None)
        for k, process in enumerate(running):
            if process is None:
                continue
            lines = process.communicate()[0].decode().splitlines()
            for line in lines:
                if line.startswith("{"):
                    results.update(json.loads(line))
            left = [n for n in parts[k] if str(n) not in results]
            if len(left) == len(parts[k]):
                results[str(left[0])] = "process: " + " | ".join(lines[-3:])
                left = left[1:]
            parts[k] = left
    with gzip.open(out / "surfaces.json.gz", "wt") as file:
        json.dump(results, file, separators=(",", ":"))
    told = Counter(verdict(data, data["cases"][int(n)], result) for n, result in results.items())
    for line, count in sorted(told.items()):
        print(f"{count:5} {line}")


def verdict(data, case, result):
    """How a result compares with the model's. Where several lanes store to a place any of them may be the last."""
    insn = model.parse(case["text"])
    family = f"{insn.name}.{insn.mode}{'.' + insn.op if insn.op else ''} {insn.clamp}"
    if "fault" in case:
        return f"{family}: the model has {case['fault']['kind']}, the GPU {result if isinstance(result, str) else 'none'}"
    if isinstance(result, str):
        return f"{family}: {result}"
    s = rebuilt(data["surfaces"][case["surface"]])
    coords, words = data["coords"][case["coords"]], data["data"][case["data"]]
    before, found = s.linear(), zlib.decompress(base64.b64decode(result["memory"]))
    outcome = model.execute(case["text"], s, coords, words)
    count = model.destination_count(insn)
    if count and any(list(a[:count]) != list(b) for a, b in zip(result["result"], outcome.registers)):
        return f"{family}: other registers"
    if insn.name != "SUST":
        return f"{family}: {'same' if s.linear() == found else 'other memory'}"
    size, expected = model.access_bytes(insn, s), {}
    for lane in range(32):
        _, place = model.locate(insn, s, coords[lane])
        if place is not None:
            one = rebuilt(data["surfaces"][case["surface"]])
            model.act(insn, one, place, words[lane])
            xb, y, z = place
            at = (z * s.height + y) * s.row_bytes + xb
            expected.setdefault(at, set()).add(one.linear()[at:at + size])
    touched = {at + i for at in expected for i in range(size)}
    good = all(found[at:at + size] in texels for at, texels in expected.items())
    good = good and all(a == b for i, (a, b) in enumerate(zip(before, found)) if i not in touched)
    # CUDA's arrays have no normalised formats: they are of integers there.
    kind = " normalised, which CUDA takes for integers" if insn.mode == "P" and s.format.kind in ("unorm", "snorm") else ""
    return f"{family}{kind}: {'same' if good else 'other memory'}"


def some(numbers):
    import driver
    driver.start()
    data, uploaded, modules = cases(), {}, {}
    for number in numbers:
        try:
            print(json.dumps({number: run_case(driver, data, data["cases"][number], uploaded, modules)}), flush=True)
        except driver.Failed as error:
            print(json.dumps({number: f"driver: {error}"}), flush=True)
            if not any(name in str(error) for name in ("INVALID_VALUE", "PTX", "NOT_SUPPORTED")):
                os._exit(1)  # the context is lost


if __name__ == "__main__":
    some([int(n) for n in sys.argv[1].split(",")])
