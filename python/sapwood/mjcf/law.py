"""The numbers of MuJoCo's law: what contact_solver = mujoco needs of a MuJoCo model (docs/mujoco.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import ENUMS
from .actuators import Actuators
from .source import BALL, BIAS_AFFINE, HINGE, SLIDE, Lost, mujoco_module
from .tendons import JOINT

INTEGRATORS = {"EULER": 0, "RK4": 1, "IMPLICITFAST": 3, "DISCRETE": 4}
OWN_POINTS = ("box", "cylinder", "ellipsoid", "mesh")  # geoms whose contact points are not MuJoCo's


class Law(Actuators):
    drive_range: Any  # [nv][2]

    def take_law(self) -> dict[str, Any]:
        """The fields of SapMujocoParameters. Changes the rows and the list of lost elements to those of this law."""
        m, columns = self.m, self.rows.columns
        self.lose_servos()
        geom = self.geom_of_shape()
        if len(geom):  # the distance at which a contact begins; the law subtracts the margin itself
            columns["shape_gap"] = (m.geom_margin + m.geom_gap)[geom]
            columns["shape_margin"] = np.zeros(len(geom))
        pairs = self.law_of_pairs()
        return {
            **self.law_options(),
            **self.law_of_dofs(),
            **self.law_of_tendons(),
            **self.law_of_equalities(),
            **self.law_of_shapes(geom, pairs),
            **pairs,
            **self.list_numbers(),
        }

    # ---- actuators ----

    def lose_servos(self) -> None:
        """Servos, actuators whose force depends on the joint or tendon, are its drives, with bounds of the force."""
        m = self.m
        servos = [a for a in range(self.num_actuators()) if self.is_servo(a) and a not in self.pushes]
        driven = [self.transmission(a, a)[0] for a in servos]
        self.drive_range = np.tile([-np.inf, np.inf], (m.nv, 1))
        kept = ("is taken as +-", "its force range also limits")  # force ranges are as they are
        self.approximated = [text for text in self.approximated if not any(word in text for word in kept)]
        for a, x in zip(servos, driven):
            shared = driven.count(x) > 1
            if x >= m.nv:
                self.lose_tendon_servo(a, x - m.nv, [b for b, y in zip(servos, driven) if y == x])
            elif m.actuator_forcelimited[a] and shared:
                self.lose("ACTUATOR", a, "a servo with a force range that shares its joint with another servo")
            elif x >= 0 and m.jnt_actfrclimited[m.dof_jntid[x]] and (shared or np.any(self.motor[:, x])):
                self.lose("ACTUATOR", a, "a servo of a joint with actuatorfrcrange and another actuator")
            elif x >= 0:
                self.drive_range[x] = self.servo_range(a, x)

    def lose_tendon_servo(self, a: int, t: int, servos: list[int]) -> None:
        """Loses the servo of a tendon with several joints if it is not explicit, or has bounds that a drive has not."""
        m, columns, limited = self.m, self.rows.columns, [b for b in servos if self.m.actuator_forcelimited[b]]
        integrator, mode = self.integrator(), np.array(columns["tendon_target_mode"])
        if integrator == "DISCRETE" or (integrator == "IMPLICITFAST" and columns["tendon_target_kd"][t] > 0):
            why = f"implicit with integrator {integrator.lower()}"
        elif m.tendon_actfrclimited[m.actuator_trnid[a, 0]]:
            why = "with actuatorfrcrange of the tendon"
        elif limited and len(servos) > 1:
            why = "with a force range that shares its tendon with another servo"
        elif any(m.actuator_forcerange[b, 0] != -m.actuator_forcerange[b, 1] for b in limited):
            why = "with a force range that is not symmetric"
        else:
            return
        mode[t] = 0
        columns["tendon_target_mode"] = mode
        self.lose("ACTUATOR", a, f"a servo of a tendon with several joints, {why}")

    def servo_range(self, a: int, x: int) -> Any:
        """Bounds of the force of the servo on its joint: its own behind the gear, and those of the joint."""
        m, joint = self.m, int(self.m.dof_jntid[x])
        gear = self.transmission(a, a)[1]
        own = np.sort(m.actuator_forcerange[a] * gear) if m.actuator_forcelimited[a] else [-np.inf, np.inf]
        of_joint = m.jnt_actfrcrange[joint] if m.jnt_actfrclimited[joint] else [-np.inf, np.inf]
        return np.clip(own, *of_joint)

    def is_servo(self, a: int) -> bool:
        m = self.m
        affine = int(m.actuator_biastype[a]) == BIAS_AFFINE and bool(np.any(m.actuator_biasprm[a, 1:3]))
        return affine and not self.actuator_fault(a) and "ACTUATION" not in self.disabled

    # ---- tendons and equalities ----

    def keep_tendons(self) -> None:
        """Keeps the tendons if the law has them all, else none. Before their actuators and equalities are converted."""
        faults = {t: self.tendon_fault(t) for t in range(self.m.ntendon) if self.tendon[t] >= 0}
        if not any(faults.values()):
            return
        for t, fault in faults.items():
            self.lose("TENDON", t, f"{fault}, with law='mujoco'" if fault else "not imported beside the others")
        for name in [name for name in self.rows.columns if name.startswith("tendon_")]:
            del self.rows.columns[name]
        self.terms, self.tendon[:] = [], -1

    def tendon_fault(self, t: int) -> str:
        m, integrator = self.m, self.integrator()
        if any(kind != JOINT for kind, *_ in self.terms[self.tendon[t]]):
            return "a path over sites"
        if m.tendon_armature[t]:
            return "armature"
        if m.tendon_damping[t] and integrator == "DISCRETE":
            return "damping and integrator discrete"
        joints = [m.dof_jntid[dof] for _, dof, _ in self.terms[self.tendon[t]]]
        if m.tendon_damping[t] and integrator == "IMPLICITFAST" and np.any(m.jnt_actfrclimited[joints]):
            return "damping, integrator implicitfast and a joint with actuatorfrcrange"
        if m.tendon_stiffness[t] and integrator == "DISCRETE":
            return "a spring and integrator discrete"
        return ""

    def law_of_tendons(self) -> dict[str, Any]:
        m, found = self.m, np.nonzero(self.tendon >= 0)[0]
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

    def law_of_equalities(self) -> dict[str, Any]:
        """MuJoCo's first body is our body b."""
        m, columns, found = self.m, self.rows.columns, np.nonzero(self.constraint >= 0)[0]
        if not len(found):
            return {}
        for name in ("constraint_body", "constraint_X"):
            columns[name] = [list(reversed(list(pair))) for pair in columns[name]]
        weld = np.array(columns["constraint_type"]) == ENUMS["SapConstraintType"]["SAP_CONSTRAINT_WELD"]
        return {
            "constraint_solref": np.array(m.eq_solref)[found],
            "constraint_solimp": np.array(m.eq_solimp)[found],
            "constraint_torquescale": np.where(weld, np.array(m.eq_data)[found, 10], 1.0),
        }

    # ---- the rest ----

    def geom_of_shape(self) -> Any:
        shapes = self.rows.count("shape_type")
        geom = np.full(shapes, -1)
        geom[self.shape[self.shape >= 0]] = np.nonzero(self.shape >= 0)[0]
        if np.any(geom < 0):
            raise ValueError("decompose divides geoms; with law='mujoco' every geom must be one shape")
        return geom

    def integrator(self) -> str:
        return str(mujoco_module().mjtIntegrator(int(self.m.opt.integrator)).name.removeprefix("mjINT_"))

    def law_options(self) -> dict[str, Any]:
        m, mujoco = self.m, mujoco_module()
        flags = int(m.opt.disableflags)
        integrator = self.integrator()
        if integrator not in INTEGRATORS:
            self.lost.append(Lost("option", "integrator", f"{integrator.lower()}; implicitfast is used"))
        solver = str(mujoco.mjtSolver(int(m.opt.solver)).name.removeprefix("mjSOL_"))
        if solver != "NEWTON":
            self.approximated.append(f"option 'solver': {solver}; Newton's method solves the same problem")
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
        m = self.m
        joint = np.array(m.dof_jntid)
        scalar = np.isin(np.array(m.jnt_type)[joint], (HINGE, SLIDE))
        springs = scalar & ("SPRING" not in self.disabled)
        body = np.zeros((self.rows.count("body_mass"), 2))
        for b in range(m.nbody - 1, 0, -1):  # a body of ours may be several of MuJoCo's; the first one counts
            if self.body[b] >= 0:
                body[self.body[b]] = m.body_invweight0[b]
        ball = np.full(self.rows.count("joint_type"), np.inf)
        for j in range(m.njnt):
            if m.jnt_type[j] == BALL and m.jnt_limited[j] and "LIMIT" not in self.disabled:
                ball[self.joint[j]] = np.max(m.jnt_range[j])
        return {
            "body_invweight": body,
            "dof_invweight": np.array(m.dof_invweight0),
            "dof_stiffness": np.where(springs, np.array(m.jnt_stiffness)[joint], 0.0),
            "dof_spring_ref": np.where(scalar, np.array(m.qpos_spring)[np.array(m.jnt_qposadr)[joint]], 0.0),
            "dof_drive_range": self.drive_range,
            "dof_limit_margin": np.array(m.jnt_margin)[joint],
            "dof_limit_solref": np.array(m.jnt_solref)[joint],
            "dof_limit_solimp": np.array(m.jnt_solimp)[joint],
            "dof_friction_solref": np.array(m.dof_solref),
            "dof_friction_solimp": np.array(m.dof_solimp),
            "joint_ball_limit": ball,
        }

    def law_of_pairs(self) -> dict[str, Any]:
        """Explicit pairs have their own parameters. Collision finds their contacts at the margin + gap of the pair."""
        m, gap = self.m, self.rows.columns.get("shape_gap", np.zeros(0))
        known: dict[frozenset[int], int] = {}
        for p in range(m.npair):
            shapes = frozenset(int(self.shape[g]) for g in (m.pair_geom1[p], m.pair_geom2[p]))
            if min(shapes) < 0:
                continue
            if known.setdefault(shapes, p) != p:
                self.lost.append(Lost("pair", self.name("PAIR", p), "geoms that another pair has already"))
        for shapes, p in known.items():
            first = min(shapes)
            gap[first] += max(float(m.pair_margin[p] + m.pair_gap[p]) - sum(gap[s] for s in shapes), 0.0)
        found = list(known.values())
        if not found:
            return {}
        return {
            "num_pairs": len(found),
            "pair_shape": [sorted(shapes) for shapes in known],
            "pair_condim": np.array(m.pair_dim)[found],
            **{
                f"pair_{name}": np.array(getattr(m, f"pair_{name}"))[found]
                for name in ("margin", "friction", "solref", "solreffriction", "solimp")
            },
        }

    def law_of_shapes(self, geom: Any, pairs: dict[str, Any]) -> dict[str, Any]:
        m = self.m
        collides = [g for g in range(m.ngeom) if self.shape[g] >= 0]
        condims = [*(m.geom_condim[g] for g in collides), *pairs.get("pair_condim", [])]
        most = max((int(n) for n in condims), default=3)
        for g in collides:
            kind = mujoco_module().mjtGeom(int(m.geom_type[g])).name.removeprefix("mjGEOM_").lower()
            if kind in OWN_POINTS:
                self.approximate("GEOM", g, f"a {kind}: contact points are those of Sapwood's collision, not MuJoCo's")
        out = {
            f"shape_{name}": np.array(getattr(m, f"geom_{name}"), float)[geom]
            for name in ("condim", "priority", "solmix", "margin", "friction", "solref", "solimp")
        }
        moves = self.body[np.array(m.geom_bodyid)] >= 0
        weight = np.where(moves, np.array(m.body_invweight0)[np.array(m.geom_bodyid), 0], 0.0)
        return {"max_condim": most, **out, "shape_invweight": weight[geom]}
