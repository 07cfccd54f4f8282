"""The MuJoCo side: a batch of worlds of one scene with mujoco.rollout, and the state of its worlds.

Initial states are as in `sapwood run`: world 0 as in the scene, the others with noise on their velocities, with the
same numbers (src/host/cli/batch.c). Velocities of a free joint are [v ; omega] in both
simulators, but MuJoCo's omega is in body axes and Sapwood's in world axes. MuJoCo's v belongs to the body's origin and
Sapwood's to its centre of mass, which in these scenes are the same point.
"""

import math
import time

import mujoco
import mujoco.rollout
import numpy as np

STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
BLOCK_BYTES = 128 << 20  # size of the trajectories that one rollout writes
MASK = (1 << 64) - 1


def mix(x):
    """The output function of splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def random_unit(seed, world, index):
    """A number in [-1, 1) from 53 random bits."""
    return (mix(mix(mix(seed) ^ world) ^ index) >> 11) * 2.0**-52 - 1


class Scene:
    """A model and the initial states of its worlds."""

    def __init__(self, model):
        self.model = model
        self.data = mujoco.MjData(self.model)
        self.free = [j for j in range(self.model.njnt) if self.model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
        self.reset()
        self.control = self.data.ctrl.copy()

    def reset(self):
        """Sets the initial state: the first keyframe, if there is one."""
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        else:
            mujoco.mj_resetData(self.model, self.data)

    def turn_to_body(self, qpos, qvel):
        """Rotates the omega of free joints from world axes to body axes."""
        for joint in self.free:
            q, v = self.model.jnt_qposadr[joint] + 3, self.model.jnt_dofadr[joint] + 3
            to_body, omega = np.zeros(4), np.zeros(3)
            mujoco.mju_negQuat(to_body, qpos[q : q + 4])
            mujoco.mju_rotVecQuat(omega, qvel[v : v + 3], to_body)
            qvel[v : v + 3] = omega

    def start(self, world, noise, seed):
        """Sets the data to the initial state of a world."""
        self.reset()
        if world > 0:
            self.data.qvel[:] += [noise * random_unit(seed, world, i) for i in range(self.model.nv)]
        self.turn_to_body(self.data.qpos, self.data.qvel)

    def states(self, worlds, noise, seed):
        """Initial states, [worlds][state]."""
        out = np.zeros((worlds, mujoco.mj_stateSize(self.model, STATE)))
        for world in range(worlds):
            self.start(world, noise, seed)
            mujoco.mj_getState(self.model, self.data, out[world], STATE)
        return out

    def energy(self, states):
        """Kinetic energy without armature, and potential energy, J: means over worlds."""
        model, data = self.model, self.data
        sums = np.zeros(2)
        for state in states:
            mujoco.mj_setState(model, data, state, STATE)
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_energyPos(model, data)
            mujoco.mj_energyVel(model, data)
            sums += [data.energy[1] - 0.5 * np.dot(model.dof_armature, data.qvel**2), data.energy[0]]
        return {"kinetic": sums[0] / len(states), "potential": sums[1] / len(states)}

    def weight(self):
        """Weight of all bodies, N."""
        return self.model.body_mass.sum() * -self.model.opt.gravity[2]

    def read_row(self, row):
        """qpos and qvel from a row of a Sapwood trajectory, whose column names begin with the names of joints. Free
        joints there have the names of the bodies here."""
        model = self.model
        qpos, qvel = np.zeros(model.nq), np.zeros(model.nv)
        for joint in range(model.njnt):
            name = model.joint(joint).name
            q_columns, v_columns = ("q",), ("qd",)
            if joint in self.free:
                name = model.body(model.jnt_bodyid[joint]).name
                q_columns, v_columns = ("px", "py", "pz", "qw", "qx", "qy", "qz"), ("vx", "vy", "vz", "wx", "wy", "wz")
            q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
            qpos[q : q + len(q_columns)] = [float(row[f"{name}.{column}"]) for column in q_columns]
            qvel[v : v + len(v_columns)] = [float(row[f"{name}.{column}"]) for column in v_columns]
        self.turn_to_body(qpos, qvel)
        return qpos, qvel

    def look(self, qpos):
        """Height of each body by name, m, and mean depth of the contacts that MuJoCo finds in a pose, m."""
        model, data = self.model, self.data
        data.qpos[:] = qpos
        mujoco.mj_fwdPosition(model, data)
        heights = {model.body(b).name: float(data.xpos[b, 2]) for b in range(1, model.nbody)}
        return {"heights": heights, "depth": float(-np.mean(data.contact.dist)) if data.ncon else 0.0}

    def settle(self, worlds, steps, last, noise, seed):
        """Steps worlds to rest. Returns initial states, final poses, energy, contacts and iterations per world and
        step, and contacts of the last few steps."""
        model, data = self.model, self.data
        starts, states, poses, contacts, iterations = [], [], [], 0, 0
        for world in range(worlds):
            self.start(world, noise, seed)
            starts.append((data.qpos.copy(), data.qvel.copy()))
            data.ctrl[:] = self.control
            for step in range(steps):
                mujoco.mj_step(model, data)
                contacts += data.ncon if step >= steps - last else 0
                iterations += int(data.solver_niter.sum())
            state = np.zeros(mujoco.mj_stateSize(model, STATE))
            mujoco.mj_getState(model, data, state, STATE)
            states.append(state)
            poses.append(data.qpos.copy())
        return {
            "starts": starts,
            "looks": [self.look(pose) for pose in poses],
            "kinetic": self.energy(states)["kinetic"],
            "contacts": contacts / (worlds * last),
            "iterations": iterations / (worlds * steps),
        }


clock = time.perf_counter


class Rollouts:
    """Repeatable rollouts of all worlds of a scene from `states` with `control` [worlds][steps][nu]; threads, data and
    arrays are reused.

    A rollout writes the trajectories of all its worlds. To bound the memory, worlds are processed in blocks; each world
    is stepped from start to end in one call, with the warm start of its previous step."""

    def __init__(self, scene, states, control, threads):
        self.scene, self.states, self.control, self.steps = scene, states, control, control.shape[1]
        worlds, size = states.shape
        block = max(threads, BLOCK_BYTES // (8 * self.steps * size))
        count = math.ceil(worlds / block)  # blocks of nearly equal size
        self.bounds = [worlds * i // count for i in range(count + 1)]
        block = math.ceil(worlds / count)
        self.data = [mujoco.MjData(scene.model) for _ in range(threads)]
        self.pool = mujoco.rollout.Rollout(nthread=threads if threads > 1 else 0)  # 0: the calling thread
        self.chunk = max(1, block // (64 * threads))  # small, so that all threads finish at about the same time
        self.state = np.zeros((block, self.steps, size))
        self.sensors = np.zeros((block, self.steps, scene.model.nsensordata))

    def roll(self, first, last):
        n = last - first
        self.pool.rollout(
            [self.scene.model] * n,
            self.data,
            self.states[first:last],
            self.control[first:last],
            skip_checks=True,
            nstep=self.steps,
            state=self.state[:n],
            sensordata=self.sensors[:n],
            chunk_size=self.chunk,
        )

    def warm(self):
        """Steps some worlds on each thread and touches all memory."""
        self.state.fill(0)
        self.roll(0, min(self.bounds[1], 8 * len(self.data)))

    def run(self):
        """Seconds for all steps of all worlds, and their final states."""
        end = np.empty_like(self.states)
        seconds = 0.0
        for first, last in zip(self.bounds, self.bounds[1:]):
            begin = clock()
            self.roll(first, last)
            seconds += clock() - begin
            end[first:last] = self.state[: last - first, -1]
        return seconds, end

    def close(self):
        self.pool.close()
