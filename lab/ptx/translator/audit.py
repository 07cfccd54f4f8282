"""Which floating-point instructions a PTX file has, and which of them are exact.

Exact: the result is the correctly rounded one, or rounds nothing at all, with subnormals kept. Only such instructions
give the same bits on a GPU, here and in a CPU build. A file whose kinds are all exact can be compared with `==`.
"""

import re
from collections import Counter

from .parse import parse

_FLOAT = re.compile(r"^(f16|f16x2|bf16|bf16x2|f32|f64|tf32|f32x2|e\w+m\w+)$")
# They move or compare bits, or change a sign.
_NEVER_ROUND = {
    "mov",
    "ld",
    "ldu",
    "st",
    "selp",
    "slct",
    "setp",
    "set",
    "abs",
    "neg",
    "min",
    "max",
    "copysign",
    "testp",
}
_ROUND = {"add", "sub", "mul", "fma", "mad", "div", "sqrt", "rcp", "cvt"}
_INEXACT_MODIFIERS = {"approx", "full", "ftz"}
# Without a rounding these may be fused with a neighbour, or mean an approximate form.
_NEEDS_ROUNDING = {"add", "sub", "mul", "fma", "mad", "div", "sqrt", "rcp"}
_ROUNDINGS = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"}


def is_float(statement):
    return any(_FLOAT.match(m) for m in statement.modifiers)


def is_exact(statement):
    modifiers = set(statement.modifiers)
    if not all(m in ("f32", "f64") for m in modifiers if _FLOAT.match(m)) or modifiers & _INEXACT_MODIFIERS:
        return False
    if statement.name in _NEVER_ROUND:
        return True
    return statement.name in _ROUND and (statement.name not in _NEEDS_ROUNDING or bool(modifiers & _ROUNDINGS))


def audit(text):
    """[(opcode, count, is exact, first line)] sorted by opcode."""
    counts, exact, lines = Counter(), {}, {}
    for function in parse(text).functions.values():
        for statement in function.body or []:
            if statement.kind == "instruction" and is_float(statement):
                opcode = ".".join([statement.name] + statement.modifiers)
                counts[opcode] += 1
                exact[opcode] = is_exact(statement)
                lines.setdefault(opcode, statement.line)
    return [(opcode, counts[opcode], exact[opcode], lines[opcode]) for opcode in sorted(counts)]


def print_audit(rows):
    """Prints the table; returns the number of kinds that are not exact."""
    print(f"{'count':>7}  {'exact':5}  instruction")
    for opcode, count, exact, line in rows:
        print(f"{count:7}  {'yes' if exact else 'NO':5}  {opcode}" + ("" if exact else f"   (first at line {line})"))
    inexact = [row for row in rows if not row[2]]
    total = sum(row[1] for row in rows)
    print(f"{total} floating-point instructions of {len(rows)} kinds, {len(inexact)} kinds not exact")
    return len(inexact)
