"""Sensors: those of a MuJoCo model against MuJoCo's own readings, and their declaration."""

import re

import numpy as np
import pytest

import sapwood

_ARM = """
<mujoco><option timestep="1e-4" integrator="implicitfast"/><worldbody>
  <geom name="floor" type="plane" size="0 0 1"/>
  <body name="arm" pos="0 0 1"><joint name="hinge" type="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0.1 0.2 -0.5" size="0.04" density="800"/>
    <site name="tip" pos="0.1 0.2 -0.5" euler="20 30 40"/>
    <body name="fore" pos="0.1 0.2 -0.5"><joint name="elbow" type="hinge" axis="1 0 0"/>
      <geom name="box" type="box" size="0.05 0.1 0.02" pos="0.05 0 -0.1"/>
      <site name="hand" pos="0 0.1 -0.1" euler="90 0 20"/></body></body>
</worldbody><sensor>
  <accelerometer site="tip"/><gyro site="hand"/><velocimeter site="hand"/><accelerometer site="hand"/>
  <framepos objtype="site" objname="hand"/><framequat objtype="xbody" objname="fore"/>
  <framelinvel objtype="body" objname="fore"/><frameangvel objtype="site" objname="tip"/>
  <framezaxis objtype="site" objname="hand"/><jointpos joint="elbow"/><jointvel joint="hinge"/>
  <rangefinder site="tip"/><gyro site="tip" cutoff="0.5"/><distance name="gap" geom1="floor" geom2="box" cutoff="1"/>
</sensor></mujoco>
"""


def test_sensordata_is_that_of_mujoco_for_every_kind_that_is_imported(rng):
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(_ARM)
    model = sapwood.Model.from_mjmodel(m)
    with sapwood.Batch(model, 3, preset="approx64") as batch:
        with pytest.warns(sapwood.SapwoodImportWarning, match="'gap': geomdist, lost: no such reading; it reads 0"):
            batch.sensordata  # begins to measure
        batch.qpos, batch.qvel = rng.uniform(-1, 1, (3, 2)), rng.uniform(-2, 2, (3, 2))
        batch.forward_kinematics()
        batch.step(2)
        readings = batch.sensordata
        for world in range(3):
            d = mujoco.MjData(m)
            d.qpos, d.qvel = batch.qpos[world], batch.qvel[world]
            mujoco.mj_forward(m, d)
            expected = d.sensordata.copy()
            expected[-1] = 0  # of the kind that is lost
            quaternion = slice(15, 19)
            expected[quaternion] *= np.sign(expected[quaternion] @ readings[world, quaternion])
            # accelerations are means over two steps of 1e-4 s, in which they change by some 1e-2 m/s^2
            error = np.abs(readings[world] - expected)
            accelerations = [*range(0, 3), *range(9, 12)]
            assert np.all(error[accelerations] < 0.05), error[accelerations]
            assert np.all(np.delete(error, accelerations) < 1e-9), np.delete(error, accelerations)


# A free body with a chain of a hinge, a hinge with a servo and a ball joint, on a plane: a sensor of every kind.
_ROBOT = """
<mujoco><compiler angle="radian"/>
<option timestep="0.002" magnetic="0.1 -0.5 0.2" integrator="{integrator}" cone="{cone}" tolerance="1e-14"
  iterations="200" ls_iterations="100" ls_tolerance="1e-10"><flag island="disable"/></option>
<worldbody><geom name="floor" type="plane" size="2 2 .1"/>
  <camera name="cam" pos="1 -1 1" xyaxes="1 1 0 -.5 .5 1" resolution="64 48"/>
  <body name="base" pos="0 0 .12"><freejoint/><geom name="ball" size=".06"/><geom size=".06" pos=".15 0 0"/>
    <geom size=".06" pos="0 .15 0"/><site name="imu" pos=".02 .01 .03" euler=".3 .2 .1"/>
    <site name="{zone}pad" type="{zone}" size=".2 .2 .1" pos="0 0 -.05"/>
    <body name="link" pos=".15 0 .05"><joint name="h" axis="0 1 0" limited="true" range="-.3 .4" damping=".02"
      margin=".01"/><geom name="rod" type="capsule" size=".02" fromto="0 0 0 0 0 .25"/>
      <site name="tip" pos="0 0 .25" euler="0 .4 0"/>
      <body name="tail" pos="0 0 .25"><joint name="bj" type="ball" damping=".01"/><geom size=".03" pos=".05 0 .02"/>
        <site name="end" pos=".05 0 .02"/>
        <body name="arm" pos="0 .1 .1"><joint name="e" axis="1 0 0" damping=".01" actuatorfrcrange="-.9 .8"/>
          <geom type="capsule" size=".02" fromto="0 0 0 0 .2 0" condim="6"/><site name="hand" pos="0 .1 0"/></body>
    </body></body></body></worldbody>
<tendon><fixed name="t" limited="true" range="-.25 .3" margin=".02"><joint joint="h" coef="1.3"/>
  <joint joint="e" coef="-.7"/></fixed></tendon>
<actuator><motor name="m" joint="h" gear="2"/><motor name="mt" tendon="t" gear="1.5"/>
  <position name="p" joint="e" kp="3" forcerange="-1 1"/>
  <general name="g" joint="e" dyntype="filter" dynprm=".05" gainprm="2" gear=".5"/></actuator>
<sensor><touch site="{zone}pad"/><accelerometer site="imu"/><accelerometer site="hand"/><velocimeter site="tip"/>
  <gyro site="tip"/><force site="tip"/><torque site="tip"/><force site="imu"/><torque site="hand"/>
  <magnetometer site="imu"/><camprojection site="tip" camera="cam"/><jointpos joint="h"/><jointvel joint="h"/>
  <tendonpos tendon="t"/><tendonvel tendon="t"/><actuatorpos actuator="mt"/><actuatorvel actuator="p"/>
  <actuatorfrc actuator="m"/><actuatorfrc actuator="mt"/><actuatorfrc actuator="p"/><actuatorfrc actuator="g"/>
  <jointactuatorfrc joint="e"/><tendonactuatorfrc tendon="t"/><ballquat joint="bj"/><ballangvel joint="bj"/>
  <jointlimitpos joint="h"/><jointlimitvel joint="h"/><tendonlimitpos tendon="t"/><tendonlimitvel tendon="t"/>
  <framepos objtype="body" objname="link"/><framepos objtype="xbody" objname="link" reftype="site" refname="imu"/>
  <framequat objtype="geom" objname="rod"/><framequat objtype="site" objname="tip" reftype="body" refname="base"/>
  <frameyaxis objtype="site" objname="tip" reftype="site" refname="imu"/>
  <framezaxis objtype="camera" objname="cam" reftype="xbody" refname="base"/>
  <framelinvel objtype="site" objname="tip" reftype="site" refname="imu"/>
  <frameangvel objtype="body" objname="tail" reftype="xbody" refname="link"/>
  <framelinacc objtype="site" objname="hand"/><frameangacc objtype="body" objname="tail"/>
  <subtreecom body="base"/><subtreelinvel body="link"/><subtreeangmom body="link"/>
  <insidesite objtype="geom" objname="ball" site="{zone}pad"/><clock/><gyro site="imu" cutoff="0.5"/></sensor>
</mujoco>"""


def _differences(xml, steps, worlds=1):
    """The largest difference from MuJoCo's readings after each step of the same controls, by sensor, relative to 1 or
    to the largest reading. Readings of positions and velocities are those of the state after the step."""
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(xml)
    d, rng, of_step = mujoco.MjData(m), np.random.default_rng(1), mujoco.mjtStage.mjSTAGE_ACC
    worst, size = np.zeros(m.nsensor), np.ones(m.nsensor)
    with sapwood.Batch(sapwood.Model.from_mjmodel(m, strict=True, law="mujoco"), worlds) as batch:
        batch.sensordata
        for _ in range(steps):
            d.ctrl[:] = rng.uniform(-1, 1, m.nu)
            batch.ctrl[:] = d.ctrl
            mujoco.mj_step(m, d)
            batch.step()
            accelerations, ours = d.sensordata.copy(), batch.sensordata[worlds - 1]
            mujoco.mj_step1(m, d)
            for i in range(m.nsensor):
                place = slice(m.sensor_adr[i], m.sensor_adr[i] + m.sensor_dim[i])
                theirs = (accelerations if m.sensor_needstage[i] == of_step else d.sensordata)[place]
                worst[i] = max(worst[i], np.abs(ours[place] - theirs).max())
                size[i] = max(size[i], np.abs(theirs).max())
        assert d.ncon > 0
    kinds = [mujoco.mjtSensor(int(kind)).name for kind in m.sensor_type]
    return {f"{i} {kind}": error for i, (kind, error) in enumerate(zip(kinds, worst / size))}


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "discrete"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_every_sensor_of_mujocos_law_reads_what_that_of_mujoco_reads(integrator, cone):
    found = _differences(_ROBOT.format(integrator=integrator, cone=cone, zone="box"), 60)
    assert max(found.values()) < 1e-9, {name: error for name, error in found.items() if error >= 1e-9}


def test_accelerometers_of_mujocos_law_with_rk4_have_the_acceleration_of_the_first_stage():
    xml = _ROBOT.format(integrator="RK4", cone="elliptic", zone="box")
    found = _differences(re.sub("<(force|torque|touch) [^>]*/>", "", xml), 60)
    assert max(found.values()) < 1e-9, {name: error for name, error in found.items() if error >= 1e-9}


def test_what_of_rk4_has_no_reading_is_said():
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(_ROBOT.format(integrator="RK4", cone="elliptic", zone="box"))
    report = sapwood.Model.from_mjmodel(m, law="mujoco").report()
    assert sum("torque, lost: with RK4" in line or "force, lost: with RK4" in line for line in report) == 4
    assert sum("touch, with RK4 the contacts of its last stage" in line for line in report) == 1


_FEET = """
<mujoco><option timestep="0.002" tolerance="1e-14" iterations="200" ls_iterations="100"><flag island="disable"/></option>
<worldbody><geom name="floor" type="plane" size="0 0 1"/>
  <body pos="0 0 .099"><freejoint/><geom size=".1" pos=".5 0 0"/><geom size=".1" pos="-.5 0 0"/>
    <geom size=".1" pos="0 .6 0"/><geom size=".1" pos="0 -.3 0"/>
    {sites}</body>
  <body pos="3 0 0"><site name="world" type="box" size="4 4 .1"/></body>
</worldbody><sensor>{sensors}</sensor></mujoco>"""


def test_touch_counts_the_contacts_whose_normals_lead_to_the_volume_of_the_site():
    """Sites of every type at one foot, above, below and beside it, all compared with MuJoCo."""
    mujoco = pytest.importorskip("mujoco")
    places = [
        (0.5, 0, -0.1),
        (0.5, 0, -0.3),
        (0.5, 0, 0.1),
        (0.45, 0.02, -0.1),
        (0, 0.6, -0.1),
        (0, 0, 0),
        (0.4, 0, -0.05),
    ]
    sizes = {
        "sphere": ".06",
        "capsule": ".03 .05",
        "ellipsoid": ".06 .04 .09",
        "cylinder": ".06 .03",
        "box": ".06 .02 .05",
    }
    names = [(kind, size, place) for kind, size in sizes.items() for place in places]
    names.append(("box", ".52 .1 .2", (0, 0, 0)))
    sites = "".join(
        f'<site name="s{i}" type="{kind}" size="{size}" pos="{x} {y} {z}" euler="10 20 30"/>'
        for i, (kind, size, (x, y, z)) in enumerate(names)
    )
    sensors = "".join(f'<touch site="s{i}"/>' for i in range(len(names)))
    m = mujoco.MjModel.from_xml_string(_FEET.format(sites=sites, sensors=sensors))
    d = mujoco.MjData(m)
    with sapwood.Batch(sapwood.Model.from_mjmodel(m, law="mujoco"), 2) as batch:
        batch.sensordata
        for _ in range(40):
            mujoco.mj_step(m, d)
            batch.step()
        feels = d.sensordata > 0
        assert 5 < np.count_nonzero(feels) < len(feels) - 5, "some sites feel a contact, and some do not"
        assert np.abs(batch.sensordata - d.sensordata).max() < 1e-9 * d.sensordata.max()


def test_forces_at_a_fixed_base_are_the_weight_of_what_it_carries():
    """With the law of SAP; the base is static, and the arm and a box on it rest."""
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="base" pos="0 0 1"><geom type="box" size=".1 .1 .02" mass="2"/>
        <site name="flange" pos="0 0 .02"/><body pos=".3 0 0"><joint type="slide" axis="0 0 1" stiffness="1e4"
          damping="200"/><geom size=".05" mass="3"/></body></body>
        <body pos="0 0 1.07"><freejoint/><geom type="box" size=".05 .05 .05" mass="4"/></body></worldbody>
        <sensor><force site="flange"/><torque site="flange"/></sensor></mujoco>"""
    )
    for law in ("sap", "mujoco"):
        with sapwood.Batch(
            sapwood.Model.from_mjmodel(m, law=law), 2, preset=None if law == "mujoco" else "approx64"
        ) as batch:
            batch.sensordata
            batch.step(3000)
            force, torque = batch.sensordata[1, :3], batch.sensordata[1, 3:]
            assert np.allclose(force, [0, 0, 9 * 9.81], atol=2e-2)
            assert np.allclose(torque, [0, -0.3 * 3 * 9.81, 0], atol=2e-2)


def test_readings_of_a_step_are_none_after_a_reset():
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(_ROBOT.format(integrator="Euler", cone="elliptic", zone="box"))
    with sapwood.Batch(sapwood.Model.from_mjmodel(m, law="mujoco"), 2) as batch:
        first = batch.sensordata.copy()
        batch.ctrl[:] = 0.7
        batch.step(20)
        assert np.abs(batch.sensordata - first).max() > 1
        batch.reset()
        batch.ctrl[:] = 0.7
        assert np.array_equal(batch.sensordata, first)
        assert np.all(np.isfinite(first))


@pytest.mark.parametrize("steps", [0, 5])
def test_accelerometers_of_a_world_that_fails_have_no_acceleration_and_others_do(steps):
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(_ROBOT.format(integrator="Euler", cone="elliptic", zone="box"))
    with sapwood.Batch(sapwood.Model.from_mjmodel(m, law="mujoco"), 3) as batch:
        batch.set_sensors([0, (3, [0.1, 0, 0, 0, 0, 0, 1])])
        batch.site_accelerometer
        batch.step(steps)
        batch.joint_q[0, 7], batch.joint_f[1, 6] = np.nan, np.nan
        batch.step(2)
        assert np.all(batch.status[:2] & sapwood.batch.FAILED) and not batch.status[2] & sapwood.batch.FAILED
        assert np.allclose(np.linalg.norm(batch.site_accelerometer[:2], axis=2), 9.81, atol=1e-6)
        assert not np.allclose(np.linalg.norm(batch.site_accelerometer[2], axis=1), 9.81, atol=1e-2)


@pytest.mark.parametrize("kind", sorted(set(re.findall("<([a-z]+) [a-z]+=", _ROBOT.split("<sensor>")[1]))))
def test_every_kind_can_be_the_only_one_of_a_model(kind):
    """The arrays that a reading needs do not depend on other sensors."""
    mujoco = pytest.importorskip("mujoco")
    text = _ROBOT.format(integrator="Euler", cone="elliptic", zone="box")
    head, sensors = text.split("<sensor>")
    alone = "".join(re.findall(f"<{kind} [^>]*/>", sensors))
    readings = []
    for xml in (text, f"{head}<sensor>{alone}</sensor></mujoco>"):
        m = mujoco.MjModel.from_xml_string(xml)
        with sapwood.Batch(sapwood.Model.from_mjmodel(m, law="mujoco"), 2) as batch:
            batch.sensordata
            start = np.tile(m.qpos0, (2, 1))
            start[:, 2], start[:, 7] = (0.058, 0.056), (-0.4, 0.5)  # in the ground, and beyond limits
            batch.qpos, batch.qvel = start, [[0.1] * m.nv, [-0.3] * m.nv]
            batch.ctrl[:] = [[0.3], [0.5]]
            batch.step(3)
            name = {"jointactuatorfrc": "jointactfrc", "tendonactuatorfrc": "tendonactfrc"}.get(kind, kind)
            of_kind = [mujoco.mjtSensor(int(i)).name == f"mjSENS_{name.upper()}" for i in m.sensor_type]
            readings.append(batch.sensordata[:, np.repeat(of_kind, m.sensor_dim)])
    assert np.array_equal(*readings)
    assert kind in ("clock", "insidesite") or not np.array_equal(readings[0][0], readings[0][1])


def test_touch_sensors_read_the_weight_of_what_rests():
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 0.1"><freejoint/>'
        '<geom type="box" size="0.1 0.1 0.1" mass="3"/><site name="sole" type="box" size="0.2 0.2 0.2"/></body>'
        '</worldbody><sensor><touch site="sole"/></sensor></mujoco>'
    )
    d = mujoco.MjData(m)
    mujoco.mj_step(m, d, 1000)
    with sapwood.Batch(sapwood.Model.from_mjmodel(m), 2, preset="approx64") as batch:
        batch.sensordata
        batch.step(1000)
        batch.step(1)
        assert np.allclose(batch.sensordata, 3 * 9.81, atol=1e-3)
        assert np.allclose(d.sensordata, batch.sensordata[0], rtol=1e-2)


def test_a_batch_declares_sites_and_contact_sensors_by_name(quadruped):
    names = quadruped.body_name
    with sapwood.Batch(quadruped, 4) as batch:
        batch.set_sensors([names[0], (0, [0.1, 0, 0, 0, 0, 0, 1]), None], [names[-1], (names[0], "static"), (0, 1)])
        assert batch.site_accelerometer.shape == (4, 3, 3) and batch.touch_force.shape == (4, 3, 3)
        assert np.allclose(batch.site_accelerometer[:, 2], [0, 0, 9.81], atol=1e-5)
        batch.step(5)
        assert np.allclose(batch.site_q[:, 0], batch.body_q[:, 0], atol=1e-6)
        assert np.allclose(batch.site_q[:, 2], [0, 0, 0, 0, 0, 0, 1])
        assert batch.qacc.shape == batch.joint_qd.shape and np.all(np.isfinite(batch.joint_torque))
        assert np.all((batch.touch_air_time > 0) | (batch.touch_contact_time > 0))
        with pytest.raises(ValueError, match="declared once"):
            batch.set_sensors([0])


def test_a_contact_sensor_of_a_shape_measures_that_shape_only(quadruped):
    names, bodies = list(quadruped.shape_name), np.array(quadruped.shape_body)
    shank, ground = bodies.max(), names[int(np.nonzero(bodies < 0)[0][0])]
    *others, foot = [names[s] for s in np.nonzero(bodies == shank)[0]]
    sensors = [sapwood.TouchSensor(int(shank), "static"), sapwood.TouchSensor(shape=foot, other_shape=ground)]
    sensors += [sapwood.TouchSensor(shape=other, other_shape=ground) for other in others]
    with sapwood.Batch(quadruped, 4, preset="approx64") as batch:
        batch.set_sensors(touch=sensors)
        batch.touch_force
        batch.step(400)
        batch.step(1)
        assert others and np.all(batch.touch_found[:, 1] > 0) and not batch.touch_found[:, 2:].any()
        assert np.array_equal(batch.touch_force[:, 0], batch.touch_force[:, 1]), "the shank stands on its foot"


@pytest.mark.parametrize(
    "sites,touch,message",
    [
        (["trunkk"], [], "there is no body 'trunkk'"),
        ([99], [], "body of a site is 99"),
        ([(0, [1, 2, 3])], [], "the pose of a site has shape"),
        ([], [(0, -5)], "other body of a contact sensor is -5"),
        ([], [sapwood.TouchSensor(0, shape="groud")], "there is no shape 'groud'"),
        ([], [sapwood.TouchSensor(0, shape=99)], "shape of a contact sensor is 99"),
        ([], [sapwood.TouchSensor(0, other="static", other_shape=3)], "touch_with.0., -1, must allow it"),
        ([], [sapwood.TouchSensor()], "a contact sensor needs a body"),
        ([], [sapwood.TouchSensor(0, zone=("bxo", [1, 1, 1]))], "the zone of a contact sensor is 'bxo'"),
        (
            [],
            [sapwood.TouchSensor(0, zone=("box", [1, 0, 1]))],
            "touch_zone_size.0..1. is 0; it must be finite and > 0",
        ),
        ([], [sapwood.TouchSensor(0, zone=("box", [1, 1, 1], [0, 0, 0, 0, 0, 0, 2]))], "touch_zone_pose.0.: the quat"),
        ([], [sapwood.TouchSensor(0, zone=("box", [1, 1, 1], [0, 0]))], "the zone of a contact sensor is .type"),
    ],
)
def test_wrong_declarations_are_refused_by_name(quadruped, sites, touch, message):
    with sapwood.Batch(quadruped, 2) as batch, pytest.raises((ValueError, KeyError), match=message):
        batch.set_sensors(sites, touch)
