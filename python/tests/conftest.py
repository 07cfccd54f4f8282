import os
from pathlib import Path

import numpy as np
import pytest

import sapwood

ROOT = Path(__file__).parents[2]
SCENES = ROOT / "bench" / "scenes"


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a file in the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def quadruped():
    return sapwood.Model.load(SCENES / "quadruped.yaml")


@pytest.fixture
def program():
    """The C program, where it has been built."""
    path = Path(os.environ.get("SAPWOOD_PROGRAM", ROOT / "build" / "release" / "sapwood"))
    if not path.exists():
        pytest.skip("the program is not built")
    return str(path)
