"""What an import keeps, maps and reports: one small model for each kind of element."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import sapwood
from sapwood.conventions import quat_matrix

mujoco = pytest.importorskip("mujoco")


def both(xml, **options):
    m = mujoco.MjModel.from_xml_string(xml)
    return m, mujoco.MjData(m), sapwood.Model.from_mjmodel(m, **options)


def step_mujoco(m, d, n):
    for _ in range(n):
        mujoco.mj_step(m, d)
    mujoco.mj_kinematics(m, d)


# ---- warnings ----

LOSSES = """<mujoco model="thing"><worldbody>
  <body name="a"><joint type="ball" name="b" range="0 1" limited="true"/><geom size="1"/></body>
  <body name="c" pos="5 0 0"><joint name="h"/><geom name="c" size="1"/><site name="c" pos="3 0 0"/></body>
  <site name="w" pos="0 0 9"/></worldbody>
  <tendon><spatial name="belt" damping="1"><site site="w"/><geom geom="c"/><site site="c"/></spatial>
    <spatial name="strap" stiffness="1"><site site="w"/><geom geom="c"/><site site="c"/></spatial></tendon>
  <sensor><e_kinetic name="energy"/></sensor></mujoco>"""


def test_each_kind_of_element_that_is_lost_gives_one_warning_that_points_to_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        both(LOSSES)
    assert [w.category for w in caught] == [sapwood.SapwoodImportWarning] * 2
    texts = [str(w.message) for w in caught]
    assert (
        "thing: lost: joint 'b': limit of a ball joint. The joint turns without a limit; solver='mujoco' has the limit"
        in texts
    )
    assert any("tendon 'belt'" in text and "1 more of tendon" in text for text in texts)
    assert {w.filename for w in caught} == {__file__}


def test_every_loss_says_what_follows_and_each_text_is_its_own():
    from sapwood.mjcf import Code

    lost = [code for code in Code if code.lost]
    assert len(lost) > 30 and all(code.advice for code in lost)
    assert len(Code) == len(Code.__members__), "an alias is another code by mistake"


def test_a_loss_is_data_with_a_code():
    from sapwood.mjcf import Code

    model = both(LOSSES, quiet=True)[2]
    lost = [found for found in model.imported.found if found.code.lost]
    assert [(found.code, found.kind, found.name) for found in lost] == [
        (Code.BALL_LIMIT, "joint", "b"),
        (Code.TENDON, "tendon", "belt"),
        (Code.TENDON, "tendon", "strap"),
    ]
    assert [str(found) for found in lost] == model.imported.lost == model.report()[:3]


def test_quiet_silences_the_warnings_and_keeps_the_report():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = both(LOSSES, quiet=True)[2]
    assert len(model.imported.lost) == 3 and len(model.report()) == 4


def test_what_does_not_move_the_robot_gives_no_warning_and_passes_strict():
    xml = """<mujoco><worldbody><body><joint name="h"/><geom size="1"/><site name="s"/></body></worldbody>
      <sensor><jointpos joint="h"/><e_kinetic name="energy"/></sensor></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = both(xml, strict=True)[2]
    assert [line for line in model.report() if "sensor" in line] == [
        "sensor 'energy': e_kinetic, lost: no such reading; it reads 0, and does not move the robot"
    ]


# ---- bodies ----

LEAVES = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="base" pos="0 0 1" quat="0.9 0.1 -0.3 0.2"><freejoint/><geom type="box" size="0.1 0.2 0.3"/>
    <body name="mount" pos="0.1 0.2 0.3" quat="0.5 0.5 -0.5 0.5">
      <body name="tip" pos="0.5 0 0"><geom name="pad" type="box" size="0.01 0.02 0.03" pos="0.1 0 0" mass="0"/><site name="eye" pos="0 0 1" quat="0.7 0.7 0 0"/>
        <body name="last" pos="0 0.7 0"/>
        <body name="arm" pos="0 0 0.2" quat="0.8 0 0.6 0"><joint name="j" axis="1 2 3"/><geom size="0.1" pos="0.2 0 0"/></body>
      </body></body></body></worldbody></mujoco>"""


def random_state(m, d, rng):
    d.qpos[:] = m.qpos0 + 0.5 * rng.normal(size=m.nq)
    mujoco.mj_normalizeQuat(m, d.qpos)
    d.qvel[:] = rng.normal(size=m.nv)
    mujoco.mj_forward(m, d)


def test_massless_welded_bodies_are_part_of_their_parent(rng):
    m, d, model = both(LEAVES)
    assert model.body_name == ["base", "arm"]
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        for _ in range(5):
            random_state(m, d, rng)
            batch.qpos, batch.qvel = d.qpos, d.qvel
            assert np.allclose(batch.xpos[0], d.xpos, atol=1e-12)
            for mine, theirs in zip(batch.xquat[0], d.xquat):
                assert np.allclose(mine, theirs, atol=1e-12) or np.allclose(-mine, theirs, atol=1e-12)
            M = np.zeros((m.nv, m.nv))
            mujoco.mj_fullM(m, d, M)
            motion = model.free_motion(batch.joint_q, batch.joint_qd)
            T = model.imported.coordinates.internal(batch.joint_q[0], m.nv)
            assert np.allclose(T.T @ motion["A"][0] @ T, M, atol=1e-12)
            X = model.shape_transform[model.shape_name.index("pad")]
            base = batch.body_q[0, 0]
            place = base[:3] + quat_matrix(base[3:]) @ X[:3]
            assert np.allclose(place, d.geom_xpos[m.geom("pad").id], atol=1e-12)


def test_sites_are_frames_that_move_with_their_bodies(rng):
    m, d, model = both(LEAVES)
    assert list(model.frames) == ["eye"] and model.frames["eye"].body == 0
    with sapwood.Batch(model, 3, preset="approx64") as batch:
        random_state(m, d, rng)
        batch.qpos = d.qpos
        assert np.allclose(batch.site_xpos[2], d.site_xpos, atol=1e-12)
        frame = batch.frame("eye")[1]
        assert np.allclose(frame[:3], d.site_xpos[0], atol=1e-12)
        assert np.allclose(quat_matrix(frame[3:]), d.site_xmat[0].reshape(3, 3), atol=1e-12)
        with pytest.raises(KeyError, match="did you mean 'eye'"):
            batch.frame("eyes")


# ---- soft contacts ----

SOFT = """<mujoco><option cone="{cone}" impratio="{impratio}" timestep="0.002"/><worldbody>
  <geom type="plane" size="1 1 1" {floor}/>
  <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.2 0.1" mass="20" {foot}/></body></worldbody></mujoco>"""
ANYMAL_FOOT = 'solimp="0.015 1 0.031" friction="0.8" priority="1"'


FEET = [
    ANYMAL_FOOT, 'solimp="0.015 1 0.031"', 'solimp="0.015 1 0.022" solmix="3"', "", 'solref="0.004 1.2"', 'solref="-5000 -90"',
    'solimp="0.1 0.9 0.005 0.3 4" priority="1"', 'friction="0.3"', 'friction="1.7" condim="4"', 'condim="6"', 'condim="1"']  # fmt: skip
CONES = [("elliptic", 1), ("elliptic", 100), ("pyramidal", 1), ("pyramidal", 10)]
RESTLESS = ("pyramidal", 10, 'solref="-5000 -90"')  # MuJoCo's box does not come to rest


@pytest.mark.parametrize("cone, impratio, foot", [(*c, f) for f in FEET for c in CONES if (*c, f) != RESTLESS])
def test_a_box_on_soft_ground_stands_as_deep_as_that_of_mujoco(cone, impratio, foot):
    """Its four contacts carry a quarter of the weight each, the load for which the stiffness is MuJoCo's."""
    floor = "" if "condim" in foot else 'condim="3"'
    if 'condim="1"' in foot:
        floor = 'condim="1"'
    m, d, model = both(SOFT.format(cone=cone, impratio=impratio, foot=foot, floor=floor), quiet=True)
    step_mujoco(m, d, 3000)
    assert d.ncon == 4
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.step(3000)
        depth, ours = 0.1 - d.qpos[2], 0.1 - batch.joint_q[0, 2]
        assert depth > 1e-6 and 20 * 9.81 / 4 / model.shape_material_ke[1] == pytest.approx(depth, rel=1e-6)
        assert ours == pytest.approx(depth, rel=2e-3, abs=2e-5)  # a contact that is nearly rigid has a depth of its own


def test_two_soft_bodies_penetrate_each_other_as_those_of_mujoco():
    """A box on another that is held: both compliances act in series."""
    xml = """<mujoco><option cone="elliptic"/><worldbody>
      <body><joint type="slide" axis="0 0 1" stiffness="1e6" damping="1e3"/><geom type="box" size="1 1 0.1" mass="50"/></body>
      <body pos="0 0 0.2"><freejoint/><geom type="box" size="0.2 0.2 0.1" mass="20" solimp="0.015 1 0.03"/></body></worldbody></mujoco>"""
    m, d, model = both(xml)
    step_mujoco(m, d, 3000)
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.step(3000)
        theirs, ours = d.qpos[0] + 0.2 - d.qpos[3], batch.joint_q[0, 0] + 0.2 - batch.joint_q[0, 3]
        assert theirs > 1e-4 and ours == pytest.approx(theirs, rel=2e-3)


# ---- controls ----

CONTROLLED = """<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody>
  <body><joint name="p" type="slide" axis="1 0 0" damping="30"/><geom size="0.1"/>
    <body pos="1 0 0"><joint name="h" axis="0 0 1" damping="1" range="-1 1" limited="true"/><geom size="0.1"/></body></body>
  </worldbody><actuator><position name="servo" joint="p" kp="50"/><motor name="motor" joint="h" gear="3" ctrlrange="-2 2"/></actuator>
  <keyframe><key name="zero"/><key name="hold" time="7" qpos="0.5 0.1" ctrl="0.5 0.25"/></keyframe></mujoco>"""


def test_a_reset_to_a_keyframe_restores_its_control_and_time():
    m, d, model = both(CONTROLLED)
    with sapwood.Batch(model, 3, preset="approx64") as batch:
        batch.reset([0, 2], "hold")
        assert batch.joint_target_pos[:, 0].tolist() == [0.5, 0, 0.5]
        assert batch.joint_f[:, 1].tolist() == [0.75, 0, 0.75]
        assert batch.time.tolist() == [7, 0, 7]
        batch.ctrl[1] = 1
        batch.step(2)
        assert batch.ctrl[1].tolist() == [1, 1]
        batch.reset(1, keyframe="hold")
        assert batch.ctrl[1].tolist() == [0.5, 0.25] and batch.joint_f[1, 1] == 0.75
        batch.reset()
        assert not np.any(batch.ctrl) and not np.any(batch.joint_f) and not np.any(batch.time)


def test_a_motor_with_a_constant_bias_acts_from_the_first_step():
    xml = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="h"/><geom size="0.1"/></body></worldbody>
      <actuator><general joint="h" biastype="affine" biasprm="0.4 0 0"/></actuator></mujoco>"""
    m, d, model = both(xml)
    with sapwood.Batch(model, 2, preset="approx64") as batch:
        assert np.all(batch.joint_f == 0.4)
        batch.joint_f[:] = 0
        batch.reset(1)
        assert batch.joint_f[:, 0].tolist() == [0, 0.4]


DRONE = """<mujoco><option timestep="0.002"/><worldbody><body name="drone" pos="0 0 2"><freejoint/>
  <geom type="box" size="0.1 0.2 0.05" pos="0.02 0.01 0"/>
  <body name="plate" pos="0 0 0.1" quat="0.9 0.1 0 0.2"><site name="r1" pos="0.3 0.2 0"/><site name="r2" pos="-0.3 0.2 0" quat="0.9 0 0.3 0"/></body>
  </body></worldbody>
  <actuator><motor name="one" site="r1" gear="0 0 1 0 0 -0.1" ctrlrange="0 200"/>
    <motor name="two" site="r2" gear="0 0.2 1 0 0 0.1" ctrlrange="0 200" forcerange="0 60"/></actuator></mujoco>"""


def test_thrusters_at_sites_give_the_forces_of_mujoco(rng):
    m, d, model = both(DRONE)
    assert model.imported.lost == []
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        for _ in range(5):
            random_state(m, d, rng)
            d.ctrl[:] = rng.uniform(0, 100, 2)
            mujoco.mj_forward(m, d)
            batch.qpos, batch.qvel = d.qpos, d.qvel
            batch.set_ctrl(d.ctrl[None])
            force = np.concatenate([batch.body_f[0, 0]])
            expected = model.imported.coordinates.joint_f(batch.joint_q[0], d.qfrc_actuator)
            assert np.allclose(force, expected, rtol=1e-10, atol=1e-10)


def test_a_drone_flies_as_that_of_mujoco_and_its_thrust_turns_with_it():
    m, d, model = both(DRONE)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    d.ctrl[:] = [60, 50]
    step_mujoco(m, d, 100)
    assert np.abs(d.qpos[3:7] - [1, 0, 0, 0]).max() > 0.1
    errors = []
    for h in (5e-4, 1.25e-4):
        with sapwood.Batch(model, 2, preset="approx64") as batch:
            batch.ctrl = d.ctrl
            batch.step(round(0.2 / h), h)
            errors.append(np.max(np.abs(batch.qpos[1] - d.qpos)))
    assert errors[1] < 2e-3 and errors[0] / errors[1] == pytest.approx(4, rel=0.1)


def test_gravity_compensation_is_a_number_of_bodies_that_a_scene_keeps(tmp_path):
    xml = """<mujoco><worldbody>
      <body name="a" gravcomp="1" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/>
        <body name="b" gravcomp="0.5" pos="1 0 0"><joint axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body></body></worldbody></mujoco>"""
    m, d, model = both(xml)
    assert model.imported.lost == [] and model.body_gravcomp.tolist() == [1, 0.5]
    model.save(tmp_path / "scene.yaml")
    assert sapwood.Model.load(tmp_path / "scene.yaml").body_gravcomp.tolist() == [1, 0.5]
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    step_mujoco(m, d, 100)
    assert abs(d.qpos[7]) > 0.1
    with sapwood.Batch(model, 2, preset="approx64") as batch:
        batch.reset(1)
        batch.step(1600, 1.25e-4)
        assert np.allclose(batch.qpos, d.qpos, atol=1e-3) and not batch.body_f.any()


# ---- drives ----


def test_set_drive_makes_motors_position_servos():
    m, d, model = both(CONTROLLED)
    model.set_drive("h", kp=40, kd=4)
    assert model.joint_target_ke.tolist() == [50, 40] and model.joint_target_kd[1] == 4
    assert model.joint_effort_limit[1] == 6  # gear times the range of the motor
    with sapwood.Batch(model, 2, preset="approx64") as batch:
        batch.ctrl[:] = [0.3, 0.7]
        batch.step(3000)
        assert np.allclose(batch.joint_q, [0.3, 0.7], atol=1e-4)
        batch.ctrl[:] = [0.3, 9]
        batch.step(3000)
        assert np.allclose(batch.joint_q[:, 1], 1, atol=1e-4)  # the range of the joint


def test_set_drive_takes_values_for_each_joint_of_any_model(quadruped):
    with sapwood.Batch(quadruped, 1) as old:
        names = quadruped.joint_name[1:4]
        quadruped.set_drive(names, kp=[1, 2, 3], kd=0.1, effort=[4, 5, np.inf])
        assert quadruped.joint_target_ke[6:9].tolist() == [1, 2, 3] and quadruped.joint_effort_limit[8] == np.inf
        assert np.array_equal(quadruped.joint_target_pos[6:9], quadruped.joint_q[7:10])
        old.step()
    with pytest.raises(KeyError, match="did you mean"):
        quadruped.set_drive(names[0] + "x", 1)
    quadruped.set_drive(None, kp=7)
    assert np.all(quadruped.joint_target_ke[6:] == 7) and not np.any(quadruped.joint_target_ke[:6])


# ---- MuJoCo's words ----


def test_mujocos_names_are_its_arrays(rng):
    m, d, model = both(LEAVES)
    with sapwood.Batch(model, 2, preset="approx64") as batch:
        random_state(m, d, rng)
        batch.qpos = d.qpos
        batch.qvel = d.qvel
        assert np.allclose(batch.qpos, d.qpos, atol=1e-14) and np.allclose(batch.qvel, d.qvel, atol=1e-14)
        assert batch.xpos.shape == (2, m.nbody, 3) and batch.xquat.shape == (2, m.nbody, 4)
        batch.step(10)
        assert batch.time == pytest.approx([10 * m.opt.timestep] * 2)
        for name in ("qpos", "qvel", "xpos", "xquat", "time"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(batch, name)[0] = 0


def test_ctrl_is_live_and_each_step_reads_it():
    m, d, model = both(CONTROLLED)
    with sapwood.Batch(model, 2, preset="approx64") as batch, sapwood.Batch(model, 2, preset="approx64") as other:
        ctrl = batch.ctrl
        for i in range(20):
            ctrl[:, 1] = 0.1 * i
            other.set_ctrl(ctrl)
            batch.step()
            other.step()
        assert np.array_equal(batch.joint_q, other.joint_q) and np.any(batch.joint_q)
        state = batch.get_state()
        assert np.array_equal(state["ctrl"], ctrl)
        other.set_state(state)
        batch.step(5), other.step(5)
        assert np.array_equal(batch.joint_q, other.joint_q)


BIASED = """<mujoco><worldbody><body><freejoint/><geom size="0.1"/><site name="s" pos="0.1 0 0"/></body></worldbody>
  <actuator><general site="s" gear="0 0 1 0 0 0" biastype="affine" biasprm="20 0 0"/></actuator></mujoco>"""
READS = ["ctrl", "act", "qpos", "qvel", "xpos", "xquat", "site_xpos", "eq_active", "time", "stats", "info", "names"]


@pytest.mark.parametrize("law", ["sap", "mujoco"])
@pytest.mark.parametrize("xml", [CONTROLLED, BIASED])
def test_no_read_has_an_effect(xml, law):
    """The targets are written by hand; a reset to a keyframe sets others."""
    model = both(xml, law=law, quiet=True)[2]
    with sapwood.Batch(model, 2) as read, sapwood.Batch(model, 2) as other:
        for batch in (read, other):
            batch.joint_target_pos[:, 0] = 0.3
        for reset in (None, *range(model.num_keyframes + 1)):
            for batch in (read, other):
                if reset is not None:
                    batch.reset([1], reset)
                if batch is read:
                    shown = [np.array(getattr(batch, name), copy=True) for name in READS][0]
                batch.step(5)
            assert np.array_equal(read.joint_q, other.joint_q) and np.array_equal(read.joint_f, other.joint_f)
            assert np.array_equal(read.joint_target_pos, other.joint_target_pos)
            assert np.array_equal(shown[1], model.imported.key_ctrl[reset - 1] if reset else np.zeros(shown.shape[1]))
        assert read.get_state().keys() - {"act"} == other.get_state().keys() - {"act"}


def test_an_mjdata_gets_the_state_of_a_world(rng):
    m, d, model = both(CONTROLLED)
    with sapwood.Batch(model, 3, preset="approx64") as batch:
        batch.ctrl[:] = rng.normal(size=batch.ctrl.shape)
        batch.step(50)
        batch.to_mjdata(d, 2)
        assert np.array_equal(d.qpos, batch.qpos[2]) and np.array_equal(d.qvel, batch.qvel[2])
        assert np.array_equal(d.ctrl, batch.ctrl[2]) and d.time == batch.time[2]
        assert np.allclose(d.xpos, batch.xpos[2], atol=1e-12)
        with pytest.raises(ValueError, match="world is 3"):
            batch.to_mjdata(d, 3)
        with pytest.raises(ValueError, match="same model"):
            batch.to_mjdata(mujoco.MjData(mujoco.MjModel.from_xml_string(LEAVES)), 0)


def test_a_model_of_a_scene_has_mujocos_names_too(quadruped):
    with sapwood.Batch(quadruped, 2) as batch:
        assert batch.qpos.shape == (2, 19) and batch.xpos.shape == (2, 14, 3)
        assert np.allclose(batch.qpos[0, 3:7], [1, 0, 0, 0]) and np.allclose(batch.xpos[:, 1:], batch.body_q[..., :3])
        with pytest.raises(ValueError, match="not imported"):
            batch.ctrl


def test_an_imported_model_is_pickled_with_its_maps():
    model = both(DRONE)[2]
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        with sapwood.Batch(other, 1) as one, sapwood.Batch(model, 1) as two:
            one.ctrl = two.ctrl = 30
            one.step(20), two.step(20)
            assert np.array_equal(one.qpos, two.qpos)


# ---- options and slots ----


def test_a_batch_takes_the_options_of_the_scene(quadruped):
    quadruped.options["max_iterations"] = 17
    quadruped.options["max_contacts"] = 23
    with sapwood.Batch(quadruped, 1) as batch:
        assert dict(batch.options) == dict(quadruped.options)
    with sapwood.Batch(quadruped, 1, preset="approx64", options={"max_contacts": 9}) as batch:
        expected = quadruped.options.copy()
        expected["preset"] = "approx64"
        expected["max_contacts"] = 9
        assert dict(batch.options) == dict(expected)


def test_without_a_choice_the_slots_are_those_that_a_probe_needs(quadruped):
    quadruped.options["max_contacts"] = 0
    with (
        sapwood.Batch(quadruped, 64) as batch,
        sapwood.Batch(quadruped, 64, options={"max_contacts": 128}) as large,
    ):
        slots = int(batch.options["max_contacts"])
        assert 8 <= slots <= 32 and batch.contact_shape0.shape == (64, slots)
        assert large.contact_shape0.shape[1] > slots and batch.memory < large.memory
        for b in (batch, large):
            b.perturb(2.0)
            b.step(300)
        assert not np.any(batch.contact_dropped) and np.array_equal(batch.joint_q, large.joint_q)


# ---- URDF ----

URDF = """<robot name="arm">
<link name="base"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><mesh filename="package://my_robot/meshes/wedge.obj"/></geometry></collision></link>
<link name="tool"/>
<link name="arm"><inertial><mass value="2"/><origin xyz="0 0 0.5"/><inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="finger"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="5 0 0"/><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="2" effort="5" velocity="1"/><dynamics damping="0.3" friction="0.1"/></joint>
<joint name="k" type="prismatic"><parent link="arm"/><child link="finger"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="2" effort="7" velocity="1"/>{mimic}</joint>
<joint name="t" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0 0 1"/></joint></robot>"""


@pytest.fixture
def urdf(tmp_path):
    for folder in ("urdf", "meshes"):
        (tmp_path / "my_robot" / folder).mkdir(parents=True)
    mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "my_robot" / "meshes" / "wedge.obj").write_text(mesh)
    path = tmp_path / "my_robot" / "urdf" / "arm.urdf"
    path.write_text(URDF.format(mimic=""))
    return path


def test_a_urdf_has_its_packages_limits_damping_and_efforts(urdf):
    model = sapwood.Model.from_urdf(urdf)
    assert model.joint_name == ["j", "k"] and model.body_name == ["arm", "finger"] and model.num_meshes == 1
    assert model.joint_damping.tolist() == [0.3, 0] and model.joint_friction.tolist() == [0.1, 0]
    assert model.joint_limit_upper.tolist() == [2, 2]
    model = sapwood.Model.from_urdf(urdf, kp=[10, 20], kd=1)
    assert model.joint_target_ke.tolist() == [10, 20] and model.joint_effort_limit.tolist() == [5, 7]


def test_the_root_of_a_urdf_may_float(urdf):
    model = sapwood.Model.from_urdf(urdf, floating=True, kp=10)
    assert model.body_name == ["base", "arm", "finger"] and model.num_dofs == 8 and model.body_mass[0] == 3
    assert not np.any(model.joint_target_ke[:6])


def test_a_package_that_is_not_found_is_named(urdf, tmp_path, monkeypatch):
    moved = tmp_path / "elsewhere"
    (tmp_path / "my_robot" / "meshes").rename(moved)
    with pytest.raises(sapwood.FileError, match="package://my_robot/meshes/wedge.obj.*packages="):
        sapwood.Model.from_urdf(urdf)
    (tmp_path / "ros" / "my_robot").mkdir(parents=True)
    moved.rename(tmp_path / "ros" / "my_robot" / "meshes")
    assert sapwood.Model.from_urdf(urdf, packages={"my_robot": tmp_path / "ros" / "my_robot"}).num_meshes == 1
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    assert sapwood.Model.from_urdf(urdf).num_meshes == 1


def test_a_mimic_joint_of_a_urdf_is_not_lost(urdf):
    urdf.write_text(URDF.format(mimic='<mimic joint="j" multiplier="2" offset="0.1"/>'))
    model = sapwood.Model.from_urdf(urdf, strict=True)
    assert model.constraint_coordinate.tolist() == [[1, 0]] and model.constraint_polynomial[0, :2].tolist() == [0.1, 2]
