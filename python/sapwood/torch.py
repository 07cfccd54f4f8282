"""Steps of a batch as functions of torch.autograd.

    q1, qd1 = sapwood.torch.step(batch, q, qd, joint_target_pos=u, n=4)
    q_all, qd_all = sapwood.torch.rollout(batch, q0, qd0, {"joint_f": u})      # u: (T, num_worlds, nv)

Tensors have any float type, in host memory; the steps and their gradients are in f64 (docs/gradients.md). A quaternion
is four numbers, and its gradient has no part along it. Inputs are the controls of gradients.CONTROLS and parameters of
worlds, which `batch.expand` must have given to the worlds. Gradients of gradients are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from . import gradients
from ._library import lib

if TYPE_CHECKING:
    from .batch import Batch

ON_INVALID = ("nan", "zero")


def _host(name: str, x: Any) -> Any:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} is a {type(x).__name__}; it must be a torch.Tensor")
    if x.device.type != "cpu":
        raise ValueError(f"{name} is on {x.device}; gradients need tensors in host memory")
    return x.detach().to(torch.float64).numpy()


class _Step(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    @staticmethod
    def forward(
        ctx: Any, batch: Batch, setup: dict[str, Any], names: tuple[str, ...], q: Any, qd: Any, *values: Any
    ) -> Any:
        point = gradients.Point.of(batch)
        point.joint_q = np.ascontiguousarray(_host("q", q))
        point.joint_qd = np.ascontiguousarray(_host("qd", qd))
        shapes = {"q": (point.joint_q.shape, batch.joint_q.shape), "qd": (point.joint_qd.shape, batch.joint_qd.shape)}
        for name, (found, wanted) in shapes.items():
            if found != tuple(wanted):
                raise ValueError(f"{name} has shape {found}; it must be {tuple(wanted)}")
        for name, x in zip(names, values):
            batch._put(name, ..., _host(name, x).reshape(batch._get(name).shape))
            if name in point.control:
                point.control[name] = np.array(batch._get(name), np.float64)
        report = gradients.call(batch, lib.sap_batch_step_exactly, point=point, n=setup["n"], h=setup["h"])
        q1, qd1 = (np.array(batch._get(name), np.float64) for name in ("joint_q", "joint_qd"))
        ctx.batch, ctx.setup, ctx.names, ctx.point, ctx.q1 = batch, setup, names, point, q1
        ctx.shapes = [x.shape for x in values]
        ctx.types = [x.dtype for x in (q, qd, *values)]
        ctx.parameters = {name: np.array(batch._get(name)) for name in names if name not in gradients.CONTROLS}
        setup["status"] |= report.status
        return torch.from_numpy(q1.copy()).to(q.dtype), torch.from_numpy(qd1.copy()).to(qd.dtype)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator, unused-ignore]
    def backward(ctx: Any, q_bar: Any, qd_bar: Any) -> Any:
        batch, setup, names = ctx.batch, ctx.setup, ctx.names
        for name, x in setup["parameters"].items():
            if not np.array_equal(batch._get(name), x, equal_nan=True):
                raise RuntimeError(f"{name} of the batch changed between the step and its gradient")
        now = {name: np.array(batch._get(name)) for name in ctx.parameters}
        for name, x in ctx.parameters.items():
            batch._put(name, ..., x)
        end = gradients.to_tangent(batch, ctx.q1, _host("gradient", q_bar), _host("gradient", qd_bar))
        wanted = [name for name, needed in zip(names, ctx.needs_input_grad[5:]) if needed]
        start, of_inputs, report = gradients.vjp(batch, end, wanted, setup["n"], setup["h"], ctx.point)
        for name, x in now.items():
            batch._put(name, ..., x)
        setup["status"] |= report.status
        of_q, of_qd = gradients.from_tangent(batch, ctx.point.joint_q, start)
        out = [of_q, of_qd, *(of_inputs.get(name) for name in names)]
        if setup["on_invalid"] == "zero":
            bad = (report.status & gradients.INVALID) != 0
            for x in out:
                if x is not None:
                    x[bad] = 0
        shapes = [of_q.shape, of_qd.shape, *ctx.shapes]
        tensors = [
            None if x is None else torch.from_numpy(np.ascontiguousarray(x).reshape(shape)).to(kind)
            for x, shape, kind in zip(out, shapes, ctx.types)
        ]
        return (None, None, None, *tensors)


def _setup(batch: Batch, n: int, h: float | None, on_invalid: str, status: Any, inputs: Any) -> dict[str, Any]:
    if on_invalid not in ON_INVALID:
        raise ValueError(f"on_invalid is {on_invalid!r}; it must be 'nan' or 'zero'")
    if status is None:
        status = np.zeros(batch.num_worlds, np.uint32)
    for name in inputs:
        gradients.input_size(batch, name)
    others = {name: x for name, x in gradients.parameters_of(batch).items() if name not in inputs}
    return {
        "n": n,
        "h": batch.dt if h is None else h,
        "on_invalid": on_invalid,
        "status": status,
        "parameters": others,
    }


def step(
    batch: Batch,
    q: Any,
    qd: Any,
    *,
    n: int = 1,
    h: float | None = None,
    on_invalid: str = "nan",
    status: Any = None,
    **inputs: Any,
) -> tuple[Any, Any]:
    """joint_q and joint_qd after n steps of h seconds from q, qd with these inputs. The batch moves there too.

    on_invalid: the gradients of a world whose step failed or did not converge, "nan" or "zero". status: an array
    (num_worlds,) of uint32 that gets the bits of gradients.STATUS.
    """
    setup = _setup(batch, n, h, on_invalid, status, inputs)
    out: tuple[Any, Any] = _Step.apply(batch, setup, tuple(inputs), q, qd, *inputs.values())
    return out


def rollout(
    batch: Batch,
    q: Any,
    qd: Any,
    controls: Mapping[str, Any],
    *,
    n: int = 1,
    h: float | None = None,
    on_invalid: str = "nan",
    status: Any = None,
    **parameters: Any,
) -> tuple[Any, Any]:
    """The states after each of T calls of `step`: tensors (T, num_worlds, ...).

    controls: {name: (T, num_worlds, ...)}; parameters stay the same.
    """
    lengths = {len(values) for values in controls.values()}
    if len(lengths) != 1:
        raise ValueError(f"the controls have the lengths {sorted(lengths)}; they must have one")
    names = (*controls, *parameters)
    setup = _setup(batch, n, h, on_invalid, status, names)
    all_q, all_qd = [], []
    for t in range(lengths.pop()):
        values = [x[t] for x in controls.values()] + list(parameters.values())
        q, qd = _Step.apply(batch, setup, names, q, qd, *values)
        all_q.append(q)
        all_qd.append(qd)
    return torch.stack(all_q), torch.stack(all_qd)
