"""What a robot is told to do: numbers per world that change after some time."""

from __future__ import annotations

from collections.abc import Sequence

from ..keys import random_keys
from ..xp import NUMPY, Array, Numpy, Torch, indices, like
from .distributions import Distribution, Floats, Keys, Uniform


class Commands:
    """`value` is [worlds][len(distributions)]. A world draws another command every `period` steps; a part `still` of
    the commands is 0. `fixed` commands are the same for all worlds and times."""

    def __init__(
        self,
        worlds: int,
        distributions: Sequence[Distribution],
        period: int,
        still: float = 0.0,
        fixed: Sequence[float] | None = None,
        arrays: Numpy | Torch = NUMPY,
    ) -> None:
        if period < 1 or not 0 <= still <= 1:
            raise ValueError(f"period is {period} and still {still}; period must be >= 1, still in 0..1")
        self.distributions, self.period, self.still = list(distributions), period, still
        self.fixed = None if fixed is None else arrays.array(fixed, "f64")
        self.value: Floats = arrays.zeros((worlds, len(self.distributions)), "f64")
        self.keys: Keys = arrays.zeros((worlds,), "u64")

    def reset(self, worlds: Array, keys: Keys) -> None:
        """A new episode of these worlds; their commands follow from the keys."""
        self.keys[worlds] = keys
        self._draw(worlds, like(worlds, 0, "i64"))

    def tick(self, age: Array) -> None:
        """After a step: worlds whose age, in steps, is a multiple of the period draw another command."""
        due = indices((age > 0) & (age % self.period == 0))
        if len(due):
            self._draw(due, age[due] // self.period)

    def _draw(self, worlds: Array, number: Array) -> None:
        if self.fixed is not None:
            self.value[worlds] = self.fixed
            return
        keys = random_keys(self.keys[worlds], number)
        for i, distribution in enumerate(self.distributions):
            self.value[worlds, i] = distribution.draw(random_keys(keys, i), 1)[:, 0]
        stands = Uniform(0, 1).draw(random_keys(keys, len(self.distributions)), 1)[:, 0] < self.still
        self.value[worlds[stands]] = 0
