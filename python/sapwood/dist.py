"""Worlds over many processes: which part of them this process has, read from the variables of its launcher.

torchrun, SLURM (srun), Open MPI (mpirun) and MPICH set variables for each process. Each process steps a contiguous part
of the worlds; a world has the same bits wherever it is, so the results equal one process's (docs/cluster.md).

part = sapwood.dist.part(4096)                        # of 4096 worlds
part.bind()                                           # to this process's share of the CPUs
env = Quadruped(part.num_worlds, **part.batch)        # world_offset, threads, device
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ._library import lib
from .arguments import integer

# launcher: variables of rank, size, rank on the node, processes on the node; "" where there is none
_VARIABLES = {
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    "Open MPI": (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    "MPICH": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    "SLURM": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", ""),
}


@dataclass(frozen=True)
class Part:
    """A process and its worlds: world_offset .. world_offset + num_worlds - 1 of total_worlds."""

    rank: int
    size: int
    local_rank: int  # among the processes of its node
    local_size: int
    launcher: str  # "torchrun", "Open MPI", "MPICH", "SLURM", or "none"
    total_worlds: int
    world_offset: int
    num_worlds: int
    cpus: tuple[int, ...]  # of this process
    device: str

    @property
    def threads(self) -> int:
        """One worker thread per CPU of this process."""
        return len(self.cpus)

    def bind(self) -> None:
        """Restricts this process to its CPUs. Call it before a batch is created: the worker threads of a batch are
        pinned to CPUs of their process, and two processes that share all CPUs would use the same ones."""
        os.sched_setaffinity(0, self.cpus)

    @property
    def batch(self) -> dict[str, object]:
        """The arguments of a Batch or an environment besides the number of worlds."""
        return {"world_offset": self.world_offset, "threads": self.threads, "device": self.device}


def _number(variables: Mapping[str, str], name: str, low: int, high: int) -> int:
    text = variables[name]
    if not re.fullmatch(r"\d{1,9}", text) or not low <= int(text) <= high:
        raise ValueError(f"the variable {name} is {text!r}; it must be an integer {low} .. {high}")
    return int(text)


def _tasks_of_node(variables: Mapping[str, str]) -> int:
    """SLURM_TASKS_PER_NODE is a list such as "2(x3),1": three nodes with two tasks, then one with one."""
    text, node = variables.get("SLURM_TASKS_PER_NODE", "1"), int(variables.get("SLURM_NODEID", "0"))
    for tasks, repeated in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        node -= int(repeated or 1)
        if node < 0:
            return int(tasks)
    raise ValueError(f"SLURM_TASKS_PER_NODE is {text!r}; it has no entry for node {variables.get('SLURM_NODEID')}")


def _find(variables: Mapping[str, str]) -> tuple[str, int, int, int, int]:
    """Launcher, rank, size, local rank, local size. srun sets variables of PMI too, so SLURM comes before MPICH."""
    for launcher in ("torchrun", "Open MPI", "SLURM", "MPICH"):
        names = _VARIABLES[launcher]
        if not all(name in variables for name in names[:2]):
            continue
        if launcher == "SLURM" and "SLURM_LOCALID" not in variables:
            continue  # the script of a job, which srun has not started
        size = _number(variables, names[1], 1, 10**8)
        rank = _number(variables, names[0], 0, size - 1)
        if launcher == "SLURM":
            local_size = _tasks_of_node(variables)
        else:
            local_size = _number(variables, names[3], 1, size) if names[3] in variables else 1
        local_rank = _number(variables, names[2], 0, local_size - 1) if names[2] in variables else 0
        return launcher, rank, size, local_rank, local_size
    return "none", 0, 1, 0, 1


def _cpus(launcher: str, local_rank: int, local_size: int) -> tuple[int, ...]:
    """The CPUs of this process. mpirun and srun usually bind processes to CPUs; torchrun does not."""
    cpus = sorted(os.sched_getaffinity(0))
    if launcher != "torchrun" and len(cpus) < (os.cpu_count() or 1):
        return tuple(cpus)
    each = max(1, len(cpus) // local_size)
    first = local_rank * each % len(cpus)
    return tuple(cpus[first : first + each])


def _num_gpus() -> int:
    """GPUs that this process sees; 0 without a driver."""
    count = ctypes.c_int(0)
    lib.sap_device_count(ctypes.byref(count))
    return count.value


def part(total_worlds: int, device: str = "cpu", variables: Mapping[str, str] | None = None) -> Part:
    """The part of `total_worlds` worlds that this process has. Without a launcher: all of them.

    Process r of s has the worlds total r // s .. total (r + 1) // s - 1, as in `mpirun sapwood run`. With the device
    "cuda", the local process i has GPU i modulo the number of GPUs that it sees, because a launcher may show each
    process its own only; "cpu" and "cuda:1" stay as they are. `threads` is the number of CPUs that are the process's
    own. `variables` replaces the environment.
    """
    launcher, rank, size, local_rank, local_size = _find(os.environ if variables is None else variables)
    total = integer("total_worlds", total_worlds, 1)
    if total < size:
        raise ValueError(f"total_worlds is {total}; there are {size} processes, and each needs a world")
    first, end = total * rank // size, total * (rank + 1) // size
    return Part(
        rank=rank,
        size=size,
        local_rank=local_rank,
        local_size=local_size,
        launcher=launcher,
        total_worlds=total,
        world_offset=first,
        num_worlds=end - first,
        cpus=_cpus(launcher, local_rank, local_size),
        device=f"cuda:{local_rank % (_num_gpus() or local_size)}" if device == "cuda" else device,
    )
