"""CUDA on the CPU: the libraries in this process, the command, and the pytest plugin.

Each test has a process of its own, since libraries stay.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warploom import Error, _native, command, cuda
from warploom.__main__ import with_python


def libraries():
    try:
        return cuda.libraries()
    except Error:
        return None


needs_libraries = pytest.mark.skipif(libraries() is None, reason="no CUDA libraries beside the command")

DRIVER = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
assert driver.cuInit(0) == 0
major = ctypes.c_int()
assert driver.cuDeviceGetAttribute(ctypes.byref(major), 75, 0) == 0
print("major", major.value)
"""


def python(code, *arguments, cwd=None, ends=0):
    if code is not None:
        arguments = ("-c", code, *arguments)
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
    ran = subprocess.run([sys.executable, *arguments], text=True, capture_output=True, cwd=cwd, env=environment)
    assert ran.returncode == ends, ran.stdout + ran.stderr
    return ran


@needs_libraries
def test_enable_puts_the_driver_in_this_process():
    out = python(
        "import warploom.cuda as c\nc.enable('sm_75')\nassert c.is_enabled()\nc.enable()\n" + DRIVER
    ).stdout
    assert out == "major 7\n"
    # The runtime of CUDA 12, too, and child processes.
    code = """
import ctypes, os, subprocess, sys, warploom.cuda
warploom.cuda.enable(device="sm_80", threads=2)
count = ctypes.c_int()
assert ctypes.CDLL("libcudart.so.12").cudaGetDeviceCount(ctypes.byref(count)) == 0
print(count.value, flush=True)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
print(os.path.exists(os.environ["TRITON_LIBCUDA_PATH"]), os.environ["TRITON_LIBCUDA_PATH"])
"""
    count, major, folder = python(code, DRIVER).stdout.splitlines()
    assert (count, major) == ("1", "major 8")
    assert folder.startswith("True ") and not Path(folder[5:]).exists()


@needs_libraries
def test_enable_must_come_first():
    late = "import warploom.cuda as c\nc.enable('sm_75')\nc.enable('sm_80')"
    assert "on the CPU already, with another WARPLOOM_DEVICE" in python(late, ends=1).stderr


@needs_libraries
def test_another_library_is_named(tmp_path):
    other = tmp_path / "libcudart.so.12"
    other.write_bytes((libraries() / "libcudart12.so").read_bytes())
    code = f"import ctypes\nctypes.CDLL({str(other)!r})\nimport warploom.cuda as c\nc.enable()"
    assert f"{other} is in this process already" in python(code, ends=1).stderr


def test_the_command_runs_with_this_python(tmp_path):
    p = sys.executable
    assert with_python(["cuda", "x.py", "--n", "3"]) == ["cuda", "--", p, "x.py", "--n", "3"]
    assert with_python(["cuda", "--device", "sm_80", "-m", "pytest"]) == ["cuda", "--device", "sm_80", "--", p, "-m", "pytest"]
    assert with_python(["cuda", "--summary=0", "x.py"]) == ["cuda", "--summary=0", "--", p, "x.py"]
    for same in (["cuda"], ["cuda", "--help"], ["cuda", "--", "./a.out"]):
        assert with_python(same) == same
    assert "warploom" in python(None, "-m", "warploom", "--version").stdout
    assert "Usage" in python(None, "-m", "warploom", "run", ends=3).stderr


@needs_libraries
def test_python_m_warploom_cuda(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(DRIVER + "import sys\nprint(sys.argv[1:])\n")
    ran = python(None, "-m", "warploom", "cuda", "--device", "sm_75", str(script), "--x", "1")
    assert ran.stdout == "major 7\n['--x', '1']\n" and "warploom:" in ran.stderr


def test_a_missing_command(monkeypatch):
    monkeypatch.setenv(command.VARIABLE, "/no/warploom")
    with pytest.raises(Error, match="WARPLOOM_COMMAND is `/no/warploom`"):
        command.path()


TEST = """
import ctypes, pytest

def has_gpu():
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False

@pytest.mark.skipif(not has_gpu(), reason="no GPU")
def test_gpu():
    pass
"""


@needs_libraries
def test_the_plugin_is_there_before_collection(tmp_path):
    (tmp_path / "test_it.py").write_text(TEST)
    plugin = ("-m", "pytest", "-q", "-p", "warploom.pytest_plugin", "-p", "no:cacheprovider")
    run = lambda *more, ends=0: python(None, *plugin, *more, cwd=tmp_path, ends=ends)
    assert "1 skipped" in run().stdout
    assert "1 passed" in run("--warploom").stdout
    out = run("-v", "--warploom-device", "sm_80").stdout
    assert "1 passed" in out and "CUDA on the CPU, device sm_80" in out
    (tmp_path / "pytest.ini").write_text("[pytest]\nwarploom = true\nwarploom_device = sm_75\n")
    out = run("-v").stdout
    assert "1 passed" in out and "device sm_75" in out
    (tmp_path / "pytest.ini").unlink()
    assert "sm_1" in run("--warploom-device", "sm_1", ends=4).stderr


def test_pytorch_runs_without_cudnn(tmp_path):
    """At its start, Python turns cuDNN off in PyTorch, and runs another `sitecustomize` as without warploom."""
    ours, others, torch = tmp_path / "ours", tmp_path / "others", tmp_path / "torch"
    for folder in (ours, others, torch / "torch" / "backends"):
        folder.mkdir(parents=True)
    (ours / "sitecustomize.py").write_text(_native.PYTHON_START)
    (others / "sitecustomize.py").write_text("print('other')")
    (torch / "torch" / "__init__.py").write_text("class _C:\n    _set_cudnn_enabled = print\n\n\nimport torch.backends.cudnn\n")
    (torch / "torch" / "backends" / "__init__.py").touch()
    (torch / "torch" / "backends" / "cudnn.py").write_text("print('imported')")
    path = os.pathsep.join(map(str, (ours, others, torch)))
    ran = subprocess.run([sys.executable, "-c", "import torch"], env={**os.environ, "PYTHONPATH": path}, text=True, capture_output=True, check=True)
    assert ran.stdout.split() == ["other", "imported", "False"]
