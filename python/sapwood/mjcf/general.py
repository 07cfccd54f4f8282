"""Actuators that the steps of MuJoCo's law compute (SapMujocoParameters): what joint motors and drives cannot do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..conventions import Floats
from .source import BIAS_AFFINE, DYN_FILTER, DYN_FILTEREXACT, DYN_INTEGRATOR, DYN_NONE, GAIN_AFFINE
from .tendons import JOINT, Tendons

FREE_RANGE = (-np.inf, np.inf)
NUMBERS = (  # columns of the list
    "actuator_gain",
    "actuator_bias",
    "actuator_ctrl_range",
    "actuator_force_range",
    "actuator_dynamics",
    "actuator_tau",
    "actuator_early",
    "actuator_act_range",
)
PASSIVE = {  # a row of the list without a control
    "actuator_gain": (0.0, 0.0, 0.0),
    "actuator_ctrl_range": FREE_RANGE,
    "actuator_force_range": FREE_RANGE,
    "actuator_dynamics": DYN_NONE,
    "actuator_tau": 1.0,
    "actuator_early": 0,
    "actuator_act_range": FREE_RANGE,
}


class General(Tendons):
    """If one actuator needs the list, all actuators that can be in it are: forces on a joint are bounded together."""

    listed: list[int]  # actuators of the list, those with activations first
    pushes: set[int]  # those of them whose force steps compute

    def num_actuators(self) -> int:
        return int(getattr(self.m, "nactuator", self.m.nu))

    def control(self, a: int) -> int:
        """Index of an actuator in ctrl."""
        return int(self.m.actuator_ctrladr[a]) if hasattr(self.m, "actuator_ctrladr") else a

    def choose_listed(self) -> None:
        """All activations are in the list, also those of actuators that act on nothing or by thrusters."""
        law = self.law == "mujoco" and "ACTUATION" not in self.disabled
        able = [a for a in range(self.num_actuators()) if law and self.can_be_listed(a)]
        self.pushes = set(able) if any(self.needs_list(a, able) for a in able) else set()
        activated = [a for a in range(self.num_actuators()) if law and self.has_dynamics(a)]
        self.listed = activated + sorted(self.pushes - set(activated))

    # ---- properties of an actuator ----

    def gain_of(self, a: int) -> Floats:
        gain = np.array(self.m.actuator_gainprm[a, :3])
        return gain if int(self.m.actuator_gaintype[a]) == GAIN_AFFINE else gain * [1, 0, 0]

    def bias_of(self, a: int) -> Floats:
        return np.array(self.m.actuator_biasprm[a, :3]) * float(int(self.m.actuator_biastype[a]) == BIAS_AFFINE)

    def depends_on_state(self, a: int) -> bool:
        return bool(np.any(self.bias_of(a)[1:]) or np.any(self.gain_of(a)[1:]))

    def has_dynamics(self, a: int) -> bool:
        """Whether a batch can follow the activation of an actuator, and of all others: their arrays are one."""
        m = self.m
        kinds = {int(kind) for kind in m.actuator_dyntype} - {DYN_NONE}
        known = kinds <= {DYN_INTEGRATOR, DYN_FILTER, DYN_FILTEREXACT} and np.all(np.array(m.actuator_actnum) <= 1)
        return bool(known) and int(m.actuator_dyntype[a]) != DYN_NONE

    def arms(self, a: int) -> list[tuple[int, float]]:
        """[(dof, moment arm)] of an actuator of a hinge, a slide or a fixed tendon; else []."""
        m, nv = self.m, int(self.m.nv)
        x, gear = self.transmission(a, int(m.actuator_outadr[a]) if hasattr(m, "actuator_outadr") else a)
        return self.tendon_arms(x - nv, gear) if x >= nv else [(x, gear)] if x >= 0 else []

    def tendon_arms(self, t: int, gear: float) -> list[tuple[int, float]]:
        """Dofs and moment arms of a fixed tendon; [] if the tendon goes through points."""
        sums: dict[int, float] = {}
        for kind, dof, (coefficient, *_) in self.terms[t]:
            if kind != JOINT:
                return []
            sums[dof] = sums.get(dof, 0.0) + gear * coefficient
        return list(sums.items())

    def transmission(self, a: int, out: int) -> tuple[int, float]:
        raise NotImplementedError

    # ---- the list ----

    def can_be_listed(self, a: int) -> bool:
        """Whether steps can compute its force."""
        m, arms = self.m, [] if self.actuator_fault(a) else self.arms(a)
        discrete = int(m.opt.integrator) == self.enum("mjtIntegrator", "mjINT_DISCRETE")
        return (
            bool(arms)
            and not self.tendon_is_limited(a)
            and not (discrete and len(arms) > 1 and self.depends_on_state(a))
        )

    def tendon_is_limited(self, a: int) -> bool:
        """Whether its transmission is a tendon with actuatorfrcrange."""
        m, x = self.m, self.transmission(a, a)[0]
        return x >= m.nv and bool(m.tendon_actfrclimited[m.actuator_trnid[a, 0]])

    def needs_list(self, a: int, able: list[int]) -> bool:
        """Whether motors and drives cannot do what the actuator does."""
        m, arms, servo = self.m, self.arms(a), self.depends_on_state(a)
        if self.has_dynamics(a) or np.any(self.gain_of(a)[1:]) or np.any(self.bias_of(a)[1:] > 0):
            return True
        shared = any(b != a and {x for x, _ in self.arms(b)} & {x for x, _ in arms} for b in able)
        bounded = any(m.jnt_actfrclimited[m.dof_jntid[x]] for x, _ in arms)
        limited, (lower, upper) = bool(m.actuator_forcelimited[a]), m.actuator_forcerange[a]
        if len(arms) > 1:
            implicit = int(m.opt.integrator) == self.enum("mjtIntegrator", "mjINT_IMPLICITFAST")
            damped = implicit and bool(self.bias_of(a)[2])
            return bounded or (servo and (damped or (limited and (shared or lower != -upper))))
        return servo and shared and (limited or bounded)

    def list_numbers(self) -> dict[str, Any]:
        """The fields of SapMujocoParameters: actuators, then dampers of tendons, which have no control."""
        m, listed, dampers = self.m, self.listed, self.take_dampers()
        if not listed and not dampers:
            return {}
        terms = [(i, dof, arm) for i, a in enumerate(listed) if a in self.pushes for dof, arm in self.arms(a)]
        rows = [self.list_row(a) for a in listed]
        for t, damping in dampers:
            terms += [(len(rows), dof, arm) for dof, arm in self.tendon_arms(t, 1.0)]
            rows.append({**PASSIVE, "actuator_bias": (0.0, 0.0, -damping)})
        bounds = np.tile(FREE_RANGE, (m.nv, 1))
        for j in np.nonzero(m.jnt_actfrclimited)[0]:
            bounds[m.jnt_dofadr[j]] = m.jnt_actfrcrange[j]
        of, dof, arm = np.array(terms).reshape(-1, 3).T
        return {
            "num_actuators": len(rows),
            "num_actuator_terms": len(terms),
            **{name: np.array([row[name] for row in rows], float) for name in NUMBERS},
            "actuator_term_of": of,
            "actuator_term_dof": dof,
            "actuator_term_arm": arm,
            "dof_actuator_range": bounds,
        }

    def take_dampers(self) -> list[tuple[int, float]]:
        """[(tendon of ours, damping)] with implicitfast, whose steps have the damping of the list, not of tendons."""
        damping = self.rows.columns.get("tendon_damping", [])
        if int(self.m.opt.integrator) != self.enum("mjtIntegrator", "mjINT_IMPLICITFAST"):
            return []
        found = [(t, float(value)) for t, value in enumerate(damping) if value]
        self.rows.columns["tendon_damping"] = [0.0] * len(damping)
        return found

    def list_row(self, a: int) -> dict[str, Any]:
        m, dynamics = self.m, self.has_dynamics(a)
        ctrl_limited = bool(m.actuator_ctrllimited[a]) and "CLAMPCTRL" not in self.disabled
        return {
            "actuator_gain": self.gain_of(a),
            "actuator_bias": self.bias_of(a),
            "actuator_ctrl_range": m.actuator_ctrlrange[a] if ctrl_limited else FREE_RANGE,
            "actuator_force_range": m.actuator_forcerange[a] if m.actuator_forcelimited[a] else FREE_RANGE,
            "actuator_dynamics": int(m.actuator_dyntype[a]) if dynamics else DYN_NONE,
            "actuator_tau": max(float(m.actuator_dynprm[a, 0]), 0.0) if dynamics else 1.0,
            "actuator_early": int(m.actuator_actearly[a]) if dynamics else 0,
            "actuator_act_range": m.actuator_actrange[a] if dynamics and m.actuator_actlimited[a] else FREE_RANGE,
        }

    def list_effort(self, a: int) -> float:
        """The largest force before the arms, for drives that take the place of the actuator; infinite if unknown."""
        m = self.m
        if m.actuator_forcelimited[a]:
            return float(np.abs(m.actuator_forcerange[a]).max())
        if self.depends_on_state(a) or not m.actuator_ctrllimited[a]:
            return np.inf
        return float(np.abs(self.gain_of(a)[0] * np.array(m.actuator_ctrlrange[a]) + self.bias_of(a)[0]).max())
