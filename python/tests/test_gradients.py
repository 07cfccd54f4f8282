"""Analytic derivatives against independent numbers: reference data, differences, closed forms, and each other."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import sapwood
from sapwood import gradients

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data/gradients"
FILES = sorted(p.name.removesuffix(".json.gz") for p in DATA.glob("*.json.gz"))


def reference(name):
    return json.loads(gzip.open(DATA / f"{name}.json.gz").read())


CASES = [(name, i) for name in FILES for i in range(len(reference(name)["cases"]))]


def model_of(scene):
    own = DATA / f"{scene}.yaml"
    return sapwood.Model.load(own if own.exists() else ROOT / f"bench/scenes/{scene}.yaml")


def batch_at(case, scene, preset, options, worlds=1, **more):
    batch = sapwood.Batch(model_of(scene), worlds, preset=preset, options={**options, **more}, dtype=np.float64)
    for name in ("joint_q", "joint_qd", "joint_f", "joint_target_pos", "joint_target_vel", "joint_act"):
        getattr(batch, name)[:] = np.reshape(case[name], -1)
    return batch


def agrees(found, column, error, largest):
    """The bound of the data: 1e-6 of the column and 1e-8 of A, or ten times the estimated error of the data."""
    column = np.asarray(column)
    scale = np.abs(column).max()
    bound = max(1e-6 * scale + 1e-8 * largest, 10 * error * max(scale, 1e-3))
    return np.abs(found - column).max() <= bound


@pytest.mark.parametrize("name, index", CASES)
def test_matrices_and_parameters_agree_with_extrapolated_differences(name, index):
    data = reference(name)
    case = data["cases"][index]
    batch = batch_at(case, data["scene"], data["preset"], data["options"])
    parameters = {p["name"] for p in case["parameters"]}
    out = gradients.jacobians(batch, ["joint_f", "joint_target_pos", *parameters], case["substeps"], case["h"])
    assert not out.report.status[0] & (gradients.INVALID | gradients.STATUS["frozen"])
    A = np.array(case["A"])
    largest = np.abs(A).max()
    columns = np.concatenate([A, case["B_joint_f"], np.reshape(case["B_target_pos"], (len(A), -1))], 1)
    found = np.concatenate(
        [out.A[0], out.B["joint_f"][0], out.B["joint_target_pos"][0][:, np.array(case["target_dofs"], int)]], 1
    )
    bad = [
        (i, np.abs(found[:, i] - columns[:, i]).max() / max(np.abs(columns[:, i]).max(), 1e-30))
        for i, error in enumerate(case["column_relative_error"])
        if i not in case["near_kink_columns"] and not agrees(found[:, i], columns[:, i], error, largest)
    ]
    for p in case["parameters"]:
        x = out.B[p["name"]][0][:, p["index"]]
        if not agrees(x, p["derivative"], p["relative_error"], largest if not np.any(p["derivative"]) else 0):
            bad.append((p["name"], p["index"], np.abs(x - p["derivative"]).max() / max(np.abs(p["derivative"]).max(), 1e-30)))
    assert not bad
