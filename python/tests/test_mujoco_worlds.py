"""contact_solver = mujoco: worlds with parameters of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood
from sapwood import _layout
from sapwood.batch import PARAMETERS
from sapwood.model import parameter_of

mujoco = pytest.importorskip("mujoco")

# Everything that has numbers of its own: limits, friction, springs and dampers of hinges, slides, a ball joint and a
# fixed tendon, equalities, explicit pairs, contacts of several condims, servos or general actuators.
SCENE = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.004" integrator="{integrator}" cone="{cone}" impratio="2"><flag island="disable"/></option>
<worldbody><geom name="floor" type="plane" size="5 5 1" condim="3" friction="0.7 0.01 0.002" solref="0.02 0.9"/>
 <body name="trunk" pos="0 0 0.28"><freejoint/><geom name="rod" type="capsule" fromto="-0.2 0 0 0.2 0 0" size="0.06"/>
  <geom name="bump" size="0.07" pos="0.2 0.02 -0.04" margin="0.004" condim="4" friction="0.6 0.02 0.001"/>
  <body name="thigh" pos="-0.15 0 -0.05" gravcomp="0.2"><joint name="hip" axis="0 1 0" range="-0.01 0.01" damping="0.4"
    stiffness="3" springref="0.1" armature="0.01" {force}/><geom type="capsule" fromto="0 0 0 0.2 0 -0.1" size="0.04"/>
   <body name="shin" pos="0.2 0 -0.1"><joint name="knee" axis="0 1 0" range="-1.2 -0.49" damping="0.3" ref="-0.5"
     frictionloss="0.2" margin="0.02"/><geom name="foot" type="capsule" fromto="0 0 0 0.15 0 -0.08" size="0.035"
     friction="0.8 0.02 0.001"/></body></body></body>
 <body name="stick" pos="0.6 0.3 0.4"><joint name="ball" type="ball" range="0 0.02" frictionloss="0.01"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 -0.2"/></body>
 <body name="cart" pos="-0.6 0 0.5"><joint name="slide" type="slide" axis="1 0 0" damping="0.5"/>
  <geom type="box" size="0.05 0.05 0.05"/>
  <body name="pole" pos="0 0 0.1"><joint name="turn" axis="0 1 0" armature="0.02"/>
   <geom type="capsule" size="0.02" fromto="0 0 0 0.05 0 0.3"/></body></body>
 <body name="puck" pos="0.2 0.6 0.055"><freejoint/><geom name="puck" size="0.06" priority="1" friction="0.3 0.01 0.001"
   solimp="0.8 0.95 0.002 0.4 3"/></body>
</worldbody>
<equality><connect body1="pole" body2="thigh" anchor="0.05 0 0.3" solref="0.3 1"/>
 <weld body1="puck" body2="trunk" solref="0.2 1" torquescale="0.1"/>
 <joint joint1="turn" joint2="slide" polycoef="0 0.7 0.1 0 0" solref="0.03 1"/></equality>
<tendon><fixed name="both" range="-0.1 0.05" stiffness="4" springlength="0 0.01" damping="{damping}" frictionloss="0.05"
  margin="0.01"><joint joint="hip" coef="0.5"/><joint joint="knee" coef="-0.4"/></fixed></tendon>
<contact><pair geom1="foot" geom2="floor" condim="3" friction="0.5 0.3 0.02 0.001 0.002" margin="0.03" gap="0.01"
  solref="0.03 0.7" solreffriction="0.05 1.2"/></contact>
<actuator>{actuators}</actuator></mujoco>"""
SERVOS = '<position joint="hip" kp="8" kv="0.5" forcerange="-1 1"/><position joint="turn" kp="5"/>'
TENDON = '<position tendon="both" kp="2" kv="0.1" forcerange="-0.4 0.4"/>'
GENERAL = """<general joint="hip" dyntype="filter" dynprm="0.03" gaintype="affine" gainprm="2 -1.5 -0.4" biastype="affine"
  biasprm="0.3 -4 -0.5" gear="1.2" forcerange="-0.9 0.9" ctrlrange="-0.7 0.8" actlimited="true" actrange="-0.4 0.4"/>
 <general tendon="both" biastype="affine" biasprm="0 -2 0" gear="0.8"/>"""
# Numbers that the scene does not read: of contacts without shapes, of shapes that are mixed by priority, of the side of
# a tendon's range that is far away. Detection margins change nothing where there is no contact.
IDLE = {"mujoco_body_invweight", "mujoco_shape_solmix", "shape_gap", "shape_margin", "tendon_limit_lower"}
IDLE |= {"tendon_spring_lower"}
JOINT_DRIVES = {"joint_target_ke", "joint_target_kd", "mujoco_dof_drive_range"}
TENDON_DRIVES = {"tendon_target_ke", "tendon_target_kd", "tendon_effort_limit"}
PYRAMIDAL = {"mujoco_ls_tolerance", "mujoco_pair_solreffriction"}
CAN = {c.name for c in sapwood.capabilities("mujoco", "cpu") if c.support == "yes"}
ALL = [name for name in PARAMETERS if name in CAN and name != "shape_mesh"]  # which chooses height fields


def compiled(actuators: str = SERVOS, integrator: str = "Euler", cone: str = "elliptic") -> Any:
    damping = 0 if integrator == "implicitfast" else 0.1
    force = 'actuatorfrcrange="-0.4 0.4"' if actuators == GENERAL else ""
    text = SCENE.format(actuators=actuators, integrator=integrator, cone=cone, damping=damping, force=force)
    return mujoco.MjModel.from_xml_string(text)


def imported(m: Any) -> sapwood.Model:
    return sapwood.Model.from_mjmodel(m, strict=True, law="mujoco")


def value(name: str, x: Any, rng: np.random.Generator) -> Any:
    """Another value of a parameter that obeys its rule, and acts."""
    x = np.array(x)
    s = rng.uniform(0.1, 0.4, x.shape)
    if name == "mujoco_shape_condim":
        return np.where(x == 4, 1, 4)
    if name == "mujoco_pair_condim":
        return np.full_like(x, 1)
    if name == "mujoco_shape_priority":
        return rng.permutation(x.size).astype(x.dtype)
    if name in ("mujoco_iterations", "mujoco_ls_iterations"):
        return np.int32(1)
    if name == "mujoco_tolerance":
        return np.float64(1e-2)
    if name == "constraint_X":
        return x + 0.05 * s * ([1, 1, 1, 0, 0, 0, 0] * np.ones_like(x))
    if name.endswith(("lower", "_margin")) or name in ("body_com", "tendon_offset"):
        return x - 0.02 * s if name.endswith("lower") else x + 0.02 * s
    if name.endswith("upper"):
        return np.where(np.isfinite(x), x - 0.02 * s, x)
    if name == "gravity":
        return x + s
    if name == "shape_gap":
        return x + 0.05
    if name.endswith("_range"):
        return x * (0.2 * np.ones(x.shape[:-1]) + 0.1 * s[..., 0])[..., None]
    if name == "tendon_effort_limit":
        return x * 0.1
    if name == "body_inertia":
        return x * 1.3
    if name in ("mujoco_dof_spring_ref", "mujoco_dof_stiffness"):
        return x + s
    if name.endswith("solimp"):
        return np.where(np.arange(5) < 2, x * (1 - 0.2 * s), x)
    return x * (1 + s) + (0.1 * s if name in ("body_gravcomp", "constraint_reference", "constraint_polynomial") else 0)


def with_values(model: sapwood.Model, values: dict[str, Any]) -> sapwood.Model:
    """The model with other values of parameters."""
    arrays, law = model.arrays(), dict(model.mujoco or {})
    for name, x in values.items():
        if name.startswith("mujoco_"):
            law[name.removeprefix("mujoco_")] = x
        else:
            arrays[name] = x
    return sapwood.Model(dt=model.dt, mujoco=law, **arrays)


def start(batch: sapwood.Batch) -> None:
    """The same motion and controls in every world."""
    rng = np.random.default_rng(4)
    batch.joint_qd[:] = rng.uniform(-0.6, 0.6, batch.model.num_dofs)
    batch.tendon_target_pos[:] = 0.3
    if batch.model.mujoco and batch.model.mujoco.get("num_actuators"):
        batch.actuator_ctrl[:] = rng.uniform(-1, 1, batch.model.mujoco["num_actuators"])
    else:
        batch.joint_target_pos[:] = rng.uniform(-0.5, 0.5, batch.model.num_dofs)


def run(model: sapwood.Model, steps: int = 40, worlds: int = 1, **options: Any) -> sapwood.Batch:
    batch = sapwood.Batch(model, worlds, preset="mujoco64", options={"threads": 1, "max_contacts": 24, **options})
    start(batch)
    batch.step(steps)
    return batch


def state(batch: sapwood.Batch, w: int) -> np.ndarray:
    return np.concatenate([batch.joint_q[w], batch.joint_qd[w], batch.actuator_act[w], [batch.cost[w]]])


@pytest.mark.parametrize(
    "actuators, integrator, cone",
    [
        (SERVOS, "Euler", "elliptic"),
        (SERVOS, "implicitfast", "pyramidal"),
        (SERVOS, "RK4", "elliptic"),
        (GENERAL, "Euler", "pyramidal"),
        (GENERAL, "implicitfast", "elliptic"),
        (TENDON, "Euler", "elliptic"),
    ],
)
def test_each_parameter_of_a_world_is_that_of_a_model_and_matters(actuators: str, integrator: str, cone: str) -> None:
    model, effects = imported(compiled(actuators, integrator, cone)), set()
    plain = state(run(model), 0)
    present = [name for name in ALL if np.size(parameter_of(model, name))]
    for name in present:
        x = value(name, parameter_of(model, name), np.random.default_rng(PARAMETERS[name]))
        batch = sapwood.Batch(model, 5, preset="mujoco64", options={"threads": 1, "lanes": 4, "max_contacts": 24})
        batch.expand(name)[2] = x
        start(batch)
        batch.step(40)
        batch.check_parameters()
        assert np.array_equal(state(batch, 1), plain), f"{name}: a world that was not written has changed"
        assert np.array_equal(state(batch, 2), state(run(with_values(model, {name: x})), 0)), (
            f"{name}: not as in a model"
        )
        if not np.array_equal(state(batch, 2), plain):
            effects.add(name)
    idle = {name for name in present if name not in effects}
    drives = {SERVOS: JOINT_DRIVES, TENDON: TENDON_DRIVES, GENERAL: set()}[actuators]
    absent = (JOINT_DRIVES | TENDON_DRIVES | {"mujoco_dof_actuator_range"}) - drives
    if actuators == GENERAL:
        absent = JOINT_DRIVES | TENDON_DRIVES
    absent |= PYRAMIDAL if cone == "pyramidal" else {"mujoco_ls_tolerance"}
    assert idle - IDLE <= absent | ({"tendon_damping"} if integrator == "implicitfast" else set())


@pytest.mark.parametrize("preset", ["mujoco64", "mujoco32"])
@pytest.mark.parametrize("actuators", [SERVOS, GENERAL], ids=["servos", "actuators"])
def test_worlds_with_all_parameters_have_the_bits_of_models_whatever_the_lanes(preset: str, actuators: str) -> None:
    model = imported(compiled(actuators))
    names = [
        n for n in ALL if np.size(parameter_of(model, n)) and n not in ("mujoco_iterations", "mujoco_ls_iterations")
    ]
    values = [
        {n: value(n, parameter_of(model, n), np.random.default_rng(100 * w + PARAMETERS[n])) for n in names}
        for w in range(3)
    ]
    expected = []
    for w in range(3):
        alone = sapwood.Batch(
            with_values(model, values[w]), 1, preset=preset, options={"threads": 1, "max_contacts": 24}
        )
        start(alone)
        alone.step(30)
        expected.append(state(alone, 0))
    for lanes, threads, worlds in ((1, 1, 3), (4, 2, 11), (8, 1, 5)):
        options = {"threads": threads, "lanes": lanes, "max_contacts": 24}
        batch = sapwood.Batch(model, worlds, preset=preset, options=options)
        for n in names:
            for w in range(worlds):
                batch.expand(n)[w] = values[w % 3][n]
        start(batch)
        batch.step(30)
        for w in range(worlds):
            assert np.array_equal(state(batch, w), expected[w % 3]), (lanes, w)


def randomised(m: Any, rng: np.random.Generator, masses: bool) -> None:
    """Domain randomisation of a MuJoCo model, in place."""
    if masses:
        scale = rng.uniform(0.7, 1.5, m.nbody)
        m.body_mass *= scale
        m.body_inertia *= scale[:, None]
    for name in ("geom_friction", "dof_damping", "dof_frictionloss", "jnt_stiffness", "dof_armature", "geom_solref"):
        array = getattr(m, name)
        array *= rng.uniform(0.7, 1.4, array.shape)
    m.opt.gravity += rng.uniform(-0.2, 0.2, 3)
    m.eq_solref[:, 0] *= rng.uniform(0.8, 1.3, m.neq)
    m.actuator_gainprm[:, 0] *= 1.2
    m.actuator_forcerange *= 0.8
    m.tendon_stiffness *= 1.3
    m.jnt_range[m.jnt_limited.astype(bool)] *= 0.95


def write(batch: sapwood.Batch, w: int, m: Any) -> None:
    """Gives a world the numbers of a MuJoCo model."""
    other = imported(m)
    for name in ALL:
        x = parameter_of(other, name)
        if np.size(x):
            batch.expand(name)[w] = x


@pytest.mark.parametrize("weights", [False, True], ids=["without set_const", "with set_const"])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_randomised_worlds_follow_mujoco(integrator: str, weights: bool) -> None:
    models, base = [], compiled(GENERAL, integrator)
    batch = sapwood.Batch(imported(base), 4, options={"threads": 1})
    for w in range(4):
        m = compiled(GENERAL, integrator)
        m.opt.tolerance = 0
        randomised(m, np.random.default_rng(w), masses=weights)  # MuJoCo needs set_const for masses
        if weights:
            mujoco.mj_setConst(m, mujoco.MjData(m))
        write(batch, w, m)
        models.append(m)
    datas = [mujoco.MjData(m) for m in models]
    rng, worst = np.random.default_rng(9), 0.0
    for _ in range(50):
        ctrl = rng.uniform(-1, 1, (4, base.nu))
        batch.ctrl[:] = ctrl
        batch.step()
        for w, (m, d) in enumerate(zip(models, datas, strict=True)):
            d.ctrl[:] = ctrl[w]
            mujoco.mj_step(m, d)
            worst = max(worst, float(np.abs(batch.qpos[w] - d.qpos).max()))
    batch.check_parameters()
    assert worst < 1e-9
    assert len({batch.qpos[w].tobytes() for w in range(4)}) == 4


def test_updated_weights_are_those_of_set_const() -> None:
    model, base = imported(compiled()), compiled()
    batch = sapwood.Batch(model, 70, options={"threads": 2})
    m = compiled()
    randomised(m, np.random.default_rng(1), masses=True)
    before = {name: np.array(parameter_of(model, name)) for name in ALL if name.endswith("invweight")}
    for name in ("body_mass", "body_inertia", "body_com", "joint_armature"):
        batch.expand(name)[69] = parameter_of(imported(m), name)
    batch.update_weights([69])
    mujoco.mj_setConst(m, mujoco.MjData(m))
    mujoco.mj_setConst(base, mujoco.MjData(base))
    for name, old in before.items():
        new = np.array(parameter_of(imported(m), name))
        got = batch.expand(name)
        assert np.array_equal(got[0], old), name
        np.testing.assert_allclose(got[69], new, rtol=1e-11, atol=1e-14, err_msg=name)
        assert not np.allclose(got[69], old, rtol=1e-3), name


@pytest.mark.parametrize(
    "name, x, message",
    [
        (
            "mujoco_shape_condim",
            6,
            r"world 1: mujoco.shape_condim\[0\] is 6; allowed: 1, 3, 4, 6, at most max_condim = 4",
        ),
        ("mujoco_shape_friction", -1, r"world 1: mujoco.shape_friction\[0\]\[0\] is -1; it must be finite and >= 0"),
        ("mujoco_tolerance", np.nan, "world 1: mujoco.tolerance is nan; it must be finite and >= 0"),
        ("mujoco_iterations", 0, "world 1: mujoco.iterations is 0; allowed: 1 .. 100000"),
        ("mujoco_dof_drive_range", [1, -1], r"world 1: mujoco.dof_drive_range\[0\] is 1, -1; the lower bound"),
        ("joint_friction", 0.1, r"world 1: joint_friction\[0\] acts in this world, and the model has no row for it"),
    ],
)
def test_a_value_that_breaks_a_rule_stops_its_world_alone(name: str, x: Any, message: str) -> None:
    model = imported(compiled())
    batch, plain = (sapwood.Batch(model, 3, options={"threads": 1}) for _ in range(2))
    old = batch.expand(name).copy()
    batch.expand(name)[1] = x
    with pytest.raises(sapwood.ModelError, match=message):
        batch.check_parameters()
    for each in (batch, plain):
        start(each)
        each.step(5)
    assert batch.status[1] == _layout.BITS["SAP_WORLD_BAD_PARAMETERS"]
    assert np.array_equal(batch.joint_q[[0, 2]], plain.joint_q[[0, 2]])
    batch.expand(name)[1] = old[1]
    batch.step()
    assert not batch.status[1] & _layout.BITS["SAP_WORLD_BAD_PARAMETERS"]


def test_rows_of_worlds_give_friction_and_limits_where_the_model_has_none() -> None:
    model = imported(compiled())
    open_model = with_values(model, {"mujoco_rows_of_worlds": 1})
    values = {
        "joint_friction": model.joint_friction + 0.1,
        "joint_limit_lower": np.where(
            np.arange(model.num_dofs) >= 12, np.maximum(model.joint_limit_lower, -0.05), -np.inf
        ),
    }
    values["joint_limit_lower"][:12] = model.joint_limit_lower[:12]
    batch = sapwood.Batch(open_model, 3, preset="mujoco64", options={"threads": 1, "max_contacts": 24})
    for name, x in values.items():
        batch.expand(name)[1] = x
    start(batch)
    batch.step(40)
    batch.check_parameters()
    assert np.array_equal(state(batch, 0), state(run(model), 0)), "rows that do not act change nothing"
    assert np.array_equal(state(batch, 1), state(run(with_values(open_model, values)), 0))
    assert not np.array_equal(state(batch, 1), state(batch, 0))


def test_a_saved_state_has_the_parameters() -> None:
    model = imported(compiled(GENERAL))
    batch, other = (sapwood.Batch(model, 3, options={"threads": 1}) for _ in range(2))
    batch.expand("mujoco_shape_friction")[1] *= 0.5
    batch.expand("mujoco_tolerance")[2] = 1e-3
    start(batch)
    batch.step(10)
    saved = batch.get_state()
    other.expand("mujoco_dof_invweight")[0] *= 2
    other.set_state(saved)
    for each in (batch, other):
        each.step(10)
    assert np.array_equal(batch.joint_q, other.joint_q)
    assert np.array_equal(other.expand("mujoco_dof_invweight")[0], parameter_of(model, "mujoco_dof_invweight"))


def test_an_attached_weld_holds_the_present_pose() -> None:
    model = imported(compiled())
    weld = list(model.constraint_type).index(_layout.ENUMS["SapConstraintType"]["SAP_CONSTRAINT_WELD"])
    batch = sapwood.Batch(model, 2, options={"threads": 1})
    batch.constraint_active[:, weld] = 0
    start(batch)
    batch.step(30)
    batch.constraint_active[0, weld] = 1
    batch.attach(weld, [1])
    assert np.all(batch.constraint_error == 0)  # recorded from here on
    batch.step()
    error = np.abs(batch.constraint_error[:, 3:9]).max(axis=1)  # after the three rows of the connect
    assert error[0] > 0.05 and error[1] < 0.01
    assert np.array_equal(batch.constraint_active[:, weld], [1, 1])


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_a_dump_repeats_a_world_with_its_memory_bit_for_bit(integrator: str, tmp_path: Path) -> None:
    """Steps depend on accelerations of earlier ones and on activations; a dump has both, and the law of the model."""
    model, path = imported(compiled(GENERAL, integrator)), tmp_path / "world.dump"
    batch = sapwood.Batch(model, 5, options={"threads": 2, "lanes": 4})
    batch.expand("mujoco_shape_friction")[2] *= 0.5
    batch.expand("body_mass")[2] *= 1.5
    batch.guard(3)
    start(batch)
    for _ in range(6):
        batch.step(2)
    batch.joint_qd[2, 7] = np.nan
    batch.step(3)
    batch.dump(2, path)
    dump = sapwood.Dump(path)
    assert dump.model.mujoco is not None and dump.model.mujoco["num_actuators"] == 2
    assert np.array_equal(dump.actuator_ctrl[0], batch.actuator_ctrl[2])
    assert [call.status_text for call in dump.calls][-1] == ["nonfinite_state"]
    for options in ({}, {"lanes": 1}, {"lanes": 8}):
        replay = dump.replay(options)
        assert replay.same, options
    with dump.batch(0) as again:
        assert np.abs(again.actuator_act).max() > 0 and np.abs(again.dof_cache).max() > 0
        again.dof_cache[:] = 0
        again.step(dump.calls[0].n)
        assert not np.array_equal(again.joint_qd[0], dump.joint_qd[1])
