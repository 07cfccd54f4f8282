"""Reinforcement learning: gymnasium VectorEnvs over a batch (docs/tasks.md).

env = sapwood.gym.Quadruped(num_envs=1024)
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from ..registration import register
from .env import BatchEnv
from .gripper import Gripper
from .legged import Humanoid, Legged, Quadruped

register()

__all__ = ["BatchEnv", "Gripper", "Humanoid", "Legged", "Quadruped"]
