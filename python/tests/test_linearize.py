"""Linearisation: against the exact derivatives of a cart-pole, and against differences of single worlds in contact."""

import sys

import numpy as np
import pytest

import sapwood
from sapwood.linearize import Tangent, quat_exp, quat_log, quat_mul

from conftest import ROOT, SCENES

G = 9.81


@pytest.fixture
def cartpole():
    return sapwood.Model.load(SCENES / "cartpole.yaml")


def cartpole_step(model, x, f, h, euler):
    """A step of the cart-pole in closed form, for complex numbers: (M + h D) (v' - v) = h (tau - D v)."""
    q, v = x[:2], x[2:]
    m, mp = model.body_mass.sum(), model.body_mass[1]
    lever = 0.5  # from the hinge to the centre of mass of the pole
    J = model.body_inertia[1].reshape(9)[4] + mp * lever**2
    D = np.diag(model.joint_damping)
    s, c = np.sin(q[1]), np.cos(q[1])
    M = np.array([[m, mp * lever * c], [mp * lever * c, J]])
    tau = np.array([mp * lever * s * v[1] ** 2, mp * G * lever * s]) + f
    v1 = v + np.linalg.solve(M + h * D, h * (tau - D @ v))
    return np.concatenate([q + h * (v1 if euler else 0.5 * (v + v1)), v1])


def exact_derivative(function, x):
    """Columns df/dx_i by the complex step, exact to rounding."""
    columns = []
    for i in range(len(x)):
        moved = x.astype(complex)
        moved[i] += 1e-30j
        columns.append(function(moved).imag / 1e-30)
    return np.stack(columns, 1)


@pytest.mark.parametrize("preset", ["approx32", "approx64", "drake"])
def test_a_cartpole_has_the_matrices_of_its_equations(cartpole, preset, rng):
    h, euler = 0.005, preset == "drake"
    batch = sapwood.Batch(cartpole, 5, preset=preset)
    batch.joint_q[:] = rng.uniform(-1, 1, (5, 2))
    batch.joint_qd[:] = rng.uniform(-2, 2, (5, 2))
    batch.joint_f[:] = rng.uniform(-3, 3, (5, 2))
    before = batch.get_state()
    A, B = batch.linearize(h=h)
    assert A.shape == (5, 4, 4) and B.shape == (5, 4, 2)
    for w in range(5):
        x, f = np.concatenate([batch.joint_q[w], batch.joint_qd[w]]).astype(float), batch.joint_f[w].astype(float)
        assert np.abs(A[w] - exact_derivative(lambda y, f=f: cartpole_step(cartpole, y, f, h, euler), x)).max() < 1e-6
        assert np.abs(B[w] - exact_derivative(lambda u, x=x: cartpole_step(cartpole, x, u, h, euler), f)).max() < 1e-6
    assert all(np.array_equal(before[name], batch.get_state()[name]) for name in before), "the batch changed"


def test_worlds_have_the_matrices_of_their_own_parameters(cartpole):
    batch = sapwood.Batch(cartpole, 3, preset="approx64")
    batch.expand("body_mass")[1] *= 2
    batch.expand("body_inertia")[1] *= 2
    A, B = batch.linearize()
    assert np.array_equal(A[0], A[2]) and np.array_equal(B[0], B[2])
    assert np.allclose(B[1], B[0] / 2, rtol=1e-2) and not np.array_equal(A[1], A[0])


def test_a_quaternion_and_its_tangent_vector_belong_together(rng, quadruped):
    w = rng.uniform(-1, 1, (50, 3))
    assert np.abs(quat_log(quat_exp(w)) - w).max() < 1e-14
    assert np.array_equal(quat_log(quat_exp(np.zeros((1, 3)))), np.zeros((1, 3)))
    tangent, change = Tangent(quadruped), rng.uniform(-1, 1, (4, quadruped.num_dofs))
    q = np.tile(quadruped.joint_q, (4, 1))
    q[:, 3:7] = quat_mul(quat_exp(w[:4]), q[:, 3:7])
    assert np.abs(tangent.subtract(tangent.add(q, change), q) - change).max() < 1e-14


def test_a_quadruped_in_contact_has_the_differences_of_single_worlds(quadruped):
    nv, eps = quadruped.num_dofs, 1e-7
    batch = sapwood.Batch(quadruped, 1, preset="approx64")
    batch.step(200)
    assert batch.contact_count[0] > 0
    A, B = batch.linearize()
    start, tangent = batch.get_state(), Tangent(quadruped)
    tight = {"optimality_rel_tol": 1e-14, "cost_rel_tol": 0, "cost_abs_tol": 0}

    def step(change, force):
        single = sapwood.Batch(quadruped, 1, preset="approx64", options=tight)
        single.set_state(start)
        single.joint_q[:] = tangent.add(start["joint_q"], change[:nv])
        single.joint_qd += change[nv:]
        single.joint_f += force
        single.step()
        return single.joint_q.copy(), single.joint_qd.copy()

    def column(change, force):
        (q, v), (q0, v0) = step(change, force), step(np.zeros(2 * nv), np.zeros(nv))
        return np.concatenate([tangent.subtract(q, q0), v - v0], -1)[0] / eps

    # one-sided differences have an error of order eps times the curvature of contact
    scale = np.abs(A[0]).max()
    for i in range(2 * nv):
        error = np.abs(A[0, :, i] - column(eps * np.eye(2 * nv)[i], np.zeros(nv))).max()
        assert error < 1e-4 * scale, f"column {i} of A is {error:g} off"
    for i in range(nv):
        error = np.abs(B[0, :, i] - column(np.zeros(2 * nv), eps * np.eye(nv)[i])).max()
        assert error < 1e-4 * np.abs(B[0]).max(), f"column {i} of B is {error:g} off"


def test_a_drive_is_linearised_by_its_target(quadruped):
    batch = sapwood.Batch(quadruped, 1, preset="approx64")
    _, force = batch.linearize()
    _, target = batch.linearize(control="joint_target_pos")
    driven = np.flatnonzero(quadruped.joint_target_ke > 0)
    assert driven.size and np.abs(target[0][:, driven]).max() > 0
    assert np.abs(target[0][:, 0]).max() == 0 and np.abs(force[0][:, 0]).max() > 0


def test_a_world_that_fails_has_nan_and_the_others_do_not(cartpole):
    batch = sapwood.Batch(cartpole, 3)
    batch.joint_q[1] = np.nan
    A, B = batch.linearize()
    assert np.isnan(A[1]).all() and np.isnan(B[1]).all()
    assert np.isfinite(A[[0, 2]]).all() and np.isfinite(B[[0, 2]]).all()


@pytest.mark.parametrize("wrong", [dict(eps=0.0), dict(eps=np.nan), dict(control="joint_q"), dict(h=-1.0)])
def test_wrong_arguments_are_refused(cartpole, wrong):
    with pytest.raises(ValueError):
        sapwood.Batch(cartpole, 1).linearize(**wrong)


def test_the_regulator_of_each_world_balances_its_cartpole(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    sys.modules.pop("cartpole_lqr", None)
    import cartpole_lqr

    largest = cartpole_lqr.balance(num_worlds=1000, seconds=8.0)
    assert largest[:, 0].max() < 0.1 and largest[:, 1].max() < 0.01
