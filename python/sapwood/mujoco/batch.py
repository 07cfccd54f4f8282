"""mujoco.batch with Sapwood's steps: change one import,

    from mujoco import batch        ->        from sapwood.mujoco import batch

The interface is MuJoCo's; docs/from_mujoco.md says what is the same and what is not. The states are rows of
mjSTATE_INTEGRATION, which the batch owns; a call converts the rows of its simulations, steps them and converts them
back. Derived fields are computed for the fields that are bound.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._library import ModelError
from ..conventions import Floats
from ..mjcf.source import INTEGRATOR_RK4
from .derived import BAD, STAGES, Evaluation
from .engine import Engine, Outcome, engine, has_bad, lists_actuators
from .fields import (
    COMPONENTS,
    CTRL,
    DATA_FIELDS,
    INTEGRATION,
    MODEL_FIELDS,
    USER,
    is_output,
    mujoco,
    not_bound,
    not_expanded,
    place_of,
    template,
)
from .groups import Group
from .models import Models
from .named import Named
from .rows import Layout

__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "SimulationError"]
NONE, POSITION, VELOCITY, ACCELERATION = range(4)  # mjtStage
WARNINGS = {word: int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{word}")) for word in ("QPOS", "QVEL", "QACC", "CTRL")}
ENGINES = 16  # that a batch keeps for models it has not now
CALLBACKS = [name for name in dir(mujoco) if name.startswith("get_mjcb_")]


class SimulationError(RuntimeError):
    """Some simulations of a call failed: they keep their state of before the call, and the others ran to the end.

    `ids` lists them; `Batch.error(sim)` has each message.
    """

    def __init__(self, ids: NDArray[Any], message: str, count: int | None = None) -> None:
        self.ids = ids
        shown = ", ".join(map(str, ids[:5])) + (", ..." if len(ids) > 5 else "")
        of = "" if count is None else f" of {count}"
        super().__init__(f"MuJoCo raised in {len(ids)}{of} simulations ({shown}); simulation {ids[0]}: {message}")


class Batch:
    """nsim simulations of a copy of `model`, stepped by nthread threads (0: one for each CPU).

    Members are those of mujoco.batch.Batch. `persistent` is accepted; worlds never share memory here. `preset` is
    "mujoco64", or "mujoco32" for single precision; `quiet` turns off the warnings about what the model loses.
    """

    model: Any
    state: Floats  # [nsim][nstate]
    warning: NDArray[np.int32]  # [nsim][7][2] (lastinfo, number)
    status: NDArray[np.intp]  # [nsim]

    def __init__(
        self,
        model: Any,
        nsim: int,
        nthread: int = 0,
        persistent: bool = False,
        *,
        preset: str = "mujoco64",
        quiet: bool = False,
    ) -> None:
        if nsim < 1:
            raise ValueError(f"nsim must be positive, got {nsim}")
        if nthread < 0:
            raise ValueError(f"nthread must not be negative, got {nthread}")
        sleeps = int(model.opt.enableflags) & int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        if sleeps and not persistent:
            raise ValueError("a model with sleep enabled needs a persistent batch")
        _check_callbacks()
        self._sizes = (int(nsim), int(nthread), bool(persistent))
        self._preset, self._quiet = preset, quiet
        self.model = model
        self._models = Models(copy.copy(model), int(nsim))
        self._layout = Layout(self._models.base)
        self.state = np.tile(self._layout.reset_row(self._models.base), (int(nsim), 1))
        self.warning = np.zeros((int(nsim), int(mujoco.mjtWarning.mjNWARNING), 2), np.int32)
        self._status = np.zeros(int(nsim), np.intp)
        self.status = self._status.view()
        self.status.flags.writeable = False
        self._errors: dict[int, str] = {}
        self._bound: dict[str, NDArray[Any]] = {}  # arrays of the batch, which calls fill
        self._engines: dict[tuple[bytes, int, bool], Engine] = {}
        self._kept: dict[int, tuple[Floats, NDArray[np.int32]]] = {}  # rows before steps one by one

    # ---- sizes ----

    @property
    def nsim(self) -> int:
        return self._sizes[0]

    @property
    def nthread(self) -> int:
        return self._sizes[1] or len(os.sched_getaffinity(0))

    @property
    def persistent(self) -> bool:
        return self._sizes[2]

    @property
    def nstate(self) -> int:
        return self._layout.size

    def error(self, sim: int) -> str:
        """The message of the simulation's last call, '' if it did not fail."""
        return self._errors.get(int(sim), "")

    def __repr__(self) -> str:
        return f"<sapwood.mujoco.batch.Batch of {self.nsim} simulations>"

    # ---- fields ----

    @cached_property
    def _data(self) -> Any:
        """An MjData, for shapes and types."""
        return mujoco.MjData(self._models.base)

    def __getattr__(self, name: str) -> Any:
        if name in DATA_FIELDS:
            return self.bind(name)
        hint = "" if name.startswith("_") else place_of(name, DATA_FIELDS, of_model=True)
        raise AttributeError(f"a Batch has no attribute {name!r}{hint}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("state", "warning") and name in self.__dict__:
            self.__dict__[name][...] = value
        elif name not in DATA_FIELDS:
            object.__setattr__(self, name, value)
        elif name not in COMPONENTS:
            raise is_output(name)
        else:
            self.bind(name)[...] = value

    def bind(self, name: str) -> NDArray[Any]:
        """The live (nsim, ...) array of a field of MjData.

        A field of the state is a view of the rows: writing it changes the state of the next call. Other fields are
        filled by the calls after their first `bind`, and are read-only. (docs/from_mujoco.md lists those that stay 0.)
        """
        if name in COMPONENTS:
            return self._layout.view(self.state, name)
        if name not in DATA_FIELDS:
            raise not_bound(self._data, name)
        if name not in self._bound:
            like = template(self._data, name)
            assert like is not None
            self._bound[name] = np.zeros((self.nsim, *like.shape), like.dtype)
        out: NDArray[Any] = self._bound[name].view()
        out.flags.writeable = False
        return out

    def expand(self, name: str) -> NDArray[Any]:
        """The live (nsim, ...) array of a field of MjModel, or of an option 'opt.<name>', with values per simulation.

        What is written acts in the next call. Constants that MuJoCo derives from it follow with `set_const`.
        """
        self._models.refuse_caller("expand")
        if name not in MODEL_FIELDS:
            raise not_expanded(self._models.base, name)
        return self._models.expand(name)

    def expanded(self, name: str) -> NDArray[Any] | None:
        """The values of a field that `expand` or `set_const` made per simulation, read-only; None if it is shared."""
        if name not in MODEL_FIELDS:
            raise not_expanded(self._models.base, name)
        return self._models.expanded(name)

    def joint(self, key: int | str) -> Named:
        return Named(self, "joint", key)

    def body(self, key: int | str) -> Named:
        return Named(self, "body", key)

    def geom(self, key: int | str) -> Named:
        return Named(self, "geom", key)

    def site(self, key: int | str) -> Named:
        return Named(self, "site", key)

    def sensor(self, key: int | str) -> Named:
        return Named(self, "sensor", key)

    def actuator(self, key: int | str) -> Named:
        return Named(self, "actuator", key)

    def tendon(self, key: int | str) -> Named:
        return Named(self, "tendon", key)

    def camera(self, key: int | str) -> Named:
        return Named(self, "camera", key)

    def light(self, key: int | str) -> Named:
        return Named(self, "light", key)

    def equality(self, key: int | str) -> Named:
        return Named(self, "equality", key, of_data=False)

    def pair(self, key: int | str) -> Named:
        return Named(self, "pair", key, of_data=False)

    def material(self, key: int | str) -> Named:
        return Named(self, "material", key, of_data=False)

    def numeric(self, key: int | str) -> Named:
        return Named(self, "numeric", key, of_data=False)

    def keyframe(self, key: int | str) -> Named:
        return Named(self, "keyframe", key, of_data=False)

    # ---- models ----

    def set_const(self, ids: ArrayLike | None = None) -> None:
        """mj_setConst for each simulation; the constants that it derives become per simulation."""
        self._models.refuse_caller("set_const")
        _check_callbacks()
        chosen = self._chosen(ids)
        self._finish(chosen, self._models.set_const(chosen))

    @property
    def models(self) -> Any:
        """The models of `set_models`: one, or a tuple with one for each simulation; None if there are none."""
        return self._models.given

    def set_models(self, models: Any) -> None:
        """Runs simulation i on models[i], or all on one model, with the sizes of the batch's model; None ends it."""
        self._models.set_given(models)

    def get_model(self, sim: int, model: Any = None) -> Any:
        """The model of a simulation with its own values, as an MjModel; into `model` if it is given."""
        sim = self._one(sim)
        if model is None:
            return copy.copy(self._models.of(sim))
        self._models.write(sim, model)
        return model

    def get_data(self, sim: int, data: Any = None) -> Any:
        """The state of a simulation in an MjData. Of a persistent batch, mj_forward has been run on it."""
        sim = self._one(sim)
        m = self._models.of(sim)
        data = mujoco.MjData(m) if data is None else data
        mujoco.mj_setState(m, data, self.state[sim], INTEGRATION)
        for i, (info, number) in enumerate(self.warning[sim]):
            data.warning[i].lastinfo, data.warning[i].number = int(info), int(number)
        if self.persistent:
            mujoco.mj_forward(m, data)
        return data

    # ---- calls ----

    def step(self, ids: ArrayLike | None = None, nstep: int = 1, stage: int = NONE) -> None:
        """Takes nstep steps as mj_step, then computes the stages up to `stage` at the new state.

        Derived fields are those of the start of the last step, as after mj_step, unless a stage makes them new.
        """
        _check_callbacks()
        if nstep < 0:
            raise ValueError(f"nstep must not be negative, got {nstep}")
        chosen = self._chosen(ids)
        failed = self._step(chosen, int(nstep), int(stage)) if nstep else {}
        if int(stage) == ACCELERATION or not nstep:
            kept = np.array([i for i in chosen if int(i) not in failed], np.intp)
            failed |= self._forward(kept, int(stage))
        self._finish(chosen, failed)

    def forward(self, ids: ArrayLike | None = None, stage: int = ACCELERATION) -> None:
        """Computes the stages up to `stage` at the state, by default as mj_forward."""
        _check_callbacks()
        chosen = self._chosen(ids)
        self._finish(chosen, self._forward(chosen, int(stage)))

    def reset(self, ids: ArrayLike | None = None, keyframe: ArrayLike = -1, stage: int = ACCELERATION) -> None:
        """Resets simulations to the defaults of the model or to keyframes, one for all or one for each of the call."""
        _check_callbacks()
        chosen = self._chosen(ids)
        keys = _integers("keyframe", keyframe, (len(chosen),), -1, self._models.num_keys)
        for key in np.unique(keys):
            at = chosen[keys == key]
            self.state[at] = self._models.reset_rows(self._layout, at, int(key))
        self.warning[chosen] = 0
        self._finish(chosen, self._forward(chosen, int(stage)))

    def rollout(
        self,
        nstep: int,
        control: ArrayLike | None = None,
        control_spec: int = CTRL,
        record: Sequence[Any] = ("qpos",),
        ids: ArrayLike | None = None,
        out: Mapping[Any, NDArray[Any]] | None = None,
    ) -> dict[Any, NDArray[Any]]:
        """Takes nstep steps with the controls (n, nstep, ...) of control_spec, and records after each of them.

        `record` has names of fields, and mjtState bits for vectors of the state. A simulation whose warnings rise
        stops, and its last record repeats. Returns {item: (n, nstep, ...)}, in the arrays of `out` where it has them.
        """
        _check_callbacks()
        if int(control_spec) & ~USER:
            raise ValueError("control_spec can only contain bits in mjSTATE_USER")
        chosen, columns = self._chosen(ids), self._layout.columns(int(control_spec))
        shape = (len(chosen), int(nstep), len(columns))
        inputs = None if control is None else np.broadcast_to(np.asarray(control, np.float64), shape)
        arrays = {item: self._buffer(item, len(chosen), int(nstep), (out or {}).get(item)) for item in record}
        alive, before = np.ones(len(chosen), bool), self.warning[chosen, :, 1]
        failed: dict[int, str] = {}
        start = self.state[chosen].copy()
        for t in range(int(nstep)):
            going = chosen[alive]
            if inputs is not None:
                self.state[np.ix_(going, columns)] = inputs[alive, t]
            failed |= self._step(going, 1, NONE, [item for item in record if isinstance(item, str)])
            for item, array in arrays.items():
                array[:, t] = self._recorded(item, chosen)
            alive &= ~np.any(self.warning[chosen, :, 1] > before, axis=1) & ~np.isin(chosen, list(failed))
            if not np.any(alive) and t + 1 < nstep:
                for array in arrays.values():
                    array[:, t + 1 :] = array[:, t : t + 1]
                break
        if failed:
            lost = np.isin(chosen, list(failed))
            self.state[chosen[lost]] = start[lost]
        self._finish(chosen, failed)
        return arrays

    def jac(self, body: ArrayLike, point: ArrayLike, ids: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """The Jacobians (n, 3, nv) of points (world) fixed in bodies, linear and angular, at the present states."""
        chosen = self._chosen(ids)
        bodies = _integers("body", body, (len(chosen),), 0, int(self.model.nbody))
        points = np.broadcast_to(np.asarray(point, np.float64), (len(chosen), 3))
        return self._evaluation(chosen).jacobian(bodies, points)

    def ray(
        self,
        pnt: ArrayLike,
        vec: ArrayLike,
        geomgroup: ArrayLike | None = None,
        flg_static: bool = True,
        bodyexclude: ArrayLike = -1,
        ids: ArrayLike | None = None,
        normal: bool = False,
    ) -> tuple[NDArray[Any], ...]:
        """Intersects rays with the geoms of each simulation as mj_ray: dist and geomid (n, nray), -1 for a miss."""
        from .rays import cast

        chosen = self._chosen(ids)
        points = np.atleast_2d(np.asarray(pnt, np.float64))
        directions = np.atleast_2d(np.asarray(vec, np.float64))
        count = np.broadcast_shapes(points.shape[:-1], directions.shape[:-1])[-1]
        points, directions = (np.broadcast_to(x, (len(chosen), count, 3)) for x in (points, directions))
        excluded = _integers("bodyexclude", bodyexclude, (len(chosen), count), -1, int(self.model.nbody))
        dist, geom, normals = cast(self._evaluation(chosen), points, directions, geomgroup, flg_static, excluded)
        return (dist, geom, normals) if normal else (dist, geom)

    # ---- the work of a call ----

    def _chosen(self, ids: ArrayLike | None) -> NDArray[np.intp]:
        return _indices(ids, self.nsim)

    def _one(self, sim: int) -> int:
        if not 0 <= int(sim) < self.nsim:
            raise IndexError(f"the simulation must be in [0, {self.nsim}), got {sim}")
        return int(sim)

    def _finish(self, chosen: NDArray[np.intp], failed: dict[int, str]) -> None:
        """Notes how the call went; an error if a simulation failed."""
        self._status[chosen] = 0
        for i in chosen[np.isin(chosen, list(self._errors))]:
            del self._errors[int(i)]
        if failed:
            ids = np.array(sorted(failed), np.int32)
            self._status[ids] = 1
            self._errors |= failed
            raise SimulationError(ids, failed[int(ids[0])], len(chosen))

    def _evaluation(self, ids: NDArray[np.intp]) -> Evaluation:
        """At the present states."""
        return Evaluation(self._models.base_for(ids), self._models.constants(ids), self._layout.state(self.state[ids]))

    def _engine(self, group: Group) -> Engine:
        """An engine for a number of simulations: one for many, smaller ones for few."""
        count = len(group.ids)
        room = self.nsim if 2 * count > self.nsim else min(self.nsim, 1 << (count - 1).bit_length())
        key = (group.key, room, lists_actuators(group.own))
        if key not in self._engines:
            quiet = self._quiet or bool(self._engines)
            self._engines[key] = engine(group, room, self.nthread, self._preset, quiet)
            while len(self._engines) > max(ENGINES, 2 * self._models.num_variants):
                del self._engines[next(iter(self._engines))]
        self._engines[key] = self._engines.pop(key)  # the last one is the latest
        return self._engines[key]

    def _wanted(self, extra: Sequence[str] = ()) -> list[str]:
        return [*{*self._bound, *(name for name in extra if name not in COMPONENTS)}]

    def _step(self, ids: NDArray[np.intp], n: int, stage: int, extra: Sequence[str] = ()) -> dict[int, str]:
        """Steps simulations and fills their bound fields. Returns messages of those that failed."""
        failed: dict[int, str] = {}
        for name in extra:
            if name not in COMPONENTS:
                self.bind(name)
        for group in self._models.groups(ids, failed):
            self._kept = {}
            try:
                lost = self._advance(group, n, stage) if len(group.ids) else {}
            except ModelError as error:
                if group.model is self._models.base:
                    raise
                lost = {int(i): str(error) for i in group.ids}
            for i in self._kept.keys() & lost.keys():
                self.state[i], self.warning[i] = self._kept[i]
            failed |= lost
        return failed

    def _rows(self, ids: NDArray[np.intp]) -> Floats:
        """The rows of simulations: a view if they are all of them."""
        return self.state if len(ids) == self.nsim else self.state[ids]

    def _run(self, group: Group, n: int) -> Outcome:
        rows, wanted = self._rows(group.ids), self._wanted()
        outcome = self._engine(group).run(rows, n, wanted, group)
        if not wanted or int(group.model.opt.integrator) != INTEGRATOR_RK4:
            return outcome
        # Sensors and accelerations are those of the first stage, which is a step of Euler's.
        start = rows.copy()
        for name, values in outcome.lagged.state.items():
            self._layout.view(start, name)[...] = values
        first, after = self._evaluate(group, start, wanted), outcome.sensors
        fresh = [np.repeat(group.model.sensor_needstage <= stage, group.model.sensor_dim) for stage in range(4)]
        sensed = first.sensors(NONE)
        sensors = lambda stage: np.where(fresh[stage], after(stage), sensed) if stage else sensed
        return replace(outcome, lagged=first.lagged, sensors=sensors)

    def _evaluate(self, group: Group, rows: Floats, wanted: Sequence[str]) -> Outcome:
        """A step that is not kept, for what it shows of its start."""
        if int(group.model.opt.integrator) == INTEGRATOR_RK4:
            m = copy.copy(group.model)
            m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
            group = replace(group, model=m, key=b"Euler" + group.key)
        return self._engine(group).run(rows, 1, wanted, group)

    def _take(self, group: Group, outcome: Outcome, good: NDArray[np.bool_], stage: int) -> dict[int, str]:
        """Fields and new states of the simulations in `good` that did not fail; the messages of the others."""
        good = good & ~np.isin(np.arange(len(good)), list(outcome.failed)) if outcome.failed else good
        every = bool(np.all(good))
        at: Any = slice(None) if every and len(good) == self.nsim else group.ids[good]
        self._fill_fields(at, slice(None) if every else good, outcome, stage)
        for name, values in outcome.new.items():
            self._layout.view(self.state, name)[at] = values if every else values[good]
        return {int(group.ids[i]): message for i, message in outcome.failed.items()}

    def _advance(self, group: Group, n: int, stage: int) -> dict[int, str]:
        """n steps of simulations with one engine. Those with bad numbers, before or after, step one by one."""
        suspect = np.zeros(len(group.ids), bool)
        for name in ("qpos", "qvel", "ctrl"):
            suspect |= has_bad(self._layout.view(self._rows(group.ids), name))
        if np.any(suspect):
            failed = {} if np.all(suspect) else self._advance(group.part(~suspect), n, stage)
            return failed | self._one_by_one(group.part(suspect), n, stage)
        outcome = self._run(group, n)
        bad = outcome.nonfinite | has_bad(outcome.qacc)
        if n > 1:
            bad |= has_bad(outcome.new["qpos"]) | has_bad(outcome.new["qvel"])
        failed = self._take(group, outcome, ~bad, stage)
        return failed | self._one_by_one(group.part(bad), n, stage) if np.any(bad) else failed

    def _one_by_one(self, group: Group, n: int, stage: int) -> dict[int, str]:
        """n steps of simulations that may have bad numbers, as mj_step treats them."""
        self._kept |= {int(i): (self.state[i].copy(), self.warning[i].copy()) for i in group.ids}
        failed: dict[int, str] = {}
        for _ in range(n):
            for word, name in (("QPOS", "qpos"), ("QVEL", "qvel"), ("CTRL", "ctrl")):
                values = self._layout.view(self._rows(group.ids), name)
                if np.any(bad := has_bad(values)):
                    self._warn(word, group.part(bad), _first_bad(values[bad]))
            outcome = self._run(group, 1)
            bad = outcome.nonfinite | has_bad(outcome.qacc)
            if np.any(bad):
                self._warn("QACC", group.part(bad), _first_bad(outcome.qacc[bad]))
                outcome = self._run(group, 1)
            failed |= self._take(group, outcome, ~outcome.nonfinite, stage)
        return failed

    def _warn(self, word: str, group: Group, info: NDArray[Any]) -> None:
        """Counts a warning. Bad states are reset unless the model forbids it; bad controls act as 0."""
        ids = group.ids
        forbids = int(group.model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        if word != "CTRL" and not forbids:
            self.state[ids] = self._models.reset_rows(self._layout, ids, -1)
            self.warning[ids] = 0
        self.warning[ids, WARNINGS[word], 1] += 1
        self.warning[ids, WARNINGS[word], 0] = info

    def _fill_fields(self, at: Any, good: Any, outcome: Outcome, stage: int) -> None:
        """Bound fields after steps: of the start of the last one, and up to `stage` of the new state."""
        fresh: Evaluation | None = None
        for name, array in self._bound.items():
            if name == "sensordata":
                array[at] = outcome.sensors(stage if stage < ACCELERATION else NONE)[good]
            elif name not in STAGES:
                continue
            elif STAGES[name] <= stage < ACCELERATION:
                new = {**outcome.lagged.state, **outcome.new}
                fresh = fresh or Evaluation(outcome.lagged.m, outcome.lagged.constants, new)
                array[at] = fresh.field(name)[good]
            else:
                array[at] = outcome.lagged.field(name)[good]

    def _forward(self, ids: NDArray[np.intp], stage: int) -> dict[int, str]:
        """Fills bound fields up to a stage at the present states. Accelerations come from a step that is not kept."""
        failed: dict[int, str] = {}
        names = [name for name in self._bound if STAGES.get(name, 9) <= stage or (name == "sensordata" and stage)]
        for group in self._models.groups(ids, failed) if names or stage >= ACCELERATION else ():
            at, rows = group.ids, self.state[group.ids].copy()
            if not len(at):
                continue
            if stage >= ACCELERATION and names:
                outcome = self._evaluate(group, rows, names)
                for name in names:
                    values = outcome.sensors(NONE) if name == "sensordata" else outcome.lagged.field(name)
                    self._bound[name][at] = values
                failed |= {int(at[i]): message for i, message in outcome.failed.items()}
                continue
            evaluation = Evaluation(group.model, group.constants, self._layout.state(rows))
            for name in names:
                if name == "sensordata":
                    fresh = np.repeat(self.model.sensor_needstage <= stage, self.model.sensor_dim)
                    self._bound[name][np.ix_(at, fresh)] = self._engine(group).sense(rows, group)[:, fresh]
                else:
                    self._bound[name][at] = evaluation.field(name)
        return failed

    # ---- records ----

    def _buffer(self, item: Any, count: int, nstep: int, given: NDArray[Any] | None) -> NDArray[Any]:
        """The array that a record goes to."""
        if isinstance(item, str):
            like = template(self._data, item) if item in DATA_FIELDS else None
            if like is None:
                raise not_bound(self._data, item)
            shape, dtype = (count, nstep, *like.shape), like.dtype
        else:
            if not 0 <= int(item) <= INTEGRATION:
                raise ValueError(f"the state {int(item)} must have bits in mjSTATE_INTEGRATION")
            shape, dtype = (count, nstep, len(self._layout.columns(int(item)))), np.dtype(np.float64)
        if given is None:
            return np.empty(shape, dtype)
        if not isinstance(given, np.ndarray) or given.shape != shape or given.dtype != dtype:
            found = f"{given.dtype} {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
            raise ValueError(f"the array for {item!r} must be {dtype} of shape {shape}, got {found}")
        return given

    def _recorded(self, item: Any, ids: NDArray[np.intp]) -> NDArray[Any]:
        if isinstance(item, str):
            return self.bind(item)[ids]
        return self.state[ids][:, self._layout.columns(int(item))]


# ---- checks ----


def _check_callbacks() -> None:
    for name in CALLBACKS:
        if getattr(mujoco, name)() is not None:
            raise ValueError(f"{name[4:]} is set: a batch of sapwood.mujoco has no callbacks")


def _indices(ids: ArrayLike | None, count: int) -> NDArray[np.intp]:
    """Simulations given by a mask or by sorted unique integers."""
    if ids is None:
        return np.arange(count)
    given = np.asarray(ids)
    if given.dtype == bool:
        if given.shape != (count,):
            raise ValueError(f"a mask of simulations must have shape ({count},), got {given.shape}")
        return np.flatnonzero(given)
    if given.ndim != 1:
        raise ValueError(f"ids must be a list of integers or a mask, got {given.ndim} dimensions")
    if not given.size:
        return np.zeros(0, np.intp)
    if given.dtype.kind not in "iu":
        raise ValueError(f"ids must be integers, got {given.dtype}")
    falls = np.flatnonzero(given[1:] <= given[:-1])
    if len(falls):
        raise ValueError(f"ids must be sorted and unique, got {given[falls[0]]} before {given[falls[0] + 1]}")
    for bad in (given[0], given[-1]):
        if not 0 <= bad < count:
            raise ValueError(f"ids must be in [0, {count}), got {bad}")
    return given.astype(np.intp)


def _integers(name: str, values: ArrayLike, shape: tuple[int, ...], low: int, high: int) -> NDArray[np.intp]:
    """Integers in [low, high), broadcast to a shape."""
    given = np.asarray(values)
    if given.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, got {given.dtype}")
    wrong = given[(given < low) | (given >= high)]
    if wrong.size:
        raise ValueError(f"{name} must be in [{low}, {high}), got {wrong.flat[0]}")
    return np.broadcast_to(given, shape).astype(np.intp)


def _first_bad(values: Floats) -> NDArray[Any]:
    """[n] the first bad number of each row."""
    return np.asarray(np.argmax(~(np.abs(values) <= BAD), axis=1))
