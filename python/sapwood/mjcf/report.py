"""What an import finds and does not convert exactly, as data; the texts are made here, when they are asked for."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from .._library import SapwoodImportWarning


class NotCarriedOver(ValueError):
    """The model has elements that Sapwood cannot simulate, and strict is True."""


class Why(Enum):
    """The reason of a finding whose elements can have several."""

    WRAPS = "a path that wraps around a geom"
    RIGID_PATH = "its length cannot change"
    ON_SITES = "a path over sites"
    ARMATURE = "armature"
    DAMPING_DISCRETE = "damping and integrator discrete"
    DAMPING_BOUNDED = "damping, integrator implicitfast and a joint with actuatorfrcrange"
    SPRING_DISCRETE = "a spring and integrator discrete"
    IMPLICIT = "implicit with integrator {integrator}"
    TENDON_RANGE = "with actuatorfrcrange of the tendon"
    SHARED_RANGE = "with a force range that shares its tendon with another servo"
    SKEW_RANGE = "with a force range that is not symmetric"
    FOLLOWING_CAMERA = "a frame that follows others"
    OBJECT = "of a {object}"
    MANY_AXES = "of a ball or free joint"
    WRAPPED_TENDON = "of a tendon that wraps around a geom"
    TRANSMISSION = "of an actuator with a transmission that is no hinge, slide, tendon or site"
    OTHER_ACTUATOR = "actuator '{actuator}' is not that of the file"
    DAMPED_THRUSTER = "of an actuator at a site that depends on the velocity"
    BOUNDED_TENDON = "of a tendon with actuatorfrcrange"
    CARRIES_THRUSTER = "of a joint that carries an actuator at a site"
    DRIVEN_THROUGH_SITES = "with an actuator on a tendon through sites"
    NO_READING = "no such reading"
    DELAYED = "with a delay or an interval"
    GRAVITY_ACTUATED = "with actuatorgravcomp"
    PART_TOUCH = "of a body that is a part of another"
    RK4 = "with RK4, whose last stage has the contacts and whose first has the motion"
    PART_FORCE = "of a body without mass that is a part of its parent"
    EQUALITY_FORCE = "with the force of equality '{equality}'"
    TENDONS_THROUGH_SITES = "with tendons through sites"


class Code(Enum):
    """What was found: (whether it is lost, that is, moves the robot in MuJoCo and has no counterpart; its text)."""

    # lost
    MOCAP = True, "mocap; it stays where it is"
    NOT_CONVERTED = True, "not carried over"
    SHAPE_TYPE = True, "its type is not supported"
    ADHESION = True, "adhesion"
    SURFACE_VELOCITY = True, "surface velocity"
    FLUID = True, "{value:g}, forces of a fluid"
    WIND = True, "forces of a fluid"
    OVERRIDE = True, "parameters that replace those of all contacts"
    NONLINEAR_SPRING = True, "stiffness that depends on the deflection"
    NONLINEAR_DAMPING = True, "damping that depends on the velocity"
    FREE_SPRING = True, "spring of a free or ball joint"
    BALL_LIMIT = True, "limit of a ball joint"
    TENDON = True, "{why}"
    TENDON_STIFFNESS = True, "stiffness that depends on the length"
    TENDON_DAMPING = True, "damping that depends on the rate"
    TENDON_YIELDS = True, "a spring that yields"
    TENDON_LAW = True, "{why}, with law='mujoco'"
    TENDON_BESIDE = True, "not imported beside the others"
    ACTUATION_DISABLED = True, "actuation is disabled"
    MANY_CONTROLS = True, "several controls or outputs"
    GAIN = True, "a gain that depends on the state"
    GAIN_OF_TENDON = True, "a gain that depends on the state, of a tendon that couples joints"
    BIAS = True, "a bias of its own kind"
    TRANSMISSION = True, "a transmission that is no hinge, slide, tendon or site"
    ON_LOST_TENDON = True, "tendon '{tendon}' is not converted"
    DYNAMICS = True, "activation dynamics; the control acts at once"
    DELAY = True, "delay; the control acts at once"
    SITE_STATE = True, "a site that is driven relative to another, or by its position or velocity"
    WORLD_FORCE = True, "a force on a part of the world"
    NEGATIVE_GAINS = True, "a drive with negative gains"
    SHARED_SERVO = True, "a servo with a force range that shares its joint with another servo"
    BOUNDED_SERVO = True, "a servo of a joint with actuatorfrcrange and another actuator"
    TENDON_SERVO = True, "a servo of a tendon with several joints, {why}"
    FOLLOWS_MOCAP = True, "holds, but does not follow the mocap body '{body}'"
    FLEX_EQUALITY = True, "it acts on a flex"
    SELF_COUPLING = True, "it couples a coordinate with itself"
    WELDED_PAIR = True, "two geoms that do not move against each other"
    REPEATED_PAIR = True, "geoms that another pair has already"
    INTEGRATOR = True, "{integrator}; implicitfast is used"
    NOSLIP = True, "no such sweeps follow the solve"
    FLAG = True, "not in law='mujoco'"
    # approximated
    EQUALITY_DISABLED = False, "left out; equalities are disabled"
    EQUALITY_WELDED = False, "left out; its bodies do not move against each other"
    SOFT = False, "{what} of stiffness {ke:.3g} {unit}, MuJoCo's under a load of one g; rigid=True makes it infinite"
    RIGID = False, "{what} of infinite stiffness, not that of solref and solimp"
    TENDON_IDLE = False, "left out; by itself it does nothing"
    TENDON_LEFT_OUT = False, "left out: {why}"
    SITE_RK4 = False, "a site and RK4: its stages have the force of the start of the step"
    TENDON_RANGE_GEAR = False, "the force range of its tendon is taken with gear {gear:g}"
    JOINT_RANGES = False, "the force ranges of the joints of its tendon do not limit it"
    SKEW_RANGE = False, "force range {lower} .. {upper} is taken as +-{limit}"
    SHARED_RANGE = False, "its force range also limits what else drives it"
    CONDIM = False, "condim {condim} is taken as 3, without {friction}"
    CONTACT_POINTS = False, "a {type}: contact points are those of Sapwood's collision, not MuJoCo's"
    PAIR_PARAMETERS = False, "touches, with the parameters of its geoms"
    FRICTION = False, "friction of geoms {geoms}: {have:g}, not {want:g}"
    HULL = False, "a hull of {vertices} vertices, at most {depth:.2g} m inside the exact one (max_hull_vertices)"
    SOLVER = False, "{solver}; Newton's method solves the same problem"
    SENSOR = False, "{sensor}, lost: {why}; it reads 0, and does not move the robot"
    BALANCED = False, "principal moments {before}, which no body has, are {after:.3g} each (balance_inertia)"
    TOUCH_RK4 = False, "touch, with RK4 the contacts of its last stage, not of its first"

    def __init__(self, lost: bool, text: str) -> None:
        self.lost, self.text = lost, text


@dataclass(frozen=True)
class Finding:
    """An element that is lost or approximated."""

    code: Code
    kind: str  # "joint", "equality", "option", ...; "": the text names the elements
    name: str
    fields: dict[str, Any] = field(default_factory=dict)  # numbers and names of the text
    why: Why | None = None

    def __str__(self) -> str:
        fields = {**self.fields, "why": self.why.value.format(**self.fields) if self.why else ""}
        if "pairs" in fields:
            (first, second), *others = fields["pairs"]
            more = f" and {len(others)} more pairs" if others else ""
            fields["geoms"] = f"'{first}' and '{second}'{more}"
        text = self.code.text.format(**fields)
        return f"{self.kind} '{self.name}': {text}" if self.kind else text


def lost(found: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.code.lost]


def texts(found: Iterable[Finding]) -> list[str]:
    """A line for each finding, lost elements first."""
    return [str(finding) for finding in sorted(found, key=lambda finding: not finding.code.lost)]


def warn(name: str, found: list[Finding]) -> None:
    """One warning for each kind of element that is lost."""
    kinds: dict[str, list[Finding]] = {}
    for finding in lost(found):
        kinds.setdefault(finding.kind, []).append(finding)
    for kind, elements in kinds.items():
        more = f"; {len(elements) - 1} more of {kind} in model.report()" if len(elements) > 1 else ""
        warn_caller(f"{name or 'model'}: lost: {elements[0]}{more}")


def warn_of_sensors(name: str, found: list[Finding]) -> None:
    """One warning if a batch lacks sensors."""
    missing = [finding for finding in found if finding.code is Code.SENSOR]
    if missing:
        more = f"; {len(missing) - 1} more in model.report()" if len(missing) > 1 else ""
        warn_caller(f"{name or 'model'}: {missing[0]}{more}")


def warn_caller(text: str) -> None:
    """A warning at the first frame outside of the package."""
    package, level, frame = str(Path(__file__).parents[1]), 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, SapwoodImportWarning, stacklevel=level)


def refuse_lost(found: list[Finding]) -> None:
    """The error of strict=True."""
    if missing := lost(found):
        raise NotCarriedOver("not carried over:\n" + "\n".join(map(str, missing)))
