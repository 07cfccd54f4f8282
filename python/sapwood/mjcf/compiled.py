"""Calls of MuJoCo's compiler, whose errors get the name of the file and what to do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._library import FileError, ModelError, text_of

BALANCE = ", or take from_urdf(..., balance_inertia=True)"
ADVICE = (  # a part of MuJoCo's message, and what to do
    ("must satisfy A + B >= C", f"correct the inertia{BALANCE}"),
    ("positive eigenvalues", f"correct the inertia{BALANCE}"),
    ("larger than mjMINVAL", "give the body a mass and an inertia above 0, or weld it by a fixed joint"),
    ("no decoder found for mesh", "export the mesh as STL or OBJ; from_urdf also reads Collada"),
    ("number of faces should be between", "export the mesh as binary STL with at most 200,000 faces, or as OBJ"),
    ("cannot compute convex hull", "make the geom a thin box, or exclude it from collision"),
    ("at least 4 vertices required", "make the geom a primitive, or exclude it from collision"),
    ("Error opening file", "check the name of the file and meshdir of <compiler>"),
)


def existing(path: str | os.PathLike[str]) -> Path:
    """The path of a file that exists."""
    file = Path(os.fsdecode(text_of(path)))
    if not file.is_file():
        reason = "Is a directory" if file.is_dir() else "No such file or directory"
        raise FileError(f"{file}: cannot be opened: {reason}")
    return file


def compiled(file: Path, compile: Callable[[], Any], balanced: bool = False) -> Any:
    """The result of MuJoCo's compiler; `balanced`: inertias were balanced before."""
    try:
        return compile()
    except ValueError as error:
        said = ", ".join(line.strip().rstrip(".,") for line in str(error).splitlines() if line.strip())
        advice = next((f"; {text}" for part, text in ADVICE if part in said), "")
        raise ModelError(f"{file}: MuJoCo: {said}{advice.removesuffix(BALANCE) if balanced else advice}") from error
