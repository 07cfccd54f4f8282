"""Analytic derivatives against independent numbers: reference data, differences, closed forms, and each other."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import sapwood
from sapwood import gradients

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests/data/gradients"
FILES = sorted(p.name.removesuffix(".json.gz") for p in DATA.glob("*.json.gz"))


def reference(name):
    return json.loads(gzip.open(DATA / f"{name}.json.gz").read())


CASES = [(name, i) for name in FILES for i in range(len(reference(name)["cases"]))]


def model_of(scene):
    own = DATA / f"{scene}.yaml"
    return sapwood.Model.load(own if own.exists() else ROOT / f"bench/scenes/{scene}.yaml")


def batch_at(case, scene, preset, options, worlds=1, **more):
    batch = sapwood.Batch(model_of(scene), worlds, preset=preset, options={**options, **more}, dtype=np.float64)
    for name in ("joint_q", "joint_qd", "joint_f", "joint_target_pos", "joint_target_vel", "joint_act"):
        getattr(batch, name)[:] = np.reshape(case[name], -1)
    return batch


def agrees(found, column, error, largest):
    """The bound of the data: 1e-6 of the column and 1e-8 of A, or ten times the estimated error of the data."""
    column = np.asarray(column)
    scale = np.abs(column).max()
    bound = max(1e-6 * scale + 1e-8 * largest, 10 * error * max(scale, 1e-3))
    return np.abs(found - column).max() <= bound


@pytest.mark.parametrize("name, index", CASES)
def test_matrices_and_parameters_agree_with_extrapolated_differences(name, index):
    data = reference(name)
    case = data["cases"][index]
    batch = batch_at(case, data["scene"], data["preset"], data["options"])
    parameters = {p["name"] for p in case["parameters"]}
    out = gradients.jacobians(batch, ["joint_f", "joint_target_pos", *parameters], case["substeps"], case["h"])
    assert not out.report.status[0] & (gradients.INVALID | gradients.STATUS["frozen"])
    A = np.array(case["A"])
    largest = np.abs(A).max()
    columns = np.concatenate([A, case["B_joint_f"], np.reshape(case["B_target_pos"], (len(A), -1))], 1)
    found = np.concatenate(
        [out.A[0], out.B["joint_f"][0], out.B["joint_target_pos"][0][:, np.array(case["target_dofs"], int)]], 1
    )
    bad = [
        (i, np.abs(found[:, i] - columns[:, i]).max() / max(np.abs(columns[:, i]).max(), 1e-30))
        for i, error in enumerate(case["column_relative_error"])
        if i not in case["near_kink_columns"] and not agrees(found[:, i], columns[:, i], error, largest)
    ]
    for p in case["parameters"]:
        x = out.B[p["name"]][0][:, p["index"]]
        if not agrees(x, p["derivative"], p["relative_error"], largest if not np.any(p["derivative"]) else 0):
            bad.append(
                (p["name"], p["index"], np.abs(x - p["derivative"]).max() / max(np.abs(p["derivative"]).max(), 1e-30))
            )
    assert not bad


# ---- against differences ----


def extrapolated(batch, control="joint_f", eps=4e-6, n=1):
    """Central differences with two steps, extrapolated."""
    wide = batch.linearize(method="differences", control=control, eps=eps, n=n)
    near = batch.linearize(method="differences", control=control, eps=eps / 2, n=n)
    return [(4 * y - x) / 3 for x, y in zip(wide, near)]


def worst(found, wanted, worlds=...):
    """The largest difference, relative to the largest entry of each world."""
    found, wanted = found[worlds], wanted[worlds]
    return max(np.abs(x - y).max() / np.abs(y).max() for x, y in zip(found, wanted)) if len(found) else 0.0


def disturb(batch, rng, speed=0.5):
    batch.joint_qd[:] += speed * rng.standard_normal(batch.joint_qd.shape)
    batch.joint_f[:] = rng.standard_normal(batch.joint_f.shape)
    batch.body_f[:] = rng.standard_normal(batch.body_f.shape)


SCENES = sorted(p.stem for p in (ROOT / "bench/scenes").glob("*.yaml"))


@pytest.mark.parametrize("preset", ["fast64", "approx64", "drake"])
@pytest.mark.parametrize("scene", SCENES)
def test_every_scene_and_preset_agrees_with_differences_away_from_kinks(scene, preset, rng):
    batch = sapwood.Batch(model_of(scene), 8, preset=preset, dtype=np.float64)
    batch.step(3)
    disturb(batch, rng)
    out = gradients.jacobians(batch, ["joint_f"])
    assert not (out.report.status & ~np.uint32(gradients.STATUS["kink"])).any()
    away = out.report.margin > 1e-3
    assert away.sum() >= 3
    A, B = extrapolated(batch, eps=2e-7 if scene == "stack5" else 4e-6)  # its faces are parallel to 1e-6
    assert worst(out.A, A, away) < 1e-6
    assert worst(out.B["joint_f"], B, away) < 2e-6


SHAPES = {
    "sphere": "{type: sphere, radius: 0.1}",
    "capsule": "{type: capsule, radius: 0.07, half_height: 0.12}",
    "box": "{type: box, hx: 0.1, hy: 0.08, hz: 0.12}",
    "ellipsoid": "{type: ellipsoid, a: 0.1, b: 0.06, c: 0.13}",
    "plane": "",
}


def pair_model(first, second, weight):
    """Two free bodies, or one over the ground, that touch in free space."""
    ground = "false" if first != "plane" else "true"
    names = [second] if first == "plane" else [first, second]
    bodies = "\n".join(f"- {{id: b{i}, shapes: [{SHAPES[name]}]}}" for i, name in enumerate(names))
    joints = "\n".join(f"- {{id: j{i}, type: free, parent: world, child: b{i}}}" for i in range(len(names)))
    return sapwood.Model.parse(
        f"""schema_version: 1
name: pair
simulation: {{dt: 0.004, max_rigid_contact: 8, solver: {{contact_preset_variant: {weight}}}}}
builder: {{gravity: -1, rigid_gap: 0.02, defaults: {{shape: {{density: 300, ke: 3e3, tau: 0.03, mu: 0.4}}}}}}
ground: {ground}
bodies:
{bodies}
joints:
{joints}
"""
    )


PAIRS = [
    *(("plane", s) for s in ("sphere", "capsule", "box", "ellipsoid")),
    *(("sphere", s) for s in ("sphere", "capsule", "box")),
    *(("capsule", s) for s in ("capsule", "box")),
    ("box", "box"),
]


@pytest.mark.parametrize("preset", ["approx64", "drake"])
@pytest.mark.parametrize("first, second", PAIRS)
def test_random_pairs_of_shapes_agree_with_differences(first, second, preset, rng):
    worlds = 48
    batch = sapwood.Batch(pair_model(first, second, preset), worlds, preset=preset, dtype=np.float64)
    q = np.array(batch.joint_q)
    turn = rng.standard_normal((*q.shape[:1], q.shape[1] // 7, 4))
    q.reshape(worlds, -1, 7)[:, :, 3:] = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
    near = rng.standard_normal((worlds, 3))
    near *= rng.uniform(0.12, 0.2, (worlds, 1)) / np.linalg.norm(near, axis=-1, keepdims=True)
    if first == "plane":
        q[:, 2] = rng.uniform(0.06, 0.12, worlds)
    else:
        q[:, :3], q[:, 7:10] = 0, near
        q[:, 2] += 5
        q[:, 9] += 5
    batch.joint_q[:] = q
    batch.joint_qd[:] = rng.standard_normal(batch.joint_qd.shape)
    out = gradients.jacobians(batch, ["joint_f"])
    A, _ = extrapolated(batch, eps=1e-6)
    batch.step(1, 1e-9)
    touching = batch.contact_count > 0
    fine = touching & ((out.report.status & (gradients.STATUS["frozen"] | gradients.INVALID)) == 0)
    fine &= out.report.margin > 1e-2
    assert fine.sum() >= (touching.sum() // 3 if first == "box" else 0.6 * touching.sum()) and fine.sum() >= 8
    error = np.array([np.abs(x - y).max() / np.abs(y).max() for x, y in zip(out.A, A)])
    assert np.sort(error[fine])[: -1 - fine.sum() // 12].max() < 1e-6  # a difference may cross an edge of the features
    assert np.median(error[fine]) < 1e-8


def test_parameters_of_each_world_are_differentiated_at_their_own_values(rng):
    batch = sapwood.Batch(model_of("quadruped"), 3, preset="approx64", dtype=np.float64)
    batch.step(20)
    batch.expand("body_mass")[:] *= rng.uniform(0.8, 1.2, (3, 1))
    batch.expand("shape_material_mu")[:] *= rng.uniform(0.5, 1.5, (3, 1))
    found = gradients.jacobians(batch, ["body_mass", "gravity", "shape_material_mu"])
    one = sapwood.Batch(batch.model, 1, preset="approx64", dtype=np.float64)
    for w in range(3):
        one.joint_q[:], one.joint_qd[:] = batch.joint_q[w], batch.joint_qd[w]
        for name in ("body_mass", "shape_material_mu"):
            one.expand(name)[:] = getattr(batch, name)[w]
        alone = gradients.jacobians(one, ["body_mass", "gravity", "shape_material_mu"])
        assert np.array_equal(alone.A[0], found.A[w])
        assert all(np.array_equal(alone.B[name][0], found.B[name][w]) for name in alone.B)


def test_the_softening_of_friction_is_differentiated_where_impulses_are_as_small():
    batch = sapwood.Batch(pair_model("plane", "sphere", "approx64"), 5, options={"lanes": 1}, dtype=np.float64)
    batch.joint_q[:, 2] = 0.0999
    batch.joint_qd[:, 0] = 2e-4  # impulses are below the softening of 1e-7 N s
    steps = 1 + 1e-3 * np.array([0, 1, -1, 2, -2])
    batch.expand("body_mass")[:] = 1e-5 * steps[:, None]
    batch.expand("body_inertia")[:] = 4e-8 * np.eye(3).ravel()
    found = gradients.jacobians(batch, ["body_mass"]).B["body_mass"][0, 6:, 0]
    start = np.array(batch.joint_qd[0, 0])
    batch.tape().step()
    v = np.array(batch.joint_qd)
    near, far = (v[1] - v[2]) / 2e-8, (v[3] - v[4]) / 4e-8
    central = (4 * near - far) / 3
    assert 0 < v[0, 0] < start  # it slides, and friction acts
    assert np.abs(found - central).max() < 1e-6 * np.abs(central[:1]).max()


# ---- against each other ----

INPUTS = (
    "joint_f",
    "joint_target_pos",
    "body_f",
    "body_mass",
    "body_com",
    "gravity",
    "shape_material_mu",
    "joint_damping",
)


def standing(scene, worlds, rng, preset="approx64", **options):
    batch = sapwood.Batch(model_of(scene), worlds, preset=preset, options=options, dtype=np.float64)
    batch.step(5)
    disturb(batch, rng, 0.2)
    return batch


@pytest.mark.parametrize("preset", ["fast64", "drake"])
@pytest.mark.parametrize("scene", ["quadruped", "humanoid", "mixed_tree", "mimic_gripper", "tendon_finger"])
def test_products_are_those_of_the_matrices_and_the_adjoint_is_the_transpose(scene, preset, rng):
    batch = standing(scene, 16, rng, preset)
    names = [name for name in INPUTS if gradients.input_size(batch, name)]
    m = gradients.jacobians(batch, names)
    x = rng.standard_normal((16, m.A.shape[1]))
    start, of_inputs, _ = gradients.vjp(batch, x, names)
    scale = np.abs(m.A).max() * np.abs(x).max()
    assert np.abs(start - np.einsum("wij,wi->wj", m.A, x)).max() < 1e-12 * scale * m.A.shape[1]
    for name in names:
        bound = 1e-11 * max(1, np.abs(m.B[name]).max()) * m.A.shape[1]
        assert np.abs(of_inputs[name] - np.einsum("wij,wi->wj", m.B[name], x)).max() < bound
    u = {name: rng.standard_normal(of_inputs[name].shape) for name in names}
    end, _ = gradients.jvp(batch, x, u)
    wanted = np.einsum("wij,wj->wi", m.A, x) + sum(np.einsum("wij,wj->wi", m.B[name], u[name]) for name in names)
    assert np.abs(end - wanted).max() < 1e-12 * max(scale, np.abs(wanted).max()) * m.A.shape[1]


def test_several_steps_are_the_product_of_single_steps(rng):
    batch = standing("quadruped", 4, rng)
    three = gradients.jacobians(batch, ["joint_f"], n=3)
    x = rng.standard_normal((4, 36))
    back, of_inputs, _ = gradients.vjp(batch, x, ["joint_f"], n=3)
    tape, A, B = batch.tape(), np.eye(36), 0
    for _ in range(3):
        one = gradients.jacobians(batch, ["joint_f"])
        A, B = one.A @ A, one.A @ B + one.B["joint_f"] if np.ndim(B) else one.B["joint_f"]
        tape.step()
    assert np.abs(three.A - A).max() < 1e-11 * np.abs(A).max()
    assert np.abs(three.B["joint_f"] - B).max() < 1e-11 * np.abs(B).max()
    assert np.abs(back - np.einsum("wij,wi->wj", A, x)).max() < 1e-10 * np.abs(A).max()
    assert np.abs(of_inputs["joint_f"] - np.einsum("wij,wi->wj", B, x)).max() < 1e-10 * np.abs(B).max()


def test_bits_depend_neither_on_lanes_nor_threads_nor_position(rng):
    def results(order, **options):
        batch = standing("quadruped", 11, np.random.default_rng(3), **options)
        for name in ("joint_q", "joint_qd", "joint_f", "body_f"):
            getattr(batch, name)[:] = np.array(getattr(batch, name))[order]
        m = gradients.jacobians(batch, ["joint_f", "body_mass"])
        start, _, _ = gradients.vjp(batch, np.ones((11, 36)))
        return m.A, m.B["joint_f"], m.B["body_mass"], start, m.report.margin

    order = np.arange(11)
    first = results(order, lanes=1, threads=1)
    for options in ({"lanes": 4}, {"lanes": 8, "threads": 2}, {}):
        assert all(np.array_equal(a, b) for a, b in zip(first, results(order, **options)))
    other = np.roll(order, 3)
    assert all(np.array_equal(a[other], b) for a, b in zip(first, results(other)))


def test_derivatives_change_neither_the_batch_nor_its_later_steps(rng):
    plain, used = standing("quadruped", 3, np.random.default_rng(4)), standing("quadruped", 3, np.random.default_rng(4))
    gradients.jacobians(used, ["joint_f"])
    gradients.vjp(used, np.ones((3, 36)))
    for batch in (plain, used):
        batch.step(5)
    assert all(np.array_equal(getattr(plain, x), getattr(used, x)) for x in ("joint_q", "joint_qd", "status", "cost"))


# ---- closed forms ----


def test_the_pendulum_has_its_closed_derivatives():
    model = sapwood.Model.parse(
        """schema_version: 1
name: pendulum
simulation: {dt: 0.005}
builder: {gravity: -9.81}
ground: false
bodies: [{id: b, mass: 1.5, com: [0, 0, -0.5], inertia: [0.02, 0.02, 0.02]}]
joints: [{id: j, type: revolute, axis: y, parent: world, child: b, damping: 0.1, armature: 0, limit_ke: 0}]
"""
    )
    batch = sapwood.Batch(model, 1, preset="approx64", dtype=np.float64)
    batch.joint_q[:], batch.joint_qd[:] = 0.7, -1.2
    out = gradients.jacobians(batch, ["joint_f", "joint_damping"], h=0.005)
    A = out.A[0]
    found = [A[1, 0], A[1, 1], out.B["joint_f"][0, 1, 0], A[0, 0], out.B["joint_damping"][0, 1, 0]]
    wanted = [-0.07114192658591, 0.99873577749684, 0.01264222503161, 0.99982214518354, 0.01590903857299]
    assert np.allclose(found, wanted, rtol=1e-9, atol=0)


@pytest.mark.parametrize("preset, share", [("approx64", 0.5), ("drake", 1.0)])
def test_a_slider_moves_by_the_mean_or_the_new_velocity(preset, share):
    model = sapwood.Model.parse(
        """schema_version: 1
name: slider
simulation: {dt: 0.01}
builder: {gravity: 0}
ground: false
bodies: [{id: b, mass: 2, inertia: [0.1, 0.1, 0.1]}]
joints: [{id: j, type: prismatic, axis: x, parent: world, child: b, damping: 0, armature: 0, limit_ke: 0}]
"""
    )
    A, B = sapwood.Batch(model, 1, preset=preset, dtype=np.float64).linearize(method="analytic", h=0.01)
    assert np.allclose(A[0], [[1, 0.01], [0, 1]], rtol=1e-14)
    assert np.allclose(B[0], [[share * 0.01**2 / 2], [0.01 / 2]], rtol=1e-14)


def test_momentum_of_bodies_that_touch_only_each_other_is_kept(rng):
    batch = sapwood.Batch(pair_model("sphere", "box", "approx64"), 1, preset="approx64", dtype=np.float64)
    batch.joint_q[0, 2], batch.joint_q[0, 7:10] = 5, [0.17, 0.02, 5.03]
    batch.joint_qd[:] = 0.3 * rng.standard_normal(12)
    B = gradients.jacobians(batch, ["joint_f"], h=0.005).B["joint_f"][0]
    mass = np.array(batch.model.body_mass)
    for body in range(2):
        pushed = B[12:, 6 * body : 6 * body + 3].reshape(2, 6, 3)[:, :3]
        assert np.abs(pushed[1 - body]).max() > 1e-6  # they do touch
        assert np.abs(np.einsum("b,bij->ij", mass, pushed) - 0.005 * np.eye(3)).max() < 1e-15


# ---- worlds that fail, and refusals ----


def test_a_failed_world_has_nan_and_touches_no_other(rng):
    batch = standing("quadruped", 9, rng)
    fine = gradients.jacobians(batch, ["joint_f"])
    batch.joint_qd[4, 0] = np.nan
    found = gradients.jacobians(batch, ["joint_f"])
    others = np.arange(9) != 4
    assert found.report.status[4] == gradients.STATUS["failed"] and not found.report.status[others].any()
    assert np.isnan(found.A[4]).all() and np.isnan(found.B["joint_f"][4]).all()
    assert np.array_equal(found.A[others], fine.A[others])
    start, of_inputs, _ = gradients.vjp(batch, np.ones((9, 36)), ["joint_f"], n=2)
    assert np.isnan(start[4]).all() and np.isnan(of_inputs["joint_f"][4]).all() and np.isfinite(start[others]).all()


def test_invalid_parameters_of_a_world_fail_it_alone():
    batch = sapwood.Batch(model_of("quadruped"), 3, preset="approx64", dtype=np.float64)
    batch.expand("body_mass")[1] = -1
    found = gradients.jacobians(batch, ["joint_f"])
    assert found.report.status.tolist() == [0, gradients.STATUS["failed"], 0]
    assert np.isnan(found.A[1]).all() and np.isnan(found.B["joint_f"][1]).all() and np.isfinite(found.A[[0, 2]]).all()


def test_a_solve_short_of_the_tolerance_is_no_number(rng):
    batch = standing("quadruped", 2, rng)
    A = np.zeros((2, 36, 36))
    report = gradients.call(batch, sapwood._library.lib.sap_batch_linearize, A, tolerance=1e-30)
    assert (report.status & gradients.STATUS["not_converged"]).all() and np.isnan(A).all()


@pytest.mark.parametrize(
    "options, text",
    [
        ({"contact_solver": "cone"}, "contact_solver cone"),
        ({"contact_solver": "mujoco"}, "contact_solver mujoco"),
        ({"sleep_steps": 10}, "sleep_steps"),
        ({"velocity_forces": "mean"}, "velocity_forces"),
        ({"compat": "sap_warp"}, "compat"),
    ],
)
def test_what_has_no_derivatives_is_refused_by_name(options, text):
    batch = sapwood.Batch(model_of("quadruped"), 1, preset="approx64", options=options)
    with pytest.raises(sapwood.UnsupportedError, match=text):
        batch.linearize(method="analytic")
    with pytest.raises(sapwood.UnsupportedError, match=text):
        batch.tape()


def test_inputs_without_derivatives_are_named():
    batch = sapwood.Batch(model_of("quadruped"), 1, preset="approx64")
    with pytest.raises(sapwood.UnsupportedError, match="constraint_X"):
        batch.linearize(method="analytic", control="constraint_X")
    with pytest.raises(ValueError, match="control is 'joint_ff'.*joint_f"):
        batch.linearize(method="analytic", control="joint_ff")
    with pytest.raises(ValueError, match="'joint_ff' is not .*did you mean 'joint_f'"):
        gradients.jacobians(batch, ["joint_ff"])
    with pytest.raises(ValueError, match="method is 'exact'"):
        batch.linearize(method="exact")


# ---- the tape ----


def rollout_end(batch, q, qd, u):
    batch.joint_q[:], batch.joint_qd[:] = q, qd
    tape = batch.tape(every=0)
    for x in u:
        tape.step(joint_f=x)
    return tape, np.array(batch.joint_q), np.array(batch.joint_qd)


@pytest.mark.parametrize("every", [1, 4, 7])
def test_checkpoints_give_the_bits_of_a_full_tape(every, rng):
    batch = standing("quadruped", 3, rng)
    start = np.array(batch.joint_q), np.array(batch.joint_qd)
    u = 0.1 * rng.standard_normal((10, 3, 18))
    found = []
    for k in (0, every):
        batch.joint_q[:], batch.joint_qd[:] = start
        tape = batch.tape(every=k)
        for x in u:
            tape.step(joint_f=x)
        found.append(tape.backward(joint_qd=np.ones((3, 18)), inputs=["joint_f"]))
    assert np.array_equal(found[0].start, found[1].start)
    assert np.array_equal(found[0].inputs["joint_f"], found[1].inputs["joint_f"])


def test_the_gradient_of_a_tape_is_that_of_its_rollout(rng):
    batch = standing("humanoid", 2, rng)
    nv = batch.model.num_dofs
    q, qd = np.array(batch.joint_q), np.array(batch.joint_qd)
    u, du = 0.1 * rng.standard_normal((2, 10, 2, nv))
    c_q, c_qd = rng.standard_normal(q.shape), rng.standard_normal(qd.shape)
    tape, q1, _ = rollout_end(batch, q, qd, u)
    g = tape.backward(joint_q=c_q, joint_qd=c_qd, inputs=["joint_f"])
    assert not (g.status & gradients.INVALID).any()
    slope = np.sum(g.inputs["joint_f"] * du, (0, 2))
    values = []
    for eps in (1e-5, -1e-5):
        _, a, b = rollout_end(batch, q, qd, u + eps * du)
        values.append(np.sum(c_q * a, 1) + np.sum(c_qd * b, 1))
    assert np.allclose(slope, (values[0] - values[1]) / 2e-5, rtol=2e-6)


def test_a_tape_is_used_once_and_with_the_parameters_of_its_steps():
    batch = sapwood.Batch(model_of("cartpole"), 1, preset="approx64", dtype=np.float64)
    tape = batch.tape()
    tape.step()
    tape.backward(joint_qd=np.ones((1, 2)))
    for again in (tape.step, tape.backward):
        with pytest.raises(RuntimeError, match="has been used"):
            again()
    tape = batch.tape()
    tape.step()
    batch.expand("body_mass")[:] *= 2
    with pytest.raises(RuntimeError, match="changed since the tape began"):
        tape.backward(joint_qd=np.ones((1, 2)))


def test_gradients_do_not_pass_a_reset():
    batch = sapwood.Batch(model_of("cartpole"), 2, preset="approx64", dtype=np.float64)
    tape = batch.tape()
    tape.step()
    batch.reset([True, False])
    tape.step()
    g = tape.backward(joint_qd=np.ones((2, 2)), inputs=["joint_f"], reset={0: [True, False]})
    assert not g.start[0].any() and not g.inputs["joint_f"][0, 0].any()
    assert g.start[1].any() and g.inputs["joint_f"][1, 0].any()


# ---- examples ----


@pytest.fixture
def example(monkeypatch):
    import importlib
    import sys

    monkeypatch.syspath_prepend(str(ROOT / "examples"))

    def load(name):
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return load


def test_a_pushed_block_stops_at_its_target(example):
    path = example("push_block").solve()
    assert np.allclose(path[0][1:], [0.46520474, 0.069188786], rtol=0, atol=2e-8)
    assert abs(path[1][1] - 0.50067671) < 2e-8
    assert abs(path[-1][0] - 20.49343040) < 1e-6 and abs(path[-1][1] - 0.5) < 1e-10


def test_mass_and_friction_of_a_thrown_cube_are_found(example):
    assert np.allclose(example("identify_cube").identify()[-1], [1.4, 0.35], rtol=1e-6, atol=0)


def test_a_quadruped_shifts_to_its_goal(example):
    errors, costs = zip(*example("shift_quadruped").shift())
    assert errors[0] > 0.05 and errors[1] < 0.006 and errors[2] < 2e-4
    assert costs[2] < 1e-3 * costs[0]
