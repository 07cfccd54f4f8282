"""Runs the same robots with MuJoCo's batch interface and with Sapwood, alternately and on the same cores.

First both simulate some worlds of three scenes until they rest, and must agree. Then these runs of every robot are
timed: MuJoCo with its defaults and tuned, Sapwood in its presets. README.md describes the comparison and the tables.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

import mujoco
import peer
import program
import robots

HERE = Path(__file__).resolve().parent
PRESETS = ("fast32", "fast64", "approx32", "approx64", "drake", "mujoco32", "mujoco64")
TARGETS = ("settled", "moving")

# The body whose height is shown, the range of its final height (the cube flat on its lower face, the stack upright, the
# quadruped on its feet), and the largest difference of the height of any body, m.
SCENES = {
    "cube": ("cube", 0.0245, 0.0250, 1e-4),
    "stack5": ("b4", 0.4470, 0.4500, 5e-4),
    "quadruped": ("base", 0.3700, 0.4000, 2e-3),
}

# Worlds that are simulated until they rest, 3 s. Few, because the program prints the coordinates of one world per run.
SETTLE_WORLDS, SETTLE_STEPS, SETTLE_LAST, SETTLE_NOISE = 4, 600, 50, 0.1

# Other tolerances. The contact models differ: the stiffness in the scene files matches depths at rest to some ten per
# cent, feet creep with MuJoCo's friction, and its boxes may have more than four contact points.
STATE_TOLERANCE = 1e-6  # of every initial coordinate and velocity
DEPTH_FACTOR = 1.25  # of the mean depth of contacts at rest, in either direction
CONTACTS_TOLERANCE = 0.1  # of the number of contacts at rest
KINETIC_AT_REST = 1e-3  # J per world


class Mismatches:
    """Differences between the two simulators."""

    def __init__(self):
        self.found = []

    def check(self, good, scene, preset, what, theirs, ours, allowed):
        if not good:
            self.found.append(f"{scene}, {preset}: {what}: MuJoCo {theirs:.6g}, Sapwood {ours:.6g}; allowed: {allowed}")


# ---- agreement ----


def check_start(name, preset, theirs, ours, mismatches):
    """Checks that coordinates and velocities are the same, except for rounding to f32."""
    for world, (a, b) in enumerate(zip(theirs["starts"], ours["starts"])):
        for what, x, y in zip(("coordinate", "velocity"), a, b):
            worst = abs(y - x).argmax()
            mismatches.check(
                abs(y[worst] - x[worst]) <= STATE_TOLERANCE,
                name,
                preset,
                f"{what} {worst} at the start, world {world}",
                x[worst],
                y[worst],
                f"{STATE_TOLERANCE} apart",
            )


def check_rest(name, preset, theirs, ours, mismatches):
    """Checks that both are at rest in the expected range, with equal heights of bodies, contact counts and depths."""
    body, lowest, highest, tolerance = SCENES[name]

    def check(good, what, *values):
        mismatches.check(good, name, preset, what, *values)

    for world, (a, b) in enumerate(zip(theirs["looks"], ours["looks"])):
        heights = a["heights"][body], b["heights"][body]
        check(
            all(lowest <= z <= highest for z in heights),
            f"height of {body} at rest, world {world}",
            *heights,
            f"{lowest} .. {highest} m",
        )
        for part, z in a["heights"].items():
            check(
                abs(b["heights"][part] - z) <= tolerance,
                f"height of {part} at rest, world {world}",
                z,
                b["heights"][part],
                f"{tolerance:g} m apart",
            )
        check(
            a["depth"] / DEPTH_FACTOR <= b["depth"] <= a["depth"] * DEPTH_FACTOR,
            f"depth of contacts, world {world}",
            a["depth"],
            b["depth"],
            f"a factor of {DEPTH_FACTOR} apart",
        )
    check(
        max(theirs["kinetic"], ours["kinetic"]) <= KINETIC_AT_REST,
        "kinetic energy at rest, J",
        theirs["kinetic"],
        ours["kinetic"],
        f"{KINETIC_AT_REST}",
    )
    check(
        abs(ours["contacts"] - theirs["contacts"]) <= CONTACTS_TOLERANCE * theirs["contacts"],
        "contacts at rest",
        theirs["contacts"],
        ours["contacts"],
        f"{100 * CONTACTS_TOLERANCE:g} % apart",
    )


def settle(args, name, mismatches):
    """Rows of the first table."""
    scene = peer.Scene(robots.mujoco_model(name))
    body = SCENES[name][0]
    theirs = scene.settle(SETTLE_WORLDS, SETTLE_STEPS, SETTLE_LAST, SETTLE_NOISE, args.seed)
    rows = []
    for preset in args.preset:
        ours = program.settle(
            args.program,
            HERE / f"{name}.yaml",
            SETTLE_WORLDS,
            SETTLE_STEPS,
            SETTLE_LAST,
            "--noise",
            SETTLE_NOISE,
            "--preset",
            preset,
            *args.options,
        )
        ours["starts"] = [scene.read_row(row) for row in ours["first_rows"]]
        ours["looks"] = [scene.look(scene.read_row(row)[0]) for row in ours["last_rows"]]
        check_start(name, preset, theirs, ours, mismatches)
        check_rest(name, preset, theirs, ours, mismatches)
        rows.append(
            {"scene": name, "preset": preset, "body": body}
            | {
                side: {
                    "height": statistics.fmean(look["heights"][body] for look in of["looks"]),
                    "depth": statistics.fmean(look["depth"] for look in of["looks"]),
                    "contacts": of["contacts"],
                    "iterations": of["iterations"],
                }
                for side, of in (("mujoco", theirs), ("sapwood", ours))
            }
        )
    return rows


# ---- timing ----


def runs_of(args, name):
    """The runs of one robot: {label: Theirs or Ours}."""
    own = dict(setting.split("=", 1) for setting in args.set)
    runs = {"MuJoCo default": robots.Theirs(name, False, args), "MuJoCo tuned": robots.Theirs(name, True, args)}
    if args.law == "mujoco":
        for preset in args.preset:
            runs[f"{preset} default"] = robots.Follows(name, False, preset, own, args)
            runs[f"{preset} tuned"] = robots.Follows(name, True, preset, own, args)
        return runs
    for preset in args.preset:
        runs[preset] = robots.Ours(name, preset, own, args)
    return runs


def measure(args, name, progress, mismatches):
    """Rows of the second table. The runs alternate, so that other load affects all of them."""
    rows, runs = [], runs_of(args, name)
    for targets in args.targets:
        if targets == "moving" and runs["MuJoCo default"].scene.model.nu == 0:
            continue  # nothing to move
        for run in runs.values():
            run.warm(targets == "moving")
        rates = {label: [] for label in runs}
        for repeat in range(args.repeat):
            progress(f"{name}, {targets} targets: repeat {repeat + 1} of {args.repeat}")
            for label, run in runs.items():
                rates[label].append(run.run())
        base = {label: statistics.median(rates[label]) for label in ("MuJoCo default", "MuJoCo tuned")}
        for label, run in runs.items():
            accuracy = run.accuracy()
            error, residual = accuracy if isinstance(accuracy, tuple) else (accuracy, None)
            support = run.support() if isinstance(run, robots.Ours) else None
            rate = statistics.median(rates[label])
            if isinstance(run, robots.Ours) and run.failed():
                mismatches.found.append(f"{name}, {label}: {run.failed()} worlds failed; allowed: 0")
            rows.append(
                {
                    "robot": name,
                    "targets": targets,
                    "run": label,
                    "rate": rate,
                    "to_default": rate / base["MuJoCo default"],
                    "to_tuned": rate / base["MuJoCo tuned"],
                    "spread": spread(rates[label]),
                    "error": error,
                    "residual": residual,
                    "support": support,
                    "repeats": rates[label],
                }
            )
    return rows


def spread(rates):
    return (max(rates) - min(rates)) / statistics.median(rates)


# ---- the tables ----


def print_rest(rows):
    print(f"at rest: {SETTLE_WORLDS} worlds after {SETTLE_STEPS} steps; MuJoCo | Sapwood")
    print(f"{'scene':<11}{'preset':<10}{'height, m':<28}{'depth, mm':<18}{'contacts':<16}iterations per step")
    for row in rows:
        a, b = row["mujoco"], row["sapwood"]
        height = f"{row['body']} {a['height']:.5f} | {b['height']:.5f}"
        depth = f"{1e3 * a['depth']:.3f} | {1e3 * b['depth']:.3f}"
        contacts = f"{a['contacts']:.2f} | {b['contacts']:.2f}"
        print(
            f"{row['scene']:<11}{row['preset']:<10}{height:<28}{depth:<18}{contacts:<16}"
            f"{a['iterations']:.2f} | {b['iterations']:.2f}"
        )


def print_timing(rows, args):
    clock = "processor time" if args.processor_time else "wall time"
    print(
        f"\nspeed: {args.worlds} worlds, {args.steps} steps, {args.threads} threads; {clock}, median of {args.repeat}"
    )
    print(
        f"{'robot':<15}{'targets':<9}{'run':<18}{'w-steps/s':>12}{'to default':>11}{'to tuned':>10}{'spread':>9}"
        f"{'error':>10}{'residual':>10}{'support':>9}"
    )
    for row in rows:
        residual = "" if row["residual"] is None else f"{row['residual']:.1e}"
        support = "" if row["support"] is None else f"{row['support']:.3f}"
        print(
            f"{row['robot']:<15}{row['targets']:<9}{row['run']:<18}{row['rate']:>12,.0f}{row['to_default']:>11.2f}"
            f"{row['to_tuned']:>10.2f}{100 * row['spread']:>7.0f} %{row['error']:>10.1e}{residual:>10}{support:>9}"
        )


def rate_text(rate):
    return f"{rate / 1e6:.2f} M" if rate >= 1e6 else f"{rate / 1e3:.0f} k"


def print_markdown(rows):
    """The table of lab/results/compare.md."""
    print(
        "| robot, targets | MuJoCo: default, tuned (error) | preset | steps/s (to tuned, to default) | error | "
        "residual | support | spread |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    theirs = {}
    for row in rows:
        case = f"{row['robot']}, {row['targets']}"
        if row["run"].startswith("MuJoCo"):
            theirs.setdefault(case, []).append(f"{rate_text(row['rate'])} ({row['error']:.0e})")
            continue
        support = "" if row["support"] is None else f"{row['support']:.3f}"
        first, peers = (case, ", ".join(theirs.pop(case))) if case in theirs else ("", "")
        print(
            f"| {first} | {peers} | {row['run']} | {rate_text(row['rate'])} ({row['to_tuned']:.1f}x, "
            f"{row['to_default']:.1f}x) | {row['error']:.0e} | {row['residual']:.0e} | {support} "
            f"| {100 * row['spread']:.0f} % |"
        )


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


# ---- the command ----


def count(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: a whole number >= 0")
    return value


def positive(text):
    value = count(text)
    if value == 0:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: a whole number >= 1")
    return value


def parse(cores):
    parser = argparse.ArgumentParser(prog="bench/compare/run", description=__doc__)
    parser.add_argument("--robot", action="append", choices=robots.NAMES, help="may be repeated; default all")
    parser.add_argument("--preset", action="append", choices=PRESETS, help="may be repeated; default fast32 and drake")
    parser.add_argument(
        "--law",
        choices=("sap", "mujoco"),
        default="sap",
        help="the law of Sapwood's worlds; mujoco: they follow MuJoCo, preset mujoco64; default sap",
    )
    parser.add_argument(
        "--as-file",
        action="store_true",
        help="gymnasium's robots with the integrator and cone of their files, RK4 and pyramidal; default "
        "implicitfast and elliptic",
    )
    parser.add_argument("--targets", action="append", choices=TARGETS, help="may be repeated; default both")
    parser.add_argument("--threads", type=positive, default=cores, help="default all cores")
    parser.add_argument("--worlds", type=positive, default=4096, help="default 4096")
    parser.add_argument("--steps", type=positive, default=100, help="default 100")
    parser.add_argument("--warmup", type=positive, default=100, help="steps before the timed ones; default 100")
    parser.add_argument("--repeat", type=count, default=5, help="default 5; 0 only checks, without timing")
    parser.add_argument("--noise", type=float, default=0.1, help="noise of the initial velocities; default 0.1")
    parser.add_argument("--seed", type=count, default=0, help="seed of the noise; default 0")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of Sapwood's solver that overrides the preset; may be repeated",
    )
    parser.add_argument(
        "--program", type=Path, default=HERE.parents[1] / "build/release/sapwood", help="default build/release/sapwood"
    )
    parser.add_argument(
        "--processor-time", action="store_true", help="measure processor time instead of wall time, for a busy machine"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--markdown", action="store_true", help="print the second table in Markdown")
    args = parser.parse_args()
    args.robot = args.robot or list(robots.NAMES)
    robots.as_file = args.as_file
    args.preset = args.preset or (["fast32", "drake"] if args.law == "sap" else ["mujoco64"])
    args.targets = args.targets or list(TARGETS)
    args.options = ["--seed", args.seed, *[f"--set={setting}" for setting in args.set]]
    return args


def show_progress(text):
    if sys.stderr.isatty():
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def compare(args, mismatches):
    rest, timing = [], []
    for name in args.robot:
        show_progress(f"{name}: to rest")
        if name in SCENES and args.law == "sap":
            rest += settle(args, name, mismatches)
    for name in args.robot if args.repeat else ():
        timing += measure(args, name, show_progress, mismatches)
    show_progress("")
    return rest, timing


def main():
    cores = len(os.sched_getaffinity(0))
    args = parse(cores)
    machine = {"processor": processor(), "cores": cores, "load": os.getloadavg()[0], "mujoco": mujoco.__version__}
    if args.repeat and machine["load"] > 0.5 and not args.processor_time:
        print(
            f"compare: the load is {machine['load']:.2f} before the start; good figures need a quiet machine",
            file=sys.stderr,
        )
    if args.processor_time:
        peer.clock = time.process_time
    mismatches = Mismatches()
    try:
        rest, timing = compare(args, mismatches)
    except program.Failed as failure:
        print(f"compare: {failure}", file=sys.stderr)
        return 2
    if args.json:
        print(
            json.dumps(
                {
                    "machine": machine,
                    "worlds": args.worlds,
                    "steps": args.steps,
                    "noise": args.noise,
                    "seed": args.seed,
                    "set": args.set,
                    "repeat": args.repeat,
                    "threads": args.threads,
                    "processor_time": args.processor_time,
                    "rest": rest,
                    "speed": timing,
                    "mismatches": mismatches.found,
                },
                indent=2,
            )
        )
    elif args.markdown:
        print_markdown(timing)
    else:
        print(f"{machine['processor']}, {cores} cores; MuJoCo {machine['mujoco']}\n")
        if rest:
            print_rest(rest)
        if timing:
            print_timing(timing, args)
    for text in mismatches.found:
        print(f"compare: {text}", file=sys.stderr)
    return 1 if mismatches.found else 0


if __name__ == "__main__":
    sys.exit(main())
