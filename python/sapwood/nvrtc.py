"""NVRTC of the packages nvidia-cuda-nvrtc-cu12 and nvidia-cuda-nvrtc, which the dynamic linker does not find."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path


def find() -> list[Path]:
    """The libraries in the folders of installed packages, the newest first."""
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec else []
    found = [path for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.1[23]")]
    return sorted(found, key=lambda path: path.name, reverse=True)


def preload() -> None:
    """Loads them, so that the library finds them by their names."""
    for path in find():
        try:
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        except OSError:
            pass  # the library says what it could not load
