"""Instructions in which the lanes of a warp take part together."""

from .function import instruction
from .types import TYPES, PtxError, unsigned

U32, PRED = unsigned(32), TYPES["pred"]


def _store_pair(ins, value, first_type, predicate):
    """{ value; d = result; p = flag; } for a destination `d|p`."""
    first, second = ins.pair()
    stores = ins.function.assign(first, first_type, "value_") if first else ""
    if second:
        stores += " " + ins.function.assign(second, PRED, predicate)
    return f"{{ u8 flag_ = 0; u32 value_ = {value}; (void)flag_; {stores} }}"


@instruction("shfl")
def _shfl(ins):
    ins.take_type("b32")
    ins.take("sync")
    mode = ins.take("up", "down", "bfly", "idx")
    ins.count("warp")
    source, lane, clamp, mask = (ins.value(i, U32) for i in (1, 2, 3, 4))
    call = f"ptx_runtime->shuffle(t, SHUFFLE_{mode.upper()}, {source}, {lane}, {clamp}, {mask}, &flag_, {ins.site()})"
    return _store_pair(ins, call, U32, "flag_")


@instruction("vote")
def _vote(ins):
    result = ins.take_type("pred", "b32")
    ins.take("sync")
    mode = ins.take("all", "any", "uni", "ballot")
    if (mode == "ballot") != (result.name == "b32"):
        raise PtxError("a vote that is not known")
    ins.count("warp")
    call = f"ptx_runtime->vote(t, VOTE_{mode.upper()}, {ins.value(1, PRED)}, {ins.value(2, U32)}, {ins.site()})"
    return ins.assign(call, result)


@instruction("match")
def _match(ins):
    kind = ins.take_type("b32", "b64")
    mode = ins.take("any", "all")
    ins.take("sync")
    ins.count("warp")
    arguments = f"MATCH_{mode.upper()}, (u64){ins.value(1, kind)}, {ins.value(2, U32)}, &flag_, {ins.site()}"
    return _store_pair(ins, f"ptx_runtime->match(t, {arguments})", U32, "flag_")


@instruction("redux")
def _redux(ins):
    kind = ins.take_type("u32", "s32", "b32")
    ins.take("sync")
    operation = ins.take("add", "min", "max", "and", "or", "xor")
    ins.count("warp")
    call = (
        f"ptx_runtime->reduce_warp(t, WARP_{operation.upper()}, {int(kind.is_signed)}, {ins.value(1, U32)}, "
        f"{ins.value(2, U32)}, {ins.site()})"
    )
    return ins.assign(call, U32)


@instruction("activemask")
def _activemask(ins):
    """Which lanes run together is not defined by the program; the lane itself is always a correct answer."""
    ins.take_type("b32")
    ins.count("warp")
    return ins.assign("(1u << t->lane)", U32)


@instruction("elect")
def _elect(ins):
    ins.take("sync")
    ins.count("warp")
    mask = ins.value(1, U32)
    return _store_pair(ins, f"ptx_runtime->elect(t, {mask}, &flag_, {ins.site()})", U32, "flag_")
