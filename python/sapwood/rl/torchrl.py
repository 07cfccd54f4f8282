"""TorchRL: env = sapwood.rl.torchrl.Env(env); env.rollout(100)."""

from __future__ import annotations

from typing import Any

from gymnasium.vector import AutoresetMode
from torchrl.envs import GymWrapper

from ..gym import BatchEnv
from ..xp import copy


class Env(GymWrapper):  # type: ignore[misc]
    """TorchRL's GymWrapper over an environment with autoreset_mode SAME_STEP. A rollout keeps its observations, so they
    must be copies: with `copy=False` they are copied here."""

    def __init__(self, env: BatchEnv, **settings: Any) -> None:
        if env.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode is {env.autoreset_mode.name}; TorchRL needs SAME_STEP")
        super().__init__(env, **settings)

    def read_obs(self, observations: Any) -> Any:
        return super().read_obs(observations if self._env.copy else copy(observations))
