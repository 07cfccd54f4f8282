"""rsl_rl: OnPolicyRunner(sapwood.rl.rsl_rl.VecEnv(env), config, ...)."""

from __future__ import annotations

from typing import Any

import numpy as np
import rsl_rl.env
import torch
from gymnasium.vector import AutoresetMode
from tensordict import TensorDict

from ..gym import BatchEnv


class VecEnv(rsl_rl.env.VecEnv):  # type: ignore[misc]
    """An environment with autoreset_mode SAME_STEP, as rsl_rl expects it. Its observations are the group `policy`."""

    def __init__(self, env: BatchEnv, cfg: dict[str, Any] | None = None) -> None:
        if env.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode is {env.autoreset_mode.name}; rsl_rl needs SAME_STEP")
        self.env, self.cfg, self.device = env, cfg or {}, torch.device("cpu")
        self.num_envs, self.num_actions = env.num_envs, int(np.prod(env.single_action_space.shape or ()))
        self.max_episode_length = env.time_limit
        self.episode_length_buf = torch.from_numpy(env.age)  # the same memory: rsl_rl writes random ages into it
        self._observation = env.reset()[0]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "episode_length_buf" and name in self.__dict__:
            self.episode_length_buf.copy_(value)
        else:
            super().__setattr__(name, value)

    def get_observations(self) -> TensorDict:
        return TensorDict({"policy": torch.from_numpy(self._observation.copy())}, [self.num_envs])

    def reset(self) -> tuple[TensorDict, dict[str, Any]]:
        self._observation = self.env.reset()[0]
        return self.get_observations(), {}

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        self._observation, reward, terminated, truncated, info = self.env.step(actions.detach().numpy())
        extras = {"time_outs": torch.from_numpy(truncated), "log": info.get("log", {})}
        done = torch.from_numpy(terminated | truncated).to(torch.long)
        return self.get_observations(), torch.from_numpy(reward).float(), done, extras
