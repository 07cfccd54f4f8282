"""What the program `sapwood` leaves to Python: scenes of MJCF and URDF files, pages for a browser, and demos.

python -m sapwood demo [NAME]            shows worlds in a browser; --list lists the demos
python -m sapwood convert ROBOT SCENE    writes an MJCF or URDF file as a scene, which the program reads
python -m sapwood page SCENE PAGE        steps worlds as `sapwood run` does, and writes what a browser shows
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np

from .batch import Batch
from .mjcf import LAWS
from .model import Model

ROBOTS = (".xml", ".mjcf", ".urdf")
FRAME = 0.02  # s between two pictures
PAGE_WORLDS, PAGE_SECONDS = 16, 6.0  # of the page of a demo, unless others are asked for


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


def _browse(place: str) -> None:
    """Opens a page where there is a screen; a browser in a terminal would take the place of what is printed."""
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(place)


def demonstrate(args: argparse.Namespace) -> None:
    from . import demo

    if args.list:
        for name, one in demo.DEMOS.items():
            print(f"{name:10s} {one.worlds:4d}  {one.about}")
        return
    worlds = args.worlds
    if args.page and worlds is None and args.name in demo.DEMOS:
        worlds = min(demo.DEMOS[args.name].worlds, PAGE_WORLDS)
    show = demo.open(args.name, worlds)
    several = len(show.batches) > 1  # which only a recorded page shows side by side
    print(f"{args.name}: {show.about}" + (f" ({', '.join(show.names)})" if several else ""), flush=True)
    if args.page or several:
        _record(show, args)
    else:
        _show_live(show, args)
    print(", ".join(f"{name} {value:.4g}" for name, value in show.outcome().items()))


def _record(show: Any, args: argparse.Namespace) -> None:
    from . import view

    page = args.page or str(Path(tempfile.gettempdir()) / f"sapwood-{args.name}.html")
    frames = [show.frame()]
    for _ in range(round((args.seconds or PAGE_SECONDS) / FRAME)):
        show.step()
        frames.append(show.frame())
    view.html(show.model, frames, page)
    print(f"{Path(page).resolve().as_uri()}", flush=True)
    if not args.page:
        _browse(Path(page).resolve().as_uri())


def _show_live(show: Any, args: argparse.Namespace) -> None:
    from . import view

    batch, pictures = show.batches[0], np.inf if args.seconds is None else round(args.seconds / FRAME)
    try:
        with view.Viewer(show.model, batch.num_worlds, port=args.port) as viewer:
            show.step()
            viewer.show(batch)
            print(f"{viewer.url}; Ctrl-C ends it", flush=True)
            if not args.no_browser:
                _browse(viewer.url)
            done = 1
            while done < pictures:
                show.step()
                viewer.show(batch)
                done += 1
    except KeyboardInterrupt:
        print()


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
    one = commands.add_parser("demo", help="show worlds in a browser")
    one.add_argument("name", nargs="?", default="walk", help="a name of --list; default walk")
    one.add_argument("--list", action="store_true", help="list the demos")
    one.add_argument("--worlds", type=int, help="default: as the list says; 16 for a page")
    one.add_argument("--seconds", type=float, help="end after this time of the worlds; default: never; 6 for a page")
    one.add_argument("--page", metavar="FILE", help="write a page that plays by itself, instead of a live one")
    one.add_argument("--port", type=int, default=8080, help="of the live page; default 8080")
    one.add_argument("--no-browser", action="store_true", help="print the address only")
    one.set_defaults(call=demonstrate, about="name")
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
