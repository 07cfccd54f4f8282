"""Branches, calls, the end of a thread, and barriers of a block."""

import re

from .function import c_name, instruction
from .parse import split_list
from .types import TYPES, PtxError, unsigned

U32 = unsigned(32)
RUNTIME_CALLS = {"__assertfail": "assert_fail"}


def _label(name):
    return c_name("L_", name)


@instruction("bra")
def _bra(ins):
    ins.take("uni")
    ins.count("branch")
    return f"goto {_label(ins.operands[0])};"


@instruction("brx")
def _brx(ins):
    """brx.idx index, table."""
    ins.take("idx")
    ins.take("uni")
    ins.count("branch")
    targets = ins.function.branch_targets[ins.operands[1]]
    cases = " ".join(f"case {i}: goto {_label(name)};" for i, name in enumerate(targets))
    otherwise = f'ptx_runtime->trap(t, {ins.site()}, "branch past its table");'
    return f"switch ({ins.value(0, U32)}) {{ {cases} default: {otherwise} }}"


@instruction("ret")
def _ret(ins):
    ins.take("uni")
    ins.count("branch")
    return "goto leave;" if ins.function.has_locals else "return;"


@instruction("exit")
def _exit(ins):
    ins.count("branch")
    return "ptx_runtime->exit_thread(t);"


@instruction("trap", "brkpt")
def _trap(ins):
    ins.count("other")
    return f'ptx_runtime->trap(t, {ins.site()}, "trap");'


_CALL = re.compile(r"(?:\(([^)]*)\)\s*,)?\s*([\w$%]+)\s*(?:,\s*\(([^)]*)\))?\s*(?:,\s*([\w$%]+))?\s*")


@instruction("call")
def _call(ins):
    """call (returns), function, (arguments): both lists name .param variables, which are passed by address."""
    ins.take("uni")
    ins.count("call")
    match = _CALL.fullmatch(ins.operands[0])
    if not match:
        raise PtxError("a call that is not understood")
    returns, name, arguments, _ = match.groups()
    names = split_list(returns or "") + split_list(arguments or "")
    passed = "".join(f", {ins.function.variables[variable][0]}" for variable in names)
    if name in RUNTIME_CALLS:
        return f"ptx_runtime->{RUNTIME_CALLS[name]}(t, {ins.site()}{passed});"
    function = ins.function.module.functions.get(name)
    if function:
        if function.body is None:
            raise PtxError(f"function {name} has no body")
        return f"{c_name('f_', name)}(t{passed});"
    return f"((void (*)(Thread *{', u8 *' * len(names)})){ins.function.value(name, unsigned(64))})(t{passed});"


@instruction("bar", "barrier")
def _bar(ins):
    ins.take("cta")
    ins.take("aligned")
    if ins.take("warp"):
        ins.take("sync")
        ins.count("warp")
        return f"ptx_runtime->sync_warp(t, {ins.value(0, U32)}, {ins.site()});"
    ins.count("barrier")
    operation = ins.take("sync", "arrive", "red")
    if operation == "red":
        return _reduce(ins)
    count = ins.value(1, U32) if len(ins.operands) > 1 else "0"
    if not operation:
        raise PtxError("a barrier that is not known")
    return f"ptx_runtime->{operation}_block(t, {ins.value(0, U32)}, {count}, {ins.site()});"


def _reduce(ins):
    """barrier.red.op d, barrier{, count}, predicate."""
    result = ins.take_type("pred", "u32")
    operation = ins.take("popc", "and", "or")
    count = ins.value(2, U32) if len(ins.operands) > 3 else "0"
    predicate = ins.function.value(ins.operands[-1], TYPES["pred"])
    arguments = f"{ins.value(1, U32)}, {count}, {predicate}, REDUCE_{operation.upper()}, {ins.site()}"
    return ins.assign(f"ptx_runtime->reduce_block(t, {arguments})", result)
