"""What the parts of an import share: the compiled MuJoCo model, its names and flags, and its soft constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ..conventions import Floats
from ..hulls import HullOptions
from .report import Code, Finding, Why

# Values of MuJoCo's enums: mjtJoint, mjtTrn, mjtDyn, mjtGain, mjtBias, mjtIntegrator, mjtWrap, mjtEq.
FREE, BALL, SLIDE, HINGE = range(4)
TRN_JOINT, TRN_JOINT_IN_PARENT, TRN_TENDON, TRN_SITE = 0, 1, 3, 4
DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_FILTEREXACT = range(4)
GAIN_FIXED, GAIN_AFFINE, BIAS_NONE, BIAS_AFFINE = 0, 1, 0, 1
INTEGRATOR_RK4 = 1
WRAP_JOINT, WRAP_PULLEY, WRAP_SITE = 1, 2, 3
EQ_CONNECT, EQ_WELD, EQ_JOINT, EQ_TENDON = range(4)

ONE_G = 9.81  # m/s^2 or rad/s^2, the load at which equalities and limits of tendons are as soft as MuJoCo's


@cache
def mujoco_module() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise ImportError("reading MJCF and URDF needs MuJoCo: pip install 'sapwood[mujoco]'") from error
    if tuple(int(part) for part in mujoco.__version__.split(".")[:2]) < (3, 9):  # margins had another meaning before
        raise ImportError(f"MuJoCo {mujoco.__version__} is installed; 3.9 or later is needed")
    return mujoco


def _inside(x: float) -> float:
    """MuJoCo's bounds of impedances and of their midpoint."""
    return min(max(x, 1e-4), 1 - 1e-4)


def impedance(solimp: Floats, depth: float) -> float:
    """MuJoCo's d(r): from dmin at r = 0 to dmax at r = width, by two powers that meet at the midpoint."""
    low, high, width, middle, power = solimp.tolist()
    dmin, dmax, middle, power = _inside(low), _inside(high), _inside(middle), max(power, 1.0)
    if width <= 1e-15 or dmin == dmax:
        return (dmin + dmax) / 2
    x = min(depth / width, 1.0)
    y = x**power / middle ** (power - 1) if x <= middle else 1 - (1 - x) ** power / (1 - middle) ** (power - 1)
    return float(dmin + y * (dmax - dmin))


def spring(solref: Floats, solimp: Floats, dt: float, load: float | None = None) -> tuple[float, float]:
    """(stiffness per effective mass, 1/s^2; dissipation time, s) of MuJoCo's soft constraint.

    The constraint acceleration a1 satisfies  a1 + d (b v + k r) = (1 - d) a0,  where a0 is the acceleration of the
    unconstrained motion. A load at rest then penetrates by r = (1 - d) a0 / (d k): a spring of d k/(1 - d) per mass,
    with a damping of b/k times that. d and k = K d depend on r; `load` is the a0 whose depth sets them, which makes the
    spring the secant of MuJoCo's law there. Without it d is the mean of dmin and dmax.
    """
    dmax = _inside(float(solimp[1]))
    if (solref[0] > 0) != (solref[1] > 0):  # MuJoCo takes its default for a pair of mixed signs
        solref = np.array([0.02, 1.0])
    if solref[0] > 0:
        time = max(float(solref[0]), 2 * dt)
        K, b = 1 / (dmax * time * solref[1]) ** 2, 2 / (dmax * time)
    else:
        K, b = max(-solref[0] / dmax**2, 1e-9), -solref[1] / dmax

    def stiffness(d: float) -> float:
        return float(K * d * d / (1 - d))

    d = _inside(float(solimp[0] + solimp[1]) / 2)
    if load is not None:
        # r stiffness(d(r)) grows with r from 0, because d does: the depth is in (0, load/stiffness(smallest d)].
        low, high = 0.0, load / min(stiffness(impedance(solimp, 0.0)), stiffness(impedance(solimp, np.inf)))
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if middle * stiffness(impedance(solimp, middle)) < load else (low, middle)
        d = impedance(solimp, high)
    return stiffness(d), b / (K * d)


FLAGS = (
    "CONSTRAINT EQUALITY CONTACT LIMIT FRICTIONLOSS GRAVITY FILTERPARENT CLAMPCTRL ACTUATION SPRING DAMPER"
).split()


@dataclass
class Rows:
    """Columns of the model arrays, filled row by row."""

    columns: dict[str, Any] = field(default_factory=dict)

    def add(self, **row: Any) -> None:
        for name, value in row.items():
            self.columns.setdefault(name, []).append(value)

    def count(self, name: str) -> int:
        return len(self.columns.get(name, ()))


class Source:
    """The MjModel, the law that its numbers are converted for, and the arguments of the import."""

    def __init__(self, m: Any, law: str, hulls: HullOptions, rigid: bool, points: dict[int, list[Floats]]) -> None:
        self.m = m
        self.law = law  # "sap" or "mujoco"
        self.hulls = hulls
        self.points = points  # of the convex parts of each mesh, for all laws of an import
        self.rigid = rigid  # equalities and limits of tendons are rigid, whatever solref and solimp are
        self.lists_actuators = False  # steps of MuJoCo's law compute all actuators that they can
        weld = np.array(m.body_weldid)
        self.weld = np.where(np.array(m.body_mocapid)[weld] >= 0, 0, weld)  # [nbody] mocap bodies stay where they are
        flags, mujoco = int(m.opt.disableflags), mujoco_module()
        self.disabled = {name for name in FLAGS if flags & int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name, 0))}
        if "CONSTRAINT" in self.disabled:
            self.disabled |= {"EQUALITY", "CONTACT", "LIMIT", "FRICTIONLOSS"}
        self.integrator = str(mujoco.mjtIntegrator(int(m.opt.integrator)).name.removeprefix("mjINT_"))

    @property
    def model_name(self) -> str:
        return bytes(self.m.names).split(b"\0", 1)[0].decode()

    def name(self, kind: str, i: int) -> str:
        found = mujoco_module().mj_id2name(self.m, getattr(mujoco_module().mjtObj, "mjOBJ_" + kind), i)
        return found or f"{kind.lower()}_{i}"

    def find(self, code: Code, kind: str, i: int, why: Why | None = None, **fields: Any) -> Finding:
        """The finding of element i of a kind "JOINT", "GEOM", ..."""
        return Finding(code, kind.lower(), self.name(kind, i), fields, why)

    def optional(self, name: str, i: int) -> Any:
        """Element i of an array that not every version of MuJoCo has; 0 without it."""
        array = getattr(self.m, name, None)
        return 0 if array is None else array[i]

    def is_off(self, actuator: int) -> bool:
        """Whether the group of an actuator is disabled: it exerts no force, and its activation goes on."""
        groups, group = int(getattr(self.m.opt, "disableactuator", 0)), int(self.m.actuator_group[actuator])
        return 0 <= group < 31 and bool(groups >> group & 1)

    def softness(self, solref: Floats, solimp: Floats, weight: float) -> tuple[float, float]:
        """(ke, kd) of a row with MuJoCo's inverse weight; infinite and 0 for a rigid one."""
        if self.rigid:
            return np.inf, 0.0
        stiffness, time = spring(solref, solimp, self.m.opt.timestep, ONE_G)
        ke = stiffness / max(weight, 1e-12)
        return ke, ke * max(time, 0.0)

    def find_stiffness(self, kind: str, i: int, what: str, ke: float, unit: str) -> list[Finding]:
        """The stiffness of a row with the law of SAP; with MuJoCo's it is that of solref and solimp."""
        if self.law == "mujoco":
            return []
        code = Code.RIGID if np.isinf(ke) else Code.SOFT
        return [self.find(code, kind, i, what=what, ke=ke, unit=unit)]


def enum(kind: str, name: str) -> int:
    """The value of one of MuJoCo's enums; -1 if this version does not have it."""
    return int(getattr(getattr(mujoco_module(), kind), name, -1))
