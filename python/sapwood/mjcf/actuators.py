"""Import of springs and actuators as drives, motors and thrusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..actuation import Activations, Actuation, Thruster
from ..conventions import Floats, pose, pose_mul, quat_from_wxyz, quat_matrix
from .bodies import Tree
from .in_step import StepActuators
from .report import Code, Finding
from .source import DYN_FILTEREXACT, DYN_INTEGRATOR, DYN_NONE, HINGE, SLIDE, TRN_SITE, TRN_TENDON, Source
from .tendons import JOINT, Tendons, force_range
from .transmission import Actuator


class Drives:
    """Sums over springs and actuators, by control u < nu and coordinate: a dof x < nv, or tendon x - nv."""

    def __init__(self, nu: int, bounds: Floats, columns: dict[str, Any]) -> None:
        nx = len(bounds)
        self.ke, self.kd = np.zeros((2, nx))
        self.pull, self.velocity0 = np.zeros((2, nx))  # force of the drive at coordinate and velocity 0
        self.limit = np.full(nx, np.inf)  # of the effort
        self.range = bounds  # [nx][2] of the sum of the forces of motors
        self.motor, self.position, self.velocity = np.zeros((3, nu, nx))
        self.gain, self.bias = np.ones(nu), np.zeros(nu)  # of motors
        self.force_range = np.tile([-np.inf, np.inf], (nu, 1))
        self.columns = columns  # armature and damping of dofs and tendons; then those of the drives
        self.thrusters: list[Thruster] = []
        self.driven: set[int] = set()  # coordinates with a spring or a drive
        self.range_gear: dict[int, float] = {}  # of the actuators of a tendon that has a range
        self.found: list[Finding] = []


def drives(
    source: Source,
    tree: Tree,
    tendons: Tendons,
    columns: dict[str, Any],
    actuators: Sequence[Actuator],
    step: StepActuators,
) -> Drives:
    """Converts springs and actuators; actuators whose bias depends on their coordinate become its drive."""
    m, nv = source.m, int(source.m.nv)
    bounds = np.concatenate([np.tile([-np.inf, np.inf], (nv, 1)), force_range(m, tendons)])
    reflecting = ("joint_armature", "joint_damping", "tendon_armature", "tendon_damping")
    out = Drives(int(m.nu), bounds, {name: list(columns[name]) for name in reflecting if name in columns})
    _add_springs(source, out)
    for each in actuators:
        _add_actuator(source, tree, tendons, step, out, each)
    _set_targets(out, nv, bool(tendons.terms))
    return out


def _set_targets(out: Drives, nv: int, has_tendons: bool) -> None:
    """The columns of the drives, with forces as targets."""
    scale_p, scale_v = np.where(out.ke > 0, out.ke, 1), np.where(out.kd > 0, out.kd, 1)
    out.position, out.pull = out.position / scale_p, out.pull / scale_p
    out.velocity, out.velocity0 = out.velocity / scale_v, out.velocity0 / scale_v
    columns = {
        "target_ke": out.ke,
        "target_kd": out.kd,
        "target_pos": out.pull,
        "target_vel": out.velocity0,
        "effort_limit": out.limit,
        "target_mode": np.where((out.ke > 0) | (out.kd > 0), 3, 0),
    }
    for name, values in columns.items():
        out.columns["joint_" + name] = values[:nv]
        if has_tendons:
            out.columns["tendon_" + name] = values[nv:]


def actuation(source: Source, out: Drives, actuators: Sequence[Actuator], step: StepActuators) -> Actuation:
    """The maps of the controls."""
    m, nu = source.m, int(source.m.nu)
    ctrl_range = np.tile([-np.inf, np.inf], (nu, 1))
    limited = np.zeros(nu, bool) if "CLAMPCTRL" in source.disabled else np.array(m.actuator_ctrllimited, bool)
    ctrl_range[limited] = np.array(m.actuator_ctrlrange)[limited]
    return Actuation(
        [source.name("ACTUATOR", each.index) for each in actuators],
        int(m.nv),
        ctrl_range,
        out.gain,
        out.bias,
        out.force_range,
        out.motor,
        out.range,
        out.position,
        out.pull,
        out.velocity,
        out.velocity0,
        out.thrusters,
        _activations(m, actuators, step),
        np.array([each.control for each in step.in_step], np.intp),
    )


def _activations(m: Any, actuators: Sequence[Actuator], step: StepActuators) -> Activations | None:
    """The activations of MuJoCo, in their order; actuators that are lost have them too, but act on nothing."""
    active = [each for each in actuators if each.has_dynamics]
    index = [each.index for each in active]
    if not active:
        return None
    kinds = np.array(m.actuator_dyntype)[index]
    limited = np.array(m.actuator_actlimited, bool)[index]
    return Activations(
        np.array([each.control for each in active], np.intp),
        np.array(m.actuator_dynprm)[index, 0],
        kinds == DYN_INTEGRATOR,
        kinds == DYN_FILTEREXACT,
        np.array(m.actuator_actearly, bool)[index],
        np.where(limited[:, None], np.array(m.actuator_actrange)[index], [-np.inf, np.inf]),
        bool(step.in_step),
        np.array([a in step.acts_in_step for a in index], bool),
    )


# ---- springs ----


def _add_springs(source: Source, out: Drives) -> None:
    m = source.m
    for j in range(m.njnt):
        v, k, one_axis = int(m.jnt_dofadr[j]), float(m.jnt_stiffness[j]), m.jnt_type[j] in (HINGE, SLIDE)
        if m.jnt_actfrclimited[j] and one_axis:
            out.range[v] = m.jnt_actfrcrange[j]
        if np.any(source.optional("jnt_stiffnesspoly", j)):
            out.found.append(source.find(Code.NONLINEAR_SPRING, "JOINT", j))
        if np.any(source.optional("dof_dampingpoly", v)):
            out.found.append(source.find(Code.NONLINEAR_DAMPING, "JOINT", j))
        if k == 0 or "SPRING" in source.disabled:
            continue
        if not one_axis:
            out.found.append(source.find(Code.FREE_SPRING, "JOINT", j))
        elif source.law == "sap":  # MuJoCo's law has its own springs (dof_stiffness)
            out.ke[v] += k
            out.pull[v] += k * float(m.qpos_spring[m.jnt_qposadr[j]])
            out.driven.add(v)


# ---- actuators ----


def _add_actuator(
    source: Source, tree: Tree, tendons: Tendons, step: StepActuators, out: Drives, each: Actuator
) -> None:
    m, a, x = source.m, each.index, each.x
    if source.is_off(a):
        return
    if lost := _loss(source, each):
        out.found.append(source.find(lost, "ACTUATOR", a, **_lost_tendon(source, each, lost)))
    elif int(m.actuator_trntype[a]) == TRN_SITE:
        _add_thruster(source, tree, out, each)
    else:
        out.found += _lost_dynamics(source, each)
        if a in step.acts_in_step:
            _reflect(source, out, each)
            _add_effort(source, out, each)
        elif np.any(each.gain[1:]):
            out.found.append(source.find(Code.GAIN_OF_TENDON, "ACTUATOR", a))
        else:
            _turn_range(source, out, each)
            _find_joint_ranges(source, tendons, out, each)
            _reflect(source, out, each)
            if np.any(each.bias[1:]):
                _add_drive(source, out, each)
            else:
                _add_motor(out, each, _motor_arms(tendons, out, x, each.gear, int(m.nv)), float(each.bias[0]))


def _loss(source: Source, each: Actuator) -> Code | None:
    if "ACTUATION" in source.disabled:
        return Code.ACTUATION_DISABLED
    kind = int(source.m.actuator_trntype[each.index])
    if each.fault or each.x >= 0 or kind == TRN_SITE:
        return each.fault
    return Code.ON_LOST_TENDON if kind == TRN_TENDON else Code.TRANSMISSION


def _lost_tendon(source: Source, each: Actuator, lost: Code) -> dict[str, Any]:
    if lost is not Code.ON_LOST_TENDON:
        return {}
    return {"tendon": source.name("TENDON", int(source.m.actuator_trnid[each.index, 0]))}


def _lost_dynamics(source: Source, each: Actuator) -> list[Finding]:
    a, found = each.index, []
    if int(source.m.actuator_dyntype[a]) != DYN_NONE and not each.has_dynamics:
        found.append(source.find(Code.DYNAMICS, "ACTUATOR", a))
    if np.any(source.optional("actuator_delay", a)):
        found.append(source.find(Code.DELAY, "ACTUATOR", a))
    return found


def _add_effort(source: Source, out: Drives, each: Actuator) -> None:
    """The effort limits of the joints of an actuator that steps compute are for drives that replace it."""
    for dof, arm in each.arms:
        effort = abs(arm) * _largest_force(source.m, each)
        out.limit[dof] = effort + (out.limit[dof] if np.isfinite(out.limit[dof]) else 0.0)


def _largest_force(m: Any, each: Actuator) -> float:
    """Before the arms; infinite if unknown."""
    if each.force_range is not None:
        return float(np.abs(each.force_range).max())
    if each.depends_on_state or not m.actuator_ctrllimited[each.index]:
        return np.inf
    return float(np.abs(each.gain[0] * np.array(m.actuator_ctrlrange[each.index]) + each.bias[0]).max())


def _add_thruster(source: Source, tree: Tree, out: Drives, each: Actuator) -> None:
    """A force and a torque in the axes of a site, at the site: a rotor of a drone, a jet."""
    m, a, site = source.m, each.index, int(source.m.actuator_trnid[each.index, 0])
    body = int(m.site_bodyid[site])
    link = int(tree.body[body])
    if int(m.actuator_trnid[a, 1]) >= 0 or each.depends_on_state:
        out.found.append(source.find(Code.SITE_STATE, "ACTUATOR", a))
        return
    if link < 0:
        out.found.append(source.find(Code.WORLD_FORCE, "ACTUATOR", a))
        return
    out.found += _lost_dynamics(source, each)
    if source.law == "mujoco" and source.integrator == "RK4":
        out.found.append(source.find(Code.SITE_RK4, "ACTUATOR", a))
    place = pose_mul(tree.offset[body], pose(m.site_pos[site], quat_from_wxyz(m.site_quat[site])))
    rotation = quat_matrix(place[3:])
    force, arm = rotation @ each.gears[:3], place[:3] - np.array(tree.rows.columns["body_com"][link])
    torque = rotation @ each.gears[3:] + np.cross(arm, force)
    _add_motor(out, each, [], float(each.bias[0]))
    out.thrusters.append(Thruster(each.control, link, np.concatenate([force, torque])))


def _reflect(source: Source, out: Drives, each: Actuator) -> None:
    """Adds the armature and damping of the actuator, reflected through its gear."""
    nv = int(source.m.nv)
    of, i = ("joint", each.x) if each.x < nv else ("tendon", each.x - nv)
    for name in ("armature", "damping"):
        value = float(source.optional(f"actuator_{name}", each.index))
        if value:
            out.columns[f"{of}_{name}"][i] += value * each.gear**2


def _turn_range(source: Source, out: Drives, each: Actuator) -> None:
    """MuJoCo clips the sum of the forces of a tendon's actuators before their gear; `range` is behind it."""
    x = each.x
    if x < source.m.nv or not np.any(np.isfinite(out.range[x])):
        return
    known = out.range_gear.setdefault(x, each.gear)
    if known != each.gear:
        out.found.append(source.find(Code.TENDON_RANGE_GEAR, "ACTUATOR", each.index, gear=known))
    elif not out.motor[:, x].any() and x not in out.driven:
        out.range[x] = np.sort(out.range[x] * each.gear)


def _find_joint_ranges(source: Source, tendons: Tendons, out: Drives, each: Actuator) -> None:
    """A force along a tendon passes by the force ranges of its joints."""
    terms = tendons.terms[each.x - int(source.m.nv)] if each.x >= source.m.nv else []
    if any(kind == JOINT and np.any(np.isfinite(out.range[dof])) for kind, dof, _ in terms):
        out.found.append(source.find(Code.JOINT_RANGES, "ACTUATOR", each.index))


def _motor_arms(tendons: Tendons, out: Drives, x: int, gear: float, nv: int) -> list[tuple[int, float]]:
    """[(coordinate, moment arm)] of a motor. Those of a fixed tendon are constant, so it acts on the joints."""
    if x < nv or np.any(np.isfinite(out.range[x])) or tendons.terms[x - nv][0][0] != JOINT:
        return [(x, gear)]
    return [(dof, gear * value[0]) for _, dof, value in tendons.terms[x - nv]]


def _add_motor(out: Drives, each: Actuator, arms: list[tuple[int, float]], bias: float) -> None:
    u = each.control
    out.gain[u], out.bias[u] = each.gain[0], bias
    if each.force_range is not None:
        out.force_range[u] = each.force_range
    for x, arm in arms:
        out.motor[u, x] += arm


def _add_drive(source: Source, out: Drives, each: Actuator) -> None:
    x, u, gear, bias = each.x, each.control, each.gear, each.bias
    ke, kd, gain = -bias[1] * gear**2, -bias[2] * gear**2, each.gain[0] * gear
    if ke < 0 or kd < 0:
        out.found.append(source.find(Code.NEGATIVE_GAINS, "ACTUATOR", each.index))
        return
    out.ke[x] += ke
    out.kd[x] += kd
    (out.position if ke > 0 else out.velocity)[u, x] += gain
    (out.pull if ke > 0 else out.velocity0)[x] += bias[0] * gear
    _limit_drive(source, out, each)
    out.driven.add(x)


def _limit_drive(source: Source, out: Drives, each: Actuator) -> None:
    """Sets the effort limit, which is symmetric and also clips the spring of the same joint."""
    x, ranges = each.x, [] if each.force_range is None else [each.force_range * abs(each.gear)]
    if np.all(np.isfinite(out.range[x])):
        ranges.append(out.range[x])
    for lower, upper in ranges:
        limit = max(abs(lower), abs(upper))
        if source.law == "sap":  # drives of MuJoCo's law have their own ranges (dof_drive_range)
            if lower != -upper:
                fields = {"lower": lower, "upper": upper, "limit": limit}
                out.found.append(source.find(Code.SKEW_RANGE, "ACTUATOR", each.index, **fields))
            if x in out.driven:
                out.found.append(source.find(Code.SHARED_RANGE, "ACTUATOR", each.index))
        if limit > 0:
            out.limit[x] = min(out.limit[x], limit)
