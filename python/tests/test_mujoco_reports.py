"""Reports of MuJoCo's law against MuJoCo's own arrays, to rounding: rows, forces of limits and constraints, tendons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood
from sapwood.batch import FIELDS

from test_mujoco_law import PAIRS, ROWS, SERVOS, TENDON_SERVOS, compiled

mujoco = pytest.importorskip("mujoco")

# Our array, and MuJoCo's; values that are equal to the last bits of the largest of them.
ROW_ARRAYS = {
    "row_state": lambda d: d.efc_state,
    "row_position": lambda d: d.efc_pos,
    "row_margin": lambda d: d.efc_margin,
    "row_velocity": lambda d: d.efc_vel,
    "row_impedance": lambda d: d.efc_KBIP[:, 2],
    "row_regularization": lambda d: d.efc_R,
    "row_reference": lambda d: d.efc_aref,
    "row_force": lambda d: d.efc_force,
}
CONTACT = 5  # the first type of a row of a contact
EQUALITY, DOF_FRICTION, TENDON_FRICTION, JOINT_LIMIT, TENDON_LIMIT = range(CONTACT)
INTEGRATORS = ["Euler", "implicitfast", "RK4", "discrete"]

FRICTION_OF_ALL = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.003" integrator="{integrator}" cone="elliptic"><flag island="disable"/></option>
<worldbody><geom type="plane" size="5 5 1"/>
 <body pos="0 0 0.3"><joint type="free" frictionloss="0.4"/><geom type="capsule" size="0.05" fromto="0 0 0 0.2 0 0.1"/>
  <body pos="0.2 0 0.1"><joint type="ball" frictionloss="0.05" range="0 0.3"/><geom type="capsule" size="0.03"
   fromto="0 0 0 0 0.2 0"/></body></body>
 <body pos="1 0 0.052" gravcomp="0.5"><freejoint/><geom type="sphere" size="0.05" margin="0.003" gap="0.01"/></body>
 <body pos="2 0 1"><joint name="a" type="slide" axis="0 0 1" frictionloss="0.5" range="-0.02 0.02" margin="0.005"/>
  <geom size="0.05"/></body>
 <body pos="3 0 1"><joint type="slide" axis="0 0 1" frictionloss="0.3" range="-0.02 0.02"/>
  <geom size="0.05"/></body></worldbody>
<tendon><fixed name="t" frictionloss="0.2" limited="true" range="-0.028 0.5" margin="0.002">
 <joint joint="a" coef="2"/></fixed></tendon></mujoco>"""


def model(name: str, integrator: str) -> Any:
    kind, _, detail = name.partition(" ")
    if kind in ("pyramidal", "elliptic"):
        m = compiled(integrator, kind, int(detail))
    elif kind == "rows":
        springs = "" if integrator == "discrete" else 'stiffness="8" springlength="-0.05 0.02" damping="0.3"'
        springs = springs.replace('damping="0.3"', "") if integrator == "implicitfast" else springs
        m = mujoco.MjModel.from_xml_string(ROWS.format(integrator=integrator, forces=springs))
    elif kind == "pairs":
        mask = 'contype="0" conaffinity="0"'
        m = mujoco.MjModel.from_xml_string(PAIRS.format(integrator=integrator, cone=detail, condim=4, mask=mask))
    elif kind == "friction":
        m = mujoco.MjModel.from_xml_string(FRICTION_OF_ALL.format(integrator=integrator))
    elif kind == "servos":
        m = mujoco.MjModel.from_xml_string(SERVOS.format(integrator=integrator))
    else:
        m = mujoco.MjModel.from_xml_string(TENDON_SERVOS.format(integrator=integrator, kv=0))
    m.opt.tolerance, m.opt.jacobian = 0, 0  # dense
    return m


class Twin:
    """A batch of one world that takes the same steps as MuJoCo, each from MuJoCo's state."""

    def __init__(self, m: Any, arrays: list[str]):
        self.m, self.d = m, mujoco.MjData(m)
        self.batch = sapwood.Batch(sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco"), 1, options={"threads": 1})
        for name in arrays:  # recorded from now on
            getattr(self.batch, name)
        self.random = np.random.default_rng(5)
        self.d.qvel[:] = self.random.normal(size=m.nv) * 0.5

    def step(self) -> None:
        self.d.ctrl[:] = self.random.uniform(-1.2, 1.2, self.m.nu)
        if self.m.nu:
            self.batch.ctrl[:] = self.d.ctrl
        self.batch.qpos, self.batch.qvel = self.d.qpos, self.d.qvel
        self.start = np.array(self.batch.joint_q[0])
        mujoco.mj_step(self.m, self.d)
        self.batch.step()

    def rows_force(self, *types: int) -> Any:
        """J' f of the rows of these types."""
        chosen = np.isin(self.d.efc_type, types)
        return self.d.efc_J.reshape(self.d.nefc, self.m.nv)[chosen].T @ self.d.efc_force[chosen]

    def our_force(self, qfrc: Any) -> Any:
        return self.batch.model.imported.coordinates.joint_f(self.start, qfrc)

    def their_id(self, i: int) -> Any:
        """MuJoCo's efc_id in our numbers; the geoms of a contact."""
        d, m, imported = self.d, self.m, self.batch.model.imported
        kind, number = d.efc_type[i], d.efc_id[i]
        if kind == EQUALITY:
            return int(imported.constraint[number])
        if kind in (TENDON_FRICTION, TENDON_LIMIT):
            return int(imported.tendon[number])
        if kind == JOINT_LIMIT:
            return int(m.jnt_dofadr[number])
        return int(number) if kind < CONTACT else {int(g) for g in d.contact[number].geom}

    def our_id(self, i: int) -> Any:
        b, number = self.batch, int(self.batch.row_id[0, i])
        if b.row_type[0, i] < CONTACT:
            return number
        geom = {int(shape): g for g, shape in enumerate(b.model.imported.shape)}
        return {geom[int(b.contact_shape0[0, number])], geom[int(b.contact_shape1[0, number])]}


def near(ours: Any, theirs: Any, tolerance: float, what: str) -> None:
    theirs = np.asarray(theirs, float)
    scale = max(1.0, float(np.abs(theirs).max(initial=0)))
    assert np.abs(np.asarray(ours) - theirs).max(initial=0) <= tolerance * scale, f"{what}: {ours} is not {theirs}"


ROW_MODELS = ["pyramidal 3", "pyramidal 4", "pyramidal 6", "elliptic 1", "elliptic 3", "elliptic 6"]
ROW_MODELS += ["rows", "pairs elliptic", "pairs pyramidal", "friction", "servos", "tendon-servos"]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ROW_MODELS)
def test_rows_are_mujocos(name: str, integrator: str) -> None:
    twin = Twin(model(name, integrator), [*ROW_ARRAYS, "row_count", "row_active", "row_type", "row_id", "row_cost"])
    batch, d = twin.batch, twin.d
    for step in range(50):
        twin.step()
        n, what = d.nefc, f"step {step}"
        assert batch.row_count[0] == n and batch.row_active[0] == np.count_nonzero(d.efc_state), what
        assert np.array_equal(batch.row_type[0, :n], d.efc_type), what
        assert [twin.our_id(i) for i in range(n)] == [twin.their_id(i) for i in range(n)], what
        for array, theirs in ROW_ARRAYS.items():
            near(getattr(batch, array)[0, :n], theirs(d), 2e-12, f"{what}: {array}")
            assert not np.any(getattr(batch, array)[0, n:]), f"{what}: {array}"
        if name == "rows":
            assert n > 0


@pytest.mark.parametrize("integrator", ["Euler", "discrete"])
@pytest.mark.parametrize("name", ["pyramidal 4", "elliptic 3", "elliptic 6", "rows", "friction"])
def test_costs_of_rows_are_mujocos(name: str, integrator: str) -> None:
    """Their sum is MuJoCo's, times h^2; the rest of the cost is that of the change of velocity."""
    twin = Twin(model(name, integrator), ["row_cost"])
    m, d = twin.m, twin.d
    for _ in range(50):
        twin.step()
        cost, a = np.zeros(1), np.array(d.qacc)
        if integrator == "discrete":  # MuJoCo keeps the acceleration of the solve for the next start
            a = np.array(d.qacc_warmstart)
        before = np.array(d.efc_force), np.array(d.qfrc_constraint), np.array(d.efc_state)
        mujoco.mj_constraintUpdate(m, d, d.efc_J.reshape(d.nefc, m.nv) @ a - d.efc_aref, cost, 0)
        d.efc_force[:], d.qfrc_constraint[:], d.efc_state[:] = before
        near(np.sum(twin.batch.row_cost[0]), cost[0] * m.opt.timestep**2, 1e-12, "cost")
        assert np.all(twin.batch.row_cost >= 0) and np.sum(twin.batch.row_cost) <= twin.batch.cost[0] * (1 + 1e-12)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "discrete"])
@pytest.mark.parametrize("name", ROW_MODELS)
def test_forces_on_dofs_are_mujocos(name: str, integrator: str) -> None:
    if (name, integrator) == ("tendon-servos", "discrete"):
        pytest.skip("such servos are lost")
    arrays = [f"joint_{part}_force" for part in ("constraint", "limit", "friction", "drive")] + ["joint_torque"]
    twin, used = Twin(model(name, integrator), arrays), np.zeros(4)
    batch = twin.batch
    for step in range(50):
        twin.step()
        limits, friction = twin.rows_force(JOINT_LIMIT), twin.rows_force(DOF_FRICTION)
        theirs = twin.d.qfrc_constraint, limits, friction, twin.d.qfrc_actuator
        for k, (array, force) in enumerate(zip(arrays, theirs)):
            motors = batch.joint_f[0] if array == "joint_drive_force" else 0  # an import has them in joint_f
            near(getattr(batch, array)[0] + motors, twin.our_force(force), 3e-12, f"step {step}: {array}")
            used[k] += np.any(force)
        near(batch.joint_torque[0], twin.our_force(sum(theirs[1:])), 3e-12, f"step {step}: joint_torque")
    assert used[0] or name in ("servos", "tendon-servos")
    assert used[3] or name not in ("servos", "tendon-servos", "elliptic 3")
    assert (used[1] and used[2]) or name not in ("friction", "elliptic 3")


def test_forces_on_dofs_of_rk4_are_those_of_its_last_stage() -> None:
    twin = Twin(model("elliptic 3", "RK4"), ["joint_constraint_force", "joint_limit_force", "joint_drive_force"])
    scalar = np.isin(twin.m.jnt_type[twin.m.dof_jntid], (2, 3))  # others refer to the pose of the stage
    for _ in range(50):
        twin.step()
        near(twin.batch.joint_constraint_force[0, scalar], twin.d.qfrc_constraint[scalar], 3e-12, "constraints")
        near(twin.batch.joint_limit_force[0, scalar], twin.rows_force(JOINT_LIMIT)[scalar], 3e-12, "limits")
        drive = (twin.batch.joint_f + twin.batch.joint_drive_force)[0, scalar]
        near(drive, twin.d.qfrc_actuator[scalar], 3e-12, "actuators")


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize("name", ["rows", "friction", "tendon-servos"])
def test_tendons_are_mujocos(name: str, integrator: str) -> None:
    parts = ["limit", "spring", "damper", "friction", "drive"]
    twin = Twin(model(name, integrator), ["tendon_length", "tendon_force", *(f"tendon_{part}_force" for part in parts)])
    m, d, batch = twin.m, twin.d, twin.batch
    used = set()
    for step in range(110):
        twin.step()
        ours = {part: getattr(batch, f"tendon_{part}_force")[0] for part in parts}
        near(batch.tendon_length[0], d.ten_length, 1e-12, "length")
        for part, kind in (("limit", TENDON_LIMIT), ("friction", TENDON_FRICTION)):
            force = np.zeros(m.ntendon)
            for i in np.flatnonzero(d.efc_type == kind):
                t = d.efc_id[i]
                first = m.tendon_adr[t]  # its first joint says whether J is that of the length or its negative
                J = d.efc_J.reshape(d.nefc, m.nv)[i, m.jnt_dofadr[m.wrap_objid[first]]]
                force[t] += np.sign(J * m.wrap_prm[first]) * d.efc_force[i]
            near(ours[part], force, 3e-12, f"step {step}: {part}")
            used |= {part} if np.any(force) else set()
        low, high = m.tendon_lengthspring.T
        stretch = np.maximum(d.ten_length - high, 0) - np.maximum(low - d.ten_length, 0)
        near(ours["spring"], -m.tendon_stiffness * stretch, 1e-12, "spring")
        near(ours["damper"], -m.tendon_damping * d.ten_velocity, 1e-12, "damper")
        near(batch.tendon_force[0], sum(ours.values()), 1e-12, "sum")
    assert name == "tendon-servos" or used == {"limit", "friction"}


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "discrete"])
def test_constraints_are_mujocos_equalities(integrator: str) -> None:
    """Rows of a weld: the rotation, which MuJoCo has last, is first."""
    names = ["constraint_impulse", "constraint_error", "constraint_residual", "constraint_velocity"]
    twin = Twin(model("rows", integrator), names)
    m, d, batch = twin.m, twin.d, twin.batch
    for _ in range(50):
        twin.step()
        chosen = np.flatnonzero(d.efc_type == EQUALITY)
        order: list[int] = []
        for c in range(m.neq):
            rows = [int(i) for i in chosen if d.efc_id[i] == c]
            order += rows[3:] + rows[:3] if m.eq_type[c] == mujoco.mjtEq.mjEQ_WELD else rows
        near(batch.constraint_error[0], d.efc_pos[order], 1e-12, "error")
        near(batch.constraint_impulse[0], d.efc_force[order] * m.opt.timestep, 3e-12, "impulse")
        near(batch.constraint_residual[0], np.abs(d.efc_pos[order]).max(), 1e-12, "residual")


GROUPS = ("contact_", "constraint_", "tendon_", "row_", "joint_", "body_contact_", "body_constraint_")
REPORTS = [name for name in FIELDS if name.startswith(GROUPS)]
# Records of contacts, whose unused entries are those of earlier contacts.
RECORDS = ("shape0", "shape1", "point0", "point1", "normal", "margin0", "margin1", "body0", "body1")
KEPT = tuple(f"contact_{name}" for name in RECORDS)


@pytest.mark.parametrize("name", ["elliptic 3", "pyramidal 4", "rows", "friction"])
def test_reports_are_those_of_a_fresh_batch_at_the_same_state(name: str) -> None:
    """A batch that has stepped for long, with other contacts and rows, reports nothing of that."""
    imported = sapwood.Model.from_mjmodel(model(name, "implicitfast"), quiet=True, law="mujoco")
    old, fresh = (sapwood.Batch(imported, 3, options={"threads": 1}) for _ in range(2))
    random, compared = np.random.default_rng(3), 0
    arrays = [array for array in REPORTS if array not in KEPT]
    for array in arrays:
        getattr(old, array), getattr(fresh, array)
    old.perturb(0.05)
    state = old.get_state()
    old.qvel = random.normal(size=old.qvel.shape)
    old.step(150)
    for batch in (old, fresh):
        batch.set_state(state)
        batch.step()
    for array in arrays:
        ours = getattr(fresh, array)
        assert np.array_equal(getattr(old, array), ours, equal_nan=True), array
        compared += bool(np.any(ours))
    assert compared > 12


def test_contacts_in_their_gap_have_a_distance_and_no_force() -> None:
    m = model("friction", "Euler")
    imported = sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco")
    batch, d = sapwood.Batch(imported, 1), mujoco.MjData(m)
    names = ("contact_force", "contact_gap", "contact_position", "row_force", "body_contact_wrench")
    arrays = [getattr(batch, name) for name in names]
    ball = int(imported.imported.body[3])
    batch.step(200)
    assert abs(arrays[4][0, ball, 2] - 0.5 * m.body_mass[3] * 9.81) < 0.1  # it rests; half of it is carried
    q = np.array(m.qpos0)
    q[m.jnt_qposadr[2] + 2] = 0.057  # above the margin, within the gap
    d.qpos[:] = q
    batch.qpos, batch.qvel = q, np.zeros(m.nv)
    mujoco.mj_forward(m, d)
    batch.step()
    (contact,) = [c for c in d.contact if 1 <= c.geom[1] and c.geom[1] == m.body_geomadr[3]]
    assert contact.efc_address < 0  # MuJoCo lists it too, without rows
    (k,) = np.flatnonzero(batch.contact_shape1[0, : batch.contact_count[0]] == imported.imported.shape[contact.geom[1]])
    assert not np.any(arrays[0][0, k]) and not np.any(arrays[4][0, ball])
    assert abs(arrays[1][0, k] - contact.dist) < 1e-12
    assert np.abs(arrays[2][0, k] - contact.pos).max() < 1e-12


def test_reports_that_have_no_meaning_say_why() -> None:
    imported = sapwood.Model.from_mjmodel(model("elliptic 3", "Euler"), quiet=True, law="mujoco")
    batch = sapwood.Batch(imported, 1)
    refused = {}
    for name in FIELDS:
        try:
            getattr(batch, name)
        except sapwood.SapwoodError as error:
            refused[name] = str(error)
    assert set(refused) == {"cache_key", "cache", "tree_asleep", "tree_rest"}
    assert "steps start from the accelerations of the last step" in refused["cache"]
    assert "worlds do not sleep" in refused["tree_rest"]
