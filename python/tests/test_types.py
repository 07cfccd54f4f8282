"""The stubs, from which editors and type checkers know the arrays of a batch and a model (checked_types.py)."""

import subprocess
import sys
from pathlib import Path

import pytest

import sapwood
from sapwood import batch, model

from conftest import ROOT

PACKAGE = Path(sapwood.__file__).parent
HEADERS = ROOT / "include" / "sapwood"


@pytest.mark.skipif(not HEADERS.exists(), reason="the headers are not here")
def test_the_stubs_are_generated_from_the_headers():
    command = [sys.executable, ROOT / "python/tools/stubs.py", HEADERS]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert (ROOT / "python/sapwood/_arrays.pyi").read_text() == written


def test_the_stubs_have_every_array():
    text = (PACKAGE / "_arrays.pyi").read_text()
    of_batch, of_model = text.split("class ModelArrays:")
    for name in (*batch.FIELDS, *batch.PARAMETERS):
        assert f"    {name}: _Live\n" in of_batch, name
    for name in (*model._COUNTS, *sapwood._layout.MODEL_ARRAYS):
        assert f"    {name}: " in of_model, name
