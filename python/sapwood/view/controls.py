"""Controls of the live viewer: buttons and keys that act between two steps of the batch."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import Any

import numpy as np

from ..batch import Batch
from ..conventions import Floats
from ..model import JOINT_TYPES, Model

GRAVITY = 9.81  # m/s^2
SPEEDS = {"1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "real time": 1.0, "2": 2.0, "4": 4.0, "as fast as possible": math.inf}
KEYS = {"pause": "space", "step": "S", "reset": "R", "push": "P", "follow": "F", "next world": "N"}
POLL = 0.02  # s


def free_base(model: Model) -> tuple[int, int] | None:
    """(body, first dof) of the first free joint."""
    free = np.nonzero(np.array(model.joint_type) == JOINT_TYPES["SAP_JOINT_FREE"])[0]
    return (int(model.joint_child[free[0]]), int(model.joint_qd_start[free[0]])) if len(free) else None


def base_place(model: Model, body_q: Floats) -> Floats:
    """[3] m, where a camera looks that follows the free base of a world: its height counts on terrain only."""
    base = free_base(model)
    place = np.zeros(3) if base is None else body_q[base[0], :3] * [1.0, 1.0, float(model.num_height_fields > 0)]
    return np.asarray(np.where(np.isfinite(place), place, 0.0))


class Controls:
    """What a user asks for. Callbacks run in threads of the server: they only note it; `apply` and `wait` act in the
    thread that steps the batch."""

    def __init__(self, server: Any, batch: Batch, world: int, speed: float, follow: bool, size: float) -> None:
        self.paused, self.world, self.follow, self.speed = False, world, follow, speed
        self.worlds, self.base, self.size = batch.num_worlds, free_base(batch.model), size
        self.random, self.asked, self.stepping = np.random.default_rng(0), deque[str](), False
        self._due, self._time = time.monotonic(), math.nan
        self._build(server.gui)

    def _build(self, gui: Any) -> None:
        buttons = {name: gui.add_button(f"{name} ({key})") for name, key in KEYS.items() if name != "follow"}
        for name, button in buttons.items():
            button.on_click(lambda _, name=name: self.ask(name))
        names = {value: name for name, value in SPEEDS.items()}
        initial = names.get(self.speed, "real time")
        self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value=initial)
        self._speed.on_update(lambda _: setattr(self, "speed", SPEEDS[self._speed.value]))
        self._world = gui.add_number("world", self.world, min=0, max=self.worlds - 1, step=1)
        self._world.on_update(lambda _: setattr(self, "world", int(self._world.value)))
        self._follow = gui.add_checkbox("follow (F)", self.follow)
        self._follow.on_update(lambda _: setattr(self, "follow", bool(self._follow.value)))
        self._shown = gui.add_markdown("")
        for name, key in KEYS.items() if hasattr(gui, "add_command") else ():
            gui.add_command(name, hotkey=key).on_trigger(lambda _, name=name: self.ask(name))

    def ask(self, name: str) -> None:
        """Notes what a button or a key asks for: a name of KEYS."""
        if name == "pause":
            self.paused = not self.paused
        elif name == "follow":
            self.follow = not self.follow
            self._follow.value = self.follow
        elif name == "next world":
            self.world = (self.world + 1) % self.worlds
            self._world.value = self.world
        else:
            self.asked.append(name)

    def apply(self, batch: Batch) -> bool:
        """Does what was asked for; true if that changed a world."""
        changed = False
        while self.asked:
            name = self.asked.popleft()
            if name == "step":
                self.paused = self.stepping = True
            elif name == "reset":
                batch.reset([self.world])
                changed = True
            elif name == "push":
                self._push(batch)
                changed = True
        return changed

    def _push(self, batch: Batch) -> None:
        """A base gets a horizontal speed with which it would slide a tenth of its size; without one all joints move."""
        velocity = np.array(batch._get("joint_qd"))
        if self.base is None:
            velocity[self.world] += self.random.uniform(-1, 1, velocity.shape[1])
        else:
            angle, dof = self.random.uniform(0, 2 * np.pi), self.base[1]
            speed = math.sqrt(0.1 * GRAVITY * self.size)
            velocity[self.world, dof : dof + 2] += speed * np.array([np.cos(angle), np.sin(angle)])
        batch.joint_qd = velocity

    def wait(self, now: float) -> None:
        """Sleeps until the time `now` of the world, s, is due at the chosen speed."""
        passed, self._time = now - self._time, now
        here = time.monotonic()
        if not passed > 0 or math.isinf(self.speed):  # a reset, or the first call
            self._due = here
            return
        self._due = max(self._due + passed / self.speed, here - POLL)
        time.sleep(max(0.0, self._due - here))

    def is_held(self) -> bool:
        """Whether the batch must not step on; a single step is granted once."""
        held = self.paused and not self.stepping
        self.stepping = False
        return held

    def show(self, now: float, status: str) -> None:
        state = "paused, " if self.paused else ""
        self._shown.content = f"{state}world {self.world}, {now:.2f} s{f', {status}' if status else ''}"

    def shift(self, model: Model, body_q: Floats) -> Floats:
        """How far the camera moves: to the base of the first of these worlds, [worlds][bodies][7]."""
        return base_place(model, body_q[0]) if self.follow else np.zeros(3)
