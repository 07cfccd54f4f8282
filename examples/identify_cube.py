"""Identifies the mass and the friction of a cube from a recorded throw.

    python examples/identify_cube.py [--steps 100]

Every recorded state is a world of one batch. A step of all worlds predicts the states that follow; its derivatives with
respect to the parameters give the corrections (Gauss-Newton).
"""

import argparse

import numpy as np

import sapwood
from sapwood import gradients
from sapwood.linearize import Tangent

SCENE = """schema_version: 1
name: throw
simulation: {dt: 0.005}
builder: {gravity: -9.81, rigid_gap: 0.005, defaults: {shape: {density: 1000, ke: 2e4, tau: 0.02, mu: 0.5}}}
bodies:
- {id: cube, transform: {p: [0, 0, 0.2]}, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.05}]}
joints:
- {id: cube_free, type: free, parent: world, child: cube}
"""
FORCE = [1.0, 0.5, 0, 0, 0, 0.02]  # known, so that the mass matters


def record(model, mass, mu, steps):
    """States of a throw: joint_q of shape (steps + 1, nq) and joint_qd."""
    batch = sapwood.Batch(model, 1, preset="approx64")
    batch.expand("body_mass")[:] = mass
    batch.expand("shape_material_mu")[:] = mu
    batch.joint_qd[:] = [1.5, 0.4, 0, 0.5, 2, 1]
    q, qd, tape = [np.array(batch.joint_q[0])], [np.array(batch.joint_qd[0])], batch.tape()
    for _ in range(steps):
        tape.step(joint_f=FORCE)
        q.append(np.array(batch.joint_q[0]))
        qd.append(np.array(batch.joint_qd[0]))
    return np.array(q), np.array(qd)


def identify(mass=1.4, mu=0.35, steps=100, iterations=10):
    """The (mass, mu) of every iteration, from the model's values on."""
    model = sapwood.Model.parse(SCENE)
    q, qd = record(model, mass, mu, steps)
    batch, tangent = sapwood.Batch(model, steps, preset="approx64"), Tangent(model)
    guess, path = np.array([1.0, 0.5]), []
    for _ in range(iterations):
        path.append(guess)
        batch.joint_q[:], batch.joint_qd[:], batch.joint_f[:] = q[:-1], qd[:-1], FORCE
        batch.expand("body_mass")[:] = guess[0]
        batch.expand("shape_material_mu")[:] = guess[1]
        found = gradients.jacobians(batch, ["body_mass", "shape_material_mu"])
        by_mass, by_mu = found.B["body_mass"][..., 0], found.B["shape_material_mu"].sum(-1)  # both sides of a contact
        batch.tape().step()
        error = np.concatenate([tangent.subtract(np.array(batch.joint_q), q[1:]), batch.joint_qd - qd[1:]], 1)
        J = np.stack([by_mass.ravel(), by_mu.ravel()], 1)
        guess = guess - np.linalg.lstsq(J, error.ravel(), rcond=None)[0]
    return [*path, guess]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=100)
    for i, (mass, mu) in enumerate(identify(steps=parser.parse_args().steps)):
        print(f"{i}: mass {mass:.9f} kg, friction {mu:.9f}")
