"""The robots of gymnasium, in motion."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import sapwood
from sapwood.batch import FAILED

from conftest import ROOT
from test_equalities import ACTUATORS, DRIVERS, FOUR_BAR
from test_import import ANYMAL_FOOT, CONTROLLED, DRONE, LEAVES, LOSSES, SOFT
from test_mjcf import DRIVES, NAMES, ROBOTS, robot

mujoco = pytest.importorskip("mujoco")


@pytest.mark.parametrize("preset", ["approx32", "approx64", "drake"])
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("humanoidstandup", "point", "inverted_pendulum")])
def test_random_actions_for_1000_steps_in_64_worlds_fail_nowhere(name, preset, rng):
    model = sapwood.Model.from_mjmodel(robot(name))
    actuation = model.imported.actuation
    lower, upper = np.clip(actuation.ctrl_range, -1, 1).T
    failed = 0
    with sapwood.Batch(model, 64, preset=preset) as batch:
        for _ in range(1000):
            batch.set_ctrl(rng.uniform(lower, upper, (64, actuation.num_controls)))
            batch.step()
            failed |= batch.status & FAILED
        assert not np.any(failed)
        assert np.all(np.isfinite(batch.joint_q))


def unforced(name):
    """A robot high above the ground without what our drives and limits do in their own way."""
    m = robot(name)
    m.jnt_limited[:] = 0
    m.dof_frictionloss[:] = 0
    m.jnt_stiffness[:] = 0
    m.opt.density = m.opt.viscosity = 0
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    return m


def distance_after(m, h, duration, qpos, qvel):
    """Between our coordinates after `duration` in steps of h and MuJoCo's in much finer ones."""
    model = sapwood.Model.from_mjmodel(m)
    q = model.imported.coordinates.joint_q(qpos)
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.joint_q[0], batch.joint_qd[0] = q, model.imported.coordinates.joint_qd(q, qvel)
        batch.step(round(duration / h), h)
        ours = model.imported.coordinates.qpos(batch.joint_q[0])
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = qpos, qvel
    m.opt.timestep = 1e-4
    for _ in range(round(duration / 1e-4)):
        mujoco.mj_step(m, d)
    return float(np.max(np.abs(ours - d.qpos)))


@pytest.mark.parametrize(
    "name", ["ant", "humanoid", "half_cheetah", "hopper", "walker2d", "swimmer", "pusher_v5", "reacher"]
)
def test_unforced_motion_follows_mujoco_to_the_order_of_the_step(name, rng):
    m = unforced(name)
    qpos = np.array(m.qpos0) + 0.2 * rng.normal(size=m.nq)
    mujoco.mj_normalizeQuat(m, qpos)
    qvel = 0.5 * rng.normal(size=m.nv)
    coarse, fine = (distance_after(m, h, 0.1, qpos, qvel) for h in (2e-3, 5e-4))
    assert fine < 0.02
    assert coarse / fine == pytest.approx(4, rel=0.25) or coarse < 1e-9


def test_a_sliding_box_stops_where_that_of_mujoco_does():
    m = mujoco.MjModel.from_xml_string("""
        <mujoco><option timestep="0.002" cone="elliptic" impratio="100"/><worldbody>
          <geom type="plane" size="9 9 1" friction="0.4"/>
          <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.2 0.1" friction="0.1"/></body>
        </worldbody></mujoco>""")
    d, model = mujoco.MjData(m), sapwood.Model.from_mjmodel(m)
    d.qvel[0] = 2
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.joint_qd[0, 0] = 2
        batch.step(500)
        for _ in range(500):
            mujoco.mj_step(m, d)
        expected = 2**2 / (2 * 0.4 * 9.81)
        assert d.qpos[0] == pytest.approx(expected, rel=0.05)
        assert batch.joint_q[0, 0] == pytest.approx(d.qpos[0], rel=0.03)


def test_a_pendulum_with_a_spring_and_limits_rests_where_that_of_mujoco_does():
    m = mujoco.MjModel.from_xml_string("""
        <mujoco><compiler angle="radian"/><option timestep="0.002"/><worldbody>
          <body><joint name="a" axis="0 1 0" stiffness="3" springref="0.5" damping="20"/><geom size="0.1" pos="0.5 0 0"/>
            <body pos="1 0 0"><joint name="b" axis="0 1 0" range="-0.3 0.3" damping="20" limited="true"/>
              <geom size="0.1" pos="0.5 0 0"/></body></body>
        </worldbody><actuator><position joint="a" kp="20" ctrlrange="-1 1"/></actuator></mujoco>""")
    d, model = mujoco.MjData(m), sapwood.Model.from_mjmodel(m)
    d.ctrl[0] = 0.7
    with sapwood.Batch(model, 1, preset="approx64") as batch:
        batch.set_ctrl([[0.7]])
        batch.step(10000)
        for _ in range(10000):
            mujoco.mj_step(m, d)
        assert np.max(np.abs(d.qvel)) < 1e-3 and np.max(np.abs(batch.joint_qd)) < 1e-3
        assert np.allclose(batch.joint_q[0], d.qpos, atol=5e-3)


# ---- bench/robots ----

KINDS = {
    "soft": SOFT.format(cone="elliptic", impratio=100, foot=ANYMAL_FOOT, floor=""),
    "pyramid": SOFT.format(cone="pyramidal", impratio=1, foot='friction="0.6"', floor=""),
    "leaves": LEAVES,
    "drone": DRONE,
    "controlled": CONTROLLED,
    "drives": DRIVES,
    "four_bar": FOUR_BAR,
    "tendons": ACTUATORS.format("".join(DRIVERS.values())),
    "losses": LOSSES,
    "broken": "<mujoco><worldbody/></mujoco>",
}


def run_bench(folder, out, *arguments):
    """The rows and the table of bench/robots."""
    command = [sys.executable, str(ROOT / "bench" / "robots"), str(folder), "--json", str(out), "--preset", "approx64"]
    text = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True).stdout
    return json.loads(out.read_text()), text


def test_the_script_over_robots_shows_what_each_kind_of_element_does(tmp_path):
    for name, xml in KINDS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "scene.xml").write_text(xml)
    rows, table = run_bench(tmp_path, tmp_path / "rows.json", "--worlds", "4", "--steps", "50", "--settle", "2")
    rows = {name.split("/")[0]: row for name, row in rows.items()}
    assert rows.keys() == KINDS.keys() and "no joint" in rows.pop("broken")["loads"]
    assert {name: row["lost"] for name, row in rows.items() if row["lost"]} == {"losses": {"joint": 1, "tendon": 2}}
    assert all(row["loads"] == "ok" and row["failed"] == 0 and row["ratio"] > 0 for row in rows.values())
    for name in ("soft", "pyramid", "controlled"):
        assert rows[name]["rest mm"] < 0.05 and rows[name]["law mm"] < 0.05, name
    assert (
        rows["four_bar"]["rest mm"] < 1 and rows["four_bar"]["rest rad"] < 0.01
    )  # its loop is loaded by more than one g
    assert table.count("\n") == 2 + len(KINDS)


@pytest.mark.parametrize("name", ["hopper", "walker2d", "reacher", "half_cheetah"])
def test_robots_of_gymnasium_rest_where_those_of_mujoco_do_or_the_reason_is_measured(name, tmp_path):
    shutil.copy(ROBOTS / f"{name}.xml", tmp_path)
    rows, table = run_bench(tmp_path, tmp_path / "rows.json", "--worlds", "2", "--steps", "5")
    row = rows[name]
    assert not row["lost"]
    if name == "half_cheetah":  # two contacts carry half of the weight each, on ground that is nearly soft at no load
        assert row["law mm"] > 2 and "load of contacts" in table
    else:
        assert row["rest mm"] < 1 and row["rest rad"] < 0.01


STRAIGHT = """<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 0.299"><freejoint/>
 <geom type="box" size="0.1 0.1 0.1"/><body><joint name="leg" axis="0 1 0" damping="1"/>
 <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.05"/></body></body></worldbody>
 <actuator><motor joint="leg"/></actuator></mujoco>"""
DIVERGES = """<mujoco><option timestep="0.1"/><worldbody><body><joint name="j" axis="0 1 0"/>
 <geom type="sphere" size="0.1"/></body></worldbody>
 <actuator><general joint="j" gainprm="1e200" biastype="none" ctrlrange="0.5 1"/></actuator></mujoco>"""
MESH = """<mujoco><asset><mesh name="m" file="away/m.obj"/></asset><worldbody><body><freejoint/>
 <geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
CORNERS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def test_the_script_compares_the_worlds_that_fail_with_both_laws(tmp_path):
    """An upright capsule fails nowhere; a robot that MuJoCo cannot step either is no fault of ours."""
    for name, xml in {"straight": STRAIGHT, "diverges": DIVERGES, "mesh": MESH, "broken": "<mujoco/>"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "scene.xml").write_text(xml)
        (tmp_path / name / f"{name}.xml").write_text("no model: a part of the scene")
    (tmp_path / "mesh" / "meshes").mkdir()
    (tmp_path / "mesh" / "meshes" / "m.obj").write_text(CORNERS)
    arguments = ("--laws", "--worlds", "3", "--steps", "40")
    rows, table = run_bench(tmp_path, tmp_path / "rows.json", *arguments)
    assert sorted(rows) == ["broken/scene", "diverges/scene", "mesh/scene", "straight/scene"]
    straight, diverges, mesh = (rows[f"{name}/scene"] for name in ("straight", "diverges", "mesh"))
    for row in (straight, mesh):
        assert row["failed"] == {"sap": {}, "mujoco": {}} and not any(row["lost"].values())
    assert straight["error"] < 1e-9 and straight["alike"] > 0
    assert len(diverges["failed"]["mujoco"]) == 3 and diverges["alone"] == {"sap": [], "mujoco": []}
    assert "4 files: 3 robots, 1 models without a joint, 0 files" in table
    assert "mujoco: 3 worlds fail, 0 of them where MuJoCo's does not." in table
