"""Models from MuJoCo's: MJCF and URDF files through MuJoCo's own compiler, or a compiled mujoco.MjModel.

docs/python.md has the rules: what is exact, what is mapped, what is reported.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _layout
from .actuation import Actuation
from .conventions import Coordinates, Floats, axis_turn, pose, pose_mul, quat_from_wxyz, quat_matrix
from .model import JOINT_TYPES, SHAPE_TYPES, Model

# A link without mass of its own, as the chain of a body with several joints has, gets this share of the mass that it
# carries, and as many kg m^2 per kg. Added to inertias that it moves with, it vanishes in rounding (2^-53 is 1e-16), in
# every place where a number of the model depends on it; f32 still tells it from zero.
NEGLIGIBLE = 1e-24

# Numbers of MuJoCo's enums: mjtJoint, mjtTrn, mjtDyn, mjtGain, mjtBias, mjtWrap, mjtGeom.
FREE, BALL, SLIDE, HINGE = range(4)
TRN_JOINT, TRN_JOINT_IN_PARENT, TRN_TENDON = 0, 1, 3
DYN_NONE, GAIN_FIXED, GAIN_AFFINE, BIAS_NONE, BIAS_AFFINE, WRAP_JOINT = 0, 0, 1, 0, 1, 1
GEOM_TYPES = {
    0: "PLANE",
    1: "HEIGHT_FIELD",
    2: "SPHERE",
    3: "CAPSULE",
    4: "ELLIPSOID",
    5: "CYLINDER",
    6: "BOX",
    7: "HULL",
}
NUM_SIZES = {"SPHERE": 1, "CAPSULE": 2, "CYLINDER": 2, "ELLIPSOID": 3, "BOX": 3}


@dataclass
class Import:
    """How a model was made from MuJoCo's, and the way back."""

    report: list[str]  # what was not carried over, and what was approximated
    coordinates: Coordinates  # converts states
    actuation: Actuation  # what ctrl does
    body: NDArray[np.int32]  # [nbody] our body of each of MuJoCo's; -1: part of the world
    joint: NDArray[np.int32]  # [njnt] our joint of each of MuJoCo's
    shape: NDArray[np.int32]  # [ngeom] our shape of each of MuJoCo's geoms; -1: none
    key_ctrl: Floats  # [nkey][nu]


class NotCarriedOver(ValueError):
    """The model has what Sapwood cannot simulate, and strict=True was asked for."""


def load(path: str | os.PathLike[str], strict: bool = False) -> Model:
    """MJCF or URDF: MuJoCo tells them apart."""
    return convert(_mujoco().MjModel.from_xml_path(os.fspath(path)), strict)


def convert(m: Any, strict: bool = False) -> Model:
    """The model of a mujoco.MjModel."""
    return _Builder(m).build(strict)


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise ImportError("reading MJCF and URDF needs MuJoCo: pip install 'sapwood[mujoco]'") from error
    if tuple(int(part) for part in mujoco.__version__.split(".")[:2]) < (3, 9):  # margins meant something else
        raise ImportError(f"MuJoCo {mujoco.__version__} is installed; 3.9 or later is needed")
    return mujoco


def _spring(solref: Floats, solimp: Floats, dt: float) -> tuple[float, float]:
    """(stiffness per effective mass, 1/s^2; dissipation time, s) of MuJoCo's soft constraint.

    It asks for acceleration a1 with  a1 + d (b v + k r) = (1 - d) a0,  a0 that of the unconstrained motion. A load at
    rest then sinks in by r = (1 - d) a0 / (d k): a spring of d k/(1 - d) per mass, with damping of b/k times that. d is
    taken half way between dmin and dmax.
    """
    d = float(np.clip((solimp[0] + solimp[1]) / 2, 1e-4, 1 - 1e-4))
    width = float(np.clip(solimp[1], 1e-4, 1 - 1e-4))
    if solref[0] > 0:
        time = max(float(solref[0]), 2 * dt)
        k, b = d / (width * time * solref[1]) ** 2, 2 / (width * time)
    else:
        k, b = max(-solref[0] * d / width**2, 1e-9), -solref[1] / width
    return d * k / (1 - d), b / k


@dataclass
class _Rows:
    """Columns of the model's arrays, row by row."""

    columns: dict[str, Any] = field(default_factory=dict)

    def add(self, **row: Any) -> None:
        for name, value in row.items():
            self.columns.setdefault(name, []).append(value)

    def count(self, name: str) -> int:
        return len(self.columns.get(name, ()))


class _Builder:
    def __init__(self, m: Any) -> None:
        self.m = m
        self.rows = _Rows()
        self.coordinates = Coordinates()
        self.lost: list[str] = []
        self.approximated: list[str] = []
        self.body = np.full(m.nbody, -1, np.int32)
        self.joint = np.full(m.njnt, -1, np.int32)
        self.shape = np.full(m.ngeom, -1, np.int32)
        self.static_pose = {0: pose()}
        self.starts = [0]
        flags = _mujoco().mjtDisableBit
        self.disabled = {
            name
            for name in (
                "CONTACT",
                "LIMIT",
                "FRICTIONLOSS",
                "GRAVITY",
                "FILTERPARENT",
                "CLAMPCTRL",
                "ACTUATION",
                "SPRING",
                "DAMPER",
            )
            if int(m.opt.disableflags) & int(getattr(flags, "mjDSBL_" + name, 0))
        }

    def build(self, strict: bool) -> Model:
        m = self.m
        for b in range(1, m.nbody):
            self.add_body(b)
        if not self.rows.count("joint_armature"):
            raise NotCarriedOver("the model has no joint: nothing in it moves")
        actuation = self.add_drives()
        self.add_shapes()
        self.add_keyframes()
        self.list_the_rest()
        if strict and self.lost:
            raise NotCarriedOver("not carried over:\n" + "\n".join(self.lost))
        gravity = np.zeros(3) if "GRAVITY" in self.disabled else np.array(m.opt.gravity)
        model = Model(
            dt=float(m.opt.timestep),
            name=self.model_name(),
            gravity=gravity,
            num_coords=int(m.nq),
            articulation_start=[*self.starts, self.rows.count("joint_type")],
            joint_q=self.coordinates.joint_q(m.qpos0),
            **self.arrays(),
        )
        model.imported = Import(
            [*self.lost, *self.approximated],
            self.coordinates,
            actuation,
            self.body,
            self.joint,
            self.shape,
            np.array(m.key_ctrl).reshape(m.nkey, m.nu),
        )
        return model

    def arrays(self) -> dict[str, Any]:
        return {name: values for name, values in self.rows.columns.items() if name in _layout.MODEL_ARRAYS}

    # ---- names ----

    def model_name(self) -> str:
        return bytes(self.m.names).split(b"\0", 1)[0].decode()

    def name(self, kind: str, i: int) -> str:
        found = _mujoco().mj_id2name(self.m, getattr(_mujoco().mjtObj, "mjOBJ_" + kind), i)
        return found or f"{kind.lower()}_{i}"

    def lose(self, kind: str, i: int, what: str = "not carried over") -> None:
        self.lost.append(f"{kind.lower()} '{self.name(kind, i)}': {what}")

    # ---- bodies and joints ----

    def add_body(self, b: int) -> None:
        m = self.m
        parent, here = int(m.body_parentid[b]), pose(m.body_pos[b], quat_from_wxyz(m.body_quat[b]))
        if m.body_weldid[b] == 0:
            self.static_pose[b] = pose_mul(self.static_pose[parent], here)
            if m.body_mocapid[b] >= 0:
                self.lose("BODY", b, "mocap; it stays where it is")
            return
        link = int(self.body[parent])
        if link < 0:
            here = pose_mul(self.static_pose[parent], here)
            if self.rows.count("joint_type"):
                self.starts.append(self.rows.count("joint_type"))
        joints = list(range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]))
        if not joints:
            self.add_link(b, f"{self.name('BODY', b)}:fixed", "FIXED", link, here, pose(), last=True)
        elif len(joints) > 1 and self.fits_d6(joints):
            self.add_d6(b, joints, link, here)
        else:
            for j in joints:
                last = j == joints[-1]
                link = self.add_joint(b, j, link, here, last)
                here = pose()

    def add_link(
        self,
        b: int,
        joint: str,
        kind: str,
        parent: int,
        X_p: Floats,
        X_c: Floats,
        last: bool,
        dim: tuple[int, int] = (0, 0),
    ) -> int:
        """One joint and its child: the body itself if it is the body's last joint, else a link without mass."""
        index = self.rows.count("joint_type")
        self.rows.add(
            joint_type=JOINT_TYPES["SAP_JOINT_" + kind],
            joint_parent=parent,
            joint_child=index,
            joint_X_p=X_p,
            joint_X_c=X_c,
            joint_name=joint,
            joint_dof_dim=dim,
        )
        mass, inertia = self.inertia(b) if last else (0.0, np.zeros((3, 3)))
        if mass <= 0:
            mass = NEGLIGIBLE * float(self.m.body_subtreemass[b])
        if not np.any(inertia):
            inertia = np.eye(3) * mass if not last else np.eye(3) * NEGLIGIBLE * float(self.m.body_subtreemass[b])
        name = self.name("BODY", b) if last else f"{self.name('BODY', b)}:{joint}"
        self.rows.add(
            body_mass=mass,
            body_com=np.array(self.m.body_ipos[b]) if last else np.zeros(3),
            body_inertia=inertia.ravel(),
            body_name=name,
        )
        if last:
            self.body[b] = index
        return index

    def inertia(self, b: int) -> tuple[float, Floats]:
        """About the centre of mass in body axes: MuJoCo has principal moments in a frame of their own."""
        rotation = quat_matrix(quat_from_wxyz(self.m.body_iquat[b]))
        inertia = rotation @ np.diag(self.m.body_inertia[b]) @ rotation.T
        return float(self.m.body_mass[b]), (inertia + inertia.T) / 2

    def fits_d6(self, joints: list[int]) -> bool:
        """Slides, then hinges with orthogonal, right-handed axes through one point: that is what a D6 joint does."""
        m = self.m
        types = [int(m.jnt_type[j]) for j in joints]
        hinges = [j for j in joints if m.jnt_type[j] == HINGE]
        if types != sorted(types) or types[0] == BALL or len(hinges) > 3 or len(joints) - len(hinges) > 3:
            return False
        if any(m.jnt_limited[j] for j in joints):  # limits act on joints with one axis
            return False
        if any(m.qpos0[m.jnt_qposadr[j]] != 0 or np.any(m.jnt_pos[j] != m.jnt_pos[hinges[0]]) for j in hinges):
            return False
        axes = m.jnt_axis[hinges]
        product = axes @ axes.T - np.eye(len(hinges))
        return bool(np.all(np.abs(product) < 1e-9)) and (len(hinges) < 3 or np.linalg.det(axes) > 0)

    def add_d6(self, b: int, joints: list[int], link: int, here: Floats) -> None:
        m = self.m
        hinges = [j for j in joints if m.jnt_type[j] == HINGE]
        anchor = np.array(m.jnt_pos[hinges[0]]) if hinges else np.zeros(3)
        shift = sum((-m.qpos0[m.jnt_qposadr[j]] * m.jnt_axis[j] for j in joints if m.jnt_type[j] == SLIDE), np.zeros(3))
        name = "+".join(self.name("JOINT", j) for j in joints)
        index = self.add_link(
            b,
            name,
            "D6",
            link,
            pose_mul(here, pose(anchor + shift)),
            pose(anchor),
            last=True,
            dim=(len(joints) - len(hinges), len(hinges)),
        )
        for j in joints:
            self.joint[j] = index
            self.add_dof(j, int(m.jnt_dofadr[j]), np.array(m.jnt_axis[j]))

    def add_joint(self, b: int, j: int, link: int, here: Floats, last: bool) -> int:
        m = self.m
        kind, axis, anchor = int(m.jnt_type[j]), np.array(m.jnt_axis[j]), pose(m.jnt_pos[j])
        q, v, reference = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), float(m.qpos0[m.jnt_qposadr[j]])
        X_p, X_c, word = pose_mul(here, anchor), anchor, "BALL"
        if kind == FREE:
            X_p, X_c, word = pose(), pose(), "FREE"
            self.coordinates.free.append((q, v, np.array(m.body_ipos[b])))
        elif kind == BALL:
            self.coordinates.ball.append((q, v))
        elif kind == HINGE:
            X_p, word = pose_mul(X_p, pose(quat=axis_turn(axis, -reference))) if reference else X_p, "REVOLUTE"
        else:
            X_p, X_c, word = pose_mul(here, pose(-reference * axis)), pose(), "PRISMATIC"
        self.joint[j] = self.add_link(
            b,
            self.name("JOINT", j),
            word,
            link,
            X_p,
            X_c,
            last,
            {"PRISMATIC": (1, 0), "REVOLUTE": (0, 1), "BALL": (0, 3), "FREE": (3, 3)}[word],
        )
        for i in range({FREE: 6, BALL: 3}.get(kind, 1)):
            self.add_dof(j, v + i, axis)
        return int(self.joint[j])

    def add_dof(self, j: int, v: int, axis: Floats) -> None:
        m = self.m
        damping = 0.0 if "DAMPER" in self.disabled else float(m.dof_damping[v])
        friction = 0.0 if "FRICTIONLOSS" in self.disabled else float(m.dof_frictionloss[v])
        if m.jnt_type[j] in (FREE, BALL):
            axis = np.eye(3)[(v - m.jnt_dofadr[j]) % 3]
        lower, upper, ke, kd = self.limits(j, v)
        self.rows.add(
            joint_axis=axis,
            joint_armature=float(m.dof_armature[v]),
            joint_damping=damping,
            joint_friction=friction,
            joint_limit_lower=lower,
            joint_limit_upper=upper,
            joint_limit_ke=ke,
            joint_limit_kd=kd,
        )

    def limits(self, j: int, v: int) -> tuple[float, float, float, float]:
        m = self.m
        if not m.jnt_limited[j] or "LIMIT" in self.disabled:
            return -np.inf, np.inf, 0.0, 0.0
        if m.jnt_type[j] == BALL:
            if v == m.jnt_dofadr[j]:
                self.lose("JOINT", j, "limit of a ball joint")
            return -np.inf, np.inf, 0.0, 0.0
        stiffness, time = _spring(m.jnt_solref[j], m.jnt_solimp[j], m.opt.timestep)
        ke = stiffness / max(float(m.dof_invweight0[v]), 1e-12)
        lower, upper = m.jnt_range[j] + np.array([1, -1]) * m.jnt_margin[j]
        return float(lower), float(max(lower, upper)), ke, ke * time

    # ---- springs and actuators ----

    def add_drives(self) -> Actuation:
        """Springs and actuators with a bias that depends on the joint become the drive of its dof."""
        m, nv = self.m, int(self.m.nv)
        nu = int(m.nu)
        self.ke, self.kd, self.pull, self.limit = np.zeros(nv), np.zeros(nv), np.zeros(nv), np.full(nv, np.inf)
        self.joint_range = np.tile([-np.inf, np.inf], (nv, 1))
        self.motor, self.position, self.velocity = np.zeros((3, nu, nv))
        self.gain, self.bias = np.ones(nu), np.zeros(nu)
        self.force_range, ctrl_range = np.tile([-np.inf, np.inf], (nu, 1)), np.tile([-np.inf, np.inf], (nu, 1))
        self.velocity0 = np.zeros(nv)
        self.driven = np.zeros(nv, bool)
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
        coefficients = self.transmission(a, out)
        if fault or coefficients is None:
            return self.lose("ACTUATOR", a, fault or "a transmission that is no hinge, slide or fixed tendon")
        if int(m.actuator_dyntype[a]) != DYN_NONE:
            self.lose("ACTUATOR", a, "activation dynamics; the control acts at once")
        if np.any(getattr(m, "actuator_delay", np.zeros(m.nu))[a : a + 1]):
            self.lose("ACTUATOR", a, "delay; the control acts at once")
        bias = np.array(m.actuator_biasprm[a, :3]) if int(m.actuator_biastype[a]) == BIAS_AFFINE else np.zeros(3)
        self.add_reflected(a, coefficients)
        if np.any(bias[1:]) and len(coefficients) == 1:
            self.add_drive(a, u, *coefficients[0], bias)
        elif np.any(bias[1:]):
            self.lose("ACTUATOR", a, "a drive on a tendon")
        else:
            self.add_motor(a, u, coefficients, float(bias[0]))

    def actuator_fault(self, a: int) -> str:
        """Why its force is no linear function of control, coordinate and velocity; "" if it is."""
        m, gain = self.m, int(self.m.actuator_gaintype[a])
        if hasattr(m, "actuator_ctrlnum") and (m.actuator_ctrlnum[a] != 1 or m.actuator_outnum[a] != 1):
            return "several controls or outputs"
        if gain not in (GAIN_FIXED, GAIN_AFFINE) or (gain == GAIN_AFFINE and np.any(m.actuator_gainprm[a, 1:3])):
            return "a gain that depends on the state"
        if int(m.actuator_biastype[a]) not in (BIAS_NONE, BIAS_AFFINE):
            return "a bias of its own kind"
        return ""

    def add_reflected(self, a: int, coefficients: list[tuple[int, float]]) -> None:
        """Armature and damping of the actuator itself, seen through its gear."""
        for name, column in (("actuator_armature", "joint_armature"), ("actuator_damping", "joint_damping")):
            value = float(getattr(self.m, name, np.zeros(self.m.nu))[a])
            if value and len(coefficients) == 1:
                dof, gear = coefficients[0]
                self.rows.columns[column][dof] += value * gear**2
            elif value:
                self.lose("ACTUATOR", a, f"{name.removeprefix('actuator_')} on a tendon")

    def transmission(self, a: int, out: int) -> list[tuple[int, float]] | None:
        """[(dof, moment arm)], constant ones only."""
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
        """A drive clips its effort symmetrically, and a spring on the same dof with it."""
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

    # ---- shapes ----

    def add_shapes(self) -> None:
        m = self.m
        self.meshes: dict[int, int] = {}
        wanted = self.wanted_pairs()
        for g in range(m.ngeom):
            self.add_shape(g, bool(np.any(wanted[g])))
        kept = np.nonzero(self.shape >= 0)[0]
        if len(kept):
            wanted = wanted[np.ix_(kept, kept)]
            self.set_friction(kept, wanted)
            self.set_filters(kept, wanted)

    def add_shape(self, g: int, collides: bool) -> None:
        m = self.m
        kind, body = GEOM_TYPES.get(int(m.geom_type[g])), int(m.geom_bodyid[g])
        if kind is None and collides:
            self.lose("GEOM", g, "its type is not supported")
        if kind is None or (kind == "HULL" and not collides):
            return
        link = int(self.body[body])
        place = pose(m.geom_pos[g], quat_from_wxyz(m.geom_quat[g]))
        if link < 0:
            place = pose_mul(self.static_pose[body], place)
        size, mesh = self.sizes(g, kind)
        stiffness, time = _spring(m.geom_solref[g], m.geom_solimp[g], m.opt.timestep)
        weight = float(m.body_invweight0[body, 0]) if link >= 0 else 0.0
        self.shape[g] = self.rows.count("shape_type")
        self.rows.add(
            shape_type=SHAPE_TYPES["SAP_SHAPE_" + kind],
            shape_body=link,
            shape_transform=place,
            shape_scale=size,
            shape_mesh=mesh,
            shape_name=self.name("GEOM", g),
            shape_margin=float(m.geom_margin[g]),
            shape_gap=float(m.geom_gap[g]),
            shape_material_ke=stiffness / weight if weight > 0 else np.inf,
            shape_material_tau=time / 2,
            shape_flags=3 if collides else 1,
        )
        if collides and m.geom_condim[g] > 3:
            self.lose("GEOM", g, "torsional and rolling friction")

    def sizes(self, g: int, kind: str) -> tuple[Floats, int]:
        m, size = self.m, np.array(self.m.geom_size[g])
        data = int(m.geom_dataid[g])
        if kind == "PLANE":
            return np.zeros(3), -1
        if kind == "HULL":
            if data not in self.meshes:
                self.meshes[data] = self.add_mesh(data)
            return np.ones(3), self.meshes[data]
        if kind == "HEIGHT_FIELD":
            return np.array([*m.hfield_size[data, :2], 0.0]), self.add_grid(data)
        return np.where(np.arange(3) < NUM_SIZES[kind], size, 0.0), -1

    def add_mesh(self, i: int) -> int:
        """The vertices of the convex hull, where MuJoCo has computed it."""
        m = self.m
        points = np.array(m.mesh_vert[m.mesh_vertadr[i] : m.mesh_vertadr[i] + m.mesh_vertnum[i]], np.float64)
        graph = int(m.mesh_graphadr[i])
        if graph >= 0:
            count = int(m.mesh_graph[graph])
            points = points[m.mesh_graph[graph + 2 + count : graph + 2 + 2 * count]]
        columns = self.rows.columns
        columns.setdefault("mesh_start", [0]).append(columns.get("mesh_start", [0])[-1] + len(points))
        columns.setdefault("mesh_vertices", []).extend(points)
        return len(columns["mesh_start"]) - 2

    def add_grid(self, i: int) -> int:
        m = self.m
        rows, columns, start = int(m.hfield_nrow[i]), int(m.hfield_ncol[i]), int(m.hfield_adr[i])
        heights = np.array(m.hfield_data[start : start + rows * columns], np.float64) * float(m.hfield_size[i, 2])
        self.rows.columns.setdefault("heights", []).extend(heights)
        self.rows.add(height_field_size=(rows, columns))
        return self.rows.count("height_field_size") - 1

    # ---- who touches whom ----

    def wanted_pairs(self) -> NDArray[np.bool_]:
        """[ngeom][ngeom] whether MuJoCo lets two geoms touch."""
        m = self.m
        contype, affinity = np.array(m.geom_contype), np.array(m.geom_conaffinity)
        wanted = (contype[:, None] & affinity[None]) != 0
        wanted |= wanted.T
        weld = np.array(m.body_weldid)[m.geom_bodyid]
        parent = np.array(m.body_weldid)[np.array(m.body_parentid)[weld]]
        wanted &= weld[:, None] != weld[None]
        if "FILTERPARENT" not in self.disabled:
            child = (parent[:, None] == weld[None]) & (weld[None] != 0) & (weld[:, None] != 0)
            wanted &= ~(child | child.T)
        for signature in np.array(m.exclude_signature):
            one, two = m.geom_bodyid == signature >> 16, m.geom_bodyid == signature & 0xFFFF
            wanted &= ~((one[:, None] & two[None]) | (two[:, None] & one[None]))
        for p in range(m.npair):
            one, two = int(m.pair_geom1[p]), int(m.pair_geom2[p])
            if weld[one] == weld[two]:
                self.lose("PAIR", p, "two geoms that do not move against each other")
                continue
            wanted[one, two] = wanted[two, one] = True
            self.approximated.append(f"pair '{self.name('PAIR', p)}': touches, with the parameters of its geoms")
        return np.zeros_like(wanted) if "CONTACT" in self.disabled else wanted

    def pair_friction(self, kept: NDArray[np.intp]) -> Floats:
        """MuJoCo's: of the geom with priority, else the larger; none where condim is 1."""
        m = self.m
        mu, condim, priority = (np.array(x)[kept] for x in (m.geom_friction[:, 0], m.geom_condim, m.geom_priority))

        def combine(x: Floats) -> Floats:
            larger = np.maximum(x[:, None], x[None])
            first = priority[:, None] - priority[None]
            return np.where(first > 0, x[:, None], np.where(first < 0, x[None], larger))

        return np.where(combine(condim) > 1, combine(mu), 0.0)

    def set_friction(self, kept: NDArray[np.intp], wanted: NDArray[np.bool_]) -> None:
        """Two shapes have the harmonic mean of their frictions, 2 a b/(a + b). A static shape gets the largest friction
        a of its contacts; a moving one b = mu a/(2 a - mu), which gives its contact with the world the mu of MuJoCo."""
        theirs = self.pair_friction(kept)
        most = np.max(np.where(wanted, theirs, 0), axis=1)
        own = np.where(np.any(wanted, axis=1), most, np.array(self.m.geom_friction[kept, 0]))
        static = np.array(self.rows.columns["shape_body"]) < 0
        for i in np.nonzero(~static & np.any(wanted & static[None], axis=1))[0]:
            ground = int(np.argmax(wanted[i] & static))
            a, mu = most[ground], theirs[i, ground]
            own[i] = mu * a / (2 * a - mu) if mu > 0 else 0.0
        self.rows.columns["shape_material_mu"] = list(own)
        total = own[:, None] + own[None]
        ours = np.where(total > 1e-12, 2 * own[:, None] * own[None] / np.where(total > 0, total, 1), 0)
        different: dict[tuple[float, float], list[str]] = {}
        for i, j in zip(*np.nonzero(np.triu(wanted & (np.abs(ours - theirs) > 1e-9)))):
            names = f"'{self.name('GEOM', int(kept[i]))}' and '{self.name('GEOM', int(kept[j]))}'"
            different.setdefault((float(ours[i, j]), float(theirs[i, j])), []).append(names)
        for (have, want), pairs in different.items():
            more = f" and {len(pairs) - 1} more pairs" if len(pairs) > 1 else ""
            self.approximated.append(f"friction of geoms {pairs[0]}{more}: {have:g}, not {want:g}")

    def set_filters(self, kept: NDArray[np.intp], wanted: NDArray[np.bool_]) -> None:
        """Groups first, then bodies, then single pairs of shapes: what is not wanted is filtered, and nothing else."""
        m, body = self.m, np.array(self.rows.columns["shape_body"])
        classes = np.stack([np.array(m.geom_contype)[kept], np.array(m.geom_conaffinity)[kept]], axis=1)
        _, kind = np.unique(classes, axis=0, return_inverse=True)
        kind = kind.ravel()
        group = np.ones(len(kept), np.int32)
        for k in range(int(kind.max()) + 1):
            members = kind == k
            if not np.any(wanted[np.ix_(members, members)]):
                group[members] = -1 - k
        self.rows.columns["shape_collision_group"] = group
        a, b = group[:, None], group[None]
        allowed = np.where((a > 0) & (b > 0), a == b, a != b)
        active = np.array(self.rows.columns["shape_flags"]) == 3
        allowed &= active[:, None] & active[None]
        weld = np.array(m.body_weldid)[np.array(m.geom_bodyid)[kept]]
        allowed &= weld[:, None] != weld[None]
        self.filter_bodies(body, allowed, wanted)

    def filter_bodies(self, body: NDArray[np.int32], allowed: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> None:
        pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for i, j in zip(*np.nonzero(np.triu(allowed & ~wanted))):
            key = (int(min(body[i], body[j])), int(max(body[i], body[j])))
            pairs.setdefault(key, []).append((int(i), int(j)))
        joints = list(zip(self.rows.columns["joint_parent"], self.rows.columns["joint_child"]))
        touching = {(int(min(body[i], body[j])), int(max(body[i], body[j]))) for i, j in zip(*np.nonzero(wanted))}
        self.rows.columns["joint_filter_parent"] = [
            int(pair[0] < 0 or tuple(sorted(pair)) not in touching) for pair in joints
        ]
        by_joint = {tuple(sorted(pair)) for pair in joints}
        bodies, shapes = [], []
        for key, found in pairs.items():
            if key[0] >= 0 and key not in touching:
                bodies += [key] if key not in by_joint else []
            else:
                shapes += found
        if bodies:
            self.rows.columns["body_filter_pairs"] = bodies
        if shapes:
            self.rows.columns["shape_filter_pairs"] = shapes

    # ---- the rest ----

    def add_keyframes(self) -> None:
        m = self.m
        if m.nkey == 0:
            return
        q = self.coordinates.joint_q(m.key_qpos)
        mujoco = _mujoco()
        names = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_KEY, k) for k in range(m.nkey)]
        self.rows.columns.update(
            keyframe_joint_q=q,
            keyframe_joint_qd=self.coordinates.joint_qd(q, m.key_qvel),
            keyframe_name=[name or None for name in names],
        )

    def list_the_rest(self) -> None:
        m = self.m
        for kind, count in (("EQUALITY", m.neq), ("SENSOR", m.nsensor), ("FLEX", m.nflex), ("PLUGIN", m.nplugin)):
            for i in range(count):
                self.lose(kind, i)
        for t in range(m.ntendon):
            if self.tendon_acts(t):
                self.lose("TENDON", t)
            else:
                self.approximated.append(f"tendon '{self.name('TENDON', t)}': left out; by itself it does nothing")
        for b in range(1, m.nbody):
            if m.body_gravcomp[b]:
                self.lose("BODY", b, "gravity compensation")
        for g in range(m.ngeom):
            if np.any(getattr(m, "geom_adhesion", np.zeros(m.ngeom))[g]):
                self.lose("GEOM", g, "adhesion")
            if np.any(getattr(m, "geom_surfacevel", np.zeros((m.ngeom, 1)))[g]):
                self.lose("GEOM", g, "surface velocity")
        for name in ("density", "viscosity"):
            if getattr(m.opt, name):
                self.lost.append(f"option {name}: {getattr(m.opt, name):g}, forces of a fluid")
        if np.any(m.opt.wind):
            self.lost.append("option wind")
        if int(m.opt.enableflags) & int(_mujoco().mjtEnableBit.mjENBL_OVERRIDE):
            self.lost.append("option override: parameters that replace those of all contacts")

    def tendon_acts(self, t: int) -> bool:
        """Whether it limits, pulls or brakes, or adds inertia."""
        arrays = ("limited", "stiffness", "damping", "frictionloss", "armature")
        return any(np.any(getattr(self.m, f"tendon_{name}")[t]) for name in arrays)
