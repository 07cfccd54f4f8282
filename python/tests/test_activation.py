"""Activation dynamics: actuators whose force follows an activation, which follows the control. Against MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood

mujoco = pytest.importorskip("mujoco")

ROBOT = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.004" integrator="{integrator}"><flag island="disable"/></option>
<worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0" damping="0.1"/>
 <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
 <body pos="0.3 0 0"><joint name="b" axis="0 1 0" armature="0.02"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.25 0 0"/>
  <body pos="0.25 0 0"><joint name="c" type="slide" axis="1 0 0"/><geom type="sphere" size="0.05"/></body></body></body>
</worldbody>
<actuator><position joint="a" kp="40" kv="3" timeconst="0.05" ctrlrange="-1 1"/>
 <motor joint="b" gear="2"/>
 <general joint="b" dyntype="filter" dynprm="0.02" gainprm="1.5" actlimited="true" actrange="-0.4 0.5"/>
 <intvelocity joint="c" kp="60" kv="4" actrange="-0.3 0.3"/>
 <general joint="a" dyntype="filterexact" dynprm="0.03" gainprm="2" actearly="true"/></actuator>
<keyframe><key qpos="0.1 0.2 0" act="0.1 0.2 -0.1 0.3" ctrl="0.5 0 0 0.1 -0.2"/></keyframe></mujoco>"""


def compiled(integrator: str = "Euler") -> Any:
    m = mujoco.MjModel.from_xml_string(ROBOT.format(integrator=integrator))
    m.opt.tolerance = 0
    return m


def batch_of(m: Any, worlds: int = 1) -> sapwood.Batch:
    return sapwood.Batch(sapwood.Model.from_mjmodel(m, strict=True, law="mujoco"), worlds, options={"threads": 1})


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4", "discrete"])
def test_activations_and_motion_follow_mujoco(integrator: str) -> None:
    m = compiled(integrator)
    batch, d, random = batch_of(m), mujoco.MjData(m), np.random.default_rng(2)
    assert m.na == 4 and batch.act.shape == (1, 4)
    clipped = 0
    for _ in range(150):
        d.ctrl[:] = random.uniform(-1.5, 1.5, m.nu)
        batch.ctrl[:] = d.ctrl
        mujoco.mj_step(m, d)
        batch.step()
        clipped += int(d.act[1] in (-0.4, 0.5))
        assert np.abs(batch.act[0] - d.act).max() < 1e-14
        assert np.abs(batch.qpos[0] - d.qpos).max() < 1e-10
    assert clipped > 0


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_several_steps_of_one_call_are_single_steps(integrator: str) -> None:
    m = compiled(integrator)
    one, many, d = batch_of(m, 3), batch_of(m, 3), mujoco.MjData(m)
    for batch in (one, many):
        batch.ctrl[:] = np.linspace(-1, 1, 15).reshape(3, 5)
    d.ctrl[:] = many.ctrl[1]
    for _ in range(12):
        one.step()
        mujoco.mj_step(m, d)
    many.step(12)
    assert np.array_equal(one.act, many.act) and np.array_equal(one.qpos, many.qpos)
    assert np.abs(many.act[1] - d.act).max() < 1e-14 and np.abs(many.qpos[1] - d.qpos).max() < 1e-10


def test_a_restored_state_continues_bit_for_bit() -> None:
    m = compiled()
    batch = batch_of(m, 2)
    batch.ctrl[:] = [[0.4], [-0.3]]
    batch.step(20)
    state = batch.get_state()
    assert np.any(state["actuator_act"])
    batch.step(20)
    for other in (batch, batch_of(m, 2)):
        before = batch.qpos.copy(), batch.act.copy()
        other.set_state(state)
        other.step(20)
        assert np.array_equal(other.qpos, before[0]) and np.array_equal(other.act, before[1])


def test_a_reset_gives_the_activations_of_the_keyframe() -> None:
    m = compiled()
    batch, d = batch_of(m, 2), mujoco.MjData(m)
    batch.reset([1], keyframe=1)
    assert np.array_equal(batch.act, [[0, 0, 0, 0], [0.1, 0.2, -0.1, 0.3]])
    mujoco.mj_resetDataKeyframe(m, d, 0)
    for _ in range(20):
        mujoco.mj_step(m, d)
    batch.step(20)
    assert np.abs(batch.qpos[1] - d.qpos).max() < 1e-10 and np.abs(batch.act[1] - d.act).max() < 1e-14
    batch.reset()
    assert not np.any(batch.act)


def test_the_state_in_an_mjdata_has_the_activations() -> None:
    m = compiled()
    batch, d = batch_of(m), mujoco.MjData(m)
    batch.ctrl[:] = 0.3
    batch.step(5)
    batch.to_mjdata(d)
    assert np.array_equal(d.act, batch.act[0])


def test_set_ctrl_means_what_ctrl_means() -> None:
    m = compiled()
    one, two = batch_of(m), batch_of(m)
    one.ctrl[:] = 0.3
    one.step(10)
    two.set_ctrl(np.full((1, 5), 0.3))
    two.step(10)
    assert np.array_equal(one.qpos, two.qpos) and np.array_equal(one.act, two.act)


def test_a_model_without_activations_has_an_empty_array() -> None:
    m = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
        <actuator><motor joint="j"/></actuator></mujoco>"""
    )
    assert batch_of(m, 3).act.shape == (3, 0)
