"""Worlds to look at, one set for each feature: `python -m sapwood demo --list`, or `sapwood demo`.

    show = demo.open("walk")
    for _ in range(50):
        show.step()                      # 0.02 s
    print(show.outcome())                # numbers that say whether it works

`DEMOS` has them by name. They need `pip install sapwood[demo]`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import terrain, view
from ..arguments import integer, nearest
from ..batch import FAILED, Batch
from ..dump import Dump
from ..model import Model
from ..shipped import scene

PICTURE = 0.02  # s between two pictures


@dataclass
class Show:
    """A demo that runs: batches of one model, side by side on a page."""

    batches: list[Batch]
    step: Callable[[], None]  # moves the worlds by PICTURE
    outcome: Callable[[], dict[str, float]]  # what it has shown so far, in numbers
    about: str = ""
    names: Sequence[str] = field(default=())  # of the batches, if there are several

    @property
    def model(self) -> Model:
        return self.batches[0].model

    def frame(self) -> view.Frame:
        """A picture of all worlds."""
        frames = [view.capture(batch, batch.num_worlds) for batch in self.batches]
        first = np.cumsum([0] + [len(frame.body_q) for frame in frames])
        joined = [np.concatenate([getattr(f, name) for f in frames]) for name in ("body_q", "failed")]
        world = np.concatenate([f.force_world + start for f, start in zip(frames, first)])
        forces = [np.concatenate([getattr(f, name) for f in frames]) for name in ("force_at", "force")]
        return view.Frame(frames[0].time, joined[0], joined[1], world, forces[0], forces[1], frames[0].shape_mesh)


# ---- a quadruped that walks by a policy of the package ----


class Policy:
    """The policy that examples/quadruped_es.py learned in 90 s: tanh of a linear function of the observation."""

    def __init__(self) -> None:
        with np.load(Path(__file__).parent / "walk.npz") as file:
            self.mean, self.scale, self.weights = (file[name].astype(np.float64) for name in file)

    def __call__(self, observation: NDArray[Any]) -> NDArray[np.float64]:
        """Actions for observations [worlds][columns]; columns after those that it has learned with are unused."""
        seen = np.clip((observation[:, : len(self.mean)] - self.mean) * self.scale, -5, 5)
        return np.asarray(np.tanh(seen @ self.weights[:, :-1].T + self.weights[:, -1]))


def _walk(worlds: int, ground: terrain.Ground | None = None) -> Show:
    from ..gym import Quadruped

    env = Quadruped(worlds, command=(0.6, 0.0, 0.0), ground=ground, time_limit=10**9)
    policy, falls = Policy(), np.zeros(worlds, bool)
    observation, _ = env.reset(seed=0)
    start, steps = np.array(env.batch.joint_q[:, 0], np.float64), 0

    def step() -> None:
        nonlocal observation, steps
        observation, _, fallen, _, _ = env.step(policy(observation))
        falls[:] |= np.asarray(fallen)
        steps += 1

    def outcome() -> dict[str, float]:
        way = (np.array(env.batch.joint_q[:, 0], np.float64) - start)[~falls]
        speed = float(way.mean()) / (PICTURE * steps) if steps and len(way) else 0.0
        return {"walking": int((~falls).sum()), "speed_m_per_s": speed}

    return Show([env.batch], step, outcome)


def _terrain(worlds: int) -> Show:
    return _walk(worlds, terrain.make(["rough", "slope"], levels=4))


# ---- scenes of the package ----


def _steps(batch: Batch) -> int:
    return max(1, round(PICTURE / batch.dt))


def _humanoid(worlds: int) -> Show:
    """Figures whose drives hold a pose, without a policy that balances them."""
    batch = Batch(scene("humanoid"), worlds)
    batch.perturb(0.5)
    height = float(batch.joint_q[0, 2])

    def outcome() -> dict[str, float]:
        lowest = float(np.array(batch.body_q)[:, :, 2].min())
        return {"lying": int((batch.joint_q[:, 2] < 0.5 * height).sum()), "lowest_m": lowest, "failed": _failed(batch)}

    return Show([batch], lambda: batch.step(_steps(batch)), outcome)


def _gripper(worlds: int) -> Show:
    """A rule: down to the cube, close, lift to the goal."""
    from ..gym import Gripper

    env = Gripper(worlds, time_limit=10**9)
    observation, _ = env.reset(seed=0)
    closed = np.zeros(worlds)  # s

    def step() -> None:
        nonlocal observation
        below = -observation[:, 9] / 20  # m, from the finger tips to the cube
        here = below < 0.008
        closed[:] = np.where((closed > 0) | here, closed + PICTURE, 0.0)
        lift = np.clip(observation[:, 19], -1, 1)  # 5 times the height that is missing, m
        palm = np.where(closed > 0.4, lift, np.where(here, 0.0, -0.5))
        observation = env.step(np.stack([palm, np.where(closed > 0, 1.0, -1.0)], 1))[0]

    def outcome() -> dict[str, float]:
        return {"at_goal": int((np.abs(observation[:, 19]) < 0.1).sum()), "failed": _failed(env.batch)}

    return Show([env.batch], step, outcome)


def _loops(worlds: int) -> Show:
    """Four linkages, each a closed chain, walk without a policy: motors turn the cranks."""
    batch = Batch(scene("linkage_walker"), worlds)
    batch.perturb(0.1)
    error, start = batch.constraint_error, np.array(batch.joint_q[:, 0], np.float64)  # recorded from here on

    def outcome() -> dict[str, float]:
        way = np.abs(np.array(batch.joint_q[:, 0], np.float64) - start)
        return {"way_m": float(way.mean()), "error_m": float(np.abs(np.array(error)).max()), "failed": _failed(batch)}

    return Show([batch], lambda: batch.step(_steps(batch)), outcome)


# ---- six solvers ----

SOLVERS = ("sap", "mujoco", "cone", "pgs", "pgs_rows", "active_set")
BOXES = 10


def _stack_model() -> Model:
    """Boxes of 0.1 m on top of each other, each a little off the axis."""
    text = [
        "schema_version: 1",
        "name: stack of ten",
        "simulation: {dt: 0.005, max_contacts: 64}",
        "builder: {gravity: -9.81, rigid_gap: 0.005,",
        "  defaults: {shape: {density: 1000, ke: 1e5, tau: 0.02, mu: 0.6}}}",
        "bodies:",
    ]
    for i in range(BOXES):
        x, y, z = 0.001 * (i % 3 - 1), 0.001 * (i % 2), 0.051 + 0.101 * i
        shape = "{type: box, hx: 0.05, hy: 0.05, hz: 0.05}"
        text.append(f"- {{id: b{i}, transform: {{p: [{x}, {y}, {z}]}}, shapes: [{shape}]}}")
    text.append("joints:")
    text += [f"- {{id: j{i}, type: free, parent: world, child: b{i}}}" for i in range(BOXES)]
    text.append("articulations:")
    text += [f"- {{id: a{i}, joints: [j{i}]}}" for i in range(BOXES)]
    return Model.parse("\n".join(text) + "\n", "stack of ten")


def _stack(worlds: int) -> Show:
    """The same stack under six contact solvers; `worlds` is the number of stacks of each."""
    model = _stack_model()
    batches = [Batch(model, worlds, solver=name) for name in SOLVERS]
    begin = float(batches[0].joint_q[0, 7 * BOXES - 5])

    def step() -> None:
        for batch in batches:
            batch.step(_steps(batch))

    def outcome() -> dict[str, float]:
        return {name: float(begin - batch.joint_q[0, 7 * BOXES - 5]) for name, batch in zip(SOLVERS, batches)}

    return Show(batches, step, outcome, names=SOLVERS)


# ---- a world that fails ----


def _failed(batch: Batch) -> int:
    return int((np.array(batch.status) & FAILED != 0).sum())


def _failure(worlds: int) -> Show:
    """After one second a controller gives world 0 a NaN. It turns red and keeps its last state, the others go on; a
    dump repeats the failure."""
    batch = Batch(scene("quadruped"), worlds)
    batch.perturb(0.5)
    batch.guard(8)
    pictures, replay = 0, None

    def step() -> None:
        nonlocal pictures, replay
        if pictures == 50:
            force = np.array(batch.joint_f)
            force[0, 0] = np.nan
            batch.joint_f = force
        batch.step(_steps(batch))
        if replay is None and _failed(batch):
            with tempfile.TemporaryDirectory() as folder:
                batch.dump(0, Path(folder) / "world0.dump")
                replay = Dump(Path(folder) / "world0.dump").replay()
        pictures += 1

    def outcome() -> dict[str, float]:
        return {"failed": _failed(batch), "replayed_with_the_same_bits": int(replay is not None and replay.same)}

    return Show([batch], step, outcome)


# ---- the list ----


@dataclass(frozen=True)
class Demo:
    about: str
    make: Callable[[int], Show]
    worlds: int  # by default


DEMOS = {
    "walk": Demo("quadrupeds walk by a policy that was trained in 90 s on two cores", _walk, 256),
    "terrain": Demo("the same policy on rough ground and slopes, which it has never seen", _terrain, 16),
    "humanoid": Demo("figures of 23 dofs fall, each in its own way, and come to rest", _humanoid, 16),
    "gripper": Demo("grippers grasp a cube and lift it, held by friction", _gripper, 25),
    "loops": Demo("machines of closed chains walk; their loops are constraints", _loops, 16),
    "stack": Demo("a stack of ten boxes under six contact solvers", _stack, 1),
    "failure": Demo("a world fails and keeps its state; a dump repeats the failure bit for bit", _failure, 9),
}


def open(name: str = "walk", worlds: int | None = None) -> Show:
    """A demo at its start. `worlds`: how many; None: its own number."""
    if name not in DEMOS:
        raise ValueError(f"demo is {name!r}{nearest(name, list(DEMOS), 'allowed: ' + ', '.join(DEMOS))}")
    demo = DEMOS[name]
    show = demo.make(demo.worlds if worlds is None else integer("worlds", worlds, 1, 100000))
    show.about = demo.about
    return show
