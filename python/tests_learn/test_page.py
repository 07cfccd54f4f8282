"""A page in a headless Chromium: it is not blank, the robot moves, and nothing goes to the console as an error."""

import base64
import json
import shutil
import subprocess
import threading
import time
import urllib.request

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


class Tab:
    """A page that stays open, through the browser's own protocol: what it shows now, and the errors of its console."""

    def __init__(self, url, folder):
        from websockets.sync.client import connect

        flags = ["--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        place = ["--remote-debugging-port=0", f"--user-data-dir={folder}", "--window-size=800,600", url]
        self.browser = subprocess.Popen([BROWSER, *flags, *place], stderr=subprocess.DEVNULL)
        port = until(lambda: (folder / "DevToolsActivePort").read_text().split()[0])
        pages = until(lambda: [x for x in self.pages(port) if x["type"] == "page"] or None)
        self.socket = connect(pages[0]["webSocketDebuggerUrl"], max_size=None)
        self.errors, self.count = [], 0
        self.ask("Log.enable")
        self.ask("Runtime.enable")

    @staticmethod
    def pages(port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=60) as answer:
            return json.load(answer)

    def ask(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            got = json.loads(self.socket.recv(timeout=120))
            if got.get("method") == "Runtime.exceptionThrown" or "error" in str(got.get("params", {}).get("type")):
                self.errors.append(got["params"])
            if got.get("id") == self.count:
                return got["result"]

    def picture(self):
        image = base64.b64decode(self.ask("Page.captureScreenshot")["data"])
        return imageio.imread(image, extension=".png")[:, :, :3].astype(int)

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=ord(key.upper()))

    def close(self):
        self.socket.close()
        self.browser.terminate()
        self.browser.wait(60)


def until(what, seconds=120):
    """The first result that is not None and no exception."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if (found := what()) is not None:
                return found
        except (OSError, IndexError):
            pass
        time.sleep(0.5)
    raise TimeoutError


@pytest.mark.skipif(BROWSER is None, reason="needs chromium")
def test_the_live_viewer_follows_a_batch(tmp_path):
    model, done, scene = sapwood.scene("quadruped"), threading.Event(), np.s_[200:550, 200:440]
    with sapwood.Batch(model, 4, threads=1) as batch, view.Viewer(model, worlds=4, port=0) as viewer:

        def run():
            for step in range(10**6):
                if done.wait(0.05):
                    return
                batch.joint_target_pos[:, 6:] = model.joint_q[7:] + 0.5 * np.sin(0.1 * step)
                batch.step(4)
                viewer.show(batch)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            tab = Tab(viewer.url, tmp_path)
            try:
                first = until(lambda: x if (x := tab.picture())[scene].std() > 5 else None)

                def moved():
                    now = tab.picture()
                    return True if (np.abs(now - first)[scene].max(axis=2) > 30).sum() > 50 else None

                assert until(moved), "something moves"
                if hasattr(viewer.server.gui, "add_command"):
                    tab.press(" ", "Space")
                    assert until(lambda: viewer.controls.paused or None), "a key pauses"
                    tab.press("n", "KeyN")
                    assert until(lambda: viewer.controls.world == 1 or None), "a key chooses the next world"
                    tab.press(" ", "Space")
                    assert until(lambda: not viewer.controls.paused or None)
                assert not tab.errors
            finally:
                tab.close()
        finally:
            done.set()
            thread.join()


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
