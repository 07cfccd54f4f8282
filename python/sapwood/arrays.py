"""Arrays over the library's memory: numpy arrays on the host, and arrays for GPU libraries on a GPU."""

from __future__ import annotations

import ctypes
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _layout
from ._library import Array, BatchInfo, address, check, lib
from .streams import CUDA, Streams, capsule
from .support import capability

_DTYPES = {"SAP_TYPE_F32": np.float32, "SAP_TYPE_F64": np.float64, "SAP_TYPE_I32": np.int32, "SAP_TYPE_U32": np.uint32}
_DTYPE_OF = {value: np.dtype(_DTYPES[name]) for name, value in _layout.ENUMS["SapElementType"].items()}
_CPU = _layout.ENUMS["SapDevice"]["SAP_DEVICE_CPU"]


class Handle:
    """Owns an object of the library. Views of its memory hold a reference to it, so the memory outlives all views."""

    def __init__(self, pointer: int | None, destroy: str) -> None:
        self.pointer, self.destroy = pointer, destroy

    def __reduce__(self) -> Any:
        raise TypeError("an object of the library can be neither copied nor pickled: both would own its memory")

    def __del__(self) -> None:
        pointer, self.pointer = self.pointer, None
        if pointer and lib is not None:
            getattr(lib, self.destroy)(pointer)


class BatchHandle(Handle):
    """Owns a batch. On a GPU it has a stream."""

    def __init__(self, pointer: int | None, device: int | None) -> None:
        super().__init__(pointer, "sap_batch_destroy")
        self.streams = None if pointer is None or device is None else Streams(pointer, device)

    def follow(self) -> None:
        """To be called before work is queued."""
        if self.streams is not None:
            self.streams.follow()


class PartHandle(Handle):
    """A part of an object of the library, which keeps the whole alive."""

    def __init__(self, pointer: int | None, owner: Handle) -> None:
        super().__init__(pointer, "")
        self.owner = owner

    def __del__(self) -> None:
        self.pointer = None


class _Memory:
    """Memory of the library as an array; keeps its owner alive."""

    def __init__(self, address: int, shape: tuple[int, ...], kind: str, owner: object, writable: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, not writable), "shape": shape, "typestr": kind}


def memory_view(address: int | None, shape: tuple[int, ...], dtype: Any, owner: object, writable: bool) -> NDArray[Any]:
    """An array over the library's memory, without a copy."""
    dtype = np.dtype(dtype)
    if not address or 0 in shape:
        return np.zeros(shape, dtype)
    return np.asarray(_Memory(address, shape, dtype.str, owner, writable))


class DeviceArray:
    """An array of a batch in GPU memory: live, at a fixed address.

    torch.as_tensor(array, device="cuda"), cupy.asarray(array), jax.dlpack.from_dlpack(array) and others use it without
    a copy, through __cuda_array_interface__ and __dlpack__. Tensors of torch are in one order with the work of the
    batch, which follows torch's current stream; other libraries wait for the work queued so far. `numpy()` copies it to
    the host after all work queued before; `write` copies from the host. The class has no arithmetic; use a GPU library
    for that.
    """

    _owner: BatchHandle

    def __init__(self, view: Any, field: int, owner: BatchHandle) -> None:
        self.shape: tuple[int, ...] = tuple(view.shape[: view.ndim])
        self.dtype: np.dtype[Any] = _DTYPE_OF[view.type]
        self.pointer: int = view.data or 0
        self._field, self._owner = field, owner

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def view(self, dtype: Any) -> DeviceArray:
        """The same memory as elements of another type of the same size."""
        out = copy(self)
        out.dtype = np.dtype(dtype)
        if out.dtype.itemsize != self.dtype.itemsize:
            raise ValueError(f"dtype has {out.dtype.itemsize} bytes; it must have {self.dtype.itemsize}")
        return out

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        info = BatchInfo()
        self._owner.follow()
        check(lib.sap_batch_info(self._owner.pointer, ctypes.byref(info)))
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, False),
            "strides": None,  # row-major, without gaps
            "stream": info.stream or None,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        assert self._owner.streams
        return CUDA, self._owner.streams.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The array for a consumer of DLPack, whose stream waits for the work of the batch queued so far."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("the array is passed without a copy, on its own GPU")
        assert self._owner.streams
        self._owner.streams.order(stream)
        return capsule(self.pointer, self.shape, self.dtype, self._owner.streams.device, self._owner)

    def numpy(self) -> NDArray[Any]:
        """A copy in host memory."""
        out = np.empty(self.shape, self.dtype)
        self._owner.follow()
        check(lib.sap_batch_read(self._owner.pointer, self._field, address("out", out), out.nbytes))
        return out

    def write(self, values: ArrayLike) -> None:
        """Copies values from the host; their shape must be broadcastable to this one."""
        data = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.dtype), self.shape))
        self._owner.follow()
        check(lib.sap_batch_write(self._owner.pointer, self._field, address("values", data), data.nbytes))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(capability("numpy", device="cuda").reason)
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<DeviceArray {self.shape} of {self.dtype} at {self.pointer:#x}>"


def batch_array(function: Any, index: int, owner: BatchHandle) -> NDArray[Any] | DeviceArray:
    """Array `index` of a batch, as returned by sap_batch_array or sap_batch_expand."""
    view = Array()
    check(function(owner.pointer, index, ctypes.byref(view)))
    if view.device != _CPU:
        return DeviceArray(view, index, owner)
    return memory_view(view.data, tuple(view.shape[: view.ndim]), _DTYPE_OF[view.type], owner, writable=True)
