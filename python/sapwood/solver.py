"""A solver: the step as a function of your arrays, step(state_in, state_out, control, contacts, h), on the CPU."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _layout
from ._library import _C_TYPES, ArgumentError, BusyError, ForkError, SolverInfo, address, check, lib
from .arguments import integer, nearest
from .arrays import Handle, memory_view
from .batch import _options_of, status_names
from .contacts import Contacts, contacts_of, real_dtype
from .model import Model
from .options import Options
from .support import capability

if TYPE_CHECKING:
    from typing_extensions import Self

_INTERNAL = {name: _C_TYPES[f"Sap{name}"] for name in ("State", "Control", "FreeMotion", "WorldReport", "Profile")}
_ContactReport, _ConstraintReport = _C_TYPES["SapContactReport"], _C_TYPES["SapConstraintReport"]
_DualRecord, _MujocoRows = _C_TYPES["SapDualRecord"], _C_TYPES["SapMujocoRows"]
_STAGES = [name for name in _layout.ENUMS["SapSection"] if name != "SAP_NUM_SECTIONS"]

_REPORT = {
    "status": np.uint32,
    "iterations": np.int32,
    "line_iterations": np.int32,
    "f64_retries": np.int32,
    "cost": np.float64,
    "residual": np.float64,
    "safeguards": np.int32,
    "active": np.int32,
}


class _Arrays:
    """Arrays of one type with a row per world, as a struct of the library. Assignment writes into an array."""

    _struct: Any
    _required: tuple[str, ...] = ()
    num_worlds: int
    dtype: np.dtype[Any]
    _arrays: dict[str, NDArray[Any] | None]
    _dropped: dict[str, NDArray[Any]]  # arrays that were set to None

    def __init__(self, num_worlds: int, dtype: np.dtype[Any], arrays: Mapping[str, NDArray[Any] | None]) -> None:
        self.__dict__.update(num_worlds=num_worlds, dtype=dtype, _arrays=dict(arrays), _dropped={})

    @classmethod
    def _rows(cls, model: Model) -> dict[str, tuple[int, ...]]:
        """The shape of a world's row in each array."""
        raise NotImplementedError

    @classmethod
    def of(cls, model: Model, num_worlds: int, dtype: Any = np.float64) -> Self:
        """What the library creates for a model: its initial state, or its control, in every world."""
        kind, n = real_dtype("dtype", dtype), integer("num_worlds", num_worlds, 1)
        name, made = cls.__name__.lower(), ctypes.c_void_p()
        create, destroy = getattr(lib, f"sap_{name}_create"), getattr(lib, f"sap_{name}_destroy")
        check(create(model.pointer, n, int(kind.itemsize == 8), ctypes.byref(made)))
        try:
            struct = cls._struct.from_address(made.value)
            types = {array: np.dtype(np.int32) if array == "constraint_active" else kind for array in cls._rows(model)}
            views = {
                array: memory_view(getattr(struct, array), (n, *row), types[array], None, False)
                for array, row in cls._rows(model).items()
            }
            out = cls(n, kind, {array: np.array(view) for array, view in views.items()})
        finally:
            destroy(made)
        return out

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_arrays", ()):
            return self._arrays[name]
        kind = type(self).__name__.lower()
        raise AttributeError(f"a {kind} has no {name!r}{nearest(name, self.__dict__.get('_arrays', ()))}")

    def __setattr__(self, name: str, value: Any) -> None:
        array = self.__getattr__(name)
        if value is array:
            return
        if value is not None:
            if array is None:
                array = self._arrays[name] = self._dropped.pop(name)
            array[...] = value
            return
        if name in self._required:
            raise TypeError(f"{name} cannot be None: a {type(self).__name__.lower()} needs it")
        self._dropped[name], self._arrays[name] = array, None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def copy(self) -> Self:
        """A copy with arrays of its own."""
        out = type(self)(self.num_worlds, self.dtype, {})
        copies = {name: None if array is None else array.copy() for name, array in self._arrays.items()}
        out.__dict__.update(_arrays=copies, _dropped={name: array.copy() for name, array in self._dropped.items()})
        return out

    def struct(self) -> Any:
        """The struct of the library, which is valid while the arrays are."""
        addresses = {name: address(name, array) for name, array in self._arrays.items()}
        return self._struct(self.num_worlds, int(self.dtype.itemsize == 8), **addresses)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.num_worlds} worlds, {self.dtype.name}>"


class State(_Arrays):
    """The state of the worlds of a solver: joint_q (n, nq), joint_qd (n, nv); body_q (n, nb, 7) and body_qd (n, nb, 6),
    which steps write unless they are None; actuator_act (n, nu) of MuJoCo's law."""

    _struct = _INTERNAL["State"]
    _required = ("joint_q", "joint_qd")

    @classmethod
    def _rows(cls, model: Model) -> dict[str, tuple[int, ...]]:
        bodies = {"body_q": (model.num_bodies, 7), "body_qd": (model.num_bodies, 6)}
        dofs = {"joint_q": (model.num_coords,), "joint_qd": (model.num_dofs,)}
        return {**dofs, **bodies, "actuator_act": (_num_actuators(model),)}


class Control(_Arrays):
    """The control of the worlds of a solver, as in a batch: joint_f, joint_target_pos, ... For an array that is None
    the step uses the model's values. `guess` (n, nv), in internal order, is the velocity from which the solve starts;
    by default it is None, and the solve starts from the velocity of the state."""

    _struct = _INTERNAL["Control"]

    @classmethod
    def _rows(cls, model: Model) -> dict[str, tuple[int, ...]]:
        dofs = ("joint_f", "joint_target_pos", "joint_target_vel", "joint_act", "guess")
        tendons = ("tendon_target_pos", "tendon_target_vel", "tendon_act", "tendon_f")
        rows: dict[str, tuple[int, ...]] = {name: (model.num_dofs,) for name in dofs}
        rows |= {name: (model.num_tendons,) for name in tendons}
        rows |= {"body_f": (model.num_bodies, 6), "constraint_active": (model.num_constraints,)}
        return {**rows, "actuator_ctrl": (_num_actuators(model),)}

    @classmethod
    def of(cls, model: Model, num_worlds: int, dtype: Any = np.float64) -> Self:
        out = super().of(model, num_worlds, dtype)
        out.guess = None
        return out


def _num_actuators(model: Model) -> int:
    return int(model.mujoco.get("num_actuators", 0)) if model.mujoco is not None else 0


_open_solvers: weakref.WeakSet[Solver] = weakref.WeakSet()


def _after_fork() -> None:
    for solver in list(_open_solvers):
        solver._abandon()


os.register_at_fork(after_in_child=_after_fork)


class Solver:
    """Steps worlds from one state to another, with contacts of the caller, on the CPU.

    >>> solver = sapwood.Solver(sapwood.scene("quadruped"), 16)
    >>> before, after, contacts = solver.state(), solver.state(), solver.contacts()
    >>> solver.collide(before, contacts)
    >>> solver.step(before, after, contacts=contacts)
    >>> solver.status, after.joint_q

    A solver has no state: the arrays are yours. `model`, `preset`, `threads`, `options` and `solver` are as in Batch;
    if no option chooses the contact slots of a world, it has 128. `record` names what steps report in addition to
    `report`. One thread uses a solver at a time; after a fork it belongs to the parent.
    """

    model: Model
    num_worlds: int
    options: Options
    dt: float

    def __init__(
        self,
        model: Model,
        num_worlds: int = 1,
        preset: str | None = None,
        threads: int | None = None,
        options: Options | Mapping[str, Any] | None = None,
        solver: str | None = None,
    ) -> None:
        self._handle: Handle | None = None
        self._pointer: int | None = None
        self._forked, self._lock = False, threading.Lock()
        if not isinstance(model, Model):
            raise TypeError(f"model is a {type(model).__name__}; it must be a sapwood.Model")
        self.num_worlds = integer("num_worlds", num_worlds, 1)
        self.options = _options_of(model, preset, options, solver)
        if self.options["contact_solver"] == "mujoco" and model.mujoco is None and model.imported is not None:
            model = model.imported.model("mujoco") or model
            self.options = _options_of(model, preset, options, solver)
        if threads is not None:
            self.options["threads"] = threads
        self.model, self.dt = model, model.dt
        pointer = ctypes.c_void_p()
        check(
            lib.sap_solver_create(
                model.pointer, self.num_worlds, ctypes.byref(self.options.struct), ctypes.byref(pointer)
            )
        )
        self._handle, self._pointer = Handle(pointer.value, "sap_solver_destroy"), pointer.value
        slots = int(self.options["max_contacts"])
        self.capacity = slots if slots else _layout.BITS["SAP_DEFAULT_CONTACTS"]
        self._kept: dict[str, Any] = {}  # arrays that the library writes in steps
        _open_solvers.add(self)

    # ---- lifetime ----

    def close(self) -> None:
        """Closes the solver. Its memory is freed when the last view of it is deleted."""
        self._handle = self._pointer = None
        self._kept = {}

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a solver can be neither copied nor pickled; copy its model and options")

    def _open(self) -> int:
        if self._forked:
            raise ForkError("the solver was created before this process was forked; create it in this process")
        if self._pointer is None:
            raise ValueError("the solver is closed")
        return self._pointer

    def _abandon(self) -> None:
        """In the child of a fork: closes the solver. Its memory stays."""
        if self._handle is not None:
            self._handle.pointer = None
        self._forked, self._pointer = True, None

    def _call(self, function: Any, *arguments: Any) -> None:
        pointer, handle = self._open(), self._handle
        if not self._lock.acquire(blocking=False):
            raise BusyError("another thread is in a call of this solver; use one solver per thread, or a lock")
        try:
            check(function(pointer, *arguments))
        finally:
            self._lock.release()
            del handle  # another thread may have closed the solver

    # ---- arrays of a step ----

    def state(self, dtype: Any = np.float64) -> State:
        """A new state: the initial one of the model in every world."""
        return State.of(self.model, self.num_worlds, dtype)

    def control(self, dtype: Any = np.float64) -> Control:
        """A new control: the model's in every world."""
        return Control.of(self.model, self.num_worlds, dtype)

    def contacts(self, capacity: int | None = None, dtype: Any = np.float64) -> Contacts:
        """New contacts, none yet, with as many slots as a step can read (max_contacts), or fewer."""
        return Contacts(self.num_worlds, self.capacity if capacity is None else capacity, dtype)

    def _struct(self, name: str, value: Any, kind: type[_Arrays]) -> Any:
        if not isinstance(value, kind):
            raise TypeError(f"{name} is a {type(value).__name__}; it must be a sapwood.{kind.__name__}")
        rows = kind._rows(self.model)
        for array, found in value._arrays.items():
            expected = (self.num_worlds, *rows[array])
            if found is not None and found.shape != expected:
                raise ArgumentError(f"{name}.{array} has shape {found.shape}; this solver needs {expected}")
        return value.struct()

    def _contacts(self, contacts: Any) -> Any:
        found = contacts_of(contacts)
        if found.on_gpu:
            raise TypeError(capability("contacts_in_gpu_memory").reason)
        return found.struct()

    # ---- running ----

    def step(
        self,
        state_in: State,
        state_out: State,
        control: Control | None = None,
        contacts: Contacts | Mapping[str, Any] | None = None,
        h: float | None = None,
    ) -> None:
        """Takes a step of h seconds (default: dt) in all worlds, from state_in to state_out, which may be the same.

        `control` None is the model's. `contacts` are the contacts of the step, None = no contacts: a solver does not
        look for them itself, `collide` does. A world that fails keeps its state; see `status`.
        """
        before, after = self._struct("state_in", state_in, State), self._struct("state_out", state_out, State)
        drive = None if control is None else ctypes.byref(self._struct("control", control, Control))
        touch = None if contacts is None else ctypes.byref(self._contacts(contacts))
        seconds = self.dt if h is None else h
        self._call(lib.sap_step, ctypes.byref(before), drive, touch, seconds, ctypes.byref(after))

    def collide(self, state: State, contacts: Contacts | None = None) -> Contacts:
        """Finds the contacts of every world at `state`, and returns them: `contacts`, or new ones."""
        out = self.contacts() if contacts is None else contacts_of(contacts)
        where, struct = self._struct("state", state, State), self._contacts(out)
        self._call(lib.sap_collide, ctypes.byref(where), ctypes.byref(struct))
        return out

    def forward_kinematics(self, state: State) -> None:
        """Computes body_q and body_qd of a state. Not needed before a step."""
        struct = self._struct("state", state, State)
        self._call(lib.sap_forward_kinematics, ctypes.byref(struct))

    def free_motion(
        self, state: State, control: Control | None = None, h: float | None = None
    ) -> dict[str, NDArray[np.float64]]:
        """What a step of h seconds (default: dt) computes before contact: the arrays of SapFreeMotion, as
        Model.free_motion has them, in the precision of the options."""
        n, nv, nb = self.num_worlds, self.model.num_dofs, self.model.num_bodies
        shapes = {"v_star": (nv,), "A": (nv, nv), "tau": (nv,), "joint_qd": (nv,), "body_pose": (nb, 7)}
        shapes |= {"body_velocity": (nb, 6), "body_bias": (nb, 6), "energy": (2,)}
        out = {name: np.zeros((n, *shape)) for name, shape in shapes.items()}
        result = _INTERNAL["FreeMotion"](**{name: address(name, array) for name, array in out.items()})
        where = self._struct("state", state, State)
        drive = None if control is None else ctypes.byref(self._struct("control", control, Control))
        seconds = self.dt if h is None else h
        self._call(lib.sap_free_motion, ctypes.byref(where), drive, seconds, ctypes.byref(result))
        return out

    # ---- results ----

    @property
    def report(self) -> SimpleNamespace:
        """How the solve of each world ended in the last step: live arrays status, iterations, line_iterations,
        f64_retries, cost, residual, safeguards and active (SapWorldReport)."""
        struct = _INTERNAL["WorldReport"]()
        self._call(lib.sap_solver_report, ctypes.byref(struct))
        n, owner = (self.num_worlds,), self._handle
        views = {name: memory_view(getattr(struct, name), n, kind, owner, False) for name, kind in _REPORT.items()}
        return SimpleNamespace(**views)

    @property
    def status(self) -> NDArray[np.uint32]:
        """Status bits of each world in the last call, a live array."""
        address = lib.sap_solver_world_status(self._open())
        return memory_view(address, (self.num_worlds,), np.uint32, self._handle, False)

    def status_text(self, world: int) -> list[str]:
        """The names of the status bits of one world."""
        return status_names(int(self.status[integer("world", world, 0, self.num_worlds - 1)]))

    def _contact_shapes(self) -> dict[str, tuple[int, ...]]:
        slots, nv, nb = self.capacity, self.model.num_dofs, self.model.num_bodies
        numbers = {"impulse": 3, "velocity": 3, "position": 3, "frame": 9, "pair": 3, "force": 3}
        shapes: dict[str, tuple[int, ...]] = {name: (slots, width) for name, width in numbers.items()}
        shapes |= {"gap": (slots,), "weight": (slots,), "region": (slots,), "jacobian": (slots, 3, nv)}
        shapes |= {"lagged_impulse": (slots,), "slip_width": (slots,)}
        shapes |= {"wrench": (nb, 6), "drive": (nv,), "limit": (nv,), "friction": (nv,)}
        return shapes | {"cache_key": (slots, 3), "cache": (slots, 6), "dof_cache": (nv, 4)}

    def _constraint_shapes(self) -> dict[str, tuple[int, ...]]:
        model, nv = self.model, self.model.num_dofs
        sizes = {"SAP_CONSTRAINT_BALL": 3, "SAP_CONSTRAINT_WELD": 6}
        per_type = {value: sizes.get(name, 1) for name, value in _layout.ENUMS["SapConstraintType"].items()}
        rows, nc, nt = sum(per_type[int(t)] for t in model.constraint_type), model.num_constraints, model.num_tendons
        names = ("impulse", "error", "velocity", "weight", "target", "R")
        shapes: dict[str, tuple[int, ...]] = {name: (rows,) for name in names}
        shapes |= {"jacobian": (rows, nv), "wrench": (nc, 6), "body_wrench": (model.num_bodies, 6), "residual": ()}
        fields = (name for name, _ in _layout.STRUCTS["SapConstraintReport"])
        return shapes | {name: (nt,) for name in fields if name.startswith("tendon_")}

    def _record(
        self, kind: str, struct: Any, names: Iterable[str], shapes: Mapping[str, tuple[int, ...]]
    ) -> SimpleNamespace:
        """Arrays that steps fill, by name; no names = none."""
        wanted = list(names)
        for name in wanted:
            if name not in shapes:
                hint = nearest(name, shapes, f"there are {', '.join(shapes)}")
                raise ArgumentError(f"there is no {name!r} to record{hint}")
        integers = ("region", "cache_key")
        arrays = {
            name: np.zeros((self.num_worlds, *shapes[name]), np.int32 if name in integers else np.float64)
            for name in wanted
        }
        filled = struct(**{name: address(name, array) for name, array in arrays.items()}) if wanted else None
        function = getattr(lib, f"sap_solver_{kind}")
        self._call(function, None if filled is None else ctypes.byref(filled))
        self._kept[kind] = arrays  # only now: until then steps fill the former ones
        return SimpleNamespace(**arrays)

    def record(self, *names: str) -> SimpleNamespace:
        """Makes further steps fill arrays of contacts, bodies and dofs, and returns them; no names stop that.

        Names are fields of SapContactReport (sapwood/solver.h): impulse, velocity, position, frame, gap, weight, pair,
        jacobian, region, force (n, capacity, ...), lagged_impulse and slip_width of the laws similar and lagged, wrench
        (n, nb, 6), drive, limit, friction (n, nv), and the cache of warm_start, cache_key, cache and dof_cache, which
        begins empty.
        """
        return self._record("record", _ContactReport, names, self._contact_shapes())

    def record_constraints(self, *names: str) -> SimpleNamespace:
        """The same for constraints and tendons; names are the fields of SapConstraintReport: impulse, error, velocity,
        wrench, tendon_force, ..."""
        return self._record("record_constraints", _ConstraintReport, names, self._constraint_shapes())

    def record_problem(self, on: bool = True) -> SimpleNamespace:
        """Makes further steps of a solver in impulses copy their problems, and returns the arrays of SapDualRecord:
        num_blocks, kind, W, b, mu, lo, hi, impulse."""
        rows, n = int(lib.sap_solver_problem_rows(self._open())), self.num_worlds
        shapes: dict[str, tuple[int, ...]] = {"num_blocks": (), "kind": (rows,), "W": (rows, rows)}
        shapes |= {name: (rows,) for name in ("b", "mu", "lo", "hi", "impulse")}
        kinds = {"num_blocks": np.int32, "kind": np.int32}
        arrays = {name: np.zeros((n, *shape), kinds.get(name, np.float64)) for name, shape in shapes.items() if on}
        struct = _DualRecord(rows, **{name: address(name, array) for name, array in arrays.items()})
        self._call(lib.sap_solver_record_problem, ctypes.byref(struct) if on else None)
        self._kept["record_problem"] = arrays
        return SimpleNamespace(**arrays)

    def record_rows(self, capacity: int = 256) -> SimpleNamespace:
        """Makes further steps of MuJoCo's law write the rows of their problems, and returns the arrays of
        SapMujocoRows: count, type, id, state, jacobian, pos, margin, velocity, impedance, R, aref, cost, force
        (n, capacity, ...) and qacc. A capacity of 0 stops that."""
        rows, nv, n = integer("capacity", capacity), self.model.num_dofs, self.num_worlds
        shapes: dict[str, tuple[int, ...]] = {"count": (), "type": (rows,), "state": (rows,), "jacobian": (rows, nv)}
        numbers = ("id", "pos", "margin", "velocity", "impedance", "R", "aref", "cost", "force")
        shapes |= {name: (rows,) for name in numbers} | {"qacc": (nv,)}
        kinds = {"count": np.int32, "type": np.int32, "id": np.int32, "state": np.int32}
        arrays = {name: np.zeros((n, *shape), kinds.get(name, np.float64)) for name, shape in shapes.items()}
        struct = _MujocoRows(rows, **{name: address(name, array) for name, array in arrays.items()})
        self._call(lib.sap_solver_record_rows, ctypes.byref(struct) if rows else None)
        self._kept["record_rows"] = arrays
        return SimpleNamespace(**arrays)

    # ---- how it runs ----

    @property
    def info(self) -> dict[str, Any]:
        """Threads, lanes, memory and pairs of shapes (SapSolverInfo)."""
        struct = SolverInfo()
        self._call(lib.sap_solver_info, ctypes.byref(struct))
        out = {name: getattr(struct, name) for name, _ in _layout.STRUCTS["SapSolverInfo"]}
        for name, enum, prefix in (("isa", "SapIsa", "SAP_ISA_"), ("broad_phase", "SapBroadPhase", "SAP_BROAD_PHASE_")):
            text = next(key for key, value in _layout.ENUMS[enum].items() if value == out[name])
            out[name] = text.removeprefix(prefix).lower()
        return out

    def profile(self, on: bool = True) -> None:
        """Starts a profile of the stages of a step at zero, or stops it."""
        self._call(lib.sap_solver_profile, bool(on))

    @property
    def profiled(self) -> dict[str, float]:
        """Seconds of each stage since the profile began, summed over threads."""
        struct = _INTERNAL["Profile"]()
        self._call(lib.sap_solver_profile_read, ctypes.byref(struct))
        return {lib.sap_section_name(i).decode(): struct.seconds[i] for i in range(len(_STAGES))}

    def __repr__(self) -> str:
        return f"<Solver of {self.num_worlds} worlds of {self.model!r}>"
