"""URDF files as they are found: formats of meshes, inertias that no body has, and messages that say what to do."""

import struct

import numpy as np
import pytest

import sapwood

mujoco = pytest.importorskip("mujoco")

ROBOT = """<robot name="r"><link name="a"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="b">{inertial}{collision}{visual}</link>
<joint name="j" type="{joint}"><parent link="a"/><child link="b"/><origin xyz="0 0 3"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>{extra}</robot>"""
INERTIAL = """<inertial><mass value="{mass}"/>
  <inertia ixx="{0}" iyy="{1}" izz="{2}" ixy="0" ixz="0" iyz="0"/></inertial>"""
CORNERS = np.array(np.meshgrid([0, 1], [0, 2], [0, 3])).reshape(3, -1).T.astype(float)
FACES = [[0, 1, 2], [1, 3, 2], [4, 6, 5], [5, 6, 7], [0, 4, 1], [1, 4, 5], [2, 3, 6], [3, 7, 6], [0, 2, 4], [2, 6, 4]]
FACES += [[1, 5, 3], [3, 5, 7]]


def load(folder, mesh="", visual="", moments=(1, 1, 1), mass=1, joint="revolute", extra="", **options):
    element = '<{0}><geometry><mesh filename="{1}" scale="0.1 0.1 0.1"/></geometry></{0}>'
    (folder / "robot.urdf").write_text(
        ROBOT.format(
            inertial=INERTIAL.format(*moments, mass=mass),
            collision=element.format("collision", mesh) if mesh else "",
            visual=element.format("visual", visual) if visual else "",
            joint=joint,
            extra=extra,
        )
    )
    return sapwood.Model.from_urdf(folder / "robot.urdf", **options)


def binary_stl(corners):
    rows = np.zeros(len(corners) // 3, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("word", "<u2")]))
    rows["corners"] = np.reshape(corners, (-1, 3, 3))
    return bytes(80) + struct.pack("<I", len(rows)) + rows.tobytes()


def text_stl(corners):
    lines = [f"vertex {x} {y} {z}" for x, y, z in corners.tolist()]
    facets = [
        f"facet normal 0 0 0\nouter loop\n{chr(10).join(lines[i : i + 3])}\nendloop\nendfacet"
        for i in range(0, len(lines), 3)
    ]
    return "\n".join(["solid box", *facets, "endsolid"]).encode()


def collada(corners, unit, axis="Z_UP"):
    numbers = " ".join(str(x / unit) for x in corners.ravel())
    count = len(corners)
    return f"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="u" meter="{unit}"/><up_axis>{axis}</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="n" count="{3 * count}">{numbers}</float_array>
<technique_common><accessor source="#n" count="{count}" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="{count // 3}"><input semantic="VERTEX" source="#v" offset="0"/><p>{" ".join(map(str, range(count)))}</p>
</triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


BOX = CORNERS[np.ravel(FACES)]


@pytest.mark.parametrize(
    "name, data",
    [
        ("box.stl", binary_stl(BOX)),
        ("box.stl", text_stl(BOX)),
        ("box.stl", binary_stl(np.tile(BOX, (20000, 1)))),  # 240,000 faces; MuJoCo reads 200,000
        ("box.dae", collada(BOX, 1.0)),
        ("box.dae", collada(BOX, 0.01)),
        ("box.dae", collada(BOX, 0.001, "Y_UP")),  # the axes of a URDF are those of the file
    ],
)
def test_meshes_of_all_formats_have_the_same_hull(tmp_path, name, data):
    if name.endswith(".dae"):
        pytest.importorskip("trimesh"), pytest.importorskip("collada")
    (tmp_path / name).write_bytes(data)
    model = load(tmp_path, name)
    assert model.num_meshes == 1
    placed = model.mesh_vertices @ matrix(model.shape_transform[1, 3:]).T + model.shape_transform[1, :3]
    assert sorted(np.round(placed, 6).tolist()) == sorted((CORNERS / 10).tolist())


def matrix(quaternion):
    from sapwood.conventions import quat_matrix

    return quat_matrix(quaternion)


def test_files_of_visual_meshes_need_not_exist_or_be_readable(tmp_path):
    (tmp_path / "skin.dae").write_text("no mesh")
    for visual in ("skin.dae", "nothing.stl", "package://nobody/skin.dae"):
        assert load(tmp_path, visual=visual).num_dofs == 1


def test_a_format_that_needs_an_extra_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    (tmp_path / "box.dae").write_bytes(collada(BOX, 1.0))
    with pytest.raises(
        ImportError, match=r"box.dae: the mesh of link 'b' .* pip install 'sapwood\[meshes\]', or export"
    ):
        load(tmp_path, "box.dae")


@pytest.mark.parametrize(
    "name, data, error, text",
    [
        (
            "a.stl",
            binary_stl(BOX * [1, 1, 0]),
            sapwood.ModelError,
            "the mesh of link 'b' is flat, so it has no convex hull",
        ),
        ("a.stl", binary_stl(np.zeros((0, 3))), sapwood.ModelError, "fewer than 4 vertices"),
        ("a.stl", b"not a mesh", sapwood.ModelError, "no STL file; export it again"),
        (
            "a.obj",
            b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n",
            sapwood.ModelError,
            "make the geom a thin box",
        ),
        ("nothing", b"", sapwood.FileError, "the mesh of link 'b' cannot be opened"),
    ],
)
def test_a_mesh_without_a_hull_is_named_with_what_to_do(tmp_path, name, data, error, text):
    if data:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match=text):
        load(tmp_path, name)


@pytest.mark.parametrize("moments", [(1, 1, 5), (2, 3, -1)])
def test_inertias_that_no_body_has_are_balanced_if_asked_for(tmp_path, moments):
    with pytest.raises(
        sapwood.ModelError, match=r"robot.urdf: MuJoCo: .*; correct the inertia, or take .*balance_inertia=True"
    ):
        load(tmp_path, moments=moments)
    model = load(tmp_path, moments=moments, balance_inertia=True)
    mean = sum(moments) / 3
    assert model.body_inertia[0].reshape(3, 3) == pytest.approx(mean * np.eye(3))
    before = " ".join(map(str, sorted(moments)))
    expected = f"body 'b': principal moments {before}, which no body has, are {mean:.3g} each (balance_inertia)"
    assert expected in model.report() and expected in model.report("mujoco") and not model.imported.lost
    assert not any("principal" in line for line in load(tmp_path, moments=(1, 2, 3), balance_inertia=True).report())


def test_an_inertia_that_cannot_be_balanced_is_not_to_be_balanced_again(tmp_path):
    with pytest.raises(sapwood.ModelError, match="correct the inertia$"):
        load(tmp_path, moments=(-1, -1, 1), balance_inertia=True)


def test_other_mistakes_say_what_to_do(tmp_path):
    with pytest.raises(sapwood.ModelError, match="give the body a mass and an inertia above 0"):
        load(tmp_path, moments=(0, 0, 0), mass=0)
    with pytest.raises(ValueError, match=r"robot.urdf: no joint moves a link; from_urdf\(..., floating=True\)"):
        load(tmp_path, joint="fixed")
    (tmp_path / "x.urdf").write_text("<robot")
    with pytest.raises(sapwood.ParseError, match="x.urdf: not an XML file"):
        sapwood.Model.from_urdf(tmp_path / "x.urdf")
    for load_file in (sapwood.Model.from_urdf, sapwood.Model.from_mjcf):
        with pytest.raises(sapwood.FileError, match="no.xml: cannot be opened: No such file"):
            load_file(tmp_path / "no.xml")
    (tmp_path / "x.xml").write_text("<mujoco><worldbody><bodi/></worldbody></mujoco>")
    with pytest.raises(sapwood.ModelError, match="x.xml: MuJoCo: XML Error.*bodi"):
        sapwood.Model.from_mjcf(tmp_path / "x.xml")


# ---- materials of contacts ----

PROPERTIES = """<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="a"/>
<link name="b">{inertial}<collision name="foot"><geometry><sphere radius="0.1"/></geometry>
  <drake:proximity_properties><drake:hunt_crossley_dissipation value="{d}"/><drake:mu_dynamic value="0.7"/>
  </drake:proximity_properties></collision>
<collision><geometry><sphere radius="0.2"/></geometry><drake:proximity_properties><drake:relaxation_time value="0.3"/>
  <drake:point_contact_stiffness value="2e4"/></drake:proximity_properties></collision>
<collision name="plain"><geometry><sphere radius="0.3"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""


def test_proximity_properties_of_drake_are_the_material_of_a_shape(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(PROPERTIES.format(inertial=INERTIAL.format(1, 1, 1, mass=1), d=3))
    model = sapwood.Model.from_urdf(file)
    foot, unnamed, plain = (int(np.flatnonzero(np.isclose(model.shape_scale[:, 0], r))[0]) for r in (0.1, 0.2, 0.3))
    assert list(model.shape_material_dissipation[[foot, unnamed, plain]]) == [3, 50, 50]
    assert model.shape_material_mu[foot] == 0.7 and model.shape_material_mu[plain] != 0.7
    assert model.shape_material_tau[unnamed] == 0.3 and model.shape_material_ke[unnamed] == 2e4
    assert model.shape_material_tau[plain] == model.shape_material_tau[foot] != 0.3


def test_a_property_that_is_no_number_is_refused_by_its_name(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(PROPERTIES.format(inertial=INERTIAL.format(1, 1, 1, mass=1), d="much"))
    with pytest.raises(sapwood.ParseError, match="link 'b': drake:hunt_crossley_dissipation is 'much'"):
        sapwood.Model.from_urdf(file)
