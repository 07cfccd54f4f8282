"""bench/suite: the files that are there are measured beside MuJoCo, with the controls of a replay, and agree."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "bench" / "suite"

LEG = """<mujoco><option timestep="0.005"/><worldbody>{floor}
 <body pos="0 0 0.29"><freejoint/><geom size="0.1"/><body><joint name="leg" axis="0 1 0" damping="1"/>
 <geom type="capsule" fromto="0 0 0 0 0.1 -0.25" size="0.05"/></body></body></worldbody>
 <actuator><position joint="leg" kp="20" ctrlrange="-1 1"/></actuator>
 <keyframe><key qpos="0 0 0.29 1 0 0 0 0.1" ctrl="0.1"/></keyframe></mujoco>"""
FLOOR = '<geom type="plane" size="5 5 1"/>'


def write(folder, file, text):
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)


def write_replay(path, height):
    """A replay of 0.2 s that starts with the robot at a height; the control steps from 0 to 0.5 after 0.1 s."""
    path.parent.mkdir(exist_ok=True)
    qpos = np.tile([0, 0, height, 1, 0, 0, 0, 0.1], (2, 1))
    np.savez(path, times=np.array([0.0, 0.1]), ctrl=np.array([[0.0], [0.5]]), qpos=qpos, qvel=np.zeros((2, 7)))


def run(folder, *arguments):
    command = [sys.executable, str(SUITE), str(folder), "--worlds", "8", "--steps", "40", "--repeat", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)  # PYTHONPATH may be relative


def module():
    loader = importlib.machinery.SourceFileLoader("suite", str(SUITE))
    spec = importlib.util.spec_from_loader("suite", loader)
    found = importlib.util.module_from_spec(spec)
    sys.modules["suite"] = found
    loader.exec_module(found)
    return found


def test_the_suite_measures_the_files_that_are_there_and_names_the_others(tmp_path):
    write(tmp_path, "humanoid/humanoid.xml", LEG.format(floor=FLOOR))
    write(tmp_path, "franka_emika_panda/scene.xml", "<mujoco><asset><mesh file='no.obj'/></asset></mujoco>")
    write(tmp_path, "unitree_g1/scene_flat.xml", LEG.format(floor=FLOOR))  # without its replay
    done = run(tmp_path, "--json", str(tmp_path / "rows.json"))
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert list(rows) == ["humanoid"]
    row = rows["humanoid"]
    assert row["dofs"] == 7 and row["failed"] == {"mujoco32": 0, "fast32": 0}
    for preset in ("mujoco32", "fast32"):
        assert np.isclose(row["ratio"][preset], row["speed"][preset] / row["speed"]["MuJoCo"])
        assert np.isclose(row["cores"][preset], row["card"] / row["speed"][preset])
    assert "Panda: not measured: Error" in done.stdout and "no.obj" in done.stdout
    assert "G1 flat: not measured, because unitree_g1/shuffle_dance.npz is not in the folder." in done.stdout
    assert "ALOHA pot: not measured, because aloha/scene_pot.xml is not in the folder." in done.stdout
    assert "f76464fa" in done.stdout  # of which commit the card's figures are


def test_contacts_rows_and_iterations_of_the_suite_agree_with_mujoco(tmp_path):
    write(tmp_path, "humanoid/humanoid.xml", LEG.format(floor=FLOOR))
    run(tmp_path, "--json", str(tmp_path / "rows.json"))
    row = json.loads((tmp_path / "rows.json").read_text())["humanoid"]
    assert row["differ"] == [] and row["MuJoCo"]["contacts"] > 0.5 and row["MuJoCo"]["iterations"] > 0.5
    for key, value in row["MuJoCo"].items():
        assert np.isclose(row["ours"][key], value, rtol=0.01), key


def test_the_suite_says_what_does_not_agree():
    suite = module()
    theirs = {"contacts": 8.6, "rows": 33.6, "iterations": 3.28}
    assert suite.differing(theirs, dict(theirs)) == []
    assert suite.differing(theirs, {"contacts": 5.9, "rows": 33.0, "iterations": 3.6}) == ["contacts", "iterations"]
    assert suite.differing({"contacts": 0.0}, {"contacts": 0.05}) == []
    assert suite.differing({"contacts": 0.0}, {"contacts": 0.5}) == ["contacts"]


def test_a_replay_of_the_suite_sets_the_state_and_the_controls(tmp_path):
    suite, model = module(), mujoco.MjModel.from_xml_string(LEG.format(floor=FLOOR))
    write_replay(tmp_path / "replay.npz", 7.0)
    start = suite.start_of(model, tmp_path / "replay.npz", 3, 1000)
    assert start.ctrl.shape == (3, 40, 1) and start.data.qpos[2] == 7.0
    keep = np.exp(-0.005 / 0.1)  # controls approach those of the replay
    expected = np.r_[np.zeros(20), 0.5 * (1 - keep ** np.arange(1, 21))]
    assert np.max(np.abs(start.ctrl - expected[:, None])) < 0.03
    assert np.std(start.ctrl[:, -1]) > 0  # worlds differ


def test_the_suite_starts_worlds_where_the_replay_does(tmp_path):
    """The robot of the replay is in the air, that of the keyframe on the floor."""
    for name in ("unitree_g1/scene_flat.xml", "humanoid/humanoid.xml"):
        write(tmp_path, name, LEG.format(floor=FLOOR))
    write_replay(tmp_path / "unitree_g1" / "shuffle_dance.npz", 7.0)
    done = run(tmp_path, "--json", str(tmp_path / "rows.json"))
    rows = json.loads((tmp_path / "rows.json").read_text())
    for who in ("MuJoCo", "ours"):
        assert rows["G1 flat"][who]["contacts"] == 0 < rows["humanoid"][who]["contacts"], done.stdout


def test_the_suite_refuses_a_folder_or_a_number_that_it_cannot_use(tmp_path):
    assert "folder '/no/such' does not exist" in run("/no/such").stderr
    assert "--steps is 0; it must be at least 1" in run(tmp_path, "--steps", "0").stderr
    assert "no case has 'cow' in its name; they are humanoid" in run(tmp_path, "--only", "cow").stderr
