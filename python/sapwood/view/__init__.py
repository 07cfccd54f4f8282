"""Look at worlds in a browser: a page with a time slider, or a live viewer (pip install sapwood[view]).

    frames = []
    for _ in range(200):
        batch.step(4)
        frames.append(view.capture(batch, worlds=4))
    view.html(model, frames, "walk.html")

`Viewer(model, worlds=4)` is a live page: `show(batch)` after a step updates it.
"""

from __future__ import annotations

import os
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
from .scene import Scene, place_worlds


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
) -> None:
    """Writes a page that shows the frames, without other files and without a network.

    Worlds stand side by side, `spacing` m apart (default: from the size of the robot; 0: all in one place). An arrow of
    1 m is a contact force of `force_scale` N (default: the weight of the moving bodies; infinity: no arrows). A world
    that fails turns red.
    """
    if not frames:
        raise ValueError("frames is empty; capture(batch) makes one")
    server = _server(port=0)
    try:
        place = place_worlds(model, frames[0].body_q, spacing)
        scene = Scene(server.scene, model, place, force_scale)
        _look_at(server, frames[0].body_q[..., :3] + place[:, None])
        scene.show(frames[0])
        record = server.get_scene_serializer()
        for last, frame in zip(frames, frames[1:]):
            record.insert_sleep(max(frame.time - last.time, 0.0))
            scene.show(frame)
        with replacing(path) as file:
            file.write(record.as_html().encode())
    finally:
        _stop(server)


class Viewer:
    """A page that follows a batch while it is stepped: viewer = Viewer(model); viewer.show(batch) after a step.

    The page is at http://localhost:`port`, on this machine only unless `host` names another address.
    """

    def __init__(
        self,
        model: Model,
        worlds: int | ArrayLike = 1,
        port: int = 8080,
        host: str = "127.0.0.1",
        spacing: float | None = None,
        force_scale: float | None = None,
    ) -> None:
        self.model, self.worlds = model, worlds
        self.server = _server(port, host)
        self._scene: Scene | None = None
        self._look = (spacing, force_scale)

    def show(self, batch: Batch) -> None:
        """Shows the current state of the batch."""
        frame = capture(batch, self.worlds)
        if self._scene is None:
            spacing, force_scale = self._look
            place = place_worlds(self.model, frame.body_q, spacing)
            self._scene = Scene(self.server.scene, self.model, place, force_scale)
            _look_at(self.server, frame.body_q[..., :3] + place[:, None])
        with self.server.atomic():
            self._scene.show(frame)

    @property
    def url(self) -> str:
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def close(self) -> None:
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


def _look_at(server: Any, points: NDArray[np.float64]) -> None:
    """Puts the camera where it sees all points, [...][3]."""
    points = points.reshape(-1, 3)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2 if len(points) else np.zeros(3)
    away = max(1.0, 1.2 * float(np.ptp(points, axis=0).max())) if len(points) else 3.0
    server.initial_camera.position = middle + away * np.array([0.9, -1.2, 0.7])
    server.initial_camera.look_at = middle
