"""Simulations that step together."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Group:
    ids: NDArray[np.intp]
    model: Any
    key: bytes  # its signature
    constants: Mapping[str, NDArray[Any]]  # fields that may differ between the simulations, [n][...]
    own: tuple[str, ...] = ()  # those of them that worlds of one batch have values of
    version: int = 0  # changes when their values do

    def part(self, mask: NDArray[np.bool_]) -> Group:
        constants = {name: self.constants[name][mask] for name in self.constants}
        return replace(self, ids=self.ids[mask], constants=constants)


def signature(m: Any) -> bytes:
    """Equal for models that are equal in every number."""
    from .fields import mujoco

    buffer = np.empty(mujoco.mj_sizeModel(m), np.uint8)
    mujoco.mj_saveModel(m, None, buffer)
    return hashlib.sha256(buffer.tobytes()).digest()
