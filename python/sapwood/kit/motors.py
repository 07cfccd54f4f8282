"""The torque curve of a DC motor, as a limit of drives that depends on speed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..batch import Batch


class DcMotor:
    """Call it before a step: the effort limit of each dof becomes stall (1 - |speed|/no_load), and at least a millionth
    of stall, because a limit must be > 0.

    The drives of the model stay implicit and see the limit as at the start of the step. A motor that brakes is limited
    by the same curve. `dofs` are the driven dofs; `stall` is in N m or N, `no_load` in rad/s or m/s.
    """

    def __init__(self, batch: Batch, dofs: ArrayLike, stall: ArrayLike, no_load: ArrayLike) -> None:
        self.batch, self.dofs = batch, np.asarray(dofs, np.intp)
        self.stall, self.no_load = np.asarray(stall, float), np.asarray(no_load, float)
        if not (np.all(self.stall > 0) and np.all(self.no_load > 0)):
            raise ValueError(f"stall is {stall!r} and no_load {no_load!r}; they must be > 0")
        self.limit = batch.expand("joint_effort_limit")

    def __call__(self) -> None:
        speed = np.abs(np.nan_to_num(self.batch._get("joint_qd")[:, self.dofs]))
        self.limit[:, self.dofs] = self.stall * np.clip(1 - speed / self.no_load, 1e-6, 1)
