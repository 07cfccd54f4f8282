"""Learners train a few iterations on an environment; the shapes and meanings that they rely on."""

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from sapwood.gym import Quadruped
from sapwood.rl import rsl_rl, sb3

torch.set_num_threads(1)


def quadruped(worlds=32, **settings):
    return Quadruped(worlds, autoreset_mode=AutoresetMode.SAME_STEP, threads=1, **settings)


def test_stable_baselines3_trains():
    from stable_baselines3 import PPO

    learner = PPO("MlpPolicy", sb3.VecEnv(quadruped()), n_steps=16, batch_size=128, n_epochs=2, device="cpu")
    before = [x.detach().clone() for x in learner.policy.parameters()]
    learner.learn(32 * 16 * 3)
    assert any(not torch.equal(a, b) for a, b in zip(before, learner.policy.parameters()))
    assert all(torch.isfinite(x).all() for x in learner.policy.parameters())


def test_stable_baselines3_gets_the_last_observation_and_the_cause_of_an_end():
    env = sb3.VecEnv(quadruped(4, time_limit=3))
    env.reset()
    for step in range(3):
        _, _, done, infos = env.step(np.zeros((4, 12)))
        assert done.tolist() == [step == 2] * 4
    for info in infos:
        assert info["TimeLimit.truncated"] and info["episode"]["l"] == 3
        assert info["terminal_observation"].shape == (55,)


def test_rsl_rl_trains():
    from rsl_rl.runners import OnPolicyRunner

    layers = {"class_name": "MLPModel", "hidden_dims": [32], "activation": "elu"}
    noise = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
    settings = {
        "num_steps_per_env": 8,
        "save_interval": 100,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**layers, "distribution_cfg": noise},
        "critic": layers,
        "algorithm": {"class_name": "PPO", "num_learning_epochs": 2, "num_mini_batches": 2},
    }
    env = rsl_rl.VecEnv(quadruped())
    runner = OnPolicyRunner(env, settings, log_dir=None, device="cpu")
    runner.learn(3, init_at_random_ep_len=True)
    action = runner.get_inference_policy()(env.get_observations())
    assert action.shape == (32, 12) and torch.isfinite(action).all()


def test_rsl_rl_sets_the_ages_of_episodes_and_hears_of_time_outs():
    env = rsl_rl.VecEnv(quadruped(4, time_limit=10))
    env.episode_length_buf = torch.tensor([9, 0, 9, 0])
    assert env.env.age.tolist() == [9, 0, 9, 0]
    _, _, done, extras = env.step(torch.zeros(4, 12))
    assert done.tolist() == [1, 0, 1, 0] and extras["time_outs"].tolist() == [True, False, True, False]


def test_skrl_reads_the_environment():
    from skrl.envs.wrappers.torch import wrap_env

    env = wrap_env(quadruped(8), wrapper="gymnasium")
    observation, _ = env.reset()
    assert observation.shape == (8, 55)
    _, reward, *_ = env.step(torch.zeros(8, 12))
    assert reward.shape == (8, 1)


def test_torchrl_reads_the_environment():
    from torchrl.envs import GymWrapper

    assert GymWrapper(quadruped(8)).rollout(5)["next", "reward"].shape == (8, 5, 1)


@pytest.mark.parametrize("adapter", [sb3.VecEnv, rsl_rl.VecEnv])
def test_another_autoreset_mode_is_refused(adapter):
    with pytest.raises(ValueError, match="NEXT_STEP.*SAME_STEP"):
        adapter(Quadruped(2, threads=1))


@pytest.mark.parametrize("adapter", [sb3.VecEnv, rsl_rl.VecEnv])
def test_a_nan_action_ends_its_world_and_no_observation_has_a_nan(adapter):
    env = adapter(quadruped(4))
    actions = np.zeros((4, 12), np.float32)
    actions[2] = np.nan
    torch_like = isinstance(env, rsl_rl.VecEnv)
    ends = np.zeros(4, bool)
    for _ in range(3):
        observation, reward, done, info = env.step(torch.from_numpy(actions) if torch_like else actions)
        values = observation["policy"].numpy() if torch_like else observation
        last = [] if torch_like else [x["terminal_observation"] for x in info if x]
        assert np.isfinite(last).all()
        assert np.isfinite(values).all() and np.isfinite(np.asarray(reward)).all()
        ends |= np.asarray(done, bool)
    assert ends.tolist() == [False, False, True, False]
