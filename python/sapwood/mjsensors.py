"""Readings of the sensors of an imported MuJoCo model, in the order of its sensordata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .conventions import Floats, quat_matrix, quat_to_wxyz

if TYPE_CHECKING:
    from .batch import Batch
    from .mjcf.sensors import MjSensor


class MjSensors:
    """The sensors of a batch that were imported. It declares their sites and contact sensors."""

    def __init__(self, batch: Batch, sensors: list[MjSensor], size: int) -> None:
        self.batch, self.sensors, self.size = batch, sensors, size
        framed = [sensor for sensor in sensors if sensor.pose is not None]
        touching = [sensor for sensor in sensors if sensor.kind == "touch"]
        self.site = {id(sensor): i for i, sensor in enumerate(framed)}
        self.touch = {id(sensor): i for i, sensor in enumerate(touching)}
        batch.set_sensors(
            [(sensor.body, sensor.pose) for sensor in framed], [(sensor.body, "any") for sensor in touching]
        )
        for name in self._arrays():
            getattr(batch, name)  # turns it on

    def _arrays(self) -> list[str]:
        of = {"accelerometer": "site_accelerometer", "gyro": "site_gyro", "touch": "touch_pressure"}
        plain = {"jointpos": "joint_q", "jointvel": "joint_qd"}
        moving = {"velocimeter": "site_qd", "framelinvel": "site_qd", "frameangvel": "site_qd"}
        names = {(of | plain | moving).get(sensor.kind, "site_q") for sensor in self.sensors}
        return sorted(
            names | ({"site_q"} if {s.kind for s in self.sensors} & {"velocimeter", "rangefinder"} else set())
        )

    def read(self) -> Floats:
        """(num_worlds, nsensordata)"""
        arrays: dict[str, NDArray[Any]] = {name: self.batch._get(name) for name in self._arrays()}
        out = np.zeros((self.batch.num_worlds, self.size))
        for sensor in self.sensors:
            values = self._reading(sensor, arrays).reshape(self.batch.num_worlds, sensor.size)
            if sensor.cutoff > 0 and sensor.kind not in ("framequat", "framexaxis", "frameyaxis", "framezaxis"):
                values = np.clip(values, -sensor.cutoff, sensor.cutoff)
            out[:, sensor.first : sensor.first + sensor.size] = values
        return out

    def _reading(self, sensor: MjSensor, arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
        kind, i = sensor.kind, self.site.get(id(sensor), 0)
        if kind == "jointpos":
            return self.batch.qpos[:, sensor.place]
        if kind == "jointvel":
            return self.batch.qvel[:, sensor.place]
        if kind == "touch":
            return arrays["touch_pressure"][:, self.touch[id(sensor)]]
        if kind in ("accelerometer", "gyro"):
            return arrays[f"site_{kind}"][:, i]
        if kind in ("framelinvel", "frameangvel"):
            return arrays["site_qd"][:, i, :3] if kind == "framelinvel" else arrays["site_qd"][:, i, 3:]
        site = arrays["site_q"][:, i]
        axes = quat_matrix(site[:, 3:])
        if kind == "velocimeter":
            return np.asarray(np.einsum("wji,wj->wi", axes, arrays["site_qd"][:, i, :3]))
        if kind == "rangefinder":
            return self._range(sensor, site, axes)
        if kind == "framepos":
            return site[:, :3]
        return quat_to_wxyz(site[:, 3:]) if kind == "framequat" else axes[:, :, "xyz".index(kind[5])]

    def _range(self, sensor: MjSensor, site: NDArray[Any], axes: NDArray[Any]) -> NDArray[Any]:
        """The distance along the z axis of the site to the first shape of another body; -1: none."""
        exclude = None if sensor.body < 0 else sensor.body
        hits = self.batch.raycast(site[:, None, :3], axes[:, None, :, 2], exclude_body=exclude)
        return np.asarray(hits.distance[:, 0])
