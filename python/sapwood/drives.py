"""Drives on the joints of a model that was loaded or imported without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .actuation import Actuation
from .arguments import index_of

if TYPE_CHECKING:
    from .model import Model

POSITION_VELOCITY = 3  # joint_target_mode of a drive with ke and kd


def dof_names(model: Model) -> list[str]:
    """The name of the joint of each dof. Several MuJoCo joints of a body may be one D6 joint "a+b+c" here: each name
    stands for its own axis."""
    names: list[str] = []
    for name, count in zip(model.joint_name, np.diff(model.joint_qd_start).tolist()):
        split = count > 1 and name.count("+") == count - 1
        names += name.split("+") if split else [name] * count
    return names


def dofs_of(model: Model, joints: str | Sequence[str] | None) -> NDArray[np.intp]:
    """The dofs of joints with one axis, by name; None: of all of them."""
    every = dof_names(model)
    names = {name: v for v, name in enumerate(every) if every.count(name) == 1}
    if joints is None:
        return np.array(list(names.values()), np.intp)
    wanted = [joints] if isinstance(joints, str) else list(joints)
    return np.array([names[list(names)[index_of("joint with one axis", name, names)]] for name in wanted], np.intp)


def set_drive(
    model: Model, joints: str | Sequence[str] | None, kp: ArrayLike, kd: ArrayLike, effort: ArrayLike | None
) -> None:
    """Model.set_drive."""
    dofs, arrays = dofs_of(model, joints), model.arrays()
    actuation = model.imported.actuation if model.imported else None
    if effort is None:
        effort = _former_effort(actuation, arrays["joint_effort_limit"], dofs)
    given = {
        "joint_target_ke": kp,
        "joint_target_kd": kd,
        "joint_effort_limit": effort,
        "joint_target_mode": POSITION_VELOCITY,
    }
    for name, values in given.items():
        arrays[name][dofs] = values
    arrays["joint_target_pos"][dofs] = arrays["joint_q"][_coords_of(model, dofs)]
    arrays["joint_target_vel"][dofs] = 0
    former = model.mujoco
    if model.mujoco is not None and "dof_drive_range" in model.mujoco:
        bounds = np.array(model.mujoco["dof_drive_range"])
        bounds[dofs] = np.stack([-arrays["joint_effort_limit"][dofs], arrays["joint_effort_limit"][dofs]], axis=1)
        model.mujoco = {**model.mujoco, "dof_drive_range": bounds, **_without_actuators(model.mujoco, dofs)}
    listed = _listed_drivers(actuation, former, dofs)
    model._replace(arrays)
    if actuation:
        _become_servos(actuation, model, dofs, listed)


def _coords_of(model: Model, dofs: NDArray[np.intp]) -> NDArray[np.intp]:
    """The coordinate of each dof of a joint without a quaternion."""
    joint = np.searchsorted(model.joint_qd_start, dofs, side="right") - 1
    out: NDArray[np.intp] = model.joint_q_start[joint] + dofs - model.joint_qd_start[joint]
    return out


def _former_effort(actuation: Actuation | None, limit: NDArray[np.float64], dofs: NDArray[np.intp]) -> ArrayLike:
    """The largest force of the motors on each dof, within the range of the joint; else the limit of its drive."""
    if actuation is None:
        return limit[dofs]
    with np.errstate(invalid="ignore"):
        ends = np.abs(actuation.gain[:, None] * actuation.ctrl_range + actuation.bias[:, None]).max(axis=1)
        most = np.minimum(ends, np.abs(actuation.force_range).max(axis=1))
        moved = actuation.motor[:, dofs] != 0
        motors = np.where(moved, np.abs(actuation.motor[:, dofs]) * most[:, None], 0).sum(axis=0)
    former = np.where(motors > 0, motors, limit[dofs])
    out: NDArray[np.float64] = np.minimum(former, np.abs(actuation.range[dofs]).max(axis=1))
    return out


def _without_actuators(law: dict[str, Any], dofs: NDArray[np.intp]) -> dict[str, Any]:
    """The terms of the actuators that steps of MuJoCo's law compute, without those that move the dofs."""
    if "actuator_term_dof" not in law:
        return {}
    kept = ~np.isin(law["actuator_term_dof"], dofs)
    terms = {f"actuator_term_{name}": np.array(law[f"actuator_term_{name}"])[kept] for name in ("of", "dof", "arm")}
    return {**terms, "num_actuator_terms": int(np.count_nonzero(kept))}


def _listed_drivers(
    actuation: Actuation | None, law: dict[str, Any] | None, dofs: NDArray[np.intp]
) -> dict[int, list[int]]:
    """{dof: controls of the actuators that steps of MuJoCo's law compute}."""
    if actuation is None or law is None or "actuator_term_dof" not in law:
        return {}
    of, dof = np.array(law["actuator_term_of"], int), np.array(law["actuator_term_dof"], int)
    return {int(v): [int(actuation.in_step[i]) for i in of[dof == v]] for v in dofs}


def _become_servos(actuation: Actuation, model: Model, dofs: NDArray[np.intp], listed: dict[int, list[int]]) -> None:
    """Makes the target of each dof the control of its actuator, and no actuator's force act on it besides."""
    for v in dofs:
        maps = (actuation.motor, actuation.position, actuation.velocity)
        drivers = [*np.nonzero(np.any([m[:, v] != 0 for m in maps], axis=0))[0], *listed.get(int(v), [])]
        for m in maps:
            m[:, v] = 0
        if len(drivers):
            u = int(drivers[0])
            actuation.position[u, v] = 1
            if actuation.activations is not None:
                actuation.activations.follow(u)
            actuation.ctrl_range[u] = model.joint_limit_lower[v], model.joint_limit_upper[v]
        actuation.position0[v] = 0 if len(drivers) else model.joint_target_pos[v]
        actuation.velocity0[v] = 0
    actuation.__post_init__()
