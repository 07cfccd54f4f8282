"""The parts of a MuJoCo model, converted for one law, and the columns of our arrays that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .actuators import Drives, drives
from .bodies import Tree, dofs
from .equalities import Constraints, equalities
from .geoms import Shapes, shapes
from .in_step import StepActuators, choose
from .report import Finding
from .source import Source
from .tendons import Tendons, all_or_none, tendons
from .transmission import Actuator, actuators, driven_tendons


@dataclass
class Parts:
    source: Source
    tree: Tree
    tendons: Tendons
    actuators: Sequence[Actuator]
    step: StepActuators
    drives: Drives
    constraints: Constraints
    shapes: Shapes
    columns: dict[str, Any]
    found: list[Finding]


def parts(source: Source, tree: Tree) -> Parts:
    of_dofs, lost_limits = dofs(source)
    pulled = tendons(source, tree, driven_tendons(source))
    if source.law == "mujoco":
        pulled = all_or_none(source, pulled)
    columns = {**tree.rows.columns, **of_dofs, **pulled.columns}
    acting = actuators(source, pulled)
    step = choose(source, acting)
    driven = drives(source, tree, pulled, columns, acting, step)
    bound = equalities(source, tree, pulled)
    shaped = shapes(source, tree)
    columns |= {**driven.columns, **bound.rows.columns, **shaped.rows.columns}
    found = [*tree.found, *lost_limits, *pulled.found, *driven.found, *bound.found, *shaped.found]
    return Parts(source, tree, pulled, acting, step, driven, bound, shaped, columns, found)
