"""Captured launches: manifests."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Union

import numpy as np

from . import _native
from ._arrays import DTYPES
from ._native import Error
from ._results import Fault, Finding, Options


class Replay:
    """The outcome of a captured launch.

    `outcome` is `ok`, `fault` (of the guest), `mismatch` (a result is not as expected), `difference`
    (of the engines) or `finding` (of a check); `message` tells more. `report` has what `warploom run --json`
    prints, without `fidelity`. `buffers`, `surfaces`, `variables` and `exports` have the results by
    name.
    """

    def __init__(self, text: str, arrays: list[Any]) -> None:
        fields = json.loads(text)
        self.outcome: str = fields["outcome"]
        self.message: str = fields["message"]
        self.report: dict[str, Any] = fields["report"]
        faults = self.report["faults"]
        self.findings = [Finding(**one) for one in self.report["findings"]]
        self.fault: Optional[Fault] = Fault(faults[0]) if faults else None
        kinds: dict[str, dict[str, np.ndarray]] = {}
        for kind, name, dtype, shape, content in arrays:
            array = np.frombuffer(content, DTYPES[dtype]).reshape(shape).copy()
            kinds.setdefault(kind, {})[name] = array
        self.buffers = kinds.get("buffer", {})
        self.surfaces = kinds.get("surface", {})
        self.variables = kinds.get("variable", {})
        self.exports = kinds.get("export", {})

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"

    @property
    def printed(self) -> str:
        """The text that device code printed."""
        return self.report["printed"]

    def check(self) -> Replay:
        """Raises the fault, or Error for a mismatch or a difference."""
        if self.fault is not None and self.outcome == "fault":
            raise self.fault
        if not self.ok:
            raise Error(f"{self.report['manifest']}: {self.message}")
        return self

    def __repr__(self) -> str:
        tail = f": {self.message}" if self.message else ""
        return f"<warploom.Replay {self.report['manifest']}: {self.outcome}{tail}>"


def replay(
    manifest: Union[str, os.PathLike[str]],
    *,
    engine: str = "jit",
    arch: Optional[str] = None,
    arrays: bool = True,
    **options: Any,
) -> Replay:
    """Runs the launch that a manifest describes.

    `engine` is `jit`, `interp` or `both`, which compares the engines. Options follow: threads,
    instruction_limit, time_limit, effort, check. Without `arrays`, no results are returned.

    Raises Error if the launch cannot take place. A fault of the guest is no exception: see
    Replay.check.
    """
    chosen = Options().replace(engine=engine, **options)
    of_manifest = ("stack_bytes", "heap_bytes", "printf_bytes", "cooperative")
    for name in of_manifest:
        if name in options:
            raise Error(f"option `{name}`: a manifest has it in [launch]")
    return Replay(*_native.replay(os.fspath(manifest), arch, chosen._json(), arrays))
