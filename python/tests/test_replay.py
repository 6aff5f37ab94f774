"""Captured launches."""

import pickle

import numpy as np
import pytest

import warploom


def test_all_examples_are_as_expected(examples):
    manifests = sorted(examples.glob("*/*.toml"))
    assert len(manifests) > 10
    for manifest in manifests[:12]:
        replay = warploom.replay(manifest, arrays=False)
        assert replay.ok, replay.message


def test_results(examples):
    replay = warploom.replay(examples / "saxpy" / "saxpy.toml", engine="both")
    assert replay.outcome == "ok" and replay.fault is None and replay.check() is replay
    assert replay.report["engine"] == "both" and replay.report["expect"][0]["mismatches"] == 0
    x = np.load(examples / "saxpy" / "x.npy")
    assert np.array_equal(replay.buffers["x"], x)
    assert replay.buffers["y"].dtype == np.float32


def copy(examples, tmp_path, **changes):
    text = (examples / "saxpy" / "saxpy.toml").read_text()
    for old, new in changes.items():
        text = text.replace(*new)
    for name in ("saxpy.sm_50.cubin", "x.npy", "y.npy", "y.expected.npy"):
        if (examples / "saxpy" / name).exists():
            (tmp_path / name).write_bytes((examples / "saxpy" / name).read_bytes())
    path = tmp_path / "saxpy.toml"
    path.write_text(text)
    return path


def test_a_mismatch(examples, tmp_path):
    manifest = copy(examples, tmp_path, a=("f32 = ", "f32 = 1"))
    replay = warploom.replay(manifest)
    assert replay.outcome == "mismatch" and "buffer `y`" in replay.message
    with pytest.raises(warploom.Error, match="saxpy.toml: buffer `y`"):
        replay.check()


def test_a_fault(examples, tmp_path):
    replay = warploom.replay(copy(examples, tmp_path), instruction_limit=10)
    assert replay.outcome == "fault" and replay.fault.kind == "instruction budget exceeded"
    again = pickle.loads(pickle.dumps(replay.fault))
    assert isinstance(again, warploom.Fault) and again.pc == replay.fault.pc
    with pytest.raises(warploom.Fault):
        replay.check()


def test_wrong_manifests(examples, tmp_path):
    with pytest.raises(warploom.Error, match="no.toml"):
        warploom.replay(tmp_path / "no.toml")
    with pytest.raises(warploom.Error, match="expected a manifest"):
        warploom.replay(examples / "saxpy" / "saxpy.sm_50.cubin")
    with pytest.raises(warploom.Error, match="a manifest has it in"):
        warploom.replay(examples / "saxpy" / "saxpy.toml", cooperative=True)
