"""Equalities and tendons of MuJoCo's models: every kind of element, compared with MuJoCo."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import sapwood
from sapwood.linearize import EXACT

from test_import import both, random_state, step_mujoco
from test_model import assert_same_model

mujoco = pytest.importorskip("mujoco")

# Every kind of equality and of tendon, between bodies of one tree, of two trees, welded bodies and the world.
ALL = """<mujoco><compiler angle="radian"/><option timestep="0.002"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
  <body name="s" pos="0 0 2" quat="0.9 0.1 0 0.2"><site name="s" pos="0.1 0.2 0.3" quat="0.7 0.1 0.2 0.3"/></body>
  <body name="a" pos="0 0 1" quat="0.9 0.1 -0.3 0.2"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.02 0 0.1"/>
    <body name="leaf" pos="0.1 0 0" quat="0.5 0.5 0.5 0.5"><site name="a" pos="0.1 0 0.2" quat="0.7 0.1 0.2 0.3"/>
      <body name="b" pos="0.3 0 0"><joint name="h" axis="0 1 0" ref="0.3"/><geom type="box" size="0.1 0.1 0.1" pos="0.1 0 0"/>
        <site name="b" pos="0.1 0.3 0.2" quat="0.7 0.5 0.2 0.3"/>
        <body name="c" pos="0.3 0 0"><joint name="k" type="slide" axis="0 1 1" ref="0.1"/><geom type="box" size="0.1 0.1 0.1"/>
          <site name="c" pos="0 0.1 0"/></body></body></body></body>
  <body name="d" pos="1 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.1" pos="0.05 0 0"/><site name="d" pos="0.3 0 0"/></body>
  </worldbody>
  <tendon>
    <fixed name="fixed"><joint joint="h" coef="0.5"/><joint joint="k" coef="-2"/></fixed>
    <spatial name="path"><site site="s"/><site site="b"/><site site="c"/><pulley divisor="2"/><site site="c"/><site site="d"/>
      <pulley divisor="3"/><site site="a"/><site site="b"/></spatial>
    <spatial name="straight"><site site="a"/><site site="d"/></spatial>
  </tendon>
  <equality>
    <connect name="connect bodies" body1="a" body2="d" anchor="0.1 0.2 0.3"/>
    <connect name="connect world" body1="c" anchor="0.1 0.2 0.3"/>
    <connect name="connect sites" site1="b" site2="s"/>
    <weld name="weld bodies" body1="leaf" body2="d" relpose="0.1 0.2 0.3 0.5 0.5 0.5 0.6" anchor="0.1 0.3 0.2" torquescale="0.7"/>
    <weld name="weld here" body1="d" body2="c"/>
    <weld name="weld sites" site1="a" site2="d" torquescale="2"/>
    <weld name="weld without rotation" body1="a" body2="d" torquescale="0"/>
    <joint name="joints" joint1="h" joint2="k" polycoef="0.1 0.5 -0.2 0.3 0.4"/>
    <joint name="held joint" joint1="h" polycoef="0.1 0 0 0 0" active="false"/>
    <tendon name="tendons" tendon1="fixed" tendon2="path" polycoef="0.1 0.5 -0.2 0.03 0.4"/>
    <tendon name="held tendon" tendon1="straight" polycoef="0.1 0 0 0 0"/>
  </equality></mujoco>"""


def equality_rows(d, e):
    """MuJoCo's residual of an equality."""
    kind = np.array(d.efc_type) == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    return np.array(d.efc_pos)[kind & (np.array(d.efc_id) == e)]


def test_errors_of_equalities_are_those_of_mujoco(rng):
    """MuJoCo's is p_1 - p_2, then torquescale sin(theta/2) times the axis; ours is theta times it, then p_2 - p_1."""
    m, d, model = both(ALL, strict=True)
    assert model.num_constraints == m.neq == 11 and model.constraint_name[0] == "connect bodies"
    m.eq_active0[:] = d.eq_active[:] = 1
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.constraint_error
        for _ in range(5):
            random_state(m, d, rng)
            batch.qpos, batch.qvel = d.qpos, d.qvel
            batch.step(1, 1e-9)
            ours = np.split(batch.constraint_error[0], np.cumsum([3, 3, 3, 6, 6, 6, 3, 1, 1, 1]))
            for e, scale in enumerate([0, 0, 0, 0.7, 1, 2, 0]):
                theirs = equality_rows(d, e)
                assert np.allclose(ours[e][-3:], -theirs[:3], atol=1e-12)
                if scale:
                    angle = np.linalg.norm(ours[e][:3])
                    assert np.linalg.norm(theirs[3:]) == pytest.approx(abs(scale * np.sin(angle / 2)), abs=1e-10)
            for e in range(7, 11):
                assert ours[e] == pytest.approx(equality_rows(d, e), abs=1e-12)


def test_lengths_of_tendons_are_those_of_mujoco(rng):
    m, d, model = both(ALL)
    assert model.tendon_name == ["fixed", "path", "straight"]
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.tendon_length, batch.tendon_velocity
        batch.constraint_active = 0
        for _ in range(5):
            random_state(m, d, rng)
            batch.qpos, batch.qvel = d.qpos, d.qvel
            batch.step(1, 1e-9)
            assert np.allclose(batch.tendon_length[0], d.ten_length, atol=1e-12)
            assert np.allclose(batch.tendon_velocity[0], d.ten_velocity, atol=1e-6)  # at the end of the step


def test_equalities_are_switched_per_world_as_eq_active_is():
    m, d, model = both(ALL)
    assert model.constraint_active.tolist() == [1] * 8 + [0, 1, 1]
    with sapwood.Batch(model, 3, preset="approx64") as batch:
        assert batch.eq_active.shape == (3, 11) and not batch.eq_active[2, 8]
        batch.eq_active = np.arange(11) % 2 == 0
        assert batch.constraint_active[1].tolist() == [1, 0] * 5 + [1]
        with pytest.raises(ValueError, match="read-only"):
            batch.eq_active[0, 0] = 0
        batch.constraint_active[0] = 0
        batch.constraint_impulse
        batch.step(1)
        assert not np.any(batch.constraint_impulse[0]) and np.any(batch.constraint_impulse[1])
        batch.to_mjdata(d, 1)
        assert d.eq_active.tolist() == [1, 0] * 5 + [1]
        batch.reset([1])
        assert batch.eq_active[1].tolist() == m.eq_active0.tolist()


def test_a_weld_that_is_switched_off_lets_go_in_its_world_only():
    xml = """<mujoco><worldbody><body name="b" pos="0 0 3"><freejoint/><geom size="0.1"/></body></worldbody>
      <equality><weld body1="b"/></equality></mujoco>"""
    m, d, model = both(xml)
    with sapwood.Batch(model, 2) as batch:
        batch.step(100)
        batch.eq_active = [[True], [False]]
        batch.step(100)
        assert abs(batch.qpos[0, 2] - 3) < 1e-3 and batch.qpos[1, 2] < 2.9


def test_models_with_constraints_are_saved_copied_and_pickled(tmp_path):
    model = both(ALL)[2]
    model.save(tmp_path / "all.yaml")
    assert_same_model(model, sapwood.Model.load(tmp_path / "all.yaml"))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_same_model(model, other)
        with sapwood.Batch(other, 1) as one, sapwood.Batch(model, 1) as two:
            one.eq_active = two.eq_active = True
            one.step(20), two.step(20)
            assert np.array_equal(one.joint_q, two.joint_q) and not np.any(one.status & sapwood.batch.FAILED)


def test_a_state_has_constraints_and_tendons_and_continues_bit_for_bit():
    model = both(ALL)[2]
    with sapwood.Batch(model, 2) as batch, sapwood.Batch(model, 3) as other:
        batch.constraint_active[1, :6] = 0
        batch.tendon_f[:, 1] = 3
        batch.expand("constraint_ke")[1] *= 0.5
        batch.step(5)
        other.set_state(batch.get_state([1]), [2])
        batch.step(20), other.step(20)
        assert np.array_equal(batch.joint_q[1], other.joint_q[2])
        A, B = batch.linearize()
        assert np.all(np.isfinite(A)) and np.all(np.isfinite(B))


# ---- softness ----

SOFT = [("0.02 1", "0.9 0.95 0.001"), ("0.005 1", "0.9 0.95 0.001"), ("0.02 1", "0.99 0.999 0.001"),
    ("-2000 -50", "0.9 0.95 0.001"), ("0.02 1", "0.95 0.99 0.001"), ("0.03 0.7", "0.5 0.9 0.02 0.3 4")]  # fmt: skip

HELD = {
    "connect": """<body name="b"><freejoint/><geom size="0.1" mass="2"/></body></worldbody>
        <equality><connect body1="b" anchor="0 0 0" {soft}/></equality>""",
    "weld": """<body name="b"><freejoint/><geom size="0.1" mass="2"/></body></worldbody>
        <equality><weld body1="b" torquescale="0.4" {soft}/></equality>""",
    "joint": """<body name="b"><joint type="slide" name="j" axis="0 0 1"/><geom size="0.1" mass="2"/></body></worldbody>
        <equality><joint joint1="j" {soft}/></equality>""",
    "tendon": """<body name="b"><joint type="slide" name="j" axis="0 0 1"/><geom size="0.1" mass="2"/></body></worldbody>
        <tendon><fixed name="t"><joint joint="j" coef="3"/></fixed></tendon><equality><tendon tendon1="t" {soft}/></equality>""",
    "tendon limit": """<body name="b"><joint type="slide" name="j" axis="0 0 1"/><geom size="0.1" mass="2"/></body></worldbody>
        <tendon><fixed name="t" limited="true" range="0.1 1" margin="0.05" {limit}><joint joint="j" coef="3"/></fixed></tendon>""",
    "rope": """<site name="w" pos="0 0 1"/><body name="b" pos="0 0 0.2"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="2"/><site name="s"/></body></worldbody>
        <tendon><spatial name="t" limited="true" range="0 0.8" {limit}><site site="w"/><site site="s"/></spatial></tendon>""",
}  # fmt: skip


@pytest.mark.parametrize("solref, solimp", SOFT)
@pytest.mark.parametrize("kind", HELD)
def test_a_row_gives_way_under_one_g_as_that_of_mujoco(kind, solref, solimp):
    """A body that hangs on the row. A tendon with coefficient 3 carries an acceleration of 3 g along itself, so gravity
    is a third. The rows of the stiffest one, which the step cannot resolve, are nearly rigid."""
    pull = 9.81 / 3 if "tendon" in kind else 9.81
    words = {"soft": f'solref="{solref}" solimp="{solimp}"', "limit": f'solreflimit="{solref}" solimplimit="{solimp}"'}
    xml = (
        f'<mujoco><option timestep="0.002" gravity="0 0 -{pull}"/><worldbody>'
        + HELD[kind].format(**words)
        + "</mujoco>"
    )
    m, d, model = both(xml, strict=True)
    step_mujoco(m, d, 3000)
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.step(3000)
        moved, ours = d.xpos[1, 2], batch.xpos[0, 1, 2]
        start = {"tendon limit": 0.05, "rope": 0.2}.get(kind, 0.0)
        assert start - moved > 1e-6 and start - ours == pytest.approx(start - moved, rel=5e-3)


@pytest.mark.parametrize("solref, solimp", SOFT)
@pytest.mark.parametrize("scale", [0.4, 1, 3])
def test_a_weld_turns_under_a_torque_as_that_of_mujoco(scale, solref, solimp):
    """MuJoCo's residual is torquescale/2 times the angle, so a row that carries 9.81 carries that part of it."""
    xml = f"""<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body name="b"><freejoint/><geom size="0.1" mass="2"/></body>
      </worldbody><equality><weld body1="b" torquescale="{scale}" solref="{solref}" solimp="{solimp}"/></equality></mujoco>"""
    m, d, model = both(xml, strict=True)
    torque = 9.81 * scale / 2 * m.body_inertia[1, 0]
    d.xfrc_applied[1, 4] = torque
    step_mujoco(m, d, 3000)
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.body_f[0, 0, 4] = torque
        batch.step(3000)
        theirs, ours = 2 * np.arcsin(d.qpos[5]), 2 * np.arcsin(batch.qpos[0, 5])
        assert theirs > 1e-6 and ours == pytest.approx(theirs, rel=1e-2)


def test_rigid_equalities_do_not_give_way():
    xml = f"<mujoco><worldbody>{HELD['connect'].format(soft='')}</mujoco>"
    m, d, model = both(xml, rigid=True)
    assert np.all(np.isinf(model.constraint_ke)) and not np.any(model.constraint_kd)
    assert any("infinite stiffness, not that of solref" in line for line in model.report())
    assert any("rigid=True makes it infinite" in line for line in both(xml)[2].report())
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.step(1000)
        assert abs(batch.qpos[0, 2]) < 1e-6


FOUR_BAR = """<mujoco><option timestep="0.001"/><default><geom type="capsule" size="0.02" contype="0" conaffinity="0"/><joint axis="0 1 0" damping="1"/></default><worldbody>
  <body name="crank"><joint name="crank"/><geom fromto="0 0 0 0 0 0.2"/>
    <body name="coupler" pos="0 0 0.2"><joint name="coupler"/><geom fromto="0 0 0 0.5 0 0.2"/></body></body>
  <body name="rocker" pos="0.5 0 0"><joint name="rocker"/><geom fromto="0 0 0 0 0 0.4"/></body></worldbody>
  <equality><connect body1="coupler" body2="rocker" anchor="0.5 0 0.2"/></equality></mujoco>"""


def test_a_four_bar_swings_and_rests_as_that_of_mujoco():
    m, d, model = both(FOUR_BAR, strict=True)
    d.qvel[0] = 0.5
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.qvel = d.qvel
        for seconds, tolerance in ((0.5, 2e-2), (9.5, 2e-3)):
            step_mujoco(m, d, round(1000 * seconds))
            batch.step(round(1000 * seconds))
            assert np.allclose(batch.qpos[0], d.qpos, atol=tolerance)
        assert np.abs(d.qpos).max() > 0.5 and batch.constraint_residual[0] < 1e-3


# ---- forces of tendons ----

FORCES = """<mujoco><compiler angle="radian"/><option timestep="0.0005" gravity="0 0 0" integrator="RK4"/><worldbody>
  <site name="w" pos="0 0 1"/>
  <body><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/><site name="s" pos="0 0.1 0.1"/>
    <body pos="0.5 0 0"><joint name="y" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.4 0 0"/><site name="t" pos="0.6 0 0"/></body></body>
  </worldbody><tendon>{tendon}</tendon></mujoco>"""
TERMS = {
    "spring": 'stiffness="40" springlength="0.3"',
    "band": 'stiffness="40" springlength="0.2 0.35"',
    "own length": 'stiffness="40"',
    "damper": 'damping="3"',
    "spring and damper": 'stiffness="40" springlength="0.2 0.35" damping="2"',
}  # fmt: skip
PATHS = {
    "fixed": "<fixed {}><joint joint='x' coef='1.5'/><joint joint='y' coef='-0.5'/></fixed>",
    "spatial": "<spatial {}><site site='w'/><site site='s'/><site site='t'/></spatial>",
}


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("path", PATHS)
def test_springs_and_dampers_of_tendons_move_the_robot_as_mujocos(path, term):
    """Errors of first order in the step: half of it, half the error."""
    m, d, model = both(FORCES.format(tendon=PATHS[path].format(TERMS[term])), strict=True)
    d.qvel[:] = [2, -3]
    step_mujoco(m, d, 600)
    errors = []
    for h in (2e-4, 1e-4):
        with sapwood.Batch(model, 1, preset="approx64") as batch:
            batch.qvel = [2, -3]
            batch.step(round(0.3 / h), h)
            errors.append(np.abs(batch.qpos[0] - d.qpos).max())
    moved = np.abs(d.qpos - 0.3 * np.array([2, -3])).max()
    assert moved > 1e-2 and errors[1] < 1e-3 * moved
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.2)


def test_armature_of_a_fixed_tendon_is_an_inertia_along_it():
    m, d, model = both(FORCES.format(tendon=PATHS["fixed"].format('armature="5"')), strict=True)
    d.qvel[:], d.qfrc_applied[:] = [0.5, -1], [4, 1]
    step_mujoco(m, d, 600)
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.qvel, batch.joint_f = [0.5, -1], [4, 1]
        batch.step(3000, 1e-4)
        assert np.allclose(batch.qpos[0], d.qpos, atol=2e-4)


def test_friction_of_a_tendon_holds_and_slides_as_mujocos():
    """MuJoCo's friction creeps, so the held one is compared with rest, and the sliding one with MuJoCo."""
    xml = FORCES.format(tendon=PATHS["fixed"].format('frictionloss="3"')).replace('integrator="RK4"', "")
    m, d, model = both(xml, strict=True)
    arms = np.array([1.5, -0.5])
    with sapwood.Batch(model, 2, preset="approx64") as batch:
        batch.joint_f[:] = np.outer([2.9, 6], arms)
        batch.step(4000, 1e-4)
        assert np.abs(batch.qvel[0]).max() < 1e-4
        d.qfrc_applied[:] = 6 * arms
        step_mujoco(m, d, 800)
        assert np.allclose(batch.qpos[1], d.qpos, atol=5e-3) and np.abs(d.qpos).max() > 0.1


def test_damping_and_springs_that_are_switched_off_are_left_out():
    words = 'stiffness="40" damping="3" frictionloss="2" limited="true" range="0 1"'
    xml = FORCES.format(tendon=PATHS["fixed"].format(words))
    flags = (
        '<option><flag spring="disable" damper="disable" frictionloss="disable" limit="disable"/></option><worldbody>'
    )
    model = both(xml.replace("<worldbody>", flags))[2]
    assert not model.tendon_spring_ke[0] and not model.tendon_damping[0] and not model.tendon_friction[0]
    assert np.isinf(model.tendon_limit_lower[0])
    model = both(xml)[2]
    assert model.tendon_spring_ke[0] == 40 and model.tendon_damping[0] == 3 and model.tendon_friction[0] == 2


# ---- actuators on tendons ----

ACTUATORS = """<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><site name="w" pos="0 0 1"/>
  <body><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/><site name="s" pos="0 0.1 0.1"/>
    <body pos="0.5 0 0"><joint name="y" axis="0 1 0"/><geom size="0.1" mass="1" pos="0.4 0 0"/><site name="t" pos="0.6 0 0"/></body></body>
  </worldbody><tendon>
    <fixed name="two"><joint joint="x" coef="1.5"/><joint joint="y" coef="-0.5"/></fixed>
    <fixed name="limited" actuatorfrclimited="true" actuatorfrcrange="-2 2.5"><joint joint="x" coef="1"/><joint joint="y" coef="2"/></fixed>
    <fixed name="one"><joint joint="y" coef="0.7"/></fixed>
    <spatial name="path"><site site="w"/><site site="s"/><site site="t"/></spatial></tendon>
  <actuator>{}</actuator></mujoco>"""
DRIVERS = {
    "motor": '<motor tendon="two" gear="3" ctrlrange="-1 1"/>',
    "motors with a common range": '<motor tendon="limited" gear="-3"/><motor tendon="limited" gear="-3"/>',
    "motor on a path": '<motor tendon="path" gear="-4" forcerange="-1 2"/>',
    "bias": '<general tendon="path" gainprm="2" biastype="affine" biasprm="0.4 0 0"/>',
    "position": '<position tendon="two" kp="30" kv="2" gear="2"/>',
    "position on a path": '<position tendon="path" kp="30" kv="2" forcerange="-20 20"/>',
    "velocity": '<velocity tendon="path" kv="3"/><velocity tendon="two" kv="2" forcerange="-1 1"/>',
    "two drives": '<position tendon="path" kp="30"/><position tendon="path" kp="10" kv="1" gear="0.5"/>',
    "general": '<general tendon="two" gainprm="5" biastype="affine" biasprm="0.3 -4 -0.5"/>',
    "one joint": '<position tendon="one" kp="30" kv="2"/><motor tendon="one" gear="2"/>',
    "drive with a common range": '<position tendon="limited" kp="30"/>',
}


@pytest.mark.parametrize("drivers", DRIVERS)
def test_actuators_on_tendons_give_the_forces_of_mujoco(drivers, rng):
    """In a step of 10 ns a drive has the force of its law at the start."""
    m, d, model = both(ACTUATORS.format(DRIVERS[drivers]), strict=True)
    h = 1e-8
    with sapwood.Batch(model, 1, preset="approx64", options=EXACT) as batch:
        for _ in range(8):
            random_state(m, d, rng)
            d.ctrl[:] = rng.normal(size=m.nu)
            mujoco.mj_forward(m, d)
            batch.qpos, batch.qvel, batch.ctrl = d.qpos, d.qvel, d.ctrl
            batch.step(1, h)
            M = np.zeros((m.nv, m.nv))
            mujoco.mj_fullM(m, d, M)
            force = M @ ((batch.qvel[0] - d.qvel) / h) + d.qfrc_bias - d.qfrc_passive
            if "common range" in drivers and "position" in DRIVERS[drivers] and np.any(d.actuator_force <= -2):
                continue  # the range of a drive is symmetric here
            assert np.allclose(force, d.qfrc_actuator, rtol=1e-5, atol=1e-5)


def test_armature_and_damping_of_an_actuator_are_those_of_its_tendon():
    drivers = '<motor tendon="two" gear="3" armature="0.1" damping="0.2"/><motor tendon="one" gear="2" armature="0.3"/>'
    model = both(ACTUATORS.format(drivers), strict=True)[2]
    assert np.allclose(model.tendon_armature[:2], [0.9, 0]) and np.allclose(model.tendon_damping[:2], [1.8, 0])
    assert np.allclose(model.joint_armature, [0, 0.3 * 4 * 0.49])


def test_controls_of_tendons_are_reset_with_their_keyframe():
    xml = ACTUATORS.format(DRIVERS["position on a path"] + DRIVERS["motor on a path"])
    m, d, model = both(xml.replace("</mujoco>", '<keyframe><key name="k" ctrl="0.7 0.1"/></keyframe></mujoco>'))
    t = model.tendon_name.index("path")
    with sapwood.Batch(model, 2, preset="approx64") as batch:
        batch.reset([1], "k")
        assert batch.tendon_target_pos[:, t].tolist() == [0, 0.7] and batch.tendon_f[:, t].tolist() == [0, -0.4]
        batch.reset()
        assert not np.any(batch.tendon_target_pos) and not np.any(batch.tendon_f)


# ---- what is left out ----

WRAPPED = """<mujoco><worldbody><site name="w" pos="0 0 1"/><geom name="roll" type="cylinder" size="0.1 0.2" contype="0" conaffinity="0"/>
  <body name="a" pos="1 0 0"><joint name="j" type="slide" axis="1 0 0"/><geom size="0.1"/><site name="s"/></body></worldbody>
  <tendon><spatial name="around" damping="2"><site site="w"/><geom geom="roll"/><site site="s"/></spatial>
    <fixed name="straight"><joint joint="j" coef="1"/></fixed><fixed name="idle"><joint joint="j" coef="1"/></fixed></tendon>
  <actuator><motor name="pull" tendon="around"/><motor name="push" tendon="straight"/></actuator>
  <equality><tendon name="both" tendon1="around" tendon2="straight"/></equality></mujoco>"""


def test_a_wrapped_tendon_and_what_refers_to_it_are_reported():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = both(WRAPPED)[2]
    assert {str(w.message).split("lost: ")[1].split(" ")[0] for w in caught} == {"tendon", "actuator", "equality"}
    assert model.imported.lost == [
        "tendon 'around': a path that wraps around a geom",
        "actuator 'pull': tendon 'around' is not converted",
        "equality 'both': tendon 'around' is not converted",
    ]
    assert "tendon 'idle': left out; by itself it does nothing" in model.report()
    assert model.tendon_name == ["straight"] and model.imported.tendon.tolist() == [-1, 0, -1]


def test_equalities_that_cannot_act_are_left_out_without_a_loss():
    xml = """<mujoco><worldbody><body name="s"/><body name="hand" mocap="true" pos="0 0 1"/>
      <body name="a"><freejoint/><geom size="0.1"/><body name="b" pos="1 0 0"><geom size="0.1"/></body></body></worldbody>
      <equality><weld name="one" body1="a" body2="b"/><connect name="two" body1="s" anchor="0 0 0"/>
        <weld name="follow" body1="a" body2="hand"/></equality></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = both(xml)[2]
    assert model.constraint_name == ["follow"] and model.imported.constraint.tolist() == [-1, -1, 0]
    report = "\n".join(model.report())
    assert "equality 'one': left out; its bodies do not move" in report
    assert "equality 'two': left out; its bodies do not move" in report
    assert "equality 'follow': holds, but does not follow the mocap body 'hand'" in report
    assert model.imported.lost == [
        "body 'hand': mocap; it stays where it is",
        "equality 'follow': holds, but does not follow the mocap body 'hand'",
    ]


@pytest.mark.parametrize("law", ["sap", "mujoco"])
@pytest.mark.parametrize("on", ['body1="hand" body2="a"', 'site1="grip" site2="s"', 'body1="finger" body2="a"'])
def test_a_weld_to_a_mocap_body_is_a_loss(law, on):
    """It holds at the initial pose of the mocap body, whose geoms are static."""
    xml = f"""<mujoco><worldbody><geom type="plane" size="1 1 1"/>
      <body name="hand" mocap="true" pos="0 0 1"><geom name="g" size="0.05"/><site name="grip"/>
        <body name="finger"><geom size="0.05"/></body></body>
      <body name="a" pos="0 0 1"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/><site name="s"/></body></worldbody>
      <equality><weld name="w" {on}/></equality></mujoco>"""
    with pytest.warns(sapwood.SapwoodImportWarning) as caught:
        model = both(xml, law=law)[2]
    assert any("equality 'w': holds, but does not follow" in str(w.message) for w in caught)
    codes = {found.code.name for found in model.imported.found if found.code.lost}
    assert codes == {"MOCAP", "FOLLOWS_MOCAP"}
    assert model.num_bodies == 1 and model.shape_body.tolist() == [-1, -1, -1, 0]
    with pytest.raises(ValueError, match="does not follow the mocap body"):
        both(xml, law=law, strict=True)


def test_disabled_equalities_are_left_out():
    xml = ALL.replace('<option timestep="0.002"/>', '<option><flag equality="disable"/></option>')
    model = both(xml, strict=True)[2]
    assert model.num_constraints == 0 and "equality 'joints': left out; equalities are disabled" in model.report()


def test_torsional_and_rolling_friction_are_approximations():
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 1"><freejoint/><geom name="four" size="0.1" condim="4"/><geom name="six" size="0.1" condim="6"/></body></worldbody></mujoco>"""
    model = both(xml, strict=True)[2]
    assert "geom 'four': condim 4 is taken as 3, without torsional friction" in model.report()
    assert "geom 'six': condim 6 is taken as 3, without torsional and rolling friction" in model.report()


# ---- URDF ----


def test_a_mimic_joint_follows_its_joint(tmp_path):
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = """<joint name="{0}" type="revolute"><parent link="base"/><child link="{0}"/><axis xyz="0 0 1"/>
      <limit lower="-2" upper="2" effort="9" velocity="1"/>{1}</joint>"""
    text = "".join(link.format(name) for name in ("base", "j", "k"))
    text += joint.format("j", "") + joint.format("k", '<mimic joint="j" multiplier="-0.5" offset="0.2"/>')
    (tmp_path / "gripper.urdf").write_text(f'<robot name="gripper">{text}</robot>')
    model = sapwood.Model.from_urdf(tmp_path / "gripper.urdf", strict=True)
    assert model.constraint_polynomial.tolist() == [[0.2, -0.5, 0, 0, 0]] and np.isinf(model.constraint_ke[0, 0])
    model.set_drive("j", kp=50, kd=5)
    with sapwood.Batch(model, 2, preset="approx64") as batch:
        batch.joint_target_pos[:, 0] = [0.4, -0.8]
        batch.step(2000)
        assert np.allclose(batch.joint_q, [[0.4, 0], [-0.8, 0.6]], atol=1e-3)
