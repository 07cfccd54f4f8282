"""contact_solver = mujoco from end to end: gymnasium's robots from their MJCF, with our own collision, against MuJoCo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood

mujoco = pytest.importorskip("mujoco")
gymnasium = pytest.importorskip("gymnasium")

ROBOTS = ("ant", "half_cheetah", "hopper", "humanoid", "pusher", "reacher", "swimmer", "walker2d")
OTHER = ("swimmer", "pusher")  # drag of the fluid is not carried over; the puck, a cylinder, has other contact points
WORLDS = 64


def compiled(robot: str) -> Any:
    m = mujoco.MjModel.from_xml_path(str(Path(gymnasium.__file__).parent / "envs/mujoco/assets" / f"{robot}.xml"))
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    m.opt.solver, m.opt.jacobian, m.opt.tolerance, m.opt.iterations = 2, 0, 1e-12, 100  # Newton, dense
    return m


def batch_of(m: Any, worlds: int = WORLDS, preset: str = "mujoco64") -> sapwood.Batch:
    return sapwood.Batch(sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco"), worlds, preset=preset)


def controls(m: Any, random: Any) -> Any:
    limited = np.array(m.actuator_ctrllimited, bool)
    low, high = np.where(limited[:, None], m.actuator_ctrlrange, [-1, 1]).T
    return random.uniform(low, high, (WORLDS, m.nu))


@pytest.mark.parametrize("robot", [robot for robot in ROBOTS if robot not in OTHER])
def test_a_first_step_from_a_random_start_is_mujocos(robot: str) -> None:
    m, random = compiled(robot), np.random.default_rng(1)
    batch, d = batch_of(m), mujoco.MjData(m)
    velocity, ctrl, height = random.normal(size=(WORLDS, m.nv)), controls(m, random), random.uniform(-0.1, 0.1, WORLDS)
    position = np.tile(m.qpos0, (WORLDS, 1))
    for w in range(WORLDS):
        mujoco.mj_integratePos(m, position[w], random.normal(size=m.nv), 0.1)
    if robot in ("ant", "humanoid"):
        position[:, 2] += height
    batch.qpos, batch.qvel, batch.ctrl = position, velocity, ctrl
    batch.step()
    compared = 0
    for w in range(WORLDS):
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:], d.ctrl[:] = position[w], velocity[w], ctrl[w]
        mujoco.mj_step(m, d)
        if d.ncon == batch.contact_count[w]:
            compared += 1
            assert np.abs(batch.qpos[w] - d.qpos).max() < 1e-9
            assert np.abs(batch.qvel[w] - d.qvel).max() < 1e-9 * max(1, np.abs(d.qvel).max())
    assert compared > WORLDS // 2


@pytest.mark.parametrize("preset", ["mujoco64", "mujoco32"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_no_world_fails_in_1000_steps_of_random_controls(robot: str, preset: str) -> None:
    m, random = compiled(robot), np.random.default_rng(2)
    batch, failed, lost = batch_of(m, preset=preset), 0, 0
    batch.perturb(0.1)
    for _ in range(100):
        batch.ctrl[:] = controls(m, random)
        batch.step(10)
        failed += int(np.count_nonzero(batch.status & sapwood.batch.FAILED))
        lost += int(np.count_nonzero(batch.status & sapwood.batch.NOT_CONVERGED))
    assert failed == 0 and np.all(np.isfinite(batch.qpos))
    assert lost == 0 or preset == "mujoco64"  # the tolerance of 1e-12 is below what f64 resolves


@pytest.mark.parametrize("preset", ["mujoco64", "mujoco32"])
def test_a_robot_that_lies_still_lies_still_in_mujoco(preset: str) -> None:
    m = compiled("ant")
    m.opt.integrator = 0
    m.dof_damping[:] = np.maximum(m.dof_damping, 1)  # it comes to rest sooner
    batch, d, still = batch_of(m, 8, preset), mujoco.MjData(m), 0
    batch.perturb(0.3)
    batch.ctrl[:] = 0
    batch.step(4000)
    for w in range(8):
        if np.abs(batch.qvel[w]).max() > 1e-3:
            continue
        still += 1
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = batch.qpos[w], batch.qvel[w]
        mujoco.mj_step(m, d, 400)
        assert abs(d.qpos[2] - batch.qpos[w, 2]) < 1e-4
    assert still > 0


@pytest.mark.parametrize("robot", ["ant", "half_cheetah", "humanoid", "walker2d"])
def test_single_precision_stays_near_double_precision(robot: str) -> None:
    """One step from the same states; pytest -s prints the table."""
    m, random, errors = compiled(robot), np.random.default_rng(3), []
    m.opt.tolerance = 1e-8
    model = sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco")
    double, single = (
        sapwood.Batch(model, WORLDS, preset=preset, dtype=np.float64) for preset in ("mujoco64", "mujoco32")
    )
    double.perturb(0.1)
    lost = 0
    for k in range(120):
        if k % 5 == 0:
            double.ctrl[:] = controls(m, random)
        state = double.get_state()
        double.step()
        if k >= 20 and k % 4 == 0:
            single.set_state(state)
            single.step()
            scale = np.maximum(1, np.abs(double.joint_qd).max(axis=1))
            errors.append(np.abs(single.joint_qd - double.joint_qd).max(axis=1) / scale)
            lost += int(np.count_nonzero(single.status & sapwood.batch.NOT_CONVERGED))
    print(f"| {robot} | {np.median(errors):.0e} | {np.quantile(errors, 0.99):.0e} | {np.max(errors):.0e} |")
    assert lost == 0 and np.max(errors) < 1e-4
