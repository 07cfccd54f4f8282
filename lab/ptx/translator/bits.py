"""Logic, shifts and bit fields."""

from .function import instruction
from .types import PtxError, signed, unsigned

BITS = ("pred", "b16", "b32", "b64")
OPERATORS = {"and": "&", "or": "|", "xor": "^"}


@instruction("and", "or", "xor")
def _logic(ins):
    kind = ins.take_type(*BITS)
    ins.count("integer")
    return ins.assign(f"{ins.value(1, kind)} {OPERATORS[ins.name]} {ins.value(2, kind)}", kind)


@instruction("not")
def _not(ins):
    kind = ins.take_type(*BITS)
    ins.count("integer")
    return ins.assign(f"{'!' if kind.kind == 'p' else '~'}{ins.value(1, kind)}", kind)


@instruction("cnot")
def _cnot(ins):
    kind = ins.take_type(*BITS[1:])
    ins.count("integer")
    return ins.assign(f"{ins.value(1, kind)} == 0", kind)


@instruction("shl", "shr")
def _shift(ins):
    """Shifts of the width or more give 0 or the sign, where C leaves them undefined."""
    kind = ins.take_type()
    ins.count("integer")
    held = signed(kind.bits) if kind.is_signed and ins.name == "shr" else unsigned(kind.bits)
    return ins.assign(f"{ins.name}_{held.name}({ins.value(1, held)}, {ins.value(2, unsigned(32))})", held)


@instruction("shf")
def _funnel_shift(ins):
    ins.take_type("b32")
    side, mode = ins.take("l", "r"), ins.take("wrap", "clamp")
    ins.count("integer")
    a, b, c = (ins.value(i, unsigned(32)) for i in (1, 2, 3))
    return ins.assign(f"shf_{side}_{mode}({a}, {b}, {c})", unsigned(32))


@instruction("lop3")
def _lop3(ins):
    """Any function of three bits: bit abc of the table is the result for inputs a, b, c."""
    ins.take_type("b32")
    ins.count("integer")
    inputs = [ins.value(i, unsigned(32)) for i in (1, 2, 3)]
    table = int(ins.operands[4], 0)
    terms = []
    for row in range(8):
        if table >> row & 1:
            signs = ("" if row & 4 else "~", "" if row & 2 else "~", "" if row & 1 else "~")
            terms.append("(" + " & ".join(sign + text for sign, text in zip(signs, inputs)) + ")")
    return ins.assign(" | ".join(terms) or "0u", unsigned(32))


@instruction("prmt")
def _prmt(ins):
    ins.take_type("b32")
    ins.count("integer")
    a, b, c = (ins.value(i, unsigned(32)) for i in (1, 2, 3))
    return ins.assign(f"prmt({a}, {b}, {c})", unsigned(32))


@instruction("bmsk")
def _bmsk(ins):
    ins.take_type("b32")
    mode = ins.take("wrap", "clamp")
    ins.count("integer")
    return ins.assign(f"bmsk_{mode}({ins.value(1, unsigned(32))}, {ins.value(2, unsigned(32))})", unsigned(32))


@instruction("bfe")
def _bfe(ins):
    kind = ins.take_type("u32", "s32", "u64", "s64")
    ins.count("integer")
    place, length = ins.value(2, unsigned(32)), ins.value(3, unsigned(32))
    return ins.assign(f"bfe_{kind.name}({ins.value(1, kind)}, {place}, {length})", kind)


@instruction("bfi")
def _bfi(ins):
    kind = ins.take_type("b32", "b64")
    ins.count("integer")
    place, length = ins.value(3, unsigned(32)), ins.value(4, unsigned(32))
    return ins.assign(f"bfi_{kind.name}({ins.value(1, kind)}, {ins.value(2, kind)}, {place}, {length})", kind)


@instruction("popc", "clz")
def _count_bits(ins):
    kind = ins.take_type("b32", "b64")
    ins.count("integer")
    return ins.assign(f"{ins.name}_{kind.name}({ins.value(1, kind)})", unsigned(32))


@instruction("brev")
def _brev(ins):
    kind = ins.take_type("b32", "b64")
    ins.count("integer")
    return ins.assign(f"brev_{kind.name}({ins.value(1, kind)})", kind)


@instruction("bfind")
def _bfind(ins):
    kind = ins.take_type("u32", "s32", "u64", "s64")
    shift = int(bool(ins.take("shiftamt")))
    ins.count("integer")
    return ins.assign(f"bfind_{kind.name}({ins.value(1, kind)}, {shift})", unsigned(32))


@instruction("mov")
def _mov(ins):
    """mov also takes a register apart into a vector or puts one together."""
    kind = ins.take_type()
    ins.count("move")
    target, source = ins.vector(0), ins.vector(1)
    if len(target) > 1:
        return _unpack(ins, kind, target)
    if len(source) > 1:
        return _pack(ins, kind, source)
    return ins.assign(ins.value(1, kind), kind)


def _element(kind, count):
    if kind.bits // count < 8 or kind.is_float:
        raise PtxError(f"a vector of {count} in .{kind.name}")
    return unsigned(kind.bits // count)


def _unpack(ins, kind, target):
    part = _element(kind, len(target))
    stores = [
        ins.function.assign(name, part, f"({part.c})(whole_ >> {part.bits * i})") for i, name in enumerate(target)
    ]
    return f"{{ {kind.c} whole_ = {ins.value(1, kind)}; {' '.join(stores)} }}"


def _pack(ins, kind, source):
    part = _element(kind, len(source))
    terms = [f"(({kind.c}){ins.function.value(text, part)} << {part.bits * i})" for i, text in enumerate(source)]
    return ins.assign(" | ".join(terms), kind)
