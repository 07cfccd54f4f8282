"""A curriculum: worlds go up a level when they succeed, and down when they fail."""

from __future__ import annotations

import numpy as np

from ..keys import random_integers
from ..xp import NUMPY, Array, Numpy, Torch, cast, module
from .distributions import Keys


class Levels:
    """`level` is [worlds], 0 .. levels - 1. A world that passes the last level gets a random one, so that easy levels
    are not forgotten. `kind` is [worlds]: worlds are dealt to `kinds` in turn; `first` is the number of the first."""

    def __init__(
        self,
        worlds: int,
        levels: int,
        kinds: int = 1,
        start: int = 0,
        first: int = 0,
        arrays: Numpy | Torch = NUMPY,
    ) -> None:
        if levels < 1 or kinds < 1 or not 0 <= start < levels:
            raise ValueError(f"levels is {levels}, kinds {kinds}, start {start}; it must be that 0 <= start < levels")
        self.levels = levels
        self.level = arrays.array(np.full(worlds, start), "i64")
        self.kind = arrays.array((first + np.arange(worlds)) % kinds, "i64")

    def update(self, worlds: Array, passed: Array, failed: Array, keys: Keys) -> None:
        """At a reset of these worlds: how their episodes went."""
        level = self.level[worlds] + cast(passed, "i64") - cast(failed & ~passed, "i64")
        drawn = random_integers(keys, self.levels)
        self.level[worlds] = module(level).where(level >= self.levels, drawn, level * (level > 0))
