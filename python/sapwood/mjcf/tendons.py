"""Import of tendons: sums of joint coordinates, and straight paths over sites and pulleys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._layout import BITS
from ..conventions import Floats, pose, pose_mul
from .bodies import Tree
from .report import Code, Finding, Why
from .source import EQ_TENDON, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE, Rows, Source, enum

JOINT, POINT, PULLEY = (BITS["SAP_TENDON_" + word] for word in ("JOINT", "POINT", "PULLEY"))
SENSORS = "TENDONPOS TENDONVEL TENDONLIMITPOS TENDONLIMITVEL TENDONLIMITFRC TENDONACTFRC".split()  # mjtSensor
Term = tuple[int, int, tuple[float, float, float]]  # tendon_term_type, tendon_term_index, tendon_term_value


@dataclass
class Tendons:
    """Our tendons."""

    index: NDArray[np.int32]  # [ntendon] our tendon for each tendon; -1: none
    terms: list[list[Term]] = field(default_factory=list)
    columns: dict[str, Any] = field(default_factory=dict)
    found: list[Finding] = field(default_factory=list)


def tendons(source: Source, tree: Tree, drivers: set[int]) -> Tendons:
    """Converts the tendons that act, or that `drivers`, an equality or a sensor use."""
    out = Tendons(np.full(source.m.ntendon, -1, np.int32))
    used, rows = drivers | _in_use(source.m), Rows(out.columns)
    for t in range(source.m.ntendon):
        acts = _acts(source.m, t)
        if not acts and t not in used:
            out.found.append(source.find(Code.TENDON_IDLE, "TENDON", t))
            continue
        terms, fault = _terms(source, tree, t)
        if terms:
            out.index[t] = len(out.terms)
            out.terms.append(terms)
            _add_terms(rows, terms)
            out.found += _add_forces(source, rows, t)
        else:
            out.found.append(source.find(Code.TENDON if acts else Code.TENDON_LEFT_OUT, "TENDON", t, fault))
    return out


def all_or_none(source: Source, tendons: Tendons) -> Tendons:
    """The tendons if MuJoCo's law has them all, else none."""
    faults = {int(t): _fault(source, tendons, int(t)) for t in np.nonzero(tendons.index >= 0)[0]}
    if not any(faults.values()):
        return tendons
    found = list(tendons.found)
    for t, fault in faults.items():
        found.append(source.find(Code.TENDON_LAW if fault else Code.TENDON_BESIDE, "TENDON", t, fault))
    return Tendons(np.full_like(tendons.index, -1), found=found)


def _fault(source: Source, tendons: Tendons, t: int) -> Why | None:
    """Why MuJoCo's law does not have a tendon."""
    m, terms = source.m, tendons.terms[tendons.index[t]]
    if any(kind != JOINT for kind, *_ in terms):
        return Why.ON_SITES
    if m.tendon_armature[t]:
        return Why.ARMATURE
    if m.tendon_damping[t] and source.integrator == "DISCRETE":
        return Why.DAMPING_DISCRETE
    bounded = np.any(m.jnt_actfrclimited[[m.dof_jntid[dof] for _, dof, _ in terms]])
    if m.tendon_damping[t] and source.integrator == "IMPLICITFAST" and bounded:
        return Why.DAMPING_BOUNDED
    return Why.SPRING_DISCRETE if m.tendon_stiffness[t] and source.integrator == "DISCRETE" else None


def _in_use(m: Any) -> set[int]:
    """The tendons that equalities and sensors use."""
    used = set()
    for ids in (m.eq_obj1id, m.eq_obj2id):
        used |= {int(t) for kind, t in zip(m.eq_type, ids) if kind == EQ_TENDON and t >= 0}
    kinds = [enum("mjtSensor", "mjSENS_" + word) for word in SENSORS]
    return used | {int(t) for kind, t in zip(m.sensor_type, m.sensor_objid) if int(kind) in kinds}


def _acts(m: Any, t: int) -> bool:
    """Whether it has limits, stiffness, damping, friction or armature."""
    arrays = ("limited", "stiffness", "damping", "frictionloss", "armature")
    return any(np.any(getattr(m, f"tendon_{name}")[t]) for name in arrays)


# ---- its length ----


def _terms(source: Source, tree: Tree, t: int) -> tuple[list[Term], Why]:
    """The terms of its length, or none and the reason why it cannot be converted."""
    m = source.m
    wraps = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
    kinds = {int(m.wrap_type[w]) for w in wraps}
    if kinds - {WRAP_JOINT, WRAP_SITE, WRAP_PULLEY}:
        return [], Why.WRAPS
    terms = _joint_terms(m, wraps) if kinds == {WRAP_JOINT} else _path_terms(source, tree, wraps)
    return terms, Why.RIGID_PATH


def _joint_terms(m: Any, wraps: range) -> list[Term]:
    terms = [(int(m.jnt_dofadr[m.wrap_objid[w]]), float(m.wrap_prm[w])) for w in wraps]
    return [(JOINT, dof, (coefficient, 0.0, 0.0)) for dof, coefficient in terms if coefficient]


def _path_terms(source: Source, tree: Tree, wraps: range) -> list[Term]:
    """Sites and pulleys. Branches of one site have no length and are left out."""
    m = source.m
    branches: list[tuple[float, list[int]]] = [(1.0, [])]  # divisor, sites
    for w in wraps:
        if int(m.wrap_type[w]) == WRAP_PULLEY:
            branches.append((float(m.wrap_prm[w]), []))
        else:
            branches[-1][1].append(int(m.wrap_objid[w]))
    branches = [(divisor, sites) for divisor, sites in branches if len(sites) > 1]
    welds = [{int(source.weld[m.site_bodyid[s]]) for s in sites} for _, sites in branches]
    if all(len(bodies) == 1 for bodies in welds):
        return []
    out: list[Term] = []
    for divisor, sites in branches:
        out += [(PULLEY, -1, (divisor, 0.0, 0.0))] if out or divisor != 1 else []
        out += [(POINT, *_site_point(m, tree, s)) for s in sites]
    return out


def _site_point(m: Any, tree: Tree, s: int) -> tuple[int, tuple[float, float, float]]:
    """(our body, the point in it) of a site."""
    b = int(m.site_bodyid[s])
    x, y, z = pose_mul(tree.offset[b], pose(m.site_pos[s]))[:3]
    return int(tree.body[b]), (float(x), float(y), float(z))


def _add_terms(rows: Rows, terms: list[Term]) -> None:
    for kind, index, value in terms:
        rows.add(tendon_term_type=kind, tendon_term_index=index, tendon_term_value=value)
    starts = rows.columns.setdefault("tendon_start", [0])
    starts.append(starts[-1] + len(terms))


# ---- its forces ----


def _add_forces(source: Source, rows: Rows, t: int) -> list[Finding]:
    m = source.m
    (lower, upper, ke, kd), found = _limits(source, t)
    resting = np.array(m.tendon_lengthspring[t])
    rows.add(
        tendon_limit_lower=lower,
        tendon_limit_upper=upper,
        tendon_limit_ke=ke,
        tendon_limit_kd=kd,
        tendon_spring_ke=0.0 if "SPRING" in source.disabled else float(m.tendon_stiffness[t]),
        tendon_spring_lower=resting[0],
        tendon_spring_upper=max(resting),
        tendon_damping=0.0 if "DAMPER" in source.disabled else float(m.tendon_damping[t]),
        tendon_friction=0.0 if "FRICTIONLOSS" in source.disabled else float(m.tendon_frictionloss[t]),
        tendon_armature=float(m.tendon_armature[t]),
        tendon_name=source.name("TENDON", t),
    )
    nonlinear = {
        Code.TENDON_STIFFNESS: ("SPRING", np.any(source.optional("tendon_stiffnesspoly", t))),
        Code.TENDON_YIELDS: ("SPRING", source.optional("tendon_springyield", t) > 0),
        Code.TENDON_DAMPING: ("DAMPER", np.any(source.optional("tendon_dampingpoly", t))),
    }
    codes = [code for code, (flag, has) in nonlinear.items() if has and flag not in source.disabled]
    return found + [source.find(code, "TENDON", t) for code in codes]


def _limits(source: Source, t: int) -> tuple[tuple[float, float, float, float], list[Finding]]:
    m = source.m
    if not m.tendon_limited[t] or "LIMIT" in source.disabled:
        return (-np.inf, np.inf, np.inf, 0.0), []
    ke, kd = source.softness(m.tendon_solref_lim[t], m.tendon_solimp_lim[t], float(m.tendon_invweight0[t]))
    margin = 0.0 if source.law == "mujoco" else m.tendon_margin[t]  # that law has margins of its own
    lower, upper = np.array(m.tendon_range[t]) + np.array([1, -1]) * margin
    found = source.find_stiffness("TENDON", t, "limits", ke, "N/m or N m/rad")
    return (float(lower), float(max(lower, upper)), ke, kd), found


def force_range(m: Any, tendons: Tendons) -> Floats:
    """[our tendons][2] the range of the sum of the forces of its actuators."""
    out = np.tile([-np.inf, np.inf], (len(tendons.terms), 1))
    for t in np.nonzero((tendons.index >= 0) & np.array(m.tendon_actfrclimited, bool))[0]:
        out[tendons.index[t]] = m.tendon_actfrcrange[t]
    return out
