"""A gripper with two fingers that lifts a cube to a commanded height."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..batch import FAILED, Batch, random_keys, random_units
from ..conventions import quat_matrix
from ..kit import Rewards, Uniform
from ..shipped import scene
from .env import BatchEnv, Floats

PALM, LEFT, RIGHT = 0, 1, 2  # bodies, and their dofs
HALF = 0.03  # m, half the width of the cube


class Gripper(BatchEnv):
    """Fingers of a palm that moves up and down grasp a cube and lift it to a height that each episode draws.

    The first action moves the target of the palm by up to 0.5 m/s, the second opens (-1) and closes (1) the fingers.
    The palm starts up to 0.08 m above the place where the fingers surround the cube, and the cube is up to 15 mm off
    its place. Observations, all of order 1:

    | 0, 1, 2 | coordinate, target and velocity of the palm |
    | 3..6 | coordinates of the fingers times 20; their velocities |
    | 7..9 | position of the cube relative to the point between the fingers, times 20 |
    | 10..15 | x and z axes of the cube |
    | 16..18 | velocity of the cube |
    | 19 | height that is missing, times 5 |
    | 20, 21 | force on each finger towards the outside, divided by 20 N |
    | 22, 23 | the last action |

    Reward per step: 1 at the goal, half of the way that is done, a quarter for fingers at the cube, minus changes of
    the action; -1 if the cube is more than 0.3 m away. info["log"] has the mean of each term, and `success`: the part
    of the episodes that end within 20 mm of the goal. An episode is truncated after `time_limit` steps.
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
        **batch: Any,
    ) -> None:
        made = Batch(scene("gripper"), num_envs, **batch)
        super().__init__(made, 24, 2, steps, time_limit, autoreset_mode, dumps)
        self.dt, self.noise = steps * self.batch.dt, noise
        self.goal, self.target = np.zeros(num_envs), np.zeros(num_envs)
        self.action, self.last_action = np.zeros((num_envs, 2)), np.zeros((num_envs, 2))
        self.wrench = self.batch.body_contact_wrench  # an access starts the recording
        terms = {"goal": 1.0, "lift": 0.5, "reach": 0.25, "jerk": -0.05}
        self.rewards = Rewards(num_envs, 1.0, **{name: (x, getattr(self, f"term_{name}")) for name, x in terms.items()})

    def restart(self, worlds: NDArray[np.intp], random: NDArray[np.uint64]) -> None:
        x = random_units(random, 4)
        q = self.batch.joint_q
        q[worlds, PALM] = 0.04 * self.noise * (1 + x[:, 0])
        q[worlds, 3] += 0.015 * self.noise * x[:, 1]
        q[worlds, 4] += 0.01 * self.noise * x[:, 2]
        half_turn = 0.1 * self.noise * x[:, 3]  # of the cube about z: up to 0.2 rad
        q[worlds, 8], q[worlds, 9] = np.sin(half_turn), np.cos(half_turn)
        self.goal[worlds] = Uniform(*self.heights).draw(random_keys(random, 1), 1)[:, 0]
        self.target[worlds] = q[worlds, PALM]
        self.action[worlds] = self.last_action[worlds] = 0
        self.batch.joint_target_pos[worlds, :3] = np.stack([self.target[worlds]] + 2 * [0 * half_turn], axis=1)

    def act(self, actions: Floats) -> None:
        self.last_action[:] = self.action
        self.action[:] = actions
        self.target[:] = np.clip(self.target + 0.5 * self.dt * actions[:, 0], 0.0, 0.4)
        goals = self.batch.joint_target_pos
        goals[:, PALM] = self.target
        goals[:, LEFT] = goals[:, RIGHT] = 0.025 * (1 + actions[:, 1])

    def _relative(self) -> Floats:
        """[n][3] m, the cube relative to the point between the fingers."""
        body = self.batch.body_q[:, :, :3].astype(np.float64)
        return np.asarray(body[:, 3] - (body[:, LEFT] + body[:, RIGHT]) / 2)

    def observe(self, out: NDArray[np.float32]) -> None:
        q, qd = self.batch.joint_q.astype(np.float64), self.batch.joint_qd.astype(np.float64)
        axes = quat_matrix(q[:, 6:10])
        outwards = self.wrench[:, [LEFT, RIGHT], 0] * [-1.0, 1.0]
        parts: list[Any] = [
            np.stack([q[:, PALM], self.target, qd[:, PALM]], axis=1),
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
        np.concatenate(parts, axis=1, out=out, casting="same_kind")

    # ---- rewards ----

    def judge(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        self._cube = self.batch.joint_q[:, 3:6].astype(np.float64)
        lost = (np.abs(self._cube[:, :2]) > 0.3).any(axis=1) | ((self.batch.status & FAILED) != 0)
        return np.where(lost, -1.0, self.rewards()), lost

    def term_goal(self) -> Floats:
        return np.asarray(np.exp(-(((self._cube[:, 2] - self.goal) / 0.05) ** 2)))

    def term_lift(self) -> Floats:
        return np.asarray(np.clip((self._cube[:, 2] - HALF) / (self.goal - HALF), 0.0, 1.0))

    def term_reach(self) -> Floats:
        return np.asarray(np.exp(-np.sum(self._relative() ** 2, axis=1) / 0.03**2))

    def term_jerk(self) -> Floats:
        return np.asarray(np.mean((self.action - self.last_action) ** 2, axis=1))

    def report(self, ended: NDArray[np.bool_]) -> Mapping[str, float]:
        near = np.abs(self._cube[ended, 2] - self.goal[ended]) < 0.02
        return {**self.rewards.log(ended), "success": float(np.mean(near))}
