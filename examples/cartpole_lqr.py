"""Balances randomised cart-poles with one linear-quadratic regulator per world.

    python examples/cartpole_lqr.py [--worlds 1000] [--seconds 10]

Every world has its own masses and centre of mass. `batch.linearize` gives x' = A x + B u of each world at the upright
state; the discrete Riccati equation gives its gain K, and u = -K x is the force on the cart.
"""

import argparse
from pathlib import Path

import numpy as np

import sapwood

SCENE = Path(__file__).resolve().parents[1] / "bench" / "scenes" / "cartpole.yaml"


def randomise(batch, rng):
    """Masses between 1/2 and 2 times the model's, inertias in proportion, and poles of other lengths."""
    scale = np.exp2(rng.uniform(-1, 1, (batch.num_worlds, 2)))
    length = rng.uniform(0.7, 1.3, batch.num_worlds)
    batch.expand("body_mass")[:] *= scale
    inertia = batch.expand("body_inertia")
    inertia *= scale.reshape(scale.shape + (1,) * (inertia.ndim - 2))
    # the hinge is half a metre below the middle of the pole
    batch.expand("body_com")[:, 1, 2] = 0.5 * (length - 1)


def gains(A, B, Q, R, iterations=2000):
    """K of u = -K x, by the Riccati iteration P = Q + A' P (A - B K)."""
    P = np.broadcast_to(Q, A.shape).copy()
    At, Bt = A.swapaxes(1, 2), B.swapaxes(1, 2)
    for _ in range(iterations):
        K = np.linalg.solve(R + Bt @ P @ B, Bt @ P @ A)
        P = Q + At @ P @ (A - B @ K)
    return K


def balance(num_worlds=1000, seconds=10.0, seed=0):
    """The largest |x|, in m, and |angle|, in rad, of each world in the last second."""
    rng = np.random.default_rng(seed)
    model = sapwood.Model.load(SCENE)
    batch = sapwood.Batch(model, num_worlds, options=model.options)
    randomise(batch, rng)
    batch.joint_q[:] = 0
    A, B = batch.linearize()
    K = gains(A, B[:, :, :1], np.diag([1.0, 10.0, 0.1, 0.1]), np.array([[0.01]]))

    batch.joint_q[:, 1] = rng.uniform(-0.2, 0.2, num_worlds)
    batch.joint_qd[:] = rng.uniform(-0.1, 0.1, (num_worlds, 2))
    largest = np.zeros((num_worlds, 2))
    steps = round(seconds / batch.dt)
    for step in range(steps):
        x = np.concatenate([batch.joint_q, batch.joint_qd], 1)
        batch.joint_f[:, 0] = -np.einsum("wi,wi->w", K[:, 0], x)
        batch.step()
        if step >= steps - 1 / batch.dt:
            largest = np.maximum(largest, np.abs(batch.joint_q))
    return largest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    largest = balance(arguments.worlds, arguments.seconds)
    upright = np.all(largest < [0.1, 0.01], axis=1)
    print(f"{np.count_nonzero(upright)} of {arguments.worlds} worlds stand upright near the middle of the rail")
    print(f"in the last second: |x| up to {largest[:, 0].max():.2g} m, |angle| up to {largest[:, 1].max():.2g} rad")


if __name__ == "__main__":
    main()
