"""What a viewer draws of a MuJoCo model: the triangles of its mesh geoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Floats, pose, pose_mul, quat_from_wxyz

MESH = 7  # mjtGeom
DRAWN_GROUPS = 3  # MuJoCo's viewer draws geoms of the groups 0, 1, 2


@dataclass
class Visual:
    """A mesh fixed in a body."""

    body: int  # ours; -1: the world
    pose: Floats  # [7] in the body
    vertices: NDArray[np.float32]  # [v][3] m
    faces: NDArray[np.uint32]  # [f][3]
    colour: Floats  # [3] red, green, blue in 0..1


def _drawn(m: Any) -> list[int]:
    return [g for g in range(m.ngeom) if m.geom_type[g] == MESH and m.geom_group[g] < DRAWN_GROUPS]


def visuals(m: Any, body: NDArray[np.int32], offset: Floats) -> list[Visual]:
    """The meshes to draw."""
    return [_visual(m, g, body, offset) for g in _drawn(m)]


def undrawn(m: Any, shape: NDArray[np.int32]) -> set[int]:
    """The shapes that are not drawn because a mesh is: its hull, and geoms of other groups."""
    drawn = _drawn(m)
    hidden = [g for g in range(m.ngeom) if m.geom_group[g] >= DRAWN_GROUPS] if drawn else []
    return {int(shape[g]) for g in (*drawn, *hidden) if shape[g] >= 0}


def _visual(m: Any, g: int, body: NDArray[np.int32], offset: Floats) -> Visual:
    mesh, b = int(m.geom_dataid[g]), int(m.geom_bodyid[g])
    vertices = m.mesh_vert[m.mesh_vertadr[mesh] :][: m.mesh_vertnum[mesh]]
    faces = m.mesh_face[m.mesh_faceadr[mesh] :][: m.mesh_facenum[mesh]]
    material = int(m.geom_matid[g])
    colour = m.mat_rgba[material] if material >= 0 else m.geom_rgba[g]
    place = pose_mul(offset[b], pose(m.geom_pos[g], quat_from_wxyz(m.geom_quat[g])))
    return Visual(int(body[b]), place, np.array(vertices, np.float32), np.array(faces, np.uint32), np.array(colour[:3]))
