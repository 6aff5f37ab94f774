#!/usr/bin/env python3
"""Runs one launch of a manifest from OpenCL source and prints how long it took, as JSON. Started by __main__.py, in a process of
its own: what PoCL and Oclgrind do is set by the environment.

    opencl.py MANIFEST SOURCE --platform NAME [--unroll N] [--reset] [--samples N]

The first kernel of the source takes the manifest's arguments. Arrays of the manifest are raw bytes, next to it.
"""
import argparse
import array
import ctypes as C
import json
import pathlib
import sys
import time
import tomllib

NUMBERS = {"i32": C.c_int32, "u32": C.c_uint32, "f32": C.c_float, "f64": C.c_double}
ARRAYS = {"f32": "f", "f64": "d"}
DEVICE_ALL, READ_WRITE, COPY, WRITE_ONLY, READ_ONLY, BLOCKING = 0xFFFFFFFF, 1, 1 << 5, 2, 4, 1
PLATFORM_NAME, PLATFORM_VERSION, DEVICE_NAME, BUILD_LOG, FUNCTION_NAME, INVALID_PLATFORM = 0x902, 0x901, 0x102B, 0x1183, 0x1190, -32
IMAGE2D, RGBA, UNSIGNED_INT8 = 0x10F1, 0x10B5, 0x10DA
# How long the kernel is launched again and again.
SECONDS = 0.3


class ImageFormat(C.Structure):
    _fields_ = [("order", C.c_uint32), ("type", C.c_uint32)]


class ImageDescription(C.Structure):
    _fields_ = [("type", C.c_uint32)] + [(name, C.c_size_t) for name in
                ("width", "height", "depth", "array", "row_pitch", "slice_pitch")] + [
                ("levels", C.c_uint32), ("samples", C.c_uint32), ("buffer", C.c_void_p)]


class Error(Exception):
    """What OpenCL refused."""


def library():
    """Oclgrind's command has loaded its own already."""
    loaded = C.CDLL(None)
    return loaded if hasattr(loaded, "clGetPlatformIDs") else C.CDLL("libOpenCL.so.1")


class OpenCl:
    """The functions: those that return an object raise an Error, and so do those that return a status."""

    def __init__(self):
        self.library = library()

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise Error(f"{name}: error {status}")

    def make(self, name, *arguments):
        function = getattr(self.library, name)
        function.restype = C.c_void_p
        status = C.c_int32()
        made = function(*arguments, C.byref(status))
        if status.value:
            raise Error(f"{name}: error {status.value}")
        return C.c_void_p(made)

    def all(self, name, *arguments):
        """Objects that a function lists."""
        count = C.c_uint32()
        self.call(name, *arguments, 0, None, C.byref(count))
        found = (C.c_void_p * count.value)()
        self.call(name, *arguments, count, found, None)
        return [C.c_void_p(one) for one in found]

    def text(self, name, *arguments):
        size = C.c_size_t()
        self.call(name, *arguments, 0, None, C.byref(size))
        text = C.create_string_buffer(size.value)
        self.call(name, *arguments, size, text, None)
        return text.value.decode()


class Launch:
    """A kernel with its arguments."""

    def __init__(self, cl, platform_name, manifest, source, unroll):
        self.cl, self.folder = cl, manifest.parent
        self.manifest = tomllib.loads(manifest.read_text())
        platforms = cl.all("clGetPlatformIDs")
        platforms = [p for p in platforms if platform_name in cl.text("clGetPlatformInfo", p, PLATFORM_NAME)]
        if not platforms:
            raise Error(f"no platform named {platform_name}")
        self.device = cl.all("clGetDeviceIDs", platforms[0], C.c_uint64(DEVICE_ALL))[0]
        self.version = cl.text("clGetPlatformInfo", platforms[0], PLATFORM_VERSION)
        self.context = cl.make("clCreateContext", None, 1, C.byref(self.device), None, None)
        self.queue = cl.make("clCreateCommandQueue", self.context, self.device, C.c_uint64(0))
        self.kernel = self.build(source.read_text(), unroll)
        # Name, table, memory of each buffer and image.
        self.memory = []
        for index, argument in enumerate(self.manifest["arg"]):
            (kind, value), = argument.items()
            if kind in NUMBERS:
                passed = NUMBERS[kind](value)
            else:
                table = self.manifest["buffer" if kind == "buffer" else "surface"][value]
                content = (self.folder / table["file"]).read_bytes()
                passed = self.buffer(content) if kind == "buffer" else self.image(table, content, kind == "texture")
                self.memory.append((value, table, passed))
            cl.call("clSetKernelArg", self.kernel, index, C.c_size_t(C.sizeof(passed)), C.byref(passed))

    def build(self, source, unroll):
        if unroll:
            # A macro's own name is not replaced again. Loops with barriers in them are unrolled like others.
            pragma = f'_Pragma("unroll {unroll}")'
            source = f"#define for {pragma} for\n#define while {pragma} while\n{source}"
        text, size = C.c_char_p(source.encode()), C.c_size_t(len(source.encode()))
        program = self.cl.make("clCreateProgramWithSource", self.context, 1, C.byref(text), C.byref(size))
        try:
            self.cl.call("clBuildProgram", program, 1, C.byref(self.device), b"-cl-std=CL1.2", None, None)
        except Error as error:
            raise Error(f"{error}: {self.cl.text('clGetProgramBuildInfo', program, self.device, BUILD_LOG)}")
        return self.cl.all("clCreateKernelsInProgram", program)[0]

    def buffer(self, content):
        flags = C.c_uint64(READ_WRITE | COPY)
        return self.cl.make("clCreateBuffer", self.context, flags, C.c_size_t(len(content)), content)

    def image(self, table, content, read):
        assert table["format"] == "rgba8_uint", table["format"]
        width, height, _ = table["size"]
        shape, texel = ImageDescription(type=IMAGE2D, width=width, height=height), ImageFormat(RGBA, UNSIGNED_INT8)
        flags = C.c_uint64((READ_ONLY if read else WRITE_ONLY) | COPY)
        return self.cl.make("clCreateImage", self.context, flags, C.byref(texel), C.byref(shape), content)

    def run(self):
        """One launch; its seconds."""
        grid, block = (self.manifest["launch"][key] for key in ("grid", "block"))
        items = (C.c_size_t * 3)(*(g * b for g, b in zip(grid, block)))
        start = time.perf_counter()
        self.cl.call("clEnqueueNDRangeKernel", self.queue, self.kernel, 3, None, items, (C.c_size_t * 3)(*block), 0, None, None)
        self.cl.call("clFinish", self.queue)
        return time.perf_counter() - start

    def transfer(self, function, memory, table, content):
        """All of a buffer or image to or from the host."""
        if "size" in table:
            origin, region = (C.c_size_t * 3)(0, 0, 0), (C.c_size_t * 3)(*table["size"])
            place = origin, region, C.c_size_t(0), C.c_size_t(0)
            self.cl.call(f"{function}Image", self.queue, memory, BLOCKING, *place, content, 0, None, None)
        else:
            place = C.c_size_t(0), C.c_size_t(len(content))
            self.cl.call(f"{function}Buffer", self.queue, memory, BLOCKING, *place, content, 0, None, None)

    def reset(self):
        for _, table, memory in self.memory:
            self.transfer("clEnqueueWrite", memory, table, (self.folder / table["file"]).read_bytes())

    def check(self):
        """Against what the manifest expects."""
        for name, table, memory in self.memory:
            if "expect" in table:
                expected = (self.folder / table["expect"]).read_bytes()
                found = C.create_string_buffer(len(expected))
                self.transfer("clEnqueueRead", memory, table, found)
                if not near(found.raw, expected, table):
                    raise Error(f"{name} is not as expected")


def near(found, expected, table):
    if found == expected or "rtol" not in table:
        return found == expected
    pairs = zip(array.array(ARRAYS[table["dtype"]], found), array.array(ARRAYS[table["dtype"]], expected))
    return all(abs(f - e) <= table["atol"] + table["rtol"] * abs(e) for f, e in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--unroll", type=int, default=0)
    parser.add_argument("--reset", action="store_true")
    parser.add_argument("--samples", type=int, default=5, help="at least")
    options = parser.parse_args()
    try:
        launch = Launch(OpenCl(), options.platform, options.manifest, options.source, options.unroll)
        first = launch.run()
        launch.check()
        times, start = [], time.perf_counter()
        while len(times) < options.samples or time.perf_counter() - start < SECONDS and len(times) < 2000:
            if options.reset:
                launch.reset()
            times.append(launch.run())
    except (Error, OSError) as error:
        sys.exit(str(error))
    print(json.dumps({"seconds": sorted(times)[len(times) // 2], "first": first, "version": launch.version}))


if __name__ == "__main__":
    main()
