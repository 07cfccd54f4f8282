"""Pushes: sudden changes of the velocity of a robot."""

from __future__ import annotations

from ..batch import Batch
from ..keys import random_keys
from ..xp import NUMPY, Array, Numpy, Torch, indices, put
from .distributions import Distribution, Keys


class Pushes:
    """Every `period` steps of its episode a world's `dofs` (default: the linear velocity of a free base in x and y)
    change by random speeds in m/s or rad/s."""

    def __init__(
        self,
        batch: Batch,
        distribution: Distribution,
        period: int,
        dofs: tuple[int, ...] = (0, 1),
        arrays: Numpy | Torch = NUMPY,
    ) -> None:
        if period < 1:
            raise ValueError(f"period is {period}; it must be >= 1")
        self.distribution, self.period = distribution, period
        self.velocity, self.dofs = arrays.live(batch, "joint_qd"), arrays.array(dofs, "i64")

    def __call__(self, age: Array, keys: Keys) -> None:
        """Before a step. `keys` are the keys of the episodes."""
        due = indices((age > 0) & (age % self.period == 0))
        if len(due):
            change = self.distribution.draw(random_keys(keys[due], age[due]), len(self.dofs))
            index = (due[:, None], self.dofs)
            put(self.velocity, index, self.velocity[index] + change)
