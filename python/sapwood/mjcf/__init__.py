"""Import of MuJoCo models: MJCF and URDF files through MuJoCo's compiler, or a compiled mujoco.MjModel.

docs/python.md lists what is exact, what is approximated and what is reported.
"""

from __future__ import annotations

import os
import sys
import warnings
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _layout
from .._library import SapwoodImportWarning
from ..actuation import Actuation
from ..arguments import nearest
from ..conventions import Coordinates, Floats, pose, pose_mul, quat_from_wxyz
from ..hulls import HullOptions, cache_folder
from ..model import Model
from ..options import Options
from .bodies import Bodies
from .equalities import Equalities
from .geoms import Geoms
from .law import Law
from .sensors import MjSensor, sensors
from .source import Lost, mujoco_module
from .visuals import Visual, visuals


@dataclass
class Frame:
    """A site: a pose fixed in a body."""

    body: int  # ours; -1: the world
    pose: Floats  # [7] in the body


@dataclass(frozen=True)
class ImportSource:
    """What an import was made of: the arguments of `convert`."""

    m: Any  # mujoco.MjModel
    strict: bool
    quiet: bool
    hulls: HullOptions
    rigid: bool


@dataclass
class Import:
    """The result of an import, and the maps between the two models."""

    report: list[str]  # elements that were not converted or were approximated
    lost: list[str]  # those of them that move the robot
    coordinates: Coordinates  # converts states
    actuation: Actuation  # converts ctrl
    body: NDArray[np.int32]  # [nbody] our body for each MuJoCo body; -1: part of the world
    offset: Floats  # [nbody][7] pose of the MuJoCo body in ours
    joint: NDArray[np.int32]  # [njnt] our joint for each MuJoCo joint
    shape: NDArray[np.int32]  # [ngeom] our shape for each geom; -1: none
    tendon: NDArray[np.int32]  # [ntendon] our tendon for each tendon; -1: none
    constraint: NDArray[np.int32]  # [neq] our constraint for each equality; -1: none
    key_ctrl: Floats  # [nkey][nu]
    key_act: Floats  # [nkey][na]
    key_time: Floats  # [nkey] s
    frames: dict[str, Frame] = field(default_factory=dict)  # sites, in MuJoCo's order
    visuals: list[Visual] = field(default_factory=list)  # meshes to draw
    undrawn: set[int] = field(default_factory=set)  # shapes that are not drawn: a visual is drawn in their place
    sensors: list[MjSensor] = field(default_factory=list)  # those that a batch can measure
    num_sensordata: int = 0
    source: ImportSource | None = None  # None: the model was changed since
    lost_sensors: list[str] = field(default_factory=list)  # those that read 0, and why

    def warn_of_sensors(self, name: str) -> None:
        """One warning if a batch lacks sensors, unless the import is quiet."""
        if self.lost_sensors and not (self.source and self.source.quiet):
            more = len(self.lost_sensors) - 1
            text = f"{name or 'model'}: {self.lost_sensors[0]}{f'; {more} more in model.report()' if more else ''}"
            warnings.warn(text, SapwoodImportWarning, stacklevel=_callers_level())

    def again(self, law: str, quiet: bool = False) -> Model | None:
        """The model of the same source for a law, or None without a source. It warns, or raises, as the import did that
        the caller asked for; `quiet` does neither."""
        s = self.source
        return None if s is None else convert(s.m, s.strict and not quiet, s.quiet or quiet, s.hulls, s.rigid, law)


class NotCarriedOver(ValueError):
    """The model has elements that Sapwood cannot simulate, and strict is True."""


def load(
    path: str | os.PathLike[str],
    strict: bool = False,
    quiet: bool = False,
    hulls: HullOptions = HullOptions(),
    rigid: bool = False,
    law: str = "sap",
) -> Model:
    """Loads MJCF or URDF; MuJoCo detects the format. The convex parts of meshes are kept beside the file."""
    hulls = replace(hulls, cache=cache_folder(path))
    return convert(mujoco_module().MjModel.from_xml_path(os.fspath(path)), strict, quiet, hulls, rigid, law)


def check_law(law: str) -> None:
    if law not in ("sap", "mujoco"):
        raise ValueError(f"law is {law!r}{nearest(law, ('sap', 'mujoco'))}; allowed: 'sap', 'mujoco'")


def convert(
    m: Any,
    strict: bool = False,
    quiet: bool = False,
    hulls: HullOptions = HullOptions(),
    rigid: bool = False,
    law: str = "sap",
) -> Model:
    """Converts a mujoco.MjModel."""
    check_law(law)
    builder = _Builder(m, rigid)
    builder.hulls, builder.law = hulls, law
    model = builder.build(strict)
    assert model.imported is not None
    model.imported = replace(model.imported, source=ImportSource(copy(m), strict, quiet, hulls, rigid))
    if not quiet:
        warn(builder.model_name(), builder.lost)
    return model


def warn(name: str, lost: list[Lost]) -> None:
    """One warning for each kind of element that was lost."""
    kinds: dict[str, list[Lost]] = {}
    for element in lost:
        kinds.setdefault(element.kind, []).append(element)
    for kind, elements in kinds.items():
        more = f"; {len(elements) - 1} more of {kind} in model.report()" if len(elements) > 1 else ""
        text = f"{name or 'model'}: lost: {elements[0]}{more}"
        warnings.warn(text, SapwoodImportWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """The stacklevel, seen from the caller of this function, of the first frame outside of the package."""
    package, level, frame = str(Path(__file__).parents[1]), 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    return level


class _Builder(Bodies, Law, Equalities, Geoms):
    def build(self, strict: bool) -> Model:
        m = self.m
        for b in range(1, m.nbody):
            self.add_body(b)
        if not self.rows.count("joint_armature"):
            raise NotCarriedOver("the model has no joint: nothing in it moves")
        self.add_tendons()
        if self.law == "mujoco":
            self.keep_tendons()
        actuation = self.add_drives()
        self.add_equalities()
        self.add_shapes()
        self.add_keyframes()
        self.list_the_rest()
        numbers = self.take_law() if self.law == "mujoco" else None
        if strict and self.lost:
            raise NotCarriedOver("not carried over:\n" + "\n".join(map(str, self.lost)))
        gravity = np.zeros(3) if "GRAVITY" in self.disabled else np.array(m.opt.gravity)
        model = Model(
            dt=float(m.opt.timestep),
            name=self.model_name(),
            gravity=gravity,
            num_coords=int(m.nq),
            articulation_start=[*self.starts, self.rows.count("joint_type")],
            joint_q=self.coordinates.joint_q(m.qpos0),
            mujoco=numbers,
            **self.arrays(),
        )
        if numbers is not None:
            model.options = Options("approx64", contact_solver="mujoco")
        lost = [str(element) for element in self.lost]
        model.imported = Import(
            [*lost, *self.approximated],
            lost,
            self.coordinates,
            actuation,
            self.body,
            self.offset,
            self.joint,
            self.shape,
            self.tendon,
            self.constraint,
            np.array(m.key_ctrl).reshape(m.nkey, m.nu),
            np.array(m.key_act).reshape(m.nkey, m.na),
            np.array(m.key_time),
            self.frames(),
            *visuals(m, self.body, self.offset, self.shape),
            self.sensors,
            int(m.nsensordata),
            lost_sensors=self.lost_sensors,
        )
        return model

    def frames(self) -> dict[str, Frame]:
        m = self.m
        out = {}
        for s in range(m.nsite):
            b, here = int(m.site_bodyid[s]), pose(m.site_pos[s], quat_from_wxyz(m.site_quat[s]))
            out[self.name("SITE", s)] = Frame(int(self.body[b]), pose_mul(self.offset[b], here))
        return out

    def arrays(self) -> dict[str, Any]:
        return {name: values for name, values in self.rows.columns.items() if name in _layout.MODEL_ARRAYS}

    def add_keyframes(self) -> None:
        m = self.m
        if m.nkey == 0:
            return
        q = self.coordinates.joint_q(m.key_qpos)
        mujoco = mujoco_module()
        names = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_KEY, k) for k in range(m.nkey)]
        self.rows.columns.update(
            keyframe_joint_q=q,
            keyframe_joint_qd=self.coordinates.joint_qd(q, m.key_qvel),
            keyframe_name=[name or None for name in names],
        )

    def list_the_rest(self) -> None:
        m = self.m
        for kind, count in (("FLEX", m.nflex), ("PLUGIN", m.nplugin)):
            for i in range(count):
                self.lose(kind, i)
        self.sensors, self.lost_sensors = sensors(self)
        for g in range(m.ngeom):
            if np.any(getattr(m, "geom_adhesion", np.zeros(m.ngeom))[g]):
                self.lose("GEOM", g, "adhesion")
            if np.any(getattr(m, "geom_surfacevel", np.zeros((m.ngeom, 1)))[g]):
                self.lose("GEOM", g, "surface velocity")
        for name in ("density", "viscosity"):
            if getattr(m.opt, name):
                self.lost.append(Lost("option", name, f"{getattr(m.opt, name):g}, forces of a fluid"))
        if np.any(m.opt.wind):
            self.lost.append(Lost("option", "wind", "forces of a fluid"))
        if int(m.opt.enableflags) & int(mujoco_module().mjtEnableBit.mjENBL_OVERRIDE):
            self.lost.append(Lost("option", "override", "parameters that replace those of all contacts"))
