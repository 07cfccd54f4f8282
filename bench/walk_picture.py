#!/usr/bin/env python3
"""Draws docs/images/walk.svg, the moving picture of the README: quadrupeds that walk by the policy of `sapwood demo`.

    PYTHONPATH=python bench/walk_picture.py [FILE.svg]

The picture has one stride of 0.5 s, which repeats; the camera moves with the robots. It has no script: it moves in
every browser that shows it as an image.
"""

import sys
from pathlib import Path

import numpy as np

from sapwood import demo
from sapwood.conventions import quat_matrix
from sapwood.model import SHAPE_TYPES

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, ROWS = 4, 3
SPACING = (1.1, 0.85)  # m, between robots
SETTLE, STRIDE = 150, 25  # pictures of 0.02 s before the stride; of the stride
SIZE, SCALE = (1000, 400), 195  # pixels; pixels per m
AZIMUTH, ELEVATION = np.radians(16), np.radians(24)  # of the camera, from the side of the robots
COLOURS = ("#c77d17", "#32597a", "#467a3c", "#7a3c6e")
NAMES = {number: name.removeprefix("SAP_SHAPE_") for name, number in SHAPE_TYPES.items()}

RIGHT = np.array([np.cos(AZIMUTH), np.sin(AZIMUTH), 0.0])
AWAY = np.array([-np.sin(AZIMUTH) * np.cos(ELEVATION), np.cos(AZIMUTH) * np.cos(ELEVATION), -np.sin(ELEVATION)])
UP = np.cross(RIGHT, AWAY)


def project(points):
    """Pixels of points [..., 3] in m."""
    x, y = points @ RIGHT, points @ UP
    return np.stack([SIZE[0] / 2 + SCALE * x, 0.56 * SIZE[1] - SCALE * y], -1)


def path(points, closed=False):
    return "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in points) + ("Z" if closed else "")


def hull(points):
    """The convex hull of points [n][2], by their angle around it."""
    points = sorted(map(tuple, points))

    def turn(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def half(order):
        out = []
        for p in order:
            while len(out) > 1 and turn(out[-2], out[-1], p) <= 0:
                out.pop()
            out.append(p)
        return out[:-1]

    return np.array(half(points) + half(points[::-1]))


def moving(paths, look):
    """A path that changes from picture to picture."""
    values = ";".join(paths)
    animate = f'<animate attributeName="d" dur="0.5s" repeatCount="indefinite" calcMode="discrete" values="{values}"/>'
    return f'<path d="{paths[0]}" {look}>{animate}</path>'


def shape_paths(model, shape, poses):
    """The look of a shape, and its path in each of the poses [pictures][7]; None if it is not drawn."""
    kind, scale = NAMES[int(model.shape_type[shape])], np.array(model.shape_scale[shape])
    place, turn = np.array(model.shape_transform[shape]), quat_matrix(poses[:, 3:])
    inner = quat_matrix(place[3:])
    if kind == "BOX":
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * scale
        look, width = 'class="t"', 0.0
    elif kind in ("CAPSULE", "SPHERE"):
        half = scale[1] if kind == "CAPSULE" else 0.001
        corners, width = np.array([[0, 0, -half], [0, 0, half]]), 2 * scale[0] * SCALE
        look = f'stroke-width="{width:.0f}"'
    else:
        return None
    local = corners @ inner.T + place[:3]
    world = np.einsum("tij,nj->tni", turn, local) + poses[:, None, :3]
    flat = project(world)
    paths = [path(hull(p), True) if kind == "BOX" else path(p) for p in flat]
    return look, paths, float((world @ AWAY).mean())


def robot(model, body_q, colour):
    """The shapes of one robot in the pictures [pictures][bodies][7], the nearest last."""
    bodies = np.array(model.shape_body)
    found = [shape_paths(model, s, body_q[:, bodies[s]]) for s in np.nonzero(bodies >= 0)[0]]
    shapes = sorted((part for part in found if part is not None), key=lambda part: -part[2])
    return f'<g stroke="{colour}" fill="{colour}">' + "".join(moving(p, look) for look, p, _ in shapes) + "</g>"


def ground(way):
    """Lines across the way, which move back by as much as the robots walk in a stride."""
    step, lines = way / 2, []
    for x in np.arange(-4.0, 4.0, step):
        ends = [[[x - way * k / STRIDE, y, 0] for y in (-2.2, 2.2)] for k in range(STRIDE)]
        lines.append(moving([path(project(np.array(e))) for e in ends], 'class="g"'))
    return "".join(lines)


def main():
    show = demo.open("walk", 64)
    for _ in range(SETTLE):
        show.step()
    pictures = []
    for _ in range(STRIDE + 1):
        pictures.append(np.array(show.frame().body_q))
        show.step()
    poses = np.array(pictures)  # [pictures][worlds][bodies][7]
    speed = (poses[-1, :, 0, 0] - poses[0, :, 0, 0]) / STRIDE  # m per picture
    walking = np.nonzero((poses[0, :, 0, 2] > 0.3) & (abs(speed - np.median(speed)) < 0.002))[0][: COLUMNS * ROWS]
    way = float(np.median(speed)) * STRIDE
    robots = []
    for k, world in enumerate(walking):
        row, column = divmod(k, COLUMNS)
        place = [(column - (COLUMNS - 1) / 2) * SPACING[0], ((ROWS - 1) / 2 - row) * SPACING[1]]
        moved = poses[:STRIDE, world].copy()
        moved[:, :, 0] -= poses[0, world, 0, 0] + speed[world] * np.arange(STRIDE)[:, None] - place[0]
        moved[:, :, 1] -= poses[0, world, 0, 1] - place[1]
        robots.append(robot(show.model, moved, COLOURS[k % len(COLOURS)]))
    style = (
        ".t{stroke:#fff;stroke-width:1.5;stroke-linejoin:round}.g{stroke:#bbb;stroke-width:1.5}"
        "path{stroke-linecap:round}rect{fill:#f4f3ef}"
    )
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "walk.svg"
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE[0]} {SIZE[1]}" role="img">'
        f"<title>Quadrupeds that walk</title><style>{style}</style>"
        f'<rect width="{SIZE[0]}" height="{SIZE[1]}"/>{ground(way)}{"".join(robots)}</svg>\n'
    )
    print(f"{file}: {file.stat().st_size / 1000:.0f} kB, {len(walking)} robots, {way / 0.5:.2f} m/s")


if __name__ == "__main__":
    main()
