"""Manifests on a GPU: the source beside a manifest's binary, compiled to PTX, with the manifest's arguments; what differs from what
the manifest expects."""
import ctypes
import pathlib
import sys
import tomllib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = {"i32": ctypes.c_int32, "u32": ctypes.c_uint32, "f32": ctypes.c_float, "i64": ctypes.c_int64, "u64": ctypes.c_uint64,
         "f64": ctypes.c_double, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16}


def numpy_type(name):
    return {"u": "uint", "i": "int", "f": "float"}[name[0]] + name[1:]


def content(path, dtype):
    return np.load(path) if path.suffix == ".npy" else np.fromfile(path, numpy_type(dtype))


def bytes_of(folder, entry):
    if "zeros" in entry:
        return np.zeros(entry["zeros"], np.uint8)
    if "values" in entry:
        return np.array(entry["values"], numpy_type(entry["dtype"]))
    return content(folder / entry["file"], entry.get("dtype", "u8"))


def close(found, expected, entry):
    if found.dtype.kind != "f":
        return int((found != expected).sum()), None
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    rtol, atol = entry.get("rtol", 0), entry.get("atol", 0)
    with np.errstate(all="ignore"):
        near = np.abs(found.astype(float) - expected) <= atol + rtol * np.abs(expected.astype(float))
    return int((~(same | near)).sum()), int((~same).sum())


def picture(path, size):
    from PIL import Image
    rgb = np.array(Image.open(path).convert("RGBA"))
    assert rgb.shape[:2] == (size[1], size[0]), rgb.shape
    return rgb.tobytes()


def execute(driver, path, ptx):
    """What is not as expected: name -> elements that differ, beyond the tolerance and at all."""
    from cuda.bindings import driver as cu
    folder = path.parent
    manifest = tomllib.loads(path.read_text())
    module = driver.load(ptx)
    names = [line.split()[2].split("(")[0] for line in ptx.splitlines() if line.startswith(".visible .entry")]
    entry = manifest["kernel"].get("entry", names[0])
    if "stack_bytes" in manifest["launch"]:
        driver.ask(cu.cuCtxSetLimit(cu.CUlimit.CU_LIMIT_STACK_SIZE, manifest["launch"]["stack_bytes"]))
    buffers, values, types, surfaces, report = {}, [], [], {}, {}

    def surface(name):
        if name not in surfaces:
            s = manifest["surface"][name]
            w, h, d = s["size"]
            assert s["format"] in ("rgba8_unorm", "r32_uint"), s
            channels, width = (4, 8) if s["format"].startswith("rgba8") else (1, 32)
            size = w * h * d * channels * width // 8
            texels = picture(folder / s["file"], s["size"]) if str(s.get("file", "")).endswith(".png") else bytes(size)
            if "file" in s and not s["file"].endswith(".png"):
                texels = np.load(folder / s["file"]).tobytes()
            surfaces[name] = driver.Image(s["dim"], (w, h, d), "uint", width, channels, [texels], surface=True)
        return surfaces[name]

    for arg in manifest.get("arg", []):
        (kind, value), = ((k, v) for k, v in arg.items())
        if kind == "buffer":
            if value not in buffers:
                data = bytes_of(folder, manifest["buffer"][value])
                buffers[value] = (driver.upload(data.reshape(-1).view(np.uint8)), data.nbytes)
            values.append(int(buffers[value][0]))
            types.append(ctypes.c_uint64)
        elif kind == "surface":
            values.append(int(surface(value).surface()))
            types.append(ctypes.c_uint64)
        elif kind == "texture":
            t = manifest["texture"][value]
            wrap = {"repeat": "wrap"}.get(t["address"], t["address"])
            values.append(int(surface(t["surface"]).texture((wrap,) * 3, t["filter"], "none", t["normalized"], False)))
            types.append(ctypes.c_uint64)
        elif kind in TYPES:
            values.append(value)
            types.append(TYPES[kind])
        else:
            raise NotImplementedError(kind)
    for name, symbol in manifest.get("symbol", {}).items():
        address, size = driver.ask(cu.cuModuleGetGlobal(module, name.encode()))
        data = bytes_of(folder, symbol)
        driver.ask(cu.cuMemcpyHtoD(address, np.ascontiguousarray(data).ctypes.data, data.nbytes))
    launch = manifest["launch"]
    kernel = driver.ask(cu.cuModuleGetFunction(module, entry.encode()))
    shared = launch.get("dynamic_shared_bytes", launch.get("shared_bytes", 0))
    driver.ask(cu.cuLaunchKernel(kernel, *launch["grid"], *launch["block"], shared, 0, (tuple(values), tuple(types)), 0))
    driver.ask(cu.cuCtxSynchronize())
    for name, (address, size) in buffers.items():
        e = manifest["buffer"][name]
        if "expect" in e:
            expected = content(folder / e["expect"], e.get("dtype", "u8"))
            found = driver.download(address, np.uint8, size).view(expected.dtype)
            report[name] = (*close(found[:expected.size], expected.reshape(-1), e), expected.size)
        driver.free(address)
    for name, image in surfaces.items():
        s = manifest["surface"][name]
        if "expect" in s:
            expected = np.load(folder / s["expect"])
            found = np.frombuffer(image.read(), expected.dtype)
            report[name] = (*close(found, expected.reshape(-1), s), expected.size)
        image.free()
    return report


def prepare(build):
    """PTX of the examples' sources and of the random ones, once each."""
    sys.path.insert(0, str(ROOT / "tools"))
    import nv
    for source in sorted([*ROOT.glob("examples/*/*.cu"), *ROOT.glob("tests/fixtures/random_sources/*/program.cu")]):
        if not list(source.parent.glob("*.cubin")):
            continue
        random = source.name == "program.cu"
        options = ["--gpu-architecture=compute_52", "--std=c++17", "-default-device", "-w", *["--fmad=false"] * random]
        includes = [*nv.INCLUDES, ROOT / "tools/random_sources"]
        ptx = nv.nvrtc(source.read_text(), source.name, options + [f"-I{at}" for at in includes])
        (build / f"{source.parent.name}.ptx").write_text(ptx)


def run(driver, out):
    for path in sorted([*ROOT.glob("examples/*/*.toml"), *ROOT.glob("tests/fixtures/random_sources/*/*.toml")]):
        ptx = ROOT / "tools/gpu/build" / f"{path.parent.name}.ptx"
        if ptx.exists() and "cubin" in path.read_text():
            try:
                told = execute(driver, path, ptx.read_text())
            except NotImplementedError as error:
                told = f"not done: {error}"
            print(path.relative_to(ROOT), told, flush=True)
