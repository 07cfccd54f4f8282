"""Learners train a few iterations on an environment; the shapes and meanings that they rely on."""

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from sapwood.gym import Quadruped
from sapwood.kit import Gaussian, Noise
from sapwood.rl import rsl_rl, sb3, torchrl

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


def test_the_critic_of_rsl_rl_sees_its_own_observation():
    from rsl_rl.runners import OnPolicyRunner

    layers = {"class_name": "MLPModel", "hidden_dims": [32], "activation": "elu"}
    noise = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
    settings = {
        "num_steps_per_env": 8,
        "save_interval": 100,
        "obs_groups": {"actor": ["policy"], "critic": ["critic"]},
        "actor": {**layers, "distribution_cfg": noise},
        "critic": layers,
        "algorithm": {"class_name": "PPO", "num_learning_epochs": 2, "num_mini_batches": 2},
    }
    env = rsl_rl.VecEnv(quadruped(sensor_noise=Noise(Gaussian(0, 1), 0.1), critic=True))
    groups = env.get_observations()
    assert groups["critic"].shape == (32, 55) and not torch.equal(groups["critic"], groups["policy"])
    OnPolicyRunner(env, settings, log_dir=None, device="cpu").learn(2)


def test_rsl_rl_sets_the_ages_of_episodes_and_hears_of_time_outs():
    env = rsl_rl.VecEnv(quadruped(4, time_limit=10))
    env.episode_length_buf = torch.tensor([9, 0, 9, 0])
    assert env.env.age.tolist() == [9, 0, 9, 0]
    _, _, done, extras = env.step(torch.zeros(4, 12))
    assert done.tolist() == [1, 0, 1, 0] and extras["time_outs"].tolist() == [True, False, True, False]


def test_skrl_trains(tmp_path):
    from skrl.agents.torch.ppo import PPO
    from skrl.envs.wrappers.torch import wrap_env
    from skrl.memories.torch import RandomMemory
    from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
    from skrl.trainers.torch import SequentialTrainer

    env = wrap_env(quadruped(8, time_limit=12), wrapper="gymnasium")
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": "cpu"}

    class Policy(GaussianMixin, Model):
        def __init__(self):
            Model.__init__(self, **spaces)
            GaussianMixin.__init__(self)
            self.layer, self.log_std = torch.nn.Linear(55, 12), torch.nn.Parameter(torch.zeros(12))

        def compute(self, inputs, role):
            return self.layer(inputs["observations"]), {"log_std": self.log_std}

    class Value(DeterministicMixin, Model):
        def __init__(self):
            Model.__init__(self, **spaces)
            DeterministicMixin.__init__(self)
            self.layer = torch.nn.Linear(55, 1)

        def compute(self, inputs, role):
            return self.layer(inputs["observations"]), {}

    models = {"policy": Policy(), "value": Value()}
    before = models["policy"].layer.weight.detach().clone()
    experiment = {"directory": str(tmp_path), "write_interval": 0, "checkpoint_interval": 0}
    settings = {"rollouts": 8, "learning_epochs": 2, "mini_batches": 2, "experiment": experiment}
    memory = RandomMemory(memory_size=8, num_envs=8, device="cpu")
    agent = PPO(models=models, memory=memory, cfg=settings, **spaces)
    run = {"timesteps": 24, "headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(env=env, agents=agent, cfg=run).train()
    after = models["policy"].layer.weight
    assert torch.isfinite(after).all() and not torch.equal(before, after)


def test_torchrl_trains():
    from tensordict.nn import NormalParamExtractor, TensorDictModule
    from torchrl.modules import ProbabilisticActor, TanhNormal, ValueOperator
    from torchrl.objectives import ClipPPOLoss
    from torchrl.objectives.value import GAE

    env = torchrl.Env(quadruped(8, time_limit=12))
    layers = torch.nn.Sequential(torch.nn.Linear(55, 24), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(layers, ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"],
        distribution_class=TanhNormal,
        return_log_prob=True,
    )
    critic = ValueOperator(torch.nn.Linear(55, 1), in_keys=["observation"])
    advantage, loss = GAE(gamma=0.98, lmbda=0.95, value_network=critic), ClipPPOLoss(actor, critic)
    optimiser = torch.optim.Adam(loss.parameters(), 1e-3)
    before = layers[0].weight.detach().clone()
    for _ in range(3):
        with torch.no_grad():
            data = env.rollout(16, actor, break_when_any_done=False)
        assert data["next", "done"].sum() == 8, "every world ends once in 16 steps"
        advantage(data)
        for _ in range(2):
            losses = loss(data.reshape(-1))
            optimiser.zero_grad()
            (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
            optimiser.step()
    assert torch.isfinite(layers[0].weight).all() and not torch.equal(before, layers[0].weight)


@pytest.mark.parametrize("copy", [True, False])
def test_a_rollout_of_torchrl_keeps_the_observations_of_all_its_steps(copy):
    """Those of an environment with copy=False are valid until the step after the next only."""
    env, seen = quadruped(4, time_limit=5, copy=copy), []
    step = env.step

    def record(actions):
        observation, *rest, info = step(actions)
        seen.append((observation.copy(), info.get("final_obs", observation).copy()))
        return observation, *rest, info

    wrapped = torchrl.Env(env)
    env.step = record
    data = wrapped.rollout(8, lambda observation: torch.zeros(4, 12), break_when_any_done=False)
    assert len(seen) == 8 and data["next", "done"].sum() == 4
    for i, (observation, last) in enumerate(seen):
        assert np.array_equal(data["next", "observation"][:, i], last), i
        # all worlds end in step 4, and TorchRL resets them once more
        assert i in (4, 7) or np.array_equal(data["observation"][:, i + 1], observation), i


@pytest.mark.parametrize("adapter", [sb3.VecEnv, rsl_rl.VecEnv, torchrl.Env])
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
