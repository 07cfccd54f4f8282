"""Sensors: those of a MuJoCo model against MuJoCo's own readings, and their declaration."""

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
      <geom type="box" size="0.05 0.1 0.02" pos="0.05 0 -0.1"/>
      <site name="hand" pos="0 0.1 -0.1" euler="90 0 20"/></body></body>
</worldbody><sensor>
  <accelerometer site="tip"/><gyro site="hand"/><velocimeter site="hand"/><accelerometer site="hand"/>
  <framepos objtype="site" objname="hand"/><framequat objtype="xbody" objname="fore"/>
  <framelinvel objtype="body" objname="fore"/><frameangvel objtype="site" objname="tip"/>
  <framezaxis objtype="site" objname="hand"/><jointpos joint="elbow"/><jointvel joint="hinge"/>
  <rangefinder site="tip"/><gyro site="tip" cutoff="0.5"/><subtreecom body="arm"/>
</sensor></mujoco>
"""


def test_sensordata_is_that_of_mujoco_for_every_kind_that_is_imported(rng):
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(_ARM)
    model = sapwood.Model.from_mjmodel(m)
    assert [line for line in model.report() if "subtreecom, left out" in line]
    with sapwood.Batch(model, 3, preset="approx64") as batch:
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
            expected[-3:] = 0  # of the kind that is left out
            quaternion = slice(15, 19)
            expected[quaternion] *= np.sign(expected[quaternion] @ readings[world, quaternion])
            # accelerations are means over two steps of 1e-4 s, in which they change by some 1e-2 m/s^2
            error = np.abs(readings[world] - expected)
            accelerations = [*range(0, 3), *range(9, 12)]
            assert np.all(error[accelerations] < 0.05), error[accelerations]
            assert np.all(np.delete(error, accelerations) < 1e-9), np.delete(error, accelerations)


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
    ],
)
def test_wrong_declarations_are_refused_by_name(quadruped, sites, touch, message):
    with sapwood.Batch(quadruped, 2) as batch, pytest.raises((ValueError, KeyError), match=message):
        batch.set_sensors(sites, touch)
