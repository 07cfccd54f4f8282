"""Import of springs and actuators as drives and motors."""

from __future__ import annotations

import numpy as np

from ..actuation import Activations, Actuation, Thruster
from ..conventions import Floats, pose, pose_mul, quat_from_wxyz, quat_matrix
from .general import General
from .source import (
    BIAS_AFFINE,
    DYN_FILTEREXACT,
    DYN_INTEGRATOR,
    DYN_NONE,
    HINGE,
    INTEGRATOR_RK4,
    SLIDE,
    TRN_JOINT,
    TRN_JOINT_IN_PARENT,
    TRN_SITE,
    TRN_TENDON,
)
from .tendons import JOINT


class Actuators(General):
    def add_drives(self) -> Actuation:
        """Converts springs, and actuators whose bias depends on their coordinate, to the drive of the coordinate: a dof
        x < nv, or tendon x - nv."""
        m, nv = self.m, int(self.m.nv)
        nu, nx = int(m.nu), nv + len(self.terms)
        self.ke, self.kd, self.pull, self.limit = np.zeros(nx), np.zeros(nx), np.zeros(nx), np.full(nx, np.inf)
        self.range = np.concatenate([np.tile([-np.inf, np.inf], (nv, 1)), self.tendon_range()])
        self.motor, self.position, self.velocity = np.zeros((3, nu, nx))
        self.gain, self.bias = np.ones(nu), np.zeros(nu)
        self.force_range, ctrl_range = np.tile([-np.inf, np.inf], (nu, 1)), np.tile([-np.inf, np.inf], (nu, 1))
        self.velocity0 = np.zeros(nx)
        self.driven = np.zeros(nx, bool)
        self.range_gear: dict[int, float] = {}  # of the actuators of a tendon that has a range
        self.thrusters: list[Thruster] = []
        self.add_springs()
        self.choose_listed()
        for a in range(self.num_actuators()):
            self.add_actuator(a)
        limited = np.zeros(nu, bool) if "CLAMPCTRL" in self.disabled else np.array(m.actuator_ctrllimited, bool)
        ctrl_range[limited] = np.array(m.actuator_ctrlrange)[limited]
        return self.finish_drives(ctrl_range)

    def finish_drives(self, ctrl_range: Floats) -> Actuation:
        nv = int(self.m.nv)
        scale_p, scale_v = np.where(self.ke > 0, self.ke, 1), np.where(self.kd > 0, self.kd, 1)
        target = self.pull / scale_p
        active = (self.ke > 0) | (self.kd > 0)
        columns = {
            "target_ke": self.ke,
            "target_kd": self.kd,
            "target_pos": target,
            "target_vel": self.velocity0 / scale_v,
            "effort_limit": self.limit,
            "target_mode": np.where(active, 3, 0),
        }
        for name, values in columns.items():
            self.rows.columns["joint_" + name] = values[:nv]
            if self.terms:
                self.rows.columns["tendon_" + name] = values[nv:]
        names = [self.name("ACTUATOR", i) for i in range(self.num_actuators())]
        return Actuation(
            names,
            nv,
            ctrl_range,
            self.gain,
            self.bias,
            self.force_range,
            self.motor,
            self.range,
            self.position / scale_p,
            target,
            self.velocity / scale_v,
            self.velocity0 / scale_v,
            self.thrusters,
            self.activations(),
            np.array([self.control(a) for a in self.listed], np.intp),
        )

    def activations(self) -> Activations | None:
        """The activations of MuJoCo, in their order; actuators that are lost have them too, but act on nothing."""
        m = self.m
        actuators = [a for a in range(self.num_actuators()) if self.has_dynamics(a)]
        if not actuators:
            return None
        kinds = np.array(m.actuator_dyntype)[actuators]
        limited = np.array(m.actuator_actlimited, bool)[actuators]
        bounds = np.where(limited[:, None], np.array(m.actuator_actrange)[actuators], [-np.inf, np.inf])
        return Activations(
            np.array([self.control(a) for a in actuators], np.intp),
            np.array(m.actuator_dynprm)[actuators, 0],
            kinds == DYN_INTEGRATOR,
            kinds == DYN_FILTEREXACT,
            np.array(m.actuator_actearly, bool)[actuators],
            bounds,
            bool(self.listed),
            np.array([a in self.pushes for a in actuators], bool),
        )

    def add_springs(self) -> None:
        m = self.m
        for j in range(m.njnt):
            v, k = int(m.jnt_dofadr[j]), float(m.jnt_stiffness[j])
            if m.jnt_actfrclimited[j] and m.jnt_type[j] in (HINGE, SLIDE):
                self.range[v] = m.jnt_actfrcrange[j]
            if np.any(getattr(m, "jnt_stiffnesspoly", np.zeros((m.njnt, 1)))[j]):
                self.lose("JOINT", j, "stiffness that depends on the deflection")
            if np.any(getattr(m, "dof_dampingpoly", np.zeros((m.nv, 1)))[v]):
                self.lose("JOINT", j, "damping that depends on the velocity")
            if k == 0 or "SPRING" in self.disabled:
                continue
            if m.jnt_type[j] not in (HINGE, SLIDE):
                self.lose("JOINT", j, "spring of a free or ball joint")
                continue
            if self.law == "mujoco":  # MuJoCo's law has its own springs (law.py)
                continue
            self.ke[v] += k
            self.pull[v] += k * float(m.qpos_spring[m.jnt_qposadr[j]])
            self.driven[v] = True

    def add_actuator(self, a: int) -> None:
        m = self.m
        if "ACTUATION" in self.disabled:
            return self.lose("ACTUATOR", a, "actuation is disabled")
        u = self.control(a)
        out = int(m.actuator_outadr[a]) if hasattr(m, "actuator_outadr") else a
        fault = self.actuator_fault(a)
        if int(m.actuator_trntype[a]) == TRN_SITE and not fault:
            return self.add_thruster(a, u, out)
        x, gear = self.transmission(a, out)
        if fault or x < 0:
            return self.lose("ACTUATOR", a, fault or self.transmission_fault(a))
        self.lose_dynamics(a)
        if a in self.pushes:
            return self.add_listed(a, x, gear)
        if np.any(self.gain_of(a)[1:]):
            return self.lose("ACTUATOR", a, "a gain that depends on the state, of a tendon that couples joints")
        self.turn_range(a, x, gear)
        self.note_joint_ranges(a, x)
        bias = self.bias_of(a)
        self.add_reflected(a, x, gear)
        if np.any(bias[1:]):
            self.add_drive(a, u, x, gear, bias)
        else:
            self.add_motor(a, u, self.moment_arms(x, gear), float(bias[0]))

    def add_listed(self, a: int, x: int, gear: float) -> None:
        """Steps compute its force; the effort limits of its joints are for drives that replace it."""
        self.add_reflected(a, x, gear)
        for dof, arm in self.arms(a):
            effort = abs(arm) * self.list_effort(a)
            self.limit[dof] = effort + (self.limit[dof] if np.isfinite(self.limit[dof]) else 0.0)

    def lose_dynamics(self, a: int) -> None:
        m = self.m
        if int(m.actuator_dyntype[a]) != DYN_NONE and not self.has_dynamics(a):
            self.lose("ACTUATOR", a, "activation dynamics; the control acts at once")
        if np.any(getattr(m, "actuator_delay", np.zeros(m.nu))[a : a + 1]):
            self.lose("ACTUATOR", a, "delay; the control acts at once")

    def add_thruster(self, a: int, u: int, out: int) -> None:
        """A force and a torque in the axes of a site, at the site: a rotor of a drone, a jet."""
        m, site = self.m, int(self.m.actuator_trnid[a, 0])
        body = int(m.site_bodyid[site])
        link, affine = int(self.body[body]), int(m.actuator_biastype[a]) == BIAS_AFFINE
        if int(m.actuator_trnid[a, 1]) >= 0 or self.depends_on_state(a):
            return self.lose("ACTUATOR", a, "a site that is driven relative to another, or by its position or velocity")
        if link < 0:
            return self.lose("ACTUATOR", a, "a force on a part of the world")
        self.lose_dynamics(a)
        if self.law == "mujoco" and int(m.opt.integrator) == INTEGRATOR_RK4:
            self.approximate("ACTUATOR", a, "a site and RK4: its stages have the force of the start of the step")
        place = pose_mul(self.offset[body], pose(m.site_pos[site], quat_from_wxyz(m.site_quat[site])))
        rotation, gear = quat_matrix(place[3:]), np.array(m.actuator_gear[out])
        force, arm = rotation @ gear[:3], place[:3] - np.array(self.rows.columns["body_com"][link])
        torque = rotation @ gear[3:] + np.cross(arm, force)
        self.add_motor(a, u, [], float(m.actuator_biasprm[a, 0]) if affine else 0.0)
        self.thrusters.append(Thruster(u, link, np.concatenate([force, torque])))

    def add_reflected(self, a: int, x: int, gear: float) -> None:
        """Adds the armature and damping of the actuator, reflected through its gear."""
        of, i = ("joint", x) if x < self.m.nv else ("tendon", x - int(self.m.nv))
        for name in ("armature", "damping"):
            value = float(getattr(self.m, f"actuator_{name}", np.zeros(self.m.nu))[a])
            if value:
                self.rows.columns[f"{of}_{name}"][i] += value * gear**2

    def transmission(self, a: int, out: int) -> tuple[int, float]:
        """(coordinate, gear); coordinate -1: none that can be driven. A tendon with one joint drives that joint."""
        m, kind, nv = self.m, int(self.m.actuator_trntype[a]), int(self.m.nv)
        target, gear = int(m.actuator_trnid[a, 0]), float(m.actuator_gear[out, 0])
        if kind in (TRN_JOINT, TRN_JOINT_IN_PARENT) and m.jnt_type[target] in (HINGE, SLIDE):
            return int(m.jnt_dofadr[target]), gear
        if kind != TRN_TENDON or self.tendon[target] < 0:
            return -1, gear
        t = int(self.tendon[target])
        if len(self.terms[t]) == 1 and not m.tendon_actfrclimited[target]:
            _, dof, (coefficient, *_) = self.terms[t][0]
            return dof, gear * coefficient
        return nv + t, gear

    def turn_range(self, a: int, x: int, gear: float) -> None:
        """MuJoCo clips the sum of the forces of a tendon's actuators before their gear; `range` is behind it."""
        if x < self.m.nv or not np.any(np.isfinite(self.range[x])):
            return
        known = self.range_gear.setdefault(x, gear)
        if known != gear:
            self.approximate("ACTUATOR", a, f"the force range of its tendon is taken with gear {known:g}")
        elif not self.motor[:, x].any() and not self.driven[x]:
            self.range[x] = np.sort(self.range[x] * gear)

    def note_joint_ranges(self, a: int, x: int) -> None:
        """A force along a tendon passes by the force ranges of its joints."""
        terms = self.terms[x - int(self.m.nv)] if x >= self.m.nv else []
        if any(kind == JOINT and np.any(np.isfinite(self.range[dof])) for kind, dof, _ in terms):
            self.approximate("ACTUATOR", a, "the force ranges of the joints of its tendon do not limit it")

    def transmission_fault(self, a: int) -> str:
        if int(self.m.actuator_trntype[a]) != TRN_TENDON:
            return "a transmission that is no hinge, slide, tendon or site"
        return f"tendon '{self.name('TENDON', int(self.m.actuator_trnid[a, 0]))}' is not converted"

    def moment_arms(self, x: int, gear: float) -> list[tuple[int, float]]:
        """[(coordinate, moment arm)] of a motor. Those of a fixed tendon are constant, so it acts on the joints."""
        nv = int(self.m.nv)
        if x < nv or np.any(np.isfinite(self.range[x])) or self.terms[x - nv][0][0] != JOINT:
            return [(x, gear)]
        return [(dof, gear * value[0]) for _, dof, value in self.terms[x - nv]]

    def add_motor(self, a: int, u: int, arms: list[tuple[int, float]], bias: float) -> None:
        m = self.m
        self.gain[u], self.bias[u] = float(m.actuator_gainprm[a, 0]), bias
        if m.actuator_forcelimited[a]:
            self.force_range[u] = m.actuator_forcerange[a]
        for x, arm in arms:
            self.motor[u, x] += arm

    def add_drive(self, a: int, u: int, x: int, gear: float, bias: Floats) -> None:
        m = self.m
        ke, kd, gain = -bias[1] * gear**2, -bias[2] * gear**2, float(m.actuator_gainprm[a, 0]) * gear
        if ke < 0 or kd < 0:
            return self.lose("ACTUATOR", a, "a drive with negative gains")
        self.ke[x] += ke
        self.kd[x] += kd
        to_position = ke > 0
        (self.position if to_position else self.velocity)[u, x] += gain
        (self.pull if to_position else self.velocity0)[x] += bias[0] * gear
        self.limit_drive(a, x, abs(gear))
        self.driven[x] = True

    def limit_drive(self, a: int, x: int, gear: float) -> None:
        """Sets the effort limit, which is symmetric and also clips the spring of the same joint."""
        m = self.m
        ranges = [np.array(m.actuator_forcerange[a]) * gear] if m.actuator_forcelimited[a] else []
        if np.all(np.isfinite(self.range[x])):
            ranges.append(self.range[x])
        for lower, upper in ranges:
            if lower != -upper:
                self.approximated.append(
                    f"actuator '{self.name('ACTUATOR', a)}': force range {lower} .. {upper} is taken "
                    f"as +-{max(abs(lower), abs(upper))}"
                )
            if self.driven[x]:
                self.approximated.append(
                    f"actuator '{self.name('ACTUATOR', a)}': its force range also limits what else drives it"
                )
            limit = max(abs(lower), abs(upper))
            if limit > 0:
                self.limit[x] = min(self.limit[x], limit)
