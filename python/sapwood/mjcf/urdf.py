"""Import of URDF: what MuJoCo's compiler does not do by itself: packages, and a root that moves."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

from ..hulls import HullOptions
from ..model import Model
from . import convert
from .source import mujoco_module


def load(
    path: str | os.PathLike[str],
    strict: bool,
    quiet: bool,
    floating: bool,
    packages: Mapping[str, str | os.PathLike[str]],
    hulls: HullOptions = HullOptions(),
) -> Model:
    """Model.from_urdf without drives."""
    spec = mujoco_module().MjSpec.from_string(text_of(Path(path), packages))
    if floating:
        for body in spec.worldbody.bodies:
            if not body.joints:
                body.add_freejoint()
    return convert(spec.compile(), strict, quiet, hulls, rigid=True)  # URDF has no softness of mimic joints


def text_of(path: Path, packages: Mapping[str, str | os.PathLike[str]]) -> str:
    """The file with absolute names of meshes, which does not merge links into others."""
    root = ElementTree.parse(path).getroot()
    for element in root.iter():
        if "filename" in element.attrib and element.tag in ("mesh", "texture"):
            element.set("filename", str(resolve(element.get("filename", ""), path.absolute().parent, packages)))
    extension = root.find("mujoco")
    extension = ElementTree.SubElement(root, "mujoco") if extension is None else extension
    compiler = extension.find("compiler")
    compiler = ElementTree.SubElement(extension, "compiler") if compiler is None else compiler
    compiler.set("strippath", "false")
    compiler.attrib.pop("meshdir", None)
    compiler.set("fusestatic", compiler.get("fusestatic", "false"))
    return ElementTree.tostring(root, encoding="unicode")


def resolve(name: str, folder: Path, packages: Mapping[str, str | os.PathLike[str]]) -> Path:
    """The path of package://PACKAGE/FILE, file://FILE, or a file relative to the folder of the URDF."""
    if not name.startswith("package://"):
        return folder / name.removeprefix("file://")
    package, _, file = name.removeprefix("package://").partition("/")
    given = [Path(packages[package])] if package in packages else []
    above = [parent / package for parent in (folder, *folder.parents)]
    above += [parent for parent in (folder, *folder.parents) if parent.name == package]
    listed = [Path(p) / package for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p]
    for place in (*given, *above, *listed):
        if (place / file).exists():
            return place / file
    places = ", ".join(str(place) for place in (*given, *listed)) or f"the folders above {folder}"
    raise FileNotFoundError(f"{name}: not found in {places}; from_urdf(..., packages={{{package!r}: FOLDER}}) names it")
