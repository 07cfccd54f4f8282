"""A robot learns a task of sapwood.gym: PPO of rsl_rl, on one or more processes.

    pip install "sapwood[view]" rsl-rl-lib
    python examples/train_rsl_rl.py --task quadruped --updates 300 --page walk.html
    torchrun --nproc-per-node 2 examples/train_rsl_rl.py --checkpoints run      # synchronised gradients
    torchrun --nproc-per-node 2 examples/train_rsl_rl.py --checkpoints run --resume --updates 600

Tasks: quadruped (flat ground), rough (terrain with levels), humanoid, gripper. At the end the policy acts without
exploration, and the program prints what it reaches. --page writes that as a page for a browser, --curve the curve of
the training as a CSV file. --resume continues from the last checkpoint, bit for bit, and the curve with it.
"""

import argparse
import csv
import os
import time

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

import sapwood
from sapwood.gym import Gripper, Humanoid, Quadruped
from sapwood.rl.rsl_rl import Runner, VecEnv

TASKS = {
    "quadruped": Quadruped,
    "rough": lambda worlds, **rest: Quadruped(worlds, ground="rough", **rest),
    "humanoid": Humanoid,
    "gripper": Gripper,
}
SPEEDS = (0.2, 0.5, 0.8, 1.0)  # m/s, of the test
LAYERS = {"class_name": "MLPModel", "hidden_dims": [128, 128], "activation": "elu", "obs_normalization": True}


def settings(steps):
    """What rsl_rl reads; its documentation describes it."""
    noise = {"class_name": "GaussianDistribution", "init_std": 0.5, "std_type": "scalar"}
    return {
        "num_steps_per_env": steps,
        "save_interval": 10**9,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**LAYERS, "distribution_cfg": noise},
        "critic": LAYERS,
        "algorithm": {
            "class_name": "PPO",
            "num_learning_epochs": 4,
            "num_mini_batches": 4,
            "learning_rate": 1e-3,
            "schedule": "adaptive",
            "desired_kl": 0.01,
            "clip_param": 0.2,
            "gamma": 0.98,
            "lam": 0.95,
            "entropy_coef": 0.002,
            "value_loss_coef": 1.0,
            "use_clipped_value_loss": True,
            "max_grad_norm": 1.0,
        },
    }


class Recorder(VecEnv):
    """Keeps the mean reward and the part of worlds that end in each step."""

    def __init__(self, env):
        super().__init__(env)
        self.seen = []

    def step(self, actions):
        out = super().step(actions)
        self.seen.append((float(out[1].mean()), float(out[2].float().mean())))
        return out


def read_curve(path):
    """The rows of a curve."""
    with open(path, newline="") as file:
        return [tuple(map(float, row)) for row in list(csv.reader(file))[1:]]


def write_curve(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("seconds", "world_steps", "reward", "episode_length"), *rows])


def train(runner, part, args):
    """Makes updates until there are args.updates, and prints the curve."""
    env, curve = runner.env, []
    done = runner.load_checkpoint(args.checkpoints) if args.resume else 0
    if args.resume and args.curve and os.path.exists(args.curve):
        curve = [row for row in read_curve(args.curve) if row[1] <= done * args.steps * args.worlds * env.env.steps]
    start = time.process_time() - (curve[-1][0] if curve else 0)
    while done < args.updates:
        env.seen.clear()
        count = min(10, args.updates - done)
        runner.learn(count, init_at_random_ep_len=done == 0)
        done += count
        totals = torch.tensor(np.mean(env.seen, axis=0))
        if part.size > 1:
            torch.distributed.all_reduce(totals)
        reward, ends = (totals / part.size).tolist()
        seconds, world_steps = time.process_time() - start, done * args.steps * args.worlds * env.env.steps
        curve.append((seconds, world_steps, reward, 1 / max(ends, 1e-9)))
        if part.rank == 0:
            print(
                f"{seconds:6.0f} s  {world_steps / 1e6:6.2f} M world-steps  reward per step {reward:6.3f}", flush=True
            )
        if part.rank == 0 and args.curve:
            write_curve(args.curve, curve)
        if args.checkpoints:
            runner.save_checkpoint(args.checkpoints, done)


def play(policy, env, seconds, command, frames):
    """Acts for some seconds; returns the forward speed of each world in the second half, and how often it ended."""
    adapter, speed, count = VecEnv(env), [], int(seconds / (env.steps * env.batch.dt))
    ends = np.zeros(env.num_envs, int)
    for step in range(count):
        if command is not None:
            env.command[:] = command  # a reset draws another one
        with torch.inference_mode():
            _, _, done, extras = adapter.step(policy(adapter.get_observations()))
        ends += (done.bool() & ~extras["time_outs"]).numpy()
        if command is not None and step >= count // 2:
            speed.append(env.motion()[1][:, 0])
        if frames is not None:
            from sapwood import view

            frames.append(view.capture(env.batch, min(4, env.num_envs), time=step * env.steps * env.batch.dt))
    return np.mean(speed, axis=0) if speed else None, ends


def walks(task):
    """The tests of a walk, (name, speed in m/s, level of the ground), and the test that each of 64 worlds takes."""
    if task == "rough":  # the kinds of ground alternate: every level has all four
        return [(f"level {level}, commanded 0.50 m/s", 0.5, level) for level in range(8)], np.arange(64) // 4 % 8
    return [(f"commanded {speed:.2f} m/s", speed, 0) for speed in SPEEDS], np.arange(64) % len(SPEEDS)


def test(policy, task, page):
    """Prints what the policy does without exploration, in 64 worlds."""
    frames = [] if page else None
    env = TASKS[task](64, autoreset_mode=AutoresetMode.SAME_STEP, time_limit=10**6, seed=1)
    if task == "gripper":
        play(policy, env, 3.0, None, frames)
        error = np.abs(env.batch.joint_q[:, 5] - env.goal)
        print(f"cubes within 20 mm of the commanded height after 3 s: {np.count_nonzero(error < 0.02)} of {len(error)}")
    else:
        command, (tests, which) = np.zeros((64, 3)), walks(task)
        command[:, 0] = np.array([speed for _, speed, _ in tests])[which]
        env.level[:] = np.array([level for _, _, level in tests])[which]
        env.levels.update = lambda *_: None  # a world stays on its level
        speed, falls = play(policy, env, 8.0, command, frames)
        for i, (name, _, _) in enumerate(tests):
            mine = which == i
            print(f"{name}: {speed[mine].mean():.2f} m/s, {np.count_nonzero(falls[mine])} of {mine.sum()} fall")
        print(f"{falls.sum()} falls in 64 worlds and 8 s")
    if page:
        from sapwood import view

        view.html(env.batch.model, frames, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=list(TASKS), default="quadruped")
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--worlds", type=int, default=512, help="of all processes")
    parser.add_argument("--steps", type=int, default=24, help="steps of a world between two updates")
    parser.add_argument("--threads", type=int, help="of a process; default: one for each of its CPUs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoints", metavar="FOLDER", help="write a checkpoint every 10 updates")
    parser.add_argument("--resume", action="store_true", help="continue from the checkpoint")
    parser.add_argument(
        "--curve", help="write processor seconds, world-steps, reward per step and episode length to it"
    )
    parser.add_argument("--page", help="write the test as a page to this file")
    args = parser.parse_args()
    if args.resume and not args.checkpoints:
        parser.error("--resume needs --checkpoints FOLDER")

    part = sapwood.dist.part(args.worlds)
    part.bind()
    threads = args.threads or part.threads
    torch.set_num_threads(threads)
    torch.manual_seed(args.seed + part.rank)
    settings_of_batch = {**part.batch, "threads": threads, "seed": args.seed}
    env = TASKS[args.task](part.num_worlds, autoreset_mode=AutoresetMode.SAME_STEP, **settings_of_batch)
    runner = Runner(Recorder(env), settings(args.steps), log_dir=None, device="cpu")
    train(runner, part, args)
    if part.size > 1:
        torch.distributed.destroy_process_group()
    if part.rank == 0 and args.task == "rough":
        levels = {kind: env.level[env.levels.kind == k].mean() for k, kind in enumerate(env.ground.kinds)}
        print("levels that training reached: " + ", ".join(f"{kind} {level:.1f}" for kind, level in levels.items()))
    if part.rank == 0:
        test(runner.get_inference_policy(device="cpu"), args.task, args.page)


if __name__ == "__main__":
    main()
