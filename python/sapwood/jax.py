"""Steps of a batch as functions of JAX, with reverse-mode derivatives.

    step = sapwood.jax.step(batch, inputs=("joint_f",), n=4)
    q1, qd1 = step(q, qd, {"joint_f": u})
    roll = sapwood.jax.rollout(batch, inputs=("joint_f",))
    q_all, qd_all = roll(q0, qd0, {"joint_f": u})            # u: (T, num_worlds, nv)

The functions can be compiled by jax.jit; the batch is the axis of worlds, so they cannot be mapped by jax.vmap. They
compute in f64 in host memory (docs/gradients.md) and return the type of q. A quaternion is four numbers, and its
gradient has no part along it. A function reads what is not among `inputs` from the batch, when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from . import gradients
from ._library import lib

if TYPE_CHECKING:
    from .batch import Batch

Inputs = dict[str, Any]
_jax: Any = jax  # whose types change from version to version


def _point(batch: Batch, q: Any, qd: Any, inputs: Inputs) -> gradients.Point:
    """The state and the inputs, which the batch gets too."""
    for name, x in inputs.items():
        batch._put(name, ..., np.asarray(x, np.float64).reshape(batch._get(name).shape))
    point = gradients.Point.of(batch)
    point.joint_q = np.ascontiguousarray(q, np.float64)
    point.joint_qd = np.ascontiguousarray(qd, np.float64)
    for name, x in inputs.items():
        if name in point.control:
            point.control[name] = np.ascontiguousarray(x, np.float64).reshape(batch._get(name).shape)
    return point


def step(
    batch: Batch, inputs: Sequence[str] = ("joint_f",), n: int = 1, h: float | None = None
) -> Callable[[Any, Any, Inputs], tuple[Any, Any]]:
    """A function (q, qd, {name: value}) -> (q, qd) of n steps of h seconds, and its derivatives."""
    for name in inputs:
        gradients.input_size(batch, name)
    h = batch.dt if h is None else h

    def forward(q: Any, qd: Any, values: Inputs) -> tuple[Any, Any]:
        gradients.call(batch, lib.sap_batch_step_exactly, point=_point(batch, q, qd, values), n=n, h=h)
        return np.array(batch._get("joint_q"), q.dtype), np.array(batch._get("joint_qd"), qd.dtype)

    def backward(q: Any, qd: Any, values: Inputs, q1: Any, q_bar: Any, qd_bar: Any) -> Any:
        point = _point(batch, q, qd, values)
        end = gradients.to_tangent(batch, np.asarray(q1, np.float64), q_bar, qd_bar)
        start, of_inputs, _ = gradients.vjp(batch, end, inputs, n, h, point)
        of_q, of_qd = gradients.from_tangent(batch, point.joint_q, start)
        shaped = {name: of_inputs[name].reshape(values[name].shape).astype(values[name].dtype) for name in inputs}
        return of_q.astype(q.dtype), of_qd.astype(qd.dtype), shaped

    def shape_of(x: Any) -> Any:
        return _jax.ShapeDtypeStruct(x.shape, x.dtype)

    def plain(q: Any, qd: Any, values: Inputs) -> Any:
        return _jax.pure_callback(forward, (shape_of(q), shape_of(qd)), q, qd, values)

    call = _jax.custom_vjp(plain)

    def call_forward(q: Any, qd: Any, values: Inputs) -> Any:
        q1, qd1 = call(q, qd, values)
        return (q1, qd1), (q, qd, values, q1)

    def call_backward(kept: Any, bar: Any) -> Any:
        q, qd, values, q1 = kept
        shapes = (shape_of(q), shape_of(qd), {name: shape_of(x) for name, x in values.items()})
        return _jax.pure_callback(backward, shapes, q, qd, values, q1, *bar)

    call.defvjp(call_forward, call_backward)

    def checked(q: Any, qd: Any, values: Inputs | None = None) -> tuple[Any, Any]:
        found = {name: jnp.asarray(x) for name, x in (values or {}).items()}
        if set(found) != set(inputs):
            raise ValueError(f"the inputs are {sorted(found)}; they must be {sorted(inputs)}")
        out: tuple[Any, Any] = call(jnp.asarray(q), jnp.asarray(qd), found)
        return out

    return checked


def rollout(
    batch: Batch, inputs: Sequence[str] = ("joint_f",), n: int = 1, h: float | None = None
) -> Callable[[Any, Any, Inputs], tuple[Any, Any]]:
    """A function (q, qd, {name: values of T calls}) -> the states after each call, (T, num_worlds, ...)."""
    one = step(batch, inputs, n, h)

    def roll(q: Any, qd: Any, values: Inputs) -> tuple[Any, Any]:
        def advance(state: Any, now: Inputs) -> Any:
            state = one(state[0], state[1], now)
            return state, state

        _, states = _jax.lax.scan(
            advance, (jnp.asarray(q), jnp.asarray(qd)), {k: jnp.asarray(x) for k, x in values.items()}
        )
        out: tuple[Any, Any] = states
        return out

    return roll
