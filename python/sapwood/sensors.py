"""Declaration of the sensors of a batch (Batch.set_sensors)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _layout
from ._library import Rays, Sensors, lib
from .arguments import index_of, integer
from .rays import RaySensor, sensor_struct

if TYPE_CHECKING:
    from .batch import Batch

TOUCHES = {"any": _layout.BITS["SAP_TOUCH_ANY"], "static": _layout.BITS["SAP_TOUCH_STATIC"]}


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


def _touch(batch: Batch, touch: Any) -> tuple[int, int]:
    body, other = touch if isinstance(touch, tuple) else (touch, "any")
    other = TOUCHES[other] if other in TOUCHES else _body(batch, "other body of a contact sensor", other, 0)
    return _body(batch, "body of a contact sensor", body, 0), other


def declare(batch: Batch, sites: Sequence[Any], touch: Sequence[Any], rays: Sequence[RaySensor]) -> None:
    """Batch.set_sensors."""
    frames = [_site(batch, site) for site in sites]
    pairs = [_touch(batch, sensor) for sensor in touch]
    site_body = np.array([body for body, _ in frames], np.int32)
    site_pose = np.array([pose for _, pose in frames], np.float64).reshape(-1, 7)
    touch_body, touch_with = np.array(pairs, np.int32).reshape(-1, 2).T.copy()
    out = Sensors()
    out.num_sites, out.site_body, out.site_pose = len(frames), site_body.ctypes.data, site_pose.ctypes.data
    out.num_touch, out.touch_body, out.touch_with = len(pairs), touch_body.ctypes.data, touch_with.ctypes.data
    casts = [sensor_struct(batch, sensor) for sensor in rays]
    structs = (Rays * len(casts))(*(struct for struct, _ in casts))
    out.num_ray_sensors, out.ray_sensor = len(casts), ctypes.addressof(structs)
    batch._call(lib.sap_batch_set_sensors, ctypes.byref(out))
