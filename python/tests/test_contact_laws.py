"""The contact laws similar and lagged from Python: options, reports, parameters of worlds, files, refusals."""

import numpy as np
import pytest

import sapwood

SCENE = """schema_version: 1
builder: {rigid_gap: 0.01, defaults: {shape: {mu: 0.8, dissipation: 20}}}
bodies: [{id: b, transform: {p: [0, 0, 0.05]}, shapes: [{type: box, hx: 0.1, hy: 0.1, hz: 0.05, dissipation: 30}]}]
joints: [{id: f, type: free, parent: world, child: b}]
"""


def batch_of(worlds=1, **options):
    return sapwood.Batch(sapwood.Model.parse(SCENE), worlds, options={"preset": "fast64", **options})


def test_a_sliding_box_stays_on_the_ground_with_lagged_and_leaves_it_with_sap():
    top = {}
    for law in ("sap", "lagged"):
        batch = batch_of(contact_approximation=law)
        batch.joint_qd[0, 0] = 3
        top[law] = 0.0
        for _ in range(200):
            batch.step(h=0.005)
            top[law] = max(top[law], batch.joint_q[0, 2] - 0.05)
    assert top["lagged"] < 1e-3 < 0.02 < top["sap"]


def solver_of(**options):
    return sapwood.Solver(sapwood.Model.parse(SCENE), 1, options={"preset": "fast64", "max_contacts": 8, **options})


def test_reports_have_the_lagged_impulse_and_the_slip_width():
    solver = solver_of(contact_approximation="lagged")
    report, state = solver.record("impulse", "lagged_impulse", "slip_width", "pair"), solver.state()
    before = 0.0
    for _ in range(200):
        before = report.impulse[0, 0, 2]
        solver.step(state, state, contacts=solver.collide(state), h=0.005)
    assert report.slip_width[0, 0] == pytest.approx(1e-4)
    assert report.lagged_impulse[0, 0] == pytest.approx(before, rel=1e-6)
    assert report.pair[0, 0, 2] == pytest.approx(25)


def test_the_law_sap_has_neither():
    solver = solver_of()
    report, state = solver.record("lagged_impulse", "slip_width"), solver.state()
    solver.step(state, state, contacts=solver.collide(state), h=0.005)
    assert not np.any(report.lagged_impulse) and not np.any(report.slip_width)


def test_records_of_the_caller_have_a_dissipation():
    fastest = []
    for d in (np.nan, 2.0):
        solver = solver_of(contact_approximation="lagged")
        state, top = solver.state(), 0.0
        state.joint_q[0, 2] = 0.2
        for _ in range(200):
            contacts = solver.collide(state)
            contacts.dissipation = d
            solver.step(state, state, contacts=contacts, h=0.002)
            top = max(top, state.joint_qd[0, 2])
        fastest.append(top)
    assert fastest[0] < 1 / 25 * (1 + 1e-6) < 0.2 < fastest[1] < 1 / 2


def test_worlds_have_a_dissipation_of_their_own():
    batch = batch_of(2, contact_approximation="lagged")
    batch.expand("shape_material_dissipation")[:] = [[40], [1]]
    batch.joint_q[:, 2] = 0.3
    fastest = np.zeros(2)
    for _ in range(500):
        batch.step(h=0.002)
        fastest = np.maximum(fastest, batch.joint_qd[:, 2])
    assert fastest[0] < 1 / 40 * (1 + 1e-6) < fastest[1]


def test_a_saved_scene_keeps_the_dissipation(tmp_path):
    model = sapwood.Model.parse(SCENE)
    model.save(tmp_path / "scene.yaml")
    again = sapwood.Model.load(tmp_path / "scene.yaml")
    assert list(again.shape_material_dissipation) == list(model.shape_material_dissipation) == [30, 20]


@pytest.mark.parametrize("solver", ["cone", "pgs", "pgs_rows", "active_set", "mujoco"])
def test_other_solvers_refuse_them(solver):
    with pytest.raises(sapwood.UnsupportedError, match=f"contact_approximation is lagged.*{solver}"):
        batch_of(contact_solver=solver, contact_approximation="lagged")
