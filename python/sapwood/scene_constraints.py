"""Constraints and tendons of a model as the lists of a scene file (docs/scene.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._layout import BITS

if TYPE_CHECKING:
    from .model import Model

TYPES = ("ball", "weld", "distance", "coupler")
SIDES = {-1: "lower", 0: "both", 1: "upper"}
MODES = ("none", "position", "velocity", "position_velocity", "effort")

# Keys of a tendon that are arrays of the model: tendon_<key>.
TENDON_NUMBERS = (
    "offset",
    "limit_lower",
    "limit_upper",
    "limit_ke",
    "limit_kd",
    "spring_ke",
    "spring_lower",
    "spring_upper",
    "armature",
    "damping",
    "friction",
    "target_pos",
    "target_vel",
    "target_ke",
    "target_kd",
    "effort_limit",
)


def _body(model: Model, body: int) -> str:
    return "world" if body < 0 else model.body_name[body]


def _joint(model: Model, dof: int) -> tuple[str, int | None]:
    """The joint of a dof, and the number of its axis if the joint lists its axes."""
    starts = model.joint_qd_start
    j = next(j for j in range(model.num_joints) if starts[j] <= dof < starts[j + 1])
    return model.joint_name[j], int(dof - starts[j]) if starts[j + 1] - starts[j] > 1 else None


def _coordinate(model: Model, x: int, prefix: str) -> dict[str, Any]:
    """The keys of a coupler's coordinate: joint and axis, or tendon; of, of_axis, of_tendon with the prefix "of"."""
    if x < 0:
        return {}
    if x >= model.num_dofs:
        return {f"{prefix}_tendon" if prefix else "tendon": model.tendon_name[x - model.num_dofs]}
    joint, axis = _joint(model, x)
    out: dict[str, Any] = {prefix or "joint": joint}
    if axis is not None:
        out[f"{prefix}_axis" if prefix else "axis"] = axis
    return out


def _pose(values: Any) -> dict[str, Any]:
    return {"p": values[:3], "q": values[3:]}


def constraint(model: Model, c: int) -> dict[str, Any]:
    """One entry of `constraints`."""
    kind = TYPES[int(model.constraint_type[c])]
    out = {
        "id": model.constraint_name[c],
        "type": kind,
        "ke": model.constraint_ke[c][0],
        "kd": model.constraint_kd[c][0],
        "active": bool(model.constraint_active[c]),
    }
    if kind == "coupler":
        x0, x1 = (int(x) for x in model.constraint_coordinate[c])
        out.update(_coordinate(model, x0, ""), **_coordinate(model, x1, "of"))
        out["polynomial"] = model.constraint_polynomial[c]
        out["reference"], out["of_reference"] = model.constraint_reference[c]
    else:
        a, b = (int(body) for body in model.constraint_body[c])
        out.update(body_a=_body(model, a), body_b=_body(model, b))
    frames = model.constraint_X[c]
    if kind in ("ball", "distance"):
        out.update(point_a=frames[0][:3], point_b=frames[1][:3])
    if kind == "weld":
        out.update(frame_a=_pose(frames[0]), frame_b=_pose(frames[1]))
        out.update(angular_ke=model.constraint_ke[c][1], angular_kd=model.constraint_kd[c][1])
    if kind == "distance":
        out["length"] = model.constraint_length[c]
    if kind in ("distance", "coupler"):
        out["side"] = SIDES[int(model.constraint_side[c])]
    return out


def _path_item(model: Model, k: int) -> dict[str, Any]:
    if model.tendon_term_type[k] == BITS["SAP_TENDON_PULLEY"]:
        return {"pulley": model.tendon_term_value[k][0]}
    return {"body": _body(model, int(model.tendon_term_index[k])), "point": model.tendon_term_value[k]}


def _joint_item(model: Model, k: int) -> Any:
    joint, axis = _joint(model, int(model.tendon_term_index[k]))
    return joint if axis is None else {"joint": joint, "axis": axis}


def tendon(model: Model, t: int) -> dict[str, Any]:
    """One entry of `tendons`."""
    terms = range(int(model.tendon_start[t]), int(model.tendon_start[t + 1]))
    out: dict[str, Any] = {"id": model.tendon_name[t]}
    if model.tendon_term_type[terms[0]] == BITS["SAP_TENDON_JOINT"]:
        out["joints"] = [_joint_item(model, k) for k in terms]
        out["coefficients"] = [model.tendon_term_value[k][0] for k in terms]
    else:
        out["path"] = [_path_item(model, k) for k in terms]
    out.update({key: getattr(model, f"tendon_{key}")[t] for key in TENDON_NUMBERS})
    out["actuator_mode"] = MODES[int(model.tendon_target_mode[t])]
    return out
