"""What happens to signals between a robot and its policy: noise, history, delays, filters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..batch import random_keys
from .distributions import Distribution, Floats, Keys


class Noise:
    """Adds scale times a random number to each column of an observation, [worlds][width]."""

    def __init__(self, distribution: Distribution, scale: ArrayLike) -> None:
        self.distribution, self.scale = distribution, np.asarray(scale, float)

    def __call__(self, observation: NDArray[np.float32], keys: Keys) -> None:
        """Changes the observation. `keys` must differ from step to step."""
        observation += self.scale * self.distribution.draw(keys, observation.shape[1])


class History:
    """The last `length` observations side by side, the newest first: [worlds][length width]."""

    def __init__(self, worlds: int, width: int, length: int) -> None:
        if length < 1:
            raise ValueError(f"length is {length}; it must be >= 1")
        self.past = np.zeros((worlds, length, width), np.float32)
        self.fresh = np.ones(worlds, bool)

    def reset(self, worlds: NDArray[np.intp]) -> None:
        """The next observation of these worlds fills their history."""
        self.fresh[worlds] = True

    def __call__(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        self.past = np.roll(self.past, 1, axis=1)
        self.past[:, 0] = observation
        self.past[self.fresh] = observation[self.fresh, None]
        self.fresh[:] = False
        return self.past.reshape(len(self.past), -1)


class Delay:
    """Actions arrive after 0 to `most` steps; each world draws its delay at a reset."""

    def __init__(self, worlds: int, width: int, most: int) -> None:
        if most < 0:
            raise ValueError(f"most is {most}; it must be >= 0")
        self.past = np.zeros((worlds, most + 1, width))
        self.steps = np.zeros(worlds, np.int64)

    def reset(self, worlds: NDArray[np.intp], keys: Keys) -> None:
        self.past[worlds] = 0
        self.steps[worlds] = (random_keys(keys) >> np.uint64(11)).astype(np.int64) % self.past.shape[1]

    def __call__(self, actions: Floats) -> Floats:
        self.past = np.roll(self.past, 1, axis=1)
        self.past[:, 0] = actions
        return np.asarray(self.past[np.arange(len(self.past)), self.steps])


class LowPass:
    """A filter of first order: y' = (x - y)/time, exact for an input that is constant during a step of dt seconds."""

    def __init__(self, worlds: int, width: int, time: float, dt: float) -> None:
        if not (time >= 0 and dt > 0):
            raise ValueError(f"time is {time} and dt {dt}; time must be >= 0, dt > 0")
        self.keep = float(np.exp(-dt / time)) if time > 0 else 0.0
        self.value = np.zeros((worlds, width))

    def reset(self, worlds: NDArray[np.intp], value: ArrayLike = 0.0) -> None:
        self.value[worlds] = value

    def __call__(self, x: Floats) -> Floats:
        self.value = np.where(np.isfinite(self.value), self.keep * self.value, 0.0) + (1 - self.keep) * x
        return self.value
