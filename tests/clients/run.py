#!/usr/bin/env python3
"""Runs CUDA programs of others on warploom: run.py [CLIENT ...]; without names those that install in minutes.

Each client is installed from the package registry, at the versions in requirements/, into a folder of its own (--environments), and run under
`warploom cuda` (--warploom, else the one in target/). Prints what each passed, and fails if anything fails that is not in expected/.
--capture N also writes the first launch of each kernel, and replays N of them by `warploom run`, on both engines.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def each(folder, names, work="."):
    """A shell's command that runs each program of a folder, and counts."""
    script = "passed=0; failed=0; for p in %s; do if (cd %s && timeout 120 %s/$p); then passed=$((passed+1)); else echo FAILED ${p//-/_}; failed=$((failed+1)); fi; done; "
    return ["bash", "-c", script % (" ".join(names), work, folder) + 'echo "$passed passed, $failed failed"; [ $failed = 0 ]']


def programs(site, options, device):
    """Builds the C programs."""
    out = options.environments / "cuda_c_programs"
    out.mkdir(exist_ok=True)
    subprocess.run([HERE / "cuda_c" / "build.sh", site, options.warploom.parent, out, device], check=True)
    return each(out, sorted(source.stem for source in (HERE / "cuda_c").glob("*.cu")))


def examples(site, options, device):
    """Builds the examples of Rust's cudarc, of the version that the driver library itself takes types from."""
    metadata = subprocess.run(["cargo", "metadata", "--format-version", "1"], cwd=ROOT, check=True, text=True, capture_output=True).stdout
    manifest = next(p["manifest_path"] for p in json.loads(metadata)["packages"] if p["name"] == "cudarc")
    crate, target = pathlib.Path(manifest).parent, options.environments / "cudarc_examples"
    # Others need more of NVIDIA's libraries: CUPTI, cuFile.
    names = [file.stem for file in sorted((crate / "examples").glob("*.rs")) if "cupti" not in file.stem and "cufile" not in file.stem]
    build = ["cargo", "build", "-q", "--locked", "--manifest-path", manifest, "--target-dir", target]
    build += ["--no-default-features", "--features", "std,driver,nvrtc,dynamic-loading,cuda-12090", *(f"--example={name}" for name in names)]
    subprocess.run(build, check=True)
    return each(target / "debug" / "examples", names, crate)


class Client:
    """`script`: what Python is given, or what makes a command."""

    def __init__(self, requirements, script, devices, libraries=(), environment=None, timeout=1800, heavy=False, captured=(), build=None, tests=None):
        self.requirements, self.script, self.devices = requirements, script, devices
        self.libraries, self.environment = libraries, environment or {}
        # What of the script is captured with --capture: all, those that are named, or (None) nothing.
        self.timeout, self.heavy, self.captured = timeout, heavy, captured
        # A script that installs what the registry has as source alone.
        self.build = build
        # A folder of --tests that it runs in.
        self.tests = tests

    def variables(self, site, options):
        """The environment that its programs run in."""
        # Each tensor is an allocation, so that checks know its end.
        own = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"} if options.check else {}
        environment = {"WARPLOOM_CACHE": "off", **own, **os.environ, **self.environment}
        paths = [str(site / "nvidia" / library / "lib") for library in self.libraries]
        environment["LD_LIBRARY_PATH"] = ":".join(paths + [environment.get("LD_LIBRARY_PATH", "")]).strip(":")
        if self.libraries:
            environment["CUDA_PATH"] = str(site / "nvidia" / "cuda_runtime")
        return environment


SUITE = ["-m", "pytest", "--pyargs", "numba.cuda.tests", "-n", "1", "--dist", "loadscope", "--timeout", "300", "-rfE"]
# Tests of their own that packages do not carry. PyCUDA's call nvcc, in whose place there is one here.
WITH_NVCC = {"PATH": f"{HERE}:{os.environ['PATH']}", "PYCUDA_DISABLE_CACHE": "1"}
OWN = ["-m", "pytest", "-q", "--tb=line", "-rfE", "-p", "no:cacheprovider", "--timeout", "300"]
CLIENTS = {
    "cuda_c": Client("cuda_c", programs, ["sm_52"]),
    "cudarc": Client("numba", examples, ["sm_52", "sm_80"], libraries=["cuda_nvrtc"]),
    "numba": Client("numba", ["numba_kernels.py"], ["sm_52", "sm_53", "sm_80", "sm_90", "sm_120"]),
    "cuda_python": Client("numba", ["cuda_python_core.py"], ["sm_52", "sm_53", "sm_80"]),
    "cublas": Client("numba", ["cublas_products.py"], ["sm_52"], captured=None),
    "tinygrad": Client("tinygrad", ["-m", "unittest", "tinygrad_ops"], ["sm_80"], environment={"DEV": "CUDA:PTX"}),
    "taichi": Client("taichi", ["taichi_ops.py"], ["sm_52", "sm_80"], captured=("saxpy", "julia_set")),
    "pycuda": Client("pycuda", ["pycuda_driver.py"], ["sm_52", "sm_80"], libraries=["curand"], heavy=True, build="pycuda.sh"),
    "numba_suite": Client("numba", SUITE, ["sm_53", "sm_80"], timeout=5400, heavy=True, captured=None),
    # Without nvJitLink numba hands PTX to the driver.
    "numba_suite_ptx": Client("numba_ptx", SUITE, ["sm_80"], timeout=5400, heavy=True, captured=None),
    "pycuda_suite": Client(
        "pycuda", [*OWN, "test"], ["sm_52"], libraries=["cuda_nvrtc", "curand"], environment=WITH_NVCC, timeout=3600, heavy=True, captured=None,
        build="pycuda.sh", tests="pycuda",
    ),
    "cuda_bindings_suite": Client(
        "cuda_python_suite", [*OWN, "--ignore", "tests/cython", "--ignore", "tests/nvml", "tests"], ["sm_53"], heavy=True, captured=None, tests="cuda_bindings"
    ),
    "cuda_core_suite": Client(
        "cuda_python_suite", [*OWN, "--ignore", "tests/cython", "--ignore", "tests/memory_ipc", "--continue-on-collection-errors", "tests"], ["sm_53"], heavy=True,
        captured=None, tests="cuda_core",
    ),
    "cupy": Client(
        "cupy", ["cupy_core.py"], ["sm_52"], libraries=["cuda_nvrtc", "cublas", "cufft", "curand", "cusolver", "cusparse", "nvjitlink"],
        heavy=True, captured=("elementwise", "reduction_kernel"),
    ),
    "jax": Client("jax", ["jax_ops.py"], ["sm_80"], heavy=True, captured=None),
    "torch": Client("torch", ["torch_ops.py"], ["sm_52"], heavy=True, captured=("elementwise", "sorting")),
    "torch13": Client("torch13", ["torch_ops.py"], ["sm_80"], heavy=True, captured=("elementwise", "sorting")),
    "torch_operators": Client("torch13", ["torch_operators.py"], ["sm_80"], timeout=3600, heavy=True, captured=None),
    "triton": Client("torch13", ["triton_kernels.py"], ["sm_80", "sm_90", "sm_120"], heavy=True, captured=()),
    "triton_ptx": Client("torch", ["triton_kernels.py"], ["sm_80"], environment={"WITH_PTX": "1"}, heavy=True, captured=()),
}


def environment_of(client, options):
    """A virtual environment with the client's packages. Returns its Python and its site-packages."""
    venv = options.environments / client.requirements
    python = venv / "bin" / "python"
    stamp = venv / "installed"
    site = pathlib.Path(sysconfig.get_path("purelib", vars={"base": str(venv), "platbase": str(venv)}))
    wanted = (HERE / "requirements" / f"{client.requirements}.txt").read_text()
    if not options.as_they_are and (not stamp.exists() or stamp.read_text() != wanted):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements" / f"{client.requirements}.txt"], check=True)
        if client.build:
            subprocess.run([HERE / client.build, python, site, options.warploom.parent, options.environments / f"{client.requirements}_toolkit"], check=True)
        stamp.write_text(wanted)
    return python, site


def run(name, client, device, options, more=(), parts=()):
    """What a client prints. `more`: options of `warploom cuda`; `parts`: of the script, else all."""
    python, site = environment_of(client, options)
    if callable(client.script):
        command = client.script(site, options, device)
    else:
        command = [python, *client.script, *parts]
    folder = HERE / "numba_suite" if client.script is SUITE else options.tests / client.tests if client.tests else HERE
    checks = ["--check", options.check] if options.check else []
    under = [options.warploom, "cuda", "--device", device, "--summary", "3", *checks, *more, "--", *command]
    try:
        ran = subprocess.run(under, cwd=folder, env=client.variables(site, options), timeout=client.timeout, text=True, capture_output=True)
        text = ran.stdout + ran.stderr
    except subprocess.TimeoutExpired as expired:
        text = (expired.stdout or b"").decode() + "\nFAILED by its time limit\n"
    return text


def replays(name, client, device, options):
    """Captures launches of a client, and runs some of them alone. Returns whether all come to the same."""
    with tempfile.TemporaryDirectory() as folder:
        run(name, client, device, options, ["--capture", folder, "--nth", "1", "--max-bytes", "16777216"], client.captured)
        all_launches = sorted(pathlib.Path(folder).glob("*.toml"))
        # Kernels of one kind follow each other: those that are taken are spread over all.
        chosen = all_launches[:: max(1, len(all_launches) // options.capture)][: options.capture]
        good = True
        for manifest in chosen:
            command = [options.warploom, "run", manifest, "--engine", "both", "--time-limit", "60"]
            ran = subprocess.run(command, text=True, capture_output=True, timeout=600)
            if ran.returncode != 0:
                good = False
                print(f"  does not replay: {manifest.name}\n  | {(ran.stdout + ran.stderr).strip()[-2000:]}", flush=True)
        print(f"{name} {device}: {len(chosen)} of {len(all_launches)} captured launches were replayed", flush=True)
        return good and bool(chosen)


def expected_failures(name, device):
    path = HERE / "expected" / f"{name}.{device}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split("#")[0].strip() for line in lines} - {""}


def judge(name, device, text):
    """Prints what came of a run, and what checks found. Returns whether it is as expected."""
    print("".join(f"{line}\n" for line in text.splitlines() if re.match("warploom: .* in kernel `", line)), end="")
    # As pytest (cases, and parts of them), unittest and checks.py name them.
    line = r"^(?:(?:SUB)?FAILED(?:\(.*\)|\[.*\])?|FAIL:|ERROR:?) +([\w./]+::\S+|[\w.]+)(?: [-(].*)?$"
    failed = set(re.findall(line, text, re.MULTILINE))
    counted = re.findall(r"^.*\b(?:\d+ (?:passed|failed)|Ran \d+ tests).*$", text, re.MULTILINE)
    # A name without parameters is that of the case with any.
    expected = expected_failures(name, device)
    new = sorted(test for test in failed if not {test, test.split("[")[0]} & expected)
    print(f"{name} {device}: {counted[-1].strip('= ') if counted else 'nothing was counted'}", flush=True)
    for test in new:
        print(f"  not expected to fail: {test}", flush=True)
    if new or not counted:
        print("\n".join("  | " + line for line in text.splitlines()[-40:]), flush=True)
    return bool(counted) and not new


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--warploom", type=pathlib.Path, default=ROOT / "target" / "debug" / "warploom")
    parser.add_argument("--environments", type=pathlib.Path, default=ROOT / "target" / "clients")
    parser.add_argument("--tests", type=pathlib.Path, help="where pycuda, cuda_bindings and cuda_core are, with their tests at the versions in README.md")
    parser.add_argument("--as-they-are", action="store_true", help="install nothing")
    parser.add_argument("--capture", type=int, default=0, metavar="N", help="replay N launches of each client")
    parser.add_argument("--only-replay", action="store_true", help="with --capture: do not run the clients without it first")
    parser.add_argument("--check", metavar="CHECKS", help="runs clients under these checks, which print what they find")
    parser.add_argument("--device", help="only as this GPU")
    options = parser.parse_args()
    options.warploom = options.warploom.resolve()
    options.environments.mkdir(parents=True, exist_ok=True)
    options.environments = options.environments.resolve()
    unknown = set(options.clients) - set(CLIENTS)
    if unknown:
        parser.error(f"no such client: {', '.join(sorted(unknown))}; there are {', '.join(CLIENTS)}")
    names = options.clients or [name for name, client in CLIENTS.items() if not client.heavy]
    without = [name for name in names if CLIENTS[name].tests and not options.tests]
    if without:
        parser.error(f"where are the tests of {', '.join(without)}? --tests says so")
    good = True
    for name in names:
        client = CLIENTS[name]
        for device in client.devices:
            if options.device in (None, device):
                good &= options.only_replay or judge(name, device, run(name, client, device, options))
                if options.capture and client.captured is not None:
                    good &= replays(name, client, device, options)
    sys.exit(not good)


if __name__ == "__main__":
    main()
