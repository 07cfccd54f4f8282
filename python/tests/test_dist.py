"""Worlds over many processes: variables of launchers, and the same bits as one process."""

import os
import subprocess
import sys

import numpy as np
import pytest

import sapwood
from sapwood import dist

CPUS = len(os.sched_getaffinity(0))


def test_without_a_launcher_a_process_has_all_worlds():
    part = dist.part(100, variables={})
    assert (part.launcher, part.rank, part.size, part.world_offset, part.num_worlds) == ("none", 0, 1, 0, 100)
    assert part.batch == {"world_offset": 0, "threads": CPUS, "device": "cpu"}


@pytest.mark.parametrize(
    ("launcher", "variables"),
    [
        ("torchrun", {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}),
        (
            "Open MPI",
            {
                "OMPI_COMM_WORLD_RANK": "3",
                "OMPI_COMM_WORLD_SIZE": "4",
                "OMPI_COMM_WORLD_LOCAL_RANK": "1",
                "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
            },
        ),
        ("MPICH", {"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}),
        (
            "SLURM",
            {
                "SLURM_PROCID": "3",
                "SLURM_NTASKS": "4",
                "SLURM_LOCALID": "1",
                "SLURM_TASKS_PER_NODE": "1(x2),2",
                "SLURM_NODEID": "2",
                "PMI_RANK": "3",
                "PMI_SIZE": "4",
            },
        ),
    ],
)
def test_reads_the_variables_of_launchers(launcher, variables, monkeypatch):
    monkeypatch.setattr(dist, "_num_gpus", lambda: 2)
    part = dist.part(10, device="cuda", variables=variables)
    assert (part.launcher, part.rank, part.size, part.local_rank, part.local_size) == (launcher, 3, 4, 1, 2)
    assert (part.world_offset, part.num_worlds, part.device) == (7, 3, "cuda:1")
    assert 1 <= part.threads <= CPUS
    for gpus, device in ((0, "cuda:1"), (1, "cuda:0"), (8, "cuda:1")):  # none: without a driver
        monkeypatch.setattr(dist, "_num_gpus", lambda gpus=gpus: gpus)
        assert dist.part(10, device="cuda", variables=variables).device == device


def test_the_parts_are_contiguous_and_complete():
    for total in (4, 5, 7, 4096):
        for size in (1, 2, 3, 4):
            variables = [{"RANK": str(r), "WORLD_SIZE": str(size)} for r in range(size)]
            parts = [dist.part(total, variables=v) for v in variables]
            assert parts[0].world_offset == 0
            ends = [p.world_offset + p.num_worlds for p in parts]
            assert [p.world_offset for p in parts[1:]] == ends[:-1] and ends[-1] == total
            assert max(p.num_worlds for p in parts) - min(p.num_worlds for p in parts) <= 1


def test_the_processes_of_a_node_have_different_cpus():
    for size in range(1, CPUS + 1):
        variables = [{"RANK": str(r), "WORLD_SIZE": str(size)} for r in range(size)]
        local = [{**v, "LOCAL_RANK": v["RANK"], "LOCAL_WORLD_SIZE": v["WORLD_SIZE"]} for v in variables]
        cpus = [dist.part(size, variables=v).cpus for v in local]
        assert all(len(c) == CPUS // size for c in cpus)
        assert len({cpu for c in cpus for cpu in c}) == size * (CPUS // size)


def test_threads_are_shared_by_the_processes_of_a_node():
    variables = {"RANK": "0", "WORLD_SIZE": "64", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": str(2 * CPUS)}
    assert dist.part(64, variables=variables).threads == 1


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"RANK": "x", "WORLD_SIZE": "2"}, "RANK is 'x'; it must be an integer 0 .. 1"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK is '2'"),
        ({"RANK": "0", "WORLD_SIZE": "0"}, "WORLD_SIZE is '0'"),
        ({"RANK": "0", "WORLD_SIZE": "11"}, "there are 11 processes"),
    ],
)
def test_bad_variables_are_named(variables, words):
    with pytest.raises(ValueError, match=words):
        dist.part(10, variables=variables)


CURVE = """
import sys
import numpy as np
from sapwood import dist
from sapwood.keys import world_noise
from sapwood.gym import Quadruped

part = dist.part(int(sys.argv[1]))
env = Quadruped(part.num_worlds, time_limit=12, **part.batch)
worlds = part.world_offset + np.arange(part.num_worlds)
observation, _ = env.reset(seed=5)
rewards = []
for t in range(30):
    action = np.tanh(observation[:, :12] * 0.5 + world_noise(t, worlds, 12))
    observation, reward, *_ = env.step(action)
    rewards.append(np.concatenate([reward[:, None], observation], axis=1))
np.save(sys.argv[2], np.array(rewards))
"""


def curves(tmp_path, worlds, size):
    """The rewards and observations of all worlds, stepped by `size` processes."""
    pytest.importorskip("gymnasium")
    files = [tmp_path / f"{worlds}_{size}_{rank}.npy" for rank in range(size)]
    variables = {"WORLD_SIZE": str(size), "LOCAL_WORLD_SIZE": str(size)}
    for rank, file in enumerate(files):
        env = {**os.environ, **variables, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        subprocess.run([sys.executable, "-c", CURVE, str(worlds), str(file)], check=True, env=env)
    return np.concatenate([np.load(file) for file in files], axis=1)


def test_a_reward_curve_has_the_same_bits_for_one_two_and_three_processes(tmp_path):
    one = curves(tmp_path, 7, 1)
    assert one.shape[:2] == (30, 7) and len({one[-1, w, 0] for w in range(7)}) == 7
    for size in (2, 3):
        many = curves(tmp_path, 7, size)
        assert np.array_equal(one, many)
        assert one[:, :, 0].mean(axis=1).tobytes() == many[:, :, 0].mean(axis=1).tobytes()


def test_the_worlds_of_a_batch_are_those_of_a_larger_one(quadruped):
    states = []
    for offset, number in ((0, 5), (0, 2), (2, 3)):
        with sapwood.Batch(quadruped, number, seed=3, world_offset=offset) as batch:
            batch.perturb(0.1)
            batch.step(20)
            states.append(batch.joint_q.copy())
    assert np.array_equal(states[0], np.concatenate(states[1:]))
