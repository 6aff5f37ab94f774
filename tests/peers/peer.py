"""What the scripts of this folder share: a clone of a suite, ptxas, and warploom."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
# What ptxas says of modules with addresses of 32 bits.
NARROW = ["32-Bit compilation is no longer supported", "32-Bit ABI"]
# What ptxas says where another -arch may do.
OTHER_ARCH = ["is not defined for option", "SM version specified by .target is higher"]


def arguments(description, repository, commit):
    """The command line. Without --clone the suite is cloned from GitHub into a temporary folder."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--clone", help=f"a clone of {repository}, which has commit {commit}")
    parser.add_argument("--ptxas", action="append", default=[], help="a ptxas; may be there several times")
    parser.add_argument("--warploom", default=ROOT / "target" / "debug" / "warploom", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="print lines in which all agree, too")
    parsed = parser.parse_args()
    parsed.repository, parsed.commit = repository, commit
    return parsed


class Suite:
    """Files of one commit of a repository, in a temporary folder."""

    def __init__(self, given, paths):
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        clone = given.clone
        if clone is None:
            clone = root / "clone"
            url = f"https://github.com/{given.repository}.git"
            run(["git", "init", "-q", "--bare", clone])
            run(["git", "-C", clone, "fetch", "-q", "--depth", "1", "--filter=blob:none", url, given.commit])
        archive = run(["git", "-C", clone, "archive", given.commit, *paths])
        self.root = root / "suite"
        self.root.mkdir()
        run(["tar", "x", "-C", self.root], input=archive)

    def files(self, pattern):
        return sorted(self.root.glob(pattern))


def run(command, **options):
    """The standard output of a command that must succeed."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}")
    return done.stdout


def target(text):
    """The first `.target` of a module, as 80 or 90a; none if there is none."""
    found = re.search(r"^\s*\.target\s+(?:sm|compute)_(\d+[af]?)", text, re.MULTILINE)
    return found[1] if found else None


def ptxas(tool, path):
    """None if a ptxas takes the module, else its first complaint. Undefined functions are left to the linker."""
    wanted = target(path.read_text(errors="replace")) or "80"
    number = int(wanted.rstrip("af"))
    # Release 12.9 makes code for sm_50 and later; 13.5 begins with sm_75.
    for arch in [wanted] if number >= 75 else [wanted, "50", "75"]:
        # Modules before PTX 3.1 are linked at once.
        for compile_only in (["-c"], []):
            command = [tool, *compile_only, f"-arch=sm_{arch}", "-o", "/dev/null", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, errors="replace")
            if done.returncode == 0:
                return None
            if "'Compile only(-c)' requires" not in done.stderr + done.stdout:
                break
        if not any(other in done.stderr + done.stdout for other in OTHER_ARCH):
            break
    lines = (done.stderr + done.stdout).splitlines() or [f"exit code {done.returncode}"]
    errors = [line for line in lines if "Unresolved extern" not in line]
    return re.sub(r"^ptxas \S+, ", "", next((line for line in errors if "error" in line or "fatal" in line), lines[0]))


def is_narrow(problems):
    """Whether a ptxas refused a module for its addresses of 32 bits: nobody can be asked about the rest of it."""
    return any(narrow in problem for problem in problems if problem for narrow in NARROW)


def warploom(given, *command):
    """The exit code and all output of warploom."""
    command = [str(given.warploom), *map(str, command)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, errors="replace", timeout=600)
    return done.returncode, done.stdout + done.stderr


def expected(name):
    """Lines `FILE: REASON` of a file beside the scripts."""
    path = HERE / name
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))
