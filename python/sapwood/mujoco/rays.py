"""Rays: MuJoCo's own mj_ray, at the poses of the geoms in each simulation."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..conventions import Floats
from .derived import Evaluation
from .fields import mujoco

POSES = ("xpos", "xquat", "xmat", "xipos", "ximat", "geom_xpos", "geom_xmat")


def cast(
    at: Evaluation,
    points: Floats,
    directions: Floats,
    geomgroup: ArrayLike | None,
    flg_static: bool,
    excluded: NDArray[np.intp],
) -> tuple[Floats, NDArray[np.int32], Floats]:
    """dist and geomid [n][nray] and normals [n][nray][3]; -1 and 0 for a miss."""
    m, shape = at.m, points.shape[:2]
    data = mujoco.MjData(m)
    group = None if geomgroup is None else np.asarray(geomgroup, np.uint8)
    dist, geom, normals = np.zeros(shape), np.zeros(shape, np.int32), np.zeros((*shape, 3))
    poses: dict[str, Any] = {name: at.field(name) for name in POSES}
    sizes = at.constants.get("geom_size")
    if sizes is not None:
        m = copy.copy(m)
    found = np.zeros(1, np.int32)
    for i in range(shape[0]):
        for name, values in poses.items():
            getattr(data, name)[...] = values[i]
        if sizes is not None:
            m.geom_size[...] = sizes[i]
        for k in range(shape[1]):
            ray = (points[i, k], directions[i, k], group, bool(flg_static), int(excluded[i, k]), found, normals[i, k])
            dist[i, k] = mujoco.mj_ray(m, data, *ray)
            geom[i, k] = found[0]
    return dist, geom, normals
