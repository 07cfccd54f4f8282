"""The examples of the documentation run as they stand."""

import re
import subprocess
import sys
import time

import pytest

import sapwood

from conftest import ROOT


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_first_python_example_runs(page):
    code = re.search(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.S).group(1)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)


def test_the_first_step_is_made_within_a_second(quadruped):
    """Of having imported the package; numpy's own import is not ours."""
    start = time.perf_counter()
    with sapwood.Batch(sapwood.Model.load(ROOT / "bench/scenes/quadruped.yaml"), 1024) as batch:
        batch.step()
    assert time.perf_counter() - start < 1
