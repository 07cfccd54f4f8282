"""Names of the fields of MuJoCo's MjData and MjModel that a batch binds and expands, and what follows a wrong name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mjcf.source import mujoco_module

mujoco = mujoco_module()
if int(mujoco.__version__.split(".")[0]) < 4:
    raise ImportError(f"MuJoCo {mujoco.__version__} is installed; sapwood.mujoco needs 4.0 or later")

# Fields of a row of the state, with the bits of mjtState in MuJoCo's order.
COMPONENTS = {
    name: int(getattr(mujoco.mjtState, f"mjSTATE_{word}"))
    for name, word in {
        "time": "TIME",
        "qpos": "QPOS",
        "qvel": "QVEL",
        "act": "ACT",
        "history": "HISTORY",
        "qacc_warmstart": "WARMSTART",
        "ctrl": "CTRL",
        "qfrc_applied": "QFRC_APPLIED",
        "xfrc_applied": "XFRC_APPLIED",
        "eq_active": "EQ_ACTIVE",
        "mocap_pos": "MOCAP_POS",
        "mocap_quat": "MOCAP_QUAT",
        "userdata": "USERDATA",
        "plugin_state": "PLUGIN",
        "plastic": "PLASTIC",
    }.items()
    if hasattr(mujoco.mjtState, f"mjSTATE_{word}")
}
INTEGRATION = sum(COMPONENTS.values())
FULLPHYSICS = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
USER = int(mujoco.mjtState.mjSTATE_USER)
CTRL = int(mujoco.mjtState.mjSTATE_CTRL)

COUNTS = {"nA", "nJ", "ncon", "ne", "nefc", "nf", "nidof", "nisland", "nl"}
_ARENA = re.compile(r"(efc|efm|iefc|iacc|ifrc|island|map)_|iacc$|dof_island$|tree_island$|tendon_efcadr$")
_ASSETS = re.compile(r"(mesh|hfield|skin|tex|oct)_|bvh_(child|depth|nodeid)$")
_STRUCTURAL = re.compile(r"(?<!con)type$|(adr|num|id)$")


def _public(of: Any) -> list[str]:
    return [name for name in dir(of) if not name.startswith("_")]


@cache
def _examples() -> tuple[Any, Any]:
    """A model and its data, to learn names from."""
    m = mujoco.MjModel.from_xml_string("<mujoco/>")
    return m, mujoco.MjData(m)


def _data_fields() -> frozenset[str]:
    data = _examples()[1]
    arrays = {name for name in _public(data) if isinstance(getattr(data, name, None), np.ndarray)}
    counts = {name for name in COUNTS if hasattr(data, name)}
    return frozenset({*COMPONENTS, *counts, *(name for name in arrays if not _ARENA.match(name))})


def _model_fields() -> frozenset[str]:
    m = _examples()[0]
    arrays = {name for name in _public(m) if isinstance(getattr(m, name, None), np.ndarray)}
    options = {f"opt.{name}" for name in _public(m.opt) if not callable(getattr(m.opt, name))}
    return frozenset({*options, *(name for name in arrays if not _ASSETS.match(name))})


DATA_FIELDS = _data_fields()
MODEL_FIELDS = _model_fields()


def is_structural(name: str) -> bool:
    """Whether a model field holds addresses, counts, ids or types, which all simulations share."""
    array = getattr(_examples()[0], name, None)
    return isinstance(array, np.ndarray) and array.dtype.kind in "iu" and bool(_STRUCTURAL.search(name))


def template(data: Any, name: str) -> NDArray[Any] | None:
    """A data field as an array, counts as int32; None if it is neither."""
    value = getattr(data, name, None)
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return np.zeros((), np.int32)
    return np.zeros(()) if name == "time" else None


def model_array(m: Any, name: str) -> NDArray[Any]:
    """A model field or an option as an array; options are f64 or int32."""
    if not name.startswith("opt."):
        return np.asarray(getattr(m, name))
    value = np.asarray(getattr(m.opt, name[4:]))
    return value.astype(np.float64 if value.dtype.kind == "f" else np.int32)


def put_model(m: Any, name: str, value: NDArray[Any]) -> None:
    """Writes a field or an option of a model; bvh_aabb may have the rows of the bodies only."""
    if not name.startswith("opt."):
        getattr(m, name)[: len(value)] = value
    elif value.ndim:
        getattr(m.opt, name[4:])[...] = value
    else:
        setattr(m.opt, name[4:], value.item())


# ---- errors ----


def did_you_mean(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, sorted(names), n=3)
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""


def place_of(name: str, names: Iterable[str], of_model: bool = False) -> str:
    """Where a name belongs, if it is a field of the model or an option; otherwise what is near."""
    if of_model and name in MODEL_FIELDS:
        return f"; {name} belongs to MjModel: use expand({name!r})"
    if f"opt.{name}" in MODEL_FIELDS:
        return f"; {name} belongs to MjOption: use expand('opt.{name}')"
    return did_you_mean(name, names)


def not_bound(data: Any, name: str) -> ValueError:
    """Why `bind` refuses a name."""
    value = getattr(data, name, None)
    if name in MODEL_FIELDS:
        return ValueError(f"{name} is a field of MjModel: use expand({name!r})")
    if isinstance(value, int):
        return ValueError(f"{name} is none of the MjData scalars bind() accepts: {', '.join(sorted(COUNTS))}")
    if isinstance(value, np.ndarray):
        return ValueError(f"{name} is in the arena of MjData: its size changes with every step, so it is not bound")
    return ValueError(f"MjData has no array {name!r}{place_of(name, DATA_FIELDS)}")


def not_expanded(m: Any, name: str) -> ValueError:
    """Why `expand` refuses a name."""
    if name in DATA_FIELDS:
        return ValueError(f"{name} is a field of MjData: use bind({name!r})")
    if isinstance(getattr(m, name, None), np.ndarray):
        return ValueError(f"{name} is asset data, which all simulations share, and is not expanded")
    return ValueError(f"MjModel has no field {name!r} to expand{place_of(name, MODEL_FIELDS)}")


def is_output(name: str) -> ValueError:
    return ValueError(f"{name} is computed by every call; write the state (qpos, ctrl, ...), or expand model fields")
