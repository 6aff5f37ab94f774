#!/usr/bin/env python3
"""Draws frames of examples/shaders with Mesa's CPU driver and with warploom, in turn, and prints how long each takes and the ratio.

    python3 benches/frame                       # builds warploom for speed
    python3 benches/frame --warploom PATH --rounds 5 --size 1920,1080 spheres

Needs Python 3.11 or later without further packages, a C compiler, and these Debian packages; no GPU:

    apt-get install mesa-vulkan-drivers libvulkan-dev glslang-tools

Both get the same triangles, the same size, floats for colours, and as many threads as there are cores. Mesa's time is from the submission of a
frame to its fence: vertex program, rasteriser, fragment program, for `knot` the depth test, and the clears before. warploom's is the launch of the vertex program, and that of the
fragment program, which begins with the rasteriser and clears what it exports to; without a depth test, it executes the fragment program for all that is drawn. Reading files, compiling
and translating, and the picture are in neither. The best of all frames counts, of warploom the sum of the best of both launches. Mesa's vertex
programs hand on what they are given, those of `knot` the results of warploom's.
"""
import argparse
import array
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHADERS = ROOT / "examples" / "shaders"
DRIVER = "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"

# What is measured begins without code of earlier runs.
os.environ["WARPLOOM_CACHE"] = "off"

# Vertex programs that hand on what they are given.
VERTEX = {
    "spheres": "layout(location = 1) in vec4 a; layout(location = 0) out vec2 uv; void main() { gl_Position = place; uv = a.xy; }",
    "knot": "layout(location = 1) in vec4 a; layout(location = 2) in vec4 b; layout(location = 0) out vec3 turned;"
    " layout(location = 1) out vec2 uv; void main() { gl_Position = place; turned = a.xyz; uv = vec2(a.w, b.x); }",
}
FRAGMENT = {"spheres": "spheres/spheres.frag", "knot": "knot/transform.frag"}
# Of one triangle that is larger than the picture.
CLIP = [[-1.0, -1.0, 0.5, 1.0], [3.0, -1.0, 0.5, 1.0], [-1.0, 3.0, 0.5, 1.0]]
UV = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
PUSH = [0x3ECCCCCD, 0x3F666666, 0xC0A00000, 0x3F8CCCCD, 0x3F18D674, 0x3F324F88, 0xBECBC89B, 0x3F4CCCCD]

# screen.vert: a vertex has six words.
SCREEN = """.target gfx900
v_mul_u32_u24_e32 v1, 24, v0
global_load_dwordx4 v[4:7], v1, s[2:3]
global_load_dwordx2 v[8:9], v1, s[2:3] offset:16
s_waitcnt vmcnt(0)
exp pos0 v4, v5, v6, v7 done
exp param0 v8, v9, off, off
s_endpgm
"""
SCREEN_LAUNCH = """[kernel]
binary = "screen.s"
format = "gfx9-raw"
stage = "vertex"
[raw]
vgprs = 12
[[raw.sgpr]]
first = 2
buffer = "vertices"
[[raw.vgpr]]
first = 0
builtin = "vertex_id"
[vertices]
count = 3
[buffer.vertices]
dtype = "f32"
values = {vertices}
[export.pos0]
expect = {clip}
[export.param0]
expect = {uv}
"""
SPHERES = """[kernel]
binary = "{shaders}/spheres/spheres.ps.bin"
format = "gfx9-raw"
stage = "fragment"
[raw]
vgprs = 24
mode = {{ denorm_64_16 = 3, dx10_clamp = true }}
[[raw.sgpr]]
first = 2
values = {push}
[[raw.sgpr]]
first = 10
builtin = "prim_mask"
[[raw.vgpr]]
first = 0
builtin = "persp_center"
[pixels]
triangles = {clip}
varyings = [{uv}]
viewport = [0.0, 0.0, {width}.0, {height}.0]
[export.mrt0]
format = "32_abgr"
target = "rgba32f"
"""


def numbers(name):
    """What a .npy file of words has, and how many a row."""
    content = (SHADERS / "knot" / f"{name}.npy").read_bytes()
    start = 10 + int.from_bytes(content[8:10], "little")
    words = array.array("I")
    words.frombytes(content[start:])
    shape = eval(content[10:start])["shape"]
    return words, shape[1] if len(shape) > 1 else 1


def vertices(name):
    """Words of all vertices, and how many a vertex has, and the triangles' vertices."""
    if name == "spheres":
        floats = [x for clip, uv in zip(CLIP, UV) for x in clip + uv + [0.0, 0.0]]
        return array.array("f", floats).tobytes(), 8, None
    parts = [numbers(part) for part in ("pos0", "param0", "param1")]
    words = array.array("I")
    for row in range(len(parts[0][0]) // parts[0][1]):
        for part, width in parts:
            words.extend(part[row * width : (row + 1) * width])
            words.extend([0] * (4 - width))
    return words.tobytes(), 4 * len(parts), numbers("indices")[0].tobytes()


def prepare(name, size, folder):
    """The command for Mesa, and the manifests of the vertex and the fragment program."""
    (folder / f"{name}.vert").write_text("#version 450\nlayout(location = 0) in vec4 place;\n" + VERTEX[name])
    compiled = {"vert": folder / f"{name}.vert", "frag": SHADERS / FRAGMENT[name]}
    for kind, source in compiled.items():
        subprocess.run(["glslangValidator", "-V", source, "-o", folder / f"{name}.{kind}.spv"], check=True, stdout=subprocess.DEVNULL)
    data, words, indices = vertices(name)
    (folder / f"{name}.vertices").write_bytes(data)
    options = []
    if indices:
        (folder / f"{name}.indices").write_bytes(indices)
        options += ["--indices", folder / f"{name}.indices", "--depth"]
    manifest = folder / f"{name}.toml"
    width, height = size
    if name == "spheres":
        (folder / "push").write_bytes(array.array("I", PUSH).tobytes())
        options += ["--push", folder / "push"]
        vertex = folder / "screen.toml"
        (folder / "screen.s").write_text(SCREEN)
        values = [x for clip, uv in zip(CLIP, UV) for x in clip + uv]
        vertex.write_text(SCREEN_LAUNCH.format(vertices=values, clip=CLIP, uv=UV))
        manifest.write_text(SPHERES.format(shaders=SHADERS, push=PUSH, clip=CLIP, uv=UV, width=width, height=height))
    else:
        vertex = SHADERS / "knot" / "vertex.toml"
        text = (SHADERS / "knot" / "fragment.toml").read_text().split("[export]")[0]
        for file in ("transform.ps.bin", "pos0.npy", "indices.npy", "param0.npy", "param1.npy"):
            text = text.replace(f'"{file}"', f'"{SHADERS / "knot" / file}"')
        manifest.write_text(text.replace("480.0, 360.0", f"{width}.0, {height}.0"))
    files = [folder / f"{name}.{kind}" for kind in ("vert.spv", "frag.spv")]
    return [folder / "draw", *files, f"{width},{height}"], [folder / f"{name}.vertices", words, *options], [vertex, manifest]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frames", nargs="*", default=list(FRAGMENT), help="spheres, knot")
    parser.add_argument("--warploom", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5, help="frames of a round")
    parser.add_argument("--size", default="1920,1080")
    options = parser.parse_args()
    size = [int(part) for part in options.size.split(",")]
    warploom = options.warploom
    if not warploom:
        subprocess.run(["cargo", "build", "--profile=dist", "--bin", "warploom"], cwd=ROOT, check=True)
        warploom = ROOT / "target" / "dist" / "warploom"
    threads = str(os.cpu_count())
    mesa = dict(os.environ, VK_ICD_FILENAMES=DRIVER, LP_NUM_THREADS=threads)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        subprocess.run(["cc", "-O1", "-o", folder / "draw", HERE / "draw.c", "-lvulkan"], check=True)
        for name in options.frames:
            head, tail, manifests = prepare(name, size, folder)
            theirs, ours, device = [], [[], []], ""
            for _ in range(options.rounds):
                command = [*head, str(options.repeat), *map(str, tail)]
                device, time = subprocess.run(command, env=mesa, check=True, capture_output=True, text=True).stdout.splitlines()
                theirs.append(float(time.split()[0]))
                report = folder / "report.json"
                for manifest, times in zip(manifests, ours):
                    command = [warploom, "run", manifest, "--threads", threads, "--repeat", str(options.repeat), "--report", report]
                    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                    times.extend(time / 1e6 for time in json.loads(report.read_text())["kernel_ns"])
            vertex, fragment = map(min, ours)
            print(
                f"{name}, {size[0]} x {size[1]}, {threads} threads: {device} {min(theirs):.1f} ms, "
                f"warploom {vertex + fragment:.1f} ms (vertices {vertex:.2f}), ratio {(vertex + fragment) / min(theirs):.2f}"
            )


if __name__ == "__main__":
    main()
