"""Ground that is not flat: one large height field of square cells, on which worlds are placed.

    ground = terrain.make(["slope", "stairs", "rough"], levels=10, seed=0)
    model = terrain.lay(sapwood.scene("quadruped"), ground)
    batch = sapwood.Batch(model, 1024)
    batch.joint_q[:, :3] += ground.origins[level, kind]      # a cell for each world

All worlds have the same field: the cell of a world is its terrain, and moving a world to another cell changes it. The
columns of cells are kinds, the rows are levels of difficulty. Each cell has a flat square in its middle, at which
`origins` points. Height fields of your own become cells with `terrain.join`.

Or a world chooses one of several grounds, which all lie in the same place:

    model = terrain.lay(sapwood.scene("quadruped"), [terrain.make(["rough"], 1, seed=k) for k in range(20)])
    batch = sapwood.Batch(model, 1024)
    terrain.choose(batch, np.arange(1024) % 20)

`lay` returns the model with the ground, `choose` the ground of each world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arguments import integer, nearest
from .model import SHAPE_TYPES, Model
from .xp import Array, Numpy, Torch, cast, host, like, module

if TYPE_CHECKING:
    from .batch import Batch
    from .mjcf import Import

Floats = Array  # f64; of numpy, but for a Ground that was moved
PLATFORM = 0.75  # m, half the width of the flat square in the middle of a cell


@dataclass
class Ground:
    """A height field and its cells."""

    heights: Floats  # [rows (y)][columns (x)] m
    half_extents: tuple[float, float]  # m, along x and y
    origins: Floats  # [levels][kinds][3] m, the middle of each cell
    kinds: tuple[str, ...]
    size: float  # m, width of a cell

    def at(self, x: ArrayLike, y: ArrayLike) -> Floats:
        """Heights at points: on the triangles of the field, as contacts see it. Points that are NaN have none."""
        h, (rows, columns) = self.heights, self.heights.shape
        xp = module(h)
        u = xp.clip((like(h, x, "f64") / self.half_extents[0] + 1) / 2 * (columns - 1), 0, columns - 1)
        v = xp.clip((like(h, y, "f64") / self.half_extents[1] + 1) / 2 * (rows - 1), 0, rows - 1)
        i = xp.clip(cast(xp.nan_to_num(v), "i64"), 0, rows - 2)
        j = xp.clip(cast(xp.nan_to_num(u), "i64"), 0, columns - 2)
        a, b = v - i, u - j
        below = h[i, j] + b * (h[i, j + 1] - h[i, j]) + a * (h[i + 1, j + 1] - h[i, j + 1])
        above = h[i, j] + a * (h[i + 1, j] - h[i, j]) + b * (h[i + 1, j + 1] - h[i + 1, j])
        return xp.where(b >= a, below, above)  # the diagonal goes from the first to the last corner

    def moved(self, arrays: Numpy | Torch) -> Ground:
        """The same ground with arrays of numpy or torch."""
        return replace(self, heights=arrays.array(self.heights, "f64"), origins=arrays.array(self.origins, "f64"))


# ---- kinds: (x, y [n][n] m from the middle, difficulty 0..1, half width m, random numbers) -> heights [n][n] m ----


def _outside(x: Floats, y: Floats) -> Floats:
    """Distance from the platform, in the maximum norm: squares around the middle."""
    return np.asarray(np.maximum(np.maximum(np.abs(x), np.abs(y)) - PLATFORM, 0.0))


def flat(x: Floats, y: Floats, difficulty: float, half: float, rng: np.random.Generator) -> Floats:
    return np.zeros_like(x)


def slope(x: Floats, y: Floats, difficulty: float, half: float, rng: np.random.Generator) -> Floats:
    """A pyramid, up to 30 degrees steep."""
    return np.asarray(-np.tan(np.radians(30 * difficulty)) * _outside(x, y))


def stairs(x: Floats, y: Floats, difficulty: float, half: float, rng: np.random.Generator) -> Floats:
    """Steps of 0.3 m around the middle, down, up to 0.2 m high."""
    return -0.2 * difficulty * np.ceil(_outside(x, y) / 0.3 - 1e-9)


def stairs_up(x: Floats, y: Floats, difficulty: float, half: float, rng: np.random.Generator) -> Floats:
    """The same, up."""
    return -stairs(x, y, difficulty, half, rng)


def rough(x: Floats, y: Floats, difficulty: float, half: float, rng: np.random.Generator) -> Floats:
    """Random heights within 0.1 m."""
    noise = rng.uniform(-0.1, 0.1, x.shape)
    return np.where(_outside(x, y) > 0, difficulty * noise, 0.0)


def stones(x: Floats, y: Floats, difficulty: float, half: float, rng: np.random.Generator) -> Floats:
    """Stones of 0.4 m, with gaps of up to 0.3 m that are 1 m deep."""
    period = 0.4 + 0.3 * difficulty
    on_stone = (np.mod(x + period / 2, period) < 0.4) & (np.mod(y + period / 2, period) < 0.4)
    return np.where((_outside(x, y) > 0) & ~on_stone & (difficulty > 0), -1.0, 0.0)


def gaps(x: Floats, y: Floats, difficulty: float, half: float, rng: np.random.Generator) -> Floats:
    """Rings of up to 0.5 m around the middle that are 1 m deep, one in each metre."""
    distance = _outside(x, y)
    return np.where((distance > 0) & (np.mod(distance, 1.0) < 0.5 * difficulty), -1.0, 0.0)


Kind = Callable[[Floats, Floats, float, float, np.random.Generator], Floats]
KINDS: dict[str, Kind] = {
    "flat": flat,
    "slope": slope,
    "stairs": stairs,
    "stairs_up": stairs_up,
    "rough": rough,
    "stones": stones,
    "gaps": gaps,
}


def make(
    kinds: Sequence[str] = ("slope", "stairs", "stairs_up", "rough"),
    levels: int = 10,
    size: float = 8.0,
    resolution: float = 0.1,
    seed: int = 0,
) -> Ground:
    """Cells of `size` m with a point every `resolution` m. Level k of n has the difficulty k/(n - 1), or 1 if n is 1.

    A cell depends on the seed, its kind and its level only.
    """
    levels = integer("levels", levels, 1)
    if not (resolution > 0 and size >= 4 * PLATFORM and np.isfinite(size / resolution)):
        raise ValueError(f"size is {size} and resolution {resolution}; size must be at least {4 * PLATFORM} m")
    if not kinds:
        raise ValueError(f"kinds is empty; it must name some of {', '.join(KINDS)}")
    for kind in kinds:
        if kind not in KINDS:
            hint = nearest(kind, KINDS, f"allowed: {', '.join(KINDS)}")
            raise ValueError(f"{kind!r} is not a kind of terrain{hint}")
    n = int(round(size / resolution))
    points = (np.arange(n) + 0.5) * size / n - size / 2
    x, y = np.meshgrid(points, points)
    cells = np.zeros((levels, len(kinds), n, n))
    for level in range(levels):
        difficulty = level / (levels - 1) if levels > 1 else 1.0
        for k, kind in enumerate(kinds):
            rng = np.random.default_rng([seed, list(KINDS).index(kind), k, level])
            cells[level, k] = KINDS[kind](x, y, difficulty, size / 2, rng)
    return _joined(cells, size, tuple(kinds), np.zeros((levels, len(kinds))))


def join(fields: ArrayLike, size: float = 8.0, names: Sequence[str] | None = None) -> Ground:
    """Height fields of your own as cells of `size` m: [kinds][n][n] m, or [levels][kinds][n][n], rows along y.

    A cell has the n points per side of its field. `origins` points at the middle of each cell, at the
    greatest height within 0.75 m of it.
    """
    cells = np.asarray(fields, np.float64)
    cells = cells[None] if cells.ndim == 3 else cells
    if cells.ndim != 4 or cells.shape[2] != cells.shape[3] or min(cells.shape) < 1 or cells.shape[2] < 2:
        raise ValueError(
            f"fields have shape {np.shape(fields)}; it must be (kinds, n, n) or (levels, kinds, n, n), n >= 2"
        )
    if not np.all(np.isfinite(cells)):
        raise ValueError("fields have heights that are not finite")
    if not (size > 0 and np.isfinite(size)):
        raise ValueError(f"size is {size}; it must be finite and > 0")
    kinds = tuple(f"field{k}" for k in range(cells.shape[1])) if names is None else tuple(names)
    if len(kinds) != cells.shape[1]:
        raise ValueError(f"there are {len(kinds)} names; there must be {cells.shape[1]}, one for each kind")
    n = cells.shape[2]
    points = np.abs((np.arange(n) + 0.5) * size / n - size / 2)
    near = points <= max(PLATFORM, points.min())
    return _joined(cells, size, kinds, np.max(cells[:, :, near][:, :, :, near], axis=(2, 3)))


def _joined(cells: Floats, size: float, kinds: tuple[str, ...], middle: Floats) -> Ground:
    """The ground of cells [levels][kinds][n][n] m; `middle` is the height of their origins, [levels][kinds] m."""
    levels, columns, n = cells.shape[:3]
    heights = cells.transpose(0, 2, 1, 3).reshape(levels * n, columns * n)
    half = ((heights.shape[1] - 1) / 2 * size / n, (heights.shape[0] - 1) / 2 * size / n)
    column, row = np.meshgrid(np.arange(columns), np.arange(levels))
    origins = np.stack([(column - (columns - 1) / 2) * size, (row - (levels - 1) / 2) * size, middle], axis=-1)
    return Ground(heights, half, origins, kinds, size)


def lay(model: Model, ground: Ground | Sequence[Ground], mu: float | None = None) -> Model:
    """The model on this ground: the height field takes the place, the material and the collision group of its first
    static plane; other static planes go. `mu` is another friction of the ground. Of several grounds, of one extent,
    worlds have the first until they choose another (terrain.choose)."""
    grounds = [ground] if isinstance(ground, Ground) else list(ground)
    extents = {tuple(map(float, each.half_extents)) for each in grounds}
    if len(extents) != 1:
        raise ValueError(f"grounds have the half extents {sorted(extents)}; there must be one, of all of them")
    planes = _static_planes(model)
    if not len(planes):
        raise ValueError(f"{model.name} has no static plane, whose place the terrain could take")
    arrays, first = model.arrays(), int(planes[0])
    kept = np.setdiff1d(np.arange(model.num_shapes), planes[1:])
    for name in [name for name in arrays if name.startswith("shape_") and "pairs" not in name]:
        values = arrays[name]
        arrays[name] = [values[i] for i in kept] if isinstance(values, list) else values[kept]
    field = {"type": SHAPE_TYPES["SAP_SHAPE_HEIGHT_FIELD"], "scale": (*extents.pop(), 0.0), "name": "terrain"}
    field |= {"mesh": model.num_height_fields} | ({} if mu is None else {"material_mu": mu})
    for name, value in field.items():
        arrays[f"shape_{name}"][first] = value
    number = np.full(model.num_shapes, -1, np.int32)
    number[kept] = np.arange(len(kept))
    pairs = number[np.asarray(arrays["shape_filter_pairs"]).reshape(-1, 2)]
    arrays["shape_filter_pairs"] = pairs[np.all(pairs >= 0, axis=1)]
    sizes = np.reshape(arrays["height_field_size"], (-1, 2)).tolist()
    arrays["height_field_size"] = sizes + [each.heights.shape for each in grounds]
    arrays["heights"] = np.concatenate([arrays["heights"], *(each.heights.ravel() for each in grounds)])
    for name in ("num_shapes", "num_height_fields", "num_heights", "num_shape_filter_pairs"):
        arrays.pop(name)
    out = Model(dt=model.dt, **arrays)
    out.options, out.imported = model.options, model.imported and _renumbered(model.imported, number)
    return out


def choose(batch: Batch, ground: ArrayLike, worlds: ArrayLike | None = None) -> None:
    """Gives worlds the ground with this index among those that `lay` was given; one for all, or one for each.

    Contacts and rays of the next call are with it. An index that there is not is refused. The batch keeps the choice of
    each world in `batch.expand("shape_mesh")`, which a reset does not change and `get_state` includes.
    """
    model = batch.model
    terrains = np.nonzero(np.array(model.shape_name) == "terrain")[0]
    if len(terrains) != 1:
        raise ValueError(f"{model.name} has {len(terrains)} shapes with the name 'terrain'; terrain.lay gives it one")
    shape, index = int(terrains[0]), host(ground)
    first = int(model.shape_mesh[shape])
    count = model.num_height_fields - first
    if not np.issubdtype(index.dtype, np.integer) or np.any((index < 0) | (index >= count)):
        raise ValueError(f"ground is {index.tolist()}; it must be in 0 .. {count - 1}")
    rows = slice(None) if worlds is None else host(worlds)
    batch.expand("shape_mesh")[rows, shape] = first + index


def _static_planes(model: Model) -> NDArray[np.intp]:
    plane = (np.array(model.shape_type) == SHAPE_TYPES["SAP_SHAPE_PLANE"]) & (np.array(model.shape_body) < 0)
    return np.nonzero(plane)[0]


def _renumbered(imported: Import, number: NDArray[np.int32]) -> Import:
    """The import with other shape numbers, [num_shapes] -> number or -1. Its model is no longer its source's."""
    shape = np.where(imported.shape >= 0, number[imported.shape], -1).astype(np.int32)
    return replace(imported, shape=shape, undrawn={int(number[i]) for i in imported.undrawn} - {-1}, laws={})
