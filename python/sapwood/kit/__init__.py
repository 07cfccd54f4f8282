"""Parts of tasks: commands, rewards, signals, motion, motors, pushes, randomisation, curricula (docs/tasks.md).

Every part has one row per world, and draws random numbers by a key of the world: a world's numbers do not depend on
other worlds, their number or the process that steps them.
"""

from .commands import Commands
from .curriculum import Levels
from .distributions import Gaussian, LogUniform, Uniform
from .motion import BaseMotion, base_motion
from .motors import DcMotor
from .pushes import Pushes
from .randomize import Randomizer, Scale, Value
from .rewards import Rewards
from .signals import Delay, History, LowPass, Noise

__all__ = [
    "BaseMotion",
    "Commands",
    "DcMotor",
    "Delay",
    "Gaussian",
    "History",
    "Levels",
    "LogUniform",
    "LowPass",
    "Noise",
    "Pushes",
    "Randomizer",
    "Rewards",
    "Scale",
    "Uniform",
    "Value",
    "base_motion",
]
