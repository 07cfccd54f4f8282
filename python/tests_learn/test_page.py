"""A page in a headless Chromium: it is not blank, the robot moves, and nothing goes to the console as an error."""

import shutil
import subprocess

import numpy as np
import pytest

import sapwood
from sapwood import view

imageio = pytest.importorskip("imageio.v3")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


def picture(page, out, milliseconds):
    """The page after some time, and what the browser wrote to its console."""
    command = [
        BROWSER,
        "--headless=new",
        "--no-sandbox",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--window-size=800,600",
        "--enable-logging=stderr",
        f"--virtual-time-budget={milliseconds}",
        f"--screenshot={out}",
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return imageio.imread(out)[:, :, :3].astype(int), [x for x in done.stderr.splitlines() if "CONSOLE" in x]


@pytest.mark.skipif(BROWSER is None, reason="needs chromium")
def test_a_page_shows_a_robot_that_moves(tmp_path):
    model = sapwood.scene("quadruped")
    frames = []
    with sapwood.Batch(model, 4, threads=1) as batch:
        for step in range(300):
            batch.joint_target_pos[:, 6:] = model.joint_q[7:] + 0.5 * np.sin(0.1 * step)
            batch.step(4)
            frames.append(view.capture(batch, 4))
    view.html(model, frames, tmp_path / "page.html")
    early, console = picture(tmp_path / "page.html", tmp_path / "early.png", 8000)
    late, more = picture(tmp_path / "page.html", tmp_path / "late.png", 9000)
    scene = np.s_[150:550, 200:600]  # the middle, without the controls
    assert early[scene].std() > 5, "it is not blank"
    assert (np.abs(early[scene] - late[scene]).max(axis=2) > 30).sum() > 50, "something moves"
    assert not [line for line in console + more if "ERROR:CONSOLE" in line or "SEVERE" in line]
