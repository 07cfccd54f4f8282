"""A whole PTX file -> C: several files of functions, which compile in parallel, and one of tables.

Shared memory: static variables get fixed places, each after a gap that may not be touched, so that running over the end
of one is seen. They are laid out once for all kernels of the module. Dynamic shared memory follows them.
"""

import re

from . import arithmetic, bits, compare, control, memory, warp  # noqa: F401 (they register their instructions)
from .cost import block_cost
from .function import FunctionEmitter, c_name
from .parse import parse, split_list
from .types import PtxError

SHARED_BASE = 1024  # a null pointer into shared memory is not a variable
SHARED_GAP = 16

CLASSES = (
    [f"fp{bits_}_{kind}" for bits_ in (32, 64) for kind in ("fma", "add_mul", "special", "other")]
    + ["integer", "convert", "move", "compare", "branch", "call", "barrier", "warp", "other"]
    + [f"{verb}_{space}" for space in ("global", "shared", "local", "param", "generic") for verb in ("load", "store")]
    + [f"atomic_{space}" for space in ("global", "shared", "local", "generic")]
    + [f"bytes_{verb}_{space}" for space in ("global", "shared", "local", "param") for verb in ("load", "store")]
    + ["cost_clocks", "cost_far_clocks", "cost_issue"]
)  # not instructions: see cost.py


def _align(offset, to):
    return (offset + to - 1) // to * to


class ModuleEmitter:
    def __init__(self, text):
        module = parse(text)
        self.target, self.files, self.functions = module.target, module.files, module.functions
        self.globals, self.static_shared, self.dynamic_shared = {}, {}, set()
        self.shared_top, self.static_bytes = SHARED_BASE, 0
        self.blocks, self.sites = [], [(0, 0, 0, 0, 0)]
        self.bodies = [f for f in self.functions.values() if f.body is not None]
        self.entries = [f for f in self.bodies if f.is_entry]
        self.parameter_offsets = {f.name: self._place_parameters(f) for f in self.entries}
        for variable in module.variables + self._demoted_variables():
            self._place_variable(variable)
        self.declarations, self.code = [], {}
        for function in self.bodies:
            declarations, code = FunctionEmitter(self, function).translate()
            self.declarations += declarations
            self.code.update(code)

    # ---- layout

    def _demoted_variables(self):
        """Shared variables that stand inside the function that uses them."""
        return [s.value for f in self.bodies for s in f.body if s.kind == "variable" and s.value.space == "shared"]

    def _place_variable(self, variable):
        if variable.space != "shared":
            self.globals[variable.name] = variable
        elif variable.is_extern or variable.count == 0:
            self.dynamic_shared.add(variable.name)
        elif variable.name not in self.static_shared:
            offset = _align(self.shared_top + SHARED_GAP, max(variable.align, 16))
            self.static_shared[variable.name] = (offset, variable.bytes)
            self.shared_top = offset + variable.bytes
            self.static_bytes = _align(self.static_bytes, variable.align) + variable.bytes

    @staticmethod
    def _place_parameters(function):
        offsets, top = {}, 0
        for parameter in function.parameters:
            top = _align(top, parameter.align)
            offsets[parameter.name] = top
            top += parameter.bytes
        return offsets

    # ---- C text

    @staticmethod
    def c_function(function):
        return c_name("k_" if function.is_entry else "f_", function.name)

    def signature(self, function):
        variables = [] if function.is_entry else function.returns + function.parameters
        arguments = "".join(f", u8 *{c_name('v_', v.name)}" for v in variables)
        return f"void {self.c_function(function)}(Thread *t{arguments})"

    def header(self):
        lines = ['#include "device.h"']
        lines += [f"extern u64 {c_name('g_', name)};" for name in self.globals]
        lines += [f"{self.signature(f)};" for f in self.bodies] + self.declarations
        return "\n".join(lines) + "\n"

    def parts(self, count):
        """The functions in `count` files of about the same length."""
        files = [[] for _ in range(count)]
        for name in sorted(self.code, key=lambda name: -len(self.code[name])):
            min(files, key=len).extend(self.code[name])
        return ['#include "module.h"\n' + "\n".join(lines) + "\n" for lines in files]

    def tables(self):
        lines = ['#include "module.h"', "const Runtime *ptx_runtime;"]
        lines += self._globals_table() + self._kernels_table()
        places = [f"{offset}, {size}," for offset, size in self.static_shared.values()]
        lines.append(_table("u32", "shared_variables", places))
        for block in self.blocks:
            block["cost_clocks"], block["cost_issue"] = block_cost(block.statements)
            block["cost_far_clocks"], _ = block_cost(block.statements, is_far=True)
        rows = [" ".join(f"{min(block[name], 65535)}," for name in CLASSES) for block in self.blocks]
        lines.append(_table("u16", "block_classes", rows))
        lines.append(_table("Site", "sites", [f"{{{', '.join(map(str, site))}}}," for site in self.sites]))
        names = [self.files.get(i, "") for i in range(max(self.files, default=0) + 1)]
        lines.append(_table("char *const", "files", [f'"{name}",' for name in names]))
        lines.append(_table("char *const", "class_names", [f'"{name}",' for name in CLASSES]))
        lines.append(f'''const DeviceModule ptx_module = {{.kernels = kernels, .globals = globals, .relocate = relocate,
    .runtime = &ptx_runtime, .num_blocks = {len(self.blocks)}, .num_classes = {len(CLASSES)},
    .block_classes = block_classes, .class_names = class_names, .sites = sites, .files = files,
    .shared_variables = shared_variables, .num_shared_variables = {len(self.static_shared)},
    .shared_top = {self.shared_top}, .static_shared = {self.static_bytes}, .check = CHECK,
    .target = "{self.target}"}};''')
        return "\n".join(lines) + "\n"

    def _globals_table(self):
        lines, rows, moves = [], [], []
        for variable in self.globals.values():
            name = c_name("g_", variable.name)
            lines.append(f"u64 {name};")
            data, references = self._initial_bytes(variable)
            if data:
                lines.append(_table("u8", f"init_{name}", [",".join(map(str, data)) + ","]))
            rows.append(f'{{"{variable.name}", {variable.bytes}, {f"init_{name}" if data else "0"}, &{name}}},')
            moves += [f"*(u64 *)({name} + {place}) = {value};" for place, value in references]
        return lines + [
            _table("GlobalVariable", "globals", rows + ["{0},"]),
            "static void relocate(void) {\n" + "\n".join(moves) + "\n}",
        ]

    def _initial_bytes(self, variable):
        """The bytes of an initialiser, and (place, C expression) of the addresses in it."""
        if not variable.init:
            return None, []
        text, size = variable.init, variable.type.bytes
        items = split_list(text[1:-1]) if text.startswith("{") else [text]
        data, references = bytearray(), []
        for item in items:
            number = _number(item)
            if number is None:
                references.append((len(data), self._reference(item, size)))
            data += ((number or 0) & (2 ** (8 * size) - 1)).to_bytes(size, "little")
        return data.ljust(variable.bytes, b"\0"), references

    def _reference(self, text, size):
        match = re.fullmatch(r"(?:generic\()?([\w$%]+)\)?(?:\s*\+\s*(\d+))?", text)
        if not match or size != 8:
            raise PtxError(f"initialiser {text} is not understood")
        name = match.group(1)
        symbol = c_name("g_", name) if name in self.globals else f"(u64){c_name('f_', name)}"
        return f"{symbol} + {match.group(2) or 0}"

    def _kernels_table(self):
        lines, rows = [], []
        for entry in self.entries:
            offsets = self.parameter_offsets[entry.name]
            name = c_name("k_", entry.name)
            pairs = [f"{offsets[p.name]}, {p.bytes}," for p in entry.parameters]
            size = max([offsets[p.name] + p.bytes for p in entry.parameters], default=0)
            lines.append(_table("u32", f"params_{name}", pairs))
            rows.append(f'{{"{entry.name}", {name}, {len(pairs)}, params_{name}, {size}, {entry.max_threads}}},')
        return lines + [_table("Kernel", "kernels", rows + ["{0},"])]


def _number(text):
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}", text):
        return int(text[2:], 16)
    match = re.fullmatch(r"(-?(?:0[xX][0-9a-fA-F]+|\d+))U?", text)
    return int(match.group(1), 0) if match else None


def _table(kind, name, rows):
    return f"static const {kind} {name}[] = {{\n" + "\n".join(rows or ["0"]) + "\n};"
