"""The numbers of MuJoCo's law: what contact_solver = mujoco needs of a MuJoCo model (docs/mujoco.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._layout import ENUMS
from ..support import capability
from . import in_step
from .parts import Parts
from .report import Code, Finding, Why
from .source import BALL, HINGE, SLIDE, Source, mujoco_module
from .transmission import Actuator

INTEGRATORS = {"EULER": 0, "RK4": 1, "IMPLICITFAST": 3, "DISCRETE": 4}
OWN_POINTS = ("box", "cylinder", "ellipsoid", "mesh")  # geoms whose contact points are not MuJoCo's


@dataclass
class MujocoParameters:
    fields: dict[str, Any]  # of SapMujocoParameters
    columns: dict[str, Any]  # of the model, where they differ from those of SAP's law
    found: list[Finding]


def mujoco_parameters(parts: Parts) -> MujocoParameters:
    source, columns = parts.source, parts.columns
    drive_range, tendon_mode, found = _servos(parts)
    own: dict[str, Any] = {"tendon_target_mode": tendon_mode} if len(tendon_mode) else {}
    geom = _geom_of_shape(parts)
    if len(geom):  # the distance at which a contact begins; the law subtracts the margin itself
        own["shape_gap"] = (source.m.geom_margin + source.m.geom_gap)[geom]
        own["shape_margin"] = np.zeros(len(geom))
    for name in ("constraint_body", "constraint_X"):  # MuJoCo's first body is our second
        if name in columns:
            own[name] = [list(reversed(list(pair))) for pair in columns[name]]
    pairs, repeated = _pairs(parts, own)
    options, lost_options = _options(source)
    dampers = _dampers(parts, own)
    fields = {
        **options,
        **_dofs(parts),
        "dof_drive_range": drive_range,
        **_tendons(parts),
        **_equalities(parts),
        **_shapes(parts, geom, pairs),
        **pairs,
        **in_step.parameters(source, parts.tendons, parts.step, dampers),
    }
    return MujocoParameters(fields, own, [*found, *repeated, *lost_options, *_contact_points(parts)])


# ---- actuators ----


def _servos(parts: Parts) -> tuple[Any, Any, list[Finding]]:
    """Servos, actuators whose force depends on the joint or tendon, are its drives, with bounds of the force:
    dof_drive_range, tendon_target_mode, and the servos that are lost."""
    source, m, acting = parts.source, parts.source.m, parts.step.acts_in_step
    servos = [each for each in parts.actuators if _is_servo(source, each) and each.index not in acting]
    bounds, mode = np.tile([-np.inf, np.inf], (m.nv, 1)), np.array(parts.columns.get("tendon_target_mode", []))
    found = []
    for each in servos:
        x, together = each.x, [other for other in servos if other.x == each.x]
        if x >= m.nv:
            if why := _tendon_servo_fault(parts, each, x - m.nv, together):
                mode[x - m.nv] = 0
                fields = {"integrator": source.integrator.lower()}
                found.append(source.find(Code.TENDON_SERVO, "ACTUATOR", each.index, why, **fields))
        elif each.force_range is not None and len(together) > 1:
            found.append(source.find(Code.SHARED_SERVO, "ACTUATOR", each.index))
        elif m.jnt_actfrclimited[m.dof_jntid[x]] and (len(together) > 1 or np.any(parts.drives.motor[:, x])):
            found.append(source.find(Code.BOUNDED_SERVO, "ACTUATOR", each.index))
        else:
            bounds[x] = _servo_range(m, each)
    return bounds, mode, found


def _is_servo(source: Source, each: Actuator) -> bool:
    acts = not each.fault and each.x >= 0 and "ACTUATION" not in source.disabled and not source.is_off(each.index)
    return acts and bool(np.any(each.bias[1:]))


def _tendon_servo_fault(parts: Parts, each: Actuator, t: int, together: list[Actuator]) -> Why | None:
    """Why the servo of a tendon with several joints is not explicit, or has bounds that a drive has not."""
    source, limited = parts.source, [other.force_range for other in together if other.force_range is not None]
    damped = source.integrator == "IMPLICITFAST" and parts.columns["tendon_target_kd"][t] > 0
    if source.integrator == "DISCRETE" or damped:
        return Why.IMPLICIT
    if source.m.tendon_actfrclimited[source.m.actuator_trnid[each.index, 0]]:
        return Why.TENDON_RANGE
    if limited and len(together) > 1:
        return Why.SHARED_RANGE
    return Why.SKEW_RANGE if any(lower != -upper for lower, upper in limited) else None


def _servo_range(m: Any, each: Actuator) -> Any:
    """Bounds of the force of the servo on its joint: its own behind the gear, and those of the joint."""
    joint = int(m.dof_jntid[each.x])
    own = [-np.inf, np.inf] if each.force_range is None else np.sort(each.force_range * each.gear)
    return np.clip(own, *(m.jnt_actfrcrange[joint] if m.jnt_actfrclimited[joint] else [-np.inf, np.inf]))


def _dampers(parts: Parts, own: dict[str, Any]) -> list[tuple[int, float]]:
    """[(tendon of ours, damping)] with implicitfast, whose steps have the damping of the list, not of tendons."""
    damping = parts.columns.get("tendon_damping", [])
    if parts.source.integrator != "IMPLICITFAST":
        return []
    own["tendon_damping"] = [0.0] * len(damping)
    return [(t, float(value)) for t, value in enumerate(damping) if value]


# ---- tendons and equalities ----


def _tendons(parts: Parts) -> dict[str, Any]:
    m, found = parts.source.m, np.nonzero(parts.tendons.index >= 0)[0]
    if not len(found):
        return {}
    return {
        "tendon_invweight": np.array(m.tendon_invweight0)[found],
        "tendon_limit_margin": np.array(m.tendon_margin)[found],
        "tendon_limit_solref": np.array(m.tendon_solref_lim)[found],
        "tendon_limit_solimp": np.array(m.tendon_solimp_lim)[found],
        "tendon_friction_solref": np.array(m.tendon_solref_fri)[found],
        "tendon_friction_solimp": np.array(m.tendon_solimp_fri)[found],
    }


def _equalities(parts: Parts) -> dict[str, Any]:
    m, found = parts.source.m, np.nonzero(parts.constraints.index >= 0)[0]
    if not len(found):
        return {}
    weld = np.array(parts.columns["constraint_type"]) == ENUMS["SapConstraintType"]["SAP_CONSTRAINT_WELD"]
    return {
        "constraint_solref": np.array(m.eq_solref)[found],
        "constraint_solimp": np.array(m.eq_solimp)[found],
        "constraint_torquescale": np.where(weld, np.array(m.eq_data)[found, 10], 1.0),
        "constraint_invweight": parts.constraints.invweight,
    }


# ---- the rest ----


def _geom_of_shape(parts: Parts) -> Any:
    index = parts.shapes.index
    geom = np.full(parts.shapes.rows.count("shape_type"), -1)
    geom[index[index >= 0]] = np.nonzero(index >= 0)[0]
    if np.any(geom < 0):
        raise ValueError(capability("decompose", "mujoco").reason)
    return geom


def _options(source: Source) -> tuple[dict[str, Any], list[Finding]]:
    m, mujoco, found = source.m, mujoco_module(), []
    flags = int(m.opt.disableflags)
    if source.integrator not in INTEGRATORS:
        integrator = source.integrator.lower()
        found.append(Finding(Code.INTEGRATOR, "option", "integrator", {"integrator": integrator}))
    solver = str(mujoco.mjtSolver(int(m.opt.solver)).name.removeprefix("mjSOL_"))
    if solver != "NEWTON":
        found.append(Finding(Code.SOLVER, "option", "solver", {"solver": solver}))
    if int(m.opt.noslip_iterations):
        found.append(Finding(Code.NOSLIP, "option", "noslip_iterations"))
    for word in ("DIAGEXACT", "IPC", "SPECULATIVE", "SLEEP"):
        bit = getattr(mujoco.mjtEnableBit, f"mjENBL_{word}", None)
        if bit is not None and int(m.opt.enableflags) & int(bit):
            found.append(Finding(Code.FLAG, "option", word.lower()))
    return {
        "cone": int(m.opt.cone),
        "integrator": INTEGRATORS.get(source.integrator, INTEGRATORS["IMPLICITFAST"]),
        "impratio": float(m.opt.impratio),
        "tolerance": float(m.opt.tolerance),
        "iterations": int(m.opt.iterations),
        "ls_tolerance": float(m.opt.ls_tolerance),
        "ls_iterations": int(m.opt.ls_iterations),
        "refsafe": int(not flags & int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)),
        "eulerdamp": int(not flags & int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)),
        "warmstart": int(not flags & int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)),
    }, found


def _dofs(parts: Parts) -> dict[str, Any]:
    source, m = parts.source, parts.source.m
    joint = np.array(m.dof_jntid)
    scalar = np.isin(np.array(m.jnt_type)[joint], (HINGE, SLIDE))
    springs = scalar & ("SPRING" not in source.disabled)
    body = np.zeros((parts.tree.rows.count("body_mass"), 2))
    for b in range(m.nbody - 1, 0, -1):  # a body of ours may be several of MuJoCo's; the first one counts
        if parts.tree.body[b] >= 0:
            body[parts.tree.body[b]] = m.body_invweight0[b]
    ball = np.full(parts.tree.num_joints, np.inf)
    for j in range(m.njnt):
        if m.jnt_type[j] == BALL and m.jnt_limited[j] and "LIMIT" not in source.disabled:
            ball[parts.tree.joint[j]] = np.max(m.jnt_range[j])
    return {
        "body_invweight": body,
        "dof_invweight": np.array(m.dof_invweight0),
        "dof_stiffness": np.where(springs, np.array(m.jnt_stiffness)[joint], 0.0),
        "dof_spring_ref": np.where(scalar, np.array(m.qpos_spring)[np.array(m.jnt_qposadr)[joint]], 0.0),
        "dof_limit_margin": np.array(m.jnt_margin)[joint],
        "dof_limit_solref": np.array(m.jnt_solref)[joint],
        "dof_limit_solimp": np.array(m.jnt_solimp)[joint],
        "dof_friction_solref": np.array(m.dof_solref),
        "dof_friction_solimp": np.array(m.dof_solimp),
        "joint_ball_limit": ball,
    }


def _pairs(parts: Parts, own: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Explicit pairs have their own parameters. Collision finds their contacts at the margin + gap of the pair."""
    source, m, gap, repeated = parts.source, parts.source.m, own.get("shape_gap", []), []
    known: dict[frozenset[int], int] = {}
    for p in range(m.npair):
        shapes = frozenset(int(parts.shapes.index[g]) for g in (m.pair_geom1[p], m.pair_geom2[p]))
        if min(shapes) >= 0 and known.setdefault(shapes, p) != p:
            repeated.append(source.find(Code.REPEATED_PAIR, "PAIR", p))
    for shapes, p in known.items():
        first = min(shapes)
        gap[first] += max(float(m.pair_margin[p] + m.pair_gap[p]) - sum(gap[s] for s in shapes), 0.0)
    found = list(known.values())
    if not found:
        return {}, repeated
    names = ("margin", "friction", "solref", "solreffriction", "solimp")
    return {
        "num_pairs": len(found),
        "pair_shape": [sorted(shapes) for shapes in known],
        "pair_condim": np.array(m.pair_dim)[found],
        **{f"pair_{name}": np.array(getattr(m, f"pair_{name}"))[found] for name in names},
    }, repeated


def _shapes(parts: Parts, geom: Any, pairs: dict[str, Any]) -> dict[str, Any]:
    m = parts.source.m
    condims = [*(m.geom_condim[g] for g in geom), *pairs.get("pair_condim", [])]
    names = ("condim", "priority", "solmix", "margin", "friction", "solref", "solimp")
    body = np.array(m.geom_bodyid)
    weight = np.where(parts.tree.body[body] >= 0, np.array(m.body_invweight0)[body, 0], 0.0)
    return {
        "max_condim": max((int(n) for n in condims), default=3),
        **{f"shape_{name}": np.array(getattr(m, f"geom_{name}"), float)[geom] for name in names},
        "shape_invweight": weight[geom],
    }


def _contact_points(parts: Parts) -> list[Finding]:
    source, m, found = parts.source, parts.source.m, []
    for g in np.nonzero(parts.shapes.index >= 0)[0]:
        kind = mujoco_module().mjtGeom(int(m.geom_type[g])).name.removeprefix("mjGEOM_").lower()
        if kind in OWN_POINTS:
            found.append(source.find(Code.CONTACT_POINTS, "GEOM", int(g), type=kind))
    return found
