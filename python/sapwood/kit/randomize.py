"""Domain randomisation: parameters of worlds that are drawn again at each reset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from .. import _layout
from ..arguments import nearest
from ..batch import Batch
from ..drives import dof_names
from ..keys import random_keys
from ..model import JOINT_TYPES, Model
from .distributions import Distribution, Floats, Keys

KINDS = {"num_bodies": "body", "num_shapes": "shape", "num_constraints": "constraint", "num_tendons": "tendon"}


@dataclass(frozen=True)
class Scale:
    """A factor of the model's values. `each`: one for each entry (body, shape, dof) instead of one for the world.

    `of` chooses entries by name: a name or a pattern such as "leg_*", or a list of them. A dof has the name of its
    joint. Without it all entries are chosen, but only dofs of joints that are not free: the base of a robot
    has no friction or damping with the world.
    """

    distribution: Distribution
    each: bool = False
    of: str | Sequence[str] | None = None


@dataclass(frozen=True)
class Value(Scale):
    """A value instead of the model's."""


def entries(model: Model, array: str, of: str | Sequence[str] | None) -> NDArray[np.intp]:
    """The rows of an array of the model that names and patterns choose, in the order of the rows."""
    count = _layout.MODEL_ARRAYS[array][1][0] if array in _layout.MODEL_ARRAYS else ""
    if count == "num_dofs":
        names, free = dof_names(model), JOINT_TYPES["SAP_JOINT_FREE"]
        own = np.repeat(model.joint_type, np.diff(model.joint_qd_start)) != free
    elif count in KINDS:
        names = getattr(model, f"{KINDS[count]}_name")
        own = np.ones(len(names), bool)
    elif of is None:
        return np.arange(len(getattr(model, array)))
    else:
        raise ValueError(f"{array} has no entries with names; `of` must be None")
    if of is None:
        return np.nonzero(own)[0]
    patterns = [of] if isinstance(of, str) else list(of)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ValueError(f"{array}: nothing has the name {pattern!r}{nearest(pattern, names)}")
    return np.array([i for i, name in enumerate(names) if any(fnmatchcase(name, p) for p in patterns)], np.intp)


class Randomizer:
    """Draws parameters (Batch.expand) of worlds.

        knees = Value(Uniform(0.0, 0.2), each=True, of="*_knee")
        randomize = Randomizer(batch, body_mass=Scale(LogUniform(0.8, 1.25)), joint_friction=knees)
        randomize(worlds, keys)  # after a reset of these worlds

    The inertia of a body scales with its mass, as if its density changed, unless body_inertia is drawn too. What an
    entry gets does not depend on which others are chosen.
    """

    def __init__(self, batch: Batch, **ranges: Scale) -> None:
        if "shape_mesh" in ranges:
            raise ValueError("shape_mesh is an index; terrain.choose gives worlds another ground")
        self.batch, self.ranges = batch, ranges
        self.with_mass = "body_mass" in ranges and "body_inertia" not in ranges
        self.with_mass &= not isinstance(ranges.get("body_mass"), Value)
        self.arrays = {name: batch.expand(name) for name in ranges}
        self.chosen = {name: entries(batch.model, name, change.of) for name, change in ranges.items()}
        self.base: Mapping[str, Floats] = {name: np.array(getattr(batch.model, name), float) for name in ranges}
        if self.with_mass:
            self.inertia, self.base_inertia = batch.expand("body_inertia"), np.array(batch.model.body_inertia)

    def __call__(self, worlds: NDArray[np.intp], keys: Keys) -> None:
        for i, (name, change) in enumerate(self.ranges.items()):
            base, key, chosen = self.base[name], random_keys(keys, i), self.chosen[name]
            drawn = change.distribution.draw(key, len(base) if change.each else 1)
            drawn = np.broadcast_to(drawn, (len(keys), len(base)))[:, chosen]
            drawn = drawn.reshape(*drawn.shape, *[1] * (base.ndim - 1))
            rows = np.ix_(worlds, chosen)
            self.arrays[name][rows] = drawn if isinstance(change, Value) else drawn * base[chosen]
            if name == "body_mass" and self.with_mass:
                self.inertia[rows] = drawn[..., None] * self.base_inertia[chosen]
