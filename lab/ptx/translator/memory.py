"""Loads, stores, atomics and address conversions.

Addresses of global, local and parameter memory are addresses of the process; a shared address counts from the block's
window, and its generic address is where the window lies. So a generic access only has to find out which of them it is.
An access calls <space>_<bytes>(t, address, site, kind) of the runtime, which checks it and gives the pointer.
"""

from .function import instruction
from .types import TYPES, PtxError, unsigned

SPACES = ("global", "shared", "shared::cta", "local", "param", "param::entry", "param::func", "const")
VECTORS = {"": 1, "v2": 2, "v4": 4, "v8": 8}
CACHE = ("ca", "cg", "cs", "lu", "cv", "wb", "wt")
ORDERS = ("weak", "relaxed", "acquire", "release", "acq_rel", "volatile")
SCOPES = ("cta", "gpu", "sys", "cluster")
ATOMICS = {
    "add": "old_ + b_",
    "min": "min_{t}(old_, b_)",
    "max": "max_{t}(old_, b_)",
    "and": "old_ & b_",
    "or": "old_ | b_",
    "xor": "old_ ^ b_",
    "exch": "b_",
    "cas": "(old_ == b_ ? c_ : old_)",
    "inc": "(old_ >= b_ ? 0 : old_ + 1)",
    "dec": "(old_ == 0 || old_ > b_ ? b_ : old_ - 1)",
}


def _take_space(ins):
    return ins.take(*SPACES).partition("::")[0] or "generic"


def _take_hints(ins):
    """Modifiers that change nothing here: caching and prefetching."""
    ins.take(*CACHE)
    ins.modifiers = [m for m in ins.modifiers if not m.startswith(("L1::", "L2::"))]


def _take_order(ins):
    """True if other threads may be waiting for, or watched by, this access."""
    order = ins.take(*ORDERS)
    ins.take(*SCOPES)
    return order not in ("", "weak")


def _count(ins, verb, space, width):
    space = "param" if space == "const" else space
    ins.count(f"{verb}_{space}")
    if space != "generic":  # whose bytes the runtime counts, once it knows the space
        ins.count(f"bytes_{verb}_{space}", width)


def _pointer(ins, index, space, width, kind):
    address, name, offset = ins.function.address(ins.operands[index])
    if space == "param":
        return _parameter_pointer(ins, address, name, offset, width)
    if space == "const":
        space = "global"
    return f"{space}_{width}(t, {address}, {ins.site()}, {kind})"


def _parameter_pointer(ins, address, name, offset, width):
    """A named parameter is checked here; one reached through a register in an entry is checked when it runs."""
    function = ins.function
    if name:
        size = (
            function.variables[name][1]
            if name in function.variables
            else next(p.bytes for p in function.function.parameters if p.name == name)
        )
        if offset < 0 or offset + width > size:
            raise PtxError(f"{name} has {size} bytes, access to {width} at {offset}")
    elif function.function.is_entry:
        return f"param_{width}(t, {address}, {ins.site()}, READ)"
    return f"(u8 *){address}"


@instruction("ld", "ldu")
def _ld(ins):
    kind = ins.take_type()
    count = VECTORS[ins.take("v2", "v4", "v8")]
    space, waits = _take_space(ins), _take_order(ins)
    ins.take("nc")
    _take_hints(ins)
    width = kind.bytes * count
    _count(ins, "load", space, width)
    pointer = _pointer(ins, 1, space, width, "READ")
    yields = "YIELD(t); " if waits else ""
    if count == 1:
        return yields + ins.assign(f"*({kind.c} *){pointer}", kind)
    stores = [ins.function.assign(name, kind, f"vector_[{i}]") for i, name in enumerate(ins.vector(0)) if name != "_"]
    return f"{yields}{{ {kind.c} vector_[{count}]; memcpy(vector_, {pointer}, {width}); {' '.join(stores)} }}"


@instruction("st")
def _st(ins):
    kind = ins.take_type()
    count = VECTORS[ins.take("v2", "v4", "v8")]
    space = _take_space(ins)
    _take_order(ins)
    _take_hints(ins)
    width = kind.bytes * count
    _count(ins, "store", space, width)
    pointer = _pointer(ins, 0, space, width, "WRITE")
    if count == 1:
        return f"*({kind.c} *){pointer} = {ins.value(1, kind)};"
    values = ", ".join(ins.function.value(text, kind) for text in ins.vector(1))
    return f"{{ {kind.c} vector_[{count}] = {{{values}}}; memcpy({pointer}, vector_, {width}); }}"


def _atomic(ins, first, target):
    """Only one fiber runs at a time and none is interrupted, so an atomic operation is a plain one."""
    kind = ins.take_type()
    space = _take_space(ins)
    operation = ins.take(*ATOMICS)
    _take_order(ins)
    ins.take("noftz")
    if not operation or kind.bytes < 4:
        raise PtxError("an atomic operation that is not known")
    ins.count(f"atomic_{space}")
    pointer = _pointer(ins, first, space, kind.bytes, "ATOMIC")
    c = kind.c
    swap = f"{c} c_ = {ins.value(first + 2, kind)}; " if operation == "cas" else ""
    update = ATOMICS[operation].format(t=kind.name)
    if kind.is_float and operation not in ("add", "exch"):
        raise PtxError(f"atomic .{operation} of .{kind.name}")
    if operation in ("min", "max") and kind.kind == "b":
        raise PtxError(f"atomic .{operation} of .{kind.name}")
    store = ins.function.assign(target, kind, "old_") if target else ""
    return (
        f"YIELD(t); {{ {c} b_ = {ins.value(first + 1, kind)}; {swap}{c} *p_ = ({c} *){pointer}; {c} old_ = *p_; "
        f"*p_ = ({c})({update}); {store} }}"
    )


@instruction("atom")
def _atom(ins):
    return _atomic(ins, 1, ins.operands[0])


@instruction("red")
def _red(ins):
    return _atomic(ins, 0, "")


@instruction("membar", "fence")
def _fence(ins):
    """Fibers see each other's stores in program order: nothing to do."""
    ins.take("cta", "gl", "sys", "gpu")
    ins.take("sc", "acq_rel")
    ins.count("other")
    return ";"


@instruction("nanosleep")
def _nanosleep(ins):
    ins.take_type("u32")
    ins.count("other")
    return "ptx_runtime->yield(t);"


@instruction("cvta")
def _cvta(ins):
    kind = ins.take_type("u64")
    from_generic = bool(ins.take("to"))
    space = _take_space(ins)
    ins.count("integer")
    value = ins.value(1, kind)
    if space == "shared":
        value = f"{value} - (u64)t->shared" if from_generic else f"(u64)t->shared + (u32)({value})"
    return ins.assign(value, kind)


@instruction("isspacep")
def _isspacep(ins):
    space = ins.take("global", "shared", "local", "const", "param")
    ins.count("compare")
    return ins.assign(f"is_{space}_address(t, {ins.value(1, unsigned(64))})", TYPES["pred"])
