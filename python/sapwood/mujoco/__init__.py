"""What programs that use mujoco.batch and mujoco.rollout import instead of them (docs/from_mujoco.md):

    from sapwood.mujoco import batch, rollout

MuJoCo itself stays the owner of models and data: such programs keep their `import mujoco`.
"""

from . import batch, rollout

__all__ = ["batch", "rollout"]
