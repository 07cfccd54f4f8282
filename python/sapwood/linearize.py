"""Linearisation of a step: x' = f(x, u) becomes dx' = A dx + B du, for every world of a batch.

A state has 2 nv tangent coordinates, [dq ; dqd], in the public order of dofs. dq of a quaternion is a rotation vector,
exp(dq) q: in world axes for a free joint, in the axes of the joint frame for a ball joint. The differences are central,

    column i of A = (f(x + eps e_i, u) - f(x - eps e_i, u)) / (2 eps)

and all perturbed states are worlds of one batch, which computes in f64 and solves to 1e-12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _layout

if TYPE_CHECKING:
    from .batch import Batch
    from .model import Model

Real = NDArray[np.float64]
CONTROLS = ("joint_f", "joint_target_pos", "joint_target_vel", "joint_act")
WORLDS = 4096  # of the batch of perturbed states, at least the perturbations of one world
EXACT: dict[str, Any] = {
    "free_motion_precision": "fp64",
    "contact_solve_precision": "fp64",
    "linear_solve_precision": "fp64",
    "contact_weight_precision": "fp64",
    "contact_geometry_f64": "true",
    "optimality_rel_tol": 1e-12,
    "cost_rel_tol": 0,
    "cost_abs_tol": 0,
    "sleep_steps": 0,
}


def quat_mul(a: Real, b: Real) -> Real:
    """a b, (x, y, z, w)."""
    u, v, s, t = a[..., :3], b[..., :3], a[..., 3:], b[..., 3:]
    vector = s * v + t * u + np.cross(u, v)
    return np.concatenate([vector, s * t - np.sum(u * v, -1, keepdims=True)], -1)


def quat_exp(w: Real) -> Real:
    """The rotation by the vector w."""
    half = 0.5 * np.linalg.norm(w, axis=-1, keepdims=True)
    return np.concatenate([0.5 * np.sinc(half / np.pi) * w, np.cos(half)], -1)


def quat_log(q: Real) -> Real:
    """The rotation vector of q, of length up to pi."""
    q = np.where(q[..., 3:] < 0, -q, q)
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., 3:])
    return np.where(sine > 0, angle / np.where(sine > 0, sine, 1), 2) * q[..., :3]


class Tangent:
    """The tangent space of the coordinates of a model."""

    def __init__(self, model: Model) -> None:
        kinds = _layout.ENUMS["SapJointType"]
        self.plain: list[tuple[int, int]] = []  # (coordinate, dof)
        self.turns: list[tuple[int, int]] = []  # (first coordinate of a quaternion, first of its dofs)
        for kind, q, v, end in zip(
            model.joint_type, model.joint_q_start, model.joint_qd_start, model.joint_qd_start[1:]
        ):
            turning = kind in (kinds["SAP_JOINT_FREE"], kinds["SAP_JOINT_BALL"])
            straight = int(end - v) - 3 * turning
            self.plain += [(int(q) + i, int(v) + i) for i in range(straight)]
            self.turns += [(int(q) + straight, int(v) + straight)] if turning else []

    def add(self, q: Real, change: Real) -> Real:
        """q moved by a tangent vector."""
        out = np.array(q)
        for i, k in self.plain:
            out[..., i] += change[..., k]
        for i, k in self.turns:
            out[..., i : i + 4] = quat_mul(quat_exp(change[..., k : k + 3]), q[..., i : i + 4])
        return out

    def subtract(self, a: Real, b: Real) -> Real:
        """The tangent vector from b to a."""
        out = np.zeros((*a.shape[:-1], len(self.plain) + 3 * len(self.turns)))
        for i, k in self.plain:
            out[..., k] = a[..., i] - b[..., i]
        for i, k in self.turns:
            back = b[..., i : i + 4] * np.array([-1.0, -1.0, -1.0, 1.0])
            out[..., k : k + 3] = quat_log(quat_mul(a[..., i : i + 4], back))
        return out


def perturbed(state: dict[str, NDArray[Any]], tangent: Tangent, control: str, eps: float) -> dict[str, NDArray[Any]]:
    """For each world, 3 nv rows moved by +eps along q, qd and the control, then 3 nv rows moved by -eps."""
    worlds, nv = state["joint_qd"].shape
    moves = eps * np.concatenate([np.eye(3 * nv), -np.eye(3 * nv)])
    out = {name: np.repeat(values.astype(np.float64), len(moves), axis=0) for name, values in state.items()}
    moves = np.tile(moves, (worlds, 1))
    out["joint_q"] = tangent.add(out["joint_q"], moves[:, :nv])
    out["joint_qd"] += moves[:, nv : 2 * nv]
    out[control] += moves[:, 2 * nv :]
    return out


def linearize(batch: Batch, inner: Batch, eps: float, h: float, control: str, n: int = 1) -> tuple[Real, Real]:
    """A and B of every world; `inner` is the batch of perturbed states, whose size is a multiple of 6 nv."""
    from .batch import CACHE, CONTROL, PARAMETERS, STATE

    inputs = {*STATE, *CONTROL, *CACHE, *PARAMETERS, "ctrl", "act"}
    nv, tangent = batch.model.num_dofs, Tangent(batch.model)
    each = inner.num_worlds // (6 * nv)
    out = np.empty((batch.num_worlds, 2 * nv, 3 * nv))
    for first in range(0, batch.num_worlds, each):
        worlds = np.arange(first, min(first + each, batch.num_worlds))
        rows = np.arange(len(worlds) * 6 * nv)
        state = {name: x for name, x in batch.get_state(worlds).items() if name in inputs}
        inner.set_state(perturbed(state, tangent, control, eps), rows)
        inner.step(n, h)
        # ends: [world][sign][column][...]
        q, qd = (inner._get(name)[rows].reshape(len(worlds), 2, 3 * nv, -1) for name in ("joint_q", "joint_qd"))
        change = np.concatenate([tangent.subtract(q[:, 0], q[:, 1]), qd[:, 0] - qd[:, 1]], -1)
        failed = inner._get("status")[rows].reshape(len(worlds), -1) & _layout.BITS["SAP_WORLD_FAILED"]
        change[failed.any(1)] = np.nan
        out[worlds] = change.swapaxes(1, 2) / (2 * eps)
    return out[..., : 2 * nv], out[..., 2 * nv :]
