#!/usr/bin/env python3
"""Writes lab/results/NAME.md: figures of one machine, with the command that measured them, commit, date and machine.

    lab/results.py             lists the names and their commands
    lab/results.py NAME ...    runs the command of each name from the root of the sources and writes its page

A command prints its figures to stdout, as Markdown or as plain text. The page replaces the old one only if the command
succeeds. Commands use build/release; SAPWOOD_LIBRARY, SAPWOOD_PROGRAM and PYTHONPATH select another build. Pages that
need more than a build have a make target, which builds it and then calls this script: ptxas-table, roofline-table,
ptx-mutants.
"""

import datetime
import glob
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ROOT / "lab" / "results"
PTX = "python3 -B lab/ptx/"
EXECUTOR = "--program build/release/sapwood --driver build/release/lab/ptx/driver"
FIGURES = "--figures build/release/cuda --figures build/release/lab/ptx"
COMPARE = (
    "bench/compare/run --worlds 4096 --steps 40 --repeat 3 --preset fast32 --preset fast64 --preset drake --markdown"
)

# name: (title, command)
RESULTS = {
    "barriers": (
        "Barriers of the CUDA kernels, each removed in turn",
        f"{PTX}barrier_mutants.py --driver build/release/lab/ptx/driver --work build/release/lab/ptx/mutants",
    ),
    "bias": ("Bias of mean force, height and speed", "bench/bias"),
    "compare": ("Speed and accuracy beside MuJoCo, moving targets", f"{COMPARE} --targets moving"),
    "compare_law": (
        "MuJoCo's law beside MuJoCo, moving targets",
        "bench/compare/run --law mujoco --preset mujoco64 --preset mujoco32 --robot quadruped --robot ant --robot humanoid"
        " --as-file --targets moving --worlds 1024 --steps 24 --repeat 5 --processor-time --threads 1 --markdown",
    ),
    "compare_settled": ("Speed and accuracy beside MuJoCo, settled", f"{COMPARE} --targets settled"),
    "collision": ("Time and contacts of pairs of shapes", "build/release/sapwood bench-collision"),
    "conform": ("Conformance to MuJoCo", "build/release/sapwood conform tests/data/reference/mujoco/*.json.gz"),
    "dropin": ("sapwood.mujoco.batch beside mujoco.batch", "python3 bench/dropin.py --simulations 4096 --calls 7"),
    "contact_laws": ("Artefacts and cost of the contact laws", "bench/contact_laws --count"),
    "dual": ("Iterations of the dual solvers", "bench/dual_figures"),
    "energy": ("Energy, momentum and order of the position integrations", "bench/energy"),
    "figures": ("Speed of one scene against its targets", "bench/figures"),
    "generated": (
        "Random scenes: the same bits however they are run, and true statuses",
        "build/release/tests/generate --count 20000",
    ),
    "guard": ("Cost of the guard", "python3 bench/guard.py"),
    "import_cost": ("Cost of the Python package", "python3 python/tools/measure.py"),
    "loops": ("Instructions that closed loops cost", "bench/instructions --loops"),
    "mesh_robot": ("A humanoid of detailed meshes", "bench/mesh_robot"),
    "newton": ("Cost of a Newton iteration", "build/release/sapwood bench-newton"),
    "pile": ("Many free bodies", "bench/pile --settle 60 --steps 3 --bodies 10,30,100,300"),
    "ptxas": ("Registers, stack and code of the CUDA kernels", f"{PTX}ptxas_figures.py --markdown build/release/cuda"),
    "robots": ("Robots under both laws", "bench/robots --laws --worlds 8 --steps 200"),
    "roofline": (
        "Counts of the CUDA kernels and predicted speeds",
        f"{PTX}roofline.py {EXECUTOR} {FIGURES} --predictions lab/selftest/predicted.h",
    ),
    "sensors": ("Cost of sensor readings", "python3 bench/sensors.py"),
    "sleep": ("Gain of sleeping", "bench/sleep"),
    "stages": ("Instructions and operations of each stage", "bench/stage_operations"),
    "static_shapes": ("Cost of static shapes", "bench/static_shapes"),
    "suite": ("The benchmark files of MuJoCo Warp on a CPU", "bench/suite --worlds 64 --steps 700"),
    "tiles": ("Instructions that the pattern of tiles saves", "bench/instructions --tiles"),
    "waiting_lanes": ("Iterations of worlds and of packs", "bench/waiting_lanes"),
}


def processor():
    """The model of the CPU and the number of CPUs that this process may use."""
    model = platform.machine()
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    return f"{len(os.sched_getaffinity(0))} CPUs of {model}"


def commit():
    """The commit of the sources, with "-dirty" if files that are measured have changed since."""
    git = ["git", "-C", str(ROOT)]
    found = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run(
        [*git, "diff", "--quiet", "HEAD", "--", "src", "include", "cmake", "bench", "python/sapwood"]
    )
    return (found or "unknown") + ("-dirty" if changed.returncode else "")


def page(name, output, where=None, when=None, machine=None):
    """The text of a page from the output of its command."""
    title, command = RESULTS[name]
    output = output.strip()
    if not output:
        raise ValueError(f"the command of {name} printed nothing")
    if not any(line.startswith("|") for line in output.splitlines()):
        output = f"```\n{output}\n```"
    when = when or datetime.date.today().isoformat()
    return (
        f"# {title}\n\nWritten by `lab/results.py {name}`, which runs `{command}`.\n"
        f"Commit {where or commit()}, {when}, {machine or processor()}.\n\n{output}\n"
    )


def write(name):
    environment = {
        "SAPWOOD_LIBRARY": str(ROOT / "build/release/src/libsapwood.so"),
        "PYTHONPATH": str(ROOT / "python"),
        "SAPWOOD_PROGRAM": str(ROOT / "build/release/sapwood"),
        **os.environ,
    }
    words = [found for word in RESULTS[name][1].split() for found in sorted(glob.glob(word, root_dir=ROOT)) or [word]]
    measured = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    if measured.returncode:
        sys.exit(f"results: the command of {name} ended with {measured.returncode}; its page is unchanged")
    PAGES.mkdir(exist_ok=True)
    temporary = PAGES / f"{name}.md.part"
    temporary.write_text(page(name, measured.stdout))
    temporary.rename(PAGES / f"{name}.md")


def main(names):
    unknown = [name for name in names if name not in RESULTS]
    if unknown:
        sys.exit(f"results: there is no page '{unknown[0]}'; the pages are {', '.join(RESULTS)}")
    for name in names:
        write(name)
    if not names:
        for name, (title, command) in RESULTS.items():
            print(f"{name:<16} {title}\n{'':<16} {command}")


if __name__ == "__main__":
    main(sys.argv[1:])
