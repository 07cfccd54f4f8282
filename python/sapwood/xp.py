"""Arrays of numpy, or tensors of torch on the CPU or a GPU: what tasks and their parts compute with.

numpy and torch have the same names for most functions: `xp = module(x)` is the one that made x, and code calls
xp.where, xp.exp, ... Here are the others. torch is imported only if tensors are passed.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .batch import Batch

Array = Any  # an array of numpy or a tensor
TYPES = {"f32": "float32", "f64": "float64", "i64": "int64", "u64": "uint64", "bool": "bool"}


def is_tensor(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def module(*arrays: Any) -> ModuleType:
    """numpy, or torch if one of the arrays is a tensor."""
    return sys.modules["torch"] if any(is_tensor(x) for x in arrays) else np


def cast(x: Array, kind: str) -> Array:
    """x as elements of another type: f32, f64, i64, bool."""
    return x.to(getattr(sys.modules["torch"], TYPES[kind])) if is_tensor(x) else np.asarray(x).astype(TYPES[kind])


def like(x: Array, values: Any, kind: str) -> Array:
    """Numbers of the host, or an array, as an array where x is."""
    if not is_tensor(x):
        return np.asarray(values, TYPES[kind])
    torch = sys.modules["torch"]
    return torch.as_tensor(values, dtype=getattr(torch, TYPES[kind]), device=x.device)


def indices(mask: Array) -> Array:
    """Where a mask [n] is true."""
    return mask.nonzero(as_tuple=True)[0] if is_tensor(mask) else np.nonzero(mask)[0]


def copy(x: Array) -> Array:
    return x.clone() if is_tensor(x) else x.copy()


def host(x: Array) -> Any:
    """The array in numpy; a copy, if it was on a GPU."""
    return x.cpu().numpy() if is_tensor(x) else np.asarray(x)


def write(array: Array, values: Any) -> None:
    """Copies an array of numpy into an array of the same shape; 64 bits stay the same bits."""
    array[...] = module(array).as_tensor(values.astype(host(array[:0]).dtype)) if is_tensor(array) else values


def put(array: Array, index: Any, values: Any) -> None:
    """array[index] = values, where the index has arrays of integers. torch does not convert types there."""
    array[index] = values.to(array.dtype) if is_tensor(values) and is_tensor(array) else values


def join_columns(parts: list[Array], out: Array) -> None:
    """Writes matrices side by side into `out`."""
    if is_tensor(out):
        out.copy_(module(out).cat(parts, 1))
    else:
        np.concatenate(parts, axis=1, out=out, casting="same_kind")


def logical_shift(x: Array, bits: int) -> Array:
    """x >> bits of unsigned numbers. torch has signed ones, which keep the sign."""
    return (x >> bits) & ((1 << (64 - bits)) - 1) if is_tensor(x) else x >> np.uint64(bits)


class Numpy:
    """Arrays of numpy; the arrays of a batch on the CPU are the memory of the library."""

    name = "numpy"

    def zeros(self, shape: tuple[int, ...], kind: str) -> Array:
        return np.zeros(shape, TYPES[kind])

    def array(self, values: Any, kind: str) -> Array:
        return np.array(values, TYPES[kind])

    def live(self, batch: Batch, name: str) -> Array:
        """An array of the batch, without a copy."""
        return getattr(batch, name)


NUMPY = Numpy()


class Torch:
    """Tensors where the batch is; the batch's are the memory of the library, on a GPU too."""

    name = "torch"

    def __init__(self, batch: Batch) -> None:
        import torch

        self.torch, on_gpu = torch, batch.device == "cuda"
        self.device = torch.device("cuda", int(batch.options["cuda_device"])) if on_gpu else torch.device("cpu")

    def zeros(self, shape: tuple[int, ...], kind: str) -> Array:
        kind = "i64" if kind == "u64" else kind  # torch has few operations of unsigned numbers; the bits are the same
        return self.torch.zeros(shape, dtype=getattr(self.torch, TYPES[kind]), device=self.device)

    def array(self, values: Any, kind: str) -> Array:
        return self.torch.as_tensor(np.array(values, TYPES[kind])).to(self.device)

    def live(self, batch: Batch, name: str) -> Array:
        return self.torch.as_tensor(getattr(batch, name), device=self.device)


def space(batch: Batch, name: str | None) -> Numpy | Torch:
    """The arrays of a task: "numpy" or "torch"; None: torch on a GPU, else numpy."""
    if name not in (None, "numpy", "torch"):
        raise ValueError(f"arrays is {name!r}; it must be 'numpy' or 'torch'")
    if name == "numpy" and batch.device == "cuda":
        raise ValueError("arrays is 'numpy', but the batch is on a GPU; it must be 'torch'")
    return Torch(batch) if name == "torch" or batch.device == "cuda" else NUMPY
