"""MuJoCo's controls: converts `ctrl` to joint_f and to the targets of the drives.

An actuator on a joint applies the force  gear clip(g u + b0 + b1 gear q + b2 gear v)  with the control u. Without b1
and b2 it is a motor, and its force is written to joint_f. Otherwise it is a drive with ke = -b1 gear^2 and
kd = -b2 gear^2, and u sets its target. Several actuators on one dof add up.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass
class Actuation:
    """Linear maps of the clipped controls, [nu]."""

    names: list[str]
    ctrl_range: Floats  # [nu][2]
    gain: Floats  # [nu] motors: force = clip(gain u + bias, force_range)
    bias: Floats
    force_range: Floats  # [nu][2]
    motor: Floats  # [nu][nv] gear: joint_f = force @ motor, clipped to joint_range
    joint_range: Floats  # [nv][2]
    position: Floats  # [nu][nv] joint_target_pos = u @ position + position0
    position0: Floats  # [nv]
    velocity: Floats  # [nu][nv] joint_target_vel = u @ velocity + velocity0
    velocity0: Floats
    used: dict[str, NDArray[np.intp]] = field(init=False)  # dofs written in each array

    def __post_init__(self) -> None:
        maps = {"joint_f": self.motor, "joint_target_pos": self.position, "joint_target_vel": self.velocity}
        self.used = {name: np.nonzero(np.any(matrix != 0, axis=0))[0] for name, matrix in maps.items()}

    @property
    def num_controls(self) -> int:
        return len(self.ctrl_range)

    def arrays(self, ctrl: ArrayLike) -> dict[str, Floats]:
        """{array: [..., dofs in used[array]]} for controls [..., nu]."""
        u = np.clip(np.asarray(ctrl, np.float64), self.ctrl_range[:, 0], self.ctrl_range[:, 1])
        out = {}
        dofs = self.used["joint_f"]
        if len(dofs):
            force = np.clip(u * self.gain + self.bias, self.force_range[:, 0], self.force_range[:, 1])
            out["joint_f"] = np.clip(force @ self.motor[:, dofs], *self.joint_range[dofs].T)
        dofs = self.used["joint_target_pos"]
        if len(dofs):
            out["joint_target_pos"] = u @ self.position[:, dofs] + self.position0[dofs]
        dofs = self.used["joint_target_vel"]
        if len(dofs):
            out["joint_target_vel"] = u @ self.velocity[:, dofs] + self.velocity0[dofs]
        return out
