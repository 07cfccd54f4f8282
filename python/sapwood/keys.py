"""Random numbers by keys: a number depends on its key and index only, and is the same in numpy and torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .xp import Array, cast, is_tensor, like, logical_shift


def _constant(x: Array, value: int) -> Any:
    """A number of 64 bits for arithmetic with x. Tensors are signed; products and sums have the same bits."""
    return value - 2**64 * (value >= 2**63) if is_tensor(x) else np.uint64(value)


def _mix(x: Array) -> Array:
    """The output function of splitmix64."""
    x = x + _constant(x, 0x9E3779B97F4A7C15)
    x = (x ^ logical_shift(x, 30)) * _constant(x, 0xBF58476D1CE4E5B9)
    x = (x ^ logical_shift(x, 27)) * _constant(x, 0x94D049BB133111EB)
    return x ^ logical_shift(x, 31)


def _bits(x: Any, of: Array) -> Array:
    """Integers as 64 bits, where `of` is."""
    return like(of, x, "i64") if is_tensor(of) else np.atleast_1d(np.asarray(x)).astype(np.uint64)


def random_units(keys: Array, width: int) -> Array:
    """[len(keys)][width] numbers in [-1, 1), from 53 random bits of each key and index."""
    with np.errstate(over="ignore"):
        keys = keys if is_tensor(keys) else np.asarray(keys, np.uint64)
        bits = _mix(keys[:, None] ^ _bits(np.arange(width), keys)[None])
    return cast(logical_shift(bits, 11), "f64") * 2.0**-52 - 1


def random_keys(*parts: Any) -> Array:
    """One key per row of the parts, such as seed, world, episode."""
    of = next((part for part in parts if is_tensor(part)), parts[0])
    with np.errstate(over="ignore"):
        key = _mix(_bits(parts[0], of))
        for part in parts[1:]:
            key = _mix(key ^ _bits(part, of))
    return key


def random_integers(keys: Array, count: int) -> Array:
    """[len(keys)] integers 0 .. count - 1."""
    return cast(logical_shift(random_keys(keys), 11), "i64") % count


def world_noise(seed: int, worlds: Any, width: int) -> Array:
    """[len(worlds)][width] numbers in [-1, 1) that depend only on seed, world and index, as in `sapwood run`."""
    return random_units(random_keys(seed, worlds), width)
