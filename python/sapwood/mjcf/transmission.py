"""The actuators of a MuJoCo model, as the parts of an import need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..conventions import Floats
from .report import Code
from .source import (
    BIAS_AFFINE,
    BIAS_NONE,
    DYN_FILTER,
    DYN_FILTEREXACT,
    DYN_INTEGRATOR,
    DYN_NONE,
    GAIN_AFFINE,
    GAIN_FIXED,
    HINGE,
    SLIDE,
    TRN_JOINT,
    TRN_JOINT_IN_PARENT,
    TRN_TENDON,
    Source,
)
from .tendons import JOINT, Tendons, Term


@dataclass(frozen=True, eq=False)
class Actuator:
    """The force clip((g0 + g1 l + g2 w) u + b0 + b1 l + b2 w) along a coordinate: a dof x < nv, or tendon x - nv."""

    index: int
    control: int  # index in ctrl
    gears: Floats  # [6]
    gain: Floats  # [3] g
    bias: Floats  # [3] b
    force_range: Floats | None
    has_dynamics: bool  # an activation that a batch can follow
    fault: Code | None  # why the force is not such a function
    x: int  # -1: no coordinate that can be driven
    gear: float  # from the force to the coordinate
    arms: list[tuple[int, float]]  # [(dof, moment arm)] on a hinge, a slide or a fixed tendon

    @property
    def depends_on_state(self) -> bool:
        return bool(np.any(self.bias[1:]) or np.any(self.gain[1:]))


def num_actuators(m: Any) -> int:
    return int(getattr(m, "nactuator", m.nu))


def driven_tendons(source: Source) -> set[int]:
    """The tendons of the actuators that can be converted."""
    m, faults = source.m, [_fault(source, a) for a in range(num_actuators(source.m))]
    return {int(m.actuator_trnid[a, 0]) for a, f in enumerate(faults) if m.actuator_trntype[a] == TRN_TENDON and not f}


def actuators(source: Source, tendons: Tendons) -> list[Actuator]:
    m = source.m
    kinds = {int(kind) for kind in m.actuator_dyntype} - {DYN_NONE}
    # A batch can follow the activations if it can follow all of them: their arrays are one.
    known = kinds <= {DYN_INTEGRATOR, DYN_FILTER, DYN_FILTEREXACT} and bool(np.all(np.array(m.actuator_actnum) <= 1))
    return [_actuator(source, tendons, a, known) for a in range(num_actuators(m))]


def _actuator(source: Source, tendons: Tendons, a: int, activations: bool) -> Actuator:
    m = source.m
    gears = np.array(m.actuator_gear[int(m.actuator_outadr[a]) if hasattr(m, "actuator_outadr") else a])
    x, gear = _coordinate(m, tendons, a, float(gears[0]))
    affine = int(m.actuator_gaintype[a]) == GAIN_AFFINE
    return Actuator(
        a,
        int(m.actuator_ctrladr[a]) if hasattr(m, "actuator_ctrladr") else a,
        gears,
        np.array(m.actuator_gainprm[a, :3]) * ([1, 1, 1] if affine else [1, 0, 0]),
        np.array(m.actuator_biasprm[a, :3]) * float(int(m.actuator_biastype[a]) == BIAS_AFFINE),
        np.array(m.actuator_forcerange[a]) if m.actuator_forcelimited[a] else None,
        activations and int(m.actuator_dyntype[a]) != DYN_NONE,
        _fault(source, a),
        x,
        gear,
        tendon_arms(tendons.terms[x - m.nv], gear) if x >= m.nv else [(x, gear)] if x >= 0 else [],
    )


def _fault(source: Source, a: int) -> Code | None:
    """Why the force is not a function of control, coordinate and velocity that can be converted; None if it is."""
    m, gain = source.m, int(source.m.actuator_gaintype[a])
    if hasattr(m, "actuator_ctrlnum") and (m.actuator_ctrlnum[a] != 1 or m.actuator_outnum[a] != 1):
        return Code.MANY_CONTROLS
    varies = gain == GAIN_AFFINE and bool(np.any(m.actuator_gainprm[a, 1:3])) and source.law != "mujoco"
    if gain not in (GAIN_FIXED, GAIN_AFFINE) or varies:
        return Code.GAIN
    return None if int(m.actuator_biastype[a]) in (BIAS_NONE, BIAS_AFFINE) else Code.BIAS


def _coordinate(m: Any, tendons: Tendons, a: int, gear: float) -> tuple[int, float]:
    """(coordinate, gear). A tendon with one joint drives that joint."""
    kind, target = int(m.actuator_trntype[a]), int(m.actuator_trnid[a, 0])
    if kind in (TRN_JOINT, TRN_JOINT_IN_PARENT) and m.jnt_type[target] in (HINGE, SLIDE):
        return int(m.jnt_dofadr[target]), gear
    if kind != TRN_TENDON or tendons.index[target] < 0:
        return -1, gear
    t = int(tendons.index[target])
    if len(tendons.terms[t]) == 1 and not m.tendon_actfrclimited[target]:
        _, dof, (coefficient, *_) = tendons.terms[t][0]
        return dof, gear * coefficient
    return int(m.nv) + t, gear


def tendon_arms(terms: list[Term], gear: float) -> list[tuple[int, float]]:
    """Dofs and moment arms of a fixed tendon; [] if the tendon goes through points."""
    sums: dict[int, float] = {}
    for kind, dof, (coefficient, *_) in terms:
        if kind != JOINT:
            return []
        sums[dof] = sums.get(dof, 0.0) + gear * coefficient
    return list(sums.items())
