"""Declaration of the sensors of a batch (Batch.set_sensors)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _layout
from ._library import Rays, Sensors, address, lib
from .arguments import index_of, integer, nearest
from .model import SHAPE_TYPES
from .rays import RaySensor, sensor_struct

if TYPE_CHECKING:
    from .batch import Batch

TOUCHES = {"any": _layout.BITS["SAP_TOUCH_ANY"], "static": _layout.BITS["SAP_TOUCH_STATIC"]}


_HERE = np.array([0.0, 0, 0, 0, 0, 0, 1])


def _body(batch: Batch, name: str, body: Any, low: int) -> int:
    if isinstance(body, str):
        return index_of("body", body, batch.model.body_name)
    return -1 if body is None and low < 0 else integer(name, body, low, batch.model.num_bodies - 1)


def _site(batch: Batch, site: Any) -> tuple[int, Any]:
    body, pose = site if isinstance(site, tuple) else (site, [0, 0, 0, 0, 0, 0, 1])
    pose = np.asarray(pose, np.float64)
    if pose.shape != (7,):
        raise ValueError(f"the pose of a site has shape {pose.shape}; it must be (7,): position, quaternion x y z w")
    return _body(batch, "body of a site", body, -1), pose


class TouchSensor(NamedTuple):
    """Contacts that a batch measures after every step (Batch.set_sensors): of a body, or of one of its shapes.

        TouchSensor("fl_shank", "static")                 # a foot with the ground
        TouchSensor(shape="sole", other_shape="step_3")   # a pair of shapes

    docs/sensors.md describes the readings.
    """

    body: int | str | None = None  # None: the body of `shape`
    other: int | str = "any"  # what it touches: "any", "static" or a body
    shape: int | str | None = None  # contacts of this shape of the body only
    other_shape: int | str | None = None  # contacts with this shape only
    # contacts in this solid only, which the body carries: ("box", sizes, pose in the body), or the number of its type
    zone: tuple[Any, ...] | None = None


def _shape(batch: Batch, name: str, shape: Any) -> int:
    if isinstance(shape, str):
        return index_of("shape", shape, batch.model.shape_name)
    return -1 if shape is None else integer(name, shape, 0, batch.model.num_shapes - 1)


def _touch(batch: Batch, given: TouchSensor) -> tuple[int, int, int, int]:
    own = _shape(batch, "shape of a contact sensor", given.shape)
    other_shape = _shape(batch, "other shape of a contact sensor", given.other_shape)
    body = int(batch.model.shape_body[own]) if given.body is None and own >= 0 else given.body
    if body is None:
        raise ValueError("a contact sensor needs a body, or a shape of one; body -1 has the static shapes")
    other = given.other
    other = TOUCHES[other] if other in TOUCHES else _body(batch, "other body of a contact sensor", other, 0)
    return _body(batch, "body of a contact sensor", body, -1), other, own, other_shape


ZONES = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "cone")


def _zone(zone: Any) -> tuple[int, Any, Any]:
    """Type, sizes and pose of the zone of a contact sensor; type -1: none."""
    if zone is None:
        return -1, np.zeros(3), _HERE
    kind, sizes, *rest = zone
    numbers = {name: SHAPE_TYPES["SAP_SHAPE_" + name.upper()] for name in ZONES}
    if kind not in numbers and kind not in numbers.values():
        hint = nearest(kind, ZONES, f"it must be one of {', '.join(ZONES)}")
        raise ValueError(f"the zone of a contact sensor is {kind!r}{hint}")
    size, place = np.zeros(3), np.asarray(rest[0] if rest else _HERE, np.float64)
    given = np.atleast_1d(np.asarray(sizes, np.float64))
    if given.ndim != 1 or len(given) > 3 or place.shape != (7,):
        raise ValueError("the zone of a contact sensor is (type, sizes, pose): up to 3 sizes and 7 numbers of a pose")
    size[: len(given)] = given
    return numbers.get(kind, kind), size, place


def declare(batch: Batch, sites: Sequence[Any], touch: Sequence[Any], rays: Sequence[RaySensor]) -> None:
    """Batch.set_sensors."""
    frames = [_site(batch, site) for site in sites]
    given = [TouchSensor(*(sensor if isinstance(sensor, tuple) else (sensor,))) for sensor in touch]
    contacts = np.array([_touch(batch, sensor) for sensor in given], np.int32).reshape(-1, 4).T.copy()
    zones = [_zone(sensor.zone) for sensor in given]
    zone_type = np.array([kind for kind, _, _ in zones], np.int32)
    zone_size, zone_pose = (np.array([zone[i] for zone in zones], np.float64) for i in (1, 2))
    site_body = np.array([body for body, _ in frames], np.int32)
    site_pose = np.array([pose for _, pose in frames], np.float64).reshape(-1, 7)
    out = Sensors()
    out.num_sites, out.num_touch = len(frames), contacts.shape[1]
    arrays: dict[str, NDArray[Any]] = {"site_body": site_body, "site_pose": site_pose}
    arrays |= dict(zip(("touch_body", "touch_with", "touch_shape", "touch_with_shape"), contacts))
    arrays |= {"touch_zone": zone_type, "touch_zone_size": zone_size, "touch_zone_pose": zone_pose}
    for name, array in arrays.items():
        setattr(out, name, address(name, array))
    casts = [sensor_struct(batch, sensor) for sensor in rays]
    structs = (Rays * len(casts))(*(struct for struct, _ in casts))
    out.num_ray_sensors, out.ray_sensor = len(casts), ctypes.addressof(structs)
    batch._call(lib.sap_batch_set_sensors, ctypes.byref(out))
