"""Environments of torch tensors: env = Tensors(sapwood.gym.Quadruped(1024)); observation = env.reset(seed=0)."""

from __future__ import annotations

from typing import Any

import torch

from ..gym import BatchEnv


class Tensors:
    """An environment whose `reset` and `step` take and return torch tensors, on the CPU or on the GPU of its batch.

    Nothing is copied here: the tensors share the memory of the arrays that the environment returns, which are new in
    each step. Only with its `copy=False` an observation changes, in the step after the next.
    """

    def __init__(self, env: BatchEnv) -> None:
        self.env, self.num_envs = env, env.num_envs
        self.device = torch.as_tensor(env.age).device

    def reset(self, seed: int | None = None, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Resets all worlds, or the worlds of a mask [num_envs]."""
        options = None if mask is None else {"reset_mask": mask}
        return torch.as_tensor(self.env.reset(seed=seed, options=options)[0])

    def step(
        self, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Observation [n][k] f32, reward [n] f64, terminated and truncated [n], and the info of the environment."""
        *arrays, info = self.env.step(actions.detach())
        observation, reward, terminated, truncated = map(torch.as_tensor, arrays)
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        self.env.close()
