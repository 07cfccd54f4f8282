"""A batch: n worlds of one model, stepped together. Its arrays are the library's own memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _layout
from ._library import Array, DeviceError, SolverInfo, check, fail, lib
from .model import Model, memory_view
from .options import Options

# joint_q: 0, joint_qd: 1, ...
FIELDS = {
    name.removeprefix("SAP_BATCH_").lower(): value
    for name, value in _layout.ENUMS["SapBatchField"].items()
    if name != "SAP_BATCH_NUM_FIELDS"
}
STATE = ("joint_q", "joint_qd")
CONTROL = ("joint_f", "body_f", "joint_target_pos", "joint_target_vel", "joint_act")
_DTYPES = {"SAP_TYPE_F32": np.float32, "SAP_TYPE_F64": np.float64, "SAP_TYPE_I32": np.int32, "SAP_TYPE_U32": np.uint32}
_DTYPE_OF = {value: np.dtype(_DTYPES[name]) for name, value in _layout.ENUMS["SapElementType"].items()}

NONFINITE_STATE = _layout.BITS["SAP_WORLD_NONFINITE_STATE"]
FAILED = _layout.BITS["SAP_WORLD_FAILED"]
NOT_CONVERGED = _layout.BITS["SAP_WORLD_NOT_CONVERGED"]
_STATUS_BITS = {
    name.removeprefix("SAP_WORLD_").lower(): bit
    for name, bit in _layout.BITS.items()
    if name.startswith("SAP_WORLD_") and bit.bit_count() == 1
}


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of splitmix64."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def random_units(keys: ArrayLike, width: int) -> NDArray[np.float64]:
    """[len(keys)][width] numbers in [-1, 1), from 53 random bits of each key and index."""
    with np.errstate(over="ignore"):
        bits = _mix(np.asarray(keys, np.uint64)[:, None] ^ np.arange(width, dtype=np.uint64)[None])
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1


def random_keys(*parts: ArrayLike) -> NDArray[np.uint64]:
    """One key for each row of the parts, such as seed, world, episode."""
    with np.errstate(over="ignore"):
        key = _mix(np.atleast_1d(np.asarray(parts[0])).astype(np.uint64))
        for part in parts[1:]:
            key = _mix(key ^ np.atleast_1d(np.asarray(part)).astype(np.uint64))
    return key


def world_noise(seed: int, worlds: ArrayLike, width: int) -> NDArray[np.float64]:
    """[len(worlds)][width] numbers in [-1, 1) that depend on seed, world and index alone, as those of `sapwood run`."""
    return random_units(random_keys(seed, worlds), width)


class _Handle:
    """Owns a SapBatch. Views of its memory refer to it, so that the memory outlives the last of them."""

    def __init__(self, pointer: int | None) -> None:
        self.pointer = pointer

    def __del__(self) -> None:
        pointer, self.pointer = self.pointer, None
        if pointer and lib is not None:
            lib.sap_batch_destroy(pointer)


class Batch:
    """num_worlds worlds of one model.

    Arrays are attributes: live, writable, zero-copy, shaped (num_worlds, ...), always at the same address:

    | state | joint_q, joint_qd, body_q, body_qd |
    | control | joint_f, body_f, joint_target_pos, joint_target_vel, joint_act |
    | outcome | status, iterations, line_iterations, cost, residual |
    | contacts of the last step | contact_count, contact_dropped, contact_shape0, contact_shape1, contact_point0,
      contact_point1, contact_normal |
    | recorded from the first time that they are asked for | contact_impulse, contact_velocity, contact_position,
      contact_frame, contact_gap, contact_region |

    `options` is an Options, which then stands for the preset too, or a mapping of changes to the preset. `dtype` is
    that of state and control: by default that of the preset's free motion. `seed` and `world_offset` are those of
    `perturb`: world w of this batch is world world_offset + w of a larger one.
    """

    def __init__(
        self,
        model: Model,
        num_worlds: int,
        device: str = "cpu",
        preset: str = "approx32",
        threads: int | None = None,
        seed: int = 0,
        world_offset: int = 0,
        options: Options | Mapping[str, Any] | None = None,
        dtype: Any = None,
    ) -> None:
        self._handle: _Handle | None = None
        if device != "cpu":
            raise DeviceError(f"device is {device!r}; this version has 'cpu'")
        self.model, self.num_worlds, self.device = model, int(num_worlds), device
        self.seed, self.world_offset = int(seed), int(world_offset)
        self.options = Options.of(preset, options)
        if self.options["device"] != "cpu":
            raise DeviceError(f"option device is {self.options['device']!r}; this version has 'cpu'")
        if threads is not None:
            self.options["threads"] = threads
        self._create(dtype)

    def _create(self, dtype: Any) -> None:
        pointer, options = ctypes.c_void_p(), ctypes.byref(self.options.struct)
        if dtype is None:
            status = lib.sap_batch_create(self.model.pointer, self.num_worlds, options, ctypes.byref(pointer))
        else:
            kind = {"float32": 0, "float64": 1}[np.dtype(dtype).name]
            status = lib.sap_batch_create_as(self.model.pointer, self.num_worlds, options, kind, ctypes.byref(pointer))
        check(status)
        self._handle = _Handle(pointer.value)
        # Arguments that are C objects already, and a function without prototype, take half the time of a call.
        self._step, self._pointer, self._argument = lib.unchecked("sap_batch_step"), pointer.value, pointer
        self.dt = self.model.dt

    # ---- life ----

    def close(self) -> None:
        """No more steps. Memory is returned when the last array of the batch is gone too."""
        for name in FIELDS:
            self.__dict__.pop(name, None)
        self._handle = self._pointer = None
        self._argument = ctypes.c_void_p()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> int:
        if self._pointer is None:
            raise ValueError("the batch is closed")
        return self._pointer

    # ---- arrays ----

    def __getattr__(self, name: str) -> Any:
        if name not in FIELDS:
            raise AttributeError(f"a batch has no {name!r}; its arrays are {', '.join(FIELDS)}")
        view = Array()
        check(lib.sap_batch_array(self._open(), FIELDS[name], ctypes.byref(view)))
        array = memory_view(
            view.data, tuple(view.shape[: view.ndim]), _DTYPE_OF[view.type], self._handle, writable=True
        )
        self.__dict__[name] = array  # from now on an ordinary attribute
        return array

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *FIELDS]

    @property
    def names(self) -> dict[str, list[str]]:
        """Names of bodies, joints and shapes, in the order of the arrays."""
        return {"body": self.model.body_name, "joint": self.model.joint_name, "shape": self.model.shape_name}

    @property
    def memory(self) -> int:
        """Bytes that the batch holds."""
        return int(lib.sap_batch_bytes(self._open()))

    @property
    def stats(self) -> dict[str, Any]:
        """How the last step went, in numbers: failed worlds, iterations, contacts."""
        status, iterations, contacts = self.status, self.iterations, self.contact_count
        return {
            "failed": int(np.count_nonzero(status & FAILED)),
            "not_converged": int(np.count_nonzero(status & NOT_CONVERGED)),
            "iterations_mean": float(iterations.mean()),
            "iterations_max": int(iterations.max()),
            "contacts_mean": float(contacts.mean()),
            "contacts_max": int(contacts.max()),
            "contacts_dropped": int(self.contact_dropped.sum()),
            **self.info,
        }

    @property
    def info(self) -> dict[str, Any]:
        """Threads, lanes and instruction set in use."""
        info = SolverInfo()
        check(lib.sap_solver_info(lib.sap_batch_solver(self._open()), ctypes.byref(info)))
        isa = next(n for n, value in _layout.ENUMS["SapIsa"].items() if value == info.isa)
        return {"threads": info.threads, "lanes": info.lanes, "isa": isa.removeprefix("SAP_ISA_").lower()}

    def status_text(self, world: int) -> list[str]:
        """The status of one world in words."""
        return [name for name, bit in _STATUS_BITS.items() if int(self.status[world]) & bit]

    # ---- running ----

    @property
    def dt(self) -> float:
        """s, the timestep unless a call says another; the model's to begin with."""
        return self._dt.value

    @dt.setter
    def dt(self, h: float) -> None:
        self._dt = ctypes.c_double(h)

    def step(self, n: int = 1, h: float | None = None) -> None:
        """n steps of h seconds (default: dt)."""
        handle = self._handle  # memory stays while the call runs, even if another thread closes the batch
        status = self._step(self._argument, self._dt if h is None else ctypes.c_double(h), n)
        if status:
            self._open()
            fail(status)
        del handle

    def reset(self, mask: ArrayLike | None = None, keyframe: int | str = 0) -> None:
        """Puts the worlds with mask[w] (default all) back to keyframe 0, the initial state; k, the k-th; or a name."""
        if isinstance(keyframe, str):
            keyframe = 1 + list(self.model.keyframe_name).index(keyframe)
        flags = None if mask is None else np.ascontiguousarray(np.asarray(mask, bool), np.uint8)
        if flags is not None and flags.shape != (self.num_worlds,):
            raise ValueError(f"mask has shape {flags.shape}; it must be {(self.num_worlds,)}")
        check(lib.sap_batch_reset(self._open(), None if flags is None else flags.ctypes.data, keyframe))

    def forward_kinematics(self) -> None:
        """Brings body_q and body_qd up to date after joint_q or joint_qd was written. A step needs neither."""
        pointer = self._open()
        check(lib.sap_forward_kinematics(lib.sap_batch_solver(pointer), lib.sap_batch_state(pointer)))

    def rollout(
        self, controls: Mapping[str, ArrayLike], record: Sequence[str] = STATE, n: int = 1, h: float | None = None
    ) -> dict[str, NDArray[Any]]:
        """For every t: writes controls[name][t] to the array `name`, makes n steps, keeps a copy of what is recorded.

        Returns {name: array of shape (T, num_worlds, ...)}.
        """
        inputs = {name: np.asarray(values) for name, values in controls.items()}
        lengths = {len(values) for values in inputs.values()}
        if len(lengths) != 1:
            raise ValueError(f"controls have the lengths {sorted(lengths)}; they must have one")
        length = lengths.pop()
        out = {name: np.empty((length, *getattr(self, name).shape), getattr(self, name).dtype) for name in record}
        for t in range(length):
            for name, values in inputs.items():
                getattr(self, name)[...] = values[t]
            self.step(n, h)
            for name, kept in out.items():
                kept[t] = getattr(self, name)
        return out

    def set_ctrl(self, ctrl: ArrayLike) -> None:
        """MuJoCo's controls, (num_worlds, nu), of an imported model: go to joint_f and to the targets of drives."""
        if self.model.imported is None:
            raise ValueError("the model was not imported from MuJoCo: write joint_f and the targets")
        actuation = self.model.imported.actuation
        for name, values in actuation.arrays(ctrl).items():
            getattr(self, name)[:, actuation.used[name]] = values

    # ---- state ----

    def get_state(self, worlds: ArrayLike | None = None) -> dict[str, NDArray[Any]]:
        """Copies of all that decides how worlds go on, of the worlds with these indices (default all)."""
        rows = slice(None) if worlds is None else np.asarray(worlds)
        return {name: np.array(getattr(self, name)[rows]) for name in STATE + CONTROL}

    def set_state(self, state: Mapping[str, ArrayLike], worlds: ArrayLike | None = None) -> None:
        """Writes what get_state returned, to any worlds of any batch of the model; they go on bit for bit."""
        rows = slice(None) if worlds is None else np.asarray(worlds)
        for name, values in state.items():
            if name not in STATE + CONTROL:
                raise KeyError(f"{name} is not part of a state; it has {', '.join(STATE + CONTROL)}")
            getattr(self, name)[rows] = values
        self.forward_kinematics()

    def perturb(self, noise: float = 0.1) -> None:
        """Changes joint velocities by up to `noise`, as `sapwood run` does: not those of world 0."""
        worlds = self.world_offset + np.arange(self.num_worlds)
        change = noise * world_noise(self.seed, worlds, self.model.num_dofs)
        change[worlds == 0] = 0
        self.joint_qd[...] = (self.joint_qd + change).astype(self.joint_qd.dtype)

    # ---- contacts ----

    def contact_force(self, h: float | None = None) -> NDArray[np.float64]:
        """(num_worlds, capacity, 3) N in contact axes (t1, t2, n), on the body of shape 1; a copy, 0 past the count."""
        used = np.arange(self.contact_impulse.shape[1])[None] < self.contact_count[:, None]
        return np.where(used[..., None], self.contact_impulse, 0) / (self.dt if h is None else h)

    def body_contact_wrench(self, h: float | None = None) -> NDArray[np.float64]:
        """(num_worlds, num_bodies, 6) [force ; torque about the centre of mass], world axes: a copy."""
        force = self.contact_force(h)
        axes = self.contact_frame.reshape(*force.shape, 3)
        force = np.einsum("wci,wcij->wcj", force, axes)
        used = np.arange(force.shape[1])[None] < self.contact_count[:, None]
        out = np.zeros((self.num_worlds, self.model.num_bodies, 6))
        centre = self._centres_of_mass()
        for shape, sign in ((self.contact_shape0, -1.0), (self.contact_shape1, 1.0)):
            body = np.append(self.model.shape_body, -1)[np.where(used, shape, -1)]
            world, slot = np.nonzero(body >= 0)
            index = body[world, slot]
            push = sign * force[world, slot]
            arm = self.contact_position[world, slot] - centre[world, index]
            np.add.at(out, (world, index), np.concatenate([push, np.cross(arm, push)], axis=1))
        return out

    def _centres_of_mass(self) -> NDArray[np.float64]:
        pose, com = self.body_q.astype(np.float64), self.model.body_com
        u, w = pose[..., 3:6], pose[..., 6:7]
        turned: NDArray[np.float64] = pose[..., :3] + com + 2 * np.cross(u, np.cross(u, com) + w * com)
        return turned

    def __repr__(self) -> str:
        return f"<Batch of {self.num_worlds} worlds of {self.model!r}>"
