"""A quadruped learns to walk with an evolution strategy, using numpy and Sapwood only.

    python examples/quadruped_es.py --minutes 2 --curve curve.csv

Every world of the batch evaluates one policy: pairs of worlds perturb the parameters by +sigma and -sigma in a random
direction. The update uses the ranks of the returns,

    theta += step / (pairs sigma) sum_i (rank(+i) - rank(-i)) direction_i

with Adam's scaling. The policy is linear in the observation, followed by tanh.
"""

import argparse
import csv
import time

import numpy as np

from sapwood.gym import Quadruped


class Normaliser:
    """Mean and variance of all observations seen so far."""

    def __init__(self, size):
        self.count, self.mean, self.square = 1e-2, np.zeros(size), np.ones(size) * 1e-2

    def add(self, x):
        self.count += len(x)
        delta = x - self.mean
        self.mean += delta.sum(axis=0) / self.count
        self.square += (delta * (x - self.mean)).sum(axis=0)

    @property
    def scale(self):
        return 1 / np.sqrt(self.square / self.count + 1e-4)

    def __call__(self, x):
        return np.clip((x - self.mean) * self.scale, -5, 5)


class Adam:
    def __init__(self, size, step):
        self.first, self.second, self.time, self.step = np.zeros(size), np.zeros(size), 0, step

    def __call__(self, gradient):
        self.time += 1
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.001 * (gradient**2 - self.second)
        scale = np.sqrt(self.second / (1 - 0.999**self.time)) + 1e-8
        return self.step * self.first / (1 - 0.9**self.time) / scale


def act(theta, observation):
    """theta [n][actions (observations + 1)], one policy for each world."""
    weights = theta.reshape(len(observation), 12, -1)
    return np.tanh(np.einsum("nao,no->na", weights[..., :-1], observation) + weights[..., -1])


def returns_of(env, theta, normalise, steps, seed):
    """Sum of rewards of each world until the robot falls; both worlds of a pair have the same initial state."""
    seeds = seed * 100003 + np.arange(env.num_envs) // 2
    observation, _ = env.reset(seed=seeds)
    total, alive = np.zeros(env.num_envs), np.ones(env.num_envs, bool)
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(act(theta, normalise(observation)))
        total += np.where(alive, reward, 0)
        alive &= ~(terminated | truncated)
        normalise.add(observation[alive])
        if not alive.any():
            break
    return total


def ranks(x):
    """Ranks of x, centred, from -1/2 to 1/2."""
    out = np.empty(len(x))
    out[np.argsort(x)] = np.arange(len(x)) / (len(x) - 1) - 0.5
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--generations", type=int, default=10**9, help="maximum number of generations")
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--steps", type=int, default=150, help="steps of 0.02 s per episode")
    parser.add_argument("--speed", type=float, default=0.6, help="commanded speed, m/s")
    parser.add_argument("--sigma", type=float, default=0.05)
    parser.add_argument("--step", type=float, default=0.03)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--curve", help="write seconds, world-steps, mean return and speed to this CSV file")
    parser.add_argument("--policy", help="write the policy to this .npz file: mean, scale and weights in f32")
    arguments = parser.parse_args()

    env = Quadruped(arguments.worlds, command=(arguments.speed, 0.0, 0.0), time_limit=10**9)
    size = 12 * (env.single_observation_space.shape[0] + 1)
    rng = np.random.default_rng(arguments.seed)
    theta, adam, normalise = (
        np.zeros(size),
        Adam(size, arguments.step),
        Normaliser(env.single_observation_space.shape[0]),
    )
    curve, start, world_steps, generation = [], time.perf_counter(), 0, 0
    while generation < arguments.generations and time.perf_counter() - start < 60 * arguments.minutes:
        directions = rng.normal(size=(arguments.worlds // 2, size))
        tried = theta + arguments.sigma * np.stack([directions, -directions], axis=1).reshape(-1, size)
        total = returns_of(env, tried, normalise, arguments.steps, generation)
        shaped = ranks(total).reshape(-1, 2)
        theta += adam((shaped[:, 0] - shaped[:, 1]) @ directions / len(directions))
        theta *= 0.998
        world_steps += arguments.steps * env.steps * arguments.worlds
        generation += 1
        distance = float(np.mean(env.batch.joint_q[:, 0])) / (arguments.steps * env.steps * env.batch.dt)
        curve.append((time.perf_counter() - start, world_steps, float(total.mean()), distance))
        if generation % 5 == 1:
            print(
                f"{curve[-1][0]:6.1f} s  generation {generation:4d}  return {curve[-1][2]:7.2f}  "
                f"best {total.max():7.2f}  speed {distance:5.2f} m/s",
                flush=True,
            )
    if arguments.curve:
        with open(arguments.curve, "w", newline="") as file:
            csv.writer(file).writerows([("seconds", "world_steps", "mean_return", "mean_speed"), *curve])
    if arguments.policy:
        learned = {"mean": normalise.mean, "scale": normalise.scale, "weights": theta.reshape(12, -1)}
        np.savez(arguments.policy, **{name: values.astype(np.float32) for name, values in learned.items()})


if __name__ == "__main__":
    main()
