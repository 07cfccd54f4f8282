"""The console script `sapwood`: the program of the package (docs/cli.md)."""

import os
import sys
from pathlib import Path

from . import nvrtc


def main() -> None:
    program = Path(__file__).parent / "bin" / "sapwood"
    if not program.exists():
        sys.exit(f"sapwood: {program} is missing; install the package with pip, or run the program of a CMake build")
    for library in nvrtc.find()[:1]:
        os.environ.setdefault("SAPWOOD_NVRTC", str(library))
    os.environ.setdefault("SAPWOOD_PYTHON", sys.executable)  # which has this package, for files that Python reads
    os.execv(program, ["sapwood", *sys.argv[1:]])
