"""MuJoCo's law against what MuJoCo computed: every comparison of the reference files; differences are found."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("gymnasium")

import mujoco_files

FILES = sorted((Path(__file__).parents[2] / "tests/data/reference/mujoco").glob("*.json.gz"))

# Criteria of docs/mujoco.md, by their numbers, and files that show them.
CRITERIA = {
    "2 newton takes the iterations of mujoco": ["mass_ratio", "condim_pyramidal", "all_kinds", "stack"],
    "3 a stiff solref does not diverge": ["bounce", "stack"],
    "4 cones of every condim": ["condim_elliptic", "condim_pyramidal", "impratio_elliptic", "mixing"],
    "5 all kinds of rows at once": ["all_kinds"],
    "11 a world without rows moves freely": ["tumble_euler", "tumble_implicitfast"],
    "12 a direct solref is its standard form": ["solref_direct"],
    "13 friction loss sticks and slides": ["friction_loss"],
    "14 condim 1 has one row": ["pusher"],
    "15 welds": ["weld"],
}


@cache
def report(name: str) -> mujoco_files.Report:
    return mujoco_files.File(str(FILES[0].parent / f"{name}.json.gz")).run()


@pytest.mark.parametrize("name", [path.name.split(".")[0] for path in FILES])
def test_every_comparison_with_mujoco_passes(name: str) -> None:
    assert not report(name).failed


@pytest.mark.parametrize("criterion", CRITERIA)
def test_criterion(criterion: str) -> None:
    found = [c for name in CRITERIA[criterion] for c in report(name).comparisons]
    assert all(c.passed for c in found)
    assert {"iterations", "line-search evaluations", "states of rows"} <= {c.what for c in found} or "11" in criterion


def test_no_comparison_is_lost() -> None:
    assert len(FILES) == 30
    assert sum(len(report(path.name.split(".")[0]).comparisons) for path in FILES) == 2644


def spoil(number: float) -> float:
    return number * (1 + 1e-8) + 1e-8


def spoil_first(values: Any) -> Any:
    """The nested list with its largest number changed."""
    flat = json.loads(json.dumps(values))
    owner, at = max(leaves(flat), key=lambda leaf: abs(leaf[0][leaf[1]]))
    owner[at] = spoil(owner[at])
    return flat


def leaves(values: list[Any]) -> list[tuple[list[Any], int]]:
    nested = [leaf for value in values if isinstance(value, list) for leaf in leaves(value)]
    return nested + [(values, i) for i, value in enumerate(values) if not isinstance(value, list)]


SPOILT: dict[str, Callable[[dict[str, Any]], None]] = {
    "iterations": lambda case: case["newton"].update(iterations=case["newton"]["iterations"] + 1),
    "line-search evaluations": lambda case: case["newton"]["evaluations"].append(1),
    "M": lambda case: case.update(M=spoil_first(case["M"])),
    "J": lambda case: case["rows"].update(J=spoil_first(case["rows"]["J"])),
    "R": lambda case: case["rows"].update(R=spoil_first(case["rows"]["R"])),
    "aref": lambda case: case["rows"].update(aref=spoil_first(case["rows"]["aref"])),
    "force": lambda case: case["rows"].update(force=spoil_first(case["rows"]["force"])),
    "states of rows": lambda case: case["rows"]["state"].__setitem__(0, 9),
    "qacc": lambda case: case.update(qacc=spoil_first(case["qacc"])),
    "R of discrete": lambda case: case["next"]["discrete"].update(R=spoil_first(case["next"]["discrete"]["R"])),
    **{
        f"next state of {name}": lambda case, name=name: case["next"][name].update(
            qvel=spoil_first(case["next"][name]["qvel"])
        )
        for name in mujoco_files.INTEGRATORS
    },
}


@pytest.mark.parametrize("what", SPOILT)
def test_a_number_that_differs_fails_its_comparison_only(what: str) -> None:
    file = mujoco_files.File(str(FILES[0].parent / "bounce.json.gz"))
    SPOILT[what](file.data["cases"][1])
    assert [(c.where, c.what) for c in file.run().failed] == [("case 1", what)]


def test_a_trajectory_that_differs_fails() -> None:
    file = mujoco_files.File(str(FILES[0].parent / "bounce.json.gz"))
    file.data["trajectories"][0]["qpos"][150][2] += 1e-8
    assert [c.where for c in file.run().failed] == ["trajectory 0"]


def test_a_model_that_is_another_than_the_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "models").symlink_to(FILES[0].parent / "models")
    with gzip.open(FILES[0].parent / "bounce.json.gz") as stream:
        data = json.load(stream)
    data["constants"]["body_mass"][1] *= 1.001
    (tmp_path / "bounce.json").write_text(json.dumps(data))
    with pytest.raises(mujoco_files.BadFile, match="body_mass"):
        mujoco_files.File(str(tmp_path / "bounce.json"))


def test_the_program_answers_with_the_numbers() -> None:
    program = os.environ.get("SAPWOOD_PROGRAM")
    if not program:
        pytest.skip("SAPWOOD_PROGRAM is not set")
    command = [program, "conform", "--verbose", str(FILES[0].parent / "weld.json.gz")]
    run = subprocess.run(command, env={**os.environ, "SAPWOOD_PYTHON": sys.executable}, capture_output=True, text=True)
    *lines, last = run.stdout.splitlines()
    assert run.returncode == 0, run.stderr
    assert last == f"{len(report('weld').comparisons)} passed, 0 failed"
    assert sum(line.startswith("ok ") for line in lines) == len(report("weld").comparisons)


FIELDS = FILES[0].parents[1] / "dropin/inputs.json.gz"
NOT_YET = ("next state of implicit", "refused: qfrc_applied")  # no such integrator; forces that turn in stages of RK4


def test_fields_steps_and_trajectories_of_a_file_are_mujocos() -> None:
    found = mujoco_files.open_file(str(FIELDS)).run()
    assert all(c.what.startswith(NOT_YET) for c in found.failed)
    assert len(found.comparisons) == 323 and len(found.failed) == 11


def test_a_field_that_differs_fails(tmp_path: Path) -> None:
    data = json.loads(gzip.decompress(FIELDS.read_bytes()))
    data["cases"][3]["expect"]["qfrc_bias"][0] *= 1 + 1e-9
    data["trajectories"][0]["qpos"][2][0] += 1e-7
    data["mjcf"] = str(FIELDS.parent / data["mjcf"])
    (tmp_path / "spoiled.json").write_text(json.dumps(data))
    found = mujoco_files.open_file(str(tmp_path / "spoiled.json")).run()
    spoiled = {(c.where, c.what.split(",")[0]) for c in found.failed if not c.what.startswith(NOT_YET)}
    assert spoiled == {("case 3", "qfrc_bias"), ("trajectory 0", "trajectory")}


def test_contacts_of_pairs_are_compared_by_number_distance_point_and_normal(tmp_path: Path) -> None:
    ball = "<body><freejoint/><geom name='b' size='.1'/></body>"
    mjcf = f"<mujoco><worldbody><geom name='a' type='plane' size='1 1 1'/>{ball}</worldbody></mujoco>"
    contact = {"geom": ["a", "b"], "dist": -0.01, "pos": [0.2, 0, -0.005], "frame": [0, 0, 1, 0, 1, 0, -1, 0, 0]}
    case = {"qpos": [0.2, 0, 0.09, 1, 0, 0, 0], "contacts": [contact]}
    pair = {"a": "plane", "b": "sphere", "mjcf": mjcf, "cases": [case]}
    for change, wrong in (({}, set()), ({"dist": -0.0101}, {"distances"}), ({"pos": [0.2, 0, 0]}, {"points"})):
        contact.update(change)
        path = tmp_path / "pairs.json"
        path.write_text(json.dumps({"mujoco": "4.0.0", "pairs": [pair]}))
        assert {c.what for c in mujoco_files.open_file(str(path)).run().failed} >= wrong
    case["contacts"] = []
    path.write_text(json.dumps({"mujoco": "4.0.0", "pairs": [pair]}))
    assert {c.what for c in mujoco_files.open_file(str(path)).run().failed} == {"number of contacts"}
