"""Sensors of a MuJoCo model that a batch can measure (Batch.sensordata)."""

from __future__ import annotations

from dataclasses import dataclass

from ..conventions import Floats, pose, pose_mul, quat_from_wxyz
from .source import Source, mujoco_module

# Kinds that are measured in a frame, and those of joints.
FRAME_KINDS = (
    "accelerometer",
    "gyro",
    "velocimeter",
    "touch",
    "rangefinder",
    "framepos",
    "framequat",
    "framexaxis",
    "frameyaxis",
    "framezaxis",
    "framelinvel",
    "frameangvel",
)
JOINT_KINDS = ("jointpos", "jointvel")


@dataclass
class MjSensor:
    """A sensor, its place in sensordata, and the frame or coordinate that it measures."""

    kind: str
    first: int  # in sensordata
    size: int
    cutoff: float  # readings are clipped to it; 0: not
    body: int = -1  # of the frame: ours; -1: the world
    pose: Floats | None = None  # [7] of the frame in the body
    place: int = 0  # in qpos or qvel


def _frame(source: Source, kind: str, index: int) -> tuple[int, Floats] | None:
    """Our body and the pose in it of an object of MuJoCo; None if it has no frame."""
    m = source.m
    if kind == "SITE":
        b, here = int(m.site_bodyid[index]), pose(m.site_pos[index], quat_from_wxyz(m.site_quat[index]))
    elif kind == "GEOM":
        b, here = int(m.geom_bodyid[index]), pose(m.geom_pos[index], quat_from_wxyz(m.geom_quat[index]))
    elif kind == "BODY":  # MuJoCo means the frame of its inertia
        b, here = index, pose(m.body_ipos[index], quat_from_wxyz(m.body_iquat[index]))
    elif kind == "XBODY":
        b, here = index, pose()
    else:
        return None
    return int(source.body[b]), pose_mul(source.offset[b], here)


def _convert(source: Source, i: int, kind: str) -> MjSensor | None:
    m, objects = source.m, mujoco_module().mjtObj
    out = MjSensor(kind, int(m.sensor_adr[i]), int(m.sensor_dim[i]), float(m.sensor_cutoff[i]))
    index, size = int(m.sensor_objid[i]), {"framequat": 4, "touch": 1, "rangefinder": 1}.get(kind, 3)
    if kind in JOINT_KINDS:
        out.place = int((m.jnt_qposadr if kind == "jointpos" else m.jnt_dofadr)[index])
        return out
    frame = _frame(source, objects(int(m.sensor_objtype[i])).name.removeprefix("mjOBJ_"), index)
    if kind not in FRAME_KINDS or frame is None or int(m.sensor_refid[i]) >= 0 or out.size != size:
        return None
    if kind == "touch" and frame[0] < 0:
        return None
    out.body, out.pose = frame
    return out


def sensors(source: Source) -> list[MjSensor]:
    """The sensors that a batch can measure; the report has the others."""
    m, kinds, found = source.m, mujoco_module().mjtSensor, []
    for i in range(m.nsensor):
        kind = kinds(int(m.sensor_type[i])).name.removeprefix("mjSENS_").lower()
        sensor = _convert(source, i, kind)
        if sensor is not None:
            found.append(sensor)
        else:
            source.approximate("SENSOR", i, f"{kind}, left out: its readings are 0; it does not move the robot")
    return found
