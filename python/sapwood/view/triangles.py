"""Triangles of shapes, for drawing: (vertices [v][3] in the shape frame, faces [f][3])."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray

from ..model import SHAPE_TYPES, Model

Triangles = tuple[NDArray[np.float32], NDArray[np.uint32]]
PLANE_SIZE = 20.0  # m, the square that stands for an infinite plane
_NAMES = {value: name.removeprefix("SAP_SHAPE_") for name, value in SHAPE_TYPES.items()}


def triangles(model: Model, shape: int, grid: int | None = None) -> Triangles:
    """The surface of a shape of the model; of a height field with another grid than the model's."""
    scale = np.array(model.shape_scale[shape])
    if grid is not None:
        mesh = _grid(model, grid, scale)
    else:
        mesh = _DRAW[_NAMES[int(model.shape_type[shape])]](model, shape, scale)
    return np.asarray(mesh.vertices, np.float32), np.asarray(mesh.faces, np.uint32)


def _plane(model: Model, shape: int, scale: Any) -> Any:
    r = PLANE_SIZE / 2
    return trimesh.Trimesh([[-r, -r, 0], [r, -r, 0], [r, r, 0], [-r, r, 0]], [[0, 1, 2], [0, 2, 3]], process=False)


def _height_field(model: Model, shape: int, scale: Any) -> Any:
    return _grid(model, int(model.shape_mesh[shape]), scale)


def _grid(model: Model, field: int, scale: Any) -> Any:
    sizes = np.array(model.height_field_size)
    rows, columns = sizes[field]
    start = int(np.sum(sizes[:field, 0] * sizes[:field, 1]))
    heights = np.array(model.heights[start : start + rows * columns])
    y, x = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns), indexing="ij")
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)[None]).ravel()
    lower = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    upper = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    vertices = np.stack([scale[0] * x.ravel(), scale[1] * y.ravel(), heights], axis=1)
    return trimesh.Trimesh(vertices, np.concatenate([lower, upper]), process=False)


def _sphere(model: Model, shape: int, scale: Any) -> Any:
    return trimesh.creation.icosphere(subdivisions=2, radius=scale[0])


def _ellipsoid(model: Model, shape: int, scale: Any) -> Any:
    mesh = trimesh.creation.icosphere(subdivisions=2)
    mesh.vertices *= scale
    return mesh


def _capsule(model: Model, shape: int, scale: Any) -> Any:
    """A sphere whose halves are moved apart along z."""
    mesh = trimesh.creation.icosphere(subdivisions=2, radius=scale[0])
    mesh.vertices[:, 2] += np.where(mesh.vertices[:, 2] >= 0, scale[1], -scale[1])
    return mesh


def _cylinder(model: Model, shape: int, scale: Any) -> Any:
    return trimesh.creation.cylinder(radius=scale[0], height=2 * scale[1], sections=24)


def _cone(model: Model, shape: int, scale: Any) -> Any:
    mesh = trimesh.creation.cone(radius=scale[0], height=2 * scale[1], sections=24)
    mesh.vertices[:, 2] -= scale[1]
    return mesh


def _box(model: Model, shape: int, scale: Any) -> Any:
    return trimesh.creation.box(extents=2 * scale)


def _hull(model: Model, shape: int, scale: Any) -> Any:
    first, last = model.mesh_start[model.shape_mesh[shape] :][:2]
    return trimesh.convex.convex_hull(np.array(model.mesh_vertices[first:last]) * scale)


_DRAW: dict[str, Callable[[Model, int, Any], Any]] = {
    "PLANE": _plane,
    "HEIGHT_FIELD": _height_field,
    "SPHERE": _sphere,
    "CAPSULE": _capsule,
    "ELLIPSOID": _ellipsoid,
    "CYLINDER": _cylinder,
    "BOX": _box,
    "CONE": _cone,
    "HULL": _hull,
}
