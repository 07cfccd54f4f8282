"""Prints the figures of lab/results/import_cost.md: time to the first step, cost of calls and of per-world parameters.

    python python/tools/measure.py                 # with the package installed; a C compiler for the second figure

Times are the least of several, in one thread, and but for the first line CPU time; what is compared runs in turns.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sapwood
from sapwood._library import lib
from sapwood.batch import PARAMETERS

ROOT = Path(__file__).parents[2]
SCENE = ROOT / "bench" / "scenes" / "quadruped.yaml"

FIRST = f"""
import time
start = time.perf_counter()
import numpy
numpy_imported = time.perf_counter()
import sapwood
imported = time.perf_counter()
with sapwood.Batch(sapwood.Model.load({str(SCENE)!r}), 1024) as batch:
    batch.step()
    print(numpy_imported - start, imported - numpy_imported, time.perf_counter() - imported)
"""

LOOP = """
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char **argv) {
    SapScene *scene; SapBatch *batch; SapOptions o; double best = 1e9;
    if (argc < 2 || sap_scene_load(argv[1], &scene) || sap_options_preset(NULL, &o)) return 1;
    o.threads = 1;
    if (sap_batch_create(scene->model, 1, &o, &batch)) return 1;
    for (int r = 0; r < REPEATS; r++) {
        sap_batch_reset(batch, NULL, 0);
        double start = now();
        for (int i = 0; i < CALLS; i++) sap_batch_step(batch, scene->dt, 1);
        double took = (now() - start) / CALLS;
        best = took < best ? took : best;
    }
    printf("%.9g", best);
    return 0;
}
"""
CALLS, REPEATS = 200, 300


def first_step():
    runs = [subprocess.run([sys.executable, "-c", FIRST], check=True, capture_output=True, text=True) for _ in range(5)]
    return [min(column) for column in zip(*([float(x) for x in run.stdout.split()] for run in runs))]


def call_in_c():
    """Seconds of a step of one world, called from C with the same library."""
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "loop.c", Path(folder) / "loop"
        source.write_text(f"#define CALLS {CALLS}\n#define REPEATS {REPEATS}\n{LOOP}")
        library = Path(lib.path).resolve()
        flags = ["-O2", "-D_GNU_SOURCE", f"-I{ROOT / 'include'}", str(library), f"-Wl,-rpath,{library.parent}"]
        subprocess.run([compiler, str(source), *flags, "-o", str(program)], check=True)
        return float(subprocess.run([str(program), str(SCENE)], check=True, capture_output=True, text=True).stdout)


def call_in_python(model):
    best = 1e9
    with sapwood.Batch(model, 1, threads=1) as batch:
        for _ in range(REPEATS):
            batch.reset()
            start = time.process_time()
            for _ in range(CALLS):
                batch.step()
            best = min(best, (time.process_time() - start) / CALLS)
    return best


USUAL = ["body_mass", "body_com", "body_inertia", "joint_target_ke", "joint_target_kd", "shape_material_mu",
         "joint_armature", "joint_damping"]  # fmt: skip
CASES = {
    "none": [],
    "body_mass": ["body_mass"],
    "eight": USUAL,
    "all": [name for name in PARAMETERS if not name.startswith(("constraint_", "tendon_")) and name != "shape_mesh"],
    "eight, mass rewritten": USUAL,
}


def expansion(model, preset, worlds=4096, rounds=15):
    """{case: seconds of a call of one step}."""
    batches = {}
    for case, names in CASES.items():
        batch = batches[case] = sapwood.Batch(model, worlds, preset=preset, threads=1, seed=1)
        for name in names:
            batch.expand(name)
        batch.perturb()
        batch.step(50)
    best = dict.fromkeys(CASES, 1e9)
    for r in range(rounds):
        batches["eight, mass rewritten"].body_mass[...] *= 1.01 if r % 2 else 1 / 1.01
        for case, batch in batches.items():
            start = time.process_time()
            batch.step()
            best[case] = min(best[case], time.process_time() - start)
    return best


def main():
    numpy, package, step = first_step()
    print(f"import: numpy {numpy:.3f} s, sapwood {package:.3f} s; then the first step of 1024 worlds {step:.3f} s")
    model = sapwood.Model.load(SCENE)
    here, there = call_in_python(model), call_in_c()
    if there is not None:
        more = (here - there) * 1e6
        print(f"one step of one world: Python {here * 1e6:.2f} us, C {there * 1e6:.2f} us, {more:.2f} us more")
    for preset in ("fast32", "fast64", "approx32", "approx64", "drake"):
        best = expansion(model, preset)
        ratios = ", ".join(f"{case} {best[case] / best['none']:.2f}" for case in CASES if case != "none")
        print(f"{preset}: {best['none'] / 4096 * 1e6:.2f} us per world and step without own parameters; times {ratios}")


if __name__ == "__main__":
    main()
