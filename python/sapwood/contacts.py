"""Contacts of worlds as arrays: what a solver or a batch finds, or what you give them in place of that."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._library import _C_TYPES, ArgumentError, address, check, lib
from .arguments import integer, nearest

Struct = _C_TYPES["SapContacts"]
_RECORD = np.dtype(_C_TYPES["SapContactRecord"])
_MOST_SLOTS = 65535

# name: (kind, numbers of a record, value of a new array). Kind "world": one number per world; "int"; "real": the type
# of the contacts; "double": always float64.
ARRAYS: dict[str, tuple[str, int, float]] = {
    "count": ("world", 1, 0),
    "dropped": ("world", 1, 0),
    "shape0": ("int", 1, -1),
    "shape1": ("int", 1, -1),
    "body0": ("int", 1, -1),
    "body1": ("int", 1, -1),
    "point0": ("real", 3, 0),
    "point1": ("real", 3, 0),
    "normal": ("real", 3, 0),
    "margin0": ("real", 1, 0),
    "margin1": ("real", 1, 0),
    "stiffness": ("real", 1, np.nan),
    "tau": ("real", 1, np.nan),
    "mu": ("real", 1, np.nan),
    "dissipation": ("real", 1, np.nan),
    "mujoco": ("double", 29, 0),
    "key": ("int", 1, 0),
}
_OPTIONAL = ("mujoco", "key")  # absent unless they are given
_GEOMETRY = ("point0", "point1", "normal")


def real_dtype(name: str, dtype: Any) -> np.dtype[Any]:
    """float32 or float64; anything else is refused."""
    out: np.dtype[Any] = np.dtype(dtype)
    if out not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name} is {out.name}; it must be float32 or float64")
    return out


def is_on_gpu(array: Any) -> bool:
    """Whether an array is one of a GPU library."""
    return hasattr(array, "__cuda_array_interface__")


def _gpu_array(name: str, array: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, type and address of an array in GPU memory without gaps."""
    interface = array.__cuda_array_interface__
    shape, dtype, strides = tuple(interface["shape"]), np.dtype(interface["typestr"]), interface.get("strides")
    steps = tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) * dtype.itemsize for i in range(len(shape)))
    if strides is not None and tuple(strides) != steps:
        raise ArgumentError(f"{name} has strides {tuple(strides)}; it must be row-major without gaps")
    return shape, dtype, interface["data"][0]


class Contacts:
    """Contacts in slots: world w has count[w] of them; its contact c is element [w, c] of every other array.

    | array | shape | what it is |
    | count, dropped | (n,) | contacts of each world; contacts that found no slot |
    | shape0, shape1 | (n, capacity) | the two shapes, -1 = none: then the body is the side |
    | body0, body1 | (n, capacity) | the two bodies, -1 = static |
    | point0, point1 | (n, capacity, 3) | m, in the frame of the body, or of the world if it is static |
    | normal | (n, capacity, 3) | from side 0 to side 1, in world axes, of any length > 0 |
    | margin0, margin1 | (n, capacity) | m, by which the surfaces are outside of the points |
    | stiffness, tau, mu | (n, capacity) | N/m, s and the coefficient of friction; nan = from the shapes |
    | dissipation | (n, capacity) | s/m, of the laws similar and lagged; nan = from the shapes |
    | mujoco | (n, capacity, 29) | contacts of MuJoCo's law, as SapMujocoContact (sapwood/mujoco.h) has them |
    | key | (n, capacity) | for warm_start: which contact of its pair each is |

    `Contacts(n, capacity)` makes all arrays but the last two, empty, of `dtype` float32 or float64; integers are int32.
    `Contacts.of(count=..., point0=..., ...)` takes arrays as they are, of numpy or in GPU memory (torch, cupy, arrays
    of a batch); what is missing is absent. `contacts.mu = x` writes into an array as `contacts.mu[...] = x`.
    """

    num_worlds: int
    capacity: int
    dtype: np.dtype[Any]
    _arrays: dict[str, Any]

    def __init__(self, num_worlds: int, capacity: int, dtype: Any = np.float64) -> None:
        self._set(integer("num_worlds", num_worlds, 1), integer("capacity", capacity, 1, _MOST_SLOTS), dtype)
        for name in ARRAYS:
            if name not in _OPTIONAL:
                self._arrays[name] = self._new(name)

    def _set(self, num_worlds: int, capacity: int, dtype: Any) -> None:
        kind = real_dtype("dtype", dtype)
        self.__dict__.update(num_worlds=num_worlds, capacity=capacity, dtype=kind, _arrays={})

    @classmethod
    def of(cls, **arrays: Any) -> Contacts:
        """Contacts of these arrays, without a copy; with the shapes and types of the class."""
        unknown = next((name for name in arrays if name not in ARRAYS), None)
        if unknown is not None:
            raise ArgumentError(f"contacts have no array {unknown!r}{nearest(unknown, ARRAYS)}")
        given = {name: array for name, array in arrays.items() if array is not None}
        first = next((name for name in ("point0", "mujoco") if name in given), None)
        if first is None or "count" not in given:
            raise ArgumentError("contacts need count, and point0, point1 and normal, or mujoco")
        shape, dtype = _described(first, given[first])
        if len(shape) != 3:
            raise ArgumentError(f"{first} has shape {shape}; it must be (num_worlds, capacity, {ARRAYS[first][1]})")
        self = cls.__new__(cls)
        self._set(
            integer("num_worlds", shape[0], 1),
            integer("capacity", shape[1], 1, _MOST_SLOTS),
            dtype if first == "point0" else np.float64,
        )
        for name, array in given.items():
            self._check(name, array)
            self._arrays[name] = array
        return self

    def _kind(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and type of an array."""
        kind, width, _ = ARRAYS[name]
        if kind == "world":
            return (self.num_worlds,), np.dtype(np.int32)
        shape = (self.num_worlds, self.capacity)
        dtype = {"int": np.dtype(np.int32), "real": self.dtype, "double": np.dtype(np.float64)}[kind]
        return shape if width == 1 else (*shape, width), dtype

    def _new(self, name: str) -> NDArray[Any]:
        shape, dtype = self._kind(name)
        return np.full(shape, ARRAYS[name][2], dtype)

    def _check(self, name: str, array: Any) -> None:
        shape, dtype = self._kind(name)
        found, kind = _described(name, array)
        if found != shape:
            raise ArgumentError(f"{name} has shape {found}; it must be {shape}")
        if kind != dtype:
            raise TypeError(f"{name} is {kind.name}; it must be {dtype.name}")

    # ---- arrays ----

    def __getattr__(self, name: str) -> Any:
        if name in ARRAYS and "_arrays" in self.__dict__:
            return self._arrays.get(name)
        raise AttributeError(f"contacts have no {name!r}{nearest(name, ARRAYS)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ARRAYS:
            raise AttributeError(f"contacts have no array {name!r}{nearest(name, ARRAYS)}")
        if value is None:
            self._arrays.pop(name, None)
        elif value is not self._arrays.get(name):
            if name not in self._arrays:
                self._arrays[name] = self._new(name)
            self._arrays[name][...] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names and arrays of those that exist."""
        return iter(self._arrays.items())

    @property
    def on_gpu(self) -> bool:
        """Whether the arrays are in GPU memory."""
        return is_on_gpu(self._arrays["count"])

    def copy(self) -> Contacts:
        """A copy, in host memory."""
        arrays = {name: array.numpy() if hasattr(array, "numpy") else array for name, array in self.items()}
        return Contacts.of(**{name: np.array(array) for name, array in arrays.items()})

    def struct(self) -> Any:
        """The struct of the library, which is valid while the arrays are."""
        addresses = {}
        for name, array in self._arrays.items():
            self._check(name, array)
            addresses[name] = _gpu_array(name, array)[2] if is_on_gpu(array) else address(name, array)
        return Struct(self.num_worlds, self.capacity, int(self.dtype.itemsize == 8), **addresses)

    # ---- lists ----

    def sort(self, world: ArrayLike, **fields: ArrayLike) -> None:
        """Replaces all contacts by a flat list over all worlds: element i of every array is contact i.

        `world` is the world of each. The rest is as in the class: point0, point1 and normal of shape (m, 3), shape0,
        shape1, body0, body1, margin0, margin1, stiffness, tau, mu and dissipation of shape (m,), with the same
        defaults. A world keeps the order of the list. One with more contacts than slots keeps those with the smallest
        `gap` (m; default 0, of equals the earlier) and counts the others in `dropped`.
        """
        if self.on_gpu:
            raise ArgumentError("the contacts are in GPU memory; sort works in host memory")
        worlds = np.asarray(world, np.int64)
        records = np.zeros(worlds.size, _RECORD)
        for name in ("shape0", "shape1", "body0", "body1", "stiffness", "tau", "mu", "dissipation"):
            records[name] = ARRAYS[name][2]
        for name, values in {"world": worlds, **fields}.items():
            if name not in (_RECORD.names or ()):
                raise ArgumentError(f"a contact of a list has no {name!r}{nearest(name, _RECORD.names or ())}")
            _put_column(records, name, np.asarray(values))
        missing = [name for name in ARRAYS if name not in self._arrays and name not in _OPTIONAL]
        if missing:
            raise ArgumentError(f"the contacts have no {missing[0]}; sort needs Contacts(n, capacity)")
        struct = self.struct()
        check(lib.sap_contacts_sort(ctypes.byref(struct), address("records", records), len(records)))

    def __repr__(self) -> str:
        return f"<Contacts of {self.num_worlds} worlds with {self.capacity} slots, {self.dtype.name}>"


def _described(name: str, array: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array without gaps."""
    if is_on_gpu(array):
        return _gpu_array(name, array)[:2]
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}; it must be an array of numpy, or one in GPU memory")
    if not array.flags.c_contiguous:
        raise ArgumentError(f"{name} has strides {array.strides}; it must be row-major without gaps")
    return array.shape, array.dtype


def _put_column(records: NDArray[Any], name: str, values: NDArray[Any]) -> None:
    """Writes a field of all records; integers must be integers that fit."""
    column = records[name]
    if values.shape != column.shape:
        raise ArgumentError(f"{name} has shape {values.shape}; it must be {column.shape}")
    if column.dtype.kind == "i":
        if values.size and values.dtype.kind not in "iu":
            raise TypeError(f"{name} is {values.dtype.name}; it must have integers")
        limits = np.iinfo(np.int32)
        if np.any((values < limits.min) | (values > limits.max)):
            raise ArgumentError(f"{name} has a number that is not an int32")
    column[...] = values


def contacts_of(value: Any) -> Contacts:
    """The contacts of an argument: contacts, or a mapping of arrays by name."""
    if isinstance(value, Contacts):
        return value
    if isinstance(value, Mapping):
        return Contacts.of(**value)
    raise TypeError(f"contacts is a {type(value).__name__}; it must be sapwood.Contacts or a mapping of arrays")
