"""The models of the simulations of a batch: one, with fields that have values per simulation, or the caller's."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Floats
from .fields import MODEL_FIELDS, is_structural, model_array, mujoco, put_model
from .groups import Group, signature
from .rows import Layout
from .same_frames import acting
from .worlds import is_parameter, is_passive

# What mj_setConst derives from the other fields.
DERIVED = tuple(
    name
    for name in (
        *("body_subtreemass", "body_invweight0", "dof_invweight0", "dof_M0", "tendon_length0", "tendon_lengthspring"),
        *("tendon_invweight0", "actuator_acc0", "actuator_length0", "cam_pos0", "cam_poscom0", "cam_mat0"),
        *("light_pos0", "light_poscom0", "light_dir0", "bvh_aabb"),
    )
    if name in MODEL_FIELDS
)
MANY = 64  # variants of a model, above which a batch warns
OF_RESET = {"qpos0", "body_pos", "body_quat", "eq_active0", "key_time", "key_qpos", "key_qvel", "key_act", "key_ctrl"}
OF_RESET |= {"key_mpos", "key_mquat"}


class OfModels(Mapping[str, NDArray[Any]]):
    """Constants [n][...] of a model for each of n simulations."""

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = models

    def __getitem__(self, name: str) -> NDArray[Any]:
        return np.stack([model_array(m, name) for m in self.models])

    def __iter__(self) -> Iterator[str]:
        return iter(MODEL_FIELDS)

    def __len__(self) -> int:
        return len(MODEL_FIELDS)


class Models:
    def __init__(self, base: Any, count: int) -> None:
        self.base, self.count = base, count
        self.key = signature(base)
        self.given: Any = None  # the caller's: a model or a tuple of models
        self._of_user: dict[str, NDArray[Any]] = {}  # expanded, [count][...]
        self._derived: dict[str, NDArray[Any]] = {}  # by set_const
        self._mean_inertia: Floats | None = None
        self._keys: list[bytes] = []  # of the caller's models
        self._variants: dict[bytes, tuple[Any, bytes]] = {}  # models with values of their own, by these values
        self._rows: dict[int, Floats] = {}  # of resets
        self._scratch: tuple[Any, Any] | None = None
        self._seen: dict[str, NDArray[Any]] = {}  # values of fields in the last call
        self._kinds: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())  # of these fields
        self._version = 0
        self._warned = False

    # ---- fields ----

    def _array(self, name: str) -> NDArray[Any]:
        array = model_array(self.base, name)
        return array[: self._bodies_bvh] if name == "bvh_aabb" else array

    @property
    def _bodies_bvh(self) -> int:
        """Bounding volumes of bodies come before those of meshes."""
        m = self.base
        return int(m.mesh_bvhadr[0]) if m.nmesh else int(m.nbvhstatic)

    def _tiled(self, name: str) -> NDArray[Any]:
        array = self._array(name)
        return np.tile(array, (self.count, *(1 for _ in array.shape)))

    def expand(self, name: str) -> NDArray[Any]:
        if name not in self._of_user:
            self._of_user[name] = self._derived[name] if name in self._derived else self._tiled(name)
        return self._of_user[name]

    def is_expanded(self, name: str) -> bool:
        return name in self._of_user

    @property
    def values(self) -> dict[str, NDArray[Any]]:
        """All fields with values per simulation."""
        return {**self._derived, **self._of_user}

    def expanded(self, name: str) -> NDArray[Any] | None:
        found = self.values.get(name)
        if found is None:
            return None
        out: NDArray[Any] = found.view()
        out.flags.writeable = False
        return out

    def constants(self, ids: NDArray[np.intp]) -> Mapping[str, NDArray[Any]]:
        if self.given is not None:
            return OfModels([self._base_of(int(i)) for i in ids])
        every = len(ids) == self.count
        return acting(self.base, {name: values if every else values[ids] for name, values in self.values.items()})

    # ---- models ----

    def _base_of(self, sim: int) -> Any:
        if self.given is None:
            return self.base
        return self.given[sim] if isinstance(self.given, tuple) else self.given

    def base_for(self, ids: NDArray[np.intp]) -> Any:
        """A model with the structure of all of them."""
        return self._base_of(int(ids[0])) if len(ids) else self.base

    def of(self, sim: int) -> Any:
        """The model of a simulation."""
        base = self._base_of(sim)
        if self.given is not None or not self.values:
            return base
        out = copy.copy(base)
        self.write(sim, out)
        return out

    def write(self, sim: int, m: Any) -> None:
        """Writes the model of a simulation into a model with the same sizes."""
        base = self._base_of(sim)
        for name in MODEL_FIELDS:
            array = model_array(base, name)
            if model_array(m, name).shape != array.shape:
                raise ValueError(f"{name} has shape {model_array(m, name).shape}; in the batch it is {array.shape}")
            put_model(m, name, array)
        if self.given is None:
            self._write_values(sim, m)

    def _write_values(self, sim: int, m: Any) -> None:
        for name, values in self.values.items():
            put_model(m, name, values[sim])
        if self._mean_inertia is not None:
            m.stat.meaninertia = self._mean_inertia[sim]

    def set_const(self, ids: NDArray[np.intp]) -> dict[int, str]:
        """mj_setConst of simulations. Returns messages of those that failed."""
        failed: dict[int, str] = {}
        for name in DERIVED:
            if name not in self._derived:
                self._derived[name] = self._of_user.get(name, self._tiled(name))
        if self._mean_inertia is None:
            self._mean_inertia = np.full(self.count, float(self.base.stat.meaninertia))
        for i in map(int, ids):
            m, data = self._scratch or (copy.copy(self.base), mujoco.MjData(self.base))
            self._scratch = m, data
            self._write_values(i, m)
            try:
                mujoco.mj_setConst(m, data)
            except mujoco.FatalError as error:
                failed[i], self._scratch = str(error), None
                continue
            for name in DERIVED:
                self._derived[name][i] = model_array(m, name)[: len(self._derived[name][i])]
            self._mean_inertia[i] = m.stat.meaninertia
        return failed

    def refuse_caller(self, what: str) -> None:
        if self.given is not None:
            raise mujoco.FatalError(f"{what} needs the model of the batch, and caller models are set (set_models)")

    def set_given(self, models: Any) -> None:
        if models is not None and self._of_user | self._derived:
            raise mujoco.FatalError("set_models with per-simulation fields, which expand or set_const made")
        if models is None:
            self.given, self._keys = None, []
            return
        given = models if isinstance(models, mujoco.MjModel) else tuple(models)
        if isinstance(given, tuple) and len(given) != self.count:
            raise ValueError(f"one model per simulation is needed, {self.count}, got {len(given)}")
        for m in given if isinstance(given, tuple) else (given,):
            for name in SIZES:
                found, own = getattr(m, name, 0), getattr(self.base, name, 0)
                if found != own:
                    raise ValueError(f"{name} of a model is {found}; in the batch it is {own}")
        self.given = given
        unique = {id(m): signature(m) for m in (given if isinstance(given, tuple) else (given,))}
        self._keys = [unique[id(self._base_of(i))] for i in range(self.count)]

    # ---- steps ----

    @property
    def num_variants(self) -> int:
        """Models that simulations have now."""
        return max(len(self._variants), len(set(self._keys)), 1)

    def groups(self, ids: NDArray[np.intp], failed: dict[int, str]) -> list[Group]:
        """Simulations by models; those whose structure differs from the model's are noted in `failed`."""
        if self.given is not None:
            keys = [self._keys[i] for i in ids]
            return [
                Group(ids[[k == key for k in keys]], self._base_of(int(ids[keys.index(key)])), key, {})
                for key in dict.fromkeys(keys)
            ]
        own, others, structural = self._sorted()
        for name in structural:
            differs = np.any(_rows(self.values[name])[ids] != _rows(self._array(name)[None]), axis=1)
            for i in ids[differs]:
                failed.setdefault(int(i), f"{name} differs from the model's: structural numbers are shared")
        ids = ids[~np.isin(ids, list(failed))] if failed else ids
        if not len(ids):
            return []
        groups = [Group(ids, self.base, self.key, {})]
        if others:
            groups = self._variants_of(ids, {name: self.values[name] for name in others})
        for group in groups:
            group.constants, group.own, group.version = self.constants(group.ids), own, self._version
        return groups

    def _sorted(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The fields that differ from the model's: parameters of worlds, others that act, structural ones."""
        values, seen = self.values, self._seen
        if values.keys() != seen.keys() or not all(np.array_equal(seen[name], values[name]) for name in values):
            self._seen = {name: array.copy() for name, array in values.items()}
            self._version += 1
            differ = [name for name, array in values.items() if np.any(array != self._array(name))]
            structural = tuple(name for name in differ if is_structural(name))
            acting = [name for name in differ if name not in structural and not is_passive(self.base, name)]
            own = tuple(name for name in acting if is_parameter(self.base, name))
            self._kinds = own, tuple(name for name in acting if name not in own), structural
        return self._kinds

    def _variants_of(self, ids: NDArray[np.intp], values: dict[str, NDArray[Any]]) -> list[Group]:
        """One group for each model that differs from the others in a number."""
        bytes_of = np.concatenate([_rows(array)[ids].view(np.uint8) for array in values.values()], axis=1)
        keys = [",".join(values).encode() + row.tobytes() for row in bytes_of]
        members: dict[bytes, list[int]] = {}
        for i, key in zip(ids, keys):
            members.setdefault(key, []).append(int(i))
        self._variants = {key: found for key, found in self._variants.items() if key in members}
        if len(members) > MANY and not self._warned:
            self._warned = True
            warnings.warn(
                f"{len(members)} different models step one after the other, because worlds cannot have their own "
                f"{', '.join(values)} (docs/from_mujoco.md)",
                RuntimeWarning,
                stacklevel=6,
            )
        out = []
        for key, sims in members.items():
            if key not in self._variants:
                m = copy.copy(self.base)
                for name, array in self.constants(np.array(sims[:1])).items():
                    put_model(m, name, array[0])
                self._variants[key] = m, signature(m)
            out.append(Group(np.array(sims), *self._variants[key], {}))
        return out

    # ---- resets ----

    @property
    def num_keys(self) -> int:
        models = self.given if isinstance(self.given, tuple) else (self.given or self.base,)
        return max(int(m.nkey) for m in models)

    def reset_rows(self, layout: Layout, ids: NDArray[np.intp], key: int) -> Floats:
        """Rows after a reset to a keyframe, -1: to the defaults."""
        if self.given is not None or OF_RESET & set(self.values):
            return np.array([layout.reset_row(self.of(int(i)), key) for i in ids]).reshape(len(ids), layout.size)
        if key not in self._rows:
            self._rows[key] = layout.reset_row(self.base, key)
        return np.tile(self._rows[key], (len(ids), 1))


# Sizes of MjModel that those of MjData follow from.
SIZES = (
    *("nq", "nv", "nu", "na", "nbody", "nbvh", "njnt", "ngeom", "nsite", "ncam", "nlight", "nflex", "neq", "ntendon"),
    *(
        "nwrap",
        "nsensor",
        "nsensordata",
        "nmocap",
        "nuserdata",
        "nplugin",
        "npluginstate",
        "nhistory",
        "nplastic",
        "nM",
    ),
    *("nM", "nB", "nC", "nD", "nJmom", "nJten", "nactuator", "nout", "ntree"),
)


def _rows(array: NDArray[Any]) -> NDArray[Any]:
    """[n][...] as [n][m], contiguous."""
    return np.ascontiguousarray(array.reshape(len(array), -1))
