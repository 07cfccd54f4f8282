"""Shifts a standing quadruped by 6 cm: targets of its motors from the derivatives of 80 steps.

    python examples/shift_quadruped.py

12 motors have targets that are linear between 6 knots. The sensitivity of the end of the motion to the knots is a
product of Jacobians, A_t ... B_t; Levenberg's method takes two steps with it.
"""

import numpy as np

import sapwood
from sapwood import gradients
from sapwood.linearize import Tangent

STEPS, KNOTS, SHIFT = 80, 6, 0.06
WEIGHTS = np.repeat([10, 3, 0.5], [3, 3, 6])  # position, rotation and velocity of the base at the end
KNOT_WEIGHT, DAMPING = 0.02, 1e-3


def spread(steps=STEPS, knots=KNOTS):
    """The weight of every knot in every step, (steps, knots)."""
    at = np.linspace(0, knots - 1, steps)
    return np.maximum(0, 1 - np.abs(at[:, None] - np.arange(knots)))


def run(batch, start, knots, motors, derivatives):
    """The state of the base at the end, and its derivative with respect to the knots."""
    nv = batch.model.num_dofs
    rest, weights = np.array(batch.model.joint_target_pos), spread()
    batch.joint_q[:], batch.joint_qd[:] = start
    X = np.zeros((2 * nv, knots.size))
    tape = batch.tape()
    for w in weights:
        target = rest.copy()
        target[motors] += w @ knots
        batch.joint_target_pos[:] = target
        if derivatives:
            step = gradients.jacobians(batch, ["joint_target_pos"])
            B = step.B["joint_target_pos"][0][:, motors]
            X = step.A[0] @ X + (w[None, :, None] * B[:, None, :]).reshape(2 * nv, -1)
        tape.step()
    return np.array(batch.joint_q), np.array(batch.joint_qd), X


def shift(iterations=3):
    """The error of the position of the base at the end, m, and the cost, of every iteration."""
    model = sapwood.scene("quadruped")
    batch, tangent = sapwood.Batch(model, 1, preset="approx64"), Tangent(model)
    batch.step(200)  # it stands
    start = np.array(batch.joint_q), np.array(batch.joint_qd)
    nv, motors = model.num_dofs, np.arange(6, model.num_dofs)
    goal = start[0].copy()
    goal[0, 0] += SHIFT
    rows = np.r_[0:6, nv : nv + 6]
    knots, path = np.zeros((KNOTS, len(motors))), []
    for i in range(iterations):
        q, qd, X = run(batch, start, knots, motors, i < iterations - 1)
        error = np.r_[tangent.subtract(q, goal)[0, :6], qd[0, :6]]
        r = np.r_[WEIGHTS * error, KNOT_WEIGHT * knots.ravel()]
        path.append((np.linalg.norm(error[:3]), r @ r))
        J = np.r_[WEIGHTS[:, None] * X[rows], KNOT_WEIGHT * np.eye(knots.size)]
        knots = knots - np.linalg.solve(J.T @ J + DAMPING * np.eye(knots.size), J.T @ r).reshape(knots.shape)
    return path


if __name__ == "__main__":
    for i, (error, cost) in enumerate(shift()):
        print(f"{i}: {1e3 * error:.3f} mm from the goal, cost {cost:.3g}")
