"""Import of URDF: what MuJoCo's compiler does not do by itself: packages, formats of meshes, a root that moves."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._library import FileError, ParseError
from ..hulls import HullOptions
from ..model import Model
from . import convert
from .compiled import compiled, existing
from .meshes import converted
from .report import Code, Finding, NotCarriedOver
from .source import mujoco_module

Packages = Mapping[str, "str | os.PathLike[str]"]


def load(
    path: str | os.PathLike[str],
    strict: bool,
    quiet: bool,
    floating: bool,
    packages: Packages,
    hulls: HullOptions = HullOptions(),
    balance_inertia: bool = False,
) -> Model:
    """Model.from_urdf without drives."""
    file = existing(path)
    root = _parse(file)
    found = _balance(root) if balance_inertia else []
    materials = _materials(root)
    assets = _find_meshes(root, file.absolute().parent, packages)
    _set_compiler(root)
    text = ElementTree.tostring(root, encoding="unicode")

    def compile() -> Any:
        spec = mujoco_module().MjSpec.from_string(text, assets=assets)
        for body in spec.worldbody.bodies if floating else ():
            if not body.joints:
                body.add_freejoint()
        return spec.compile()

    m = compiled(file, compile, balance_inertia)
    if m.njnt == 0:
        raise NotCarriedOver(
            f"{file}: no joint moves a link; from_urdf(..., floating=True) gives the root a free joint"
        )
    return convert(
        m, strict, quiet, hulls, rigid=True, found=found, materials=materials
    )  # URDF has no softness of mimic joints


def _parse(file: Path) -> ElementTree.Element:
    try:
        return ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        raise ParseError(f"{file}: not an XML file: {error}") from error


def _compiler(root: ElementTree.Element) -> ElementTree.Element:
    """MuJoCo's element in the file."""
    extension = root.find("mujoco")
    extension = ElementTree.SubElement(root, "mujoco") if extension is None else extension
    compiler = extension.find("compiler")
    return ElementTree.SubElement(extension, "compiler") if compiler is None else compiler


def _set_compiler(root: ElementTree.Element) -> None:
    """Absolute names of meshes; links are not merged into others."""
    compiler = _compiler(root)
    compiler.set("strippath", "false")
    compiler.attrib.pop("meshdir", None)
    compiler.set("fusestatic", compiler.get("fusestatic", "false"))


# ---- contact materials ----

DRAKE = "{http://drake.mit.edu}"
MATERIAL = {
    "hunt_crossley_dissipation": "shape_material_dissipation",
    "relaxation_time": "shape_material_tau",
    "point_contact_stiffness": "shape_material_ke",
    "mu_dynamic": "shape_material_mu",
}


def _materials(root: ElementTree.Element) -> dict[str, dict[str, float]]:
    """What <drake:proximity_properties> of collisions say, by the name of the collision, which gets one if it has none
    or another has the same."""
    found: dict[str, dict[str, float]] = {}
    names = [c.get("name") for c in root.iter("collision")]
    for link in root.findall("link"):
        for i, collision in enumerate(link.findall("collision")):
            properties = collision.find(DRAKE + "proximity_properties")
            if properties is None:
                continue
            own = {array: _value(link, properties, tag) for tag, array in MATERIAL.items()}
            name = collision.get("name")
            if not name or names.count(name) > 1:
                name = f"{link.get('name')}/{name or 'collision'}{i}"
                collision.set("name", name)
            found[name] = {array: value for array, value in own.items() if value is not None}
            collision.remove(properties)
    return found


def _value(link: ElementTree.Element, properties: ElementTree.Element, tag: str) -> float | None:
    element = properties.find(DRAKE + tag)
    text = None if element is None else element.get("value", "")
    try:
        return None if text is None else float(text)
    except ValueError:
        raise ParseError(f"link '{link.get('name')}': drake:{tag} is '{text}'; it must be a number") from None


# ---- meshes ----


def _find_meshes(root: ElementTree.Element, folder: Path, packages: Packages) -> dict[str, bytes]:
    """Makes the names of meshes absolute, and converts those that MuJoCo does not read. Drops visual elements, which
    MuJoCo ignores unless discardvisual="false", so that their files need not exist."""
    keep = _compiler(root).get("discardvisual") == "false"
    assets: dict[str, bytes] = {}
    for link in root.findall("link"):
        for visual in [] if keep else link.findall("visual"):
            link.remove(visual)
        for mesh in link.iter("mesh"):
            file = resolve(mesh.get("filename", ""), folder, packages)
            data = converted(file, f"link '{link.get('name')}'")
            mesh.set("filename", str(file) if data is None else _add_asset(assets, file, data))
    for texture in root.iter("texture"):
        if "filename" in texture.attrib:
            texture.set("filename", str(resolve(texture.get("filename", ""), folder, packages)))
    return assets


def _add_asset(assets: dict[str, bytes], file: Path, data: bytes) -> str:
    """The name of a converted mesh; another file of the same name gets a number."""
    name, i = f"{file.stem}.msh", 1
    while assets.get(name, data) != data:
        name, i = f"{file.stem}_{i}.msh", i + 1
    assets[name] = data
    return name


def resolve(name: str, folder: Path, packages: Packages) -> Path:
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
    raise FileError(f"{name}: not found in {places}; from_urdf(..., packages={{{package!r}: FOLDER}}) names it")


# ---- inertias ----


def _balance(root: ElementTree.Element) -> list[Finding]:
    """Makes the principal moments of a link equal where no body has them: A + B < C, or not all above 0."""
    found = []
    for link in root.findall("link"):
        inertia = link.find("inertial/inertia")
        if inertia is None:
            continue
        xx, yy, zz, xy, xz, yz = (float(inertia.get(name, 0)) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        mean = float(moments.mean())
        if mean <= 0 or (moments[0] > 0 and moments[0] + moments[1] >= moments[2]):
            continue
        for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"):
            inertia.set(name, repr(mean) if name[1] == name[2] else "0")
        before = " ".join(f"{moment:.3g}" for moment in moments)
        found.append(Finding(Code.BALANCED, "body", link.get("name", ""), {"before": before, "after": mean}))
    return found
