"""sapwood.mujoco.rollout against mujoco.rollout."""

import concurrent.futures
import copy
import importlib.util
from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
peer = pytest.importorskip("mujoco.rollout")

from sapwood.mujoco import rollout  # noqa: E402

SWING = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .6">
      <joint name="yaw" axis="0 0 1"/><joint name="pitch" axis="0 1 0" damping=".1"/>
      <geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/><geom pos="1 0 0" size=".1"/>
      <site name="end" pos="1 0 0"/>
    </body>
    <body name="marker" mocap="true" pos="0 1 1"/>
  </worldbody>
  <actuator>
    <general joint="pitch" gainprm="100"/>
    <general joint="yaw" dyntype="filter" dynprm="1" gainprm="100"/>
  </actuator>
  <sensor><accelerometer site="end"/><framepos objtype="xbody" objname="marker"/></sensor>
</mujoco>
"""
STILL = "<mujoco><worldbody><body name='m' mocap='true'/></worldbody><sensor><framepos objtype='xbody' objname='m'/></sensor></mujoco>"
FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS
STATE = 6


@pytest.fixture
def model():
    return mujoco.MjModel.from_xml_string(SWING)


def both(*arguments, **options):
    return rollout.rollout(*arguments, **options), peer.rollout(*arguments, **options)


def assert_same(ours, theirs, tolerance=1e-9):
    for a, b in zip(ours, theirs):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("count, steps", [(1, 1), (1, 7), (5, 1), (4, 6)])
def test_states_and_sensors_are_mujocos(model, rng, count, steps):
    initial, control = rng.normal(0, 0.5, (count, STATE)), rng.normal(0, 1, (count, steps, model.nu))
    assert_same(*both(model, mujoco.MjData(model), initial, control))
    assert_same(*both(model, mujoco.MjData(model), initial, control[0, 0], nstep=steps))


def test_inputs_of_any_kind_are_mujocos(model, rng):
    bits = mujoco.mjtState
    spec = bits.mjSTATE_CTRL | bits.mjSTATE_QFRC_APPLIED | bits.mjSTATE_XFRC_APPLIED | bits.mjSTATE_MOCAP_POS
    control = rng.normal(0, 0.3, (3, 5, mujoco.mj_stateSize(model, spec)))
    initial = rng.normal(0, 0.3, (3, STATE))
    assert_same(*both(model, mujoco.MjData(model), initial, control, control_spec=spec))


def test_models_of_a_list_have_their_own_numbers(model, rng):
    models = [copy.copy(model) for _ in range(4)]
    for i, m in enumerate(models):
        m.dof_damping[:] = 0.1 + i // 2
    initial, control = rng.normal(0, 0.5, (4, STATE)), rng.normal(0, 1, (4, 5, model.nu))
    data = [mujoco.MjData(model) for _ in range(2)]
    assert_same(*both(models, data, initial, control))


def test_a_rollout_starts_from_the_given_accelerations(model, rng):
    initial = np.array([0, 0.1, 0.7, 0.3, 1.0, 0.2])
    warm = rng.normal(0, 100, model.nv)
    model.opt.iterations = 1
    ours, theirs = both(model, mujoco.MjData(model), initial, nstep=2, initial_warmstart=warm)
    assert_same(ours, theirs)
    assert not np.array_equal(ours[0], rollout.rollout(model, mujoco.MjData(model), initial, nstep=2)[0])


def test_nothing_stays_from_one_rollout_to_the_next(model, rng):
    initial, control = rng.normal(0, 0.5, (2, STATE)), rng.normal(0, 1, (2, 3, model.nu))
    data = mujoco.MjData(model)
    first = rollout.rollout(model, data, initial, control)
    spec = mujoco.mjtState.mjSTATE_QFRC_APPLIED
    rollout.rollout(model, data, initial, rng.normal(0, 1, (2, 3, model.nv)), control_spec=spec)
    data.ctrl[:] = 1
    for a, b in zip(first, rollout.rollout(model, data, initial, control)):
        np.testing.assert_array_equal(a, b)


def test_models_without_dofs_roll_out():
    m = mujoco.MjModel.from_xml_string(STILL)
    control = np.arange(6.0).reshape(1, 2, 3)
    spec = mujoco.mjtState.mjSTATE_MOCAP_POS
    assert_same(*both(m, mujoco.MjData(m), np.zeros(1), control, control_spec=spec))


def test_given_arrays_are_filled(model):
    state, sensed = np.full((2, 3, STATE), np.nan), np.full((2, 3, 6), np.nan)
    out = rollout.rollout(model, mujoco.MjData(model), np.zeros((2, STATE)), nstep=3, state=state, sensordata=sensed)
    assert np.shares_memory(out[0], state) and np.all(np.isfinite(state)) and np.all(np.isfinite(sensed))


def test_a_trajectory_that_diverges_repeats_its_last_state(model):
    initial = np.zeros((2, STATE))
    initial[0, 3] = 1e11
    state, _ = rollout.rollout(model, mujoco.MjData(model), initial, nstep=4)
    theirs, _ = peer.rollout(model, mujoco.MjData(model), initial, nstep=4)
    np.testing.assert_array_equal(state[0, 1:], state[0, :-1])
    np.testing.assert_allclose(state, theirs, rtol=1e-9, atol=1e-9)


def test_threads_roll_out_at_the_same_time(model, rng):
    initial, control = rng.normal(0, 0.5, (24, STATE)), rng.normal(0, 1, (24, 4, model.nu))
    expected = rollout.rollout(model, mujoco.MjData(model), initial, control)
    state, sensed = np.zeros_like(expected[0]), np.zeros_like(expected[1])

    def part(i):
        at = slice(4 * i, 4 * i + 4)
        out = {"state": state[at], "sensordata": sensed[at]}
        rollout.rollout(
            [model] * 24, [mujoco.MjData(model)], initial[at], control[at], skip_checks=True, nstep=4, **out
        )

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(part, range(6)))
    np.testing.assert_array_equal(state, expected[0])
    np.testing.assert_array_equal(sensed, expected[1])


def test_wrong_arguments_raise_what_mujoco_raises(model):
    data, zeros = mujoco.MjData(model), np.zeros
    cases = [
        ((model, data, zeros((1, 7))), {}),
        ((model, data, zeros((1, STATE)), zeros((1, 3, 3))), {}),
        ((model, data, zeros((1, STATE)), zeros((1, 3, 2))), {"state": zeros((1, 4, STATE))}),
        ((model, data, zeros((1, STATE)), zeros((2, 3, 4, 5))), {}),
        ((model, data, zeros((1, STATE)), "text"), {}),
        ((model, data, zeros((1, STATE))), {"nstep": 1.5}),
        ((model, data, zeros((1, STATE))), {"nstep": -1}),
        ((model, data, zeros((1, STATE))), {"chunk_size": 0}),
        ((model, data, zeros((1, STATE)), zeros((1, 3, 2))), {"control_spec": mujoco.mjtState.mjSTATE_ACT}),
        ((model, [], zeros((1, STATE))), {}),
        (([model] * 3, data, zeros((2, STATE))), {}),
    ]
    for arguments, options in cases:
        with pytest.raises(ValueError) as theirs:
            peer.rollout(*arguments, **options)
        with pytest.raises(ValueError) as ours:
            rollout.rollout(*arguments, **options)
        assert str(ours.value) == str(theirs.value)
    pool = rollout.Rollout(nthread=2)
    with pytest.raises(ValueError, match="Length of data: 1 not equal to nthread: 2"):
        pool.rollout(model, data, zeros(STATE))
    pool.close()
    with pytest.raises(RuntimeError, match="rollout requested after thread pool shutdown"):
        pool.rollout(model, data, zeros(STATE))


def test_an_unknown_solver_is_mujocos_error(model):
    model.opt.solver = 10
    with pytest.raises(mujoco.FatalError, match="^mj_fwdConstraint: unknown solver type 10$"):
        rollout.rollout(model, mujoco.MjData(model), np.zeros(STATE))


def test_the_example_runs_with_either_import(monkeypatch):
    path = Path(__file__).parents[2] / "examples/predictive_sampling.py"
    results = []
    for argument in ("--mujoco", ""):
        monkeypatch.setattr("sys.argv", ["example", argument])
        spec = importlib.util.spec_from_file_location("predictive_sampling", path)
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
        results.append(example.run(samples=12, seconds=0.3))
    for ours, theirs in zip(results[0][:2], results[1][:2]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
