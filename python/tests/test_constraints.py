"""Constraints and tendons from Python: assembling, attaching, reports and control."""

import numpy as np
import pytest

import sapwood

from conftest import SCENES


def test_assemble_closes_the_loops_of_the_chosen_worlds(rng):
    batch = sapwood.Batch(sapwood.Model.load(SCENES / "fivebar_leg.yaml"), 4, preset="approx64")
    batch.joint_q[:] += 0.1 * rng.standard_normal(batch.joint_q.shape)
    before = batch.joint_q.copy()
    left = batch.assemble([0, 2])
    assert (left[[0, 2]] < 1e-9).all() and (left[[1, 3]] == 0).all()
    assert (batch.joint_q[[1, 3]] == before[[1, 3]]).all() and (batch.joint_q[[0, 2]] != before[[0, 2]]).any()
    residual = batch.constraint_residual
    batch.step(1)
    assert (residual[[0, 2]] < 1e-9).all() and (residual[[1, 3]] > 1e-3).all()


def test_assemble_gives_nan_for_a_world_that_cannot_be_assembled():
    batch = sapwood.Batch(sapwood.Model.load(SCENES / "fivebar_leg.yaml"), 2, preset="approx64")
    batch.joint_q[1, 0] = np.nan
    assert np.isnan(batch.assemble()).tolist() == [False, True]


WELD = """
schema_version: 1
ground: false
builder: {gravity: 0}
bodies: [{id: a, mass: 1, inertia: [1, 1, 1]}, {id: b, mass: 1, inertia: [1, 1, 1], transform: {p: [1, 0, 0]}}]
joints: [{id: a, type: free, parent: world, child: a}, {id: b, type: free, parent: world, child: b}]
constraints: [{id: glue, type: weld, body_a: a, body_b: b, active: false}, {id: rod, type: distance, body_a: a, body_b: b, active: false}]
"""


def test_an_attached_weld_holds_the_present_pose_until_it_lets_go():
    batch = sapwood.Batch(sapwood.Model.parse(WELD), 2, preset="approx64")
    batch.joint_qd[:, 6] = 1
    batch.step(10)
    batch.attach("glue", [1])
    assert batch.constraint_active.tolist() == [[0, 0], [1, 0]]
    batch.step(1)
    assert np.abs(batch.constraint_error[1, :6]).max() < 1e-14
    batch.step(100)
    assert batch.joint_qd[0, 6] == 1 and abs(batch.joint_qd[1, 6] - 0.5) < 1e-6  # they share the momentum
    batch.constraint_active[1, 0] = 0
    batch.joint_qd[1, 6] = 3
    batch.step(1)
    assert batch.joint_qd[1, 6] == 3


@pytest.mark.parametrize(
    "constraint, message", [("rod", "is a distance; it must be a weld"), (2, "the model has 2"), ("glu", "glue")]
)
def test_attach_refuses_what_is_no_weld(constraint, message):
    batch = sapwood.Batch(sapwood.Model.parse(WELD), 1)
    with pytest.raises((ValueError, KeyError), match=message):
        batch.attach(constraint)
