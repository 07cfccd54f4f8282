"""A saved state (get_state, set_state) continues bit for bit: also sleeping worlds, sensors with a memory, and caches."""

import numpy as np
import pytest

import sapwood

PILE = """
schema_version: 1
name: pile
simulation: {dt: 0.005}
builder: {gravity: -9.81, rigid_gap: 0.01}
ground: true
bodies:
- {id: a, transform: {p: [0, 0, 0.05]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}
- {id: b, transform: {p: [1, 0, 0.05]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}
- {id: c, transform: {p: [1.02, 0.01, 0.4]}, shapes: [{type: box, hx: 0.05, hy: 0.04, hz: 0.03}]}
joints:
- {id: a, type: free, parent: world, child: a}
- {id: b, type: free, parent: world, child: b}
- {id: c, type: free, parent: world, child: c}
"""
SOLVERS = ["sap", "cone", "pgs", "pgs_rows", "active_set", "mujoco"]
READINGS = ("touch_contact_time", "touch_air_time", "touch_last_air_time", "touch_force", "site_accelerometer", "qacc")


def pile(solver, sleeps, warm=False):
    model = sapwood.Model.parse(PILE, "pile")
    options = {"contact_solver": solver, "sleep_steps": 6 if sleeps else 0, "warm_start": warm}
    batch = sapwood.Batch(model, 3, preset="fast64", options=options, seed=1)
    batch.joint_qd[:, 12] = [0.0, 0.1, 0.2]
    batch.set_sensors(sites=["c"], touch=["c", "a"])
    return batch


def run(batch, steps=40):
    """Everything that a user sees of some steps."""
    out = []
    for _ in range(steps):
        batch.step()
        names = ("joint_q", "joint_qd", "body_q", "body_qd", "asleep", "iterations", *READINGS)
        out.append({name: getattr(batch, name).copy() for name in names})
        if batch.options["sleep_steps"] != "0":
            out[-1]["tree_rest"] = batch.tree_rest.copy()
    return out


def expect_same(a, b, worlds=slice(None)):
    for step, (first, second) in enumerate(zip(a, b)):
        for name in first:
            np.testing.assert_array_equal(first[name][worlds], second[name][worlds], err_msg=f"{name} in step {step}")


CASES = [(s, False, False) for s in SOLVERS]
CASES += [(s, True, False) for s in SOLVERS if s != "mujoco"]
CASES += [("cone", False, True), ("pgs", True, True)]


@pytest.mark.parametrize("solver, sleeps, warm", CASES)
@pytest.mark.parametrize("before", [20, 47, 90])
def test_a_state_continues_in_the_same_batch_and_in_another(solver, sleeps, warm, before):
    with pile(solver, sleeps, warm) as batch, pile(solver, sleeps, warm) as other:
        run(batch, before)
        run(other, 13)
        state = batch.get_state()
        first = run(batch)
        run(batch, 7)
        batch.set_state(state)
        expect_same(first, run(batch))
        other.set_state(state)
        expect_same(first, run(other))


def test_some_of_these_worlds_sleep_and_some_islands_of_others():
    with pile("sap", True) as batch:
        asleep = np.array([step["asleep"] for step in run(batch, 130)])
    assert 1 in asleep and 2 in asleep


@pytest.mark.parametrize("sleeps", [False, True])
def test_worlds_that_are_not_restored_keep_their_memory(sleeps):
    with pile("sap", sleeps) as batch, pile("sap", sleeps) as same:
        run(batch, 60)
        run(same, 60)
        batch.set_state(batch.get_state([1]), [2])
        first, second = run(batch), run(same)
        expect_same(first, second, slice(0, 2))
        for step in first:
            np.testing.assert_array_equal(step["touch_air_time"][1], step["touch_air_time"][2])


def test_a_change_that_no_step_has_seen_wakes_after_a_restart_too():
    with pile("sap", True) as batch, pile("sap", True) as other:
        run(batch, 130)
        asleep = batch.asleep.copy()
        assert list(asleep) == [1, 1, 2]
        batch.joint_f[1:, 0] = 0.1
        state = batch.get_state()
        np.testing.assert_array_equal(batch.asleep, asleep)
        assert state["sleep"][0, 0] == 1 and state["sleep"][1, 0] == 0
        other.set_state(state)
        expect_same(run(batch), run(other))


def test_a_state_of_a_batch_that_does_not_sleep_wakes_one_that_does():
    with pile("sap", True) as batch, pile("sap", False) as awake:
        run(batch, 130)
        run(awake, 5)
        batch.set_state(awake.get_state())
        np.testing.assert_array_equal(batch.joint_q, awake.joint_q)
        batch.step()
        awake.step()
        assert (batch.asleep == 0).all()
        np.testing.assert_array_equal(batch.joint_q, awake.joint_q)


def test_a_state_whose_coordinates_were_changed_has_their_poses():
    with pile("sap", False) as batch:
        run(batch, 10)
        state = batch.get_state()
        state["joint_q"][:, 0] += 0.5
        batch.set_state(state)
        np.testing.assert_allclose(batch.body_q[:, 0, 0], batch.joint_q[:, 0])


def test_time_is_a_part_of_the_state():
    with pile("sap", False) as batch:
        run(batch, 10)
        state = batch.get_state([0])
        run(batch, 10)
        batch.set_state(state, [2])
        np.testing.assert_allclose(batch.time, [0.1, 0.1, 0.05])


def test_rows_of_sleep_are_checked():
    with pile("sap", True) as batch:
        run(batch, 130)
        state = batch.get_state()
        state["sleep"][1, 0] = 3
        with pytest.raises(sapwood.ArgumentError, match=r"sap_batch_set_sleep: world 1: asleep is 3"):
            batch.set_state(state)
