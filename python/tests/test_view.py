"""Pages and the live viewer: what is captured, what is drawn."""

import base64
import re
import threading
import urllib.request

import numpy as np
import pytest

import sapwood
from sapwood import terrain, view
from sapwood.view import controls
from sapwood.view.scene import Scene, place_worlds
from sapwood.view.triangles import triangles

from conftest import SCENES

trimesh = pytest.importorskip("trimesh")

PI = np.pi
SOLIDS = [
    ("SPHERE", (0.5, 0, 0), 4 / 3 * PI * 0.125),
    ("CAPSULE", (0.5, 0.4, 0), 4 / 3 * PI * 0.125 + PI * 0.25 * 0.8),
    ("ELLIPSOID", (0.5, 0.3, 0.2), 4 / 3 * PI * 0.03),
    ("CYLINDER", (0.5, 0.4, 0), PI * 0.25 * 0.8),
    ("BOX", (0.5, 0.3, 0.2), 8 * 0.03),
    ("CONE", (0.5, 0.4, 0), PI * 0.25 * 0.8 / 3),
    ("HULL", (2, 1, 1), 2 * 8 * 0.001),
]
CUBE = [[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]


def solid(kind, scale):
    hull = {"shape_mesh": [0], "mesh_start": [0, 8], "mesh_vertices": CUBE} if kind == "HULL" else {}
    return sapwood.Model(
        joint_type=[4],
        joint_parent=[-1],
        joint_child=[0],
        num_dofs=6,
        num_coords=7,
        body_mass=[1.0],
        body_inertia=np.eye(3) * 0.1,
        shape_type=[sapwood.model.SHAPE_TYPES["SAP_SHAPE_" + kind]],
        shape_body=[0],
        shape_scale=[scale],
        **hull,
    )


@pytest.mark.parametrize("kind,scale,volume", SOLIDS)
def test_the_triangles_of_a_shape_enclose_its_volume(kind, scale, volume):
    mesh = trimesh.Trimesh(*triangles(solid(kind, scale), 0))
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(volume, rel=0.05)
    assert np.allclose(mesh.bounds.sum(axis=0), 0, atol=1e-2), "it is centred as the shape is"


@pytest.fixture
def standing():
    batch = sapwood.Batch(sapwood.Model.load(SCENES / "quadruped.yaml"), 5)
    batch.contact_force
    batch.step(200)
    return batch


def test_the_forces_of_a_frame_carry_the_robot(standing):
    frame = view.capture(standing, [4, 1])
    weight = 9.81 * np.sum(standing.model.body_mass)
    for world in (0, 1):
        assert frame.force[frame.force_world == world, 2].sum() == pytest.approx(weight, rel=0.02)
    assert np.array_equal(frame.body_q, standing.body_q[[4, 1]])
    assert np.all(np.abs(frame.force_at[:, 2]) < 0.05), "they act at the ground"


def test_a_world_that_fails_is_marked(standing):
    standing.joint_q[1] = np.nan
    standing.step()
    assert view.capture(standing, 3).failed.tolist() == [False, True, False]


@pytest.mark.parametrize("worlds", [0, 6, [5], "a"])
def test_worlds_that_do_not_exist_are_refused(standing, worlds):
    with pytest.raises((ValueError, TypeError), match="worlds"):
        view.capture(standing, worlds)


def test_worlds_stand_apart(standing):
    place = place_worlds(standing.model, np.array(standing.body_q, np.float64), None)
    distance = np.linalg.norm(place[:, None] - place[None], axis=2) + 100 * np.eye(5)
    width = np.ptp(standing.body_q[0, :, :2], axis=0).max()
    assert distance.min() > width
    assert not place_worlds(standing.model, np.array(standing.body_q, np.float64), 0.0).any()


def test_a_page_is_one_file_with_all_frames(standing, tmp_path):
    pytest.importorskip("viser")
    import zstandard

    frames = []
    for _ in range(5):
        standing.step(4)
        frames.append(view.capture(standing, 2))
    view.html(standing.model, frames, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    data = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', text).group(1))
    scene = zstandard.ZstdDecompressor().decompressobj().decompress(data[8:])
    for name in (b"/shapes/", b"/ground/", b"/contact forces"):
        assert name in scene
    assert scene.count(b"/contact forces") >= len(frames)
    assert "<script src" not in text and 'rel="stylesheet" href' not in text, "it needs no other file"


def test_a_page_needs_a_frame(standing, tmp_path):
    with pytest.raises(ValueError, match="frames is empty"):
        view.html(standing.model, [], tmp_path / "page.html")


def test_the_viewer_serves_a_page(standing):
    pytest.importorskip("viser")
    with view.Viewer(standing.model, worlds=2, port=0) as viewer:
        viewer.show(standing)
        standing.step()
        viewer.show(standing)
        assert b"<html" in urllib.request.urlopen(viewer.url, timeout=10).read()


@pytest.mark.parametrize("size", [0.01, 0.3, 4.0])
def test_robots_of_all_sizes_fill_the_picture(size):
    pytest.importorskip("viser")
    model = solid("BOX", (size / 2, size / 2, size / 2))
    for worlds in (1, 4):
        with sapwood.Batch(model, worlds) as batch, view.Viewer(model, worlds, port=0) as viewer:
            viewer.show(batch)
            camera, place = viewer.server.initial_camera, viewer._scene.place
            width = size + np.ptp(place[:, 0])
            away = np.linalg.norm(np.array(camera.position) - np.array(camera.look_at))
            part = width / (2 * away * np.tan(camera.fov / 2))
            assert 0.4 < part < 1 and camera.near < 0.1 * away, "of the height of the picture"
            assert np.allclose(np.array(camera.look_at)[:2], 0, atol=size)


def test_the_camera_follows_a_base_that_walks_away(standing):
    pytest.importorskip("viser")
    with view.Viewer(standing.model, 2, port=0, speed=None) as viewer:
        viewer.show(standing)
        root, start = viewer._scene.root, np.array(viewer._scene.root.position)
        standing.joint_q[0, :3] += [3, 2, 1]
        standing.forward_kinematics()
        viewer.show(standing)
        assert np.allclose(root.position - start, [-3, -2, 0], atol=1e-3), "the ground moves past the camera"
        viewer.controls.ask("follow")
        viewer.show(standing)
        assert np.allclose(root.position, 0, atol=1e-5), "it looks again at where the world began"


def test_a_page_follows_only_a_base_that_leaves_the_picture(standing, tmp_path):
    pytest.importorskip("viser")
    import zstandard

    def moves_of_the_root(distance, **options):
        frames = [view.capture(standing)]
        standing.joint_q[0, 0] += distance
        standing.forward_kinematics()
        frames.append(view.capture(standing))
        view.html(standing.model, frames, tmp_path / "page.html", **options)
        data = base64.b64decode(
            re.search(r'__VISER_EMBED_DATA__="([^"]+)"', (tmp_path / "page.html").read_text()).group(1)
        )
        scene = zstandard.ZstdDecompressor().decompressobj().decompress(data[8:])
        return len(re.findall(rb"name\xa6/world\xa8position", scene))  # in MessagePack

    still = moves_of_the_root(0.01)
    assert still == 1, "its first place, to which a page that plays again returns"
    assert moves_of_the_root(5.0) == still + 1
    assert moves_of_the_root(5.0, follow=False) == still and moves_of_the_root(0.01, follow=True) == still + 1


def test_a_paused_viewer_holds_the_batch_until_a_step_is_asked_for(standing):
    pytest.importorskip("viser")
    with view.Viewer(standing.model, port=0, speed=None) as viewer:
        viewer.show(standing)
        viewer.controls.ask("pause")
        shown = threading.Event()

        def show():
            viewer.show(standing)
            shown.set()

        thread = threading.Thread(target=show)
        thread.start()
        assert not shown.wait(0.2)
        viewer.controls.ask("step")
        assert shown.wait(5) and viewer.controls.paused, "one step, then it holds again"
        thread.join()
        thread = threading.Thread(target=viewer.show, args=[standing])
        thread.start()
        viewer.controls.ask("pause")
        thread.join(5)
        assert not thread.is_alive()


def test_reset_and_push_act_on_the_chosen_world(standing):
    pytest.importorskip("viser")
    before = standing.joint_qd.copy()
    with view.Viewer(standing.model, 2, port=0, speed=None) as viewer:
        viewer.show(standing)
        viewer.controls.ask("next world")
        viewer.controls.ask("push")
        viewer.show(standing)
        change = standing.joint_qd - before
        assert np.array_equal(np.any(change, axis=1), [False, True, False, False, False])
        assert 0.3 < np.linalg.norm(change[1, :2]) < 3 and not change[1, 2:].any()
        viewer.controls.ask("reset")
        viewer.show(standing)
        assert np.array_equal(standing.joint_q[1], np.asarray(standing.model.joint_q, np.float32))
        assert viewer._chosen(standing, 4) == [4, 0], "the chosen world is drawn first"


def test_a_viewer_runs_at_the_speed_that_it_is_told(standing, monkeypatch):
    pytest.importorskip("viser")

    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds

    clock = Clock()
    monkeypatch.setattr(controls, "time", clock)
    with view.Viewer(standing.model, port=0, speed=2.0) as viewer:
        viewer.show(standing)
        start, first = clock.now, float(standing.time[0])
        for _ in range(20):
            standing.step(4)
            viewer.show(standing)
        assert clock.now - start == pytest.approx((standing.time[0] - first) / 2, rel=1e-6)
        viewer.controls.speed, start = np.inf, clock.now
        standing.step(4)
        viewer.show(standing)
        assert clock.now == start, "as fast as possible"
    with pytest.raises(ValueError, match="speed is 0; it must be > 0, or None"):
        view.Viewer(standing.model, speed=0)


def test_meshes_of_an_imported_robot_are_drawn_as_they_are(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    tetrahedron = "0 0 0  1 0 0  0 1 0  0 0 1"
    xml = f"""<mujoco><asset><mesh name="t" vertex="{tetrahedron}"/></asset><worldbody>
      <body pos="0 0 2"><freejoint/>
        <geom type="mesh" mesh="t" contype="0" conaffinity="0" rgba="1 0 0 1" mass="1"/>
        <geom name="skin" type="box" size=".1 .1 .1" group="3"/>
      </body></worldbody></mujoco>"""
    model = sapwood.Model.from_mjmodel(mujoco.MjModel.from_xml_string(xml))
    visual = model.imported.visuals[0]
    assert len(model.imported.visuals) == 1 and visual.faces.shape == (4, 3) and visual.body == 0
    assert visual.colour.tolist() == pytest.approx([1, 0, 0])
    assert model.imported.undrawn == {model.shape_name.index("skin")}, "geoms of group 3 are hidden, as in MuJoCo"


def test_worlds_that_chose_grounds_are_drawn_on_them(tmp_path):
    grounds = [terrain.make(["rough"], levels=1, size=3.0, resolution=0.5, seed=seed) for seed in range(3)]
    model = terrain.lay(sapwood.Model.load(SCENES / "quadruped.yaml"), grounds)
    shape = model.shape_name.index("terrain")
    with sapwood.Batch(model, 3) as batch:
        plain = view.capture(batch, 3)
        terrain.choose(batch, [2, 0, 2])
        frame = view.capture(batch, 3)
        terrain.choose(batch, 1)
    assert plain.shape_mesh is None and frame.shape_mesh[:, shape].tolist() == [2, 0, 2], "a frame is a copy"
    server = view._server(port=0)
    try:
        scene = Scene(server.scene, model, place_worlds(model, frame.body_q, None), None)
        scene.show(frame)
        sizes = {grid: node.batched_scales.tolist() for (_, grid), node in scene.grids.items()}
    finally:
        view._stop(server)
    assert sizes == {0: [0, 1, 0], 2: [1, 0, 1]}
    for grid in range(3):
        vertices, _ = triangles(model, shape, grid)
        assert np.allclose(vertices[:, 2], grounds[grid].heights.ravel(), atol=1e-7)
    view.html(model, [plain, frame], tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10**5
