#!/usr/bin/env python3
"""The cost of the guard: steps of quadrupeds with it and without.

    python bench/guard.py                   processor time of one thread, in pairs of calls
    python bench/guard.py --instructions    instructions per world-step, counted by callgrind: independent of other load

A guard copies the inputs of a call, so its cost is the same for every call: with n steps per call a step has 1/n of it.
The worlds stand with targets of their own, as in training; forces are zero. Needs the package sapwood;
--instructions needs valgrind.
"""

import argparse
import re
import subprocess
import sys
import time

import numpy as np

import sapwood

CALLS, GUARD = 16, 8


def batch_of(worlds, guard):
    """Quadrupeds with targets of their own, on one thread."""
    batch = sapwood.Batch(sapwood.scene("quadruped"), worlds, threads=1)
    if guard:
        batch.guard(GUARD)
    batch.perturb(0.1)
    batch.joint_target_pos[:] += np.random.default_rng(0).uniform(-0.1, 0.1, batch.joint_target_pos.shape)
    return batch


def seconds(batch, steps):
    start = time.process_time()
    batch.step(steps)
    return time.process_time() - start


def measure_time(worlds, steps, pairs):
    """Median of the relative differences of pairs of calls in the same state, and its standard error."""
    plain, guarded = batch_of(worlds, False), batch_of(worlds, True)
    plain.step(60), guarded.step(60)
    percent = []
    for i in range(pairs):
        if i % CALLS == 0:  # stay where contacts come and go
            plain.perturb(0.1), guarded.perturb(0.1)
        if i % 2:
            with_guard, without = seconds(guarded, steps), seconds(plain, steps)
        else:
            without, with_guard = seconds(plain, steps), seconds(guarded, steps)
        percent.append(100 * (with_guard / without - 1))
    low, median, high = np.percentile(percent, [25, 50, 75])
    error = 1.25 * (high - low) / 1.35 / np.sqrt(pairs)  # of a median, from the quartiles
    quartiles = f"(quartiles {low:+.2f} and {high:+.2f} %)"
    print(f"{worlds} worlds, {steps} steps per call: {median:+.2f} % +- {error:.2f} % {quartiles}", flush=True)


def count(worlds, functions, *options):
    """Instructions per world and call of functions of the library, in calls of one step."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]
    command += [f"--toggle-collect={name}" for name in functions]
    command += [sys.executable, __file__, "--run", "--worlds", str(worlds), *options]
    run = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not found or found.group(1) == "0":
        sys.exit(f"guard: {' '.join(command)} failed:\n{run.stderr}")
    return int(found.group(1)) / (worlds * CALLS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, help="4096; 256 with --instructions")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--plain", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        batch = batch_of(args.worlds, not args.plain)
        for _ in range(CALLS):
            batch.step()
    elif args.instructions:
        worlds = args.worlds or 256
        step = count(worlds, ["take_steps"], "--plain")
        guard = count(worlds, ["sap_guard_begin", "sap_snapshot_worlds", "sap_guard_end"])
        print(f"instructions per world and call of one step: step {step:.0f}, guard {guard:.0f}")
        for n in (1, 4):
            print(f"{n} steps per call: {100 * guard / (n * step):+.3f} %")
    else:
        for steps in (4, 1):
            measure_time(args.worlds or 4096, steps, args.pairs)


if __name__ == "__main__":
    main()
