"""Views of one object in all simulations: batch.joint('knee').qpos, batch.body('torso').mass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .fields import COMPONENTS, DATA_FIELDS, MODEL_FIELDS, did_you_mean, is_output, is_structural

if TYPE_CHECKING:
    from .batch import Batch

_FIELD_OF: dict[tuple[str, str, bool], str | None] = {}  # (kind, attribute, of the data) -> field


class Named:
    """An object of the model in all simulations, with the attributes of MuJoCo's named access, (nsim, ...).

    Attributes of the data bind their field. Attributes of the model are read without expanding, and assigning to one
    expands its field. Addresses, counts, ids and types are shared by all simulations and read-only.
    """

    def __init__(self, batch: Batch, kind: str, key: int | str, of_data: bool = True) -> None:
        in_model = getattr(batch.model, kind)(key)
        in_data = getattr(batch._data, kind)(key) if of_data else None
        own = {"_batch": batch, "_kind": kind, "_in_model": in_model, "_in_data": in_data}
        self.__dict__.update(own, id=int(in_model.id), name=str(in_model.name))

    def __repr__(self) -> str:
        return f"<{self._kind} {self.name!r} of {self._batch!r}>"

    if TYPE_CHECKING:
        id: int
        name: str
        _batch: Batch
        _kind: str
        _in_model: Any
        _in_data: Any

    def __dir__(self) -> Iterable[str]:
        return sorted({name for view in self._views() for name in dir(view) if not name.startswith("_")})

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._slice(name, writes=False)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            raise AttributeError(f"{name} of a {self._kind} is read-only")
        self._slice(name, writes=True)[...] = value

    def _views(self) -> list[Any]:
        return [view for view in (self._in_data, self._in_model) if view is not None]

    def _slice(self, name: str, writes: bool) -> NDArray[Any]:
        known = False
        for of_data, view in ((True, self._in_data), (False, self._in_model)):
            part = getattr(view, name, None) if view is not None else None
            if not isinstance(part, np.ndarray):
                continue
            known = True
            if not part.size:
                return _fixed(np.empty((self._batch.nsim, *part.shape), part.dtype))
            field = self._field(name, of_data, part)
            if field is not None:
                return self._of_data(field, part, writes) if of_data else self._of_model(field, name, part, writes)
        if known:
            raise AttributeError(f"{name} of a {self._kind} is not a slice of a field that a batch binds or expands")
        raise AttributeError(f"{name} is not a field of a {self._kind}{did_you_mean(name, dir(self))}")

    def _field(self, name: str, of_data: bool, part: NDArray[Any]) -> str | None:
        key = (self._kind, name, of_data)
        if key not in _FIELD_OF:
            of, names = (self._batch._data, DATA_FIELDS) if of_data else (self._batch.model, MODEL_FIELDS)
            found = [field for field in sorted(names) if _holds(getattr(of, field, None), part)]
            _FIELD_OF[key] = found[0] if found else None
        return _FIELD_OF[key]

    def _of_data(self, field: str, part: NDArray[Any], writes: bool) -> NDArray[Any]:
        if writes and field not in COMPONENTS:
            raise is_output(f"{field} of a {self._kind}")
        return _cut(self._batch.bind(field), getattr(self._batch._data, field), part)

    def _of_model(self, field: str, name: str, part: NDArray[Any], writes: bool) -> NDArray[Any]:
        batch, full = self._batch, getattr(self._batch.model, field)
        if batch.models is not None:
            if writes:
                raise ValueError(f"{field} comes from the models of set_models: change them and call set_models again")
            models = [batch._models.of(i) for i in range(batch.nsim)]
            return _fixed(np.stack([getattr(getattr(m, self._kind)(self.id), name) for m in models]))
        if batch._models.is_expanded(field):
            return _cut(batch.expand(field), full, part)
        if is_structural(field) and writes:
            raise ValueError(f"{field} is structural: all simulations share it")
        if writes:
            return _cut(batch.expand(field), full, part)
        values = batch.expanded(field)
        if values is None:
            return np.broadcast_to(part, (batch.nsim, *part.shape))
        return _cut(values, full, part)


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _holds(full: Any, part: NDArray[Any]) -> bool:
    """Whether the memory of an array has that of a part."""
    if not isinstance(full, np.ndarray) or full.dtype != part.dtype or not part.flags.c_contiguous:
        return False
    start = _address(part) - _address(full)
    return 0 <= start <= full.nbytes - part.nbytes


def _cut(rows: NDArray[Any], full: NDArray[Any], part: NDArray[Any]) -> NDArray[Any]:
    """What a part is of a full array, of its rows for all simulations."""
    start = (_address(part) - _address(full)) // full.itemsize
    return rows.reshape(len(rows), -1)[:, start : start + part.size].reshape(len(rows), *part.shape)


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
