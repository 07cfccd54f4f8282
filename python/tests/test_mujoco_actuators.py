"""MuJoCo's law: general actuators, computed within the steps. Against MuJoCo itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood
from sapwood.mjcf import NotCarriedOver

mujoco = pytest.importorskip("mujoco")

INTEGRATORS = ["Euler", "implicitfast", "RK4", "discrete"]
ROBOT = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.004" integrator="{integrator}"><flag island="disable"/></option>
<worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0" damping="0.1" {ranges}/>
 <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
 <body pos="0.3 0 0"><joint name="b" axis="0 1 0" armature="0.02"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.25 0 0"/>
  <body pos="0.25 0 0"><joint name="c" type="slide" axis="1 0 0"/><geom type="sphere" size="0.05"/></body></body>
 <body pos="-0.2 0 0"><joint name="d" axis="0 1 0" damping="0.05"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 -0.2 0 0"/></body></body></worldbody>
<tendon><fixed name="two"><joint joint="a" coef="1"/><joint joint="b" coef="-0.6"/></fixed>
 <fixed name="apart"><joint joint="b" coef="0.8"/><joint joint="d" coef="0.5"/></fixed></tendon>
<actuator>{actuators}</actuator></mujoco>"""


def compiled(actuators: str, integrator: str = "Euler", ranges: str = "") -> Any:
    m = mujoco.MjModel.from_xml_string(ROBOT.format(integrator=integrator, actuators=actuators, ranges=ranges))
    m.opt.tolerance = 0
    return m


def batch_of(m: Any, worlds: int = 1) -> sapwood.Batch:
    return sapwood.Batch(sapwood.Model.from_mjmodel(m, strict=True, law="mujoco"), worlds, options={"threads": 1})


def follow(m: Any, steps: int = 150, hold: int = 5) -> tuple[float, list[np.ndarray], list[np.ndarray]]:
    """The largest difference of qpos, qvel and act from MuJoCo, and its actuator_force and qfrc_actuator."""
    batch, d, random, worst = batch_of(m), mujoco.MjData(m), np.random.default_rng(2), 0.0
    forces, joints = [], []
    assert batch.model.mujoco is not None and batch.model.mujoco["num_actuators"] == m.nu
    for k in range(steps):
        if k % hold == 0:
            d.ctrl[:] = random.uniform(-1.5, 1.5, m.nu)
            batch.ctrl[:] = d.ctrl
        mujoco.mj_step(m, d)
        batch.step()
        forces.append(d.actuator_force.copy())
        joints.append(d.qfrc_actuator.copy())
        parts = [batch.qpos[0] - d.qpos, batch.qvel[0] - d.qvel, batch.act[0] - d.act]
        worst = max(worst, *(float(np.abs(part).max(initial=0)) for part in parts))
    return worst, forces, joints


GAINS = """<general joint="a" gaintype="affine" gainprm="2 -1.5 -0.4" biastype="affine" biasprm="0.3 -4 -0.5" gear="1.2"/>
 <damper joint="b" kv="0.8" ctrlrange="0 1"/><motor joint="b" gear="2"/>
 <general joint="c" gaintype="affine" gainprm="5 -20 -1" ctrlrange="-0.5 1" forcerange="-4 3"/>"""


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_affine_gains_and_dampers_follow_mujoco(integrator: str) -> None:
    worst, forces, _ = follow(compiled(GAINS, integrator))
    assert worst < 1e-10
    bounded = sum(float(f[3]) in (-4.0, 3.0) for f in forces)
    assert 0 < bounded < len(forces)


def test_gains_of_an_activation_follow_mujoco() -> None:
    text = """<general joint="a" gaintype="affine" gainprm="2 -1.5 -0.4" dyntype="filter" dynprm="0.05"/>
     <general joint="c" gaintype="affine" gainprm="5 -9 -1" biastype="affine" biasprm="0 -3 -1" dyntype="integrator"
      actlimited="true" actrange="-0.2 0.3" actearly="true"/>"""
    for integrator in INTEGRATORS:
        assert follow(compiled(text, integrator))[0] < 1e-10


def test_a_drive_that_pushes_away_follows_mujoco() -> None:
    text = '<general joint="a" gainprm="1" biastype="affine" biasprm="0 3 0.2" forcerange="-2 2"/>'
    for integrator in INTEGRATORS:
        assert follow(compiled(text, integrator))[0] < 1e-10


SHARED = """<position joint="a" kp="30" kv="1" forcerange="-3 2"/><position joint="a" kp="8" forcerange="-1 1.5"/>
 <motor joint="a" gear="0.5"/><position joint="c" kp="40"/>"""


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_force_ranges_of_servos_that_share_a_joint_follow_mujoco(integrator: str) -> None:
    worst, forces, _ = follow(compiled(SHARED, integrator))
    assert worst < 1e-10
    assert {-3.0, 2.0} <= {float(f[0]) for f in forces} and {-1.0, 1.5} <= {float(f[1]) for f in forces}


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_force_range_of_a_joint_with_servo_and_motor_follows_mujoco(integrator: str) -> None:
    text = '<position joint="a" kp="20" kv="2"/><motor joint="a" gear="3"/><motor tendon="two" gear="2"/>'
    worst, _, joints = follow(compiled(text, integrator, 'actuatorfrcrange="-4 2.5"'))
    assert worst < 1e-10
    reached = {float(f[0]) for f in joints}
    assert {-4.0, 2.5} < reached


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_servos_of_tendons_with_any_range_follow_mujoco(integrator: str) -> None:
    """implicitfast has the damping of both: on one path of the tree, and across branches, where MuJoCo drops it."""
    text = """<position tendon="two" kp="30" kv="2" gear="1.5" forcerange="-3 6"/>
     <general tendon="two" gainprm="4" biastype="affine" biasprm="0 -4 -0.7" forcerange="-1 1"/>
     <position tendon="apart" kp="20" kv="1.5" forcerange="-2 1"/>"""
    worst, forces, _ = follow(compiled(text, integrator))
    assert worst < 1e-10
    assert {-3.0, 6.0} & {float(f[0]) for f in forces} and {-2.0, 1.0} & {float(f[2]) for f in forces}


def test_dampers_of_tendons_beside_actuators_follow_mujoco() -> None:
    m = compiled('<damper tendon="apart" kv="0.5" ctrlrange="0 1"/><position joint="a" kp="9" kv="1"/>', "implicitfast")
    m.tendon_damping[:] = 0.4, 0.7
    batch, d = batch_of(m), mujoco.MjData(m)
    assert batch.actuator_ctrl.shape == (1, 4)
    d.ctrl[:] = batch.ctrl[:] = 0.6
    for _ in range(100):
        mujoco.mj_step(m, d)
        batch.step()
    assert np.abs(batch.qpos[0] - d.qpos).max() < 1e-10
    m.jnt_actfrclimited[0], m.jnt_actfrcrange[0] = 1, (-1, 1)
    with pytest.raises(NotCarriedOver, match="tendon 'two': damping, integrator implicitfast and a joint with actuat"):
        batch_of(m)


def test_a_thruster_with_an_activation_follows_mujoco() -> None:
    text = """<mujoco><option timestep="0.004" integrator="{}"/><worldbody><body pos="0 0 1"><freejoint/>
     <geom type="box" size="0.2 0.1 0.05"/><site name="s" pos="0.1 0.05 0"/></body></worldbody>
     <actuator><motor site="s" gear="1 0 30 0 0.5 0"/><general site="s" gear="0 2 9 0 0 0" dyntype="filter"
      dynprm="0.05"/></actuator></mujoco>"""
    for integrator, tolerance in (("Euler", 1e-10), ("RK4", 5e-3)):
        m = mujoco.MjModel.from_xml_string(text.format(integrator))
        batch, d = batch_of(m), mujoco.MjData(m)
        d.ctrl[:] = batch.ctrl[:] = 0.7
        for _ in range(50):
            mujoco.mj_step(m, d)
        batch.step(50)
        assert np.abs(batch.act[0] - d.act).max() < 1e-14
        assert np.abs(batch.qpos[0] - d.qpos).max() < tolerance
    assert "its stages have the force of the start" in "\n".join(batch.model.report())


def test_servos_of_tendons_that_couple_a_discrete_step_are_lost() -> None:
    m = compiled('<position name="x" tendon="two" kp="30"/><damper joint="c" kv="1" ctrlrange="0 1"/>', "discrete")
    with pytest.raises(NotCarriedOver, match="'x': a servo of a tendon with several joints, implicit with .*discrete"):
        sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")
    m = compiled('<damper name="x" tendon="two" kv="3" ctrlrange="0 1"/>', "discrete")
    with pytest.raises(NotCarriedOver, match="'x': a gain that depends on the state"):
        sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")


def test_the_model_of_sap_loses_gains_that_depend_on_the_state() -> None:
    with pytest.raises(NotCarriedOver, match="a gain that depends on the state"):
        sapwood.Model.from_mjmodel(compiled(GAINS), strict=True)


def test_motors_and_drives_of_simple_models_stay_outside_of_the_list() -> None:
    model = sapwood.Model.from_mjmodel(compiled('<position joint="a" kp="5"/><motor joint="b"/>'), law="mujoco")
    assert model.mujoco is not None and "num_actuators" not in model.mujoco
    assert sapwood.Batch(model, 2).actuator_ctrl.shape == (2, 0)


def test_worlds_with_actuators_do_not_depend_on_their_pack() -> None:
    m = compiled(GAINS.replace("/>", ' dyntype="filterexact" dynprm="0.1"/>', 1), "RK4")
    ctrl = np.random.default_rng(1).uniform(-1, 1, (19, m.nu))
    many = batch_of(m, 19)
    many.ctrl[:] = ctrl
    many.step(20)
    for world in (0, 7, 18):
        one = batch_of(m)
        one.ctrl[:] = ctrl[world]
        one.step(20)
        assert np.array_equal(one.qpos[0], many.qpos[world]) and np.array_equal(one.act[0], many.act[world])


def test_single_precision_is_near() -> None:
    model = sapwood.Model.from_mjmodel(compiled(GAINS, "implicitfast"), law="mujoco")
    double, single = sapwood.Batch(model, 3), sapwood.Batch(model, 3, preset="mujoco32")
    assert single.actuator_ctrl.dtype == np.float32
    for batch in (double, single):
        batch.ctrl[:] = 0.4
        batch.step(50)
    assert 0 < np.abs(double.qpos - single.qpos).max() < 1e-4


def test_a_control_that_is_not_finite_fails_its_world_alone() -> None:
    batch = batch_of(compiled(GAINS + '<general joint="d" dyntype="filter" dynprm="0.1"/>'), 2)
    batch.ctrl[:] = 0.2
    batch.step()
    before, act = batch.qpos.copy(), batch.act.copy()
    batch.ctrl[1, 0] = np.nan
    batch.step()
    assert batch.status_text(1) == ["nonfinite_control"] and not batch.status[0] & sapwood.batch.FAILED
    assert np.array_equal(batch.qpos[1], before[1]) and np.array_equal(batch.act[1], act[1])
    assert not np.array_equal(batch.act[0], act[0])


def test_a_batch_of_another_law_refuses_the_actuators() -> None:
    model = sapwood.Model.from_mjmodel(compiled(GAINS), law="mujoco")
    with pytest.raises(NotImplementedError, match="4 actuators: not with contact_solver sap"):
        sapwood.Batch(model, 1, options={"contact_solver": "sap"})


def test_a_drive_takes_the_place_of_an_actuator() -> None:
    m = compiled(GAINS)
    model = sapwood.Model.from_mjmodel(m, law="mujoco")
    model.set_drive("a", kp=50, kd=5)
    batch = sapwood.Batch(model, 1)
    batch.ctrl[:] = [0.4, 0, 0, 0]
    batch.step(2000)
    assert abs(batch.qpos[0, 0] - 0.4) < 0.2 and batch.joint_target_pos[0, 0] == 0.4
    assert model.joint_effort_limit[2] == 4  # the force range of the third


BAD = {
    "actuator_term_dof": ([9.0, 1.0], "actuator_term_dof.0. is 9"),
    "actuator_term_of": ([1.0, 0.0], "actuators must increase"),
    "actuator_dynamics": ([5.0, 0.0], "actuator_dynamics.0. is 5; allowed: 0 .. 3"),
    "actuator_early": ([0.5, 0.0], "actuator_early.0. is 0.5"),
    "actuator_tau": ([-1.0, 0.0], "actuator_tau.0..0. is -1"),
    "actuator_force_range": ([[1, -1], [0, 0]], "the lower bound must not be above"),
    "actuator_ctrl_range": ([[np.nan, 1], [0, 0]], "must be finite"),
    "num_actuators": (-1, "num_actuators is -1; allowed: 0 .. 65536"),
}


@pytest.mark.parametrize("name", BAD)
def test_actuators_with_bad_numbers_are_refused(name: str) -> None:
    model = sapwood.Model.from_mjmodel(compiled('<motor joint="a"/>'), law="mujoco")
    numbers = {
        **(model.mujoco or {}),
        "num_actuators": 2,
        "num_actuator_terms": 2,
        "actuator_term_of": [0.0, 1.0],
        "actuator_term_dof": [0.0, 1.0],
        "actuator_term_arm": [1.0, 1.0],
    }
    sapwood.Model(mujoco=numbers, **model.arrays())
    value, text = BAD[name]
    with pytest.raises(sapwood.ModelError, match=text):
        sapwood.Model(mujoco={**numbers, name: value}, **model.arrays())


def test_a_solver_has_controls_and_activations_of_actuators():
    m = compiled('<general joint="a" dyntype="filter" dynprm="0.1" gainprm="2"/><motor joint="b"/>')
    model = sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")
    solver = sapwood.Solver(model, 2, solver="mujoco")
    before, after, control = solver.state(), solver.state(), solver.control()
    assert control.actuator_ctrl.shape == (2, model.mujoco["num_actuators"])
    control.actuator_ctrl[:] = [[0], [1]]
    for _ in range(2):
        solver.step(before, after, control, h=0.004)
        before.actuator_act[:] = after.actuator_act
    assert after.actuator_act[0, 0] == 0 and after.actuator_act[1, 0] > 0
    assert after.joint_qd[0, 0] != after.joint_qd[1, 0]
