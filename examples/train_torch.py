"""PPO with PyTorch on one or more processes: each steps its part of the worlds, and gradients are averaged.

    python examples/train_torch.py                                    # one process
    torchrun --nproc-per-node 2 examples/train_torch.py               # two, with synchronised gradients
    python examples/train_torch.py --preset mujoco32 --walk mujoco32 approx32    # trained in one law, walks in both

Prints mean reward per step, episode ends and world-steps per second of all processes.
"""

import argparse
import time

import numpy as np
import torch
import torch.distributed as dist

import sapwood
from sapwood.gym import Quadruped


class Policy(torch.nn.Module):
    """A Gaussian policy and a value, two layers each."""

    def __init__(self, observations: int, actions: int, width: int = 128) -> None:
        super().__init__()
        self.mean = self.layers(observations, width, actions)
        self.value = self.layers(observations, width, 1)
        self.log_std = torch.nn.Parameter(torch.full((actions,), -0.7))

    @staticmethod
    def layers(inputs: int, width: int, outputs: int) -> torch.nn.Module:
        last = torch.nn.Linear(width, outputs)
        last.weight.data *= 0.01
        return torch.nn.Sequential(
            torch.nn.Linear(inputs, width), torch.nn.ELU(), torch.nn.Linear(width, width), torch.nn.ELU(), last
        )

    def action(self, observation: torch.Tensor) -> torch.distributions.Normal:
        return torch.distributions.Normal(self.mean(observation), self.log_std.exp())


def rollout(env, policy, observation, steps, gamma=0.99, decay=0.95):
    """Observations, actions, their log-probabilities, advantages and returns of `steps` steps of all worlds."""
    seen, acted, logs, values, rewards, alive = [], [], [], [], [], []
    for _ in range(steps):
        x = torch.from_numpy(observation.copy())
        with torch.no_grad():
            distribution, value = policy.action(x), policy.value(x)[:, 0]
            action = distribution.sample()
        observation, reward, terminated, truncated, _ = env.step(action.numpy())
        seen.append(x), acted.append(action), values.append(value)
        logs.append(distribution.log_prob(action).sum(1))
        rewards.append(torch.from_numpy(reward.astype(np.float32)))
        alive.append(torch.from_numpy(~(terminated | truncated)))
    with torch.no_grad():
        values.append(policy.value(torch.from_numpy(observation.copy()))[:, 0])
    advantage, advantages = torch.zeros(len(observation)), []
    for t in reversed(range(steps)):
        error = rewards[t] + gamma * values[t + 1] * alive[t] - values[t]
        advantage = error + gamma * decay * advantage * alive[t]
        advantages.insert(0, advantage)
    advantages = torch.stack(advantages)
    returns = advantages + torch.stack(values[:-1])
    parts = (torch.stack(seen), torch.stack(acted), torch.stack(logs), advantages, returns)
    return observation, [part.flatten(0, 1) for part in parts], torch.stack(rewards), int((~torch.stack(alive)).sum())


def average_gradients(model, size):
    """One message: all gradients in a row."""
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    if size > 1:
        dist.all_reduce(flat)
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at : at + p.numel()].view_as(p) / size)
        at += p.numel()


def update(policy, optimiser, data, size, generator, epochs=4, minibatches=4, clip=0.2):
    """PPO's clipped objective. Every process takes the same number of minibatches."""
    seen, acted, logs, advantages, returns = data
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    for _ in range(epochs):
        for rows in torch.randperm(len(seen), generator=generator).chunk(minibatches):
            distribution = policy.action(seen[rows])
            ratio = (distribution.log_prob(acted[rows]).sum(1) - logs[rows]).exp()
            gain = torch.min(ratio * advantages[rows], ratio.clamp(1 - clip, 1 + clip) * advantages[rows])
            error = (policy.value(seen[rows])[:, 0] - returns[rows]) ** 2
            loss = -gain.mean() + 0.5 * error.mean() - 0.002 * distribution.entropy().sum(1).mean()
            optimiser.zero_grad()
            loss.backward()
            average_gradients(policy, size)
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimiser.step()


def walk(policy, preset, worlds, steps):
    """Mean reward per step, and falls per world, of the policy's mean actions in another preset."""
    env = Quadruped(worlds, command=(0.5, 0.0, 0.0), preset=preset)
    observation, _ = env.reset(seed=7)
    reward, falls = 0.0, 0
    for _ in range(steps):
        with torch.no_grad():
            action = policy.mean(torch.from_numpy(observation.copy()))
        observation, rewards, terminated, _, _ = env.step(action.numpy())
        reward, falls = reward + float(rewards.mean()), falls + int(terminated.sum())
    return reward / steps, falls / worlds


def total(values, size):
    """The sum of numbers over all processes."""
    out = torch.tensor(values, dtype=torch.float64)
    if size > 1:
        dist.all_reduce(out)
    return out.tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=256, help="of all processes")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--steps", type=int, default=24, help="per iteration")
    parser.add_argument("--dumps", help="folder for worlds that fail")
    parser.add_argument("--preset", help="of the training, such as mujoco32; default: the scene's")
    parser.add_argument("--walk", nargs="*", default=[], help="presets in which the trained policy walks")
    args = parser.parse_args()

    part = sapwood.dist.part(args.worlds)
    part.bind()
    torch.set_num_threads(part.threads)
    if part.size > 1:
        dist.init_process_group("gloo", rank=part.rank, world_size=part.size)
    torch.manual_seed(0)  # the same policy everywhere
    env = Quadruped(part.num_worlds, command=(0.5, 0.0, 0.0), dumps=args.dumps, preset=args.preset, **part.batch)
    policy = Policy(env.single_observation_space.shape[0], env.single_action_space.shape[0])
    optimiser = torch.optim.Adam(policy.parameters(), 1e-3)
    torch.manual_seed(1 + part.rank)  # other actions everywhere
    generator = torch.Generator().manual_seed(1 + part.rank)

    observation, _ = env.reset(seed=0)
    for iteration in range(args.iterations):
        start = time.perf_counter()
        observation, data, rewards, ends = rollout(env, policy, observation, args.steps)
        update(policy, optimiser, data, part.size, generator)
        count = rewards.numel()
        reward, ends, count = total([float(rewards.sum(dtype=torch.float64)), ends, count], part.size)
        if part.rank == 0:
            rate = count * env.steps / (time.perf_counter() - start)
            print(f"iteration {iteration:3d}  reward {reward / count:+.4f}  ends {ends:.0f}  {rate:.0f} world-steps/s")
    norm = float(sum(p.detach().double().abs().sum() for p in policy.parameters()))
    norms = total([norm * (part.rank == r) for r in range(part.size)], part.size)
    if part.rank == 0:
        print(f"processes {part.size}, policies are the same: {len(set(norms)) == 1}, failed worlds {env.failures}")
        for preset in args.walk:
            reward, falls = walk(policy, preset, 64, 500)
            print(f"walks in {preset}: reward {reward:+.4f}, falls per world {falls:.2f}")
    if part.size > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
