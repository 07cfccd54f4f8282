"""Analytic derivatives of a step: Jacobians, products with them from either side, and a tape of steps.

    A, B = batch.linearize(method="analytic")
    tape = batch.tape()
    tape.step(joint_f=u)                  # as batch.step, in f64 and solved to 1e-10
    g = tape.backward(joint_q=..., joint_qd=...)

The library computes them in f64, whatever the precision of the batch. Tangent vectors have 2 nv numbers, [dq ; dqd] in
the public order of dofs; a quaternion has a rotation vector (docs/gradients.md).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _layout
from ._library import Control as ControlStruct
from ._library import GradientInput, GradientOptions, GradientSteps, State, UnsupportedError, address, lib

if TYPE_CHECKING:
    from .batch import Batch

Real = NDArray[np.float64]

STATUS = {name.removeprefix("SAP_GRADIENT_").lower(): bit for name, bit in _layout.ENUMS["SapGradientStatus"].items()}
INVALID = STATUS["failed"] | STATUS["not_converged"]
CONTROLS = (
    *("joint_f", "joint_target_pos", "joint_target_vel", "joint_act", "body_f"),
    *("tendon_f", "tendon_target_pos", "tendon_target_vel", "tendon_act"),
)
FORCES = ("joint_f", "body_f", "tendon_f")


def input_size(batch: Batch, name: str) -> int:
    """The numbers of an input of a world; an error for a name without derivatives."""
    out = ctypes.c_int()
    batch._call(lib.sap_gradient_input_size, name.encode(), ctypes.byref(out))
    return out.value


@dataclass
class Point:
    """Where steps begin: f64 copies of the state and of the controls of a batch."""

    joint_q: Real
    joint_qd: Real
    control: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, batch: Batch) -> Point:
        control: dict[str, NDArray[Any]] = {name: _copy(batch, name) for name in CONTROLS}
        for name in FORCES:  # absent means 0
            if not control[name].any():
                control[name] = np.zeros(0)
        control["constraint_active"] = np.array(batch._get("constraint_active"))
        return cls(_copy(batch, "joint_q"), _copy(batch, "joint_qd"), control)

    def state_struct(self, batch: Batch) -> Any:
        q, qd = (
            address(name, x, np.float64, tuple(batch._get(name).shape))
            for name, x in (("joint_q", self.joint_q), ("joint_qd", self.joint_qd))
        )
        return State(num_worlds=batch.num_worlds, dtype=1, joint_q=q, joint_qd=qd)

    def control_struct(self, batch: Batch) -> Any:
        found = {name: address(name, x) for name, x in self.control.items() if x.size}
        return ControlStruct(num_worlds=batch.num_worlds, dtype=1, **found)

    @property
    def nbytes(self) -> int:
        return self.joint_q.nbytes + self.joint_qd.nbytes + sum(x.nbytes for x in self.control.values())


def parameters_of(batch: Batch) -> dict[str, NDArray[Any]]:
    """Copies of the parameters that the worlds have of their own."""
    from .batch import PARAMETERS

    return {name: np.array(batch.__dict__[name]) for name in PARAMETERS if name in batch.__dict__}


def _copy(batch: Batch, name: str) -> Real:
    return np.array(batch._get(name), np.float64, order="C")


@dataclass
class Report:
    """What a call says of each world: status bits (STATUS) and the distance from the nearest kink."""

    status: NDArray[np.uint32]
    margin: Real


def call(
    batch: Batch,
    function: Any,
    *arrays: Any,
    point: Point | None = None,
    inputs: Mapping[str, Real] | None = None,
    n: int = 1,
    h: float | None = None,
    tolerance: float = 1e-10,
) -> Report:
    """Calls a function of gradients.h. `inputs`: the arrays of each input."""
    worlds = batch.num_worlds
    options = GradientOptions(tolerance=tolerance, max_iterations=100, kink=1e-6)
    given = dict(inputs or {})
    names = [name.encode() for name in given]
    list_of = (GradientInput * max(1, len(given)))()
    for i, (name, data) in enumerate(zip(names, given.values())):
        list_of[i].name = ctypes.cast(ctypes.c_char_p(name), ctypes.c_void_p)
        list_of[i].data = address("input", data, np.float64)
    report = Report(np.zeros(worlds, np.uint32), np.ones(worlds))
    steps = GradientSteps(h=batch.dt if h is None else h, steps=n, num_inputs=len(given))
    steps.options = ctypes.addressof(options)
    steps.inputs = ctypes.addressof(list_of)
    steps.status, steps.margin = address("status", report.status), address("margin", report.margin)
    if point is not None:
        state, control = point.state_struct(batch), point.control_struct(batch)
        steps.state, steps.control = ctypes.addressof(state), ctypes.addressof(control)
    batch._call(function, ctypes.byref(steps), *(address("array", x, np.float64) for x in arrays))
    return report


@dataclass
class Jacobians:
    """A = dx'/dx, B[name] = dx'/du of the inputs, and how each world went."""

    A: Real
    B: dict[str, Real]
    report: Report


def jacobians(
    batch: Batch, inputs: Iterable[str], n: int = 1, h: float | None = None, point: Point | None = None
) -> Jacobians:
    """The derivatives of n steps with respect to the state and to these inputs."""
    rows = 2 * batch.model.num_dofs
    A = np.zeros((batch.num_worlds, rows, rows))
    B = {name: np.zeros((batch.num_worlds, rows, input_size(batch, name))) for name in inputs}
    report = call(batch, lib.sap_batch_linearize, A, point=point, inputs=B, n=n, h=h)
    return Jacobians(A, B, report)


def vjp(
    batch: Batch,
    end: ArrayLike,
    inputs: Iterable[str] = (),
    n: int = 1,
    h: float | None = None,
    point: Point | None = None,
) -> tuple[Real, dict[str, Real], Report]:
    """end' A, and end' B of each input, for every world."""
    x = np.ascontiguousarray(np.broadcast_to(np.asarray(end, np.float64), (batch.num_worlds, 2 * batch.model.num_dofs)))
    start = np.zeros_like(x)
    out = {name: np.zeros((batch.num_worlds, input_size(batch, name))) for name in inputs}
    report = call(batch, lib.sap_batch_vjp, x, start, point=point, inputs=out, n=n, h=h)
    return start, out, report


def jvp(
    batch: Batch,
    start: ArrayLike,
    inputs: Mapping[str, ArrayLike] | None = None,
    n: int = 1,
    h: float | None = None,
    point: Point | None = None,
) -> tuple[Real, Report]:
    """A start + B u for every world; inputs: {name: u of shape (num_worlds, numbers)}."""
    shape = (batch.num_worlds, 2 * batch.model.num_dofs)
    x = np.array(np.broadcast_to(np.asarray(start, np.float64), shape))
    given = {
        name: np.ascontiguousarray(
            np.broadcast_to(np.asarray(u, np.float64), (batch.num_worlds, input_size(batch, name)))
        )
        for name, u in (inputs or {}).items()
    }
    report = call(batch, lib.sap_batch_jvp, x, point=point, inputs=given, n=n, h=h)
    return x, report


# ---- the tape ----


@dataclass
class Entry:
    """A call of Tape.step."""

    point: Point | None  # None: the segment's checkpoint is stepped again
    control: dict[str, NDArray[Any]]  # what the call wrote, for a segment that is stepped again
    n: int
    h: float
    status: NDArray[np.uint32]


@dataclass
class Gradient:
    """The gradients of a number that depends on the states of a tape.

    start: with respect to the first state, (num_worlds, 2 nv) tangent vectors. inputs[name]: of shape
    (steps, num_worlds, numbers), with respect to the input in each step. status: the bits of all steps of a world.
    """

    start: Real
    inputs: dict[str, Real]
    status: NDArray[np.uint32]


@dataclass
class Tape:
    """Steps of a batch that can be differentiated. `step` takes them in f64 and solves them to 1e-10, whatever the
    options of the batch, so that states and gradients belong to one map.

    every: 0 keeps the state at each step. k > 0 keeps it at every k-th step and the controls at each; `backward` then
    takes the steps of a segment again, which gives the same bits: T/k + k states instead of T, for one more step each.
    """

    batch: Batch
    every: int = 0
    entries: list[Entry] = field(default_factory=list)
    used: bool = False

    def __post_init__(self) -> None:
        if self.every < 0:
            raise ValueError(f"every is {self.every}; it must be >= 0")
        input_size(self.batch, "joint_f")
        call(self.batch, lib.sap_batch_jvp, np.zeros((self.batch.num_worlds, 2 * self.batch.model.num_dofs)))
        self._parameters = parameters_of(self.batch)

    @property
    def nbytes(self) -> int:
        """Bytes of the states and controls that the tape keeps."""
        return sum((e.point.nbytes if e.point else 0) + sum(x.nbytes for x in e.control.values()) for e in self.entries)

    def step(self, n: int = 1, h: float | None = None, **controls: ArrayLike) -> NDArray[np.uint32]:
        """Writes the controls, takes n steps with them and keeps what `backward` needs. Returns status bits (STATUS)
        of every world."""
        self._fresh()
        for name, values in controls.items():
            if name not in CONTROLS:
                raise ValueError(f"{name!r} is not a control with derivatives: {', '.join(CONTROLS)}")
            self.batch._put(name, ..., values)
        try:
            point = Point.of(self.batch)
        except MemoryError:
            raise MemoryError(
                f"a tape of {len(self.entries)} steps keeps {self.nbytes} bytes; `every` > 0 keeps fewer states"
            ) from None
        h = self.batch.dt if h is None else h
        report = call(self.batch, lib.sap_batch_step_exactly, n=n, h=h)
        keep = self.every == 0 or len(self.entries) % self.every == 0
        self.entries.append(Entry(point if keep else None, {} if keep else point.control, n, h, report.status))
        return report.status

    def _fresh(self) -> None:
        if self.used:
            raise RuntimeError("the tape has been used; batch.tape() makes another")

    def _segment(self, first: int, last: int) -> list[Point]:
        """The points of entries first .. last, where first has one."""
        found = self.entries[first].point
        assert found is not None
        points = [found]
        if last == first:
            return points
        from .batch import STATE

        saved = {name: np.array(self.batch._get(name)) for name in STATE}
        dtype = saved["joint_q"].dtype
        for i in range(first, last):
            e = self.entries[i]
            call(self.batch, lib.sap_batch_step_exactly, point=points[-1], n=e.n, h=e.h)
            q, qd = (np.array(self.batch._get(name), dtype).astype(np.float64) for name in STATE)
            points.append(Point(q, qd, self.entries[i + 1].control))
        for name, values in saved.items():
            self.batch._put(name, ..., values)
        return points

    def backward(
        self,
        joint_q: ArrayLike | None = None,
        joint_qd: ArrayLike | None = None,
        inputs: Sequence[str] = (),
        tangents: Mapping[int, ArrayLike] | None = None,
        reset: Mapping[int, ArrayLike] | None = None,
    ) -> Gradient:
        """The gradients with respect to the first state and to `inputs` in each step.

        joint_q, joint_qd: gradients of the number with respect to the arrays joint_q and joint_qd of the last state;
        a quaternion has four. tangents: {t: (num_worlds, 2 nv)} adds gradients with respect to the state after entry
        t, as tangent vectors. reset: {t: mask} of worlds that were reset after entry t: gradients do not pass there.
        A tape is used once.
        """
        self._fresh()
        changed = parameters_of(self.batch)
        if changed.keys() != self._parameters.keys() or any(
            not np.array_equal(x, self._parameters[name], equal_nan=True) for name, x in changed.items()
        ):
            raise RuntimeError(
                "parameters of the worlds changed since the tape began; gradients would be of other steps"
            )
        self.used = True
        batch, T = self.batch, len(self.entries)
        bar = np.zeros((batch.num_worlds, 2 * batch.model.num_dofs))
        if joint_q is not None or joint_qd is not None:
            bar += to_tangent(batch, np.array(batch._get("joint_q"), np.float64), joint_q, joint_qd)
        out = {name: np.zeros((T, batch.num_worlds, input_size(batch, name))) for name in inputs}
        status = np.zeros(batch.num_worlds, np.uint32)
        t = T
        while t > 0:
            first = max(i for i in range(t) if self.entries[i].point is not None)
            points = self._segment(first, t - 1)
            for i in range(t - 1, first - 1, -1):
                e = self.entries[i]
                if reset is not None and i in reset:
                    bar[np.asarray(reset[i], bool)] = 0
                if tangents is not None and i in tangents:
                    bar = bar + np.asarray(tangents[i], np.float64)
                bar, of_inputs, report = vjp(batch, bar, inputs, e.n, e.h, points[i - first])
                status |= report.status
                for name, x in of_inputs.items():
                    out[name][i] = x
            t = first
        return Gradient(bar, out, status)


# ---- quaternions as four numbers ----


def _quaternions(batch: Batch) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    from .linearize import Tangent

    tangent = Tangent(batch.model)
    return tangent.plain, tangent.turns


def to_tangent(batch: Batch, q: Real, q_bar: ArrayLike | None, qd_bar: ArrayLike | None) -> Real:
    """Gradients with respect to joint_q and joint_qd as tangent vectors: of a quaternion, q_bar . 1/2 (e_k, 0) q."""
    from .linearize import quat_mul

    nv = batch.model.num_dofs
    out = np.zeros((batch.num_worlds, 2 * nv))
    if q_bar is not None:
        given = np.asarray(q_bar, np.float64)
        plain, turns = _quaternions(batch)
        for i, k in plain:
            out[:, k] = given[:, i]
        for i, k in turns:
            for axis in range(3):
                e = np.zeros(4)
                e[axis] = 0.5
                out[:, k + axis] = np.sum(
                    given[:, i : i + 4] * quat_mul(np.broadcast_to(e, (len(q), 4)), q[:, i : i + 4]), -1
                )
    if qd_bar is not None:
        out[:, nv:] = np.asarray(qd_bar, np.float64)
    return out


def from_tangent(batch: Batch, q: Real, bar: Real) -> tuple[Real, Real]:
    """The opposite: gradients with respect to joint_q, without a part along a quaternion, and joint_qd: 2 (t, 0) q."""
    from .linearize import quat_mul

    nv = batch.model.num_dofs
    q_bar = np.zeros_like(q)
    plain, turns = _quaternions(batch)
    for i, k in plain:
        q_bar[:, i] = bar[:, k]
    for i, k in turns:
        turn = np.concatenate([2 * bar[:, k : k + 3], np.zeros((len(q), 1))], -1)
        q_bar[:, i : i + 4] = quat_mul(turn, q[:, i : i + 4])
    return q_bar, bar[:, nv:]


__all__ = [
    "CONTROLS",
    "INVALID",
    "STATUS",
    "Gradient",
    "Jacobians",
    "Point",
    "Tape",
    "UnsupportedError",
    "jacobians",
    "jvp",
    "vjp",
]
