"""Rewards as weighted terms, with the mean of each term over episodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..xp import NUMPY, Array, Numpy, Torch, cast, module
from .distributions import Floats

Term = tuple[float, Callable[[], Floats]]


class Rewards:
    """reward = dt sum_i weight_i term_i(), one number per world.

        rewards = Rewards(worlds, dt, track=(1.0, self.tracking), jerk=(-0.1, self.jerk))

    A term is a weight and a function that returns one number per world.
    """

    def __init__(self, worlds: int, dt: float, arrays: Numpy | Torch = NUMPY, **terms: Term) -> None:
        self.dt, self.terms = dt, dict(terms)
        self.sums = {name: arrays.zeros((worlds,), "f64") for name in terms}
        self.steps = arrays.zeros((worlds,), "i64")

    def __call__(self) -> Floats:
        """The rewards of a step. Terms that are not finite, of worlds that failed, count as 0."""
        xp, total = module(self.steps), cast(0 * self.steps, "f64")
        for name, (weight, term) in self.terms.items():
            part = xp.nan_to_num(self.dt * weight * term(), posinf=0.0, neginf=0.0)
            self.sums[name] += part
            total += part
        self.steps += 1
        return total

    def log(self, ended: Array) -> Mapping[str, float]:
        """The mean of each term per second over the episodes that ended, which are then cleared; {} without any."""
        if not ended.any():
            return {}
        seconds = module(ended).clip(self.steps[ended], 1, None) * self.dt
        out = {f"reward/{name}": float((total[ended] / seconds).mean()) for name, total in self.sums.items()}
        for total in self.sums.values():
            total[ended] = 0
        self.steps[ended] = 0
        return out
