"""sapwood.mujoco.batch against MuJoCo itself: states, fields, models and errors."""

import copy
import gc

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

import sapwood  # noqa: E402
from sapwood.mujoco import batch, engine  # noqa: E402

N = 5
ARM = """
<mujoco>
  <option timestep="0.004" integrator="implicitfast"/>
  <worldbody>
    <geom name="floor" type="plane" size="4 4 .1"/>
    <body name="cart" pos="0 0 .4">
      <joint name="slide" type="slide" axis="1 0 0" range="-.3 .3" limited="true" damping=".2"/>
      <geom name="cart" type="box" size=".1 .1 .05" mass="1"/>
      <body name="arm" pos="0 0 .05">
        <joint name="hinge" axis="0 1 0" stiffness="2" springref=".2" frictionloss=".05"/>
        <geom name="arm" type="capsule" fromto="0 0 0 0 0 .5" size=".02" mass=".2"/>
        <site name="tip" pos="0 0 .5"/>
        <body name="hand" pos="0 0 .5"><joint name="ball" type="ball" damping=".01"/><geom size=".05" mass=".1"/></body>
      </body>
    </body>
    <body name="free" pos="1 0 .3"><freejoint name="free"/><geom name="free" size=".1" mass=".5" condim="4"/>
      <geom type="capsule" fromto="0 0 0 .2 0 0" size=".05" mass=".2"/></body>
    <body name="mocap" mocap="true" pos="1 1 1"><geom size=".02" contype="0" conaffinity="0"/></body>
  </worldbody>
  <equality><joint name="hold" joint1="hinge" joint2="slide" polycoef="0 1 0 0 0" active="false"/></equality>
  <actuator>
    <motor name="push" joint="slide" gear="5" ctrlrange="-1 1"/>
    <general name="turn" joint="hinge" dyntype="filter" dynprm="0.05" gainprm="5" biastype="affine" biasprm="0 -5 -.1"/>
  </actuator>
  <sensor>
    <jointpos joint="hinge"/><accelerometer site="tip"/><framelinvel objtype="site" objname="tip"/>
    <actuatorfrc actuator="turn"/><clock/>
  </sensor>
  <keyframe>
    <key name="up" qpos=".1 .2 1 0 0 0 1 0 .5 1 0 0 0" ctrl=".1 .2" act=".3"/>
    <key qpos="-.1 .4 1 0 0 0 1 0 .6 1 0 0 0"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def model():
    return mujoco.MjModel.from_xml_string(ARM)


def peers(b, models=None):
    """An MjData in the state of each simulation."""
    out = []
    for i, row in enumerate(b.state):
        m = models[i] if models else b.model
        out.append((m, mujoco.MjData(m)))
        mujoco.mj_setState(*out[-1], row, mujoco.mjtState.mjSTATE_INTEGRATION)
    return out


def scatter(b, rng):
    """Random states, controls and velocities."""
    b.qvel = rng.normal(0, 1, b.qvel.shape)
    b.qpos[:, :2] = rng.uniform(-0.2, 0.2, (b.nsim, 2))
    b.ctrl = rng.uniform(-1.5, 1.5, b.ctrl.shape)
    b.act = rng.uniform(-1, 1, b.act.shape)


def near(actual, desired, tolerance=1e-10):
    np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("steps", [1, 4])
def test_states_and_fields_after_steps_are_mujocos(model, rng, steps):
    b = batch.Batch(model, N, 2)
    names = (
        "xpos",
        "geom_xmat",
        "cvel",
        "qfrc_bias",
        "qfrc_passive",
        "actuator_force",
        "qacc",
        "sensordata",
        "act_dot",
    )
    names += ("qfrc_constraint", "ncon", "nefc", "nf", "qacc_smooth", "M", "ten_length")
    fields = {name: b.bind(name) for name in names}
    scatter(b, rng)
    ran = peers(b)
    for _ in range(20):
        b.step(nstep=steps)
        for i, (m, d) in enumerate(ran):
            for _ in range(steps):
                mujoco.mj_step(m, d)
            near(b.qpos[i], d.qpos)
            near(b.qvel[i], d.qvel)
            near(b.act[i], d.act)
            assert b.time[i] == pytest.approx(d.time, rel=1e-12)
            for name, values in fields.items():
                scale = max(1.0, np.abs(getattr(d, name)).max(initial=0))
                near(values[i] / scale, getattr(d, name) / scale, 1e-8)


def test_applied_forces_and_equalities_act_as_in_mujoco(model, rng):
    b = batch.Batch(model, N)
    scatter(b, rng)
    b.qfrc_applied = rng.normal(0, 0.3, b.qfrc_applied.shape)
    b.xfrc_applied[:, 1:] = rng.normal(0, 0.3, (N, model.nbody - 1, 6))
    b.eq_active[::2] = 1
    ran = peers(b)
    b.step(nstep=10)
    for i, (m, d) in enumerate(ran):
        for _ in range(10):
            mujoco.mj_step(m, d)
        near(b.qpos[i], d.qpos)
        near(b.qvel[i], d.qvel)
    free = batch.Batch(model, N)
    free.state[...], free.qfrc_applied, free.xfrc_applied = b.state, 0, 0
    ran = peers(free)
    free.step()
    b.qfrc_applied, b.xfrc_applied = 0, 0
    b.step()
    np.testing.assert_array_equal(b.state, free.state)  # nothing of the forces is left


def test_only_the_chosen_simulations_move(model, rng):
    b = batch.Batch(model, N)
    scatter(b, rng)
    before, every = b.state.copy(), batch.Batch(model, N)
    every.state[...] = before
    every.step()
    b.step([1, 3])
    np.testing.assert_array_equal(b.state[[0, 2, 4]], before[[0, 2, 4]])
    np.testing.assert_array_equal(b.state[[1, 3]], every.state[[1, 3]])
    b.step(np.array([True, False, True, False, True]))
    np.testing.assert_array_equal(b.state, every.state)


def test_threads_do_not_change_results(model, rng):
    one, two = batch.Batch(model, N, 1), batch.Batch(model, N, 2)
    scatter(one, rng)
    two.state[...] = one.state
    one.step(nstep=7)
    two.step(nstep=7)
    np.testing.assert_array_equal(one.state, two.state)


@pytest.mark.parametrize("integrator", ["implicitfast", "Euler", "RK4"])
def test_forward_fills_fields_and_leaves_the_state(integrator, rng):
    b = batch.Batch(mujoco.MjModel.from_xml_string(ARM.replace("implicitfast", integrator)), N)
    names = ("qacc", "sensordata", "xpos", "qfrc_constraint", "cacc", "cfrc_ext", "cfrc_int")
    fields = {name: b.bind(name) for name in names}
    scatter(b, rng)
    b.qpos[:, 8] = 0.09  # the free body touches the ground
    b.xfrc_applied[:, 1:] = rng.normal(0, 0.3, (N, b.model.nbody - 1, 6))
    before = b.state.copy()
    b.forward()
    np.testing.assert_array_equal(b.state, before)
    for i, (m, d) in enumerate(peers(b)):
        mujoco.mj_forward(m, d)
        mujoco.mj_rnePostConstraint(m, d)
        assert d.ncon
        for name, values in fields.items():
            near(values[i], getattr(d, name), 1e-8)


def test_sensors_of_rk4_are_those_of_the_first_stage(rng):
    b = batch.Batch(mujoco.MjModel.from_xml_string(ARM.replace("implicitfast", "RK4")), N)
    sensed = b.sensordata
    scatter(b, rng)
    ran = peers(b)
    for _ in range(5):
        b.step(nstep=2)
    for i, (m, d) in enumerate(ran):
        for _ in range(10):
            mujoco.mj_step(m, d)
        near(b.qpos[i], d.qpos)
        near(sensed[i], d.sensordata, 1e-8)


def test_stages_make_positions_and_velocities_new(model, rng):
    b = batch.Batch(model, N)
    xpos, cvel, qacc, sensed = b.xpos, b.cvel, b.qacc, b.sensordata
    scatter(b, rng)
    b.step(nstep=2, stage=mujoco.mjtStage.mjSTAGE_VEL)
    lagged = qacc.copy()
    for i, (m, d) in enumerate(peers(b)):
        mujoco.mj_forward(m, d)
        near(xpos[i], d.xpos)
        near(cvel[i], d.cvel)
        near(sensed[i, 0], d.sensordata[0])
        near(sensed[i, 4:7], d.sensordata[4:7])
    b.forward(stage=mujoco.mjtStage.mjSTAGE_POS)
    np.testing.assert_array_equal(qacc, lagged)


def test_resets_go_to_keyframes_of_each_simulation(model):
    b = batch.Batch(model, N)
    b.step(nstep=5)
    keys = np.array([0, -1, 1, 1, 0])
    b.reset(keyframe=keys)
    for i, key in enumerate(keys):
        d = mujoco.MjData(model)
        if key >= 0:
            mujoco.mj_resetDataKeyframe(model, d, key)
        np.testing.assert_array_equal(b.qpos[i], d.qpos)
        np.testing.assert_array_equal(b.ctrl[i], d.ctrl)
        np.testing.assert_array_equal(b.act[i], d.act)
    with pytest.raises(ValueError, match=r"keyframe must be in \[-1, 2\), got 2"):
        b.reset(keyframe=2)


@pytest.mark.parametrize("field, warning", [("qvel", "BADQVEL"), ("qpos", "BADQPOS"), ("ctrl", "BADCTRL")])
def test_bad_numbers_count_a_warning_and_reset_as_mj_step(model, field, warning, rng):
    b = batch.Batch(model, N)
    scatter(b, rng)
    b.bind(field)[3, 0] = np.nan
    ran = peers(b)
    b.step(nstep=3)
    for i, (m, d) in enumerate(ran):
        for _ in range(3):
            mujoco.mj_step(m, d)
        near(b.qpos[i], d.qpos)
        near(b.qvel[i], d.qvel)
        near(b.time[i], d.time)
    place = int(getattr(mujoco.mjtWarning, f"mjWARN_{warning}"))
    assert b.warning[3, place, 1] == ran[3][1].warning[place].number
    assert not b.warning[[0, 1, 2, 4]].any()


def test_a_simulation_that_fails_later_in_a_call_keeps_the_state_before_it(model, monkeypatch):
    run, calls = engine.Stepper.run, []

    def fails(self, *arguments):
        outcome = run(self, *arguments)
        calls.append(1)
        outcome.failed.update({0: "made to fail"} if len(calls) == 3 else {})
        return outcome

    b = batch.Batch(model, 2)
    b.ctrl[0] = np.nan  # these simulations step one by one
    before = b.state.copy()
    monkeypatch.setattr(engine.Stepper, "run", fails)
    with pytest.raises(batch.SimulationError, match=r"1 of 2 simulations \(0\); simulation 0: made to fail"):
        b.step(nstep=3)
    np.testing.assert_array_equal(b.state[0], before[0])
    assert not b.warning[0].any() and b.time[1] == pytest.approx(3 * 0.004)


def test_a_simulation_that_fails_keeps_its_state_and_the_others_run(model):
    b = batch.Batch(model, 8)
    kinds = b.expand("jnt_type")
    kinds[[3, 6], 0] = 3
    with pytest.raises(
        batch.SimulationError, match=r"2 of 8 simulations \(3, 6\); simulation 3: jnt_type differs"
    ) as e:
        b.step()
    np.testing.assert_array_equal(e.value.ids, [3, 6])
    np.testing.assert_array_equal(np.flatnonzero(b.status), [3, 6])
    np.testing.assert_array_equal(b.time == 0, b.status != 0)
    kinds[...] = model.jnt_type
    b.step()
    assert not b.status.any() and b.error(3) == ""


def test_no_contact_is_dropped_where_there_are_more_than_expected(monkeypatch):
    monkeypatch.setattr("sapwood.probe.contact_capacity", lambda *_: 2)
    xml = "<mujoco><worldbody><geom type='plane' size='5 5 .1'/>{}</worldbody></mujoco>"
    ball = "<body pos='{} 0 1'><freejoint/><geom size='.1'/></body>"
    m = mujoco.MjModel.from_xml_string(xml.format("".join(ball.format(0.3 * i) for i in range(12))))
    b = batch.Batch(m, 2)
    b.step()
    ncon = b.ncon
    b.qpos[1, 2::7] = 0.09
    b.step()
    assert list(ncon) == [0, 12]
    assert b.qvel[1, 2::6].min() > 0  # all of them are pushed up


@pytest.mark.parametrize(
    "field, factors",
    [
        ("body_mass", (0.5, 2)),
        ("dof_damping", (0.5, 3)),
        ("geom_friction", (0.2, 2)),
        ("actuator_gainprm", (0.5, 1.5)),
        ("actuator_biasprm", (0.5, 1.5)),
        ("jnt_stiffness", (0.5, 2)),
        ("opt.gravity", (0.1, 1)),
        ("geom_size", (0.9, 1.1)),
        ("body_pos", (0.95, 1.05)),
        ("opt.timestep", (0.5, 1)),
    ],
)
def test_expanded_fields_act_as_in_models_with_these_values(model, rng, field, factors):
    b = batch.Batch(model, N)
    values = b.expand(field)
    values *= rng.uniform(*factors, (N, *[1] * (values.ndim - 1)))
    b.set_const()
    scatter(b, rng)
    xpos = b.xpos
    ran = peers(b, [b.get_model(i) for i in range(N)])
    b.step(nstep=8)
    for i, (m, d) in enumerate(ran):
        np.testing.assert_array_equal(
            getattr(m.opt, field[4:]) if field.startswith("opt.") else getattr(m, field), values[i]
        )
        for _ in range(8):
            mujoco.mj_step(m, d)
        near(b.qpos[i], d.qpos)
        near(b.qvel[i], d.qvel, 1e-9)
        near(xpos[i], d.xpos)


def test_set_const_derives_as_mj_setconst_and_names_what_fails(model):
    b = batch.Batch(model, N)
    assert b.expanded("body_mass") is None
    b.body("arm").mass = np.linspace(0.1, 1, N).reshape(N, 1)
    b.set_const()
    for i in range(N):
        m = copy.copy(model)
        m.body_mass[2] = np.linspace(0.1, 1, N)[i]
        mujoco.mj_setConst(m, mujoco.MjData(m))
        near(b.expanded("body_subtreemass")[i], m.body_subtreemass, 1e-14)
        near(b.expanded("dof_invweight0")[i], m.dof_invweight0, 1e-14)
        assert b.get_model(i).stat.meaninertia == m.stat.meaninertia


def test_set_const_names_the_simulations_that_fail():
    geom = "<geom size='.1' mass='1' contype='0' conaffinity='0'/>"
    xml = f"<mujoco><worldbody><body><joint type='slide'/>{geom}</body></worldbody></mujoco>"
    b = batch.Batch(mujoco.MjModel.from_xml_string(xml), 3)
    b.expand("body_mass")[:, 1] = [0, 2, 0]
    with pytest.raises(batch.SimulationError, match=r"1 of 2 simulations \(0\)") as e:
        b.set_const([0, 1])
    np.testing.assert_array_equal(e.value.ids, [0])
    assert list(b.status) == [1, 0, 0]


def test_models_of_the_caller_replace_expanded_fields(model, rng):
    variants = []
    for i in range(N):
        variants.append(copy.copy(model))
        variants[i].body_mass[2] = 0.1 * (i + 1)
        mujoco.mj_setConst(variants[i], mujoco.MjData(variants[i]))
    b = batch.Batch(model, N)
    b.set_models(variants)
    assert b.models == tuple(variants)
    scatter(b, rng)
    ran = peers(b, variants)
    b.step(nstep=5)
    for i, (m, d) in enumerate(ran):
        for _ in range(5):
            mujoco.mj_step(m, d)
        near(b.qpos[i], d.qpos)
    with pytest.raises(mujoco.FatalError, match="caller"):
        b.expand("body_mass")
    with pytest.raises(ValueError, match="set_models"):
        b.body("arm").mass = 1
    with pytest.raises(ValueError, match="per simulation"):
        b.set_models(variants[1:])
    other = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(ValueError, match="nq of a model is 1; in the batch it is 13"):
        b.set_models(other)
    b.set_models(None)
    b.expand("body_mass")
    with pytest.raises(mujoco.FatalError, match="per-simulation"):
        b.set_models(variants)


def test_named_views_are_slices(model):
    b = batch.Batch(model, N)
    b.joint("free").qvel = np.arange(6)
    np.testing.assert_array_equal(b.qvel[:, 5:11], np.tile(np.arange(6), (N, 1)))
    assert b.sensor(1).data.shape == (N, 3) and b.joint("ball").qpos.shape == (N, 4)
    assert not b.body("arm").mass.flags.writeable and b.expanded("body_mass") is None
    b.geom("floor").friction = [2, 0.01, 0.001]
    assert np.all(b.expand("geom_friction")[:, 0] == [2, 0.01, 0.001])
    np.testing.assert_array_equal(b.keyframe("up").qpos[2], model.key("up").qpos)
    for wrong, error, message in (
        (lambda: b.joint("hinge").qpso, AttributeError, "did you mean 'qpos'"),
        (lambda: b.equality("hold").xpos, AttributeError, "not a field of a equality"),
        (lambda: b.actuator("turn").moment, AttributeError, "not a slice of a field"),
        (lambda: setattr(b.joint("hinge"), "qposadr", 0), ValueError, "structural"),
        (lambda: setattr(b.body("arm"), "xpos", 0), ValueError, "computed by every call"),
        (lambda: b.body("leg"), KeyError, "leg"),
    ):
        with pytest.raises(error, match=message):
            wrong()


def test_wrong_names_say_where_the_field_belongs(model):
    b = batch.Batch(model, N)
    for wrong, message in (
        (lambda: b.bind("body_mass"), r"use expand\('body_mass'\)"),
        (lambda: b.bind("timestep"), r"use expand\('opt.timestep'\)"),
        (lambda: b.bind("efc_force"), "arena"),
        (lambda: b.bind("qpso"), "did you mean 'qpos'"),
        (lambda: b.bind("pstack"), r"scalars bind\(\) accepts: nA"),
        (lambda: b.expand("xpos"), r"use bind\('xpos'\)"),
        (lambda: b.expand("mesh_vert"), "asset data"),
        (lambda: b.expanded("qpos"), r"use bind\('qpos'\)"),
        (lambda: b.rollout(1, record=("qpso",)), "did you mean 'qpos'"),
        (lambda: setattr(b, "xpos", 0), "computed by every call"),
        (lambda: b.step([0, N]), rf"in \[0, {N}\), got {N}"),
        (lambda: b.step([2, 1]), "got 2 before 1"),
        (lambda: b.step([0.5]), "must be integers"),
        (lambda: b.step(np.ones(3, bool)), r"shape \(5,\), got \(3,\)"),
        (lambda: b.jac(99, np.zeros(3)), r"body must be in \[0, 6\), got 99"),
        (lambda: b.ray(np.zeros(3), [0, 0, 1], bodyexclude=-2), r"bodyexclude must be in \[-1, 6\), got -2"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    with pytest.raises(AttributeError, match=r"use expand\('body_mass'\)"):
        b.body_mass
    assert not np.any(b.time)


def test_names_of_fields_are_mujocos():
    theirs = pytest.importorskip("mujoco.batch")
    assert batch.DATA_FIELDS == theirs.DATA_FIELDS
    assert batch.MODEL_FIELDS == theirs.MODEL_FIELDS


def test_jacobians_and_rays_are_mujocos(model, rng):
    b = batch.Batch(model, N)
    scatter(b, rng)
    before, points = b.state.copy(), rng.uniform(-1, 1, (N, 3))
    bodies = np.array([1, 2, 3, 4, 2])
    jacp, jacr = b.jac(bodies, points)
    dist, geom, normal = b.ray([[0, -1, 0.5], [1, 0, 2]], [[0, 1, 0], [0, 0, -1]], normal=True)
    np.testing.assert_array_equal(b.state, before)
    for i, (m, d) in enumerate(peers(b)):
        mujoco.mj_forward(m, d)
        p, r = np.zeros((2, 3, m.nv))
        mujoco.mj_jac(m, d, p, r, points[i], bodies[i])
        near(jacp[i], p)
        near(jacr[i], r)
        hit, n = np.zeros(1, np.int32), np.zeros(3)
        near(dist[i, 1], mujoco.mj_ray(m, d, [1, 0, 2], [0, 0, -1], None, 1, -1, hit, n))
        assert geom[i, 1] == hit[0]
        near(normal[i, 1], n)


def test_a_mocap_body_that_touches_others_may_not_move():
    m = mujoco.MjModel.from_xml_string(ARM.replace(' contype="0" conaffinity="0"', ""))
    b = batch.Batch(m, 2, quiet=True)
    b.step()
    b.mocap_pos[1] = 2
    with pytest.raises(ValueError, match="mocap_pos or mocap_quat of body 'mocap' differs"):
        b.step()


def test_views_outlive_the_batch(model):
    b = batch.Batch(model, N)
    qpos, xpos = b.qpos, b.xpos
    b.step()
    kept = qpos.copy(), xpos.copy()
    del b
    gc.collect()
    np.testing.assert_array_equal(qpos, kept[0])
    np.testing.assert_array_equal(xpos, kept[1])
    qpos[:] = 0


def test_callbacks_are_refused_by_name(model):
    b = batch.Batch(model, N)
    mujoco.set_mjcb_control(lambda m, d: None)
    try:
        with pytest.raises(ValueError, match="mjcb_control"):
            b.step()
    finally:
        mujoco.set_mjcb_control(None)
    b.step()


def test_single_precision_is_a_preset(model, rng):
    double, single = batch.Batch(model, N), batch.Batch(model, N, preset="mujoco32")
    scatter(double, rng)
    single.state[...] = double.state
    for b in (double, single):
        b.step(nstep=5)
    near(single.qpos, double.qpos, 1e-4)
    assert not np.array_equal(single.qpos, double.qpos)


def test_forces_that_turn_with_their_bodies_are_refused_in_stages_of_rk4(rng):
    b = batch.Batch(mujoco.MjModel.from_xml_string(ARM.replace("implicitfast", "RK4")), N)
    b.qfrc_applied[2, 0] = 0.1
    ran = peers(b)
    b.step(nstep=4)
    for i, (m, d) in enumerate(ran):
        for _ in range(4):
            mujoco.mj_step(m, d)
        near(b.qpos[i], d.qpos)
    b.qfrc_applied[2, 6] = 0.1
    with pytest.raises(ValueError, match="qfrc_applied of joint 'free'.* RK4"):
        b.step()


def test_assigning_to_the_state_writes_it(model):
    b = batch.Batch(model, N)
    qpos, kept = b.qpos, b.state
    b.state = b.state + 1
    assert b.state is kept and qpos[0, 0] == 1


def test_sensors_on_mocap_bodies_follow_them(rng):
    kinds = ("framepos", "framequat", "framexaxis", "framezaxis", "framelinvel", "frameangvel")
    ends = (("site", "m", "xbody", "arm"), ("xbody", "hand", "body", "mocap"), ("geom", "held", None, None))
    sensors = "".join(
        f"<{kind} objtype='{a}' objname='{b}'" + (f" reftype='{c}' refname='{d}'/>" if c else "/>")
        for kind in kinds
        for a, b, c, d in ends
    )
    xml = ARM.replace("<sensor>", f"<sensor>{sensors}").replace(
        'contype="0" conaffinity="0"/></body>',
        'contype="0" conaffinity="0"/><site name="m" pos=".1 0 0"/><body pos="0 .2 0" euler="20 0 0">'
        '<geom name="held" size=".1" contype="0" conaffinity="0" mass="1"/></body></body>',
    )
    b = batch.Batch(mujoco.MjModel.from_xml_string(xml), N)
    scatter(b, rng)
    b.mocap_pos, b.mocap_quat = rng.normal(0, 1, (N, 1, 3)), rng.normal(0, 1, (N, 1, 4))
    sensed = b.sensordata
    b.forward()
    for i, (m, d) in enumerate(peers(b)):
        mujoco.mj_forward(m, d)
        near(sensed[i], d.sensordata, 1e-9)


def test_activations_that_no_step_has_stay_and_give_a_warning(rng):
    muscle = '<muscle joint="hinge" lengthrange="-1 1"/></actuator>'
    m = mujoco.MjModel.from_xml_string(ARM.replace("</actuator>", muscle).split("<keyframe>")[0] + "</mujoco>")
    b = batch.Batch(m, 2)
    b.act = before = rng.uniform(0, 1, b.act.shape)
    with pytest.warns(sapwood.SapwoodImportWarning, match="muscle|actuator"):
        b.step(nstep=3)
    np.testing.assert_array_equal(b.act, before)
    assert np.all(np.isfinite(b.qpos)) and np.any(b.qvel)


STILL = "<mujoco><worldbody><body name='a' mocap='true'><geom size='.1'/></body></worldbody></mujoco>"


@pytest.mark.parametrize("xml", [ARM, STILL])
def test_every_field_binds_and_expands_in_every_call(xml):
    b = batch.Batch(mujoco.MjModel.from_xml_string(xml), 2)
    for name in batch.DATA_FIELDS:
        assert b.bind(name).shape[0] == 2
    for call in (b.step, b.forward, lambda: b.step(nstep=2, stage=2), lambda: b.step(stage=1), lambda: b.step(stage=3)):
        call()
    for name in batch.MODEL_FIELDS:
        assert b.expand(name).shape[0] == 2
    b.step()
    for name in batch.DATA_FIELDS:
        assert np.all(np.isfinite(b.bind(name).astype(float))), name


def test_no_simulations_are_a_call_that_does_nothing(model):
    b = batch.Batch(model, 2)
    for call in (b.step, b.forward, b.reset, b.set_const):
        call([])
    out = b.rollout(3, record=("qpos", "ncon"), ids=[])
    assert out["qpos"].shape == (0, 3, model.nq) and out["ncon"].shape == (0, 3)
    assert b.jac(1, np.zeros(3), ids=[])[0].shape == (0, 3, model.nv) and not b.time.any()
