"""Swings a pole up by predictive sampling, a program for mujoco.rollout and mujoco.batch with one line changed.

    python examples/predictive_sampling.py [--samples 200] [--seconds 4] [--mujoco]

A plan is a spline of the force on the cart. Every tenth of a second the planner rolls out random changes of its plan
from the present state, and keeps the best. At the end the plan drives carts of other masses. `--mujoco` imports
MuJoCo's own modules: the numbers are the same to rounding.
"""

import argparse
import sys
import time

import mujoco
import numpy as np

if "--mujoco" in sys.argv:
    from mujoco import batch, rollout
else:
    from sapwood.mujoco import batch, rollout  # the line that changed

CARTPOLE = """
<mujoco>
  <option timestep="0.01" integrator="implicitfast"/>
  <worldbody>
    <geom type="plane" size="4 4 .1" pos="0 0 -1"/>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0" range="-1.5 1.5" limited="true" damping=".1"/>
      <geom type="box" size=".2 .15 .1" mass="1" contype="0"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0" damping=".002"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".04" mass=".1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slide" gear="10" ctrlrange="-1 1" ctrllimited="true"/></actuator>
  <keyframe><key qpos="0 3.14159"/></keyframe>
</mujoco>
"""
HORIZON, KNOTS, HELD = 60, 6, 10  # steps of a plan, its knots, and steps between two plans
FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


def cost(state):
    """[n] of states [n][steps][time, x, angle, velocities]."""
    x, angle, v, w = (state[..., i] for i in range(1, 5))
    return np.sum(4 * (1 - np.cos(angle)) + 0.5 * x**2 + 0.02 * v**2 + 0.01 * w**2, axis=1)


def plan(model, data, knots, samples, rng):
    """The best of random changes of a plan from the present state."""
    initial = np.empty(mujoco.mj_stateSize(model, FULL))
    mujoco.mj_getState(model, data, initial, FULL)
    tried = np.clip(knots + rng.normal(0, 0.5, (samples, KNOTS)) * (np.arange(samples) > 0)[:, None], -1, 1)
    control = np.repeat(tried, HORIZON // KNOTS, axis=1)[:, :, None]
    states, _ = rollout.rollout(model, mujoco.MjData(model), initial, control)
    return tried[np.argmin(cost(states))]


def run(samples=200, seconds=4.0, seed=0):
    """The angle of the pole over time, the states of carts with other masses after it, and the time of planning."""
    rng = np.random.default_rng(seed)
    model = mujoco.MjModel.from_xml_string(CARTPOLE)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    knots, angles, forces, planning = np.zeros(KNOTS), [], [], 0.0
    for step in range(round(seconds / model.opt.timestep)):
        if step % HELD == 0:
            begin = time.perf_counter()
            knots = plan(model, data, np.append(knots[1:], 0), samples, rng)
            planning += time.perf_counter() - begin
        data.ctrl[:] = knots[0]
        forces.append(knots[0])
        mujoco.mj_step(model, data)
        angles.append(data.qpos[1])

    carts = batch.Batch(model, 64)
    carts.body("pole").mass = np.linspace(0.05, 0.2, 64).reshape(64, 1)
    carts.set_const()
    carts.reset(keyframe=0)
    out = carts.rollout(len(forces), np.array(forces)[None, :, None], record=("qpos",))
    return np.array(angles), out["qpos"][:, -1], planning


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--mujoco", action="store_true", help="import MuJoCo's modules")
    options = parser.parse_args()
    angles, carts, planning = run(options.samples, options.seconds)
    print(f"planning took {planning:.2f} s; height of the pole's end at the end: {0.6 * np.cos(angles[-1]):.3f} m")
    upright = np.count_nonzero(np.cos(carts[:, 1]) > 0.9)
    print(f"with poles of 0.05 to 0.2 kg and the same forces {upright} of {len(carts)} are upright")


if __name__ == "__main__":
    main()
