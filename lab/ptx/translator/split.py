"""A long C function -> several short ones, because the time of a compiler grows faster than the length of a function: a
kernel whose stages are all inlined has 60,000 lines.

A function is cut before labels. Registers whose values may pass a label are in a struct, the others are locals of their
piece. A jump to another piece returns where to go on: the piece in the upper 16 bits, the label in the lower ones. A
loop calls the piece of each such place, until END.
"""

import itertools
import os
import re

MAX_LINES = int(os.environ.get("PTX_PIECE", "2000"))  # of a piece; more where it has no label to cut before
END = "0xffffffffu"
_LABEL = re.compile(r"(L_\w+):;")
_GOTO = re.compile(r"goto (L_\w+);")
_LEAVE = re.compile(r"\b(?:goto leave|return);")
_LOCAL = re.compile(r"u8 \*(v_\w+) = ")
_NAME = re.compile(r"\b[rv]_\w+")


def _cut(lines):
    """The lines in pieces. What is inside braces of its own stays together."""
    pieces, depth = [[]], 0
    for line in lines:
        if depth == 0 and len(pieces[-1]) >= MAX_LINES and _LABEL.fullmatch(line):
            pieces.append([])
        depth += (line == "{") - (line == "}")
        pieces[-1].append(line)
    return pieces


def _shared(pieces, registers):
    """The registers whose value may come from before the last label: all but those that are named between two labels
    only, and first as the result of an instruction without a guard."""
    place, shared, guarded, label = {}, set(), False, 0
    for at, line in enumerate(itertools.chain.from_iterable(pieces)):
        if _LABEL.fullmatch(line):
            label = at
        guarded = guarded or line.startswith("if (")
        names = _NAME.findall(line)
        for name in names:
            if name not in registers or place.get(name) == label:
                continue
            if name in place or guarded or names.count(name) > 1 or f"{name} = " not in line:
                shared.add(name)
            place[name] = label
        guarded = guarded and not line.endswith(" }")
    return shared


class _Pieces:
    def __init__(self, name, registers, parameters, lines):
        """`parameters` are the C names of the function's arguments, all of type u8 *."""
        # pointers to local memory are set once, and then read as registers are
        locals_ = [match.group(1) for match in map(_LOCAL.match, lines) if match]
        self.name, self.parameters = name, parameters
        self.registers = {**registers, **dict.fromkeys(parameters + locals_, "u8 *")}
        self.pieces = _cut([_LOCAL.sub(r"\1 = ", line) for line in lines])
        self.used = [{n for line in piece for n in _NAME.findall(line) if n in self.registers} for piece in self.pieces]
        self.shared = _shared(self.pieces, self.registers) | set(parameters)
        self.places = {
            match.group(1): (i, n)
            for i, piece in enumerate(self.pieces)
            for n, match in enumerate(filter(None, map(_LABEL.fullmatch, piece)), 1)
        }  # 0: the beginning
        self.targets = {
            label
            for i, piece in enumerate(self.pieces)
            for line in piece
            for label in _GOTO.findall(line)
            if self.places[label][0] != i
        }

    def signature(self, i):
        return f"u32 {self.name}_{i}(Thread *t, struct {self.name}_registers *r, u32 label)"

    def declarations(self):
        members = " ".join(f"{self.registers[n]} {n};" for n in sorted(self.shared))
        return [
            f"struct {self.name}_registers {{ {members} }};",
            *(f"{self.signature(i)};" for i in range(len(self.pieces))),
        ]

    def function(self, i):
        """The C function of piece i."""

        def jump(match):
            piece, label = self.places[match.group(1)]
            return match.group() if piece == i else f"return {piece << 16 | label}u;"

        def line_of(line):
            line = _GOTO.sub(jump, _LEAVE.sub(f"return {END};", line))
            return _NAME.sub(lambda m: f"r->{m.group()}" if m.group() in self.shared else m.group(), line)

        entries = [
            f"case {n}: goto {label};"
            for label, (piece, n) in self.places.items()
            if piece == i and label in self.targets
        ]
        after = f"{(i + 1) << 16}u" if i + 1 < len(self.pieces) else END
        return [
            f"{self.signature(i)} {{",
            *(f"{self.registers[n]} {n};" for n in sorted(self.used[i] - self.shared)),
            f"switch (label) {{ {' '.join(entries)} }}",
            *map(line_of, self.pieces[i]),
            f"return {after};",
            "}",
        ]

    def loop(self, signature, has_locals):
        """The function itself."""
        table = ", ".join(f"{self.name}_{i}" for i in range(len(self.pieces)))
        return [
            f"{signature} {{",
            f"static u32 (*const piece[])(Thread *, struct {self.name}_registers *, u32) = {{ {table} }};",
            f"struct {self.name}_registers r;",
            *(f"r.{v} = {v};" for v in self.parameters),
            "u64 frame = t->local_top;",
            f"for (u32 at = 0; at != {END};) at = piece[at >> 16](t, &r, at & 0xffff);",
            "local_leave(t, frame);" if has_locals else "",
            "}",
        ]


def split(name, signature, registers, parameters, has_locals, lines):
    """(declarations, {name: lines}) of a function and its pieces. `registers` are {C name: C type}; `lines` is what
    stands between their declaration and the end."""
    p = _Pieces(name, registers, parameters, lines)
    functions = {f"{name}_{i}": p.function(i) for i in range(len(p.pieces))}
    return p.declarations(), {**functions, name: p.loop(signature, has_locals)}
