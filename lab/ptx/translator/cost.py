"""What a basic block costs one warp that is alone on a multiprocessor: clocks and issue slots.

An in-order scoreboard in the order of the PTX: an instruction waits for the results that it needs, then takes its issue
slots. Latencies are rounded figures of published microbenchmarks (compute capability 8.0; loads hit shared memory or
the L1 cache); division and roots are the sequences that ptxas expands them to. ptxas may hoist a load over the
instructions before it, which an estimate in the order of the PTX does not see: by its own schedule the same code takes
1.5 to 1.8 times fewer clocks. Results under way at the end of a block cost nothing there.
"""

import re

FREE = (0, 0)
LOAD = {"shared": 26, "const": 10, "local": 33}  # of other spaces, and generic: 35
FAR = 240  # a load of local memory, or generic, that misses the L1 cache and hits the L2 cache
DIVISIONS = {
    ("div", "f32"): (10, 45),
    ("div", "f64"): (16, 100),
    ("sqrt", "f32"): (10, 45),
    ("sqrt", "f64"): (14, 92),
    ("rcp", "f32"): (7, 32),
    ("rcp", "f64"): (11, 84),
}
CONTROL = {
    "bar": (2, 12),
    "barrier": (2, 12),
    "bra": (1, 10),
    "brx": (1, 10),
    "call": (4, 24),
    "ret": (1, 10),
    "exit": (1, 10),
}
WARP = ("vote", "match", "shfl", "redux", "activemask")
ARITHMETIC = ("fma", "add", "sub", "mul", "mad", "neg", "abs", "min", "max")
_REGISTER = re.compile(r"%[a-z]+\d+")


def instruction_cost(name, modifiers, is_far=False):
    """(issue slots, clocks until the result) of an instruction. is_far: local memory is in the L2 cache."""
    kind = modifiers[-1] if modifiers else ""
    wide = 2 if "64" in kind and kind[0] in "bsu" else 1  # integers of 64 bits are two
    if name in ("mov", "cvta") or (name in ("ld", "st") and "param" in modifiers):
        return FREE
    if name in ("ld", "ldu") and is_far and not any(m in ("shared", "const", "global") for m in modifiers):
        return 1, FAR
    if name in ("ld", "ldu"):
        return 1, next((LOAD[space] for space in LOAD if space in modifiers), 35)
    if (name, kind) in DIVISIONS:
        return DIVISIONS[name, kind]
    if name in ("div", "rem"):
        return 30, 120
    if name in CONTROL:
        return CONTROL[name]
    if name in WARP:
        return 1, 24
    if name in ARITHMETIC:
        if kind == "f64":
            return 1, 8
        slots = 4 if wide == 2 and name in ("mul", "mad") and "wide" not in modifiers else wide
        return (1, 5) if "wide" in modifiers else (slots, 4 + slots)
    if name in ("setp", "set"):
        return 1, 10 if kind == "f64" else 8
    if name == "cvt" and any(m in ("f32", "f64") for m in modifiers[-2:]):
        return 1, 12
    return wide, 5


def _registers(statement):
    """The registers that an instruction writes, and those that it reads."""
    reads = [statement.guard.lstrip("!")] if statement.guard else []
    operands = statement.operands
    if statement.name not in ("st", *CONTROL) and operands:
        return _REGISTER.findall(operands[0]), reads + _REGISTER.findall(" ".join(operands[1:]))
    return [], reads + _REGISTER.findall(" ".join(operands))


def block_cost(statements, is_far=False):
    """(clocks, issue slots) of the instructions of a basic block."""
    ready, clock, issued = {}, 0, 0
    for statement in statements:
        slots, latency = instruction_cost(statement.name, statement.modifiers, is_far)
        writes, reads = _registers(statement)
        start = max([clock] + [ready.get(r, 0) for r in reads])
        if slots == 0:
            ready.update((r, max([ready.get(s, 0) for s in reads], default=0)) for r in writes)
            continue
        issued += slots
        clock = start + (latency if statement.name in CONTROL else slots)
        ready.update((r, start + max(latency, slots)) for r in writes)
    return clock, issued
