#!/usr/bin/env python3
"""sapwood.mujoco.batch beside mujoco.batch: differences of states and fields, and speed.

    python bench/dropin.py [--robot ant ...] [--simulations 1024] [--calls 9] [--threads 0]

Differences are largest absolute ones of qpos over 16 simulations with random controls, renewed every 10 steps, and of
derived fields after `forward`, relative to the largest entry (at least 1). In the timed runs every simulation gets
random controls before each call of 4 steps. The batches step in turn, so that other load falls on all of them alike;
figures are medians, and ratios are to mujoco.batch of the same run. "expanded": ten fields have values per simulation;
not printed where this build would step such simulations one model at a time.
"""

import argparse
import statistics
import time
import warnings
from pathlib import Path

import mujoco
import numpy as np
from mujoco import batch as theirs

from sapwood.mujoco import batch, derived, worlds

HERE = Path(__file__).resolve().parent
GYMNASIUM = ("ant", "half_cheetah", "hopper", "humanoid", "inverted_double_pendulum", "pusher", "reacher", "walker2d")
GROUPS = {
    "positions": derived.KINEMATICS,
    "velocities": tuple(name for name in derived.VELOCITY if not name.startswith("subtree")),  # for sensors, in MuJoCo
    "forces": derived.FORCES,
    "qacc, qfrc_constraint": ("qacc", "qfrc_constraint"),
    "sensors": ("sensordata",),
}
EXPANDED = (
    *("body_mass", "body_inertia", "geom_friction", "dof_damping", "dof_armature", "jnt_stiffness", "jnt_solref"),
    *("actuator_gainprm", "actuator_biasprm", "opt.gravity"),
)


def robots():
    import gymnasium

    assets = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
    return {"quadruped": HERE / "compare/quadruped.xml", **{name: assets / f"{name}.xml" for name in GYMNASIUM}}


def controls(m, count, rng):
    lower, upper = m.actuator_ctrlrange.T
    limited = m.actuator_ctrllimited != 0
    return rng.uniform(np.where(limited, lower, -1), np.where(limited, upper, 1), (count, m.nu))


def pair(m, count):
    """A batch of each, in the same random states."""
    rng = np.random.default_rng(0)
    ours, peer = batch.Batch(m, count, quiet=True), theirs.Batch(m, count)
    ours.qvel = rng.normal(0, 0.1, ours.qvel.shape)
    peer.state[...] = ours.state
    return ours, peer, rng


def differences(m):
    ours, peer, rng = pair(m, 16)
    out = {}
    for step in range(101):
        if step in (1, 10, 100):
            out[step] = np.abs(ours.qpos - peer.qpos).max()
        if step % 10 == 0:
            ours.ctrl = u = controls(m, 16, rng)
            peer.ctrl = u
        ours.step()
        peer.step()
    return out


def fields(m):
    ours, peer, rng = pair(m, 16)
    names = [name for group in GROUPS.values() for name in group]
    for b in (ours, peer):
        for name in names:
            b.bind(name)
    peer.ctrl = controls(m, 16, rng)
    peer.step(nstep=50)
    ours.state[...] = peer.state
    ours.forward()
    peer.forward()
    out = {}
    for group, members in GROUPS.items():
        errors = [0.0]
        for name in members:
            a, b = ours.bind(name), peer.bind(name)
            errors.append(np.abs(a - b).max(initial=0) / max(1.0, np.abs(b).max(initial=0)))
        out[group] = max(errors)
    return out


def expand(b, rng):
    for name in EXPANDED:
        values = b.expand(name)
        values *= rng.uniform(0.9, 1.1, (b.nsim, *[1] * (values.ndim - 1)))
    b.set_const()


def speeds(m, count, calls, threads):
    makers = {
        "mujoco": lambda: theirs.Batch(m, count, threads),
        "mujoco64": lambda: batch.Batch(m, count, threads, quiet=True),
        "mujoco32": lambda: batch.Batch(m, count, threads, quiet=True, preset="mujoco32"),
    }
    batches = {name: make() for name, make in makers.items()}
    if all(worlds.is_parameter(m, name) for name in EXPANDED):
        for name in makers:
            batches[f"{name}, expanded"] = makers[name]()
            expand(batches[f"{name}, expanded"], np.random.default_rng(1))
    rng, times = np.random.default_rng(0), {name: [] for name in batches}
    for _ in range(calls):
        u = controls(m, count, rng)
        for name, b in batches.items():
            b.ctrl = u
            begin = time.perf_counter()
            b.step(nstep=4)
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(taken[2:]) for name, taken in times.items()}


def row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def header(*cells):
    row(cells)
    row(["---"] * len(cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", action="append")
    parser.add_argument("--simulations", type=int, default=1024)
    parser.add_argument("--calls", type=int, default=9)
    parser.add_argument("--threads", type=int, default=0, help="0: all CPUs")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    models = {name: mujoco.MjModel.from_xml_path(str(path)) for name, path in robots().items()}
    models = {name: m for name, m in models.items() if not options.robot or name in options.robot}

    print("Largest difference of qpos, m or rad, to mujoco.batch:\n")
    header("robot", "1 step", "10 steps", "100 steps")
    for name, m in models.items():
        row([name, *(f"{error:.0e}" for error in differences(m).values())])
    print("\nLargest relative difference of derived fields after `forward`:\n")
    header("robot", *GROUPS)
    for name, m in models.items():
        row([name, *(f"{error:.0e}" for error in fields(m).values())])
    print(
        f"\nSteps per second of {options.simulations} simulations, 4 steps per call, and the ratio to mujoco.batch:\n"
    )
    header("robot", "mujoco.batch", "mujoco64", "mujoco32", "expanded: time over that without, mujoco64, mujoco32")
    for name, m in models.items():
        taken = speeds(m, options.simulations, options.calls, options.threads)
        cells = [f"{4 * options.simulations / taken['mujoco']:,.0f}"]
        for preset in ("mujoco64", "mujoco32"):
            speed = 4 * options.simulations / taken[preset]
            cells.append(f"{speed:,.0f} ({taken['mujoco'] / taken[preset]:.1f}x)")
        own = [
            f"{taken[f'{p}, expanded'] / taken[p]:.2f}" for p in ("mujoco64", "mujoco32") if f"{p}, expanded" in taken
        ]
        row([name, *cells, ", ".join(own) or "-"])


if __name__ == "__main__":
    main()
