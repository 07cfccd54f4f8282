"""The bridge to torch.autograd."""

import numpy as np
import pytest
from test_gradients import model_of, standing

import sapwood
from sapwood import gradients

torch = pytest.importorskip("torch")
import sapwood.torch as bridge  # noqa: E402


def state(batch, grad=True):
    q, qd = (torch.tensor(np.array(x, np.float64), requires_grad=grad) for x in (batch.joint_q, batch.joint_qd))
    return q, qd


def test_gradcheck_holds_for_states_controls_and_parameters(rng):
    batch = standing("mixed_tree", 1, rng)
    mass = batch.expand("body_mass")
    q, qd = state(batch)
    f = torch.tensor(rng.standard_normal((1, 12)), requires_grad=True)
    m = torch.tensor(np.array(mass), requires_grad=True)

    def normal(q, qd, f, m):  # a gradient has no part along a quaternion
        q = torch.cat([q[:, :3], *(q[:, i : i + 4] / q[:, i : i + 4].norm() for i in (3, 7)), q[:, 11:]], 1)
        return bridge.step(batch, q, qd, joint_f=f, body_mass=m, n=2)

    assert torch.autograd.gradcheck(normal, (q, qd, f, m), eps=1e-6, atol=2e-5, rtol=1e-5)


def test_a_rollout_has_the_slopes_of_differences_in_random_directions(rng):
    T, worlds = 100, 64
    batch = sapwood.Batch(model_of("quadruped"), worlds, preset="fast64")
    q, qd = state(batch, False)
    u = torch.tensor(0.05 * rng.standard_normal((T, worlds, 18)), requires_grad=True)

    def value(u):
        _, v = bridge.rollout(batch, q, qd, {"joint_f": u})
        return (v**2).sum((0, 2))

    du = torch.tensor(rng.standard_normal((T, worlds, 18)))
    value(u).sum().backward()
    slope = (u.grad * du).sum((0, 2)).numpy()
    eps = 1e-7
    with torch.no_grad():
        central = ((value(u + eps * du) - value(u - eps * du)) / (2 * eps)).numpy()
    error = np.abs(slope - central) / np.maximum(np.abs(central), np.median(np.abs(central)))
    assert np.isfinite(slope).all() and np.median(error) < 1e-5 and np.mean(error < 1e-2) > 0.8


def test_gradients_of_gradients_are_refused(rng):
    batch = standing("cartpole", 1, rng)
    q, qd = state(batch)
    _, v = bridge.step(batch, q, qd)
    (g,) = torch.autograd.grad((v**2).sum(), qd, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_a_world_that_fails_gives_nan_or_zero_as_asked(rng):
    batch = standing("quadruped", 3, rng)
    for on_invalid in ("nan", "zero"):
        q, qd = state(batch)
        with torch.no_grad():
            qd[1, 0] = float("nan")
        status = np.zeros(3, np.uint32)
        _, v = bridge.step(batch, q, qd, on_invalid=on_invalid, status=status)
        v[[0, 2]].sum().backward()
        assert status.tolist() == [0, gradients.STATUS["failed"], 0]
        assert torch.isnan(qd.grad[1]).all() if on_invalid == "nan" else not qd.grad[1].any()
        assert torch.isfinite(qd.grad[[0, 2]]).all()


def test_bad_arguments_are_named(rng):
    batch = standing("cartpole", 2, rng)
    q, qd = state(batch)
    with pytest.raises(ValueError, match="on_invalid is 'skip'"):
        bridge.step(batch, q, qd, on_invalid="skip")
    with pytest.raises(ValueError, match=r"q has shape \(1, 2\); it must be \(2, 2\)"):
        bridge.step(batch, q[:1], qd)
    with pytest.raises(TypeError, match="joint_f is a ndarray"):
        bridge.step(batch, q, qd, joint_f=np.zeros((2, 2)))
    batch.expand("body_mass")
    _, v = bridge.step(batch, q, qd)
    batch.body_mass[:] *= 2
    with pytest.raises(RuntimeError, match="body_mass of the batch changed"):
        v.sum().backward()
