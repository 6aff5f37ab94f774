"""The Python lines of the README."""

from pathlib import Path


def test_the_lines_run(monkeypatch, capsys):
    root = Path(__file__).parents[2]
    lines = (root / "README.md").read_text().split("\n## Python\n")[1].split("\n## ")[0].splitlines()
    start = lines.index("    import numpy as np, warploom")
    code = [line for line in lines[start:] if line.startswith("    ") or not line]
    monkeypatch.chdir(root)
    exec("\n".join(line[4:] for line in code), {})
    printed = capsys.readouterr().out
    assert printed.startswith("3.5 7040") and "FFMA" in printed and printed.endswith("ok\n")
