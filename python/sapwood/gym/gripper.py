"""A gripper with two fingers that lifts a cube to a commanded height."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.vector import AutoresetMode

from ..batch import FAILED, Batch
from ..conventions import quat_matrix
from ..keys import random_keys, random_units
from ..kit import Rewards, Uniform
from ..shipped import scene
from ..xp import Array, cast, join_columns, put
from .env import BatchEnv, Floats

PALM, LEFT, RIGHT = 0, 1, 2  # bodies, and their dofs
HALF = 0.03  # m, half the width of the cube
GRIP = 10.0  # N, of each finger: a firm grasp. The cube weighs 2 N, and a finger presses with up to 20 N
TIPS = 0.04  # m, how far the place of the cube is below the middle of the fingers: they cannot go deeper


class Gripper(BatchEnv):
    """Fingers of a palm that moves up and down grasp a cube and lift it to a height that each episode draws.

    The first action moves the target of the palm by up to 0.5 m/s, the second opens (-1) and closes (1) the fingers.
    The palm starts up to 0.08 m above the place where the fingers surround the cube, and the cube is up to 15 mm off
    its place. Observations, all of order 1:

    | 0, 1, 2 | coordinate, target and velocity of the palm |
    | 3..6 | coordinates of the fingers times 20; their velocities |
    | 7..9 | position of the cube relative to the point between the finger tips, times 20 |
    | 10..15 | x and z axes of the cube |
    | 16..18 | velocity of the cube |
    | 19 | height that is missing, times 5 |
    | 20, 21 | force on each finger towards the outside, divided by 20 N |
    | 22, 23 | the last action |

    Reward per step: 1 at the goal, half of the way that is done, a quarter for fingers at the cube, a quarter if both
    press on it, which leads to the lift; minus changes of the action and the speed of the palm; -1 if the cube is more
    than 0.3 m away. info["log"] has the mean of each term, and `success`: the part of the episodes that end within
    20 mm of the goal. An episode is truncated after `time_limit` steps.
    """

    kept = ("goal", "target", "action", "last_action")
    heights = (0.1, 0.3)  # m, of the centre of the cube

    def __init__(
        self,
        num_envs: int,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        steps: int = 4,
        time_limit: int = 150,
        noise: float = 1.0,
        dumps: Any = None,
        arrays: str | None = None,
        copy: bool = True,
        **batch: Any,
    ) -> None:
        made = Batch(scene("gripper"), num_envs, **batch)
        super().__init__(made, 24, 2, steps, time_limit, autoreset_mode, dumps, arrays=arrays, copy=copy)
        self.dt, self.noise = steps * self.batch.dt, noise
        self.goal, self.target = (self.arrays.zeros((num_envs,), "f64") for _ in range(2))
        self.action, self.last_action = (self.arrays.zeros((num_envs, 2), "f64") for _ in range(2))
        names = ("joint_q", "joint_qd", "body_q", "joint_target_pos", "body_contact_wrench")
        # an access to the wrench starts its recording
        self.q, self.qd, self.bodies, self.goals, self.wrench = (self.arrays.live(made, name) for name in names)
        self.outwards, self.tips = self.arrays.array([-1.0, 1.0], "f64"), self.arrays.array([0.0, 0.0, TIPS], "f64")
        weights = {"goal": 1.0, "lift": 0.5, "reach": 0.25, "grasp": 0.25, "jerk": -0.05, "speed": -0.05}
        terms = {name: (x, getattr(self, f"term_{name}")) for name, x in weights.items()}
        self.rewards = Rewards(num_envs, 1.0, self.arrays, **terms)

    def restart(self, worlds: Array, random: Array) -> None:
        xp, q, x = self.xp, self.q, random_units(random, 4)
        half_turn = 0.1 * self.noise * x[:, 3]  # of the cube about z: up to 0.2 rad
        put(q, (worlds, PALM), 0.04 * self.noise * (1 + x[:, 0]))
        put(q, (worlds, 3), q[worlds, 3] + 0.015 * self.noise * x[:, 1])
        put(q, (worlds, 4), q[worlds, 4] + 0.01 * self.noise * x[:, 2])
        put(q, (worlds, 8), xp.sin(half_turn))
        put(q, (worlds, 9), xp.cos(half_turn))
        self.goal[worlds] = Uniform(*self.heights).draw(random_keys(random, 1), 1)[:, 0]
        put(self.target, worlds, cast(q[worlds, PALM], "f64"))
        self.action[worlds] = self.last_action[worlds] = 0
        put(self.goals, (worlds, slice(3)), xp.stack([self.target[worlds]] + 2 * [0 * half_turn], 1))

    def act(self, actions: Floats) -> None:
        self.last_action[:] = self.action
        self.action[:] = actions
        self.target[:] = self.xp.clip(self.target + 0.5 * self.dt * actions[:, 0], 0.0, 0.4)
        self.goals[:, PALM] = self.target
        self.goals[:, LEFT] = self.goals[:, RIGHT] = 0.025 * (1 + actions[:, 1])

    def _relative(self) -> Floats:
        """[n][3] m, the cube relative to the point between the finger tips."""
        body = cast(self.bodies[:, :, :3], "f64")
        return body[:, 3] - (body[:, LEFT] + body[:, RIGHT]) / 2 + self.tips

    def _presses(self) -> Floats:
        """[n][2] N, what pushes each finger outwards."""
        return self.wrench[:, LEFT : RIGHT + 1, 0] * self.outwards

    def observe(self, out: Array) -> None:
        q, qd = cast(self.q, "f64"), cast(self.qd, "f64")
        axes = quat_matrix(q[:, 6:10])
        outwards = self._presses()
        parts: list[Any] = [
            self.xp.stack([q[:, PALM], self.target, qd[:, PALM]], 1),
            20 * q[:, 1:3],
            qd[:, 1:3],
            20 * self._relative(),
            axes[:, :, 0],
            axes[:, :, 2],
            qd[:, 3:6],
            5 * (self.goal - q[:, 5])[:, None],
            outwards / 20,
            self.action,
        ]
        join_columns(parts, out)

    # ---- rewards ----

    def judge(self) -> tuple[Array, Array]:
        self._cube = cast(self.q[:, 3:6], "f64")
        lost = (abs(self._cube[:, :2]) > 0.3).any(1) | ((self.status & FAILED) != 0)
        return self.xp.where(lost, -1.0, self.rewards()), lost

    def term_goal(self) -> Floats:
        return self.xp.exp(-(((self._cube[:, 2] - self.goal) / 0.05) ** 2))

    def term_lift(self) -> Floats:
        return self.xp.clip((self._cube[:, 2] - HALF) / (self.goal - HALF), 0.0, 1.0)

    def term_reach(self) -> Floats:
        return self.xp.exp(-(self._relative() ** 2).sum(1) / 0.04**2)

    def term_grasp(self) -> Floats:
        presses = self._presses()
        weaker = self.xp.minimum(presses[:, 0], presses[:, 1])
        return self.term_reach() * self.xp.clip(weaker / GRIP, 0.0, 1.0)

    def term_speed(self) -> Floats:
        """Without it the palm pushes against its lower end for ever, and exploration never lifts it."""
        return self.action[:, 0] ** 2

    def term_jerk(self) -> Floats:
        return ((self.action - self.last_action) ** 2).mean(1)

    def report(self, ended: Array) -> Mapping[str, float]:
        near = abs(self._cube[ended, 2] - self.goal[ended]) < 0.02
        return {**self.rewards.log(ended), "success": float(cast(near, "f64").mean())}
