"""Sensors on mocap bodies, which move although they are a part of the world for the steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..conventions import Floats
from .derived import Evaluation
from .fields import mujoco
from .spatial import conjugate, cross, matrix_of, quat_times, times_transposed

POSES = {"BODY": ("xipos", "xiquat"), "XBODY": ("xpos", "xquat"), "GEOM": ("geom_xpos", "geom_xquat")}
POSES |= {"SITE": ("site_xpos", "site_xquat")}
OWNERS = {"GEOM": "geom_bodyid", "SITE": "site_bodyid", "CAMERA": "cam_bodyid"}
KINDS = ("FRAMEPOS", "FRAMEQUAT", "FRAMEXAXIS", "FRAMEYAXIS", "FRAMEZAXIS", "FRAMELINVEL", "FRAMEANGVEL")


def on_mocap(m: Any) -> list[int]:
    """The sensors with an object or a reference on a mocap body, or on what it carries."""
    carried = np.array(m.body_mocapid)[np.array(m.body_rootid)] >= 0
    out = []
    for s in range(m.nsensor):
        ends = [(int(m.sensor_objtype[s]), int(m.sensor_objid[s])), (int(m.sensor_reftype[s]), int(m.sensor_refid[s]))]
        bodies = [_body(m, *end) for end in ends]
        if any(b > 0 and carried[b] for b in bodies):
            out.append(s)
    return out


def _word(of: Any, value: int) -> str:
    return str(of(value).name).split("_", 1)[1]


def _body(m: Any, kind: int, i: int) -> int:
    """The body of an object; 0 for those that have none."""
    word = _word(mujoco.mjtObj, kind)
    if i < 0 or word not in (*POSES, "CAMERA"):
        return 0
    return i if word in ("BODY", "XBODY") else int(getattr(m, OWNERS[word])[i])


def reading(at: Evaluation, s: int) -> Floats:
    """[n][dim] of a sensor of a frame; other kinds on mocap bodies that have moved are refused."""
    m, kind = at.m, _word(mujoco.mjtSensor, int(at.m.sensor_type[s]))
    objects = [_word(mujoco.mjtObj, int(of[s])) for of in (m.sensor_objtype, m.sensor_reftype)]
    if kind not in KINDS or objects[0] not in POSES or (m.sensor_refid[s] >= 0 and objects[1] not in POSES):
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_SENSOR, s) or s
        raise ValueError(f"sensor {name!r} of kind {kind.lower()} is on a mocap body that has moved: not implemented")
    x, q, v, w = _motion(at, objects[0], int(m.sensor_objid[s]))
    out = {"POS": x, "LINVEL": v, "ANGVEL": w}.get(kind[5:])
    if out is None:
        out = q if kind == "FRAMEQUAT" else matrix_of(q)[..., "XYZ".index(kind[5])]
    if m.sensor_refid[s] >= 0:
        x_r, q_r, v_r, w_r = _motion(at, objects[1], int(m.sensor_refid[s]))
        if kind == "FRAMEQUAT":
            return quat_times(conjugate(q_r), q)
        moved = {"POS": x_r, "LINVEL": v_r + cross(w_r, x - x_r), "ANGVEL": w_r}.get(kind[5:], 0.0)
        out = times_transposed(matrix_of(q_r), out - moved)
    bound = float(m.sensor_cutoff[s])
    return np.clip(out, -bound, bound) if bound > 0 and kind[5:] in ("POS", "LINVEL", "ANGVEL") else out


def _motion(at: Evaluation, word: str, i: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Position, quaternion, velocity and angular velocity of an object, in the world."""
    b = _body(at.m, int(getattr(mujoco.mjtObj, f"mjOBJ_{word}")), i)
    x, q = (at.field(name)[:, i] for name in POSES[word])
    w = at.cvel[:, b, :3]
    return x, q, at.cvel[:, b, 3:] + cross(w, x - at._origin[:, b]), w
