"""Command line:  python3 -m translator audit FILE | build FILE [options] | translate FILE FOLDER"""

import argparse
import os
import sys
from pathlib import Path

from .audit import audit, print_audit
from .build import build
from .module import ModuleEmitter
from .types import PtxError


def _arguments():
    parser = argparse.ArgumentParser(prog="translator", description="PTX on a CPU")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("audit", help="list floating-point instructions; fails if one is not exact")
    command.add_argument("file")
    command = commands.add_parser("translate", help="write the C files")
    command.add_argument("file")
    command.add_argument("folder")
    command = commands.add_parser("build", help="make a shared object and print its path")
    command.add_argument("file")
    command.add_argument("--check", type=int, choices=(0, 1, 2), default=1)
    command.add_argument("--cache", required=True)
    command.add_argument("--compiler", default="gcc -O1")
    command.add_argument("--jobs", type=int, default=os.cpu_count())
    command.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def _translate(path, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    module = ModuleEmitter(Path(path).read_text())
    (folder / "module.h").write_text(module.header())
    (folder / "part0.c").write_text(module.parts(1)[0])
    (folder / "tables.c").write_text(module.tables())


def main():
    arguments = _arguments()
    if arguments.command == "audit":
        return 1 if print_audit(audit(Path(arguments.file).read_text())) else 0
    if arguments.command == "translate":
        _translate(arguments.file, arguments.folder)
        return 0
    print(
        build(
            arguments.file,
            arguments.cache,
            arguments.check,
            arguments.compiler.split(),
            arguments.jobs,
            arguments.verbose,
        )
    )
    return 0


try:
    sys.exit(main())
except PtxError as error:
    sys.exit(f"{sys.argv[2] if len(sys.argv) > 2 else 'translator'}: {error}")
