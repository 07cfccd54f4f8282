"""What the program does through this package: robots in MJCF and URDF, and pages."""

import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("mujoco")

ROBOT = """<mujoco model="hinge"><worldbody><body name="arm"><joint name="h"/><geom size="0.1" pos="1 0 0"/></body>
  </worldbody><option density="1.2"/></mujoco>"""
URDF = """<robot name="arm"><link name="base"/><link name="arm"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="1" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="swing" type="continuous">
  <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


def run(program, *arguments, **environment):
    environment = {**os.environ, "SAPWOOD_PYTHON": sys.executable, **environment}
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=environment)


def test_the_program_runs_an_mjcf_file_and_says_what_is_lost(program, tmp_path):
    (tmp_path / "robot.xml").write_text(ROBOT)
    done = run(program, "run", "robot.xml", "--worlds", "2", "--steps", "5", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "hinge: bodies 1, dofs 1" in done.stdout and "lost: option 'density'" in done.stderr
    assert os.listdir(tmp_path) == ["robot.xml"]


def test_the_program_keeps_the_loops_and_tendons_of_an_mjcf_file(program, tmp_path):
    tendon = '<tendon><fixed name="cable" damping="2"><joint joint="h" coef="3"/></fixed></tendon>'
    loop = '<equality><connect name="pin" body1="arm" anchor="1 0 0"/></equality>'
    (tmp_path / "robot.xml").write_text(ROBOT.replace("</mujoco>", f"{tendon}{loop}</mujoco>"))
    done = run(program, "info", "robot.xml")
    assert done.returncode == 0, done.stderr
    assert "pin: ball, arm, world" in done.stdout and "cable: fixed" in done.stdout


LAW = """<mujoco><option timestep="0.004" integrator="implicitfast" cone="elliptic" impratio="3" tolerance="0"/>
 <worldbody><geom type="plane" size="5 5 1" friction="0.4" solref="0.01 0.9"/>
 <body pos="0 0 0.5"><freejoint/><geom type="capsule" size="0.05 0.2" euler="0 50 0" solimp="0.8 0.9 0.01"/>
  <body pos="0.2 0 0"><joint name="j" axis="0 1 0" range="-30 20" stiffness="3" springref="10" frictionloss="0.1"/>
   <geom type="sphere" size="0.06" pos="0.2 0 0"/></body></body></worldbody>
 <actuator><general joint="j" gainprm="2" biastype="affine" biasprm="0.3 -1 -0.2"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    "choice", [["--preset", "mujoco64"], ["--preset", "approx64", "--set", "contact_solver=mujoco"]]
)
def test_a_robot_under_mujocos_law_follows_mujoco(program, tmp_path, choice):
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "robot.xml").write_text(LAW)
    done = run(program, "run", "robot.xml", *choice, "--noise", "0", "--steps", "150", "--trajectory", "robot.csv")
    assert done.returncode == 0, done.stderr
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    d = mujoco.MjData(m)
    rows = [[float(x) for x in line.split(",")] for line in (tmp_path / "robot.csv").read_text().splitlines()[1:]]
    for row in rows[1:]:
        mujoco.mj_step(m, d)
        quaternion = np.roll(d.qpos[3:7], -1)
        ours = np.array(row[2 : 2 + m.nq])
        assert np.abs(ours - [*d.qpos[:3], *quaternion, *d.qpos[7:]]).max() < 1e-10
    assert len(rows) == 151 and d.ncon > 0


def test_the_program_shows_a_urdf_file(program, tmp_path):
    (tmp_path / "robot.urdf").write_text(URDF)
    done = run(program, "info", "robot.urdf")
    assert done.returncode == 0, done.stderr
    assert "swing" in done.stdout and "revolute" in done.stdout


@pytest.mark.parametrize("python", ["no-such-python", "false"])
def test_without_the_package_the_program_says_what_to_do(program, tmp_path, python):
    (tmp_path / "robot.xml").write_text(ROBOT)
    done = run(program, "info", "robot.xml", SAPWOOD_PYTHON=python, TMPDIR=str(tmp_path))
    assert done.returncode == 2
    assert "pip install 'sapwood[mujoco]'" in done.stderr and python in done.stderr
    assert os.listdir(tmp_path) == ["robot.xml"]


def test_a_robot_that_is_wrong_or_missing_is_named(program, tmp_path):
    (tmp_path / "robot.xml").write_text("<mujoco><worldbdy/></mujoco>")
    done = run(program, "info", "robot.xml")
    assert done.returncode == 2 and "worldbdy" in done.stderr
    done = run(program, "info", "other.xml")
    assert done.returncode == 2 and "other.xml" in done.stderr and "No such file" in done.stderr


@pytest.mark.parametrize("name, meant", [("quadrupde", "quadruped"), ("cartpol", "cartpole")])
def test_an_unknown_scene_gives_the_nearest_and_where_was_looked(program, name, meant):
    done = run(program, "info", name)
    assert done.returncode == 2
    assert f"'{name}' (did you mean '{meant}'?)" in done.stderr and "bench/scenes" in done.stderr


def test_a_replay_is_a_page_of_the_same_run(program, tmp_path, monkeypatch):
    pytest.importorskip("viser")
    options = ["--steps", "30", "--noise", "0.3", "--seed", "5", "--preset", "drake", "--set", "near_rigid=0.5"]
    done = run(program, "run", "quadruped", "--worlds", "3", *options, "--replay", "walk.html", "--json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "walk.html").stat().st_size > 500_000

    from sapwood import __main__, shipped, view

    seen = []
    monkeypatch.setattr(view, "html", lambda model, frames, path: seen.extend(frames))
    scene = str(shipped.scene_path("quadruped"))
    monkeypatch.setattr(sys, "argv", ["sapwood", "page", scene, "walk.html", "--worlds", "3", *options])
    assert __main__.main() == 0 and len(seen) == 9, "the start, and a picture every 0.02 s"
    done = run(
        program, "run", "quadruped", "--worlds", "3", *options, "--trajectory", "1.csv", "--trajectory-world", "1"
    )
    names, *_, last = (line.split(",") for line in (tmp_path / "1.csv").read_text().splitlines())
    height = next(i for i, name in enumerate(names) if name.endswith(".pz"))
    assert np.allclose(seen[-1].body_q[1, 0, 2], float(last[height]), rtol=0, atol=1e-12)


def test_a_replay_without_the_package_says_what_to_do(program):
    done = run(program, "run", "cube", "--steps", "2", "--replay", "cube.html", SAPWOOD_PYTHON="no-such-python")
    assert done.returncode == 2 and "--replay" in done.stderr and "pip install 'sapwood[view]'" in done.stderr
