"""What the program `sapwood` leaves to Python: scenes of MJCF and URDF files, and pages for a browser.

python -m sapwood convert ROBOT SCENE    writes an MJCF or URDF file as a scene, which the program reads
python -m sapwood page SCENE PAGE        steps worlds as `sapwood run` does, and writes what a browser shows
"""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np

from .batch import Batch
from .mjcf import LAWS
from .model import Model

ROBOTS = (".xml", ".mjcf", ".urdf")
FRAME = 0.02  # s between two pictures


def _robot(path: str, law: str = "sap") -> Model:
    if not path.endswith(".urdf"):
        return Model.from_mjcf(path, law=law)
    model = Model.from_urdf(path)
    return (model.imported and law == "mujoco" and model.imported.model(law)) or model


def convert(args: argparse.Namespace) -> None:
    model = _robot(args.robot, args.law)
    if model.imported and model.imported.actuation.thrusters:
        warnings.warn("a scene does not keep motors at sites", stacklevel=1)
    model.save(args.scene)


def page(args: argparse.Namespace) -> None:
    from . import view

    robot = args.scene.endswith(ROBOTS)
    model = _robot(args.scene) if robot else Model.load(args.scene, asset_root=args.asset_root)
    options = dict(text.split("=", 1) for text in args.set)
    dtype = {None: None, "f32": np.float32, "f64": np.float64}[args.dtype]
    every = max(1, round(FRAME / (args.dt or model.dt)))
    with Batch(model, args.worlds, preset=args.preset, options=options, seed=args.seed, dtype=dtype) as batch:
        batch.dt = args.dt or model.dt
        batch.perturb(args.noise)
        frames = [view.capture(batch, args.worlds)]
        for done in range(0, args.steps, every):
            batch.step(min(every, args.steps - done))
            frames.append(view.capture(batch, args.worlds))
        view.html(model, frames, args.page)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m sapwood", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("convert", help="write an MJCF or URDF file as a scene")
    one.add_argument("robot", help="an MJCF or URDF file")
    one.add_argument("scene", help="the scene file to write; meshes go into files beside it")
    one.add_argument("--law", choices=LAWS, default="sap", help="mujoco: that of contact_solver = mujoco")
    one.set_defaults(call=convert, about="robot")
    one = commands.add_parser("page", help="write a run as a page for a browser")
    one.add_argument("scene", help="a scene file, or an MJCF or URDF file")
    one.add_argument("page", help="the page to write")
    one.add_argument("--worlds", type=int, default=4)
    one.add_argument("--steps", type=int, default=400)
    one.add_argument("--dt", type=float, help="s; default: the scene's")
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--noise", type=float, default=0.1, help="of the initial velocities, m/s and rad/s")
    one.add_argument("--dtype", choices=["f32", "f64"], help="of states; default: the precision of the free motion")
    one.add_argument("--preset")
    one.add_argument("--asset-root")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option; may be repeated")
    one.set_defaults(call=page, about="scene")
    args = parser.parse_args()
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        args.call(args)
    except (ImportError, OSError, ValueError) as error:
        print(f"{getattr(args, args.about)}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
