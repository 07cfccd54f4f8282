"""Import of bodies and joints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Coordinates, Floats, axis_turn, pose, pose_mul, quat_from_wxyz, quat_matrix
from ..model import JOINT_TYPES
from .report import Code, Finding
from .source import BALL, FREE, HINGE, SLIDE, Rows, Source, spring

# A massless link, which occurs in the chain of a body with several joints, gets this fraction of the mass that it
# carries, and as many kg m^2 per kg. Added to the inertias that it moves with, it is below the rounding error (2^-53 is
# 1e-16) wherever a number of the model depends on it; in f32 it is still nonzero.
NEGLIGIBLE = 1e-24
AXES = {"PRISMATIC": (1, 0), "REVOLUTE": (0, 1), "BALL": (0, 3), "FREE": (3, 3)}  # joint_dof_dim


@dataclass
class Tree:
    """Our bodies and joints, and where those of MuJoCo are among them."""

    body: NDArray[np.int32]  # [nbody] our body for each MuJoCo body; -1: part of the world
    offset: Floats  # [nbody][7] pose of the MuJoCo body in ours
    joint: NDArray[np.int32]  # [njnt]
    rows: Rows = field(default_factory=Rows)
    starts: list[int] = field(default_factory=lambda: [0])
    coordinates: Coordinates = field(default_factory=Coordinates)
    found: list[Finding] = field(default_factory=list)

    @property
    def num_joints(self) -> int:
        return self.rows.count("joint_type")


def tree(source: Source) -> Tree:
    m = source.m
    out = Tree(np.full(m.nbody, -1, np.int32), np.tile(pose(), (m.nbody, 1)), np.full(m.njnt, -1, np.int32))
    for b in range(1, m.nbody):
        _add_body(source, out, b)
    return out


def _add_body(source: Source, out: Tree, b: int) -> None:
    m = source.m
    parent, here = int(m.body_parentid[b]), pose(m.body_pos[b], quat_from_wxyz(m.body_quat[b]))
    here = pose_mul(out.offset[parent], here)
    link = int(out.body[parent])
    if m.body_mocapid[b] >= 0:
        out.found.append(source.find(Code.MOCAP, "BODY", b))
    if source.weld[b] == 0 or (m.body_jntnum[b] == 0 and m.body_mass[b] == 0):
        out.body[b], out.offset[b] = link, here
        return
    if link < 0 and out.num_joints:
        out.starts.append(out.num_joints)
    joints = list(range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]))
    if not joints:
        _add_link(source, out, b, f"{source.name('BODY', b)}:fixed", "FIXED", (link, here, pose()), True, (0, 0))
    elif len(joints) > 1 and _fits_d6(m, joints):
        _add_d6(source, out, b, joints, link, here)
    else:
        for j in joints:
            link = _add_joint(source, out, b, j, link, here, j == joints[-1])
            here = pose()


def _add_link(
    source: Source,
    out: Tree,
    b: int,
    joint: str,
    kind: str,
    place: tuple[int, Floats, Floats],
    last: bool,
    dim: tuple[int, int],
) -> int:
    """Adds one joint (parent, X_p, X_c) and its child: the body if it is the last joint of the body, otherwise a
    massless link."""
    m, index = source.m, out.num_joints
    out.rows.add(
        joint_type=JOINT_TYPES["SAP_JOINT_" + kind],
        joint_parent=place[0],
        joint_child=index,
        joint_X_p=place[1],
        joint_X_c=place[2],
        joint_name=joint,
        joint_dof_dim=dim,
    )
    mass, inertia = _inertia(m, b) if last else (0.0, np.zeros((3, 3)))
    if mass <= 0:
        mass = NEGLIGIBLE * float(m.body_subtreemass[b])
    if not np.any(inertia):
        inertia = np.eye(3) * (NEGLIGIBLE * float(m.body_subtreemass[b]) if last else mass)
    out.rows.add(
        body_mass=mass,
        body_com=np.array(m.body_ipos[b]) if last else np.zeros(3),
        body_inertia=inertia.ravel(),
        body_gravcomp=float(m.body_gravcomp[b]) if last else 0.0,
        body_name=source.name("BODY", b) if last else f"{source.name('BODY', b)}:{joint}",
    )
    if last:
        out.body[b] = index
    return index


def _inertia(m: Any, b: int) -> tuple[float, Floats]:
    """Mass, and inertia about the centre of mass in body axes; MuJoCo has principal moments in a separate frame."""
    rotation = quat_matrix(quat_from_wxyz(m.body_iquat[b]))
    inertia = rotation @ np.diag(m.body_inertia[b]) @ rotation.T
    return float(m.body_mass[b]), (inertia + inertia.T) / 2


def _fits_d6(m: Any, joints: list[int]) -> bool:
    """Whether the joints form a D6: slides, then hinges with orthogonal, right-handed axes through one point."""
    types = [int(m.jnt_type[j]) for j in joints]
    hinges = [j for j in joints if m.jnt_type[j] == HINGE]
    if types != sorted(types) or types[0] == BALL or len(hinges) > 3 or len(joints) - len(hinges) > 3:
        return False
    if any(m.jnt_limited[j] for j in joints):  # limits exist for joints with one axis only
        return False
    if any(m.qpos0[m.jnt_qposadr[j]] != 0 or np.any(m.jnt_pos[j] != m.jnt_pos[hinges[0]]) for j in hinges):
        return False
    axes = m.jnt_axis[hinges]
    product = axes @ axes.T - np.eye(len(hinges))
    return bool(np.all(np.abs(product) < 1e-9)) and (len(hinges) < 3 or np.linalg.det(axes) > 0)


def _add_d6(source: Source, out: Tree, b: int, joints: list[int], link: int, here: Floats) -> None:
    m = source.m
    hinges = [j for j in joints if m.jnt_type[j] == HINGE]
    anchor = np.array(m.jnt_pos[hinges[0]]) if hinges else np.zeros(3)
    shift = sum((-m.qpos0[m.jnt_qposadr[j]] * m.jnt_axis[j] for j in joints if m.jnt_type[j] == SLIDE), np.zeros(3))
    name, dim = "+".join(source.name("JOINT", j) for j in joints), (len(joints) - len(hinges), len(hinges))
    place = (link, pose_mul(here, pose(anchor + shift)), pose(anchor))
    out.joint[joints] = _add_link(source, out, b, name, "D6", place, True, dim)


def _add_joint(source: Source, out: Tree, b: int, j: int, link: int, here: Floats, last: bool) -> int:
    m = source.m
    kind, axis, anchor = int(m.jnt_type[j]), np.array(m.jnt_axis[j]), pose(m.jnt_pos[j])
    q, v, reference = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), float(m.qpos0[m.jnt_qposadr[j]])
    X_p, X_c, word = pose_mul(here, anchor), anchor, "BALL"
    if kind == FREE:
        X_p, X_c, word = pose(), pose(), "FREE"
        out.coordinates.free.append((q, v, np.array(m.body_ipos[b])))
    elif kind == BALL:
        out.coordinates.ball.append((q, v))
    elif kind == HINGE:
        X_p, word = pose_mul(X_p, pose(quat=axis_turn(axis, -reference))) if reference else X_p, "REVOLUTE"
    else:
        X_p, X_c, word = pose_mul(here, pose(-reference * axis)), pose(), "PRISMATIC"
    out.joint[j] = _add_link(source, out, b, source.name("JOINT", j), word, (link, X_p, X_c), last, AXES[word])
    return int(out.joint[j])


# ---- dofs ----


def dofs(source: Source) -> tuple[dict[str, Any], list[Finding]]:
    """The columns of the dofs, which keep MuJoCo's order."""
    m, rows = source.m, Rows()
    for v in range(m.nv):
        j = int(m.dof_jntid[v])
        lower, upper, ke, kd = _limits(source, j, v)
        rows.add(
            joint_axis=np.eye(3)[(v - m.jnt_dofadr[j]) % 3]
            if m.jnt_type[j] in (FREE, BALL)
            else np.array(m.jnt_axis[j]),
            joint_armature=float(m.dof_armature[v]),
            joint_damping=0.0 if "DAMPER" in source.disabled else float(m.dof_damping[v]),
            joint_friction=0.0 if "FRICTIONLOSS" in source.disabled else float(m.dof_frictionloss[v]),
            joint_limit_lower=lower,
            joint_limit_upper=upper,
            joint_limit_ke=ke,
            joint_limit_kd=kd,
        )
    limited = np.array(m.jnt_limited, bool) & (source.law == "sap" and "LIMIT" not in source.disabled)
    balls = np.nonzero(limited & (np.array(m.jnt_type) == BALL))[0]
    return rows.columns, [source.find(Code.BALL_LIMIT, "JOINT", int(j)) for j in balls]


def _limits(source: Source, j: int, v: int) -> tuple[float, float, float, float]:
    m = source.m
    if not m.jnt_limited[j] or "LIMIT" in source.disabled or m.jnt_type[j] == BALL:
        return -np.inf, np.inf, 0.0, 0.0
    stiffness, time = spring(m.jnt_solref[j], m.jnt_solimp[j], m.opt.timestep)
    ke = stiffness / max(float(m.dof_invweight0[v]), 1e-12)
    margin = 0.0 if source.law == "mujoco" else m.jnt_margin[j]  # that law has margins of its own
    lower, upper = m.jnt_range[j] + np.array([1, -1]) * margin
    return float(lower), float(max(lower, upper)), ke, ke * time
