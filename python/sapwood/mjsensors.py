"""Readings of the sensors of an imported MuJoCo model, in the order of its sensordata.

Sensors of positions and velocities read the present state. Those of accelerations and forces read the last step, at the
state where it began, as MuJoCo's do after mj_step.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .conventions import Floats, quat_conjugate, quat_matrix, quat_mul, quat_to_wxyz
from .mjcf.sensors import OF_A_STEP, POSITIVE, UNBOUNDED, Force, Frame, MjSensor, Path, Subtree
from .sensors import TouchSensor

if TYPE_CHECKING:
    from .batch import Batch


class Motion:
    """A frame on a body in all worlds: vectors [n][3] in world axes, quaternions x y z w."""

    def __init__(self, bodies: Kinematics, frame: Frame) -> None:
        self.body, self.local_pose, self.bodies = frame.body, frame.pose, bodies
        self.omega, self.alpha = (rates[:, frame.body, 3:] for rates in (bodies.velocity, bodies.acceleration))

    @cached_property
    def quat(self) -> Floats:
        return quat_mul(self._body_quat, np.broadcast_to(self.local_pose[3:], self._body_quat.shape))

    @cached_property
    def axes(self) -> Floats:
        out: Floats = quat_matrix(self.quat)
        return out

    @cached_property
    def x(self) -> Floats:
        return self.bodies.pose[:, self.body, :3] + self._turn(self.local_pose[:3])

    @cached_property
    def v(self) -> Floats:
        return self.bodies.velocity[:, self.body, :3] + np.cross(self.omega, self._arm)

    @cached_property
    def a(self) -> Floats:
        turning = np.cross(self.omega, np.cross(self.omega, self._arm))
        return self.bodies.acceleration[:, self.body, :3] + np.cross(self.alpha, self._arm) + turning

    def local(self, vector: Floats) -> Floats:
        """The components of world vectors in the axes of the frame."""
        out: Floats = np.einsum("...ji,...j->...i", self.axes, vector)
        return out

    @property
    def _body_quat(self) -> Floats:
        return self.bodies.pose[:, self.body, 3:]

    @cached_property
    def _arm(self) -> Floats:
        """From the centre of mass of the body to the frame."""
        centre = self.bodies.number("body_com")[:, self.body] if self.body >= 0 else np.zeros(3)
        return self._turn(self.local_pose[:3] - centre)

    def _turn(self, vector: Floats) -> Floats:
        """A vector of the body, or one for each world, in world axes."""
        axes = quat_matrix(self._body_quat)
        return np.asarray(np.einsum("nij,nj->ni", axes, np.broadcast_to(vector, (len(axes), 3))))


class Kinematics:
    """The bodies of all worlds at one time; poses [n][nb][7], velocities and accelerations of centres of mass
    [n][nb][6]. Body -1 is the world."""

    def __init__(self, batch: Batch, pose: Floats, velocity: Floats, acceleration: Floats) -> None:
        self.batch, n = batch, batch.num_worlds
        rest, none = np.tile([0.0, 0, 0, 0, 0, 0, 1], (n, 1, 1)), np.zeros((n, 1, 6))
        self.pose = np.concatenate([np.asarray(pose, np.float64), rest], axis=1)
        self.velocity = np.concatenate([np.asarray(velocity, np.float64), none], axis=1)
        self.acceleration = np.concatenate([np.asarray(acceleration, np.float64), none], axis=1)

    def number(self, name: str) -> Floats:
        """A parameter of the model or of the worlds: [1 or n][...]."""
        if name in self.batch.expanded:
            return np.asarray(getattr(self.batch, name), np.float64)
        return np.asarray(getattr(self.batch.model, name), np.float64)[None]

    @cached_property
    def mass(self) -> Floats:
        """[n][nb]"""
        return np.broadcast_to(self.number("body_mass"), self.pose[:, :-1, 0].shape)

    @cached_property
    def centres(self) -> Floats:
        """[n][nb][3] the centres of mass."""
        bodies = self.pose[:, :-1]
        turned = np.einsum("...ij,...j->...i", quat_matrix(bodies[..., 3:]), self.number("body_com"))
        return np.asarray(bodies[..., :3] + turned)

    @cached_property
    def momenta(self) -> tuple[Floats, Floats]:
        """[n][nb][3] the angular momentum of each body about its centre of mass, and its rate."""
        axes, inertia = quat_matrix(self.pose[:, :-1, 3:]), self.number("body_inertia")
        inertia = axes @ inertia.reshape(*inertia.shape[:2], 3, 3) @ np.swapaxes(axes, -1, -2)
        omega, alpha = self.velocity[:, :-1, 3:], self.acceleration[:, :-1, 3:]
        spin = np.einsum("...ij,...j->...i", inertia, omega)
        return spin, np.einsum("...ij,...j->...i", inertia, alpha) + np.cross(omega, spin)


class MjSensors:
    """The sensors of a batch that were imported. It declares their sites and contact sensors."""

    def __init__(self, batch: Batch, sensors: list[MjSensor], size: int) -> None:
        self.batch, self.sensors, self.size = batch, sensors, size
        self.accelerometers = [sensor for sensor in sensors if sensor.kind == "accelerometer"]
        self.touching = [sensor for sensor in sensors if sensor.kind == "touch"]
        self.names = self._arrays()
        batch.set_sensors(
            [(sensor.frame.body, sensor.frame.pose) for sensor in self.accelerometers if sensor.frame],
            [self._touch(sensor) for sensor in self.touching],
        )
        for name in self.names:
            getattr(batch, name)  # turns it on

    @staticmethod
    def _touch(sensor: MjSensor) -> TouchSensor:
        assert sensor.frame and sensor.zone
        shape = None if sensor.shape < 0 else sensor.shape
        return TouchSensor(sensor.frame.body, shape=shape, zone=(*sensor.zone, sensor.frame.pose))

    def _arrays(self) -> list[str]:
        """The arrays of the batch that the readings need."""
        kinds = {sensor.kind for sensor in self.sensors}
        framed = [s for s in self.sensors if (s.frame or s.subtree) and s not in self.accelerometers + self.touching]
        pieces = [s for s in self.sensors if s.path and s.path.pieces]
        forces = kinds & {"actuatorfrc", "jointactfrc", "tendonactfrc"}
        names = {"body_q", "body_qd"} if framed or pieces or forces else set()
        names |= {"joint_q", "joint_qd"} if forces or any(s.path for s in self.sensors) else set()
        names |= {"site_accelerometer"} if self.accelerometers else set()
        names |= {"touch_pressure"} if self.touching else set()
        names |= {"step_start"} if kinds & set(OF_A_STEP) else set()
        if kinds & {"force", "torque"}:
            names |= {"body_contact_wrench", "contact_force", "contact_position", "contact_shape0", "contact_shape1"}
            names |= {"contact_count", "body_f"}
            names |= {"body_constraint_wrench"} if self._has_loops() else set()
        return sorted(names)

    def _has_loops(self) -> bool:
        return self.batch.options["contact_solver"] == "sap" and self.batch.model.num_constraints > 0

    def keeps_controls(self) -> bool:
        """Whether a reading depends on the controls of the last step."""
        return any(sensor.forces for sensor in self.sensors)

    # ---- readings ----

    def read(self, lagged: bool = False) -> Floats:
        """(num_worlds, nsensordata). If lagged, all sensors are those of the start of the last step, as MuJoCo leaves
        them after a step."""
        batch, n = self.batch, self.batch.num_worlds
        self.arrays: dict[str, NDArray[Any]] = {name: batch._get(name) for name in self.names}
        if "body_q" in self.names or lagged:
            pose, velocity = batch._get("body_q"), batch._get("body_qd")
            self.now = self.start = Kinematics(batch, pose, velocity, np.zeros_like(velocity))
        if "step_start" in self.names or lagged:
            self._take_start(batch._get("step_start"))
        self.lagged = lagged
        if lagged:
            self.now = self.start
            self.arrays |= {"joint_q": self.start_q, "joint_qd": self.start_qd}
        out = np.zeros((n, self.size))
        for sensor in self.sensors:
            values = np.asarray(self._reading(sensor), np.float64).reshape(n, sensor.size)
            if sensor.cutoff > 0 and sensor.kind not in UNBOUNDED:
                lower = -np.inf if sensor.kind in POSITIVE else -sensor.cutoff
                values = np.clip(values, lower, sensor.cutoff)
            out[:, sensor.first : sensor.first + sensor.size] = values
        return out

    def _take_start(self, row: NDArray[np.float64]) -> None:
        """Where the last step began: coordinates, velocities, bodies, activations (SAP_BATCH_STEP_START)."""
        model = self.batch.model
        ends = np.cumsum([model.num_coords, model.num_dofs, 19 * model.num_bodies])
        self.start_q, self.start_qd, bodies, self.start_act = np.split(row, ends, axis=1)
        motion = bodies.reshape(len(row), -1, 19)
        self.stepped = np.any(motion[:, 0, 3:7] != 0, axis=1)[:, None]  # since the last reset
        pose = np.where(self.stepped[..., None], motion[..., :7], self.now.pose[:, :-1])
        self.start = Kinematics(self.batch, pose, motion[..., 7:13], motion[..., 13:])

    def _reading(self, sensor: MjSensor) -> Any:
        if sensor.kind == "clock":
            return self.batch.time - (self.batch.dt if self.lagged else 0.0)
        if sensor.subtree is not None and sensor.frame is not None:
            return self._internal_force(sensor)
        if sensor.subtree is not None:
            return self._subtree(sensor.kind, sensor.subtree)
        if sensor.kind in ("actuatorfrc", "jointactfrc", "tendonactfrc"):
            return self._actuator_forces(sensor)
        if sensor.path is not None:
            return self._length(sensor)
        if sensor.frame is not None:
            return self._framed(sensor, sensor.frame)
        return self._joint(sensor)

    def _joint(self, sensor: MjSensor) -> Any:
        of_position, coordinates = sensor.kind in ("jointpos", "ballquat"), self.batch._coordinates
        if self.lagged:
            q, qd = self.start_q, self.start_qd
            values = coordinates.qpos(q) if of_position else coordinates.qvel(q, qd)
        else:
            values = self.batch.qpos if of_position else self.batch.qvel
        values = values[:, sensor.place : sensor.place + sensor.size]
        return values / np.linalg.norm(values, axis=1, keepdims=True) if sensor.kind == "ballquat" else values

    # ---- frames ----

    def _framed(self, sensor: MjSensor, frame: Frame) -> Any:
        kind = sensor.kind
        if kind == "accelerometer":
            return self.arrays["site_accelerometer"][:, self.accelerometers.index(sensor)]
        if kind == "touch":
            return self.arrays["touch_pressure"][:, self.touching.index(sensor)]
        m = Motion(self.start if kind in OF_A_STEP else self.now, frame)
        if kind == "framelinacc":
            return m.a - self._gravity()
        if kind == "frameangacc":
            return m.alpha
        if kind == "gyro":
            return m.local(m.omega)
        if kind == "velocimeter":
            return m.local(m.v)
        if kind == "magnetometer":
            return m.local(np.broadcast_to(sensor.vector, m.x.shape))  # type: ignore[arg-type]
        if kind == "rangefinder":
            return self._range(frame, m)
        return self._relative(sensor, m)

    def _gravity(self) -> Floats:
        return self.now.number("gravity")

    def _relative(self, sensor: MjSensor, m: Motion) -> Any:
        """What has a frame of reference, or can have one."""
        kind = sensor.kind
        r = Motion(self.now, sensor.reference or Frame(-1, np.array([0.0, 0, 0, 0, 0, 0, 1])))
        if kind == "framepos":
            return r.local(m.x - r.x)
        if kind == "framequat":
            return quat_to_wxyz(quat_mul(quat_conjugate(r.quat), m.quat))
        if kind == "framelinvel":
            return r.local(m.v - r.v - np.cross(r.omega, m.x - r.x))
        if kind == "frameangvel":
            return r.local(m.omega - r.omega)
        if kind == "insidesite":
            return _inside(sensor, r.local(m.x - r.x))
        if kind == "camprojection":
            return _project(sensor, r.local(m.x - r.x))
        return r.local(m.axes[..., "xyz".index(kind[5])])

    def _range(self, frame: Frame, m: Motion) -> Any:
        """The distance along the z axis of the site to the first shape of another body; -1: none."""
        exclude = None if frame.body < 0 else frame.body
        hits = self.batch.raycast(m.x[:, None], m.axes[:, None, :, 2], exclude_body=exclude)
        return hits.distance[:, 0]

    # ---- subtrees ----

    def _subtree(self, kind: str, tree: Subtree) -> Any:
        own, centre = self.now.mass[:, tree.bodies, None], self.now.centres[:, tree.bodies]
        v = self.now.velocity[:, tree.bodies, :3]
        total = np.maximum(own.sum(axis=1) + tree.static_mass.sum(), 1e-15)
        middle = ((own * centre).sum(axis=1) + tree.static_mass @ tree.static_com) / total
        mean = (own * v).sum(axis=1) / total
        if kind == "subtreecom":
            return middle
        if kind == "subtreelinvel":
            return mean
        spin = self.now.momenta[0][:, tree.bodies].sum(axis=1)
        moved = (own * np.cross(centre - middle[:, None], v - mean[:, None])).sum(axis=1)
        still = tree.static_mass[:, None] * np.cross(tree.static_com - middle[:, None], -mean[:, None])
        return spin + moved + still.sum(axis=1)

    def _internal_force(self, sensor: MjSensor) -> Any:
        """The force or torque that holds a subtree at a site: its rate of momentum less all other forces on it."""
        tree, frame, g, start = sensor.subtree, sensor.frame, self._gravity(), self.start
        assert tree is not None and frame is not None
        site = Motion(start, frame)
        external = self._external()[:, tree.bodies]
        falling = start.acceleration[:, tree.bodies, :3] - g[:, None]
        force = start.mass[:, tree.bodies, None] * falling - external[..., :3]
        torque = start.momenta[1][:, tree.bodies] - external[..., 3:]
        arm = start.centres[:, tree.bodies] - site.x[:, None]
        still = -tree.static_mass[:, None] * g[:, None]
        contacts, points = self._static_contacts(tree)
        total = force.sum(axis=1) + still.sum(axis=1) - contacts.sum(axis=1)
        if sensor.kind == "torque":
            of_static = np.cross(tree.static_com - site.x[:, None], still).sum(axis=1)
            of_contacts = np.cross(points - site.x[:, None], contacts).sum(axis=1)
            total = (torque + np.cross(arm, force)).sum(axis=1) + of_static - of_contacts
        return np.where(self.stepped, site.local(total), 0.0)

    def _external(self) -> Floats:
        """[n][nb][6] forces of contacts, of loops and of the user, without actuators at sites."""
        out: Floats = np.array(self.arrays["body_contact_wrench"]) + self.arrays["body_f"]
        imported = self.batch.model.imported
        thrusters = imported.actuation.thrusters if imported else []
        for body in {thruster.body for thruster in thrusters}:
            out[:, body] -= self.arrays["body_f"][:, body]
        if "body_constraint_wrench" in self.arrays:
            out += self.arrays["body_constraint_wrench"]
        return out

    def _static_contacts(self, tree: Subtree) -> tuple[Floats, Floats]:
        """[n][capacity][3] the forces of contacts on the static shapes of a subtree, and their points."""
        force, count = self.arrays["contact_force"], self.arrays["contact_count"]
        sign = np.zeros(force.shape[:2])
        for side, name in ((-1.0, "contact_shape0"), (1.0, "contact_shape1")):
            sign += side * np.isin(self.arrays[name], tree.static_shapes)
        sign *= np.arange(force.shape[1]) < count[:, None]
        acts = sign[..., None] != 0
        return np.where(acts, sign[..., None] * force, 0.0), np.where(acts, self.arrays["contact_position"], 0.0)

    # ---- lengths and actuators ----

    def _path(self, path: Path, start: bool = False) -> tuple[Floats, Floats]:
        """[n] a length and its rate, at the present state or at the start of the last step."""
        q, qd = (self.start_q, self.start_qd) if start else (self.arrays["joint_q"], self.arrays["joint_qd"])
        length, rate = q[:, path.coord] @ path.arm, qd[:, path.dof] @ path.arm
        for one, two, divisor in path.pieces:
            a, b = (Motion(self.start if start else self.now, frame) for frame in (one, two))
            span = b.x - a.x
            far = np.linalg.norm(span, axis=1)
            length = length + far / divisor
            rate = rate + np.sum((b.v - a.v) * span, axis=1) / np.maximum(far, 1e-15) / divisor
        return np.asarray(length, np.float64), np.asarray(rate, np.float64)

    def _length(self, sensor: MjSensor) -> Any:
        assert sensor.path is not None
        length, rate = (sensor.gear * x for x in self._path(sensor.path))
        if sensor.thrust is not None and sensor.frame is not None:
            m = Motion(self.now, sensor.frame)
            return m.local(m.v) @ sensor.thrust[:3] + m.local(m.omega) @ sensor.thrust[3:]
        if not sensor.kind.endswith(("limitpos", "limitvel")):
            return rate if sensor.kind.endswith("vel") else length
        lower, upper, margin = sensor.range
        near_lower, near_upper = length - lower < margin, upper - length < margin
        if sensor.kind.endswith("vel"):
            return np.where(near_lower, rate, np.where(near_upper, -rate, 0.0))
        return np.where(near_lower, length - lower - margin, np.where(near_upper, upper - length - margin, 0.0))

    def _force(self, force: Force) -> Floats:
        """[n] the force of an actuator in the last step."""
        implicit = self.batch.options["contact_solver"] != "mujoco"  # servos of SAP have the state at the end of a step
        length, rate = (force.gear * x for x in self._path(force.length, start=not implicit))
        ctrl = self.batch._last_controls()
        u = self._input(force, ctrl) if force.act >= 0 else ctrl[:, force.control]
        gain = force.gain[0] + force.gain[1] * length + force.gain[2] * rate
        bias = force.bias[0] + force.bias[1] * length + force.bias[2] * rate
        out: Floats = np.clip(gain * u + bias, *force.range)
        return out

    def _input(self, force: Force, ctrl: Floats) -> Floats:
        """[n] the activation that acted in the last step."""
        activations = self.batch._actuation().activations
        assert activations is not None
        early = bool(activations.early[force.act])
        values = self.batch.act if early else self.batch._last_activations(self.start_act)
        return np.asarray(values, np.float64)[:, force.act]

    def _actuator_forces(self, sensor: MjSensor) -> Any:
        total = np.zeros(self.batch.num_worlds)
        for force, arm in sensor.forces:
            total = total + arm * self._force(force)
        return np.where(self.stepped[:, 0], np.clip(total, *sensor.force_range), 0.0)


def _inside(sensor: MjSensor, x: Floats) -> Any:
    """Whether points [n][3] are strictly inside of a solid."""
    from .model import SHAPE_TYPES

    assert sensor.zone is not None
    kind, size = sensor.zone
    radial = np.hypot(x[:, 0], x[:, 1])
    if kind == SHAPE_TYPES["SAP_SHAPE_BOX"]:
        return np.all(np.abs(x) < size, axis=1)
    if kind == SHAPE_TYPES["SAP_SHAPE_SPHERE"]:
        return np.linalg.norm(x, axis=1) < size[0]
    if kind == SHAPE_TYPES["SAP_SHAPE_ELLIPSOID"]:
        return np.linalg.norm(x / size, axis=1) < 1
    if kind == SHAPE_TYPES["SAP_SHAPE_CYLINDER"]:
        return (radial < size[0]) & (np.abs(x[:, 2]) < size[1])
    return np.hypot(radial, np.maximum(np.abs(x[:, 2]) - size[1], 0)) < size[0]  # a capsule


def _project(sensor: MjSensor, x: Floats) -> Any:
    """The pixels of points [n][3] in the frame of a camera, which looks along -z."""
    assert sensor.camera is not None
    focal, centre = sensor.camera
    depth = np.where(np.abs(x[:, 2]) < 1e-15, 1e-15, x[:, 2])
    return np.stack([-focal[0] * x[:, 0] / depth + centre[0], focal[1] * x[:, 1] / depth + centre[1]], axis=1)
