"""A curriculum: worlds go up a level when they succeed, and down when they fail."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..batch import random_keys
from .distributions import Keys


class Levels:
    """`level` is [worlds], 0 .. levels - 1. A world that passes the last level gets a random one, so that easy levels
    are not forgotten. `kind` is [worlds]: worlds are dealt to `kinds` in turn; `first` is the number of the first."""

    def __init__(self, worlds: int, levels: int, kinds: int = 1, start: int = 0, first: int = 0) -> None:
        if levels < 1 or kinds < 1 or not 0 <= start < levels:
            raise ValueError(f"levels is {levels}, kinds {kinds}, start {start}; it must be that 0 <= start < levels")
        self.levels = levels
        self.level = np.full(worlds, start, np.int64)
        self.kind = (first + np.arange(worlds)) % kinds

    def update(
        self, worlds: NDArray[np.intp], passed: NDArray[np.bool_], failed: NDArray[np.bool_], keys: Keys
    ) -> None:
        """At a reset of these worlds: how their episodes went."""
        level = self.level[worlds] + passed.astype(int) - (failed & ~passed).astype(int)
        anew = (random_keys(keys) >> np.uint64(11)).astype(np.int64) % self.levels
        self.level[worlds] = np.where(level >= self.levels, anew, np.maximum(level, 0))
