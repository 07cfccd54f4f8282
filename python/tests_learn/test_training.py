"""examples/train_rsl_rl.py: processes that train one policy, checkpoints; environments of tensors."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from sapwood.gym import Gripper, Humanoid, Quadruped
from sapwood.rl.tensors import Tensors

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_rsl_rl.py"


def train(folder, updates, *options, processes=1, task="gripper"):
    """Runs the example; returns the policies of all processes."""
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [sys.executable, *(launch if processes > 1 else []), EXAMPLE, "--task", task, "--worlds", "16"]
    command += ["--steps", "8", "--threads", "1"]
    command += ["--updates", str(updates), "--checkpoints", folder, *options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    parts = [torch.load(folder / f"rank{r}.pt", weights_only=False) for r in range(processes)]
    return [part["actor_state_dict"] | part["critic_state_dict"] for part in parts], done.stdout


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_training_that_resumes_has_the_same_bits(tmp_path, processes):
    curve = tmp_path / "curve.csv"
    whole, _ = train(tmp_path / "whole", 4, processes=processes)
    half, _ = train(tmp_path / "parts", 2, "--curve", curve, processes=processes)
    resumed, _ = train(tmp_path / "parts", 4, "--resume", "--curve", curve, processes=processes)
    assert all(map(same, whole, resumed)) and not same(whole[0], half[0])
    seconds, world_steps = np.loadtxt(curve, delimiter=",", skiprows=1).T[:2]
    assert world_steps.tolist() == [2 * 8 * 16 * 4, 4 * 8 * 16 * 4] and seconds[1] > seconds[0], "the curve goes on"


def test_two_processes_train_one_policy_and_resume(tmp_path):
    (one, two), text = train(tmp_path, 2, processes=2, task="quadruped")
    assert same(one, two), "gradients are averaged"
    assert "commanded 0.50 m/s" in text
    (later, other), _ = train(tmp_path, 4, "--resume", processes=2, task="quadruped")
    assert same(later, other) and not same(one, later)
    states = [np.load(tmp_path / f"rank{r}.npz") for r in range(2)]
    assert not np.array_equal(states[0]["batch/joint_q"], states[1]["batch/joint_q"]), "each has worlds of its own"


@pytest.mark.parametrize("make", [Quadruped, Humanoid, Gripper])
def test_tensors_share_the_memory_of_the_environment(make):
    env = make(4, threads=1, autoreset_mode=AutoresetMode.SAME_STEP, copy=False)
    tensors = Tensors(env)
    first = tensors.reset(seed=0)
    kept, actions = first.clone(), torch.zeros(env.action_space.shape)
    second, reward, terminated, truncated, _ = tensors.step(actions)
    assert torch.equal(first, kept) and not torch.equal(first, second)
    memory = [array.__array_interface__["data"][0] for array in env._buffers]
    assert sorted([first.data_ptr(), second.data_ptr()]) == sorted(memory), "no copies"
    assert reward.shape == terminated.shape == truncated.shape == (4,)
    assert tensors.reset(mask=torch.tensor([True, False, False, False])).shape == first.shape


def test_the_example_of_stable_baselines3_runs(tmp_path):
    example = EXAMPLE.with_name("train_sb3.py")
    options = ["--worlds", "16", "--updates", "10", "--threads", "1", "--save", tmp_path / "policy.zip"]
    done = subprocess.run(list(map(str, [sys.executable, example, *options])), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "update   10" in done.stdout and "commanded 1.00 m/s" in done.stdout and (tmp_path / "policy.zip").exists()
