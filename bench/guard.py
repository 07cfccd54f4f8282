#!/usr/bin/env python3
"""The cost of the guard: time of steps with it over steps without, interleaved.

    python bench/guard.py [worlds] [repeats]
"""

import sys
import time

import numpy as np

import sapwood


def measure(batch, state, n, calls):
    """Wall and processor seconds of `calls` calls of n steps from the state."""
    batch.set_state(state)
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(calls):
        batch.step(n)
    return np.array([time.perf_counter() - wall, time.process_time() - processor])


def main(worlds=4096, repeats=15):
    model = sapwood.scene("quadruped")
    batches = [sapwood.Batch(model, worlds) for _ in range(2)]
    batches[1].guard(8)
    batches[0].perturb(0.1)
    batches[0].step(100)
    state = batches[0].get_state()
    for n in (4, 1):
        times = [[measure(b, state, n, 16 // n) for b in batches] for _ in range(repeats)]
        for name, clock in (("wall", 0), ("processor", 1)):
            percent = sorted(100 * (guarded[clock] / plain[clock] - 1) for plain, guarded in times)
            low, median, high = np.percentile(percent, [25, 50, 75])
            print(f"{worlds} worlds, {n} steps per call, {name} time: {median:+.2f} % ({low:+.2f} .. {high:+.2f} %)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
