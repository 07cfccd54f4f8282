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
    """What was found: (its text; if it is lost, that is, moves the robot in MuJoCo and has no counterpart, what follows
    and what to do)."""

    # lost
    MOCAP = "mocap; it stays where it is", "give it a free joint and write its coordinates to move it"
    NOT_CONVERTED = "not carried over", "it exerts no force"
    SHAPE_TYPE = "its type is not supported", "it touches nothing; make it a mesh or a primitive"
    ADHESION = "adhesion", "it does not stick; write a force to body_f"
    SURFACE_VELOCITY = "surface velocity", "its surface does not move; write a force to body_f"
    FLUID = "{value:g}, forces of a fluid", "bodies move as in a vacuum; write drag to body_f"
    WIND = "forces of a fluid", "bodies move as in a vacuum; write drag to body_f"
    OVERRIDE = (
        "parameters that replace those of all contacts",
        "contacts have the parameters of their geoms; write the parameters into the geoms",
    )
    NONLINEAR_SPRING = (
        "stiffness that depends on the deflection",
        "only its constant part acts; write the rest to joint_f",
    )
    NONLINEAR_DAMPING = "damping that depends on the velocity", "only its constant part acts; write the rest to joint_f"
    FREE_SPRING = "spring of a free or ball joint", "it exerts no force; write the force to joint_f"
    BALL_LIMIT = "limit of a ball joint", "the joint turns without a limit; solver='mujoco' has the limit"
    TENDON = "{why}", "it exerts no force; lead it over sites"
    TENDON_STIFFNESS = "stiffness that depends on the length", "only its constant part acts; write the rest to tendon_f"
    TENDON_DAMPING = "damping that depends on the rate", "only its constant part acts; write the rest to tendon_f"
    TENDON_YIELDS = "a spring that yields", "it never yields"
    TENDON_LAW = "{why}, with law='mujoco'", "it exerts no force; solver='sap' has it"
    TENDON_BESIDE = "not imported beside the others", "it exerts no force; solver='sap' has it"
    ACTUATION_DISABLED = "actuation is disabled", "it exerts no force; enable actuation in <flag>"
    MANY_CONTROLS = "several controls or outputs", "it exerts no force; write the force to joint_f"
    GAIN = (
        "a gain that depends on the state",
        "it exerts no force; solver='mujoco' has affine gains of joints and fixed tendons",
    )
    GAIN_OF_TENDON = (
        "a gain that depends on the state, of a tendon that couples joints",
        "it exerts no force; write the force to joint_f",
    )
    BIAS = "a bias of its own kind", "it exerts no force; write the force to joint_f"
    TRANSMISSION = (
        "a transmission that is no hinge, slide, tendon or site",
        "it exerts no force; write the force to joint_f or body_f",
    )
    ON_LOST_TENDON = "tendon '{tendon}' is not converted", "it exerts no force; lead the tendon over sites"
    DYNAMICS = "activation dynamics; the control acts at once", "filter the control before it is written"
    DELAY = "delay; the control acts at once", "delay the control before it is written, as sapwood.kit.Delay does"
    SITE_STATE = (
        "a site that is driven relative to another, or by its position or velocity",
        "it exerts no force; write the force to body_f",
    )
    WORLD_FORCE = "a force on a part of the world", "it moves nothing"
    NEGATIVE_GAINS = "a drive with negative gains", "it exerts no force; solver='mujoco' has it"
    SHARED_SERVO = (
        "a servo with a force range that shares its joint with another servo",
        "its force is not bounded; make the two servos one",
    )
    BOUNDED_SERVO = (
        "a servo of a joint with actuatorfrcrange and another actuator",
        "the range does not bound its force; give the servo a forcerange",
    )
    TENDON_SERVO = "a servo of a tendon with several joints, {why}", "it exerts no force; solver='sap' has it"
    FOLLOWS_MOCAP = (
        "holds, but does not follow the mocap body '{body}'",
        "give the mocap body a free joint and write its coordinates to move both",
    )
    FLEX_EQUALITY = "it acts on a flex", "it exerts no force"
    SELF_COUPLING = "it couples a coordinate with itself", "it exerts no force; remove it"
    WELDED_PAIR = "two geoms that do not move against each other", "they do not touch; remove the pair"
    REPEATED_PAIR = "geoms that another pair has already", "the first pair counts; remove the others"
    INTEGRATOR = "{integrator}; implicitfast is used", "choose Euler, implicitfast, discrete or RK4"
    NOSLIP = "no such sweeps follow the solve", "contacts may creep; raise impratio"
    FLAG = "not in law='mujoco'", "remove the flag to compare with MuJoCo"
    # approximated
    EQUALITY_DISABLED = "left out; equalities are disabled", None
    EQUALITY_WELDED = "left out; its bodies do not move against each other", None
    SOFT = "{what} of stiffness {ke:.3g} {unit}, MuJoCo's under a load of one g; rigid=True makes it infinite", None
    RIGID = "{what} of infinite stiffness, not that of solref and solimp", None
    TENDON_IDLE = "left out; by itself it does nothing", None
    TENDON_LEFT_OUT = "left out: {why}", None
    SITE_RK4 = "a site and RK4: its stages have the force of the start of the step", None
    TENDON_RANGE_GEAR = "the force range of its tendon is taken with gear {gear:g}", None
    JOINT_RANGES = "the force ranges of the joints of its tendon do not limit it", None
    SKEW_RANGE = "force range {lower} .. {upper} is taken as +-{limit}", None
    SHARED_RANGE = "its force range also limits what else drives it", None
    CONDIM = "condim {condim} is taken as 3, without {friction}", None
    CONTACT_POINTS = "a {type}: contact points are those of Sapwood's collision, not MuJoCo's", None
    PAIR_PARAMETERS = "touches, with the parameters of its geoms", None
    FRICTION = "friction of geoms {geoms}: {have:g}, not {want:g}", None
    HULL = "a hull of {vertices} vertices, at most {depth:.2g} m inside the exact one (max_hull_vertices)", None
    SOLVER = "{solver}; Newton's method solves the same problem", None
    SENSOR = "{sensor}, lost: {why}; it reads 0, and does not move the robot", None
    BALANCED = "principal moments {before}, which no body has, are {after:.3g} each (balance_inertia)", None
    TOUCH_RK4 = "touch, with RK4 the contacts of its last stage, not of its first", None

    def __init__(self, text: str, advice: str | None) -> None:
        self.text, self.advice, self.lost = text, advice, advice is not None


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
        advice = elements[0].code.advice or ""
        warn_caller(f"{name or 'model'}: lost: {elements[0]}{more}. {advice[:1].upper()}{advice[1:]}")


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
