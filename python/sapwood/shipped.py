"""The scenes of the package, by name."""

from __future__ import annotations

from pathlib import Path

from ._library import FileError
from .arguments import nearest
from .model import Model

# In an installed package, and in the source tree.
_HERE = Path(__file__).parent
_FOLDERS = (_HERE / "scenes", _HERE.parents[1] / "bench" / "scenes")


def _folder() -> Path:
    for folder in _FOLDERS:
        if folder.is_dir():
            return folder
    raise FileError(f"the scenes of the package are missing; looked in {' and '.join(map(str, _FOLDERS))}")


def scene_names() -> list[str]:
    """The names that `scene` takes."""
    return sorted(path.stem for path in _folder().glob("*.yaml"))


def scene_path(name: str) -> Path:
    """The file of a scene of the package."""
    if name not in scene_names():
        names = scene_names()
        hint = nearest(name, names, f"allowed: {', '.join(names)} (in {_folder()})")
        raise ValueError(f"scene is {name!r}{hint}")
    return _folder() / f"{name}.yaml"


def scene(name: str) -> Model:
    """The model of a scene of the package: `sapwood.scene("quadruped")`. For a file of your own: `Model.load(path)`."""
    return Model.load(scene_path(name))
