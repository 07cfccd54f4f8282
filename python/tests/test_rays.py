"""Rays: against mj_ray of MuJoCo, 10,000 per shape type; their patterns and arguments."""

import numpy as np
import pytest

import sapwood
from sapwood import rays as sapwood_rays

RAYS = 10_000


def _points(count: int) -> str:
    """A ball of points, so that its hull has many faces."""
    z = -1 + (2 * np.arange(count) + 1) / count
    turn, r = 2.399963229728653 * np.arange(count), np.sqrt(1 - z**2)
    return " ".join(f"{x:.9g}" for x in (0.6 * np.stack([r * np.cos(turn), r * np.sin(turn), 0.5 * z], axis=1)).ravel())


_MESH = f'<mesh name="mesh" vertex="{_points(60)}"/>'
_FIELD = '<hfield name="field" nrow="17" ncol="23" size="1 0.7 0.6 0.1"/>'
_GEOMS = {
    "plane": '<geom type="plane" size="0 0 1" pos="0.1 0.2 -0.3" euler="10 20 0"/>',
    "sphere": '<geom type="sphere" size="0.6" pos="0.1 0.2 0.3"/>',
    "capsule": '<geom type="capsule" size="0.3 0.5" pos="0.1 0.2 0.3" euler="30 40 50"/>',
    "ellipsoid": '<geom type="ellipsoid" size="0.3 0.5 0.8" pos="0.1 0.2 0.3" euler="30 40 50"/>',
    "cylinder": '<geom type="cylinder" size="0.4 0.5" pos="0.1 0.2 0.3" euler="30 40 50"/>',
    "box": '<geom type="box" size="0.4 0.5 0.6" pos="0.1 0.2 0.3" euler="30 40 50"/>',
    "mesh": '<geom type="mesh" mesh="mesh" pos="0.1 0.2 0.3" euler="30 40 50"/>',
    "hfield": '<geom type="hfield" hfield="field" pos="0.1 0.2 0.3"/>',
}


def _worlds(mujoco, rng, *kinds):
    """The same geoms in both simulators; the body is far away."""
    geoms = "".join(_GEOMS[kind] for kind in kinds)
    assets = (_MESH if "mesh" in kinds else "") + (_FIELD if "hfield" in kinds else "")
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset>{assets}</asset><worldbody>{geoms}<body pos="0 0 90"><freejoint/>'
        '<geom type="sphere" size="0.1"/></body></worldbody></mujoco>'
    )
    if "hfield" in kinds:
        m.hfield_data[:] = rng.uniform(0, 1, m.hfield_data.shape)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    return m, d, sapwood.Model.from_mjmodel(m, max_hull_vertices=0)


def _expected(mujoco, m, d, origins, directions):
    distance, normal, geom = np.empty(len(origins)), np.zeros((len(origins), 3)), np.zeros(1, np.int32)
    for i, (o, v) in enumerate(zip(origins, directions)):
        distance[i] = mujoco.mj_ray(m, d, o, v, None, True, -1, geom, normal[i])
    return distance, normal


def _random_rays(rng, kind, count):
    """From all around, half of them towards the shape. A height field of MuJoCo has walls and a base, so its rays start
    above it."""
    o, v = rng.uniform(-2, 2, (count, 3)), rng.normal(size=(count, 3))
    v[::2] = [0.1, 0.2, 0.3] + rng.uniform(-0.5, 0.5, (count // 2, 3)) - o[::2]
    if kind == "hfield":
        o = rng.uniform([-0.89, -0.49, 1.0], [1.09, 0.89, 2.0], (count, 3))
        v = (
            np.concatenate(
                [rng.uniform(-0.89, 1.09, (count, 1)), rng.uniform(-0.49, 0.89, (count, 1)), np.full((count, 1), 0.2)],
                1,
            )
            - o
        )
    return o, v / np.linalg.norm(v, axis=1, keepdims=True)


@pytest.mark.parametrize("size", ["1.5 0.7 1", "0 0.7 1", "1.5 0 1"])
def test_rays_end_where_those_of_mujoco_end_on_a_finite_plane(rng, size, monkeypatch):
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.setitem(_GEOMS, "plane", _GEOMS["plane"].replace("0 0 1", size, 1))
    m, d, model = _worlds(mujoco, rng, "plane")
    o, v = _random_rays(rng, "plane", RAYS)
    distance, _ = _expected(mujoco, m, d, o, v)
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        assert np.abs(batch.raycast(o, v).distance[0] - distance).max() < 1e-9
    monkeypatch.setitem(_GEOMS, "plane", _GEOMS["plane"].replace(size, "0 0 1", 1))
    endless = _expected(mujoco, *_worlds(mujoco, rng, "plane")[:2], o, v)[0]
    assert np.count_nonzero(endless != distance) > RAYS / 20, "some rays pass the plane"


@pytest.mark.parametrize("preset,tolerance", [("approx64", 1e-9), ("approx32", 3e-4)])
@pytest.mark.parametrize("kind", list(_GEOMS))
def test_rays_meet_what_those_of_mujoco_meet(rng, kind, preset, tolerance):
    mujoco = pytest.importorskip("mujoco")
    m, d, model = _worlds(mujoco, rng, kind)
    o, v = _random_rays(rng, kind, RAYS)
    distance, normal = _expected(mujoco, m, d, o, v)
    with sapwood.Batch(model, 1, preset=preset, dtype=np.float64) as batch:
        hits = batch.raycast(o, v)
    same = (hits.shape[0] >= 0) == (distance >= 0)
    error = np.abs(hits.distance[0] - distance)
    # a ray along a surface or through an edge may meet it in one simulator and not in the other
    along = np.abs(np.sum(hits.normal[0] * v, axis=1))
    grazing = along < (1e-6 if preset == "approx64" else 2e-3)
    assert np.count_nonzero(~same) <= RAYS // 1000
    both = same & (distance >= 0) & ~grazing
    assert np.count_nonzero(both) > RAYS // 4
    scale = np.maximum(1, distance) / np.maximum(along, 0.05)
    off = error > tolerance * scale
    assert np.count_nonzero(off[both]) <= RAYS // 1000, (error[both & off][:5], np.flatnonzero(both & off)[:5])
    if preset == "approx64":
        assert np.count_nonzero(off[both]) == 0 and np.all(same)
    turned = np.abs(np.sum(hits.normal[0] * normal, axis=1))  # MuJoCo's normal faces the ray where it starts inside
    assert np.mean(turned[both] > 1 - 1e-4) > 0.99


def test_the_nearest_of_several_shapes_is_that_of_mujoco(rng):
    mujoco = pytest.importorskip("mujoco")
    m, d, model = _worlds(mujoco, rng, "plane", "capsule", "box", "mesh")
    o, v = _random_rays(rng, "box", RAYS)
    distance, _ = _expected(mujoco, m, d, o, v)
    with sapwood.Batch(model, 2, preset="approx64") as batch:
        hits = batch.raycast(o, v)
    assert np.allclose(hits.distance[0], distance, atol=1e-9)
    assert np.array_equal(hits.distance[0], hits.distance[1])


def test_a_height_scan_that_a_robot_carries_follows_its_heading(quadruped):
    origins, down = sapwood.pattern_grid((1.0, 0.6), 0.1)
    assert origins.shape == (77, 3)
    with sapwood.Batch(quadruped, 3) as batch:
        hits = batch.raycast(origins + [0, 0, 20], down, body=0, axes="heading", sees="static")
        assert hits.distance.shape == (3, 77) and hits.distance.dtype == np.float32
        height = batch.body_q[:, :1, 2] + 20
        assert np.allclose(hits.distance, height, atol=1e-4)
        assert np.allclose(hits.normal, [0, 0, 1], atol=1e-6)


def test_rays_of_sensors_are_cast_after_every_step(quadruped):
    scan = sapwood.RaySensor(*sapwood.pattern_grid((0.4, 0.2), 0.1), body="trunk", axes="heading", sees="static")
    lidar = sapwood.RaySensor(*sapwood.pattern_lidar(2, 8), body="trunk", exclude_body="trunk", max_distance=5.0)
    with sapwood.Batch(quadruped, 3) as batch:
        batch.set_sensors(rays=[scan, lidar])
        assert batch.ray_distance.shape == (3, 15 + 16) and batch.ray_normal.shape == (3, 31, 3)
        batch.perturb(0.5)
        for worlds in (None, [1]):
            batch.step(5)
            batch.reset([] if worlds is None else worlds)
            for sensor, rays in ((scan, slice(0, 15)), (lidar, slice(15, 31))):
                hits = batch.raycast(*sensor[:2], **dict(list(sensor._asdict().items())[2:]))
                assert np.array_equal(batch.ray_distance[:, rays], hits.distance)
                assert np.array_equal(batch.ray_normal[:, rays], hits.normal)
                assert np.array_equal(batch.ray_shape[:, rays], hits.shape)
        with pytest.raises(ValueError, match="declared once"):
            batch.set_sensors(rays=[scan])


def test_a_wrong_ray_sensor_is_named(quadruped):
    sensor = sapwood.RaySensor([0, 0, 1], [0, 0, -1], max_distance=0.0)
    with sapwood.Batch(quadruped, 2) as batch:
        with pytest.raises(ValueError, match=r"ray_sensor\[1\]: max_distance is 0"):
            batch.set_sensors(rays=[sensor._replace(max_distance=1.0), sensor])
        with pytest.raises(ValueError, match="did you mean 'heading'"):
            batch.set_sensors(rays=[sensor._replace(axes="headding")])


def test_a_lidar_has_channels_and_points():
    origins, directions = sapwood.pattern_lidar(4, 90)
    assert origins.shape == directions.shape == (360, 3)
    assert np.allclose(np.linalg.norm(directions, axis=1), 1)
    assert len(np.unique(np.round(directions, 9), axis=0)) == 360


def test_results_can_be_written_to_given_arrays(quadruped):
    with sapwood.Batch(quadruped, 2, preset="approx64") as batch:
        out = sapwood.RayHits(np.empty((2, 1)), None, np.empty((2, 1), np.int32))
        hits = batch.raycast([0, 0, 3], [0, 0, -1], sees="static", out=out)
        assert hits is out and np.allclose(out.distance, 3) and np.all(out.shape >= 0)
        with pytest.raises(ValueError, match=r"out.distance has shape \(2, 2\)"):
            batch.raycast([0, 0, 3], [0, 0, -1], out=sapwood.RayHits(np.empty((2, 2)), None, None))


def test_rays_that_are_none_are_marked(quadruped):
    with sapwood.Batch(quadruped, 2) as batch:
        hits = batch.raycast([[0, 0, 3], [0, np.nan, 3], [0, 0, 3]], [[0, 0, 0], [0, 0, 1], [0, 0, 1]])
        assert np.all(hits.shape == [sapwood_rays.INVALID, sapwood_rays.INVALID, sapwood_rays.MISS])
        assert np.all(hits.distance == -1) and np.all(hits.normal == 0)


@pytest.mark.parametrize(
    "arguments,message",
    [
        ({"origins": np.zeros((2, 2))}, "origins has shape"),
        ({"directions": np.zeros((5, 4, 3))}, "directions has shape"),
        ({"origins": np.zeros((2, 3)), "directions": np.ones((4, 3))}, "2 origins and 4 directions"),
        ({"body": "trunkk"}, "there is no body 'trunkk'"),
        ({"body": 99}, "body is 99"),
        ({"axes": "yaw"}, "axes is 'yaw'"),
        ({"sees": "al"}, "did you mean 'all'"),
        ({"max_distance": -1.0}, "max_distance is -1"),
    ],
)
def test_wrong_arguments_are_refused_by_name(quadruped, arguments, message):
    given = {"origins": [0, 0, 1], "directions": [0, 0, -1], **arguments}
    with sapwood.Batch(quadruped, 2) as batch, pytest.raises((ValueError, KeyError), match=message):
        batch.raycast(**given)
