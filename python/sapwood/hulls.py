"""Convex hulls of meshes for an import: fewer vertices, and convex parts of meshes that are not convex."""

from __future__ import annotations

import ctypes
import hashlib
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._library import address, check, lib
from .conventions import Floats
from .files import replacing

MAX_HULL_VERTICES = {"sap": 64, "mujoco": 0}  # of a hull where the caller names none, by law; 0: exact hulls
LEAST_HULL_VERTICES = 8
CONCAVITY = 0.05  # CoACD's default threshold


@dataclass(frozen=True)
class HullOptions:
    """How an import makes hulls of meshes."""

    max_vertices: int | None = None  # of a hull; 0: exact hulls; None: MAX_HULL_VERTICES of the law
    decompose: bool | float = False  # meshes into convex parts, up to this concavity; True: CONCAVITY
    cache: Path | None = None  # folder of the parts; None: they are not kept

    def __post_init__(self) -> None:
        most, concavity = self.max_vertices, self.decompose
        whole = isinstance(most, (int, np.integer)) and not isinstance(most, bool)
        if most is not None and (not whole or (most != 0 and most < LEAST_HULL_VERTICES)):
            allowed = f"0 (exact hulls), or {LEAST_HULL_VERTICES} or more"
            raise ValueError(f"max_hull_vertices is {most!r}; allowed: {allowed}")
        if not isinstance(concavity, bool) and not 0.01 <= concavity <= 1:
            raise ValueError(f"decompose is {concavity!r}; allowed: False, True, or a concavity 0.01 .. 1")

    def most(self, law: str) -> int:
        """Vertices of a hull at most; 0: exact hulls."""
        return MAX_HULL_VERTICES[law] if self.max_vertices is None else self.max_vertices

    @property
    def concavity(self) -> float:
        return CONCAVITY if self.decompose is True else float(self.decompose)


def cache_folder(path: str | os.PathLike[str]) -> Path:
    """The folder of the convex parts of the meshes of a model file, beside it."""
    path = Path(path)
    return path.with_name(path.name + ".parts")


def reduce_hull(points: Floats, most: int) -> tuple[NDArray[np.int32], float]:
    """At most `most` of the points, by index, whose convex hull is close to the hull of all, and the distance of the
    farthest point outside it."""
    points = np.ascontiguousarray(points, np.float64)
    kept = np.zeros(most, np.int32)
    count, lost = ctypes.c_int(), ctypes.c_double()
    check(
        lib.sap_mesh_reduce(
            address("points", points), len(points), most, address("kept", kept), ctypes.byref(count), ctypes.byref(lost)
        )
    )
    return kept[: count.value], lost.value


def _coacd() -> Any:
    try:
        import coacd
    except ImportError as error:
        raise ImportError("decompose needs CoACD: pip install 'sapwood[decompose]'") from error
    return coacd


def convex_parts(points: Floats, faces: NDArray[np.int32], options: HullOptions) -> list[Floats]:
    """The vertices of convex parts of a triangle mesh, computed by CoACD or read from the cache."""
    points, faces = np.ascontiguousarray(points, np.float64), np.ascontiguousarray(faces, np.int32)
    key = hashlib.sha256(points.tobytes() + faces.tobytes() + np.float64(options.concavity).tobytes()).hexdigest()[:16]
    file = options.cache / f"{key}.npz" if options.cache else None
    if file and (stored := _stored(file)):
        return stored
    coacd = _coacd()
    coacd.set_log_level("error")
    parts = coacd.run_coacd(coacd.Mesh(points, faces), threshold=options.concavity, seed=0)
    found = [np.asarray(vertices, np.float64) for vertices, _ in parts]
    if file:
        file.parent.mkdir(exist_ok=True)
        arrays: dict[str, Any] = {f"part{i:04}": part for i, part in enumerate(found)}
        with replacing(file) as out:
            np.savez_compressed(out, **arrays)
    return found


def _stored(file: Path) -> list[Floats]:
    """The parts in a file of the cache; none if there is no file, or if it is damaged."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            return [stored[name] for name in sorted(stored.files)]
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return []
