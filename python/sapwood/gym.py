"""Reinforcement learning: a gymnasium VectorEnv over a batch, and a quadruped task with commanded velocity.

env = sapwood.gym.Quadruped(num_envs=1024)
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ._library import version
from .batch import FAILED, Batch, random_keys, random_units
from .conventions import quat_matrix
from .model import Model
from .shipped import scene

Floats = NDArray[np.floating[Any]]


class BatchEnv(VectorEnv):
    """The task-independent part of an environment: stepping, resets, seeds, buffers.

    A task overrides `act`, `observe`, `judge` and `restart`. `autoreset_mode` selects when worlds are reset:

    | mode | a world whose episode ended |
    | --- | --- |
    | NEXT_STEP (default) | is reset by the next step, which ignores its action and returns zero reward |
    | SAME_STEP | is reset immediately; info["final_obs"] has its last observation |
    | DISABLED | is reset by reset(options={"reset_mask": mask}) |

    The random numbers of a reset depend on the seed and the number of resets of the world, not on other worlds: world w
    has the seed `seed + batch.world_offset + w`, so processes that share the worlds draw the numbers of one (dist.py).
    Observations alternate between two buffers: a returned one is valid until the step after the next.

    A world that fails (a NaN, say) ends its episode, and numbers of its observation and reward that are not finite
    become 0, so that training goes on. `failures` counts such worlds. With `dumps`, a folder, the first `most_dumps` of
    them are written there with the inputs of their last `guard` calls (dump.py); `sapwood replay` says why they failed.
    """

    kept: tuple[str, ...] = ()  # arrays of the task that `save` writes
    most_dumps = 10

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
    ) -> None:
        self.batch, self.steps, self.time_limit = batch, steps, time_limit
        self.num_envs = n = batch.num_worlds
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode}
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (observation_size,), np.float32)
        self.single_action_space = spaces.Box(-1.0, 1.0, (action_size,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self.seeds = batch.seed + batch.world_offset + np.arange(n)
        self.episodes, self.age = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self.ended = np.zeros(n, bool)
        self.failures, self.calls = 0, 0
        self.dumps = None if dumps is None else Path(dumps)
        self.dumped: list[Path] = []
        if self.dumps is not None:
            self.dumps.mkdir(parents=True, exist_ok=True)
            batch.guard(guard)
        self._buffers = np.zeros((2, n, observation_size), np.float32)
        self._turn = 0

    # ---- task ----

    def act(self, actions: Floats) -> None:
        """Writes actions, clipped to [-1, 1], to the control arrays."""
        raise NotImplementedError

    def observe(self, out: NDArray[np.float32]) -> None:
        """Fills [n][observation_size]."""
        raise NotImplementedError

    def judge(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Reward and termination of every world after a step."""
        raise NotImplementedError

    def restart(self, worlds: NDArray[np.intp], random: NDArray[np.uint64]) -> None:
        """Modifies worlds that have just been reset to the initial state; one random key per world."""

    # ---- gymnasium ----

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        mask = (options or {}).get("reset_mask")
        worlds = np.arange(self.num_envs) if mask is None else np.nonzero(np.asarray(mask, bool))[0]
        if seed is not None:
            first = self.batch.world_offset + np.arange(self.num_envs) if np.ndim(seed) == 0 else 0
            given = np.asarray(seed) + first
            self.seeds[worlds] = given[worlds]
            self.episodes[worlds] = 0
        self._reset_worlds(worlds)
        return self._observation(), {}

    def step(
        self, actions: Any
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        if self.autoreset_mode == AutoresetMode.DISABLED and np.any(self.ended):
            raise ValueError("a world that ended was not reset; reset(options={'reset_mask': mask}) does that")
        late = np.nonzero(self.ended)[0]
        self.act(np.clip(np.asarray(actions, np.float64), -1, 1))
        self.batch.step(self.steps)
        self.age += 1
        self.calls += 1
        failed = (self.batch.status & FAILED) != 0
        if failed.any():
            self._note_failures(np.nonzero(failed & ~self.ended)[0])  # not those that are to be reset
        reward, terminated = self.judge()
        reward[failed & ~np.isfinite(reward)] = 0
        terminated |= failed
        truncated = (self.age >= self.time_limit) & ~terminated
        if len(late):
            self._reset_worlds(late)
            reward[late], terminated[late], truncated[late] = 0, False, False
        self.ended = terminated | truncated
        info: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and np.any(self.ended):
            done = self.ended.copy()
            info = {"final_obs": self._observation().copy(), "_final_obs": done}
            self._turn ^= 1  # reuse the buffer, which was not returned
            self._reset_worlds(np.nonzero(done)[0])
        return self._observation(), reward, terminated, truncated, info

    # ---- checkpoints ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything that determines the next steps to a file of numpy (.npz).

        With the options sleep_steps or warm_start a step has a memory that is not part of the file: refused.
        """
        options = self.batch.options
        if options["sleep_steps"] != "0" or (options["warm_start"] == "true" and options["contact_solver"] != "sap"):
            raise ValueError("a checkpoint needs worlds without memory: sleep_steps = 0, warm_start = false")
        arrays: dict[str, Any] = {f"batch/{name}": values for name, values in self.batch.get_state().items()}
        own = ("seeds", "episodes", "age", "ended", *self.kept)
        arrays.update({f"env/{name}": np.asarray(getattr(self, name)) for name in own})
        arrays["observation"] = self._buffers[self._turn]
        arrays["header"] = np.array(self._header())
        with open(path, "wb") as file:
            np.savez(file, **arrays)

    def load(self, path: str | os.PathLike[str]) -> NDArray[np.float32]:
        """Continues bit for bit where `save` was called, and returns the observation of that moment.

        The environment must have the class, worlds and model of the one that was saved, and the version of the library.
        """
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        theirs, ours = list(arrays.pop("header")), self._header()
        if theirs != ours:
            raise ValueError(f"{os.fspath(path)} is of {', '.join(theirs)}; this environment is {', '.join(ours)}")
        state = {name.removeprefix("batch/"): x for name, x in arrays.items() if name.startswith("batch/")}
        self.batch.set_state(state)
        for name in ("seeds", "episodes", "age", "ended", *self.kept):
            getattr(self, name)[...] = arrays[f"env/{name}"]
        observation: NDArray[np.float32] = self._buffers[self._turn]
        observation[...] = arrays["observation"]
        return observation

    def _header(self) -> list[str]:
        model = self.batch.model
        worlds = f"{self.num_envs} worlds from {self.batch.world_offset}"
        return [f"sapwood {version()}", type(self).__name__, worlds, f"model {model.name}", f"{model.num_dofs} dofs"]

    def close_extras(self, **_: Any) -> None:
        self.batch.close()

    # ---- implementation ----

    def _reset_worlds(self, worlds: NDArray[np.intp]) -> None:
        mask = np.zeros(self.num_envs, bool)
        mask[worlds] = True
        self.batch.reset(mask)
        self.restart(worlds, random_keys(self.seeds[worlds], self.episodes[worlds]))
        self.batch.forward_kinematics()
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

    def _observation(self) -> NDArray[np.float32]:
        self._turn ^= 1
        out: NDArray[np.float32] = self._buffers[self._turn]
        self.observe(out)
        failed = np.nonzero(self.batch.status & FAILED)[0]
        if len(failed):  # a learner never sees the NaN that made a world fail
            out[failed] = np.nan_to_num(out[failed], posinf=0.0, neginf=0.0)
        return out


class Quadruped(BatchEnv):
    """A quadruped of 14 kg with twelve motors that learns to walk at a commanded velocity.

    An action offsets the targets of the position drives by up to `reach` rad from the standing pose. Observations, all
    of order 1:

    | 0 | height of the trunk in m, divided by 0.4 |
    | 1..3 | direction of gravity in trunk axes |
    | 4..9 | velocity of the trunk and angular velocity, trunk axes |
    | 10..21, 22..33 | joint coordinates relative to the standing pose; joint velocities times 0.1 |
    | 34..45 | the last action |
    | 46..48 | command: forward and sideways velocity, m/s, yaw rate, rad/s |
    | 49..52 | vertical force on each foot (front left and right, hind left and right), relative to weight/4 |
    | 53, 54 | sine and cosine of a clock with period `stride` seconds |

    Reward per step: velocity tracking minus penalties for vertical velocity, tilt, roll and pitch rates and changes of
    the action. An episode terminates if the trunk drops below 0.2 m or tilts by more than 60 degrees, or if the world
    fails; it is truncated after 10 s.
    """

    reach, stride = 0.5, 0.5
    kept = ("command", "action", "last_action")

    def __init__(
        self,
        num_envs: int,
        command: tuple[float, float, float] | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        steps: int = 4,
        time_limit: int = 500,
        noise: float = 1.0,
        dumps: str | os.PathLike[str] | None = None,
        **batch: Any,
    ) -> None:
        model = scene("quadruped")
        batch.setdefault("options", {"max_rigid_contact": 32})
        super().__init__(Batch(model, num_envs, **batch), 55, 12, steps, time_limit, autoreset_mode, dumps)
        self.fixed_command, self.noise = command, noise
        self.command = np.zeros((num_envs, 3))
        self.action, self.last_action = np.zeros((num_envs, 12)), np.zeros((num_envs, 12))
        self.standing = np.array(model.joint_q[7:])
        self.foot_of_shape = self._feet(model)
        self.weight = float(-model.gravity[2] * np.sum(model.body_mass))
        for name in ("contact_impulse", "contact_frame"):  # an access starts the recording
            getattr(self.batch, name)

    @staticmethod
    def _feet(model: Model) -> NDArray[np.int64]:
        """[num_shapes + 1] index of the foot of a shape, or 4; the last entry is for shape -1."""
        out = np.full(model.num_shapes + 1, 4)
        for foot, leg in enumerate(("fl", "fr", "hl", "hr")):
            shank = model.body_name.index(f"{leg}_shank")
            spheres = (model.shape_body == shank) & (model.shape_type == 3)
            out[np.nonzero(spheres)[0]] = foot
        return out

    def restart(self, worlds: NDArray[np.intp], random: NDArray[np.uint64]) -> None:
        x = random_units(random, 33)
        self.batch.joint_q[worlds, 7:] += 0.1 * self.noise * x[:, :12]
        self.batch.joint_qd[worlds] += 0.1 * self.noise * x[:, 12:30]
        sampled = np.stack([0.5 + 0.5 * x[:, 30], 0.2 * x[:, 31], 0.5 * x[:, 32]], axis=1)
        self.command[worlds] = sampled if self.fixed_command is None else self.fixed_command
        self.action[worlds] = self.last_action[worlds] = 0

    def act(self, actions: Floats) -> None:
        self.last_action[:] = self.action
        self.action[:] = actions
        self.batch.joint_target_pos[:, 6:] = self.standing + self.reach * actions

    def _trunk(self) -> tuple[Floats, Floats, Floats]:
        """Direction of gravity, velocity and angular velocity in trunk axes."""
        rotation = quat_matrix(self.batch.joint_q[:, 3:7])
        velocity = self.batch.joint_qd[:, :6].astype(np.float64)
        return (
            -rotation[:, 2],
            np.einsum("nji,nj->ni", rotation, velocity[:, :3]),
            np.einsum("nji,nj->ni", rotation, velocity[:, 3:]),
        )

    def foot_forces(self) -> Floats:
        """[n][4] upward force on each foot in the last substep, N."""
        b = self.batch
        used = np.arange(b.contact_impulse.shape[1])[None] < b.contact_count[:, None]
        up = np.einsum("nci,nci->nc", b.contact_impulse, b.contact_frame.reshape(*used.shape, 3, 3)[..., 2])
        out = np.zeros((self.num_envs, 5))
        world = np.broadcast_to(np.arange(self.num_envs)[:, None], used.shape)
        for shape, sign in ((b.contact_shape0, -1.0), (b.contact_shape1, 1.0)):
            foot = self.foot_of_shape[np.where(used, shape, -1)]
            np.add.at(out, (world, foot), np.where(used, sign * up, 0))
        return out[:, :4] / b.dt

    def observe(self, out: NDArray[np.float32]) -> None:
        gravity, velocity, omega = self._trunk()
        b = self.batch
        out[:, 0] = b.joint_q[:, 2] / 0.4
        out[:, 1:4], out[:, 4:7], out[:, 7:10] = gravity, velocity, omega
        out[:, 10:22] = b.joint_q[:, 7:] - self.standing
        out[:, 22:34] = 0.1 * b.joint_qd[:, 6:]
        out[:, 34:46], out[:, 46:49] = self.action, self.command
        out[:, 49:53] = self.foot_forces() / (self.weight / 4)
        clock = 2 * np.pi * self.age * self.steps * b.dt / self.stride
        out[:, 53], out[:, 54] = np.sin(clock), np.cos(clock)

    def judge(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        gravity, velocity, omega = self._trunk()
        track = np.exp(-np.sum((velocity[:, :2] - self.command[:, :2]) ** 2, axis=1) / 0.25)
        turn = np.exp(-((omega[:, 2] - self.command[:, 2]) ** 2) / 0.25)
        wobble = velocity[:, 2] ** 2 + 0.05 * np.sum(omega[:, :2] ** 2, axis=1) + np.sum(gravity[:, :2] ** 2, axis=1)
        jerk = np.mean((self.action - self.last_action) ** 2, axis=1)
        fallen = (self.batch.joint_q[:, 2] < 0.2) | (gravity[:, 2] > -0.5) | ((self.batch.status & FAILED) != 0)
        reward = track + 0.5 * turn - 0.5 * wobble - 0.1 * jerk
        return np.where(fallen, -1.0, reward), fallen
