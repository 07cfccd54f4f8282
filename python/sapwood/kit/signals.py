"""What happens to signals between a robot and its policy: noise, history, delays, filters."""

from __future__ import annotations

import math
from typing import Any

from ..keys import random_integers
from ..xp import NUMPY, Array, Numpy, Torch, like, module, put
from .distributions import Distribution, Floats, Keys


class Noise:
    """Adds scale times a random number to each column of an observation, [worlds][width]."""

    def __init__(self, distribution: Distribution, scale: Any) -> None:
        self.distribution, self.scale = distribution, scale

    def __call__(self, observation: Array, keys: Keys) -> None:
        """Changes the observation. `keys` must differ from step to step."""
        observation += like(observation, self.scale, "f64") * self.distribution.draw(keys, observation.shape[1])


class History:
    """The last `length` observations side by side, the newest first: [worlds][length width].

    `age` is the age of each world in steps: an observation of the same age takes the place of the last one, so that an
    environment may observe twice in a step, as with SAME_STEP. Without it every call is another step.
    """

    def __init__(self, worlds: int, width: int, length: int, arrays: Numpy | Torch = NUMPY) -> None:
        if length < 1:
            raise ValueError(f"length is {length}; it must be >= 1")
        self.past = arrays.zeros((worlds, length, width), "f32")
        self.fresh = ~arrays.zeros((worlds,), "bool")
        self.age = arrays.zeros((worlds,), "i64")

    def reset(self, worlds: Array) -> None:
        """The next observation of these worlds fills their history."""
        self.fresh[worlds] = True

    def __call__(self, observation: Array, age: Array | None = None) -> Array:
        xp = module(self.past)
        rolled = xp.roll(self.past, 1, 1)
        if age is not None:
            rolled = xp.where((age != self.age)[:, None, None], rolled, self.past)
            self.age[:] = age
        self.past = rolled
        self.past[:, 0] = observation
        put(self.past, self.fresh, observation[self.fresh, None])
        self.fresh[:] = False
        return self.past.reshape(len(self.past), -1)


class Delay:
    """Actions arrive after 0 to `most` steps; each world draws its delay at a reset."""

    def __init__(self, worlds: int, width: int, most: int, arrays: Numpy | Torch = NUMPY) -> None:
        if most < 0:
            raise ValueError(f"most is {most}; it must be >= 0")
        self.past = arrays.zeros((worlds, most + 1, width), "f64")
        self.steps = arrays.zeros((worlds,), "i64")
        self.rows = arrays.array(range(worlds), "i64")

    def reset(self, worlds: Array, keys: Keys) -> None:
        self.past[worlds] = 0
        self.steps[worlds] = random_integers(keys, self.past.shape[1])

    def __call__(self, actions: Floats) -> Floats:
        self.past = module(self.past).roll(self.past, 1, 1)
        self.past[:, 0] = actions
        return self.past[self.rows, self.steps]


class LowPass:
    """A filter of first order: y' = (x - y)/time, exact for an input that is constant during a step of dt seconds."""

    def __init__(self, worlds: int, width: int, time: float, dt: float, arrays: Numpy | Torch = NUMPY) -> None:
        if not (time >= 0 and dt > 0):
            raise ValueError(f"time is {time} and dt {dt}; time must be >= 0, dt > 0")
        self.keep = math.exp(-dt / time) if time > 0 else 0.0
        self.value = arrays.zeros((worlds, width), "f64")

    def reset(self, worlds: Array, value: Any = 0.0) -> None:
        self.value[worlds] = value

    def __call__(self, x: Floats) -> Floats:
        xp = module(self.value)
        self.value = xp.where(xp.isfinite(self.value), self.keep * self.value, 0.0) + (1 - self.keep) * x
        return self.value
