"""The demos: each shows what it says, and a page of it can be opened."""

import os
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

from sapwood import demo

from conftest import ROOT

pytest.importorskip("gymnasium")
pytest.importorskip("viser")


def after(name, pictures, worlds=None):
    show = demo.open(name, worlds)
    for _ in range(pictures):
        show.step()
    return show.outcome()


def test_the_policy_of_the_package_walks_at_the_commanded_speed():
    seen = after("walk", 500)
    assert seen["walking"] >= 0.95 * 256, "for 10 s"
    assert seen["speed_m_per_s"] == pytest.approx(0.6, abs=0.1)


def test_the_policy_of_the_package_is_small():
    assert (ROOT / "python/sapwood/demo/walk.npz").stat().st_size < 5000


def test_the_policy_walks_on_ground_that_it_has_not_seen():
    seen = after("terrain", 250)
    assert seen["walking"] >= 12 and seen["speed_m_per_s"] > 0.4


def test_figures_fall_and_come_to_rest_above_the_ground():
    seen = after("humanoid", 300)
    assert seen["lying"] == 16 and seen["failed"] == 0 and seen["lowest_m"] > 0.0


def test_every_gripper_lifts_its_cube_to_the_goal():
    assert after("gripper", 100) == {"at_goal": 25, "failed": 0}


def test_machines_of_closed_chains_walk_and_their_loops_stay_closed():
    seen = after("loops", 250)
    assert seen["way_m"] > 0.1 and seen["error_m"] < 1e-3 and seen["failed"] == 0


def test_a_stack_of_ten_stands_under_six_solvers():
    """The gaps between the boxes add up to 10 mm; what more it sinks is compliance."""
    early, late = after("stack", 100), after("stack", 200)
    assert list(late) == list(demo.SOLVERS) and len(late) == 6
    for name, sunk in late.items():
        assert 0.0095 < sunk < 0.02, name
        assert abs(sunk - early[name]) < 1e-4, f"{name} is at rest"


def test_one_world_fails_and_its_dump_repeats_the_failure():
    assert after("failure", 40) == {"failed": 0, "replayed_with_the_same_bits": 0}
    assert after("failure", 80) == {"failed": 1, "replayed_with_the_same_bits": 1}


def test_a_picture_of_several_batches_has_the_worlds_of_each_in_turn():
    show = demo.open("stack", 2)
    show.frame()  # forces are recorded from here on
    for _ in range(60):
        show.step()
    frame, weight = show.frame(), 9.81 * demo.BOXES
    assert frame.body_q.shape == (12, demo.BOXES, 7)
    for k, batch in enumerate(show.batches):
        assert np.array_equal(frame.body_q[2 * k : 2 * k + 2], np.array(batch.body_q, np.float64)), show.names[k]
    ground = frame.force_at[:, 2] < 0.01
    for world in range(12):
        carried = frame.force[ground & (frame.force_world == world), 2].sum()
        assert carried == pytest.approx(weight, rel=0.05), "the forces of a stack are those of its own world"


def test_an_unknown_demo_gives_the_nearest():
    with pytest.raises(ValueError, match="demo is 'wlak'; did you mean 'walk'"):
        demo.open("wlak")


def run(*command):
    environment = {**os.environ, "SAPWOOD_PYTHON": sys.executable}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def test_the_program_and_the_package_list_the_same_demos(program):
    listed = run(program, "demo", "--list")
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(demo.DEMOS)
    assert run(sys.executable, "-m", "sapwood", "demo", "--list").stdout == listed.stdout


def test_the_program_writes_the_page_of_a_demo(program, tmp_path):
    page = tmp_path / "loops.html"
    done = run(program, "demo", "loops", "--page", str(page), "--worlds", "2", "--seconds", "0.2")
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 500_000 and page.as_uri() in done.stdout and "way_m" in done.stdout


def test_the_live_page_answers_and_has_all_worlds(monkeypatch, capsys):
    from sapwood import __main__, view

    seen = []
    show = view.Viewer.show

    def look(viewer, batch):
        show(viewer, batch)
        if not seen:
            seen.append((batch.num_worlds, urllib.request.urlopen(viewer.url, timeout=20).status))

    monkeypatch.setattr(view.Viewer, "show", look)
    command = ["sapwood", "demo", "--no-browser", "--seconds", "0.1", "--port", "8931"]
    monkeypatch.setattr(sys, "argv", command)
    assert __main__.main() == 0
    assert seen == [(256, 200)]
    assert "http://" in capsys.readouterr().out


def test_ctrl_c_ends_a_demo_with_its_numbers(program):
    command = [program, "demo", "loops", "--no-browser", "--port", "8932"]
    environment = {**os.environ, "SAPWOOD_PYTHON": sys.executable}
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    while "http://" not in (line := running.stdout.readline()):
        assert line, running.stderr.read()
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the program and to its child
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0 and "way_m" in out and "Traceback" not in err, out + err
