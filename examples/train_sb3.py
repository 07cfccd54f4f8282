"""A quadruped learns to walk at commanded velocities: PPO of Stable-Baselines3.

    pip install "sapwood[gym]" stable-baselines3
    python examples/train_sb3.py --updates 300

Prints the reward per step, and at the end the speed that the policy reaches for each command. --curve writes the curve
of the training as a CSV file.
"""

import argparse
import csv
import time

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize

from sapwood.gym import Quadruped
from sapwood.rl.sb3 import VecEnv

SPEEDS = (0.2, 0.5, 0.8, 1.0)  # m/s, of the test


class Report(BaseCallback):
    """Prints the mean reward per step of every tenth update."""

    def __init__(self):
        super().__init__()
        self.rewards, self.curve, self.start = [], [], time.process_time()

    def _on_step(self):
        self.rewards.append(float(np.mean(self.training_env.get_original_reward())))
        return True

    def _on_rollout_end(self):
        updates = self.num_timesteps // (self.model.n_steps * self.training_env.num_envs)
        if updates % 10 == 0:
            seconds, reward = time.process_time() - self.start, float(np.mean(self.rewards))
            print(f"{seconds:6.0f} s  update {updates:4d}  reward per step {reward:6.3f}", flush=True)
            self.curve.append((seconds, self.num_timesteps, reward))
            self.rewards.clear()


def test(learner, normalise, seconds=8.0):
    """Prints the mean forward speed for each command, over the second half of the time, without exploration."""
    env = Quadruped(64, autoreset_mode=AutoresetMode.SAME_STEP, time_limit=10**6, seed=1, threads=1)
    adapter, speed, falls = VecEnv(env), [], 0
    observation, count = adapter.reset(), int(seconds / env.dt)
    for step in range(count):
        env.command[:] = 0  # a reset draws another one
        env.command[:, 0] = np.resize(SPEEDS, 64)
        action, _ = learner.predict(normalise.normalize_obs(observation), deterministic=True)
        observation, _, done, _ = adapter.step(action)
        falls += int(done.sum())
        if step >= count // 2:
            speed.append(env.motion()[1][:, 0])
    for i, wanted in enumerate(SPEEDS):
        print(f"commanded {wanted:.2f} m/s: {np.mean(speed, axis=0)[i :: len(SPEEDS)].mean():.2f} m/s")
    print(f"{falls} falls in 64 worlds and {seconds:g} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--worlds", type=int, default=512)
    parser.add_argument("--steps", type=int, default=24, help="steps of a world between two updates")
    parser.add_argument("--threads", type=int, default=0, help="of the simulation and of torch; 0: one for each CPU")
    parser.add_argument("--save", help="write the policy to this file")
    parser.add_argument("--curve", help="write processor seconds, steps of all worlds and reward per step to it")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)

    env = Quadruped(args.worlds, autoreset_mode=AutoresetMode.SAME_STEP, threads=args.threads)
    normalised = VecNormalize(VecEnv(env), gamma=0.98)
    learner = PPO(
        "MlpPolicy",
        normalised,
        n_steps=args.steps,
        batch_size=args.worlds * args.steps // 4,
        n_epochs=4,
        gamma=0.98,
        ent_coef=0.002,
        target_kl=0.03,
        learning_rate=1e-3,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ELU, "log_std_init": -0.7},
        device="cpu",
        seed=0,
    )
    report = Report()
    learner.learn(args.updates * args.worlds * args.steps, callback=report)
    if args.curve:
        with open(args.curve, "w", newline="") as file:
            csv.writer(file).writerows([("seconds", "steps", "reward"), *report.curve])
    if args.save:
        learner.save(args.save)
    test(learner, normalised)


if __name__ == "__main__":
    main()
