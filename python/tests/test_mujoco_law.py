"""contact_solver = mujoco: worlds follow MuJoCo itself, step by step, with our own collision."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import sapwood
from sapwood.mjcf import NotCarriedOver

mujoco = pytest.importorskip("mujoco")

# A trunk with two legs of two hinges: limits, springs, damping, friction, armature, motors with gears and ranges.
LEG = """
<body name="thigh{0}" pos="{1} 0 -0.05"><joint name="hip{0}" axis="0 1 0" range="-0.6 0.7" damping="0.4" stiffness="3"
   springref="0.1" armature="0.01"/><geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.04" density="800"/>
 <body name="shin{0}" pos="0 0 -0.25"><joint name="knee{0}" axis="0 1 0" range="-1.2 -0.1" damping="0.3"
   frictionloss="0.2" margin="0.02" solreflimit="0.03 0.8"/>
  <geom type="capsule" fromto="0 0 0 0.02 0 -0.25" size="0.03" density="700" friction="0.8 0.02 0.001"/></body>
</body>"""
ROBOT = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.004" integrator="{integrator}" cone="{cone}" impratio="2" jacobian="dense">
 <flag island="disable"/></option>
<worldbody><geom type="plane" size="5 5 1" condim="{condim}" friction="0.7 0.01 0.002" solref="0.01 0.9"/>
 <body name="trunk" pos="0 0 0.62"><freejoint/><geom type="capsule" fromto="-0.2 0 0 0.2 0 0" size="0.06"/>
  <geom type="sphere" size="0.05" pos="0.2 0.02 0.06" margin="0.002"/>""" + LEG.format("1", "-0.15") + LEG.format(
    "2", "0.15"
) + """</body>
 <body pos="0.4 0.3 0.4"><joint type="ball" range="0 0.5" damping="0.02"/><geom type="capsule" size="0.03"
  fromto="0 0 0 0.1 0 -0.2"/></body></worldbody>
<actuator><motor joint="hip1" gear="6" ctrlrange="-1 1"/><motor joint="knee1" gear="4" ctrlrange="-1 1"/>
 <motor joint="hip2" gear="6" ctrlrange="-1 1"/><motor joint="knee2" gear="4" ctrlrange="-0.5 0.5"/></actuator>
</mujoco>"""


def compiled(integrator: str = "Euler", cone: str = "pyramidal", condim: int = 3) -> Any:
    m = mujoco.MjModel.from_xml_string(ROBOT.format(integrator=integrator, cone=cone, condim=condim))
    m.opt.tolerance = 0
    return m


def batch_of(m: Any, worlds: int = 1) -> sapwood.Batch:
    model = sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")
    return sapwood.Batch(model, worlds, options={"threads": 1})


def errors(m: Any, batch: sapwood.Batch, steps: int) -> list[float]:
    """The largest difference of coordinates from MuJoCo after each step of the same controls."""
    d, random, out = mujoco.MjData(m), np.random.default_rng(5), []
    for _ in range(steps):
        d.ctrl[:] = random.uniform(-1.2, 1.2, m.nu)
        batch.ctrl[:] = d.ctrl
        mujoco.mj_step(m, d)
        batch.step(1)
        out.append(float(np.abs(batch.qpos[0] - d.qpos).max()))
    assert d.ncon > 0
    return out


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4", "discrete"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_robot_follows_mujoco(integrator: str, cone: str) -> None:
    m = compiled(integrator, cone)
    found = errors(m, batch_of(m), 80)
    assert max(found[:20]) < 1e-12
    assert max(found) < 1e-8


def test_rolling_and_spinning_friction_follow_mujoco() -> None:
    m = compiled("Euler", "elliptic", 6)
    assert max(errors(m, batch_of(m), 80)) < 1e-8


def test_the_file_chooses_cone_integrator_and_tolerances() -> None:
    m = compiled("RK4", "elliptic", 4)
    model = sapwood.Model.from_mjmodel(m, law="mujoco")
    assert model.options is not None and model.options["contact_solver"] == "mujoco"
    assert model.mujoco is not None
    assert (model.mujoco["cone"], model.mujoco["integrator"], model.mujoco["max_condim"]) == (1, 1, 4)
    assert model.mujoco["impratio"] == 2 and model.mujoco["tolerance"] == 0


def test_a_copy_of_the_model_has_the_law() -> None:
    m = compiled()
    model = sapwood.Model.from_mjmodel(m, law="mujoco")
    first = errors(m, sapwood.Batch(model, 1, options={"threads": 1}), 30)
    for other in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert errors(m, sapwood.Batch(other, 1, options={"threads": 1}), 30) == first


def test_worlds_of_a_batch_are_alike() -> None:
    m = compiled()
    batch = batch_of(m, 6)
    batch.ctrl[:] = 0.3
    batch.step(100)
    assert np.all(batch.qpos == batch.qpos[0])
    assert not np.any(batch.status & sapwood.batch.FAILED)


def test_a_restored_state_continues_bit_for_bit() -> None:
    """The warm start is part of the state."""
    m = compiled()
    m.opt.tolerance = 1e-4
    batch = batch_of(m, 3)
    batch.ctrl[:] = [[0.3], [-0.2], [0.1]]
    batch.step(150)
    state = batch.get_state()
    batch.step(20)
    after = batch.qpos.copy()
    assert np.any(state["dof_cache"])
    for other in (batch, batch_of(m, 3)):
        other.set_state(state)
        other.step(20)
        assert np.all(other.qpos == after)
    batch.reset()
    assert not np.any(batch.dof_cache)


def test_what_the_law_does_not_have_is_lost() -> None:
    text = """<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
    <actuator><position name="servo" joint="j" kp="5"/></actuator></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    with pytest.raises(NotCarriedOver, match="servo"):
        sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")
    with pytest.raises(ValueError, match="law is 'coulomb'"):
        sapwood.Model.from_mjmodel(m, law="coulomb")


def test_a_model_without_the_law_is_refused() -> None:
    model = sapwood.Model.from_mjmodel(compiled(), quiet=True)
    with pytest.raises(sapwood.ModelError, match="numbers of MuJoCo's law"):
        sapwood.Batch(model, 1, options={"contact_solver": "mujoco"})


def test_flags_that_the_law_does_not_have_are_lost() -> None:
    m = compiled()
    m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
    with pytest.raises(NotCarriedOver, match="diagexact"):
        sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")
