"""A batch: n worlds of one model, stepped in parallel. Its arrays are views of the library's memory."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _layout, nvrtc, probe
from ._library import (
    BatchInfo,
    BusyError,
    DeviceError,
    ForkError,
    SolverInfo,
    UnsupportedError,
    address,
    check,
    enum_names,
    fail,
    lib,
)
from .arguments import MOST, index_of, integer, nearest, world_mask
from .arrays import BatchHandle, DeviceArray, batch_array
from .contacts import Contacts, contacts_of, is_on_gpu
from .contacts import Struct as _ContactsStruct
from .keys import world_noise
from .mjdata import MjNames
from .model import Model, parameter_of
from .options import Options
from .rays import RayHits, RaySensor, raycast
from .sensors import declare
from .support import capability

if TYPE_CHECKING:
    from ._arrays import BatchArrays
    from .gradients import Tape
else:
    BatchArrays = object

FIELDS = enum_names("SapBatchField", "SAP_BATCH_")  # joint_q: 0, joint_qd: 1, ...
PARAMETERS = enum_names("SapParameter", "SAP_PARAMETER_")  # gravity: 0, body_mass: 1, ...
STATE = ("joint_q", "joint_qd")
CACHE = ("cache_key", "cache", "dof_cache", "actuator_act")  # of the option warm_start; of MuJoCo's law
CONTROL = (
    "joint_f",
    "body_f",
    "joint_target_pos",
    "joint_target_vel",
    "joint_act",
    "constraint_active",
    "tendon_target_pos",
    "tendon_target_vel",
    "tendon_act",
    "tendon_f",
    "actuator_ctrl",
)
BODIES = ("body_q", "body_qd")
TOUCH = {name for name in FIELDS if name.startswith("touch_")}
READINGS = tuple(
    name for name in FIELDS if name.startswith(("site_", "touch_", "ray_")) or name in ("qacc", "joint_torque")
)
RESULTS = {  # which every batch has
    *("status", "iterations", "line_iterations", "safeguards", "active", "cost", "residual"),
    *("contact_count", "contact_dropped", "contact_shape0", "contact_shape1", "contact_point0", "contact_point1"),
    *("contact_normal", "contact_margin0", "contact_margin1"),
}

_CONTACT_REALS = ("point0", "point1", "normal", "margin0", "margin1")

NONFINITE_STATE = _layout.BITS["SAP_WORLD_NONFINITE_STATE"]
FAILED = _layout.BITS["SAP_WORLD_FAILED"]
NOT_CONVERGED = _layout.BITS["SAP_WORLD_NOT_CONVERGED"]
COST_STALLED = _layout.BITS["SAP_WORLD_COST_STALLED"]
UNBOUNDED = _layout.BITS["SAP_WORLD_UNBOUNDED"]
NOT_COULOMB = _layout.BITS["SAP_WORLD_COULOMB_NOT_CONVERGED"]
_STATUS_BITS = {
    name.removeprefix("SAP_WORLD_").lower(): bit
    for name, bit in _layout.BITS.items()
    if name.startswith("SAP_WORLD_") and bit.bit_count() == 1
}


def status_names(status: int) -> list[str]:
    """The names of status bits: "nonfinite_state", ..."""
    return [name for name, bit in _STATUS_BITS.items() if status & bit]


def _device_options(device: str) -> dict[str, str]:
    """The options for a device "cpu", "cuda" or "cuda:1"."""
    kind, colon, index = device.partition(":")
    if kind not in ("cpu", "cuda") or (colon and (kind == "cpu" or not index.isdecimal())):
        raise DeviceError(f"device is {device!r}; it must be 'cpu', 'cuda' or 'cuda:0', 'cuda:1', ...")
    return {"device": kind, "cuda_device": index} if colon else {"device": kind}


def _options_of(model: Model, preset: str | None, options: Any, solver: str | None = None) -> Options:
    if isinstance(options, Options):
        out = options.copy()
    else:
        out = model.options.copy() if model.options is not None else Options()
        if preset is not None:
            out["preset"] = preset
        out.update(options or {})
    if solver is not None:
        out["contact_solver"] = solver
    return out


_open_batches: weakref.WeakSet[Batch] = weakref.WeakSet()


def _after_fork() -> None:
    for batch in list(_open_batches):
        batch._abandon()


os.register_at_fork(after_in_child=_after_fork)


class Batch(MjNames, BatchArrays):
    """num_worlds worlds of one model.

    Arrays are attributes: live, writable, zero-copy, of shape (num_worlds, ...), at a fixed address:

    | state | joint_q, joint_qd, body_q, body_qd |
    | control | joint_f, body_f, joint_target_pos, joint_target_vel, joint_act, constraint_active,
      tendon_target_pos, tendon_target_vel, tendon_act, tendon_f, actuator_ctrl |
    | results | status, asleep, iterations, line_iterations, safeguards, active, cost, residual |
    | contacts of the last step | contact_count, contact_dropped, contact_shape0, contact_shape1, contact_point0,
      contact_point1, contact_normal, contact_margin0, contact_margin1; `contacts` has all of them |
    | the same, from their first access on | contact_body0, contact_body1; of contacts of the caller also
      contact_stiffness, contact_tau, contact_mu, contact_dissipation, contact_key, contact_mujoco |
    | recorded from their first access on | contact_impulse, contact_velocity, contact_position,
      contact_frame, contact_gap, contact_region, contact_force, body_contact_wrench, constraint_impulse,
      constraint_error, constraint_velocity, constraint_wrench, body_constraint_wrench, constraint_residual,
      tendon_length, tendon_velocity, tendon_force and its parts, joint_drive_force, joint_limit_force,
      joint_friction_force, joint_constraint_force |
    | rows of MuJoCo's law, from their first access on | row_count, row_active, row_type, row_id, row_state,
      row_position, row_margin, row_velocity, row_impedance, row_regularization, row_reference, row_cost, row_force |
    | sleeping trees, from their first access on | tree_asleep, tree_rest |
    | sensors, from their first access on | qacc, joint_torque; after `set_sensors` site_q, site_qd, site_gyro,
      site_accelerometer, touch_found, touch_first, touch_force, touch_pressure, touch_friction, touch_most,
      touch_contact_time, touch_air_time, touch_last_air_time, ray_distance, ray_normal, ray_shape |
    | start of the last step, from its first access on | step_start |
    | contact cache of the option warm_start | cache_key, cache, dof_cache |
    | activations of MuJoCo's law, a part of its state | actuator_act |
    | per-world parameters, after `expand` | body_mass, shape_material_mu, gravity, ... |
    | MuJoCo's names (mjdata.py) | qpos, qvel, ctrl, act, eq_active, xpos, xquat, site_xpos, sensordata, time |

    Options come from the model's scene file, if it has one, then `preset` (fast32 without a scene), then
    `options`: a mapping of changes, or an Options, which replaces all of this. If none of them chooses the number of
    contact slots of a world (max_contacts is 0), a probe does (sapwood/batch.h). `solver` is the option
    contact_solver: "sap", "mujoco", ... With "mujoco" the `model` of the batch is an MJCF model as
    law="mujoco" imports it, unless it was changed after its import; what this law loses gives warnings, or an error,
    as `quiet` and `strict` of the import say. `dtype` is the type of state and control; by default
    the precision of the preset's free motion. `seed` and `world_offset` are used by `perturb`: world w of this batch is
    world world_offset + w of a larger one.

    `device` is "cpu", "cuda", "cuda:1", ...; by default the option's. On a GPU arrays are DeviceArrays, except
    the per-world parameters, and calls return before their work is done; `numpy()` of an array waits.

    `batch.joint_q = x` writes into the array, as `batch.joint_q[...] = x`. One thread uses a batch at a time: a call
    while another thread is in one raises BusyError. A process that forks keeps its batches; in the child they raise
    ForkError, because their threads were not copied. A batch can be neither copied nor pickled; its model can, and
    `get_state` returns the state.
    """

    model: Model
    num_worlds: int
    seed: int
    world_offset: int
    options: Options
    device: str
    _handle: BatchHandle | None
    _follow: Any  # of the handle, on a GPU; else None
    _pointer: int | None
    _argument: ctypes.c_void_p
    _step: Any
    _dt: ctypes.c_double
    _lock: threading.Lock
    _forked: bool
    _inner: Batch | None  # the perturbed worlds of `linearize`
    _sensed: tuple[str, ...]  # prefixes of the arrays of declared sensors

    def __init__(
        self,
        model: Model,
        num_worlds: int,
        device: str | None = None,
        preset: str | None = None,
        threads: int | None = None,
        seed: int = 0,
        world_offset: int = 0,
        options: Options | Mapping[str, Any] | None = None,
        dtype: Any = None,
        solver: str | None = None,
    ) -> None:
        self._handle, self._pointer, self._forked, self._lock = None, None, False, threading.Lock()
        self._inner, self._sensed = None, ()
        if not isinstance(model, Model):
            raise TypeError(f"model is a {type(model).__name__}; it must be a sapwood.Model")
        self.num_worlds = integer("num_worlds", num_worlds, 1)
        self.seed, self.world_offset = integer("seed", seed, 0, 2**64 - 1), integer("world_offset", world_offset)
        self.options = _options_of(model, preset, options, solver)
        if self.options["contact_solver"] == "mujoco" and model.mujoco is None and model.imported is not None:
            model = model.imported.model("mujoco") or model
            self.options = _options_of(model, preset, options, solver)
        self.model = model
        if device is not None:
            self.options.update(_device_options(device))
        self.device = self.options["device"]
        if threads is not None:
            self.options["threads"] = threads
        if self.options["max_contacts"] == probe.UNSET:
            self.options["max_contacts"] = probe.contact_capacity(model, self.options)
        self._create(dtype)
        self._prepare_names()

    def _create(self, dtype: Any) -> None:
        pointer, options = ctypes.c_void_p(), ctypes.byref(self.options.struct)
        if self.device != "cpu" and self.options["specialize"] != "off":
            nvrtc.preload()
        if dtype is None:
            status = lib.sap_batch_create(self.model.pointer, self.num_worlds, options, ctypes.byref(pointer))
        else:
            kind = {"float32": 0, "float64": 1}.get(np.dtype(dtype).name)
            if kind is None:
                raise TypeError(f"dtype is {np.dtype(dtype).name}; it must be float32 or float64")
            status = lib.sap_batch_create_as(self.model.pointer, self.num_worlds, options, kind, ctypes.byref(pointer))
        check(status)
        self._take(pointer)

    @classmethod
    def _of_pointer(cls, model: Model, num_worlds: int, options: Options, pointer: ctypes.c_void_p) -> Batch:
        """The batch that a function of the library has created."""
        self = cls.__new__(cls)
        self._handle, self._pointer, self._forked, self._lock = None, None, False, threading.Lock()
        self._inner, self._sensed = None, ()
        self.model, self.num_worlds, self.seed, self.world_offset = model, num_worlds, 0, 0
        self.options, self.device = options, options["device"]
        self._take(pointer)
        self._prepare_names()
        return self

    def _take(self, pointer: ctypes.c_void_p) -> None:
        self._handle = BatchHandle(pointer.value, None if self.device == "cpu" else int(self.options["cuda_device"]))
        self._follow = None if self.device == "cpu" else self._handle.follow
        # Arguments that are ctypes objects, and a function without a prototype, halve the time of a call.
        self._step, self._pointer, self._argument = lib.unchecked("sap_batch_step"), pointer.value, pointer
        self.dt = self.model.dt
        _open_batches.add(self)

    # ---- lifetime ----

    def close(self) -> None:
        """Closes the batch. Its memory is freed when the last of its arrays is deleted."""
        for name in (*FIELDS, *PARAMETERS):
            self.__dict__.pop(name, None)
        self._handle = self._pointer = self._inner = self._follow = None
        self._argument = ctypes.c_void_p()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a batch can be neither copied nor pickled; copy its model, and its state with get_state")

    def _open(self) -> int:
        if self._forked:
            raise ForkError("the batch was created before this process was forked; create it in this process")
        if self._pointer is None:
            raise ValueError("the batch is closed")
        return self._pointer

    def _abandon(self) -> None:
        """In the child of a fork: closes the batch. Its memory stays, because freeing it would wait for its threads."""
        if self._handle is not None:
            self._handle.pointer = None
        self._forked, self._pointer, self._argument, self._follow = True, None, ctypes.c_void_p(), None

    def _take_turn(self) -> threading.Lock:
        """The lock of the batch, to be released after the call."""
        if not self._lock.acquire(blocking=False):
            raise BusyError("another thread is in a call of this batch; use one batch per thread, or a lock")
        return self._lock

    def _call(self, function: Any, *arguments: Any) -> None:
        """Calls a function of the library with the batch as its first argument."""
        pointer, handle, lock = self._open(), self._handle, self._take_turn()
        try:
            if self._follow:
                self._follow()
            check(function(pointer, *arguments))
        finally:
            lock.release()
            del handle  # another thread may have closed the batch

    # ---- arrays ----

    if not TYPE_CHECKING:  # which knows the names by _arrays.pyi

        def __getattr__(self, name: str) -> Any:
            if name in PARAMETERS:
                raise AttributeError(f"the worlds have no {name!r} of their own; batch.expand({name!r}) gives them one")
            if name not in FIELDS:
                hint = nearest(name, dir(self)) or f"; its arrays are {', '.join(FIELDS)}"
                raise AttributeError(f"a batch has no {name!r}{hint}")
            return self._show(name, lib.sap_batch_array, FIELDS[name])

        def __setattr__(self, name: str, value: Any) -> None:
            if name in FIELDS or name in PARAMETERS:
                if value is not getattr(self, name):  # the end of `batch.joint_q += 1` assigns the array to itself
                    self._put(name, ..., value)
            elif hasattr(type(self), name) or name in Batch.__annotations__ or name in MjNames.__annotations__:
                super().__setattr__(name, value)
            else:
                raise AttributeError(f"a batch has no {name!r}{nearest(name, dir(self))}")

    def _show(self, name: str, function: Any, index: int) -> Any:
        """Creates the view of an array and stores it as an attribute."""
        self._open()
        assert self._handle
        lock = self._take_turn()
        try:
            self._handle.follow()
            array = self.__dict__[name] = batch_array(function, index, self._handle)
        finally:
            lock.release()
        return array

    def _get(self, name: str) -> NDArray[Any]:
        """An array in host memory: the array itself, or a copy."""
        array = getattr(self, name)
        return array.numpy() if isinstance(array, DeviceArray) else array

    def _put(self, name: str, index: Any, values: ArrayLike) -> None:
        """array[index] = values, in host or GPU memory."""
        array = getattr(self, name)
        if isinstance(array, DeviceArray):
            copy = array.numpy()
            copy[index] = values
            array.write(copy)
        else:
            array[index] = values

    @property
    def status_int32(self) -> Any:
        """`status` as int32, over the same memory: torch has few operations for uint32."""
        return self.status.view(np.int32)

    def expand(self, name: str) -> NDArray[Any]:
        """Gives every world its own copy of a model array: (num_worlds, ...), live, initialised from the model. Its
        type is f64, and int32 for whole numbers, as of shape_mesh, by which worlds choose height fields
        (terrain.choose).

        `name` is one of PARAMETERS; those that begin with mujoco_ are for solver="mujoco" (docs/mujoco.md). Written
        values take effect at the next call, without notification; world w then has the same results, bit for bit, as a
        model with these values. A world with values that violate a rule of models is not stepped, and its status is
        bad_parameters; `check_parameters` reports the reason. A reset does not change parameters.
        """
        if name not in PARAMETERS:
            hint = nearest(name, PARAMETERS, f"these can: {', '.join(PARAMETERS)}")
            raise ValueError(f"{name!r} cannot be expanded{hint}")
        found = self.__dict__.get(name)
        array: NDArray[Any] = self._show(name, lib.sap_batch_expand, PARAMETERS[name]) if found is None else found
        return array

    @property
    def expanded(self) -> list[str]:
        """The parameters with per-world values."""
        return [name for name in PARAMETERS if name in self.__dict__]

    def check_parameters(self) -> None:
        """Raises ModelError with world, array, value and rule if a written value violates a rule of the model."""
        self._call(lib.sap_batch_check_parameters)

    def update_weights(self, worlds: ArrayLike | None = None) -> None:
        """With MuJoCo's law: computes the weights of worlds (default all) from their own masses, inertias, centres of
        mass and armature at the model's initial coordinates, as mj_setConst does, into mujoco_body_invweight,
        mujoco_dof_invweight, ..., which it expands."""
        flags = None if worlds is None else world_mask(worlds, self.num_worlds)
        self._call(lib.sap_mujoco_update_weights, address("worlds", flags))

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *FIELDS, *PARAMETERS]

    @property
    def names(self) -> dict[str, list[str]]:
        """Names of bodies, joints, shapes, constraints and tendons, in the order of the arrays."""
        kinds = ("body", "joint", "shape", "constraint", "tendon")
        return {kind: getattr(self.model, f"{kind}_name") for kind in kinds}

    @property
    def memory(self) -> int:
        """Memory of the batch in bytes."""
        return int(lib.sap_batch_bytes(self._open()))

    @property
    def stats(self) -> dict[str, Any]:
        """Statistics of the last step: failed worlds, how the solves ended, iterations, contacts."""
        status, iterations, contacts = (self._get(name) for name in ("status", "iterations", "contact_count"))
        return {
            "failed": int(np.count_nonzero(status & FAILED)),
            "not_converged": int(np.count_nonzero(status & NOT_CONVERGED)),
            "cost_stalled": int(np.count_nonzero(status & COST_STALLED)),
            "unbounded": int(np.count_nonzero(status & UNBOUNDED)),
            "coulomb_not_converged": int(np.count_nonzero(status & NOT_COULOMB)),
            "safeguarded": int(np.count_nonzero(self._get("safeguards"))),
            "residual_max": float(self._get("residual").max()),
            "iterations_mean": float(iterations.mean()),
            "iterations_max": int(iterations.max()),
            "contacts_mean": float(contacts.mean()),
            "contacts_max": int(contacts.max()),
            "contacts_dropped": int(self._get("contact_dropped").sum()),
            **self.info,
        }

    @property
    def info(self) -> dict[str, Any]:
        """The device: contact slots (capacity), threads, lanes and instruction set in use; on a GPU its name and the
        launch configuration."""
        batch = BatchInfo()
        check(lib.sap_batch_info(self._open(), ctypes.byref(batch)))
        if self.device != "cpu":
            names = [
                name for name, _ in _layout.STRUCTS["SapBatchInfo"] if name not in ("device", "num_worlds", "stream")
            ]
            used = {name: getattr(batch, name) for name in names}
            names = [name for name, kind in _layout.STRUCTS["SapBatchInfo"] if kind == "ptr" and name != "stream"]
            texts = {name: ctypes.string_at(getattr(batch, name)).decode() for name in names}
            return {"device": "cuda", **used, **texts}
        info = SolverInfo()
        check(lib.sap_solver_info(lib.sap_batch_solver(self._open()), ctypes.byref(info)))
        isa = next(n for n, value in _layout.ENUMS["SapIsa"].items() if value == info.isa)
        isa = isa.removeprefix("SAP_ISA_").lower()
        used = {"capacity": batch.capacity, "threads": info.threads, "lanes": info.lanes, "isa": isa}
        return {"device": "cpu", **used}

    def status_text(self, world: int) -> list[str]:
        """The names of the status bits of one world."""
        status = self._get("status")[integer("world", world, 0, self.num_worlds - 1)]
        return status_names(int(status))

    # ---- stepping ----

    @property
    def dt(self) -> float:
        """Default time step in s; initially the model's."""
        return self._dt.value

    @dt.setter
    def dt(self, h: float) -> None:
        self._dt = ctypes.c_double(h)

    def step(self, n: int = 1, h: float | None = None, contacts: Contacts | Mapping[str, Any] | None = None) -> None:
        """Takes n steps of h seconds (default: dt).

        With `contacts` the steps have these in place of their own: Contacts, or a mapping of their arrays, of numpy, or
        on a GPU also in its memory. The same records hold in all n steps. The arrays contact_... of the batch become
        theirs. A world with more contacts than the batch has slots keeps the first and counts the others in
        contact_dropped; the option given_contacts is the least number of slots (docs/contacts.md).
        """
        if type(n) is not int or n > MOST:
            n = integer("n", n)
        seconds = self._dt if h is None else ctypes.c_double(h)
        given = None if contacts is None else self._given(contacts)
        if not self._converts_controls():
            self._keep_controls()
            return self._advance(n, seconds, given)
        # Thrusters turn with their bodies, and activations change: their forces are converted again before each step.
        for count in [1] * n if self._actuation().changes else [n]:
            self._write_controls(slice(None), self.ctrl, seconds.value)
            self._keep_controls()
            self._advance(count, seconds, given)
            self._advance_activations(seconds.value)

    @property
    def contacts(self) -> Contacts:
        """The contacts of the last step, as views of the arrays contact_count, contact_point0, ... of the batch."""
        names = ("count", "dropped", "shape0", "shape1", *_CONTACT_REALS)
        return Contacts.of(**{name: getattr(self, f"contact_{name}") for name in names})

    def _given(self, contacts: Contacts | Mapping[str, Any]) -> Any:
        """The struct of contacts for a step. On a GPU, arrays of numpy are copied into arrays of the batch."""
        found = contacts_of(contacts)
        on_gpu = [is_on_gpu(array) for _, array in found.items()]
        if self.device == "cpu" and any(on_gpu):
            raise DeviceError(capability("contacts_in_gpu_memory").reason)
        if self.device != "cpu" and any(on_gpu) != all(on_gpu):
            raise DeviceError("some arrays of the contacts are in GPU memory and some are not; all must be")
        if self.device == "cpu" or all(on_gpu) or found.num_worlds != self.num_worlds:
            return found.struct()
        own: dict[str, Any] = {}
        for name, array in found.items():
            own[name] = getattr(self, f"contact_{name}")
            rows = own[name].numpy()
            if name in ("count", "dropped"):
                rows[...] = array
            else:
                rows[:, : found.capacity] = array[:, : rows.shape[1]]
            own[name].write(rows)
        reals = next((own[name].dtype for name in _CONTACT_REALS if name in own), np.dtype(np.float64))
        addresses = {name: array.pointer for name, array in own.items()}
        capacity = min(found.capacity, self.info["capacity"])
        if capacity < self.info["capacity"]:  # slots of the batch beyond the arrays
            own["count"].write(np.minimum(found.count, capacity))
            lost = np.maximum(found.count, capacity) - capacity + (0 if found.dropped is None else found.dropped)
            dropped: Any = self.contact_dropped  # a DeviceArray
            dropped.write(lost)
            addresses["dropped"] = dropped.pointer
        return _ContactsStruct(self.num_worlds, self.info["capacity"], int(reals.itemsize == 8), **addresses)

    def _advance(self, n: int, h: ctypes.c_double, given: Any = None) -> None:
        handle, lock = self._handle, self._lock  # the handle keeps the memory if another thread closes the batch
        if not lock.acquire(False):
            self._take_turn()
        try:
            if self._follow:
                self._follow()
            if given is None:
                status = self._step(self._argument, h, n)
            else:
                status = lib.sap_batch_step_contacts(self._argument, ctypes.byref(given), h, n)
            if status:
                self._open()
                fail(status)
            self._clock.now += n * h.value
        finally:
            lock.release()
        del handle

    def _with_mask(self, worlds: Any, function: Any, *arguments: Any) -> NDArray[np.bool_] | None:
        """Calls function(batch, address of the mask, ...) and returns the mask.

        On a GPU a mask may also be in its memory; then the result is None.
        """
        if worlds is None:
            self._call(function, None, *arguments)
            return np.ones(self.num_worlds, bool)
        interface = getattr(worlds, "__cuda_array_interface__", None) if self.device == "cuda" else None
        if interface is None:
            flags = world_mask(worlds, self.num_worlds)
            self._call(function, address("worlds", flags), *arguments)
            return flags
        if tuple(interface["shape"]) != (self.num_worlds,):
            raise ValueError(f"the mask has shape {interface['shape']}; it must be {(self.num_worlds,)}")
        if interface["typestr"] not in ("|b1", "|u1") or interface.get("strides") not in (None, (1,)):
            raise ValueError(
                f"the mask has elements {interface['typestr']!r}; it must have bytes or booleans without gaps"
            )
        self._call(function, interface["data"][0], *arguments)
        return None

    def reset(self, worlds: ArrayLike | None = None, keyframe: int | str = 0) -> None:
        """Resets worlds (default all) to a keyframe: 0 is the initial state, k the k-th, or a name.

        `worlds` is a mask if it has booleans, and a list of worlds if it has integers. The control is the
        model, or of the keyframe of a MuJoCo model; `time` starts again. A mask in GPU memory resets neither of them.
        """
        if isinstance(keyframe, str):
            keyframe = 1 + index_of("keyframe", keyframe, self.model.keyframe_name)
        keyframe = integer("keyframe", keyframe)
        mask = self._with_mask(worlds, lib.sap_batch_reset, keyframe)
        if mask is not None:
            self._start_controls(mask, keyframe)

    def forward_kinematics(self, worlds: ArrayLike | None = None) -> None:
        """Updates body_q and body_qd after joint_q or joint_qd was written. Not needed before a step.

        `worlds` as in `reset`.
        """
        self._with_mask(worlds, lib.sap_batch_forward_kinematics)

    def assemble(self, worlds: ArrayLike | None = None) -> NDArray[np.float64]:
        """Moves the coordinates of worlds (default all) onto their constraints; their velocities become 0.

        Use it after a reset to coordinates that do not close the loops. Returns the largest error that is left in each
        world, m or rad: nan where a world cannot be assembled and keeps its state, 0 where it was not chosen.
        """
        residual = np.zeros(self.num_worlds)
        flags = None if worlds is None else world_mask(worlds, self.num_worlds)
        self._call(lib.sap_batch_assemble, address("worlds", flags), address("residual", residual))
        return residual

    def attach(self, constraint: int | str, worlds: ArrayLike | None = None) -> None:
        """Activates a weld and makes it hold the present pose of its bodies, as when a gripper grasps.

        `constraint` is an index or a name. Set `constraint_active` to 0 to let go.
        """
        if isinstance(constraint, str):
            constraint = index_of("constraint", constraint, self.model.constraint_name)
        flags = None if worlds is None else world_mask(worlds, self.num_worlds)
        self._call(lib.sap_batch_attach, integer("constraint", constraint), address("worlds", flags))

    def set_stream(self, stream: int | None) -> None:
        """On a GPU: sets the CUDA stream (an address) for later work.

        None, the default: torch's current stream at each call, if torch is imported and uses the GPU, else a stream of
        the batch, which is ordered with the default stream. A stream that captures a graph does not wait for earlier
        work; a graph that another library captures takes in calls of the batch once its stream is set here.
        """
        if self.device == "cpu":
            return self._call(lib.sap_batch_set_stream, stream)
        self._open()
        assert self._handle and self._handle.streams
        lock = self._take_turn()
        try:
            self._handle.streams.set(stream)
        finally:
            lock.release()

    def upload_parameters(self) -> None:
        """On a GPU: copies changed per-world parameters to it now, for graphs that are launched afterwards.

        Calls of the batch do so by themselves. A captured graph has no such calls; and calls that find changes while
        they are captured raise UnsupportedError. `expand` parameters before the capture.
        """
        self._call(lib.sap_batch_upload_parameters)

    def synchronize(self) -> None:
        """Waits for all work queued on a GPU."""
        self._call(lib.sap_batch_synchronize)

    def rollout(
        self,
        controls: Mapping[str, ArrayLike],
        record: Sequence[str] = STATE,
        n: int = 1,
        h: float | None = None,
        length: int | None = None,
    ) -> dict[str, NDArray[Any]]:
        """For every t: writes controls[name][t] to the array `name`, takes n steps, and records copies of arrays.

        Returns {name: array of shape (T, num_worlds, ...)}. T is the length of the controls, or `length` without any.
        """
        inputs = {name: np.asarray(values) for name, values in controls.items()}
        lengths = {len(values) for values in inputs.values()} | ({length} if length is not None else set())
        if len(lengths) != 1:
            raise ValueError(f"controls (and length) have the lengths {sorted(lengths)}; they must have one")
        length = lengths.pop()
        out = {name: np.empty((length, *getattr(self, name).shape), getattr(self, name).dtype) for name in record}
        for t in range(length):
            for name, values in inputs.items():
                self._put(name, ..., values[t])
            self.step(n, h)
            for name, kept in out.items():
                kept[t] = self._get(name)
        return out

    def linearize(
        self,
        eps: float = 1e-5,
        h: float | None = None,
        control: str = "joint_f",
        method: str | None = None,
        n: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The derivatives of n steps of h seconds (default: dt) at the state and control of every world.

        A = dx'/dx of shape (num_worlds, 2 nv, 2 nv) and B = dx'/du of shape (num_worlds, 2 nv, nv), with x = [q ; qd]
        in public dof order and u the array `control`, by default joint_f. A quaternion has three tangent coordinates, a
        rotation vector (docs/python.md). The batch itself does not change. A world that cannot be stepped gets NaN.

        method "analytic" (docs/gradients.md) takes as control any input with derivatives, a parameter too, and ignores
        eps. "differences" are central with the step `eps`, of joint_f, joint_target_pos, joint_target_vel or joint_act.
        Both are in f64 with tight tolerances whatever the options of the batch. By default analytic where the batch
        has it (`capability("gradients", ...)`), else differences. sapwood.gradients has the derivatives with respect
        to several inputs, their status, and products with vectors.
        """
        from . import linearize

        if not (eps > 0 and np.isfinite(eps)):
            raise ValueError(f"eps is {eps}; it must be finite and > 0")
        integer("n", n, 1)
        if method not in (None, "analytic", "differences"):
            raise ValueError(f"method is {method!r}; it must be 'analytic' or 'differences'")
        if method != "differences":
            from . import gradients

            if control not in (*gradients.CONTROLS, *PARAMETERS):
                hint = nearest(control, gradients.CONTROLS, f"it must be one of {', '.join(gradients.CONTROLS)}")
                raise ValueError(f"control is {control!r}{hint}")
            try:
                found = gradients.jacobians(self, [control], n, h)
                return found.A, found.B[control]
            except UnsupportedError:
                if method == "analytic":
                    raise
        if control not in linearize.CONTROLS:
            hint = nearest(control, linearize.CONTROLS, f"it must be one of {', '.join(linearize.CONTROLS)}")
            raise ValueError(f"control is {control!r}{hint}")
        self._open()
        if self._inner is None:
            moves = 6 * self.model.num_dofs
            worlds = moves * max(1, min(self.num_worlds, linearize.WORLDS // moves))
            options = Options.of(None, self.options)
            options.update(linearize.EXACT)
            self._inner = Batch(self.model, worlds, options=options, dtype=np.float64)
        return linearize.linearize(self, self._inner, eps, self.dt if h is None else h, control, n)

    def tape(self, every: int = 0) -> Tape:
        """A tape, whose steps can be differentiated: `tape.step(joint_f=...)`, `tape.backward(joint_q=...)`.

        every > 0 keeps only every k-th state (sapwood/gradients.py).
        """
        from .gradients import Tape

        return Tape(self, every)

    # ---- rays ----

    def raycast(
        self,
        origins: Any,
        directions: Any,
        *,
        body: int | str | None = None,
        axes: str = "body",
        sees: str = "all",
        exclude_body: int | str | None = None,
        max_distance: float = np.inf,
        out: RayHits | None = None,
    ) -> RayHits:
        """Casts rays in every world, at the poses of body_q: what each meets first (docs/sensors.md).

        `origins` and `directions` are (m, 3), the same in all worlds, or (num_worlds, m, 3); a direction has any length
        but 0. `body` (index or name) carries the rays: they are given in its frame, with the axes of the "body",
        its "heading" (z up, x forward) or the "world". `sees` is "all", "static" (terrain) or "bodies"; the shapes of
        `exclude_body` are not seen. Returns distance (num_worlds, m), normal (num_worlds, m, 3) and shape; distance is
        -1 and shape negative where nothing is met within `max_distance`.

        `out` receives the results, without allocation; an entry None is not computed. On a GPU the arrays are
        numpy's, which are copied, or all in GPU memory (torch, cupy), and then `out` is required.
        """
        return raycast(self, origins, directions, body, axes, sees, exclude_body, max_distance, out)

    def set_sensors(self, sites: Sequence[Any] = (), touch: Sequence[Any] = (), rays: Sequence[RaySensor] = ()) -> None:
        """Declares the sensors of the batch, once. Their readings are arrays (docs/sensors.md).

        A site is a body (index or name; None: the world), or a pair of a body and a pose in it (7 numbers: position,
        quaternion x y z w). A contact sensor is a body, a pair of a body and what it touches: "any", "static" or
        another body, or a TouchSensor, which can name shapes. Rays belong to RaySensors, such as height scans and
        lidars; in the arrays one sensor follows the other. Readings begin with the first access of their array: site_q,
        site_qd, site_gyro, site_accelerometer, touch_found, touch_force, ray_distance, ...; qacc and joint_torque need
        no declaration.
        """
        declare(self, sites, touch, rays)
        kinds = {"site_": sites, "touch_": touch, "ray_": rays}
        self._sensed = tuple(kind for kind, declared in kinds.items() if declared)

    # ---- guard ----

    def guard(self, calls: int = 8) -> None:
        """Keeps the inputs of the last `calls` (1 .. 1024) calls of step, so that `dump` can write them to a file.

        A batch has one guard. It copies joint_q, joint_qd and the control arrays before each call (docs/guard.md has
        the cost), and takes `calls` times their memory.
        """
        self._call(lib.sap_batch_guard, integer("calls", calls))

    def dump(self, world: int, path: str | os.PathLike[str]) -> None:
        """Writes a world with the inputs of its last calls to a file that `Dump` and `sapwood replay` repeat.

        Call it after a step in which the world failed, before the world is reset or written to. Needs a guard.
        """
        self._call(lib.sap_batch_dump, integer("world", world), path)

    # ---- state ----

    def _cache(self) -> tuple[str, ...]:
        """The arrays that the next solve starts from."""
        if self.options["contact_solver"] == "mujoco":
            return ("dof_cache", "actuator_act")
        return CACHE[:3] if self.options["warm_start"] == "true" and self.options["contact_solver"] != "sap" else ()

    def _results(self) -> tuple[str, ...]:
        """The results that are saved: readings of sensors, which have a memory, and with worlds that may sleep all
        results, because a sleeping world does not compute its own."""
        recorded = [name for name in FIELDS if name in self.__dict__]
        if TOUCH & {*recorded}:  # their forces come from contacts
            recorded += [*TOUCH, "contact_force"]
        names = FIELDS if lib.sap_batch_sleep_size(self._open()) else READINGS
        known = (*STATE, *BODIES, *CONTROL, *CACHE)
        return tuple(name for name in names if name in {*recorded, *RESULTS} and name not in known)

    def _results_of(self, state: Mapping[str, ArrayLike]) -> list[str]:
        """The results in a state that this batch can have; it records them from now on."""
        sensed = [name for name in READINGS if name.startswith(("qacc", "joint_torque", *self._sensed))]
        sleeps = lib.sap_batch_sleep_size(self._open()) > 0
        return [name for name in FIELDS if name in state and (name in sensed or (sleeps and name not in READINGS))]

    def get_state(self, worlds: ArrayLike | None = None) -> dict[str, NDArray[Any]]:
        """Copies of everything that determines the next steps, for the worlds with these indices (default all).

        It has the state, the control, caches of solvers, parameters of worlds, poses of bodies, readings of sensors,
        the memory of sleeping worlds and the time, as far as the batch has them.
        """
        rows = slice(None) if worlds is None else np.asarray(worlds)
        names = (*STATE, *CONTROL, *self._cache(), *self.expanded, *BODIES, *self._results())
        out = {name: np.array(self._get(name)[rows]) for name in names}
        actuation = {"ctrl": self._controls if self._converts_controls() else None, "act": self._activations}
        out.update({name: array[rows].copy() for name, array in actuation.items() if array is not None})
        if size := lib.sap_batch_sleep_size(self._open()):
            memory = np.zeros((self.num_worlds, size), np.int32)
            self._call(lib.sap_batch_get_sleep, address("memory", memory))
            out["sleep"] = memory[rows].copy()
            if "tree_rest" in out:  # of trees that wake in the next step
                trees = out["tree_rest"].shape[1]
                out["tree_rest"][(out["sleep"][:, :1] != 1) & (out["sleep"][:, 1 : 1 + trees] == 0)] = 0
        return {**out, "time": np.array(self.time[rows])}

    def set_state(self, state: Mapping[str, ArrayLike], worlds: ArrayLike | None = None) -> None:
        """Writes a result of get_state to any worlds of any batch of the model; they continue bit for bit.

        Per-world parameters in the state are expanded. Those missing from a complete state are reset to the model's.
        Caches, readings and sleep that the state does not have begin as after a reset. Caches and readings of sensors
        that this batch does not have are left out.
        """
        rows = slice(None) if worlds is None else np.asarray(worlds)
        mask = np.zeros(self.num_worlds, np.uint8)
        mask[rows] = 1
        for name, values in state.items():
            if name in PARAMETERS:
                self.expand(name)[rows] = values
            elif name in STATE + CONTROL + self._cache():
                self._put(name, rows, values)
            elif name == "ctrl":
                self._set_ctrl(rows, values)
            elif name == "act":
                self.act[rows] = values
            elif name not in FIELDS and name not in ("sleep", "time"):
                parts = (*STATE, *CONTROL, *PARAMETERS)
                hint = nearest(name, parts, f"it has {', '.join(parts)}")
                raise KeyError(f"{name!r} is not part of a state{hint}")
        if {*STATE, *CONTROL} <= {*state}:
            for name in self.expanded:
                if name not in state:
                    getattr(self, name)[rows] = parameter_of(self.model, name)
        self._call(lib.sap_batch_forward_kinematics, address("worlds", mask))
        self._put_bodies(state, rows)
        self._call(lib.sap_batch_begin_sensors, address("worlds", mask))
        for name in self._results_of(state):
            getattr(self, name)
        for name in self._results():
            if name in state:
                self._put_columns(name, rows, state[name])
        self._put_sleep(state, rows, mask)
        if "time" in state:
            self._clock.start[rows] = self._clock.now - np.asarray(state["time"])

    def _put_bodies(self, state: Mapping[str, ArrayLike], rows: Any) -> None:
        """Bodies as the step left them, which differ by rounding from those that forward kinematics has just
        computed; where they differ by more, the caller has changed the coordinates of the state."""
        for name in BODIES:
            if name not in state:
                continue
            own = self._get(name)[rows]
            saved = np.asarray(state[name])
            close = np.isclose(saved, own, rtol=1e-3, atol=1e-3 * max(1.0, float(np.abs(own).max(initial=0.0))))
            same = close.all(axis=tuple(range(1, own.ndim)), keepdims=True)
            self._put(name, rows, np.where(same, saved, own))

    def _put_columns(self, name: str, rows: Any, values: ArrayLike) -> None:
        """Writes rows of results; rows of contacts may have been saved with another number of slots."""
        array, own = np.asarray(values), self._get(name)[rows]
        if array.ndim == own.ndim >= 2:
            own[:, : array.shape[1]] = array[:, : own.shape[1]]
        else:
            own[...] = array
        self._put(name, rows, own)

    def _put_sleep(self, state: Mapping[str, ArrayLike], rows: Any, mask: NDArray[np.uint8]) -> None:
        if size := lib.sap_batch_sleep_size(self._open()):
            memory = np.zeros((self.num_worlds, size), np.int32)
            memory[rows] = state.get("sleep", 0)
            self._call(lib.sap_batch_set_sleep, address("worlds", mask), address("memory", memory))

    def perturb(self, noise: float = 0.1) -> None:
        """Changes the joint velocities of all worlds but world 0 by up to `noise`, as `sapwood run` does."""
        worlds = self.world_offset + np.arange(self.num_worlds)
        change = noise * world_noise(self.seed, worlds, self.model.num_dofs)
        change[worlds == 0] = 0
        velocity = self._get("joint_qd")
        self._put("joint_qd", ..., (velocity + change).astype(velocity.dtype))

    def __repr__(self) -> str:
        return f"<Batch of {self.num_worlds} worlds of {self.model!r}>"
