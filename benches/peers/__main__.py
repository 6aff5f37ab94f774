#!/usr/bin/env python3
"""Measures warploom side by side with plain loops, PoCL and Oclgrind, kernel by kernel, in one run, and prints the ratios.

    python3 benches/peers                      # all kernels: some ten minutes
    python3 benches/peers saxpy nbody          # these only
    python3 benches/peers --docs               # also writes docs/benchmarks.md and docs/benchmarks.svg
    python3 benches/peers --from FILE.json     # prints (and with --docs writes) what was measured before

Needs cargo, Python 3.11 or later without further packages, and the Debian packages of PoCL and Oclgrind:

    apt-get install pocl-opencl-icd ocl-icd-libopencl1 oclgrind

With --intel FOLDER, Intel's runtime for CPUs is measured too, from a virtual environment in FOLDER:

    python3 -m venv FOLDER && FOLDER/bin/pip install intel-opencl-rt intel-cmplr-lib-rt intel-cmplr-lib-ur

Where gcc is and the host has AVX-512, kernels that vector.c has as C by hand are measured as well.

All are given one thread. docs/benchmarking.md says what is measured, and how.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys
import time

import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = "apt-get install pocl-opencl-icd ocl-icd-libopencl1 oclgrind"
ISAS = ("maxwell", "gfx9")
# Its ways to make a loop over the items of a group. The other one, workitemrepl, copies the kernel for each item: for groups
# of 256 that takes up to minutes and was never the fastest.
METHODS = ("loopvec", "workitemloops", "cbs")
FORMS = {"loop": 0, "unrolled": 8}
# What vector.c has.
BY_HAND = ("compute", "mandelbrot")
# For a compiler that unrolls too much.
LIMIT = 60


def build():
    """The benchmark's program."""
    command = ["cargo", "bench", "--bench", "speed", "--no-run", "--message-format=json-render-diagnostics"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    made = [line for line in map(json.loads, lines) if line.get("executable") and line["target"]["name"] == "speed"]
    return made[0]["executable"]


def ask(command, **environment):
    """What a process prints as JSON. An error is its message."""
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, f"not done after {LIMIT} seconds"
    if done.returncode:
        return None, (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    return json.loads(done.stdout.splitlines()[-1]), None


def must(command, **environment):
    answer, problem = ask(command, **environment)
    if problem:
        sys.exit(f"{shlex.join(map(str, command))}: {problem}")
    return answer


def opencl(case, platform_name, unroll=0, samples=5):
    manifest = pathlib.Path(case["folder"]) / "gfx9.toml"
    reset = ["--reset"] if case["reset"] else []
    return [sys.executable, HERE / "opencl.py", manifest, case["opencl"], "--platform", platform_name, "--unroll", str(unroll),
            "--samples", str(samples), *reset]


def pocl(case, method, unroll):
    # Its device "basic" runs everything in the thread that asks.
    return ask(opencl(case, "Portable Computing Language", unroll), POCL_DEVICES="basic", POCL_MAX_PTHREAD_COUNT="1",
               POCL_WORK_GROUP_METHOD=method, POCL_CACHE_DIR=str(ROOT / "target/peers/pocl"))


def oclgrind(case):
    return ask(["oclgrind", "--num-threads", "1", *opencl(case, "Oclgrind", samples=3)])


def intel(case, folder, unroll):
    vendors = ROOT / "target/peers/vendors"
    vendors.mkdir(parents=True, exist_ok=True)
    (vendors / "intel.icd").write_text(f"{folder.resolve()}/lib/libintelocl.so\n")
    return ask(opencl(case, "Intel", unroll), OCL_ICD_VENDORS=str(vendors), LD_LIBRARY_PATH=f"{folder.resolve()}/lib",
               DPCPP_CPU_NUM_CUS="1")


def by_hand():
    """The program of vector.c, where it can be made and run."""
    if not shutil.which("gcc") or " avx512f " not in pathlib.Path("/proc/cpuinfo").read_text():
        return None
    program = ROOT / "target/peers/vector"
    program.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-O3", "-march=native", "-ffast-math", "-o", program, HERE / "vector.c"]
    subprocess.run(command, check=True)
    return program


def check_peers(case):
    """Ends the program if one of them is not there."""
    problems = []
    if not shutil.which("oclgrind"):
        problems.append("Oclgrind: there is no command oclgrind")
    else:
        problems += [f"Oclgrind: {problem}" for _, problem in [oclgrind(case)] if problem]
    problems += [f"PoCL: {problem}" for _, problem in [pocl(case, METHODS[0], 0)] if problem]
    if problems:
        sys.exit("\n".join(["benches/peers needs PoCL and Oclgrind, and does not find them:", *problems, "", f"    {PACKAGES}"]))


class Measuring:
    def __init__(self, program, rounds, intel_folder):
        self.program, self.rounds, self.intel_folder, self.by_hand = program, rounds, intel_folder, by_hand()

    def launch(self, case, target, engine="jit", threads=1):
        manifest = pathlib.Path(case["folder"]) / f"{target}.toml"
        return must([self.program, "--launch", manifest, engine, str(threads), str(case["reset"]).lower()])

    def best(self, measure):
        """The round that was disturbed least."""
        return min((measure() for _ in range(self.rounds)), key=lambda found: found["seconds"])

    def growth(self, index):
        blocks = [{"blocks": entry["blocks"], "work": entry["case"]["work"],
                   **{isa: self.best(lambda: self.launch(entry["case"], isa)) for isa in ISAS}} for entry in index["blocks"]]
        code = [{"name": case["name"], "lanes": case["work"], **{isa: self.best(lambda: self.launch(case, isa)) for isa in ISAS}}
                for case in index["code"]]
        return {"blocks": blocks, "code": code}


class Kernel:
    """What is found out about a kernel, round by round."""

    def __init__(self, measuring, full, small):
        self.measuring, self.full, self.small = measuring, full, small
        self.plain, self.peers, self.problems = {}, {form: {} for form in FORMS}, {}
        self.targets = {target: {"1": [], "2": []} for target in ISAS}
        self.others = {}

    def other(self, name, answer):
        found, problem = answer
        if problem:
            self.problems[name, ""] = problem
        else:
            self.others[name] = min(found["seconds"], self.others.get(name, found["seconds"]))

    def round(self):
        """Measures in turn what is compared, so that all have the same neighbours."""
        for name, seconds in must([self.measuring.program, "--plain", self.full["name"], "full"]).items():
            self.plain[name] = min(seconds, self.plain.get(name, seconds))
        for target, found in self.targets.items():
            for threads, runs in found.items():
                runs.append(self.measuring.launch(self.full, target, threads=int(threads)))
        if self.measuring.intel_folder:
            for unroll in FORMS.values():
                self.other("intel", intel(self.full, self.measuring.intel_folder, unroll))
        if self.measuring.by_hand and self.full["name"] in BY_HAND:
            self.other("by_hand", ask([self.measuring.by_hand, self.full["name"]]))
        for form, unroll in FORMS.items():
            for method in METHODS:
                if (form, method) not in self.problems:
                    found, problem = pocl(self.full, method, unroll)
                    if problem:
                        self.problems[form, method] = problem
                    else:
                        self.peers[form][method] = min(found["seconds"], self.peers[form].get(method, found["seconds"]))

    def result(self):
        """The best of all rounds, with what is measured once."""
        targets = {}
        for target, found in self.targets.items():
            targets[target] = {threads: best_of(runs) for threads, runs in found.items()}
            targets[target]["interp"] = self.measuring.launch(self.full, target, "interp")["seconds"]
            targets[target]["small"] = self.measuring.best(lambda: self.measuring.launch(self.small, target))
        simulated, problem = oclgrind(self.small)
        if problem:
            self.problems["oclgrind", ""] = problem
        return {
            **{key: self.full[key] for key in ("name", "unit", "work")},
            "small_work": self.small["work"],
            "plain": self.plain,
            **self.others,
            "targets": targets,
            "pocl": self.peers,
            "oclgrind": simulated and simulated["seconds"],
            "problems": [" ".join([*where, problem]) for where, problem in self.problems.items()],
        }


def best_of(runs):
    best = min(runs, key=lambda run: run["seconds"])
    return best | {"first": min(run["first"] for run in runs), "translate": min(run["translate"] for run in runs)}


def machine():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores of {names[0] if names else platform.machine()}, {memory:.0f} GiB, {platform.system()}"


def busy_cores():
    """How many cores others keep busy, for two seconds: the load average would have the build in it."""
    def times():
        all_cores = [int(ticks) for ticks in open("/proc/stat").readline().split()[1:9]]
        return sum(all_cores), all_cores[3] + all_cores[4]  # idle, and waiting for a disk

    before = times()
    time.sleep(2)
    total, idle = (after - then for after, then in zip(times(), before))
    return os.cpu_count() * (1 - idle / total)


def commit():
    git = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    # The results themselves are written here.
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return git("rev-parse", "--short", "HEAD") + (" with changes" if changed else "")


def measure(options):
    program = build()
    index = must([program, "--manifests", ROOT / "target/peers/suite"])
    cases = [(full, small) for full, small in zip(index["full"], index["small"]) if full["opencl"]]
    names = [full["name"] for full, _ in cases]
    if unknown := set(options.kernels) - set(names):
        sys.exit(f"no kernel {', '.join(sorted(unknown))}; there is {', '.join(names)}")
    check_peers(cases[names.index("saxpy")][1])
    head = {"machine": machine(), "commit": commit(), "date": datetime.date.today().isoformat(),
            "command": shlex.join(["python3", "benches/peers", *sys.argv[1:]]), "busy": busy_cores(),
            "rounds": options.rounds}
    measuring = Measuring(program, options.rounds, options.intel)
    kernels = [Kernel(measuring, *case) for case in cases if not options.kernels or case[0]["name"] in options.kernels]
    # All kernels in each round: what disturbs lasts for some seconds.
    for number in range(options.rounds):
        for kernel in kernels:
            print(f"round {number + 1} of {options.rounds}: {kernel.full['name']}", flush=True)
            kernel.round()
    kernels = [kernel.result() for kernel in kernels]
    for kernel in kernels:
        print(report.line(kernel), flush=True)
    growth = None if options.kernels else measuring.growth(index)
    return {**head, "kernels": kernels, "growth": growth}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--rounds", type=int, default=3, help="how often all is measured; the best counts")
    parser.add_argument("--intel", type=pathlib.Path, help="a virtual environment with Intel's runtime for CPUs")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--from", dest="file", type=pathlib.Path)
    options = parser.parse_args()
    if options.file:
        results = json.loads(options.file.read_text())
    else:
        results = measure(options)
        file = ROOT / "target/peers/results.json"
        file.write_text(json.dumps(results, indent=1))
        print(f"\nwrote {file.relative_to(ROOT)}")
    print()
    print(report.text(results))
    if options.docs:
        (ROOT / "docs/benchmarks.md").write_text(report.markdown(results))
        (ROOT / "docs/benchmarks.svg").write_text(report.svg(results))


if __name__ == "__main__":
    main()
