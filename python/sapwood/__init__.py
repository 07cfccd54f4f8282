"""Sapwood: simulates thousands of copies of a robot world in parallel.

>>> import sapwood
>>> model = sapwood.scene("quadruped")
>>> with sapwood.Batch(model, 1024) as batch:
...     batch.step(n=100)
...     batch.joint_q[0]
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from . import dist
from ._library import (
    ArgumentError,
    BusyError,
    DeviceError,
    FileError,
    ForkError,
    ModelError,
    OutOfMemoryError,
    ParseError,
    SapwoodError,
    SapwoodImportWarning,
    UnsupportedError,
    version,
)
from .batch import Batch
from .contacts import Contacts
from .dual import DualSolution, dual_solve
from .dump import Dump
from .model import Model
from .options import Options, preset_names
from .rays import RayHits, RaySensor, pattern_grid, pattern_lidar
from .registration import register
from .sensors import TouchSensor
from .shipped import scene, scene_names, scene_path
from .solver import Control, Solver, State
from .support import Capability, capabilities, capability

__all__ = [
    "ArgumentError",
    "Batch",
    "BusyError",
    "Capability",
    "Contacts",
    "Control",
    "DeviceError",
    "DualSolution",
    "Dump",
    "FileError",
    "ForkError",
    "Model",
    "ModelError",
    "Options",
    "OutOfMemoryError",
    "ParseError",
    "RayHits",
    "RaySensor",
    "SapwoodError",
    "SapwoodImportWarning",
    "Solver",
    "State",
    "TouchSensor",
    "UnsupportedError",
    "capabilities",
    "capability",
    "dist",
    "dual_solve",
    "pattern_grid",
    "pattern_lidar",
    "preset_names",
    "scene",
    "scene_names",
    "scene_path",
    "version",
]
__version__ = version()
_LATER = ("gym", "kit", "mjcf", "rl", "terrain", "view")  # imported at their first use: some of them need an extra


if TYPE_CHECKING:
    from . import gym as gym
    from . import kit as kit
    from . import mjcf as mjcf
    from . import rl as rl
    from . import terrain as terrain
    from . import view as view
else:

    def __getattr__(name: str) -> Any:
        if name in _LATER:
            return importlib.import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_LATER]


if "gymnasium" in sys.modules:
    register()
