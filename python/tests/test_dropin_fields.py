"""Derived fields of MjData, computed for many states at once, against mj_forward."""

from pathlib import Path

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from sapwood.mujoco import batch, derived  # noqa: E402

N = 4
STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "eq_active")
TREE = """
<mujoco>
  <option density="0"><flag energy="enable"/></option>
  <worldbody>
    <light mode="targetbody" target="b" pos="1 1 2"/><camera mode="trackcom" pos="0 -2 1"/>
    <camera mode="targetbodycom" target="a" pos="2 0 1"/>
    <body name="a" pos="0 0 1"><freejoint/><geom size=".1 .2 .3" type="box" mass="1" euler="10 20 30"/>
      <site name="s" pos=".1 .2 .1"/><camera pos=".2 0 .1" euler="0 40 0"/>
      <body name="b" pos=".3 0 0" gravcomp=".4"><joint name="ball" type="ball" pos=".1 0 0" stiffness=".4" damping=".1"/>
        <geom size=".05 .1" type="capsule" mass=".3" pos=".1 .1 0"/><site name="t" pos=".2 0 .1"/>
        <body name="c" pos="0 .2 .1"><joint name="h" axis="1 1 0" ref=".3" stiffness="1" springref=".5" armature=".02"
          actuatorfrcrange="-1 1" actuatorfrclimited="true"/><joint name="l" type="slide" axis="0 0 1" damping=".2"/>
          <geom size=".05" mass=".2"/><light pos="0 0 .1" dir="0 1 1"/></body></body></body>
    <body name="d" pos="1 0 1"><joint name="k" axis="0 1 0"/><geom type="cylinder" size=".1 .2" mass=".5" pos="0 0 -.2"/>
      <site name="u" pos="0 0 -.3"/></body>
    <body name="held" mocap="true" pos="0 2 1"><geom size=".1"/><body pos="0 0 .2"><geom size=".1"/></body></body>
  </worldbody>
  <tendon>
    <fixed name="f" stiffness="2" damping=".3" springlength="0 .1" armature=".01"><joint joint="h" coef="1.5"/>
      <joint joint="k" coef="-2"/></fixed>
    <spatial name="p" stiffness="3" damping=".1" springlength=".2"><site site="s"/><site site="u"/>
      <pulley divisor="2"/><site site="t"/><site site="u"/></spatial>
  </tendon>
  <actuator>
    <motor joint="h" gear="3" ctrlrange="-.5 .5" ctrllimited="true"/>
    <position tendon="f" kp="4" kv=".2" forcerange="-.3 .3" forcelimited="true"/>
    <general joint="ball" gear=".1 .2 .3"/><motor site="t" gear="1 2 3 .1 .2 .3"/>
    <general site="t" refsite="u" gear="1 0 2 .3 .1 0" biastype="affine" biasprm=".1 -2 -.3"/>
    <general joint="l" dyntype="integrator" actlimited="true" actrange="-1 1" actearly="true" gaintype="affine"
      gainprm="2 .5 .1"/>
    <general joint="k" dyntype="filterexact" dynprm=".1" gainprm="3"/><motor tendon="p"/>
  </actuator>
</mujoco>
"""


def robots():
    gymnasium = pytest.importorskip("gymnasium")
    folder = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
    return [folder / f"{name}.xml" for name in ("ant", "half_cheetah", "hopper", "humanoid", "pusher", "reacher")]


def scattered(m, rng):
    """States with all inputs, and what MuJoCo derives from them."""
    data, states, expected = mujoco.MjData(m), [], []
    solved = {*derived.SOLVED, *derived.AFTER, "sensordata"}
    names = [name for name in derived.STAGES if name not in solved]
    for _ in range(N):
        mujoco.mj_resetData(m, data)
        data.qvel[:], data.ctrl[:] = rng.normal(0, 0.5, m.nv), rng.uniform(-1, 1, m.nu)
        for _ in range(4):
            mujoco.mj_step(m, data)
        data.act[:] = rng.uniform(-1, 1, m.na)
        data.qfrc_applied[:], data.xfrc_applied[:] = rng.normal(0, 0.2, m.nv), rng.normal(0, 0.2, (m.nbody, 6))
        data.mocap_pos[:], data.mocap_quat[:] = rng.normal(0, 1, (m.nmocap, 3)), rng.normal(0, 1, (m.nmocap, 4))
        mujoco.mj_forward(m, data)
        mujoco.mj_subtreeVel(m, data)
        states.append({name: np.array(getattr(data, name), float) for name in STATE})
        expected.append({name: np.array(getattr(data, name)) for name in names})
    stacked = [{name: np.stack([row[name] for row in rows]) for name in rows[0]} for rows in (states, expected)]
    return stacked[0], stacked[1]


def assert_fields(m, rng, skipped=()):
    states, expected = scattered(m, rng)
    found = derived.Evaluation(m, {}, states)
    for name, values in expected.items():
        if name in skipped:
            continue
        field = found.field(name)
        assert field.shape == values.shape, name
        scale = max(1.0, np.abs(values).max(initial=0))
        np.testing.assert_allclose(field / scale, values / scale, rtol=0, atol=1e-12, err_msg=name)


def test_fields_of_every_kind_of_joint_tendon_and_transmission_are_mujocos(rng):
    assert_fields(mujoco.MjModel.from_xml_string(TREE), rng)


@pytest.mark.parametrize("robot", range(6))
def test_fields_of_robots_are_mujocos(robot, rng):
    m = mujoco.MjModel.from_xml_path(str(robots()[robot]))
    assert_fields(m, rng)


@pytest.mark.parametrize("flag", ["gravity", "spring", "damper", "actuation", "clampctrl"])
def test_flags_turn_forces_off_as_in_mujoco(flag, rng):
    xml = TREE.replace('<flag energy="enable"/>', f'<flag energy="enable" {flag}="disable"/>')
    assert_fields(mujoco.MjModel.from_xml_string(xml), rng)


def test_constants_of_simulations_are_their_own(rng):
    m = mujoco.MjModel.from_xml_string(TREE)
    states, _ = scattered(m, rng)
    masses = m.body_mass * rng.uniform(0.5, 2, (N, 1))
    places = m.body_pos + rng.normal(0, 0.1, (N, m.nbody, 3))
    found = derived.Evaluation(m, {"body_mass": masses, "body_pos": places}, states)
    for i in range(N):
        m.body_mass[:], m.body_pos[:] = masses[i], places[i]
        own = derived.Evaluation(m, {}, {name: values[i : i + 1] for name, values in states.items()})
        for name in ("xpos", "subtree_com", "M", "qfrc_bias", "qacc_smooth", "energy"):
            np.testing.assert_allclose(found.field(name)[i], own.field(name)[0], rtol=1e-12, atol=1e-12)


def test_a_field_that_nobody_binds_is_not_computed(monkeypatch):
    m = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    b = batch.Batch(m, 2)
    b.step()

    def refuse(*_):
        raise AssertionError("computed")

    monkeypatch.setattr(derived.Evaluation, "field", refuse)
    b.step()
    xpos = b.xpos
    with pytest.raises(AssertionError, match="computed"):
        b.step()
    assert not xpos.any()
