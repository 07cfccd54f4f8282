"""The derived fields of MjData, for many simulations at once: what mj_forward computes from a state.

An Evaluation has the states of n simulations and what a solve found at them. Every field is computed when it is read,
with what it needs, by MuJoCo's definitions (docs/from_mujoco.md); a field that nobody reads costs nothing. Arrays are
[n][...]; constants of the model are [1][...], or [n][...] where simulations have values of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Floats
from ..mjcf.source import (
    BALL,
    BIAS_AFFINE,
    DYN_FILTER,
    DYN_FILTEREXACT,
    DYN_INTEGRATOR,
    DYN_NONE,
    FREE,
    GAIN_AFFINE,
    TRN_TENDON,
)
from .fields import mujoco
from .positions import Positions
from .spatial import (
    SMALL,
    conjugate,
    cross,
    cross_force,
    cross_motion,
    dot,
    inertia_times,
    quat_times,
    rotation_vector,
    times,
    times_transposed,
    unit_quat,
)

WRENCHES = "wrenches"  # [n][nbody][6] what a solve gives for cfrc_ext
BAD = 1e10  # MuJoCo's bound of numbers that are not bad
KINEMATICS = (
    *("xpos", "xquat", "xmat", "xipos", "xiquat", "ximat", "xanchor", "xaxis", "subtree_com", "cinert", "cdof", "crb"),
    *("geom_xpos", "geom_xquat", "geom_xmat", "site_xpos", "site_xquat", "site_xmat", "cam_xpos", "cam_xmat"),
    *("light_xpos", "light_xdir", "M", "ten_length", "ten_J", "ten_wrapadr", "ten_wrapnum", "actuator_length"),
    *("actuator_moment", "moment_rownnz", "moment_rowadr", "moment_colind"),
)
VELOCITY = (
    *("cvel", "cdof_dot", "subtree_linvel", "subtree_angmom", "ten_velocity", "actuator_velocity", "qfrc_bias"),
    *("qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_passive"),
)
FORCES = ("act_dot", "actuator_force", "qfrc_actuator", "qfrc_smooth", "qacc_smooth")
AFTER = ("cacc", "cfrc_int", "cfrc_ext")
SOLVED = ("qacc", "qfrc_constraint", "ncon", "nefc", "ne", "nf", "nl", "solver_niter")
STAGES = {
    **{name: 1 for name in KINEMATICS},
    **{name: 2 for name in VELOCITY},
    **{name: 3 for name in (*FORCES, *SOLVED, *AFTER)},
    "energy": 2,
    "sensordata": 3,
}


class Evaluation(Positions):
    """Positions, velocities and forces, and the results of solves."""

    def __init__(
        self,
        m: Any,
        constants: Mapping[str, NDArray[Any]],
        state: Mapping[str, Floats],
        solved: Callable[[str], NDArray[Any]] | None = None,
    ) -> None:
        super().__init__(m, constants, state)
        self.solved = solved

    def field(self, name: str) -> NDArray[Any]:
        """A field of STAGES, [n][...]."""
        if name in SOLVED:
            assert self.solved
            return self.solved(name)
        value: NDArray[Any] = getattr(self, name)
        return value

    # ---- velocities ----

    @cached_property
    def _velocities(self) -> tuple[Floats, Floats]:
        """cvel [n][nbody][6] and cdof_dot [n][nv][6]."""
        m, qvel = self.m, self.state["qvel"]
        v, rate = np.zeros((self.n, m.nbody, 6)), np.zeros((self.n, m.nv, 6))
        for b in range(1, m.nbody):
            now = v[:, m.body_parentid[b]].copy()
            for j in range(int(m.body_jntadr[b]), int(m.body_jntadr[b] + m.body_jntnum[b])):
                at = int(m.jnt_dofadr[j])
                if m.jnt_type[j] == FREE:
                    now = now + np.einsum("nij,ni->nj", self.cdof[:, at : at + 3], qvel[:, at : at + 3])
                    at += 3
                part = slice(at, at + (3 if m.jnt_type[j] in (FREE, BALL) else 1))
                axes = self.cdof[:, part]
                rate[:, part] = cross_motion(np.broadcast_to(now[:, None], axes.shape), axes)
                now = now + np.einsum("nij,ni->nj", axes, qvel[:, part])
            v[:, b] = now
        return v, rate

    @property
    def cvel(self) -> Floats:
        return self._velocities[0]

    @property
    def cdof_dot(self) -> Floats:
        return self._velocities[1]

    @cached_property
    def _com_velocity(self) -> Floats:
        """[n][nbody][3] of centres of mass."""
        return self.cvel[..., 3:] + cross(self.cvel[..., :3], self.xipos - self.origin)

    @cached_property
    def subtree_linvel(self) -> Floats:
        mass = self._mass()[..., None]
        return self._to_root(mass * self._com_velocity) / np.maximum(self._to_root(mass), SMALL)

    @cached_property
    def subtree_angmom(self) -> Floats:
        """The sum over a subtree of I w + m (x - c) x (v - v_c)."""
        mass, axes, w = self._mass()[..., None], self._inertia_axes, self.cvel[..., :3]
        spin = times(axes, np.broadcast_to(self.of("body_inertia"), w.shape) * times_transposed(axes, w))
        momentum = mass * self._com_velocity
        about_origin = self._to_root(spin + cross(self.xipos, momentum))
        return np.asarray(about_origin - cross(self.subtree_com, self._to_root(momentum)))

    @cached_property
    def qfrc_bias(self) -> Floats:
        """Coriolis, centrifugal and gravitational forces, by Newton and Euler."""
        force = self._inertial(self._accelerations(None))
        return dot(self.cdof, self._to_root(force)[:, self.m.dof_bodyid])

    def _accelerations(self, qacc: Floats | None) -> Floats:
        """[n][nbody][6] of bodies, less gravity; without qacc those that velocities cause."""
        m, out = self.m, np.zeros_like(self.cvel)
        if "GRAVITY" not in self.disabled:
            out[:, 0, 3:] = -np.asarray(self.of("opt.gravity"))
        for b in range(1, m.nbody):
            part = slice(int(m.body_dofadr[b]), int(m.body_dofadr[b] + m.body_dofnum[b]))
            out[:, b] = out[:, m.body_parentid[b]]
            if m.body_dofnum[b]:
                out[:, b] += np.einsum("nij,ni->nj", self.cdof_dot[:, part], self.state["qvel"][:, part])
                if qacc is not None:
                    out[:, b] += np.einsum("nij,ni->nj", self.cdof[:, part], qacc[:, part])
        return out

    def _inertial(self, accelerations: Floats) -> Floats:
        """[n][nbody][6] the rates of momentum of bodies; 0 of the world."""
        out = np.zeros_like(self.cvel)
        out[:, 1:] = inertia_times(self.cinert[:, 1:], accelerations[:, 1:])
        out[:, 1:] += cross_force(self.cvel[:, 1:], inertia_times(self.cinert[:, 1:], self.cvel[:, 1:]))
        return out

    # ---- forces ----

    @cached_property
    def qfrc_spring(self) -> Floats:
        m, qpos, out = self.m, self.state["qpos"], np.zeros((self.n, self.m.nv))
        if "SPRING" in self.disabled:
            return out
        stiffness, rest = self.of("jnt_stiffness"), self.of("qpos_spring")
        for j in np.nonzero(np.any(stiffness != 0, axis=0))[0]:
            q, v, k = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), stiffness[:, j]
            if m.jnt_type[j] not in (FREE, BALL):
                out[:, v] = -k * (qpos[:, q] - rest[:, q])
                continue
            if m.jnt_type[j] == FREE:
                out[:, v : v + 3] = -k[:, None] * (qpos[:, q : q + 3] - rest[:, q : q + 3])
                q, v = q + 3, v + 3
            away = quat_times(conjugate(unit_quat(rest[:, q : q + 4])), unit_quat(qpos[:, q : q + 4]))
            out[:, v : v + 3] = -k[:, None] * rotation_vector(away)
        for t in np.nonzero(np.any(self.of("tendon_stiffness") != 0, axis=0))[0]:
            lower, upper = (self.of("tendon_lengthspring")[:, t, i] for i in range(2))
            x, k = self.ten_length[:, t], self.of("tendon_stiffness")[:, t]
            force = np.where(x > upper, k * (upper - x), np.where(x < lower, k * (lower - x), 0.0))
            out += force[:, None] * self._tendon_rows[:, t]
        return out

    @cached_property
    def qfrc_damper(self) -> Floats:
        if "DAMPER" in self.disabled:
            return np.zeros((self.n, self.m.nv))
        out = -self.of("dof_damping") * self.state["qvel"]
        if np.any(self.of("tendon_damping")):
            out = out - np.einsum("nt,ntv->nv", self.of("tendon_damping") * self.ten_velocity, self._tendon_rows)
        return np.asarray(out)

    @cached_property
    def qfrc_gravcomp(self) -> Floats:
        out = np.zeros((self.n, self.m.nv))
        if "GRAVITY" in self.disabled:
            return out
        for b in np.nonzero(np.any(self.of("body_gravcomp") != 0, axis=0))[0]:
            lift = self.of("body_gravcomp")[:, b] * self.of("body_mass")[:, b]
            force = -lift[:, None] * self.of("opt.gravity")
            linear = self.jacobian(b, self.xipos[:, b])[0]
            out += times_transposed(linear, np.broadcast_to(force, (self.n, 3)))
        return out

    @cached_property
    def _by_actuators(self) -> NDArray[np.bool_]:
        """[nv] the dofs whose gravity compensation is a part of the actuator's force."""
        out: NDArray[np.bool_] = np.array(self.m.jnt_actgravcomp, bool)[np.array(self.m.dof_jntid, int)]
        return out

    @cached_property
    def qfrc_passive(self) -> Floats:
        if {"SPRING", "DAMPER"} <= self.disabled:
            return np.zeros((self.n, self.m.nv))
        return self.qfrc_spring + self.qfrc_damper + np.where(self._by_actuators, 0.0, self.qfrc_gravcomp)

    @cached_property
    def _controls(self) -> Floats:
        """[n][nu] controls, within their range."""
        m, ctrl = self.m, np.array(self.state["ctrl"])
        ctrl[np.any(~(np.abs(ctrl) <= BAD), axis=1)] = 0
        if "CLAMPCTRL" in self.disabled:
            return ctrl
        bounds = self.of("actuator_ctrlrange")
        limited = np.array(m.actuator_ctrllimited, bool)
        return np.where(limited, np.clip(ctrl, bounds[..., 0], bounds[..., 1]), ctrl)

    @cached_property
    def act_dot(self) -> Floats:
        m, act, out = self.m, self.state["act"], np.zeros((self.n, self.m.na))
        if "ACTUATION" in self.disabled:
            return out
        for a in np.nonzero(m.actuator_actnum == 1)[0]:
            i, kind = int(m.actuator_actadr[a]), int(m.actuator_dyntype[a])
            u = self._controls[:, self._inputs[a]]
            if kind == DYN_INTEGRATOR:
                out[:, i] = u
            elif kind in (DYN_FILTER, DYN_FILTEREXACT):
                out[:, i] = (u - act[:, i]) / np.maximum(self.of("actuator_dynprm")[:, a, 0], SMALL)
        return out

    def _input(self, a: int) -> Floats:
        """[n] the control or the activation that acts."""
        m = self.m
        if m.actuator_dyntype[a] == DYN_NONE or m.actuator_actnum[a] == 0:
            return self._controls[:, self._inputs[a]]
        i = int(m.actuator_actadr[a])
        if not m.actuator_actearly[a]:
            return self.state["act"][:, i]
        h = np.asarray(self.of("opt.timestep"))
        if m.actuator_dyntype[a] == DYN_FILTEREXACT:
            tau = np.maximum(self.of("actuator_dynprm")[:, a, 0], SMALL)
            h = -tau * np.expm1(-h / tau)
        out = self.state["act"][:, i] + h * self.act_dot[:, i]
        return np.clip(out, *self.of("actuator_actrange")[:, a].T) if m.actuator_actlimited[a] else out

    @cached_property
    def actuator_force(self) -> Floats:
        """Forces of fixed and affine gains and biases; 0 of others."""
        m, out = self.m, np.zeros_like(self.actuator_length)
        if "ACTUATION" in self.disabled:
            return out
        for a in range(len(m.actuator_trntype)):
            o = self.outputs[a]
            if m.actuator_gaintype[a] > GAIN_AFFINE or m.actuator_biastype[a] > BIAS_AFFINE or self._is_off(a):
                continue
            gain, bias = self.of("actuator_gainprm")[:, a], self.of("actuator_biasprm")[:, a]
            length, rate = self.actuator_length[:, o], self.actuator_velocity[:, o]
            slope = gain[:, 0] + (gain[:, 1] * length + gain[:, 2] * rate if m.actuator_gaintype[a] else 0.0)
            force = slope * self._input(a)
            if m.actuator_biastype[a]:
                force = force + bias[:, 0] + bias[:, 1] * length + bias[:, 2] * rate
            out[:, o] = force
        self._bound_by_tendons(out)
        for limited in np.nonzero(m.actuator_forcelimited)[0]:
            o, bounds = self.outputs[limited], self.of("actuator_forcerange")[:, limited]
            out[:, o] = np.clip(out[:, o], bounds[:, 0], bounds[:, 1])
        return out

    def _is_off(self, a: int) -> bool:
        """Whether the group of an actuator is disabled."""
        group = int(self.m.actuator_group[a])
        return 0 <= group < 31 and bool(int(self.m.opt.disableactuator) >> group & 1)

    def _bound_by_tendons(self, force: Floats) -> None:
        """Scales the forces of all actuators on a tendon whose sum is beyond its range."""
        m = self.m
        for t in np.nonzero(m.tendon_actfrclimited)[0]:
            on = np.nonzero((m.actuator_trntype == TRN_TENDON) & (m.actuator_trnid[:, 0] == t))[0]
            total = force[:, on].sum(axis=1)
            bounded = np.clip(total, *self.of("tendon_actfrcrange")[:, t].T)
            force[:, on] *= np.where(total == bounded, 1.0, bounded / np.where(total == 0, 1.0, total))[:, None]

    @cached_property
    def qfrc_actuator(self) -> Floats:
        m = self.m
        out = np.einsum("no,nov->nv", self.actuator_force, self._transmissions[1])
        out = out + np.where(self._by_actuators, self.qfrc_gravcomp, 0.0)
        joint = np.array(m.dof_jntid, int)
        limited = np.array(m.jnt_actfrclimited, bool)[joint] & ~np.isin(np.array(m.jnt_type)[joint], (FREE, BALL))
        bounds = self.of("jnt_actfrcrange")[:, joint]
        return np.asarray(np.where(limited, np.clip(out, bounds[..., 0], bounds[..., 1]), out))

    @cached_property
    def qfrc_smooth(self) -> Floats:
        push = self.state["xfrc_applied"]
        out = self.qfrc_passive - self.qfrc_bias + self.state["qfrc_applied"] + self.qfrc_actuator
        for b in np.nonzero(np.any(push != 0, axis=(0, 2)))[0]:
            linear, angular = self.jacobian(int(b), self.xipos[:, b])
            out = out + times_transposed(linear, push[:, b, :3]) + times_transposed(angular, push[:, b, 3:])
        return out

    @cached_property
    def qacc_smooth(self) -> Floats:
        if not self.m.nv:
            return np.zeros((self.n, 0))
        return np.asarray(np.linalg.solve(self._full_mass, self.qfrc_smooth[..., None])[..., 0])

    # ---- forces between bodies ----

    @cached_property
    def cacc(self) -> Floats:
        assert self.solved
        return self._accelerations(self.solved("qacc"))

    @cached_property
    def cfrc_ext(self) -> Floats:
        """Applied forces, and those of contacts, connects and welds."""
        assert self.solved
        out = np.array(self.solved(WRENCHES))  # torques about the origin of the world
        push = self.state["xfrc_applied"]
        out[..., 3:] += push[..., :3]
        out[..., :3] += push[..., 3:] + cross(self.xipos, push[..., :3])
        out[..., :3] -= cross(self.origin, out[..., 3:])
        out[:, 0] = 0
        return out

    @cached_property
    def cfrc_int(self) -> Floats:
        """What each body gets from its parent."""
        return self._to_root(self._inertial(self.cacc) - self.cfrc_ext)

    # ---- energy ----

    @cached_property
    def energy(self) -> Floats:
        """Potential and kinetic energy; 0 without the flag `energy`."""
        m, out = self.m, np.zeros((self.n, 2))
        if not int(m.opt.enableflags) & int(mujoco.mjtEnableBit.mjENBL_ENERGY):
            return out
        v = self.state["qvel"]
        out[:, 1] = np.einsum("ni,nij,nj->n", v, self._full_mass, v) / 2
        if "GRAVITY" not in self.disabled:
            gravity = np.broadcast_to(self.of("opt.gravity"), (self.n, 3))
            out[:, 0] -= np.einsum("nb,nbi,ni->n", self._mass()[:, 1:], self.xipos[:, 1:], gravity)
        if "SPRING" not in self.disabled:
            out[:, 0] += self._spring_energy()
        return out

    def _spring_energy(self) -> Floats:
        m, qpos, out = self.m, self.state["qpos"], np.zeros(self.n)
        stiffness, rest = self.of("jnt_stiffness"), self.of("qpos_spring")
        for j in np.nonzero(np.any(stiffness != 0, axis=0))[0]:
            q, kind = int(m.jnt_qposadr[j]), m.jnt_type[j]
            away = [qpos[:, q : q + 1] - rest[:, q : q + 1]]
            if kind in (FREE, BALL):
                away = [qpos[:, q : q + 3] - rest[:, q : q + 3]] if kind == FREE else []
                q += 3 if kind == FREE else 0
                turn = quat_times(conjugate(unit_quat(rest[:, q : q + 4])), unit_quat(qpos[:, q : q + 4]))
                away.append(rotation_vector(turn))
            out += stiffness[:, j] / 2 * sum(dot(x, x) for x in away)
        for t in np.nonzero(np.any(self.of("tendon_stiffness") != 0, axis=0))[0]:
            lower, upper = (self.of("tendon_lengthspring")[:, t, i] for i in range(2))
            x = self.ten_length[:, t]
            away_t = np.where(x > upper, x - upper, np.where(x < lower, lower - x, 0.0))
            out += self.of("tendon_stiffness")[:, t] / 2 * away_t**2
        return out
