"""Import of geoms: shapes, friction, and collision filters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conventions import Floats, pose, pose_mul, quat_from_wxyz
from ..hulls import convex_parts, reduce_hull
from ..model import SHAPE_TYPES
from .bodies import Tree
from .report import Code, Finding
from .source import Rows, Source, spring

GEOM_TYPES = {
    0: "PLANE",
    1: "HEIGHT_FIELD",
    2: "SPHERE",
    3: "CAPSULE",
    4: "ELLIPSOID",
    5: "CYLINDER",
    6: "BOX",
    7: "HULL",
}
CONE_ELLIPTIC = 1  # mjtCone
NUM_SIZES = {"SPHERE": 1, "CAPSULE": 2, "CYLINDER": 2, "ELLIPSOID": 3, "BOX": 3}


@dataclass
class Shapes:
    """Our shapes."""

    index: NDArray[np.int32]  # [ngeom] our shape for each geom, the first of several; -1: none
    rows: Rows = field(default_factory=Rows)
    meshes: dict[int, list[int]] = field(default_factory=dict)  # the hulls of each mesh
    parts: dict[int, list[int]] = field(default_factory=dict)  # the hulls of a shape that has several
    found: list[Finding] = field(default_factory=list)


def shapes(source: Source, tree: Tree) -> Shapes:
    m, out = source.m, Shapes(np.full(source.m.ngeom, -1, np.int32))
    link = tree.body[np.array(m.geom_bodyid)]
    wanted, out.found = _wanted_pairs(source)
    for g in range(m.ngeom):
        _add_shape(source, tree, out, link, g, wanted[g])
    kept = np.nonzero(out.index >= 0)[0]
    if len(kept):
        wanted = wanted[np.ix_(kept, kept)]
        _set_friction(source, out, kept, wanted)
        _set_filters(source, tree, out.rows, kept, wanted)
    if out.parts:
        _split_shapes(out)
    return out


def _add_shape(
    source: Source, tree: Tree, out: Shapes, link: NDArray[np.int32], g: int, partners: NDArray[np.bool_]
) -> None:
    m, collides = source.m, bool(np.any(partners))
    kind, body = GEOM_TYPES.get(int(m.geom_type[g])), int(m.geom_bodyid[g])
    if kind is None and collides:
        out.found.append(source.find(Code.SHAPE_TYPE, "GEOM", g))
    if kind is None or (kind == "HULL" and not collides):
        return
    size, mesh = _sizes(source, out, g, kind)
    stiffness, time = _compliance(m, link, g, partners)
    out.index[g] = out.rows.count("shape_type")
    out.rows.add(
        shape_type=SHAPE_TYPES["SAP_SHAPE_" + kind],
        shape_body=int(link[g]),
        shape_transform=pose_mul(tree.offset[body], pose(m.geom_pos[g], quat_from_wxyz(m.geom_quat[g]))),
        shape_scale=size,
        shape_mesh=mesh,
        shape_name=source.name("GEOM", g),
        shape_margin=float(m.geom_margin[g]),
        shape_gap=float(m.geom_gap[g]),
        shape_material_ke=stiffness,
        shape_material_tau=time / 2,
        shape_flags=3 if collides else 1,
    )
    if collides and m.geom_condim[g] > 3 and source.law == "sap":
        kinds = "torsional friction" if m.geom_condim[g] == 4 else "torsional and rolling friction"
        out.found.append(source.find(Code.CONDIM, "GEOM", g, condim=int(m.geom_condim[g]), friction=kinds))


def _compliance(m: Any, link: NDArray[np.int32], g: int, partners: NDArray[np.bool_]) -> tuple[float, float]:
    """(stiffness, N/m; dissipation time of the contact, s) of a geom in contact with its partner.

    The partner is the first static geom that it may touch, otherwise the first one. The load is a quarter of the
    weight of the tree. Two shapes act in series, with depths in the ratio of MuJoCo's inverse weights w; a static
    one is rigid.
    """
    static = partners & (link < 0)
    other = int(np.argmax(static if np.any(static) else partners)) if np.any(partners) else g
    solref, solimp, scale = _contact_law(m, g, other)
    w = [float(m.body_invweight0[m.geom_bodyid[i], 0]) if link[i] >= 0 else 0.0 for i in (g, other)]
    total = w[0] + (w[1] if other != g else 0.0)
    masses = [m.body_subtreemass[m.body_rootid[m.geom_bodyid[i]]] for i in (g, other) if link[i] >= 0]
    gravity = float(np.linalg.norm(m.opt.gravity)) or 9.81
    load = gravity * float(min(masses, default=1.0)) / 4
    stiffness, time = spring(solref, solimp, m.opt.timestep, load * max(total, 1e-12) / scale)
    return (scale * stiffness / w[0] if w[0] > 0 else np.inf), time


def _contact_law(m: Any, g: int, other: int) -> tuple[Floats, Floats, float]:
    """solref and solimp of two geoms, mixed as in MuJoCo; the stiffness of its cone relative to an elliptic one.

    A pyramidal contact has n = 2 (condim - 1) edges. Each has the regularisation 2 mu^2 R (1 + mu^2) with R that of
    the normal of an elliptic contact, so n of them are n/(2 mu^2 (1 + mu^2)) times as stiff.
    """
    first = int(m.geom_priority[g]) - int(m.geom_priority[other])
    mixes = np.array([m.geom_solmix[g], m.geom_solmix[other]])
    share = 0.5 if np.all(mixes < 1e-15) else float(mixes[0] / mixes.sum())
    share = 1.0 if first > 0 else 0.0 if first < 0 else share
    one, two = np.array(m.geom_solref[g]), np.array(m.geom_solref[other])
    mixed = share * one + (1 - share) * two
    solref = mixed if first or (one[0] > 0 and two[0] > 0) else np.minimum(one, two)
    solimp = share * np.array(m.geom_solimp[g]) + (1 - share) * np.array(m.geom_solimp[other])
    chosen = [g, other] if first == 0 else [g if first > 0 else other]
    condim, mu = (max(float(x[i]) for i in chosen) for x in (m.geom_condim, m.geom_friction[:, 0]))
    if condim == 1 or int(m.opt.cone) == CONE_ELLIPTIC:
        return solref, solimp, 1.0
    # MuJoCo's mu of the regularisation is smaller by the square root of impratio.
    mu = max(mu, 1e-5)
    return solref, solimp, (condim - 1) * float(m.opt.impratio) / (mu**2 * (1 + mu**2))


def _sizes(source: Source, out: Shapes, g: int, kind: str) -> tuple[Floats, int]:
    m, size, data = source.m, np.array(source.m.geom_size[g]), int(source.m.geom_dataid[g])
    if kind == "PLANE":  # infinite for contacts; rays end at its half sizes
        return np.array([*size[:2], 0.0]), -1
    if kind == "HULL":
        if data not in out.meshes:
            out.meshes[data] = _add_mesh(source, out, data)
        if len(out.meshes[data]) > 1:
            out.parts[out.rows.count("shape_type")] = out.meshes[data]
        return np.ones(3), out.meshes[data][0]
    if kind == "HEIGHT_FIELD":
        return np.array([*m.hfield_size[data, :2], 0.0]), _add_grid(m, out.rows, data)
    return np.where(np.arange(3) < NUM_SIZES[kind], size, 0.0), -1


def _add_mesh(source: Source, out: Shapes, i: int) -> list[int]:
    """The hulls of a mesh: those of `_points`, or hulls of at most max_hull_vertices inside them."""
    if i not in source.points:
        source.points[i] = _points(source, i)
    most, hulls = source.hulls.most(source.law), []
    for points in source.points[i]:
        kept, depth = reduce_hull(points, most or max(8, len(points)))
        if depth > 0:
            out.found.append(source.find(Code.HULL, "MESH", i, vertices=len(kept), depth=depth))
        hulls.append(_add_hull(out.rows.columns, points[kept]))
    return hulls


def _points(source: Source, i: int) -> list[Floats]:
    """The vertices of the hull of a mesh, as MuJoCo has computed it, or those of its convex parts."""
    m, graph = source.m, int(source.m.mesh_graphadr[i])
    points = np.array(m.mesh_vert[m.mesh_vertadr[i] : m.mesh_vertadr[i] + m.mesh_vertnum[i]], np.float64)
    if source.hulls.decompose:
        faces = np.array(m.mesh_face[m.mesh_faceadr[i] : m.mesh_faceadr[i] + m.mesh_facenum[i]], np.int32)
        return convex_parts(points, faces, source.hulls)
    count = int(m.mesh_graph[graph]) if graph >= 0 else 0
    return [points[m.mesh_graph[graph + 2 + count : graph + 2 + 2 * count]] if graph >= 0 else points]


def _split_shapes(out: Shapes) -> None:
    """Replaces each shape of several hulls by one shape per hull."""
    columns, count = out.rows.columns, out.rows.count("shape_type")
    rows = [(s, k) for s in range(count) for k in range(len(out.parts.get(s, [0])))]
    first = {s: i for i, (s, k) in reversed(list(enumerate(rows))) if k == 0}
    meshes = [out.parts[s][k] if s in out.parts else columns["shape_mesh"][s] for s, k in rows]
    for name in [name for name in columns if name.startswith("shape_") and name != "shape_filter_pairs"]:
        columns[name] = [columns[name][s] for s, _ in rows]
    columns["shape_mesh"] = meshes
    columns["shape_name"] = [f"{name}_{k}" if k else name for name, (_, k) in zip(columns["shape_name"], rows)]
    new = {s: range(first[s], first[s] + len(out.parts.get(s, [0]))) for s in range(count)}
    if "shape_filter_pairs" in columns:
        pairs = columns["shape_filter_pairs"]
        columns["shape_filter_pairs"] = [(i, j) for a, b in pairs for i in new[int(a)] for j in new[int(b)]]
    out.index = np.array([first[int(s)] if s >= 0 else -1 for s in out.index], np.int32)


def _add_hull(columns: dict[str, Any], points: Floats) -> int:
    columns.setdefault("mesh_start", [0]).append(columns.get("mesh_start", [0])[-1] + len(points))
    columns.setdefault("mesh_vertices", []).extend(points)
    return len(columns["mesh_start"]) - 2


def _add_grid(m: Any, shapes: Rows, i: int) -> int:
    rows, columns, start = int(m.hfield_nrow[i]), int(m.hfield_ncol[i]), int(m.hfield_adr[i])
    heights = np.array(m.hfield_data[start : start + rows * columns], np.float64) * float(m.hfield_size[i, 2])
    shapes.columns.setdefault("heights", []).extend(heights)
    shapes.add(height_field_size=(rows, columns))
    return shapes.count("height_field_size") - 1


# ---- collision filters ----


def _wanted_pairs(source: Source) -> tuple[NDArray[np.bool_], list[Finding]]:
    """[ngeom][ngeom] whether two geoms can collide in MuJoCo."""
    m, found = source.m, []
    contype, affinity = np.array(m.geom_contype), np.array(m.geom_conaffinity)
    wanted = (contype[:, None] & affinity[None]) != 0
    wanted |= wanted.T
    weld = source.weld[m.geom_bodyid]
    parent = source.weld[np.array(m.body_parentid)[weld]]
    wanted &= weld[:, None] != weld[None]
    if "FILTERPARENT" not in source.disabled:
        child = (parent[:, None] == weld[None]) & (weld[None] != 0) & (weld[:, None] != 0)
        wanted &= ~(child | child.T)
    for signature in np.array(m.exclude_signature):
        one, two = m.geom_bodyid == signature >> 16, m.geom_bodyid == signature & 0xFFFF
        wanted &= ~((one[:, None] & two[None]) | (two[:, None] & one[None]))
    for p in range(m.npair):
        one, two = int(m.pair_geom1[p]), int(m.pair_geom2[p])
        if weld[one] == weld[two]:
            found.append(source.find(Code.WELDED_PAIR, "PAIR", p))
            continue
        wanted[one, two] = wanted[two, one] = True
        if source.law == "sap":
            found.append(source.find(Code.PAIR_PARAMETERS, "PAIR", p))
    return np.zeros_like(wanted) if "CONTACT" in source.disabled else wanted, found


def _pair_friction(m: Any, kept: NDArray[np.intp]) -> Floats:
    """MuJoCo's friction of each pair: that of the geom with higher priority, else the larger; 0 if condim is 1."""
    mu, condim, priority = (np.array(x)[kept] for x in (m.geom_friction[:, 0], m.geom_condim, m.geom_priority))

    def combine(x: Floats) -> Floats:
        larger = np.maximum(x[:, None], x[None])
        first = priority[:, None] - priority[None]
        return np.where(first > 0, x[:, None], np.where(first < 0, x[None], larger))

    return np.where(combine(condim) > 1, combine(mu), 0.0)


def _set_friction(source: Source, out: Shapes, kept: NDArray[np.intp], wanted: NDArray[np.bool_]) -> None:
    """Sets the friction of shapes; the friction of a pair is the harmonic mean 2 a b/(a + b). A static shape gets
    the largest friction a of its contacts; a moving one gets b = mu a/(2 a - mu), so that its contact with the
    world has MuJoCo's mu."""
    theirs = _pair_friction(source.m, kept)
    most = np.max(np.where(wanted, theirs, 0), axis=1)
    own = np.where(np.any(wanted, axis=1), most, np.array(source.m.geom_friction[kept, 0]))
    static = np.array(out.rows.columns["shape_body"]) < 0
    for i in np.nonzero(~static & np.any(wanted & static[None], axis=1))[0]:
        ground = int(np.argmax(wanted[i] & static))
        a, mu = most[ground], theirs[i, ground]
        own[i] = mu * a / (2 * a - mu) if mu > 0 else 0.0
    out.rows.columns["shape_material_mu"] = list(own)
    if source.law == "sap":
        out.found += _friction_findings(source, kept, wanted, own, theirs)


def _friction_findings(
    source: Source, kept: NDArray[np.intp], wanted: NDArray[np.bool_], own: Floats, theirs: Floats
) -> list[Finding]:
    """The pairs whose friction is not MuJoCo's, by friction."""
    total = own[:, None] + own[None]
    ours = np.where(total > 1e-12, 2 * own[:, None] * own[None] / np.where(total > 0, total, 1), 0)
    different: dict[tuple[float, float], list[tuple[str, str]]] = {}
    for i, j in zip(*np.nonzero(np.triu(wanted & (np.abs(ours - theirs) > 1e-9)))):
        names = (source.name("GEOM", int(kept[i])), source.name("GEOM", int(kept[j])))
        different.setdefault((float(ours[i, j]), float(theirs[i, j])), []).append(names)
    return [
        Finding(Code.FRICTION, "", pairs[0][0], {"pairs": pairs, "have": have, "want": want})
        for (have, want), pairs in different.items()
    ]


def _set_filters(source: Source, tree: Tree, rows: Rows, kept: NDArray[np.intp], wanted: NDArray[np.bool_]) -> None:
    """Filters exactly the pairs that cannot collide in MuJoCo: by groups, then by bodies, then by single pairs."""
    m, body = source.m, np.array(rows.columns["shape_body"])
    classes = np.stack([np.array(m.geom_contype)[kept], np.array(m.geom_conaffinity)[kept]], axis=1)
    _, kind = np.unique(classes, axis=0, return_inverse=True)
    kind = kind.ravel()
    group = np.ones(len(kept), np.int32)
    for k in range(int(kind.max()) + 1):
        members = kind == k
        if not np.any(wanted[np.ix_(members, members)]):
            group[members] = -1 - k
    rows.columns["shape_collision_group"] = group
    a, b = group[:, None], group[None]
    allowed = np.where((a > 0) & (b > 0), a == b, a != b)
    active = np.array(rows.columns["shape_flags"]) == 3
    allowed &= active[:, None] & active[None]
    weld = source.weld[np.array(m.geom_bodyid)[kept]]
    allowed &= weld[:, None] != weld[None]
    joints = list(zip(tree.rows.columns["joint_parent"], tree.rows.columns["joint_child"]))
    rows.columns.update(_filters(joints, body, allowed, wanted))


def _filters(
    joints: list[tuple[int, int]],
    body: NDArray[np.int32],
    allowed: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
) -> dict[str, Any]:
    """The columns that filter the pairs of shapes that are allowed and not wanted."""
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for i, j in zip(*np.nonzero(np.triu(allowed & ~wanted))):
        key = (int(min(body[i], body[j])), int(max(body[i], body[j])))
        pairs.setdefault(key, []).append((int(i), int(j)))
    touching = {(int(min(body[i], body[j])), int(max(body[i], body[j]))) for i, j in zip(*np.nonzero(wanted))}
    by_joint = {tuple(sorted(pair)) for pair in joints}
    bodies, shapes = [], []
    for key, found in pairs.items():
        if key[0] >= 0 and key not in touching:
            bodies += [key] if key not in by_joint else []
        else:
            shapes += found
    filters: dict[str, Any] = {"body_filter_pairs": bodies, "shape_filter_pairs": shapes}
    return {
        "joint_filter_parent": [int(pair[0] < 0 or tuple(sorted(pair)) not in touching) for pair in joints],
        **{name: pairs for name, pairs in filters.items() if pairs},
    }
