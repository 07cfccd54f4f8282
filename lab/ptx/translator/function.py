"""One PTX function -> one C function, or several if it is long (split.py).

A register becomes a C local, a label a label, a branch a goto. Each basic block begins with COUNT(i), which counts how
often a thread enters it; what instructions it holds is known here and goes into a table. Handlers of instructions live
in other files: they get the Instruction below and return one C statement.
"""

import re
from collections import Counter

from .parse import split_list, with_line
from .split import MAX_LINES, split
from .types import TYPES, PtxError, register_type, unsigned

HANDLERS = {}


def instruction(*names):
    """Registers a handler: a function of (Instruction) that returns a C statement."""

    def register(handler):
        for name in names:
            HANDLERS[name] = handler
        return handler

    return register


def c_name(prefix, name):
    return prefix + re.sub(r"\W", lambda m: {"$": "S", "%": ""}.get(m.group(), "_"), name)


_SPECIAL_DIMENSIONS = {
    "%tid": "t->tid",
    "%ntid": "t->block->ntid",
    "%ctaid": "t->block->ctaid",
    "%nctaid": "t->block->nctaid",
}
_SPECIAL = {
    "%laneid": "t->lane",
    "%warpid": "t->warp",
    "%nwarpid": "((t->block->threads + 31) / 32)",
    "WARP_SZ": "32u",
    "%lanemask_eq": "(1u << t->lane)",
    "%lanemask_lt": "((1u << t->lane) - 1)",
    "%lanemask_le": "((2u << t->lane) - 1)",
    "%lanemask_gt": "~((2u << t->lane) - 1)",
    "%lanemask_ge": "~((1u << t->lane) - 1)",
    "%dynamic_smem_size": "t->block->dynamic_shared",
    "%clock": "(u32)ptx_runtime->clock()",
    "%clock64": "ptx_runtime->clock()",
    "%globaltimer": "ptx_runtime->clock()",
    "%smid": "0u",
    "%nsmid": "1u",
}


def special_register(name):
    """The C expression of a special register, or None."""
    base, _, axis = name.partition(".")
    if base in _SPECIAL_DIMENSIONS and axis in ("x", "y", "z"):
        return f"{_SPECIAL_DIMENSIONS[base]}[{'xyz'.index(axis)}]"
    return _SPECIAL.get(name)


def _literal(text, kind):
    """A number as a C expression of the type, or None."""
    match = re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", text)
    if match:
        return convert(f"float_of_bits(0x{match.group(1)}u)", TYPES["f32"], kind)
    match = re.fullmatch(r"0[dD]([0-9a-fA-F]{16})", text)
    if match:
        return convert(f"double_of_bits(0x{match.group(1)}ull)", TYPES["f64"], kind)
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text):
        number = int(text.rstrip("U"), 0 if "x" in text.lower() else 10)
        if kind.is_float:
            raise PtxError(f"integer {text} as an operand of type .{kind.name}")
        return f"(({kind.c})0x{number & (2**64 - 1):x}ull)"
    return None


def convert(expression, have, want):
    """Bits held as one type, read as another: what naming a register in an instruction of that type means."""
    if have == want:
        return expression
    if have.is_float:
        bits = f"{'float' if have.bytes == 4 else 'double'}_bits({expression})"
        if want.is_float:
            raise PtxError(f"a register of type .{have.name} used as .{want.name}")
        return bits if want.c == f"u{have.bits}" else f"({want.c}){bits}"
    if want.is_float:
        if have.bytes != want.bytes:
            raise PtxError(f"a register of {have.bits} bits used as .{want.name}")
        return f"{'float' if want.bytes == 4 else 'double'}_of_bits({expression})"
    return expression if have.c == want.c else f"({want.c}){expression}"


class Instruction:
    """An instruction being translated: its modifiers are taken one by one, and any that is left over is an error."""

    def __init__(self, function, statement):
        self.function = function
        self.name = statement.name
        self.text = statement.text
        self.operands = statement.operands
        self.modifiers = list(statement.modifiers)

    def take(self, *choices):
        """Removes and returns the first modifier that is one of the choices; '' if there is none."""
        for i, modifier in enumerate(self.modifiers):
            if modifier in choices:
                return self.modifiers.pop(i)
        return ""

    def take_type(self, *allowed):
        """Removes the last modifier, which must be a type, one of those allowed."""
        name = self.modifiers.pop() if self.modifiers else "(none)"
        if name not in TYPES or (allowed and name not in allowed):
            raise PtxError(f"type .{name} is not supported here")
        return TYPES[name]

    def finish(self):
        if self.modifiers:
            raise PtxError(f"modifier .{self.modifiers[0]} is not supported")

    def value(self, index, kind):
        if index >= len(self.operands):
            raise PtxError(f"operand {index + 1} is missing")
        return self.function.value(self.operands[index], kind)

    def assign(self, expression, kind, index=0):
        return self.function.assign(self.operands[index], kind, expression)

    def pair(self, index=0):
        """A destination of the form `d|p`: both parts, '' for one that is absent or `_`."""
        parts = [part.strip() for part in self.operands[index].split("|")] + [""]
        return ["" if part == "_" else part for part in parts[:2]]

    def vector(self, index):
        """The elements of `{a, b, ...}`; a plain operand is a vector of one."""
        text = self.operands[index]
        return split_list(text[1:-1]) if text.startswith("{") else [text]

    def count(self, name, amount=1):
        self.function.block[name] += amount

    def site(self):
        return self.function.site()


class Block(Counter):
    """A basic block: how many instructions of each class it has, and which."""

    def __init__(self):
        super().__init__()
        self.statements = []


class FunctionEmitter:
    def __init__(self, module, function):
        self.module = module
        self.function = function
        self.scopes = []  # of {PTX register: (C name, type)}
        self.used = []  # per scope, the registers some instruction names
        self.variables = {}  # .local and .param names -> (C name, bytes)
        self.branch_targets = {}
        self.lines = []
        self.block = None
        self.statement = None
        self.has_locals = False

    # ---- counting and places

    def begin_block(self):
        self.block = Block()
        self.module.blocks.append(self.block)
        self.emit(f"COUNT({len(self.module.blocks) - 1});")

    def site(self):
        """A number that stands for this instruction in reports."""
        self.module.sites.append((self.statement.line, *self.statement.location))
        return len(self.module.sites) - 1

    def emit(self, text):
        self.lines.append(text)

    # ---- operands

    def register(self, name):
        for scope, used in zip(reversed(self.scopes), reversed(self.used)):
            if name in scope:
                used.add(name)
                return scope[name]
        return None

    def symbol(self, name):
        """The address of a variable or function in its own state space as a C expression of type u64, or None."""
        module, function = self.module, self.function
        if name in self.variables:
            return f"(u64){self.variables[name][0]}"
        if function.is_entry and name in module.parameter_offsets[function.name]:
            return f"(u64)(t->params + {module.parameter_offsets[function.name][name]})"
        if name in module.dynamic_shared:
            return "(u64)t->dynamic_offset"
        if name in module.static_shared:
            return f"{module.static_shared[name][0]}ull"
        if name in module.globals:
            return c_name("g_", name)
        if name in module.functions and not module.functions[name].is_entry:
            return f"(u64){c_name('f_', name)}"
        return None

    def predicate(self, text):
        negated = text.startswith("!")
        register = self.register(text.lstrip("! "))
        if not register or register[1].kind != "p":
            raise PtxError(f"{text} is not a predicate")
        return f"!{register[0]}" if negated else register[0]

    def value(self, text, kind):
        """An operand as a C expression of the type."""
        if kind.kind == "p":
            return str(int(text) & 1) if re.fullmatch(r"-?\d+", text) else self.predicate(text)
        register = self.register(text)
        if register:
            return convert(*register, kind)
        special = special_register(text)
        if special:
            return f"({kind.c})({special})"
        literal = _literal(text, kind)
        if literal:
            return literal
        match = re.fullmatch(r"(?:generic\()?([\w$%]+)\)?(?:\s*\+\s*(-?\d+))?", text)
        symbol = self.symbol(match.group(1)) if match else None
        if symbol:
            return f"({kind.c})({symbol} + {match.group(2) or 0})"
        raise PtxError(f"operand {text} is not understood")

    def assign(self, text, kind, expression):
        """The C statement that stores an expression of the type; a wider register is filled up by zeros or the sign."""
        if text == "_":
            return f"(void)({expression});"
        register = self.register(text)
        if not register:
            raise PtxError(f"{text} is not a register")
        name, held = register
        if held.kind == "p" or kind.kind == "p":
            if held.kind != kind.kind:
                raise PtxError(f"{text} is of type .{held.name}, not .{kind.name}")
            return f"{name} = {expression};"
        if held.is_float or kind.is_float:
            return f"{name} = {convert(f'({expression})', kind, held)};"
        if kind.bits > held.bits:
            raise PtxError(f"{text} has {held.bits} bits, too few for .{kind.name}")
        return f"{name} = {expression};" if kind.bits == held.bits else f"{name} = ({kind.c})({expression});"

    def address(self, text):
        """`[base+offset]` -> (C expression of type u64, the name of the variable or '', offset)."""
        match = re.fullmatch(r"\[\s*([\w$%.]+)\s*(?:\+?\s*(-?\s*\d+))?\s*\]", text)
        if not match:
            raise PtxError(f"address {text} is not understood")
        base, offset = match.group(1), int((match.group(2) or "0").replace(" ", ""))
        register = self.register(base)
        if register:
            return f"({convert(*register, unsigned(64))} + {offset})", "", offset
        symbol = base + "ull" if base.isdigit() else self.symbol(base)
        if symbol is None:
            raise PtxError(f"{base} is neither a register nor a variable")
        return f"({symbol} + {offset})", base, offset

    # ---- statements

    def translate(self):
        """(declarations, {name: lines}) of the C function; a long one is in several pieces."""
        function = self.function
        parameters = [] if function.is_entry else function.returns + function.parameters
        for variable in parameters:
            self.variables[variable.name] = (c_name("v_", variable.name), variable.bytes)
        self._read_branch_targets()
        self.has_locals = any(s.kind == "variable" and s.value.space == "local" for s in function.body)
        self._open_scope()
        self.begin_block()
        for statement in function.body:
            self.statement = statement
            with_line(statement.line, lambda: getattr(self, "_do_" + statement.kind)(statement))
        self.statement = None
        registers = self._close_scope()
        if len(self.lines) > MAX_LINES:
            return split(
                self.module.c_function(function),
                self.module.signature(function),
                registers,
                [c_name("v_", v.name) for v in parameters],
                self.has_locals,
                self.lines[1:],
            )
        enter, leave = ("u64 frame = t->local_top;", "leave:; local_leave(t, frame);") if self.has_locals else ("", "")
        return [], {
            self.module.c_function(function): [f"{self.module.signature(function)} {{", enter, *self.lines, leave, "}"]
        }

    def _read_branch_targets(self):
        """A table of branch targets carries the label before it; that label is not a place to jump to."""
        previous = None
        for statement in self.function.body:
            if statement.kind == "branch_targets":
                self.branch_targets[previous.name] = statement.value
            if statement.kind in ("branch_targets", "prototype"):
                previous.kind = "table_label"
            previous = statement

    def _open_scope(self):
        self.scopes.append({})
        self.used.append(set())
        self.emit(None)  # filled in when the scope ends, when it is known which registers it uses
        self.scopes[-1][""] = len(self.lines) - 1

    def _close_scope(self):
        """Declares the registers that the scope uses; returns {C name: C type}."""
        scope, used = self.scopes.pop(), self.used.pop()
        registers = {scope[name][0]: scope[name][1].c for name in sorted(used)}
        by_type = {}
        for c, kind in registers.items():
            by_type.setdefault(kind, []).append(c)
        self.lines[scope[""]] = " ".join(f"{kind} {', '.join(names)};" for kind, names in by_type.items())
        return registers

    def _do_open(self, _):
        self.emit("{")
        self._open_scope()

    def _do_close(self, _):
        self._close_scope()
        self.emit("}")

    def _do_label(self, statement):
        self.emit(f"{c_name('L_', statement.name)}:;")
        self.begin_block()

    def _do_table_label(self, _):
        pass

    _do_branch_targets = _do_prototype = _do_table_label

    def _do_registers(self, statement):
        kind, names = statement.value
        for name in names:
            self.scopes[-1][name] = (c_name("r_", name), register_type(kind, name))

    def _do_variable(self, statement):
        variable = statement.value
        name = c_name("v_", variable.name)
        if variable.space == "shared":
            return  # the module has given it its place
        self.variables[variable.name] = (name, variable.bytes)
        if variable.space == "local":
            self.emit(f"u8 *{name} = local_enter(t, {variable.bytes}, {max(variable.align, 16)}, {self.site()});")
        else:
            self.emit(f"_Alignas(16) u8 {name}[{max(variable.bytes, 1)}];")

    def _do_instruction(self, statement):
        handler = HANDLERS.get(statement.name)
        if not handler:
            raise PtxError(f"unknown instruction: {statement.text}")
        guard = self.predicate(statement.guard) if statement.guard else ""
        ends_block = statement.name in ("bra", "brx", "ret", "exit")
        ins = Instruction(self, statement)
        outer = self.block
        if guard:
            self.emit(f"if ({guard}) {{")
            if not ends_block:  # a branch is counted where it is tested, taken or not
                self.begin_block()
        try:
            code = handler(ins)
            ins.finish()
            self.block.statements.append(statement)
        except PtxError as error:
            raise PtxError(f"{error}: {statement.text}") from None
        self.emit(code + (" }" if guard else ""))
        self.block = outer
        if ends_block and guard:
            self.begin_block()
