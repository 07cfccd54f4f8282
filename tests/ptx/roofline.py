"""A ceiling for the steps per second of a GPU that nobody has run yet: a prediction from counts, not a measurement.

    roofline.py --program SAPWOOD --driver FOLDER --figures FOLDER [--worlds N] [--steps N] [--set NAME=VALUE] [SCENE:PRESET ...]

Runs each scene under the PTX executor (--driver has its libcuda.so.1), which counts what a world-step executes by class, takes registers
from what ptxas said of each cubin (--figures), and gives for each GPU the time that the busiest unit of a multiprocessor needs:

    issue      warp instructions, four a clock
    fp32 fp64 int   instructions of that kind over the lanes of the unit
    memory     bytes of shared, global and local memory over the 128 bytes a clock of the L1 cache and shared memory
    dram       bytes that must come from or go to memory: state, control, contacts, results
    latency    the instructions of a warp one after the other, over the warps that are resident

What is assumed is in GPUS and LATENCY below. PTX instructions stand for machine instructions. Of loads, all hit the L1 cache.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from ptxas_figures import read_cubin

# Multiprocessors, GHz (boost), lanes per multiprocessor of fp32, fp64 and integers, DRAM GB/s, shared memory kB and warps per
# multiprocessor, and whose registers: vendors' data sheets. A block also takes 1 kB of shared memory.
GPUS = {
    "A100": dict(sms=108, ghz=1.41, fp32=64, fp64=32, integer=64, dram=2039, shared=164, warps=64, blocks=32, code="sm_80"),
    "H100": dict(sms=132, ghz=1.98, fp32=128, fp64=64, integer=64, dram=3350, shared=228, warps=64, blocks=32, code="sm_90"),
    "RTX 4090": dict(sms=128, ghz=2.52, fp32=128, fp64=2, integer=64, dram=1008, shared=100, warps=48, blocks=24, code="sm_80"),
    "L40S": dict(sms=142, ghz=2.52, fp32=128, fp64=2, integer=64, dram=864, shared=100, warps=48, blocks=24, code="sm_80"),
    "B200": dict(sms=148, ghz=1.96, fp32=128, fp64=64, integer=128, dram=8000, shared=228, warps=64, blocks=32, code="sm_100"),
}
REGISTERS = 65536
DEFAULT_CASES = ["quadruped:approx32", "quadruped:approx64", "quadruped:drake", "humanoid:approx32", "humanoid:approx64",
                 "cube:approx32", "stack5:approx32", "gripper:approx32"]
# Clocks from an instruction to one that needs its result, rounded figures of published microbenchmarks.
LATENCY = {"fp32": 4, "fp64": 8, "integer": 4, "special": 30, "memory": 30, "barrier": 20, "other": 4}


def kind_of(name):
    """The unit that serves a class of instructions."""
    if name.endswith("_special"):
        return "special"
    for prefix, kind in (("fp32", "fp32"), ("fp64", "fp64"), ("load", "memory"), ("store", "memory"), ("atomic", "memory"),
                         ("barrier", "barrier"), ("warp", "barrier")):
        if name.startswith(prefix):
            return kind
    return "integer" if name in ("integer", "compare", "convert", "move") else "other"


class Counts:
    """What the launches of one kernel executed."""

    def __init__(self):
        self.warp, self.thread = 0, 0
        self.classes, self.bytes, self.block, self.shared = {}, {}, None, 0

    def add(self, launch):
        self.warp += launch["warp_instructions"]
        self.thread += launch["thread_instructions"]
        self.block, self.shared = launch["block"], launch["shared"]
        for name, n in launch["instructions"].items():
            self.classes[kind_of(name)] = self.classes.get(kind_of(name), 0) + n
        for name, n in launch["bytes"].items():
            space = name.split("_")[1]
            self.bytes[space] = self.bytes.get(space, 0) + n

    def warps_of(self, kind):
        """Warp instructions of a kind: of its threads', as many lanes idle as on average."""
        return self.classes.get(kind, 0) * self.warp / self.thread


def call(command, **environment):
    """What a command of the program prints, as JSON."""
    done = subprocess.run(command + ["--json"], env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"roofline: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def run_scene(options, scene, preset):
    """{kernel: Counts} of the step's kernels, and what is known of the scene."""
    report = call([options.program, "info", scene])
    with tempfile.NamedTemporaryFile("r", suffix=".json") as stats:
        command = [options.program, "run", scene, "--device", "cuda", "--preset", preset, "--worlds", str(options.worlds),
                   "--steps", str(options.steps)]
        for setting in options.set:
            command += ["--set", setting]
        report["run"] = call(command, LD_LIBRARY_PATH=options.driver, PTX_STATS=stats.name)
        kernels = {}
        for line in stats:
            launch = json.loads(line)
            if launch["kernel"].startswith(("sap_kernel_step", "sap_kernel_collide")):
                kernels.setdefault(launch["kernel"], Counts()).add(launch)
    return kernels, report


def resident_blocks(gpu, counts, registers):
    """Blocks per multiprocessor, and what limits them."""
    warps = (counts.block[0] * counts.block[1] * counts.block[2] + 31) // 32
    per_warp = (registers * 32 + 255) // 256 * 256
    limits = {"blocks": gpu["blocks"], "warps": gpu["warps"] // warps, "registers": REGISTERS // (per_warp * warps),
              "shared memory": gpu["shared"] * 1024 // (counts.shared + 1024)}
    least = min(limits, key=limits.get)
    return max(limits[least], 1), least, warps


def clocks(gpu, counts, registers, world_steps):
    """{resource: clocks of one multiprocessor per world-step}."""
    blocks, limit, warps = resident_blocks(gpu, counts, registers)
    chain = sum(LATENCY[kind] * counts.warps_of(kind) for kind in counts.classes) / warps  # one warp after the other
    lanes = {"fp32": gpu["fp32"], "fp64": gpu["fp64"], "int": gpu["integer"]}
    busy = {"issue": counts.warp / 4}
    for name, kind in (("fp32", "fp32"), ("fp64", "fp64"), ("int", "integer")):
        busy[name] = counts.warps_of(kind) * 32 / lanes[name]
    busy["memory"] = sum(counts.bytes.get(space, 0) for space in ("shared", "global", "local")) / 128
    busy["latency"] = chain / blocks
    return {name: value / world_steps for name, value in busy.items()}, blocks * warps, limit


def predict(gpu, kernels, registers, world_steps, dram_bytes):
    """World-steps per second, and for each kernel its busiest resource, warps and what limits these."""
    seconds, notes = 0, []
    for name, counts in sorted(kernels.items()):
        busy, warps, limit = clocks(gpu, counts, registers[name, gpu["code"]]["registers"], world_steps)
        busiest = max(busy, key=busy.get)
        seconds += busy[busiest] / (gpu["ghz"] * 1e9 * gpu["sms"])
        notes.append(f"{busiest} ({warps} warps by {limit})")
    by_memory = dram_bytes / (gpu["dram"] * 1e9)
    return 1 / max(seconds, by_memory), " / ".join(notes) if seconds > by_memory else "dram"


def compulsory_bytes(report, preset):
    """Bytes between DRAM and a multiprocessor per world-step, if all that is read twice is in a cache: state in and out, control in,
    contact records out and in, status and counters out."""
    number = 4 if preset == "approx32" else 8
    nq, nv, nb, contacts = report["coordinates"], report["dofs"], report["bodies"], report["run"]["contacts"]["mean"]
    return round(number * (2 * (nq + nv) + 4 * nv + 6 * nb) + 2 * contacts * (11 * number + 8) + 40)


def two_digits(number):
    return f"{number:.2g}" if number < 99.5 else f"{number:.0f}"


def print_counts(scene, preset, kernels, world_steps, dram_bytes):
    for name, counts in sorted(kernels.items()):
        by_kind = [counts.classes.get(kind, 0) / world_steps / 1000 for kind in ("fp32", "fp64", "special", "integer", "memory")]
        by_space = [counts.bytes.get(space, 0) / world_steps / 1000 for space in ("global", "shared", "local")]
        row = [f"{counts.thread / world_steps / 1000:.0f}", f"{counts.warp / world_steps / 1000:.1f}"]
        row += [f"{n:.1f}" for n in by_kind + by_space] + [f"{counts.shared / 1024:.1f}"]
        print(f"| {scene} | {preset} | {name.removeprefix('sap_kernel_')} | " + " | ".join(row) + f" | {dram_bytes} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--figures", type=pathlib.Path, required=True)
    parser.add_argument("--worlds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the solver")
    parser.add_argument("cases", nargs="*", default=DEFAULT_CASES)
    options = parser.parse_intermixed_args()
    registers = {}
    for path in options.figures.glob("*.cubin"):
        registers.update(read_cubin(str(path)))
    counted = []
    for case in options.cases:
        scene, preset = case.split(":")
        kernels, report = run_scene(options, scene, preset)
        counted.append((scene, preset, kernels, report, compulsory_bytes(report, preset)))
    world_steps = options.worlds * options.steps

    print("Per world-step, thousands of instructions (of threads, and of warps), thousands of bytes that they move, shared memory of a block\n"
          "in kB, and the bytes that must cross DRAM:\n")
    print("| scene | preset | kernel | threads | warps | fp32 | fp64 | special | integer | memory | global kB | shared kB | local kB"
          " | block kB | DRAM B |")
    print("|" + " --- |" * 15)
    for scene, preset, kernels, _, dram_bytes in counted:
        print_counts(scene, preset, kernels, world_steps, dram_bytes)
    print("\nPredicted ceiling, million world-steps per second, and what binds (collision / step):\n")
    print("| scene | preset | " + " | ".join(GPUS) + " |")
    print("|" + " --- |" * (2 + len(GPUS)))
    for scene, preset, kernels, _, dram_bytes in counted:
        cells = []
        for gpu in GPUS.values():
            ceiling, note = predict(gpu, kernels, registers, world_steps, dram_bytes)
            cells.append(f"{two_digits(ceiling / 1e6)}: {note}")
        print(f"| {scene} | {preset} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
