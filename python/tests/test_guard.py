"""The guard: dumps of failed worlds, and checkpoints of environments."""

import json
import subprocess
import sys

import numpy as np
import pytest

import sapwood

from conftest import ROOT


@pytest.fixture
def failed(quadruped, tmp_path):
    """A batch with a NaN in world 2, and its dump."""
    batch = sapwood.Batch(quadruped, 5, threads=2)
    batch.guard(3)
    batch.expand("body_mass")[2] *= 1.5
    batch.perturb(0.1)
    for _ in range(4):
        batch.step(2)
    batch.joint_qd[2, 7] = np.nan
    batch.step(3)
    path = tmp_path / "world.dump"
    batch.dump(2, path)
    return batch, path


def test_a_dump_has_the_world_and_its_history(failed):
    batch, path = failed
    dump = sapwood.Dump(path)
    assert (dump.world, dump.num_worlds, len(dump.calls)) == (2, 5, 3)
    assert [c.n for c in dump.calls] == [2, 2, 3]
    assert dump.calls[-1].status_text == ["nonfinite_state"]
    assert np.isfinite(dump.joint_qd[:2]).all() and np.isnan(dump.joint_qd[2, 7])
    assert np.array_equal(dump.result_q, batch.joint_q[2])
    assert dump.options["max_contacts"] == batch.options["max_contacts"]
    assert dump.model.body_name == batch.model.body_name
    assert not dump.joint_q.flags.writeable


def test_a_dump_is_repeated_bit_for_bit(failed):
    _, path = failed
    for options in ({}, {"threads": 1}, {"threads": 3, "lanes": 1}):
        replay = sapwood.Dump(path).replay(options)
        assert replay.same and replay.failed_step == 1 and replay.status_text == ["nonfinite_state"]


def test_the_arrays_outlive_the_dump(failed):
    _, path = failed
    q, model = sapwood.Dump(path).joint_q, sapwood.Dump(path).model
    assert q.shape == (3, 19) and model.body_name[0]


def test_a_batch_of_a_dump_continues_from_any_call(failed):
    _, path = failed
    dump = sapwood.Dump(path)
    with dump.batch(call=0, num_worlds=3) as batch:
        batch.step(dump.calls[0].n)
        assert np.array_equal(batch.joint_q, np.repeat(dump.joint_q[1:2], 3, axis=0))


def test_other_options_may_change_the_result(failed):
    _, path = failed
    dump = sapwood.Dump(path)
    with pytest.raises(sapwood.ArgumentError, match="max_iterations"):
        dump.batch(options={"max_iterations": -2})
    with pytest.raises(ValueError, match="call is 3"):
        dump.batch(call=3)


def test_the_program_repeats_it_in_another_process(failed, program):
    _, path = failed
    for arguments in ([], ["--threads", "1"], ["--threads", "3", "--worlds", "9"], ["--lanes", "1"]):
        out = subprocess.run([program, "replay", "--json", *arguments, str(path)], capture_output=True, text=True)
        assert out.returncode == 0, out.stderr
        report = json.loads(out.stdout)
        assert report["same_bits"] and report["failure"] == ["NONFINITE_STATE"] and report["failed_step"] == 1
        assert report["nonfinite_input"]["array"] == "joint_qd" and report["nonfinite_input"]["index"] == 7


def test_a_dump_has_the_control_of_tendons_and_constraints(tmp_path):
    model = sapwood.Model.load(ROOT / "tests" / "scenes" / "linkages.yaml")
    with sapwood.Batch(model, 3) as batch:
        batch.guard(2)
        batch.tendon_f[1] = 0.25
        batch.constraint_active[1, 0] = 0
        batch.step(2)
        batch.dump(1, tmp_path / "x")
    dump = sapwood.Dump(tmp_path / "x")
    assert dump.tendon_f.shape == (1, model.num_tendons) and (dump.tendon_f == 0.25).all()
    assert dump.constraint_active.dtype == np.int32 and dump.constraint_active[0, 0] == 0
    assert dump.replay().same


def test_mistakes_have_messages(quadruped, tmp_path):
    batch = sapwood.Batch(quadruped, 2)
    with pytest.raises(sapwood.ArgumentError, match="has no guard"):
        batch.dump(0, tmp_path / "x")
    with pytest.raises(sapwood.ArgumentError, match=r"1 \.\. 1024"):
        batch.guard(0)
    with pytest.raises(sapwood.FileError, match="cannot be opened"):
        sapwood.Dump(tmp_path / "x")
    (tmp_path / "y").write_text("not a dump")
    with pytest.raises(sapwood.ParseError, match="not a file of records"):
        sapwood.Dump(tmp_path / "y")


# ---- environments ----


def step_many(env, observation, steps, first=0):
    """Actions that depend on time and observation."""
    out = []
    for t in range(first, first + steps):
        observation, reward, terminated, truncated, _ = env.step(np.sin(observation[:, 10:22] + t))
        out.append([observation.copy(), reward.copy(), terminated.copy(), truncated.copy()])
    return observation, out


def test_a_nan_in_one_of_4096_worlds_is_dumped_and_training_goes_on(tmp_path, program):
    gym = pytest.importorskip("sapwood.gym")
    calm, env = gym.Quadruped(4096), gym.Quadruped(4096, dumps=tmp_path / "dumps")
    observations = []
    for e in (calm, env):
        observation, _ = e.reset(seed=1)
        observation, _ = step_many(e, observation, 5)
        if e is env:
            e.batch.joint_q[17, 9] = np.nan
        observation, out = step_many(e, observation, 5, 5)
        observations.append(out)
    for ours, theirs in zip(*observations, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert np.array_equal(np.delete(a, 17, 0), np.delete(b, 17, 0))
            assert np.isfinite(b).all()
    assert observations[1][0][2][17] and env.failures == 1 and not observations[1][2][2][17]
    assert env.dumped == [tmp_path / "dumps" / "world17_call6.dump"]
    replay = sapwood.Dump(env.dumped[0]).replay()
    assert replay.same and replay.status_text == ["nonfinite_state"]
    out = subprocess.run([program, "replay", "--threads", "1", str(env.dumped[0])], capture_output=True, text=True)
    assert out.returncode == 0 and "the same bits" in out.stdout, out.stdout + out.stderr


def test_only_the_first_failures_are_dumped(tmp_path):
    gym = pytest.importorskip("sapwood.gym")
    env = gym.Quadruped(32, dumps=tmp_path)
    env.reset(seed=0)
    env.batch.joint_q[:, 0] = np.inf
    env.step(np.zeros((32, 12)))
    assert env.failures == 32 and len(env.dumped) == env.most_dumps == len(list(tmp_path.iterdir()))


RESUME = """
import sys
import numpy as np
from sapwood.gym import Quadruped

env = Quadruped(6, time_limit=15, threads=1)
env.batch.expand("body_mass")
observation = env.load(sys.argv[1])
out = []
for t in range(25, 50):
    observation, reward, *_ = env.step(np.sin(observation[:, 10:22] + t))
    out.append(np.concatenate([observation, reward[:, None]], axis=1))
np.save(sys.argv[2], np.array(out))
"""


def test_a_checkpoint_resumes_bit_for_bit_in_another_process(tmp_path):
    gym = pytest.importorskip("sapwood.gym")
    env = gym.Quadruped(6, time_limit=15, threads=2)
    env.batch.expand("body_mass")[:, 0] *= np.linspace(1, 2, 6)
    observation, _ = env.reset(seed=4)
    observation, _ = step_many(env, observation, 25)
    env.save(tmp_path / "checkpoint")
    _, out = step_many(env, observation, 25, 25)
    files = [str(tmp_path / "checkpoint"), str(tmp_path / "out.npy")]
    subprocess.run([sys.executable, "-c", RESUME, *files], check=True)
    expected = np.array([np.concatenate([o, r[:, None]], axis=1) for o, r, *_ in out])
    assert np.array_equal(np.load(files[1]), expected)


def test_a_checkpoint_of_another_environment_is_refused(tmp_path):
    gym = pytest.importorskip("sapwood.gym")
    gym.Quadruped(3).save(tmp_path / "x")
    with pytest.raises(ValueError, match="3 worlds from 0.*4 worlds from 0"):
        gym.Quadruped(4).load(tmp_path / "x")
    with pytest.raises(ValueError, match="3 worlds from 0.*3 worlds from 3"):
        gym.Quadruped(3, world_offset=3).load(tmp_path / "x")


@pytest.mark.parametrize(
    "name, here",
    [
        ("dt", lambda gym: gym.Quadruped(3, options={})),
        ("contact_solver", lambda gym: gym.Quadruped(3, options={"contact_solver": "pgs"})),
        ("float32", lambda gym: gym.Quadruped(3, preset="fast64")),
        ("max_iterations", lambda gym: gym.Quadruped(3, options={"max_iterations": 7})),
        ("episodes of", lambda gym: gym.Quadruped(3, time_limit=7)),
        ("arrays", lambda gym: gym.Quadruped(3)),
    ],
)
def test_a_checkpoint_continues_only_with_what_it_was_made_with(tmp_path, name, here):
    gym = pytest.importorskip("sapwood.gym")
    env = gym.Quadruped(3)
    if name == "dt":
        env.batch.dt *= 2
    if name == "arrays":
        heavy = sapwood.Model(dt=env.batch.model.dt, **{**env.batch.model.arrays(), "gravity": [0, 0, -9]})
        heavy.options = env.batch.model.options
        env = gym.Quadruped(3, model=heavy)
    env.save(tmp_path / "x")
    with pytest.raises(ValueError, match=f"x is of another environment: .*{name}"):
        here(gym).load(tmp_path / "x")


def test_a_checkpoint_continues_with_other_threads(tmp_path):
    gym = pytest.importorskip("sapwood.gym")
    gym.Quadruped(3, threads=1).save(tmp_path / "x")
    gym.Quadruped(3, threads=2, options={"lanes": 1}).load(tmp_path / "x")
    with pytest.raises(sapwood.FileError, match="not a checkpoint, or damaged"):
        (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:100])
        gym.Quadruped(3).load(tmp_path / "x")
