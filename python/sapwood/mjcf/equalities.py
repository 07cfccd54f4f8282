"""Import of equalities: loops (connect, weld), and couplings of joints or of tendons."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import ENUMS
from ..conventions import Floats, pose, pose_mul, quat_from_wxyz
from .source import EQ_CONNECT, EQ_JOINT, EQ_TENDON, EQ_WELD, Source

TYPES = ENUMS["SapConstraintType"]


class Equalities(Source):
    def add_equalities(self) -> None:
        for e in range(self.m.neq):
            if "EQUALITY" in self.disabled:
                self.approximate("EQUALITY", e, "left out; equalities are disabled")
            else:
                self.add_equality(e)

    def add_equality(self, e: int) -> None:
        kind = int(self.m.eq_type[e])
        if kind in (EQ_CONNECT, EQ_WELD):
            self.add_loop(e)
        elif kind in (EQ_JOINT, EQ_TENDON):
            self.add_coupler(e)
        else:
            self.lose("EQUALITY", e, "it acts on a flex")

    def add_constraint(self, e: int, kind: str, weights: list[float], **row: Any) -> None:
        """Adds a row of each array; `weights` are MuJoCo's inverse weights of translation (or of the only row) and of
        the rotation of a weld."""
        m = self.m
        soft = [self.softness(m.eq_solref[e], m.eq_solimp[e], weight) for weight in weights]
        soft += [(np.inf, 0.0)] * (2 - len(weights))
        self.constraint[e] = self.rows.count("constraint_type")
        self.rows.add(
            constraint_type=TYPES["SAP_CONSTRAINT_" + kind],
            constraint_ke=[ke for ke, _ in soft],
            constraint_kd=[kd for _, kd in soft],
            constraint_active=int(m.eq_active0[e]),
            constraint_name=self.name("EQUALITY", e),
            **{
                "constraint_body": (-1, -1),
                "constraint_X": (pose(), pose()),
                "constraint_coordinate": (-1, -1),
                "constraint_polynomial": (0, 1, 0, 0, 0),
                "constraint_reference": (0, 0),
                **row,
            },
        )
        unit = "N/m or N m/rad" if kind == "COUPLER" else "N/m"
        self.note_stiffness("EQUALITY", e, kind.lower(), soft[0][0], unit)

    # ---- loops ----

    def add_loop(self, e: int) -> None:
        m = self.m
        bodies = [self.eq_body(e, i) for i in (0, 1)]
        if m.body_weldid[bodies[0]] == m.body_weldid[bodies[1]]:
            return self.approximate("EQUALITY", e, "left out; its bodies do not move against each other")
        for b in bodies:
            if m.body_mocapid[m.body_rootid[b]] >= 0:
                self.approximate("EQUALITY", e, f"holds, but does not follow the mocap body '{self.name('BODY', b)}'")
        data, weld = np.array(m.eq_data[e]), int(m.eq_type[e]) == EQ_WELD
        scale = float(data[10]) if weld else 0.0
        invweight = np.array(m.body_invweight0[bodies]).sum(axis=0)
        frames = [pose_mul(self.offset[b], self.eq_frame(e, i)) for i, b in enumerate(bodies)]
        self.add_constraint(
            e,
            "WELD" if scale else "BALL",
            [float(invweight[0]), float(invweight[1] * (2 / scale) ** 2)] if scale else [float(invweight[0])],
            constraint_body=[int(self.body[b]) for b in bodies],
            constraint_X=frames if scale else [pose(frame[:3]) for frame in frames],
        )

    def eq_is_on_sites(self, e: int) -> bool:
        return int(self.m.eq_objtype[e]) == self.enum("mjtObj", "mjOBJ_SITE")

    def eq_body(self, e: int, i: int) -> int:
        m = self.m
        found = int((m.eq_obj1id, m.eq_obj2id)[i][e])
        return int(m.site_bodyid[found]) if self.eq_is_on_sites(e) else found

    def eq_frame(self, e: int, i: int) -> Floats:
        """The frame of side i in its MuJoCo body."""
        m, data = self.m, np.array(self.m.eq_data[e])
        if self.eq_is_on_sites(e):
            s = int((m.eq_obj1id, m.eq_obj2id)[i][e])
            return pose(m.site_pos[s], quat_from_wxyz(m.site_quat[s]))
        if int(m.eq_type[e]) == EQ_CONNECT:
            return pose(data[3 * i : 3 * i + 3])
        return pose(data[3:6], quat_from_wxyz(data[6:10])) if i == 0 else pose(data[0:3])

    # ---- couplings ----

    def add_coupler(self, e: int) -> None:
        m, joints = self.m, int(self.m.eq_type[e]) == EQ_JOINT
        ids = [int(i) for i in (m.eq_obj1id[e], m.eq_obj2id[e]) if i >= 0]
        if joints:
            x = [int(m.jnt_dofadr[j]) for j in ids]
            reference = [float(m.qpos0[m.jnt_qposadr[j]]) for j in ids]
            weight = sum(float(m.dof_invweight0[v]) for v in x)
        else:
            lost = [self.name("TENDON", t) for t in ids if self.tendon[t] < 0]
            if lost:
                return self.lose("EQUALITY", e, f"tendon '{lost[0]}' is not converted")
            x = [int(m.nv + self.tendon[t]) for t in ids]
            reference = [float(m.tendon_length0[t]) for t in ids]
            weight = sum(float(m.tendon_invweight0[t]) for t in ids)
        if len(set(x)) < len(x):
            return self.lose("EQUALITY", e, "it couples a coordinate with itself")
        self.add_constraint(
            e,
            "COUPLER",
            [weight],
            constraint_coordinate=(x + [-1])[:2],
            constraint_polynomial=np.array(m.eq_data[e][:5]),
            constraint_reference=(reference + [0.0])[:2],
        )
