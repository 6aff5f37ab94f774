"""CUDA on the CPU for this process: `warploom.cuda.enable()`.

Call it before a library looks for the GPU:

    import warploom.cuda
    warploom.cuda.enable(device="sm_80")
    import torch                              # torch.cuda.is_available() is true

Libraries that carry NVIDIA's static runtime inside (CuPy from 13 on, cuDNN, cuFFT) do not work: see
docs/cuda-programs.md. `python -m warploom cuda script.py` does the same for a new process, and also
prints a summary of its kernels.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Optional

from . import _native, command
from ._native import Error, cuda_device, runs_machine_code

#: The files of the libraries, and the names by which programs load them.
LIBRARIES = {
    "libcuda.so": ("libcuda.so.1", "libcuda.so"),
    "libcudart11.so": ("libcudart.so.11.0",),
    "libcudart12.so": ("libcudart.so.12",),
    "libcudart13.so": ("libcudart.so.13",),
    "libcublas12.so": ("libcublas.so.12",),
    "libcublas13.so": ("libcublas.so.13",),
    "libcudnn9.so": ("libcudnn9.so",),
    "libcublaslt12.so": ("libcublaslt12.so",),
    "libcufft11.so": ("libcufft.so.11",),
    "libcufft12.so": ("libcufft.so.12",),
    "libnvidia_ml.so": ("libnvidia-ml.so.1",),
}

#: Libraries in place of NVIDIA's linkers, for GPUs whose machine code does not run.
LINKERS = {
    "libnvjitlink12.so": ("libnvJitLink.so.12",),
    "libnvjitlink13.so": ("libnvJitLink.so.13",),
}

_folder: Optional[Path] = None


def libraries() -> Path:
    """Returns the folder of the libraries: beside the command, or `lib/warploom` of its prefix."""
    beside = Path(command.path()).resolve().parent
    for folder in (beside, beside.parent / "lib" / "warploom"):
        if (folder / "libcuda.so").is_file():
            return folder
    raise Error(
        f"{beside}: no libcuda.so there: build the libraries with `cargo build --release --workspace`"
    )


def is_enabled() -> bool:
    """Returns whether CUDA runs on the CPU in this process."""
    return _folder is not None or any(name.startswith(str(own)) for own in _own() for name in _loaded())


def _own() -> list[Path]:
    try:
        return [libraries()]
    except Error:
        return []


def _loaded() -> list[str]:
    """Returns the paths of this process's files in memory that belong to CUDA."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    except OSError:
        return []
    names = ("libcuda.so", "libcudart", "libcublas", "libcufft", "libnvidia-ml")
    return sorted(path for path in paths if os.path.basename(path).startswith(names))


def enable(
    device: Optional[str] = None,
    *,
    threads: Optional[int] = None,
    engine: Optional[str] = None,
    check: Optional[str] = None,
    guard: bool = False,
    capture: Optional[str] = None,
) -> None:
    """Makes CUDA libraries that this process loads from now on run on the CPU.

    `device` is the GPU that programs see, such as `sm_80` (without it, sm_89). `threads` are worker
    threads (all cores), `engine` is `jit` or `interp`. `check="memory,race"` reports mistakes of
    kernels on standard error. With `guard`, an access past the end of an allocation is a fault, to
    16 bytes. `capture` is a folder that gets each launch as a manifest. Child processes get the same libraries. A second call changes nothing.

    Raises Error if there is no such device, if another CUDA library is in the process already, or if
    warploom's libraries are missing.
    """
    global _folder
    settings = {
        "WARPLOOM_DEVICE": None if device is None else cuda_device(device),
        "WARPLOOM_THREADS": None if threads is None else str(threads),
        "WARPLOOM_ENGINE": engine,
        "WARPLOOM_CHECK": check,
        "WARPLOOM_GUARD": "1" if guard else None,
        "WARPLOOM_CAPTURE": None if capture is None else os.path.abspath(capture),
    }
    if is_enabled():
        changed = [name for name, value in settings.items() if value not in (None, os.environ.get(name))]
        if changed:
            raise Error(f"CUDA is on the CPU already, with another {', '.join(changed)}")
        return
    from_folder = libraries()
    others = [path for path in _loaded() if not path.startswith(str(from_folder))]
    if others:
        raise Error(
            f"{others[0]} is in this process already: call warploom.cuda.enable() before other "
            "libraries look for the GPU, or start with `python -m warploom cuda`"
        )
    if capture is not None:
        os.makedirs(capture, exist_ok=True)
    for name, value in settings.items():
        if value is not None:
            os.environ[name] = value
    only_ptx = device is not None and not runs_machine_code(device)
    files = {**LIBRARIES, **LINKERS} if only_ptx else LIBRARIES
    folder = _linked(from_folder, files)
    first = []
    for file, names in files.items():
        if (from_folder / file).is_file():
            # The dynamic linker finds a library that is loaded under its name before all others.
            path = str(folder / names[0])
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            if names[0].startswith(("libcudart", "libcublas", "libcufft", "libnvJitLink")):
                first.append(path)
    _prepend("LD_LIBRARY_PATH", [str(folder)])
    _prepend("LD_PRELOAD", first)
    os.environ["TRITON_LIBCUDA_PATH"] = str(folder)
    os.environ["NUMBA_CUDA_DRIVER"] = str(folder / "libcuda.so.1")
    # PyTorch's layers then use cuBLAS, which is there, instead of cuBLASLt.
    os.environ["DISABLE_ADDMM_CUDA_LT"] = "1"
    if only_ptx:
        # The command checks PTX in the role of NVIDIA's assembler, and hands it on.
        (folder / "bin").mkdir()
        assembler = folder / "bin" / "ptxas"
        assembler.symlink_to(command.path())
        _prepend("PATH", [str(folder / "bin")])
        for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
            os.environ.setdefault(name, str(assembler))
    # PyTorch runs without cuDNN, in this process and in its children.
    (folder / "python").mkdir()
    (folder / "python" / "sitecustomize.py").write_text(_native.PYTHON_START)
    _prepend("PYTHONPATH", [str(folder / "python")])
    exec(_native.PYTHON_START, {})
    if "torch" in sys.modules:
        sys.modules["torch"].backends.cudnn.enabled = False
    _folder = folder


def _linked(from_folder: Path, files: dict[str, tuple[str, ...]]) -> Path:
    """Makes a folder with links that have the names that programs ask for."""
    folder = Path(tempfile.mkdtemp(prefix="warploom-"))
    for file, names in files.items():
        for name in names:
            if (from_folder / file).is_file():
                (folder / name).symlink_to(from_folder / file)
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, process: int) -> None:
    """Removes the links, unless this is a copy of the process that made them."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _prepend(variable: str, paths: list[str]) -> None:
    rest = os.environ.get(variable)
    os.environ[variable] = ":".join([*paths, *([rest] if rest else [])])
