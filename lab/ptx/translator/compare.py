"""Comparisons and selection."""

from .function import instruction
from .types import TYPES, PtxError

PRED = TYPES["pred"]
ORDERED = {"eq": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
# An unordered comparison is the opposite of an ordered one.
OPPOSITE = {"equ": "islessgreater", "ltu": "isgreaterequal", "leu": "isgreater", "gtu": "islessequal", "geu": "isless"}
COMBINE = {"and": "&", "or": "|", "xor": "^"}


def _float_test(test, a, b):
    if test in ORDERED:
        return f"({a} {ORDERED[test]} {b})"
    if test in OPPOSITE:
        return f"(!__builtin_{OPPOSITE[test]}({a}, {b}))"
    return {
        "ne": f"__builtin_islessgreater({a}, {b})",
        "neu": f"({a} != {b})",
        "num": f"(!__builtin_isunordered({a}, {b}))",
        "nan": f"(!!__builtin_isunordered({a}, {b}))",
    }[test]


def _test(ins, kind):
    """The comparison of operands 1 and 2 as a C expression."""
    if kind.is_float:
        test = ins.take("ne", "neu", "num", "nan", *ORDERED, *OPPOSITE)
        flush = ins.take("ftz") and kind.name == "f32"
        a, b = (f"flush({ins.value(i, kind)})" if flush else ins.value(i, kind) for i in (1, 2))
        return _float_test(test, a, b) if test else ""
    operators = {**ORDERED, **UNSIGNED, "ne": "!="}
    test = ins.take(*operators)
    return f"({ins.value(1, kind)} {operators[test]} {ins.value(2, kind)})" if test else ""


@instruction("setp")
def _setp(ins):
    """setp.test{.combine} p|q, a, b, c:  p = test combine c,  q = !test combine c."""
    kind = ins.take_type()
    ins.count("compare")
    combine = ins.take(*COMBINE)
    test = _test(ins, kind)
    if not test:
        raise PtxError("a comparison that is not known")
    other = f" {COMBINE[combine]} ({ins.value(3, PRED)})" if combine else ""
    first, second = ins.pair()
    stores = [
        ins.function.assign(name, PRED, f"{value}{other}")
        for name, value in ((first, "test_"), (second, "!test_"))
        if name
    ]
    return f"{{ u8 test_ = {test}; {' '.join(stores)} }}"


@instruction("set")
def _set(ins):
    kind, result = ins.take_type(), ins.take_type("u32", "s32", "f32")
    ins.count("compare")
    test = _test(ins, kind)
    if not test:
        raise PtxError("a comparison that is not known")
    return ins.assign(f"{test} ? {'1.0f' if result.is_float else f'({result.c})-1'} : 0", result)


@instruction("selp")
def _selp(ins):
    kind = ins.take_type()
    ins.count("compare")
    return ins.assign(f"{ins.value(3, PRED)} ? {ins.value(1, kind)} : {ins.value(2, kind)}", kind)


@instruction("slct")
def _slct(ins):
    test, kind = ins.take_type("s32", "f32"), ins.take_type()
    ins.count("compare")
    return ins.assign(f"{ins.value(3, test)} >= 0 ? {ins.value(1, kind)} : {ins.value(2, kind)}", kind)
