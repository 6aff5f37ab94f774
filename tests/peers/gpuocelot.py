#!/usr/bin/env python3
"""The PTX modules of gpuocelot: warploom reads each module that a ptxas takes.

    gpuocelot.py --ptxas TOOL [--ptxas TOOL] [--clone FOLDER] [--all]

Prints a line for each module on which ptxas and warploom differ, and what of a module is not executed.
"""

import re
import sys

import peer


def main():
    given = peer.arguments(__doc__, "gpuocelot/gpuocelot", "b16039dc940dc6bc4ea0a98380495769ff35ed99")
    suite = peer.Suite(given, [":(glob)**/*.ptx"])
    reasons = peer.expected("gpuocelot.expected")
    taken = differ = 0
    for path in suite.files("**/*.ptx"):
        name = str(path.relative_to(suite.root))
        problems = [peer.ptxas(tool, path) for tool in given.ptxas]
        takes = None in problems or peer.is_narrow(problems)
        taken += takes
        code, text = peer.warploom(given, "inspect", path, "--coverage")
        reads = code == 0
        pattern = re.compile(r" *[1-9]\d* kernels .*not executed")
        missing = [line.strip() for line in text.splitlines() if pattern.match(line)] if reads else []
        if takes == reads and not missing and not given.all:
            continue
        verdict = "takes it" if takes else f"refuses it: {problems[0] if problems else 'not asked'}"
        ours = "; ".join(missing) or "reads it" if reads else text.strip().splitlines()[0]
        reason = reasons.get(name, "")
        differ += takes != reads and not reason
        print(f"{name} | ptxas {verdict} | warploom: {ours} | {reason}")
    count = f"{taken} modules that ptxas takes or that have addresses of 32 bits"
    print(f"{count}, {differ} differences without a reason")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
