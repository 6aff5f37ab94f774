"""Fuzzing of a launch by many seeds, with one corpus in a shared store."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import Any, Iterable

from . import engine as warploom
from .campaign import map
from .errors import Error, need
from .launches import PathLike, launch_key
from .results import Results
from .store import Row

INPUT = "input-"
OURS = re.compile(r"input-[0-9a-f]{32}")
MOST_FINDINGS = 100
TIME_LIMIT = 60.0
FOUND = re.compile(r"^.*finding-(\d+).launch\.toml: (.*) \((\d+) bytes? changed\)$", re.MULTILINE)
SUMS = re.compile(r"([\d,]+) inputs, ([\d,]+) in the corpus, (\d+) of (\d+) points")


def fuzz(
    manifest: PathLike,
    *,
    seeds: Iterable[int] = range(16),
    seconds: int | None = 60,
    inputs: int | None = None,
    keep_parts: Iterable[str] = (),
    arch: str | None = None,
    corpus: PathLike = "corpus",
    findings: PathLike = "findings",
    store: PathLike = "results.jsonl",
    **how: Any,
) -> Results:
    """Runs `warploom fuzz` for each seed, and returns the results.

    A seed ends after so many `seconds` or so many `inputs`. `corpus` and `findings` are folders or
    URLs of fsspec, such as s3://bucket/corpus. A seed begins with all inputs that are in the corpus
    by then, and adds inputs that reach something new. `keep_parts` names buffers, and arguments by
    their number, that stay as they are. `how` are the options of `farm.map`.

    The outcome of a seed is `ok` or `finding`; or `error`, if the launch cannot be fuzzed, and
    `lost`, if warploom crashed. The field `findings` of a row has a dict for each finding.
    """
    path = Path(manifest).absolute()
    if not path.is_file():
        raise Error(f"{path}: no such file; expected a manifest")
    if seconds is None and inputs is None:
        raise Error("seconds=None, inputs=None: expected a limit of time, of inputs, or both")
    places = location(corpus), location(findings)
    for place in places:
        Shared(place)
    options = {
        "seconds": seconds,
        "inputs": inputs,
        "keep": [str(part) for part in keep_parts],
        "arch": arch,
    }
    name = launch_key(path, Path(store).absolute().parent, options)
    work = partial(_fuzz, str(path), options, *places)
    campaign = {"what": "fuzz", "manifest": name, **options}
    return map(work, seeds, campaign=campaign, store=store, **{"batch": 1, **how})


def location(folder: PathLike) -> str:
    """Returns a URL as it is, and the path of a folder as an absolute path."""
    text = os.fspath(folder)
    return text if "://" in text else os.path.abspath(text)


def _fuzz(manifest: str, options: Row, corpus: str, findings: str, seed: int) -> Row:
    mine = _copy_of(corpus)
    mine.fetch()
    arguments = ["fuzz", manifest, "--seed", str(seed), "--corpus", str(mine.folder)]
    for name in ("seconds", "inputs", "arch"):
        if options[name] is not None:
            arguments += [f"--{name}", str(options[name])]
    for part in options["keep"]:
        arguments += ["--keep", part]
    limit = None if options["seconds"] is None else 2 * options["seconds"] + 300.0
    with tempfile.TemporaryDirectory() as out:
        arguments += ["--findings", str(MOST_FINDINGS), "--out", out]
        done = warploom.call(arguments, limit)
        row: Row = {"added": mine.publish()}
        if isinstance(done, dict):
            return {**row, **done}
        if done.returncode == 3:
            return {**row, "outcome": "error", "message": warploom.message(done.stderr)}
        sums = SUMS.findall(done.stderr)
        if sums:
            numbers = (int(number.replace(",", "")) for number in sums[-1])
            row.update(zip(("inputs", "corpus", "points", "all_points"), numbers))
        found = [
            _finding(Path(out, f"finding-{number}"), text, Shared(findings))
            for number, text, _ in FOUND.findall(done.stdout)
        ]
        if found:
            row.update(outcome="finding", message=found[0]["message"], findings=found)
        return row


def _finding(folder: Path, text: str, shared: Shared) -> Row:
    """Puts a finding into the shared store, and returns its description."""
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    digest = hashlib.blake2b(digest_size=8)
    for name, content in files.items():
        digest.update(b"%s\0%d\0" % (os.fsencode(name), len(content)))
        digest.update(content)
    place = f"finding-{digest.hexdigest()}"
    for name, content in files.items():
        shared.put(f"{place}/{name}", content)
    again = warploom.replay(str(folder / "launch.toml"), engine="both", time_limit=TIME_LIMIT)
    row = {"kernel": again.get("kernel"), "message": text}
    if text.startswith("the engines differ"):
        row["kind"] = "difference"
    elif again["outcome"] == "fault":
        row.update({name: again[name] for name in ("kind", "kernel", "pc", "instruction")})
    else:
        row["kind"] = "store past the end of a buffer"
    return {**row, "manifest": f"{shared.url}/{place}/launch.toml"}


class Shared:
    """A folder that all workers see, by fsspec."""

    def __init__(self, url: str) -> None:
        fsspec = need("fsspec")
        self.url = url.rstrip("/")
        try:
            self._files, self._root = fsspec.core.url_to_fs(self.url)
        except (ValueError, ImportError) as error:
            raise Error(f"{url}: expected a folder or a URL that fsspec knows ({error})") from error

    def names(self) -> set[str]:
        """Returns the names in the folder. A folder that is not there is empty."""
        self._files.invalidate_cache()
        try:
            return {path.rsplit("/", 1)[-1] for path in self._files.ls(self._root, detail=False)}
        except FileNotFoundError:
            return set()

    def get(self, name: str) -> bytes:
        return self._files.cat_file(f"{self._root}/{name}")

    def put(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        self._files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        self._files.pipe_file(path, content)


class Copy:
    """A worker's copy of the shared corpus, in a folder for the command."""

    def __init__(self, url: str) -> None:
        self._shared = Shared(url)
        self._held = tempfile.TemporaryDirectory(prefix="warploom-corpus-")
        self.folder = Path(self._held.name)
        self._known: dict[str, str] = {}
        """Names of inputs, and the names that their content gives."""

    def fetch(self) -> None:
        """Copies inputs that other workers found.

        A name with a hash proves that a file is whole. A file that is not comes again next time.
        """
        for name in self._shared.names() - self._known.keys():
            if not name.startswith(INPUT):
                continue
            try:
                content = self._shared.get(name)
            except FileNotFoundError:
                continue
            if OURS.fullmatch(name) and name != _name(content):
                continue
            (self.folder / name).write_bytes(content)
            self._known[name] = _name(content)

    def publish(self) -> int:
        """Copies new inputs to the shared corpus, under hashes of their content. Returns how many.

        The command names inputs in another way, so it also writes inputs that the corpus has.
        """
        added = 0
        held = set(self._known.values())
        for path in list(self.folder.iterdir()):
            if path.name in self._known or not path.name.startswith(INPUT):
                continue
            content = path.read_bytes()
            name = _name(content)
            if name in held:
                path.unlink()
                continue
            self._shared.put(name, content)
            path.rename(self.folder / name)
            self._known[name] = name
            held.add(name)
            added += 1
        return added


def _name(content: bytes) -> str:
    return INPUT + hashlib.blake2b(content, digest_size=16).hexdigest()


_copies = threading.local()


def _copy_of(url: str) -> Copy:
    """Returns this thread's copy of a corpus."""
    copies: dict[str, Copy] = _copies.__dict__
    if url not in copies:
        copies[url] = Copy(url)
    return copies[url]
