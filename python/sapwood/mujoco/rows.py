"""Rows of state: what mj_getState(mjSTATE_INTEGRATION) gives of one simulation, for many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Floats
from .fields import COMPONENTS, INTEGRATION, mujoco


class Layout:
    """Where the fields of the state are in a row."""

    def __init__(self, m: Any) -> None:
        self.m, self.size = m, int(mujoco.mj_stateSize(m, INTEGRATION))
        self.part: dict[str, slice] = {}
        self.shape: dict[str, tuple[int, ...]] = {}
        data, first = mujoco.MjData(m), 0
        for name, bit in COMPONENTS.items():
            size = int(mujoco.mj_stateSize(m, bit))
            self.part[name] = slice(first, first + size)
            self.shape[name] = () if name == "time" else getattr(data, name).shape
            first += size

    def view(self, rows: Floats, name: str) -> Floats:
        """A field of all rows, [n][...], without a copy."""
        return rows[..., self.part[name]].reshape(*rows.shape[:-1], *self.shape[name])

    def state(self, rows: Floats) -> dict[str, Floats]:
        return {name: self.view(rows, name) for name in self.part}

    def columns(self, spec: int) -> NDArray[np.intp]:
        """The columns of a state vector of mj_getState(spec)."""
        parts = [np.arange(self.size)[self.part[name]] for name, bit in COMPONENTS.items() if spec & bit]
        return np.concatenate(parts) if parts else np.zeros(0, np.intp)

    def reset_row(self, m: Any, key: int = -1) -> Floats:
        """The row of a model after a reset, to a keyframe if key >= 0."""
        data = mujoco.MjData(m)
        if key >= 0:
            mujoco.mj_resetDataKeyframe(m, data, key)
        else:
            mujoco.mj_resetData(m, data)
        row = np.empty(self.size)
        mujoco.mj_getState(m, data, row, INTEGRATION)
        return row
