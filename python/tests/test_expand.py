"""Parameters that worlds have of their own: each world is one of a model with its values."""

import numpy as np
import pytest

import sapwood
from sapwood.batch import FAILED, PARAMETERS

from conftest import SCENES


def randomised(model, rng, n):
    """{name: (n, ...)} of values that a user would randomise."""
    mass = model.body_mass * rng.uniform(0.7, 1.5, (n, model.num_bodies))
    return {
        "body_mass": mass,
        "body_inertia": model.body_inertia * (mass / model.body_mass)[..., None],
        "body_com": model.body_com + rng.uniform(-0.01, 0.01, (n, model.num_bodies, 3)),
        "shape_material_mu": rng.uniform(0.2, 1.2, (n, model.num_shapes)),
        "joint_target_ke": model.joint_target_ke * rng.uniform(0.8, 1.2, (n, model.num_dofs)),
        "joint_target_kd": model.joint_target_kd * rng.uniform(0.8, 1.2, (n, model.num_dofs)),
        "joint_armature": rng.uniform(0, 0.02, (n, model.num_dofs)),
        "joint_friction": rng.uniform(0, 0.2, (n, model.num_dofs)),
        "joint_damping": rng.uniform(0, 0.1, (n, model.num_dofs)),
        "gravity": model.gravity + rng.uniform(-0.3, 0.3, (n, 3)),
    }


def model_with(model, values, w):
    return sapwood.Model(dt=model.dt, **{**model.arrays(), **{name: array[w] for name, array in values.items()}})


@pytest.mark.parametrize("preset", ["approx32", "approx64", "drake"])
def test_a_randomised_world_is_bit_for_bit_one_of_a_model_with_its_values(quadruped, rng, preset):
    values = randomised(quadruped, rng, 11)
    with sapwood.Batch(quadruped, 11, preset=preset, seed=2, threads=2) as batch:
        for name, array in values.items():
            batch.expand(name)[...] = array
        batch.perturb()
        batch.step(80)
        assert not np.any(batch.status & FAILED)
        for w in (0, 4, 10):
            own = model_with(quadruped, values, w)
            with sapwood.Batch(own, 1, preset=preset, seed=2, world_offset=w, threads=1) as alone:
                alone.perturb()
                alone.step(80)
                for name in ("joint_q", "joint_qd", "body_q", "body_qd", "cost", "contact_count"):
                    assert np.array_equal(getattr(batch, name)[w], getattr(alone, name)[0]), (w, name)


def test_every_parameter_can_be_expanded_and_begins_as_the_models(quadruped):
    with sapwood.Batch(quadruped, 3) as batch:
        assert batch.expanded == []
        own = [name for name in PARAMETERS if not name.startswith("mujoco_")]
        present = [name for name in own if getattr(quadruped, name).size]  # it has no constraints and tendons
        for name in present:
            array = batch.expand(name)
            assert array.shape == (3, *getattr(quadruped, name).shape) and array.dtype == getattr(quadruped, name).dtype
            assert np.array_equal(array[2], getattr(quadruped, name))
            assert batch.expand(name) is array and getattr(batch, name) is array
        assert batch.expanded == present
        batch.check_parameters()


def test_numbers_of_constraints_and_tendons_are_expanded_in_the_shape_of_the_model():
    for scene in ("own_soft_weld_ball", "own_tendon_path", "own_coupler_polynomial"):
        model = sapwood.Model.load(SCENES.parent.parent / f"tests/data/reference/constraints/{scene}.yaml")
        with sapwood.Batch(model, 3) as batch:
            for name in PARAMETERS:
                if name.startswith(("constraint", "tendon")) and getattr(model, name).size:
                    assert np.array_equal(batch.expand(name)[2], getattr(model, name)), name
            batch.step(3)
            assert not (batch.status & FAILED).any()


def test_a_write_is_in_force_with_the_next_step(quadruped):
    """Nothing needs to be announced, also when a value is written through a view that was kept."""
    with sapwood.Batch(quadruped, 2) as batch:
        kept = batch.expand("gravity")[1]
        batch.joint_q[:, 2] += 5
        batch.step()
        kept[2] = 0
        before = batch.joint_qd[:, 2].copy()
        batch.step(10)
        change = batch.joint_qd[:, 2] - before
        assert change[0] == pytest.approx(-98.1 * quadruped.dt, rel=1e-3) and abs(change[1]) < 1e-4
        kept[2] = -9.81
        before = batch.joint_qd[1, 2]
        batch.step(10)
        assert batch.joint_qd[1, 2] - before == pytest.approx(-98.1 * quadruped.dt, rel=1e-3)


@pytest.mark.parametrize(
    "name, index, value, message",
    [
        ("body_mass", (3,), 0.0, r"world 1: body_mass\[3\] of body 3 \('.+'\) is 0; it must be finite and > 0"),
        ("body_mass", (0,), np.nan, r"world 1: body_mass\[0\] of body 0 \('trunk'\) is nan"),
        ("body_inertia", (2, 4), -1.0, r"world 1: body_inertia\[2\] of .* positive definite"),
        ("shape_material_mu", (1,), -0.1, r"world 1: shape_material_mu\[1\] of shape 1 .* is -0.1"),
    ],
)
def test_a_bad_value_stops_its_world_and_is_told(quadruped, name, index, value, message):
    with sapwood.Batch(quadruped, 3) as batch, sapwood.Batch(quadruped, 3) as clean:
        batch.expand(name)
        for b in (batch, clean):
            b.step(5)
        still = batch.joint_q[1].copy()
        good = getattr(batch, name)[(1, *index)]
        getattr(batch, name)[(1, *index)] = value
        with pytest.raises(sapwood.ModelError, match=message):
            batch.check_parameters()
        for b in (batch, clean):
            b.step(5)
        assert batch.status_text(1) == ["bad_parameters"] and batch.stats["failed"] == 1
        assert np.array_equal(batch.joint_q[1], still)
        assert np.array_equal(batch.joint_q[[0, 2]], clean.joint_q[[0, 2]])
        getattr(batch, name)[(1, *index)] = good
        batch.step()
        assert not np.any(batch.status & FAILED)


def test_a_saved_state_takes_its_parameters_along(quadruped, rng):
    values = randomised(quadruped, rng, 4)
    with sapwood.Batch(quadruped, 4, threads=1) as one, sapwood.Batch(quadruped, 9, threads=2) as other:
        for name in ("body_mass", "body_com", "shape_material_mu"):
            one.expand(name)[...] = values[name]
        other.expand("joint_armature")[...] = 0.05  # is the model's in the state that comes
        one.perturb()
        one.step(30)
        places = [7, 0, 3, 4]
        other.set_state(one.get_state(), places)
        one.step(30)
        other.step(30)
        for name in ("joint_q", "joint_qd", "body_q", "body_qd"):
            assert np.array_equal(getattr(one, name), getattr(other, name)[places]), name
        assert np.all(other.joint_armature[1] == 0.05)


def test_a_reset_leaves_parameters_and_knows_the_worlds_centre_of_mass(quadruped, rng):
    values = randomised(quadruped, rng, 3)
    start = quadruped.joint_qd + 0.3
    moving = sapwood.Model(dt=quadruped.dt, **{**quadruped.arrays(), "joint_qd": start})
    with sapwood.Batch(moving, 3, preset="approx64") as batch:
        batch.expand("body_com")[...] = values["body_com"]
        batch.step(3)
        batch.reset([True, False, True])
        assert np.array_equal(batch.body_com, values["body_com"])
        for w in (0, 2):
            with sapwood.Batch(model_with(moving, {"body_com": values["body_com"]}, w), 1, preset="approx64") as alone:
                assert np.array_equal(batch.body_qd[w], alone.body_qd[0])


def test_what_cannot_be_expanded_is_refused_with_what_can(quadruped):
    with sapwood.Batch(quadruped, 1) as batch:
        with pytest.raises(ValueError, match="joint_axis.*body_mass"):
            batch.expand("joint_axis")
        with pytest.raises(AttributeError, match="expand"):
            batch.body_mass
    with pytest.raises(ValueError, match="closed"):
        batch.expand("body_mass")


def test_an_expanded_array_outlives_its_batch(quadruped):
    batch = sapwood.Batch(quadruped, 50)
    array = batch.expand("body_mass")
    batch.close()
    del batch
    array[...] = 3
    assert np.all(array == 3)
