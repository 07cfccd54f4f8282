"""What crosses to the library: arrays by one function, integers and texts that fit."""

import re
from pathlib import Path

import numpy as np
import pytest

import sapwood
from sapwood._library import ArgumentError, address, given

from test_safety import runs

PACKAGE = Path(sapwood.__file__).parent
DOWN = ([[0.0, 0.0, 2.0]] * 3, [[0.0, 0.0, -1.0]])


def test_every_array_crosses_by_one_function():
    found = [path.name for path in PACKAGE.rglob("*.py") if re.search(r"\.ctypes\b|ctypes\.data", path.read_text())]
    assert found == ["_library.py"]
    assert (PACKAGE / "_library.py").read_text().count(".ctypes.data") == 1


def test_an_array_of_another_type_shape_or_layout_is_refused_by_name():
    numbers = np.zeros((4, 3))
    assert address("x", numbers, np.float64, (4, 3)) == numbers.ctypes.data and address("x", None) is None
    with pytest.raises(TypeError, match="x is <f8; it must be float32"):
        address("x", numbers, np.float32)
    with pytest.raises(TypeError, match="x is >f8; it must be native"):
        address("x", numbers.astype(">f8"))
    with pytest.raises(ArgumentError, match=r"x has shape \(4, 3\); it must be \(3, 4\)"):
        address("x", numbers, None, (3, 4))
    with pytest.raises(ArgumentError, match="x has strides .* without gaps"):
        address("x", numbers[:, :2])
    with pytest.raises(ArgumentError, match="x is read-only"):
        address("x", np.broadcast_to(1.0, 1), written=True)


def test_integers_keep_their_values():
    assert given("x", [1.0, 2.0], np.int32).tolist() == [1, 2]
    for wrong in ([1.5], np.array([2**32]), [np.nan]):
        with pytest.raises(ArgumentError, match=r"x\[0\] is .*; it must be a whole number of type int32"):
            given("x", wrong, np.int32)


# ---- rays ----


@pytest.mark.parametrize("order", [lambda a: a[:, ::2], lambda a: a[::-1], np.asfortranarray])
def test_results_of_rays_go_into_arrays_with_gaps(quadruped, order):
    with sapwood.Batch(quadruped, 4) as batch:
        expected = batch.raycast(*DOWN)
        backing = np.full((4, 6), 7, expected.distance.dtype)
        distance = order(backing) if order(backing).shape == (4, 3) else order(np.full((4, 3), 7, backing.dtype))
        out = sapwood.RayHits(distance, None, None)
        assert batch.raycast(*DOWN, out=out).distance is distance
        assert np.array_equal(distance, expected.distance)
        assert distance.base is None or set(np.unique(backing)) <= {7, *np.unique(expected.distance)}


def test_results_of_rays_into_read_only_memory_are_refused_and_do_not_crash():
    code = """
batch = sapwood.Batch(model, 4)
out = np.frombuffer(bytes(4 * 3 * 4), np.float32).reshape(4, 3)
try:
    batch.raycast([[0, 0, 2.0]] * 3, [[0, 0, -1.0]], out=sapwood.RayHits(out, None, None))
except sapwood.ArgumentError as error:
    print(error)
"""
    assert runs(code) == "out.distance is read-only; it must be writable\n"


def test_results_of_rays_into_something_else_are_refused(quadruped):
    with sapwood.Batch(quadruped, 4) as batch, pytest.raises(TypeError, match="out.distance is a list"):
        batch.raycast(*DOWN, out=sapwood.RayHits([0.0], None, None))


# ---- lengths ----


def test_numbers_of_mujocos_law_have_their_lengths(quadruped):
    arrays = quadruped.arrays()
    body, dof, _ = quadruped.mujoco_weights()
    for name, wrong in {"body_invweight": body[1:], "dof_invweight": dof[:3], "shape_friction": np.ones(3)}.items():
        numbers = {"body_invweight": body, "dof_invweight": dof, name: wrong}
        with pytest.raises(sapwood.ModelError, match=rf"mujoco.{name} has shape \(.*\); it must be \(.*\)"):
            sapwood.Model(mujoco=numbers, **arrays)
    with pytest.raises(sapwood.ModelError, match=r"mujoco.pair_shape has shape \(1, 2\); it must be \(2, 2\)"):
        pairs = {"num_pairs": 2, "pair_shape": [[0, 1]]}
        sapwood.Model(mujoco={**pairs, "body_invweight": body, "dof_invweight": dof}, **arrays)


@pytest.mark.parametrize("name, wrong", [("keyframe_joint_q", 18), ("keyframe_joint_qd", 19), ("joint_axis", 7)])
def test_arrays_of_a_model_have_their_lengths(quadruped, name, wrong):
    arrays = quadruped.arrays()
    values = np.zeros(wrong) if name == "joint_axis" else np.zeros((1, wrong))
    keyframe = {"keyframe_joint_q": np.zeros((1, 19)), "keyframe_joint_qd": np.zeros((1, 18)), "keyframe_name": ["a"]}
    with pytest.raises(sapwood.ModelError, match=f"{name} has "):
        sapwood.Model(**{**arrays, "num_keyframes": 1, **keyframe, name: values})


# ---- integers and texts ----


def test_integers_that_do_not_fit_a_field_are_refused(quadruped):
    arrays = quadruped.arrays()
    with pytest.raises(ArgumentError, match="num_coords is 4294967315"):
        sapwood.Model(**{**arrays, "num_coords": 2**32 + 19})
    with pytest.raises(ArgumentError, match="iterations is 4294967297"):
        body, dof, _ = quadruped.mujoco_weights()
        sapwood.Model(mujoco={"body_invweight": body, "dof_invweight": dof, "iterations": 2**32 + 1}, **arrays)
    with pytest.raises(ArgumentError, match="threads is 4294967297"):
        sapwood.dual_solve(np.eye(3), [0.0, 0, 1], mu=[0.3], threads=2**32 + 1)


def test_a_path_with_a_nul_is_refused_and_not_cut(quadruped, tmp_path):
    path = str(tmp_path / "a.yaml") + "\0b"
    Path(path.partition("\0")[0]).write_text("")
    for call in (sapwood.Model.load, sapwood.Dump):
        with pytest.raises(ArgumentError, match="NUL"):
            call(path)
    with sapwood.Batch(quadruped, 1) as batch:
        batch.guard()
        with pytest.raises(ArgumentError, match="NUL"):
            batch.dump(0, path)
    assert Path(path.partition("\0")[0]).read_text() == ""
    with pytest.raises(ArgumentError, match="NUL"):
        sapwood.Model(**{**quadruped.arrays(), "name": "a\0b"})
    with pytest.raises(ArgumentError, match="NUL"):
        sapwood.Options(threads="1\0002")
