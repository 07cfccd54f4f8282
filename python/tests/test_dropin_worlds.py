"""Fields of MjModel with values per simulation, as parameters of worlds."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

import sapwood  # noqa: E402
from sapwood.mjcf import convert  # noqa: E402
from sapwood.mujoco import batch, worlds  # noqa: E402

N = 4
MODEL = """
<mujoco><compiler autolimits="true" angle="radian"/><option timestep="0.004" integrator="{integrator}" tolerance="1e-12"><flag island="disable"/></option>
<worldbody><geom name="floor" type="plane" size="5 5 1" friction="0.7 0.01 0.002"/>
 <body name="trunk" pos="0 0 0.28"><freejoint/><geom type="capsule" fromto="-0.2 0 0 0.2 0 0.02" size="0.06"/>
  <geom size="0.07" pos="0.2 0.02 -0.04" margin="0.004" gap="0.001" condim="4" friction="0.6 0.02 0.001"/>
  <body pos="-0.15 0 -0.05" gravcomp="0.2"><joint name="hip" axis="0 1 0" range="-0.6 0.7" damping="0.4" stiffness="3"
    springref="0.1" armature="0.01" frictionloss="0.1"/><geom type="capsule" fromto="0 0 0 0.2 0 -0.1" size="0.04"/>
   <body pos="0.2 0 -0.1"><joint name="knee" axis="0 1 0" range="-1.2 -0.1" damping="0.3" ref="-0.5" frictionloss="0.2"
     margin="0.02"/><geom type="capsule" fromto="0 0 0 0.15 0 -0.08" size="0.035"/></body></body></body>
 <body name="stick" pos="0.6 0.3 0.4"><joint type="ball" range="0 0.3" frictionloss="0.01"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 -0.2"/></body>
</worldbody>
<equality><connect body1="stick" body2="trunk" anchor="0.05 0 -0.1" solref="0.05 1" active="false"/>
 <joint joint1="hip" joint2="knee" polycoef="0 0.7 0.1 0 0" solref="0.03 1"/></equality>
<tendon><fixed name="both" range="-0.1 0.05" stiffness="4" springlength="0 0.01" frictionloss="0.05" margin="0.01">
  <joint joint="hip" coef="0.5"/><joint joint="knee" coef="-0.4"/></fixed></tendon>
<actuator><position joint="hip" kp="8" kv="0.5" forcerange="-1 1"/><motor joint="knee" gear="2" ctrlrange="-1 1"/>
 <general joint="hip" dyntype="filter" dynprm="0.05" gainprm="2" actlimited="true" actrange="-.5 .5"/></actuator>
<sensor><actuatorfrc actuator="0"/><jointactuatorfrc joint="hip"/></sensor></mujoco>""".replace(
    'actuator="0"', 'actuator="servo"'
).replace("<position joint", '<position name="servo" joint')
# The unit is 1 for all but these.
OTHERS = {
    "geom_condim": lambda x, rng: np.where(x == 3, 1, x),
    "geom_priority": lambda x, rng: rng.integers(0, 3, x.shape),
}
OTHERS |= {"opt.iterations": lambda x, rng: x - 40, "opt.ls_iterations": lambda x, rng: x - 10}


def compiled(integrator="Euler"):
    return mujoco.MjModel.from_xml_string(MODEL.format(integrator=integrator))


def change(name, values, rng):
    """Other values of a field, per simulation."""
    if name in OTHERS:
        values[...] = OTHERS[name](values.copy(), rng)
    elif name.endswith("quat"):
        values += rng.normal(0, 0.1, values.shape)
        values /= np.linalg.norm(values, axis=-1, keepdims=True)
    elif name in ("body_ipos", "qpos_spring"):
        values += rng.normal(0, 0.02, values.shape)
    elif name.endswith("solimp") or "solimp" in name:
        values[..., :2] *= rng.uniform(0.9, 1, values[..., :2].shape)
    else:
        values *= rng.uniform(1, 1.3, (N, *[1] * (values.ndim - 1)))


def missing():
    """Parameters that this library lacks."""
    return sorted({p for name in worlds.FIELDS for p in worlds.FIELDS[name] if not worlds._can(p)})


@pytest.mark.parametrize("name", sorted(worlds.FIELDS))
def test_parameters_of_a_world_are_those_of_an_import_of_its_model(name, rng):
    b = batch.Batch(compiled(), N)
    change(name, b.expand(name), rng)
    model = convert(b.model, quiet=True, law="mujoco", lists_actuators=True)
    rows = worlds.Worlds(b.model, model.imported, model.mujoco, model).rows({name: b.expand(name)})
    assert rows
    for i in range(N):
        own = convert(b.get_model(i), quiet=True, law="mujoco", lists_actuators=True)
        for parameter, values in rows.items():
            law = parameter.removeprefix("mujoco_")
            expected = getattr(own, parameter) if law == parameter else own.mujoco[law]
            np.testing.assert_allclose(values[i].ravel(), np.ravel(expected), rtol=1e-15, atol=1e-18, err_msg=parameter)


def test_every_field_of_an_import_that_differs_is_a_parameter(rng):
    b = batch.Batch(compiled(), N)
    for name in worlds.FIELDS:
        change(name, b.expand(name), rng)
    model = convert(b.model, quiet=True, law="mujoco", lists_actuators=True)
    rows = worlds.Worlds(b.model, model.imported, model.mujoco, model).rows({n: b.expand(n) for n in worlds.FIELDS})
    own = convert(b.get_model(1), quiet=True, law="mujoco", lists_actuators=True)
    soft = ("joint_limit_k", "constraint_k", "tendon_limit_k", "joint_effort_limit", "shape_material")  # of SAP's law
    arrays = {name: (array, own.arrays()[name]) for name, array in model.arrays().items()}
    arrays |= {f"mujoco_{name}": (array, own.mujoco[name]) for name, array in model.mujoco.items()}
    for name, (base, other) in arrays.items():
        if name not in rows and not name.startswith(soft) and isinstance(base, (np.ndarray, float, int)):
            np.testing.assert_array_equal(base, other, err_msg=name)


@pytest.mark.skipif(bool(missing()), reason="this library has no parameters of worlds of MuJoCo's law")
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_simulations_with_their_own_values_step_in_one_batch_as_in_mujoco(integrator, rng):
    b = batch.Batch(compiled(integrator), N)
    moving = {"body_ipos", "body_iquat"}  # which move geoms, as MuJoCo has it, and so are no parameters here
    for name in sorted(worlds.FIELDS.keys() - {"opt.iterations", "opt.ls_iterations"} - moving):
        if not name.endswith("0"):
            change(name, b.expand(name), rng)
    b.set_const()
    b.eq_active[::2] = 1
    b.qvel, b.ctrl = rng.normal(0, 0.5, b.qvel.shape), rng.uniform(-1, 1, b.ctrl.shape)
    sensed = b.sensordata
    start = b.state.copy()
    for _ in range(20):
        b.step(nstep=2)
    assert len(b._engines) == (2 if integrator == "RK4" else 1)  # sensors have one of the first stage
    for i in range(N):
        m = b.get_model(i)
        d = mujoco.MjData(m)
        mujoco.mj_setState(m, d, start[i], mujoco.mjtState.mjSTATE_INTEGRATION)
        for _ in range(40):
            mujoco.mj_step(m, d)
        np.testing.assert_allclose(b.qpos[i], d.qpos, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(b.qvel[i], d.qvel, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(sensed[i], d.sensordata, rtol=1e-7, atol=1e-7)


@pytest.mark.skipif(bool(missing()), reason="this library has no parameters of worlds of MuJoCo's law")
def test_values_follow_their_simulations_and_end_with_them(rng):
    m = compiled()
    b, plain = batch.Batch(m, N), batch.Batch(m, N)
    mass = b.expand("body_mass")
    mass[...] *= rng.uniform(1, 2, (N, 1))
    b.qvel = plain.qvel = rng.normal(0, 0.5, b.qvel.shape)
    start = b.state.copy()
    b.step()
    every = b.state.copy()
    b.state[...] = start
    b.step([1, 3])
    b.step([0, 2])
    np.testing.assert_array_equal(b.state, every)
    mass[...] = m.body_mass
    b.state[...] = start
    b.step()
    plain.step()
    np.testing.assert_array_equal(b.state, plain.state)


def test_fields_without_effect_need_no_batch_of_their_own(rng):
    b = batch.Batch(compiled(), N)
    b.expand("geom_rgba")[...] = rng.uniform(0, 1, (N, b.model.ngeom, 4))
    b.expand("body_subtreemass")[1] = 3
    b.step()
    assert len(b._engines) == 1


def test_a_field_that_is_no_parameter_steps_in_batches_of_its_values(rng):
    assert sapwood.capability("gravity", "mujoco").name == "gravity"
    b = batch.Batch(compiled(), N)
    b.expand("body_pos")[2:] += 0.01
    b.step()
    assert len(b._engines) == 2


@pytest.mark.parametrize("name", ["body_ipos", "body_iquat", "geom_pos", "geom_quat", "site_pos"])
def test_frames_that_are_noted_as_the_bodys_act_as_in_mujoco(name, rng):
    xml = MODEL.format(integrator="Euler").replace("<tendon>", "<tendon><!-- -->")
    sites = '<site pos="0 0 .1"/><site/><geom pos="0.01 0 0" size=".05" mass=".2"/>'
    m = mujoco.MjModel.from_xml_string(
        xml.replace('<body name="stick" pos="0.6 0.3 0.4">', f'<body name="stick" pos="0.6 0.3 0.4">{sites}')
    )
    b = batch.Batch(m, N)
    change(name, b.expand(name), rng)
    b.expand(name)[...] += 0.01 if name.endswith("pos") else 0
    b.set_const()
    b.qvel = rng.normal(0, 0.5, b.qvel.shape)
    fields = {field: b.bind(field) for field in ("xipos", "geom_xpos", "geom_xmat", "site_xpos", "ximat")}
    start = b.state.copy()
    b.step(nstep=3)
    b.step()
    for i in range(N):
        own = b.get_model(i)
        d = mujoco.MjData(own)
        mujoco.mj_setState(own, d, start[i], mujoco.mjtState.mjSTATE_INTEGRATION)
        for _ in range(4):
            mujoco.mj_step(own, d)
        np.testing.assert_allclose(b.qpos[i], d.qpos, rtol=1e-9, atol=1e-9)
        for field, values in fields.items():
            np.testing.assert_allclose(values[i], getattr(d, field), rtol=1e-9, atol=1e-9, err_msg=field)


@pytest.mark.parametrize("name", ["dof_armature", "geom_size"])
def test_simulations_with_values_that_break_a_rule_fail_alone(name):
    b = batch.Batch(compiled(), N)
    b.expand(name)[2] *= -1
    with pytest.raises(batch.SimulationError, match=r"1 of 4 simulations \(2\)") as e:
        b.step()
    np.testing.assert_array_equal(e.value.ids, [2])
    np.testing.assert_array_equal(b.time > 0, [True, True, False, True])


def test_many_variants_of_a_model_give_one_warning(monkeypatch):
    monkeypatch.setattr("sapwood.mujoco.models.MANY", 2)
    b = batch.Batch(compiled(), N, quiet=True)
    b.expand("geom_size")[...] *= np.linspace(1, 1.1, N)[:, None, None]
    with pytest.warns(RuntimeWarning, match="4 different models step one after the other.* geom_size"):
        b.step()
