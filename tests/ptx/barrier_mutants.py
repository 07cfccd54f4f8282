"""Leaves out each TEAM_SYNC() of the kernels in turn, and tells whether the executor's race check notices.

    barrier_mutants.py --nvcc NVCC --program SAPWOOD --driver FOLDER --work FOLDER [FILE:LINE ...]

The kernels are compiled once, with line numbers and all stages in f64; a barrier is left out when they run (PTX_SKIP), so a mutant costs
a run and no compilation. RUNS are the programs that must notice: one of them has to fail where all succeed with the barrier in place.
A barrier that none of them misses is not needed, or stands on a path that these scenes do not take.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
KERNELS = SOURCE / "src" / "kernels"
# Scene, worlds, steps, options.
RUNS = (
    ("quadruped", 1, 3, ("team_size=64",)),
    ("stack5", 1, 3, ("team_size=64", "broad_phase=sweep")),
    ("tests/scenes/pebbles.yaml", 1, 20, ("team_size=64",)),
    ("arm3", 2, 2, ("team_size=64",)),
    ("tests/scenes/linkages.yaml", 1, 2, ("team_size=64",)),
)


def find_barriers():
    """[(file, line, what it protects)]"""
    found = []
    for path in sorted([*KERNELS.rglob("*.h"), *KERNELS.rglob("*.cuh"), *KERNELS.rglob("*.cu")]):
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if "TEAM_SYNC();" in text:
                found.append((path.name, number, re.sub(r".*TEAM_SYNC\(\); */[/*] *|\*/.*", "", text).strip()))
    return found


def write_small_source(path):
    """target/cuda.cu with the general set only, and that in f64: a third of the code. Lines keep their numbers."""
    keep, lines = True, []
    for line in (KERNELS / "target" / "cuda.cu").read_text().splitlines():
        if line.startswith("// Those of the preset"):
            keep = False
        elif line.startswith("// ---- the rest"):
            keep = True
        line = re.sub(r"(#define \w+_IS_F64 +).*", r"\g<1>1", line) if keep else ""
        lines.append(line.replace("if (args.fm_is_f64)", "if (1)"))
    path.write_text("\n".join(lines) + "\n")


def compile_ptx(options):
    source, ptx = options.work / "cuda.cu", options.work / "cuda.ptx"
    options.work.mkdir(parents=True, exist_ok=True)
    write_small_source(source)
    subprocess.run([options.nvcc, "-ptx", "-lineinfo", "-arch=compute_80", "-O3", "--fmad=false", f"-I{SOURCE / 'include'}",
                    f"-I{SOURCE / 'src'}", "-o", ptx, source], check=True)
    return ptx


def run(options, ptx, case, skip):
    """What was noticed: '' or the first line of a complaint."""
    scene, worlds, steps, settings = case
    command = [options.program, "run", scene, "--device", "cuda", "--preset", "drake", "--worlds", str(worlds), "--steps", str(steps)]
    for setting in settings:
        command += ["--set", setting]
    environment = {**os.environ, "LD_LIBRARY_PATH": options.driver, "SAPWOOD_CUDA_IMAGE": str(ptx), "PTX_CHECK": "2",
                   "PTX_CACHE": str(options.work), "PTX_SKIP": skip}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=SOURCE, timeout=300)
    except subprocess.TimeoutExpired:
        return "hang"
    if done.returncode == 0:
        return ""
    for words, verdict in (("race", "race"), ("never written", "read before it is written"), ("divergent", "divergent barrier")):
        if words in done.stderr:
            return verdict
    return (done.stderr.strip().splitlines() or ["another result"])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--program", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("only", nargs="*", help="FILE:LINE of the barriers to try")
    options = parser.parse_args()
    ptx = compile_ptx(options)
    for case in RUNS:
        if complaint := run(options, ptx, case, ""):
            sys.exit(f"barrier_mutants: {case[0]} fails with all barriers in place: {complaint}")
    caught = missed = 0
    print("| barrier, and what it protects | without it |\n| --- | --- |")
    for file, line, protects in find_barriers():
        if options.only and f"{file}:{line}" not in options.only:
            continue
        verdict = next((f"{v} ({case[0]})" for case in RUNS if (v := run(options, ptx, case, f"{file}:{line}"))), "")
        caught, missed = caught + bool(verdict), missed + (not verdict)
        print(f"| `{file}`: {protects} | {verdict or 'not noticed'} |", flush=True)
    print(f"\n{caught} of {caught + missed} are noticed.")


if __name__ == "__main__":
    main()
