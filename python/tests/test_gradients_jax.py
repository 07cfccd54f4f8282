"""The bridge to JAX."""

import numpy as np
import pytest
from test_gradients import standing

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import sapwood.jax as bridge  # noqa: E402


@pytest.fixture(autouse=True)
def double():
    jax.config.update("jax_enable_x64", True)


def test_check_grads_holds(rng):
    batch = standing("arm3", 2, rng)
    step = bridge.step(batch, inputs=("joint_f", "joint_target_pos"), n=2)
    q, qd = jnp.array(batch.joint_q), jnp.array(batch.joint_qd)
    u = {"joint_f": jnp.array(batch.joint_f), "joint_target_pos": jnp.array(batch.joint_target_pos)}
    check_grads(step, (q, qd, u), order=1, modes=["rev"], eps=1e-5, atol=1e-5, rtol=1e-5)


def test_a_compiled_rollout_has_the_slope_of_differences(rng):
    batch = standing("quadruped", 4, rng)
    roll = bridge.rollout(batch, inputs=("joint_f",))
    q, qd = jnp.array(batch.joint_q), jnp.array(batch.joint_qd)
    u, du = jnp.array(0.1 * rng.standard_normal((2, 20, 4, 18)))

    def value(u):
        _, v = roll(q, qd, {"joint_f": u})
        return jnp.sum(v**2)

    slope = jnp.sum(jax.jit(jax.grad(value))(u) * du)
    central = (value(u + 1e-6 * du) - value(u - 1e-6 * du)) / 2e-6
    assert abs(slope - central) < 1e-5 * abs(central)


def test_the_inputs_are_those_that_were_declared(rng):
    step = bridge.step(standing("arm3", 1, rng), inputs=("joint_f",))
    with pytest.raises(ValueError, match=r"the inputs are \[\]; they must be \['joint_f'\]"):
        step(np.zeros((1, 3)), np.zeros((1, 3)))
