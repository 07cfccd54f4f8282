"""Rays: what they meet first among the shapes of each world (Batch.raycast)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _layout
from ._library import ArgumentError, Rays, address, enum_names, lib
from .arguments import index_of, integer, nearest

if TYPE_CHECKING:
    from .batch import Batch

AXES = enum_names("SapRayAxes", "SAP_RAY_AXES_", counted=False)
SIGHT = enum_names("SapRaySight", "SAP_RAY_SEES_", counted=False)
MISS = _layout.BITS["SAP_RAY_MISS"]
INVALID = _layout.BITS["SAP_RAY_INVALID"]
_F32, _F64 = _layout.ENUMS["SapDtype"]["SAP_F32"], _layout.ENUMS["SapDtype"]["SAP_F64"]


class RaySensor(NamedTuple):
    """Rays that a batch casts after every step (Batch.set_sensors); with the arguments of Batch.raycast.

    RaySensor(*pattern_grid((1.6, 1.0), 0.1), body="trunk", axes="heading", sees="static")   # a height scan
    RaySensor(*pattern_lidar(16, 360), body="head", exclude_body="head", max_distance=30)    # a lidar
    """

    origins: Any
    directions: Any
    body: int | str | None = None
    axes: str = "body"
    sees: str = "all"
    exclude_body: int | str | None = None
    max_distance: float = np.inf


class RayHits(NamedTuple):
    """What rays met, of shape (num_worlds, m)."""

    distance: Any  # m, -1 where nothing was met
    normal: Any  # (num_worlds, m, 3) unit, world axes, out of the shape; 0 where nothing was met
    shape: Any  # int32 index of the shape; MISS, or INVALID for a ray that is not finite or has no direction


def pattern_grid(size: tuple[float, float], spacing: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Origins and directions of a height scan: a grid of size (x, y) m around the origin, all rays down.

    The grid has round(size/spacing) + 1 points per side; x varies fastest.
    """
    if not (spacing > 0 and min(size) >= 0 and np.all(np.isfinite([*size, spacing]))):
        raise ValueError(f"size is {size} and spacing {spacing}; they must be finite, size >= 0 and spacing > 0")
    x, y = (np.linspace(-s / 2, s / 2, round(s / spacing) + 1) for s in size)
    grid_x, grid_y = np.meshgrid(x, y)
    origins = np.stack([grid_x.ravel(), grid_y.ravel(), np.zeros(grid_x.size)], axis=1)
    return origins, np.tile([0.0, 0.0, -1.0], (len(origins), 1))


def pattern_lidar(
    channels: int, points: int, vertical: tuple[float, float] = (-np.pi / 12, np.pi / 12), horizontal: float = 2 * np.pi
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Origins and directions of a lidar: `channels` rows at angles `vertical` (low, high) rad above the x-y plane.

    Each row has `points` rays over `horizontal` rad around z, symmetric about x; a full circle has no ray twice.
    """
    channels, points = integer("channels", channels, 1), integer("points", points, 1)
    full = horizontal >= 2 * np.pi - 1e-9
    around = np.linspace(-horizontal / 2, horizontal / 2, points, endpoint=not full)
    up, around = np.meshgrid(np.linspace(*vertical, channels), around, indexing="ij")
    directions = np.stack([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)], axis=-1).reshape(
        -1, 3
    )
    return np.zeros_like(directions), directions


def _choice(name: str, value: str, allowed: dict[str, int]) -> int:
    if value not in allowed:
        hint = nearest(value, allowed, f"it must be one of {', '.join(allowed)}")
        raise ValueError(f"{name} is {value!r}{hint}")
    return allowed[value]


def _body(batch: Batch, name: str, value: int | str | None) -> int:
    if value is None:
        return -1
    if isinstance(value, str):
        return index_of("body", value, batch.model.body_name)
    return integer(name, value, 0, batch.model.num_bodies - 1)


def _vectors(batch: Batch, name: str, given: ArrayLike) -> NDArray[Any]:
    """[m][3] or [num_worlds][m][3]; one vector counts as m = 1. The type of the batch's state."""
    out = np.asarray(given, batch._get("body_q").dtype if batch.device == "cpu" else batch.body_q.dtype)
    out = out[None] if out.ndim == 1 else out
    if out.ndim not in (2, 3) or out.shape[-1] != 3 or (out.ndim == 3 and out.shape[0] not in (1, batch.num_worlds)):
        raise ValueError(f"{name} has shape {np.shape(given)}; it must be (m, 3) or ({batch.num_worlds}, m, 3)")
    return out


def _broadcast(batch: Batch, origins: ArrayLike, directions: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both with the same shape, without gaps."""
    o, d = _vectors(batch, "origins", origins), _vectors(batch, "directions", directions)
    rays = {a.shape[-2] for a in (o, d)} - {1}
    if len(rays) > 1:
        raise ValueError(f"there are {o.shape[-2]} origins and {d.shape[-2]} directions; they must be as many, or one")
    m = rays.pop() if rays else 1
    shared = max(o.ndim, d.ndim) == 2
    shape = (m, 3) if shared else (batch.num_worlds, m, 3)
    return tuple(np.ascontiguousarray(np.broadcast_to(a, shape)) for a in (o, d))  # type: ignore[return-value]


class _Memory(NamedTuple):
    """An array in host or device memory."""

    address: int
    shape: tuple[int, ...]
    kind: str


def _device_memory(name: str, array: Any) -> _Memory:
    interface = array.__cuda_array_interface__
    if interface.get("strides") is not None:
        raise ValueError(f"{name} has gaps; it must be contiguous")
    return _Memory(interface["data"][0], tuple(interface["shape"]), interface["typestr"])


def _host_memory(name: str, array: NDArray[Any], written: bool = False) -> _Memory:
    return _Memory(address(name, array, written=written) or 0, array.shape, array.dtype.str)


def _out(batch: Batch, m: int, kind: str, on_device: bool, out: RayHits) -> tuple[dict[str, _Memory], dict[str, Any]]:
    """The memory of the results that are wanted, and the arrays that the library writes in place of those with gaps."""
    n, rows, places = batch.num_worlds, {}, {}
    expected = {"distance": ((n, m), kind), "normal": ((n, m, 3), kind), "shape": ((n, m), "<i4")}
    for name, array in out._asdict().items():
        if array is None:
            continue
        known = hasattr(array, "__cuda_array_interface__") if on_device else isinstance(array, np.ndarray)
        if not known:
            where = "in GPU memory, as the rays are" if on_device else "of numpy, as the rays are"
            raise TypeError(f"out.{name} is a {type(array).__name__}; it must be an array {where}")
        if not on_device and not array.flags.writeable:
            raise ArgumentError(f"out.{name} is read-only; it must be writable")
        if not on_device and not (array.flags.c_contiguous and array.flags.aligned):
            array = rows[name] = np.empty_like(array, order="C")
        memory = _device_memory(f"out.{name}", array) if on_device else _host_memory(f"out.{name}", array, True)
        if (memory.shape, memory.kind) != expected[name]:
            raise ValueError(
                f"out.{name} has shape {memory.shape} and type {memory.kind!r}; they must be {expected[name]}"
            )
        places[name] = memory
    return places, rows


def _struct(batch: Batch, given: Sequence[_Memory], sensor: RaySensor) -> Any:
    """The SapRays of rays whose origins and directions are `given`."""
    rays, shape = Rays(), given[0].shape
    lib.sap_rays_default(ctypes.byref(rays))
    rays.num_rays, rays.shared = shape[-2], int(len(shape) == 2)
    rays.dtype = _F64 if given[0].kind == "<f8" else _F32
    rays.origin, rays.direction = given[0].address, given[1].address
    rays.body, rays.axes = _body(batch, "body", sensor.body), _choice("axes", sensor.axes, AXES)
    rays.sees, rays.exclude_body = (
        _choice("sees", sensor.sees, SIGHT),
        _body(batch, "exclude_body", sensor.exclude_body),
    )
    rays.max_distance = sensor.max_distance
    return rays


def sensor_struct(batch: Batch, sensor: RaySensor) -> tuple[Any, Any]:
    """The SapRays of a sensor, and the arrays that must live as long as it."""
    keep = _broadcast(batch, sensor.origins, sensor.directions)
    return _struct(batch, [_host_memory(*each) for each in zip(("origins", "directions"), keep)], sensor), keep


def raycast(
    batch: Batch,
    origins: Any,
    directions: Any,
    body: int | str | None,
    axes: str,
    sees: str,
    exclude_body: int | str | None,
    max_distance: float,
    out: RayHits | None,
) -> RayHits:
    """Batch.raycast."""
    on_device = hasattr(origins, "__cuda_array_interface__")
    if on_device and out is None:
        raise ValueError("the rays are in GPU memory; `out` must be a RayHits of arrays there")
    if on_device:
        given = [_device_memory("origins", origins), _device_memory("directions", directions)]
    else:
        keep = _broadcast(batch, origins, directions)
        given = [_host_memory(*each) for each in zip(("origins", "directions"), keep)]
    shape, kind = given[0].shape, given[0].kind
    if given[1][1:] != (shape, kind) or kind not in ("<f4", "<f8") or len(shape) not in (2, 3) or shape[-1] != 3:
        raise ValueError(f"origins are {given[0][1:]}, directions {given[1][1:]}; they must be alike, (m, 3) floats")
    if len(shape) == 3 and shape[0] != batch.num_worlds:
        raise ValueError(f"origins have shape {shape}; the first length must be {batch.num_worlds}")
    m = shape[-2]
    if out is None:
        n, dtype = batch.num_worlds, np.dtype(kind)
        out = RayHits(np.empty((n, m), dtype), np.empty((n, m, 3), dtype), np.empty((n, m), np.int32))
    results, rows = _out(batch, m, kind, on_device, out)
    rays = _struct(batch, given, RaySensor(None, None, body, axes, sees, exclude_body, max_distance))
    for name, memory in results.items():
        setattr(rays, name, memory.address)
    batch._call(lib.sap_batch_raycast, ctypes.byref(rays))
    for name, array in rows.items():
        getattr(out, name)[...] = array
    return out
