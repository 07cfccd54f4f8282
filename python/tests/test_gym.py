"""The vector environment: resets, seeds, buffers."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("gymnasium")
from gymnasium.vector import AutoresetMode  # noqa: E402

from sapwood.gym import Quadruped  # noqa: E402


def run(env, steps, seed=0, scale=0.3):
    rng = np.random.default_rng(7)
    observation, _ = env.reset(seed=seed)
    out = [observation.copy()]
    for _ in range(steps):
        observation, *_ = env.step(scale * rng.uniform(-1, 1, env.action_space.shape))
        out.append(observation.copy())
    return np.array(out)


def test_spaces_have_the_shapes_of_what_is_returned():
    env = Quadruped(3)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
    assert env.observation_space.contains(observation)
    assert reward.shape == terminated.shape == truncated.shape == (3,)
    env.close()


def test_the_same_seed_gives_the_same_run():
    a, b, c = (run(Quadruped(4), 20, seed) for seed in (3, 3, 4))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_a_world_draws_by_its_own_seed():
    large, small = Quadruped(6), Quadruped(2)
    all_worlds, _ = large.reset(seed=10)
    two, _ = small.reset(seed=12)
    assert np.array_equal(all_worlds[2:4], two)


def test_observations_are_copies_that_no_step_changes():
    env, seen = Quadruped(2, autoreset_mode=AutoresetMode.SAME_STEP, time_limit=3), []
    seen.append(env.reset(seed=0)[0])
    for _ in range(5):
        seen.append(env.step(np.ones((2, 12)))[0])
    copies = [x.copy() for x in seen]
    env.step(np.ones((2, 12)))
    assert all(np.array_equal(x, kept) for x, kept in zip(seen, copies))
    assert not any(np.shares_memory(x, y) for i, x in enumerate(seen) for y in seen[:i])


def test_an_observation_that_is_no_copy_stays_until_the_step_after_the_next():
    env = Quadruped(2, copy=False)
    first, _ = env.reset(seed=0)
    kept = first.copy()
    second, *_ = env.step(np.ones((2, 12)))
    assert np.array_equal(first, kept) and not np.shares_memory(first, second)
    env.step(np.ones((2, 12)))
    assert not np.array_equal(first, kept)


def test_next_step_resets_a_world_one_step_after_its_end():
    env = Quadruped(3, time_limit=5)
    env.reset(seed=0)
    for _ in range(4):
        *_, truncated, _ = env.step(np.zeros((3, 12)))
        assert not truncated.any()
    *_, truncated, _ = env.step(np.zeros((3, 12)))
    assert truncated.all()
    observation, reward, terminated, truncated, _ = env.step(np.ones((3, 12)))
    assert not truncated.any() and not terminated.any() and np.all(reward == 0)
    assert np.all(env.age == 0) and np.all(observation[:, 34:46] == 0)


def test_same_step_resets_at_once_and_tells_the_last_observation():
    env = Quadruped(3, time_limit=2, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    env.step(np.ones((3, 12)))
    observation, _, _, truncated, info = env.step(np.ones((3, 12)))
    assert truncated.all() and info["_final_obs"].all()
    assert np.all(info["final_obs"][:, 34:46] == 1) and np.all(observation[:, 34:46] == 0)


def test_without_autoreset_masked_worlds_are_reset_by_hand():
    env = Quadruped(3, time_limit=1, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=0)
    env.step(np.zeros((3, 12)))
    with pytest.raises(ValueError, match="reset_mask"):
        env.step(np.zeros((3, 12)))
    env.time_limit = 100
    env.reset(options={"reset_mask": np.array([True, True, True])})
    env.step(np.zeros((3, 12)))


def test_a_reset_mask_leaves_the_other_worlds_as_they_are():
    env = Quadruped(3, autoreset_mode=AutoresetMode.DISABLED)
    start, _ = env.reset(seed=0)
    moved, *_ = env.step(np.ones((3, 12)))
    moved = moved.copy()
    observation, _ = env.reset(options={"reset_mask": np.array([False, True, False])})
    assert np.array_equal(observation[[0, 2]], moved[[0, 2]]) and not np.array_equal(observation[1], moved[1])


def test_a_robot_that_stands_feels_its_weight_on_four_feet():
    env = Quadruped(2, noise=0.0, command=(0, 0, 0))
    env.reset(seed=0)
    for _ in range(100):
        observation, reward, *_ = env.step(np.zeros((2, 12)))
    assert np.allclose(observation[:, 49:53].sum(axis=1), 4, rtol=0.05)
    assert np.all(observation[:, 49:53] > 0.3)
    assert np.all(reward > 1.3)


def test_a_fallen_robot_ends_its_world():
    env = Quadruped(2)
    env.reset(seed=0)
    env.batch.joint_q[0, 3:7] = [1, 0, 0, 0]  # upside down
    _, reward, terminated, *_ = env.step(np.zeros((2, 12)))
    assert terminated.tolist() == [True, False] and reward[0] == -1


def test_a_seed_honours_the_offset_of_the_worlds():
    whole, part = Quadruped(5), Quadruped(3, world_offset=2)
    all_worlds, _ = whole.reset(seed=10)
    three, _ = part.reset(seed=10)
    assert np.array_equal(all_worlds[2:], three)


def test_the_environment_has_a_name_in_gymnasium():
    import gymnasium

    env = gymnasium.make_vec("sapwood/QuadrupedVelocity-v0", num_envs=3, threads=1)
    assert env.reset(seed=0)[0].shape == (3, 55) and env.num_envs == 3
    env.close()


@pytest.mark.parametrize(
    "lines",
    [
        "import gymnasium, sapwood; name = 'sapwood/GripperLift-v0'",
        "import sapwood.gym, gymnasium; name = 'sapwood/GripperLift-v0'",
        "import sapwood, gymnasium; sapwood.gym; name = 'sapwood/GripperLift-v0'",
        "import gymnasium; name = 'sapwood.gym:sapwood/GripperLift-v0'",
    ],
)
def test_a_fresh_interpreter_makes_an_environment_by_name(lines):
    code = f"{lines}; print(gymnasium.make_vec(name, num_envs=2, threads=1).reset(seed=0)[0].shape)"
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert run.stdout == "(2, 24)\n", run.stderr


def test_seeds_and_actions_of_another_length_are_refused():
    env = Quadruped(3, threads=1)
    with pytest.raises(ValueError, match=r"seed has shape \(2,\); it must be one number, or one for each of 3 worlds"):
        env.reset(seed=[1, 2])
    env.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match=r"actions have shape \(12,\); they must have \(3, 12\); np.tile"):
        env.step(np.zeros(12))
    with pytest.raises(ValueError, match=r"actions have shape \(3, 11\); they must have \(3, 12\)$"):
        env.step(np.zeros((3, 11)))


def test_the_vector_wrappers_of_gymnasium_work():
    from gymnasium.wrappers import vector

    env = Quadruped(4, time_limit=5, threads=1)
    wrapped = vector.RescaleAction(
        vector.NormalizeObservation(vector.RecordEpisodeStatistics(env)), np.float32(-2), np.float32(2)
    )
    observation, _ = wrapped.reset(seed=0)
    assert observation.shape == (4, 55)
    lengths = []
    for _ in range(12):
        observation, _, _, _, info = wrapped.step(np.zeros((4, 12), np.float32))
        assert np.isfinite(observation).all()
        lengths += list(info["episode"]["l"][info["_episode"]]) if "episode" in info else []
    assert lengths == [5] * 8
    wrapped.close()
