"""Finds the force that pushes a sliding block to a target, by Newton's method on the gradient of a tape.

    python examples/push_block.py [--target 0.5]

The force acts for 60 of 300 steps; friction then stops the block. A tape gives the derivative of where it stops.
"""

import argparse

import numpy as np

import sapwood

SCENE = """schema_version: 1
name: push
simulation: {dt: 0.005}
builder: {gravity: -9.81, rigid_gap: 0.005, defaults: {shape: {density: 2000, ke: 2e4, tau: 0.02, mu: 0.5}}}
bodies:
- {id: block, transform: {p: [0, 0, 0.0498]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}
joints:
- {id: block_free, type: free, parent: world, child: block}
"""


def push(batch, force, steps=300, pushed=60):
    """Where the block stops, and the derivative of that with respect to the force."""
    batch.reset()
    tape = batch.tape()
    for step in range(steps):
        tape.step(joint_f=[force if step < pushed else 0, 0, 0, 0, 0, 0])
    end = np.zeros(batch.joint_q.shape)
    end[:, 0] = 1
    gradient = tape.backward(joint_q=end, inputs=["joint_f"])
    return batch.joint_q[0, 0], gradient.inputs["joint_f"][:pushed, 0, 0].sum()


def solve(target=0.5, force=20.0, iterations=8, tolerance=1e-10):
    """[(force, where the block stops, derivative)] of every iteration."""
    batch = sapwood.Batch(sapwood.Model.parse(SCENE), 1, preset="approx64")
    path = []
    for _ in range(iterations):
        x, slope = push(batch, force)
        path.append((force, x, slope))
        if abs(x - target) < tolerance:
            break
        force += (target - x) / slope
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", type=float, default=0.5, help="m")
    for force, x, slope in solve(parser.parse_args().target):
        print(f"force {force:.8f} N: the block stops at {x:.8f} m, derivative {slope:.9f} m/N")
