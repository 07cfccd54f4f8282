"""The robots of gymnasium, in motion."""

import numpy as np
import pytest

import sapwood
from sapwood.batch import FAILED

from test_mjcf import NAMES, robot

mujoco = pytest.importorskip("mujoco")


@pytest.mark.parametrize("preset", ["approx32", "approx64", "drake"])
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("humanoidstandup", "point", "inverted_pendulum")])
def test_random_actions_for_1000_steps_in_64_worlds_fail_nowhere(name, preset, rng):
    model = sapwood.Model.from_mjmodel(robot(name))
    actuation = model.imported.actuation
    lower, upper = np.clip(actuation.ctrl_range, -1, 1).T
    failed = 0
    with sapwood.Batch(model, 64, preset=preset) as batch:
        for _ in range(1000):
            batch.set_ctrl(rng.uniform(lower, upper, (64, actuation.num_controls)))
            batch.step()
            failed |= batch.status & FAILED
        assert not np.any(failed)
        assert np.all(np.isfinite(batch.joint_q))


def unforced(name):
    """A robot high above the ground without what our drives and limits do in their own way."""
    m = robot(name)
    m.jnt_limited[:] = 0
    m.dof_frictionloss[:] = 0
    m.jnt_stiffness[:] = 0
    m.opt.density = m.opt.viscosity = 0
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    return m


def distance_after(m, h, duration, qpos, qvel):
    """Between our coordinates after `duration` in steps of h and MuJoCo's in much finer ones."""
    model = sapwood.Model.from_mjmodel(m)
    q = model.imported.coordinates.joint_q(qpos)
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.joint_q[0], batch.joint_qd[0] = q, model.imported.coordinates.joint_qd(q, qvel)
        batch.step(round(duration / h), h)
        ours = model.imported.coordinates.qpos(batch.joint_q[0])
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = qpos, qvel
    m.opt.timestep = 1e-4
    for _ in range(round(duration / 1e-4)):
        mujoco.mj_step(m, d)
    return float(np.max(np.abs(ours - d.qpos)))


@pytest.mark.parametrize(
    "name", ["ant", "humanoid", "half_cheetah", "hopper", "walker2d", "swimmer", "pusher_v5", "reacher"]
)
def test_unforced_motion_follows_mujoco_to_the_order_of_the_step(name, rng):
    m = unforced(name)
    qpos = np.array(m.qpos0) + 0.2 * rng.normal(size=m.nq)
    mujoco.mj_normalizeQuat(m, qpos)
    qvel = 0.5 * rng.normal(size=m.nv)
    coarse, fine = (distance_after(m, h, 0.1, qpos, qvel) for h in (2e-3, 5e-4))
    assert fine < 0.02
    assert coarse / fine == pytest.approx(4, rel=0.25) or coarse < 1e-9


def test_a_sliding_box_stops_where_that_of_mujoco_does():
    m = mujoco.MjModel.from_xml_string("""
        <mujoco><option timestep="0.002" cone="elliptic" impratio="100"/><worldbody>
          <geom type="plane" size="9 9 1" friction="0.4"/>
          <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.2 0.1" friction="0.1"/></body>
        </worldbody></mujoco>""")
    d, model = mujoco.MjData(m), sapwood.Model.from_mjmodel(m)
    d.qvel[0] = 2
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.joint_qd[0, 0] = 2
        batch.step(500)
        for _ in range(500):
            mujoco.mj_step(m, d)
        expected = 2**2 / (2 * 0.4 * 9.81)
        assert d.qpos[0] == pytest.approx(expected, rel=0.05)
        assert batch.joint_q[0, 0] == pytest.approx(d.qpos[0], rel=0.03)


def test_a_pendulum_with_a_spring_and_limits_rests_where_that_of_mujoco_does():
    m = mujoco.MjModel.from_xml_string("""
        <mujoco><compiler angle="radian"/><option timestep="0.002"/><worldbody>
          <body><joint name="a" axis="0 1 0" stiffness="3" springref="0.5" damping="20"/><geom size="0.1" pos="0.5 0 0"/>
            <body pos="1 0 0"><joint name="b" axis="0 1 0" range="-0.3 0.3" damping="20" limited="true"/>
              <geom size="0.1" pos="0.5 0 0"/></body></body>
        </worldbody><actuator><position joint="a" kp="20" ctrlrange="-1 1"/></actuator></mujoco>""")
    d, model = mujoco.MjData(m), sapwood.Model.from_mjmodel(m)
    d.ctrl[0] = 0.7
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.set_ctrl([[0.7]])
        batch.step(10000)
        for _ in range(10000):
            mujoco.mj_step(m, d)
        assert np.max(np.abs(d.qvel)) < 1e-3 and np.max(np.abs(batch.joint_qd)) < 1e-3
        assert np.allclose(batch.joint_q[0], d.qpos, atol=5e-3)
