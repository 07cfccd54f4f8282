"""Domain randomisation: parameters of worlds that are drawn again at each reset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..batch import Batch
from ..keys import random_keys
from .distributions import Distribution, Floats, Keys


@dataclass(frozen=True)
class Scale:
    """A factor of the model's values. `each`: one for each entry (body, shape, dof) instead of one for the world."""

    distribution: Distribution
    each: bool = False


@dataclass(frozen=True)
class Value:
    """A value instead of the model's."""

    distribution: Distribution
    each: bool = False


class Randomizer:
    """Draws parameters (Batch.expand) of worlds.

        friction = Value(Uniform(0.4, 1.2))
        randomize = Randomizer(batch, body_mass=Scale(LogUniform(0.8, 1.25)), shape_material_mu=friction)
        randomize(worlds, keys)  # after a reset of these worlds

    The inertia of a body scales with its mass, as if its density changed, unless body_inertia is drawn too.
    """

    def __init__(self, batch: Batch, **ranges: Scale | Value) -> None:
        if "shape_mesh" in ranges:
            raise ValueError("shape_mesh is an index; terrain.choose gives worlds another ground")
        self.batch, self.ranges = batch, ranges
        self.with_mass = isinstance(ranges.get("body_mass"), Scale) and "body_inertia" not in ranges
        self.base: Mapping[str, Floats] = {name: np.array(getattr(batch.model, name), float) for name in ranges}
        self.arrays = {name: batch.expand(name) for name in ranges}
        if self.with_mass:
            self.inertia, self.base_inertia = batch.expand("body_inertia"), np.array(batch.model.body_inertia)

    def __call__(self, worlds: NDArray[np.intp], keys: Keys) -> None:
        for i, (name, change) in enumerate(self.ranges.items()):
            base, key = self.base[name], random_keys(keys, i)
            drawn = change.distribution.draw(key, len(base) if change.each else 1)
            drawn = np.broadcast_to(drawn, (len(keys), len(base)))
            drawn = drawn.reshape(*drawn.shape, *[1] * (base.ndim - 1))
            self.arrays[name][worlds] = drawn * base if isinstance(change, Scale) else drawn
            if name == "body_mass" and self.with_mass:
                self.inertia[worlds] = drawn[..., None] * self.base_inertia
