#!/usr/bin/env python3
"""Signed distances of random pairs of shapes by MuJoCo, each judged by a slow oracle: tests/data/mujoco_distance.bin.gz.

    pip install mujoco numpy scipy
    python3 tests/compare/mujoco_distance.py [output] [--rows N]

For each of the 27 pairs among plane, sphere, capsule, ellipsoid, cylinder, box and hull (without plane and plane) 50 sets of
sizes are drawn and 200 poses for each: a third in penetration, a third near touching, a third apart. The draws are those of
tests/support/collide_pairs.c, number by number: splitmix64, a stream per pair and set. tests/data/README.md describes the file.

The oracle. With h the support function, c = p1 - p0 and unit n,

    f(n) = h0(n) + h1(-n) - n.c        signed distance = -min f(n) = max over n of the gap that a slab with normal n can have

so every direction gives a lower bound of the distance that needs no trust. Apart, the problem is convex, and the witnesses of MuJoCo,
once shown to lie in the shapes, bound the distance from above: the two together prove it. In penetration f has many local minima, and
the search begins everywhere: at the normals of all faces, at the cross products of all edges (for polytopes one of them is
the answer), at the best of 200 directions spread over the sphere, and at MuJoCo's own; the best starts are then improved
by a pattern search on the sphere. A row in which MuJoCo and the oracle differ by more than WRONG is marked and gets the oracle's number:
if the oracle's distance is the larger one, its direction is the proof; if MuJoCo's is, MuJoCo's own direction refutes it wherever
moving the shapes apart along it by that distance leaves them overlapping ("refuted" in the report).
"""

import argparse
import gzip
import multiprocessing
import os
import struct
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import mujoco
import numpy as np
from scipy.spatial import ConvexHull

PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, HULL = 1, 3, 4, 5, 6, 7, 10
NAMES = {
    PLANE: "plane",
    SPHERE: "sphere",
    CAPSULE: "capsule",
    ELLIPSOID: "ellipsoid",
    CYLINDER: "cylinder",
    BOX: "box",
    HULL: "hull",
}
TYPES = list(NAMES)
PAIRS = [(a, b) for i, a in enumerate(TYPES) for b in TYPES[i:] if b != PLANE]
SETS = 50
SEED = 20250

WRONG = 2e-7  # m: beyond it a number of MuJoCo's counts as wrong; a fifth of the test's tolerance
TILT = 5e-5  # a normal of MuJoCo's farther than this from the oracle's is not compared; half of the test's tolerance
NORMAL_DISTANCE = 2e-3  # m: below, the witnesses are too near each other to give a normal
RIVAL = 1e-4  # m: another local minimum this near the best one makes the normal a matter of luck

FLAG_WRONG, FLAG_NORMAL = 1, 2

# ---- random numbers, as in random_model.c ----


class Random:
    def __init__(self, seed):
        self.state = seed

    def bits(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def between(self, low, high):
        return low + (high - low) * ((self.bits() >> 11) * 2.0**-53)

    def unit(self, n):
        while True:
            v = [self.between(-1, 1) for _ in range(n)]
            norm2 = 0.0
            for x in v:
                norm2 += x * x
            if 0.01 <= norm2 <= 1:
                return [x / norm2**0.5 for x in v]


def hull_vertices():
    """The vertex sets of hulls, before their scale: small polytopes by hand, and points of the unit sphere."""
    tetrahedron = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    wedge = [[-1, -1, -1], [1, -1, -1], [0, -1, 1], [-1, 1, -1], [1, 1, -1], [0, 1, 1]]
    octahedron = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    cube = [[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    random = Random(SEED)
    spheres = [[random.unit(3) for _ in range(n)] for n in (12, 20, 32)]
    return [np.array(v, dtype=float) for v in [tetrahedron, wedge, octahedron, cube] + spheres]


VERTICES = hull_vertices()
MOST_VERTICES = 32


def hull_of(set_index, side):
    return (set_index + 3 * side) % len(VERTICES)


# ---- shapes; everything below works on rows: sizes [N,3], directions [N,K,3] in the shape's frame ----


class Shapes:
    """One side of a pair: its type and, for each row, sizes, pose and hull."""

    def __init__(self, kind, sizes, p, R, vertices):
        self.kind, self.sizes, self.p, self.R, self.vertices = kind, sizes, p, R, vertices

    def rows(self, index):
        vertices = None if self.vertices is None else self.vertices[index]
        return Shapes(self.kind, self.sizes[index], self.p[index], self.R[index], vertices)


def support(shape, n):
    """h(n) = max of n.x over the shape, about its own origin; n [N,K,3] in world axes."""
    n = np.einsum("rji,rkj->rki", shape.R, n)
    s = shape.sizes[:, None, :]
    length = lambda v: np.sqrt(np.einsum("rki,rki->rk", v, v))
    if shape.kind == SPHERE:
        return s[..., 0] * length(n)
    if shape.kind == CAPSULE:
        return s[..., 0] * length(n) + s[..., 1] * np.abs(n[..., 2])
    if shape.kind == ELLIPSOID:
        return length(n * s)
    if shape.kind == CYLINDER:
        return s[..., 0] * length(n[..., :2]) + s[..., 1] * np.abs(n[..., 2])
    if shape.kind == BOX:
        return np.einsum("rki,ri->rk", np.abs(n), shape.sizes)
    return np.einsum("rki,rvi->rkv", n, shape.vertices).max(axis=2)


def support_point(kind, sizes, vertices, n):
    """A point of one shape farthest along n, both in its frame; as support_point of collide_pairs.c."""
    x, y, z = n
    a, b, c = sizes
    if kind in (SPHERE, CAPSULE):
        length = (x * x + y * y + z * z) ** 0.5
        p = np.array([a * x / length, a * y / length, a * z / length])
        if kind == CAPSULE:
            p[2] += b if z >= 0 else -b
        return p
    if kind == ELLIPSOID:
        length = ((a * x) ** 2 + (b * y) ** 2 + (c * z) ** 2) ** 0.5
        return np.array([a * a * x / length, b * b * y / length, c * c * z / length])
    if kind == CYLINDER:
        length = (x * x + y * y) ** 0.5
        p = np.array([a * x / length, a * y / length, b if z >= 0 else -b]) if length > 0 else np.array([a, 0, b])
        return p
    if kind == BOX:
        return np.array([a if x >= 0 else -a, b if y >= 0 else -b, c if z >= 0 else -c])
    return vertices[np.argmax(vertices @ np.array(n))]


def outside(shape, x):
    """How far points x [N,3] (world) lie outside of the shape, at most; <= 0 inside."""
    x = np.einsum("rji,rj->ri", shape.R, x - shape.p)
    s = shape.sizes
    norm = lambda v: np.sqrt((v * v).sum(axis=1))
    if shape.kind == SPHERE:
        return norm(x) - s[:, 0]
    if shape.kind == CAPSULE:
        z = np.clip(x[:, 2], -s[:, 1], s[:, 1])
        return norm(x - np.stack([0 * z, 0 * z, z], axis=1)) - s[:, 0]
    if shape.kind == ELLIPSOID:
        return (norm(x / s) - 1) * s.max(axis=1)
    if shape.kind == CYLINDER:
        return np.maximum(norm(x[:, :2]) - s[:, 0], 0) + np.maximum(np.abs(x[:, 2]) - s[:, 1], 0)
    if shape.kind == BOX:
        return np.maximum(np.abs(x) - s, 0).sum(axis=1)
    result = np.empty(len(x))
    for r in range(len(x)):  # three planes at most meet in a corner that is not too sharp: good to a small factor
        equations = hull_geometry(shape.vertices[r])[2]
        result[r] = (equations[:, :3] @ x[r] + equations[:, 3]).max()
    return result


HULLS = {}


def hull_geometry(vertices):
    """Face normals, edge directions and facet equations of a hull; parallel ones once."""
    key = vertices.tobytes()
    if key not in HULLS:
        hull = ConvexHull(vertices)
        pairs = {tuple(sorted((t[i], t[i - 1]))) for t in hull.simplices for i in range(3)}
        edges = np.array([vertices[b] - vertices[a] for a, b in pairs])
        HULLS[key] = (unique_lines(hull.equations[:, :3]), unique_lines(edges), hull.equations)
    return HULLS[key]


def unique_lines(v):
    """Directions without length and sign, each once. Diagonals of planar faces do no harm: more candidates."""
    v = v / np.linalg.norm(v, axis=1)[:, None]
    kept = []
    for x in v:
        if all(abs(abs(x @ y) - 1) > 1e-12 for y in kept):
            kept.append(x)
    return np.array(kept)


def features(shape, r):
    """Face normals and edge directions of row r, in world axes."""
    z, axes, none = np.eye(3)[2:], np.eye(3), np.zeros((0, 3))
    local = {SPHERE: (none, none), ELLIPSOID: (none, none), CAPSULE: (none, z), CYLINDER: (z, z), BOX: (axes, axes)}
    faces, edges = local[shape.kind] if shape.kind != HULL else hull_geometry(shape.vertices[r])[:2]
    return faces @ shape.R[r].T, edges @ shape.R[r].T


# ---- the oracle ----


def f(a, b, n):
    """f(n) for unit n [N,K,3]."""
    return support(a, n) + support(b, -n) - np.einsum("rki,ri->rk", n, b.p - a.p)


def spread(count):
    """Points of the unit sphere, evenly."""
    i = np.arange(count) + 0.5
    z, angle = 1 - 2 * i / count, np.pi * (1 + 5**0.5) * i
    rho = np.sqrt(1 - z * z)
    return np.stack([rho * np.cos(angle), rho * np.sin(angle), z], axis=1)


def tangents(n):
    """Two unit vectors orthogonal to n [N,3] and to each other."""
    helper = np.eye(3)[np.argmin(np.abs(n), axis=1)]
    u = np.cross(n, helper)
    u /= np.linalg.norm(u, axis=1)[:, None]
    return u, np.cross(n, u)


def improve(a, b, n, radius, floor=1e-9, rounds=160):
    """Pattern search on the sphere from n [N,3]: eight neighbours in a frame that turns from round to round."""
    value = f(a, b, n[:, None, :])[:, 0]
    radius = np.full(len(n), radius)
    for k in range(rounds):
        todo = np.nonzero(radius > floor)[0]
        if len(todo) == 0:
            break
        u, v = tangents(n[todo])
        angle = 2 * np.pi * np.arange(8) / 8 + 0.7 * k
        ring = np.cos(angle)[:, None] * u[:, None, :] + np.sin(angle)[:, None] * v[:, None, :]
        trial = n[todo][:, None, :] + radius[todo][:, None, None] * ring
        trial /= np.linalg.norm(trial, axis=2)[:, :, None]
        values = f(a.rows(todo), b.rows(todo), trial)
        best = np.argmin(values, axis=1)
        lowest = values[np.arange(len(todo)), best]
        better = lowest < value[todo]
        n[todo[better]] = trial[better, best[better]]
        value[todo[better]] = lowest[better]
        radius[todo] *= np.where(better, 1.2, 0.5)
    return n, value


def corner_directions(a, b, r):
    """Normals of faces and cross products of edges of row r, both signs: [K,3]."""
    faces_a, edges_a = features(a, r)
    faces_b, edges_b = features(b, r)
    crosses = np.cross(edges_a[:, None, :], edges_b[None, :, :]).reshape(-1, 3)
    length = np.linalg.norm(crosses, axis=1)
    crosses = crosses[length > 1e-9] / length[length > 1e-9][:, None]
    half = np.concatenate([faces_a, faces_b, crosses])
    return np.concatenate([half, -half])


def pick_starts(n, value, count, apart):
    """The best of the directions n [K,3] of one row that are `apart` (cosine) from each other."""
    order, chosen = np.argsort(value), []
    for i in order[:400]:
        if all(n[i] @ n[j] < apart for j in chosen):
            chosen.append(i)
        if len(chosen) == count:
            break
    while len(chosen) < count:
        chosen.append(chosen[0])
    return n[chosen]


STARTS = 6


def search(a, b, guess):
    """The least of f over the sphere for every row: direction, value, and whether another minimum comes near it."""
    rows = len(guess)
    around = spread(200)
    starts = np.empty((rows, 2 * STARTS, 3))
    for r in range(rows):
        one = np.array([r])
        smooth, corners = around, corner_directions(a, b, r)
        value = f(a.rows(one), b.rows(one), smooth[None])[0]
        starts[r, :STARTS] = pick_starts(smooth, value, STARTS, 0.96)
        if len(corners) == 0:
            corners = guess[r : r + 1]
        value = f(a.rows(one), b.rows(one), corners[None])[0]
        starts[r, STARTS:] = pick_starts(corners, value, STARTS, 0.9999)
    found = np.empty((rows, 2 * STARTS + 1, 3))
    values = np.empty((rows, 2 * STARTS + 1))
    for k in range(2 * STARTS):
        found[:, k], values[:, k] = improve(a, b, starts[:, k].copy(), 0.05 if k < STARTS else 1e-3)
    found[:, -1], values[:, -1] = improve(a, b, guess.copy(), 1e-3)
    best = np.argmin(values, axis=1)
    n, value = found[np.arange(rows), best], values[np.arange(rows), best]
    away = np.einsum("rki,ri->rk", found, n) < np.cos(0.01)
    rival = (away & (values < value[:, None] + RIVAL)).any(axis=1)
    return n, value, rival


def is_flat(a, b, n, value):
    """Whether f hardly rises 0.02 rad from n: a normal that small errors turn."""
    u, v = tangents(n)
    angle = 2 * np.pi * np.arange(16) / 16
    ring = n[:, None, :] + 0.02 * (np.cos(angle)[:, None] * u[:, None, :] + np.sin(angle)[:, None] * v[:, None, :])
    ring /= np.linalg.norm(ring, axis=2)[:, :, None]
    return (f(a, b, ring) - value[:, None]).min(axis=1) < 1e-6


# ---- poses ----


def matrix(q):
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def place(kinds, sizes, hulls, row, p0, R0, R1, u, x):
    """Where shape 1 goes: x in [0, 1] moves it from deep penetration to contact, about contact, or away from it."""
    far1 = lambda n: -R1 @ support_point(kinds[1], sizes[1], hulls[1], -R1.T @ n)  # from shape 1's side to its origin
    if kinds[0] == PLANE:
        n = R0[:, 2]
        h = far1(n) @ n
        gap = [-x * h, 0.04 * x - 0.02, x][row % 3]
        return p0 + (u - (u @ n) * n) + (h + gap) * n
    w0, w1 = R0 @ support_point(kinds[0], sizes[0], hulls[0], R0.T @ u), far1(u)
    if row % 6 == 1:
        return p0 + w0 + w1 + (0.04 * x - 0.02) * u
    factor = [1 - 0.6 * x, 0, 1 + x, 1 - 0.6 * x, 0.75 + 0.25 * x, 1 + x][row % 6]
    return p0 + factor * ((w0 + w1) @ u) * u


class Set:
    """One set of sizes of a pair and its poses."""

    def __init__(self, pair, index, rows):
        random = Random(SEED + 1000 * (pair + 1) + index)
        self.kinds = PAIRS[pair]
        self.sizes = [[random.between(0.1, 0.5) for _ in range(3)] for _ in range(2)]
        self.hulls = [VERTICES[hull_of(index, side)] * np.array(self.sizes[side]) for side in range(2)]
        if self.kinds[0] == PLANE:
            plane = ([random.between(-0.5, 0.5) for _ in range(3)], random.unit(4))
        self.poses = []
        for row in range(rows):
            if self.kinds[0] == PLANE:
                p0, q0 = plane
            else:
                p0, q0 = [random.between(-0.5, 0.5) for _ in range(3)], random.unit(4)
            q1, u, x = random.unit(4), random.unit(3), random.between(0, 1)
            R0, R1 = matrix(q0), matrix(q1)
            p1 = place(self.kinds, self.sizes, self.hulls, row, np.array(p0), R0, R1, np.array(u), x)
            self.poses.append((np.array(p0), np.array(q0), R0, p1, np.array(q1), R1))


# ---- MuJoCo ----


def geom_text(kind, sizes, name):
    a, b, c = (repr(float(s)) for s in sizes)
    size = {
        PLANE: "1 1 1",
        SPHERE: a,
        CAPSULE: f"{a} {b}",
        CYLINDER: f"{a} {b}",
        ELLIPSOID: f"{a} {b} {c}",
        BOX: f"{a} {b} {c}",
    }
    if kind == HULL:
        return f'<geom type="mesh" mesh="{name}"/>'
    return f'<geom type="{NAMES[kind]}" size="{size[kind]}"/>'


def mujoco_model(s):
    meshes = "".join(
        f'<mesh name="m{i}" vertex="{" ".join(repr(float(x)) for x in s.hulls[i].flatten())}"/>'
        for i in range(2)
        if s.kinds[i] == HULL
    )
    geoms = "".join(geom_text(s.kinds[i], s.sizes[i], f"m{i}") for i in range(2))
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option ccd_tolerance="1e-12" ccd_iterations="1000"/><asset>{meshes}</asset>'
        f"<worldbody>{geoms}</worldbody></mujoco>"
    )


def mujoco_distances(s):
    """Distance, witness 0 and witness 1 of every pose of a set."""
    model = mujoco_model(s)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    moved = []  # MuJoCo moves the vertices of a mesh to its centre of mass and principal axes
    for i in range(2):
        mesh = model.geom_dataid[i]
        X = (np.zeros(3), np.eye(3))
        if mesh >= 0:
            w, x, y, z = model.mesh_quat[mesh]
            X = (model.mesh_pos[mesh].copy(), matrix([x, y, z, w]))
        moved.append(X)
    out, fromto = [], np.zeros(6)
    for p0, _, R0, p1, _, R1 in s.poses:
        for i, (p, R) in enumerate(((p0, R0), (p1, R1))):
            data.geom_xpos[i] = p + R @ moved[i][0]
            data.geom_xmat[i] = (R @ moved[i][1]).flatten()
        d = mujoco.mj_geomDistance(model, data, 0, 1, 100.0, fromto)
        out.append((d, fromto[:3].copy(), fromto[3:].copy()))
    return out


# ---- one pair ----


def gather(sets, side):
    kind = sets[0].kinds[side]
    rows = [(s, pose) for s in sets for pose in s.poses]
    vertices = None
    if kind == HULL:
        vertices = np.zeros((len(rows), MOST_VERTICES, 3))
        for r, (s, _) in enumerate(rows):
            v = s.hulls[side]
            vertices[r] = v[np.minimum(np.arange(MOST_VERTICES), len(v) - 1)]
    p, R = 3 * side, 3 * side + 2
    return Shapes(
        kind,
        np.array([s.sizes[side] for s, _ in rows]),
        np.array([pose[p] for _, pose in rows]),
        np.array([pose[R] for _, pose in rows]),
        vertices,
    )


def judge_plane(a, b):
    """Against a half-space there is one direction."""
    n = a.R[:, :, 2]
    value = support(b, -n[:, None, :])[:, 0] - np.einsum("ri,ri->r", n, b.p - a.p)
    return n.copy(), value, np.zeros(len(n), bool)


def unit_or(v, fallback):
    length = np.linalg.norm(v, axis=1)
    good = np.isfinite(length) & (length > 1e-12)
    return np.where(good[:, None], v / np.where(good, length, 1)[:, None], fallback)


def judge(a, b, d, x0, x1):
    """The oracle's direction and value for each row, and whether the normal has rivals; and how many rows were proven."""
    if a.kind == PLANE:
        return (*judge_plane(a, b), len(d))
    line = unit_or(b.p - a.p, np.array([0.0, 0, 1]))
    guess = unit_or((x1 - x0) / np.where(d == 0, 1, d)[:, None], line)
    lower = -f(a, b, guess[:, None, :])[:, 0]
    upper = np.linalg.norm(x1 - x0, axis=1) + 2 * np.maximum(outside(a, x0), 0) + 2 * np.maximum(outside(b, x1), 0)
    proven = (d > 0) & (upper - lower < WRONG / 2) & (np.abs(d - lower) < WRONG / 2)
    n, value = improve(a, b, guess.copy(), 1e-4)
    rival = np.zeros(len(d), bool)
    rest = np.nonzero(~proven)[0]
    n[rest], value[rest], rival[rest] = search(a.rows(rest), b.rows(rest), guess[rest])
    return n, value, rival, int(proven.sum())


def encode(normal):
    return np.round(normal * 32767).astype("<i2")


def compare_pair(arguments):
    pair, rows = arguments
    kinds = PAIRS[pair]
    sets = [Set(pair, index, rows // SETS) for index in range(SETS)]
    answers = [answer for s in sets for answer in mujoco_distances(s)]
    d = np.array([x[0] for x in answers])
    x0, x1 = np.array([x[1] for x in answers]), np.array([x[2] for x in answers])
    a, b = gather(sets, 0), gather(sets, 1)
    n, value, rival, proven = judge(a, b, d, x0, x1)
    truth = -value
    error = np.where(np.isfinite(d), np.abs(d - truth), np.inf)
    wrong = error > WRONG
    mine = unit_or((x1 - x0) / np.where(d == 0, 1, d)[:, None], n)
    tilt = np.linalg.norm(mine - n, axis=1)
    flat = np.zeros(len(d), bool) if kinds[0] == PLANE else is_flat(a, b, n, value)
    asked = (np.abs(truth) > NORMAL_DISTANCE) & ~rival & ~flat
    comparable = asked & ~wrong & (tilt < TILT)
    report = dict(
        pair=f"{NAMES[kinds[0]]}-{NAMES[kinds[1]]}",
        rows=len(d),
        penetrating=int((truth < 0).sum()),
        proven=proven,
        wrong=int(wrong.sum()),
        too_deep=int((wrong & (d < truth)).sum()),
        too_high=int((wrong & (d > truth)).sum()),
        refuted=int((wrong & (d > truth) & (-f(a, b, mine[:, None, :])[:, 0] < d - WRONG)).sum()) if wrong.any() else 0,
        no_answer=int((~np.isfinite(d) | (d >= 100)).sum()),
        wrong_apart=int((wrong & (truth > 0)).sum()),
        worst=float(error.max()),
        right_worst=float(error[~wrong].max()),
        normals=int(comparable.sum()),
        tilted=int((asked & ~wrong & (tilt >= TILT)).sum()),
    )
    stored = np.where(wrong, truth, d)
    normal = np.where((wrong | ~comparable)[:, None], n, mine)
    flags = FLAG_WRONG * wrong + FLAG_NORMAL * np.where(wrong, asked, comparable)
    assert np.abs(stored).max() < 2.1
    first = sets[0].poses[0]
    head = struct.pack("<2i14d", *kinds, *first[0], *first[1], *first[3], *first[4])
    columns = np.round(stored * 1e9).astype("<i4").tobytes() + encode(normal).T.tobytes() + flags.astype("u1").tobytes()
    return pair, report, head + columns


def main():
    parser = argparse.ArgumentParser()
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("output", nargs="?", default=os.path.join(here, "..", "data", "mujoco_distance.bin.gz"))
    parser.add_argument("--rows", type=int, default=10000, help="per pair, a multiple of 50")
    parser.add_argument("--pairs", default="", help="for a trial: some pairs by number, and no file")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    pairs = [int(x) for x in options.pairs.split(",")] if options.pairs else range(len(PAIRS))
    parts = {}
    with multiprocessing.Pool(options.jobs) as pool:
        for pair, report, part in pool.imap_unordered(compare_pair, [(p, options.rows) for p in pairs]):
            parts[pair] = part
            print(
                " ".join(f"{k} {v:.2g}" if isinstance(v, float) else f"{k} {v}" for k, v in report.items()), flush=True
            )
    if options.pairs:
        return
    version = [int(x) for x in mujoco.__version__.split(".")]
    header = b"SAPDIST1" + struct.pack("<6I", len(PAIRS), options.rows, SETS, *version)
    with open(options.output, "wb") as out, gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9, mtime=0) as z:
        z.write(header + b"".join(parts[p] for p in range(len(PAIRS))))


if __name__ == "__main__":
    sys.exit(main())
