"""MuJoCo's names for the arrays of a batch: qpos, qvel, ctrl, eq_active, xpos, xquat, time, and copies into an MjData.

The arrays have MuJoCo's order and conventions (conventions.py). `ctrl` is live: it is the array that the next step
reads. All others are converted copies, made at each access. They are read-only, so that a write into one, which would
be lost, raises; `batch.qpos = x`, `batch.qvel = x` and `batch.eq_active = x` convert x and write it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .actuation import Actuation
from .arguments import index_of, integer
from .conventions import Coordinates, Floats, pose, quat_matrix, quat_mul, quat_to_wxyz
from .mjsensors import MjSensors
from .model import JOINT_TYPES, Model

if TYPE_CHECKING:
    from .mjcf import Import

BALL, FREE = JOINT_TYPES["SAP_JOINT_BALL"], JOINT_TYPES["SAP_JOINT_FREE"]


def coordinates_of(model: Model) -> Coordinates:
    """The free and ball joints of any model."""
    out = Coordinates()
    for j in range(model.num_joints):
        q, v = int(model.joint_q_start[j]), int(model.joint_qd_start[j])
        if model.joint_type[j] == FREE:
            out.free.append((q, v, np.array(model.body_com[model.joint_child[j]])))
        elif model.joint_type[j] == BALL:
            out.ball.append((q, v))
    return out


@dataclass
class Clock:
    """The time of the batch and of its worlds, in s."""

    start: NDArray[np.float64]  # [n] value of `now` at time 0 of each world
    now: float = 0.0  # since the creation


def _fixed(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


class MjNames:
    """The part of a batch that speaks MuJoCo's language."""

    model: Model
    num_worlds: int
    _coordinates: Coordinates
    _controls: NDArray[np.float64] | None  # ctrl, once it has been used
    _shown: Floats | None  # its values that were not written by the caller
    _converts: bool  # each step converts ctrl: once it has been written
    _activations: NDArray[np.float64] | None  # act, once it has been used
    _clock: Clock
    _mjsensors: MjSensors | None  # once sensordata has been used
    _written: Floats | None  # controls that were converted last
    _acted: tuple[Floats, Floats | None] | None  # controls and activations of the last step, if a sensor reads them

    # ---- of the batch ----

    @property
    def dt(self) -> float:
        raise NotImplementedError

    def _get(self, name: str) -> NDArray[Any]:
        raise NotImplementedError

    def _put(self, name: str, index: Any, values: ArrayLike) -> None:
        raise NotImplementedError

    def forward_kinematics(self, worlds: ArrayLike | None = None) -> None:
        raise NotImplementedError

    # ---- state ----

    def _prepare_names(self) -> None:
        imported = self.model.imported
        self._coordinates = imported.coordinates if imported else coordinates_of(self.model)
        self._controls, self._activations, self._clock = None, None, Clock(np.zeros(self.num_worlds))
        self._mjsensors, self._written, self._acted, self._shown, self._converts = None, None, None, None, False
        self._start_controls(np.ones(self.num_worlds, bool), 0)

    @property
    def qpos(self) -> Floats:
        """(num_worlds, nq) MuJoCo's coordinates: quaternions are w x y z. A copy; assigning to batch.qpos writes."""
        return _fixed(self._coordinates.qpos(self._get("joint_q")))

    @qpos.setter
    def qpos(self, values: ArrayLike) -> None:
        velocity = self.qvel
        self._put("joint_q", ..., self._coordinates.joint_q(np.broadcast_to(values, self._get("joint_q").shape)))
        self.qvel = velocity  # the same qvel is another joint_qd at another orientation

    @property
    def qvel(self) -> Floats:
        """(num_worlds, nv) MuJoCo's velocities. A copy; assigning to batch.qvel writes."""
        return _fixed(self._coordinates.qvel(self._get("joint_q"), self._get("joint_qd")))

    @qvel.setter
    def qvel(self, values: ArrayLike) -> None:
        q = self._get("joint_q")
        values = np.broadcast_to(values, self._get("joint_qd").shape)
        self._put("joint_qd", ..., self._coordinates.joint_qd(q, values))
        self.forward_kinematics()

    @property
    def eq_active(self) -> NDArray[np.bool_]:
        """(num_worlds, neq) whether the equalities of an imported model act. A copy; assigning to it writes.

        An equality that was not converted is False.
        """
        index = self._imported("equalities").constraint
        out = np.zeros((self.num_worlds, len(index)), bool)
        out[:, index >= 0] = self._get("constraint_active")[:, index[index >= 0]] != 0
        out.flags.writeable = False
        return out

    @eq_active.setter
    def eq_active(self, values: ArrayLike) -> None:
        index = self._imported("equalities").constraint
        active = np.broadcast_to(np.asarray(values, bool), (self.num_worlds, len(index)))
        self._put("constraint_active", (slice(None), index[index >= 0]), active[:, index >= 0])

    @property
    def time(self) -> NDArray[np.float64]:
        """(num_worlds,) s since the last reset of each world."""
        return _fixed(self._clock.now - self._clock.start)

    # ---- bodies and sites ----

    def _poses(self, bodies: NDArray[Any], offsets: Floats) -> tuple[Floats, Floats]:
        """Positions and quaternions x y z w of poses fixed in bodies; body -1 is the world."""
        body_q = np.append(self._get("body_q"), np.tile(pose(), (self.num_worlds, 1, 1)), axis=1)[:, bodies]
        position = body_q[..., :3] + np.einsum("...ij,...j->...i", quat_matrix(body_q[..., 3:]), offsets[:, :3])
        return position, quat_mul(body_q[..., 3:], np.broadcast_to(offsets[:, 3:], body_q[..., 3:].shape))

    def _bodies(self) -> tuple[Floats, Floats]:
        imported = self.model.imported
        if imported:
            return self._poses(imported.body, imported.offset)
        return self._poses(np.arange(-1, self.model.num_bodies), np.tile(pose(), (self.model.num_bodies + 1, 1)))

    @property
    def xpos(self) -> Floats:
        """(num_worlds, nbody, 3) m, positions of MuJoCo's bodies; body 0 is the world. A copy."""
        return _fixed(self._bodies()[0])

    @property
    def xquat(self) -> Floats:
        """(num_worlds, nbody, 4) their quaternions w x y z. A copy."""
        return _fixed(quat_to_wxyz(self._bodies()[1]))

    def frame(self, name: str) -> Floats:
        """(num_worlds, 7) poses of a site in the world: position, quaternion x y z w. A copy."""
        frames = self._imported("sites").frames
        site = list(frames.values())[index_of("site", name, frames)]
        position, quaternion = self._poses(np.array([site.body]), np.array([site.pose]))
        return _fixed(np.concatenate([position, quaternion], axis=-1)[:, 0])

    @property
    def site_xpos(self) -> Floats:
        """(num_worlds, nsite, 3) m, positions of MuJoCo's sites. A copy."""
        frames = list(self._imported("sites").frames.values())
        offsets = np.array([frame.pose for frame in frames]).reshape(-1, 7)
        return _fixed(self._poses(np.array([frame.body for frame in frames], int), offsets)[0])

    @property
    def sensordata(self) -> Floats:
        """(num_worlds, nsensordata) readings of MuJoCo's sensors (docs/sensors.md). A copy.

        The first access declares their sites and contact sensors (set_sensors), begins to measure, and warns of sensors
        that the batch does not have, which read 0.
        """
        imported = self._imported("sensors")
        if self._mjsensors is None:
            imported.warn_of_sensors(self.model.name)
            self._mjsensors = MjSensors(self, imported.sensors, imported.num_sensordata)  # type: ignore[arg-type]
        return _fixed(self._mjsensors.read())

    # ---- controls ----

    def _imported(self, what: str) -> Import:
        if self.model.imported is None:
            raise ValueError(f"the model was not imported from MuJoCo and has no {what}")
        return self.model.imported

    def _actuation(self) -> Actuation:
        return self._imported("ctrl: write joint_f and the targets").actuation

    @property
    def ctrl(self) -> NDArray[np.float64]:
        """(num_worlds, nu) MuJoCo's controls of an imported model. Live: each step reads them.

        Once a value has been changed, or `ctrl` has been assigned, every step converts them to joint_f, to the targets
        of drives and to body_f of bodies with thrusters, and overwrites what was there.
        """
        if self._controls is None:
            shape = (self.num_worlds, self._actuation().num_controls)
            self._controls = np.zeros(shape) if self._written is None else self._written.copy()
            self._shown = self._controls.copy()
        return self._controls

    @ctrl.setter
    def ctrl(self, values: ArrayLike) -> None:
        self._set_ctrl(..., values)

    def _set_ctrl(self, rows: Any, values: ArrayLike) -> None:
        self.ctrl[rows], self._converts = values, True

    def _converts_controls(self) -> bool:
        """Whether steps convert ctrl. A write into the array shows by its values."""
        if not self._converts and self._controls is not None:
            self._converts = not np.array_equal(self._controls, self._shown)  # type: ignore[arg-type]
        return self._converts

    @property
    def act(self) -> NDArray[np.float64]:
        """(num_worlds, na) MuJoCo's activations: state of the actuators with dynamics, in their order. Live; on a GPU a
        copy if steps advance them (law="mujoco"), and assigning to it writes."""
        if self._steps_activate():
            count = len(self._actuation().activations.control)  # type: ignore[union-attr]
            view: NDArray[np.float64] = self._get("actuator_act")[..., :count]
            return view
        if self._activations is None:
            activations = self._actuation().activations
            self._activations = np.zeros((self.num_worlds, 0 if activations is None else len(activations.control)))
        return self._activations

    @act.setter
    def act(self, values: ArrayLike) -> None:
        self._put_act(slice(None), values)

    def _steps_activate(self) -> bool:
        activations = self.model.imported.actuation.activations if self.model.imported else None
        return activations is not None and activations.advanced_by_steps

    def _put_act(self, rows: Any, values: ArrayLike) -> None:
        if self._steps_activate():
            count = self.act.shape[1]
            index = (rows, slice(count)) if isinstance(rows, slice) else np.ix_(rows, np.arange(count))
            self._put("actuator_act", index, values)
        else:
            self.act[rows] = values

    def set_ctrl(self, ctrl: ArrayLike) -> None:
        """Sets the MuJoCo controls (num_worlds, nu) of an imported model: writes joint_f and the targets of drives."""
        if not self._converts_controls() and not self._actuation().changes:
            self._write_controls(slice(None), ctrl)
        else:
            self.ctrl = ctrl
            self._write_controls(slice(None), self.ctrl)

    def _keep_controls(self) -> None:
        """Before a step: what sensors of actuator forces read of it."""
        if self._mjsensors is not None and self._mjsensors.keeps_controls():
            none = np.zeros((self.num_worlds, self._actuation().num_controls))
            self._acted = (
                none if self._written is None else self._actuation().clip(self._written),
                None if self._activations is None else self._activations.copy(),
            )

    def _last_controls(self) -> Floats:
        """(num_worlds, nu) the clipped controls of the last step."""
        if self._acted is None:
            return np.zeros((self.num_worlds, self._actuation().num_controls))
        return self._acted[0]

    def _last_activations(self, of_steps: Floats) -> Floats:
        """(num_worlds, na) the activations at the start of the last step; of_steps: of MuJoCo's law only."""
        if self._steps_activate():
            return of_steps
        kept = None if self._acted is None else self._acted[1]
        return np.zeros_like(self.act) if kept is None else kept

    def _advance_activations(self, h: float) -> None:
        """The activations after a step with the controls."""
        actuation = self._actuation()
        if actuation.activations is not None and not actuation.activations.advanced_by_steps:
            self.act[...] = actuation.activations.advance(self.act, actuation.clip(self.ctrl), h)

    def _write_controls(self, rows: Any, ctrl: ArrayLike, h: float | None = None) -> None:
        """Converts controls and activations of some worlds for a step of h seconds (default: dt).

        Thrusters act in the axes of their bodies at this moment.
        """
        actuation = self._actuation()
        inputs = clipped = actuation.clip(ctrl)
        if self._written is None:
            self._written = np.zeros((self.num_worlds, actuation.num_controls))
        self._written[rows] = ctrl
        if self._controls is not None and not self._converts:
            self._controls[rows] = self._shown[rows] = ctrl  # type: ignore[index]
        if actuation.activations is not None and actuation.changes:
            inputs = actuation.activations.inputs(self.act[rows], inputs, self.dt if h is None else h)
        for name, values in actuation.arrays(inputs, clipped).items():
            if isinstance(rows, slice):
                self._put(name, (rows, actuation.used[name]), values)
            else:
                self._put(name, np.ix_(rows, actuation.used[name]), values)
        if actuation.thrusters:
            bodies, thrust = actuation.thrust_bodies, actuation.thrust(inputs, self._get("body_q")[rows])
            self._put("body_f", (rows, bodies) if isinstance(rows, slice) else np.ix_(rows, bodies), thrust)

    def _start_controls(self, mask: NDArray[np.bool_], keyframe: int) -> None:
        """After a reset: the controls of the keyframe, or 0."""
        imported, rows = self.model.imported, np.nonzero(mask)[0]
        self._clock.start[rows] = self._clock.now - (imported.key_time[keyframe - 1] if imported and keyframe else 0.0)
        if imported is None or len(rows) == 0:
            return
        ctrl = imported.key_ctrl[keyframe - 1] if keyframe else np.zeros(imported.actuation.num_controls)
        if imported.actuation.activations is not None:
            self._put_act(rows, imported.key_act[keyframe - 1] if keyframe else 0.0)
        converts, rests = self._converts_controls(), imported.actuation.rests
        if keyframe or converts or not rests:
            self._write_controls(rows, np.tile(ctrl, (len(rows), 1)))
        elif self._controls is not None:
            self._controls[rows] = self._shown[rows] = ctrl  # type: ignore[index]
        starts = not rests or np.any(ctrl) or bool(keyframe and np.any(imported.key_act))
        if converts or (imported.actuation.changes and starts):
            self._set_ctrl(rows, ctrl)

    # ---- MjData ----

    def to_mjdata(self, data: Any, world: int = 0) -> None:
        """Writes the state of one world into a mujoco.MjData of the same model and runs mj_forward on it.

        Viewers, renderers, sensors and everything else that reads an MjData then work. Forces of contacts in it are
        MuJoCo's own.
        """
        import mujoco

        w = integer("world", world, 0, self.num_worlds - 1)
        m = getattr(data, "model", None)
        if m is None or m.nq != self.model.num_coords or m.nv != self.model.num_dofs:
            raise ValueError(
                f"data has nq {m.nq if m else '?'} and nv {m.nv if m else '?'}; the batch has {self.model.num_coords} "
                f"and {self.model.num_dofs}: it must be an MjData of the same model"
            )
        q, qd = self._get("joint_q")[w], self._get("joint_qd")[w]
        data.qpos[:], data.qvel[:] = self._coordinates.qpos(q), self._coordinates.qvel(q, qd)
        data.time = float(self.time[w])
        if self.model.imported:
            data.ctrl[:] = self.ctrl[w]
        if self._activations is not None or self._steps_activate():
            data.act[:] = self.act[w]
        if self.model.imported and np.any(self.model.imported.constraint >= 0):
            data.eq_active[:] = self.eq_active[w]
        mujoco.mj_forward(m, data)
