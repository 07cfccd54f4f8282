"""Solver: the step as a function of arrays, with contacts of the caller; and batches with such contacts."""

import ctypes
import threading

import numpy as np
import pytest

import sapwood
from sapwood import _layout
from sapwood._library import _C_TYPES, lib
from sapwood.contacts import Struct

from conftest import SCENES

OPTIONS = {"line_search": "wolfe", "cost_rel_tol": 1e-6}
LAWS = [("approx32", "sap"), ("approx64", "sap"), ("fast32", "sap"), ("approx64", "cone"), ("approx32", "pgs")]


def solver_of(name="quadruped", worlds=5, preset="approx64", law="sap", **options):
    return sapwood.Solver(sapwood.scene(name), worlds, preset, 1, {**OPTIONS, "contact_solver": law, **options})


def moving(solver, dtype=np.float64):
    """A state whose worlds differ, some steps after the initial one."""
    state = solver.state(dtype)
    state.joint_qd[...] += 0.3 * np.sin(1.7 * np.arange(state.joint_qd.size)).reshape(state.joint_qd.shape)
    for _ in range(60):
        solver.step(state, state, contacts=solver.collide(state), h=0.005)
    return state


def plain_struct(name, n, dtype, **arrays):
    """A struct of the library, without the package's classes."""
    return _C_TYPES[name](n, dtype, **{k: a.ctypes.data for k, a in arrays.items()})


# ---- the same as the C API and as a batch ----


@pytest.mark.parametrize("preset, law", LAWS)
def test_a_step_is_that_of_the_c_api(preset, law):
    solver = solver_of(preset=preset, law=law)
    before, after, control = moving(solver), solver.state(), solver.control()
    control.joint_target_pos[...] += 0.1
    contacts = solver.collide(before)
    assert contacts.count.sum() > 5
    solver.step(before, after, control, contacts, 0.004)

    # the same by ctypes alone
    pointer = ctypes.c_void_p()
    options = sapwood.Options(None)
    options.update(dict(solver.options))
    assert lib.sap_solver_create(solver.model.pointer, 5, ctypes.byref(options.struct), ctypes.byref(pointer)) == 0
    q, qd = np.zeros_like(before.joint_q), np.zeros_like(before.joint_qd)
    start = plain_struct("SapState", 5, 1, joint_q=before.joint_q, joint_qd=before.joint_qd)
    end = plain_struct("SapState", 5, 1, joint_q=q, joint_qd=qd)
    names = [n for n in control if control._arrays[n] is not None]
    drive = plain_struct("SapControl", 5, 1, **{n: control._arrays[n] for n in names})
    touch = Struct(5, contacts.capacity, 1, **{n: a.ctypes.data for n, a in contacts.items()})
    arguments = [ctypes.byref(x) for x in (start, drive, touch)]
    assert lib.sap_step(pointer, *arguments, 0.004, ctypes.byref(end)) == 0
    lib.sap_solver_destroy(pointer)
    assert np.array_equal(after.joint_q, q) and np.array_equal(after.joint_qd, qd)
    assert not np.array_equal(after.joint_qd, before.joint_qd)


@pytest.mark.parametrize("preset, law", [*LAWS, ("mujoco64", "mujoco")])
def test_solver_batch_and_batch_with_contacts_take_the_same_steps(preset, law):
    solver = solver_of(preset=preset, law=law)
    options = dict(solver.options)
    own = sapwood.Batch(solver.model, 5, options=options, dtype=np.float64)
    given = sapwood.Batch(solver.model, 5, options=options, dtype=np.float64)
    state = solver.state()
    velocity = 0.3 * np.cos(1 + np.arange(state.joint_qd.size)).reshape(state.joint_qd.shape)
    for each in (state, own, given):
        each.joint_qd += velocity
    cache = solver.record("dof_cache") if law == "mujoco" else None
    seen = 0
    for k in range(50):
        contacts = solver.collide(state)
        solver.step(state, state, contacts=contacts, h=0.005)
        own.step(h=0.005)
        given.step(h=0.005, contacts=contacts if k % 2 else own.contacts)
        for name in ("joint_q", "joint_qd"):
            assert np.array_equal(getattr(own, name), getattr(given, name)), (name, k)
            assert np.array_equal(getattr(own, name), getattr(state, name)), (name, k)
        assert np.array_equal(own.status, solver.status)
        seen += int(contacts.count.sum())
    assert seen > 100
    assert cache is None or np.array_equal(cache.dof_cache, own.dof_cache)


def test_states_of_two_types_and_in_and_out_that_differ():
    solver = solver_of()
    before = moving(solver)
    single, after, place = solver.state(np.float32), solver.state(), before.copy()
    contacts = solver.collide(before)
    solver.step(before, after, contacts=contacts)
    solver.step(place, place, contacts=contacts)
    solver.step(before, single, contacts=contacts)
    assert np.array_equal(after.joint_q, place.joint_q) and np.array_equal(after.body_q, place.body_q)
    assert np.array_equal(single.joint_q, after.joint_q.astype(np.float32))


def test_a_step_without_contacts_is_free_motion():
    solver = solver_of(preset="approx64")
    state = solver.state()
    motion = solver.free_motion(state, h=0.01)
    model = solver.model.free_motion(state.joint_q, state.joint_qd, 0.01, options=dict(solver.options))
    assert motion.keys() == model.keys() and all(np.array_equal(motion[k], model[k]) for k in ("v_star", "body_pose"))
    after = solver.state()
    solver.step(state, after, h=0.01)
    assert np.allclose(after.body_qd[:, 0, 2], -0.0981, atol=0.02)


# ---- contacts ----


def test_a_list_of_contacts_holds_a_cube():
    solver = sapwood.Solver(sapwood.scene("cube"), 3, "approx64", options=OPTIONS)
    state, contacts = solver.state(), solver.contacts(4)
    state.joint_q[:, 3:], state.joint_qd = [0, 0, 0, 1], 0
    height = float(state.joint_q[0, 2])
    contacts.sort([0, 0, 2], body1=[0, 0, 0], point0=[[0.1, 0, 0], [-0.1, 0, 0], [0, 0, 0]],
                  point1=[[0.1, 0, -height], [-0.1, 0, -height], [0, 0, -height]], normal=[[0, 0, 1]] * 3,
                  gap=[0, 0, 0])  # fmt: skip
    assert contacts.count.tolist() == [2, 0, 1] and contacts.mu.shape == (3, 4)
    record = solver.record("force", "gap")
    solver.step(state, state, contacts=contacts, h=0.01)
    assert record.force[0, :2, 2].sum() > 0 and record.force[1].max() == 0 and abs(record.gap[0, 0]) < 1e-9
    assert state.body_qd[1, 0, 2] < -0.09 < state.body_qd[0, 0, 2]


def test_a_list_with_too_many_contacts_keeps_the_deepest_and_counts_the_rest():
    contacts = sapwood.Contacts(2, 2, np.float32)
    contacts.sort([1, 1, 0, 1], margin0=[1, 2, 3, 4], gap=[0.5, -1, 0, -2])
    assert contacts.count.tolist() == [1, 2] and contacts.dropped.tolist() == [0, 1]
    assert contacts.margin0[1].tolist() == [2, 4]


def test_contacts_are_arrays_of_the_caller():
    mine = {
        "count": np.zeros(3, np.int32),
        "point0": np.zeros((3, 4, 3)),
        "point1": np.zeros((3, 4, 3)),
        "normal": np.zeros((3, 4, 3)),
    }
    contacts = sapwood.Contacts.of(**mine)
    assert contacts.point0 is mine["point0"] and (contacts.num_worlds, contacts.capacity) == (3, 4)
    contacts.mu = 0.5  # a new array
    contacts.count = [1, 2, 3]
    assert contacts.mu.shape == (3, 4) and mine["count"].tolist() == [1, 2, 3]
    copy = contacts.copy()
    assert copy.mu is not contacts.mu and np.array_equal(copy.mu, contacts.mu)
    contacts.mu = None
    assert contacts.mu is None and contacts.key is None


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({"point0": np.zeros((3, 4))}, ValueError, r"point0 has shape \(3, 4\)"),
        ({"normal": np.zeros((3, 5, 3))}, ValueError, r"normal has shape \(3, 5, 3\); it must be \(3, 4, 3\)"),
        ({"normal": np.zeros((3, 4, 3), np.float32)}, TypeError, "normal is float32; it must be float64"),
        ({"count": np.zeros(3)}, TypeError, "count is float64; it must be int32"),
        ({"count": None}, ValueError, "contacts need count"),
        ({"count": [0, 0, 0]}, TypeError, "count is a list"),
        ({"mu": np.zeros((3, 8))[:, ::2]}, ValueError, "mu has strides"),
        ({"friction": np.zeros((3, 4))}, ValueError, "contacts have no array 'friction'"),
        ({"mujoco": np.zeros((3, 4, 28))}, ValueError, "mujoco has shape"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_name(change, error, text):
    arrays = {"count": np.zeros(3, np.int32)} | {n: np.zeros((3, 4, 3)) for n in ("point0", "point1", "normal")}
    with pytest.raises(error, match=text):
        sapwood.Contacts.of(**{**arrays, **change})


# ---- arguments ----


def test_arguments_that_do_not_fit_are_refused():
    solver = solver_of(worlds=3)
    other = solver_of("gripper", worlds=3)
    state, contacts = solver.state(), solver.contacts()
    with pytest.raises(TypeError, match="state_in is a dict; it must be a sapwood.State"):
        solver.step({}, state)
    with pytest.raises(ValueError, match="state_in.joint_q has shape"):
        solver.step(other.state(), state)
    with pytest.raises(ValueError, match="control.joint_f has shape"):
        solver.step(state, state, other.control())
    with pytest.raises(TypeError, match="contacts is a list"):
        solver.step(state, state, contacts=[1])
    with pytest.raises(ValueError, match="h is 0"):
        solver.step(state, state, h=0)
    with pytest.raises(ValueError, match="num_worlds is 2"):
        solver.step(state, state, contacts=sapwood.Contacts(2, 4))
    with pytest.raises(ValueError, match="capacity is"):
        solver.collide(state, sapwood.Contacts(3, solver.capacity + 1))
    with pytest.raises(ValueError, match=r"joint_q of in and out|overlap"):
        overlapping = state.copy()
        overlapping._arrays["joint_qd"] = state.joint_q.reshape(-1)[: state.joint_qd.size].reshape(state.joint_qd.shape)
        solver.step(state, overlapping)
    contacts.count[1] = -1
    with pytest.raises(ValueError, match=r"count\[1\] is -1"):
        solver.step(state, state, contacts=contacts)
    with pytest.raises(TypeError, match="joint_q cannot be None"):
        state.joint_q = None
    state.body_q = None  # not computed
    solver.step(state, state)
    state.body_q = 1  # the array again
    assert state.body_q.shape == (3, solver.model.num_bodies, 7) and np.all(state.body_q == 1)
    with pytest.raises(AttributeError, match="did you mean 'joint_q'"):
        state.joint_p = 0
    with pytest.raises(ValueError, match="there is no 'impulses' to record; did you mean 'impulse'"):
        solver.record("impulses")
    with pytest.raises(TypeError, match="dtype is int32"):
        solver.state(np.int32)
    with pytest.raises(NotImplementedError, match="sap_solver_record_rows"):
        solver.record_rows()
    with pytest.raises(NotImplementedError, match="sap_solver_record_problem"):
        solver.record_problem()


def test_a_world_with_a_bad_contact_fails_alone():
    solver = solver_of(worlds=4)
    state = moving(solver)
    contacts, before = solver.collide(state), state.joint_q.copy()
    contacts.normal[2, 0] = 0
    solver.step(state, state, contacts=contacts)
    assert solver.status_text(2) == ["bad_contact"] and "bad_contact" not in solver.status_text(1)
    assert np.array_equal(state.joint_q[2], before[2]) and not np.array_equal(state.joint_q[1], before[1])


# ---- reports ----


def test_reports_are_those_of_a_batch():
    solver = solver_of()
    batch = sapwood.Batch(solver.model, 5, options={**dict(solver.options), "max_contacts": solver.capacity})
    batch.joint_qd[...] += 0.1 * np.arange(5)[:, None]
    state = solver.state()
    state.joint_qd = batch.joint_qd
    arrays = solver.record("impulse", "velocity", "position", "frame", "gap", "region", "force", "wrench", "drive")
    for name in ("impulse", "force", "gap", "region"):
        getattr(batch, f"contact_{name}")
    for _ in range(30):
        solver.step(state, state, contacts=solver.collide(state))
        batch.step()
    slots = batch.contact_impulse.shape[1]
    assert np.any(arrays.impulse) and np.any(arrays.drive) and np.any(arrays.wrench)
    for name in ("impulse", "force", "gap", "region"):
        assert np.array_equal(getattr(arrays, name)[:, :slots], getattr(batch, f"contact_{name}")), name
    report = solver.report
    for name in ("status", "iterations", "cost", "residual"):
        assert np.array_equal(getattr(report, name), getattr(batch, name)), name
    assert not report.cost.flags.writeable
    solver.record()  # stops
    last = arrays.impulse.copy()
    solver.step(state, state)
    assert np.array_equal(arrays.impulse, last)


def test_problems_in_impulses_and_constraints_are_recorded():
    solver = solver_of(law="cone", worlds=2)
    state = moving(solver)
    problem = solver.record_problem()
    solver.step(state, state, contacts=solver.collide(state))
    assert problem.num_blocks.min() > 0 and problem.W.shape[1] == problem.b.shape[1] and np.any(problem.impulse)
    solver.record_problem(False)
    loops = sapwood.Solver(sapwood.Model.load(SCENES / "fivebar_leg.yaml"), 2, "approx64", options=OPTIONS)
    rows = loops.record_constraints("impulse", "error", "wrench", "residual")
    state = loops.state()
    loops.step(state, state)
    assert np.any(rows.impulse) and np.any(rows.wrench) and rows.residual.shape == (2,)


def test_a_solver_takes_an_imported_model_with_mujocos_law():
    mujoco = pytest.importorskip("mujoco")
    joint = '<joint name="j" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.5"/>'
    damper = '<actuator><damper joint="j" kv="3" ctrlrange="0 1"/></actuator>'
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><body>{joint}</body></worldbody>{damper}</mujoco>")
    solver = sapwood.Solver(sapwood.Model.from_mjmodel(m, law="mujoco"), 2)
    state, control = solver.state(), solver.control()
    assert control.actuator_ctrl.shape == (2, 1)
    control.actuator_ctrl = [[0.0], [1.0]]
    state.joint_qd = 1.0
    solver.step(state, state, control)
    assert 0 < state.joint_qd[1, 0] < state.joint_qd[0, 0]


def test_rows_of_mujocos_law_are_recorded():
    solver = solver_of(preset="mujoco64", law="mujoco", worlds=2)
    state = solver.state()
    rows = solver.record_rows(300)
    for _ in range(60):
        solver.step(state, state, contacts=solver.collide(state), h=0.005)
    assert rows.count.min() > 0 and np.any(rows.force) and np.all(rows.type[:, 0] >= 0)


# ---- how it runs ----


def test_info_and_profile_describe_how_it_runs():
    solver = solver_of()
    info = solver.info
    assert info["num_worlds"] == 5 and info["threads"] == 1 and info["broad_phase"] == "listed"
    state = solver.state()
    solver.profile()
    solver.step(state, state, contacts=solver.collide(state))
    assert list(solver.profiled) and solver.profiled["load"] > 0
    solver.profile(False)


def test_a_closed_or_busy_solver_is_refused():
    solver = solver_of(worlds=64)
    state = solver.state()
    report = solver.report
    with solver._lock, pytest.raises(sapwood.BusyError, match="another thread is in a call of this solver"):
        solver.step(state, state)
    threads = [threading.Thread(target=solver.collide, args=(state,)) for _ in range(1)]
    for thread in threads:
        thread.start()
        thread.join()
    solver.close()
    with pytest.raises(ValueError, match="the solver is closed"):
        solver.step(state, state)
    assert report.cost.shape == (64,)  # the view keeps the memory
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        solver.__reduce__()


# ---- batches ----


def test_a_batch_counts_contacts_without_a_slot():
    model = sapwood.scene("quadruped")
    batch = sapwood.Batch(model, 3, options={**OPTIONS, "max_contacts": 8, "given_contacts": 10})
    assert batch.info["capacity"] == 10
    contacts = sapwood.Contacts(3, 32)
    contacts.body1[:], contacts.normal[..., 2], contacts.point1[..., 2] = 0, 1, -0.2
    contacts.count = [2, 12, 40]
    batch.step(contacts=contacts)
    assert batch.contact_count.tolist() == [2, 10, 10] and batch.contact_dropped.tolist() == [0, 2, 30]
    assert ["contacts_truncated" in batch.status_text(w) for w in range(3)] == [False, True, True]
    contacts.count[:] = [1, -1, 1]
    batch.step(contacts=contacts)
    assert ["bad_contact" in batch.status_text(w) for w in range(3)] == [False, True, False]


def test_a_batch_refuses_contacts_by_name():
    model = sapwood.scene("quadruped")
    batch = sapwood.Batch(model, 3)
    contacts = sapwood.Contacts(3, 4)
    with pytest.raises(TypeError, match="contacts is a list"):
        batch.step(contacts=[contacts])
    with pytest.raises(ValueError, match="num_worlds is 2; the batch has 3"):
        batch.step(contacts=sapwood.Contacts(2, 4))
    with pytest.raises(ValueError, match="contacts have no array 'points'"):
        batch.step(contacts={"points": 1})
    batch.guard(2)
    with pytest.raises(NotImplementedError, match="guard"):
        batch.step(contacts=contacts)
    sleepy = sapwood.Batch(model, 3, options={"sleep_steps": 9})
    with pytest.raises(NotImplementedError, match="sleep_steps is 9"):
        sleepy.step(contacts=contacts)


def test_every_stage_has_a_name():
    assert len({lib.sap_section_name(i) for i in range(_layout.ENUMS["SapSection"]["SAP_NUM_SECTIONS"])}) == 19
