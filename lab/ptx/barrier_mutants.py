"""Leaves out each TEAM_SYNC() of the kernels in turn, and tells whether the executor's race check notices.

    barrier_mutants.py --nvcc NVCC --driver FOLDER --work FOLDER [FILE:LINE ...]

The kernels are compiled once, with line numbers and all stages in f64; a barrier is left out when they run (PTX_SKIP),
so a mutant costs a run and no compilation. One of CASES has to fail where all succeed with the barrier in place.
A barrier that none of them misses is not needed, or stands on a path that they do not take. Barriers of kernels that
are not compiled here (dual solvers, MuJoCo's law) are left out.
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
# The cases of tests/barriers.c with the order of threads, in the order that finds most barriers soonest. In the last,
# bits are added to words by atomics: the order decides whether one is added before the word is cleared, and whether one
# is added after it is read.
NAMES = (
    "robot",
    "tiles",
    "linkages",
    "steps of a launch",
    "failed worlds",
    "worlds of a team",
    "lockstep",
    "lockstep with products",
    "static tree",
)
CASES = tuple((name, "forward") for name in NAMES) + (("static tree", "reverse"),)


def compiled_places(ptx):
    """{(file, line)} of the barriers in the PTX: where they stand, and the calls that they were inlined for."""
    text = ptx.read_text()
    files = {
        number: pathlib.Path(name).name for number, name in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M)
    }
    places, location = set(), []
    for line in text.splitlines():
        if line.lstrip().startswith(".loc"):
            location = re.findall(r"(?:\.loc|inlined_at)\s+(\d+)\s+(\d+)", line)
        elif re.match(r"\s+(?:@\S+ )?bar", line):
            places |= {(files.get(number), int(at)) for number, at in location}
    return places


def find_barriers(ptx):
    """[(path below src/kernels, file, line, what it protects)]"""
    found, places = [], compiled_places(ptx)
    for path in sorted([*KERNELS.rglob("*.h"), *KERNELS.rglob("*.cuh"), *KERNELS.rglob("*.cu")]):
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if "TEAM_SYNC();" in text and (path.name, number) in places:
                protects = re.sub(r".*TEAM_SYNC\(\); */[/*] *|\*/.*", "", text).strip()
                found.append((path.relative_to(KERNELS), path.name, number, protects))
    return found


def write_small_source(path):
    """target/cuda.cu without the sets of presets, and in f64: a third of the code. Lines keep their numbers."""
    keep, lines = True, []
    for line in (KERNELS / "target" / "cuda.cu").read_text().splitlines():
        if line.startswith("#define STEP_OF"):
            keep = False
        elif line.startswith("// ---- pairs that wait"):
            keep = True
        line = re.sub(r"(#define (?:\w+_IS|SOLVE_STARTS)_F64 +).*", r"\g<1>1", line) if keep else ""
        lines.append(line.replace("if (args.fm_is_f64)", "if (1)"))
    path.write_text("\n".join(lines) + "\n")


def compile_ptx(options):
    source, ptx = options.work / "cuda.cu", options.work / "cuda.ptx"
    options.work.mkdir(parents=True, exist_ok=True)
    write_small_source(source)
    subprocess.run(
        [
            options.nvcc,
            "-ptx",
            "-lineinfo",
            "-arch=compute_80",
            "-O3",
            "--fmad=false",
            f"-I{SOURCE / 'include'}",
            f"-I{SOURCE / 'src'}",
            "-o",
            ptx,
            source,
        ],
        check=True,
    )
    return ptx


def run(options, ptx, case, order, skip):
    """What was noticed: '' or the first line of a complaint."""
    libraries = str(options.driver.parent / "libptx_libraries.so")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(options.driver),
        "SAPWOOD_CUDA_IMAGE": str(ptx),
        "PTX_CHECK": "2",
        "PTX_CACHE": str(options.work),
        "PTX_SKIP": skip,
        "PTX_MULTIPROCESSORS": "1",
        "PTX_ORDER": order,
        "SAPWOOD_CUSOLVER": libraries,
        "SAPWOOD_CUBLAS": libraries,
    }
    command = [options.driver.parent / "ptx_barriers", case]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=SOURCE, timeout=300)
    except subprocess.TimeoutExpired:
        return "hang"
    if done.returncode == 0:
        return ""
    for words, verdict in (
        ("race", "race"),
        ("never written", "read before it is written"),
        ("divergent", "divergent barrier"),
    ):
        if words in done.stderr:
            return verdict
    return ((done.stderr + done.stdout).strip().splitlines() or ["another result"])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--driver", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("only", nargs="*", help="FILE:LINE of the barriers to try")
    options = parser.parse_args()
    options.work, options.driver = options.work.resolve(), options.driver.resolve()
    ptx = compile_ptx(options)
    for case, order in CASES:
        if complaint := run(options, ptx, case, order, ""):
            sys.exit(f"barrier_mutants: {case} fails with all barriers in place: {complaint}")
    rows, caught = ["| barrier, and what it protects | without it |", "| --- | --- |"], 0
    for path, file, line, protects in find_barriers(ptx):
        if options.only and f"{file}:{line}" not in options.only:
            continue
        verdict = next(
            (f"{v} ({case})" for case, order in CASES if (v := run(options, ptx, case, order, f"{file}:{line}"))), ""
        )
        caught += bool(verdict)
        rows.append(f"| `{path}`: {protects} | {verdict or 'not detected'} |")
        print(f"{file}:{line} {rows[-1]}", file=sys.stderr, flush=True)
    print(*rows, f"\nThe race check detects {caught} of these {len(rows) - 2}.", sep="\n")


if __name__ == "__main__":
    main()
