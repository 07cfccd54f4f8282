"""Conversion between MuJoCo's coordinates and ours.

| | MuJoCo | here |
| --- | --- | --- |
| quaternion | w x y z | x y z w |
| velocity of a free joint | [v of the origin, world axes ; omega, body axes] | [v of the COM ; omega], world axes |
| velocity of a ball joint | omega, axes of the child | omega, axes of frame F |

Everything else is identical: coordinates and dofs keep MuJoCo's order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .xp import cast, module

Floats = NDArray[np.float64]


def quat_from_wxyz(q: ArrayLike) -> Floats:
    return np.roll(np.asarray(q, np.float64), -1, axis=-1)


def quat_to_wxyz(q: ArrayLike) -> Floats:
    return np.roll(np.asarray(q, np.float64), 1, axis=-1)


def quat_matrix(q: Any) -> Any:
    """[..., 3, 3] rotation matrix of a quaternion x y z w; tensors give a tensor."""
    xp, q = module(q), cast(q, "f64")
    unit = q / xp.sqrt(xp.sum(q * q, -1, keepdims=True))
    x, y, z, w = (unit[..., i] for i in range(4))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return xp.stack([xp.stack(row, -1) for row in rows], -2)


def quat_mul(a: ArrayLike, b: ArrayLike) -> Floats:
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    vector = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    return np.append(vector, a[..., 3:] * b[..., 3:] - np.sum(a[..., :3] * b[..., :3], axis=-1, keepdims=True), axis=-1)


def quat_conjugate(q: ArrayLike) -> Floats:
    return np.asarray(q, np.float64) * [-1, -1, -1, 1]


def axis_turn(axis: ArrayLike, angle: float) -> Floats:
    return np.append(np.asarray(axis, np.float64) * np.sin(angle / 2), np.cos(angle / 2))


def pose(position: ArrayLike = (0, 0, 0), quat: ArrayLike = (0, 0, 0, 1)) -> Floats:
    return np.concatenate([np.asarray(position, np.float64), np.asarray(quat, np.float64)])


def pose_mul(a: ArrayLike, b: ArrayLike) -> Floats:
    """The product a b: applies b first, then a."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return pose(a[:3] + quat_matrix(a[3:]) @ b[:3], quat_mul(a[3:], b[3:]))


def _turn(matrix: Floats, vector: Floats, back: bool = False) -> Floats:
    out: Floats = np.einsum("...ji,...j->...i" if back else "...ij,...j->...i", matrix, vector)
    return out


@dataclass
class Coordinates:
    """The free and ball joints of a model: (first coordinate, first dof, ...)."""

    free: list[tuple[int, int, Floats]] = field(default_factory=list)  # and the body's centre of mass
    ball: list[tuple[int, int]] = field(default_factory=list)

    def joint_q(self, qpos: ArrayLike) -> Floats:
        """joint_q for MuJoCo's qpos, [..., nq]."""
        q = np.array(qpos, np.float64)
        for at in self._quaternions():
            q[..., at : at + 4] = quat_from_wxyz(q[..., at : at + 4])
        return q

    def qpos(self, joint_q: ArrayLike) -> Floats:
        q = np.array(joint_q, np.float64)
        for at in self._quaternions():
            q[..., at : at + 4] = quat_to_wxyz(q[..., at : at + 4])
        return q

    def joint_qd(self, joint_q: ArrayLike, qvel: ArrayLike) -> Floats:
        """joint_qd for MuJoCo's qvel at joint_q (ours), [..., nv]."""
        q, v = np.asarray(joint_q, np.float64), np.array(qvel, np.float64)
        for at, dof, com in self.free:
            rotation = quat_matrix(q[..., at + 3 : at + 7])
            omega = _turn(rotation, v[..., dof + 3 : dof + 6])
            v[..., dof : dof + 3] += np.cross(omega, _turn(rotation, com))
            v[..., dof + 3 : dof + 6] = omega
        for at, dof in self.ball:
            v[..., dof : dof + 3] = _turn(quat_matrix(q[..., at : at + 4]), v[..., dof : dof + 3])
        return v

    def qvel(self, joint_q: ArrayLike, joint_qd: ArrayLike) -> Floats:
        q, v = np.asarray(joint_q, np.float64), np.array(joint_qd, np.float64)
        for at, dof, com in self.free:
            rotation, omega = quat_matrix(q[..., at + 3 : at + 7]), v[..., dof + 3 : dof + 6].copy()
            v[..., dof : dof + 3] -= np.cross(omega, _turn(rotation, com))
            v[..., dof + 3 : dof + 6] = _turn(rotation, omega, back=True)
        for at, dof in self.ball:
            v[..., dof : dof + 3] = _turn(quat_matrix(q[..., at : at + 4]), v[..., dof : dof + 3], back=True)
        return v

    def joint_f(self, joint_q: ArrayLike, qfrc: ArrayLike) -> Floats:
        """joint_f for MuJoCo's generalised force: the same power for all velocities."""
        q, f = np.asarray(joint_q, np.float64), np.array(qfrc, np.float64)
        for at, dof, com in self.free:
            rotation = quat_matrix(q[..., at + 3 : at + 7])
            torque = _turn(rotation, f[..., dof + 3 : dof + 6])
            f[..., dof + 3 : dof + 6] = torque - np.cross(_turn(rotation, com), f[..., dof : dof + 3])
        for at, dof in self.ball:
            f[..., dof : dof + 3] = _turn(quat_matrix(q[..., at : at + 4]), f[..., dof : dof + 3])
        return f

    def internal(self, joint_q: ArrayLike, nv: int) -> Floats:
        """T [nv][nv] of one state: T qvel is the velocity in the internal order of free_motion. M_mujoco = T' A T."""
        q, out = np.asarray(joint_q, np.float64), np.eye(nv)
        for at, dof, _ in self.free:
            out[dof : dof + 6, dof : dof + 6] = 0
            out[dof : dof + 3, dof + 3 : dof + 6] = quat_matrix(q[at + 3 : at + 7])
            out[dof + 3 : dof + 6, dof : dof + 3] = np.eye(3)
        for at, dof in self.ball:
            out[dof : dof + 3, dof : dof + 3] = quat_matrix(q[at : at + 4])
        return out

    def _quaternions(self) -> list[int]:
        return [at + 3 for at, _, _ in self.free] + [at for at, _ in self.ball]
