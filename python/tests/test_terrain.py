"""Terrain: its cells, and worlds that stand on them."""

import numpy as np
import pytest

import sapwood
from sapwood import terrain

from conftest import SCENES


def quadruped():
    return sapwood.Model.load(SCENES / "quadruped.yaml")


def test_every_cell_is_flat_in_its_middle_and_its_level_is_its_difficulty():
    ground = terrain.make(list(terrain.KINDS), levels=3, size=6.0)
    for dx, dy in ((0, 0), (0.6, 0.6), (-0.6, 0.3)):
        assert not ground.at(ground.origins[..., 0] + dx, ground.origins[..., 1] + dy).any()
    around = np.linspace(-2.9, 2.9, 59)
    x, y = np.meshgrid(around, around)
    spread = [[np.ptp(ground.at(ox + x, oy + y)) for ox, oy, _ in row] for row in ground.origins]
    assert not np.any(spread[0]), "level 0 is flat"
    assert np.all(np.array(spread[1])[1:] > 0.02), "every other kind is not"
    for kind in ("slope", "stairs", "stairs_up", "rough"):
        k = ground.kinds.index(kind)
        assert spread[2][k] == pytest.approx(2 * spread[1][k], rel=0.2), kind


def test_slopes_and_stairs_have_the_stated_size():
    ground = terrain.make(["slope", "stairs"], levels=1, size=8.0, resolution=0.05)
    (x, y, _), (sx, sy, _) = ground.origins[0]
    rise = ground.at(x + 3.0, y) - ground.at(x + 2.0, y)
    assert rise == pytest.approx(-np.tan(np.radians(30)), rel=1e-6)
    tread = [float(ground.at(sx + terrain.PLATFORM + 0.3 * k + 0.15, sy)) for k in range(4)]
    assert np.diff(tread) == pytest.approx([-0.2] * 3, abs=1e-9)


def test_each_world_chooses_one_of_given_fields():
    n, size = 41, 4.1
    x = (np.arange(n) + 0.5) * size / n - size / 2
    fields = np.array([np.zeros((n, n)), np.full((n, n), 0.3), np.tile(0.1 * x, (n, 1))])
    ground = terrain.join(fields, size, names=["low", "high", "ramp"])
    assert ground.kinds == ("low", "high", "ramp") and ground.origins.shape == (1, 3, 3)
    for k, field in enumerate(fields):
        ox, oy, _ = ground.origins[0, k]
        assert np.allclose(ground.at(ox + x[None, :], oy + x[:, None]), field, rtol=0, atol=1e-12)
    choice = np.array([1, 0, 2, 1])
    with sapwood.Batch(terrain.lay(quadruped(), ground), 4) as batch, sapwood.Batch(quadruped(), 1) as plane:
        batch.joint_q[:, :3] += ground.origins[0, choice]
        batch.step(300)
        plane.step(300)
        above = batch.joint_q[:, 2] - ground.at(batch.joint_q[:, 0], batch.joint_q[:, 1])
        assert above == pytest.approx(float(plane.joint_q[0, 2]), abs=2e-2), "one of them stands on a ramp"
        assert above[:2] == pytest.approx(float(plane.joint_q[0, 2]), abs=1e-4)


def grounds(count=4):
    return [terrain.make(["rough"], levels=1, size=6.0, seed=seed) for seed in range(count)]


@pytest.mark.parametrize("preset", ["approx32", "approx64"])
def test_a_world_that_chose_a_ground_moves_and_sees_as_a_model_with_that_ground(preset):
    """Bit for bit, at any index, also after a choice in the middle of a run."""
    every = grounds()
    scan = sapwood.pattern_grid((1.0, 1.0), 0.25)
    choice = np.array([2, 0, 3, 1, 2, 1, 0, 3, 3])
    with sapwood.Batch(terrain.lay(quadruped(), every), 9, preset=preset, threads=2, seed=3) as batch:
        batch.joint_q[:, 0] += 1.5  # beyond the flat square in the middle
        batch.perturb()
        batch.step(20)
        terrain.choose(batch, choice)
        batch.step(60)
        rays = batch.raycast(*scan, body="trunk", axes="heading", sees="static")
        assert not (batch.status & sapwood.batch.FAILED).any() and np.ptp(batch.joint_q[:, 2]) > 1e-3
        for w in (0, 1, 2, 8):
            model = terrain.lay(quadruped(), [every[choice[w]], *every[:1]])
            with sapwood.Batch(model, 1, preset=preset, threads=1, seed=3, world_offset=w) as alone:
                terrain.choose(alone, 1)
                alone.joint_q[:, 0] += 1.5
                alone.perturb()
                alone.step(20)
                terrain.choose(alone, 0)
                alone.step(60)
                for name in ("joint_q", "joint_qd", "contact_count", "cost"):
                    assert np.array_equal(getattr(batch, name)[w], getattr(alone, name)[0]), (w, name)
                hits = alone.raycast(*scan, body="trunk", axes="heading", sees="static")
                assert np.allclose(rays.distance[w], hits.distance[0], atol=1e-6)


def test_the_chosen_ground_is_the_one_that_contacts_and_rays_meet():
    levels = [terrain.join(np.full((1, 5, 5), 0.1 * k), size=6.0) for k in range(3)]
    model = terrain.lay(quadruped(), levels)
    with sapwood.Batch(model, 6) as batch:
        terrain.choose(batch, np.arange(6) % 3)
        terrain.choose(batch, 1, worlds=[5])
        height = 0.1 * np.array([0, 1, 2, 0, 1, 1])
        down = batch.raycast([[0.0, 0.0, 5.0]], [[0.0, 0.0, -1.0]], sees="static")
        assert down.distance[:, 0] == pytest.approx(5 - height, abs=1e-6)
        batch.joint_q[:, 2] += height
        batch.step(300)
        assert np.ptp(batch.joint_q[:, 2] - height) < 1e-4
        state = batch.get_state()
        with sapwood.Batch(model, 6) as other:
            other.set_state(state)
            assert np.array_equal(other.shape_mesh, batch.shape_mesh)
            for each in (batch, other):
                each.step(5)
            assert np.array_equal(batch.joint_q, other.joint_q)


def test_a_ground_that_there_is_not_stops_its_world_and_choose_refuses_it():
    with sapwood.Batch(terrain.lay(quadruped(), grounds(2)), 3) as batch:
        shape = batch.model.shape_name.index("terrain")
        for wrong in (2, -1, [0, 1, 7], 0.5):
            with pytest.raises(ValueError, match=r"ground is .*; it must be in 0 \.\. 1"):
                terrain.choose(batch, wrong)
        batch.expand("shape_mesh")[1, shape] = 2
        with pytest.raises(sapwood.ModelError, match=r"world 1: shape_mesh\[\d+\] .*'terrain'.* is 2; .* 0 \.\. 1"):
            batch.check_parameters()
        batch.step()
        assert batch.status_text(1) == ["bad_parameters"] and batch.stats["failed"] == 1


def test_grounds_of_a_model_are_saved(tmp_path):
    model = terrain.lay(quadruped(), grounds(3))
    model.save(tmp_path / "model.yaml")
    copy = sapwood.Model.load(tmp_path / "model.yaml")
    for name in ("heights", "height_field_size", "shape_mesh", "shape_scale"):
        assert np.array_equal(getattr(copy, name), getattr(model, name)), name


def test_worlds_choose_grounds_with_the_law_of_mujoco_too():
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
      <body pos="1.5 0 .3"><freejoint/><geom type="box" size=".2 .1 .1"/></body></worldbody></mujoco>"""
    model = sapwood.Model.from_mjmodel(mujoco.MjModel.from_xml_string(xml), law="mujoco")
    every = grounds(3)
    with sapwood.Batch(terrain.lay(model, every), 3) as batch:
        assert batch.options["contact_solver"] == "mujoco"
        terrain.choose(batch, [2, 0, 1])
        batch.step(200)
        for w, ground in enumerate([2, 0, 1]):
            with sapwood.Batch(terrain.lay(model, every[ground]), 1) as alone:
                alone.step(200)
                assert np.array_equal(batch.joint_q[w], alone.joint_q[0])
        assert np.ptp(batch.joint_q[:, 2]) > 1e-3


@pytest.mark.parametrize(
    "fields, rest, message",
    [
        (np.zeros((4, 4)), {}, "shape"),
        (np.zeros((2, 4, 5)), {}, "shape"),
        (np.full((1, 3, 3), np.nan), {}, "finite"),
        (np.zeros((2, 3, 3)), {"size": -1.0}, "size is -1"),
        (np.zeros((2, 3, 3)), {"names": ["a"]}, "1 names"),
    ],
)
def test_fields_that_are_none_are_refused(fields, rest, message):
    with pytest.raises(ValueError, match=message):
        terrain.join(fields, **rest)


def test_the_seed_is_the_terrain():
    a, b, c = (terrain.make(["rough"], levels=2, seed=seed).heights for seed in (1, 1, 2))
    assert np.array_equal(a, b) and not np.array_equal(a, c)


def test_robots_stand_on_every_cell_as_on_a_plane():
    ground = terrain.make(list(terrain.KINDS), levels=4, size=6.0)
    model, flat = terrain.lay(quadruped(), ground), quadruped()
    with sapwood.Batch(model, 28) as batch, sapwood.Batch(flat, 1) as plane:
        batch.joint_q[:, :3] += ground.origins.reshape(-1, 3)
        batch.step(300)
        plane.step(300)
        assert batch.joint_q[:, 2] == pytest.approx(float(plane.joint_q[0, 2]), abs=1e-4)
        assert np.all(batch.contact_count == plane.contact_count[0]) and batch.stats["failed"] == 0


def test_a_robot_that_slides_down_a_slope_stays_above_it():
    ground = terrain.make(["slope"], levels=1, size=12.0)
    model = terrain.lay(quadruped(), ground, mu=0.05)
    with sapwood.Batch(model, 4) as batch:
        batch.joint_q[:, 0] += [1.5, -1.5, 2.0, 0.0]
        batch.joint_q[:, 1] += [0.0, 0.0, 0.0, 2.0]
        batch.joint_q[:, 2] += ground.at(batch.joint_q[:, 0], batch.joint_q[:, 1]) + 0.1
        start = batch.joint_q[:, :2].copy()
        batch.step(200)
        moved = np.linalg.norm(batch.joint_q[:, :2] - start, axis=1)
        assert np.all(moved > 0.3)
        feet = batch.body_q[:, :, :3].astype(float)
        assert np.all(feet[..., 2] > ground.at(feet[..., 0], feet[..., 1]) - 0.05)


def test_a_ball_touches_the_ground_at_its_height():
    kind = sapwood.model.SHAPE_TYPES
    model = sapwood.Model(
        joint_type=[4],
        joint_parent=[-1],
        joint_child=[0],
        num_dofs=6,
        num_coords=7,
        body_mass=[1.0],
        body_inertia=np.eye(3) * 4e-5,
        shape_type=[kind["SAP_SHAPE_PLANE"], kind["SAP_SHAPE_SPHERE"]],
        shape_body=[-1, 0],
        shape_scale=[[1, 1, 1], [0.01, 0, 0]],
    )
    ground = terrain.make(["rough"], levels=1, size=6.0, resolution=0.5)
    model = terrain.lay(model, ground)
    x, y = np.random.default_rng(0).uniform(-2.5, 2.5, (2, 64))
    with sapwood.Batch(model, 64, preset="approx64") as batch:
        batch.joint_q[:, 0], batch.joint_q[:, 1] = x, y
        batch.joint_q[:, 2] = ground.at(x, y) + 0.0099
        batch.step(1, h=1e-6)
        touching = batch.contact_count > 0
        batch.joint_q[:, 2] = ground.at(x, y) + 0.012
        batch.step(1, h=1e-6)
        assert np.all(touching) and not np.any(batch.contact_count > 0)


def test_an_imported_robot_keeps_its_names_and_numbers():
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><geom name="wall" type="plane" size="1 1 1"/>
      <body pos="0 0 1"><freejoint/><geom name="ball" size=".1"/></body></worldbody></mujoco>"""
    model = terrain.lay(sapwood.Model.from_mjmodel(mujoco.MjModel.from_xml_string(xml)), terrain.make(["flat"]))
    assert model.shape_name == ["terrain", "ball"]
    assert model.imported.shape.tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: terrain.make(["stars"]), "'stars' is not a kind of terrain.*did you mean 'stairs'"),
        (lambda: terrain.make([]), "kinds is empty"),
        (lambda: terrain.make(["flat"], levels=0), "levels"),
        (lambda: terrain.make(["flat"], size=1.0), "size is 1.0"),
        (lambda: terrain.lay(sapwood.Model.load(SCENES / "cartpole.yaml"), terrain.make(["flat"])), "no static plane"),
        (lambda: terrain.lay(quadruped(), []), "half extents"),
        (lambda: terrain.lay(quadruped(), [terrain.make(["flat"], 1), terrain.make(["flat"], 2)]), "half extents"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
