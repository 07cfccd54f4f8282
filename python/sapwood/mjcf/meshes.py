"""Files of meshes that MuJoCo does not read: STL as text or with many triangles, Collada and others."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._library import FileError, ModelError
from ..conventions import Floats

MOST_STL_FACES = 200_000  # that MuJoCo reads
STL_HEADER, STL_FACE = 84, 50  # bytes
FLAT = 1e-9  # thickness of a mesh without volume, relative to its size
READ_BY_MUJOCO = (".obj", ".msh")

Triangles = tuple[Floats, NDArray[np.int32]]  # vertices [v][3], faces [f][3]


def converted(path: Path, what: str) -> bytes | None:
    """The mesh as MuJoCo's .msh; None if MuJoCo reads the file itself. `what` names the mesh in messages."""
    if not path.is_file():
        raise FileError(f"{path}: the mesh of {what} cannot be opened: there is no such file")
    kind = path.suffix.lower()
    if kind in READ_BY_MUJOCO:
        return None
    found = _stl(path, what) if kind == ".stl" else _other(path, what)
    if found is None:
        return None
    points, faces = found
    check_volume(points, path, what)
    return struct.pack("<4i", len(points), 0, 0, len(faces)) + points.astype("<f4").tobytes() + faces.tobytes()


def check_volume(points: Floats, path: Path, what: str) -> None:
    """Refuses a mesh without a convex hull."""
    size = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if len(points) else np.zeros(3)
    if len(points) < 4 or size[2] <= FLAT * size[0]:
        shape = "has fewer than 4 vertices" if len(points) < 4 else "is flat"
        raise ModelError(
            f"{path}: the mesh of {what} {shape}, so it has no convex hull; remove its <collision>, or use a thin box"
        )


# ---- formats ----


def _stl(path: Path, what: str) -> Triangles | None:
    """None for binary files that MuJoCo reads."""
    data = path.read_bytes()
    count = struct.unpack_from("<I", data, STL_HEADER - 4)[0] if len(data) >= STL_HEADER else -1
    if len(data) == STL_HEADER + STL_FACE * count:
        rows = np.frombuffer(data, np.uint8, offset=STL_HEADER).reshape(count, STL_FACE)
        corners = np.ascontiguousarray(rows[:, 12:48]).view("<f4").reshape(-1, 3).astype(float)
        check_volume(np.unique(corners, axis=0), path, what)
        return None if count <= MOST_STL_FACES else _indexed(corners)
    words = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data)
    try:
        corners = np.array(words, float).reshape(-1, 3)
    except ValueError:
        corners = np.zeros((0, 3))
    if not len(corners) or len(corners) % 3:
        raise ModelError(f"{path}: the mesh of {what} is no STL file; export it again, as binary STL or OBJ")
    return _indexed(corners)


def _indexed(corners: Floats) -> Triangles:
    points, index = np.unique(corners, axis=0, return_inverse=True)
    return points, index.reshape(-1, 3).astype(np.int32)


def _other(path: Path, what: str) -> Triangles:
    """What trimesh reads. Collada's axes are those of the file, as in other readers of URDF; its unit counts."""
    trimesh = _trimesh(path, what)
    try:
        mesh: Any = trimesh.load(path, force="mesh")
        points, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int32)
    except Exception as error:  # whatever a reader of a damaged file raises
        raise ModelError(f"{path}: the mesh of {what} cannot be read: {error}; export it as STL or OBJ") from error
    return points * (_collada_unit(path) if path.suffix.lower() == ".dae" else 1.0), np.ascontiguousarray(faces)


def _trimesh(path: Path, what: str) -> Any:
    try:
        import trimesh

        if path.suffix.lower() == ".dae":
            import collada  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{path}: the mesh of {what} is in a format that MuJoCo does not read: pip install 'sapwood[meshes]', or "
            "export it as STL or OBJ"
        ) from error
    return trimesh


def _collada_unit(path: Path) -> float:
    """The unit of a Collada file, m."""
    unit = ElementTree.parse(path).getroot().find("{*}asset/{*}unit")
    return 1.0 if unit is None else float(unit.get("meter", "1"))
