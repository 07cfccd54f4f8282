"""Batches: zero-copy arrays, the same bits as the C program, state that can be taken elsewhere."""

import gc
import json
import subprocess
import threading
import time

import numpy as np
import pytest

import sapwood
from sapwood.batch import FAILED, FIELDS

from conftest import SCENES


def state_hash(batch):
    """FNV-1a over joint_q and joint_qd, as the C program prints it."""
    value = 0xCBF29CE484222325
    for byte in batch.joint_q.tobytes() + batch.joint_qd.tobytes():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def assert_same_state(a, b):
    for name in ("joint_q", "joint_qd", "body_q", "body_qd"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


# ---- arrays ----


ARRAYS = [name for name in FIELDS if not name.startswith(("row_", "tree_"))]  # of a batch with SAP's law, none asleep


def test_every_array_is_there_with_the_worlds_first(quadruped):
    with sapwood.Batch(quadruped, 5) as batch:
        for name in ARRAYS:
            array = getattr(batch, name)
            assert array.shape[0] == 5 and array.flags.writeable, name
        assert batch.joint_q.shape == (5, quadruped.num_coords)
        assert batch.body_q.shape == (5, quadruped.num_bodies, 7)


def test_arrays_are_the_memory_of_the_library_and_stay_where_they_are(quadruped):
    with sapwood.Batch(quadruped, 3) as batch:
        address = {name: getattr(batch, name).__array_interface__["data"][0] for name in ARRAYS}
        batch.step(5)
        batch.reset()
        for name in ARRAYS:
            fresh = type(batch).__getattr__(batch, name)  # one without elements has no address
            assert fresh.size == 0 or fresh.__array_interface__["data"][0] == address[name], name


def test_what_is_written_to_an_array_is_what_the_step_reads(quadruped):
    with sapwood.Batch(quadruped, 2) as batch:
        batch.joint_qd[1, 0] = 3.0
        batch.step()
        assert batch.joint_q[1, 0] - batch.joint_q[0, 0] == pytest.approx(3.0 * quadruped.dt, rel=0.1)


def test_arrays_speak_dlpack_without_a_copy(quadruped):
    with sapwood.Batch(quadruped, 2) as batch:
        other = np.from_dlpack(batch.joint_q)
        batch.joint_q[0, 0] = 7
        assert other[0, 0] == 7


def test_an_array_outlives_its_batch(quadruped):
    batch = sapwood.Batch(quadruped, 100)
    array = batch.body_q
    before = array.copy()
    batch.close()
    del batch
    gc.collect()
    assert np.array_equal(array, before)


def test_a_closed_batch_says_so(quadruped):
    batch = sapwood.Batch(quadruped, 1)
    batch.close()
    batch.close()
    for call in (batch.step, batch.reset, lambda: batch.joint_q):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_wrong_arguments_are_exceptions(quadruped):
    with pytest.raises(sapwood.ArgumentError, match="num_worlds"):
        sapwood.Batch(quadruped, 0)
    with sapwood.Batch(quadruped, 2) as batch:
        with pytest.raises(sapwood.ArgumentError, match="-1"):
            batch.step(1, h=-1)
        with pytest.raises(ValueError, match="mask"):
            batch.reset(np.ones(3, bool))
        with pytest.raises(sapwood.ArgumentError, match="keyframe"):
            batch.reset(keyframe=9)
        with pytest.raises(AttributeError, match="joint_q"):
            batch.no_such_array


# ---- the same bits ----


@pytest.mark.parametrize("preset", ["approx32", "approx64", "drake"])
def test_python_gives_the_bits_of_the_c_program(program, quadruped, preset):
    command = [
        program,
        "run",
        str(SCENES / "quadruped.yaml"),
        "--worlds",
        "7",
        "--steps",
        "60",
        "--seed",
        "5",
        "--preset",
        preset,
        "--json",
    ]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    options = quadruped.options.copy()
    options["preset"] = preset
    with sapwood.Batch(quadruped, 7, options=options, seed=5) as batch:
        batch.perturb(0.1)
        batch.step(60)
        assert state_hash(batch) == report["state_hash"]


def test_many_steps_at_once_are_many_single_steps(quadruped):
    with sapwood.Batch(quadruped, 3, seed=1) as one, sapwood.Batch(quadruped, 3, seed=1) as many:
        for batch in (one, many):
            batch.perturb()
        many.step(20)
        for _ in range(20):
            one.step()
        assert_same_state(one, many)


def test_a_world_does_not_depend_on_its_place_in_a_batch(quadruped):
    with sapwood.Batch(quadruped, 9, seed=3) as whole, sapwood.Batch(quadruped, 2, seed=3, world_offset=5) as part:
        for batch in (whole, part):
            batch.perturb()
            batch.step(30)
        assert np.array_equal(whole.joint_q[5:7], part.joint_q)


@pytest.mark.parametrize("preset", ["approx32", "approx64", "drake"])
def test_a_saved_state_goes_on_bit_for_bit_elsewhere(quadruped, preset, rng):
    with (
        sapwood.Batch(quadruped, 4, preset=preset, threads=1) as one,
        sapwood.Batch(quadruped, 11, preset=preset, threads=2) as other,
    ):
        one.perturb()
        one.joint_target_pos[...] += 0.1 * rng.normal(size=one.joint_target_pos.shape)
        one.step(30)
        places = [9, 0, 3, 7]
        other.step(3)
        other.set_state(one.get_state(), places)
        one.step(30)
        other.step(30)
        for name in ("joint_q", "joint_qd", "body_q", "body_qd"):
            assert np.array_equal(getattr(one, name), getattr(other, name)[places]), name


# ---- reset, rollout, outcome ----


def test_a_rollout_without_controls_has_the_length_that_is_given(quadruped):
    with sapwood.Batch(quadruped, 2) as batch, sapwood.Batch(quadruped, 2) as other:
        recorded = batch.rollout({}, record=["joint_q"], n=3, length=4)["joint_q"]
        other.step(12)
        assert recorded.shape == (4, 2, quadruped.num_coords) and np.array_equal(recorded[-1], other.joint_q)
        with pytest.raises(ValueError, match="length"):
            batch.rollout({})


def test_reset_puts_back_masked_worlds_and_no_others(quadruped):
    with sapwood.Batch(quadruped, 4) as batch:
        start = batch.get_state()
        batch.perturb()
        batch.joint_f[...] = 1
        batch.step(10)
        moved = batch.get_state()
        batch.reset([False, True, False, True])
        for name, values in batch.get_state().items():
            assert np.array_equal(values[[1, 3]], start[name][[1, 3]]), name
            assert np.array_equal(values[[0, 2]], moved[name][[0, 2]]), name
        assert not np.any(batch.status[[1, 3]])


def test_rollout_is_writing_stepping_and_copying(quadruped, rng):
    targets = quadruped.joint_target_pos + 0.1 * rng.normal(size=(6, 3, quadruped.num_dofs))
    with sapwood.Batch(quadruped, 3) as batch, sapwood.Batch(quadruped, 3) as other:
        out = batch.rollout({"joint_target_pos": targets}, record=["joint_q", "iterations"], n=2)
        assert out["joint_q"].shape == (6, 3, quadruped.num_coords)
        for t in range(6):
            other.joint_target_pos[...] = targets[t]
            other.step(2)
            assert np.array_equal(out["joint_q"][t], other.joint_q)
            assert np.array_equal(out["iterations"][t], other.iterations)


def test_a_bad_world_is_reported_and_leaves_the_others_alone(quadruped):
    with sapwood.Batch(quadruped, 3) as batch:
        batch.joint_q[1, 4] = np.nan
        batch.step(2)
        assert batch.status_text(1)[:1] == ["nonfinite_state"]
        assert batch.status[1] & FAILED and not np.any(batch.status[[0, 2]] & FAILED)
        assert batch.stats["failed"] == 1


def centres_of_mass(batch):
    """(num_worlds, num_bodies, 3), world axes."""
    pose, com = batch.body_q.astype(np.float64), batch.model.body_com
    u, w = pose[..., 3:6], pose[..., 6:7]
    return pose[..., :3] + com + 2 * np.cross(u, np.cross(u, com) + w * com)


def wrenches_by_hand(batch, force, centre):
    """The sum over contacts of force and of torque about the centres of mass at the beginning of the step."""
    out = np.zeros((batch.num_worlds, batch.model.num_bodies, 6))
    for w in range(batch.num_worlds):
        for c in range(batch.contact_count[w]):
            for shape, sign in ((batch.contact_shape0[w, c], -1), (batch.contact_shape1[w, c], 1)):
                body = batch.model.shape_body[shape]
                if body >= 0:
                    arm = batch.contact_position[w, c] - centre[w, body]
                    out[w, body, :3] += sign * force[w, c]
                    out[w, body, 3:] += sign * np.cross(arm, force[w, c])
    return out


def test_contact_forces_and_body_wrenches_are_sums_of_impulses(quadruped):
    with sapwood.Batch(quadruped, 3, preset="approx64") as batch:
        batch.contact_impulse, batch.contact_frame, batch.contact_position
        wrench, force = batch.body_contact_wrench, batch.contact_force
        batch.perturb()
        batch.step(60)
        touched = 0
        for _ in range(20):
            centre = centres_of_mass(batch)
            batch.step()
            axes = batch.contact_frame.reshape(*force.shape, 3)
            expected = np.einsum("wci,wcij->wcj", batch.contact_impulse, axes) / batch.dt
            for w, count in enumerate(batch.contact_count):
                assert np.allclose(force[w, :count], expected[w, :count], rtol=1e-12, atol=1e-12)
                touched += count
            assert np.allclose(wrench, wrenches_by_hand(batch, force, centre), rtol=1e-10, atol=1e-10)
        assert touched > 100


@pytest.mark.parametrize("preset", ["approx32", "approx64", "drake"])
def test_contact_forces_of_a_standing_robot_carry_its_weight(quadruped, preset):
    with sapwood.Batch(quadruped, 2, preset=preset) as batch:
        wrench, gap, region = batch.body_contact_wrench, batch.contact_gap, batch.contact_region
        batch.step(1500)
        weight = -quadruped.gravity[2] * quadruped.body_mass.sum()
        total = wrench.sum(axis=1)
        assert np.allclose(total[:, 2], weight, rtol=1e-3) and np.allclose(total[:, :2], 0, atol=1e-3 * weight)
        count = batch.contact_count[0]
        assert count >= 4 and np.all(gap[0, :count] < 0) and np.all(region[0, :count] == 1)  # all stick
        batch.reset()
        assert not np.any(wrench)


def test_names_and_memory_are_told(quadruped):
    with sapwood.Batch(quadruped, 2) as batch, sapwood.Batch(quadruped, 200) as large:
        assert batch.names["body"][0] == "trunk"
        for kind, count in (("body", "num_bodies"), ("joint", "num_joints"), ("shape", "num_shapes")):
            assert len(batch.names[kind]) == getattr(quadruped, count)
        assert 0 < batch.memory < large.memory
        before = batch.memory
        batch.expand("body_inertia"), batch.body_contact_wrench
        assert batch.memory > before


def test_stats_count_what_the_arrays_show(quadruped):
    with sapwood.Batch(quadruped, 6, threads=1) as batch:
        batch.perturb()
        batch.joint_q[4, 3:7] = 0
        batch.step(20)
        stats = batch.stats
        assert stats["failed"] == 1 and stats["not_converged"] == 0
        assert stats["iterations_mean"] == batch.iterations.mean() and stats["iterations_max"] == batch.iterations.max()
        assert (
            stats["contacts_mean"] == batch.contact_count.mean() and stats["contacts_max"] == batch.contact_count.max()
        )
        assert stats["contacts_dropped"] == 0 and stats["threads"] == 1 and stats["lanes"] in (1, 4, 8, 16)
        assert stats["isa"] in ("generic", "avx2", "avx512")
        assert set(batch.status_text(0)) <= {"optimal", "cost_settled"} and batch.status_text(4) == ["nonfinite_state"]


def test_a_context_closes_its_batch_also_after_an_exception(quadruped):
    with pytest.raises(RuntimeError, match="mine"), sapwood.Batch(quadruped, 1) as batch:
        raise RuntimeError("mine")
    with pytest.raises(ValueError, match="closed"):
        batch.memory


def test_kinematics_of_chosen_worlds_leave_the_others(quadruped):
    with sapwood.Batch(quadruped, 3) as batch:
        before = batch.body_q.copy()
        batch.joint_q[:, 0] += 1
        batch.forward_kinematics([False, True, False])
        assert np.array_equal(batch.body_q[[0, 2]], before[[0, 2]])
        assert np.allclose(batch.body_q[1, :, 0], before[1, :, 0] + 1)
        batch.forward_kinematics()
        assert np.allclose(batch.body_q[:, :, 0], before[:, :, 0] + 1)


def test_rollout_records_contact_arrays_from_the_first_step(quadruped):
    targets = np.repeat(quadruped.joint_target_pos[None, None], 30, axis=0)
    with sapwood.Batch(quadruped, 2) as batch:
        out = batch.rollout({"joint_target_pos": targets}, record=["body_contact_wrench", "contact_count", "status"])
        assert out["body_contact_wrench"].shape == (30, 2, quadruped.num_bodies, 6)
        touching = out["contact_count"][:, 0] > 0
        assert np.any(out["body_contact_wrench"][touching, 0, :, 2] > 0)
        with pytest.raises(ValueError, match="lengths"):
            batch.rollout({"joint_f": np.zeros((2, 2, 18)), "joint_act": np.zeros((3, 2, 18))})


# ---- calls ----


def test_other_threads_run_while_a_step_does(quadruped):
    """The GIL is released: a Python thread counts on during one long call."""
    counted = 0
    running = True

    def count():
        nonlocal counted
        while running:
            counted += 1
            time.sleep(0.001)

    with sapwood.Batch(quadruped, 512, threads=1) as batch:
        thread = threading.Thread(target=count)
        thread.start()
        while counted == 0:
            time.sleep(0.001)
        before = counted
        batch.step(400)
        during = counted - before
        running = False
        thread.join()
    assert during > 2  # at most one count at each end of the call if the GIL is held


def test_two_batches_step_in_two_threads(quadruped):
    with sapwood.Batch(quadruped, 16, threads=1) as one, sapwood.Batch(quadruped, 16, threads=1) as two:
        threads = [threading.Thread(target=batch.step, args=(50,)) for batch in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert_same_state(one, two)


def test_the_first_step_is_made_within_a_second():
    start = time.perf_counter()
    with sapwood.Batch(sapwood.scene("quadruped"), 1024) as batch:
        batch.step()
    assert time.perf_counter() - start < 1
