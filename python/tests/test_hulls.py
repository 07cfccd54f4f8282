"""Hulls of imported meshes: fewer vertices, and convex parts."""

import sys

import numpy as np
import pytest

from sapwood import Batch, Model, capability

mujoco = pytest.importorskip("mujoco")


def _ball(vertices: int) -> np.ndarray:
    z = -1 + (2 * np.arange(vertices) + 1) / vertices
    turn, r = 2.399963229728653 * np.arange(vertices), np.sqrt(1 - z**2)
    return 0.1 * np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=1)


def _mesh_model(points: np.ndarray, faces: str = "") -> str:
    text = " ".join(f"{x:.9g}" for x in points.ravel())
    return (
        f'<mujoco><asset><mesh name="part" vertex="{text}" {faces}/></asset><worldbody>'
        '<geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 1"><freejoint/>'
        '<geom name="part" type="mesh" mesh="part"/></body></worldbody></mujoco>'
    )


def test_a_hull_has_at_most_max_hull_vertices_and_the_report_says_what_is_lost():
    m = mujoco.MjModel.from_xml_string(_mesh_model(_ball(400)))
    model = Model.from_mjmodel(m)
    assert len(model.mesh_vertices) == 64
    assert any("mesh 'part': a hull of 64 vertices, at most" in line for line in model.report())
    exact = Model.from_mjmodel(m, max_hull_vertices=0)
    assert len(exact.mesh_vertices) == 400 and not any("hull" in line for line in exact.report())
    assert len(Model.from_mjmodel(m, max_hull_vertices=20).mesh_vertices) == 20


def test_hulls_are_exact_with_mujocos_law_unless_a_number_is_asked_for():
    m = mujoco.MjModel.from_xml_string(_mesh_model(_ball(400)))
    assert len(Model.from_mjmodel(m, law="mujoco").mesh_vertices) == 400
    assert len(Model.from_mjmodel(m, law="mujoco", max_hull_vertices=20).mesh_vertices) == 20
    assert len(Batch(Model.from_mjmodel(m), 1, solver="mujoco").model.mesh_vertices) == 400
    assert len(Batch(Model.from_mjmodel(m, max_hull_vertices=20), 1, solver="mujoco").model.mesh_vertices) == 20


@pytest.mark.parametrize("wrong", [-1, 7, 2.5, True])
def test_a_wrong_max_hull_vertices_is_refused(wrong):
    m = mujoco.MjModel.from_xml_string(_mesh_model(_ball(50)))
    with pytest.raises(ValueError, match="max_hull_vertices is .*; allowed: 0 .exact hulls., or 8 or more"):
        Model.from_mjmodel(m, max_hull_vertices=wrong)


def test_a_saved_model_keeps_exact_hulls(tmp_path):
    m = mujoco.MjModel.from_xml_string(_mesh_model(_ball(400)))
    model = Model.from_mjmodel(m, max_hull_vertices=0)
    model.save(tmp_path / "ball.yaml")
    assert np.array_equal(Model.load(tmp_path / "ball.yaml").mesh_vertices, model.mesh_vertices)


def test_a_mesh_that_is_not_convex_becomes_convex_parts_that_are_kept_beside_the_file(tmp_path, monkeypatch):
    boxes = [(0, 0.1), (0.2, 0.3)]  # the two legs of a U without its base are two parts
    points, faces = [], []
    for low, high in boxes:
        corner = np.array([[x, y, z] for x in (low, high) for y in (0, 0.1) for z in (0, 0.1)])
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        start = len(points)
        faces += [[start + i for i in face] for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
        points += list(corner)
    text = 'face="' + " ".join(str(i) for face in faces for i in face) + '"'
    path = tmp_path / "u.xml"
    path.write_text(_mesh_model(np.array(points), text))
    parts = [np.array(points[:8]), np.array(points[8:])]

    class CoACD:
        calls = 0
        Mesh = staticmethod(lambda vertices, triangles: (vertices, triangles))
        set_log_level = staticmethod(lambda level: None)

        @classmethod
        def run_coacd(cls, mesh, **settings):
            cls.calls += 1
            centre = mesh[0].mean(axis=0)  # MuJoCo moves a mesh to its centre
            return [(part - np.mean(points, axis=0) + centre, None) for part in parts]

    monkeypatch.setitem(sys.modules, "coacd", CoACD)
    for _ in range(2):
        model = Model.from_mjcf(path, decompose=True)
        assert model.num_meshes == 2 and model.num_shapes == 3 and CoACD.calls == 1
        assert list(model.shape_body) == [-1, 0, 0] and list(model.shape_mesh) == [-1, 0, 1]
    assert (tmp_path / "u.xml.parts").is_dir()
    assert Model.from_mjcf(path).num_shapes == 2
    with pytest.raises(ValueError, match=capability("decompose", "mujoco").reason):
        Model.from_mjcf(path, decompose=True, law="mujoco")
