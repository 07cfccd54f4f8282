"""Import of MuJoCo models: MJCF and URDF files through MuJoCo's compiler, or a compiled mujoco.MjModel.

docs/python.md lists what is exact, what is approximated and what is reported.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _layout
from ..actuation import Actuation
from ..conventions import Coordinates, Floats
from ..model import Model
from .actuators import Actuators
from .bodies import Bodies
from .geoms import Geoms
from .source import mujoco_module


@dataclass
class Import:
    """The result of an import, and the maps between the two models."""

    report: list[str]  # elements that were not converted or were approximated
    coordinates: Coordinates  # converts states
    actuation: Actuation  # converts ctrl
    body: NDArray[np.int32]  # [nbody] our body for each MuJoCo body; -1: part of the world
    joint: NDArray[np.int32]  # [njnt] our joint for each MuJoCo joint
    shape: NDArray[np.int32]  # [ngeom] our shape for each geom; -1: none
    key_ctrl: Floats  # [nkey][nu]


class NotCarriedOver(ValueError):
    """The model has elements that Sapwood cannot simulate, and strict is True."""


def load(path: str | os.PathLike[str], strict: bool = False) -> Model:
    """Loads MJCF or URDF; MuJoCo detects the format."""
    return convert(mujoco_module().MjModel.from_xml_path(os.fspath(path)), strict)


def convert(m: Any, strict: bool = False) -> Model:
    """Converts a mujoco.MjModel."""
    return _Builder(m).build(strict)


class _Builder(Bodies, Actuators, Geoms):
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
        if int(m.opt.enableflags) & int(mujoco_module().mjtEnableBit.mjENBL_OVERRIDE):
            self.lost.append("option override: parameters that replace those of all contacts")

    def tendon_acts(self, t: int) -> bool:
        """Whether it has limits, stiffness, damping, friction or armature."""
        arrays = ("limited", "stiffness", "damping", "frictionloss", "armature")
        return any(np.any(getattr(self.m, f"tendon_{name}")[t]) for name in arrays)
