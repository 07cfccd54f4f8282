#!/usr/bin/env python3
"""Draws docs/images/{throughput,profile,precision,newton}.svg from the output of `sapwood bench` and `sapwood compare`.

    bench/plots.py                 measures (some minutes, on an idle machine), then draws
    bench/plots.py --draw-only     draws from the last measurement, in build/plots
    bench/plots.py --processor-time --most-worlds 1024     on a busy machine

The first run installs matplotlib into a virtual environment in build/plots-venv.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / "build" / "plots-venv"
SCENES = "cube,quadruped,humanoid"
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
    figure.text(0.01, 0.01, record(row), fontsize=7, color="#666")
    save(figure, name)


def save(figure, name):
    target = ROOT / "docs" / "images" / name
    figure.savefig(target, metadata={"Date": None})
    # The SVG writer ends lines with blanks, which repository checks reject.
    target.write_text("\n".join(line.rstrip() for line in target.read_text().splitlines()) + "\n")
    print(target)


def draw_throughput(plt, folder):
    rows = rows_of(folder / "throughput.csv")
    figure, axes = plt.subplots(figsize=(7, 4))
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
    axes.grid(True, which="both", alpha=0.2)
    axes.legend()
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    finish(figure, rows[0], "throughput.svg")


def draw_profile(plt, folder):
    rows = rows_of(folder / "profile.csv")
    keys = list(rows[0])
    stages = [k for k in keys[keys.index("knobs") + 1 :] if k.startswith("ns_")]
    figure, axes = plt.subplots(figsize=(8, 4.2))
    left = [0.0] * len(rows)
    colours = plt.get_cmap("tab20").colors
    for i, stage in enumerate(stages):
        shares = [100 * float(r[stage]) / float(r["ns_per_world_step"]) for r in rows]
        axes.barh(
            [r["scene"] for r in rows], shares, left=left, color=colours[i % 20], label=stage[3:].replace("_", " ")
        )
        left = [a + b for a, b in zip(left, shares)]
    axes.set(xlabel="share of a step, %", xlim=(0, 100), title=f"where the time goes, {rows[0]['preset']}")
    axes.invert_yaxis()
    axes.legend(fontsize=7, ncol=5, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    finish(figure, rows[0], "profile.svg")


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
    speed.barh(names, ratios, color="#1f5fa8")
    speed.axvline(1, color="#888", linewidth=1)
    speed.set(xlabel="speed, times approx64")
    error.barh(names, [effect[c[1:]] for c in cases], color="#b03a2e")
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
        axes.grid(True, which="both", alpha=0.2)
        axes.legend(fontsize=7)
    panels[0].set(ylabel="ns per world and Newton iteration")
    figure.suptitle(f"one Newton iteration in f32, {rows[0]['lanes']} lanes, one thread")
    figure.tight_layout()
    save(figure, "newton.svg")


def main():
    parser = argparse.ArgumentParser(description="Draws the plots of docs/images from the bench.")
    parser.add_argument("--draw-only", action="store_true", help="draw from the last measurement")
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "sapwood")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "plots", help="folder of the measurements")
    parser.add_argument("--most-worlds", type=int, default=65536, help="most worlds in the plot of throughput")
    parser.add_argument("--processor-time", action="store_true", help="as in `sapwood bench`")
    args = parser.parse_args()
    enter_venv()
    if not args.draw_only:
        measure(args.program, args.folder, args.most_worlds, "--processor-time" if args.processor_time else "")
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "sapwood", "svg.fonttype": "none"})
    import matplotlib.pyplot as plt

    draw_throughput(plt, args.folder)
    draw_profile(plt, args.folder)
    draw_precision(plt, args.folder)
    draw_newton(plt, args.folder)


if __name__ == "__main__":
    main()
