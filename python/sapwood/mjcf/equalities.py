"""Import of equalities: loops (connect, weld), and couplings of joints or of tendons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._layout import ENUMS
from ..conventions import Floats, pose, pose_mul, quat_from_wxyz
from .bodies import Tree
from .report import Code, Finding
from .source import EQ_CONNECT, EQ_JOINT, EQ_TENDON, EQ_WELD, Rows, Source, enum
from .tendons import Tendons

TYPES = ENUMS["SapConstraintType"]
NONE = {  # of a row that has no such thing
    "constraint_body": (-1, -1),
    "constraint_X": (pose(), pose()),
    "constraint_coordinate": (-1, -1),
    "constraint_polynomial": (0, 1, 0, 0, 0),
    "constraint_reference": (0, 0),
}


@dataclass
class Constraints:
    """Our constraints."""

    index: NDArray[np.int32]  # [neq] our constraint for each equality; -1: none
    rows: Rows = field(default_factory=Rows)
    invweight: list[Floats] = field(default_factory=list)  # [2] MuJoCo's, of translation and rotation
    found: list[Finding] = field(default_factory=list)


def equalities(source: Source, tree: Tree, tendons: Tendons) -> Constraints:
    m, out = source.m, Constraints(np.full(source.m.neq, -1, np.int32))
    for e in range(m.neq):
        kind = int(m.eq_type[e])
        if "EQUALITY" in source.disabled:
            out.found.append(source.find(Code.EQUALITY_DISABLED, "EQUALITY", e))
        elif kind in (EQ_CONNECT, EQ_WELD):
            _add_loop(source, tree, out, e)
        elif kind in (EQ_JOINT, EQ_TENDON):
            _add_coupler(source, tendons, out, e)
        else:
            out.found.append(source.find(Code.FLEX_EQUALITY, "EQUALITY", e))
    return out


def _add_constraint(
    source: Source, out: Constraints, e: int, kind: str, invweight: Floats, scale: float = 0.0, **row: Any
) -> None:
    """Adds a row of each array; `scale` is the torquescale of a weld."""
    m, weights = source.m, [float(invweight[0]), *([float(invweight[1] * (2 / scale) ** 2)] if scale else [])]
    soft = [source.softness(m.eq_solref[e], m.eq_solimp[e], weight) for weight in weights]
    soft += [(np.inf, 0.0)] * (2 - len(weights))
    out.index[e] = out.rows.count("constraint_type")
    out.invweight.append(invweight)
    out.rows.add(
        constraint_type=TYPES["SAP_CONSTRAINT_" + kind],
        constraint_ke=[ke for ke, _ in soft],
        constraint_kd=[kd for _, kd in soft],
        constraint_active=int(m.eq_active0[e]),
        constraint_name=source.name("EQUALITY", e),
        **{**NONE, **row},
    )
    unit = "N/m or N m/rad" if kind == "COUPLER" else "N/m"
    out.found += source.find_stiffness("EQUALITY", e, kind.lower(), soft[0][0], unit)


# ---- loops ----


def _add_loop(source: Source, tree: Tree, out: Constraints, e: int) -> None:
    m, bodies = source.m, sides(source.m, e)
    if source.weld[bodies[0]] == source.weld[bodies[1]]:
        out.found.append(source.find(Code.EQUALITY_WELDED, "EQUALITY", e))
        return
    for b in bodies:
        if m.body_mocapid[m.body_rootid[b]] >= 0:
            out.found.append(source.find(Code.FOLLOWS_MOCAP, "EQUALITY", e, body=source.name("BODY", b)))
    data, weld = np.array(m.eq_data[e]), int(m.eq_type[e]) == EQ_WELD
    scale = float(data[10]) if weld else 0.0
    frames = [pose_mul(tree.offset[b], _frame(m, e, i)) for i, b in enumerate(bodies)]
    _add_constraint(
        source,
        out,
        e,
        "WELD" if scale else "BALL",
        np.array(m.body_invweight0[bodies]).sum(axis=0),
        scale,
        constraint_body=[int(tree.body[b]) for b in bodies],
        constraint_X=frames if scale else [pose(frame[:3]) for frame in frames],
    )


def _is_on_sites(m: Any, e: int) -> bool:
    return int(m.eq_objtype[e]) == enum("mjtObj", "mjOBJ_SITE")


def sides(m: Any, e: int) -> list[int]:
    """The two MuJoCo bodies of a loop."""
    found = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
    return [int(m.site_bodyid[s]) for s in found] if _is_on_sites(m, e) else found


def _frame(m: Any, e: int, i: int) -> Floats:
    """The frame of side i in its MuJoCo body."""
    data = np.array(m.eq_data[e])
    if _is_on_sites(m, e):
        s = int((m.eq_obj1id, m.eq_obj2id)[i][e])
        return pose(m.site_pos[s], quat_from_wxyz(m.site_quat[s]))
    if int(m.eq_type[e]) == EQ_CONNECT:
        return pose(data[3 * i : 3 * i + 3])
    return pose(data[3:6], quat_from_wxyz(data[6:10])) if i == 0 else pose(data[0:3])


# ---- couplings ----


def _add_coupler(source: Source, tendons: Tendons, out: Constraints, e: int) -> None:
    m = source.m
    ids = [int(i) for i in (m.eq_obj1id[e], m.eq_obj2id[e]) if i >= 0]
    if int(m.eq_type[e]) == EQ_JOINT:
        x = [int(m.jnt_dofadr[j]) for j in ids]
        reference = [float(m.qpos0[m.jnt_qposadr[j]]) for j in ids]
        weight = sum(float(m.dof_invweight0[v]) for v in x)
    else:
        lost = [source.name("TENDON", t) for t in ids if tendons.index[t] < 0]
        if lost:
            out.found.append(source.find(Code.ON_LOST_TENDON, "EQUALITY", e, tendon=lost[0]))
            return
        x = [int(m.nv + tendons.index[t]) for t in ids]
        reference = [float(m.tendon_length0[t]) for t in ids]
        weight = sum(float(m.tendon_invweight0[t]) for t in ids)
    if len(set(x)) < len(x):
        out.found.append(source.find(Code.SELF_COUPLING, "EQUALITY", e))
        return
    _add_constraint(
        source,
        out,
        e,
        "COUPLER",
        np.array([weight, weight]),
        constraint_coordinate=(x + [-1])[:2],
        constraint_polynomial=np.array(m.eq_data[e][:5]),
        constraint_reference=(reference + [0.0])[:2],
    )
