"""A gymnasium VectorEnv over a batch: what all tasks share."""

from __future__ import annotations

import hashlib
import itertools
import os
import zipfile
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .. import xp
from .._library import ArgumentError, FileError, version
from ..batch import FAILED, Batch
from ..files import replacing
from ..keys import random_keys
from ..model import Model
from ..xp import Array

Floats = Array  # of numpy or torch, f64
EXECUTION = "threads lanes isa broad_phase device cuda_device team_size shared_memory specialize".split()  # same bits


def _digest(model: Model) -> str:
    """A number of 64 bits that depends on every number of the model."""
    out = hashlib.sha256()
    for name, values in {**model.arrays(), **(model.mujoco or {})}.items():
        array = np.asarray(values)
        out.update(f"{name} {array.shape}".encode())
        out.update(repr(array.tolist()).encode() if array.dtype.kind in "OU" else array.astype(float).tobytes())
    return out.hexdigest()[:16]


def _arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The arrays of a checkpoint."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"{os.fspath(path)}: not a checkpoint, or damaged: {error}") from error


class BatchEnv(VectorEnv):
    """The task-independent part of an environment: stepping, resets, seeds, buffers.

    A task overrides `act`, `observe`, `judge`, `restart` and `report`. `autoreset_mode` selects when worlds are reset:

    | mode | a world whose episode ended |
    | --- | --- |
    | NEXT_STEP (default) | is reset by the next step, which ignores its action and returns zero reward |
    | SAME_STEP | is reset immediately; info["final_obs"] has its last observation |
    | DISABLED | is reset by reset(options={"reset_mask": mask}) |

    The random numbers of a reset depend on the seed and the number of resets of the world, not on other worlds: world w
    has the seed `seed + batch.world_offset + w`, so processes that share the worlds draw the numbers of one (dist.py).
    A returned observation is a copy that the environment never writes to again, as in gymnasium's vector environments.
    With `copy=False` observations alternate between two buffers: one is valid until the step after the next.

    `arrays` selects what `step` takes and returns, and what the task computes with: "numpy", the default on the CPU, or
    "torch", tensors on the device of the batch. On a GPU nothing of a step passes through the host but the number of
    worlds that end. Tasks call functions of the module of their arrays, `self.xp` (xp.py).

    A world that fails (a NaN, say) ends its episode, and numbers of its observation and reward that are not finite
    become 0, so that training goes on. `failures` counts such worlds. With `dumps`, a folder, the first `most_dumps` of
    them are written there with the inputs of their last `guard` calls (dump.py); `sapwood replay` shows the reason.
    """

    kept: tuple[str, ...] = ()  # arrays of the task that `save` writes, such as "goal" or "history.past"
    most_dumps = 10
    keyframe = 0  # where episodes start: 0 is the model's initial state

    def __init__(
        self,
        batch: Batch,
        observation_size: int,
        action_size: int,
        steps: int,
        time_limit: int,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        dumps: str | os.PathLike[str] | None = None,
        guard: int = 8,
        arrays: str | None = None,
        copy: bool = True,
        critic_size: int = 0,
    ) -> None:
        self.batch, self.steps, self.time_limit, self.copy = batch, steps, time_limit, copy
        self.critic_size = critic_size
        self.arrays = xp.space(batch, arrays)
        self.status = self.arrays.live(batch, "status_int32")
        self.xp = xp.module(self.status)
        self.num_envs = n = batch.num_worlds
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (observation_size,), np.float32)
        self.single_action_space = spaces.Box(-1.0, 1.0, (action_size,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self.seeds = self.arrays.array(batch.seed + batch.world_offset + np.arange(n), "i64")
        self.episodes, self.age = self.arrays.zeros((n,), "i64"), self.arrays.zeros((n,), "i64")
        self.ended = self.arrays.zeros((n,), "bool")
        self.failures, self.calls = 0, 0
        self.dumps = None if dumps is None else Path(dumps)
        self.dumped: list[Path] = []
        if self.dumps is not None:
            self.dumps.mkdir(parents=True, exist_ok=True)
            batch.guard(guard)
        self._buffers = self.arrays.zeros((2, n, observation_size), "f32")
        self._critic = self.arrays.zeros((n, critic_size), "f32")
        self._turn = 0

    # ---- task ----

    def act(self, actions: Floats) -> None:
        """Writes actions, clipped to [-1, 1], to the control arrays."""
        raise NotImplementedError

    def observe(self, out: Array) -> None:
        """Fills [n][observation_size]. With SAME_STEP it is called twice in a step in which a world ends: a task that
        remembers observations does so once for each `age` (kit.History)."""
        raise NotImplementedError

    def observe_critic(self, out: Array) -> None:
        """Fills [n][critic_size]: what a critic sees in training, such as an observation without noise, or the
        parameters of the worlds. It must follow from the state of the environment, and not change it."""
        raise NotImplementedError

    def judge(self) -> tuple[Array, Array]:
        """Reward and termination of every world after a step."""
        raise NotImplementedError

    def restart(self, worlds: Array, random: Array) -> None:
        """Modifies worlds that have just been reset to the keyframe; one random key per world."""

    def report(self, ended: Array) -> Mapping[str, float]:
        """Statistics of the episodes that have just ended, for info["log"]; not called without any."""
        return {}

    # ---- gymnasium ----

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        mask = (options or {}).get("reset_mask")
        mask = xp.like(self.ended, np.ones(self.num_envs) if mask is None else mask, "bool")
        if seed is not None:
            if (shape := np.shape(seed)) not in ((), (self.num_envs,)):
                allowed = f"one number, or one for each of {self.num_envs} worlds"
                raise ArgumentError(f"seed has shape {tuple(shape)}; it must be {allowed}")
            first = self.batch.world_offset + np.arange(self.num_envs) if np.ndim(seed) == 0 else 0
            given = xp.like(self.seeds, np.asarray(seed) + first, "i64")
            self.seeds[mask] = given[mask]
            self.episodes[mask] = 0
        self._reset_worlds(mask)
        return self._observation(), {}

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        late, any_late = self.ended, bool(self.ended.any())
        if self.autoreset_mode == AutoresetMode.DISABLED and any_late:
            raise ValueError("a world that ended was not reset; reset(options={'reset_mask': mask}) does that")
        if (shape := np.shape(actions)) != self.action_space.shape:
            tile = "; np.tile(action, (num_envs, 1)) gives all worlds the same action"
            hint = tile if shape == self.single_action_space.shape else ""
            raise ArgumentError(f"actions have shape {tuple(shape)}; they must have {self.action_space.shape}{hint}")
        self.act(self.xp.clip(xp.like(self.ended, actions, "f64"), -1, 1))
        self.batch.step(self.steps)
        self.age += 1
        self.calls += 1
        failed = (self.status & FAILED) != 0
        if failed.any():
            self._note_failures(xp.host(xp.indices(failed & ~self.ended)))  # not those that are to be reset
        reward, terminated = self.judge()
        reward[failed & ~self.xp.isfinite(reward)] = 0
        terminated |= failed
        truncated = (self.age >= self.time_limit) & ~terminated
        if any_late:
            late = xp.copy(late)
            self._reset_worlds(late)
            reward[late], terminated[late], truncated[late] = 0, False, False
        self.ended = terminated | truncated
        info: dict[str, Any] = {}
        if not self.ended.any():
            return self._observation(), reward, terminated, truncated, info
        if log := self.report(self.ended):
            info["log"] = dict(log)
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            done = xp.copy(self.ended)
            info |= {"final_obs": xp.copy(self._fill()), "_final_obs": done}
            self._turn ^= 1  # reuse the buffer, which was not returned
            self._reset_worlds(done)
        return self._observation(), reward, terminated, truncated, info

    def critic(self) -> Array:
        """[n][critic_size] f32, a copy: what a critic sees beside the observation that was returned last."""
        if not self.critic_size:
            raise ValueError(f"critic_size is 0: {type(self).__name__} has no observation for a critic")
        return xp.copy(self._critic)

    # ---- checkpoints ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything that determines the next steps to a file of numpy (.npz), which replaces the last one once
        it is complete."""
        arrays: dict[str, Any] = {f"batch/{name}": values for name, values in self.batch.get_state().items()}
        own = ("seeds", "episodes", "age", "ended", *self.kept)
        arrays.update({f"env/{name}": xp.host(attrgetter(name)(self)) for name in own})
        arrays["observation"], arrays["critic"] = xp.host(self._buffers[self._turn]), xp.host(self._critic)
        arrays["header"] = np.array(self._header())
        with replacing(path) as file:
            np.savez(file, **arrays)

    def load(self, path: str | os.PathLike[str]) -> Array:
        """Continues bit for bit where `save` was called, and returns the observation of that moment.

        The environment must be as the one that was saved: class, worlds, model, time step, options that change results,
        type of the numbers and version of the library.
        """
        arrays = _arrays(path)
        theirs, ours = list(arrays.pop("header", ())), self._header()
        if theirs != ours:
            other = [f"{a} there and {b} here" for a, b in itertools.zip_longest(theirs, ours, fillvalue="-") if a != b]
            raise ValueError(f"{os.fspath(path)} is of another environment: {', '.join(other)}")
        state = {name.removeprefix("batch/"): x for name, x in arrays.items() if name.startswith("batch/")}
        self.batch.set_state(state)
        for name in ("seeds", "episodes", "age", "ended", *self.kept):
            xp.write(attrgetter(name)(self), arrays[f"env/{name}"])
        observation = self._buffers[self._turn]
        xp.write(observation, arrays["observation"])
        xp.write(self._critic, arrays["critic"])
        return xp.copy(observation) if self.copy else observation

    def _header(self) -> list[str]:
        batch, model = self.batch, self.batch.model
        worlds = f"{self.num_envs} worlds from {batch.world_offset}"
        numbers = [
            f"dt {batch.dt!r}",
            f"{self.steps} steps",
            f"episodes of {self.time_limit}",
            batch.joint_q.dtype.name,
        ]
        options = [f"{name} {value}" for name, value in batch.options.items() if name not in EXECUTION]
        first = [f"sapwood {version()}", type(self).__name__, worlds, f"model {model.name}", f"arrays {_digest(model)}"]
        return [*first, *numbers, *options]

    def close_extras(self, **_: Any) -> None:
        self.batch.close()

    # ---- implementation ----

    def _reset_worlds(self, mask: Array) -> None:
        worlds = xp.indices(mask)
        self.batch.reset(mask, self.keyframe)
        self.restart(worlds, random_keys(self.seeds[worlds], self.episodes[worlds]))
        self.batch.forward_kinematics(mask)
        self.episodes[worlds] += 1
        self.age[worlds] = 0
        self.ended[worlds] = False

    def _note_failures(self, worlds: NDArray[np.intp]) -> None:
        self.failures += len(worlds)
        if self.dumps is None:
            return
        for world in worlds[: self.most_dumps - len(self.dumped)]:
            path = self.dumps / f"world{self.batch.world_offset + world}_call{self.calls}.dump"
            self.batch.dump(int(world), path)
            self.dumped.append(path)

    def _observation(self) -> Array:
        return xp.copy(self._fill()) if self.copy else self._fill()

    def _fill(self) -> Array:
        """The observation, in the buffer that was not returned last."""
        self._turn ^= 1
        out = self._buffers[self._turn]
        self.observe(out)
        if self.critic_size:
            self.observe_critic(self._critic)
        failed = (self.status & FAILED) != 0
        if failed.any():  # a learner never sees the NaN that made a world fail
            for seen in (out, self._critic):
                seen[failed] = self.xp.nan_to_num(seen[failed], posinf=0.0, neginf=0.0)
        return out
