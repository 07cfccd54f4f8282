"""rsl_rl: Runner(sapwood.rl.rsl_rl.VecEnv(env), config, ...)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import rsl_rl.env
import torch
from gymnasium.vector import AutoresetMode
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

from .. import dist
from ..files import replacing
from ..gym import BatchEnv


class VecEnv(rsl_rl.env.VecEnv):  # type: ignore[misc]
    """An environment with autoreset_mode SAME_STEP, as rsl_rl expects it. Its observations are the group `policy`,
    and what its critic sees, if it has one, the group `critic`: obs_groups={"actor": ["policy"], "critic": ["critic"]}.
    rsl_rl copies them into its storage, so `copy=False` of the environment is safe here."""

    def __init__(self, env: BatchEnv, cfg: dict[str, Any] | None = None) -> None:
        if env.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode is {env.autoreset_mode.name}; rsl_rl needs SAME_STEP")
        self.env, self.cfg, self.device = env, cfg or {}, torch.as_tensor(env.age).device
        self.num_envs, self.num_actions = env.num_envs, int(np.prod(env.single_action_space.shape or ()))
        self.max_episode_length = env.time_limit
        self.episode_length_buf = torch.as_tensor(env.age)  # the same memory: rsl_rl writes random ages into it
        self._observation = env.reset()[0]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "episode_length_buf" and name in self.__dict__:
            self.episode_length_buf.copy_(value)
        else:
            super().__setattr__(name, value)

    def get_observations(self) -> TensorDict:
        groups = {"policy": torch.as_tensor(self._observation)}
        if self.env.critic_size:
            groups["critic"] = torch.as_tensor(self.env.critic())
        return TensorDict(groups, [self.num_envs])

    def reset(self) -> tuple[TensorDict, dict[str, Any]]:
        self._observation = self.env.reset()[0]
        return self.get_observations(), {}

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        self._observation, reward, terminated, truncated, info = self.env.step(actions.detach())
        extras = {"time_outs": torch.as_tensor(truncated), "log": info.get("log", {})}
        done = torch.as_tensor(terminated | truncated).to(torch.long)
        return self.get_observations(), torch.as_tensor(reward).float(), done, extras


class Runner(OnPolicyRunner):  # type: ignore[misc]
    """rsl_rl's runner, also for several processes without GPUs (torchrun), and with checkpoints that resume bit for
    bit. rsl_rl itself averages gradients over processes with NCCL only; here it is gloo."""

    def _configure_multi_gpu(self) -> None:
        part = dist.part(10**8)
        self.gpu_world_size, self.gpu_global_rank, self.gpu_local_rank = part.size, part.rank, part.local_rank
        self.is_distributed, self.cfg["multi_gpu"] = part.size > 1, None
        if self.is_distributed:
            self.cfg["multi_gpu"] = {"global_rank": part.rank, "local_rank": part.local_rank, "world_size": part.size}
            if not torch.distributed.is_initialized():
                torch.distributed.init_process_group("gloo", rank=part.rank, world_size=part.size)

    def save_checkpoint(self, folder: str | os.PathLike[str], done: int) -> None:
        """Writes policy, optimiser, environment and random numbers of this process; `done` updates have been made."""
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"rank{self.gpu_global_rank}")
        self.env.env.save(f"{path}.npz")
        with replacing(f"{path}.pt") as file:
            self.save(file.name, {"random": torch.get_rng_state(), "done": done})

    def load_checkpoint(self, folder: str | os.PathLike[str]) -> int:
        """Continues where `save_checkpoint` was called, and returns the number of updates until then. The number of
        processes must be the same."""
        path = os.path.join(folder, f"rank{self.gpu_global_rank}")
        self.env._observation = self.env.env.load(f"{path}.npz")
        kept = self.load(f"{path}.pt")
        torch.set_rng_state(kept["random"])
        return int(kept["done"])
