"""Frames that MuJoCo takes from a body without looking at their own numbers.

A compiled model notes which inertia frames, geoms and sites are where the body or its inertia frame is (`sameframe`);
MuJoCo then copies that frame, also after a change of body_ipos, geom_pos, ... So the changed numbers act only where
there is no such note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE, BODY, INERTIA, BODY_ROTATION, INERTIA_ROTATION = range(5)  # mjtSameFrame
KINDS = {"body": ("body_ipos", "body_iquat"), "geom": ("geom_pos", "geom_quat"), "site": ("site_pos", "site_quat")}


def acting(m: Any, values: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Fields with values per simulation, [n][...], as they act."""
    out = dict(values)
    changed = {name for names in KINDS.values() for name in names} & values.keys()
    if not changed:
        return out

    def of(name: str) -> Any:
        return out[name] if name in out else np.asarray(getattr(m, name))[None]

    for kind, (position, rotation) in KINDS.items():
        if not changed & {position, rotation, *KINDS["body"]} or not len(getattr(m, position)):
            continue
        body = np.arange(m.nbody) if kind == "body" else np.array(getattr(m, f"{kind}_bodyid"))
        same = of(f"{kind}_sameframe")[..., None]
        own = {position: np.zeros(3), rotation: np.array([1.0, 0, 0, 0])}
        for name, of_inertia, copied in (
            (position, "body_ipos", (BODY, INERTIA)),
            (rotation, "body_iquat", (BODY, INERTIA, BODY_ROTATION, INERTIA_ROTATION)),
        ):
            values_of = np.where(np.isin(same, (BODY, BODY_ROTATION)) & np.isin(same, copied), own[name], of(name))
            if kind != "body":
                follows = np.isin(same, (INERTIA, INERTIA_ROTATION)) & np.isin(same, copied)
                values_of = np.where(follows, of(of_inertia)[:, body], values_of)
            n = max(len(array) for array in values.values())
            out[name] = np.broadcast_to(values_of, (n, *values_of.shape[1:]))
    return out


def moves_geoms(m: Any, name: str) -> bool:
    """Whether geoms that touch others move with an inertia frame."""
    notes = (INERTIA,) if name == "body_ipos" else (INERTIA, INERTIA_ROTATION)
    touches = (np.array(m.geom_contype) != 0) | (np.array(m.geom_conaffinity) != 0)
    if m.npair:
        touches[np.concatenate([m.pair_geom1, m.pair_geom2])] = True
    return bool(np.any(touches & np.isin(m.geom_sameframe, notes))) or bool(np.any(np.isin(m.site_sameframe, notes)))
