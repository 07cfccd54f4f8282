"""Sensors of a MuJoCo model, as a batch measures them (Batch.sensordata)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._layout import ENUMS
from ..conventions import Floats, pose, pose_mul, quat_from_wxyz
from .equalities import sides
from .parts import Parts
from .report import Code, Finding, Why
from .source import (
    EQ_CONNECT,
    EQ_WELD,
    HINGE,
    SLIDE,
    TRN_JOINT,
    TRN_JOINT_IN_PARENT,
    TRN_SITE,
    TRN_TENDON,
    WRAP_JOINT,
    WRAP_PULLEY,
    WRAP_SITE,
    mujoco_module,
)

SIZES = {"camprojection": 2, "ballquat": 4, "framequat": 4}  # numbers of a reading, of kinds that do not have 1 or 3
VECTORS = (
    "accelerometer velocimeter gyro force torque magnetometer framepos framexaxis frameyaxis framezaxis framelinvel "
    "frameangvel framelinacc frameangacc subtreecom subtreelinvel subtreeangmom ballangvel"
).split()
SCALARS = (
    "touch rangefinder jointpos jointvel tendonpos tendonvel actuatorpos actuatorvel actuatorfrc jointactfrc "
    "tendonactfrc jointlimitpos jointlimitvel tendonlimitpos tendonlimitvel insidesite clock"
).split()
KINDS = {**dict.fromkeys(SCALARS, 1), **dict.fromkeys(VECTORS, 3), **SIZES}
POSITIVE = ("touch", "rangefinder", "insidesite")  # a cutoff bounds them from above only
UNBOUNDED = ("framequat", "ballquat", "framexaxis", "frameyaxis", "framezaxis")  # it does not bound these
# What MuJoCo computes with the acceleration of a step. Other kinds are functions of the state.
OF_A_STEP = "force torque framelinacc frameangacc actuatorfrc jointactfrc tendonactfrc".split()
ZONES = {2: "SPHERE", 3: "CAPSULE", 4: "ELLIPSOID", 5: "CYLINDER", 6: "BOX"}  # mjtGeom of sites


@dataclass
class Frame:
    """A frame on a body."""

    body: int  # ours; -1: the world
    pose: Floats  # [7] in the body


@dataclass
class Subtree:
    """A body of MuJoCo with all that it carries."""

    bodies: NDArray[np.intp]  # ours
    static_mass: Floats  # [k] of its parts that cannot move
    static_com: Floats  # [k][3]
    static_shapes: NDArray[np.intp]  # shapes of such parts


@dataclass
class Path:
    """A length: sum r q of scalar joints, or the distances between points, over divisors."""

    coord: NDArray[np.intp]
    dof: NDArray[np.intp]
    arm: Floats
    pieces: list[tuple[Frame, Frame, float]] = field(default_factory=list)


@dataclass
class Force:
    """The force of an actuator: clip((g0 + g1 l + g2 w) u + b0 + b1 l + b2 w)."""

    control: int
    act: int  # index in act; -1: u is the control
    gain: Floats
    bias: Floats
    range: Floats
    length: Path
    gear: float
    tendon: int  # of MuJoCo; -1: none


@dataclass(eq=False)
class MjSensor:
    """A sensor, its place in sensordata, and what it measures."""

    kind: str
    first: int  # in sensordata
    size: int
    cutoff: float  # readings are clipped to it; 0: not
    frame: Frame | None = None
    reference: Frame | None = None
    place: int = 0  # in qpos or qvel
    subtree: Subtree | None = None
    path: Path | None = None
    gear: float = 1.0  # of the path
    thrust: Floats | None = None  # [6] gear of an actuator at a site, in its axes
    range: tuple[float, float, float] = (-np.inf, np.inf, 0.0)  # lower, upper, margin of a limit
    forces: list[tuple[Force, float]] = field(default_factory=list)  # and their moment arms
    force_range: tuple[float, float] = (-np.inf, np.inf)
    zone: tuple[int, Floats] | None = None  # SapShapeType and sizes of a site
    camera: tuple[Floats, Floats] | None = None  # focal lengths and centre of the image, pixels
    vector: Floats | None = None  # magnetic field
    shape: int = -1  # contacts of this shape only


class Lost(Exception):
    """The batch has no such reading, and why."""

    def __init__(self, why: Why, **fields: str) -> None:
        super().__init__(why)
        self.why, self.fields = why, fields


class Converter:
    """Converts the sensors of a model."""

    def __init__(self, parts: Parts) -> None:
        self.source, self.m, self.actuators = parts.source, parts.source.m, parts.actuators
        self.body, self.offset = parts.tree.body, parts.tree.offset
        self.shape, self.tendon = parts.shapes.index, parts.tendons.index
        lost = [found for found in parts.drives.found if found.code.lost and found.kind == "actuator"]
        self.lost_actuators = {found.name for found in lost}
        self.found: list[Finding] = []

    # ---- places ----

    def frame(self, kind: str, index: int) -> Frame:
        """The frame of an object of MuJoCo."""
        m = self.m
        if kind == "SITE":
            b, here = int(m.site_bodyid[index]), pose(m.site_pos[index], quat_from_wxyz(m.site_quat[index]))
        elif kind == "GEOM":
            b, here = int(m.geom_bodyid[index]), pose(m.geom_pos[index], quat_from_wxyz(m.geom_quat[index]))
        elif kind == "CAMERA" and int(m.cam_mode[index]) == 0:
            b, here = int(m.cam_bodyid[index]), pose(m.cam_pos[index], quat_from_wxyz(m.cam_quat[index]))
        elif kind == "BODY":  # MuJoCo means the frame of its inertia
            b, here = index, pose(m.body_ipos[index], quat_from_wxyz(m.body_iquat[index]))
        elif kind == "XBODY":
            b, here = index, pose()
        else:
            raise Lost(Why.FOLLOWING_CAMERA if kind == "CAMERA" else Why.OBJECT, object=kind.lower())
        return Frame(int(self.body[b]), pose_mul(self.offset[b], here))

    def subtree(self, root: int) -> Subtree:
        m, inside = self.m, self.inside(root)
        links, static = self.body >= 0, np.nonzero(inside & (self.body < 0))[0]
        # A body of ours that carries the root as a part of it does not belong to the subtree.
        of_root = self.body[root] if root and self.is_part(root) else -1
        bodies = np.unique(self.body[inside & links])
        place = [pose_mul(self.offset[b], pose(m.body_ipos[b]))[:3] for b in static]
        geoms = np.nonzero(np.isin(m.geom_bodyid, static) & (self.shape >= 0))[0]
        return Subtree(
            bodies[bodies != of_root].astype(np.intp),
            np.array(m.body_mass)[static],
            np.array(place).reshape(-1, 3),
            self.shape[geoms].astype(np.intp),
        )

    def inside(self, root: int) -> NDArray[np.bool_]:
        """[nbody] whether a body is in the subtree of another."""
        out: NDArray[np.bool_] = np.arange(self.m.nbody) == root
        for b in range(root + 1, self.m.nbody):
            out[b] = out[self.m.body_parentid[b]]
        return out

    def is_part(self, b: int) -> bool:
        """Whether a body is a part of another body of ours."""
        return int(self.body[b]) == int(self.body[self.m.body_parentid[b]])

    def is_rk4(self) -> bool:
        return self.source.law == "mujoco" and self.source.integrator == "RK4"

    # ---- lengths ----

    def joint_path(self, j: int) -> Path:
        m = self.m
        if m.jnt_type[j] not in (HINGE, SLIDE):
            raise Lost(Why.MANY_AXES)
        return Path(np.array([m.jnt_qposadr[j]]), np.array([m.jnt_dofadr[j]]), np.ones(1))

    def tendon_path(self, t: int) -> Path:
        m, none = self.m, np.zeros(0, np.intp)
        wraps = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
        kinds = {int(m.wrap_type[w]) for w in wraps}
        if kinds == {WRAP_JOINT}:
            joints, arms = (np.array(array)[list(wraps)] for array in (m.wrap_objid, m.wrap_prm))
            return Path(np.array(m.jnt_qposadr)[joints], np.array(m.jnt_dofadr)[joints], arms)
        if kinds - {WRAP_SITE, WRAP_PULLEY}:
            raise Lost(Why.WRAPPED_TENDON)
        path, divisor, last = Path(none, none, np.zeros(0)), 1.0, None
        for w in wraps:
            if int(m.wrap_type[w]) == WRAP_PULLEY:
                divisor, last = float(m.wrap_prm[w]), None
                continue
            here = self.frame("SITE", int(m.wrap_objid[w]))
            if last is not None:
                path.pieces.append((last, here, divisor))
            last = here
        return path

    # ---- actuators ----

    def actuator_path(self, a: int) -> tuple[Path, float]:
        m, gear = self.m, float(self.actuators[a].gears[0])
        kind, target = int(m.actuator_trntype[a]), int(m.actuator_trnid[a, 0])
        if kind in (TRN_JOINT, TRN_JOINT_IN_PARENT):
            return self.joint_path(target), gear
        if kind == TRN_TENDON:
            return self.tendon_path(target), gear
        if kind == TRN_SITE and int(m.actuator_trnid[a, 1]) < 0:  # its length is 0
            none = np.zeros(0, np.intp)
            return Path(none, none, np.zeros(0)), 1.0
        raise Lost(Why.TRANSMISSION)

    def force(self, a: int) -> Force:
        m, each = self.m, self.actuators[a]
        if (name := self.source.name("ACTUATOR", a)) in self.lost_actuators:
            raise Lost(Why.OTHER_ACTUATOR, actuator=name)
        path, gear = self.actuator_path(a)
        if int(m.actuator_trntype[a]) == TRN_SITE and each.depends_on_state:
            raise Lost(Why.DAMPED_THRUSTER)
        tendon = int(m.actuator_trnid[a, 0]) if int(m.actuator_trntype[a]) == TRN_TENDON else -1
        if tendon >= 0 and m.tendon_actfrclimited[tendon]:
            raise Lost(Why.BOUNDED_TENDON)
        bounds = np.array([-np.inf, np.inf]) if each.force_range is None else each.force_range
        active = [other for other in self.actuators if other.has_dynamics]
        act = active.index(each) if each.has_dynamics else -1
        return Force(each.control, act, each.gain, each.bias, bounds, path, gear, tendon)

    def forces_on(self, j: int) -> list[tuple[Force, float]]:
        """The actuators of a joint with one axis, and their moment arms."""
        m, dof = self.m, int(self.m.jnt_dofadr[j])
        out: list[tuple[Force, float]] = []
        for a in range(len(self.actuators)):
            if int(m.actuator_trntype[a]) == TRN_SITE:
                b = int(m.site_bodyid[m.actuator_trnid[a, 0]])
                while b > 0 and b != m.jnt_bodyid[j]:
                    b = int(m.body_parentid[b])
                if b == m.jnt_bodyid[j]:
                    raise Lost(Why.CARRIES_THRUSTER)
                continue
            try:
                path, gear = self.actuator_path(a)
            except Lost:
                if int(m.actuator_trntype[a]) in (TRN_JOINT, TRN_JOINT_IN_PARENT):
                    continue  # a ball or free joint
                raise
            if path.pieces:
                raise Lost(Why.DRIVEN_THROUGH_SITES)
            arm = float(np.sum(path.arm[path.dof == dof])) * gear
            if arm:
                out.append((self.force(a), arm))
        return out

    # ---- kinds ----

    def convert(self, i: int, kind: str) -> MjSensor:
        m, objects = self.m, mujoco_module().mjtObj
        out = MjSensor(kind, int(m.sensor_adr[i]), int(m.sensor_dim[i]), float(m.sensor_cutoff[i]))
        if out.size != KINDS.get(kind, -1):
            raise Lost(Why.NO_READING)
        if any(np.any(self.source.optional(name, i)) for name in ("sensor_delay", "sensor_interval")):
            raise Lost(Why.DELAYED)
        index, of = int(m.sensor_objid[i]), objects(int(m.sensor_objtype[i])).name.removeprefix("mjOBJ_")
        if int(m.sensor_refid[i]) >= 0:
            reference = objects(int(m.sensor_reftype[i])).name.removeprefix("mjOBJ_")
            out.reference = self.frame(reference, int(m.sensor_refid[i]))
        if of == "JOINT":
            self.convert_joint(out, index)
        elif of == "TENDON":
            self.convert_tendon(out, index)
        elif of == "ACTUATOR":
            self.convert_actuator(out, index)
        elif kind.startswith("subtree"):
            out.subtree = self.subtree(index)
        elif kind != "clock":
            out.frame = self.frame(of, index)
            self.convert_framed(out, i, index)
        return out

    def convert_joint(self, out: MjSensor, j: int) -> None:
        m = self.m
        out.place = int((m.jnt_qposadr if out.kind in ("jointpos", "ballquat") else m.jnt_dofadr)[j])
        if out.kind == "jointactfrc":
            out.forces = self.forces_on(j)
            if m.jnt_actgravcomp[j]:
                raise Lost(Why.GRAVITY_ACTUATED)
            if m.jnt_actfrclimited[j]:
                out.force_range = (float(m.jnt_actfrcrange[j, 0]), float(m.jnt_actfrcrange[j, 1]))
        if out.kind.startswith("jointlimit"):
            out.path = self.joint_path(j)
            out.range = self.limit(bool(m.jnt_limited[j]), m.jnt_range[j], m.jnt_margin[j])

    def limit(self, limited: bool, bounds: Any, margin: float) -> tuple[float, float, float]:
        if not limited or "LIMIT" in self.source.disabled:
            return -np.inf, np.inf, 0.0
        return float(bounds[0]), float(bounds[1]), float(margin)

    def convert_tendon(self, out: MjSensor, t: int) -> None:
        m = self.m
        if out.kind == "tendonactfrc":
            on = [a for a in range(len(self.actuators)) if int(m.actuator_trntype[a]) == TRN_TENDON]
            out.forces = [(self.force(a), 1.0) for a in on if int(m.actuator_trnid[a, 0]) == t]
            return
        out.path = self.tendon_path(t)
        out.range = self.limit(bool(m.tendon_limited[t]), m.tendon_range[t], m.tendon_margin[t])

    def convert_actuator(self, out: MjSensor, a: int) -> None:
        if out.kind == "actuatorfrc":
            out.forces = [(self.force(a), 1.0)]
            return
        out.path, out.gear = self.actuator_path(a)
        if int(self.m.actuator_trntype[a]) == TRN_SITE and out.kind == "actuatorvel":
            out.frame = self.frame("SITE", int(self.m.actuator_trnid[a, 0]))
            out.thrust = self.actuators[a].gears

    def convert_framed(self, out: MjSensor, i: int, index: int) -> None:
        m = self.m
        if out.kind == "magnetometer":
            out.vector = np.array(m.opt.magnetic)
        elif out.kind == "touch":
            self.convert_touch(out, index)
            if self.is_rk4():
                self.found.append(self.source.find(Code.TOUCH_RK4, "SENSOR", i))
        elif out.kind in ("force", "torque"):
            self.convert_force(out, int(m.site_bodyid[index]))
        elif out.kind == "insidesite":
            out.zone = self.zone(int(m.sensor_refid[i]))
        elif out.kind == "camprojection":
            out.camera = self.camera(int(m.sensor_refid[i]))

    def zone(self, site: int) -> tuple[int, Floats]:
        kind = ENUMS["SapShapeType"]["SAP_SHAPE_" + ZONES[int(self.m.site_type[site])]]
        return kind, np.array(self.m.site_size[site])

    def convert_touch(self, out: MjSensor, site: int) -> None:
        """Contacts are those of the geoms of the site's body; a body of ours may be several of MuJoCo's."""
        m, b = self.m, int(self.m.site_bodyid[site])
        out.zone = self.zone(site)
        own = np.unique(self.shape[(np.array(m.geom_bodyid) == b) & (self.shape >= 0)])
        together = np.isin(np.array(m.geom_bodyid), np.nonzero(self.body == self.body[b])[0])
        if len(own) == np.sum(together & (self.shape >= 0)):
            return
        if len(own) != 1:
            raise Lost(Why.PART_TOUCH)
        out.shape = int(own[0])

    def convert_force(self, out: MjSensor, b: int) -> None:
        m, source = self.m, self.source
        if self.is_rk4():
            raise Lost(Why.RK4)
        if b and self.body[b] >= 0 and self.is_part(b):
            raise Lost(Why.PART_FORCE)
        out.subtree = self.subtree(b)
        inside = self.inside(b)
        for e in range(m.neq):
            if source.law == "mujoco" and int(m.eq_type[e]) in (EQ_CONNECT, EQ_WELD):
                first, second = sides(m, e)
                if inside[first] != inside[second]:
                    raise Lost(Why.EQUALITY_FORCE, equality=source.name("EQUALITY", e))
        if any(int(kind) == WRAP_SITE for kind in m.wrap_type) and np.any(self.tendon >= 0):
            raise Lost(Why.TENDONS_THROUGH_SITES)

    def camera(self, c: int) -> tuple[Floats, Floats]:
        """Focal lengths in pixels, and the centre of the image."""
        m = self.m
        resolution, sensor = np.array(m.cam_resolution[c], float), np.array(m.cam_sensorsize[c], float)
        if np.all(sensor > 0):
            focal = np.array(m.cam_intrinsic[c, :2], float) / sensor * resolution
        else:
            focal = np.full(2, resolution[1] / (2 * np.tan(np.radians(m.cam_fovy[c]) / 2)))
        return focal, resolution / 2


def sensors(parts: Parts) -> tuple[list[MjSensor], list[Finding]]:
    """The sensors that a batch measures, and the others, which read 0, with the reasons."""
    m, kinds = parts.source.m, mujoco_module().mjtSensor
    out: list[MjSensor] = []
    converter = Converter(parts)
    for i in range(m.nsensor):
        kind = kinds(int(m.sensor_type[i])).name.removeprefix("mjSENS_").lower()
        try:
            out.append(converter.convert(i, kind))
        except Lost as lost:
            fields = {"sensor": kind, **lost.fields}
            converter.found.append(parts.source.find(Code.SENSOR, "SENSOR", i, lost.why, **fields))
    return out, converter.found
