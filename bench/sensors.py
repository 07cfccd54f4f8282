#!/usr/bin/env python3
"""Processor time of sensor readings per world and step: quadrupeds at rest, one step per call, one thread.

    python bench/sensors.py [--worlds 1024] [--repeat 100]

Each reading has a batch of its own. The batches step in turn, so that other load falls on all of them alike. Figures
are medians.
"""

import argparse
import statistics
import time

import sapwood

READINGS = {
    "a step without sensors": [],
    "gyroscope and accelerometer of a site": ["site_gyro", "site_accelerometer"],
    "qacc": ["qacc"],
    "joint_torque": ["joint_torque"],
    "4 contact sensors": ["touch_found", "touch_force"],
}


def batch_with(names, worlds):
    batch = sapwood.Batch(sapwood.scene("quadruped"), worlds, threads=1)
    batch.set_sensors(sites=[0], touch=[3, 6, 9, 12])
    batch.step(200)
    for name in names:
        getattr(batch, name)  # the first access turns a reading on
    batch.step(1)
    return batch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=100)
    options = parser.parse_args()
    batches = {what: batch_with(names, options.worlds) for what, names in READINGS.items()}
    plain = batches["a step without sensors"]
    scan, down = sapwood.pattern_grid((1.6, 1.0), 0.1)
    lidar = sapwood.pattern_lidar(4, 90)
    calls = {what: (lambda batch=batch: batch.step(1)) for what, batch in batches.items()}
    calls["height scan, 187 rays, static shapes"] = lambda: plain.raycast(
        scan + [0, 0, 1], down, body=0, axes="heading", sees="static"
    )
    calls["lidar, 360 rays, all shapes"] = lambda: plain.raycast(*lidar, body=0)
    times = {what: [] for what in calls}
    for _ in range(options.repeat):
        for what, call in calls.items():
            begin = time.process_time()
            call()
            times[what].append((time.process_time() - begin) / options.worlds * 1e6)
    step = statistics.median(times["a step without sensors"])
    for what, taken in times.items():
        middle = statistics.median(taken)
        more = f", {middle - step:+.2f} to the step" if what in READINGS and READINGS[what] else ""
        print(f"{what}: {middle:.2f} us{more}")


if __name__ == "__main__":
    main()
