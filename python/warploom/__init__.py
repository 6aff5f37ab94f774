"""warploom runs captured GPU binaries on a CPU.

    import numpy as np, warploom

    m = warploom.load("saxpy.ptx")              # PTX, a cubin, an AMD code object, a zebin
    x, y = np.ones((2, 10007), np.float32)
    report = m.kernels["saxpy"][40, 256](10007, 2.5, x, y)   # changes y
    print(report.instructions, m.disassemble("saxpy"))

`load` loads a binary, `replay` runs a captured launch. A fault of the guest is the exception
`Fault`, other problems are `Error`. `warploom.cuda` makes CUDA libraries of this process use the
CPU, and `warploom.farm` runs campaigns on a cluster.
"""

from __future__ import annotations

from ._images import Sampler, Surface, Texture
from ._kernel import Argument, Kernel, Launcher, Local
from ._module import DeviceArray, Kernels, Module, Variable, Variables, load
from ._native import VERSION as __version__
from ._replay import Replay, replay
from ._results import Error, Fault, Finding, Options, Report

__all__ = [
    "Argument",
    "DeviceArray",
    "Error",
    "Fault",
    "Finding",
    "Kernel",
    "Kernels",
    "Launcher",
    "Local",
    "Module",
    "Options",
    "Replay",
    "Report",
    "Sampler",
    "Surface",
    "Texture",
    "Variable",
    "Variables",
    "__version__",
    "load",
    "replay",
]
