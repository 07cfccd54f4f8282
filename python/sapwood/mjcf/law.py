"""The numbers of MuJoCo's law: what contact_solver = mujoco needs of a MuJoCo model (docs/mujoco.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .source import BALL, BIAS_AFFINE, HINGE, SLIDE, Lost, Source, mujoco_module

# What is lost for the law of SAP and exists in MuJoCo's.
KEPT = ("torsional and rolling friction", "limit of a ball joint")
INTEGRATORS = {"EULER": 0, "RK4": 1, "IMPLICITFAST": 3, "DISCRETE": 4}


class Law(Source):
    def take_law(self) -> dict[str, Any]:
        """The fields of SapMujocoArrays. Changes the rows and the list of lost elements to those of this law."""
        m, columns = self.m, self.rows.columns
        self.lost = [element for element in self.lost if element.what not in KEPT]
        self.lose_servos()
        self.lose_rows()
        columns["joint_target_mode"] = np.zeros(m.nv, int)
        geom = self.geom_of_shape()
        if len(geom):  # the distance at which a contact begins; the law subtracts the margin itself
            columns["shape_gap"] = (m.geom_margin + m.geom_gap)[geom]
            columns["shape_margin"] = np.zeros(len(geom))
        if m.npair:
            self.lost.append(Lost("option", "pair", "parameters of explicit pairs; those of the geoms are mixed"))
        return {**self.law_options(), **self.law_of_dofs(), **self.law_of_shapes(geom)}

    def lose_servos(self) -> None:
        """Actuators whose force depends on the joint: here they would be drives, which this law does not have."""
        m = self.m
        for a in range(m.nu):
            if int(m.actuator_biastype[a]) == BIAS_AFFINE and np.any(m.actuator_biasprm[a, 1:3]):
                self.lose("ACTUATOR", a, "a servo; with law='mujoco' add its force to joint_f")

    def lose_rows(self) -> None:
        """Equalities and tendons, which the import converts for the law of SAP only."""
        m, columns = self.m, self.rows.columns
        for name in [name for name in columns if name.startswith(("constraint_", "tendon_"))]:
            del columns[name]
        for i in range(m.neq):
            self.lose("EQUALITY", i, "not imported with law='mujoco'")
        acts = ("limited", "stiffness", "damping", "frictionloss", "armature")
        for t in range(m.ntendon):
            if any(np.any(getattr(m, f"tendon_{name}")[t]) for name in acts):
                self.lose("TENDON", t, "not imported with law='mujoco'")

    def geom_of_shape(self) -> Any:
        shapes = self.rows.count("shape_type")
        geom = np.full(shapes, -1)
        geom[self.shape[self.shape >= 0]] = np.nonzero(self.shape >= 0)[0]
        if np.any(geom < 0):
            raise ValueError("decompose divides geoms; with law='mujoco' every geom must be one shape")
        return geom

    def law_options(self) -> dict[str, Any]:
        m, mujoco = self.m, mujoco_module()
        flags = int(m.opt.disableflags)
        integrator = mujoco.mjtIntegrator(int(m.opt.integrator)).name.removeprefix("mjINT_")
        if integrator not in INTEGRATORS:
            self.lost.append(Lost("option", "integrator", f"{integrator.lower()}; implicitfast is used"))
        if int(m.opt.noslip_iterations):
            self.lost.append(Lost("option", "noslip_iterations", "no such sweeps follow the solve"))
        for word in ("DIAGEXACT", "IPC", "SPECULATIVE", "SLEEP"):
            bit = getattr(mujoco.mjtEnableBit, f"mjENBL_{word}", None)
            if bit is not None and int(m.opt.enableflags) & int(bit):
                self.lost.append(Lost("option", word.lower(), "not in law='mujoco'"))
        if flags & int(mujoco.mjtDisableBit.mjDSBL_WARMSTART):
            self.lost.append(Lost("option", "warmstart", "disabled in the file; the solve starts warm"))
        return {
            "cone": int(m.opt.cone),
            "integrator": INTEGRATORS.get(integrator, INTEGRATORS["IMPLICITFAST"]),
            "impratio": float(m.opt.impratio),
            "tolerance": float(m.opt.tolerance),
            "iterations": int(m.opt.iterations),
            "ls_tolerance": float(m.opt.ls_tolerance),
            "ls_iterations": int(m.opt.ls_iterations),
            "refsafe": int(not flags & int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)),
            "eulerdamp": int(not flags & int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)),
        }

    def law_of_dofs(self) -> dict[str, Any]:
        """Limits have MuJoCo's margin in their range (bodies.py), so their own margin is 0."""
        m = self.m
        joint = np.array(m.dof_jntid)
        scalar = np.isin(np.array(m.jnt_type)[joint], (HINGE, SLIDE))
        springs = scalar & ("SPRING" not in self.disabled)
        body = np.zeros((self.rows.count("body_mass"), 2))
        for b in range(m.nbody - 1, 0, -1):  # a body of ours may be several of MuJoCo's; the first one counts
            if self.body[b] >= 0:
                body[self.body[b]] = m.body_invweight0[b]
        ball = np.full(self.rows.count("joint_type"), np.inf)
        margin = np.zeros(m.nv)
        for j in range(m.njnt):
            if m.jnt_type[j] == BALL and m.jnt_limited[j] and "LIMIT" not in self.disabled:
                ball[self.joint[j]] = np.max(m.jnt_range[j])
                margin[m.jnt_dofadr[j]] = m.jnt_margin[j]
        return {
            "body_invweight": body,
            "dof_invweight": np.array(m.dof_invweight0),
            "dof_stiffness": np.where(springs, np.array(m.jnt_stiffness)[joint], 0.0),
            "dof_spring_ref": np.where(scalar, np.array(m.qpos_spring)[np.array(m.jnt_qposadr)[joint]], 0.0),
            "dof_limit_margin": margin,
            "dof_limit_solref": np.array(m.jnt_solref)[joint],
            "dof_limit_solimp": np.array(m.jnt_solimp)[joint],
            "dof_friction_solref": np.array(m.dof_solref),
            "dof_friction_solimp": np.array(m.dof_solimp),
            "joint_ball_limit": ball,
        }

    def law_of_shapes(self, geom: Any) -> dict[str, Any]:
        m = self.m
        collides = [g for g in range(m.ngeom) if self.shape[g] >= 0]
        most = max((int(m.geom_condim[g]) for g in collides), default=3)
        out = {
            f"shape_{name}": np.array(getattr(m, f"geom_{name}"), float)[geom]
            for name in ("condim", "priority", "solmix", "margin", "friction", "solref", "solimp")
        }
        moves = self.body[np.array(m.geom_bodyid)] >= 0
        weight = np.where(moves, np.array(m.body_invweight0)[np.array(m.geom_bodyid), 0], 0.0)
        return {"max_condim": most, **out, "shape_invweight": weight[geom]}
