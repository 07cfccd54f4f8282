"""The stream of a batch on a GPU, and its arrays for other libraries: torch's current stream, and DLPack.

A batch follows torch: its work is queued on torch's current stream, if torch uses the GPU, so that tensors and steps
are in one order, and `with torch.cuda.graph(...)` and `with torch.cuda.stream(...)` take in its calls. Other libraries
get arrays by __dlpack__, which makes their stream wait for the work of the batch.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from ._library import check, lib

LEGACY_STREAM = 1  # CU_STREAM_LEGACY: the stream that torch calls 0


class Streams:
    """The stream of a batch: the one that its caller has set, or torch's current one, or its own."""

    def __init__(self, pointer: int, device: int) -> None:
        self.pointer, self.device = pointer, device
        self._given: int | None = None  # by the caller
        self._current: int | None = None  # None: the batch's own

    def _use(self, stream: int | None) -> None:
        if stream != self._current:
            check(lib.sap_batch_set_stream(self.pointer, stream))
            self._current = stream

    def set(self, stream: int | None) -> None:
        self._use(stream)
        self._given = stream

    def follow(self) -> None:
        """To be called before work is queued: changes to torch's current stream, unless the caller has set one."""
        cuda = getattr(sys.modules.get("torch"), "cuda", None)
        if self._given is None and cuda is not None and cuda.is_initialized():
            self._use(cuda.current_stream(self.device).cuda_stream or LEGACY_STREAM)

    def order(self, stream: int | None) -> None:
        """Makes the stream of a consumer of __dlpack__ wait for the batch. None: the default stream; -1: nothing."""
        if stream == 0:
            raise ValueError(
                "stream is 0; it must be 1 (the default stream), 2 (of the thread), -1 (no waiting) or a CUstream"
            )
        self.follow()
        if stream != -1:
            check(lib.sap_batch_order_stream(self.pointer, LEGACY_STREAM if stream is None else stream))


# ---- DLPack ----

CUDA = 2  # kDLCUDA
_CODES = {"i": 0, "u": 1, "f": 2}  # kDLInt, kDLUInt, kDLFloat
_NAME = b"dltensor"


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # in elements; NULL: row-major, without gaps
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_exported: dict[int, Any] = {}  # by address: what must live as long as the consumer uses it


def _delete(managed: Any) -> None:
    _exported.pop(ctypes.addressof(managed.contents), None)


def _delete_capsule(capsule: int) -> None:
    if _is_valid(capsule, _NAME):  # nobody took the tensor
        _exported.pop(_get_pointer(capsule, _NAME), None)


_DELETE, _DELETE_CAPSULE = _Deleter(_delete), ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_delete_capsule)

_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def capsule(address: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: int, owner: object) -> Any:
    """A DLPack capsule of row-major memory on a GPU; `owner` lives as long as the consumer uses it."""
    sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    kind = _Type(_CODES[dtype.kind], 8 * dtype.itemsize, 1)
    managed = _Managed(_Tensor(address, _Device(CUDA, device), len(shape), kind, sizes, None, 0), None, _DELETE)
    _exported[ctypes.addressof(managed)] = managed, sizes, owner
    return _new(ctypes.addressof(managed), _NAME, ctypes.cast(_DELETE_CAPSULE, ctypes.c_void_p))
