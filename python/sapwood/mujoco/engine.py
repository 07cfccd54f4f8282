"""Steps rows of state with a sapwood.Batch. Worlds of an engine have no memory: each run writes the rows into as many
worlds, steps, and reads them back, so any rows of simulations with equal models can run in one engine."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _layout
from .._library import ModelError
from ..batch import FAILED, Batch, status_names
from ..conventions import Coordinates, Floats, quat_matrix
from ..mjcf import Code, convert
from ..mjcf.report import warn
from ..mjcf.source import BALL, FREE, INTEGRATOR_RK4
from ..mjsensors import MjSensors
from ..options import Options
from .derived import BAD, STAGES, WRENCHES, Evaluation
from .fields import INTEGRATION, mujoco
from .groups import Group
from .readings import of_actuators, on_mocap, reading
from .rows import Layout
from .spatial import cross, times, times_transposed
from .worlds import ACTUATORS, Worlds

OF_WRENCHES = ("contact_force", "contact_position", "body_contact_wrench", "body_constraint_wrench", "step_start")
# What a step has to record for a field.
RECORDS = {
    "qfrc_constraint": ("joint_constraint_force",),
    **{name: OF_WRENCHES for name in ("cfrc_ext", "cfrc_int")},
    **{name: ("row_count", "row_type") for name in ("nefc", "ne", "nf", "nl")},
}
NONFINITE = sum(_layout.BITS[f"SAP_WORLD_{word}"] for word in ("NONFINITE_STATE", "NONFINITE_RESULT", "TOO_FAST"))


@dataclass
class Outcome:
    """What steps made of n rows."""

    new: dict[str, Floats]  # the fields of the state that changed
    qacc: Floats  # of the last solve
    lagged: Evaluation  # at the start of the last step
    sensors: Callable[[int], Floats]  # sensordata with sensors of stages up to this one at the new states
    nonfinite: NDArray[np.bool_]  # the solve had no finite result
    failed: dict[int, str]  # messages of rows that could not be stepped otherwise


class Engine(Protocol):
    capacity: int  # the most rows of a run

    def run(self, rows: Floats, n: int, wanted: Collection[str], group: Group) -> Outcome: ...

    def sense(self, rows: Floats, group: Group) -> Floats: ...


def has_bad(values: Floats) -> NDArray[np.bool_]:
    """[n] whether a row has a number for which MuJoCo resets a simulation: not finite, or too large."""
    if not values.size or (values.max() <= BAD and values.min() >= -BAD):
        return np.zeros(len(values), bool)
    return np.asarray(np.any(~(np.abs(values) <= BAD), axis=1))


def engine(group: Group, capacity: int, threads: int, preset: str, quiet: bool) -> Engine:
    if not group.model.nv:
        return Still(group.model, capacity)
    return Stepper(group.model, capacity, threads, preset, quiet, lists_actuators(group.own))


def lists_actuators(own: Collection[str]) -> bool:
    """Whether steps have to compute all actuators, so that simulations can have their own numbers of them."""
    return not ACTUATORS.keys().isdisjoint(own)


class Stepper:
    """Steps up to `capacity` rows of a model with dofs."""

    def __init__(self, m: Any, capacity: int, threads: int, preset: str, quiet: bool, lists: bool) -> None:
        self.m, self.capacity, self.layout = m, capacity, Layout(m)
        self.options: dict[str, Any] = {"threads": threads} if threads else {}
        self.model = convert(m, quiet=True, law="mujoco", lists_actuators=lists)
        assert self.model.imported
        if lists:  # steps clip controls, each world to its own range
            self.model.imported.actuation.ctrl_range[...] = [-np.inf, np.inf]
        self.imported, self.preset = self.model.imported, preset
        lost = [finding for finding in self.imported.found if finding.code is not Code.MOCAP]
        self.keeps_mocap = len(lost) < len(self.imported.found)  # where they touch nothing, their poses still follow
        if not quiet:
            warn(self.model.name, lost)
        self.h = float(m.opt.timestep)
        activations = self.imported.actuation.activations
        self.na = 0 if activations is None else len(activations.control)  # MuJoCo's, or 0: those of others stay
        self.coordinates, self.written = self.imported.coordinates, (0, b"")
        self._open()

    def _open(self) -> None:
        options = Options(self.preset, contact_solver="mujoco", **self.options)
        self.batch = Batch(self.model, self.capacity, options=options)
        self.order = _internal_order(self.imported.coordinates.free, self.m.nv)
        self.controlled, self.written = False, (0, b"")
        self.expanded: set[str] = set()

    # ---- parameters of simulations ----

    @cached_property
    def _worlds(self) -> Worlds:
        return Worlds(self.m, self.imported, self.model.mujoco or {}, self.model)

    def _write_parameters(self, group: Group) -> None:
        """The values of fields that the simulations have of their own."""
        written = (group.version, group.ids.tobytes()) if group.own else (0, b"")
        if written == self.written:
            return
        self.written = written
        own = {name: group.constants[name] for name in group.own}
        rows = self._worlds.rows(own) if own else {}
        for name in self.expanded - rows.keys():
            rows[name] = self._worlds.base(name, 1)
        for name, values in rows.items():
            array = self.batch.expand(name)
            array[...] = self._fill(np.broadcast_to(values, (len(values), *values.shape[1:]))).reshape(array.shape)
            self.expanded.add(name)
        self.coordinates = self.imported.coordinates
        if "body_ipos" in own:
            bodies = {int(self.m.jnt_qposadr[j]): int(self.m.jnt_bodyid[j]) for j in range(self.m.njnt)}
            free = [(q, v, own["body_ipos"][:, bodies[q]]) for q, v, _ in self.coordinates.free]
            self.coordinates = Coordinates(free, self.coordinates.ball)

    # ---- states in and out ----

    def _fill(self, values: Floats) -> Floats:
        """Rows for all worlds: those that are left over repeat the first."""
        if len(values) == self.capacity:
            return values
        return np.concatenate([values, np.broadcast_to(values[:1], (self.capacity - len(values), *values.shape[1:]))])

    def _load(self, rows: Floats, group: Group) -> None:
        self._write_parameters(group)
        state, batch, coordinates = self.layout.state(rows), self.batch, self.coordinates
        q = coordinates.joint_q(state["qpos"])
        batch.joint_q[...] = self._fill(q)
        batch.joint_qd[...] = self._fill(coordinates.joint_qd(q, state["qvel"]))
        batch.dof_cache[:, :, 0] = self._fill(state["qacc_warmstart"][:, self.order])
        if self.na:
            batch.act = self._fill(state["act"])
        if self.m.neq:
            batch.eq_active = self._fill(state["eq_active"] != 0)
        batch._clock.start[...] = batch._clock.now - self._fill(state["time"])
        self._check_mocap(state)
        self._apply(state)

    def _check_mocap(self, state: dict[str, Floats]) -> None:
        """Refuses poses that steps do not have."""
        if not self.keeps_mocap or not self.m.nmocap:
            return
        for b in np.nonzero(moved_mocap(self.m, state))[0]:
            if _acts(self.m, int(b)):
                name = mujoco.mj_id2name(self.m, mujoco.mjtObj.mjOBJ_BODY, int(b))
                raise ValueError(
                    f"mocap_pos or mocap_quat of body {name!r} differs from its pose in the model; bodies that touch "
                    "or hold others stay where they are: not implemented"
                )

    @cached_property
    def _pushable(self) -> NDArray[np.bool_]:
        """[nbody] bodies on which a force acts, or does nothing."""
        ours, m = self.imported.body, self.m
        own = np.array([b < 0 or np.count_nonzero(ours == b) == 1 or m.body_mass[i] > 0 for i, b in enumerate(ours)])
        return own

    def _apply(self, state: dict[str, Floats]) -> None:
        """Controls and applied forces."""
        ctrl = state["ctrl"]
        bad = has_bad(ctrl)
        if np.any(bad):
            ctrl = np.where(bad[:, None], 0.0, ctrl)  # as MuJoCo does
        self.push = {name: state[name] for name in ("qfrc_applied", "xfrc_applied") if np.any(state[name])}
        if "qfrc_applied" in self.push and int(self.m.opt.integrator) == INTEGRATOR_RK4:
            self._check_stages(state["qfrc_applied"])
        if "xfrc_applied" in self.push:
            pushed = np.any(state["xfrc_applied"] != 0, axis=(0, 2))
            for b in np.nonzero(pushed & ~self._pushable)[0]:
                name = mujoco.mj_id2name(self.m, mujoco.mjtObj.mjOBJ_BODY, int(b))
                raise ValueError(f"xfrc_applied of body {name!r}, which is a part of another body: not implemented")
        if self.m.nu and (self.controlled or np.any(ctrl) or not self.imported.actuation.rests):
            self.batch.ctrl = self._fill(ctrl)
            self.controlled = True

    def _check_stages(self, force: Floats) -> None:
        """Forces on dofs of free and ball joints turn with their bodies, also from stage to stage."""
        for j in np.nonzero(self.m.jnt_type <= BALL)[0]:
            first = int(self.m.jnt_dofadr[j])
            if np.any(force[:, first : first + (6 if self.m.jnt_type[j] == FREE else 3)]):
                name = mujoco.mj_id2name(self.m, mujoco.mjtObj.mjOBJ_JOINT, int(j)) or int(j)
                raise ValueError(
                    f"qfrc_applied of joint {name!r}, which is a free or ball joint, with the integrator RK4: not "
                    "implemented; write xfrc_applied, or choose another integrator"
                )

    def _advance(self, n: int) -> None:
        batch = self.batch
        if not self.push:
            if self.pushed:
                self._write_forces()
                self.pushed = False
            batch.step(n, self.h)
            return
        # The forces are written again before each step: those on free and ball joints turn with their bodies.
        for _ in range(n):
            self._write_forces()
            self._push()
            self.pushed = True
            batch._keep_controls()
            batch._advance(1, ctypes.c_double(self.h))
            if self.m.nu:
                batch._advance_activations(self.h)

    pushed = False  # joint_f or body_f has forces of the last run

    def _write_forces(self) -> None:
        """The forces of the actuators alone."""
        self.batch.joint_f[...] = 0
        self.batch.body_f[...] = 0
        if self.m.nu:
            self.batch._write_controls(slice(None), self.batch.ctrl, self.h)

    def _push(self) -> None:
        """Adds applied forces; qfrc_applied is for MuJoCo's dofs."""
        batch, coordinates = self.batch, self.coordinates
        if (force := self.push.get("qfrc_applied")) is not None:
            batch.joint_f[: len(force)] += coordinates.joint_f(batch.joint_q[: len(force)], force)
        if (wrench := self.push.get("xfrc_applied")) is not None:
            for b in np.nonzero(np.any(wrench != 0, axis=(0, 2)))[0]:
                if self.imported.body[b] >= 0:
                    batch.body_f[: len(wrench), self.imported.body[b]] += wrench[:, b]

    def _read(self, rows: Floats, n: int) -> dict[str, Floats]:
        k, batch, coordinates = len(rows), self.batch, self.coordinates
        q = np.asarray(batch.joint_q[:k], np.float64)
        warm = np.empty((k, self.m.nv))
        warm[:, self.order] = batch.dof_cache[:k, :, 0]
        new = {
            "time": self.layout.view(rows, "time") + n * self.h,
            "qpos": coordinates.qpos(q),
            "qvel": coordinates.qvel(q, batch.joint_qd[:k]),
            "qacc_warmstart": warm,
        }
        return {**new, "act": np.array(batch.act[:k], np.float64)} if self.na else new

    # ---- runs ----

    def run(self, rows: Floats, n: int, wanted: Collection[str], group: Group) -> Outcome:
        k, batch = len(rows), self.batch
        self._load(rows, group)
        self._record(wanted, n)
        self._advance(n)
        if np.any(batch.contact_dropped[:k]):
            return self._with_more_slots(rows, n, wanted, group)
        status = np.array(batch.status[:k])
        nonfinite = (status & NONFINITE) != 0
        bad = np.nonzero((status & FAILED) & ~np.uint32(NONFINITE))[0]
        failed = {int(i): self._why(int(status[i])) for i in bad}
        new = self._read(rows, n)
        state = self._start(rows, new, n)
        lagged = Evaluation(self.m, group.constants, state, lambda name: self._solved(name, new, state))
        fresh = Evaluation(self.m, group.constants, {**state, **new})
        return Outcome(new, new["qacc_warmstart"], lagged, self._sensordata(lagged, fresh), nonfinite, failed)

    def _why(self, status: int) -> str:
        """What a failed world reports."""
        if status & _layout.BITS["SAP_WORLD_BAD_PARAMETERS"]:
            try:
                self.batch.check_parameters()
            except ModelError as error:
                return str(error)
        return "the step failed: " + ", ".join(status_names(status))

    def _record(self, wanted: Collection[str], n: int) -> None:
        for name in wanted:
            for array in RECORDS.get(name, ()):
                getattr(self.batch, array)
        if "sensordata" in wanted and self.m.nsensordata:
            self._sensors()
        if n > 1 and any(name in STAGES for name in wanted):
            self.batch._get("step_start")

    def _with_more_slots(self, rows: Floats, n: int, wanted: Collection[str], group: Group) -> Outcome:
        """The same run with room for all contacts."""
        most = int((self.batch.contact_count + self.batch.contact_dropped).max())
        self.options["max_contacts"] = 2 * most
        self.batch.close()
        self._open()
        return self.run(rows, n, wanted, group)

    def _start(self, rows: Floats, new: dict[str, Floats], n: int) -> dict[str, Floats]:
        """The states at the start of the last of n steps."""
        state = dict(self.layout.state(rows))
        if n > 1 and "step_start" in self.batch.__dict__:
            k, m, coordinates = len(rows), self.m, self.coordinates
            row = np.asarray(self.batch.step_start[:k], np.float64)
            q, v = row[:, : m.nq], row[:, m.nq : m.nq + m.nv]
            state["qpos"], state["qvel"] = coordinates.qpos(q), coordinates.qvel(q, v)
            if self.na:
                state["act"] = row[:, row.shape[1] - self.batch.actuator_act.shape[1] :][:, : self.na]
            state["time"] = new["time"] - self.h
        return state

    def _solved(self, name: str, new: dict[str, Floats], state: dict[str, Floats]) -> NDArray[Any]:
        """A field that the solve gives."""
        k, batch = len(new["time"]), self.batch
        if name == "qacc":
            return new["qacc_warmstart"]
        if name == WRENCHES:
            return self._wrenches(k)
        if name == "ncon":
            return np.array(batch.contact_count[:k], np.int32)
        if name == "nefc":
            return np.array(batch.row_count[:k], np.int32)
        if name == "solver_niter":
            out = np.zeros((k, int(mujoco.mjNISLAND)), np.int32)
            out[:, 0] = batch.iterations[:k]
            return out
        if name == "qfrc_constraint":
            coordinates = self.coordinates
            return _qfrc(coordinates, coordinates.joint_q(state["qpos"]), batch.joint_constraint_force[:k])
        kinds = {"ne": (0,), "nf": (1, 2), "nl": (3, 4)}[name]
        rows = np.arange(batch.row_type.shape[1]) < batch.row_count[:k, None]
        return np.asarray(np.sum(np.isin(batch.row_type[:k], kinds) & rows, axis=1), np.int32)

    def _wrenches(self, k: int) -> Floats:
        """[k][nbody][6] torques about the origin, and forces, of contacts, connects and welds on MuJoCo's bodies."""
        m, batch, ours = self.m, self.batch, np.array(self.imported.body)
        out = np.zeros((k, m.nbody, 6))
        index = self.imported.shape
        geom = np.full(int(index.max(initial=-1)) + 2, -1)  # of each shape; the last one: of none
        geom[index[index >= 0]] = np.nonzero(index >= 0)[0]
        force, point = np.array(batch.contact_force[:k]), np.array(batch.contact_position[:k])
        force[np.arange(force.shape[1]) >= batch.contact_count[:k, None]] = 0
        both = np.concatenate([cross(point, force), force], -1)
        world = np.arange(k)[:, None]
        for sign, shape in ((-1.0, batch.contact_shape0[:k]), (1.0, batch.contact_shape1[:k])):
            body = np.where(geom[shape] >= 0, np.array(m.geom_bodyid)[geom[shape]], 0)
            np.add.at(out, (world, body), sign * both)
        # Torques of condim above 3, and constraints, are known for our bodies.
        motion = np.asarray(batch.step_start[:k, m.nq + m.nv :], np.float64)[:, : 19 * self.model.num_bodies]
        pose = motion.reshape(k, -1, 19)[..., :7]
        for b in range(self.model.num_bodies):
            parts = np.nonzero(ours == b)[0]
            if not len(parts):
                continue
            wrench = np.asarray(batch.body_contact_wrench[:k, b] + batch.body_constraint_wrench[:k, b], np.float64)
            com = batch._get("body_com")[:k, b] if "body_com" in self.expanded else self.model.body_com[b]
            arms = np.broadcast_to(com, (k, 3))
            centre = pose[:, b, :3] + times(quat_matrix(pose[:, b, 3:]), arms)
            total = np.concatenate([wrench[:, 3:] + cross(centre, wrench[:, :3]), wrench[:, :3]], -1)
            out[:, parts[0]] += total - out[:, parts].sum(axis=1)
        return out

    def _sensors(self) -> MjSensors:
        """The sensors of the batch, which are declared by the first call."""
        self.batch._get("step_start")
        self.batch._get("sensordata")
        assert self.batch._mjsensors
        return self.batch._mjsensors

    def _sensordata(self, lagged: Evaluation, fresh: Evaluation) -> Callable[[int], Floats]:
        def sensors(stage: int) -> Floats:
            k = lagged.n
            if not self.m.nsensordata:
                return np.zeros((k, 0))
            read = self._sensors()
            new = self._with_own(read.read()[:k], fresh) if stage else np.zeros((k, self.m.nsensordata))
            if any(sensor.kind == "rangefinder" for sensor in read.sensors):  # rays meet bodies where they are now
                self.batch.joint_q[...] = self.batch.step_start[:, : self.m.nq]
                self.batch.forward_kinematics()
            old = self._with_own(read.read(lagged=True)[:k], lagged)
            return np.where(np.repeat(self.m.sensor_needstage <= stage, self.m.sensor_dim), new, old)

        return sensors

    @cached_property
    def _on_mocap(self) -> list[int]:
        return on_mocap(self.m)

    @cached_property
    def _of_actuators(self) -> list[int]:
        return of_actuators(self.m)

    def _with_own(self, values: Floats, at: Evaluation) -> Floats:
        """Readings with those that steps do not know: of sensors on mocap bodies that have moved, and of actuators with
        numbers per simulation."""
        moved = self._on_mocap and self.keeps_mocap and bool(np.any(moved_mocap(self.m, at.state)))
        own = lists_actuators(at.constants.keys())
        for s in (self._on_mocap if moved else []) + (self._of_actuators if own else []):
            first = int(self.m.sensor_adr[s])
            values[:, first : first + int(self.m.sensor_dim[s])] = reading(at, s)
        return values

    def sense(self, rows: Floats, group: Group) -> Floats:
        """sensordata of sensors of positions and velocities."""
        self._load(rows, group)
        self.batch.forward_kinematics()
        at = Evaluation(self.m, group.constants, self.layout.state(rows))
        return self._with_own(self._sensors().read()[: len(rows)], at)


class Still:
    """A model without dofs, in which nothing moves but time: MuJoCo itself evaluates it."""

    def __init__(self, m: Any, capacity: int) -> None:
        self.m, self.capacity, self.layout, self.data = m, capacity, Layout(m), mujoco.MjData(m)

    def run(self, rows: Floats, n: int, wanted: Collection[str], group: Group) -> Outcome:
        after, sensed = rows.copy(), np.zeros((len(rows), self.m.nsensordata))
        for i, row in enumerate(after):
            mujoco.mj_setState(self.m, self.data, row, INTEGRATION)
            for _ in range(n):
                mujoco.mj_step(self.m, self.data)
            mujoco.mj_getState(self.m, self.data, row, INTEGRATION)
            sensed[i] = self.data.sensordata
        none = np.zeros(len(rows), bool)
        lagged = Evaluation(
            self.m, group.constants, self.layout.state(rows), lambda name: self._solved(name, len(rows))
        )
        new = self.layout.state(after)
        return Outcome(new, np.zeros((len(rows), 0)), lagged, lambda stage: sensed, none, {})

    def _solved(self, name: str, k: int) -> NDArray[Any]:
        like = np.zeros((self.m.nbody, 6)) if name == WRENCHES else np.asarray(getattr(self.data, name))
        return np.zeros((k, *like.shape), like.dtype)

    def sense(self, rows: Floats, group: Group) -> Floats:
        out = np.zeros((len(rows), self.m.nsensordata))
        for i, row in enumerate(rows):
            mujoco.mj_setState(self.m, self.data, row, INTEGRATION)
            mujoco.mj_forward(self.m, self.data)
            out[i] = self.data.sensordata
        return out


def _internal_order(free: list[tuple[int, int, Floats]], nv: int) -> NDArray[np.intp]:
    """The dofs of MuJoCo in the internal order, in which free joints have their angular parts first."""
    out = np.arange(nv)
    for _, dof, _ in free:
        out[dof : dof + 6] = dof + np.array([3, 4, 5, 0, 1, 2])
    return out


def _qfrc(coordinates: Any, q: Floats, force: Any) -> Floats:
    """MuJoCo's generalised force for forces on our dofs: the inverse of Coordinates.joint_f."""
    out = np.array(force, np.float64)
    for at, dof, com in coordinates.free:
        rotation = quat_matrix(q[:, at + 3 : at + 7])
        arm = times(rotation, np.broadcast_to(com, (len(q), 3)))
        torque = out[:, dof + 3 : dof + 6] + cross(arm, out[:, dof : dof + 3])
        out[:, dof + 3 : dof + 6] = times_transposed(rotation, torque)
    for at, dof in coordinates.ball:
        out[:, dof : dof + 3] = times_transposed(quat_matrix(q[:, at : at + 4]), out[:, dof : dof + 3])
    return out


def moved_mocap(m: Any, state: Mapping[str, Floats]) -> NDArray[np.bool_]:
    """[nbody] mocap bodies that are not where the model has them."""
    out = np.zeros(m.nbody, bool)
    bodies = np.nonzero(m.body_mocapid >= 0)[0]
    place = m.body_mocapid[bodies]
    moved = np.any(state["mocap_pos"][:, place] != m.body_pos[bodies], axis=-1)
    moved |= np.any(state["mocap_quat"][:, place] != m.body_quat[bodies], axis=-1)
    out[bodies] = np.any(moved, axis=0)
    return out


def _acts(m: Any, b: int) -> bool:
    """Whether a body of the world touches or holds others."""
    below = [b]
    for other in range(b + 1, m.nbody):
        if m.body_parentid[other] in below:
            below.append(other)
    geoms = np.isin(m.geom_bodyid, below) & ((m.geom_contype != 0) | (m.geom_conaffinity != 0))
    body, site = int(mujoco.mjtObj.mjOBJ_BODY), int(mujoco.mjtObj.mjOBJ_SITE)
    bodies = [np.where(m.eq_objtype == body, ids, -1) for ids in (m.eq_obj1id, m.eq_obj2id)]
    if m.nsite:
        bodies += [
            np.where(m.eq_objtype == site, m.site_bodyid[np.clip(ids, 0, m.nsite - 1)], -1)
            for ids in (m.eq_obj1id, m.eq_obj2id)
        ]
    return bool(np.any(geoms)) or any(bool(np.any(np.isin(ids, below))) for ids in bodies)
