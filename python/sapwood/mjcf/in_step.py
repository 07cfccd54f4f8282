"""Actuators that the steps of MuJoCo's law compute (SapMujocoParameters): what motors and drives cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .source import DYN_NONE, Source
from .tendons import Tendons
from .transmission import Actuator, tendon_arms

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


@dataclass(frozen=True)
class StepActuators:
    """If one actuator must be in the list, all that can be are: forces on a joint are bounded together."""

    in_step: list[Actuator]  # the list, those with activations first
    acts_in_step: frozenset[int]  # indices of those whose force steps compute


def choose(source: Source, actuators: Sequence[Actuator]) -> StepActuators:
    """All activations are in the list, also those of actuators that act on nothing or by thrusters."""
    if source.law != "mujoco" or "ACTUATION" in source.disabled:
        return StepActuators([], frozenset())
    able = [each for each in actuators if _is_able(source, each)]
    needed = source.lists_actuators or any(_needs_list(source, each, able) for each in able)
    acting = able if needed else []
    others = [each for each in acting if not each.has_dynamics]
    return StepActuators([a for a in actuators if a.has_dynamics] + others, frozenset(each.index for each in acting))


def _is_able(source: Source, each: Actuator) -> bool:
    """Whether steps can compute its force."""
    m = source.m
    if each.fault or not each.arms or source.is_off(each.index):
        return False
    if each.x >= m.nv and m.tendon_actfrclimited[m.actuator_trnid[each.index, 0]]:
        return False
    return not (source.integrator == "DISCRETE" and len(each.arms) > 1 and each.depends_on_state)


def _needs_list(source: Source, each: Actuator, able: list[Actuator]) -> bool:
    """Whether motors and drives cannot do what the actuator does."""
    m, servo, dofs = source.m, each.depends_on_state, {x for x, _ in each.arms}
    if each.has_dynamics or np.any(each.gain[1:]) or np.any(each.bias[1:] > 0):
        return True
    shared = any(other is not each and {x for x, _ in other.arms} & dofs for other in able)
    bounded = any(m.jnt_actfrclimited[m.dof_jntid[x]] for x in dofs)
    limited = each.force_range is not None
    if len(each.arms) > 1:
        damped = source.integrator == "IMPLICITFAST" and bool(each.bias[2])
        skew = each.force_range is not None and each.force_range[0] != -each.force_range[1]
        return bounded or (servo and (damped or (limited and (shared or skew))))
    return servo and shared and (limited or bounded)


def parameters(
    source: Source, tendons: Tendons, step: StepActuators, dampers: list[tuple[int, float]]
) -> dict[str, Any]:
    """The fields of SapMujocoParameters: actuators, then dampers (tendon, damping), which have no control."""
    m = source.m
    if not step.in_step and not dampers:
        return {}
    acting = [(i, each) for i, each in enumerate(step.in_step) if each.index in step.acts_in_step]
    terms = [(i, dof, arm) for i, each in acting for dof, arm in each.arms]
    rows = [_row(source, each) for each in step.in_step]
    for t, damping in dampers:
        terms += [(len(rows), dof, arm) for dof, arm in tendon_arms(tendons.terms[t], 1.0)]
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


def _row(source: Source, each: Actuator) -> dict[str, Any]:
    m, a, dynamics = source.m, each.index, each.has_dynamics
    ctrl_limited = bool(m.actuator_ctrllimited[a]) and "CLAMPCTRL" not in source.disabled
    return {
        "actuator_gain": each.gain,
        "actuator_bias": each.bias,
        "actuator_ctrl_range": m.actuator_ctrlrange[a] if ctrl_limited else FREE_RANGE,
        "actuator_force_range": FREE_RANGE if each.force_range is None else each.force_range,
        "actuator_dynamics": int(m.actuator_dyntype[a]) if dynamics else DYN_NONE,
        "actuator_tau": max(float(m.actuator_dynprm[a, 0]), 0.0) if dynamics else 1.0,
        "actuator_early": int(m.actuator_actearly[a]) if dynamics else 0,
        "actuator_act_range": m.actuator_actrange[a] if dynamics and m.actuator_actlimited[a] else FREE_RANGE,
    }
