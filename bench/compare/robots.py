"""The robots of the comparison, and both simulators' batches of one robot. README.md describes them."""

import math
import re
from pathlib import Path

import mujoco
import numpy as np
import peer

HERE = Path(__file__).resolve().parent
PAIRS = ("cube", "stack5", "quadruped")  # NAME.xml and NAME.yaml
GYMNASIUM = ("ant", "humanoid")
OWN = ("gripper", "mesh_quadruped")  # MJCF, imported
NAMES = PAIRS + GYMNASIUM + OWN
INTERVAL = 4  # steps between two changes of the targets
as_file = False  # gymnasium's robots with the integrator and the cone of their files


def sphere_mesh(radius, rings, sectors):
    """Vertices of a sphere as MJCF's inline text."""
    rows = [(0, 0, radius), (0, 0, -radius)]
    for i in range(1, rings):
        for j in range(sectors):
            a, b = math.pi * i / rings, 2 * math.pi * j / sectors
            rows.append((radius * math.sin(a) * math.cos(b), radius * math.sin(a) * math.sin(b), radius * math.cos(a)))
    return " ".join(f"{x:.9g}" for row in rows for x in row)


def mesh_quadruped():
    """quadruped.xml, with a convex mesh of 482 vertices in place of each spherical foot and hip."""
    text = (HERE / "quadruped.xml").read_text(encoding="utf-8")
    mesh = f'<asset><mesh name="ball" inertia="convex" vertex="{sphere_mesh(0.03, 17, 30)}"/></asset>'
    text, count = re.subn(r'type="sphere" size="0?\.03"', 'type="mesh" mesh="ball"', text)
    assert count, "quadruped.xml has no spheres"
    return text.replace("<worldbody>", mesh + "<worldbody>", 1)


def mujoco_model(name):
    if name == "mesh_quadruped":
        return mujoco.MjModel.from_xml_string(mesh_quadruped())
    if name in GYMNASIUM:
        import gymnasium

        assets = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
        model = mujoco.MjModel.from_xml_path(str(assets / f"{name}.xml"))
        model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        if not as_file:  # as in the other files; gymnasium's Runge-Kutta evaluates four times per step
            model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
            model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        return model
    return mujoco.MjModel.from_xml_path(str(HERE / f"{name}.xml"))


def tune(model):
    """MuJoCo at its best with the same physics: sparse Jacobian, no islands, a looser tolerance."""
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    model.opt.tolerance = 1e-6
    flag = getattr(mujoco.mjtDisableBit, "mjDSBL_ISLAND", None)
    if flag is not None:
        model.opt.disableflags |= int(flag)


def controls(scene, worlds, steps, moving, seed):
    """[worlds][steps][nu]: constant, or a new random control every INTERVAL steps: 0.3 rad or 0.03 m around the start
    for position actuators (as `sapwood bench`), half of the range for motors."""
    model = scene.model
    out = np.tile(scene.control, (worlds, steps, 1))
    if moving and model.nu:
        position = model.actuator_biastype != int(mujoco.mjtBias.mjBIAS_NONE)
        slides = model.jnt_type[model.actuator_trnid[:, 0]] == int(mujoco.mjtJoint.mjJNT_SLIDE)
        half = 0.25 * (model.actuator_ctrlrange[:, 1] - model.actuator_ctrlrange[:, 0])
        scale = np.where(position, np.where(slides, 0.03, 0.3), np.where(model.actuator_ctrllimited, half, 1.0))
        change = np.random.default_rng(seed).uniform(-scale, scale, (worlds, -(-steps // INTERVAL), model.nu))
        out += np.repeat(change, INTERVAL, axis=1)[:, :steps]
    return out


class Theirs:
    """A MuJoCo batch: `warm` brings it to a state, `run` measures from that state."""

    def __init__(self, name, tuned, args):
        self.scene, self.args = peer.Scene(mujoco_model(name)), args
        if tuned:
            tune(self.scene.model)
        self.states = self.scene.states(args.worlds, args.noise, args.seed)

    def warm(self, moving):
        self.control = controls(self.scene, self.args.worlds, self.args.steps, moving, self.args.seed)
        warmup = controls(self.scene, self.args.worlds, self.args.warmup, moving, self.args.seed + 1)
        rollouts = peer.Rollouts(self.scene, self.states, warmup, self.args.threads)
        self.begin = rollouts.run()[1]
        rollouts.close()
        self.rollouts = peer.Rollouts(self.scene, self.begin, self.control, self.args.threads)
        self.rollouts.warm()

    def run(self):
        """World-steps per second."""
        return self.args.worlds * self.args.steps / self.rollouts.run()[0]

    def accuracy(self):
        """Largest change of a velocity in one step if the tolerance is 1e-15, m/s or rad/s: 95th percentile."""
        found = []
        for world in range(min(64, self.args.worlds)):
            ends = [self.step_once(world, tight) for tight in (False, True)]
            found.append(np.abs(ends[1] - ends[0]).max())
        return float(np.quantile(found, 0.95))

    def step_once(self, world, tight):
        model, data = self.scene.model, self.scene.data
        kept = model.opt.tolerance, model.opt.iterations
        if tight:
            model.opt.tolerance, model.opt.iterations = 1e-15, 1000
        mujoco.mj_resetData(model, data)
        mujoco.mj_setState(model, data, self.begin[world], peer.STATE)
        data.ctrl[:] = self.control[world, 0]
        mujoco.mj_step(model, data)
        model.opt.tolerance, model.opt.iterations = kept
        return data.qvel.copy()


class Ours:
    """A Sapwood batch, in the same way."""

    law = "sap"

    def __init__(self, name, preset, settings, args, tuned=False):
        import sapwood

        self.args, self.settings = args, settings
        self.scene = peer.Scene(mujoco_model(name))
        if tuned:
            tune(self.scene.model)
        self.pair = name in PAIRS and self.law == "sap"
        self.model = (
            sapwood.Model.load(HERE / f"{name}.yaml")
            if self.pair
            else sapwood.Model.from_mjmodel(self.scene.model, quiet=True, law=self.law)
        )
        self.batch = self.make(settings, preset, args.worlds)
        self.preset = preset
        self.first_dof = self.model.num_dofs - self.scene.model.nu

    def make(self, settings, preset, worlds):
        import sapwood

        return sapwood.Batch(
            self.model,
            worlds,
            preset=preset,
            threads=self.args.threads,
            seed=self.args.seed,
            options=dict(settings) or None,
        )

    def put(self, batch, control):
        if self.pair and control.shape[1]:
            batch.joint_target_pos[:, self.first_dof :] = control
        elif control.shape[1]:
            batch.set_ctrl(control)

    def pass_over(self, control):
        """Seconds for all steps; writing the controls is not part of them."""
        seconds = 0.0
        for first in range(0, control.shape[1], INTERVAL):
            self.put(self.batch, control[:, first])
            begin = peer.clock()
            self.batch.step(min(INTERVAL, control.shape[1] - first))
            seconds += peer.clock() - begin
        return seconds

    def warm(self, moving):
        args = self.args
        self.control = controls(self.scene, args.worlds, args.steps, moving, args.seed)
        self.batch.reset(keyframe=min(1, self.model.num_keyframes))
        self.batch.perturb(args.noise)
        self.pass_over(controls(self.scene, args.worlds, args.warmup, moving, args.seed + 1))
        self.begin = self.batch.get_state()

    def failed(self):
        """Worlds whose last step failed."""
        import sapwood

        return int(np.count_nonzero(self.batch.status & sapwood.batch.FAILED))

    def run(self):
        self.batch.set_state(self.begin)
        return self.args.worlds * self.args.steps / self.pass_over(self.control)

    def support(self):
        """The mean vertical force of the ground over the weight, in the last four of five seconds in which the timed
        controls repeat; None if a body is held by more than the ground."""
        from sapwood.mjdata import FREE

        if (np.asarray(self.model.joint_type)[np.asarray(self.model.joint_parent) < 0] != FREE).any():
            return None
        worlds = np.arange(min(256, self.args.worlds))
        on_ground = np.append(np.asarray(self.model.shape_body) < 0, False)  # a contact without a shape is on none
        weight = -float(np.asarray(self.model.gravity)[2]) * float(np.asarray(self.model.body_mass).sum())
        steps, force = round(5 / self.batch.dt), 0.0
        with self.make(self.settings, self.preset, len(worlds)) as batch:
            batch.set_state({name: values[worlds] for name, values in self.begin.items()})
            for step in range(steps):
                self.put(batch, self.control[worlds, step % self.args.steps])
                batch.step()
                if step < steps // 5:
                    continue
                slots = np.arange(batch.contact_shape0.shape[1]) < np.asarray(batch.contact_count)[:, None]
                up = np.asarray(batch.contact_force)[:, :, 2] * slots  # on the body of shape 1
                force += (up * on_ground[batch.contact_shape0] - up * on_ground[batch.contact_shape1]).sum()
        return force / (len(worlds) * (steps - steps // 5) * weight)

    def accuracy(self):
        """As Theirs.accuracy, against a solve in which only a gradient of 1e-12 stops."""
        worlds = np.arange(min(64, self.args.worlds))
        state = self.batch.get_state(worlds)
        ends, residuals = [], []
        for settings in (self.settings, {"cost_rel_tol": 1e-15, "optimality_rel_tol": 1e-12, "max_iterations": 200}):
            with self.make(settings, self.preset, len(worlds)) as batch:
                batch.set_state(state)
                self.put(batch, self.control[worlds, 0])
                batch.step()
                ends.append(np.array(batch.joint_qd, float))
                residuals.append(float(np.quantile(batch.residual, 0.95)))
        return float(np.quantile(np.abs(ends[1] - ends[0]).max(axis=1), 0.95)), residuals[0]


class Follows(Ours):
    """A Sapwood batch that follows MuJoCo: the same file, the same law and, if tuned, the same tolerance as Theirs."""

    law = "mujoco"

    def __init__(self, name, tuned, preset, settings, args):
        super().__init__(name, preset, {**settings, "contact_solver": "mujoco"}, args, tuned)

    def accuracy(self):
        """Largest difference of a velocity from MuJoCo after one step from the same state: 95th percentile."""
        model, data, found = self.scene.model, self.scene.data, []
        model.opt.tolerance = min(model.opt.tolerance, 1e-8)  # a tuned batch is compared with the same result
        worlds = np.arange(min(64, self.args.worlds))
        with self.make(self.settings, self.preset, len(worlds)) as batch:
            batch.set_state(self.batch.get_state(worlds))
            self.put(batch, self.control[worlds, 0])
            before = [(np.array(batch.qpos[w], float), np.array(batch.qvel[w], float)) for w in worlds]
            batch.step()
            for world, (qpos, qvel) in zip(worlds, before):
                mujoco.mj_resetData(model, data)
                data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, self.control[world, 0]
                mujoco.mj_step(model, data)
                found.append(np.abs(np.asarray(batch.qvel[world], float) - data.qvel).max())
            return float(np.quantile(found, 0.95)), float(np.quantile(batch.residual, 0.95))
