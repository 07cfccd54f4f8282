"""Dumps of the guard: a world that failed, with the inputs of its last calls, to be stepped again bit for bit.

batch.guard(8)                                   # keep the inputs of the last 8 calls of step
batch.dump(17, "world17.dump")                   # after a step in which world 17 failed
print(sapwood.Dump("world17.dump").replay())     # in this or any other process; also `sapwood replay world17.dump`
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._library import DumpCallStruct, DumpStruct, OptionsStruct, check, lib
from .arguments import integer
from .arrays import Handle, memory_view
from .batch import CONTROL, FAILED, STATE, Batch, status_names
from .model import Model, law_numbers
from .options import Options


@dataclass(frozen=True)
class DumpCall:
    """One call of step: n steps of h seconds, and the status bits of the world after it."""

    n: int
    h: float
    status: int

    @property
    def status_text(self) -> list[str]:
        return status_names(self.status)


@dataclass(frozen=True)
class Replay:
    """The result of stepping a dump again: names of status bits, the step that fails, whether all bits agree."""

    status_text: list[str]
    failed_step: int | None  # 1 is the first step of the last call
    same: bool  # state, status, iterations, cost, residual and contact count


class Dump:
    """The contents of a dump file. Arrays are read-only, of shape (calls, ...), oldest call first.

    joint_q, joint_qd and the control arrays are those before each call; result_q and result_qd the state after the
    last one. `model` and `options` are the batch's, `world` is the world's index among its `num_worlds`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        pointer = ctypes.POINTER(DumpStruct)()
        check(lib.sap_dump_load(path, ctypes.byref(pointer)))
        found = pointer.contents
        self._handle = Handle(ctypes.cast(pointer, ctypes.c_void_p).value, "sap_dump_destroy")
        self.model = Model._part(found.model, self._handle)
        self.model.mujoco = law_numbers(self.model)
        self.world, self.num_worlds = int(found.world), int(found.num_worlds)
        self.options = Options(None)
        ctypes.memmove(ctypes.byref(self.options.struct), ctypes.byref(found.options), ctypes.sizeof(OptionsStruct))
        calls = ctypes.cast(found.calls, ctypes.POINTER(DumpCallStruct))
        self.calls = [DumpCall(c.num_steps, c.h, c.status & 0xFFFFFFFF) for c in calls[: found.num_calls]]
        self.model.dt = self.calls[-1].h
        self.dtype = np.dtype(np.float64 if found.inputs.dtype else np.float32)
        for name in (*STATE, *CONTROL):
            struct = found.inputs if name in STATE else found.controls
            setattr(self, name, self._view(getattr(struct, name), len(self.calls), name))
        self.result_q = self._view(found.results.joint_q, 1, "joint_q")[0]
        self.result_qd = self._view(found.results.joint_qd, 1, "joint_qd")[0]
        self._numbers = {
            "iterations": np.int32(found.iterations),
            "line_iterations": np.int32(found.line_iterations),
            "contact_count": np.int32(found.contact_count),
            "cost": np.float64(found.cost),
            "residual": np.float64(found.residual),
        }

    def _view(self, address: int, rows: int, name: str) -> NDArray[Any]:
        m = self.model
        actuators = m.mujoco["num_actuators"] if m.mujoco else 0
        counts = {"tendon": m.num_tendons, "constraint": m.num_constraints, "actuator": actuators}
        count = counts.get(name.split("_")[0], m.num_dofs)
        width = {"joint_q": (m.num_coords,), "body_f": (m.num_bodies, 6)}.get(name, (count,))
        dtype = np.int32 if name == "constraint_active" else self.dtype
        return memory_view(address, (rows, *width), dtype, self._handle, writable=False)

    def batch(self, call: int = -1, num_worlds: int = 1, options: Options | Mapping[str, Any] | None = None) -> Batch:
        """num_worlds copies of the world, with its parameters and the inputs of a call (default: the last one).

        `step(*)` with the n and h of the call repeats it. `options` are changes of the dump's; those that only choose
        how to run (threads, lanes, ...) do not change bits. By default the batch runs on the CPU.
        """
        call = integer("call", call, -len(self.calls), len(self.calls) - 1) % len(self.calls)
        chosen = self.options.copy()
        chosen["device"] = "cpu"
        chosen.update(options or {})
        pointer = ctypes.c_void_p()
        number = integer("num_worlds", num_worlds, 1)
        struct = ctypes.byref(chosen.struct)
        check(lib.sap_dump_batch(self._handle.pointer, call, number, struct, ctypes.byref(pointer)))
        batch = Batch._of_pointer(self.model, number, chosen, pointer)
        batch.dt = self.calls[call].h
        return batch

    def replay(self, options: Options | Mapping[str, Any] | None = None) -> Replay:
        """Repeats the last call, as `sapwood replay` does."""
        last = self.calls[-1]
        with self.batch(options=options) as batch:
            batch.step(last.n, last.h)
            ours = [batch._get("joint_q")[0], batch._get("joint_qd")[0], *(batch._get(n)[0] for n in self._numbers)]
            theirs = [self.result_q, self.result_qd, *self._numbers.values()]
            status = int(batch._get("status")[0])
        same = status == last.status and all(
            np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(ours, theirs, strict=True)
        )
        return Replay(status_names(status), self._failed_step(options), same)

    def _failed_step(self, options: Any) -> int | None:
        with self.batch(options=options) as batch:
            for step in range(1, self.calls[-1].n + 1):
                batch.step(1, self.calls[-1].h)
                if batch._get("status")[0] & FAILED:
                    return step
        return None

    def __repr__(self) -> str:
        return (
            f"<Dump of world {self.world} of {self.num_worlds} of {self.model!r}: {len(self.calls)} calls, "
            f"{', '.join(self.calls[-1].status_text)}>"
        )
