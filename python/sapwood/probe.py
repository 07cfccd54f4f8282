"""How many contact slots the worlds of a model need: the default of max_rigid_contact.

A few worlds start upright, at the keyframes, and in random poses, and fall for a second. The largest number of contacts
that one of them has, twice, is the default. A world that later needs more keeps its deepest contacts;
`contact_dropped` counts the others, and its status says contacts_truncated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mjdata import coordinates_of
from .model import Model
from .options import Options

WORLDS, STEPS, H, SLOTS = 16, 100, 0.01, 512
UNSET = "128"  # the default of the option, which no scene asks for


def random_poses(model: Model, units: NDArray[np.float64]) -> NDArray[np.float64]:
    """[worlds][num_coords] joints anywhere within their limits (or 0.5 around the initial state), turned bases."""
    q = np.tile(model.joint_q, (len(units), 1))
    for j in range(model.num_joints):
        first, dof = int(model.joint_q_start[j]), int(model.joint_qd_start[j])
        if int(model.joint_qd_start[j + 1]) - dof != int(model.joint_q_start[j + 1]) - first:
            continue  # has a quaternion
        for i in range(int(model.joint_qd_start[j + 1]) - dof):
            low, high = model.joint_limit_lower[dof + i], model.joint_limit_upper[dof + i]
            middle, half = ((low + high) / 2, (high - low) / 2) if np.isfinite(high - low) else (q[0, first + i], 0.5)
            q[:, first + i] = middle + half * units[:, first + i]
    coordinates = coordinates_of(model)
    for at in [at + 3 for at, _, _ in coordinates.free] + [at for at, _ in coordinates.ball]:
        turn = units[:, at : at + 4] + 1e-3
        q[:, at : at + 4] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return q


def contact_capacity(model: Model, options: Options) -> int:
    """The default of max_rigid_contact for a model, remembered in it."""
    keep = {name: value for name, value in options.items() if name not in ("threads", "device", "cuda_device")}
    key = str(sorted(keep.items()))
    if key not in model._capacities:
        model._capacities[key] = _measure(model, options) if model.num_shapes else 1
    return model._capacities[key]


def _measure(model: Model, options: Options) -> int:
    from .batch import Batch, world_noise

    trial: Any = options.copy()
    trial.update(device="cpu", threads=1, max_rigid_contact=SLOTS)
    most = 0
    with Batch(model, WORLDS, options=trial) as batch:
        starts = np.arange(WORLDS) < 1 + min(model.num_keyframes, WORLDS // 4)
        for k in range(1, np.count_nonzero(starts)):
            batch.reset([k], keyframe=k)
        batch.joint_q[~starts] = random_poses(model, world_noise(1, np.arange(WORLDS), model.num_coords))[~starts]
        for _ in range(STEPS):
            batch.step(1, H)
            most = max(most, int(np.max(batch.contact_count + batch.contact_dropped)))
    return min(max(4, -(-2 * most // 4) * 4), 65535)
