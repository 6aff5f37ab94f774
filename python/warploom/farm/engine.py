"""The place of the farm that runs warploom: launches in this process, and the command."""

from __future__ import annotations

import subprocess
from typing import Any

import warploom
from warploom.command import path

from .batch import ending
from .store import Row


def replay(manifest: str, **options: Any) -> Row:
    """Runs a launch. Returns its row: outcome, kernel, instructions, and the failure.

    The options are those of `warploom.replay`.
    """
    try:
        done = warploom.replay(manifest, arrays=False, **options)
    except warploom.Error as error:
        return {"outcome": "error", "message": str(error)}
    report = done.report
    row = {"outcome": done.outcome, "kernel": report["kernel"]}
    row["instructions"] = report["instructions"]
    if done.outcome == "fault" and done.fault is not None:
        fault = done.fault
        row.update(kernel=fault.kernel, kind=fault.kind, pc=fault.pc)
        row["instruction"] = fault.instruction
    if not done.ok:
        row["message"] = done.message
    return row


def call(arguments: list[str], limit: float | None) -> subprocess.CompletedProcess[str] | Row:
    """Runs the command. Returns a row if it crashes or does not end in `limit` seconds."""
    try:
        done = subprocess.run(
            [path(), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return {"outcome": "lost", "message": f"warploom did not end in {limit:g} s"}
    if done.returncode not in (0, 1, 2, 3):
        text = f"warploom ended by {ending(done.returncode)}"
        return {"outcome": "lost", "message": f"{text}: {message(done.stderr)}".rstrip(": ")}
    return done


def message(stderr: str) -> str:
    """Returns the problems that the command printed."""
    lines = (line.removeprefix("warploom: ") for line in stderr.strip().splitlines())
    return "\n".join(lines)
