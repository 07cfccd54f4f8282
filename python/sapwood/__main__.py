"""python -m sapwood convert ROBOT SCENE: writes an MJCF or URDF file as a scene, which the program `sapwood` reads."""

from __future__ import annotations

import argparse
import sys
import warnings

from .model import Model


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sapwood", description=__doc__)
    parser.add_argument("command", choices=["convert"])
    parser.add_argument("robot", help="an MJCF or URDF file")
    parser.add_argument("scene", help="the scene file to write; meshes go into files beside it")
    args = parser.parse_args()
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        load = Model.from_urdf if args.robot.endswith(".urdf") else Model.from_mjcf
        model = load(args.robot)
        if model.imported and (model.imported.actuation.thrusters or model.imported.body_f.any()):
            warnings.warn("a scene keeps neither motors at sites nor gravity compensation", stacklevel=1)
        model.save(args.scene)
    except (ImportError, OSError, ValueError) as error:
        print(f"{args.robot}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
