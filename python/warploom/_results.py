"""Options of launches, their reports, and faults."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Optional, Sequence

from ._native import Error


@dataclasses.dataclass(frozen=True)
class Options:
    """How a kernel runs.

    `engine` is `jit` or `interp`, for replays also `both`. The interpreter defines correct results.
    `threads` are worker threads. A launch ends with a fault after `instruction_limit` instructions
    of warps, or after `time_limit` seconds. `effort` is `quick` (code is made for speed when it is
    hot), `likely` or `full`. `stack_bytes` is a lane's stack for calls of unknown depth,
    `heap_bytes` the heap of device code, `printf_bytes` the room for text that device code prints.
    In a `cooperative` launch, blocks may wait for each other. None stands for the default.

    `check=["memory"]` finds accesses to global memory past the end of an array or of the module's
    variables. They are no faults, because memory has pages of 64 KiB. `check=["race"]` finds accesses
    of two threads to a byte without an order between them, `check=["init"]` reads of shared and
    local memory that nobody has written, `check=["sync"]` wrong barriers and masks of lanes. See
    Report.findings.
    """

    engine: str = "jit"
    threads: int = 1
    instruction_limit: Optional[int] = None
    time_limit: Optional[float] = None
    effort: str = "quick"
    stack_bytes: Optional[int] = None
    heap_bytes: Optional[int] = None
    printf_bytes: Optional[int] = None
    cooperative: bool = False
    check: Sequence[str] = ()

    def replace(self, **changes: Any) -> Options:
        """Returns options with changes. An unknown name is an error."""
        known = [field.name for field in dataclasses.fields(self)]
        for name in changes:
            if name not in known:
                raise Error(f"no option `{name}`: expected one of {', '.join(known)}")
        return dataclasses.replace(self, **changes)

    def _json(self, **more: Any) -> str:
        try:
            return json.dumps({**dataclasses.asdict(self), **more})
        except TypeError as problem:
            raise Error(f"options: {problem}") from None


class Fault(Error):
    """A fault of the guest: a bad address, an illegal instruction, a limit, a deadlock, ...

    `kind` is the fault's name. `pc` is the offset of the instruction in its function's section,
    `instruction` its text, `block`, `warp` and `lane` name the lane, `address` the address of a bad
    access. `report` is the report of the launch, if a launch (not a replay) had the fault. Arrays
    have the content at the fault.
    """

    kind: str
    kernel: str
    function: Optional[str]
    pc: int
    instruction: Optional[str]
    block: tuple[int, int, int]
    warp: int
    lane: int
    address: int
    message: str
    report: Optional[Report]

    def __init__(self, fields: dict[str, Any], report: Optional[Report] = None) -> None:
        super().__init__(fields["message"])
        self.kind = fields["kind"]
        self.kernel = fields["kernel"]
        self.function = fields["function"]
        self.pc = fields["pc"]
        self.instruction = fields["instruction"]
        self.block = tuple(fields["block"])
        self.warp = fields["warp"]
        self.lane = fields["lane"]
        self.address = fields["address"]
        self.message = fields["message"]
        self.report = report
        self._fields = fields

    def __reduce__(self) -> Any:
        return Fault, (self._fields, self.report)


@dataclasses.dataclass(frozen=True)
class Finding:
    """Mistakes of one kind by one instruction, which a check found. The fields describe the first one.

    `action` is `load`, `store`, `atomic`, `barrier`, `sync`, `malloc` or `free`, and `memory` is
    `global`, `shared` or `local`. `address` is a guest address of global memory, an offset in shared or local memory, or
    the number of a barrier. Of the check `memory`, `allocation` names the memory of
    `allocation_bytes` bytes, and `offset` is the place of the access in it. The fields `other_...`
    have the other access of a race (without a lane if several lanes access). `line` is the line of
    the code's text or of the source. `count` says how often lanes made the mistake.
    """

    check: str
    action: str
    bytes: int
    memory: str
    address: int
    allocation: Optional[str]
    allocation_bytes: Optional[int]
    offset: Optional[int]
    kernel: str
    function: Optional[str]
    pc: int
    instruction: Optional[str]
    line: Optional[str]
    block: tuple[int, int, int]
    warp: int
    lane: int
    other_action: Optional[str]
    other_pc: Optional[int]
    other_instruction: Optional[str]
    other_block: Optional[tuple[int, int, int]]
    other_warp: Optional[int]
    other_lane: Optional[int]
    count: int
    message: str

    def __str__(self) -> str:
        return self.message


@dataclasses.dataclass(frozen=True)
class Report:
    """The outcome of a launch.

    `instructions` counts instructions of warps, `lane_instructions` those of active lanes.
    `helper_calls` and `interp_instructions` are what native code did not do by itself. `printed` is
    the text that device code printed, `prints_dropped` the number of calls that found no room.
    `uncompiled` names code that the JIT interpreted, `rules` counts rewrites of analysis. `findings`
    are those of Options.check.
    """

    kernel: str
    instructions: int
    lane_instructions: int
    helper_calls: int
    interp_instructions: int
    blocks_done: int
    translate_seconds: float
    run_seconds: float
    printed: str
    prints_dropped: int
    uncompiled: list[str]
    rules: dict[str, int]
    findings: list[Finding]
