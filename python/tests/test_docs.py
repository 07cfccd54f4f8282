"""Every Python block of the documentation runs as pasted, in the order of its page, in an empty folder.

A comment before a block, invisible on the page, names what the block needs: `<!-- needs: torch -->`. A block runs where
its needs are met, and is skipped with those after it that need the same.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- needs: (?P<needs>[\w, ]+) -->\n)?^```python\n(?P<code>.*?)^```", re.M | re.S)
MODULES = ("coacd", "gymnasium", "jax", "mujoco", "scipy", "torch", "viser")


def is_met(need: str) -> bool:
    if need == "gpu":
        return importlib.util.find_spec("torch") is not None and __import__("torch").cuda.is_available()
    if need == "display":
        return bool(os.environ.get("DISPLAY"))
    if need == "menagerie":
        return bool(os.environ.get("MUJOCO_MENAGERIE"))
    if need not in MODULES:
        raise ValueError(f"unknown need {need!r}; there are gpu, display, menagerie, {', '.join(MODULES)}")
    return importlib.util.find_spec(need) is not None


def blocks(page: Path) -> list[tuple[int, str, list[str]]]:
    """Line, code and needs of each block."""
    text = page.read_text()
    found = []
    for match in BLOCK.finditer(text):
        needs = [need.strip() for need in (match["needs"] or "").split(",") if need.strip()]
        found.append((text.count("\n", 0, match.start("code")) + 1, match["code"], needs))
    return found


def with_python() -> list[Path]:
    return [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", with_python(), ids=lambda page: page.stem)
def test_python_blocks_run_as_pasted_in_order(page: Path, tmp_path: Path) -> None:
    script, ran = [], 0
    for line, code, needs in blocks(page):
        if all(is_met(need) for need in needs):
            script.append("\n" * (line - 1 - sum(part.count("\n") for part in script)) + code)
            ran += 1
    file = tmp_path / f"page_{page.stem}.py"  # a line of it is that line of the page; mujoco.py would hide MuJoCo
    file.write_text("".join(script))
    folder = tmp_path / "empty"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, str(file)], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if ran == 0:
        pytest.skip("nothing that its blocks need is installed")


def test_every_page_with_python_is_found() -> None:
    """A block that is indented or has another fence would be left out."""
    for page in PAGES:
        assert len(blocks(page)) == len(re.findall(r"```\s*py", page.read_text())), page.name
