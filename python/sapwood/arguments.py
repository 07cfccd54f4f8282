"""Checks of arguments: integers, names, and worlds given by a mask or by their indices."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._library import ArgumentError
from ._library import integer as integer

MOST = 2**31 - 1  # the largest C int; ctypes would cut off the bits above without a message


WORDS = {"qvel": "qd", "velocity": "qd", "vel": "qd", "qpos": "q", "position": "q", "pos": "q"}  # of others, and ours


def nearest(name: str, names: Iterable[str], rest: str = "") -> str:
    """What follows a wrong name: "; did you mean 'joint_q'? It must be ...", or "; it must be ..." if none is near."""
    names = list(names)
    ours = (str(name).replace(word, own) for word, own in WORDS.items() if word in str(name))
    found = [word for word in ours if word in names] or difflib.get_close_matches(str(name), names, n=1)
    if not found:
        return f"; {rest}" if rest else ""
    return f"; did you mean {found[0]!r}?" + (f" {rest[0].upper()}{rest[1:]}" if rest else "")


def index_of(kind: str, name: str, names: Iterable[str]) -> int:
    """The place of `name` in `names`; KeyError with the nearest name."""
    names = list(names)
    if name not in names:
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise KeyError(f"there is no {kind} {name!r}{nearest(name, names, f'there is {shown}' if shown else '')}")
    return names.index(name)


def world_mask(worlds: Any, count: int) -> NDArray[np.bool_]:
    """[count] the selected worlds: of a mask of booleans, or of integers, which are indices of worlds.

    Bytes are refused: [0, 1, 1] of bytes is a mask in some libraries and a list of worlds in others.
    """
    given = np.asarray(worlds)
    if given.dtype == bool:
        if given.shape != (count,):
            raise ArgumentError(f"the mask has shape {given.shape}; it must be {(count,)}")
        return np.ascontiguousarray(given)
    if given.size == 0:
        return np.zeros(count, bool)
    if given.dtype.kind not in "iu" or given.dtype.itemsize == 1 or given.ndim > 1:
        raise TypeError(
            f"worlds are {given.ndim}-dimensional {given.dtype}; they must be a mask of {count} booleans, "
            "or a list of indices of type int32 or int64"
        )
    wrong = (given < 0) | (given >= count)
    if np.any(wrong):
        raise ArgumentError(f"world is {given[wrong][0] if given.ndim else given}; it must be in 0 .. {count - 1}")
    out = np.zeros(count, bool)
    out[given] = True
    return out
