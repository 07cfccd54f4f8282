"""Look at worlds in a browser: a page with a time slider, or a live viewer (pip install sapwood[view]).

    frames = []
    for _ in range(200):
        batch.step(4)
        frames.append(view.capture(batch, worlds=4))
    view.html(model, frames, "walk.html")

`Viewer(model, worlds=4)` is a live page: `show(batch)` after a step updates it. It has buttons and keys to pause, to
choose a world, to reset and to push it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import integer
from ..batch import FAILED, Batch
from ..files import replacing
from ..model import Model
from .controls import POLL, Controls, base_place
from .scene import Scene, moving_boxes, place_worlds

FIELD_OF_VIEW = 0.8  # rad


@dataclass
class Frame:
    """A picture of some worlds."""

    time: float  # s
    body_q: NDArray[np.float64]  # [worlds][num_bodies][7] poses
    failed: NDArray[np.bool_]  # [worlds]
    force_world: NDArray[np.int64]  # [forces] the world of each contact, an index into this frame
    force_at: NDArray[np.float64]  # [forces][3] m, world axes
    force: NDArray[np.float64]  # [forces][3] N, on the moving body; between two, on the body of shape 1
    shape_mesh: NDArray[np.int32] | None = None  # [worlds][shapes] the grids that worlds chose; None: the model's


def capture(batch: Batch, worlds: int | ArrayLike = 1, time: float | None = None) -> Frame:
    """The state of worlds: the first `worlds` of the batch, or a list of worlds. Contact forces are recorded from the
    first call on. `time` is in s, by default the first world's."""
    if np.ndim(worlds) == 0:
        chosen = np.arange(integer("worlds", worlds, 1, batch.num_worlds))
    else:
        chosen = np.array([integer("worlds", w, 0, batch.num_worlds - 1) for w in np.asarray(worlds)], np.int64)
    names = ("contact_count", "contact_shape1", "contact_position", "contact_force")
    count, shape, at, force = (batch._get(name)[chosen] for name in names)
    used = np.arange(at.shape[1])[None] < count[:, None]
    static = np.append(np.array(batch.model.shape_body) < 0, False)[shape[used]]
    body_q = np.array(batch._get("body_q")[chosen], np.float64)
    failed = (batch._get("status")[chosen] & FAILED) != 0
    now = float(batch.time[chosen[0]]) if time is None else float(time)
    world = np.broadcast_to(np.arange(len(chosen))[:, None], used.shape)[used]
    forces = np.where(static[:, None], -1.0, 1.0) * force[used]
    grids = batch.expand("shape_mesh")[chosen] if "shape_mesh" in batch.expanded else None
    return Frame(now, body_q, failed, world, np.array(at[used], np.float64), forces, grids)


def html(
    model: Model,
    frames: Sequence[Frame],
    path: str | os.PathLike[str],
    spacing: float | None = None,
    force_scale: float | None = None,
    follow: bool | None = None,
) -> None:
    """Writes a page that shows the frames, without other files and without a network.

    Worlds stand side by side, `spacing` m apart (default: from the size of the robot; 0: all in one place). An arrow of
    1 m is a contact force of `force_scale` N (default: the weight of the moving bodies has an arrow as long as the
    robot; infinity: no arrows). A world that fails turns red. With `follow` the camera moves with the base of the
    first world; by default it does so if that base walks out of the picture.
    """
    if not frames:
        raise ValueError("frames is empty; capture(batch) makes one")
    server = _server(port=0)
    try:
        scene, radius = _begin(server, model, frames[0], spacing, force_scale)
        paths = np.array([base_place(model, frame.body_q[0]) for frame in frames])
        if follow or (follow is None and np.linalg.norm(np.ptp(paths, axis=0)) > radius):
            shifts: Any = paths - paths[0]
        else:
            shifts = [None] * len(frames)
        scene.show(frames[0])
        record = server.get_scene_serializer()
        for last, frame, shift in zip(frames, frames[1:], shifts[1:]):
            record.insert_sleep(max(frame.time - last.time, 0.0))
            scene.show(frame, shift)
        with replacing(path) as file:
            file.write(record.as_html().encode())
    finally:
        _stop(server)


class Viewer:
    """A page that follows a batch while it is stepped: viewer = Viewer(model); viewer.show(batch) after a step.

    The page is at http://localhost:`port`, on this machine only unless `host` names another address. It has buttons and
    keys (controls.KEYS): pause, single steps, reset and push of a world, the camera follows its base. `show` waits
    while the user pauses, and so that the world runs at `speed` times real time; None: it never waits for that.
    """

    def __init__(
        self,
        model: Model,
        worlds: int | ArrayLike = 1,
        port: int = 8080,
        host: str = "127.0.0.1",
        spacing: float | None = None,
        force_scale: float | None = None,
        speed: float | None = 1.0,
        follow: bool = True,
    ) -> None:
        if speed is not None and not speed > 0:
            raise ValueError(f"speed is {speed}; it must be > 0, or None")
        self.model, self.worlds = model, worlds
        self.server = _server(port, host)
        self.controls: Controls | None = None
        self._scene: Scene | None = None
        self._look = (spacing, force_scale)
        self._speed, self._follow = np.inf if speed is None else float(speed), follow
        self._start = np.zeros(3)  # where the base was that the camera follows
        self._followed = -1

    def show(self, batch: Batch) -> None:
        """Shows the current state of the batch, and does what the user asks for; returns when the batch may step on."""
        if self._scene is None or self.controls is None:
            frame = capture(batch, self.worlds)
            self._scene, radius = _begin(self.server, self.model, frame, *self._look)
            first = 0 if np.ndim(self.worlds) == 0 else int(np.asarray(self.worlds)[0])
            self.controls = Controls(self.server, batch, first, self._speed, self._follow, self._scene.size)
        controls = self.controls
        controls.apply(batch)
        now = self._draw(batch, self._scene, controls)
        controls.wait(now)
        while controls.is_held():
            seen = (controls.world, controls.follow)
            time.sleep(POLL)
            if controls.apply(batch) or seen != (controls.world, controls.follow):
                self._draw(batch, self._scene, controls)

    def _draw(self, batch: Batch, scene: Scene, controls: Controls) -> float:
        """Draws the chosen world first; returns its time, s."""
        frame = capture(batch, self._chosen(batch, controls.world))
        shift = controls.shift(self.model, frame.body_q)
        if self._followed != controls.world or not controls.follow:  # the picture does not jump when following begins
            self._followed, self._start = controls.world if controls.follow else -1, shift
        with self.server.atomic():
            scene.show(frame, shift - self._start)
        controls.show(frame.time, ", ".join(batch.status_text(controls.world)))
        return frame.time

    def _chosen(self, batch: Batch, world: int) -> list[int]:
        """The worlds that are drawn: the chosen one and those after it, or the ones of a list from there on."""
        if np.ndim(self.worlds) == 0:
            return [(world + i) % batch.num_worlds for i in range(int(np.asarray(self.worlds)))]
        others = [int(w) for w in np.asarray(self.worlds) if w != world]
        return [world, *others][: np.size(self.worlds)]

    @property
    def url(self) -> str:
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def close(self) -> None:
        """Ends the server; a `show` that waits returns."""
        if self.controls is not None:
            self.controls.paused, self.controls.speed = False, np.inf
        _stop(self.server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _server(port: int, host: str = "127.0.0.1") -> Any:
    try:
        import viser
    except ImportError as error:
        raise ImportError("sapwood.view needs viser: pip install sapwood[view]") from error
    with redirect_stdout(StringIO()):  # it greets
        return viser.ViserServer(host=host, port=port, verbose=False)


def _stop(server: Any) -> None:
    with redirect_stdout(StringIO()):
        server.stop()


def _begin(
    server: Any, model: Model, frame: Frame, spacing: float | None, force_scale: float | None
) -> tuple[Scene, float]:
    """The scene of the worlds of a frame, which fill the picture; and the radius that the camera sees, m."""
    place = place_worlds(model, frame.body_q, spacing)
    boxes = moving_boxes(model, frame.body_q)
    size = float(np.ptp(boxes[0], axis=0).max()) or 1.0
    radius = _look_at(server, boxes + place[:, None])
    return Scene(server.scene, model, place, force_scale, size), radius


def _look_at(server: Any, boxes: NDArray[np.float64]) -> float:
    """Puts the camera where the boxes [worlds][2][3] fill the picture; returns the radius of a ball around them, m."""
    low, high = boxes.reshape(-1, 3).min(axis=0), boxes.reshape(-1, 3).max(axis=0)
    middle, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2 or 1.0
    away = radius / np.sin(FIELD_OF_VIEW / 2)
    camera = server.initial_camera
    camera.fov, camera.near, camera.far = FIELD_OF_VIEW, away / 100, 1000 * away
    camera.position = middle + away * np.array([0.54, -0.73, 0.42])
    camera.look_at = middle
    return radius
