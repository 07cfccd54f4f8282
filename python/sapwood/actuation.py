"""MuJoCo's controls: converts `ctrl` to joint_f and to the targets of the drives.

An actuator on a joint or a tendon applies the force  gear clip(g u + b0 + b1 gear x + b2 gear v)  with the control u,
where x is the coordinate or the length and v its rate. Without b1 and b2 it is a motor, and its force is written to
joint_f or tendon_f. Otherwise it is a drive with ke = -b1 gear^2 and kd = -b2 gear^2, and u sets its target. Several
actuators on one coordinate add up. A motor at a site is a thruster: a force and a torque that turn with the body,
written to body_f. With activation dynamics u is an activation, which follows the control from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .conventions import quat_matrix

Floats = NDArray[np.float64]


@dataclass
class Thruster:
    """A force fixed in a body."""

    control: int  # its index in ctrl
    body: int
    wrench: Floats  # [6] force, and torque about the centre of mass, in body axes, for a unit force of the actuator


TINY = 1e-15  # MuJoCo's smallest time constant, s


@dataclass
class Activations:
    """Activation dynamics, [na]: an activation a follows the clipped control u of its actuator,

    da/dt = u (integrator) or (u - a)/tau (filter). A step of h seconds adds h da/dt, or for an exact filter
    tau (1 - exp(-h/tau)) da/dt, and clips the result. The force of a step has the activation at its start; if `early`,
    that at its end.
    """

    control: NDArray[np.intp]  # index in ctrl
    tau: Floats  # s, of filters
    integrates: NDArray[np.bool_]
    exact: NDArray[np.bool_]
    early: NDArray[np.bool_]
    range: Floats  # [na][2]
    advanced_by_steps: bool  # steps of MuJoCo's law advance the activations, the first columns of actuator_act
    acts_in_step: NDArray[np.bool_]  # and compute the force of the actuator

    def advance(self, act: Floats, u: Floats, h: float) -> Floats:
        """The activations [..., na] after a step with clipped controls [..., nu]."""
        tau = np.maximum(self.tau, TINY)
        rate = np.where(self.integrates, u[..., self.control], (u[..., self.control] - act) / tau)
        time = np.where(self.exact, -tau * np.expm1(-h / tau), h)
        out: Floats = np.clip(act + time * rate, self.range[:, 0], self.range[:, 1])
        return out

    def follow(self, control: int) -> None:
        """Makes the activation of a control the control itself."""
        at = self.control == control
        self.tau[at], self.integrates[at], self.exact[at], self.early[at] = 0, False, True, True
        self.range[at], self.acts_in_step[at] = (-np.inf, np.inf), False

    def inputs(self, act: Floats, u: Floats, h: float) -> Floats:
        """The inputs of all actuators [..., nu] in a step: activations in place of their controls."""
        out = np.array(u)
        out[..., self.control] = np.where(self.early, self.advance(act, u, h), act)
        return out


@dataclass
class Actuation:
    """Linear maps of the clipped controls, [nu], to the nx coordinates: nv dofs, then the tendons."""

    names: list[str]
    num_dofs: int  # nv
    ctrl_range: Floats  # [nu][2]
    gain: Floats  # [nu] motors: force = clip(gain u + bias, force_range)
    bias: Floats
    force_range: Floats  # [nu][2]
    motor: Floats  # [nu][nx] gear: joint_f, tendon_f = force @ motor, clipped to range
    range: Floats  # [nx][2]
    position: Floats  # [nu][nx] joint_target_pos, tendon_target_pos = u @ position + position0
    position0: Floats  # [nx]
    velocity: Floats  # [nu][nx] joint_target_vel, tendon_target_vel = u @ velocity + velocity0
    velocity0: Floats
    thrusters: list[Thruster] = field(default_factory=list)
    activations: Activations | None = None
    # [num_actuators] index in ctrl of the actuators that steps of MuJoCo's law compute, those with activations first
    in_step: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    used: dict[str, NDArray[np.intp]] = field(init=False)  # dofs or tendons written in each array

    def __post_init__(self) -> None:
        maps = {"f": self.motor, "target_pos": self.position, "target_vel": self.velocity}
        self.used = {"actuator_ctrl": np.arange(len(self.in_step))} if len(self.in_step) else {}
        for word, matrix in maps.items():
            moved = np.any(matrix != 0, axis=0)
            self.used[f"joint_{word}"] = np.nonzero(moved[: self.num_dofs])[0]
            self.used[f"tendon_{word}"] = np.nonzero(moved[self.num_dofs :])[0]

    def columns(self, name: str) -> NDArray[np.intp]:
        """The coordinates that an array of `used` writes."""
        return self.used[name] + (self.num_dofs if name.startswith("tendon") else 0)

    @property
    def num_controls(self) -> int:
        return len(self.ctrl_range)

    @property
    def rests(self) -> bool:
        """Whether controls of 0 are the control of a reset: no forces, and the targets of the model."""
        zero = self.clip(np.zeros(self.num_controls))
        reset = {"f": np.zeros_like(self.position0), "target_pos": self.position0, "target_vel": self.velocity0}
        same = all(
            np.array_equal(x, reset[name.partition("_")[2]][self.columns(name)])
            for name, x in self.arrays(zero).items()
            if name != "actuator_ctrl"  # steps clip controls of 0 themselves
        )
        return same and not (self.thrusters and bool(np.any(self.forces(zero))))

    def clip(self, ctrl: ArrayLike) -> Floats:
        """Controls [..., nu] within their range, as MuJoCo clips them."""
        out: Floats = np.clip(np.asarray(ctrl, np.float64), self.ctrl_range[:, 0], self.ctrl_range[:, 1])
        return out

    @property
    def changes(self) -> bool:
        """Whether the forces of constant controls change from step to step: each step then converts them again."""
        return bool(self.thrusters) or not (self.activations is None or bool(np.all(self.activations.acts_in_step)))

    def forces(self, u: Floats) -> Floats:
        """[..., nu] the forces of motors and thrusters for inputs: clipped controls, or activations."""
        out: Floats = np.clip(u * self.gain + self.bias, self.force_range[:, 0], self.force_range[:, 1])
        return out

    def arrays(self, u: Floats, ctrl: Floats | None = None) -> dict[str, Floats]:
        """{array: [..., dofs, tendons or actuators in used[array]]} for inputs [..., nu]; ctrl: clipped controls, if
        inputs are others."""
        out = {}
        for name, used in self.used.items():
            x = self.columns(name)
            if not len(used):
                continue
            if name == "actuator_ctrl":
                out[name] = (u if ctrl is None else ctrl)[..., self.in_step]
            elif name.endswith("_f"):
                out[name] = np.clip(_times(self.forces(u), self.motor[:, x]), *self.range[x].T)
            elif name.endswith("_pos"):
                out[name] = _times(u, self.position[:, x]) + self.position0[x]
            else:
                out[name] = _times(u, self.velocity[:, x]) + self.velocity0[x]
        return out

    @property
    def thrust_bodies(self) -> list[int]:
        """The bodies with thrusters."""
        return sorted({thruster.body for thruster in self.thrusters})

    def thrust(self, u: Floats, body_q: ArrayLike) -> Floats:
        """[..., len(thrust_bodies), 6] forces and torques in world axes, for body poses [..., num_bodies, 7]."""
        bodies, force = self.thrust_bodies, self.forces(u)
        local = np.zeros((*force.shape[:-1], len(bodies), 6))
        for thruster in self.thrusters:
            local[..., bodies.index(thruster.body), :] += force[..., thruster.control, None] * thruster.wrench
        rotation = quat_matrix(np.asarray(body_q)[..., bodies, 3:])
        return np.concatenate([_turn(rotation, local[..., :3]), _turn(rotation, local[..., 3:])], axis=-1)


def _times(u: Floats, matrix: Floats) -> Floats:
    """u @ matrix in this thread. The threads of a BLAS library spin for milliseconds, on the cores of the next step."""
    if np.all(np.count_nonzero(matrix, axis=0) <= 1):  # the usual case: one actuator for each coordinate
        row = np.argmax(matrix != 0, axis=0)
        return np.asarray(u[..., row] * matrix[row, np.arange(matrix.shape[1])])
    out: Floats = np.einsum("...i,ij->...j", u, matrix)
    return out


def _turn(rotation: Floats, vector: Floats) -> Floats:
    out: Floats = np.einsum("...ij,...j->...i", rotation, vector)
    return out
