"""Floating-point and integer arithmetic.

A rounding other than to nearest calls a function of the runtime that switches the mode; the default is C's own.
`.ftz` wraps operands and result of f32. Approximate instructions are computed accurately: the audit, not a comparison
of results, keeps them out of a program.
"""

from .function import instruction
from .types import TYPES, PtxError, unsigned

ROUNDINGS = ("rn", "rz", "rm", "rp")
SUFFIX = {"f32": "f", "f64": ""}
FLOATS = ("f32", "f64")
INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")


class FloatShape:
    """The modifiers all floating-point instructions share, and what they do to operands and result."""

    def __init__(self, ins):
        self.type = ins.take_type(*FLOATS)
        self.rounding = ins.take(*ROUNDINGS)
        self.approximate = ins.take("approx", "full")
        self.flush = bool(ins.take("ftz"))
        self.saturate = bool(ins.take("sat"))
        self.ins = ins

    def operand(self, index):
        value = self.ins.value(index, self.type)
        return f"flush({value})" if self.flush and self.type.name == "f32" else value

    def result(self, expression):
        if self.flush and self.type.name == "f32":
            expression = f"flush({expression})"
        if self.saturate:
            expression = f"saturate_{self.type.name}({expression})"
        return self.ins.assign(expression, self.type)

    def directed(self):
        return self.rounding if self.rounding in ("rz", "rm", "rp") else ""

    def count(self, kind):
        self.ins.count(f"fp{self.type.bits}_{kind}")


def is_float(ins):
    return ins.modifiers and ins.modifiers[-1] in FLOATS


def _float_binary(ins, operator, name, kind):
    shape = FloatShape(ins)
    shape.count(kind)
    a, b = shape.operand(1), shape.operand(2)
    if shape.directed():
        return shape.result(f"{name}_{shape.directed()}_{shape.type.name}({a}, {b})")
    return shape.result(f"{a} {operator} {b}")


def _wrapping(ins, kind, operator, a, b):
    """Integer arithmetic modulo 2^bits: done unsigned, where C defines it."""
    wide = "u64" if kind.bytes == 8 else "u32"
    return f"({wide}){a} {operator} ({wide}){b}"


def _integer_binary(ins, operator):
    kind = ins.take_type(*INTEGERS)
    ins.count("integer")
    a, b = ins.value(1, kind), ins.value(2, kind)
    if ins.take("sat"):
        if kind.name != "s32":
            raise PtxError(".sat needs type .s32")
        return ins.assign(f"saturate_s32((s64){a} {operator} (s64){b})", kind)
    return ins.assign(_wrapping(ins, kind, operator, a, b), kind)


def _with_carry(ins, operator, uses_carry):
    """add.cc, addc and the like: the carry is the bit above the result."""
    kind = ins.take_type("u32", "s32", "u64", "s64", "b32")
    sets_carry = bool(ins.take("cc"))
    bits = unsigned(kind.bits)
    wide = "u64" if kind.bytes == 4 else "unsigned __int128"
    ins.count("integer")
    total = f"({wide}){ins.value(1, bits)} {operator} ({wide}){ins.value(2, bits)}"
    if uses_carry:
        total += f" {operator} t->carry"
    keep = f"t->carry = (u8)(wide_ >> {kind.bits}) & 1; " if sets_carry else ""
    return f"{{ {wide} wide_ = {total}; {keep}{ins.assign(f'({bits.c})wide_', bits)} }}"


@instruction("add")
def _add(ins):
    if is_float(ins):
        return _float_binary(ins, "+", "add", "add_mul")
    return _with_carry(ins, "+", False) if "cc" in ins.modifiers else _integer_binary(ins, "+")


@instruction("sub")
def _sub(ins):
    if is_float(ins):
        return _float_binary(ins, "-", "sub", "add_mul")
    return _with_carry(ins, "-", False) if "cc" in ins.modifiers else _integer_binary(ins, "-")


@instruction("addc")
def _addc(ins):
    return _with_carry(ins, "+", True)


@instruction("subc")
def _subc(ins):
    return _with_carry(ins, "-", True)


def _product(ins, kind, part):
    """The low or high half, or the whole, of an integer product; and the type of that."""
    a, b = ins.value(1, kind), ins.value(2, kind)
    if part == "lo":
        return _wrapping(ins, kind, "*", a, b), kind
    sign = "s" if kind.is_signed else "u"
    wide = f"{sign}{2 * kind.bits}" if kind.bytes < 8 else ("" if kind.is_signed else "unsigned ") + "__int128"
    whole = f"({wide}){a} * ({wide}){b}"
    if part == "wide":
        if kind.bytes == 8:
            raise PtxError(".wide of 64 bits")
        return whole, TYPES[f"{sign}{2 * kind.bits}"]
    return f"({kind.c})(({whole}) >> {kind.bits})", kind


@instruction("mul")
def _mul(ins):
    if is_float(ins):
        return _float_binary(ins, "*", "mul", "add_mul")
    kind = ins.take_type(*INTEGERS)
    ins.count("integer")
    expression, result = _product(ins, kind, ins.take("lo", "hi", "wide"))
    return ins.assign(expression, result)


@instruction("mad")
def _mad(ins):
    if is_float(ins):
        return _fma(ins)
    if "cc" in ins.modifiers:
        return _mad_with_carry(ins, False)
    kind = ins.take_type(*INTEGERS)
    ins.count("integer")
    expression, result = _product(ins, kind, ins.take("lo", "hi", "wide"))
    return ins.assign(_wrapping(ins, result, "+", f"({expression})", ins.value(3, result)), result)


@instruction("madc")
def _madc(ins):
    return _mad_with_carry(ins, True)


def _mad_with_carry(ins, uses_carry):
    kind = ins.take_type("u32", "s32", "u64", "s64")
    sets_carry = bool(ins.take("cc"))
    bits = unsigned(kind.bits)
    wide = "u64" if kind.bytes == 4 else "unsigned __int128"
    ins.count("integer")
    part, _ = _product(ins, kind, ins.take("lo", "hi"))
    total = f"({wide})({bits.c})({part}) + ({wide}){ins.value(3, bits)}" + (" + t->carry" if uses_carry else "")
    keep = f"t->carry = (u8)(wide_ >> {kind.bits}) & 1; " if sets_carry else ""
    return f"{{ {wide} wide_ = {total}; {keep}{ins.assign(f'({bits.c})wide_', bits)} }}"


@instruction("fma")
def _fma(ins):
    shape = FloatShape(ins)
    shape.count("fma")
    a, b, c = (shape.operand(i) for i in (1, 2, 3))
    if shape.directed():
        return shape.result(f"fma_{shape.directed()}_{shape.type.name}({a}, {b}, {c})")
    return shape.result(f"__builtin_fma{SUFFIX[shape.type.name]}({a}, {b}, {c})")


@instruction("div")
def _div(ins):
    if is_float(ins):
        return _float_binary(ins, "/", "div", "special")
    kind = ins.take_type(*INTEGERS)
    ins.count("integer")
    return ins.assign(f"div_{kind.name}({ins.value(1, kind)}, {ins.value(2, kind)})", kind)


@instruction("rem")
def _rem(ins):
    kind = ins.take_type(*INTEGERS)
    ins.count("integer")
    return ins.assign(f"rem_{kind.name}({ins.value(1, kind)}, {ins.value(2, kind)})", kind)


@instruction("abs")
def _abs(ins):
    if is_float(ins):
        shape = FloatShape(ins)
        shape.count("other")
        return shape.result(f"__builtin_fabs{SUFFIX[shape.type.name]}({shape.operand(1)})")
    kind = ins.take_type("s16", "s32", "s64")
    ins.count("integer")
    return ins.assign(f"abs_{kind.name}({ins.value(1, kind)})", kind)


@instruction("neg")
def _neg(ins):
    if is_float(ins):
        shape = FloatShape(ins)
        shape.count("other")
        return shape.result(f"-{shape.operand(1)}")
    kind = ins.take_type("s16", "s32", "s64")
    ins.count("integer")
    return ins.assign(_wrapping(ins, kind, "-", "0", ins.value(1, kind)), kind)


@instruction("min", "max")
def _min_max(ins):
    if is_float(ins):
        nan = "_nan" if ins.take("NaN") else ""
        shape = FloatShape(ins)
        shape.count("other")
        return shape.result(f"{ins.name}{nan}_{shape.type.name}({shape.operand(1)}, {shape.operand(2)})")
    kind = ins.take_type(*INTEGERS)
    ins.count("integer")
    return ins.assign(f"{ins.name}_{kind.name}({ins.value(1, kind)}, {ins.value(2, kind)})", kind)


@instruction("sqrt", "rcp")
def _root_reciprocal(ins):
    shape = FloatShape(ins)
    shape.count("special")
    mode = f"{shape.directed()}_" if shape.directed() else ""
    return shape.result(f"{ins.name}_{mode}{shape.type.name}({shape.operand(1)})")


@instruction("rsqrt", "sin", "cos", "ex2", "lg2", "tanh")
def _approximate(ins):
    shape = FloatShape(ins)
    shape.count("special")
    if shape.type.name == "f64" and ins.name != "rsqrt":
        raise PtxError(f"{ins.name} has no type .f64")
    return shape.result(f"{ins.name}_{shape.type.name}({shape.operand(1)})")


@instruction("copysign")
def _copysign(ins):
    """d = |b| with the sign of a."""
    shape = FloatShape(ins)
    shape.count("other")
    return shape.result(f"__builtin_copysign{SUFFIX[shape.type.name]}({shape.operand(2)}, {shape.operand(1)})")


@instruction("testp")
def _testp(ins):
    kind = ins.take_type(*FLOATS)
    test = ins.take("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    ins.count("compare")
    return ins.assign(f"is_{test}_{kind.name}({ins.value(1, kind)})", TYPES["pred"])


@instruction("sad")
def _sad(ins):
    kind = ins.take_type(*INTEGERS)
    ins.count("integer")
    a, b = ins.value(1, kind), ins.value(2, kind)
    difference = f"max_{kind.name}({a}, {b}) - min_{kind.name}({a}, {b})"
    return ins.assign(_wrapping(ins, kind, "+", ins.value(3, kind), f"({difference})"), kind)


@instruction("dp4a")
def _dp4a(ins):
    second, first = ins.take_type("u32", "s32"), ins.take_type("u32", "s32")
    ins.count("integer")
    a, b, c = (ins.value(i, unsigned(32)) for i in (1, 2, 3))
    return ins.assign(f"dp4a({a}, {b}, {c}, {int(first.is_signed)}, {int(second.is_signed)})", unsigned(32))


def _round_to_integer(mode, kind, value):
    return f"round_{mode}_{kind.name}({value})"


@instruction("cvt")
def _cvt(ins):
    """cvt{.rounding}{.ftz}{.sat}.to.from: four cases, by which of the two are floats."""
    source = ins.take_type()
    target = ins.take_type()
    rounding = ins.take("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")
    flush, saturate = bool(ins.take("ftz")), bool(ins.take("sat"))
    ins.count("convert")
    value = ins.value(1, source)
    if flush and source.name == "f32":
        value = f"flush({value})"
    if source.is_float and not target.is_float:
        integral = _round_to_integer((rounding or "rzi")[1], source, value)
        return ins.assign(f"{target.name}_of_{source.name}({integral})", target)
    if target.is_float:
        return ins.assign(_to_float(source, target, rounding, flush, saturate, value), target)
    if saturate:
        return ins.assign(f"clamp_{target.name}((__int128){value})", target)
    return ins.assign(value, target)


def _to_float(source, target, rounding, flush, saturate, value):
    if rounding.endswith("i"):
        if source != target:
            raise PtxError("rounding to an integer between different types")
        expression = _round_to_integer(rounding[1], source, value)
    elif rounding in ("rz", "rm", "rp") and source != target:
        expression = f"convert_{rounding}_{target.name}_{source.name}({value})"
    else:
        expression = f"({target.c}){value}"
    if flush and target.name == "f32":
        expression = f"flush({expression})"
    return f"saturate_{target.name}({expression})" if saturate else expression
