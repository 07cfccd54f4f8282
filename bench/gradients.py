#!/usr/bin/env python3
"""Processor time of the derivatives of a step, per world: A and B, a VJP, and a step solved as tightly.

    bench/gradients.py [--worlds 512] [--preset approx64] [scene ...]

The best of several runs that take turns, on one thread. `ratio` is that of a VJP to the tight step; `kept` what a tape
keeps of a step and world, in bytes.
"""

import argparse
import time

import numpy as np

import sapwood
from sapwood import gradients
from sapwood._library import lib

RUNS = 7


def measure(scene, worlds, preset):
    model = sapwood.scene(scene)
    batch = sapwood.Batch(model, worlds, preset=preset, dtype=np.float64, threads=1)
    batch.step(100)
    batch.joint_qd[:] += 0.05 * np.random.default_rng(0).standard_normal(batch.joint_qd.shape)
    nv, point = model.num_dofs, gradients.Point.of(batch)
    A, B = np.zeros((worlds, 2 * nv, 2 * nv)), np.zeros((worlds, 2 * nv, nv))
    x, y, u = np.ones((worlds, 2 * nv)), np.zeros((worlds, 2 * nv)), np.zeros((worlds, nv))
    calls = {
        "A and B": lambda: gradients.call(batch, lib.sap_batch_linearize, A, point=point, inputs={"joint_f": B}),
        "VJP": lambda: gradients.call(batch, lib.sap_batch_vjp, x, y, point=point, inputs={"joint_f": u}),
        "tight step": lambda: gradients.call(batch, lib.sap_batch_step_exactly, point=point),
    }
    best = dict.fromkeys(calls, np.inf)
    for _ in range(RUNS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], 1e6 * (time.process_time() - start) / worlds)
    return nv, best, point.nbytes / worlds


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scenes", nargs="*", default=["cartpole", "quadruped", "humanoid"])
    parser.add_argument("--worlds", type=int, default=512)
    parser.add_argument("--preset", default="approx64")
    args = parser.parse_args()
    print(
        f"{'scene':20} {'dofs':>5} {'A and B':>9} {'VJP':>9} {'tight step':>11} {'ratio':>6} {'kept':>7}   us per world"
    )
    for scene in args.scenes:
        nv, best, kept = measure(scene, args.worlds, args.preset)
        ratio = best["VJP"] / best["tight step"]
        times = f"{best['A and B']:9.2f} {best['VJP']:9.2f} {best['tight step']:11.2f}"
        print(f"{scene:20} {nv:5} {times} {ratio:6.2f} {kept:7.0f}")


if __name__ == "__main__":
    main()
