"""Writes models as scene files (docs/scene.md); every number is written with enough digits to be read back exactly."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import scene_constraints
from ._layout import BITS, ENUMS, MUJOCO_ARRAYS
from .files import replacing
from .model import JOINT_TYPES, SHAPE_TYPES

if TYPE_CHECKING:
    from .model import Model

JOINT_WORDS = {value: name.removeprefix("SAP_JOINT_").lower() for name, value in JOINT_TYPES.items()}
HEIGHT_FIELD = SHAPE_TYPES["SAP_SHAPE_HEIGHT_FIELD"]
SHAPE_WORDS = {value: name.removeprefix("SAP_SHAPE_").lower() for name, value in SHAPE_TYPES.items()}
SIZES = {
    "sphere": ["radius"],
    "capsule": ["radius", "half_height"],
    "cylinder": ["radius", "half_height"],
    "cone": ["radius", "half_height"],
    "ellipsoid": ["a", "b", "c"],
    "box": ["hx", "hy", "hz"],
    "height_field": ["hx", "hy"],
    "plane": ["hx", "hy"],
    "hull": [],
}

# Arrays that are written at the end by `set_array` operations.
DOF_ARRAYS = [
    "joint_armature",
    "joint_damping",
    "joint_friction",
    "joint_effort_limit",
    "joint_target_mode",
    "joint_target_ke",
    "joint_target_kd",
    "joint_target_pos",
    "joint_target_vel",
    "joint_limit_lower",
    "joint_limit_upper",
    "joint_limit_ke",
    "joint_limit_kd",
    "joint_qd",
    "joint_f",
    "joint_act",
]


def _text(value: Any) -> str:
    """YAML flow style: maps, lists, quoted texts, numbers that are read back with the same bits."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, str):
        return json.dumps(value)
    return str(int(value)) if isinstance(value, (int, np.integer)) else repr(float(value))


def _pose(values: Any) -> dict[str, Any]:
    return {"p": values[:3], "q": values[3:]}


def write(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes the scene, and next to it one file per mesh: <name>.mesh0.obj, ..."""
    target = Path(path)
    for mesh in range(len(model.mesh_start) - 1 if model.num_meshes else 0):
        points = model.mesh_vertices[model.mesh_start[mesh] : model.mesh_start[mesh + 1]]
        lines = [f"v {x!r} {y!r} {z!r}\n" for x, y, z in points.tolist()]
        with replacing(target.parent / _mesh_file(target, mesh)) as file:
            file.write("".join(lines).encode())
    text = text_of(model, target)
    with replacing(target) as file:
        file.write(text.encode())


def _mesh_file(path: Path, mesh: int) -> str:
    return f"{path.stem}.mesh{mesh}.obj"


def text_of(model: Model, path: Path) -> str:
    simulation: dict[str, Any] = {"dt": model.dt}
    if model.options is not None:
        simulation["solver"] = {name: None if value == "none" else value for name, value in model.options.items()}
    head = {
        "schema_version": 1,
        "name": model.name or "model",
        "simulation": simulation,
        "builder": {"gravity": model.gravity, "max_hull_vertices": 0},
        "ground": False,
    }
    lists = {
        "bodies": [_body(model, b) for b in range(model.num_bodies)],
        "joints": [_joint(model, j) for j in range(model.num_joints)],
        "articulations": _articulations(model),
        "tendons": [scene_constraints.tendon(model, t) for t in range(model.num_tendons)],
        "constraints": [scene_constraints.constraint(model, c) for c in range(model.num_constraints)],
        "initial_joint_q": [{"index": 0, "values": model.joint_q}] if model.num_coords else [],
        "post_build": [*_shapes(model, path), *_dof_arrays(model)],
        "keyframes": _keyframes(model),
        "collision_filters": _filters(model),
    }
    if model.mujoco is not None:
        head["mujoco"] = _law(model.mujoco)
    lines = [f"{key}: {_text(value)}" for key, value in head.items()]
    for key, items in lists.items():
        if items:
            lines += [f"{key}:", *(f"- {_text(item)}" for item in items)]
    return "\n".join(lines) + "\n"


def _body(model: Model, b: int) -> dict[str, Any]:
    return {
        "id": model.body_name[b],
        "mass": model.body_mass[b],
        "com": model.body_com[b],
        "inertia": model.body_inertia[b].reshape(3, 3),
        "gravcomp": model.body_gravcomp[b],
    }


def _joint(model: Model, j: int) -> dict[str, Any]:
    kind, parent = JOINT_WORDS[int(model.joint_type[j])], int(model.joint_parent[j])
    out = {
        "id": model.joint_name[j],
        "type": kind,
        "parent": "world" if parent < 0 else model.body_name[parent],
        "child": model.body_name[model.joint_child[j]],
    }
    if kind != "free":
        out.update(
            parent_xform=_pose(model.joint_X_p[j]),
            child_xform=_pose(model.joint_X_c[j]),
            collision_filter_parent=bool(model.joint_filter_parent[j]),
        )
    axes = model.joint_axis[model.joint_qd_start[j] : model.joint_qd_start[j + 1]]
    if kind in ("revolute", "prismatic"):
        out["axis"] = axes[0]
    elif kind == "d6":
        linear = int(model.joint_dof_dim[j][0])
        out.update(linear_axes=axes[:linear], angular_axes=axes[linear:])
    return out


def _articulations(model: Model) -> list[dict[str, Any]]:
    start = model.articulation_start
    return [
        {"label": model.articulation_name[a], "joints": model.joint_name[start[a] : start[a + 1]]}
        for a in range(model.num_articulations)
    ]


def _shapes(model: Model, path: Path) -> list[dict[str, Any]]:
    """One operation per shape, so that static shapes keep their order; without density, because masses are given."""
    out = []
    for s in range(model.num_shapes):
        kind, body, flags = SHAPE_WORDS[int(model.shape_type[s])], int(model.shape_body[s]), int(model.shape_flags[s])
        shape = {
            "op": "add_shape",
            "body": "world" if body < 0 else model.body_name[body],
            "type": kind,
            "label": model.shape_name[s],
            "transform": _pose(model.shape_transform[s]),
            **dict(zip(SIZES[kind], model.shape_scale[s])),
            "density": 0.0,
            "ke": model.shape_material_ke[s],
            "tau": model.shape_material_tau[s],
            "dissipation": model.shape_material_dissipation[s],
            "mu": model.shape_material_mu[s],
            "margin": model.shape_margin[s],
            "gap": model.shape_gap[s],
            "collision_group": model.shape_collision_group[s],
            "has_shape_collision": bool(flags & BITS["SAP_SHAPE_COLLIDES"]),
            "is_visible": bool(flags & BITS["SAP_SHAPE_VISIBLE"]),
        }
        if kind == "hull":
            shape.update(file=_mesh_file(path, int(model.shape_mesh[s])), scale=model.shape_scale[s])
        elif kind == "height_field":
            shape["heights"] = _grid(model, int(model.shape_mesh[s]))
            if choices := _choices(model, s):
                shape["choices"] = [_grid(model, i) for i in choices]
        out.append(shape)
    return out


def _choices(model: Model, s: int) -> list[int]:
    """The grids after the grid of shape s that no shape has: worlds may choose them."""
    used = sorted(int(model.shape_mesh[t]) for t, kind in enumerate(model.shape_type) if kind == HEIGHT_FIELD)
    if used[0] != 0:
        raise ValueError(
            f"height field 0 of {model.name} has no shape; in a scene file it can only follow one that has"
        )
    last = next((i for i in used if i > model.shape_mesh[s]), model.num_height_fields)
    return list(range(int(model.shape_mesh[s]) + 1, last))


def _grid(model: Model, i: int) -> Any:
    sizes = model.height_field_size
    first = int(np.sum(np.prod(sizes[:i], axis=1)))
    rows, columns = sizes[i]
    return model.heights[first : first + rows * columns].reshape(rows, columns)


def _dof_arrays(model: Model) -> list[dict[str, Any]]:
    return [{"op": "set_array", "array": name, "values": getattr(model, name)} for name in DOF_ARRAYS]


def _law(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of MuJoCo's law; arrays are flat lists."""
    out = {name: np.ravel(value) if name in MUJOCO_ARRAYS else value for name, value in numbers.items()}
    for name in {"refsafe", "eulerdamp", "warmstart", "rows_of_worlds"} & out.keys():
        out[name] = bool(out[name])
    for name, enum in (("cone", "SapMujocoCone"), ("integrator", "SapMujocoIntegrator")):
        if name in out:
            word = next(word for word, value in ENUMS[enum].items() if value == out[name]).rpartition("_")[2]
            out[name] = {"EULER": "Euler", "RK4": "RK4"}.get(word, word.lower())
    return out


def _keyframes(model: Model) -> list[dict[str, Any]]:
    return [
        {"name": model.keyframe_name[k], "joint_q": model.keyframe_joint_q[k], "joint_qd": model.keyframe_joint_qd[k]}
        for k in range(model.num_keyframes)
    ]


def _filters(model: Model) -> list[dict[str, Any]]:
    bodies = [{"bodies": [model.body_name[b] for b in pair]} for pair in model.body_filter_pairs]
    return bodies + [{"shapes": [model.shape_name[s] for s in pair]} for pair in model.shape_filter_pairs]
