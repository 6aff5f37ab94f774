"""Replays of captured launches."""

from __future__ import annotations

import hashlib
import json
import os
import re
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Iterable, Union

from . import engine as warploom
from .campaign import map
from .errors import Error
from .results import Results
from .store import Row

PathLike = Union[str, "os.PathLike[str]"]
ENGINES = ("jit", "interp", "both")
TIME_LIMIT = 60.0

KERNEL = re.compile(rb"^\s*(\[\s*kernel\s*\]|kernel\s*[.=])", re.MULTILINE)
QUOTED = re.compile(rb"""["']([^"'\n]+)["']""")


def replay(
    paths: PathLike | Iterable[PathLike],
    *,
    engine: str = "both",
    time_limit: float | None = TIME_LIMIT,
    instruction_limit: int | None = None,
    arch: str | None = None,
    threads: int = 1,
    store: PathLike = "results.jsonl",
    **how: Any,
) -> Results:
    """Runs manifests, and all manifests in folders, and returns the results.

    Outcomes are `ok`, `mismatch` (with an expected result), `difference` (of the engines), `fault`,
    `error` (unreadable input) and `lost` (warploom crashed or did not end). `time_limit` is in
    seconds, for each engine. `how` are the options of `farm.map`, such as `client` and `workers`.

    The key of a launch is its path, relative to the folder of `store`, and a hash. The hash covers
    the manifest, the options, and the sizes and times of the files that the manifest names. A
    launch that changed runs again, and its old row stays.
    """
    if engine not in ENGINES:
        raise Error(f"engine={engine!r}: expected one of {', '.join(ENGINES)}")
    options = {
        "engine": engine,
        "threads": threads,
        "time_limit": time_limit,
        "instruction_limit": instruction_limit,
        "arch": arch,
    }
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found = list(dict.fromkeys(path for one in given for path in manifests(Path(one))))
    root = Path(store).absolute().parent
    items = ((launch_key(path, root, options), str(path)) for path in found)
    if time_limit is not None:
        # Both engines have the limit, and warploom translates and reads files besides.
        how.setdefault("wall_limit", 2 * time_limit + 60)
    return map(
        partial(_replay, options),
        items,
        campaign={"what": "replay", **options},
        key=itemgetter(0),
        total=len(found),
        store=store,
        **how,
    )


def _replay(options: Row, item: tuple[str, str]) -> Row:
    key, path = item
    return {"manifest": key.split("#")[0], **warploom.replay(path, **options)}


def manifests(path: Path) -> list[Path]:
    """Returns the manifest, or all manifests of a folder and its folders, as absolute paths."""
    path = path.absolute()
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise Error(f"{path}: no such file; expected a manifest or a folder with manifests")
    found = [
        Path(folder, name)
        for folder, _, names in os.walk(path)
        for name in names
        if name.endswith(".toml") and _is_manifest(Path(folder, name))
    ]
    if not found:
        raise Error(
            f"{path}: the folder has no manifest; expected files NAME.toml with a table [kernel], "
            "as `warploom cuda --capture DIR` writes them"
        )
    return sorted(found)


def _is_manifest(path: Path) -> bool:
    """Says whether a file is a manifest. An unreadable one is, so that a row shows the error."""
    try:
        return KERNEL.search(path.read_bytes()) is not None
    except OSError:
        return True


def launch_key(path: Path, root: Path, options: Row) -> str:
    """Returns the key of a launch: its path from a folder, and a hash of content and options."""
    digest = hashlib.blake2b(json.dumps(options, sort_keys=True).encode(), digest_size=8)
    try:
        text = path.read_bytes()
    except OSError:
        text = b""
    digest.update(text)
    for name in QUOTED.findall(text):
        try:
            about = os.stat(path.parent / os.fsdecode(name))
        except (OSError, ValueError):
            continue
        digest.update(b"%s\0%d\0%d\0" % (name, about.st_size, about.st_mtime_ns))
    return f"{Path(os.path.relpath(path, root)).as_posix()}#{digest.hexdigest()}"
