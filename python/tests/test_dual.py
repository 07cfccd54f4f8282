"""dual_solve against closed solutions, and what it refuses."""

import numpy as np
import pytest

import sapwood

SLIDING = np.array([4.954128440, 0.0, 16.513761468])  # W = 2 E, b = (20, 0, 30), mu 0.3


def test_a_sliding_contact_lies_on_its_cone():
    solution = sapwood.dual_solve(2 * np.eye(3), [20.0, 0.0, 30.0], [0.3], rel_tol=1e-10)
    assert solution.impulse.shape == (3,)
    assert np.allclose(solution.impulse, SLIDING, rtol=0, atol=1e-8)
    assert solution.converged and not solution.unbounded
    assert np.allclose(solution.velocity, 2 * solution.impulse - [20, 0, 30], rtol=0, atol=1e-12)


def test_problems_of_a_batch_are_independent_of_each_other():
    rng = np.random.default_rng(1)
    J = rng.standard_normal((20, 6, 5))
    W, b = J @ J.transpose(0, 2, 1), (J @ rng.standard_normal((20, 5, 1)))[:, :, 0]
    together = sapwood.dual_solve(W, b, [0.5, 0.8], threads=2)
    for i in range(20):
        alone = sapwood.dual_solve(W[i], b[i], [0.5, 0.8])
        assert (alone.impulse == together.impulse[i]).all()
    assert together.converged.all()
    assert together.region.shape == (20, 2)


def test_every_kind_of_row():
    W = np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]])
    for method in ("cone", "pgs", "active_set", "active_set_single"):
        solution = sapwood.dual_solve(
            W, [9, -9, 1], kinds=["box", "box", "free"], lo=[-1, -1, 0], hi=[1, 1, 0], method=method, rel_tol=1e-9,
            max_iterations=200
        )  # fmt: skip
        assert np.allclose(solution.impulse, [1, -1, 1], atol=1e-6), method


def test_a_guess_saves_iterations_and_coulombs_law_does_not_lift():
    W, b = 2 * np.eye(3), [20.0, 0.0, 30.0]
    cold = sapwood.dual_solve(W, b, [0.3])
    assert sapwood.dual_solve(W, b, [0.3], guess=SLIDING).iterations < cold.iterations
    coulomb = sapwood.dual_solve(W, b, [0.3], friction_law="coulomb")
    assert np.allclose(coulomb.impulse, [4.5, 0, 15], atol=1e-4)


def test_converged_means_the_problem_as_it_was_posed():
    # A rod that slides on its tip: friction presses the tip into the ground, and the fixed point finds no solution.
    W = np.array([[3.98, 0, 1.8], [0, 1, 0], [1.8, 0, 1.08]])
    batch = sapwood.dual_solve([W, np.eye(3)], [[6.01, 0, 0.19], [0.3, 0, 1]], [2.52], friction_law="coulomb")
    assert batch.status[0] & sapwood._layout.BITS["SAP_WORLD_COULOMB_NOT_CONVERGED"]
    assert list(batch.converged) == [False, True]
    convex = sapwood.dual_solve(W, [6.01, 0, 0.19], [2.52])
    assert convex.converged and (convex.impulse == batch.impulse[0]).all()
    # Two walls that both push the box between them: the impulses are those of another problem, with compliance.
    pressed = sapwood.dual_solve([[1.0, -1], [-1, 1]], [1.0, 1], kinds=["unilateral", "unilateral"])
    assert pressed.unbounded and not pressed.converged


def test_a_heavy_body_on_a_light_one_is_not_a_contradiction():
    solution = sapwood.dual_solve([[1.0, -1], [-1, 1 + 1e-6]], [1.0, 0], kinds=["unilateral", "unilateral"])
    assert solution.converged and not solution.unbounded
    assert np.allclose(solution.impulse, [1000001, 1000000], rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "newton"}, "method is 'newton'; allowed: cone, pgs"),
        ({"friction_law": "colomb"}, r"friction_law is 'colomb'; did you mean 'coulomb'\? Allowed: convex, coulomb"),
        ({"kinds": ["contact", "free"]}, "kinds have 4 rows; b has 3"),
        ({"b": [1.0, 2.0]}, "b has 2 rows"),
        ({"mu": [[0.3, 0.2]]}, "mu has the shape"),
        ({"omega": 2.0}, "options.pgs_omega is 2"),
        ({"mu": None}, "problem.mu is NULL"),
    ],
)
def test_names_what_is_wrong(change, message):
    arguments = {"W": np.eye(3), "b": [0.0, 0, 1], "mu": [0.5], **change}
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        sapwood.dual_solve(**arguments)


def test_a_problem_with_nan_gets_a_status():
    b = np.ones((2, 3))
    b[0, 1] = np.nan
    solution = sapwood.dual_solve(np.eye(3), b, [0.5])
    assert list(solution.converged) == [False, True]
    assert (solution.impulse[0] == 0).all()
