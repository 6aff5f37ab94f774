"""The golden cases of tests/maxwell_textures on a GPU, as far as CUDA can say them, and the experiments."""
import base64
import gzip
import json
import math
import pathlib
import sys
from random import Random

import numpy as np

import experiments

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/maxwell_textures"))
import model  # noqa: E402

NORMAL = {"unorm": "uint", "snorm": "sint"}
WRAPS = ("wrap", "mirror", "clamp_to_edge", "border")
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = """
.visible .entry %s(.param .u64 tex, .param .u64 queries, .param .u64 results, .param .u64 count)
{
    .reg .pred p;
    .reg .b32 t, u, v, i, n, layer, x, y, z, lod, ox, oy, oz, r0, r1, r2, r3, zero;
    .reg .f32 fx, fy, fz, flod;
    .reg .b64 T, Q, R, I, N;
    mov.u32 t, %%ctaid.x; mov.u32 u, %%ntid.x; mov.u32 v, %%tid.x; mad.lo.u32 i, t, u, v;
    ld.param.u64 N, [count]; cvt.u32.u64 n, N; setp.ge.u32 p, i, n; @p exit;
    ld.param.u64 T, [tex]; ld.param.u64 Q, [queries]; ld.param.u64 R, [results];
    mul.wide.u32 I, i, 36; add.u64 Q, Q, I; mul.wide.u32 I, i, 16; add.u64 R, R, I;
    mov.b32 zero, 0;
    ld.global.b32 x, [Q]; ld.global.b32 y, [Q+4]; ld.global.b32 z, [Q+8]; ld.global.b32 layer, [Q+12]; ld.global.b32 lod, [Q+16];
    ld.global.b32 ox, [Q+24]; ld.global.b32 oy, [Q+28]; ld.global.b32 oz, [Q+32];
    mov.b32 fx, x; mov.b32 fy, y; mov.b32 fz, z; mov.b32 flod, lod;
    %s
    st.global.v4.b32 [R], {r0, r1, r2, r3};
    ret;
}
"""
# Geometry of PTX: how it names coordinates, floats or integers, and offsets.
GEOMETRY = {("1d", False): ("1d", "{%sx}", "{ox}"), ("1d", True): ("a1d", "{layer, %sx}", "{ox}"),
            ("2d", False): ("2d", "{%sx, %sy}", "{ox, oy}"), ("2d", True): ("a2d", "{layer, %sx, %sy, %sy}", "{ox, oy}"),
            ("3d", False): ("3d", "{%sx, %sy, %sz, %sz}", "{ox, oy, oz, oz}"),
            ("cube", False): ("cube", "{%sx, %sy, %sz, %sz}", None), ("cube", True): ("acube", "{layer, %sx, %sy, %sz}", None)}


def kernel(operation, kind, array, offsets, integers):
    """Name and text of the kernel for a case, or None where PTX has none."""
    geometry, coords, offset = GEOMETRY[{"buffer": "1d", "pitch": "2d"}.get(kind, kind), array]
    fetches = operation in ("fetch", "nearest")
    # Of what is no buffer CUDA's compiler fetches the nearest texel.
    if offsets and offset is None or fetches and (kind == "cube" or (operation == "fetch") != (kind == "buffer")):
        return None
    letter = "" if fetches else "f"
    coords = coords.replace("%s", letter)
    tail = f", {offset}" if offsets else ""
    type = "u32" if integers else "f32"
    name = f"{operation}_{geometry}_{type}{'_offset' if offsets else ''}"
    out = "{r0, r1, r2, r3}"
    if operation.startswith("gather"):
        if geometry not in ("2d", "a2d", "cube", "acube"):
            return None
        text = f"tld4.{'rgba'[int(operation[6])]}.{geometry}.v4.{type}.f32 {out}, [T, {coords}]{tail};"
    elif operation == "grad":
        if geometry not in ("2d", "3d", "cube"):
            return None
        more = {"2d": ("{g0, g1}", "{g3, g4}")}.get(geometry, ("{g0, g1, g2, g2}", "{g3, g4, g5, g5}"))
        text = ".reg .f32 " + ", ".join(f"g{k}" for k in range(6)) + ";"
        text += "".join(f" ld.global.f32 g{k}, [Q+{12 + 4 * k}];" for k in range(6))
        text += f" tex.grad.{geometry}.v4.{type}.f32 {out}, [T, {coords}], {more[0]}, {more[1]};"
    elif operation == "fetch":
        text = f"tex.{geometry}.v4.{type}.s32 {out}, [T, {coords}]{tail};"
    elif operation == "nearest":
        text = f"tex.level.{geometry}.v4.{type}.s32 {out}, [T, {coords}], lod{tail};"
    else:
        text = f"tex.level.{geometry}.v4.{type}.f32 {out}, [T, {coords}], flod{tail};"
    return name, KERNEL % (name, text)


def said(image, case):
    """Why CUDA has no such texture, or None."""
    sampler = {**model.SAMPLER, **case["sampler"]}
    name, number = image["format"].split("_")
    if name not in ("rgba32", "rgba16", "rg32", "rgba8", "rg16", "r32", "rg8", "r16", "r8"):
        return "format"
    if number == "srgb" and name != "rgba8":
        return "format"
    if sampler["compare"]:
        return "comparison"
    if any(wrap not in WRAPS for wrap in sampler["wrap"]):
        return "wrap mode"
    if image["sources"] not in ("rgba", "rg01", "r001") or name.startswith("rgba") != (image["sources"] == "rgba") \
            or name.startswith("rg") and not name.startswith("rgba") and image["sources"] != "rg01":
        return "swizzle"
    if sampler["mag"] != sampler["min"] and case["operation"] == "sample":
        return "two filters"
    if image["min_lod"]:
        return "least level of the image"
    if image["levels"] > 1 and sampler["mip"] == "none" and case["operation"] == "sample":
        return "no filter of levels"
    if image["levels"] > 1 and sampler["force_unnormalized"]:
        return "levels without normalised coordinates"
    if any(sampler["srgb_border"]):
        return "border of sRGB"
    if sampler["srgb_allowed"] != (number == "srgb") and number == "srgb":
        return "sRGB not decoded"
    return None


def rebuilt(image):
    """The model's texture with its memory."""
    t = model.Texture(image["kind"], image["size"], image["format"], array=image["array"], layers=image["layers"], levels=image["levels"],
                      first_level=image["first_level"], last_level=image["last_level"], layout=image["layout"],
                      block_height=image["block_height"], block_depth=image["block_depth"], normalized=image["normalized"],
                      min_lod=image["min_lod"], sources=image["sources"])
    t.memory[:] = base64.b64decode(image["memory"])
    return t


def texels(t):
    """For each level the texels in rows, slices, then layers and faces."""
    out = []
    for level in t.levels:
        w, h, d = level.size
        data = bytearray()
        for layer in range(t.layers * t.faces):
            for z in range(d):
                for y in range(h):
                    for x in range(w):
                        at = layer * t.stride + level.offset(x, y, z)
                        data += t.memory[at:at + t.bytes]
        out.append(bytes(data))
    return out


def upload(driver, t, surface=False):
    number = t.number
    kind = "pitch" if t.layout == "pitch" else t.kind
    return driver.Image(kind, t.size, NORMAL.get(number, number), t.fields[0], len(t.fields), texels(t), t.array, t.layers, surface)


def all_cases():
    """Images, queries and cases: those of the golden file, then the experiments."""
    with gzip.open(ROOT / "tests/maxwell_textures/cases.json.gz") as file:
        golden = json.load(file)
    extra = experiments.build()
    return {**golden["images"], **extra.images}, {**golden["queries"], **extra.queries}, golden["cases"] + extra.cases


def run(driver, out):
    """Writes textures.json.gz: for each case the words, or why there are none."""
    images, queries, cases = all_cases()
    modules, uploaded, results = {}, {}, []
    for case in cases:
        image = images[case["image"]]
        t = rebuilt(image)
        asked = queries[case["queries"]]
        why = said(image, case)
        offsets = case["operation"] != "grad" and any(any(q[6:9]) for q in asked)
        made = why or kernel(case["operation"], "pitch" if t.layout == "pitch" else t.kind, t.array, offsets, t.integers)
        if why or made is None:
            results.append(why or "no such instruction of PTX")
            continue
        name, text = made
        if name not in modules:
            modules[name] = driver.load(HEAD + text)
        if case["image"] not in uploaded:
            uploaded[case["image"]] = upload(driver, t)
        sampler = {**model.SAMPLER, **case["sampler"]}
        border = [float(model.value(word)) for word in sampler["border"]]
        whole = (t.first_level, t.last_level) == (0, len(t.levels) - 1)
        texture = uploaded[case["image"]].texture(
            sampler["wrap"], "point" if t.integers else sampler["mag"], sampler["mip"],
            t.normalized and not sampler["force_unnormalized"], t.integers, t.srgb, sampler["seamless"], sampler["lod_bias"],
            sampler["min_lod"], sampler["max_lod"], border, None if whole else (t.first_level, t.last_level))
        words = driver.upload(np.array([[word & 0xFFFFFFFF for word in query] for query in asked], np.uint32))
        room = driver.upload(np.full(4 * len(asked), 0xA5A5A5A5, np.uint32))
        driver.launch(modules[name], name, -(-len(asked) // 128), 128, texture, words, room, len(asked))
        results.append(driver.download(room, np.uint32, 4 * len(asked)).reshape(-1, 4).tolist())
        driver.drop_texture(texture)
        driver.free(words)
        driver.free(room)
    with gzip.open(out / "textures.json.gz", "wt") as file:
        json.dump(results, file, separators=(",", ":"))
    print(sum(not isinstance(r, str) for r in results), "of", len(results), "texture cases")


TAKEN = 200  # queries of a case


def keep(out):
    """Writes tests/maxwell_textures/hardware.json.gz: what of the results is the hardware's and not the compiler's or CUDA's.

    images, and cases with their queries and results, as in cases.json.gz, but only the components that the format has; srgb: the
    decoded bytes.
    """
    images, queries, cases = all_cases()
    with gzip.open(out / "textures.json.gz") as file:
        results = json.load(file)
    draw = Random(1)
    kept = {"images": {}, "queries": {}, "cases": [], "srgb": None}
    for number, (case, result) in enumerate(zip(cases, results)):
        if isinstance(result, str):
            continue
        image, operation = images[case["image"]], case["operation"]
        kind, integers = image["kind"], image["format"].endswith("int")
        fields = len(model.WIDTHS[image["format"].split("_")[0]])
        gathers = operation.startswith("gather")
        if case["image"] == "srgb" and case["sampler"]["mag"] == "point":
            kept["srgb"] = [words[0] for words in result]
        # Integers between levels, and their border, CUDA does not allow.
        if integers and (case["sampler"].get("mip", "none") == "linear" and operation in ("sample", "grad")
                         or "border" in case["sampler"].get("wrap", []) and operation not in ("fetch", "nearest")):
            continue
        if kind == "cube" and (operation == "grad" or gathers and integers) or gathers and int(operation[6]) >= fields:
            continue
        taken = [i for i, query in enumerate(queries[case["queries"]]) if own(kind, operation, query)]
        if len(taken) > TAKEN:
            taken = sorted(draw.sample(taken, TAKEN))
        if not taken:
            continue
        rows = []
        for i in taken:
            query = list(queries[case["queries"]][i])
            if kind == "1d" and operation not in ("fetch", "nearest", "grad"):
                # The compiler makes a plane of a line, of which it reads the edge of the only row.
                query[1] = 0x3F000000 if image["array"] else 0
            rows.append(query)
        sampler = {key: math.trunc(v * 256) / 256 if "lod" in key else v for key, v in case["sampler"].items()}
        kept["queries"][str(number)] = rows
        kept["images"][case["image"]] = image
        kept["cases"].append({"image": case["image"], "sampler": sampler, "queries": str(number),
                              "operation": operation,
                              "results": [result[i][:4 if gathers else fields] for i in taken]})
    packed = gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), 9, mtime=0)
    (ROOT / "tests/maxwell_textures/hardware.json.gz").write_bytes(packed)


def own(kind, operation, query):
    """Whether the instruction gets the coordinates of a query as they are."""
    if operation in ("fetch", "nearest", "grad"):
        return True
    if kind == "cube":
        # The compiler multiplies by an approximate reciprocal of the greatest, which is exact for powers of two.
        greatest = max(abs(float(model.value(word))) for word in query[:3])
        return 1e-18 < greatest < 1e18 and math.frexp(greatest)[0] == 0.5
    # The compiler's offsets of a line reach into the plane that it makes of it.
    return kind != "1d" or not any(query[6:9])
