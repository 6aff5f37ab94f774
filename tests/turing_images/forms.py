"""Writes the fixtures of this test: PTX texts of kernels, each with a form of an instruction on images, and their code.

    python3 forms.py PTXAS        # of CUDA 13 or later

A comment before each kernel names the image's shape, and `compare` for a depth comparison. A kernel gets the handle, 128 bytes of
input for each lane (16 words as floats or bits, 16 words as integers) and 32 bytes of output.
"""
import gzip
import pathlib
import subprocess
import sys
import tempfile

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "turing" / "images"
# Number of coordinates, and whether a layer comes before them.
SHAPES = {"1d": (1, False), "2d": (2, False), "3d": (3, False), "a1d": (1, True), "a2d": (2, True), "cube": (3, False), "acube": (3, True)}
HEAD = """ .reg .b64 t, n, o, b; .reg .b32 tid, x<16>; .reg .f32 f<16>; .reg .s32 i<16>; .reg .b16 h<4>; .reg .b64 l<4>; .reg .pred p;
 ld.param.u64 t, [P]; ld.param.u64 n, [in]; ld.param.u64 o, [out];
 mov.u32 tid, %tid.x; mul.wide.u32 b, tid, 128; add.u64 n, n, b; mul.wide.u32 b, tid, 32; add.u64 o, o, b;
"""


def vector(register, first, count):
    """A vector of one, two or four registers; a fourth one does not count."""
    return "{" + ", ".join(f"{register}{first + min(n, count - 1)}" for n in range({1: 1, 2: 2, 3: 4}[count])) + "}"


def coordinates(shape, register):
    axes, array = SHAPES[shape]
    names = ["i8"] * array + [f"{register}{n}" for n in range(axes)]
    names += [names[-1]] * ({1: 1, 2: 2, 3: 4, 4: 4}[len(names)] - len(names))
    return "{" + ", ".join(names) + "}"


class Text:
    def __init__(self):
        self.parts, self.count = [], 0

    def kernel(self, shape, instruction, outputs=(), before="", handle=""):
        body = HEAD + handle
        body += "".join(f" ld.global.b32 f{n}, [n+{4 * n}]; ld.global.b32 i{n}, [n+{64 + 4 * n}];\n" for n in range(12))
        body += "".join(f" ld.global.b32 x{n}, [n+{48 + 4 * n}]; cvt.u16.u32 h{n}, x{n}; mov.b64 l{n}, {{x{n}, i{n}}};\n" for n in range(4))
        body += f"{before} {instruction};\n" + "".join(f" st.global.{kind} [o+{8 * n}], {name};\n" for n, (kind, name) in enumerate(outputs))
        self.parts.append(f"// {shape}: {instruction}\n.visible .entry k{self.count}(.param .u64 P, .param .u64 in, .param .u64 out)\n{{\n{body} ret;\n}}\n")
        self.count += 1


def textures(text):
    for shape, (axes, array) in SHAPES.items():
        cube, at = "cube" in shape, coordinates(shape, "f")
        four = [("b32", f"x{n}") for n in range(4)]
        result = "{x0, x1, x2, x3}"
        for level in ("", "level", "grad"):
            for offset in (False, True):
                for compare in (False, True):
                    # Gradients of cubes, and offsets of lines, are not what PTX says: docs/fidelity.md.
                    if offset and (cube or shape == "1d") or compare and shape in ("1d", "3d", "a1d") or level == "grad" and cube:
                        continue
                    more = {"": "", "level": ", f3", "grad": f", {vector('f', 5, axes)}, {vector('f', 8, axes)}"}[level]
                    more += f", {vector('i', 4, axes)}" * offset + ", f4" * compare
                    mode = f".{level}" if level else ""
                    text.kernel(shape + " compare" * compare, f"tex{mode}.{shape}.v4.b32.f32 {result}, [t, {at}]{more}".replace("b32.f32", "f32.f32"), four)
        if shape in ("2d", "a2d", "cube", "acube"):
            for component, compare, offset in (("r", False, False), ("a", False, not cube), ("r", True, not cube), ("g", True, False)):
                if compare and component != "r":
                    continue
                more = f", {vector('i', 4, axes)}" * offset + ", f4" * compare
                text.kernel(shape + " compare" * compare, f"tld4.{component}.{shape}.v4.f32.f32 {result}, [t, {at}]{more}", four)
        text.kernel(shape, f"tex.{shape}.v4.s32.f32 {result}, [t, {at}]", four[1:3])
        text.kernel(shape, f"tex.level.{shape}.v4.f16.f32 {{h0, h1, h2, h3}}, [t, {at}], f3", [("b16", f"h{n}") for n in range(4)])
        text.kernel(shape, f"tex.level.{shape}.v2.f16x2.f32 {{x0, x1}}, [t, {at}], f3", four[:2])
        text.kernel(shape, f"tex.level.{shape}.v4.f32.f32 {result}|p, [t, {at}], f3; selp.b32 x3, 1, 0, p", four)
        # A handle that each lane computes.
        handle = " ld.global.b64 b, [n+120]; add.u64 t, t, b;\n"
        text.kernel(shape, f"tex.{shape}.v4.f32.f32 {result}, [t, {at}]", four, handle=handle)
        text.kernel(shape, f"tex.level.{shape}.v4.f32.f32 {result}, [t, {at}], f3", four, handle=handle)
    for query in ("width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "filter_mode", "addr_mode_0", "array_size", "num_mipmap_levels"):
        text.kernel("a2d", f"txq.{query}.b32 x0, [t]", [("b32", "x0")])


def surfaces(text):
    beyond = 0
    for shape, (axes, array) in list(SHAPES.items())[:5]:
        at = coordinates(shape, "i")
        for kind, register, log in (("b8", "h", 0), ("b16", "h", 1), ("b32", "x", 2), ("b64", "l", 3)):
            for count in (1, 2, 4):
                if count << log > 16:
                    continue
                rule = ("trap", "clamp", "zero")[beyond % 3]
                beyond += 1
                scale = f" shl.b32 i0, i0, {log + count.bit_length() - 1};\n"
                data = f"{register}0" if count == 1 else "{" + ", ".join(f"{register}{n}" for n in range(count)) + "}"
                form = f"{shape}{'.v%d' % count if count > 1 else ''}.{kind}.{rule}"
                stored = "u8" if kind == "b8" else kind
                text.kernel(shape, f"suld.b.{form} {data}, [t, {at}]", [(stored, f"{register}{n}") for n in range(count)], scale)
                text.kernel(shape, f"sust.b.{form} [t, {at}], {data}", (), scale)
        for count in (1, 2, 4):
            data = "x0" if count == 1 else "{" + ", ".join(f"x{n}" for n in range(count)) + "}"
            text.kernel(shape, f"sust.p.{shape}{'.v%d' % count if count > 1 else ''}.b32.zero [t, {at}], {data}")
        # Reductions have no layers.
        for operation, kind in () if array else (("add", "u32"), ("min", "s32"), ("max", "u32"), ("and", "b32"), ("or", "b32"), ("add", "u64"), ("min", "u64"), ("max", "s64")):
            rule = ("trap", "clamp", "zero")[beyond % 3]
            beyond += 1
            data, log = ("l0", 3) if "64" in kind else ("x0", 2)
            text.kernel(shape, f"sured.b.{operation}.{shape}.{kind}.{rule} [t, {at}], {data}", (), f" shl.b32 i0, i0, {log};\n")
        if not array:
            text.kernel(shape, f"sured.p.add.{shape}.b32.zero [t, {at}], x0")
            text.kernel(shape, f"sured.p.min.{shape}.b32.clamp [t, {at}], x0")
        for query in ("width", "channel_order", "array_size", "memory_layout"):
            text.kernel(shape, f"suq.{query}.b32 x0, [t]", [("b32", "x0")])


def main():
    for name, forms in (("textures", textures), ("surfaces", surfaces)):
        text = Text()
        forms(text)
        with tempfile.TemporaryDirectory() as folder:
            source, code = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "k.cubin")
            for target in ("sm_75", "sm_80", "sm_89"):
                content = f".version 8.1\n.target {target}\n.address_size 64\n" + "".join(text.parts)
                source.write_text(content)
                subprocess.run([sys.argv[1], f"-arch={target}", source, "-o", code], check=True)
                (FIXTURES / f"{name}.{target}.cubin.gz").write_bytes(gzip.compress(code.read_bytes(), mtime=0))
            (FIXTURES / f"{name}.ptx.gz").write_bytes(gzip.compress(content.replace("sm_89", "sm_75").encode(), mtime=0))


if __name__ == "__main__":
    main()
