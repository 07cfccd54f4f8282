"""Small CUDA kernels (kernels/blocks.cu) give what Python computes, for both of nvcc's code generators and in any order
of threads."""

import math
import random
import struct
import unittest

import harness

SOURCE = (harness.HERE / "kernels" / "blocks.cu").read_text()
ORDERS = ("forward", "reverse", "random:1")


def ints(values):
    return struct.pack(f"<{len(values)}i", *values)


def wrap(x):
    return (x + 2**31) % 2**32 - 2**31


def random_ints(n, seed=1):
    generator = random.Random(seed)
    return [generator.randrange(-50, 51) for _ in range(n)]


@harness.needs_nvcc
class Kernels(unittest.TestCase):
    def each(self, kernel, arrays, scalars, read, want, **shape):
        for arch in harness.ARCHITECTURES:
            for order in ORDERS:
                with self.subTest(arch=arch, order=order):
                    ptx = harness.compile_cuda(SOURCE, arch)
                    result = harness.run_kernel(
                        ptx, kernel, arrays, scalars, PTX_CHECK="2", PTX_ORDER=order, PTX_LEAKS="fail", **shape
                    )
                    self.assertEqual((result.error, result.messages), (0, ""))
                    self.assertEqual(list(read(result.arrays)), want)

    def test_a_scan_of_blocks_of_several_warps(self):
        values, want = random_ints(3 * 96), []
        for block in range(3):
            total = 0
            for x in values[96 * block : 96 * block + 96]:
                total += x
                want.append(total)
        self.each(
            "scan",
            [ints(values), bytes(4 * 288)],
            [96],
            lambda a: struct.unpack("<288i", a[1]),
            want,
            grid=(3,),
            block=(96,),
            shared=4 * 96,
        )

    def test_a_cholesky_factor_has_the_bits_of_the_same_sums_in_order(self):
        n, generator = 9, random.Random(2)
        half = [[generator.uniform(-1, 1) for _ in range(n)] for _ in range(n)]
        A = [[sum(half[i][k] * half[j][k] for k in range(n)) + (i == j) for j in range(n)] for i in range(n)]
        L = [row[:] for row in A]
        for k in range(n):
            L[k][k] = math.sqrt(L[k][k])
            for i in range(k + 1, n):
                L[i][k] /= L[k][k]
            for i in range(k + 1, n):
                for j in range(k + 1, i + 1):
                    L[i][j] = fma(-L[i][k], L[j][k], L[i][j])
        flat = [x for row in A for x in row]
        layout = f"<{n * n}d"
        self.each(
            "cholesky",
            [struct.pack(layout, *flat), bytes(8)],
            [n],
            lambda a: struct.unpack(layout, a[0]),
            [x for row in L for x in row],
            block=(8,),
            shared=8 * n * n,
        )

    def test_warps_shuffle_vote_match_and_reduce(self):
        values, want = random_ints(128, 3), []
        for first in range(0, 128, 32):
            v = values[first : first + 32]
            ballot = wrap(sum(1 << i for i in range(32) if v[i] > 0))
            for lane in range(32):
                same = wrap(sum(1 << i for i in range(32) if v[i] & 3 == v[lane] & 3))
                down = v[lane + 3] if lane % 8 + 3 < 8 else v[lane]
                want += [
                    sum(v),
                    sum(v[: lane + 1]),
                    v[lane // 4 * 4 + 2],
                    down,
                    ballot,
                    int(any(x > 40 for x in v)),
                    int(all(x > -60 for x in v)),
                    same,
                    min(v),
                ]
        self.each(
            "warps",
            [ints(values), bytes(4 * 9 * 128)],
            [0],
            lambda a: struct.unpack(f"<{9 * 128}i", a[1]),
            want,
            grid=(2,),
            block=(64,),
        )

    def test_atomics_count(self):
        values = random_ints(256, 4)
        bins, xor = [0] * 16, 0
        for x in values:
            bins[x & 15] += 1
            xor ^= x
        self.each(
            "histogram",
            [ints(values), bytes(80)],
            [0],
            lambda a: struct.unpack("<20i", a[1]),
            bins + [max(values + [0]), min(values + [0]), xor, 4],
            grid=(4,),
            block=(64,),
        )

    def test_functions_take_structs_recurse_and_use_local_memory(self):
        values, want = random_ints(32, 5), []
        for t, x in enumerate(values):
            p = [1.0 * x, 2.75, 4.5]
            ackermann = float(2 * (x & 3) + 3)
            want += [p[0] + p[1] * 8 + p[2] * 64 + 0.5 + (t + 2), ackermann, float(x * [3, 1, 4, 1][x & 3])]
        self.each("calls", [ints(values), bytes(8 * 96)], [0], lambda a: struct.unpack("<96d", a[1]), want)

    def test_a_parameter_of_kilobytes_is_read_by_address(self):
        for arch in harness.ARCHITECTURES:
            process = harness.run_isolated(BIG_PARAMETER, BIG_PTX=self.write(arch), PTX_CHECK="2")
            self.assertEqual(process.stdout.strip(), "ok", process.stderr)

    def write(self, arch):
        path = harness.WORK / f"blocks_{arch}.ptx"
        path.write_text(harness.compile_cuda(SOURCE, arch))
        return str(path)


BIG_PARAMETER = """
import ctypes, os, harness
class Big(ctypes.Structure):
    _fields_ = [('table', ctypes.c_int * 700), ('input', ctypes.c_uint64), ('output', ctypes.c_uint64)]
d = harness.Driver().start()
f = d.function(d.load(open(os.environ['BIG_PTX']).read()), 'big_parameter')
indices = d.upload((ctypes.c_int * 32)(*[7 * i % 700 for i in range(32)]))
big = Big((ctypes.c_int * 700)(*[i * i for i in range(700)]), indices.value, d.allocate(128).value)
d.launch(f, 1, 32, [big])
d.synchronize()
got = list(d.download(ctypes.c_uint64(big.output), ctypes.c_int, 32))
print('ok' if got == [(7 * i % 700)**2 + i * i for i in range(32)] else got)
"""


def fma(a, b, c):
    """Correctly rounded: Python has none before 3.13."""
    import exact

    bits = lambda x: struct.unpack("<Q", struct.pack("<d", x))[0]
    return struct.unpack("<d", struct.pack("<Q", exact.fma(exact.F64, bits(a), bits(b), bits(c))))[0]


if __name__ == "__main__":
    unittest.main()
