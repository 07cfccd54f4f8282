"""Sensors that steps do not know: on mocap bodies, which are a part of the world for them, and of actuators whose
numbers differ between simulations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..conventions import Floats
from ..mjcf.source import TRN_TENDON
from .derived import Evaluation
from .fields import mujoco
from .spatial import conjugate, cross, matrix_of, quat_times, times_transposed

POSES = {"BODY": ("xipos", "xiquat"), "XBODY": ("xpos", "xquat"), "GEOM": ("geom_xpos", "geom_xquat")}
POSES |= {"SITE": ("site_xpos", "site_xquat")}
OWNERS = {"GEOM": "geom_bodyid", "SITE": "site_bodyid", "CAMERA": "cam_bodyid"}
OF_ACTUATORS = ("ACTUATORPOS", "ACTUATORVEL", "ACTUATORFRC", "JOINTACTFRC", "TENDONACTFRC")
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


def of_actuators(m: Any) -> list[int]:
    """The sensors of lengths, velocities and forces of actuators."""
    kinds = [int(getattr(mujoco.mjtSensor, f"mjSENS_{word}")) for word in OF_ACTUATORS]
    return [int(s) for s in np.nonzero(np.isin(m.sensor_type, kinds))[0]]


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
    if kind in OF_ACTUATORS:
        return _bounded(m, s, _of_actuator(at, kind, int(m.sensor_objid[s]))[:, None])
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
    return _bounded(m, s, out) if kind[5:] in ("POS", "LINVEL", "ANGVEL") else out


def _bounded(m: Any, s: int, values: Floats) -> Floats:
    bound = float(m.sensor_cutoff[s])
    return np.clip(values, -bound, bound) if bound > 0 else values


def _of_actuator(at: Evaluation, kind: str, i: int) -> Floats:
    """[n]"""
    m = at.m
    if kind == "JOINTACTFRC":
        return at.qfrc_actuator[:, int(m.jnt_dofadr[i])]
    if kind == "TENDONACTFRC":
        on = np.nonzero((m.actuator_trntype == TRN_TENDON) & (m.actuator_trnid[:, 0] == i))[0]
        return np.asarray(at.actuator_force[:, [at.outputs[a] for a in on]].sum(axis=1))
    fields = {"ACTUATORPOS": at.actuator_length, "ACTUATORVEL": at.actuator_velocity, "ACTUATORFRC": at.actuator_force}
    return fields[kind][:, at.outputs[i]]


def _motion(at: Evaluation, word: str, i: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Position, quaternion, velocity and angular velocity of an object, in the world."""
    b = _body(at.m, int(getattr(mujoco.mjtObj, f"mjOBJ_{word}")), i)
    x, q = (at.field(name)[:, i] for name in POSES[word])
    w = at.cvel[:, b, :3]
    return x, q, at.cvel[:, b, 3:] + cross(w, x - at.origin[:, b]), w
