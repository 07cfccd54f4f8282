"""Pushes: sudden changes of the velocity of a robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..batch import Batch, random_keys
from .distributions import Distribution, Keys


class Pushes:
    """Every `period` steps of its episode a world's `dofs` (default: the linear velocity of a free base in x and y)
    change by random speeds in m/s or rad/s."""

    def __init__(self, batch: Batch, distribution: Distribution, period: int, dofs: tuple[int, ...] = (0, 1)) -> None:
        if period < 1:
            raise ValueError(f"period is {period}; it must be >= 1")
        self.batch, self.distribution, self.period, self.dofs = batch, distribution, period, np.array(dofs, np.intp)

    def __call__(self, age: NDArray[np.int64], keys: Keys) -> None:
        """Before a step. `keys` are those of the episodes."""
        due = np.nonzero((age > 0) & (age % self.period == 0))[0]
        if len(due):
            change = self.distribution.draw(random_keys(keys[due], age[due]), len(self.dofs))
            velocity = self.batch._get("joint_qd")
            index = np.ix_(due, self.dofs)
            self.batch._put("joint_qd", index, velocity[index] + change)
