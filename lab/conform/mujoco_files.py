"""Compares MuJoCo's law with MuJoCo itself: the cases and trajectories of reference files (lab/conform/README.md).

    python lab/conform/mujoco_files.py [--verbose] FILE...

`sapwood conform` runs this text for files of MuJoCo. A file names its model in MJCF; MuJoCo's compiler reads it, and
the package imports it as for a user. There are three kinds:

- cases with rows: forces of actuators, springs and dampers are those of the import, contacts those of the file, except
  in a step of RK4 and in trajectories, which find their own;
- cases with fields of MjData, which sapwood.mujoco.batch computes and steps: whatever the import loses fails;
- pairs of geoms with the contacts that MuJoCo finds.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

try:
    import mujoco
    import numpy as np

    import sapwood
    from sapwood._layout import BITS
except ImportError as error:
    sys.exit(f"files of MuJoCo need the Python package with MuJoCo: pip install 'sapwood[test]' ({error})")

# The largest error of rows and matrices relative to the largest entry (R: of each row), of solutions relative to the
# largest entry, of next states, and of the coordinates of a trajectory, which may grow as a nudge of its start does.
ASSEMBLED, SOLVED, NEXT, PATH, PATH_GROWTH = 1e-12, 1e-9, 1e-10, 1e-10, 1e-11
PATH_TOLERANCE = 1e-14  # of the solver, with which the trajectories of the files were made
INTEGRATORS = {"Euler": 0, "implicitfast": 3, "discrete": 4, "RK4": 1}  # mjtIntegrator
COLUMNS = ["w", "M", "J", "R", "aref", "qacc", "force", "path", *INTEGRATORS]
SIMPLE = [int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")) for kind in ("PLANE", "SPHERE", "CAPSULE")]
FLUID = ("option 'density'", "option 'viscosity'")  # forces that no import has
OPTIONS = {"threads": 1, "max_contacts": 128}


class BadFile(Exception):
    """The file cannot be used."""


@dataclass
class Comparison:
    where: str  # "case 2"
    what: str
    error: float
    passed: bool


@dataclass
class Report:
    path: str
    comparisons: list[Comparison] = field(default_factory=list)
    worst: dict[str, float] = field(default_factory=dict)  # error by column
    rows: list[int] = field(default_factory=list)  # of each case

    def add(self, where: str, what: str, error: Any, tolerance: float = 0.0, column: str = "") -> None:
        error = float(error)
        self.comparisons.append(Comparison(where, what, error, error <= tolerance))
        if column:
            self.worst[column] = max(error, self.worst.get(column, 0.0))

    @property
    def failed(self) -> list[Comparison]:
        return [c for c in self.comparisons if not c.passed]

    def lines(self, verbose: bool) -> Iterator[str]:
        for c in self.comparisons if verbose else self.failed:
            yield f"{'ok' if c.passed else 'FAIL':<4} {self.path} {c.where}: {c.what} {c.error:.1e}"
        errors = (f"{name} {self.worst[name]:.0e}" if name in self.worst else f"{name} -" for name in COLUMNS)
        name = Path(self.path).name.split(".")[0]
        yield f"{name:<22} rows {min(self.rows, default=0)} .. {max(self.rows, default=0)} {' '.join(errors)}"


# ---- errors ----


def relative(ours: Any, theirs: Any) -> float:
    """The largest difference over the largest stored number; infinite if the shapes differ or ours is not finite."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape or not np.all(np.isfinite(ours)):
        return np.inf
    error = float(np.abs(ours - theirs).max(initial=0))
    return error / float(np.abs(theirs).max()) if error else 0.0


def relative_each(ours: Any, theirs: Any) -> float:
    """The largest relative difference of single numbers."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape or not np.all(np.isfinite(ours)):
        return np.inf
    different, larger = np.abs(ours - theirs), np.maximum(np.abs(ours), np.abs(theirs))
    return float((different[larger > 0] / larger[larger > 0]).max(initial=0))


def differ(ours: Any, theirs: Any) -> float:
    """The number of different integers."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return float(np.count_nonzero(ours != theirs)) if ours.shape == theirs.shape else np.inf


# ---- models ----


def mjcf_path(path: Path, name: str) -> Path:
    """The model of a file: beside it, or in the package that its path begins with."""
    if (path.parent / name).exists():
        return path.parent / name
    package = importlib.util.find_spec(name.split("/")[0])
    if package is None or package.origin is None:
        raise BadFile(f"{path}: its model {name} is not beside it, and there is no package {name.split('/')[0]}")
    return Path(package.origin).parents[1] / name


def compile_model(path: Path, data: dict[str, Any]) -> Any:
    """The mjModel, which must be the one that the file was made with."""
    m = mujoco.MjModel.from_xml_path(str(mjcf_path(path, data["mjcf"])))
    for name in data["constants"].keys() - {"opt", "meaninertia"}:
        ours, theirs = np.asarray(getattr(m, name), float), np.asarray(data["constants"][name], float)
        if name in ("actuator_gainprm", "actuator_biasprm") and theirs.size == 3 * len(ours):
            ours = ours[:, :3]
        if relative(ours.ravel(), theirs.ravel()) > 1e-12:
            raise BadFile(f"{path}: MuJoCo {mujoco.__version__} compiles another {name} than {data['mujoco']}")
    m.opt.solver, m.opt.iterations = mujoco.mjtSolver.mjSOL_NEWTON, 100  # as the file was made
    return m


def import_model(m: Any, integrator: str, tolerance: float) -> sapwood.Model:
    m = copy.copy(m)
    m.opt.integrator, m.opt.tolerance = INTEGRATORS[integrator], tolerance
    return sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco")


def finds_contacts(m: Any) -> bool:
    """Whether our collision finds the contact points of MuJoCo: between planes, spheres and capsules."""
    solid = (m.geom_contype | m.geom_conaffinity) != 0
    solid[m.pair_geom1], solid[m.pair_geom2] = True, True
    return bool(np.all(np.isin(m.geom_type[solid], SIMPLE)))


# ---- cases ----


class Stepper:
    """A solver of one world with the integrator and tolerance, and the arrays of its steps."""

    def __init__(self, m: Any, integrator: str, tolerance: float) -> None:
        self.m, self.model = m, import_model(m, integrator, tolerance)
        assert self.model.imported is not None
        self.imported, self.coordinates = self.model.imported, self.model.imported.coordinates
        self.lost = [text for text in self.imported.lost if not text.startswith(FLUID)]
        self.solver = sapwood.Solver(self.model, 1, options={**dict(self.model.options or {}), **OPTIONS})
        self.rows = self.solver.record_rows(512)
        self.before, self.after, self.control = self.solver.state(), self.solver.state(), self.solver.control()

    def step(self, case: dict[str, Any]) -> None:
        """A step of the case from its state, with its controls, contacts and warm start."""
        m, before = self.m, self.before
        before.joint_q = self.coordinates.joint_q(case["qpos"])
        before.joint_qd = self.coordinates.joint_qd(before.joint_q[0], case["qvel"])
        self.turn = self.coordinates.internal(before.joint_q[0], m.nv)  # our internal velocity is turn @ qvel
        acceleration = np.asarray(case["qacc_warmstart"])
        self.control.guess = self.turn @ (np.asarray(case["qvel"]) + m.opt.timestep * acceleration)
        self.drive(case)
        self.solver.step(before, self.after, self.control, self.contacts(case["contacts"]), m.opt.timestep)
        self.count = int(self.rows.count[0])

    def drive(self, case: dict[str, Any]) -> None:
        """Controls, and the forces of a fluid, which the import does not have."""
        actuation, control = self.imported.actuation, self.control
        control.joint_f = 0.0
        for name, values in actuation.arrays(actuation.clip(case["ctrl"])).items():
            getattr(control, name)[0, actuation.used[name]] = values
        data = mujoco.MjData(self.m)
        data.qpos[:], data.qvel[:] = case["qpos"], case["qvel"]
        mujoco.mj_fwdPosition(self.m, data)
        mujoco.mj_fwdVelocity(self.m, data)
        control.joint_f += self.coordinates.joint_f(self.before.joint_q[0], data.qfrc_fluid)

    def contacts(self, given: list[dict[str, Any]]) -> sapwood.Contacts:
        out, n = sapwood.Contacts(1, max(1, len(given))), len(given)
        parts = ("pos", "frame", "dist", "margin", "friction", "solref", "solreffriction", "solimp", "dim")
        if n:
            out.mujoco = 0.0
            out.mujoco[0] = [np.concatenate([np.ravel(contact[part]) for part in parts]) for contact in given]
            body = self.imported.body[self.m.geom_bodyid[np.array([contact["geom"] for contact in given])]]
            out.body0, out.body1, out.count = body[:, 0], body[:, 1], n
        return out

    def row(self, name: str) -> Any:
        return getattr(self.rows, name)[0, : self.count]

    @property
    def qacc(self) -> Any:
        return self.turn.T @ self.rows.qacc[0]

    @property
    def mass_matrix(self) -> Any:
        A = self.solver.free_motion(self.before, self.control, self.m.opt.timestep)["A"][0]
        return self.turn.T @ A @ self.turn


def state_error(coordinates: Any, joint_q: Any, joint_qd: Any, theirs: dict[str, Any]) -> float:
    """The largest difference of coordinates, and of velocities if the file has them. Signs of quaternions are free."""
    q = coordinates.qpos(joint_q)
    if not np.all(np.isfinite(q)):
        return np.inf
    for at in [at + 3 for at, _, _ in coordinates.free] + [at for at, _ in coordinates.ball]:
        q[at : at + 4] *= np.sign(q[at : at + 4] @ np.asarray(theirs["qpos"])[at : at + 4])
    error = float(np.abs(q - theirs["qpos"]).max())
    if "qvel" in theirs:
        error = max(error, float(np.abs(coordinates.qvel(joint_q, joint_qd) - theirs["qvel"]).max()))
    return error


class File:
    """A file at work: one solver for each integrator with tolerance 0, and one with the tolerance of the file."""

    def __init__(self, path: str) -> None:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as stream:
            self.data = json.load(stream)
        self.report, self.m = Report(path), compile_model(Path(path), self.data)
        self.steppers = {name: Stepper(self.m, name, 0.0) for name in INTEGRATORS}
        self.loose = Stepper(self.m, "Euler", self.data["constants"]["opt"]["tolerance"])

    def run(self) -> Report:
        self.compare_weights()
        for i, case in enumerate(self.data["cases"]):
            self.compare_case(f"case {i}", case)
        for i, path in enumerate(self.data["trajectories"]):
            self.follow(f"trajectory {i}", path)
        return self.report

    def compare_weights(self) -> None:
        """Weights that the library computes. MuJoCo has another rule for a body alone on slides along its own axes."""
        m, imported = self.m, self.loose.imported
        body, dof, tendon = self.loose.model.mujoco_weights()
        alone = (m.body_invweight0[:, 1] == 0) & (np.abs(m.body_invweight0[:, 0] * m.body_mass - 1) < 1e-12)
        ours = np.flatnonzero((imported.body >= 0) & ~alone)
        dofs = np.isin(m.dof_bodyid, ours)
        kept = imported.tendon >= 0
        errors = [
            relative_each(body[imported.body[ours]], m.body_invweight0[ours]),
            relative_each(dof[dofs], m.dof_invweight0[dofs]),
            relative_each(tendon[imported.tendon[kept]], m.tendon_invweight0[kept]),
        ]
        self.report.add("model", "weights", max(errors), ASSEMBLED, "w")

    def compare_case(self, where: str, case: dict[str, Any]) -> None:
        add, newton = self.report.add, case["newton"]
        self.loose.step(case)
        counts = self.loose.solver.report
        add(where, "iterations", abs(counts.iterations[0] - newton["iterations"]))
        add(where, "line-search evaluations", abs(counts.line_iterations[0] - sum(newton["evaluations"])))
        add(where, "M", relative(self.loose.mass_matrix, case["M"]), ASSEMBLED, "M")
        step = self.steppers["Euler"]
        step.step(case)
        status = int(step.solver.status[0])
        add(where, "status", status & BITS["SAP_WORLD_FAILED"])
        self.report.rows.append(step.count)
        self.compare_rows(where, step, case["rows"])
        add(where, "qacc", relative(step.qacc, case["qacc"]), SOLVED, "qacc")
        for name, step in self.steppers.items():
            if not step.lost and (name == "Euler" or not step.imported.lost):
                self.compare_next(where, name, step, case)

    def compare_rows(self, where: str, step: Stepper, rows: dict[str, Any]) -> None:
        add = self.report.add
        add(where, "types of rows", differ(step.row("type"), rows["type"]))
        if not step.count:
            return
        J = step.row("jacobian") @ step.turn
        add(where, "J", relative(J, np.reshape(rows["J"], J.shape)), ASSEMBLED, "J")
        for ours, theirs in (("pos", "pos"), ("margin", "margin"), ("velocity", "vel"), ("impedance", "imp")):
            add(where, theirs, relative(step.row(ours), rows[theirs]), ASSEMBLED)
        self.compare_law(where, "", step, rows)
        add(where, "states of rows", differ(step.row("state"), rows["state"]))

    def compare_law(self, where: str, of: str, step: Stepper, rows: dict[str, Any]) -> None:
        add = self.report.add
        add(where, f"R{of}", relative_each(step.row("R"), rows["R"]), ASSEMBLED, "R")
        add(where, f"aref{of}", relative(step.row("aref"), rows["aref"]), ASSEMBLED, "aref")
        add(where, f"force{of}", relative(step.row("force"), rows["force"]), SOLVED, "force")

    def compare_next(self, where: str, name: str, step: Stepper, case: dict[str, Any]) -> None:
        theirs = case["next"][name]
        after: Any = step.after
        if name == "RK4":
            if not finds_contacts(self.m):
                return
            batch = self.batch_of(step.model)
            batch.qpos, batch.qvel, batch.ctrl = case["qpos"], case["qvel"], case["ctrl"]
            batch.step(1)
            after = batch
        elif name != "Euler":
            step.step(case)
        if name == "discrete" and step.count:
            self.compare_law(where, " of discrete", step, theirs)
            self.report.add(where, "qacc of discrete", relative(step.qacc, theirs["qacc"]), SOLVED, "qacc")
        error = state_error(step.coordinates, after.joint_q[0], after.joint_qd[0], theirs)
        self.report.add(where, f"next state of {name}", error, NEXT, name)

    # ---- trajectories ----

    def batch_of(self, model: sapwood.Model) -> sapwood.Batch:
        return sapwood.Batch(model, 1, options={**dict(model.options or {}), **OPTIONS})

    def follow(self, where: str, path: dict[str, Any]) -> None:
        step = self.steppers[path["integrator"]]
        if step.imported.lost or not finds_contacts(self.m):
            return
        batch, error = self.batch_of(import_model(self.m, path["integrator"], PATH_TOLERANCE)), 0.0
        batch.dt = path["timestep"]
        batch.qpos, batch.qvel = path["qpos0"], path["qvel0"]
        for ctrl, qpos in zip(path["ctrl"], path["qpos"]):
            batch.ctrl[:] = ctrl
            batch.step(1)
            error = max(error, state_error(step.coordinates, batch.joint_q[0], batch.joint_qd[0], {"qpos": qpos}))
        what = f"{path['integrator']}, growth {path['growth']:.0e}:"
        self.report.add(where, what, error, PATH + PATH_GROWTH * path["growth"], "path")


# ---- fields ----

FIELD, SENSOR, SOLUTION, STATE, TRAJECTORY, WILD = 1e-12, 1e-9, 1e-9, 1e-10, 1e-8, 1e5
NOT_COMPARED = ("contacts", "efc")
SOLVES = ("qacc", "qfrc_constraint", "cacc", "cfrc_int", "cfrc_ext")  # fields that depend on the solve


class FieldsFile:
    """A file of fields: what sapwood.mujoco.batch derives from states, its steps and its trajectories."""

    def __init__(self, path: str, data: dict[str, Any]) -> None:
        self.report, self.data, self.m = Report(path), data, compile_model(Path(path), data)
        self.m.opt.tolerance, self.m.opt.iterations = 0, 200
        self.m.opt.ls_iterations, self.m.opt.ls_tolerance = 100, 1e-10
        self.m.opt.disableactuator = int(data["constants"]["opt"]["disableactuator"])
        self.m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ISLAND)

    def run(self) -> Report:
        self.attempt("fields", self.compare_fields)
        for integrator in self.data["cases"][0]["next"]:
            self.attempt(f"next state of {integrator}", lambda name=integrator: self.compare_steps(name))
        for k, path in enumerate(self.data["trajectories"]):
            self.attempt(f"trajectory {k}", lambda k=k, path=path: self.compare_trajectory(k, path))
        return self.report

    def attempt(self, what: str, compare: Callable[[], None]) -> None:
        """What is refused fails."""
        try:
            compare()
        except (ValueError, NotImplementedError) as error:
            self.report.add(what, f"refused: {error}", np.inf)

    def batch(self, count: int, integrator: str, tolerance: float = 0.0) -> Any:
        from sapwood.mujoco import batch

        m = copy.copy(self.m)
        m.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}"))
        m.opt.tolerance = tolerance
        return batch.Batch(m, count, 1, quiet=True)

    def set_states(self, b: Any) -> None:
        for i, case in enumerate(self.data["cases"]):
            for name, values in case["state"].items():
                b.bind(name)[i] = np.reshape(values, b.bind(name)[i].shape)
            b.time[i] = case["time"]

    def compare_fields(self) -> None:
        cases = self.data["cases"]
        b = self.batch(len(cases), self.data["integrator"])
        self.set_states(b)
        names = {name for case in cases for name in case["expect"]} - {*NOT_COMPARED}
        fields = {name: b.bind(name) for name in names}
        rows = {name: b.bind(name) for name in ("actuator_moment", "moment_rownnz", "moment_colind", "ncon")}
        b.forward()
        for i, case in enumerate(cases):
            self.report.rows.append(len(case["expect"].get("efc", {}).get("type", [])))
            for name in sorted(names):
                ours = fields[name][i]
                if name in ("ten_J", "actuator_moment", "M"):
                    ours = self.dense(name, ours, {key: array[i] for key, array in rows.items()})
                tolerance = SENSOR if name == "sensordata" else SOLUTION if name in SOLVES else FIELD
                values = np.ravel(case["expect"].get(name, np.zeros_like(ours)))  # zeros are left out
                self.report.add(f"case {i}", name, scaled(ours.ravel(), values), tolerance)

    def dense(self, name: str, values: Any, sparse: dict[str, Any]) -> Any:
        """A matrix in full; M is symmetric."""
        m = self.m
        counts, columns = {
            "ten_J": (m.ten_J_rownnz, m.ten_J_colind),
            "actuator_moment": (sparse["moment_rownnz"], sparse["moment_colind"]),
            "M": (m.M_rownnz, m.M_colind),
        }[name]
        row = np.repeat(np.arange(len(counts)), counts)
        out = np.zeros((len(counts), m.nv))
        out[row, columns[: len(row)]] = values[: len(row)]
        return out + np.tril(out, -1).T if name == "M" else out

    def compare_steps(self, integrator: str) -> None:
        cases = self.data["cases"]
        b = self.batch(len(cases), integrator)
        self.set_states(b)
        b.step()
        for i, case in enumerate(cases):
            theirs = case["next"][integrator]
            if isinstance(theirs, str):  # MuJoCo's message
                continue
            error = max(scaled(b.bind(name)[i].ravel(), np.ravel(values)) for name, values in theirs.items())
            self.report.add(f"case {i}", f"next state of {integrator}", error, STATE, integrator)

    def compare_trajectory(self, k: int, path: dict[str, Any]) -> None:
        if path["growth"] >= WILD:
            return
        b, error = self.batch(1, path["integrator"], PATH_TOLERANCE), 0.0
        b.qpos, b.qvel = path["qpos0"], path["qvel0"]
        inputs = {int(at["step"]): at for at in path["inputs"] or []}
        for step in range(len(path["qpos"]) * path["stride"]):
            for name, values in inputs.get(step, {}).items():
                if name != "step":
                    b.bind(name)[0] = np.reshape(values, b.bind(name)[0].shape)
            if path["ctrl"]:
                b.ctrl = path["ctrl"][min(step // path["hold"], len(path["ctrl"]) - 1)]
            b.step()
            if step % path["stride"] == path["stride"] - 1:
                error = max(error, scaled(b.qpos[0], path["qpos"][step // path["stride"]]))
        self.report.add(f"trajectory {k}", f"trajectory, growth {path['growth']:.0e}:", error, TRAJECTORY, "path")


def scaled(ours: Any, theirs: Any) -> float:
    """The largest difference over the largest stored number, or over 1."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape or not np.all(np.isfinite(ours)):
        return np.inf
    return float(np.abs(ours - theirs).max(initial=0)) / max(1.0, float(np.abs(theirs).max(initial=0)))


# ---- pairs of geoms ----

DISTANCE, POINT = 1e-9, 1e-6


class PairsFile:
    """A file of pairs of geoms: number, distances, points and normals of contacts."""

    def __init__(self, path: str, data: dict[str, Any]) -> None:
        self.report, self.data = Report(path), data

    def run(self) -> Report:
        for pair in self.data["pairs"]:
            if not pair["cases"]:
                continue
            m = mujoco.MjModel.from_xml_string(pair["mjcf"])
            model = sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco")
            batch = sapwood.Batch(model, len(pair["cases"]), options={**dict(model.options or {}), **OPTIONS})
            for name in ("contact_position", "contact_gap", "contact_frame"):
                getattr(batch, name)
            batch.qpos = [case["qpos"] for case in pair["cases"]]
            batch.step(1)
            for i, case in enumerate(pair["cases"]):
                self.compare(f"{pair['a']} - {pair['b']}, case {i}", batch, i, case["contacts"])
        return self.report

    def compare(self, where: str, batch: sapwood.Batch, i: int, theirs: list[dict[str, Any]]) -> None:
        count = int(batch.contact_count[i])
        self.report.rows.append(len(theirs))
        self.report.add(where, "number of contacts", abs(count - len(theirs)))
        if count != len(theirs) or not count:
            return
        points, distances = batch.contact_position[i, :count], batch.contact_gap[i, :count]
        normals = batch.contact_frame[i, :count].reshape(count, 3, 3)[:, 2]
        place = np.array([contact["pos"] for contact in theirs])
        order = np.argmin(np.linalg.norm(points[None] - place[:, None], axis=-1), axis=1)  # ours for each of theirs
        error = np.abs(distances[order] - [contact["dist"] for contact in theirs]).max()
        self.report.add(where, "distances", error, DISTANCE)
        self.report.add(where, "points", np.abs(points[order] - place).max(), POINT)
        normal = np.array([contact["frame"][:3] for contact in theirs])
        aligned = np.abs(np.sum(normals[order] * normal, axis=1))
        self.report.add(where, "normals", np.abs(1 - aligned).max(), POINT)


def open_file(path: str) -> File | FieldsFile | PairsFile:
    """A file of any kind."""
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as stream:
        data = json.load(stream)
    if "pairs" in data:
        return PairsFile(path, data)
    if data["cases"] and "expect" in data["cases"][0]:
        return FieldsFile(path, data)
    return File(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--verbose", action="store_true", help="print every comparison, not only those that fail")
    mujoco.set_mju_user_warning(lambda text: None)  # it writes warnings of its compiler into MUJOCO_LOG.TXT
    args, passed, failed = parser.parse_args(), 0, 0
    for path in args.files:
        try:
            report = open_file(path).run()
        except (BadFile, OSError, ValueError, KeyError, TypeError) as error:
            print(f"{path}: {error if isinstance(error, BadFile) else repr(error)}", file=sys.stderr)
            return 2
        print("\n".join(report.lines(args.verbose)), flush=True)
        failed += len(report.failed)
        passed += len(report.comparisons) - len(report.failed)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
