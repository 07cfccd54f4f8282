"""contact_solver = mujoco: worlds follow MuJoCo itself, step by step, with our own collision."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
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
 <body name="shin{0}" pos="0 0 -0.25" gravcomp="0.4"><joint name="knee{0}" axis="0 1 0" range="-1.2 -0.1" damping="0.3"
   frictionloss="0.2" margin="0.02" solreflimit="0.03 0.8"/>
  <geom type="capsule" fromto="0 0 0 0.02 0 -0.25" size="0.03" density="700" friction="0.8 0.02 0.001"/></body>
</body>"""
ROBOT = (
    """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.004" integrator="{integrator}" cone="{cone}" impratio="2" jacobian="dense">
 <flag island="disable"/></option>
<worldbody><geom type="plane" size="5 5 1" condim="{condim}" friction="0.7 0.01 0.002" solref="0.01 0.9"/>
 <body name="trunk" pos="0 0 0.62"><freejoint/><geom type="capsule" fromto="-0.2 0 0 0.2 0 0" size="0.06"/>
  <geom type="sphere" size="0.05" pos="0.2 0.02 0.06" margin="0.002"/>"""
    + LEG.format("1", "-0.15")
    + LEG.format("2", "0.15")
    + """</body>
 <body pos="0.4 0.3 0.4"><joint type="ball" range="0 0.5" damping="0.02"/><geom type="capsule" size="0.03"
  fromto="0 0 0 0.1 0 -0.2"/></body></worldbody>
<actuator><motor joint="hip1" gear="6" ctrlrange="-1 1"/><motor joint="knee1" gear="4" ctrlrange="-1 1"/>
 <motor joint="hip2" gear="6" ctrlrange="-1 1"/><motor joint="knee2" gear="4" ctrlrange="-0.5 0.5"/></actuator>
</mujoco>"""
)


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


def test_criterion_7_the_file_chooses_cone_integrator_and_tolerances() -> None:
    m = compiled("RK4", "elliptic", 4)
    model = sapwood.Model.from_mjmodel(m, law="mujoco")
    assert model.options is not None and model.options["contact_solver"] == "mujoco"
    assert model.mujoco is not None
    assert (model.mujoco["cone"], model.mujoco["integrator"], model.mujoco["max_condim"]) == (1, 1, 4)
    assert model.mujoco["impratio"] == 2 and model.mujoco["tolerance"] == 0
    m.opt.noslip_iterations = 3  # what is not carried over is reported
    assert "noslip_iterations" in "\n".join(sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco").report())


def test_the_solver_is_an_argument_of_a_batch() -> None:
    model = sapwood.Model.from_mjmodel(compiled(), law="mujoco")
    assert sapwood.Batch(model, 1).options["contact_solver"] == "mujoco"
    assert sapwood.Batch(sapwood.Model.from_mjmodel(compiled(), quiet=True), 1).options["contact_solver"] == "sap"
    with pytest.raises(ValueError, match="contact_solver"):
        sapwood.Batch(model, 1, solver="bullet")


def test_a_copy_of_the_model_has_the_law() -> None:
    m = compiled()
    model = sapwood.Model.from_mjmodel(m, law="mujoco")
    first = errors(m, sapwood.Batch(model, 1, options={"threads": 1}), 30)
    for other in (copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert errors(m, sapwood.Batch(other, 1, options={"threads": 1}), 30) == first


@pytest.mark.parametrize("name", ["robot", "rows", "pairs", "servos", "tendon servos"])
def test_a_scene_file_keeps_the_law(name: str, tmp_path: Path) -> None:
    texts = {
        "rows": ROWS.format(integrator="Euler", forces="damping='0.3'"),
        "pairs": PAIRS.format(integrator="RK4", cone="elliptic", condim=4, mask='contype="0" conaffinity="0"'),
        "servos": SERVOS.format(integrator="implicitfast"),
        "tendon servos": TENDON_SERVOS.format(integrator="Euler", kv=0.1),
    }
    m = mujoco.MjModel.from_xml_string(texts[name]) if name in texts else compiled("discrete", "elliptic", 6)
    model = sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco")
    model.save(tmp_path / "law.yaml")
    loaded = sapwood.Model.load(tmp_path / "law.yaml")
    assert model.mujoco is not None and loaded.mujoco is not None
    for key, value in model.mujoco.items():
        assert np.array_equal(np.ravel(value), np.ravel(loaded.mujoco[key])), key
    one, two = sapwood.Batch(model, 2), sapwood.Batch(loaded, 2)
    for batch in (one, two):
        batch.perturb(0.3)
        batch.step(60)
    assert np.array_equal(one.joint_q, two.joint_q) and np.array_equal(one.joint_qd, two.joint_qd)


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


SERVOS = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.003" integrator="{integrator}"><flag island="disable"/></option>
<worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0" damping="0.1" stiffness="2" springref="0.3"/>
 <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
 <body pos="0.3 0 0"><joint name="b" axis="0 1 0" range="-1.5 1.5" armature="0.02" actuatorfrcrange="-9 3.5"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.25 0 0"/>
  <body pos="0.25 0 0"><joint name="c" type="slide" axis="1 0 0" frictionloss="0.3"/>
   <geom type="sphere" size="0.05"/></body></body></body></worldbody>
<actuator><position joint="a" kp="40" kv="3" gear="0.5" ctrlrange="-1 1"/>
 <position joint="b" kp="60" dampratio="1" forcerange="-4 3" gear="-1"/>
 <general joint="c" gainprm="30" biastype="affine" biasprm="1 -30 -2"/>
 <velocity joint="a" kv="0.5"/><motor joint="c" gear="2"/></actuator></mujoco>"""


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4", "discrete"])
def test_servos_follow_mujoco(integrator: str) -> None:
    m = mujoco.MjModel.from_xml_string(SERVOS.format(integrator=integrator))
    m.opt.tolerance = 0
    batch, d, random = batch_of(m), mujoco.MjData(m), np.random.default_rng(3)
    bounded, worst = set(), 0.0
    for _ in range(120):
        d.ctrl[:] = random.uniform(-1.2, 1.2, m.nu)
        batch.ctrl[:] = d.ctrl
        mujoco.mj_step(m, d)
        batch.step(1)
        bounded.add(float(d.qfrc_actuator[1]))
        worst = max(worst, float(np.abs(batch.qpos[0] - d.qpos).max()))
    assert {-3.0, 3.5} < bounded  # the ranges of the actuator, turned by its gear, and of the joint act in some steps
    assert worst < 1e-10


ROWS = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.003" integrator="{integrator}" gravity="1 0.5 -9.81"><flag island="disable"/></option>
<worldbody><body name="p" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
 <body name="q" pos="0.3 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0"/>
 </body></body>
 <body name="r" pos="0 1 1"><joint name="c" axis="0 1 0"/><joint name="d" type="slide" axis="0 0 1"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/></body>
 <body name="s" pos="0.6 0 1"><freejoint/><geom type="sphere" size="0.05"/></body>
 <body name="t" pos="2 0 1"><freejoint/><geom type="box" size="0.05 0.04 0.03" contype="0" conaffinity="0"/></body>
 <body name="u" pos="2 0.2 1" quat="0.9 0.1 0.2 0.3"><joint axis="0 0 1" damping="0.1"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 0"/></body></worldbody>
<tendon><fixed name="m" limited="true" range="-0.2 0.15" margin="0.01" frictionloss="0.05" {forces}>
  <joint joint="a" coef="1"/><joint joint="c" coef="-0.7"/></fixed>
 <fixed name="n"><joint joint="b" coef="0.5"/><joint joint="d" coef="2"/></fixed></tendon>
<equality><connect body1="q" body2="s" anchor="0.25 0 0" solref="0.01 1"/><weld body1="t" body2="u" torquescale="0.4"/>
 <joint joint1="c" joint2="d" polycoef="0.01 0.8 0.2 -0.1 0"/><tendon tendon1="n" tendon2="m" polycoef="0 0.5 0 0 0"
  solimp="0.8 0.9 0.01 0.5 2"/></equality></mujoco>"""


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4", "discrete"])
def test_equalities_and_tendons_follow_mujoco(integrator: str) -> None:
    forces = {"Euler": 'stiffness="8" springlength="-0.05 0.02" damping="0.3"'}
    forces["RK4"] = forces["implicitfast"] = forces["Euler"]
    m = mujoco.MjModel.from_xml_string(ROWS.format(integrator=integrator, forces=forces.get(integrator, "")))
    m.opt.tolerance = 0
    batch, d, rows = batch_of(m), mujoco.MjData(m), set()
    for _ in range(100):
        mujoco.mj_step(m, d)
        batch.step(1)
        rows |= {int(kind) for kind in d.efc_type}
        assert np.abs(batch.qpos[0] - d.qpos).max() < 1e-8
    assert {0, 2, 4} <= rows  # equalities, friction and limits of a tendon


LOSSES = {
    "activation dynamics": '<general name="x" joint="j" dyntype="user" actdim="1"/>',
    "a gain that depends on the state": '<muscle name="x" joint="j"/>',
}


TENDON_SERVOS = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.004" integrator="{integrator}"/>
<worldbody><body pos="0 0 1"><joint name="j" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
 <body pos="0.3 0 0"><joint name="k" axis="0 1 0" damping="0.2"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0"/>
 <body pos="0.2 0 0"><joint name="l" type="slide" axis="1 0 0"/><geom size="0.05"/></body></body></body></worldbody>
<tendon><fixed name="two"><joint joint="j" coef="1"/><joint joint="k" coef="-0.6"/></fixed>
 <fixed name="three"><joint joint="k" coef="0.3"/><joint joint="l" coef="2"/></fixed></tendon>
<actuator><position tendon="two" kp="30" kv="{kv}" gear="1.5" forcerange="-8 8"/><motor tendon="two" gear="0.4"/>
 <general tendon="three" biastype="affine" gainprm="20" biasprm="0.5 -20 -{kv}" gear="-0.7"/>
 <position tendon="three" kp="5"/></actuator></mujoco>"""


@pytest.mark.parametrize("integrator, kv", [("Euler", 2), ("RK4", 2), ("implicitfast", 0), ("implicitfast", 2)])
def test_servos_of_tendons_follow_mujoco(integrator: str, kv: float) -> None:
    m = mujoco.MjModel.from_xml_string(TENDON_SERVOS.format(integrator=integrator, kv=kv))
    batch, d, random, bounded = batch_of(m), mujoco.MjData(m), np.random.default_rng(4), 0
    for k in range(200):
        if k % 10 == 0:
            batch.ctrl[:] = d.ctrl[:] = random.uniform(-1, 1, m.nu)
        mujoco.mj_step(m, d)
        batch.step(1)
        bounded += int(abs(d.actuator_force[0]) == 8)
        assert np.abs(batch.qpos[0] - d.qpos).max() < 1e-10
    assert 0 < bounded < 200


def test_servos_of_tendons_in_a_discrete_step_are_lost() -> None:
    m = mujoco.MjModel.from_xml_string(TENDON_SERVOS.format(integrator="discrete", kv=2))
    with pytest.raises(NotCarriedOver, match="several joints, implicit with integrator discrete"):
        sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")


@pytest.mark.parametrize("reason", LOSSES)
def test_actuators_that_the_law_does_not_have_are_lost(reason: str) -> None:
    text = f"""<mujoco><compiler autolimits="true"/><worldbody><body><joint name="j" range="-9 9"/><geom size="0.1"/>
    <body><joint name="k"/><geom size="0.1"/></body></body></worldbody>
    <tendon><fixed name="two"><joint joint="j" coef="1"/><joint joint="k" coef="1"/></fixed></tendon>
    <actuator>{LOSSES[reason]}</actuator></mujoco>"""
    with pytest.raises(NotCarriedOver, match=reason):
        sapwood.Model.from_mjmodel(mujoco.MjModel.from_xml_string(text), strict=True, law="mujoco")


@pytest.mark.parametrize(
    "integrator, forces", [("discrete", 'damping="1"'), ("discrete", 'stiffness="1"'), ("Euler", 'armature="1"')]
)
def test_tendons_that_the_law_does_not_have_are_lost(integrator: str, forces: str) -> None:
    m = mujoco.MjModel.from_xml_string(ROWS.format(integrator=integrator, forces=forces))
    with pytest.raises(NotCarriedOver, match="tendon 'm'"):
        sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")
    batch = sapwood.Batch(sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco"), 2)
    batch.step(5)
    assert not np.any(batch.status & sapwood.batch.FAILED)


def test_an_unknown_law_is_refused() -> None:
    with pytest.raises(ValueError, match="law is 'coulomb'"):
        sapwood.Model.from_mjmodel(compiled(), law="coulomb")


@pytest.mark.parametrize("asked", [{"solver": "mujoco"}, {"preset": "mujoco64"}])
def test_a_batch_with_the_law_has_all_numbers_of_the_file(asked: dict[str, str]) -> None:
    m = compiled("RK4", "elliptic", 4)
    model = sapwood.Model.from_mjmodel(m, quiet=True)
    m.opt.impratio = 7  # a change after the import
    batch = sapwood.Batch(copy.copy(model), 1, **asked)
    assert batch.options["contact_solver"] == "mujoco"
    assert batch.model.mujoco is not None and batch.model.mujoco["impratio"] == 2
    m.opt.impratio = 2
    assert max(errors(m, batch, 40)) < 1e-8
    assert model.mujoco is None and sapwood.Batch(model, 1).options["contact_solver"] == "sap"


# A string, an actuator on it, and sweeps after the solve: the law of SAP has the first two, this one has none.
STRING = """<mujoco model="cup"><option noslip_iterations="3"/><worldbody><site name="hook" pos="0 0 2"/>
 <body pos="0 0 1"><freejoint/><geom size="0.1"/><site name="eye"/></body></worldbody>
 <tendon><spatial name="string" limited="true" range="0 1"><site site="hook"/><site site="eye"/></spatial></tendon>
 <actuator><motor name="reel" tendon="string"/></actuator></mujoco>"""
LOST = (
    "tendon 'string': a path over sites",
    "actuator 'reel': tendon 'string' is not",
    "option 'noslip_iterations': no",
)


def test_a_batch_with_the_law_warns_of_what_it_loses_where_the_batch_is_made() -> None:
    m = mujoco.MjModel.from_xml_string(STRING)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sapwood.Model.from_mjmodel(m)
        assert not caught
        sapwood.Batch(model, 1, solver="mujoco")
    assert [w.category for w in caught] == [sapwood.SapwoodImportWarning] * 3 and {w.filename for w in caught} == {
        __file__
    }
    assert all(any(f"cup: lost: {text}" in str(w.message) for w in caught) for text in LOST)


def test_quiet_and_strict_of_an_import_hold_for_the_batch_with_the_law() -> None:
    m = mujoco.MjModel.from_xml_string(STRING)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sapwood.Batch(sapwood.Model.from_mjmodel(m, quiet=True), 1, solver="mujoco")
        strict = sapwood.Model.from_mjmodel(m, strict=True)
        assert sapwood.Batch(strict, 1).options["contact_solver"] == "sap"
        with pytest.raises(NotCarriedOver, match="tendon 'string'.*"):
            sapwood.Batch(strict, 1, solver="mujoco")


def test_one_import_has_the_parameters_of_both_laws(monkeypatch) -> None:
    model = sapwood.Model.from_mjmodel(compiled(), quiet=True)
    with monkeypatch.context() as patch:
        patch.setattr(sapwood.mjcf, "parts", None)  # nothing is converted again
        used = sapwood.Batch(model, 1, solver="mujoco").model
    theirs = sapwood.Model.from_mjmodel(compiled(), quiet=True, law="mujoco")
    assert used.mujoco is not None and theirs.mujoco is not None and used.mujoco.keys() == theirs.mujoco.keys()
    for ours, wanted in ((used.mujoco, theirs.mujoco), (used.arrays(), theirs.arrays())):
        assert all(np.array_equal(ours[name], values) for name, values in wanted.items())
    used.set_drive("hip1", 3.0)
    assert sapwood.Batch(model, 1, solver="mujoco").model.joint_target_ke.max() == 0, "a changed model is its own"


@pytest.mark.parametrize("on", ['body1="tip" body2="post"', 'site1="s" site2="p"'])
@pytest.mark.parametrize("kind", ["weld", "connect"])
def test_an_equality_of_a_massless_body_has_the_weight_of_that_body(kind: str, on: str) -> None:
    """MuJoCo's invweight0 of a massless body is that at its own place, not that of the body that carries it."""
    anchor = ' anchor="0 0 0"' if kind == "connect" and "body" in on else ""
    m = mujoco.MjModel.from_xml_string(f"""<mujoco><option><flag island="disable"/></option><worldbody>
      <body name="post" pos="0.9 0.1 1.05"><joint axis="0 1 0"/><geom size="0.05"/><site name="p"/></body>
      <body pos="0 0 1"><joint axis="0 1 0" stiffness="20"/><joint axis="0 0 1" damping="0.1"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.5 0.2 0"/>
        <body name="tip" pos="0.85 0.1 0"><site name="s"/></body></body></worldbody>
      <equality><{kind} {on}{anchor}/></equality></mujoco>""")
    d, batch = mujoco.MjData(m), batch_of(m)
    mujoco.mj_step(m, d)
    batch.step()
    assert np.abs(batch.qvel[0] - d.qvel).max() < 1e-12 * max(1, np.abs(d.qvel).max())


def test_the_report_is_that_of_the_law_that_will_be_used() -> None:
    m = mujoco.MjModel.from_xml_string(STRING)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sapwood.Model.from_mjmodel(m)
        assert not any(text in line for line in model.report() for text in LOST)
        assert all(any(text in line for line in model.report("mujoco")) for text in LOST)
    with pytest.warns(sapwood.SapwoodImportWarning):
        used = sapwood.Batch(model, 1, solver="mujoco").model
    assert used.report() == used.report("mujoco") == model.report("mujoco") and used.report("sap") == model.report()
    model.options = sapwood.Options("mujoco64")
    assert model.report() == used.report()
    with pytest.raises(ValueError, match="law is 'mujco'"):
        model.report("mujco")
    assert sapwood.scene("quadruped").report("mujoco") == []


def test_the_report_does_not_call_lost_what_the_law_has() -> None:
    m = mujoco.MjModel.from_xml_string(PAIRS.format(integrator="Euler", cone="elliptic", condim=6, mask='condim="6"'))
    model = sapwood.Model.from_mjmodel(m)
    assert any("touches, with the parameters of its geoms" in line for line in model.report())
    assert any("condim 6 is taken as 3" in line for line in model.report())
    assert model.report("mujoco") == []


@pytest.mark.parametrize("solver", ["PGS", "CG"])
def test_a_solver_of_the_file_that_becomes_newton_is_said(solver: str) -> None:
    m = compiled()
    assert sapwood.Model.from_mjmodel(m, law="mujoco").report() == []
    m.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver}")
    line = f"option 'solver': {solver}; Newton's method solves the same problem"
    assert sapwood.Model.from_mjmodel(m, law="mujoco", strict=True).report() == [line]
    assert line not in sapwood.Model.from_mjmodel(m).report()


def test_the_report_of_a_changed_model_says_that_the_law_has_no_numbers() -> None:
    model = sapwood.Model.from_mjmodel(compiled())
    model.set_drive(["hip1"], 10.0)
    assert "changed after its import" in model.report("mujoco")[0] and model.report("mujoco")[1:] == model.report()


def test_a_model_without_the_law_gets_mujocos_weights() -> None:
    """Weights are computed; the rest are MuJoCo's defaults, so that it moves nearly as the model with the law."""
    m = compiled("discrete")
    with_law, model = sapwood.Model.from_mjmodel(m, law="mujoco"), sapwood.Model.from_mjmodel(m, quiet=True)
    body, dof, tendon = model.mujoco_weights()
    assert with_law.mujoco is not None
    assert np.allclose(body, with_law.mujoco["body_invweight"], rtol=1e-12)
    assert np.allclose(dof, with_law.mujoco["dof_invweight"], rtol=1e-12)
    assert len(tendon) == 0
    model._replace(model.arrays())  # no longer the model of the file
    batch = sapwood.Batch(model, 2, preset="mujoco64")
    assert batch.model is model
    batch.step(50)
    assert not np.any(batch.status & sapwood.batch.FAILED)


def test_a_model_with_all_constraints_disabled_follows_mujoco() -> None:
    m = compiled()
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    batch, d = batch_of(m), mujoco.MjData(m)
    d.qvel[:] = 0.5
    batch.qvel = d.qvel
    for _ in range(60):
        mujoco.mj_step(m, d)
        batch.step()
    assert d.nefc == 0 and np.all(batch.iterations == 0)
    assert np.abs(batch.qpos[0] - d.qpos).max() < 1e-11


def test_flags_that_the_law_does_not_have_are_lost() -> None:
    m = compiled()
    m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
    with pytest.raises(NotCarriedOver, match="diagexact"):
        sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")


# What MuJoCo takes although it makes little sense: {name: change of the model}.
ODD = {
    "a negative width of solimp": lambda m: m.geom_solimp.__setitem__((slice(None), 2), -0.01),
    "dmin above dmax": lambda m: m.geom_solimp.__setitem__((slice(None), slice(2)), (0.97, 0.6)),
    "dmin and dmax out of range": lambda m: m.jnt_solimp.__setitem__((slice(None), slice(2)), (-3, 1.5)),
    "friction below the least": lambda m: m.geom_friction.__setitem__(slice(None), 0),
    "solref of mixed signs": lambda m: m.geom_solref.__setitem__(slice(None), (0.3, -5)),
    "limits with solref of mixed signs": lambda m: m.jnt_solref.__setitem__(slice(None), (-300, 5)),
}


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("change", ODD)
def test_bad_numbers_of_the_law_do_what_they_do_in_mujoco(change: str, cone: str) -> None:
    m = compiled("Euler", cone)
    plain = errors(m, batch_of(m), 40)
    ODD[change](m)
    found = errors(m, batch_of(m), 40)
    assert max(found) < 1e-8
    assert plain != found


def test_a_model_with_no_time_step_is_refused() -> None:
    m = compiled()
    m.opt.timestep = 0
    batch = batch_of(m)
    with pytest.raises(sapwood.ArgumentError, match="h is 0; a time step must be finite and greater than 0"):
        batch.step()


PAIRS = """<mujoco><option timestep="0.004" integrator="{integrator}" cone="{cone}" impratio="3">
<flag island="disable"/></option>
<worldbody><geom name="floor" type="plane" size="5 5 1" friction="0.9 0.01 0.001"/>
 <body pos="0 0 0.115"><freejoint/><geom name="ball" size="0.1" friction="0.2 0.005 0.0001" {mask}/></body>
 <body pos="0.5 0 0.13"><freejoint/><geom name="rod" type="capsule" size="0.05" fromto="-0.1 0 0 0.1 0 0"/></body>
 <body pos="0.5 0 0.2"><freejoint/><geom name="upper" size="0.06" pos="0 0 0.02"/></body></worldbody>
<contact><pair geom1="ball" geom2="floor" condim="{condim}" friction="0.5 0.3 0.02 0.001 0.002" margin="0.03" gap="0.01"
  solref="0.03 0.7" solimp="0.7 0.9 0.01 0.4 3" solreffriction="0.05 1.2"/>
 <pair geom1="upper" geom2="rod" condim="1" solref="-900 -12"/></contact></mujoco>"""


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4", "discrete"])
@pytest.mark.parametrize("cone, condim", [("pyramidal", 3), ("elliptic", 3), ("elliptic", 6), ("pyramidal", 4)])
def test_explicit_pairs_follow_mujoco(integrator: str, cone: str, condim: int) -> None:
    mask = 'contype="0" conaffinity="0"'  # found by its pair alone
    m = mujoco.MjModel.from_xml_string(PAIRS.format(integrator=integrator, cone=cone, condim=condim, mask=mask))
    m.opt.tolerance = 0
    batch, d, rows = batch_of(m), mujoco.MjData(m), set()
    d.qvel[:] = np.tile([0.6, -0.3, -0.5, 1, 2, 3], 3)
    batch.qvel = d.qvel
    for _ in range(60):
        mujoco.mj_step(m, d)
        batch.step()
        rows |= {int(c.dim) for c in d.contact if c.efc_address >= 0}
        assert np.abs(batch.qpos[0] - d.qpos).max() < 1e-9
    assert {1, condim, 3} <= rows


def test_a_pair_that_is_listed_twice_is_lost() -> None:
    text = PAIRS.format(integrator="Euler", cone="elliptic", condim=3, mask="")
    text = text.replace("</contact>", '<pair name="again" geom1="floor" geom2="ball"/></contact>')
    with pytest.raises(NotCarriedOver, match="pair 'again': geoms that another pair has already"):
        sapwood.Model.from_mjmodel(mujoco.MjModel.from_xml_string(text), strict=True, law="mujoco")


def test_both_limits_of_a_joint_act_where_its_margin_exceeds_its_range() -> None:
    text = """<mujoco><compiler autolimits="true"/><worldbody><body><joint axis="0 1 0" range="0 5" margin="0.2"/>
 <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/></body></worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    d, batch = mujoco.MjData(m), batch_of(m)
    for _ in range(50):
        mujoco.mj_step(m, d)
        batch.step()
        assert d.nefc == 2
        assert abs(batch.qpos[0, 0] - d.qpos[0]) < 1e-14
