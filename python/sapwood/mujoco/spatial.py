"""Rotations and spatial vectors of many simulations, in MuJoCo's conventions: quaternions are w x y z, spatial vectors
[angular ; linear]."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..conventions import Floats

SMALL = 1e-15  # MuJoCo's least value


def dot(a: Any, b: Any) -> Floats:
    """Inner products of the last axis."""
    return np.asarray(np.einsum("...i,...i->...", a, b))


def times(matrix: Any, vector: Any) -> Floats:
    return np.asarray(np.einsum("...ij,...j->...i", matrix, vector))


def times_transposed(matrix: Any, vector: Any) -> Floats:
    return np.asarray(np.einsum("...ji,...j->...i", matrix, vector))


def cross(a: Any, b: Any) -> Floats:
    """np.cross of vectors of three, without its overhead."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], -1)


def unit_quat(q: Any) -> Floats:
    """Unit quaternions; 1 0 0 0 for those without length."""
    q = np.asarray(q, np.float64)
    length = np.sqrt(dot(q, q))[..., None]
    return np.where(length < SMALL, [1.0, 0, 0, 0], q / np.maximum(length, SMALL))


def quat_times(a: Any, b: Any) -> Floats:
    w, x, y, z = (a[..., i] for i in range(4))
    s, i, j, k = (b[..., n] for n in range(4))
    parts = [
        w * s - x * i - y * j - z * k,
        w * i + x * s + y * k - z * j,
        w * j - x * k + y * s + z * i,
        w * k + x * j - y * i + z * s,
    ]
    return np.stack(parts, -1)


def quat_of_turn(axis: Any, angle: Any) -> Floats:
    half = np.asarray(angle)[..., None] / 2
    axis = np.broadcast_to(axis, (*half.shape[:-1], 3))
    return np.concatenate([np.cos(half), np.sin(half) * axis], -1)


def conjugate(q: Any) -> Floats:
    return np.asarray(q) * [1, -1, -1, -1]


def rotation_vector(q: Any) -> Floats:
    """The rotation vector of unit quaternions, of an angle in (-pi, pi]."""
    length = np.sqrt(dot(q[..., 1:], q[..., 1:]))[..., None]
    angle = 2 * np.arctan2(length, q[..., :1])
    angle = np.where(angle > np.pi, angle - 2 * np.pi, angle)
    return np.where(length < SMALL, 0.0, q[..., 1:] / np.maximum(length, SMALL) * angle)


def matrix_of(q: Any) -> Floats:
    """[..., 3, 3] the matrices of unit quaternions."""
    w, x, y, z = (q[..., i] for i in range(4))
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def cross_motion(v: Any, s: Any) -> Floats:
    """The rate of a motion vector s that moves with velocity v."""
    return np.concatenate(
        [cross(v[..., :3], s[..., :3]), cross(v[..., :3], s[..., 3:]) + cross(v[..., 3:], s[..., :3])], -1
    )


def cross_force(v: Any, f: Any) -> Floats:
    """The rate of a force vector f that moves with velocity v."""
    return np.concatenate(
        [cross(v[..., :3], f[..., :3]) + cross(v[..., 3:], f[..., 3:]), cross(v[..., :3], f[..., 3:])], -1
    )


def inertia_times(inertia: Any, v: Any) -> Floats:
    """The momentum [..., 6] of an inertia in MuJoCo's ten numbers (I by xx yy zz xy xz yz, m d, m)."""
    w, u, d = v[..., :3], v[..., 3:], inertia[..., 6:9]
    xx, yy, zz, xy, xz, yz = (inertia[..., i] for i in range(6))
    turn = np.stack(
        [
            xx * w[..., 0] + xy * w[..., 1] + xz * w[..., 2],
            xy * w[..., 0] + yy * w[..., 1] + yz * w[..., 2],
            xz * w[..., 0] + yz * w[..., 1] + zz * w[..., 2],
        ],
        -1,
    )
    return np.concatenate([turn + cross(d, u), inertia[..., 9:] * u - cross(d, w)], -1)
