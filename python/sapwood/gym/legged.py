"""Robots with a free base and legs that walk at a commanded velocity, on flat ground or on terrain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .. import terrain
from ..arguments import index_of
from ..batch import FAILED, Batch
from ..keys import random_keys, random_units
from ..kit import Commands, Delay, Levels, Noise, Pushes, Randomizer, Rewards, Scale, Uniform, base_motion
from ..kit.distributions import Distribution
from ..model import JOINT_TYPES, Model
from ..rays import RaySensor, pattern_grid
from ..shipped import scene
from ..xp import Array, cast, host, join_columns, put
from .env import BatchEnv, Floats

RESAMPLE = 5.0  # s, how long a command lasts
SCAN = ((1.2, 0.8), 0.2)  # m, size and spacing of the height scan
SCAN_UP = 1.0  # m above the base, where its rays start


class Legged(BatchEnv):
    """A robot that walks at a commanded velocity. Its first joint is free; the dofs with a position drive
    (Model.set_drive) are its actions.

    An action offsets the targets of the n drives by up to `reach` rad from the standing pose, which is the
    model's first keyframe, or its initial state. Observations, all of order 1, in this order:

    | 1 | height of the base above the ground, divided by `height` |
    | 3, 3, 3 | direction of gravity, velocity and angular velocity of the base, base axes |
    | n, n | coordinates of the drives relative to the standing pose; their velocities times 0.1 |
    | n | the last action |
    | 3 | command: forward and sideways velocity, m/s, yaw rate, rad/s |
    | feet | vertical force on each foot, relative to an equal share of the weight |
    | 2 | sine and cosine of a clock with period `stride` seconds |
    | 35 | on a `ground`: how far the ground is below the feet, m, at points around the base: rays of a height scan |

    Reward per step: velocity tracking minus penalties for vertical velocity, tilt, roll and pitch rates and changes of
    the action; -1 for a fall: a base below half of `height`, or tilted by more than 60 degrees. info["log"] has the
    mean of each term over the episodes that end. A command is drawn at a reset and every 5 s from the ranges
    `velocities`, unless `command` fixes it. An episode is truncated after `time_limit` steps of the environment.

    `ground` (terrain.make) takes the place of the model's plane. Worlds are dealt to its kinds and begin on its first
    level. One that does not fall in an episode and walks three quarters of the way that it was told, at least a quarter
    of a cell, goes up; one that falls or walks less than half of the way goes down.

    What a policy needs to leave the simulator, all off by default:

    | randomize | parameters that each episode draws: {"body_mass": Scale(LogUniform(0.8, 1.25)), ...}, as Randomizer |
    | pushes | (distribution, period): a change of the velocity of the base in x and y, m/s, every `period` seconds |
    | sensor_noise | Noise(distribution, scale) of observations, with one scale or one for each column |
    | delay | actions arrive after 0 to `delay` steps; each episode draws the number |
    | critic | True: `critic()` is the observation without noise, for the critic of a learner |
    """

    kept = ("command", "command_keys", "action", "last_action", "level", "origin", "walked", "wanted")
    stride, reach = 0.5, 0.5
    velocities: tuple[tuple[float, float], ...] = ((0.0, 1.0), (-0.2, 0.2), (-0.5, 0.5))
    weights: Mapping[str, float] = {"track": 1.0, "turn": 0.5, "wobble": -0.5, "jerk": -0.1}  # of the terms

    def __init__(
        self,
        num_envs: int,
        model: Model,
        feet: Sequence[str],
        height: float,
        command: Sequence[float] | None = None,
        ground: terrain.Ground | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        steps: int = 4,
        time_limit: int = 500,
        noise: float = 1.0,
        dumps: Any = None,
        arrays: str | None = None,
        copy: bool = True,
        randomize: Mapping[str, Scale] | None = None,
        pushes: tuple[Distribution, float] | None = None,
        sensor_noise: Noise | None = None,
        delay: int = 0,
        critic: bool = False,
        **batch: Any,
    ) -> None:
        drives, coordinates = _drives(model)
        self.height, self.noise = height, noise
        self.keyframe = min(1, model.num_keyframes)
        made = Batch(model if ground is None else terrain.lay(model, ground), num_envs, **batch)
        n, points = len(drives), 0 if ground is None else _attach_scan(made)
        size = 15 + 3 * n + len(feet) + points
        super().__init__(
            made, size, n, steps, time_limit, autoreset_mode, dumps, 8, arrays, copy, size if critic else 0
        )
        self._find_robot(model, drives, coordinates, feet)
        self._begin_task(command, ground)
        self._harden(randomize, pushes, sensor_noise, delay)

    def _find_robot(self, model: Model, drives: Any, coordinates: Any, feet: Sequence[str]) -> None:
        """The arrays of the robot, its drives, its feet and its standing pose."""
        batch, arrays = self.batch, self.arrays
        batch.reset(keyframe=self.keyframe)
        self.standing = arrays.array(batch._get("joint_q")[0, coordinates], "f64")
        self.drives, self.coordinates = arrays.array(drives, "i64"), arrays.array(coordinates, "i64")
        self.feet = arrays.array([index_of("body", name, model.body_name) for name in feet], "i64")
        self.weight = float(-model.gravity[2] * np.sum(model.body_mass))
        self.q, self.qd = arrays.live(batch, "joint_q"), arrays.live(batch, "joint_qd")
        self.target = arrays.live(batch, "joint_target_pos")
        self.wrench = arrays.live(batch, "body_contact_wrench")  # an access starts the recording

    def _begin_task(self, command: Sequence[float] | None, ground: terrain.Ground | None) -> None:
        """Commands, actions, rewards, and the cell on which a world walks."""
        worlds, arrays = self.num_envs, self.arrays
        self.dt = self.steps * self.batch.dt
        ranges = [Uniform(*pair) for pair in self.velocities]
        period = max(1, round(RESAMPLE / self.dt))
        self.commands = Commands(worlds, ranges, period, fixed=command, arrays=arrays)
        self.command, self.command_keys = self.commands.value, self.commands.keys
        self.action, self.last_action = (arrays.zeros((worlds, len(self.drives)), "f64") for _ in range(2))
        terms = {name: (x, getattr(self, f"term_{name}")) for name, x in self.weights.items()}
        self.rewards = Rewards(worlds, 1.0, arrays, **terms)
        levels, kinds = (1, 1) if ground is None else ground.origins.shape[:2]
        self.levels = Levels(worlds, levels, kinds, first=self.batch.world_offset, arrays=arrays)
        self.level, self.origin = self.levels.level, arrays.zeros((worlds, 3), "f64")
        self.walked, self.wanted = (arrays.zeros((worlds,), "f64") for _ in range(2))  # m, along the command; as told
        self.ground = None if ground is None else ground.moved(arrays)
        if ground is not None:
            self.scan = arrays.live(self.batch, "ray_distance")

    def _harden(
        self,
        randomize: Mapping[str, Scale] | None,
        pushes: tuple[Distribution, float] | None,
        sensor_noise: Noise | None,
        delay: int,
    ) -> None:
        """What makes worlds differ from each other and from the model."""
        worlds, arrays, self.sensor_noise = self.num_envs, self.arrays, sensor_noise
        self.randomize = Randomizer(self.batch, **randomize) if randomize else None
        self.delay = Delay(worlds, len(self.drives), delay, arrays) if delay else None
        self.pushes, self.episode_keys = None, arrays.zeros((worlds,), "u64")
        if pushes is not None:
            self.pushes = Pushes(self.batch, pushes[0], max(1, round(pushes[1] / self.dt)), arrays=arrays)
        self.kept = (*type(self).kept, "episode_keys", *(("delay.past", "delay.steps") if delay else ()))

    # ---- a world ----

    def restart(self, worlds: Array, random: Array) -> None:
        n = len(self.drives)
        if self.ground is not None:
            self._place(self.ground, worlds, random)
        x = 0.1 * self.noise * random_units(random, n + self.batch.model.num_dofs)
        driven = (worlds[:, None], self.coordinates)
        put(self.q, driven, self.q[driven] + x[:, :n])
        put(self.qd, worlds, self.qd[worlds] + x[:, n:])
        self.commands.reset(worlds, random_keys(random, 1))
        self.action[worlds] = self.last_action[worlds] = 0
        self.walked[worlds] = self.wanted[worlds] = 0
        self.episode_keys[worlds] = random
        if self.randomize is not None:
            self.randomize(host(worlds), host(random_keys(random, 3)))
        if self.delay is not None:
            self.delay.reset(worlds, random_keys(random, 4))

    def _place(self, ground: terrain.Ground, worlds: Array, random: Array) -> None:
        """Moves worlds up or down by how their episodes went, and onto their cells."""
        done, walked, wanted = self.episodes[worlds] > 0, self.walked[worlds], self.wanted[worlds]
        fell = self.age[worlds] < self.time_limit
        passed = ~fell & (walked > 0.75 * wanted) & (wanted > ground.size / 4)
        self.levels.update(worlds, done & passed, done & (fell | (walked < 0.5 * wanted)), random_keys(random, 2))
        self.origin[worlds] = ground.origins[self.level[worlds], self.levels.kind[worlds]]
        put(self.q, (worlds, slice(3)), self.q[worlds, :3] + self.origin[worlds])

    def act(self, actions: Floats) -> None:
        self.commands.tick(self.age)
        self.wanted += self.dt * self.xp.hypot(self.command[:, 0], self.command[:, 1])
        self.last_action[:] = self.action
        self.action[:] = actions
        if self.pushes is not None:
            self.pushes(self.age, random_keys(self.episode_keys, 5))
        sent = actions if self.delay is None else self.delay(actions)
        put(self.target, (slice(None), self.drives), self.standing + self.reach * sent)

    def motion(self) -> tuple[Floats, Floats, Floats]:
        """Direction of gravity, velocity and angular velocity of the base, in its axes."""
        return base_motion(self.q, self.qd)

    def clock(self) -> Floats:
        """[n] rad, the phase of the stride."""
        return 2 * np.pi * self.age * self.dt / self.stride

    def heights(self) -> Floats:
        """[n] height of the base above the ground below it, m."""
        base = cast(self.q[:, :3], "f64")
        return base[:, 2] if self.ground is None else base[:, 2] - self.ground.at(base[:, 0], base[:, 1])

    def observe(self, out: Array) -> None:
        self.observe_critic(out)
        if self.sensor_noise is not None:
            self.sensor_noise(out, random_keys(self.seeds, self.episodes, self.age))

    def observe_critic(self, out: Array) -> None:
        xp, clock = self.xp, self.clock()
        parts: list[Any] = [
            self.heights()[:, None] / self.height,
            *self.motion(),
            self.q[:, self.coordinates] - self.standing,
            0.1 * self.qd[:, self.drives],
            self.action,
            self.command,
            self.wrench[:, self.feet, 2] * (len(self.feet) / self.weight),
            xp.stack([xp.sin(clock), xp.cos(clock)], 1),
        ]
        if self.ground is not None:
            parts.append(self.depths())
        join_columns(parts, out)

    def depths(self) -> Floats:
        """[n][points] m, the ground below the feet of a robot that stands, within -1 .. 1; 1 beyond its border."""
        return self.xp.where(self.scan < 0, 1.0, self.xp.clip(self.scan - SCAN_UP - self.height, -1, 1))

    # ---- rewards ----

    def judge(self) -> tuple[Array, Array]:
        xp = self.xp
        self._gravity, self._velocity, self._omega = self.motion()
        told = self.command[:, :2] / xp.clip(xp.hypot(self.command[:, 0], self.command[:, 1]), 1e-9, None)[:, None]
        self.walked += self.dt * xp.nan_to_num((self._velocity[:, :2] * told).sum(1))
        fallen = (self.heights() < 0.5 * self.height) | (self._gravity[:, 2] > -0.5)
        fallen |= (self.status & FAILED) != 0
        return xp.where(fallen, -1.0, self.rewards()), fallen

    def term_track(self) -> Floats:
        error = self._velocity[:, :2] - self.command[:, :2]
        return self.xp.exp(-(error**2).sum(1) / 0.25)

    def term_turn(self) -> Floats:
        return self.xp.exp(-((self._omega[:, 2] - self.command[:, 2]) ** 2) / 0.25)

    def term_wobble(self) -> Floats:
        tilt, roll = (self._gravity[:, :2] ** 2).sum(1), (self._omega[:, :2] ** 2).sum(1)
        return self._velocity[:, 2] ** 2 + 0.05 * roll + tilt

    def term_jerk(self) -> Floats:
        return ((self.action - self.last_action) ** 2).mean(1)

    def report(self, ended: Array) -> Mapping[str, float]:
        log = dict(self.rewards.log(ended))
        return log if self.ground is None else log | {"level": float(np.mean(host(self.level)))}


def _drives(model: Model) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The dofs that have drives, and their coordinates; joints with a quaternion are left out."""
    if model.num_joints == 0 or model.joint_type[0] != JOINT_TYPES["SAP_JOINT_FREE"]:
        raise ValueError(f"the first joint of {model.name} is not free; a robot with legs has a free base")
    dofs: list[int] = []
    coordinates: list[int] = []
    for j in range(model.num_joints):
        mine = range(model.joint_qd_start[j], model.joint_qd_start[j + 1])
        theirs = range(model.joint_q_start[j], model.joint_q_start[j + 1])
        if len(mine) == len(theirs):
            dofs, coordinates = [*dofs, *mine], [*coordinates, *theirs]
    driven = np.array(model.joint_target_ke)[dofs] > 0
    if not driven.any():
        raise ValueError(f"{model.name} has no drives; model.set_drive(None, kp, kd) gives its joints some")
    return np.array(dofs, np.intp)[driven], np.array(coordinates, np.intp)[driven]


def _attach_scan(batch: Batch) -> int:
    """Gives the base a height scan; returns the number of its rays."""
    origins, down = pattern_grid(*SCAN)
    base = int(batch.model.joint_child[0])
    batch.set_sensors(rays=[RaySensor(origins + [0, 0, SCAN_UP], down, body=base, axes="heading", sees="static")])
    return len(origins)


def _leaves(model: Model) -> list[str]:
    """The bodies without children: the last links of the legs of a quadruped."""
    inner = set(np.array(model.joint_parent).tolist())
    return [name for body, name in enumerate(model.body_name) if body not in inner]


class Quadruped(Legged):
    """A quadruped: by default the one of the package, with 14 kg, twelve drives and 55 observations. `model` is
    another, such as `Model.from_mjcf("unitree_go1/scene.xml")`; its feet are its four bodies without children, and its
    `height` is its height in the standing pose. `ground="rough"` is terrain of slopes, stairs and rough cells."""

    def __init__(
        self,
        num_envs: int,
        command: Sequence[float] | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        steps: int | None = None,
        model: Model | None = None,
        height: float | None = None,
        ground: terrain.Ground | str | None = None,
        **rest: Any,
    ) -> None:
        if model is None:
            model, height = scene("quadruped"), 0.4 if height is None else height
            rest.setdefault("options", {"max_contacts": 32})
        feet = _leaves(model)
        if len(feet) != 4:
            raise ValueError(f"{model.name} has {len(feet)} bodies without children; a quadruped has 4, its feet")
        if height is None:
            height = float(model.keyframe_joint_q[0, 2] if model.num_keyframes else model.joint_q[2])
        if isinstance(ground, str):
            if ground != "rough":
                raise ValueError(f"ground is {ground!r}; it must be 'rough' or a Ground of terrain.make")
            ground = terrain.make(["slope", "stairs", "stairs_up", "rough"], levels=8)
        steps = max(1, round(0.02 / model.dt)) if steps is None else steps
        super().__init__(num_envs, model, feet, height, command, ground, autoreset_mode, steps, **rest)


class Humanoid(Legged):
    """A figure of 64 kg with eleven drives in waist, hips and knees that walks; its arms swing. 50 observations.

    A term of the reward, up to 0.5 per step, is for the gait: the left foot bears nothing in the first half of the
    clock, the right foot in the second.
    """

    stride, reach = 0.8, 0.6
    velocities = ((0.0, 1.0), (0.0, 0.0), (0.0, 0.0))
    weights = {**Legged.weights, "gait": 0.5}

    def __init__(
        self,
        num_envs: int,
        command: Sequence[float] | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        steps: int = 4,
        **rest: Any,
    ) -> None:
        model, feet = scene("humanoid"), ("left_shank", "right_shank")
        super().__init__(num_envs, model, feet, 0.9, command, None, autoreset_mode, steps, **rest)

    def term_gait(self) -> Floats:
        """1 if the foot that should swing bears nothing, 0 if it bears half of the weight or more."""
        xp = self.xp
        shares = self.wrench[:, self.feet, 2] / self.weight
        load = xp.where(xp.sin(self.clock()) > 0, shares[:, 0], shares[:, 1])
        return xp.clip(1 - 2 * load, 0.0, 1.0)
