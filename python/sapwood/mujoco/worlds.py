"""Fields of MjModel with values per simulation, as parameters of the worlds of one sapwood.Batch.

A field is a parameter if a world can have its own value (sapwood.capability) and the value is copied element by
element. Simulations that differ in other fields step in batches of their own (models.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Floats, quat_from_wxyz, quat_matrix
from ..mjcf import Import
from ..mjcf.source import BALL, EQ_CONNECT, EQ_TENDON, EQ_WELD, HINGE, SLIDE
from ..support import capability
from .fields import mujoco
from .same_frames import moves_geoms

# Field -> the parameters that it becomes.
OPTIONS: dict[str, tuple[str, ...]] = {
    f"opt.{name}": (f"mujoco_{name}",) for name in ("impratio", "tolerance", "iterations", "ls_tolerance")
}
OPTIONS |= {"opt.ls_iterations": ("mujoco_ls_iterations",), "opt.gravity": ("gravity",)}
MASSES = ("body_mass", "body_ipos", "body_iquat", "body_inertia")
BODIES: dict[str, tuple[str, ...]] = {
    **{name: ("body_mass", "body_com", "body_inertia") for name in MASSES},
    "body_gravcomp": ("body_gravcomp",),
    "body_invweight0": ("mujoco_body_invweight", "mujoco_shape_invweight", "mujoco_constraint_invweight"),
}
DOFS: dict[str, tuple[str, ...]] = {
    "dof_damping": ("joint_damping",),
    "dof_armature": ("joint_armature",),
    "dof_frictionloss": ("joint_friction",),
    "dof_invweight0": ("mujoco_dof_invweight", "mujoco_constraint_invweight"),
    "dof_solref": ("mujoco_dof_friction_solref",),
    "dof_solimp": ("mujoco_dof_friction_solimp",),
}
JOINTS: dict[str, tuple[str, ...]] = {
    "jnt_stiffness": ("mujoco_dof_stiffness",),
    "jnt_range": ("joint_limit_lower", "joint_limit_upper", "mujoco_joint_ball_limit"),
    "jnt_margin": ("mujoco_dof_limit_margin",),
    "jnt_solref": ("mujoco_dof_limit_solref",),
    "jnt_solimp": ("mujoco_dof_limit_solimp",),
    "qpos_spring": ("mujoco_dof_spring_ref",),
}
SHAPES: dict[str, tuple[str, ...]] = {
    f"geom_{name}": (f"mujoco_shape_{name}",) for name in ("condim", "priority", "solmix", "friction")
}
SHAPES |= {f"geom_{name}": (f"mujoco_shape_{name}",) for name in ("solref", "solimp")}
SHAPES |= {"geom_margin": ("mujoco_shape_margin", "shape_gap"), "geom_gap": ("shape_gap",)}
EQUALITIES: dict[str, tuple[str, ...]] = {f"eq_{name}": (f"mujoco_constraint_{name}",) for name in ("solref", "solimp")}
TENDONS: dict[str, tuple[str, ...]] = {
    "tendon_range": ("tendon_limit_lower", "tendon_limit_upper"),
    "tendon_stiffness": ("tendon_spring_ke",),
    "tendon_lengthspring": ("tendon_spring_lower", "tendon_spring_upper"),
    "tendon_damping": ("tendon_damping",),
    "tendon_frictionloss": ("tendon_friction",),
    "tendon_margin": ("mujoco_tendon_limit_margin",),
    "tendon_invweight0": ("mujoco_tendon_invweight", "mujoco_constraint_invweight"),
    **{
        f"tendon_{kind}_{word}": (f"mujoco_tendon_{to}_{kind}",)
        for kind in ("solref", "solimp")
        for word, to in (("lim", "limit"), ("fri", "friction"))
    },
}
ACTUATORS: dict[str, tuple[str, ...]] = {
    "actuator_gainprm": ("mujoco_actuator_gain",),
    "actuator_biasprm": ("mujoco_actuator_bias",),
    "actuator_dynprm": ("mujoco_actuator_tau",),
    "actuator_ctrlrange": ("mujoco_actuator_ctrl_range",),
    "actuator_forcerange": ("mujoco_actuator_force_range",),
    "actuator_actrange": ("mujoco_actuator_act_range",),
    "actuator_gear": ("mujoco_actuator_term_arm",),
}
FIELDS: dict[str, tuple[str, ...]] = {
    **OPTIONS,
    **BODIES,
    **DOFS,
    **JOINTS,
    **SHAPES,
    **EQUALITIES,
    **TENDONS,
    **ACTUATORS,
}

# Fields that no step reads.
PASSIVE = {
    "body_subtreemass",
    "dof_M0",
    "actuator_acc0",
    "actuator_length0",
    "tendon_length0",
    "tendon_width",
    "bvh_aabb",
}
PASSIVE |= {"geom_aabb", "geom_rbound", "sensor_noise", "body_margin", "jnt_group", "geom_group", "site_group"}
PREFIXES = ("cam_", "light_", "mat_", "key_", "numeric_", "text_", "tuple_", "name_")
SUFFIXES = ("_user", "_rgba", "_matid", "_group")


def is_passive(m: Any, name: str) -> bool:
    """Whether no step and no sensor depends on a field."""
    if name == "tendon_length0" and np.any(m.eq_type == EQ_TENDON):
        return False
    if name.startswith("cam_") and np.any(m.sensor_type == int(mujoco.mjtSensor.mjSENS_CAMPROJECTION)):
        return False
    return name in PASSIVE or name.startswith(PREFIXES) or name.endswith(SUFFIXES)


@cache
def _can(parameter: str) -> bool:
    try:
        return capability(parameter, "mujoco").support == "yes"
    except ValueError:  # this library has no such parameter
        return False


def is_parameter(m: Any, name: str) -> bool:
    """Whether worlds of one batch can have their own values of a field of this model."""
    if name in MASSES and not _has_plain_bodies(m):
        return False
    if name in ("body_ipos", "body_iquat"):
        if moves_geoms(m, name) or np.any(m.sensor_objtype == int(mujoco.mjtObj.mjOBJ_BODY)):
            return False
    if name in ACTUATORS and not _has_listed_actuators(m):
        return False
    if name == "geom_margin" and m.npair:
        return False
    if name in ("jnt_range", "dof_frictionloss", "tendon_range", "tendon_frictionloss") and not _can(
        "mujoco_dof_stiffness"
    ):
        return False
    return name in FIELDS and all(map(_can, FIELDS[name]))


def _has_plain_bodies(m: Any) -> bool:
    """Whether every body that moves has mass and inertia: others get small ones in an import."""
    moves = np.array(m.body_weldid) != 0
    several = np.array(m.body_jntnum) > 1
    return bool(np.all((m.body_mass > 0) & np.any(m.body_inertia > 0, axis=1) & ~several | ~moves))


def _has_listed_actuators(m: Any) -> bool:
    """Whether steps can compute all actuators: hinges, slides and fixed tendons of one control each."""
    kinds = mujoco.mjtTrn
    scalar = np.isin(m.actuator_trntype, (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)))
    joints = np.isin(
        np.array(m.jnt_type)[np.where(scalar, m.actuator_trnid[:, 0], 0)] if m.njnt else [], (HINGE, SLIDE)
    )
    plain = (m.actuator_gaintype <= 1) & (m.actuator_biastype <= 1) & (m.actuator_dyntype <= 3)
    discrete = int(m.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_DISCRETE)
    return bool(np.all(scalar & joints & plain)) and not discrete


class Worlds:
    """Converts fields with values per simulation."""

    def __init__(self, m: Any, imported: Import, numbers: Mapping[str, Any], columns: Any) -> None:
        self.m, self.imported, self.numbers, self.model = m, imported, numbers, columns
        flags = int(m.opt.disableflags)
        bits = mujoco.mjtDisableBit
        words = ("GRAVITY", "DAMPER", "SPRING", "FRICTIONLOSS", "LIMIT", "CONSTRAINT", "CLAMPCTRL")
        self.disabled = {word for word in words if flags & int(getattr(bits, "mjDSBL_" + word))}
        if "CONSTRAINT" in self.disabled:
            self.disabled |= {"FRICTIONLOSS", "LIMIT"}
        self.joint = np.array(m.dof_jntid, int)
        self.scalar = np.isin(np.array(m.jnt_type)[self.joint], (HINGE, SLIDE))
        self.geoms = self._elements(imported.shape)
        self.tendons, self.equalities = self._elements(imported.tendon), self._elements(imported.constraint)

    @staticmethod
    def _elements(index: NDArray[Any]) -> NDArray[np.intp]:
        """MuJoCo's element for each of ours."""
        return np.argsort(index[index >= 0], kind="stable") if np.all(index >= 0) else _inverse(index)

    def rows(self, values: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """{parameter: [n][...]} for the values [n][...] of fields."""
        n = len(next(iter(values.values())))

        def of(name: str) -> Any:
            own = values.get(name)
            base = getattr(self.m.opt, name[4:]) if name.startswith("opt.") else getattr(self.m, name)
            return np.broadcast_to(np.asarray(base), (n, *np.shape(base))) if own is None else own

        wanted = {parameter for name in values for parameter in FIELDS[name]}
        makers = (self._options, self._masses, self._weights, self._of_dofs, self._of_shapes, self._of_equalities)
        out: dict[str, NDArray[Any]] = {}
        for make in (*makers, self._of_tendons, self._of_actuators):
            out |= {name: array for name, array in make(of, n, wanted).items() if name in wanted}
        return out

    def base(self, name: str, n: int) -> NDArray[Any]:
        """The model's own values of a parameter, for n worlds."""
        law = name.removeprefix("mujoco_")
        array = np.asarray(getattr(self.model, name) if law == name else self.numbers[law])
        return np.array(np.broadcast_to(array, (n, *array.shape)))

    # ---- parts ----

    def _options(self, of: Any, n: int, wanted: set[str]) -> dict[str, NDArray[Any]]:
        out = {f"mujoco_{name[4:]}": of(name) for name in OPTIONS if name != "opt.gravity"}
        return {**out, "gravity": np.zeros((n, 3)) if "GRAVITY" in self.disabled else of("opt.gravity")}

    def _owned(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """MuJoCo's bodies with a body of ours, and that body."""
        bodies = np.array([b for b in range(self.m.nbody) if self.imported.body[b] >= 0], int)
        return bodies, np.array(self.imported.body)[bodies]

    def _masses(self, of: Any, n: int, wanted: set[str]) -> dict[str, NDArray[Any]]:
        if not wanted & {"body_mass", "body_gravcomp"}:
            return {}
        bodies, ours = self._owned()
        out = {name: self.base(name, n) for name in ("body_mass", "body_com", "body_inertia", "body_gravcomp")}
        out["body_mass"][:, ours], out["body_com"][:, ours] = of("body_mass")[:, bodies], of("body_ipos")[:, bodies]
        out["body_gravcomp"][:, ours] = of("body_gravcomp")[:, bodies]
        axes = quat_matrix(quat_from_wxyz(of("body_iquat")[:, bodies]))
        inertia = (axes * of("body_inertia")[:, bodies, None, :]) @ np.swapaxes(axes, -1, -2)
        out["body_inertia"][:, ours] = ((inertia + np.swapaxes(inertia, -1, -2)) / 2).reshape(n, len(bodies), 9)
        return out

    def _weights(self, of: Any, n: int, wanted: set[str]) -> dict[str, NDArray[Any]]:
        if not any(name.endswith("invweight") for name in wanted):
            return {}
        m, weight = self.m, of("body_invweight0")
        body = self.base("mujoco_body_invweight", n)
        bodies, ours = self._owned()
        body[:, ours[::-1]] = weight[:, bodies[::-1]]  # of several bodies in one of ours the first
        owner = np.array(m.geom_bodyid)[self.geoms]
        moves = np.array(self.imported.body)[owner] >= 0
        out = {"mujoco_body_invweight": body, "mujoco_shape_invweight": np.where(moves, weight[:, owner, 0], 0.0)}
        if len(self.equalities):
            out["mujoco_constraint_invweight"] = np.stack([self._of_equality(of, int(e)) for e in self.equalities], 1)
        return out

    def _of_equality(self, of: Any, e: int) -> Floats:
        """[n][2] the weights of an equality."""
        m, kind = self.m, int(self.m.eq_type[e])
        ids = [int(i) for i in (m.eq_obj1id[e], m.eq_obj2id[e]) if i >= 0]
        if kind in (EQ_CONNECT, EQ_WELD):
            on_sites = int(m.eq_objtype[e]) == int(mujoco.mjtObj.mjOBJ_SITE)
            bodies = [int(m.site_bodyid[s]) for s in ids] if on_sites else ids
            return np.asarray(of("body_invweight0")[:, bodies].sum(axis=1))
        if kind == EQ_TENDON:
            total = of("tendon_invweight0")[:, ids].sum(axis=1)
        else:
            total = of("dof_invweight0")[:, np.array(m.jnt_dofadr)[ids]].sum(axis=1)
        return np.stack([total, total], 1)

    def _of_dofs(self, of: Any, n: int, wanted: set[str]) -> dict[str, NDArray[Any]]:
        m, joint, scalar, off = self.m, self.joint, self.scalar, self.disabled
        none = np.zeros((n, m.nv))
        spring = np.array(m.jnt_qposadr)[joint]
        out = {
            "joint_damping": none if "DAMPER" in off else of("dof_damping"),
            "joint_armature": of("dof_armature"),
            "joint_friction": none if "FRICTIONLOSS" in off else of("dof_frictionloss"),
            "mujoco_dof_invweight": of("dof_invweight0"),
            "mujoco_dof_friction_solref": of("dof_solref"),
            "mujoco_dof_friction_solimp": of("dof_solimp"),
            "mujoco_dof_stiffness": np.where(scalar & ("SPRING" not in off), of("jnt_stiffness")[:, joint], 0.0),
            "mujoco_dof_spring_ref": np.where(scalar, of("qpos_spring")[:, spring], 0.0),
            "mujoco_dof_limit_margin": of("jnt_margin")[:, joint],
            "mujoco_dof_limit_solref": of("jnt_solref")[:, joint],
            "mujoco_dof_limit_solimp": of("jnt_solimp")[:, joint],
        }
        if "joint_limit_lower" in wanted:
            limited = scalar & np.array(m.jnt_limited, bool)[joint] & ("LIMIT" not in off)
            lower, upper = (of("jnt_range")[:, joint, i] for i in range(2))
            out["joint_limit_lower"] = np.where(limited, lower, -np.inf)
            out["joint_limit_upper"] = np.where(limited, np.maximum(lower, upper), np.inf)
            ball = self.base("mujoco_joint_ball_limit", n)
            for j in np.nonzero((m.jnt_type == BALL) & (m.jnt_limited != 0) & ("LIMIT" not in off))[0]:
                ball[:, self.imported.joint[j]] = of("jnt_range")[:, j].max(axis=1)
            out["mujoco_joint_ball_limit"] = ball
        return out

    def _of_shapes(self, of: Any, n: int, wanted: set[str]) -> dict[str, NDArray[Any]]:
        out = {f"mujoco_shape_{name[5:]}": of(name)[:, self.geoms] for name in SHAPES if name != "geom_gap"}
        return {**out, "shape_gap": (of("geom_margin") + of("geom_gap"))[:, self.geoms]}

    def _of_equalities(self, of: Any, n: int, wanted: set[str]) -> dict[str, NDArray[Any]]:
        return {f"mujoco_constraint_{name[3:]}": of(name)[:, self.equalities] for name in EQUALITIES}

    def _of_tendons(self, of: Any, n: int, wanted: set[str]) -> dict[str, NDArray[Any]]:
        if not len(self.tendons):
            return {}
        t, m, off = self.tendons, self.m, self.disabled
        limited = np.array(m.tendon_limited, bool)[t] & ("LIMIT" not in off)
        rest, span = of("tendon_lengthspring")[:, t], of("tendon_range")[:, t]
        none = np.zeros((n, len(t)))
        explicit = int(m.opt.integrator) != int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
        out = {
            "tendon_limit_lower": np.where(limited, span[..., 0], -np.inf),
            "tendon_limit_upper": np.where(limited, span.max(axis=-1), np.inf),
            "tendon_spring_ke": none if "SPRING" in off else of("tendon_stiffness")[:, t],
            "tendon_spring_lower": rest[..., 0],
            "tendon_spring_upper": rest.max(axis=-1),
            "tendon_friction": none if "FRICTIONLOSS" in off else of("tendon_frictionloss")[:, t],
            "mujoco_tendon_limit_margin": of("tendon_margin")[:, t],
            "mujoco_tendon_invweight": of("tendon_invweight0")[:, t],
        }
        if explicit:
            out["tendon_damping"] = none if "DAMPER" in off else of("tendon_damping")[:, t]
        for kind in ("solref", "solimp"):
            out[f"mujoco_tendon_limit_{kind}"] = of(f"tendon_{kind}_lim")[:, t]
            out[f"mujoco_tendon_friction_{kind}"] = of(f"tendon_{kind}_fri")[:, t]
        return out

    def _of_actuators(self, of: Any, n: int, wanted: set[str]) -> dict[str, NDArray[Any]]:
        """Of a model whose actuators are all in the list of steps."""
        m, listed = self.m, np.array(self.imported.actuation.in_step, int)
        if not len(listed) or not any(name.startswith("mujoco_actuator") for name in wanted):
            return {}
        free = np.array([-np.inf, np.inf])
        ctrl, force, act = (of(f"actuator_{word}range")[:, listed] for word in ("ctrl", "force", "act"))
        clamps = np.array(m.actuator_ctrllimited, bool)[listed] & ("CLAMPCTRL" not in self.disabled)
        bounds = np.array(m.actuator_forcelimited, bool)[listed]
        affine = np.array(m.actuator_gaintype)[listed] == 1
        pushes = np.array(m.actuator_biastype)[listed] == 1
        dynamic = np.array(m.actuator_dyntype)[listed] > 0
        acts = np.array(m.actuator_actlimited, bool)[listed] & dynamic
        gain = of("actuator_gainprm")[:, listed, :3]
        return {
            "mujoco_actuator_gain": np.where(affine[:, None] | (np.arange(3) == 0), gain, 0.0),
            "mujoco_actuator_bias": np.where(pushes[:, None], of("actuator_biasprm")[:, listed, :3], 0.0),
            "mujoco_actuator_tau": np.where(dynamic, np.maximum(of("actuator_dynprm")[:, listed, 0], 0.0), 1.0),
            "mujoco_actuator_ctrl_range": np.where(clamps[:, None], ctrl, free),
            "mujoco_actuator_force_range": np.where(bounds[:, None], force, free),
            "mujoco_actuator_act_range": np.where(acts[:, None], act, free),
            "mujoco_actuator_term_arm": of("actuator_gear")[:, listed, 0],
        }


def _inverse(index: NDArray[Any]) -> NDArray[np.intp]:
    """The elements that are ours, in our order."""
    kept = np.nonzero(index >= 0)[0]
    return np.asarray(kept[np.argsort(index[kept], kind="stable")], np.intp)
