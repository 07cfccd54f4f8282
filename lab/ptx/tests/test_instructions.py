"""What each instruction computes, against oracles in Python (exact.py, and integers of any size), on edges and random
operands.

One kernel holds all instructions of a kind; thread i has operand triple i and stores one result per instruction.
"""

import random
import struct
import unittest

import exact
import harness
from exact import F32, F64, NAN

THREADS = 256


class Case:
    """An instruction with A, B, C for its operands and D for its result, and what it should give."""

    def __init__(self, text, result_bits, oracle):
        self.text, self.bits, self.oracle = text, result_bits, oracle


def kernel(cases, operand):
    """`operand`: the register prefix of A, B, C."""
    move = {
        "%r": "cvt.u32.u64 %r{n}, %rd{m};",
        "%rd": "mov.b64 %rd{n}, %rd{m};",
        "%h": "cvt.u16.u64 %h{n}, %rd{m};",
        "%f": "cvt.u32.u64 %r50, %rd{m}; mov.b32 %f{n}, %r50;",
        "%fd": "mov.b64 %fd{n}, %rd{m};",
    }[operand]
    lines = [
        "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;",
        "mad.wide.u32 %rd1, %r1, 24, %rd1; mad.wide.u32 %rd2, %r1, 8, %rd2; mul.wide.u32 %rd3, %r2, 8;",
        "ld.global.u64 %rd11, [%rd1]; ld.global.u64 %rd12, [%rd1+8]; ld.global.u64 %rd13, [%rd1+16];",
    ]
    lines += [move.format(n=n, m=m) for n, m in ((21, 11), (22, 12), (23, 13))]
    for case in cases:
        result = {16: "%h30", 32: "%r30", 64: "%rd30"}[case.bits]
        text = case.text
        for letter, register in (
            ("A", f"{operand}21"),
            ("B", f"{operand}22"),
            ("C", f"{operand}23"),
            ("D", result),
            ("U", "%r24"),
            ("V", "%r25"),
        ):
            text = text.replace(f"<{letter}>", register)
        widen = {16: "cvt.u64.u16 %rd40, %h30;", 32: "cvt.u64.u32 %rd40, %r30;", 64: "mov.b64 %rd40, %rd30;"}[case.bits]
        lines += [
            "cvt.u32.u64 %r24, %rd12; cvt.u32.u64 %r25, %rd13;",
            text,
            widen,
            "st.global.u64 [%rd2], %rd40; add.s64 %rd2, %rd2, %rd3;",
        ]
    return harness.ptx_function("\n".join(lines), ".param .u64 p, .param .u64 q")


def run(test, cases, operand, triples):
    data = b"".join(struct.pack("<3Q", *t) for t in triples)
    result = harness.run_kernel(kernel(cases, operand), "k", [data, bytes(8 * THREADS * len(cases))], block=(THREADS,))
    test.assertEqual(result.error, 0, result.messages)
    values = struct.unpack(f"<{THREADS * len(cases)}Q", result.arrays[1])
    for n, case in enumerate(cases):
        for i, triple in enumerate(triples):
            want, got = case.oracle(*triple), values[n * THREADS + i]
            if want == NAN:
                good = (F32 if case.bits == 32 else F64).is_nan(got)
            else:
                good = want == got
            wanted = want if want == NAN else hex(want)
            test.assertTrue(good, f"{case.text} of {[hex(x) for x in triple]}: {got:#x}, not {wanted}")


def triples_of(edges, bits, seed):
    """Every pair of some edges, then random patterns, then random with edges."""
    generator = random.Random(seed)
    pick = lambda: generator.choice(edges) if generator.random() < 0.5 else generator.getrandbits(bits)
    triples = [(a, b, generator.choice(edges)) for a in edges[:10] for b in edges[:10]]
    while len(triples) < THREADS:
        triples.append((pick(), pick(), pick()))
    return triples[:THREADS]


def sign(x, bits):
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


class Integers(unittest.TestCase):
    def check(self, bits, cases):
        top = 1 << (bits - 1)
        edges = [0, 1, 2, top - 1, top, top + 1, 2 * top - 1, bits - 1, bits, bits // 2, 31, 33, 0x0507, 255]
        triples = [tuple(x & (2 * top - 1) for x in t) for t in triples_of(edges, bits, bits)]
        run(self, cases, {16: "%h", 32: "%r", 64: "%rd"}[bits], triples)

    def signed_cases(self, bits, kind):
        mask = (1 << bits) - 1
        value = (lambda x: sign(x, bits)) if kind == "s" else (lambda x: x)
        t = f"{kind}{bits}"

        def divide(a, b):
            a, b = value(a), value(b)
            if b == 0:
                return mask
            return (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)) & mask

        def remainder(a, b):
            a, b = value(a), value(b)
            return (a if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)) & mask

        cases = [
            Case(f"add.{t} <D>, <A>, <B>;", bits, lambda a, b, c: a + b & mask),
            Case(f"sub.{t} <D>, <A>, <B>;", bits, lambda a, b, c: a - b & mask),
            Case(f"mul.lo.{t} <D>, <A>, <B>;", bits, lambda a, b, c: a * b & mask),
            Case(f"mul.hi.{t} <D>, <A>, <B>;", bits, lambda a, b, c: value(a) * value(b) >> bits & mask),
            Case(f"mad.lo.{t} <D>, <A>, <B>, <C>;", bits, lambda a, b, c: a * b + c & mask),
            Case(f"mad.hi.{t} <D>, <A>, <B>, <C>;", bits, lambda a, b, c: (value(a) * value(b) >> bits) + c & mask),
            Case(f"div.{t} <D>, <A>, <B>;", bits, lambda a, b, c: divide(a, b)),
            Case(f"rem.{t} <D>, <A>, <B>;", bits, lambda a, b, c: remainder(a, b)),
            Case(f"min.{t} <D>, <A>, <B>;", bits, lambda a, b, c: min(value(a), value(b)) & mask),
            Case(f"max.{t} <D>, <A>, <B>;", bits, lambda a, b, c: max(value(a), value(b)) & mask),
            Case(f"sad.{t} <D>, <A>, <B>, <C>;", bits, lambda a, b, c: abs(value(a) - value(b)) + c & mask),
            Case(f"shr.{t} <D>, <A>, <U>;", bits, lambda a, b, c: value(a) >> min(b & 0xFFFFFFFF, 200) & mask),
        ]
        if kind == "s":
            cases += [
                Case(f"abs.{t} <D>, <A>;", bits, lambda a, b, c: abs(value(a)) & mask),
                Case(f"neg.{t} <D>, <A>;", bits, lambda a, b, c: -a & mask),
            ]
        if bits < 64:
            cases.append(
                Case(
                    f"mul.wide.{t} <D>, <A>, <B>;",
                    2 * bits,
                    lambda a, b, c: value(a) * value(b) & ((1 << 2 * bits) - 1),
                )
            )
        for test in ("eq", "ne", "lt", "le", "gt", "ge"):
            oracle = {
                "eq": lambda a, b, c: a == b,
                "ne": lambda a, b, c: a != b,
                "lt": lambda a, b, c: value(a) < value(b),
                "le": lambda a, b, c: value(a) <= value(b),
                "gt": lambda a, b, c: value(a) > value(b),
                "ge": lambda a, b, c: value(a) >= value(b),
            }[test]
            cases.append(
                Case(
                    f"setp.{test}.{t} %p1, <A>, <B>; selp.b32 %r30, 1, 0, %p1; cvt.u{bits}.u32 <D>, %r30;"
                    if bits != 32
                    else f"setp.{test}.{t} %p1, <A>, <B>; selp.b32 <D>, 1, 0, %p1;",
                    bits,
                    lambda a, b, c, oracle=oracle: int(oracle(a, b, c)),
                )
            )
        return cases

    def test_arithmetic_of_16_bits(self):
        self.check(16, self.signed_cases(16, "s") + self.signed_cases(16, "u"))

    def test_arithmetic_of_32_bits(self):
        self.check(32, self.signed_cases(32, "s") + self.signed_cases(32, "u"))

    def test_arithmetic_of_64_bits(self):
        self.check(64, self.signed_cases(64, "s") + self.signed_cases(64, "u"))

    def bit_cases(self, bits):
        mask = (1 << bits) - 1

        def extract(a, place, length, kind):
            place, length = place & 255, length & 255
            value = sign(a, bits) if kind == "s" else a
            field = value >> place
            if kind == "s" and 0 < length < bits:
                return sign(field & ((1 << length) - 1), length) & mask
            return (field & ((1 << length) - 1)) & mask

        def insert(a, b, place, length):
            field = (((1 << (length & 255)) - 1) << (place & 255)) & mask
            return b & ~field | a << (place & 255) & field

        u, v = (lambda b: b & 0xFFFFFFFF), (lambda c: c & 0xFFFFFFFF)
        return [
            Case(f"and.b{bits} <D>, <A>, <B>;", bits, lambda a, b, c: a & b),
            Case(f"or.b{bits} <D>, <A>, <B>;", bits, lambda a, b, c: a | b),
            Case(f"xor.b{bits} <D>, <A>, <B>;", bits, lambda a, b, c: a ^ b),
            Case(f"not.b{bits} <D>, <A>;", bits, lambda a, b, c: ~a & mask),
            Case(f"cnot.b{bits} <D>, <A>;", bits, lambda a, b, c: int(a == 0)),
            Case(f"shl.b{bits} <D>, <A>, <U>;", bits, lambda a, b, c: a << min(u(b), 200) & mask),
            Case(f"bfe.u{bits} <D>, <A>, <U>, <V>;", bits, lambda a, b, c: extract(a, u(b), v(c), "u")),
            Case(f"bfe.s{bits} <D>, <A>, <U>, <V>;", bits, lambda a, b, c: extract(a, u(b), v(c), "s")),
            Case(f"bfi.b{bits} <D>, <A>, <B>, <U>, <V>;", bits, lambda a, b, c: insert(a, b, u(b), v(c))),
            Case(f"popc.b{bits} %r30, <A>; cvt.u{bits}.u32 <D>, %r30;", bits, lambda a, b, c: bin(a).count("1")),
            Case(f"clz.b{bits} %r30, <A>; cvt.u{bits}.u32 <D>, %r30;", bits, lambda a, b, c: bits - a.bit_length()),
            Case(f"brev.b{bits} <D>, <A>;", bits, lambda a, b, c: int(f"{a:0{bits}b}"[::-1], 2)),
            Case(
                f"bfind.u{bits} %r30, <A>; cvt.u{bits}.u32 <D>, %r30;",
                bits,
                lambda a, b, c: a.bit_length() - 1 if a else 0xFFFFFFFF,
            ),
            Case(
                f"bfind.shiftamt.s{bits} %r30, <A>; cvt.u{bits}.u32 <D>, %r30;",
                bits,
                lambda a, b, c: (lambda x: bits - x.bit_length() if x else 0xFFFFFFFF)(
                    ~a & mask if a >> (bits - 1) else a
                ),
            ),
            Case(f"selp.b{bits} <D>, <A>, <B>, %p0;".replace("%p0", "%p2"), bits, lambda a, b, c: b),
        ]

    def test_bits_of_32(self):
        mask = (1 << 32) - 1

        def permute(a, b, c):
            source = (b << 32 | a).to_bytes(8, "little")
            picks = [c >> 4 * i & 15 for i in range(4)]
            signs = [255 if byte & 128 else 0 for byte in source]
            return int.from_bytes(bytes((signs if p & 8 else source)[p & 7] for p in picks), "little")

        def dot(a, b, c, signed_a, signed_b):
            x, y = (struct.unpack("4b" if s else "4B", struct.pack("<I", v)) for v, s in ((a, signed_a), (b, signed_b)))
            return c + sum(p * q for p, q in zip(x, y)) & mask

        def lop(table):
            row = lambda a, b, c, i: (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)
            return lambda a, b, c: sum((table >> row(a, b, c, i) & 1) << i for i in range(32))

        cases = (
            self.bit_cases(32)
            + [
                Case("shf.l.wrap.b32 <D>, <A>, <B>, <C>;", 32, lambda a, b, c: (b << 32 | a) << (c & 31) >> 32 & mask),
                Case("shf.r.wrap.b32 <D>, <A>, <B>, <C>;", 32, lambda a, b, c: (b << 32 | a) >> (c & 31) & mask),
                Case(
                    "shf.l.clamp.b32 <D>, <A>, <B>, <C>;", 32, lambda a, b, c: (b << 32 | a) << min(c, 32) >> 32 & mask
                ),
                Case("shf.r.clamp.b32 <D>, <A>, <B>, <C>;", 32, lambda a, b, c: (b << 32 | a) >> min(c, 32) & mask),
                Case("prmt.b32 <D>, <A>, <B>, <C>;", 32, permute),
                Case("bmsk.clamp.b32 <D>, <A>, <B>;", 32, lambda a, b, c: ((1 << min(b, 32)) - 1) << min(a, 32) & mask),
                Case("bmsk.wrap.b32 <D>, <A>, <B>;", 32, lambda a, b, c: ((1 << (b & 31)) - 1) << (a & 31) & mask),
                Case("dp4a.u32.u32 <D>, <A>, <B>, <C>;", 32, lambda a, b, c: dot(a, b, c, 0, 0)),
                Case("dp4a.s32.u32 <D>, <A>, <B>, <C>;", 32, lambda a, b, c: dot(a, b, c, 1, 0)),
                Case(
                    "add.sat.s32 <D>, <A>, <B>;",
                    32,
                    lambda a, b, c: min(max(sign(a, 32) + sign(b, 32), -(1 << 31)), (1 << 31) - 1) & mask,
                ),
                Case(
                    "add.cc.u32 %r31, <A>, <B>; addc.u32 <D>, <B>, <C>;",
                    32,
                    lambda a, b, c: b + c + (a + b >> 32) & mask,
                ),
                Case("sub.cc.u32 %r31, <A>, <B>; subc.u32 <D>, <B>, <C>;", 32, lambda a, b, c: b - c - (a < b) & mask),
                Case(
                    "mad.lo.cc.u32 %r31, <A>, <B>, <C>; madc.hi.u32 <D>, <A>, <B>, <C>;",
                    32,
                    lambda a, b, c: (a * b >> 32) + c + ((a * b & mask) + c >> 32) & mask,
                ),
                Case(
                    "mov.b32 {%h1, %h2}, <A>; mov.b32 <D>, {%h2, %h1};", 32, lambda a, b, c: (a << 16 | a >> 16) & mask
                ),
                Case("cvt.s32.s8 <D>, <A>;", 32, lambda a, b, c: sign(a & 255, 8) & mask),
                Case("cvt.u32.u8 <D>, <A>;", 32, lambda a, b, c: a & 255),
                Case("cvt.s16.s32 %h1, <A>; cvt.s32.s16 <D>, %h1;", 32, lambda a, b, c: sign(a & 0xFFFF, 16) & mask),
                Case("cvt.u8.u32 %r31, <A>; mov.b32 <D>, %r31;", 32, lambda a, b, c: a & 255),
                Case("cvt.s8.s32 %r31, <A>; mov.b32 <D>, %r31;", 32, lambda a, b, c: sign(a & 255, 8) & mask),
                Case("cvt.u16.u32 %r31, <A>; mov.b32 <D>, %r31;", 32, lambda a, b, c: a & 0xFFFF),
                Case("cvt.sat.u8.s32 %r31, <A>; mov.b32 <D>, %r31;", 32, lambda a, b, c: min(max(sign(a, 32), 0), 255)),
                Case("slct.b32.s32 <D>, <A>, <B>, <C>;", 32, lambda a, b, c: a if sign(c, 32) >= 0 else b),
                Case("set.lt.u32.s32 <D>, <A>, <B>;", 32, lambda a, b, c: mask if sign(a, 32) < sign(b, 32) else 0),
                Case("setp.lt.and.s32 %p1|%p3, <A>, <B>, %p2; selp.b32 <D>, 1, 0, %p3;", 32, lambda a, b, c: 0),
                Case(
                    "setp.lo.or.u32 %p1|%p3, <A>, <B>, %p2; selp.b32 <D>, 1, 0, %p3;", 32, lambda a, b, c: int(a >= b)
                ),
            ]
            + [
                Case(f"lop3.b32 <D>, <A>, <B>, <C>, {table:#x};", 32, lop(table))
                for table in (0, 0x96, 0xE8, 0xCA, 0x80, 0xFF, 0x1B)
            ]
        )
        # %p2 is false throughout
        cases.insert(0, Case("setp.ne.s32 %p2, 1, 1; mov.b32 <D>, <A>;", 32, lambda a, b, c: a))
        self.check(32, cases)

    def test_bits_of_64(self):
        mask = (1 << 64) - 1
        cases = (
            [Case("setp.ne.s32 %p2, 1, 1; mov.b64 <D>, <A>;", 64, lambda a, b, c: a)]
            + self.bit_cases(64)
            + [
                Case(
                    "mov.b64 {%r41, %r42}, <A>; mov.b64 <D>, {%r42, %r41};",
                    64,
                    lambda a, b, c: (a << 32 | a >> 32) & mask,
                ),
                Case("cvt.s64.s32 <D>, <U>;", 64, lambda a, b, c: sign(b & 0xFFFFFFFF, 32) & mask),
                Case("cvt.u64.u32 <D>, <U>;", 64, lambda a, b, c: b & 0xFFFFFFFF),
                Case(
                    "mad.wide.u32 <D>, <U>, <V>, <A>;",
                    64,
                    lambda a, b, c: (b & 0xFFFFFFFF) * (c & 0xFFFFFFFF) + a & mask,
                ),
                Case(
                    "mul.wide.s32 <D>, <U>, <V>;",
                    64,
                    lambda a, b, c: sign(b & 0xFFFFFFFF, 32) * sign(c & 0xFFFFFFFF, 32) & mask,
                ),
            ]
        )
        self.check(64, cases)


class Floats(unittest.TestCase):
    MODES = ("rn", "rz", "rm", "rp")

    def triples(self, f):
        one, infinity = f.emax << (f.precision - 1), f.infinity
        smallest = 1 << (f.precision - 1)
        half = 1 << (f.precision - 2)
        edges = [
            0,
            f.sign_bit,
            one,
            one | f.sign_bit,
            infinity,
            infinity | f.sign_bit,
            infinity + 1 + half,
            1,
            infinity - 1,
            smallest,
            smallest - 1,
            one + 1,
            one - 1,
            3 * smallest,
            one + half,
            *(one + power * smallest for power in (31, 32, 63, 64, 23)),
            infinity - 1 | f.sign_bit,
            1 | f.sign_bit,
            one + (3 << (f.precision - 3)),
            one - smallest,
        ]
        near = random.Random(f.bits)
        triples = triples_of(edges, f.bits, f.bits + 1)
        for i in range(120, THREADS):  # numbers of like size, so that sums cancel and nothing overflows
            triples[i] = tuple(
                one + near.randrange(-4 * smallest, 4 * smallest) | near.choice((0, f.sign_bit)) for _ in range(3)
            )
        return triples

    def check(self, f, cases):
        move = "mov.b32 <D>, %f30;" if f.bits == 32 else "mov.b64 <D>, %fd30;"
        for case in cases:
            case.text = case.text.replace("<R>", "%f30" if f.bits == 32 else "%fd30")
            if "30" in case.text and "<D>" not in case.text:
                case.text += " " + move
        run(self, cases, "%f" if f.bits == 32 else "%fd", self.triples(f))

    def arithmetic(self, f):
        t, cases = f"f{f.bits}", []
        for mode in self.MODES:
            for name in ("add", "sub", "mul", "div"):
                oracle = getattr(exact, name)
                cases.append(
                    Case(
                        f"{name}.{mode}.{t} <R>, <A>, <B>;",
                        f.bits,
                        lambda a, b, c, oracle=oracle, mode=mode: oracle(f, a, b, mode),
                    )
                )
            one = f.emax << (f.precision - 1)
            cases += [
                Case(
                    f"fma.{mode}.{t} <R>, <A>, <B>, <C>;",
                    f.bits,
                    lambda a, b, c, mode=mode: exact.fma(f, a, b, c, mode),
                ),
                Case(f"sqrt.{mode}.{t} <R>, <A>;", f.bits, lambda a, b, c, mode=mode: exact.sqrt(f, a, mode)),
                Case(f"rcp.{mode}.{t} <R>, <A>;", f.bits, lambda a, b, c, mode=mode: exact.div(f, one, a, mode)),
            ]
        return cases

    def test_arithmetic_of_f32_is_correctly_rounded(self):
        self.check(F32, self.arithmetic(F32))

    def test_arithmetic_of_f64_is_correctly_rounded(self):
        self.check(F64, self.arithmetic(F64))

    def others(self, f):
        t, sign_bit, nan = f"f{f.bits}", f.sign_bit, f.is_nan
        cases = [
            Case(f"min.{t} <R>, <A>, <B>;", f.bits, lambda a, b, c: exact.minimum(f, a, b)),
            Case(f"max.{t} <R>, <A>, <B>;", f.bits, lambda a, b, c: exact.maximum(f, a, b)),
            Case(f"abs.{t} <R>, <A>;", f.bits, lambda a, b, c: NAN if nan(a) else a & ~sign_bit),
            Case(f"neg.{t} <R>, <A>;", f.bits, lambda a, b, c: NAN if nan(a) else a ^ sign_bit),
            Case(
                f"copysign.{t} <R>, <A>, <B>;", f.bits, lambda a, b, c: NAN if nan(b) else b & ~sign_bit | a & sign_bit
            ),
            Case(f"mov.{t} <R>, <A>;", f.bits, lambda a, b, c: NAN if nan(a) else a),
        ]
        if f.bits == 32:
            flush = lambda x: x & sign_bit if (x & ~sign_bit) < 1 << 23 else x
            cases += [
                Case(
                    "min.NaN.f32 <R>, <A>, <B>;",
                    32,
                    lambda a, b, c: NAN if nan(a) or nan(b) else exact.minimum(f, a, b),
                ),
                Case(
                    "max.NaN.f32 <R>, <A>, <B>;",
                    32,
                    lambda a, b, c: NAN if nan(a) or nan(b) else exact.maximum(f, a, b),
                ),
                Case(
                    "add.rn.ftz.f32 <R>, <A>, <B>;",
                    32,
                    lambda a, b, c: (lambda x: x if x == NAN else flush(x))(exact.add(f, flush(a), flush(b))),
                ),
                Case(
                    "add.rn.sat.f32 <R>, <A>, <B>;",
                    32,
                    lambda a, b, c: (lambda x: 0 if x == NAN or x & sign_bit else min(x, 0x3F800000))(
                        exact.add(f, a, b)
                    ),
                ),
            ]
        result = "%r31" if f.bits == 64 else "<D>"
        widen = " cvt.u64.u32 <D>, %r31;" if f.bits == 64 else ""
        for test in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            cases.append(
                Case(
                    f"setp.{test}.{t} %p1, <A>, <B>; selp.b32 {result}, 1, 0, %p1;{widen}",
                    f.bits,
                    lambda a, b, c, test=test: exact.compare(f, test, a, b),
                )
            )
        for test, oracle in (
            ("finite", lambda x: not nan(x) and not f.is_infinite(x)),
            ("infinite", f.is_infinite),
            ("number", lambda x: not nan(x)),
            ("notanumber", nan),
            ("subnormal", lambda x: 0 < x & ~sign_bit < 1 << (f.precision - 1)),
        ):
            cases.append(
                Case(
                    f"testp.{test}.{t} %p1, <A>; selp.b32 {result}, 1, 0, %p1;{widen}",
                    f.bits,
                    lambda a, b, c, oracle=oracle: int(oracle(a)),
                )
            )
        return cases

    def test_selection_and_comparison_of_f32(self):
        self.check(F32, self.others(F32))

    def test_selection_and_comparison_of_f64(self):
        self.check(F64, self.others(F64))

    def conversions(self, f):
        t, cases = f"f{f.bits}", []
        to_d = {(32, 32): "<D>", (64, 64): "<D>", (32, 64): "%rd31", (64, 32): "%r31"}
        for mode in self.MODES:
            for kind in ("s", "u"):
                for bits in (32, 64):
                    target = to_d[f.bits, bits]
                    fold = {
                        "%rd31": " mov.b64 {%r41, %r42}, %rd31; xor.b32 <D>, %r41, %r42;",
                        "%r31": " cvt.u64.u32 <D>, %r31;",
                    }.get(target, "")
                    oracle = lambda a, b, c, mode=mode, bits=bits, kind=kind: exact.to_integer(
                        f, a, mode, bits, kind == "s"
                    )
                    if target == "%rd31":
                        oracle = lambda a, b, c, o=oracle: (lambda x: (x ^ x >> 32) & 0xFFFFFFFF)(o(a, b, c))
                    cases.append(Case(f"cvt.{mode}i.{kind}{bits}.{t} {target}, <A>;{fold}", f.bits, oracle))
            cases.append(
                Case(f"cvt.{mode}i.{t}.{t} <R>, <A>;", f.bits, lambda a, b, c, mode=mode: exact.to_integral(f, a, mode))
            )
        return cases

    def test_conversions_from_f32(self):
        widen = Case(
            "cvt.f64.f32 %fd31, <A>; mov.b64 {%r41, %r42}, %fd31; mov.b32 <D>, %r42;",
            32,
            lambda a, b, c: NAN if F32.is_nan(a) else exact.convert(F32, F64, a) >> 32,
        )
        self.check(F32, self.conversions(F32) + [widen])

    def test_conversions_from_f64(self):
        narrow = [
            Case(
                f"cvt.{mode}.f32.f64 %f31, <A>; mov.b32 %r31, %f31; cvt.u64.u32 <D>, %r31;",
                64,
                lambda a, b, c, mode=mode: 0x7FC00000 if F64.is_nan(a) else exact.convert(F64, F32, a, mode),
            )
            for mode in self.MODES
        ]
        triples = [t for t in self.triples(F64)]
        cases = self.conversions(F64)
        self.check(F64, cases)
        finite = [tuple(x if not F64.is_nan(x) else 0 for x in t) for t in triples]
        # numbers in the range of f32, where the rounding shows
        generator = random.Random(5)
        near = [
            ((generator.randrange(870, 1160) << 52) | generator.getrandbits(52), 0, 0) for _ in range(THREADS - 100)
        ]
        run(self, narrow, "%fd", (finite[:100] + near)[:THREADS])

    def test_integers_to_floats(self):
        for bits in (32, 64):
            cases = []
            for f in (F32, F64):
                for kind in ("s", "u"):
                    for mode in self.MODES:
                        register = f"%f{'d' if f.bits == 64 else ''}31"
                        oracle = lambda a, b, c, f=f, kind=kind, mode=mode: f.round(
                            exact.Fraction(sign(a, bits) if kind == "s" else a), mode
                        )
                        take = {
                            (32, 32): f" mov.b32 <D>, {register};",
                            (64, 64): f" mov.b64 <D>, {register};",
                            (32, 64): f" mov.b32 %r41, {register}; cvt.u64.u32 <D>, %r41;",
                            (64, 32): f" mov.b64 {{%r41, %r42}}, {register}; xor.b32 <D>, %r41, %r42;",
                        }[f.bits, bits]
                        if (f.bits, bits) == (64, 32):
                            oracle = lambda a, b, c, o=oracle: (lambda x: (x ^ x >> 32) & 0xFFFFFFFF)(o(a, b, c))
                        cases.append(Case(f"cvt.{mode}.f{f.bits}.{kind}{bits} {register}, <A>;{take}", bits, oracle))
            top = 1 << (bits - 1)
            edges = [0, 1, 2, top - 1, top, top + 1, 2 * top - 1, (1 << 24) + 1, (1 << 25) + 3, (1 << 24) - 1, 1 << 31]
            triples = [tuple(x & (2 * top - 1) for x in t) for t in triples_of(edges, bits, 9)]
            run(self, cases, "%r" if bits == 32 else "%rd", triples)


class Memory(unittest.TestCase):
    """Loads and stores of every width in every space: 32 bytes of p go through a place of that space to q."""

    def check(self, body, want, declarations=""):
        data = bytes((7 * i + 129) & 255 for i in range(32))
        text = f"""{declarations}
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
{body}"""
        ptx = harness.ptx_function(text, ".param .u64 p, .param .u64 q")
        result = harness.run_kernel(ptx, "k", [data, bytes(64)], block=(1,), PTX_CHECK="2")
        self.assertEqual((result.error, result.messages), (0, ""))
        self.assertEqual(result.arrays[1][: len(want(data))], want(data), body)

    def test_narrow_loads_fill_the_register_by_zero_or_sign(self):
        for kind, size in (("u8", 1), ("s8", 1), ("b8", 1), ("u16", 2), ("s16", 2), ("u32", 4), ("s32", 4)):
            sign_of = {"signed": kind[0] == "s"}
            self.check(
                f"ld.global.{kind} %rd3, [%rd1+8]; st.global.u64 [%rd2], %rd3;",
                lambda d: int.from_bytes(d[8 : 8 + size], "little", **sign_of).to_bytes(8, "little", **sign_of),
            )

    def test_narrow_stores_leave_the_neighbours(self):
        self.check(
            "ld.global.u32 %r1, [%rd1]; st.global.u8 [%rd2+2], %r1; st.global.u16 [%rd2+4], %r1;",
            lambda d: bytes([0, 0, d[0], 0, d[0], d[1], 0, 0]),
        )

    def test_vectors_keep_their_order(self):
        for kind, count, register, size in (
            ("f32", 4, "%f", 4),
            ("b32", 2, "%r", 4),
            ("f64", 2, "%fd", 8),
            ("u8", 4, "%h", 1),
            ("b16", 4, "%h", 2),
        ):
            names = [f"{register}{i + 3}" for i in range(count)]
            self.check(
                f"ld.global.v{count}.{kind} {{{', '.join(names)}}}, [%rd1]; "
                f"st.global.v{count}.{kind} [%rd2], {{{', '.join(reversed(names))}}};",
                lambda d: b"".join(d[size * i : size * i + size] for i in reversed(range(count))),
            )

    def through(self, space, place, declarations):
        self.check(
            f"""{place}
ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%rd1];
st.{space}.v2.b32 [%rd5+8], {{%r1, %r2}}; st.{space}.b64 [%rd5+24], %rd1; st.{space}.u32 [%rd5+20], %r4;
cvta.{space}.u64 %rd6, %rd5; add.s64 %rd6, %rd6, 8;
ld.u64 %rd7, [%rd6]; st.global.u64 [%rd2], %rd7; ld.{space}.u32 %r5, [%rd5+20]; st.global.u32 [%rd2+8], %r5;
cvta.to.{space}.u64 %rd8, %rd6; ld.{space}.u32 %r6, [%rd8+4]; st.global.u32 [%rd2+12], %r6;""",
            lambda d: d[:8] + d[12:16] + d[4:8],
            declarations,
        )

    def test_generic_and_named_addresses_meet_in_local_memory(self):
        self.through("local", "mov.u64 %rd5, depot;", ".local .align 16 .b8 depot[32];")

    def test_generic_and_named_addresses_meet_in_shared_memory(self):
        self.through("shared", "mov.u32 %r9, window; cvt.u64.u32 %rd5, %r9;", ".shared .align 16 .b8 window[32];")

    def test_spaces_are_told_apart(self):
        self.check(
            """mov.u64 %rd5, depot; cvta.local.u64 %rd6, %rd5;
isspacep.local %p1, %rd6; isspacep.global %p2, %rd6; isspacep.global %p3, %rd2; isspacep.shared %p4, %rd2;
selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 1, 0, %p2; selp.b32 %r3, 1, 0, %p3; selp.b32 %r4, 1, 0, %p4;
st.global.v4.u32 [%rd2], {%r1, %r2, %r3, %r4};""",
            lambda d: struct.pack("<4I", 1, 0, 1, 0),
            ".local .align 8 .b8 depot[8];",
        )

    def test_guards_skip(self):
        self.check(
            """ld.global.u8 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 129; mov.u32 %r2, 5;
@!%p1 mov.u32 %r2, 6; @%p1 st.global.u32 [%rd2], %r2; @!%p1 st.global.u32 [%rd2+4], %r2;""",
            lambda d: struct.pack("<2I", 5, 0),
        )

    def test_a_branch_table_goes_to_its_entry(self):
        self.check(
            """ld.global.u8 %r1, [%rd1]; sub.s32 %r1, %r1, 127;
T: .branchtargets L0, L1, L2;
brx.idx %r1, T;
L0: mov.u32 %r2, 10; bra E;
L1: mov.u32 %r2, 11; bra E;
L2: mov.u32 %r2, 12;
E: st.global.u32 [%rd2], %r2;""",
            lambda d: struct.pack("<I", 12),
        )

    def test_initial_values_of_variables_are_there(self):
        ptx = harness.ptx_function(
            """ld.param.u64 %rd2, [q]; ld.global.u64 %rd3, [pointer];
ld.u32 %r1, [%rd3]; ld.const.u8 %r2, [bytes+2];
st.global.v2.u32 [%rd2], {%r1, %r2};""",
            ".param .u64 p, .param .u64 q",
        )
        ptx = ptx.replace(
            ".visible .entry",
            """.global .align 4 .u32 words[3] = {7, 0x1f, 9};
.global .align 8 .u64 pointer[1] = {generic(words)+4};
.const .align 1 .b8 bytes[4] = {1, 2, 200};
.visible .entry""",
        )
        result = harness.run_kernel(ptx, "k", [bytes(8), bytes(8)], block=(1,))
        self.assertEqual((result.error, result.arrays[1]), (0, struct.pack("<2I", 0x1F, 200)), result.messages)


if __name__ == "__main__":
    unittest.main()
