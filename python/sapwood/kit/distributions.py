"""Distributions of random numbers: draw(keys, width) gives [len(keys)][width] numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..keys import random_keys, random_units
from ..xp import Array, module

Floats = Array  # [worlds] or [worlds][width] f64
Keys = Array  # [worlds] 64 bits


class Distribution(Protocol):
    def draw(self, keys: Keys, width: int) -> Floats: ...


def _unit(keys: Keys, width: int) -> Floats:
    """Numbers in [0, 1)."""
    return (random_units(keys, width) + 1) / 2


@dataclass(frozen=True)
class Uniform:
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low <= self.high):
            raise ValueError(f"the range is {self.low} to {self.high}; it must be finite, low <= high")

    def draw(self, keys: Keys, width: int) -> Floats:
        return self.low + (self.high - self.low) * _unit(keys, width)


@dataclass(frozen=True)
class LogUniform:
    """Equally likely in each ratio: halving is as likely as doubling."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (0 < self.low <= self.high and np.isfinite(self.high)):
            raise ValueError(f"the range is {self.low} to {self.high}; it must be finite, 0 < low <= high")

    def draw(self, keys: Keys, width: int) -> Floats:
        return self.low * (self.high / self.low) ** _unit(keys, width)


@dataclass(frozen=True)
class Gaussian:
    mean: float
    std: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mean) and 0 <= self.std < np.inf):
            raise ValueError(f"mean is {self.mean} and std {self.std}; they must be finite, std >= 0")

    def draw(self, keys: Keys, width: int) -> Floats:
        """Box and Muller: sqrt(-2 ln u) cos(2 pi v) of two uniform numbers; u is in (0, 1]."""
        xp, u, v = module(keys), 1 - _unit(keys, width), _unit(random_keys(keys, 1), width)
        return self.mean + self.std * xp.sqrt(-2 * xp.log(u)) * xp.cos(2 * np.pi * v)
