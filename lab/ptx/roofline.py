"""A model of the speed of a GPU that nobody has run yet: predictions from counts, not measurements.

    roofline.py --program SAPWOOD --driver FOLDER --figures FOLDER [--json] [--predictions HEADER]
                [--budgets FILE] [--steps N] [--set NAME=VALUE] [SCENE:PRESET[:LOAD[:MAPPING[:CAPACITY]]] ...]

Runs each scene under the PTX executor (--driver has its libcuda.so.1), which counts what a world-step executes, and
takes registers, spills and stack from what ptxas said of each cubin (--figures). LOAD is `settled`, the scene from rest
with constant targets, or `moving`, the targets of `sapwood bench`. MAPPING is `team` or `thread`, per world. CAPACITY
is a `max_contacts` instead of the scene's; 0, its default, stands for what a probe finds. It prints tables
in Markdown, or with --json a row per kernel and number of worlds; --predictions rewrites those that `sapwood selftest`
prints (lab/selftest/predicted.h); --budgets compares the counts with a file and fails if one grew.

The blocks that fit a multiprocessor, by shared memory, registers and warps, run together: a wave. A wave takes as long
as the busiest unit of the multiprocessor, or as one warp alone, whichever is longer:

    issue      issue slots of the warps, four a clock
    lsu        instructions that load or store, one a clock
    fp64       instructions of a warp over the lanes of the unit
    memory     bytes of shared, global and local memory, 128 a clock
    latency    clocks of a warp alone (translator/cost.py) x SCHEDULE, x CODE_CACHE if it runs more code than
    CACHE_BYTES l2, dram   with a thread per world: bytes of local memory that miss the L1 and the L2 cache

A step is its launches one after the other, each a number of waves, and LAUNCH seconds. dram is also the time for the
bytes that must cross it. With a team, loads are assumed to hit the L1 cache: its scratch is in shared memory. With a
thread per world scratch is local memory. The warps that run together share the L1 cache evenly, and those of all
multiprocessors the L2 cache; either keeps the words used last (runtime/reuse.c). Loads that miss the L1 cache take the
clocks of cost.FAR, those that miss the L2 cache FAR_DRAM; every store goes to the L2 cache; a word that misses the L2
cache is read and written back. Also assumed are the figures of GPUS, and
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from ptxas_figures import read_cubin
from translator import cost

# Multiprocessors, GHz (boost), lanes of fp64 per multiprocessor, DRAM GB/s, shared memory kB, L1 cache without shared
# memory kB, L2 cache MB, warps and blocks per multiprocessor, and whose registers: vendors' data sheets. l2_clock:
# bytes of the L2 cache a clock; of an A100 by its data sheet, of the others assumed. A block also takes 1 kB of shared
# memory.
GPUS = {
    "A100": dict(
        sms=108,
        ghz=1.41,
        fp64=32,
        dram=2039,
        shared=164,
        l1=192,
        l2=40,
        l2_clock=5120,
        warps=64,
        blocks=32,
        code="sm_80",
    ),
    "H100": dict(
        sms=132,
        ghz=1.98,
        fp64=64,
        dram=3350,
        shared=228,
        l1=256,
        l2=50,
        l2_clock=5120,
        warps=64,
        blocks=32,
        code="sm_90",
    ),
    "RTX 4090": dict(
        sms=128,
        ghz=2.52,
        fp64=2,
        dram=1008,
        shared=100,
        l1=128,
        l2=72,
        l2_clock=2048,
        warps=48,
        blocks=24,
        code="sm_80",
    ),
    "B200": dict(
        sms=148,
        ghz=1.96,
        fp64=64,
        dram=8000,
        shared=228,
        l1=256,
        l2=126,
        l2_clock=10240,
        warps=64,
        blocks=32,
        code="sm_100",
    ),
}
REGISTERS = 65536
# clocks by ptxas's own schedule over clocks in the order of the PTX: 0.59 to 0.65 in five variants of the step
SCHEDULE = 0.62
CACHE_BYTES = 128 * 1024  # of code; beyond, a simulation of the step on GPGPU-Sim took 1.45 times the clocks
CODE_CACHE = 1.45
LAUNCH = 2.5e-6  # seconds
INSTRUCTION_BYTES = 16
FAR_DRAM = 600  # clocks of a load from DRAM
__doc__ += f"SCHEDULE = {SCHEDULE}, CODE_CACHE = {CODE_CACHE}, CACHE_BYTES = {CACHE_BYTES}, FAR_DRAM = {FAR_DRAM}, LAUNCH = {LAUNCH} s."

DEFAULT_CASES = [
    f"{scene}:{preset}:{load}"
    for scene in ("quadruped", "humanoid")
    for preset in ("approx32", "fast32", "approx64", "drake")
    for load in ("settled", "moving")
]
DEFAULT_CASES += [
    f"{case}:{load}:thread"
    for case in ("quadruped:approx32", "quadruped:fast32", "quadruped:drake", "humanoid:approx32", "humanoid:fast32")
    for load in ("settled", "moving")
]
DEFAULT_CASES += [
    f"quadruped:{preset}:moving:{mapping}:{capacity}"
    for preset in ("approx32", "fast32")
    for mapping in ("team", "thread")
    for capacity in (0, 128)
]
NUM_WORLDS = (4096, 65536)
COUNTED_WORLDS = {"team": 8, "thread": 32}  # worlds that the executor steps
WAITING = ("sap_kernel_convex", "sap_kernel_merge")  # of pairs that wait for the general narrow phase
WARMUP = 20  # steps of the moving load before it counts


class Counts:
    """What the launches of one kernel executed, per world-step, and what a block needs."""

    def __init__(self, launches, worlds):
        world_steps = len(launches) * worlds
        self.launches = len(launches)
        self.block, self.shared = launches[0]["block"], launches[0]["shared"]
        self.worlds_per_block = self.block[1]
        self.warps_per_block = (self.block[0] * self.block[1] * self.block[2] + 31) // 32
        if launches[0]["kernel"].startswith(WAITING):
            # a thread per pair or world that waited: all of the counted worlds share a warp
            self.worlds_per_block, self.warps_per_block = worlds, 1

        def per_step(value):
            return sum(map(value, launches)) / world_steps

        self.warp, self.thread = (
            per_step(lambda l: l["warp_instructions"]),
            per_step(lambda l: l["thread_instructions"]),
        )
        self.clocks, self.issue = per_step(lambda l: l["warp_clocks"]), per_step(lambda l: l["warp_issue"])
        self.far_clocks = per_step(lambda l: l["warp_far_clocks"])
        # the executor notes one thread of each block
        noted = sum(l["grid"][0] for l in launches)
        self.reuse = {
            kind: [sum(bins) / noted for bins in zip(*(l["local_reuse"][kind] for l in launches))]
            for kind in ("load", "store")
        }
        self.is_thread = self.block[0] == 1 and not launches[0]["kernel"].startswith(WAITING)
        self.classes = {n: per_step(lambda l: l["instructions"].get(n, 0)) for l in launches for n in l["instructions"]}
        self.bytes = {n: per_step(lambda l: l["bytes"][n]) for n in launches[0]["bytes"]}
        self.touched = INSTRUCTION_BYTES * max(l["touched_issue"] for l in launches)

    def warps_of(self, *prefixes):
        """Warp instructions of classes: of its threads', as many lanes idle as on average."""
        threads = sum(
            n for name, n in self.classes.items() if name.startswith(prefixes) and not name.endswith("_param")
        )
        return threads * self.warp / self.thread

    def space(self, *names):
        return sum(n for name, n in self.bytes.items() if name.split("_")[1] in names)

    def scratch(self):
        """Bytes of shared memory of a world, or with a thread per world the bytes of local memory that it uses at
        all."""
        first = self.reuse["load"][-1] + self.reuse["store"][-1]
        return round(4 * first) if self.is_thread else self.shared // self.worlds_per_block

    def misses(self, kind, words):
        """Accesses of a world-step to words of local memory that a cache of this many words per thread does not have.
        Bin b has the distances below 2^b; they are spread evenly over its octave."""
        bins = self.reuse[kind]
        octave = math.log2(words) if words >= 1 else 0
        whole = min(int(octave) + 1, len(bins) - 1)
        return sum(bins[whole + 1 :]) + bins[whole] * (1 if whole == len(bins) - 1 else 1 - (octave - int(octave)))

    def cycles(self, l1_words=None, l2_words=None):
        """Clocks of a warp alone per world-step; a warp steps several worlds at once. With words of cache per thread,
        loads of local memory that miss it take longer."""
        clocks = self.clocks
        if l1_words is not None and sum(self.reuse["load"]) > 0:
            slower = (self.far_clocks - self.clocks) / sum(self.reuse["load"])
            per_dram = (FAR_DRAM - cost.FAR) / (cost.FAR - cost.LOAD["local"])
            clocks += slower * (self.misses("load", l1_words) + per_dram * self.misses("load", l2_words))
        return clocks * SCHEDULE * (CODE_CACHE if self.touched > CACHE_BYTES else 1)


# ---- runs


def call(command, **environment):
    """What a command of the program prints, as JSON."""
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"roofline: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def count_scene(options, scene, preset, load, mapping, capacity):
    """{kernel: Counts} of the step's kernels, and what is known of the scene."""
    chosen = options.set + ([f"max_contacts={capacity}"] if capacity else [])
    settings = [argument for setting in chosen for argument in ("--set", setting)]
    worlds = COUNTED_WORLDS[mapping]
    if mapping == "thread":
        settings += ["--set", "team_size=1"]
    common = ["--device", "cuda", "--preset", preset, "--worlds", str(worlds), "--steps", str(options.steps), *settings]
    commands = {
        "settled": ["run", scene, "--json"],
        "moving": ["bench", "--scene", scene, "--format", "json", "--repeat", "1", "--warmup", str(WARMUP)],
    }
    # A launch may have all steps of a call, and a warp waits in each for its slowest world, which counts of the whole
    # launch would not show: one step a call. A trajectory has every step. Each call ends with the poses of bodies, here
    # each step.
    commands["settled"] += ["--trajectory", os.devnull]
    commands["moving"] += ["--steps-per-call", "1"]
    report = call([options.program, "info", scene, "--json", *settings])
    with tempfile.NamedTemporaryFile("r", suffix=".json") as stats:
        call([options.program, *commands[load], *common], LD_LIBRARY_PATH=options.driver, PTX_STATS=stats.name)
        launches = {}
        for line in stats:
            launch = json.loads(line)
            launches.setdefault(launch["kernel"], []).append(launch)
    # the first launch, when the batch is created, has no worlds
    skip = {name: name.startswith(("sap_kernel_step", "sap_kernel_collide", "sap_kernel_convex")) for name in launches}
    launches = {name: made[skip[name] :] for name, made in launches.items() if len(made) > skip[name]}
    # a report takes the general kernel for some steps, each of them a launch
    reported = len(launches.get("sap_kernel_step", []))
    names = {
        part: [name for name in launches if name.startswith(part)]
        for part in ("sap_kernel_collide", "sap_kernel_step_")
    }
    step = max(names["sap_kernel_step_"], key=lambda name: len(launches[name]))
    collide = [name for name in names["sap_kernel_collide"] if len(launches[name]) > reported]
    collide += sorted(name for name in launches if name.startswith(WAITING))
    skipped = WARMUP if load == "moving" else 0
    return {name: Counts(launches[name][skipped:], worlds) for name in collide + [step]}, report


# ---- predictions


def resident_blocks(gpu, counts, registers):
    """Blocks per multiprocessor, and what limits them."""
    warps = counts.warps_per_block
    per_warp = (registers * 32 + 255) // 256 * 256
    limits = {
        "blocks": gpu["blocks"],
        "warps": gpu["warps"] // warps,
        "registers": REGISTERS // (per_warp * warps),
        "shared memory": gpu["shared"] * 1024 // (counts.shared + 1024),
    }
    least = min(limits, key=limits.get)
    return max(limits[least], 1), least


def wave_clocks(gpu, counts, blocks):
    """{resource: clocks that a wave of this many blocks keeps it busy}."""
    worlds = blocks * counts.worlds_per_block
    clocks = {
        "issue": worlds * counts.issue / 4,
        "lsu": worlds * counts.warps_of("load", "store", "atomic"),
        "fp64": worlds * counts.warps_of("fp64") * 32 / gpu["fp64"],
        "memory": worlds * counts.space("shared", "global", "local") / 128,
    }
    l1 = l2 = None
    if counts.is_thread:
        l1, l2 = gpu["l1"] * 1024 / (4 * worlds), gpu["l2"] * 1024**2 / (4 * worlds * gpu["sms"])
        from_l2 = 4 * (counts.misses("load", l1) + sum(counts.reuse["store"]))
        from_dram = 8 * (counts.misses("load", l2) + counts.misses("store", l2))
        clocks["l2"] = worlds * from_l2 / (gpu["l2_clock"] / gpu["sms"])
        clocks["dram"] = worlds * from_dram / (gpu["dram"] / gpu["ghz"] / gpu["sms"])
    clocks["latency"] = counts.worlds_per_block * counts.cycles(l1, l2) / counts.warps_per_block
    return clocks


def predict(gpu, kernels, figures, num_worlds, dram_bytes):
    """World-steps per second, and for each kernel its busiest resource, blocks and what limits these."""
    seconds, notes = 0, []
    for name, counts in kernels.items():
        most, limit = resident_blocks(gpu, counts, figures[name, gpu["code"]]["registers"])
        needed = math.ceil(num_worlds / counts.worlds_per_block / gpu["sms"])
        waves, rest = divmod(needed, most)
        blocks = min(needed, most)
        busy = wave_clocks(gpu, counts, blocks)
        busiest = max(busy, key=busy.get)
        clocks = waves * busy[busiest] + (max(wave_clocks(gpu, counts, rest).values()) if rest else 0)
        seconds += clocks / (gpu["ghz"] * 1e9) + LAUNCH
        notes.append(f"{busiest}, {blocks} blocks by {limit if needed > most else 'worlds'}")
    by_dram = num_worlds * dram_bytes / (gpu["dram"] * 1e9)
    return num_worlds / max(seconds, by_dram), "; ".join(notes) if seconds > by_dram else "dram"


def compulsory_bytes(report, preset):
    """Bytes between DRAM and a multiprocessor per world-step, if all that is read twice is in a cache: state in and
    out, control in, six contact records out and in, status and counters out."""
    number = 8 if preset in ("approx64", "drake") else 4
    nq, nv, nb = report["coordinates"], report["dofs"], report["bodies"]
    return round(number * (2 * (nq + nv) + 4 * nv + 6 * nb) + 2 * 6 * (11 * number + 8) + 40)


def rows_of(case, kernels, report, figures):
    """The JSON rows of a case: one per kernel and number of worlds; collision is the same with a thread per world."""
    scene, preset, load, mapping, capacity = case
    dram_bytes = compulsory_bytes(report, preset)
    for num_worlds in NUM_WORLDS:
        predicted = {name: predict(gpu, kernels, figures, num_worlds, dram_bytes) for name, gpu in GPUS.items()}
        for kernel, counts in kernels.items():
            if mapping == "thread" and not counts.is_thread:
                continue
            of = figures[kernel, "sm_80"]
            yield {
                "scene": scene,
                "preset": preset,
                "worlds": num_worlds,
                "load": load,
                "mapping": mapping,
                "kernel": kernel,
                "capacity": capacity,
                "contact_slots": report["contact_slots"],
                "warp_instructions": round(counts.warp),
                "active_lanes": round(counts.thread / counts.warp, 1),
                "cycles": round(counts.cycles()),
                "scratch_bytes": counts.scratch(),
                "touched_code_bytes": counts.touched,
                "registers": of["registers"],
                "spill_bytes": of["spill"],
                "stack_bytes": of["stack"],
                "launches": 1,
                "global_bytes": round(counts.space("global")),
                "local_bytes": round(counts.space("local")),
                "predicted": {name: round(rate) for name, (rate, _) in predicted.items()},
                "limits": {name: note for name, (_, note) in predicted.items()},
            }


# ---- output


def million(rate):
    return f"{rate / 1e6:.2g}" if rate < 99.5e6 else f"{rate / 1e6:.0f}"


def tables(rows):
    """The counts of each kernel, and the predictions of each case, as Markdown."""
    lines = [
        "| scene | preset | load | kernel | warp instructions | active lanes | clocks of a warp | scratch bytes | global bytes"
        " | code that runs, kB | registers | spills | stack |",
        "|" + " --- |" * 13,
    ]
    for r in rows:
        if r["worlds"] == NUM_WORLDS[0] and not r["capacity"]:
            lines.append(
                f"| {r['scene']} | {r['preset']} | {r['load']} | {r['kernel'].removeprefix('sap_kernel_')} |"
                f" {r['warp_instructions']} | {r['active_lanes']} | {r['cycles']} | {r['scratch_bytes']} | {r['global_bytes']} |"
                f" {r['touched_code_bytes'] // 1024} | {r['registers']} | {r['spill_bytes']} | {r['stack_bytes']} |"
            )
    lines += [
        "",
        "Predicted, million world-steps per second; what limits collision and the step on an A100:",
        "",
        "| scene | preset | load | worlds | " + " | ".join(GPUS) + " | limit |",
        "|" + " --- |" * (5 + len(GPUS)),
    ]
    shown = set()
    for r in rows:
        slots = {"": "", "0": f", {r['contact_slots']} slots (default)"}.get(
            r["capacity"], f", {r['contact_slots']} slots"
        )
        case = (
            r["scene"],
            r["preset"] + (", thread" if r["mapping"] == "thread" else "") + slots,
            r["load"],
            r["worlds"],
        )
        if case not in shown:
            shown.add(case)
            lines.append(
                "| "
                + " | ".join(map(str, case))
                + " | "
                + " | ".join(million(r["predicted"][g]) for g in GPUS)
                + f" | {r['limits']['A100']} |"
            )
    return "\n".join(lines)


MIN_WARPS = 6  # from so many warps per multiprocessor on, a thread has a world (src/host/cuda/choose.c)


def write_predictions(path, rows):
    """The predictions for moving targets, with the mapping that each GPU chooses, as the macro of a C header."""

    def rate(scene, preset, worlds, name):
        enough = worlds >= MIN_WARPS * 32 * GPUS[name]["sms"]
        found = {
            r["mapping"]: r["predicted"][name]
            for r in rows
            if (r["scene"], r["preset"], r["worlds"], r["load"]) == (scene, preset, worlds, "moving")
        }
        return found["thread" if enough and "thread" in found else "team"]

    rows = [r for r in rows if not r["capacity"]]
    cases = dict.fromkeys(
        (r["scene"], r["preset"], r["worlds"]) for r in rows if r["load"] == "moving" and r["preset"] != "approx64"
    )
    lines = [
        f'    X("{scene}", "{preset}", {worlds}, '
        + ", ".join(f"{rate(scene, preset, worlds, name):.2g}" for name in GPUS)
        + ")"
        for scene, preset, worlds in cases
    ]
    text = path.read_text()
    head = text[: text.index("#define CLI_PREDICTIONS")]
    path.write_text(
        head
        + "".join(line.ljust(119) + "\\\n" for line in ["#define CLI_PREDICTIONS(X)"] + lines[:-1])
        + lines[-1]
        + "\n"
    )


BUDGETED = ("warp_instructions", "cycles", "scratch_bytes", "touched_code_bytes")


def judge(rows, budgets):
    """What is above its budget. A line of budgets: scene, preset, load, kernel, then the figures of BUDGETED."""
    of = {(r["scene"], r["preset"], r["load"], r["kernel"]): r for r in rows}
    for key, most in budgets.items():
        if key not in of:
            yield f"{' '.join(key)} has a budget, but was not counted"
            continue
        for name, limit in zip(BUDGETED, most):
            if of[key][name] > limit:
                yield f"{' '.join(key)}: {name} is {of[key][name]}; its budget is {limit}"
    for key in of.keys() - budgets.keys():
        yield f"{' '.join(key)} has no budget"


def read_budgets(path):
    lines = [line.split("#")[0].split() for line in path.read_text().splitlines()]
    return {tuple(words[:4]): tuple(map(int, words[4:])) for words in lines if words}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument(
        "--figures",
        type=pathlib.Path,
        action="append",
        default=[],
        help="a folder of cubins, may be repeated; 128 registers are assumed for kernels without a cubin",
    )
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the solver")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--predictions", type=pathlib.Path, metavar="HEADER")
    parser.add_argument("--budgets", type=pathlib.Path, metavar="FILE")
    parser.add_argument("cases", nargs="*", default=DEFAULT_CASES)
    options = parser.parse_intermixed_args()
    figures = {}
    for path in (path for folder in options.figures for path in folder.glob("*.cubin")):
        figures.update(read_cubin(str(path)))
    rows = []
    for case in options.cases:
        words = case.split(":")
        case = words + ["", "", "settled", "team", ""][len(words) :]
        kernels, report = count_scene(options, *case)
        for key in ((kernel, gpu["code"]) for kernel in kernels for gpu in GPUS.values()):
            figures.setdefault(key, figures.get((key[0], "sm_80"), dict(registers=128, spill=0, stack=0)))
        rows += rows_of(case, kernels, report, figures)
    if options.predictions:
        write_predictions(options.predictions, rows)
    if options.json:
        print("[" + ",\n ".join(map(json.dumps, rows)) + "]")
    elif options.budgets:
        complaints = list(judge(rows, read_budgets(options.budgets)))
        for row in rows:
            if row["worlds"] == NUM_WORLDS[0]:
                print(row["scene"], row["preset"], row["load"], row["kernel"], *(row[name] for name in BUDGETED))
        print(*complaints, sep="\n", end="\n" if complaints else "", file=sys.stderr)
        return 1 if complaints else 0
    else:
        print(tables(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
