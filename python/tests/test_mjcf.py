"""Models from MuJoCo's: everything that can be compared with MuJoCo is."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import sapwood
from sapwood.conventions import Coordinates, quat_matrix

from test_model import assert_same_model

mujoco = pytest.importorskip("mujoco")
gymnasium = pytest.importorskip("gymnasium")

ROBOTS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
NAMES = [
    "ant",
    "humanoid",
    "half_cheetah",
    "hopper",
    "walker2d",
    "swimmer",
    "pusher_v5",
    "reacher",
    "humanoidstandup",
    "inverted_pendulum",
    "inverted_double_pendulum",
    "point",
]

# Every kind of joint, alone and together: references, axes that are not orthogonal, anchors apart, welded bodies.
JOINTS = """
<mujoco><compiler angle="radian"/><worldbody>
  <geom type="plane" size="1 1 1"/>
  <body name="base" pos="0.1 0.2 0.3" quat="0.9 0.1 -0.3 0.2"><geom type="box" size="0.1 0.2 0.3"/>
    <body name="floater" pos="1 0 0" quat="0.5 0.5 -0.5 0.5"><joint type="ball" pos="0.1 0 0.2" armature="0.3" damping="0.1"/>
      <geom type="ellipsoid" size="0.1 0.2 0.15" pos="0.05 0.1 0"/>
      <body name="skew" pos="0 0.5 0"><joint axis="1 0 0" ref="0.4"/><joint axis="1 1 0" pos="0 0 0.1"/>
        <joint type="slide" axis="0 0.6 0.8" ref="-0.2"/><geom type="capsule" size="0.05 0.2" pos="0 0 0.1"/>
        <body name="welded" pos="0.1 0 0" quat="0.8 0 0.6 0"><geom type="cylinder" size="0.05 0.1"/>
          <body name="tip" pos="0.2 0 0"><joint axis="0 1 1" armature="0.01" ref="1"/><geom size="0.03" pos="0.1 0 0"/></body>
        </body>
      </body>
    </body>
  </body>
  <body name="free" pos="3 0 1" quat="0.7 0.1 0.1 0.7"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0.2 0.3" euler="1 2 3"/>
    <body name="planar"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0" pos="0 0 0.2"/>
      <geom type="box" size="0.1 0.1 0.1" pos="0 0.1 0"/></body>
    <body name="triple"><joint axis="0 0 1" pos="0.1 0 0"/><joint axis="1 0 0" pos="0.1 0 0"/><joint axis="0 1 0" pos="0.1 0 0"/>
      <geom type="box" size="0.1 0.15 0.2" pos="0 0.1 0"/></body>
    <body name="oblique"><joint axis="1 0 0"/><joint axis="1 1 0"/><geom type="box" size="0.1 0.15 0.2" pos="0 0.1 0"/></body>
    <body name="left"><joint axis="1 0 0"/><joint axis="0 0 1"/><joint axis="0 1 0"/><geom size="0.1" pos="0 0.1 0"/></body>
  </body>
</worldbody></mujoco>
"""


def robot(name):
    if name == "joints":
        return mujoco.MjModel.from_xml_string(JOINTS)
    return mujoco.MjModel.from_xml_path(str(ROBOTS / f"{name}.xml"))


def random_state(m, d, rng):
    d.qpos[:] = m.qpos0 + 0.7 * rng.normal(size=m.nq)
    mujoco.mj_normalizeQuat(m, d.qpos)
    d.qvel[:] = 2 * rng.normal(size=m.nv)
    mujoco.mj_forward(m, d)


def compare(ours, theirs, tolerance=1e-9):
    assert np.max(np.abs(ours - theirs), initial=0) <= tolerance * max(1, np.max(np.abs(theirs), initial=0))


@pytest.fixture(params=[*NAMES, "joints"])
def pair(request, rng):
    """MuJoCo's model and data at a random state, our model and what it computes there."""
    m = robot(request.param)
    d = mujoco.MjData(m)
    model = sapwood.Model.from_mjmodel(m)

    def states():
        for _ in range(5):
            random_state(m, d, rng)
            q = model.imported.coordinates.joint_q(d.qpos)
            qd = model.imported.coordinates.joint_qd(q, d.qvel)
            yield q, qd, model.free_motion(q, qd, h=1e-3)

    return m, d, model, states


def test_body_poses_are_those_of_mujoco(pair):
    m, d, model, states = pair
    for _, _, motion in states():
        for b in np.nonzero(model.imported.body >= 0)[0]:
            pose = motion["body_pose"][0, model.imported.body[b]]
            compare(pose[:3], d.xpos[b])
            compare(quat_matrix(pose[3:]), d.xmat[b].reshape(3, 3))


def test_body_velocities_are_those_of_mujoco(pair):
    m, d, model, states = pair
    velocity = np.zeros(6)
    for _, _, motion in states():
        for b in np.nonzero(model.imported.body >= 0)[0]:
            mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, int(b), velocity, 0)
            compare(motion["body_velocity"][0, model.imported.body[b]], velocity)


def test_mass_matrix_is_that_of_mujoco(pair):
    m, d, model, states = pair
    theirs = np.zeros((m.nv, m.nv))
    for q, _, motion in states():
        T = model.imported.coordinates.internal(q, m.nv)
        mujoco.mj_fullM(m, d, theirs)
        compare(T.T @ motion["A"][0] @ T - 1e-3 * np.diag(m.dof_damping), theirs)


def test_bias_forces_are_those_of_mujoco(pair):
    m, d, model, states = pair
    for q, _, motion in states():
        T = model.imported.coordinates.internal(q, m.nv)
        compare(-(T.T @ motion["tau"][0]) - m.dof_damping * d.qvel, d.qfrc_bias)


def test_kinetic_energy_is_that_of_mujoco(pair):
    m, d, model, states = pair
    for _, _, motion in states():
        mujoco.mj_energyVel(m, d)
        compare(motion["energy"][0, 0], d.energy[1] - 0.5 * np.sum(m.dof_armature * d.qvel**2))


def test_states_convert_there_and_back(pair):
    m, d, model, states = pair
    for q, qd, _ in states():
        compare(model.imported.coordinates.qpos(q), d.qpos, 1e-14)
        compare(model.imported.coordinates.qvel(q, qd), d.qvel, 1e-14)


def test_converted_forces_have_the_same_power(pair, rng):
    m, d, model, states = pair
    for q, qd, _ in states():
        force = rng.normal(size=m.nv)
        compare(model.imported.coordinates.joint_f(q, force) @ qd, force @ d.qvel)


@pytest.mark.parametrize("name", [*NAMES, "joints"])
def test_an_imported_model_saved_and_loaded_is_the_same(name, tmp_path):
    model = sapwood.Model.from_mjmodel(robot(name))
    model.save(tmp_path / "robot.yaml")
    assert_same_model(model, sapwood.Model.load(tmp_path / "robot.yaml"))


def test_joints_of_one_body_are_a_d6_where_that_is_exact_and_else_a_chain():
    model = sapwood.Model.from_mjmodel(robot("joints"))
    types = dict(zip(model.joint_name, model.joint_type))
    d6 = sapwood.model.JOINT_TYPES["SAP_JOINT_D6"]
    assert [name for name, kind in types.items() if kind == d6] == [
        "joint_6+joint_7+joint_8",
        "joint_9+joint_10+joint_11",
    ]
    chains = ["skew:joint_1", "skew:joint_2", "oblique:joint_12", "left:joint_14", "left:joint_15"]
    assert [name for name in model.body_name if ":" in name] == chains


def test_the_mass_of_a_chain_is_that_of_the_body():
    model = sapwood.Model.from_mjmodel(robot("humanoid"))
    assert np.sum(model.body_mass) == np.sum(robot("humanoid").body_mass[1:])


# ---- what touches what ----

CONTACTS = """
<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1" contype="1" conaffinity="3"/>
  <body name="a"><freejoint/><geom name="a" size="0.1" contype="1" conaffinity="2"/>
    <body name="b" pos="1 0 0"><joint/><geom name="b" size="0.1"/><geom name="b2" size="0.1" contype="0" conaffinity="0"/>
      <body name="c" pos="1 0 0"><joint/><geom name="c" size="0.1"/></body></body></body>
  <body name="d" pos="0 0 3"><freejoint/><geom name="d" size="0.1" contype="2" conaffinity="2"/></body>
  <body name="e" pos="0 0 5"><freejoint/><geom name="e" size="0.1" contype="2" conaffinity="1"/></body>
</worldbody>
<contact><exclude body1="c" body2="e"/><pair geom1="b2" geom2="d"/></contact></mujoco>
"""


def allowed_pairs(model):
    """The pairs of shapes that the rules of docs/model.md let touch."""
    n, group, body = model.num_shapes, model.shape_collision_group, model.shape_body
    filters = {frozenset(p) for p in model.body_filter_pairs.tolist()}
    filters |= {
        frozenset((p, c))
        for p, c, f in zip(model.joint_parent, model.joint_child, model.joint_filter_parent)
        if f and p >= 0
    }
    shapes = {frozenset(p) for p in model.shape_filter_pairs.tolist()}
    found = set()
    for i in range(n):
        for j in range(i):
            one, two = group[i], group[j]
            if not (model.shape_flags[i] & 2 and model.shape_flags[j] & 2) or body[i] == body[j]:
                continue
            if (
                (one == two if one > 0 and two > 0 else one != two)
                and frozenset((i, j)) not in shapes
                and (body[i] < 0 or body[j] < 0 or frozenset((body[i], body[j])) not in filters)
            ):
                found.add(frozenset((model.shape_name[i], model.shape_name[j])))
    return found


def test_exactly_the_pairs_of_mujoco_may_touch():
    model = sapwood.Model.from_mjmodel(mujoco.MjModel.from_xml_string(CONTACTS))
    m = mujoco.MjModel.from_xml_string(CONTACTS)
    rule = {
        frozenset((m.geom(i).name, m.geom(j).name))
        for i in range(m.ngeom)
        for j in range(i)
        if (m.geom_contype[i] & m.geom_conaffinity[j]) or (m.geom_contype[j] & m.geom_conaffinity[i])
    }
    rule -= {frozenset(p) for p in (("a", "b"), ("b", "c"), ("c", "e"))}
    rule |= {frozenset(("b2", "d"))}
    assert allowed_pairs(model) == rule


def test_contacts_with_the_world_have_the_friction_of_mujoco():
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.3"/>
      <body><freejoint/><geom name="a" size="1" friction="0.9"/></body>
      <body><freejoint/><geom name="b" size="1" friction="0.1"/></body>
      <body><freejoint/><geom name="c" size="1" friction="0.1" priority="1"/></body></worldbody></mujoco>"""
    model = sapwood.Model.from_mjmodel(mujoco.MjModel.from_xml_string(xml))
    mu = dict(zip(model.shape_name, model.shape_material_mu))
    for name, expected in (("a", 0.9), ("b", 0.3), ("c", 0.1)):
        assert 2 * mu["floor"] * mu[name] / (mu["floor"] + mu[name]) == pytest.approx(expected, rel=1e-14)
    assert any("friction" in line for line in model.report())


# ---- springs and actuators ----

DRIVES = """
<mujoco><worldbody><body><joint name="s" stiffness="30" springref="0.5" damping="2" type="slide" axis="0 0 1"/><geom size="0.1"/>
  <body pos="1 0 0"><joint name="h" axis="0 1 0" type="hinge" frictionloss="0.7"/><geom size="0.1"/>
  <body pos="1 0 0"><joint name="k" axis="0 1 0" type="hinge"/><geom size="0.1"/></body></body></body></worldbody>
<tendon><fixed name="t"><joint joint="h" coef="2"/><joint joint="k" coef="-1"/></fixed></tendon>
<actuator>
  <position name="p" joint="s" kp="100" kv="5" ctrlrange="-1 1" gear="2"/>
  <velocity name="v" joint="h" kv="3" forcerange="-4 4" gear="0.5"/>
  <motor name="m" joint="k" gear="7" ctrlrange="-0.5 0.5" forcerange="-0.2 0.3" armature="0.1" damping="0.2"/>
  <general name="g" joint="k" gainprm="2" biastype="affine" biasprm="0.4 0 0"/>
  <motor name="tm" tendon="t" gear="3"/>
</actuator></mujoco>
"""


def test_drives_and_motors_give_the_force_of_mujoco(rng):
    m = mujoco.MjModel.from_xml_string(DRIVES)
    d, model = mujoco.MjData(m), sapwood.Model.from_mjmodel(m)
    for _ in range(20):
        random_state(m, d, rng)
        d.ctrl[:] = rng.normal(size=m.nu)
        mujoco.mj_forward(m, d)
        arrays = {
            "joint_f": np.zeros(3),
            "joint_target_pos": model.joint_target_pos.copy(),
            "joint_target_vel": model.joint_target_vel.copy(),
        }
        for name, values in model.imported.actuation.arrays(model.imported.actuation.clip(d.ctrl)).items():
            arrays[name][model.imported.actuation.used[name]] = values
        drive = model.joint_target_ke * (arrays["joint_target_pos"] - d.qpos) + model.joint_target_kd * (
            arrays["joint_target_vel"] - d.qvel
        )
        drive = np.clip(drive, -model.joint_effort_limit, model.joint_effort_limit)
        expected = d.qfrc_actuator + d.qfrc_spring
        compare(drive + arrays["joint_f"], expected, 1e-12)


def test_damping_friction_and_armature_are_carried_over():
    model = sapwood.Model.from_mjmodel(mujoco.MjModel.from_xml_string(DRIVES))
    assert np.allclose(model.joint_damping, [2, 0, 0.2 * 49])
    assert np.allclose(model.joint_friction, [0, 0.7, 0])
    assert np.allclose(model.joint_armature, [0, 0, 0.1 * 49])


# ---- meshes, height fields, keyframes ----

GEOMETRY = """
<mujoco><asset>
  <mesh name="tetra" vertex="0 0 0  1 0 0  0 1 0  0 0 1  0.1 0.1 0.1"/>
  <hfield name="hills" nrow="3" ncol="4" size="2 1 0.5 0.1"/>
</asset><worldbody>
  <geom name="ground" type="hfield" hfield="hills"/>
  <body pos="0 0 3"><freejoint/><geom name="one" type="mesh" mesh="tetra"/></body>
  <body pos="0 0 5"><freejoint/><geom name="two" type="mesh" mesh="tetra"/></body>
</worldbody><keyframe><key name="up" qpos="0 0 9 1 0 0 0 0 0 7 0.5 0.5 0.5 0.5" qvel="1 2 3 4 5 6 0 0 0 0 0 0"/></keyframe></mujoco>
"""


def geometry():
    m = mujoco.MjModel.from_xml_string(GEOMETRY)
    m.hfield_data[:] = np.linspace(0, 1, 12)
    return m


def test_a_mesh_is_the_hull_of_its_vertices_in_the_place_of_mujoco():
    m = geometry()
    model, d = sapwood.Model.from_mjmodel(m), mujoco.MjData(m)
    assert model.num_meshes == 1 and len(model.mesh_vertices) == 4
    mujoco.mj_kinematics(m, d)
    shape = model.shape_name.index("one")
    X = model.shape_transform[shape]
    points = model.mesh_vertices @ quat_matrix(X[3:]).T + X[:3]
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    assert np.allclose(np.sort(points @ [1, 10, 100]), np.sort(corners @ [1, 10, 100]), atol=1e-6)


def test_a_height_field_has_the_heights_of_mujoco():
    model = sapwood.Model.from_mjmodel(geometry())
    assert model.height_field_size.tolist() == [[3, 4]]
    assert np.allclose(model.heights, 0.5 * np.linspace(0, 1, 12), atol=1e-7)
    assert np.allclose(model.shape_scale[model.shape_name.index("ground")][:2], [2, 1])


def test_keyframes_are_converted_states():
    model = sapwood.Model.from_mjmodel(geometry())
    assert model.keyframe_name == ["up"]
    assert np.allclose(model.keyframe_joint_q[0], [0, 0, 9, 0, 0, 0, 1, 0, 0, 7, 0.5, 0.5, 0.5, 0.5])
    com = geometry().body_ipos[1]
    assert np.allclose(model.keyframe_joint_qd[0, :6], [*(np.array([1, 2, 3]) + np.cross([4, 5, 6], com)), 4, 5, 6])


def test_a_batch_is_reset_to_a_keyframe_by_name_or_number():
    with sapwood.Batch(sapwood.Model.from_mjmodel(geometry()), 3, preset="approx64") as batch:
        batch.reset([True, False, True], "up")
        assert batch.joint_q[:, 2].tolist() == [9, 3, 9]
        batch.reset()
        assert batch.joint_q[:, 2].tolist() == [3, 3, 3]
        batch.reset(keyframe=1)
        assert batch.joint_q[:, 9].tolist() == [7, 7, 7]


def test_geometry_saved_and_loaded_is_the_same(tmp_path):
    model = sapwood.Model.from_mjmodel(geometry())
    model.save(tmp_path / "geometry.yaml")
    assert_same_model(model, sapwood.Model.load(tmp_path / "geometry.yaml"))


# ---- what is left out ----


def test_what_is_not_carried_over_is_reported_and_strict_makes_it_an_error():
    xml = """<mujoco><worldbody><body name="a"><joint type="ball" name="b" range="0 1" limited="true"/><geom size="1"/></body>
      </worldbody><option density="1.2"/>
      <sensor><e_kinetic name="energy"/></sensor></mujoco>"""
    m = mujoco.MjModel.from_xml_string(xml)
    report = "\n".join(sapwood.Model.from_mjmodel(m).report())
    for text in ("option 'density'", "sensor 'energy'", "joint 'b': limit of a ball joint"):
        assert text in report
    with pytest.raises(ValueError, match="option 'density'"):
        sapwood.Model.from_mjmodel(m, strict=True)


def test_robots_without_losses_pass_strict():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("ant", "humanoid", "half_cheetah", "hopper", "walker2d", "reacher", "pusher_v5"):
            sapwood.Model.from_mjcf(ROBOTS / f"{name}.xml", strict=True)


def test_a_urdf_loads(tmp_path):
    (
        tmp_path / "arm.urdf"
    ).write_text("""<robot name="arm"><link name="base"/><link name="arm"><inertial><mass value="2"/>
      <origin xyz="0 0 0.5"/><inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="2" effort="5" velocity="1"/></joint></robot>""")
    model = sapwood.Model.from_urdf(tmp_path / "arm.urdf")
    assert model.joint_name == ["j"] and model.body_mass[0] == 2
    assert model.joint_limit_lower[0] == -1 and model.joint_limit_upper[0] == 2


def test_coordinates_without_quaternions_are_left_alone(rng):
    q = rng.normal(size=(3, 5))
    assert np.array_equal(Coordinates().joint_q(q), q)
