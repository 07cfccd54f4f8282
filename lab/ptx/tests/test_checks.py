"""Planted mistakes are found, at the right line, and correct programs pass: kernels/bugs.cu. Also: the barriers of a
Cholesky factor are deleted one by one."""

import re
import struct
import unittest

import harness

SOURCE = (harness.HERE / "kernels" / "bugs.cu").read_text()
BLOCKS = (harness.HERE / "kernels" / "blocks.cu").read_text()
ILLEGAL_ADDRESS, ASSERT, MISALIGNED, LAUNCH_FAILED = 700, 710, 716, 719


def planted(kernel):
    """(line, words) of the mistake in a kernel."""
    lines = SOURCE.splitlines()
    first = next(i for i, text in enumerate(lines) if re.match(rf"KERNEL {kernel}\(", text))
    for i in range(first, len(lines)):
        match = re.search(r"// BUG (.*)", lines[i])
        if match:
            return i + 1, match.group(1)
    raise AssertionError(f"no mistake in {kernel}")


@harness.needs_nvcc
class Planted(unittest.TestCase):
    def launch(self, kernel, arch, n=4, threads=32, check="2", grid=1, **environment):
        ptx = harness.compile_cuda(SOURCE, arch)
        floats = struct.pack(f"<{threads}f", *range(threads))
        return harness.run_kernel(
            ptx,
            kernel,
            [floats],
            [n],
            grid=(grid,),
            block=(threads,),
            shared=4 * threads,
            PTX_CHECK=check,
            **environment,
        )

    def found(self, kernel, error, **options):
        line, words = planted(kernel)
        for arch in harness.ARCHITECTURES:
            with self.subTest(kernel=kernel, arch=arch):
                result = self.launch(kernel, arch, **options)
                self.assertEqual(result.error, error, result.messages)
                self.assertRegex(result.messages, rf"{kernel}: .*\.cu:{line}[ ,].*{words}")

    def passes(self, kernel, **options):
        for arch in harness.ARCHITECTURES:
            for order in ("forward", "reverse", "random:3"):
                with self.subTest(kernel=kernel, arch=arch, order=order):
                    result = self.launch(kernel, arch, PTX_ORDER=order, **options)
                    self.assertEqual((result.error, result.messages), (0, ""))

    def test_a_missing_block_barrier_is_a_race(self):
        self.found("reverse_without_barrier", LAUNCH_FAILED, threads=64)

    def test_a_write_after_a_read_is_a_race(self):
        self.found("write_after_read", LAUNCH_FAILED)

    def test_two_writes_of_a_word_are_a_race(self):
        self.found("write_twice", LAUNCH_FAILED)

    def test_a_missing_warp_barrier_is_a_race(self):
        self.found("neighbours_without_warp_barrier", LAUNCH_FAILED)

    def test_a_warp_barrier_does_not_order_what_comes_after_it(self):
        self.found("write_after_warp_barrier", LAUNCH_FAILED)

    def test_a_barrier_of_one_team_does_not_order_another(self):
        self.found("teams_that_look_over", LAUNCH_FAILED, n=8)

    def test_blocks_that_write_the_same_word_race(self):
        self.found("blocks_write_the_same_word", LAUNCH_FAILED, grid=3, threads=1)

    def test_barriers_of_blocks_warps_and_teams_order_accesses(self):
        self.passes("reverse_with_barrier", threads=64)
        self.passes("neighbours_with_warp_barrier", threads=64)
        for team in (4, 8, 16):
            self.passes("teams_with_barrier", n=team, threads=64)

    def test_atomics_do_not_race_with_each_other(self):
        self.passes("blocks_add_atomically", grid=3)

    def test_threads_that_have_ended_are_not_waited_for(self):
        self.passes("barrier_after_exit", n=5)

    def test_a_thread_may_wait_for_another(self):
        self.passes("waits_for_another_thread", check="1")

    def test_accesses_out_of_bounds_are_found_without_race_checks(self):
        for kernel in ("past_global", "null_pointer", "past_dynamic_shared", "past_local"):
            self.found(kernel, ILLEGAL_ADDRESS, n=0, check="1")
        self.found("past_static_shared", ILLEGAL_ADDRESS, n=64, check="1")

    def test_a_misaligned_access_is_found(self):
        self.found("misaligned", MISALIGNED, check="1")

    def test_a_read_of_shared_memory_never_written_is_found(self):
        self.found("unwritten_shared", LAUNCH_FAILED)

    def test_a_divergent_barrier_is_found(self):
        result = self.launch("barrier_in_both_branches", "80", n=4, check="1")
        self.assertEqual(result.error, LAUNCH_FAILED)
        self.assertIn("divergent barrier", result.messages)

    def test_a_deadlock_is_found(self):
        self.found("warp_waits_for_block", LAUNCH_FAILED, check="1")

    def test_wrong_masks_are_found(self):
        self.found("mask_without_self", LAUNCH_FAILED, check="1")
        self.found("shuffle_from_outside", LAUNCH_FAILED, check="1")

    def test_asserts_and_traps_end_a_launch(self):
        self.found("failing_assert", ASSERT, check="1")
        self.found("trapped", LAUNCH_FAILED, check="1")

    def test_a_read_of_global_memory_never_written_is_found(self):
        script = """
import ctypes, harness, pathlib
d = harness.Driver().start()
f = d.function(d.load(pathlib.Path({path!r}).read_text()), 'unwritten_global')
p = d.allocate(256)
try:
    d.launch(f, 1, 32, [ctypes.c_int(0), p]); d.synchronize()
except harness.CudaError as e:
    print(e.code)
"""
        path = harness.WORK / "unwritten.ptx"
        path.write_text(harness.compile_cuda(SOURCE, "80"))
        process = harness.run_isolated(script.format(path=str(path)), PTX_CHECK="2")
        self.assertEqual(process.stdout.strip(), str(LAUNCH_FAILED), process.stderr)
        self.assertIn("never written", process.stderr)


@harness.needs_nvcc
class DeletedBarriers(unittest.TestCase):
    """Each barrier of the Cholesky factor is needed, and its absence is seen, whatever the results."""

    def run_factor(self, source):
        n = 9
        matrix = [float(min(i, j) + 1 + (i == j)) for i in range(n) for j in range(n)]
        data = struct.pack(f"<{n * n}d", *matrix)
        return harness.run_kernel(
            harness.compile_cuda(source, "80"),
            "cholesky",
            [data, bytes(8)],
            [n],
            block=(8,),
            shared=8 * n * n,
            PTX_CHECK="2",
        )

    def test_each_deleted_barrier_is_a_race(self):
        start = BLOCKS.index("KERNEL cholesky")
        end = BLOCKS.index("KERNEL warps")
        source = BLOCKS[start:end]
        prefix = '#define KERNEL extern "C" __global__ void\n'
        self.assertEqual(self.run_factor(prefix + source).messages, "")
        barriers = [m.start() for m in re.finditer(r"__syncthreads\(\);", source)]
        self.assertEqual(len(barriers), 4)
        for place in barriers:
            mutant = source[:place] + " " * len("__syncthreads();") + source[place + len("__syncthreads();") :]
            result = self.run_factor(prefix + mutant)
            with self.subTest(line=source.count("\n", 0, place)):
                self.assertEqual(result.error, LAUNCH_FAILED)
                self.assertIn("race in shared memory", result.messages)


if __name__ == "__main__":
    unittest.main()
