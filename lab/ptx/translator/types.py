"""PTX types: width, kind and the C type that holds a value."""

import re
from dataclasses import dataclass


class PtxError(Exception):
    """Something in a PTX file that is not understood. The message names it; the caller adds the line."""


@dataclass(frozen=True)
class Type:
    name: str
    bytes: int
    kind: str  # u, s, b (bits), f, p (predicate)
    c: str

    @property
    def bits(self):
        return 8 * self.bytes

    @property
    def is_float(self):
        return self.kind == "f"

    @property
    def is_signed(self):
        return self.kind == "s"


def _make_types():
    table = {"pred": Type("pred", 1, "p", "u8")}
    for size in (1, 2, 4, 8):
        bits = 8 * size
        table[f"u{bits}"] = Type(f"u{bits}", size, "u", f"u{bits}")
        table[f"s{bits}"] = Type(f"s{bits}", size, "s", f"s{bits}")
        table[f"b{bits}"] = Type(f"b{bits}", size, "b", f"u{bits}")
    table["f32"] = Type("f32", 4, "f", "f32")
    table["f64"] = Type("f64", 8, "f", "f64")
    return table


TYPES = _make_types()


def unsigned(bits):
    return TYPES[f"u{bits}"]


def signed(bits):
    return TYPES[f"s{bits}"]


def register_type(declared, name):
    """What holds a register: floats as floats, everything else as unsigned bits. nvcc names registers after what they
    hold also where it declares them as bits; reading one as another type is right in any case, the guess only makes it
    faster."""
    if declared.kind in "fp":
        return declared
    if declared.kind == "b" and declared.bytes >= 4 and re.fullmatch(r"%fd?\d+", name):
        return TYPES[f"f{declared.bits}"]
    return unsigned(max(16, declared.bits))
