"""What each part of a kernel executes: the counts of a run by functions, files or lines of the CUDA source.

    profile_kernel.py FILE.ptx ENTRIES KERNEL WORLD_STEPS [--skip LAUNCHES] [--by function|caller|file|line] [--most N]

FILE.ptx is compiled with nvcc -lineinfo. ENTRIES is what the executor wrote when it ran (PTX_ENTRIES): how often
threads and warps entered each basic block. WORLD_STEPS is what one launch takes. An instruction counts for the function
that it stands in before inlining; `caller` adds the function that this one was inlined into. Per world-step: warp
instructions, thread instructions, accesses and bytes of local and generic memory, accesses of global memory,
floating-point instructions, and kB of code that runs.
"""

import argparse
import json
import re
from collections import defaultdict

from translator import cost
from translator.module import ModuleEmitter

_LOC = re.compile(
    r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:,\s*function_name\s+(\S+?),\s*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?"
)
_STRING = re.compile(r"^(\$L__info_string\d+):\s*\n((?:\.b8 [^\n]*\n)+)", re.M)
_FLOATS = cost.ARITHMETIC + ("div", "sqrt", "rcp")
COLUMNS = ("warp", "thread", "local", "bytes", "global", "float", "code")


def short_name(mangled):
    """The last part of a mangled name: _ZN1a3fooEv is foo."""
    parts, i = [], mangled.find("N") + 1 if mangled.startswith("_ZN") else 2
    while match := re.match(r"\d+", mangled[i:]):
        start = i + match.end()
        i = start + int(match.group())
        parts.append(mangled[start:i])
    return parts[-1] if parts else mangled


def places_of(text):
    """For each line of the PTX, the stack [(function, file, line)] of the source that it was made of, innermost
    first."""
    names = {
        m.group(1): bytes(int(b) for b in re.findall(r"(?<=[ ,])\d+", m.group(2))[:-1]).decode(errors="replace")
        for m in _STRING.finditer(text)
    }
    files = {number: path.rsplit("/", 1)[-1] for number, path in re.findall(r'\.file\s+(\d+)\s+"([^"]*)"', text)}
    stacks, of_call, now = [()], {}, ()
    for line in text.splitlines():
        if match := _LOC.match(line):
            name = short_name(names.get(match.group(4), "?")) if match.group(4) else "kernel"
            now = ((name, files.get(match.group(1), "?"), match.group(2)), *of_call.get(match.group(5, 6, 7), ()))
            of_call[match.group(1, 2, 3)] = now
        stacks.append(now)
    return stacks


def key_of(stack, by):
    name, file, line = stack[0] if stack else ("?", "?", "?")
    caller = stack[1][0] if len(stack) > 1 else "kernel"
    return {"function": f"{file}: {name}", "caller": f"{name} < {caller}", "file": file, "line": f"{file}:{line}"}[by]


def count_statement(row, statement, threads, warps):
    """Adds what an instruction costs that so many threads and warps execute."""
    modifiers = statement.modifiers
    row["warp"] += warps
    row["thread"] += threads
    row["code"] += 16 * cost.instruction_cost(statement.name, modifiers)[0] / 1024
    if statement.name in ("ld", "st") and "global" in modifiers:
        row["global"] += threads
    elif statement.name in ("ld", "st") and not any(space in modifiers for space in ("param", "const", "shared")):
        elements = 4 if "v4" in modifiers else 2 if "v2" in modifiers else 1
        row["local"] += threads
        row["bytes"] += threads * elements * int(re.sub(r"\D", "", modifiers[-1])) // 8
    if statement.name in _FLOATS and modifiers and modifiers[-1] in ("f32", "f64"):
        row["float"] += threads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptx")
    parser.add_argument("entries")
    parser.add_argument("kernel")
    parser.add_argument("world_steps", type=float)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--by", choices=("function", "caller", "file", "line"), default="function")
    parser.add_argument("--most", type=int, default=60)
    options = parser.parse_args()
    with open(options.ptx) as file:
        text = file.read()
    with open(options.entries) as file:
        launches = [launch["entries"] for launch in map(json.loads, file) if launch["kernel"] == options.kernel][
            options.skip :
        ]
    places, rows = places_of(text), defaultdict(lambda: dict.fromkeys(COLUMNS, 0))
    for number, block in enumerate(ModuleEmitter(text).blocks):
        threads, warps = (sum(launch.get(str(number), (0, 0))[k] for launch in launches) for k in (0, 1))
        for statement in block.statements if warps else ():
            for key in ("all", key_of(places[statement.line], options.by)):
                count_statement(rows[key], statement, threads, warps)
    print(f"{'':50}", *(f"{name:>8}" for name in COLUMNS))
    for key, row in sorted(rows.items(), key=lambda item: -item[1]["warp"])[: options.most]:
        steps = options.world_steps * len(launches)
        print(f"{key[:50]:50}", *(f"{row[name] / steps:8.0f}" for name in COLUMNS[:-1]), f"{row['code']:8.1f}")


if __name__ == "__main__":
    main()
