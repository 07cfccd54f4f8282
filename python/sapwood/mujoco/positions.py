"""Positions: poses of bodies, masses, Jacobians, and lengths of tendons and actuators, of many states at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Floats
from ..mjcf.source import (
    BALL,
    FREE,
    SLIDE,
    TRN_JOINT,
    TRN_JOINT_IN_PARENT,
    TRN_SITE,
    TRN_TENDON,
    WRAP_JOINT,
    WRAP_PULLEY,
    WRAP_SITE,
)
from .fields import model_array, mujoco
from .spatial import (
    SMALL,
    conjugate,
    cross,
    dot,
    inertia_times,
    matrix_of,
    quat_of_turn,
    quat_times,
    rotation_vector,
    times,
    times_transposed,
    unit_quat,
)

TRACK, TRACK_COM = 1, 2  # of mjtCamLight
PATTERN = ("moment_rownnz", "moment_rowadr", "moment_colind", "ten_wrapadr", "ten_wrapnum")


class Positions:
    """States of n simulations and the constants of their models."""

    def __init__(self, m: Any, constants: Mapping[str, NDArray[Any]], state: Mapping[str, Floats]) -> None:
        self.m, self.constants, self.state = m, constants, state
        self.n = len(state["qpos"])
        flags, bits = int(m.opt.disableflags), mujoco.mjtDisableBit
        self.disabled = {
            word
            for word in ("GRAVITY", "SPRING", "DAMPER", "ACTUATION", "CLAMPCTRL")
            if flags & int(getattr(bits, "mjDSBL_" + word))
        }

    def of(self, name: str) -> Any:
        """A field of the model or an option, [1 or n][...]."""
        found = self.constants.get(name)
        if found is None:
            found = model_array(self.m, name)[None]
        return found

    # ---- kinematics ----

    @cached_property
    def _bodies(self) -> dict[str, Floats]:
        """Poses of bodies, and anchors and axes of joints, from the root to the leaves."""
        m, qpos, n = self.m, self.state["qpos"], self.n
        pos, quat = [np.zeros((n, 3))], [np.tile([1.0, 0, 0, 0], (n, 1))]
        anchor, axis = np.zeros((n, m.njnt, 3)), np.zeros((n, m.njnt, 3))
        for b in range(1, m.nbody):
            parent, first, count = int(m.body_parentid[b]), int(m.body_jntadr[b]), int(m.body_jntnum[b])
            if count == 1 and m.jnt_type[first] == FREE:
                at = int(m.jnt_qposadr[first])
                x, q = qpos[:, at : at + 3], unit_quat(qpos[:, at + 3 : at + 7])
                anchor[:, first], axis[:, first] = x, self.of("jnt_axis")[:, first]
                pos.append(x)
                quat.append(q)
                continue
            here, turn = self.of("body_pos")[:, b], self.of("body_quat")[:, b]
            if m.body_mocapid[b] >= 0:
                here = self.state["mocap_pos"][:, m.body_mocapid[b]]
                turn = unit_quat(self.state["mocap_quat"][:, m.body_mocapid[b]])
            x = pos[parent] + times(matrix_of(quat[parent]), np.broadcast_to(here, (n, 3)))
            q = quat_times(quat[parent], np.broadcast_to(turn, (n, 4)))
            for j in range(first, first + count):
                at, place = int(m.jnt_qposadr[j]), np.broadcast_to(self.of("jnt_pos")[:, j], (n, 3))
                rotation, local = matrix_of(q), self.of("jnt_axis")[:, j]
                anchor[:, j] = x + times(rotation, place)
                axis[:, j] = times(rotation, np.broadcast_to(local, (n, 3)))
                if m.jnt_type[j] == SLIDE:
                    x = x + axis[:, j] * (qpos[:, at] - self.of("qpos0")[:, at])[:, None]
                    continue
                if m.jnt_type[j] == BALL:
                    own = unit_quat(qpos[:, at : at + 4])
                else:
                    own = quat_of_turn(local, qpos[:, at] - self.of("qpos0")[:, at])
                q = quat_times(q, own)
                x = anchor[:, j] - times(matrix_of(q), place)
            pos.append(x)
            quat.append(unit_quat(q))
        return {"xpos": np.stack(pos, 1), "xquat": np.stack(quat, 1), "xanchor": anchor, "xaxis": axis}

    @property
    def xpos(self) -> Floats:
        return self._bodies["xpos"]

    @property
    def xquat(self) -> Floats:
        return self._bodies["xquat"]

    @property
    def xanchor(self) -> Floats:
        return self._bodies["xanchor"]

    @property
    def xaxis(self) -> Floats:
        return self._bodies["xaxis"]

    @cached_property
    def _axes(self) -> Floats:
        """[n][nbody][3][3]"""
        return matrix_of(self.xquat)

    @property
    def xmat(self) -> Floats:
        return _flat(self._axes)

    def _places(self, bodies: NDArray[Any], local: Any) -> Floats:
        """Points fixed in bodies."""
        return self.xpos[:, bodies] + times(self._axes[:, bodies], local)

    @cached_property
    def xipos(self) -> Floats:
        return self._places(np.arange(self.m.nbody), self.of("body_ipos"))

    @cached_property
    def xiquat(self) -> Floats:
        return quat_times(self.xquat, self.of("body_iquat"))

    @cached_property
    def _inertia_axes(self) -> Floats:
        return matrix_of(self.xiquat)

    @property
    def ximat(self) -> Floats:
        return _flat(self._inertia_axes)

    @cached_property
    def geom_xpos(self) -> Floats:
        return self._places(self.m.geom_bodyid, self.of("geom_pos"))

    @cached_property
    def geom_xquat(self) -> Floats:
        return quat_times(self.xquat[:, self.m.geom_bodyid], self.of("geom_quat"))

    @property
    def geom_xmat(self) -> Floats:
        return _flat(matrix_of(self.geom_xquat))

    @cached_property
    def site_xpos(self) -> Floats:
        return self._places(self.m.site_bodyid, self.of("site_pos"))

    @cached_property
    def site_xquat(self) -> Floats:
        return quat_times(self.xquat[:, self.m.site_bodyid], self.of("site_quat"))

    @property
    def site_xmat(self) -> Floats:
        return _flat(matrix_of(self.site_xquat))

    def _followed(self, kind: str, place: Floats) -> Floats:
        """Positions of cameras or lights, of which some keep their orientation in the world."""
        m, out = self.m, np.array(place)
        bodies, mode = getattr(m, f"{kind}_bodyid"), np.array(getattr(m, f"{kind}_mode"))
        tracks, of_com = mode == TRACK, mode == TRACK_COM
        out[:, tracks] = self.xpos[:, bodies[tracks]] + self.of(f"{kind}_pos0")[:, tracks]
        out[:, of_com] = self.subtree_com[:, bodies[of_com]] + self.of(f"{kind}_poscom0")[:, of_com]
        return out

    @cached_property
    def cam_xpos(self) -> Floats:
        return self._followed("cam", self._places(self.m.cam_bodyid, self.of("cam_pos")))

    @cached_property
    def cam_xmat(self) -> Floats:
        m = self.m
        out = _flat(matrix_of(quat_times(self.xquat[:, m.cam_bodyid], self.of("cam_quat"))))
        tracks = np.isin(m.cam_mode, (TRACK, TRACK_COM))
        out[:, tracks] = self.of("cam_mat0")[:, tracks]
        for c in np.nonzero(m.cam_mode > TRACK_COM)[0]:
            out[:, c] = self._looks_at(int(c))
        return out

    def _looks_at(self, c: int) -> Floats:
        """The axes of a camera that looks at a body, with its x axis horizontal."""
        m, target = self.m, int(self.m.cam_targetbodyid[c])
        if target < 0:
            return np.tile(np.eye(3).ravel(), (self.n, 1))
        of_com = m.cam_mode[c] == int(mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODYCOM)
        z = _unit(self.cam_xpos[:, c] - (self.subtree_com if of_com else self.xpos)[:, target])
        x = _unit(cross(np.tile([0.0, 0, 1], (self.n, 1)), z))
        return _flat(np.stack([x, _unit(cross(z, x)), z], -1)[:, None])[:, 0]

    @cached_property
    def light_xpos(self) -> Floats:
        return self._followed("light", self._places(self.m.light_bodyid, self.of("light_pos")))

    @cached_property
    def light_xdir(self) -> Floats:
        m = self.m
        out = times(self._axes[:, m.light_bodyid], self.of("light_dir"))
        tracks = np.isin(m.light_mode, (TRACK, TRACK_COM))
        out[:, tracks] = self.of("light_dir0")[:, tracks]
        for i in np.nonzero(m.light_mode > TRACK_COM)[0]:
            of_com = m.light_mode[i] == int(mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODYCOM)
            target = int(m.light_targetbodyid[i])
            if target >= 0:
                out[:, i] = (self.subtree_com if of_com else self.xpos)[:, target] - self.light_xpos[:, i]
        return _unit(out)

    # ---- masses ----

    def _mass(self) -> Floats:
        """[n][nbody]"""
        return np.broadcast_to(self.of("body_mass"), (self.n, self.m.nbody))

    def _to_root(self, values: Floats) -> Floats:
        """Sums over subtrees, [n][nbody][...]."""
        out = np.array(values)
        for b in range(self.m.nbody - 1, 0, -1):
            out[:, self.m.body_parentid[b]] += out[:, b]
        return out

    @cached_property
    def subtree_com(self) -> Floats:
        mass = self._mass()
        total = self._to_root(mass[..., None] * self.xipos)
        of_tree = self._to_root(mass[..., None])
        return np.where(of_tree < SMALL, self.xipos, total / np.maximum(of_tree, SMALL))

    @cached_property
    def origin(self) -> Floats:
        """[n][nbody][3] the point that spatial vectors of a body are about: the centre of mass of its tree."""
        return self.subtree_com[:, self.m.body_rootid]

    @cached_property
    def cinert(self) -> Floats:
        mass, d = self._mass()[..., None], self.xipos - self.origin
        axes = self._inertia_axes
        full = np.einsum("nbij,nbj,nbkj->nbik", axes, np.broadcast_to(self.of("body_inertia"), d.shape), axes)
        square = dot(d, d)[..., None, None] * np.eye(3) - d[..., :, None] * d[..., None, :]
        full = full + mass[..., None] * square
        picks = [full[..., i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        out = np.concatenate([np.stack(picks, -1), mass * d, mass], -1)
        out[:, 0] = 0
        return out

    @cached_property
    def crb(self) -> Floats:
        out: Floats = self.cinert.copy()
        for b in range(self.m.nbody - 1, 0, -1):
            if self.m.body_parentid[b] > 0:
                out[:, self.m.body_parentid[b]] += out[:, b]
        return out

    @cached_property
    def cdof(self) -> Floats:
        m, out = self.m, np.zeros((self.n, self.m.nv, 6))
        for j in range(m.njnt):
            b, v, kind = int(m.jnt_bodyid[j]), int(m.jnt_dofadr[j]), m.jnt_type[j]
            arm = self.origin[:, b] - self.xanchor[:, j]
            if kind == SLIDE:
                out[:, v, 3:] = self.xaxis[:, j]
                continue
            if kind == FREE:
                out[:, v : v + 3, 3:] = np.eye(3)
                v += 3
            columns = np.swapaxes(self._axes[:, b], -1, -2) if kind in (FREE, BALL) else self.xaxis[:, j, None]
            last = v + columns.shape[1]
            out[:, v:last, :3] = columns
            out[:, v:last, 3:] = cross(columns, np.broadcast_to(arm[:, None], columns.shape))
        return out

    @cached_property
    def _full_mass(self) -> Floats:
        """[n][nv][nv] the mass matrix."""
        m, out = self.m, np.zeros((self.n, self.m.nv, self.m.nv))
        momentum = inertia_times(self.crb[:, m.dof_bodyid], self.cdof)
        for i in range(m.nv):
            j = i
            while j >= 0:
                out[:, i, j] = out[:, j, i] = dot(self.cdof[:, j], momentum[:, i])
                j = int(m.dof_parentid[j])
        diagonal = np.arange(m.nv)
        out[:, diagonal, diagonal] += self.of("dof_armature")
        for t in np.nonzero(np.any(self.of("tendon_armature") != 0, axis=0))[0]:
            row = self._tendon_rows[:, t]
            added = self.of("tendon_armature")[:, t, None, None] * row[:, :, None] * row[:, None, :]
            out += np.where(self._on_a_path, added, 0.0)
        return out

    @cached_property
    def _on_a_path(self) -> NDArray[np.bool_]:
        """[nv][nv] whether one dof carries the other, or is it; M has no other entries."""
        m, out = self.m, np.zeros((self.m.nv, self.m.nv), bool)
        for i in range(m.nv):
            j = i
            while j >= 0:
                out[i, j] = out[j, i] = True
                j = int(m.dof_parentid[j])
        return out

    @cached_property
    def M(self) -> Floats:
        m = self.m
        row = np.repeat(np.arange(m.nv), m.M_rownnz)
        return self._full_mass[:, row, np.array(m.M_colind)]

    # ---- Jacobians and lengths ----

    @cached_property
    def _moves(self) -> NDArray[np.bool_]:
        """[nbody][nv] the dofs that move a body."""
        m, out = self.m, np.zeros((self.m.nbody, self.m.nv), bool)
        for b in range(1, m.nbody):
            out[b] = out[m.body_parentid[b]]
            first = int(m.body_dofadr[b])
            out[b, first : first + m.body_dofnum[b]] = True
        return out

    def jacobian(self, bodies: Any, points: Any) -> tuple[Floats, Floats]:
        """[n][3][nv] twice, of one body and point for each simulation: linear and angular."""
        bodies = np.broadcast_to(bodies, (self.n,))
        moved = self._moves[bodies][:, :, None]
        angular = np.where(moved, self.cdof[..., :3], 0.0)
        arm = (points - self.origin[np.arange(self.n), bodies])[:, None]
        linear = np.where(moved, self.cdof[..., 3:] + cross(angular, np.broadcast_to(arm, angular.shape)), 0.0)
        return np.swapaxes(linear, 1, 2).copy(), np.swapaxes(angular, 1, 2).copy()

    @cached_property
    def _tendons(self) -> tuple[Floats, Floats]:
        """Lengths [n][ntendon] and rows [n][ntendon][nv]; a path that wraps around geoms is 0."""
        m = self.m
        length, rows = np.zeros((self.n, m.ntendon)), np.zeros((self.n, m.ntendon, m.nv))
        for t in range(m.ntendon):
            path = range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t]))
            kinds = m.wrap_type[path.start : path.stop]
            if np.all(kinds == WRAP_JOINT):
                for w in path:
                    j, coefficient = int(m.wrap_objid[w]), self.of("wrap_prm")[:, w]
                    length[:, t] += coefficient * self.state["qpos"][:, m.jnt_qposadr[j]]
                    rows[:, t, m.jnt_dofadr[j]] = coefficient
            elif np.all(np.isin(kinds, (WRAP_SITE, WRAP_PULLEY))):
                self._straight(path, length[:, t], rows[:, t])
        return length, rows

    def _straight(self, path: range, length: Floats, row: Floats) -> None:
        """A path over sites and pulleys."""
        m, divisor = self.m, 1.0
        for w in path[:-1]:
            if m.wrap_type[w] == WRAP_PULLEY:
                divisor = float(m.wrap_prm[w])
            if m.wrap_type[w] != WRAP_SITE or m.wrap_type[w + 1] != WRAP_SITE:
                continue
            s0, s1 = int(m.wrap_objid[w]), int(m.wrap_objid[w + 1])
            x0, x1 = self.site_xpos[:, s0], self.site_xpos[:, s1]
            b0, b1 = int(m.site_bodyid[s0]), int(m.site_bodyid[s1])
            apart = np.sqrt(dot(x1 - x0, x1 - x0))[:, None]
            u = np.where(apart < SMALL, [1.0, 0, 0], (x1 - x0) / np.maximum(apart, SMALL))
            length += apart[:, 0] / divisor
            if b0 != b1:
                difference = self.jacobian(b1, x1)[0] - self.jacobian(b0, x0)[0]
                row += times_transposed(difference, u) / divisor

    @property
    def ten_length(self) -> Floats:
        return self._tendons[0]

    @property
    def _tendon_rows(self) -> Floats:
        return self._tendons[1]

    @property
    def ten_J(self) -> Floats:
        m = self.m
        row = np.repeat(np.arange(m.ntendon), m.ten_J_rownnz)
        return self._tendon_rows[:, row, np.array(m.ten_J_colind)]

    @cached_property
    def ten_velocity(self) -> Floats:
        return times(self._tendon_rows, self.state["qvel"])

    @cached_property
    def outputs(self) -> list[int]:
        """The first output of each actuator."""
        return [int(o) for o in getattr(self.m, "actuator_outadr", range(len(self.m.actuator_trntype)))]

    @cached_property
    def _inputs(self) -> list[int]:
        """The first control of each actuator."""
        return [int(u) for u in getattr(self.m, "actuator_ctrladr", range(len(self.m.actuator_trntype)))]

    @cached_property
    def _transmissions(self) -> tuple[Floats, Floats]:
        """Lengths [n][nout] and rows [n][nout][nv] of actuators; 0 of transmissions other than those below."""
        m, n = self.m, self.n
        outputs = int(getattr(m, "nout", m.nu))
        length, rows = np.zeros((n, outputs)), np.zeros((n, outputs, m.nv))
        for a in range(len(m.actuator_trntype)):
            kind, o, i = int(m.actuator_trntype[a]), self.outputs[a], int(m.actuator_trnid[a, 0])
            gear = np.broadcast_to(self.of("actuator_gear")[:, o], (n, 6))
            if kind in (TRN_JOINT, TRN_JOINT_IN_PARENT):
                length[:, o] = self._joint_moment(i, gear, kind == TRN_JOINT_IN_PARENT, rows[:, o])
            elif kind == TRN_TENDON:
                length[:, o] = gear[:, 0] * self.ten_length[:, i]
                rows[:, o] = gear[:, :1] * self._tendon_rows[:, i]
            elif kind == TRN_SITE:
                length[:, o] = self._site_moment(i, int(m.actuator_trnid[a, 1]), gear, rows[:, o])
        return length, rows

    def _joint_moment(self, j: int, gear: Floats, in_parent: bool, row: Floats) -> Floats:
        q, v = int(self.m.jnt_qposadr[j]), int(self.m.jnt_dofadr[j])
        qpos, kind = self.state["qpos"], self.m.jnt_type[j]
        if kind not in (FREE, BALL):
            row[:, v] = gear[:, 0]
            return np.asarray(gear[:, 0] * qpos[:, q])
        quat = unit_quat(qpos[:, q + 3 : q + 7] if kind == FREE else qpos[:, q : q + 4])
        turn = gear[:, 3:] if kind == FREE else gear[:, :3]
        turned = times_transposed(matrix_of(quat), turn) if in_parent else turn
        if kind == FREE:
            row[:, v : v + 3], row[:, v + 3 : v + 6] = gear[:, :3], turned
            return np.zeros(self.n)
        row[:, v : v + 3] = turned
        return dot(rotation_vector(quat), turn)

    def _site_moment(self, s: int, reference: int, gear: Floats, row: Floats) -> Floats:
        m, b = self.m, int(self.m.site_bodyid[s])
        linear, angular = self.jacobian(b, self.site_xpos[:, s])
        if reference < 0:
            axes = matrix_of(self.site_xquat[:, s])
            row += times_transposed(linear, times(axes, gear[:, :3]))
            row += times_transposed(angular, times(axes, gear[:, 3:]))
            return np.zeros(self.n)
        other, axes = int(m.site_bodyid[reference]), matrix_of(self.site_xquat[:, reference])
        linear_r, angular_r = self.jacobian(other, self.site_xpos[:, reference])
        both = self._moves[b] & self._moves[other]
        own = times_transposed(linear - linear_r, times(axes, gear[:, :3]))
        own += times_transposed(angular - angular_r, times(axes, gear[:, 3:]))
        row += np.where(both, 0.0, own)
        away = times_transposed(axes, self.site_xpos[:, s] - self.site_xpos[:, reference])
        turn = rotation_vector(quat_times(conjugate(self.site_xquat[:, reference]), self.site_xquat[:, s]))
        return dot(away, gear[:, :3]) + dot(turn, gear[:, 3:])

    @property
    def actuator_length(self) -> Floats:
        return self._transmissions[0]

    @cached_property
    def actuator_velocity(self) -> Floats:
        if "ACTUATION" in self.disabled:
            return np.zeros_like(self.actuator_length)
        return times(self._transmissions[1], self.state["qvel"])

    @cached_property
    def _pattern(self) -> dict[str, NDArray[Any]]:
        """[n][...] the places of actuator_moment, and the paths of tendons. MuJoCo chooses them by the model, except
        for rows of sites, which have their nonzero elements."""
        m, data = self.m, mujoco.MjData(self.m)
        mujoco.mj_fwdPosition(m, data)
        out = {name: np.tile(getattr(data, name), (self.n, 1)) for name in PATTERN}
        sites = [self.outputs[a] for a in np.nonzero(m.actuator_trntype == TRN_SITE)[0]]
        for i in range(self.n if sites else 0):
            ends: Any = np.cumsum(data.moment_rownnz)[:-1]
            columns = np.split(data.moment_colind[: np.sum(data.moment_rownnz)], ends)
            for o in sites:
                columns[o] = np.nonzero(self._transmissions[1][i, o])[0]
            counts = np.array([len(row) for row in columns])
            out["moment_rownnz"][i] = counts
            out["moment_rowadr"][i] = np.concatenate([[0], np.cumsum(counts)[:-1]])
            out["moment_colind"][i] = 0
            out["moment_colind"][i, : counts.sum()] = np.concatenate(columns)
        return out

    moment_rownnz = property(lambda self: self._pattern["moment_rownnz"])
    moment_rowadr = property(lambda self: self._pattern["moment_rowadr"])
    moment_colind = property(lambda self: self._pattern["moment_colind"])
    ten_wrapadr = property(lambda self: self._pattern["ten_wrapadr"])
    ten_wrapnum = property(lambda self: self._pattern["ten_wrapnum"])

    @property
    def actuator_moment(self) -> Floats:
        counts, columns = self.moment_rownnz, self.moment_colind
        out = np.zeros(columns.shape)
        for i in range(self.n):
            row = np.repeat(np.arange(counts.shape[1]), counts[i])
            out[i, : len(row)] = self._transmissions[1][i, row, columns[i, : len(row)]]
        return out


def _flat(matrix: Floats) -> Floats:
    return np.array(matrix.reshape(*matrix.shape[:-2], 9))


def _unit(v: Floats) -> Floats:
    return np.asarray(v / np.maximum(np.sqrt(dot(v, v)), SMALL)[..., None])
