"""The ctypes interface of the shared library: structs from the headers, prototypes, errors as exceptions.

What ctypes would cut, wrap or read past is refused here: integers that do not fit a field or an argument, texts and
paths with a NUL, and arrays of another type, shape or layout (`address`). ctypes.CDLL releases the GIL during a call.
"""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _layout

_C_TYPES: dict[str, Any] = {
    "int": ctypes.c_int,
    "bool": ctypes.c_bool,
    "double": ctypes.c_double,
    "int64": ctypes.c_int64,
    "size": ctypes.c_size_t,
    "ptr": ctypes.c_void_p,
}


def _c_type(kind: str) -> Any:
    base, _, length = kind.partition("*")
    found = _C_TYPES[base]
    return found * int(length) if length else found


class _Struct(ctypes.Structure):
    """A struct of the library, whose integers must fit their fields."""

    _limits: dict[str, tuple[int, int]]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._limits:
            value = integer(name, value, *self._limits[name])
        super().__setattr__(name, value)


def _make_structs() -> None:
    limits = {"int": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "size": (0, 2**64 - 1)}
    for name, fields in _layout.STRUCTS.items():
        body: dict[str, Any] = {"_fields_": [(field, _c_type(kind)) for field, kind in fields]}
        body["_limits"] = {field: limits[kind] for field, kind in fields if kind in limits}
        _C_TYPES[name] = type(name, (_Struct,), body)


_make_structs()

ModelArrays = _C_TYPES["SapModelArrays"]
OptionsStruct = _C_TYPES["SapOptions"]
Scene = _C_TYPES["SapScene"]
State = _C_TYPES["SapState"]
Control = _C_TYPES["SapControl"]
FreeMotion = _C_TYPES["SapFreeMotion"]
SolverInfo = _C_TYPES["SapSolverInfo"]
Array = _C_TYPES["SapArray"]
BatchInfo = _C_TYPES["SapBatchInfo"]
DumpCallStruct = _C_TYPES["SapDumpCall"]
DumpStruct = _C_TYPES["SapDump"]
Rays = _C_TYPES["SapRays"]
MujocoArrays = _C_TYPES["SapMujocoParameters"]
Sensors = _C_TYPES["SapSensors"]
GradientOptions = _C_TYPES["SapGradientOptions"]
GradientInput = _C_TYPES["SapGradientInput"]
GradientSteps = _C_TYPES["SapGradientSteps"]


class SapwoodError(Exception):
    """A call of the library failed; the text is the library's message."""


class ArgumentError(SapwoodError, ValueError):
    """An argument is missing or out of range."""


class ModelError(SapwoodError, ValueError):
    """A model violates a rule."""


class ParseError(SapwoodError, ValueError):
    """A file is not well-formed, or has an unknown key or a wrong value."""


class UnsupportedError(SapwoodError, NotImplementedError):
    """The input is valid, but this version does not support it."""


class FileError(SapwoodError, OSError):
    """A file cannot be opened, read or written."""


class OutOfMemoryError(SapwoodError, MemoryError):
    """Out of memory, or a size exceeds the address space."""


class DeviceError(SapwoodError):
    """The requested device or instruction set is not available."""


class BusyError(SapwoodError, RuntimeError):
    """Another thread is in a call of the same batch."""


class ForkError(SapwoodError, RuntimeError):
    """The batch was created before a fork; its threads exist in the parent process only."""


class SapwoodImportWarning(UserWarning):
    """Something that moves the robot was lost in an import."""


_ERRORS = {
    "SAP_ERROR_ARGUMENT": ArgumentError,
    "SAP_ERROR_MODEL": ModelError,
    "SAP_ERROR_PARSE": ParseError,
    "SAP_ERROR_UNSUPPORTED": UnsupportedError,
    "SAP_ERROR_IO": FileError,
    "SAP_ERROR_MEMORY": OutOfMemoryError,
    "SAP_ERROR_DEVICE": DeviceError,
}

# ---- what crosses ----


def integer(name: str, value: Any, low: int = 0, high: int = 2**31 - 1) -> int:
    """An integer of Python or numpy in low .. high; floats and texts are refused, even if they are whole numbers."""
    try:
        out = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, a {type(value).__name__}; it must be an integer") from None
    if not low <= out <= high:
        raise ArgumentError(f"{name} is {out}; it must be in {low} .. {high}")
    return out


def text_of(value: str | bytes | os.PathLike[str]) -> bytes:
    """A text or path as the bytes of a C string."""
    out = os.fsencode(value)
    if b"\0" in out:
        raise ArgumentError(f"{value!r} has a NUL, where a C string ends; it must have none")
    return out


def given(
    name: str, values: ArrayLike, dtype: Any, shape: tuple[int, ...] | None = None, error: type = ArgumentError
) -> NDArray[Any]:
    """Values of the caller as an array of this type without gaps, a copy where they are not. Integers keep their
    values."""
    found = np.asarray(values)
    with np.errstate(invalid="ignore"):
        out = np.ascontiguousarray(found, dtype)
    if out.dtype.kind in "iu" and out.dtype != found.dtype and not np.array_equal(out, found):
        i = int(np.flatnonzero(out != found)[0])
        raise error(f"{name}[{i}] is {found.flat[i]:g}; it must be a whole number of type {out.dtype.name}")
    if shape is not None and out.shape != shape:
        raise error(f"{name} has shape {out.shape}; it must be {shape}")
    return out


def address(
    name: str,
    array: NDArray[Any] | None,
    dtype: Any = None,
    shape: tuple[int, ...] | None = None,
    written: bool = False,
) -> int | None:
    """The address of an array for the library, which must keep to its type, shape and layout; None for None.
    `written`: the library writes it. The caller keeps the array alive."""
    if array is None:
        return None
    if not array.dtype.isnative or (dtype is not None and array.dtype != dtype):
        kind = "native" if dtype is None else np.dtype(dtype).name
        raise TypeError(f"{name} is {array.dtype.str}; it must be {kind}")
    if shape is not None and array.shape != shape:
        raise ArgumentError(f"{name} has shape {array.shape}; it must be {shape}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ArgumentError(f"{name} has strides {array.strides}; it must be row-major without gaps")
    if written and not array.flags.writeable:
        raise ArgumentError(f"{name} is read-only; it must be writable")
    return array.ctypes.data


def _argument(value: Any) -> int:
    return integer("an argument", value, -(2**31))


def _text_or_null(value: Any) -> bytes | None:
    return None if value is None else text_of(value)


_P, _INT, _DOUBLE, _TEXT = ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_char_p

# name: (result, arguments)
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "sap_version": (_TEXT, []),
    "sap_struct_size": (ctypes.c_size_t, [_TEXT]),
    "sap_error_message": (_TEXT, []),
    "sap_options_preset": (_INT, [_TEXT, _P]),
    "sap_options_set": (_INT, [_P, _TEXT, _TEXT]),
    "sap_options_get": (_INT, [_P, _TEXT, _P, _INT]),
    "sap_options_names": (ctypes.POINTER(_TEXT), []),
    "sap_preset_names": (ctypes.POINTER(_TEXT), []),
    "sap_model_arrays_default": (None, [_P]),
    "sap_model_create": (_INT, [_P, _P]),
    "sap_model_create_mujoco": (_INT, [_P, _P, _P]),
    "sap_mujoco_arrays_default": (None, [_P]),
    "sap_model_mujoco": (_P, [_P]),
    "sap_mujoco_weights": (_INT, [_P, _P, _P, _P]),
    "sap_model_destroy": (None, [_P]),
    "sap_model_arrays": (ctypes.POINTER(ModelArrays), [_P]),
    "sap_model_warning": (_TEXT, [_P, _INT]),
    "sap_mesh_reduce": (_INT, [_P, _INT, _INT, _P, _P, _P]),
    "sap_scene_load_with_root": (_INT, [_TEXT, _TEXT, _P]),
    "sap_scene_parse": (_INT, [_TEXT, ctypes.c_size_t, _TEXT, _P]),
    "sap_scene_destroy": (None, [_P]),
    "sap_state_create": (_INT, [_P, _INT, _INT, _P]),
    "sap_state_destroy": (None, [_P]),
    "sap_control_create": (_INT, [_P, _INT, _INT, _P]),
    "sap_control_destroy": (None, [_P]),
    "sap_contacts_sort": (_INT, [_P, _P, _INT]),
    "sap_solver_create": (_INT, [_P, _INT, _P, _P]),
    "sap_solver_destroy": (None, [_P]),
    "sap_solver_info": (_INT, [_P, _P]),
    "sap_solver_report": (_INT, [_P, _P]),
    "sap_solver_world_status": (_P, [_P]),
    "sap_solver_record": (_INT, [_P, _P]),
    "sap_solver_record_constraints": (_INT, [_P, _P]),
    "sap_solver_record_problem": (_INT, [_P, _P]),
    "sap_solver_record_rows": (_INT, [_P, _P]),
    "sap_solver_problem_rows": (_INT, [_P]),
    "sap_solver_profile": (_INT, [_P, ctypes.c_bool]),
    "sap_solver_profile_read": (_INT, [_P, _P]),
    "sap_section_name": (_TEXT, [_INT]),
    "sap_step": (_INT, [_P, _P, _P, _P, _DOUBLE, _P]),
    "sap_collide": (_INT, [_P, _P, _P]),
    "sap_forward_kinematics": (_INT, [_P, _P]),
    "sap_free_motion": (_INT, [_P, _P, _P, _DOUBLE, _P]),
    "sap_batch_create": (_INT, [_P, _INT, _P, _P]),
    "sap_batch_create_as": (_INT, [_P, _INT, _P, _INT, _P]),
    "sap_batch_destroy": (None, [_P]),
    "sap_batch_step": (_INT, [_P, _DOUBLE, _INT]),
    "sap_batch_step_contacts": (_INT, [_P, _P, _DOUBLE, _INT]),
    "sap_batch_reset": (_INT, [_P, _P, _INT]),
    "sap_batch_solver": (_P, [_P]),
    "sap_batch_array": (_INT, [_P, _INT, _P]),
    "sap_batch_read": (_INT, [_P, _INT, _P, ctypes.c_size_t]),
    "sap_batch_write": (_INT, [_P, _INT, _P, ctypes.c_size_t]),
    "sap_batch_set_stream": (_INT, [_P, _P]),
    "sap_batch_order_stream": (_INT, [_P, _P]),
    "sap_batch_upload_parameters": (_INT, [_P]),
    "sap_batch_synchronize": (_INT, [_P]),
    "sap_device_count": (_INT, [_P]),
    "sap_batch_info": (_INT, [_P, _P]),
    "sap_batch_probe_contacts": (_INT, [_P, _P, _P]),
    "sap_batch_field_names": (ctypes.POINTER(_TEXT), []),
    "sap_batch_forward_kinematics": (_INT, [_P, _P]),
    "sap_batch_assemble": (_INT, [_P, _P, _P]),
    "sap_batch_attach": (_INT, [_P, _INT, _P]),
    "sap_batch_expand": (_INT, [_P, _INT, _P]),
    "sap_batch_check_parameters": (_INT, [_P]),
    "sap_mujoco_update_weights": (_INT, [_P, _P]),
    "sap_parameter_names": (ctypes.POINTER(_TEXT), []),
    "sap_batch_bytes": (ctypes.c_size_t, [_P]),
    "sap_rays_default": (None, [_P]),
    "sap_batch_raycast": (_INT, [_P, _P]),
    "sap_batch_set_sensors": (_INT, [_P, _P]),
    "sap_batch_begin_sensors": (_INT, [_P, _P]),
    "sap_batch_sleep_size": (_INT, [_P]),
    "sap_batch_get_sleep": (_INT, [_P, _P]),
    "sap_batch_set_sleep": (_INT, [_P, _P, _P]),
    "sap_batch_guard": (_INT, [_P, _INT]),
    "sap_batch_dump": (_INT, [_P, _INT, _TEXT]),
    "sap_dump_load": (_INT, [_TEXT, _P]),
    "sap_dump_destroy": (None, [_P]),
    "sap_dump_batch": (_INT, [_P, _INT, _INT, _P, _P]),
    "sap_capability": (_INT, [_TEXT, _INT, _INT, _P]),
    "sap_capability_names": (ctypes.POINTER(_TEXT), []),
    "sap_contact_solver_names": (ctypes.POINTER(_TEXT), []),
    "sap_device_names": (ctypes.POINTER(_TEXT), []),
    "sap_gradient_input_size": (_INT, [_P, _TEXT, _P]),
    "sap_batch_linearize": (_INT, [_P, _P, _P]),
    "sap_batch_vjp": (_INT, [_P, _P, _P, _P]),
    "sap_batch_jvp": (_INT, [_P, _P, _P]),
    "sap_batch_step_exactly": (_INT, [_P, _P]),
    "sap_dual_options_default": (None, [_P]),
    "sap_dual_solve": (_INT, [_P, _P, _P]),
}


def _find() -> str:
    """The library named by the environment variable SAPWOOD_LIBRARY, or the one next to this file."""
    given = os.environ.get("SAPWOOD_LIBRARY")
    if given:
        return given
    for name in ("libsapwood.so", "libsapwood.dylib"):
        path = Path(__file__).parent / name
        if path.exists():
            return str(path)
    raise ImportError("libsapwood is not beside the package; install it with pip, or set SAPWOOD_LIBRARY to its path")


_CHECKS: dict[Any, Callable[[Any], Any]] = {_INT: _argument, _TEXT: _text_or_null}


def _checked(function: Any, checks: dict[int, Callable[[Any], Any]]) -> Any:
    """The function with arguments that must pass a check."""

    def call(*arguments: Any) -> Any:
        return function(*(checks[i](value) if i in checks else value for i, value in enumerate(arguments)))

    return call


class _Library:
    """Functions with their prototypes, bound at their first use."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._cdll = ctypes.CDLL(path)

    def __getattr__(self, name: str) -> Any:
        result, arguments = _PROTOTYPES[name]
        function = getattr(self._cdll, name)
        function.restype, function.argtypes = result, arguments
        checks = {i: _CHECKS[kind] for i, kind in enumerate(arguments) if kind in _CHECKS}
        if checks:
            function = _checked(function, checks)
        setattr(self, name, function)
        return function

    def unchecked(self, name: str) -> Any:
        """A function without a prototype that returns an int: the caller passes ctypes objects, or ints for C ints."""
        return self._cdll[name]


lib = _Library(_find())


def check(status: int) -> None:
    """Raises the error of the last call on this thread, if it failed."""
    if status:
        fail(status)


def fail(status: int) -> None:
    name = next((n for n, value in _layout.ENUMS["SapStatus"].items() if value == status), "")
    raise _ERRORS.get(name, SapwoodError)(lib.sap_error_message().decode("utf-8", "replace"))


def texts(names: Any) -> list[str]:
    """The strings of a NULL-terminated list."""
    out: list[str] = []
    while names[len(out)] is not None:
        out.append(names[len(out)].decode())
    return out


def version() -> str:
    """The version of the library."""
    return str(lib.sap_version().decode())


def enum_names(enum: str, prefix: str, counted: bool = True) -> dict[str, int]:
    """{"joint_q": 0, ...} for an enum SAP_BATCH_JOINT_Q, ..., without the count at its end, if it has one.

    A name that is an array of the model is spelled like it: constraint_X.
    """
    spelled = {name.lower(): name for name in _layout.MODEL_ARRAYS}
    items = list(_layout.ENUMS[enum].items())[: -1 if counted else None]
    names = {name.removeprefix(prefix).lower(): value for name, value in items}
    return {spelled.get(name, name): value for name, value in names.items()}


def differences(library: Any) -> list[str]:
    """The differences between a library and this package: version, sizes of structs, order of names."""
    out = []
    theirs = library.sap_version().decode()
    if theirs != _layout.VERSION:
        out.append(f"version {theirs} and {_layout.VERSION}")
    for name in _layout.STRUCTS:
        size, ours = library.sap_struct_size(name.encode()), ctypes.sizeof(_C_TYPES[name])
        if size != ours:
            out.append(f"{name} of {size} and {ours} bytes")
    for what, names, known in (
        ("options", library.sap_options_names(), [field for field, _ in _layout.STRUCTS["SapOptions"]]),
        ("arrays", library.sap_batch_field_names(), list(enum_names("SapBatchField", "SAP_BATCH_"))),
        ("parameters", library.sap_parameter_names(), list(enum_names("SapParameter", "SAP_PARAMETER_"))),
    ):
        found = texts(names)
        if found != known:
            out.append(f"{what} {', '.join(sorted({*found} ^ {*known})) or 'in another order'}")
    return out


def _check_library(library: Any) -> None:
    """Raises ImportError on a mismatch, because calls with structs of another size would corrupt memory."""
    try:
        found = differences(library)
    except AttributeError as error:  # a missing function
        found = [str(error)]
    if found:
        raise ImportError(f"{library.path} and this package differ, library first: {'; '.join(found)}")


_check_library(lib)
