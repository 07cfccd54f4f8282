"""The contact solvers in impulses and sleeping worlds, from Python."""

import numpy as np
import pytest

import sapwood


def test_every_contact_solver_is_an_option() -> None:
    model = sapwood.scene("stack5")
    for solver in ("sap", "cone", "pgs", "pgs_rows", "active_set"):
        with sapwood.Batch(model, 2, options={"contact_solver": solver}) as batch:
            batch.step(n=20)
            assert (batch.status & 0xFF == 0).all()
            assert solver == "sap" or batch.iterations.max() > 0


def test_cone_reports_the_size_of_the_active_set() -> None:
    with sapwood.Batch(sapwood.scene("stack5"), 1, options={"contact_solver": "cone"}) as batch:
        batch.step(n=50)
        assert batch.active[0] >= 15
        assert batch.safeguards[0] == 0
        assert batch.residual[0] <= 1e-6
        stats = batch.stats
        assert stats["unbounded"] == stats["coulomb_not_converged"] == stats["safeguarded"] == 0
        assert stats["residual_max"] == batch.residual[0]


def test_a_state_with_its_contact_cache_continues_bit_for_bit() -> None:
    model = sapwood.scene("quadruped")
    options = {"contact_solver": "cone", "warm_start": True}
    with sapwood.Batch(model, 3, options=options) as one, sapwood.Batch(model, 3, options=options) as other:
        one.step(n=40)
        other.set_state(one.get_state())
        one.step(n=30)
        other.step(n=30)
        assert np.array_equal(one.joint_q, other.joint_q)
        assert np.array_equal(one.iterations, other.iterations)


def test_a_state_with_a_cache_fits_a_batch_without_one() -> None:
    model = sapwood.scene("stack5")
    with sapwood.Batch(model, 1, options={"contact_solver": "cone", "warm_start": True}) as warm:
        warm.step(n=5)
        state = warm.get_state()
    assert "cache" in state
    with sapwood.Batch(model, 1) as plain:
        plain.set_state(state)
        assert np.array_equal(plain.joint_q, state["joint_q"])


def test_coulombs_law_is_refused_where_no_solver_has_it() -> None:
    with pytest.raises(sapwood.UnsupportedError, match="friction_law is coulomb"):
        sapwood.Batch(sapwood.scene("cube"), 1, options={"contact_solver": "active_set", "friction_law": "coulomb"})


def test_worlds_at_rest_sleep() -> None:
    with sapwood.Batch(sapwood.scene("cube"), 4, options={"sleep_steps": 10}) as batch:
        for _ in range(100):
            batch.step(n=20)
            if batch.asleep.all():
                break
        assert batch.asleep.all()
        assert (batch.joint_qd == 0).all()
        batch.body_f[2, 0, 2] = 1
        batch.step()
        assert batch.asleep.tolist() == [1, 1, 0, 1]


def test_a_sleeping_world_tells_of_its_trees() -> None:
    with sapwood.Batch(sapwood.scene("stack5"), 2, options={"sleep_steps": 10}) as batch:
        assert batch.model.body_tree.tolist() == list(range(batch.model.num_bodies))
        asleep, rest = batch.tree_asleep, batch.tree_rest
        assert asleep.shape == rest.shape == (2, batch.model.num_bodies)
        for _ in range(1000):
            batch.step()
            if batch.asleep.all():
                break
        assert asleep.all() and np.all(rest >= 10 * batch.dt * (1 - 1e-9))
        before = rest.copy()
        batch.step(7)
        assert np.allclose(rest - before, 7 * batch.dt)
        batch.joint_qd[1, 0] = 1
        batch.step()
        assert asleep[0].all() and not asleep[1].any() and rest[1, 0] == 0
    assert sapwood.scene("quadruped").body_tree.tolist() == [0] * sapwood.scene("quadruped").num_bodies
