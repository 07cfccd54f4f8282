"""One world of a task as a gymnasium.Env: gymnasium.make("sapwood/QuadrupedVelocity-v0"). To train, take many."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from .env import BatchEnv
from .gripper import Gripper
from .legged import Humanoid, Quadruped

Observation = NDArray[np.float32]


class Single(gymnasium.Env[Observation, NDArray[np.float32]]):
    """A task with one world."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, env: BatchEnv) -> None:
        self.env, self.render_mode = env, None
        self.observation_space, self.action_space = env.single_observation_space, env.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Any]:
        super().reset(seed=seed)
        observation, info = self.env.reset(seed=seed)
        return observation[0].copy(), info

    def step(self, action: ArrayLike) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(np.asarray(action)[None])
        return observation[0].copy(), float(reward[0]), bool(terminated[0]), bool(truncated[0]), info

    def close(self) -> None:
        self.env.close()


def quadruped(render_mode: None = None, **settings: Any) -> Single:
    return Single(Quadruped(1, autoreset_mode=AutoresetMode.DISABLED, threads=1, **settings))


def humanoid(render_mode: None = None, **settings: Any) -> Single:
    return Single(Humanoid(1, autoreset_mode=AutoresetMode.DISABLED, threads=1, **settings))


def gripper(render_mode: None = None, **settings: Any) -> Single:
    return Single(Gripper(1, autoreset_mode=AutoresetMode.DISABLED, threads=1, **settings))
