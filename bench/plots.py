#!/usr/bin/env python3
"""Draws the plots of docs/images, all in one style: throughput, profile, precision and newton from the output of
`sapwood bench` and `sapwood compare`; speed from lab/results/compare.md; training from docs/images/training.

    bench/plots.py                 measures (some minutes, on an idle machine), then draws
    bench/plots.py --draw-only     draws from the last measurement, in build/plots
    bench/plots.py --only speed,training                   these plots, which need no measurement
    bench/plots.py --processor-time --most-worlds 1024     on a busy machine

The first run installs matplotlib into a virtual environment in build/plots-venv.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / "build" / "plots-venv"
SCENES = "cube,quadruped,humanoid"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6b00", "#888888")  # of Okabe and Ito
GREY, WIDTH, HEIGHT = "#666666", 7.2, 4.0  # of small print; inches
KNOBS = {  # options of approx64, each changed separately to its f32 value
    "free_motion_precision": "fp32",
    "contact_solve_precision": "fp32",
    "linear_solve_precision": "fp32",
    "contact_weight_precision": "fp32",
    "contact_geometry_f64": "false",
}


def enter_venv():
    """Runs this script again in the virtual environment. `complete` is created last, to repeat broken installations."""
    python = VENV / "bin" / "python"
    if not (VENV / "complete").exists():
        print(f"plots: installing matplotlib into {VENV}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "matplotlib"], check=True
        )
        (VENV / "complete").touch()
    if Path(sys.prefix) != VENV:
        os.execv(python, [str(python), *sys.argv])


# ---- measuring ----


def run(program, arguments, target):
    print(f"plots: sapwood {arguments}", file=sys.stderr)
    done = subprocess.run([program, *arguments.split()], stdout=subprocess.PIPE, cwd=ROOT, check=True)
    target.write_bytes(done.stdout)


def measure(program, folder, most_worlds, clock):
    folder.mkdir(parents=True, exist_ok=True)
    bench = f"bench --format csv --steps 16 {clock}"
    worlds = ",".join(str(4**i) for i in range(9) if 4**i <= most_worlds)
    run(program, f"{bench} --scene {SCENES} --worlds {worlds} --repeat 3", folder / "throughput.csv")
    run(
        program,
        f"{bench} --scene cube,stack5,gripper,quadruped,humanoid --worlds 1024 --profile",
        folder / "profile.csv",
    )
    speed = f"{bench} --scene quadruped --worlds 1024"
    for preset in ("approx64", "approx32"):
        run(program, f"{speed} --preset {preset}", folder / f"speed_{preset}.csv")
    for knob, value in KNOBS.items():
        run(program, f"{speed} --preset approx64 --set {knob}={value}", folder / f"speed_{knob}.csv")
    run(program, "bench-newton --format csv --repeat 3", folder / "newton.csv")
    run(program, "compare quadruped --worlds 64 --steps 200 --json", folder / "compare.json")


# ---- drawing ----


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def record(row):
    """Machine and build of a measurement."""
    return f"{row['cpu']}, {row['isa']}, {row['compiler']}, {row['version']} ({row['commit']}), {row['clock']} time"


def finish(figure, row, name):
    figure.text(0.01, 0.01, record(row), fontsize=7, color=GREY)
    save(figure, name)


def save(figure, name):
    target = ROOT / "docs" / "images" / name
    figure.savefig(target, metadata={"Date": None})
    # The SVG writer ends lines with blanks, which repository checks reject.
    target.write_text("\n".join(line.rstrip() for line in target.read_text().splitlines()) + "\n")
    print(target)


def draw_throughput(plt, folder):
    rows = rows_of(folder / "throughput.csv")
    figure, axes = plt.subplots(figsize=(WIDTH, HEIGHT))
    for scene in SCENES.split(","):
        mine = [r for r in rows if r["scene"] == scene]
        worlds = [int(r["worlds"]) for r in mine]
        middle, low, high = ([float(r["world_steps_per_second" + end]) for r in mine] for end in ("", "_min", "_max"))
        (line,) = axes.plot(worlds, middle, marker="o", label=scene)
        axes.fill_between(worlds, low, high, color=line.get_color(), alpha=0.2)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="worlds",
        ylabel="world-steps per second",
        title=f"whole steps, {rows[-1]['preset']}, {rows[-1]['threads']} threads",
    )
    axes.legend()
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    finish(figure, rows[0], "throughput.svg")


def draw_profile(plt, folder):
    """As many stages as there are colours; the smallest are one."""
    rows = rows_of(folder / "profile.csv")
    keys = list(rows[0])
    stages = [k for k in keys[keys.index("knobs") + 1 :] if k.startswith("ns_")]
    shares = {k: [100 * float(r[k]) / float(r["ns_per_world_step"]) for r in rows] for k in stages}
    largest = sorted(stages, key=lambda k: -max(shares[k]))[: len(COLOURS) - 1]
    parts = {k[3:].replace("_", " "): shares[k] for k in stages if k in largest}
    rest = [sum(shares[k][i] for k in stages if k not in largest) for i in range(len(rows))]
    figure, axes = plt.subplots(figsize=(WIDTH, HEIGHT))
    left = [0.0] * len(rows)
    for colour, (name, part) in zip(COLOURS, [*parts.items(), ("other", rest)]):
        axes.barh([r["scene"] for r in rows], part, left=left, color=colour, label=name)
        left = [a + b for a, b in zip(left, part)]
    axes.set(xlabel="share of a step, %", xlim=(0, 100), title=f"where the time goes, {rows[0]['preset']}")
    axes.grid(False, axis="y")
    axes.invert_yaxis()
    axes.legend(fontsize=8, ncol=4, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    finish(figure, rows[0], "profile.svg")


def draw_speed(plt, folder):
    """World-steps per second beside MuJoCo tuned, from the page of lab/results."""
    page = (ROOT / "lab" / "results" / "compare.md").read_text()
    unit = {"": 1.0, " k": 1e3, " M": 1e6}
    robots, theirs, ours = [], [], {}  # preset: [(world-steps per second, how many times MuJoCo's)]
    for line in page.splitlines():
        row = re.match(r"\| ([^|]*?) \| ([^|]*?) \| (\w+) \| ([\d.]+)( k| M|) \(([\d.]+x)", line)
        if not row:
            continue
        if row[1].strip():
            robots.append(row[1].split(",")[0].replace("_", " "))
            tuned = re.search(r", ([\d.]+)( k| M|) \(", row[2])
            theirs.append((float(tuned[1]) * unit[tuned[2]], ""))
        ours.setdefault(row[3], []).append((float(row[4]) * unit[row[5]], row[6]))
    figure, axes = plt.subplots(figsize=(WIDTH, HEIGHT))
    bars = {"MuJoCo tuned": theirs, **{f"Sapwood, {preset}": ours[preset] for preset in ("drake", "fast64", "fast32")}}
    for i, (name, values) in enumerate(bars.items()):
        colour = COLOURS[-1] if i == 0 else COLOURS[i - 1]
        at = [k + 0.2 * (i - 1.5) for k in range(len(robots))]
        axes.barh(at, [1e-6 * x for x, _ in values], 0.19, color=colour, label=name)
        for y, (x, times) in zip(at, values):
            axes.text(1e-6 * x, y, f" {times}", va="center", fontsize=7.5, color=GREY)
    axes.set(yticks=range(len(robots)), yticklabels=robots, xlabel="million world-steps per second, two CPU cores")
    axes.set(title="4096 worlds under random targets")
    axes.grid(False, axis="y")
    axes.invert_yaxis()
    axes.legend(loc="lower right")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    where = re.search(r"Commit (.*)\.", page)[1]
    figure.text(0.01, 0.01, f"lab/results/compare.md: commit {where}", fontsize=7, color=GREY)
    save(figure, "speed.svg")


def draw_training(plt, folder):
    figure, axes = plt.subplots(figsize=(WIDTH, HEIGHT))
    for path in sorted((ROOT / "docs" / "images" / "training").glob("*.csv")):
        rows = rows_of(path)
        seconds, reward = ([float(r[name]) for r in rows] for name in ("seconds", "reward"))
        axes.plot(seconds, reward, label=path.stem.replace("_sb3", ", Stable-Baselines3"))
    axes.set(xlabel="seconds of one core", ylabel="reward per step", title="training with PPO, 256 worlds")
    axes.legend()
    figure.tight_layout()
    save(figure, "training.svg")


def draw_precision(plt, folder):
    compared = json.loads((folder / "compare.json").read_text())["one_step"]
    effect = {(r["option"], r["value"]): r["v_difference"]["p99"] for r in compared}
    base = rows_of(folder / "speed_approx64.csv")[0]
    cases = [("approx32", "preset", "approx32")] + [(k, k, v) for k, v in KNOBS.items()]
    figure, (speed, error) = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True)
    names = ["approx32 (preset)"] + [f"{k}\n= {v}" for k, v in KNOBS.items()]
    ratios = [
        float(base["ns_per_world_step"]) / float(rows_of(folder / f"speed_{c[0]}.csv")[0]["ns_per_world_step"])
        for c in cases
    ]
    speed.barh(names, ratios, color=COLOURS[0])
    speed.axvline(1, color=GREY, linewidth=1)
    speed.set(xlabel="speed, times approx64")
    error.barh(names, [effect[c[1:]] for c in cases], color=COLOURS[1])
    error.set(xscale="log", xlabel="difference of a velocity in one step, p99, m/s or rad/s")
    speed.tick_params(axis="y", labelsize=8)
    speed.invert_yaxis()
    figure.suptitle("approx64 with single precision in one place at a time: quadruped")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    finish(figure, base, "precision.svg")


def draw_newton(plt, folder):
    rows = [r for r in rows_of(folder / "newton.csv") if r["plan"] == "sparse" and r["precision"] == "f32"]
    figure, panels = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axes, x, of, x_name, of_name in zip(
        panels, ("nv", "nc"), ("nc", "nv"), ("dofs", "contacts"), ("contacts", "dofs")
    ):
        for value in sorted({int(r[of]) for r in rows}):
            mine = [r for r in rows if int(r[of]) == value]
            axes.plot(
                [int(r[x]) for r in mine],
                [float(r["ns_per_world_iteration"]) for r in mine],
                marker="o",
                label=f"{value} {of_name}",
            )
        axes.set(xscale="log", yscale="log", xlabel=x_name)
        axes.legend(fontsize=7)
    panels[0].set(ylabel="ns per world and Newton iteration")
    figure.suptitle(f"one Newton iteration in f32, {rows[0]['lanes']} lanes, one thread")
    figure.tight_layout()
    save(figure, "newton.svg")


PLOTS = {
    "speed": draw_speed,
    "training": draw_training,
    "throughput": draw_throughput,
    "profile": draw_profile,
    "precision": draw_precision,
    "newton": draw_newton,
}
STYLE = {
    "svg.hashsalt": "sapwood",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
}


def main():
    parser = argparse.ArgumentParser(description="Draws the plots of docs/images from the bench.")
    parser.add_argument("--draw-only", action="store_true", help="draw from the last measurement")
    parser.add_argument("--only", default="", help="draw only these, without measuring: " + ", ".join(PLOTS))
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "sapwood")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "plots", help="folder of the measurements")
    parser.add_argument("--most-worlds", type=int, default=65536, help="most worlds in the plot of throughput")
    parser.add_argument("--processor-time", action="store_true", help="as in `sapwood bench`")
    args = parser.parse_args()
    names = [name for name in args.only.split(",") if name] or list(PLOTS)
    if unknown := [name for name in names if name not in PLOTS]:
        parser.error(f"there is no plot {unknown[0]!r}; there are {', '.join(PLOTS)}")
    enter_venv()
    if not args.draw_only and not args.only:
        measure(args.program, args.folder, args.most_worlds, "--processor-time" if args.processor_time else "")
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(STYLE | {"axes.prop_cycle": matplotlib.cycler(color=COLOURS)})
    import matplotlib.pyplot as plt

    for name in names:
        PLOTS[name](plt, args.folder)


if __name__ == "__main__":
    main()
