"""An oracle of IEEE arithmetic in exact rationals, independent of any compiler. Numbers are bit patterns."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

NAN = "nan"  # any NaN: payloads are not compared


@dataclass(frozen=True)
class Format:
    bits: int
    precision: int  # with the hidden bit
    emax: int

    @property
    def emin(self):
        return 1 - self.emax

    @property
    def sign_bit(self):
        return 1 << (self.bits - 1)

    @property
    def infinity(self):
        return ((1 << (self.bits - self.precision)) - 1) << (self.precision - 1)

    def is_nan(self, x):
        return (x & ~self.sign_bit) > self.infinity

    def is_infinite(self, x):
        return (x & ~self.sign_bit) == self.infinity

    def is_zero(self, x):
        return (x & ~self.sign_bit) == 0

    def is_negative(self, x):
        return bool(x & self.sign_bit)

    def value(self, x):
        """The rational number of a finite pattern."""
        magnitude = x & ~self.sign_bit
        exponent, fraction = magnitude >> (self.precision - 1), magnitude & ((1 << (self.precision - 1)) - 1)
        if exponent:
            fraction |= 1 << (self.precision - 1)
        result = Fraction(fraction) * Fraction(2) ** (max(exponent, 1) - self.emax - self.precision + 1)
        return -result if self.is_negative(x) else result

    def round(self, q, mode, zero_negative=False):
        """The pattern of a rational number, rounded: rn, rz, rm (down), rp (up)."""
        if q == 0:
            return self.sign_bit if zero_negative else 0
        negative, q = q < 0, abs(q)
        exponent = max(_log2(q), self.emin)
        unit = Fraction(2) ** (exponent - self.precision + 1)
        count = _round_integer(q / unit, mode, negative)
        if count >= 1 << self.precision:
            count, exponent = count >> 1, exponent + 1
        if exponent > self.emax:
            away = mode == "rn" or (mode == "rp" and not negative) or (mode == "rm" and negative)
            magnitude = self.infinity if away else self.infinity - 1
        elif count < 1 << (self.precision - 1):
            magnitude = count  # subnormal
        else:
            magnitude = ((exponent + self.emax) << (self.precision - 1)) + count - (1 << (self.precision - 1))
        return magnitude | (self.sign_bit if negative else 0)


F32, F64 = Format(32, 24, 127), Format(64, 53, 1023)


def _log2(q):
    """The exponent e with 2^e <= q < 2^(e+1)."""
    e = q.numerator.bit_length() - q.denominator.bit_length()
    return e if Fraction(2) ** e <= q else e - 1


def _round_integer(q, mode, negative):
    floor, rest = q.numerator // q.denominator, q - q.numerator // q.denominator
    if mode == "rn":
        return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor & 1))
    up = (mode == "rp" and not negative) or (mode == "rm" and negative)
    return floor + (1 if up and rest else 0)


def _sum_zero_is_negative(a_negative, b_negative, mode):
    return a_negative if a_negative == b_negative else mode == "rm"


def fma(f, a, b, c, mode="rn"):
    if f.is_nan(a) or f.is_nan(b) or f.is_nan(c):
        return NAN
    product_negative = f.is_negative(a) != f.is_negative(b)
    if f.is_infinite(a) or f.is_infinite(b):
        if f.is_zero(a) or f.is_zero(b) or (f.is_infinite(c) and f.is_negative(c) != product_negative):
            return NAN
        return f.infinity | (f.sign_bit if product_negative else 0)
    if f.is_infinite(c):
        return c
    product = f.value(a) * f.value(b)
    total = product + f.value(c)
    if total == 0 and product == 0:
        return f.round(Fraction(0), mode, _sum_zero_is_negative(product_negative, f.is_negative(c), mode))
    return f.round(total, mode, mode == "rm")


def mul(f, a, b, mode="rn"):
    zero = f.sign_bit if f.is_nan(a) or f.is_nan(b) or f.is_negative(a) != f.is_negative(b) else 0
    return fma(f, a, b, zero, mode)


def add(f, a, b, mode="rn"):
    one = (f.emax) << (f.precision - 1)
    if f.is_nan(a) or f.is_infinite(a):
        return NAN if f.is_nan(a) or f.is_nan(b) or (f.is_infinite(b) and a != b) else a
    return fma(f, a, one, b, mode)


def sub(f, a, b, mode="rn"):
    return NAN if f.is_nan(b) else add(f, a, b ^ f.sign_bit, mode)


def div(f, a, b, mode="rn"):
    if f.is_nan(a) or f.is_nan(b) or (f.is_infinite(a) and f.is_infinite(b)) or (f.is_zero(a) and f.is_zero(b)):
        return NAN
    sign = f.sign_bit if f.is_negative(a) != f.is_negative(b) else 0
    if f.is_infinite(a) or f.is_zero(b):
        return f.infinity | sign
    if f.is_infinite(b) or f.is_zero(a):
        return sign
    return f.round(f.value(a) / f.value(b), mode)


def sqrt(f, a, mode="rn"):
    if f.is_zero(a):
        return a
    if f.is_nan(a) or f.is_negative(a):
        return NAN
    if f.is_infinite(a):
        return a
    q = f.value(a)
    # Enough bits that the root's own rounding cannot be told from the exact root; a sticky bit says if it is not exact.
    shift = 4 * f.precision + 2 * (f.emax + f.precision)
    scaled = q.numerator * (1 << (2 * shift)) // q.denominator
    root = isqrt(scaled)
    exact = root * root == scaled and q.numerator * (1 << (2 * shift)) % q.denominator == 0
    return f.round(Fraction(2 * root + (0 if exact else 1), 1 << (shift + 1)), mode)


def minimum(f, a, b):
    if f.is_nan(a) or f.is_nan(b):
        return b if f.is_nan(a) and not f.is_nan(b) else a if f.is_nan(b) and not f.is_nan(a) else NAN
    return a if _order(f, a) <= _order(f, b) else b


def maximum(f, a, b):
    if f.is_nan(a) or f.is_nan(b):
        return minimum(f, a, b)
    return a if _order(f, a) >= _order(f, b) else b


def _order(f, x):
    """An integer that orders numbers, -0 below +0."""
    return ~(x & ~f.sign_bit) if f.is_negative(x) else x


def compare(f, test, a, b):
    unordered = f.is_nan(a) or f.is_nan(b)
    if test in ("num", "nan"):
        return int(unordered == (test == "nan"))
    if unordered:
        return int(test.endswith("u") and len(test) == 3)
    x, y = (0 if f.is_zero(v) else _order(f, v) for v in (a, b))
    return int({"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[test[:2]])


def to_integral(f, a, mode):
    """cvt.rni and the like between floats."""
    if f.is_nan(a):
        return NAN
    if f.is_infinite(a) or f.is_zero(a):
        return a
    q, negative = f.value(a), f.is_negative(a)
    count = _round_integer(abs(q), mode, negative)
    return f.round(Fraction(-count if negative else count), "rn", negative)


def to_integer(f, a, mode, bits, is_signed):
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    if f.is_nan(a):
        return 0 if f.bits == 32 and bits <= 32 else 1 << (bits - 1)
    if f.is_infinite(a):
        return (low if f.is_negative(a) else high) & ((1 << bits) - 1)
    count = _round_integer(abs(f.value(a)), mode, f.is_negative(a))
    return min(max(-count if f.is_negative(a) else count, low), high) & ((1 << bits) - 1)


def convert(source, target, a, mode="rn"):
    if source.is_nan(a):
        return NAN
    sign = target.sign_bit if source.is_negative(a) else 0
    if source.is_infinite(a):
        return target.infinity | sign
    return target.round(source.value(a), mode, bool(sign))
