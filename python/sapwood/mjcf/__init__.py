"""Import of MuJoCo models: MJCF and URDF files through MuJoCo's compiler, or a compiled mujoco.MjModel.

docs/python.md lists what is exact, what is approximated and what is reported.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _layout
from ..actuation import Actuation
from ..arguments import nearest
from ..conventions import Coordinates, Floats, pose, pose_mul, quat_from_wxyz
from ..hulls import HullOptions, cache_folder
from ..model import Model
from ..options import Options
from .actuators import actuation
from .bodies import Tree, tree
from .compiled import compiled, existing
from .parameters import mujoco_parameters
from .parts import parts
from .report import Code, Finding, NotCarriedOver, lost, refuse_lost, texts, warn, warn_of_sensors
from .sensors import Frame, MjSensor, sensors
from .source import Source, mujoco_module
from .visuals import Visual, undrawn, visuals

__all__ = ["Code", "Finding", "Frame", "Import", "NotCarriedOver", "convert", "load"]
LAWS = ("sap", "mujoco")


@dataclass
class Import:
    """What an import made for one law, and the maps between the two models."""

    law: str
    found: list[Finding]  # elements that were not converted or were approximated
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
    frames: dict[str, Frame]  # sites, in MuJoCo's order
    visuals: list[Visual]  # meshes to draw
    undrawn: set[int]  # shapes that are not drawn: a visual is drawn in their place
    sensors: list[MjSensor]  # those that a batch can measure
    num_sensordata: int
    strict: bool = False
    quiet: bool = False
    laws: dict[str, Conversion | ValueError] = field(default_factory=dict)  # of the file; {}: the model was changed

    @property
    def lost(self) -> list[str]:
        """The elements that move the robot in MuJoCo and have no counterpart."""
        return list(map(str, lost(self.found)))

    def report(self, law: str) -> list[str] | None:
        """What was found for a law; None if the model was changed and is not of that law."""
        if law == self.law:
            return texts(self.found)
        return texts(_conversion(self.laws, law).imported.found) if self.laws else None

    def model(self, law: str) -> Model | None:
        """The model of the same file for a law, with the warnings or the error that the import asked for; None if the
        model was changed."""
        return _model(self.laws, law, self.strict, self.quiet) if self.laws else None

    def warn_of_sensors(self, name: str) -> None:
        """One warning if a batch lacks sensors, unless the import is quiet."""
        if not self.quiet:
            warn_of_sensors(name, self.found)


@dataclass
class Conversion:
    """A file converted for one law."""

    arguments: dict[str, Any]  # of Model()
    imported: Import
    capacities: dict[str, int] = field(default_factory=dict)  # contact slots that probes of its models found


def load(
    path: str | os.PathLike[str],
    strict: bool = False,
    quiet: bool = False,
    hulls: HullOptions = HullOptions(),
    rigid: bool = False,
    law: str = "sap",
) -> Model:
    """Loads MJCF or URDF; MuJoCo detects the format. The convex parts of meshes are kept beside the file."""
    file, hulls = existing(path), replace(hulls, cache=cache_folder(path))
    m = compiled(file, lambda: mujoco_module().MjModel.from_xml_path(str(file)))
    return convert(m, strict, quiet, hulls, rigid, law)


def check_law(law: str) -> None:
    if law not in LAWS:
        hint = nearest(law, LAWS, "allowed: 'sap', 'mujoco'")
        raise ValueError(f"law is {law!r}{hint}")


def convert(
    m: Any,
    strict: bool = False,
    quiet: bool = False,
    hulls: HullOptions = HullOptions(),
    rigid: bool = False,
    law: str = "sap",
    found: Sequence[Finding] = (),
    lists_actuators: bool = False,
    materials: Mapping[str, Mapping[str, float]] | None = None,
) -> Model:
    """Converts a mujoco.MjModel for both laws; the model is the one of `law`. `found`: before the conversion.
    `materials`: numbers of arrays of shapes, by the name of a geom.
    `lists_actuators`: steps of MuJoCo's law compute all actuators that they can, whose numbers worlds can then have."""
    check_law(law)
    points: dict[int, list[Floats]] = {}
    sources = [Source(m, each, hulls, rigid, points) for each in LAWS]
    for source in sources:
        source.lists_actuators = lists_actuators
    grown = tree(sources[0])
    if not grown.num_joints:
        raise NotCarriedOver("the model has no joint, so nothing in it moves; give a body a <joint> or a <freejoint>")
    drawn = visuals(m, grown.body, grown.offset)
    laws: dict[str, Conversion | ValueError] = {}
    for source in sources:
        try:
            laws[source.law] = made = _convert(source, grown, drawn, found)
            _set_materials(made.arguments, materials or {})
        except ValueError as error:
            laws[source.law] = error
    for each in laws.values():
        if isinstance(each, Conversion):
            each.imported.laws = laws
    return _model(laws, law, strict, quiet)


def _set_materials(arguments: dict[str, Any], materials: Mapping[str, Mapping[str, float]]) -> None:
    """Sets numbers of shapes. Convex parts of the mesh of a geom have its name and a number. An import has no
    dissipation of its own; 50 s/m is the default of a model."""
    names = arguments.get("shape_name", [])
    if materials:
        arguments.setdefault("shape_material_dissipation", np.full(len(names), 50.0))
    for i, name in enumerate(names):
        for array, value in (materials.get(name) or materials.get(name.rpartition("_")[0], {})).items():
            arguments[array][i] = value


def _conversion(laws: dict[str, Conversion | ValueError], law: str) -> Conversion:
    found = laws[law]
    if isinstance(found, ValueError):
        raise found
    return found


def _model(laws: dict[str, Conversion | ValueError], law: str, strict: bool, quiet: bool) -> Model:
    made = _conversion(laws, law)
    if strict:
        refuse_lost(made.imported.found)
    model = Model(**made.arguments)
    if model.mujoco is not None:
        model.options = Options("approx64", contact_solver="mujoco")
    own = deepcopy(made.imported.actuation)  # set_drive changes it
    model.imported = replace(made.imported, actuation=own, strict=strict, quiet=quiet)
    model._capacities = made.capacities
    if not quiet:
        warn(model.name, made.imported.found)
    return model


def _convert(source: Source, grown: Tree, drawn: list[Visual], before: Sequence[Finding]) -> Conversion:
    m, converted = source.m, parts(source, grown)
    read, unread = sensors(converted)
    columns, found, numbers = converted.columns, [*before, *converted.found, *_rest(source), *unread], None
    if source.law == "mujoco":
        parameters = mujoco_parameters(converted)
        columns, numbers = {**columns, **parameters.columns}, parameters.fields
        found += parameters.found
    columns |= _keyframes(source, grown)
    arguments = {
        "dt": float(m.opt.timestep),
        "name": source.model_name,
        "gravity": np.zeros(3) if "GRAVITY" in source.disabled else np.array(m.opt.gravity),
        "num_coords": int(m.nq),
        "articulation_start": [*grown.starts, grown.num_joints],
        "joint_q": grown.coordinates.joint_q(m.qpos0),
        "mujoco": numbers,
        **{name: _array(name, values) for name, values in columns.items()},
    }
    imported = Import(
        source.law,
        found,
        grown.coordinates,
        actuation(source, converted.drives, converted.actuators, converted.step),
        grown.body,
        grown.offset,
        grown.joint,
        converted.shapes.index,
        converted.tendons.index,
        converted.constraints.index,
        np.array(m.key_ctrl).reshape(m.nkey, m.nu),
        np.array(m.key_act).reshape(m.nkey, m.na),
        np.array(m.key_time),
        _frames(source, grown),
        drawn,
        undrawn(m, converted.shapes.index),
        read,
        int(m.nsensordata),
    )
    return Conversion(arguments, imported)


def _array(name: str, values: Any) -> Any:
    kind: str = _layout.MODEL_ARRAYS[name][0]
    return values if kind == "text" else np.array(values, kind)


def _frames(source: Source, grown: Tree) -> dict[str, Frame]:
    m, out = source.m, {}
    for s in range(m.nsite):
        b, here = int(m.site_bodyid[s]), pose(m.site_pos[s], quat_from_wxyz(m.site_quat[s]))
        out[source.name("SITE", s)] = Frame(int(grown.body[b]), pose_mul(grown.offset[b], here))
    return out


def _keyframes(source: Source, grown: Tree) -> dict[str, Any]:
    m, mujoco = source.m, mujoco_module()
    if m.nkey == 0:
        return {}
    q = grown.coordinates.joint_q(m.key_qpos)
    names = [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_KEY, k) for k in range(m.nkey)]
    return {
        "keyframe_joint_q": q,
        "keyframe_joint_qd": grown.coordinates.joint_qd(q, m.key_qvel),
        "keyframe_name": [name or None for name in names],
    }


def _rest(source: Source) -> list[Finding]:
    """Elements of kinds that are not converted."""
    m, found = source.m, []
    for kind, count in (("FLEX", m.nflex), ("PLUGIN", m.nplugin)):
        found += [source.find(Code.NOT_CONVERTED, kind, i) for i in range(count)]
    for g in range(m.ngeom):
        if np.any(source.optional("geom_adhesion", g)):
            found.append(source.find(Code.ADHESION, "GEOM", g))
        if np.any(source.optional("geom_surfacevel", g)):
            found.append(source.find(Code.SURFACE_VELOCITY, "GEOM", g))
    for name in ("density", "viscosity"):
        if value := getattr(m.opt, name):
            found.append(Finding(Code.FLUID, "option", name, {"value": value}))
    if np.any(m.opt.wind):
        found.append(Finding(Code.WIND, "option", "wind"))
    if int(m.opt.enableflags) & int(mujoco_module().mjtEnableBit.mjENBL_OVERRIDE):
        found.append(Finding(Code.OVERRIDE, "option", "override"))
    return found
