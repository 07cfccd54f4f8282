"""Models and options: arrays in, the same arrays out, messages of the library as exceptions."""

import gc

import numpy as np
import pytest

import sapwood

from conftest import SCENES


def ball(**changes):
    arrays = dict(
        joint_type=[4],
        joint_parent=[-1],
        joint_child=[0],
        num_dofs=6,
        num_coords=7,
        body_mass=[1.0],
        body_inertia=np.eye(3) * 0.1,
    )
    return sapwood.Model(**{**arrays, **changes})


def assert_same_model(a, b):
    a, b = a.arrays(), b.arrays()
    assert a.keys() == b.keys()
    for name in a:
        assert np.array_equal(a[name], b[name]), name


def test_a_model_made_from_its_own_arrays_is_the_same(quadruped):
    assert_same_model(quadruped, sapwood.Model(**quadruped.arrays()))


CONSTRAINTS = SCENES.parent.parent / "tests/data/reference/constraints"


@pytest.mark.parametrize("scene", sorted([*SCENES.glob("*.yaml"), *CONSTRAINTS.glob("*.yaml")]), ids=lambda p: p.stem)
def test_a_scene_written_and_read_again_is_the_same_model(scene, tmp_path):
    model = sapwood.Model.load(scene)
    model.save(tmp_path / "copy.yaml")
    copy = sapwood.Model.load(tmp_path / "copy.yaml")
    assert_same_model(model, copy)
    assert copy.dt == model.dt
    assert dict(copy.options) == dict(model.options)


def test_a_broken_rule_is_an_exception_with_the_message_of_the_library():
    with pytest.raises(sapwood.ModelError, match=r"body_mass\[0\].*must be finite and > 0"):
        ball(body_mass=[-1.0])


def test_arrays_of_different_lengths_are_refused():
    with pytest.raises(sapwood.ModelError, match="joint_parent has 2 rows; it must have 1"):
        ball(joint_parent=[-1, -1])


def test_an_unknown_array_is_refused():
    with pytest.raises(TypeError, match="no array 'body_colour'"):
        ball(body_colour=[1])


def test_a_scene_that_cannot_be_read_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="nothing.yaml"):
        sapwood.Model.load(tmp_path / "nothing.yaml")


def test_files_of_a_scene_are_below_its_folder_or_the_asset_root(tmp_path):
    (tmp_path / "scenes").mkdir()
    (tmp_path / "hills.txt").write_text("0 1\n2 3\n")
    path = tmp_path / "scenes" / "scene.yaml"
    path.write_text(
        "schema_version: 1\nbodies: [{id: b, shapes: [{type: sphere, radius: 1}]}]\n"
        "joints: [{id: j, type: free, child: b}]\n"
        "post_build: [{op: add_shape, type: hfield, hx: 1, hy: 1, file: ../hills.txt}]\n"
    )
    with pytest.raises(OSError, match="below the folder of the scene"):
        sapwood.Model.load(path)
    assert sapwood.Model.load(path, asset_root=tmp_path).num_shapes == 3  # ground, sphere, field


def test_a_bad_scene_is_an_exception_with_its_line():
    with pytest.raises(sapwood.ParseError, match="scene:2"):
        sapwood.Model.parse("schema_version: 1\nnonsense: 3\n")


def test_arrays_of_a_model_are_read_only(quadruped):
    with pytest.raises(ValueError):
        quadruped.body_mass[0] = 2


def test_arrays_keep_the_memory_of_their_model():
    mass = ball(body_mass=[3.0]).body_mass
    gc.collect()
    assert mass[0] == 3.0


def test_options_are_set_and_read_by_name():
    options = sapwood.Options("approx64", threads=2, cost_rel_tol=None, contact_geometry_f64=False)
    assert options["threads"] == "2"
    assert options["cost_rel_tol"] == "none"
    assert options["contact_geometry_f64"] == "false"
    assert options["preset"] == "custom"
    assert sapwood.Options("drake")["preset"] == "drake"


def test_an_option_out_of_range_lists_what_is_allowed():
    options = sapwood.Options()
    with pytest.raises(sapwood.ArgumentError, match="threads"):
        options["threads"] = -3
    with pytest.raises(sapwood.ArgumentError, match="allowed"):
        options["no_such_option"] = 1


def test_options_copied_do_not_change_with_the_original():
    one = sapwood.Options()
    two = one.copy()
    one["max_iterations"] = 7
    assert two["max_iterations"] == "0"


def test_free_motion_of_a_ball_is_that_of_gravity():
    model = ball(gravity=[0, 0, -9.81])
    motion = model.free_motion(model.joint_q, model.joint_qd, h=0.01)
    assert np.allclose(motion["A"][0], np.diag([0.1, 0.1, 0.1, 1, 1, 1]), atol=1e-15)
    assert np.allclose(motion["v_star"][0], [0, 0, 0, 0, 0, -0.0981], atol=1e-15)


def test_a_tiny_inertia_is_a_warning_that_names_the_body():
    shape = dict(shape_type=[3], shape_body=[0], shape_scale=[[0.1, 0, 0]], body_name=["pea"])
    with pytest.warns(UserWarning, match=r"body 0 \('pea'\).*1e-12 kg m\^2"):
        model = ball(body_inertia=np.eye(3) * 1e-12, **shape)
    assert len(model.warnings) == 1
    assert ball(**shape).warnings == []


def test_options_have_sap_warps_names_too():
    options = sapwood.Options("approx64", max_rigid_contact=7, contact_sigma=0.25)
    assert options["max_contacts"] == options["max_rigid_contact"] == "7"
    assert options["friction_regularization"] == "0.25" and options["contact_preset_variant"] == "approx64"
    assert "rho" in options and "rho" not in list(options)
