"""mujoco.rollout with Sapwood's steps: open-loop trajectories from given states (docs/from_mujoco.md)."""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Floats
from .batch import Batch, SimulationError
from .fields import COMPONENTS, CTRL, FULLPHYSICS, USER, mujoco
from .groups import signature

KEPT = 8  # batches that are kept for the next rollouts of their models
_batches: OrderedDict[Any, list[Batch]] = OrderedDict()
_lock = threading.Lock()


class Rollout:
    """Rolls out on nthread threads; 0 or None: on the calling thread."""

    def __init__(self, *, nthread: int | None = None) -> None:
        self.nthread = nthread or 0
        self._open = True

    def __enter__(self) -> Rollout:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._open = False

    def rollout(
        self,
        model: Any,
        data: Any,
        initial_state: Any,
        control: Any = None,
        *,
        control_spec: int = CTRL,
        skip_checks: bool = False,
        nstep: int | None = None,
        initial_warmstart: Any = None,
        state: Any = None,
        sensordata: Any = None,
        chunk_size: int | None = None,
    ) -> tuple[Any, Any]:
        """Steps from initial states with the controls of control_spec.

        model: one, or one for each state, of equal sizes. data: one, or as many as threads. initial_state
        ([nbatch or 1], nstate) of mjSTATE_FULLPHYSICS; control ([nbatch or 1], [nstep or 1], ncontrol);
        initial_warmstart ([nbatch or 1], nv). Missing dimensions are 1, and those of 1 repeat. Returns the states after
        each step (nbatch, nstep, nstate) and the sensors of each step (nbatch, nstep, nsensordata), in the arrays
        `state` and `sensordata` if they are given. A trajectory that diverges repeats its last state.
        """
        if not self._open:
            raise RuntimeError("rollout requested after thread pool shutdown")
        arrays = {"initial_state": initial_state, "initial_warmstart": initial_warmstart}
        tables = {"control": control, "state": state, "sensordata": sensordata}
        spec = int(control_spec)
        if skip_checks:
            models = list(model) if isinstance(model, Sequence) else [model]
            self._check_integers(nstep, chunk_size)
            self._check_data(data)
            steps = 0 if nstep is None else int(nstep)
            self._run(models, spec, steps, initial_state, initial_warmstart, control, state, sensordata)
            return state, sensordata
        models = [model] if isinstance(model, mujoco.MjModel) else list(model)
        if spec & ~USER:
            raise ValueError("control_spec can only contain bits in mjSTATE_USER")
        self._check_integers(nstep, chunk_size)
        for names, most in ((arrays, 2), (tables, 3)):
            for name, value in names.items():
                if value is not None and not isinstance(value, (np.ndarray, float)):
                    raise ValueError(f"{name} must be a numpy array or float")
                if value is not None and np.ndim(value) > most:
                    raise ValueError(f"{name} can have at most {most} dimensions")
        given = {name: _with_axes(value, 2 if name in arrays else 3) for name, value in (arrays | tables).items()}
        count = _common(0, 1, given)
        if count == 1:
            count = len(models)
        if len(models) not in (1, count):
            raise ValueError(f"nbatch inferred as {count} but model is length {len(models)}")
        steps = _common(1, 1 if nstep is None else int(nstep), {name: given[name] for name in tables})
        self._check_sizes(models, spec, given)
        self._check_data(data)
        m = models[0]
        full = {name: None if x is None else np.broadcast_to(x, (count, *x.shape[1:])) for name, x in given.items()}
        if full["control"] is not None:
            full["control"] = np.broadcast_to(full["control"], (count, steps, full["control"].shape[2]))
        out = state if isinstance(state, np.ndarray) else None
        sensed = sensordata if isinstance(sensordata, np.ndarray) else None
        if out is None:
            out = np.empty((count, steps, mujoco.mj_stateSize(m, FULLPHYSICS)))
        if sensed is None:
            sensed = np.empty((count, steps, m.nsensordata))
        into = _with_axes(out, 3, copies=False), _with_axes(sensed, 3, copies=False)
        warm = full["initial_warmstart"]
        self._run(models, spec, steps, full["initial_state"], warm, full["control"], *into)
        return into

    # ---- checks ----

    @staticmethod
    def _check_integers(nstep: Any, chunk_size: Any) -> None:
        for name, value, least, rule in (
            ("nstep", nstep, 0, "must be non-negative"),
            ("chunk_size", chunk_size, 1, "must be a positive integer"),
        ):
            if value is None:
                continue
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
                raise ValueError(f"{name} must be an integer")
            if value < least:
                raise ValueError(f"{name} {rule}")

    def _check_data(self, data: Any) -> None:
        given = list(data) if isinstance(data, (list, tuple)) else [data]
        if not given:
            raise ValueError("The list of data instances is empty")
        if not self.nthread and len(given) > 1:
            raise ValueError("More than one data instance passed but rollout is configured to run on main thread")
        if self.nthread and len(given) != self.nthread:
            raise ValueError(f"Length of data: {len(given)} not equal to nthread: {self.nthread}")
        for i, each in enumerate(given):
            if getattr(each, "threadpool", 0):
                raise ValueError(f"data[{i}] has a thread pool (mju_threadpool), and a rollout has its own")

    @staticmethod
    def _check_sizes(models: list[Any], spec: int, given: dict[str, Any]) -> None:
        sizes = [
            (mujoco.mj_stateSize(m, FULLPHYSICS), mujoco.mj_stateSize(m, spec), m.nv, m.nsensordata) for m in models
        ]
        if any(size != sizes[0] for size in sizes):
            raise ValueError("models are not compatible")
        states, controls, dofs, sensed = sizes[0]
        trailing = {"initial_state": states, "state": states, "control": controls}
        for name, size in {**trailing, "initial_warmstart": dofs, "sensordata": sensed}.items():
            if given[name] is not None and given[name].shape[-1] != size:
                raise ValueError(f"trailing dimension of {name} must be {size}, got {given[name].shape[-1]}")

    # ---- steps ----

    def _run(
        self,
        models: list[Any],
        spec: int,
        steps: int,
        initial: Any,
        warm: Any,
        control: Any,
        state: Any,
        sensordata: Any,
    ) -> None:
        """Fills `state` and `sensordata`, model by model."""
        count = len(initial)
        keys: dict[int, bytes] = {}
        for m in models:
            if id(m) not in keys:
                keys[id(m)] = signature(m)
                _check_options(m)
        members: dict[bytes, list[int]] = {}
        for i in range(count):
            members.setdefault(keys[id(models[i if len(models) > 1 else 0])], []).append(i)
        for key, which in members.items():
            m = models[which[0] if len(models) > 1 else 0]
            batch = _take(m, key, len(which), self.nthread)
            try:
                inputs = [None if x is None else x[which] for x in (warm, control)]
                found = _roll(batch, spec, steps, initial[which], *inputs)
            except SimulationError as error:
                raise mujoco.FatalError(str(error)) from error
            finally:
                _give_back(batch, key, len(which), self.nthread)
            for out, values in zip((state, sensordata), found):
                if out is not None:
                    out.reshape(count, steps, values.shape[2])[which] = values


def _roll(batch: Batch, spec: int, steps: int, initial: Floats, warm: Any, control: Any) -> tuple[Floats, Floats]:
    layout = batch._layout
    batch.state[...] = layout.reset_row(batch.model)
    batch.state[:, layout.columns(FULLPHYSICS)] = initial
    for name in ("ctrl", "qfrc_applied", "xfrc_applied", "userdata"):
        if name in COMPONENTS:
            layout.view(batch.state, name)[...] = 0
    layout.view(batch.state, "qacc_warmstart")[...] = 0 if warm is None else warm
    batch.warning[...] = 0
    found = batch.rollout(steps, control, spec, (FULLPHYSICS, "sensordata"))
    return found[FULLPHYSICS], found["sensordata"]


def _check_options(m: Any) -> None:
    """What mj_step itself refuses."""
    try:
        mujoco.mjtSolver(int(m.opt.solver))
    except ValueError:
        raise mujoco.FatalError(f"mj_fwdConstraint: unknown solver type {int(m.opt.solver)}") from None


def _take(m: Any, key: bytes, count: int, threads: int) -> Batch:
    """A batch for a rollout, which no other thread has meanwhile."""
    with _lock:
        free = _batches.get((key, count, threads))
        if free:
            return free.pop()
    return Batch(m, count, max(threads, 1))


def _give_back(batch: Batch, key: bytes, count: int, threads: int) -> None:
    with _lock:
        _batches.setdefault((key, count, threads), []).append(batch)
        _batches.move_to_end((key, count, threads))
        while len(_batches) > KEPT:
            _batches.popitem(last=False)


# ---- arrays ----


def _with_axes(value: Any, count: int, copies: bool = True) -> NDArray[Any] | None:
    """An array with `count` axes: those that are missing come first."""
    if value is None:
        return None
    array = np.asarray(value, np.float64 if copies else None)
    return array.reshape((1,) * (count - array.ndim) + array.shape)


def _common(axis: int, size: int, arrays: dict[str, Any]) -> int:
    """The size of an axis, which is 1 where an array repeats."""
    for name, array in arrays.items():
        if array is None or array.shape[axis] in (1, size):
            continue
        if size != 1:
            raise ValueError(f"dimension {axis} inferred as {size} but {name} has {array.shape[axis]}")
        size = array.shape[axis]
    return int(size)


# ---- the module's own ----

_persistent: Rollout | None = None


def shutdown_persistent_pool() -> None:
    """Ends the threads that rollouts with persistent_pool share."""
    global _persistent
    if _persistent is not None:
        _persistent.close()
    _persistent = None
    with _lock:
        _batches.clear()


atexit.register(shutdown_persistent_pool)


def rollout(
    model: Any,
    data: Any,
    initial_state: Any,
    control: Any = None,
    *,
    control_spec: int = CTRL,
    skip_checks: bool = False,
    nstep: int | None = None,
    initial_warmstart: Any = None,
    state: Any = None,
    sensordata: Any = None,
    chunk_size: int | None = None,
    persistent_pool: bool = False,
) -> tuple[Any, Any]:
    """Rollout.rollout with as many threads as data; with `persistent_pool` they stay for the next call."""
    global _persistent
    given = list(data) if isinstance(data, (list, tuple)) else [data]
    threads = len(given) if len(given) > 1 else 0
    if persistent_pool:
        if _persistent is None or _persistent.nthread != threads:
            shutdown_persistent_pool()
            _persistent = Rollout(nthread=threads)
        runner = _persistent
    else:
        runner = Rollout(nthread=threads)
    return runner.rollout(
        model,
        given,
        initial_state,
        control,
        control_spec=control_spec,
        skip_checks=skip_checks,
        nstep=nstep,
        initial_warmstart=initial_warmstart,
        state=state,
        sensordata=sensordata,
        chunk_size=chunk_size,
    )
