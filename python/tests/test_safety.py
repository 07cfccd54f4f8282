"""Mistakes that must raise an exception, and never crash, hang, corrupt or pass in silence."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import sapwood

from conftest import SCENES
from test_model import assert_same_model


@pytest.fixture
def batch(quadruped):
    with sapwood.Batch(quadruped, 4, threads=2) as out:
        yield out


def runs(code, timeout=60):
    """The output of a script in a process of its own, which must neither crash nor hang."""
    script = (
        f"import sapwood, os, sys, numpy as np\nmodel = sapwood.Model.load({str(SCENES / 'quadruped.yaml')!r})\n{code}"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


# ---- copies ----


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("scene", ["quadruped.yaml", "gripper.yaml"])
def test_a_copied_or_pickled_model_is_the_same_model(duplicate, scene):
    model = sapwood.Model.load(SCENES / scene)
    other = duplicate(model)
    assert_same_model(model, other)
    assert other.dt == model.dt and dict(other.options) == dict(model.options)
    before = other.body_mass.copy()
    del model
    with sapwood.Batch(other, 2) as batch:
        batch.step(10)
    assert np.array_equal(other.body_mass, before)


def test_a_deep_copy_of_a_model_does_not_crash_at_exit():
    assert runs("import copy\nother = copy.deepcopy(model)\ndel model\nprint(other.num_bodies)") == "13\n"


def test_a_copy_moves_as_the_original(quadruped):
    with sapwood.Batch(quadruped, 2) as one, sapwood.Batch(copy.deepcopy(quadruped), 2) as two:
        one.step(50), two.step(50)
        assert np.array_equal(one.joint_q, two.joint_q)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, pickle.dumps])
def test_a_batch_can_be_neither_copied_nor_pickled(batch, duplicate):
    with pytest.raises(TypeError, match="get_state"):
        duplicate(batch)
    batch.step()


def test_options_are_copied_and_pickled():
    options = sapwood.Options("drake", max_iterations=7)
    for other in (copy.deepcopy(options), pickle.loads(pickle.dumps(options))):
        assert dict(other) == dict(options)


# ---- processes and threads ----

FORK = """
batch = sapwood.Batch(model, 64, threads=2)
batch.step(3)
q = batch.joint_q
child = os.fork()
if child == 0:
    code = 1
    try:
        assert np.array_equal(q, batch.joint_q)   # a copy of the parent's memory
        for call in (batch.step, batch.reset, batch.forward_kinematics, lambda: batch.status):
            try:
                call()
            except sapwood.ForkError as error:
                assert "fork" in str(error)
            else:
                os._exit(2)
        batch.close()
        del batch, q
        with sapwood.Batch(model, 8, threads=2) as own:
            own.step(3)
        code = 0
    finally:
        os._exit(code)
assert os.waitpid(child, 0)[1] == 0
batch.step(3)
print("done")
"""


def test_a_batch_of_the_parent_raises_in_a_forked_child_and_lives_on_in_the_parent():
    assert runs(FORK) == "done\n"


def test_a_forked_child_that_ends_does_not_wait_for_threads_it_does_not_have():
    code = "batch = sapwood.Batch(model, 64, threads=2)\nbatch.step()\nchild = os.fork()\n"
    code += "if child == 0: sys.exit(0)\nassert os.waitpid(child, 0)[1] == 0\nprint('done')"
    assert runs(code) == "done\n"


def test_a_second_thread_in_a_batch_gets_a_busy_error(quadruped):
    with sapwood.Batch(quadruped, 256, threads=1) as batch, sapwood.Batch(quadruped, 256, threads=1) as alone:
        thread = threading.Thread(target=batch.step, args=(200,))
        thread.start()
        refused = 0
        while thread.is_alive():
            for call in (batch.step, batch.reset, batch.forward_kinematics, batch.check_parameters):
                try:
                    if not batch._lock.locked():
                        continue  # the step has not begun, or is done
                    call(0) if call == batch.step else call()
                except sapwood.BusyError as error:
                    assert "another thread" in str(error)
                    refused += 1
            if refused:
                break
        thread.join()
        alone.step(200)
        assert refused > 0
        assert np.array_equal(batch.joint_q, alone.joint_q)
        batch.step()


def test_many_threads_on_one_batch_lose_no_step(quadruped):
    """Every call either takes its steps or raises; the state is that of the steps that were taken."""
    taken = []

    def work(batch):
        for _ in range(50):
            try:
                batch.step(2)
                taken.append(2)
            except sapwood.BusyError:
                pass

    with sapwood.Batch(quadruped, 8, threads=2) as batch, sapwood.Batch(quadruped, 8) as alone:
        threads = [threading.Thread(target=work, args=(batch,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone.step(sum(taken))
        assert np.array_equal(batch.joint_q, alone.joint_q)


# ---- attributes ----


def test_assigning_to_an_array_writes_into_the_library(batch):
    q = batch.joint_q
    batch.joint_q = q + 1
    assert batch.joint_q is q and q[0, 0] == batch.model.joint_q[0] + 1
    batch.joint_f = 2.5
    assert np.all(batch.joint_f == 2.5)
    batch.joint_f += 1
    assert np.all(batch.joint_f == 3.5)
    with pytest.raises(ValueError, match="broadcast"):
        batch.joint_q = np.zeros((3, 3))
    mass = batch.expand("body_mass")
    batch.body_mass = 2 * mass
    assert np.array_equal(mass[0], 2 * batch.model.body_mass)


def test_assigning_to_a_parameter_that_is_not_expanded_says_what_to_do(batch):
    with pytest.raises(AttributeError, match=r"expand\('body_mass'\)"):
        batch.body_mass = 1


@pytest.mark.parametrize("name, meant", [("joint_pos", "joint_q"), ("jonit_q", "joint_q"), ("joint_target", "joint_target_pos"), ("statsu", "status"), ("stpe", "step")])  # fmt: skip
def test_a_misspelt_attribute_of_a_batch_names_the_nearest(batch, name, meant):
    with pytest.raises(AttributeError, match=f"no '{name}'"):
        getattr(batch, name)
    if meant != "joint_q" or name == "jonit_q":
        with pytest.raises(AttributeError, match="did you mean"):
            setattr(batch, name, 0)


def test_a_misspelt_attribute_of_a_model_names_the_nearest(quadruped):
    with pytest.raises(AttributeError, match="did you mean 'body_mass'"):
        quadruped.body_mas
    with pytest.raises(AttributeError, match="did you mean 'options'"):
        quadruped.option = 1
    with pytest.raises(AttributeError, match="read-only"):
        quadruped.body_mass = 1
    quadruped.dt = 0.001


def test_misspelt_options_name_the_nearest():
    options = sapwood.Options()
    with pytest.raises(AttributeError, match=r"options\['threads'\] = 2"):
        options.threads = 2
    with pytest.raises(AttributeError, match="did you mean 'threads'"):
        options.thread = 2
    with pytest.raises(KeyError, match="did you mean 'max_iterations'"):
        options["max_iteration"]


def test_names_of_others_suggest_ours(batch):
    for wrong, ours in (
        ("joint_qvel", "joint_qd"),
        ("joint_qpos", "joint_q"),
        ("joint_vel", "joint_qd"),
        ("body_pos", "body_q"),
    ):
        with pytest.raises(AttributeError, match=rf"a batch has no '{wrong}'; did you mean '{ours}'\?$"):
            getattr(batch, wrong)


def test_what_follows_a_suggestion_is_a_sentence(batch):
    from sapwood.arguments import nearest

    assert nearest("sapp", ["sap", "pgs"], "allowed: sap") == "; did you mean 'sap'? Allowed: sap"
    assert nearest("zz", ["ab"], "it must be one of ab") == "; it must be one of ab" and nearest("zz", ["ab"]) == ""
    with pytest.raises(ValueError, match="control is 'zz'; it must be one of joint_f"):
        batch.linearize(control="zz")
    with pytest.raises(ValueError, match=r"control is 'joint_ff'; did you mean 'joint_f'\? It must be one of joint_f"):
        batch.linearize(control="joint_ff")
    with pytest.raises(ValueError, match=r"'zz' cannot be expanded; these can: gravity"):
        batch.expand("zz")
    with pytest.raises(KeyError, match="there is no keyframe 'zz'"):
        batch.reset(keyframe="zz")


@pytest.mark.parametrize("name, reader", [("x.xml", "from_mjcf"), ("x.mjcf", "from_mjcf"), ("X.URDF", "from_urdf")])
def test_a_robot_file_is_no_scene_file(name, reader):
    with pytest.raises(sapwood.ArgumentError, match=rf"{name} is no scene file; Model.{reader}\(path\) reads it"):
        sapwood.Model.load(name)


def test_misspelt_names_in_calls_name_the_nearest(batch):
    with pytest.raises(ValueError, match="did you mean 'body_mass'"):
        batch.expand("body_mas")
    with pytest.raises(KeyError, match="did you mean 'joint_q'"):
        batch.set_state({"jont_q": 0})
    with pytest.raises(KeyError, match="keyframe 'up'"):
        batch.reset(keyframe="up")
    with pytest.raises(TypeError, match="did you mean 'body_mass'"):
        sapwood.Model(body_mas=[1])


# ---- numbers ----


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint8])
def test_integers_of_numpy_are_integers(quadruped, kind):
    with (
        sapwood.Batch(quadruped, kind(3), seed=kind(5), threads=kind(1)) as batch,
        sapwood.Batch(quadruped, 3) as other,
    ):
        batch.step(kind(4))
        other.step(4)
        assert np.array_equal(batch.joint_q, other.joint_q)
        batch.reset(keyframe=kind(0))
        assert batch.status_text(kind(1)) == []


@pytest.mark.parametrize("wrong", [2.0, "2", np.float64(2), None, [2]])
def test_floats_and_texts_are_no_integers(quadruped, batch, wrong):
    for call in (
        lambda: sapwood.Batch(quadruped, wrong),
        lambda: batch.step(wrong),
        lambda: batch.reset(keyframe=wrong) if not isinstance(wrong, str) else batch.step(wrong),
        lambda: sapwood.Batch(quadruped, 2, seed=wrong),
    ):
        with pytest.raises(TypeError, match="must be an integer"):
            call()


@pytest.mark.parametrize("wrong", ["0.1", [0.1], (1, 2)])
def test_a_time_step_is_a_number(batch, wrong):
    with pytest.raises(TypeError):
        batch.step(1, wrong)
    with pytest.raises(TypeError):
        batch.dt = wrong


def test_numbers_of_numpy_are_values_of_options():
    options = sapwood.Options(
        max_iterations=np.int64(9), near_rigid=np.float64(0.5), contact_geometry_f64=np.bool_(True)
    )
    assert options["max_iterations"] == "9" and float(options["near_rigid"]) == 0.5


@pytest.mark.parametrize("n", [2**31, 2**32 + 1, 10**12])
def test_numbers_of_steps_beyond_an_int_are_refused(batch, n):
    with pytest.raises(ValueError, match=str(n)):
        batch.step(n)


@pytest.mark.parametrize("n", [10**9, 2**31 - 1])
def test_a_batch_that_cannot_fit_is_refused_at_once(n):
    code = f"""
try:
    sapwood.Batch(model, {n})
except sapwood.OutOfMemoryError as error:
    most = [int(x.split()[1]) for x in open("/proc/self/status") if x.startswith("VmHWM")]  # kB, of this program alone
    print(most[0] < 500_000, "GB" in str(error))
"""
    assert runs(code, timeout=20) == "True True\n"


@pytest.mark.parametrize("n", [2**31, 2**32 + 4, 10**12, -1, 0])
def test_numbers_of_worlds_that_are_none_are_refused(quadruped, n):
    with pytest.raises(ValueError, match="num_worlds"):
        sapwood.Batch(quadruped, n)


# ---- worlds ----


def reset_worlds(batch, worlds):
    batch.joint_q += 1
    batch.reset(worlds)
    out = np.nonzero(batch.joint_q[:, 0] == batch.model.joint_q[0].astype(batch.joint_q.dtype))[0].tolist()
    batch.reset()
    return out


@pytest.mark.parametrize(
    "worlds, expected",
    [
        ([True, False, True, False], [0, 2]),
        (np.array([0, 0, 1, 1], bool), [2, 3]),
        ([0, 1, 1, 0], [0, 1]),
        (np.array([3, 1]), [1, 3]),
        (np.array([2], np.int32), [2]),
        (1, [1]),
        ([], []),
        (np.zeros(0, np.int64), []),
        (None, [0, 1, 2, 3]),
    ],
)
def test_booleans_are_a_mask_and_integers_are_worlds(batch, worlds, expected):
    assert reset_worlds(batch, worlds) == expected


@pytest.mark.parametrize(
    "worlds, error",
    [
        ([True, False], "shape"),
        (np.ones(5, bool), "shape"),
        ([4], "world is 4"),
        ([-1], "world is -1"),
        ([0.0, 1.0], "float64"),
        (["a"], "booleans"),
        (np.array([0, 1, 1, 0], np.uint8), "uint8"),
        (np.zeros((2, 2), int), "2-dimensional"),
    ],
)
def test_anything_else_is_neither_a_mask_nor_worlds(batch, worlds, error):
    for call in (batch.reset, batch.forward_kinematics):
        with pytest.raises((TypeError, ValueError), match=error):
            call(worlds)


def test_status_is_also_int32_over_the_same_memory(batch):
    batch.joint_q[1, 0] = np.nan
    batch.step()
    assert batch.status_int32.dtype == np.int32 and np.array_equal(batch.status_int32, batch.status.astype(np.int32))
    assert batch.status_int32.ctypes.data == batch.status.ctypes.data


class Tensor:
    """What numpy sees of a tensor of another library on the CPU."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype)


def test_a_mask_and_ids_may_be_tensors_of_another_library(batch):
    batch.joint_q[1, 0] = np.nan
    batch.step()
    failed = (batch.status_int32 & sapwood.batch.FAILED) != 0
    assert failed.tolist() == [False, True, False, False]
    batch.reset(Tensor(failed))
    assert np.all(np.isfinite(batch.joint_q))
    batch.joint_q[1, 0] = np.nan
    batch.reset(Tensor(np.flatnonzero(failed)))
    assert np.all(np.isfinite(batch.joint_q))


# ---- lifetime ----


def test_a_batch_closed_by_another_thread_during_a_step_does_not_crash():
    code = """
import threading
for _ in range(20):
    batch = sapwood.Batch(model, 64, threads=2)
    thread = threading.Thread(target=lambda: batch.step(20))
    thread.start()
    batch.close()
    thread.join()
print("done")
"""
    assert runs(code).endswith("done\n")
