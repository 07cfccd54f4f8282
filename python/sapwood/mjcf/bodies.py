"""Import of bodies and joints."""

from __future__ import annotations

import numpy as np

from ..conventions import Floats, axis_turn, pose, pose_mul, quat_from_wxyz, quat_matrix
from ..model import JOINT_TYPES
from .source import BALL, FREE, HINGE, SLIDE, Source, spring

# A massless link, which occurs in the chain of a body with several joints, gets this fraction of the mass that it
# carries, and as many kg m^2 per kg. Added to the inertias that it moves with, it is below the rounding error (2^-53 is
# 1e-16) wherever a number of the model depends on it; in f32 it is still nonzero.
NEGLIGIBLE = 1e-24


class Bodies(Source):
    def add_body(self, b: int) -> None:
        m = self.m
        parent, here = int(m.body_parentid[b]), pose(m.body_pos[b], quat_from_wxyz(m.body_quat[b]))
        here = pose_mul(self.offset[parent], here)
        link = int(self.body[parent])
        if m.body_weldid[b] == 0 and m.body_mocapid[b] >= 0:
            self.lose("BODY", b, "mocap; it stays where it is")
        if m.body_weldid[b] == 0 or (m.body_jntnum[b] == 0 and m.body_mass[b] == 0):
            self.body[b], self.offset[b] = link, here
            return
        if link < 0 and self.rows.count("joint_type"):
            self.starts.append(self.rows.count("joint_type"))
        joints = list(range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]))
        if not joints:
            self.add_link(b, f"{self.name('BODY', b)}:fixed", "FIXED", link, here, pose(), last=True)
        elif len(joints) > 1 and self.fits_d6(joints):
            self.add_d6(b, joints, link, here)
        else:
            for j in joints:
                last = j == joints[-1]
                link = self.add_joint(b, j, link, here, last)
                here = pose()

    def add_link(
        self,
        b: int,
        joint: str,
        kind: str,
        parent: int,
        X_p: Floats,
        X_c: Floats,
        last: bool,
        dim: tuple[int, int] = (0, 0),
    ) -> int:
        """Adds one joint and its child: the body if it is the last joint of the body, otherwise a massless link."""
        index = self.rows.count("joint_type")
        self.rows.add(
            joint_type=JOINT_TYPES["SAP_JOINT_" + kind],
            joint_parent=parent,
            joint_child=index,
            joint_X_p=X_p,
            joint_X_c=X_c,
            joint_name=joint,
            joint_dof_dim=dim,
        )
        mass, inertia = self.inertia(b) if last else (0.0, np.zeros((3, 3)))
        if mass <= 0:
            mass = NEGLIGIBLE * float(self.m.body_subtreemass[b])
        if not np.any(inertia):
            inertia = np.eye(3) * mass if not last else np.eye(3) * NEGLIGIBLE * float(self.m.body_subtreemass[b])
        name = self.name("BODY", b) if last else f"{self.name('BODY', b)}:{joint}"
        self.rows.add(
            body_mass=mass,
            body_com=np.array(self.m.body_ipos[b]) if last else np.zeros(3),
            body_inertia=inertia.ravel(),
            body_gravcomp=float(self.m.body_gravcomp[b]) if last else 0.0,
            body_name=name,
        )
        if last:
            self.body[b] = index
        return index

    def inertia(self, b: int) -> tuple[float, Floats]:
        """Mass, and inertia about the centre of mass in body axes; MuJoCo has principal moments in a separate frame."""
        rotation = quat_matrix(quat_from_wxyz(self.m.body_iquat[b]))
        inertia = rotation @ np.diag(self.m.body_inertia[b]) @ rotation.T
        return float(self.m.body_mass[b]), (inertia + inertia.T) / 2

    def fits_d6(self, joints: list[int]) -> bool:
        """Whether the joints form a D6: slides, then hinges with orthogonal, right-handed axes through one point."""
        m = self.m
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

    def add_d6(self, b: int, joints: list[int], link: int, here: Floats) -> None:
        m = self.m
        hinges = [j for j in joints if m.jnt_type[j] == HINGE]
        anchor = np.array(m.jnt_pos[hinges[0]]) if hinges else np.zeros(3)
        shift = sum((-m.qpos0[m.jnt_qposadr[j]] * m.jnt_axis[j] for j in joints if m.jnt_type[j] == SLIDE), np.zeros(3))
        name = "+".join(self.name("JOINT", j) for j in joints)
        index = self.add_link(
            b,
            name,
            "D6",
            link,
            pose_mul(here, pose(anchor + shift)),
            pose(anchor),
            last=True,
            dim=(len(joints) - len(hinges), len(hinges)),
        )
        for j in joints:
            self.joint[j] = index
            self.add_dof(j, int(m.jnt_dofadr[j]), np.array(m.jnt_axis[j]))

    def add_joint(self, b: int, j: int, link: int, here: Floats, last: bool) -> int:
        m = self.m
        kind, axis, anchor = int(m.jnt_type[j]), np.array(m.jnt_axis[j]), pose(m.jnt_pos[j])
        q, v, reference = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), float(m.qpos0[m.jnt_qposadr[j]])
        X_p, X_c, word = pose_mul(here, anchor), anchor, "BALL"
        if kind == FREE:
            X_p, X_c, word = pose(), pose(), "FREE"
            self.coordinates.free.append((q, v, np.array(m.body_ipos[b])))
        elif kind == BALL:
            self.coordinates.ball.append((q, v))
        elif kind == HINGE:
            X_p, word = pose_mul(X_p, pose(quat=axis_turn(axis, -reference))) if reference else X_p, "REVOLUTE"
        else:
            X_p, X_c, word = pose_mul(here, pose(-reference * axis)), pose(), "PRISMATIC"
        self.joint[j] = self.add_link(
            b,
            self.name("JOINT", j),
            word,
            link,
            X_p,
            X_c,
            last,
            {"PRISMATIC": (1, 0), "REVOLUTE": (0, 1), "BALL": (0, 3), "FREE": (3, 3)}[word],
        )
        for i in range({FREE: 6, BALL: 3}.get(kind, 1)):
            self.add_dof(j, v + i, axis)
        return int(self.joint[j])

    def add_dof(self, j: int, v: int, axis: Floats) -> None:
        m = self.m
        damping = 0.0 if "DAMPER" in self.disabled else float(m.dof_damping[v])
        friction = 0.0 if "FRICTIONLOSS" in self.disabled else float(m.dof_frictionloss[v])
        if m.jnt_type[j] in (FREE, BALL):
            axis = np.eye(3)[(v - m.jnt_dofadr[j]) % 3]
        lower, upper, ke, kd = self.limits(j, v)
        self.rows.add(
            joint_axis=axis,
            joint_armature=float(m.dof_armature[v]),
            joint_damping=damping,
            joint_friction=friction,
            joint_limit_lower=lower,
            joint_limit_upper=upper,
            joint_limit_ke=ke,
            joint_limit_kd=kd,
        )

    def limits(self, j: int, v: int) -> tuple[float, float, float, float]:
        m = self.m
        if not m.jnt_limited[j] or "LIMIT" in self.disabled:
            return -np.inf, np.inf, 0.0, 0.0
        if m.jnt_type[j] == BALL:
            if v == m.jnt_dofadr[j] and self.law == "sap":
                self.lose("JOINT", j, "limit of a ball joint")
            return -np.inf, np.inf, 0.0, 0.0
        stiffness, time = spring(m.jnt_solref[j], m.jnt_solimp[j], m.opt.timestep)
        ke = stiffness / max(float(m.dof_invweight0[v]), 1e-12)
        margin = 0.0 if self.law == "mujoco" else m.jnt_margin[j]  # that law has margins of its own (law.py)
        lower, upper = m.jnt_range[j] + np.array([1, -1]) * margin
        return float(lower), float(max(lower, upper)), ke, ke * time
