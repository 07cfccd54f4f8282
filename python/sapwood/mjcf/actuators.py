"""Import of springs and actuators as drives and motors."""

from __future__ import annotations

import numpy as np

from ..actuation import Actuation, Thruster
from ..conventions import Floats, pose, pose_mul, quat_from_wxyz, quat_matrix
from .source import (
    BIAS_AFFINE,
    BIAS_NONE,
    DYN_NONE,
    GAIN_AFFINE,
    GAIN_FIXED,
    HINGE,
    SLIDE,
    TRN_JOINT,
    TRN_JOINT_IN_PARENT,
    TRN_SITE,
    TRN_TENDON,
    WRAP_JOINT,
    Source,
)


class Actuators(Source):
    def add_drives(self) -> Actuation:
        """Converts springs, and actuators whose bias depends on the joint, to the drive of the dof."""
        m, nv = self.m, int(self.m.nv)
        nu = int(m.nu)
        self.ke, self.kd, self.pull, self.limit = np.zeros(nv), np.zeros(nv), np.zeros(nv), np.full(nv, np.inf)
        self.joint_range = np.tile([-np.inf, np.inf], (nv, 1))
        self.motor, self.position, self.velocity = np.zeros((3, nu, nv))
        self.gain, self.bias = np.ones(nu), np.zeros(nu)
        self.force_range, ctrl_range = np.tile([-np.inf, np.inf], (nu, 1)), np.tile([-np.inf, np.inf], (nu, 1))
        self.velocity0 = np.zeros(nv)
        self.driven = np.zeros(nv, bool)
        self.thrusters: list[Thruster] = []
        self.add_springs()
        for a in range(int(getattr(m, "nactuator", nu))):
            self.add_actuator(a)
        limited = np.zeros(nu, bool) if "CLAMPCTRL" in self.disabled else np.array(m.actuator_ctrllimited, bool)
        ctrl_range[limited] = np.array(m.actuator_ctrlrange)[limited]
        return self.finish_drives(ctrl_range)

    def finish_drives(self, ctrl_range: Floats) -> Actuation:
        m = self.m
        scale_p, scale_v = np.where(self.ke > 0, self.ke, 1), np.where(self.kd > 0, self.kd, 1)
        target = self.pull / scale_p
        active = (self.ke > 0) | (self.kd > 0)
        columns = self.rows.columns
        columns.update(
            joint_target_ke=self.ke,
            joint_target_kd=self.kd,
            joint_target_pos=target,
            joint_target_vel=self.velocity0 / scale_v,
            joint_effort_limit=self.limit,
            joint_target_mode=np.where(active, 3, 0),
        )
        names = [self.name("ACTUATOR", i) for i in range(int(getattr(m, "nactuator", m.nu)))]
        return Actuation(
            names,
            ctrl_range,
            self.gain,
            self.bias,
            self.force_range,
            self.motor,
            self.joint_range,
            self.position / scale_p,
            target,
            self.velocity / scale_v,
            self.velocity0 / scale_v,
            self.thrusters,
        )

    def add_springs(self) -> None:
        m = self.m
        for j in range(m.njnt):
            v, k = int(m.jnt_dofadr[j]), float(m.jnt_stiffness[j])
            if m.jnt_actfrclimited[j] and m.jnt_type[j] in (HINGE, SLIDE):
                self.joint_range[v] = m.jnt_actfrcrange[j]
            if np.any(getattr(m, "jnt_stiffnesspoly", np.zeros((m.njnt, 1)))[j]):
                self.lose("JOINT", j, "stiffness that depends on the deflection")
            if np.any(getattr(m, "dof_dampingpoly", np.zeros((m.nv, 1)))[v]):
                self.lose("JOINT", j, "damping that depends on the velocity")
            if k == 0 or "SPRING" in self.disabled:
                continue
            if m.jnt_type[j] not in (HINGE, SLIDE):
                self.lose("JOINT", j, "spring of a free or ball joint")
                continue
            self.ke[v] += k
            self.pull[v] += k * float(m.qpos_spring[m.jnt_qposadr[j]])
            self.driven[v] = True

    def add_actuator(self, a: int) -> None:
        m = self.m
        if "ACTUATION" in self.disabled:
            return self.lose("ACTUATOR", a, "actuation is disabled")
        u = int(m.actuator_ctrladr[a]) if hasattr(m, "actuator_ctrladr") else a
        out = int(m.actuator_outadr[a]) if hasattr(m, "actuator_outadr") else a
        fault = self.actuator_fault(a)
        if int(m.actuator_trntype[a]) == TRN_SITE and not fault:
            return self.add_thruster(a, u, out)
        coefficients = self.transmission(a, out)
        if fault or coefficients is None:
            return self.lose("ACTUATOR", a, fault or "a transmission that is no hinge, slide, fixed tendon or site")
        self.lose_dynamics(a)
        bias = np.array(m.actuator_biasprm[a, :3]) if int(m.actuator_biastype[a]) == BIAS_AFFINE else np.zeros(3)
        self.add_reflected(a, coefficients)
        if np.any(bias[1:]) and len(coefficients) == 1:
            self.add_drive(a, u, *coefficients[0], bias)
        elif np.any(bias[1:]):
            self.lose("ACTUATOR", a, "a drive on a tendon")
        else:
            self.add_motor(a, u, coefficients, float(bias[0]))

    def lose_dynamics(self, a: int) -> None:
        m = self.m
        if int(m.actuator_dyntype[a]) != DYN_NONE:
            self.lose("ACTUATOR", a, "activation dynamics; the control acts at once")
        if np.any(getattr(m, "actuator_delay", np.zeros(m.nu))[a : a + 1]):
            self.lose("ACTUATOR", a, "delay; the control acts at once")

    def add_thruster(self, a: int, u: int, out: int) -> None:
        """A force and a torque in the axes of a site, at the site: a rotor of a drone, a jet."""
        m, site = self.m, int(self.m.actuator_trnid[a, 0])
        body = int(m.site_bodyid[site])
        link, affine = int(self.body[body]), int(m.actuator_biastype[a]) == BIAS_AFFINE
        if int(m.actuator_trnid[a, 1]) >= 0 or (affine and np.any(m.actuator_biasprm[a, 1:3])):
            return self.lose("ACTUATOR", a, "a site that is driven relative to another, or by its position or velocity")
        if link < 0:
            return self.lose("ACTUATOR", a, "a force on a part of the world")
        self.lose_dynamics(a)
        place = pose_mul(self.offset[body], pose(m.site_pos[site], quat_from_wxyz(m.site_quat[site])))
        rotation, gear = quat_matrix(place[3:]), np.array(m.actuator_gear[out])
        force, arm = rotation @ gear[:3], place[:3] - np.array(self.rows.columns["body_com"][link])
        torque = rotation @ gear[3:] + np.cross(arm, force)
        self.add_motor(a, u, [], float(m.actuator_biasprm[a, 0]) if affine else 0.0)
        self.thrusters.append(Thruster(u, link, np.concatenate([force, torque])))

    def actuator_fault(self, a: int) -> str:
        """Why the force is not a linear function of control, coordinate and velocity; "" if it is."""
        m, gain = self.m, int(self.m.actuator_gaintype[a])
        if hasattr(m, "actuator_ctrlnum") and (m.actuator_ctrlnum[a] != 1 or m.actuator_outnum[a] != 1):
            return "several controls or outputs"
        if gain not in (GAIN_FIXED, GAIN_AFFINE) or (gain == GAIN_AFFINE and np.any(m.actuator_gainprm[a, 1:3])):
            return "a gain that depends on the state"
        if int(m.actuator_biastype[a]) not in (BIAS_NONE, BIAS_AFFINE):
            return "a bias of its own kind"
        return ""

    def add_reflected(self, a: int, coefficients: list[tuple[int, float]]) -> None:
        """Adds the armature and damping of the actuator, reflected through its gear."""
        for name, column in (("actuator_armature", "joint_armature"), ("actuator_damping", "joint_damping")):
            value = float(getattr(self.m, name, np.zeros(self.m.nu))[a])
            if value and len(coefficients) == 1:
                dof, gear = coefficients[0]
                self.rows.columns[column][dof] += value * gear**2
            elif value:
                self.lose("ACTUATOR", a, f"{name.removeprefix('actuator_')} on a tendon")

    def transmission(self, a: int, out: int) -> list[tuple[int, float]] | None:
        """[(dof, moment arm)] if the moment arms are constant, otherwise None."""
        m, kind = self.m, int(self.m.actuator_trntype[a])
        target, gear = int(m.actuator_trnid[a, 0]), float(m.actuator_gear[out, 0])
        if kind in (TRN_JOINT, TRN_JOINT_IN_PARENT):
            if m.jnt_type[target] not in (HINGE, SLIDE):
                return None
            return [(int(m.jnt_dofadr[target]), gear)]
        if kind != TRN_TENDON:
            return None
        wraps = range(m.tendon_adr[target], m.tendon_adr[target] + m.tendon_num[target])
        if any(int(m.wrap_type[w]) != WRAP_JOINT for w in wraps):
            return None
        return [(int(m.jnt_dofadr[m.wrap_objid[w]]), gear * float(m.wrap_prm[w])) for w in wraps]

    def add_motor(self, a: int, u: int, coefficients: list[tuple[int, float]], bias: float) -> None:
        m = self.m
        self.gain[u], self.bias[u] = float(m.actuator_gainprm[a, 0]), bias
        if m.actuator_forcelimited[a]:
            self.force_range[u] = m.actuator_forcerange[a]
        for v, arm in coefficients:
            self.motor[u, v] += arm

    def add_drive(self, a: int, u: int, v: int, gear: float, bias: Floats) -> None:
        m = self.m
        ke, kd, gain = -bias[1] * gear**2, -bias[2] * gear**2, float(m.actuator_gainprm[a, 0]) * gear
        if ke < 0 or kd < 0:
            return self.lose("ACTUATOR", a, "a drive with negative gains")
        self.ke[v] += ke
        self.kd[v] += kd
        to_position = ke > 0
        (self.position if to_position else self.velocity)[u, v] += gain
        (self.pull if to_position else self.velocity0)[v] += bias[0] * gear
        self.limit_drive(a, v, abs(gear))
        self.driven[v] = True

    def limit_drive(self, a: int, v: int, gear: float) -> None:
        """Sets the effort limit, which is symmetric and also clips a spring on the same dof."""
        m = self.m
        ranges = [np.array(m.actuator_forcerange[a]) * gear] if m.actuator_forcelimited[a] else []
        if np.all(np.isfinite(self.joint_range[v])):
            ranges.append(self.joint_range[v])
        for lower, upper in ranges:
            if lower != -upper:
                self.approximated.append(
                    f"actuator '{self.name('ACTUATOR', a)}': force range {lower} .. {upper} is taken "
                    f"as +-{max(abs(lower), abs(upper))}"
                )
            if self.driven[v]:
                self.approximated.append(
                    f"actuator '{self.name('ACTUATOR', a)}': its force range also limits what else drives the joint"
                )
            limit = max(abs(lower), abs(upper))
            if limit > 0:
                self.limit[v] = min(self.limit[v], limit)
