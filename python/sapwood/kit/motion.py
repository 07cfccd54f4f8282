"""How the base of a robot moves, in its own axes: what a policy can measure."""

from __future__ import annotations

from typing import NamedTuple

from ..conventions import quat_matrix
from ..xp import Array, cast, module
from .distributions import Floats


class BaseMotion(NamedTuple):
    """[worlds][3] each, in the axes of the base."""

    gravity: Floats  # its direction: (0, 0, -1) for a base that stands upright
    velocity: Floats  # m/s, of the centre of mass
    turning: Floats  # rad/s, angular velocity


def base_motion(joint_q: Array, joint_qd: Array, q: int = 0, qd: int = 0) -> BaseMotion:
    """The motion of a body with a free joint whose first coordinate is `q` and whose first dof is `qd`."""
    rotation, velocity = quat_matrix(joint_q[:, q + 3 : q + 7]), cast(joint_qd[:, qd : qd + 6], "f64")
    turn = module(rotation).einsum
    return BaseMotion(
        -rotation[:, 2], turn("nji,nj->ni", rotation, velocity[:, :3]), turn("nji,nj->ni", rotation, velocity[:, 3:])
    )
