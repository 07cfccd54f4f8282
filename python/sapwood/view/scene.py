"""The nodes of a page: one per shape, with an instance for each world, and the arrows of contact forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _layout
from ..conventions import Floats, pose, quat_matrix, quat_mul, quat_to_wxyz
from ..model import SHAPE_TYPES, Model
from .triangles import Triangles, triangles

if TYPE_CHECKING:
    from . import Frame

VISIBLE = _layout.BITS["SAP_SHAPE_VISIBLE"]
PALETTE = np.array([(50, 90, 120), (170, 120, 20), (70, 120, 60), (120, 60, 110), (150, 60, 40)], np.uint8)
GROUND, FAILED, ARROW = (150, 150, 145), (220, 20, 20), (0, 130, 30)
LEAST_ARROW = 0.01  # of the size of the robot
CELL, LINE = 0.5, 30.0  # m, of the grid of the ground, and how far it is drawn, for a robot of about 1 m
ROOT = "/world"  # the node of everything that moves past a camera that follows


def moving_boxes(model: Model, body_q: Floats) -> Floats:
    """[worlds][2][3] m, the corners of a box around the moving shapes of each world, [worlds][bodies][7]; around its
    bodies if it has no moving shape. Points that are not finite do not count; without any the box is at the origin."""
    low, high = np.full((len(body_q), 3), np.inf), np.full((len(body_q), 3), -np.inf)

    def include(points: Floats) -> None:
        """Points [worlds][n][3]."""
        finite = np.all(np.isfinite(points), axis=2, keepdims=True)
        np.minimum(low, np.where(finite, points, np.inf).min(axis=1), out=low)
        np.maximum(high, np.where(finite, points, -np.inf).max(axis=1), out=high)

    include(body_q[:, :, :3] if model.num_bodies else np.zeros((len(body_q), 1, 3)))
    for shape in np.nonzero(np.array(model.shape_body) >= 0)[0]:
        body, at = int(model.shape_body[shape]), np.array(model.shape_transform[shape])
        vertices = triangles(model, int(shape))[0] @ quat_matrix(at[3:]).T + at[:3]
        include(vertices @ quat_matrix(body_q[:, body, 3:]).transpose(0, 2, 1) + body_q[:, body, None, :3])
    boxes = np.stack([low, high], axis=1)
    return np.asarray(np.where(np.all(np.isfinite(boxes), axis=(1, 2), keepdims=True), boxes, 0.0))


def place_worlds(model: Model, body_q: Floats, spacing: float | None) -> Floats:
    """[worlds][3] where the origin of each world is drawn: on a square grid around the origin."""
    worlds = len(body_q)
    if spacing is None:
        width = float(np.ptp(moving_boxes(model, body_q[:1])[0, :, :2], axis=0).max())
        spacing = 1.5 * width if width > 0 else 1.0
    columns = int(np.ceil(np.sqrt(worlds)))
    row, column = np.divmod(np.arange(worlds), columns)
    place = np.stack([column - (columns - 1) / 2, row - (columns - 1) / 2, np.zeros(worlds)], axis=1)
    return np.asarray(spacing * place)


def _colour(body: int) -> NDArray[np.uint8]:
    return PALETTE[body % len(PALETTE)] if body >= 0 else np.array(GROUND, np.uint8)


@dataclass
class Part:
    """Something that moves with a body."""

    body: int
    pose: Floats  # [7] in the body
    colour: NDArray[np.uint8]
    node: Any  # of viser


class Scene:
    """Draws frames of a model into a viser scene."""

    def __init__(self, scene: Any, model: Model, place: Floats, force_scale: float | None, size: float = 1.0) -> None:
        self.scene, self.model, self.place, self.size = scene, model, place, size  # m, of the robot
        weight = float(np.linalg.norm(model.gravity) * np.sum(model.body_mass))
        self.force_scale = force_scale if force_scale is not None else max(weight, 1e-9) / size
        scene.set_up_direction("+z")
        self.root = scene.add_frame(ROOT, show_axes=False)
        self.root.position = (0.0, 0.0, 1e-6)  # a page that plays again puts back only what has been moved before
        self.body_q = np.tile(pose(), (len(place), model.num_bodies, 1))  # [worlds][bodies][7], the last one drawn
        self.parts: list[Part] = []
        self.grids: dict[tuple[int, int], Any] = {}  # the node of a height field with a grid
        self._add_shapes()
        for i, visual in enumerate(model.imported.visuals if model.imported else []):
            colour = np.array(255 * visual.colour, np.uint8)
            self._add(f"{ROOT}/visuals/{i}", (visual.vertices, visual.faces), visual.body, visual.pose, colour)

    def _add_shapes(self) -> None:
        model = self.model
        undrawn = model.imported.undrawn if model.imported else ()
        for shape in np.nonzero(np.array(model.shape_flags) & VISIBLE)[0]:
            body, place, name = int(model.shape_body[shape]), np.array(model.shape_transform[shape]), f"{shape}"
            if model.shape_type[shape] == SHAPE_TYPES["SAP_SHAPE_PLANE"]:
                self._add_ground(f"{ROOT}/ground/{name}", place)
            elif shape not in undrawn:
                node = self._add(f"{ROOT}/shapes/{name}", triangles(model, int(shape)), body, place, _colour(body))
                if model.shape_type[shape] == SHAPE_TYPES["SAP_SHAPE_HEIGHT_FIELD"]:
                    self.grids[int(shape), int(model.shape_mesh[shape])] = node

    def _add(self, name: str, mesh: Triangles, body: int, at: Floats, colour: NDArray[np.uint8]) -> Any:
        """A mesh with an instance for each world."""
        worlds = len(self.place)
        node = self.scene.add_batched_meshes_simple(
            name,
            *mesh,
            batched_wxyzs=np.tile(quat_to_wxyz(at[3:]), (worlds, 1)),
            batched_positions=self.place + at[:3],
            batched_colors=np.tile(colour, (worlds, 1)),
            lod="off",
            flat_shading=True,
        )
        if body >= 0:
            self.parts.append(Part(body, at, colour, node))
        return node

    def _show_grids(self, shape_mesh: NDArray[np.int32]) -> None:
        """Each world shows the grids that it chose: a node for each, with the size 0 in the other worlds."""
        model = self.model
        for shape in {shape for shape, _ in self.grids}:
            body, place = int(model.shape_body[shape]), np.array(model.shape_transform[shape])
            for grid in set(shape_mesh[:, shape].tolist()) & set(range(model.num_height_fields)):
                if (shape, grid) not in self.grids:
                    name, mesh = f"{ROOT}/shapes/{shape}/{grid}", triangles(model, shape, grid)
                    self.grids[shape, grid] = self._add(name, mesh, body, place, _colour(body))
        for (shape, grid), node in self.grids.items():
            node.batched_scales = (shape_mesh[:, shape] == grid).astype(np.float32)

    def _add_ground(self, name: str, at: Floats) -> None:
        """A plane is one for all worlds: worlds are placed along it. Its cells fit the size of the robot."""
        cell = CELL * 10.0 ** np.floor(np.log10(self.size / 0.3))
        self.scene.add_grid(
            name,
            infinite_grid=True,
            plane_opacity=0.6,
            plane_color=GROUND,
            cell_size=cell,
            section_size=2 * cell,
            fade_distance=LINE * cell / CELL,
            wxyz=quat_to_wxyz(at[3:]),
            position=at[:3],
        )

    def show(self, frame: Frame, shift: Floats | None = None) -> None:
        """Moves everything to where it is in the frame, less `shift` [3] m."""
        if shift is not None:
            self.root.position = -shift
        finite = np.all(np.isfinite(frame.body_q), axis=-1, keepdims=True)
        self.body_q = np.where(finite, frame.body_q, self.body_q)  # what has no place stays where it was
        for part in self.parts:
            here = self.body_q[:, part.body]
            turn = quat_mul(here[:, 3:], np.broadcast_to(part.pose[3:], here[:, 3:].shape))
            place = self.place + here[:, :3] + quat_matrix(here[:, 3:]) @ part.pose[:3]
            part.node.batched_positions = place.astype(np.float32)
            part.node.batched_wxyzs = quat_to_wxyz(turn).astype(np.float32)
            part.node.batched_colors = np.where(frame.failed[:, None], np.array(FAILED, np.uint8), part.colour)
        if frame.shape_mesh is not None:
            self._show_grids(frame.shape_mesh)
        self._show_forces(frame)

    def _show_forces(self, frame: Frame) -> None:
        """Contact forces, from where they act."""
        tail = frame.force_at + self.place[frame.force_world]
        arrow = frame.force / self.force_scale
        ends: NDArray[np.float32] = np.stack([tail, tail + arrow], axis=1).astype(np.float32)
        ends = ends[np.all(np.isfinite(ends), axis=(1, 2)) & (np.linalg.norm(arrow, axis=1) > LEAST_ARROW * self.size)]
        thick = 0.006 * self.size
        radii = {"shaft_radius": thick, "head_radius": 2.4 * thick, "head_length": 6 * thick}
        self.scene.add_arrows(f"{ROOT}/contact forces", ends, ARROW, **radii)
