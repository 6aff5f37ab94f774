"""Tests of `warploom.farm` on small clusters.

Fuzzing needs the command `warploom`: the package's, or the one that WARPLOOM_COMMAND names.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="pip install warploom[farm]")

from distributed import Client, LocalCluster
from warploom import farm
from warploom.farm import corpus, launches
from warploom.farm.__main__ import main
from warploom.farm.store import Keys

KERNEL = """\
.version 6.0
.target sm_50
.address_size 64
.visible .entry look(.param .u64 .ptr .global data, .param .u64 .ptr .global out, .param .u32 n)
{
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .reg .pred %p<4>;
    ld.param.u64 %rd0, [data];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p0, %r1, %r0;
    @%p0 bra DONE;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd0, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.u64 %rd4, %rd1, %rd2;
    st.global.u32 [%rd4], %r2;
    setp.ne.u32 %p1, %r2, 0x5eed;
    @%p1 bra DONE;
    ld.global.u32 %r3, [%rd0+8];
    and.b32 %r3, %r3, 0xffffff;
    mul.wide.u32 %rd5, %r3, 4;
    add.u64 %rd6, %rd1, %rd5;
    st.global.u32 [%rd6], %r3;
DONE:
    ret;
}
"""
MANIFEST = """\
[kernel]
binary = "k.ptx"
[launch]
grid = [1, 1, 1]
block = [16, 1, 1]
[[arg]]
buffer = "data"
[[arg]]
buffer = "out"
[[arg]]
u32 = {n}
[buffer.data]
values = {data}
dtype = "u32"
[buffer.out]
zeros = 64
dtype = "u32"
"""
FAULT = [0x5EED, 0, 0xFFFFFF]


def write_launch(folder: Path, name: str, data: list[int], n: int = 16) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "k.ptx").exists():
        (folder / "k.ptx").write_text(KERNEL)
    path = folder / f"{name}.toml"
    path.write_text(MANIFEST.format(n=n, data=(data + [0] * 32)[:32]))
    return path


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes that restart when they die."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=100,
        scheduler_kwargs={"allowed_failures": 0},
    ) as local:
        yield local


@pytest.fixture
def client(cluster):
    with Client(cluster, set_as_default=False) as one:
        one.wait_for_workers(2, timeout=30)
        yield one


@pytest.fixture(scope="module")
def threads():
    """A client whose workers are threads of this process."""
    with Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0",
        set_as_default=False,
    ) as one:  # fmt: skip
        yield one


def keys(results: farm.Results) -> list:
    return sorted(row["key"] for row in results)


def square(item: int) -> dict:
    return {"square": item * item}


def slow(item: int) -> dict:
    time.sleep(0.02)
    return {}


def poison(item: int) -> dict | None:
    if item == 7:
        os.kill(os.getpid(), signal.SIGSEGV)
    if item == 11:
        raise RuntimeError("eleven")
    return {"outcome": "odd"} if item == 13 else None


def bomb(item: int) -> None:
    """Kills the worker even from a child process."""
    if item == 3:
        if sys.argv[0].endswith("child.py"):
            os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)


def endless(item: int) -> None:
    while item == 2:
        time.sleep(1)


def folder_of_launches(folder: Path) -> Path:
    for i in range(6):
        write_launch(folder, f"good{i}", [i])
    write_launch(folder, "bad", FAULT)
    write_launch(folder / "deep", "bad", FAULT)
    (folder / "broken.toml").write_text("[kernel]\nbinary = 5\n")
    (folder / "Cargo.toml").write_text("[package]\nname = 'x'\n")
    return folder


def test_a_folder_of_launches(tmp_path, client):
    folder = folder_of_launches(tmp_path / "launches")
    store = tmp_path / "r.jsonl"
    results = farm.replay(folder, client=client, store=store, quiet=True)
    assert len(results) == 9 and not results.ok
    assert results.counts == {"ok": 6, "fault": 2, "error": 1}
    bad = next(row for row in results if row["manifest"] == "launches/deep/bad.toml")
    assert bad["kernel"] == "look" and bad["kind"] == "address out of range"
    assert bad["instruction"].startswith("st.global.u32") and bad["message"]

    groups = results.failures()
    assert [group["number"] for group in groups] == [2, 1]
    summary = results.summary()
    assert "9 items: 6 ok, 1 error, 2 fault" in summary
    assert f"2 x kernel `look`: address out of range at pc {bad['pc']:#x}" in summary

    results.write_csv(tmp_path / "r.csv")
    table = list(csv.DictReader((tmp_path / "r.csv").open()))
    assert [row["key"] for row in table] == [row["key"] for row in results]

    # A second campaign with one other launch runs only that one.
    before = store.read_bytes()
    write_launch(folder, "bad", [1])
    again = farm.replay(folder, client=client, store=store, quiet=True)
    assert store.read_bytes().startswith(before)
    assert again.counts == {"ok": 7, "fault": 2, "error": 1}
    # Failed launches run again on demand, and still have one row each.
    retried = farm.replay(folder, client=client, store=store, retry_failed=True, quiet=True)
    assert retried.counts == {"ok": 7, "fault": 1, "error": 1}
    assert len(set(keys(retried))) == 9


def test_pandas(tmp_path, threads):
    pytest.importorskip("pandas")
    results = farm.map(square, range(4), client=threads, store=tmp_path / "r.jsonl", quiet=True)
    assert sorted(results.to_pandas()["square"]) == [0, 1, 4, 9]


def test_killed_workers(tmp_path, client):
    """Workers die at any time, but each item has one row."""
    stop = threading.Event()

    def kill() -> None:
        for _ in range(2):
            if stop.wait(1.0):
                return
            found = client.run(os.getpid, on_error="ignore")
            for pid in list(found.values())[:1]:
                os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    results = farm.map(
        slow, range(300), client=client, store=tmp_path / "r.jsonl", batch=10, quiet=True
    )
    stop.set()
    killer.join()
    assert keys(results) == list(range(300)) and results.ok


def test_a_poison_item(tmp_path, client):
    items = iter(range(40))
    results = farm.map(
        poison, items, client=client, store=tmp_path / "r.jsonl", batch=20, quiet=True
    )
    rows = {row["key"]: row for row in results}
    assert len(rows) == len(results.rows) == 40
    assert rows[7]["outcome"] == "lost"
    assert rows[7]["message"] == "its process died 3 times, the last time by signal 11 (SIGSEGV)"
    assert rows[11]["outcome"] == "error" and rows[11]["message"] == "RuntimeError: eleven"
    assert results.counts == {"ok": 37, "lost": 1, "error": 1, "odd": 1}


def test_an_item_that_always_kills_its_worker(tmp_path, client):
    results = farm.map(
        bomb, range(6), client=client, store=tmp_path / "r.jsonl", batch=3, deaths=2, quiet=True
    )
    rows = {row["key"]: row for row in results}
    assert len(results.rows) == 6 and results.counts == {"ok": 5, "lost": 1}
    assert "the death of its Dask worker" in rows[3]["message"]


def test_an_item_that_does_not_end(tmp_path, client):
    how = {"client": client, "store": tmp_path / "r.jsonl", "batch": 5, "quiet": True}
    results = farm.map(endless, range(5), wall_limit=0.5, **how)
    assert results.counts == {"ok": 4, "lost": 1}
    lost = next(row for row in results if row["outcome"] == "lost")
    assert lost["key"] == 2 and lost["message"].endswith("by the limit of its time")


def test_a_torn_file_and_resume(tmp_path, threads):
    store = tmp_path / "r.jsonl"
    farm.map(square, range(10), client=threads, store=store, quiet=True)
    # The end of a line is missing, and so is the whole line behind it.
    lines = store.read_bytes().splitlines(keepends=True)
    store.write_bytes(b"".join(lines[:-2]) + lines[-2][:-5])
    assert len(farm.Results(store)) == 8

    def forbidden(item: int) -> dict:
        assert item in missing
        return {"square": item * item}

    missing = set(range(10)) - {row["key"] for row in farm.Results(store)}
    assert len(missing) == 2
    name = {"function": f"{square.__module__}.square"}
    results = farm.map(
        forbidden, range(10), campaign=name, client=threads, store=store,
        quiet=True,
    )  # fmt: skip
    assert keys(results) == list(range(10)) and results.ok
    # A header that is torn is no results at all.
    store.write_bytes(lines[0][:30])
    results = farm.map(square, [3, 3, 4], client=threads, store=store, quiet=True)
    assert keys(results) == [3, 4]


def test_good_seeds_in_one_row(tmp_path, threads):
    def odd(item: int) -> dict | None:
        return {"outcome": "difference"} if item == 1500 else None

    store = tmp_path / "r.jsonl"
    how = dict(client=threads, store=store, keep="failures", quiet=True)
    how["campaign"] = {"what": "seeds"}
    assert len(farm.map(odd, range(100, 3000), **how)) == 2900
    results = farm.map(odd, range(5000), **how)
    assert len(results) == 5000 and results.counts == {"ok": 4999, "difference": 1}
    assert len(results.rows) < 200
    covered = Keys()
    for row in results:
        covered.add(row["key"])
    assert list(covered.gaps(range(5000))) == []


def test_items_are_taken_late(tmp_path, threads):
    """A campaign over an endless iterable holds few items, and ends when the iterable does."""
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield taken
            if taken == 300:
                raise KeyboardInterrupt

    store = tmp_path / "r.jsonl"
    with pytest.raises(KeyboardInterrupt):
        farm.map(slow, endless(), client=threads, store=store, batch=2, quiet=True)
    done = keys(farm.Results(store))
    assert 300 - 2 * 32 - 4 <= len(done) == len(set(done)) < 300


def test_keys():
    held = Keys()
    for key in (5, [7, 9], 6, "a", [100, 200], [11, 11]):
        held.add(key)
    assert "a" in held and "b" not in held and 8 in held and 10 not in held
    assert list(held.gaps(range(150))) == [range(5), range(10, 11), range(12, 100)]
    assert list(held.gaps(range(120, 130))) == [] and list(held.gaps(range(201, 203)))
    assert held._firsts == [5, 11, 100]


def test_wrong_inputs(tmp_path, threads):
    def message(call) -> str:
        with pytest.raises(farm.Error) as caught:
            call()
        return str(caught.value)

    how = dict(client=threads, quiet=True, store=tmp_path / "r.jsonl")
    text = message(lambda: farm.replay(tmp_path / "no.toml", **how))
    assert "no.toml: no such file; expected a manifest or a folder" in text
    (tmp_path / "empty").mkdir()
    text = message(lambda: farm.replay(tmp_path / "empty", **how))
    assert "empty: the folder has no manifest; expected files NAME.toml" in text
    text = message(lambda: farm.fuzz(tmp_path / "no.toml", **how))
    assert "no.toml: no such file; expected a manifest" in text
    text = message(lambda: farm.fuzz(write_launch(tmp_path, "m", []), corpus="abc://x", **how))
    assert "abc://x: expected a folder or a URL" in text
    text = message(lambda: farm.replay(tmp_path, engine="gpu", **how))
    assert "engine='gpu': expected one of jit, interp, both" in text

    farm.map(square, [1], **how)
    text = message(lambda: farm.replay(write_launch(tmp_path, "m", []), **how))
    assert "r.jsonl: has the results of another campaign: " in text and ".square" in text
    assert 'expected {"what": "replay"' in text
    (tmp_path / "r.jsonl").write_text("key,outcome\n")
    text = message(lambda: farm.map(square, [1], **how))
    assert "r.jsonl: is no results file of warploom.farm: line 1 begins with `key,out" in text
    (tmp_path / "r.jsonl").write_text('{"warploom_farm": 1, "campaign": {"x": 1}}\n{"key": 1}\n')
    text = message(lambda: farm.map(square, [1], campaign={"x": 1}, **how))
    assert "r.jsonl: line 2 is no row; expected an object with `key` and `outcome`" in text
    text = message(lambda: farm.map(lambda item: threads, [1], **{**how, "store": tmp_path / "t"}))
    assert "cannot be sent to workers" in text
    text = message(lambda: farm.map(square, [1], client="abc://x:1", store=tmp_path / "s.jsonl"))
    assert "abc://x:1: no scheduler answers; expected an address" in text


def test_one_campaign_writes_a_file(tmp_path, threads):
    pytest.importorskip("fcntl")
    store = tmp_path / "r.jsonl"

    def items():
        with pytest.raises(farm.Error) as caught:
            farm.map(square, [1], client=threads, store=store, quiet=True)
        assert "r.jsonl: another campaign writes to this file" in str(caught.value)
        yield 1

    assert farm.map(square, items(), client=threads, store=store, quiet=True).ok


@pytest.mark.parametrize("where", ["memory", "folder"])
def test_a_shared_corpus(tmp_path, threads, where):
    import fsspec

    path = write_launch(tmp_path, "m", [])
    place = f"memory://farm-{os.getpid()}" if where == "memory" else str(tmp_path / "shared")
    files, root = fsspec.core.url_to_fs(f"{place}/corpus")
    # An input that a run of the command left under its own name, and a file cut short by a crash.
    files.makedirs(root, exist_ok=True)
    files.pipe_file(f"{root}/input-0123456789abcdef", b"\xed\x5e\0\0" + b"\1" * 188)
    files.pipe_file(f"{root}/input-{'0' * 32}", b"torn")
    how = dict(seconds=None, inputs=2500, keep_parts=["3"], client=threads, quiet=True)
    how.update(corpus=f"{place}/corpus", findings=f"{place}/findings")
    results = farm.fuzz(path, seeds=range(4), store=tmp_path / "r.jsonl", **how)
    assert keys(results) == [0, 1, 2, 3]
    assert all(row["outcome"] == "finding" and row["inputs"] == 2500 for row in results)
    held = {name.rsplit("/", 1)[-1] for name in files.ls(root, detail=False)}
    whole = {name for name in held if corpus._name(files.cat_file(f"{root}/{name}")) == name}
    assert len(held - whole) == 2, "the command's own names are not in the shared corpus"
    # Two seeds may add an equal input at one time.
    assert 0 < len(whole) <= sum(row["added"] for row in results)
    # Later seeds begin with the corpus, so it holds no input twice.
    late = farm.fuzz(path, seeds=[9], store=tmp_path / "late.jsonl", **how).rows[0]
    assert late["corpus"] > 1
    fault = next(group for group in results.failures() if group["pc"] is not None)
    assert fault["kernel"] == "look" and fault["kind"] == "address out of range"

    finding = next(one for row in results for one in row["findings"] if "pc" in one)
    if where == "folder":
        again = farm.replay(
            finding["manifest"], client=threads, store=tmp_path / "again.jsonl", quiet=True
        )
        assert again.counts == {"fault": 1}
        assert again.rows[0]["pc"] == finding["pc"]


def test_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_launch(tmp_path / "launches", "a", [1])
    write_launch(tmp_path / "launches", "b", FAULT)
    line = ["replay", "launches", "--workers", "1", "--engine", "jit", "--csv", "r.csv"]
    assert main(line) == 1
    out = capsys.readouterr().out
    assert out.startswith("2 items: 1 ok, 1 fault\n") and "in results.jsonl" in out
    header, *rows = Path("results.jsonl").read_text().splitlines()
    assert json.loads(header)["campaign"]["engine"] == "jit" and len(rows) == 2
    assert len(Path("r.csv").read_text().splitlines()) == 3
    assert main(["replay", "nowhere"]) == 3
    assert "nowhere: no such file" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["fuzz", "m.toml", "--seeds", "5:2"])
    assert ended.value.code == 3 and "FIRST:END" in capsys.readouterr().err


def test_packages_that_are_missing(tmp_path):
    """The farm itself imports without Dask, and says what to install."""
    program = (
        "import sys\n"
        "sys.modules['dask'] = None\n"
        "from warploom import farm\n"
        "try: farm.map(print, [1], store=sys.argv[1])\n"
        "except farm.Error as error: print(error)\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "r.jsonl")],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert "pip install warploom[farm]" in done.stdout, done.stdout + done.stderr


def test_keys_of_launches(tmp_path):
    """A key changes with the manifest, the files that it names, and the options."""
    path = write_launch(tmp_path, "m", [])
    first = launches.launch_key(path, tmp_path, {"engine": "jit"})
    assert first.startswith("m.toml#") and first == launches.launch_key(
        path, tmp_path, {"engine": "jit"}
    )
    other = launches.launch_key(path, tmp_path, {"engine": "both"})
    (tmp_path / "k.ptx").write_text(KERNEL + "// more\n")
    changed = launches.launch_key(path, tmp_path, {"engine": "jit"})
    assert len({first, other, changed}) == 3
