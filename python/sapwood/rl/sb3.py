"""Stable-Baselines3: PPO("MlpPolicy", sapwood.rl.sb3.VecEnv(env))."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnv as Base

from ..gym import BatchEnv


class VecEnv(Base):  # type: ignore[misc]
    """An environment with autoreset_mode SAME_STEP, as Stable-Baselines3 expects it."""

    def __init__(self, env: BatchEnv) -> None:
        if env.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset_mode is {env.autoreset_mode.name}; Stable-Baselines3 needs SAME_STEP")
        if env.arrays.name != "numpy":
            raise ValueError(f"arrays is {env.arrays.name!r}; Stable-Baselines3 needs 'numpy'")
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self._actions = np.zeros(env.action_space.shape or (), np.float32)
        self._return = np.zeros(env.num_envs)
        self._none: list[dict[str, Any]] = [{} for _ in range(env.num_envs)]

    def reset(self) -> Any:
        self._return[:] = 0
        seed = self._seeds[0]
        self._reset_seeds()
        return np.array(self.env.reset(seed=seed)[0], copy=not self.env.copy)

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions[:] = actions

    def step_wait(self) -> Any:
        age = self.env.age + 1
        observation, reward, terminated, truncated, info = self.env.step(self._actions)
        self._return += reward
        infos, done = list(self._none), terminated | truncated
        for w in np.nonzero(done)[0]:
            infos[w] = {
                "terminal_observation": info["final_obs"][w],
                "TimeLimit.truncated": bool(truncated[w]),
                "episode": {"r": float(self._return[w]), "l": int(age[w])},
            }
        self._return[done] = 0
        return np.array(observation, copy=not self.env.copy), reward.astype(np.float32), done, infos

    def close(self) -> None:
        self.env.close()

    # ---- one object stands for all environments ----

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.env, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        return [getattr(self.env, method_name)(*args, **kwargs)] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * len(list(self._get_indices(indices)))
