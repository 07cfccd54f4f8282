"""The clocks that cost.py gives a basic block, and what roofline.py complains about."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import roofline  # noqa: E402
from translator.cost import block_cost  # noqa: E402
from translator.parse import parse  # noqa: E402

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry f() {\n.reg .f32 %f<9>;\n.reg .f64 %fd<9>;\n.reg .b64 %rd<9>;\n"


def cost(*instructions):
    function = parse(HEAD + "\n".join(i + ";" for i in instructions) + "\n}\n").functions["f"]
    return block_cost([s for s in function.body if s.kind == "instruction"])


class Cost(unittest.TestCase):
    def test_a_result_is_waited_for_where_it_is_needed(self):
        self.assertEqual(cost("add.f32 %f1, %f2, %f3", "add.f32 %f4, %f1, %f3"), (6, 2))
        self.assertEqual(cost("add.f32 %f1, %f2, %f3", "add.f32 %f4, %f2, %f3"), (2, 2))

    def test_independent_loads_overlap_and_dependent_ones_do_not(self):
        self.assertEqual(
            cost("ld.shared.f32 %f1, [%rd1]", "ld.shared.f32 %f2, [%rd1+4]", "add.f32 %f3, %f1, %f2"), (28, 3)
        )
        self.assertEqual(cost("ld.u64 %rd2, [%rd1]", "ld.f32 %f1, [%rd2]", "add.f32 %f3, %f1, %f1"), (71, 3))

    def test_a_division_takes_the_slots_of_its_expansion(self):
        self.assertEqual(cost("div.rn.f64 %fd1, %fd2, %fd3", "add.f64 %fd4, %fd1, %fd1")[1], 17)

    def test_moves_are_free_and_pass_the_wait_on(self):
        self.assertEqual(cost("ld.shared.f32 %f1, [%rd1]", "mov.f32 %f2, %f1", "add.f32 %f3, %f2, %f2"), (27, 2))

    def test_a_load_that_misses_takes_longer_unless_it_is_of_shared_memory(self):
        for load, near, far in (("ld.local.f32", 34, 241), ("ld.f32", 36, 241), ("ld.shared.f32", 27, 27)):
            code = parse(HEAD + f"{load} %f1, [%rd1]; add.f32 %f2, %f1, %f1;\n}}\n").functions["f"]
            statements = [s for s in code.body if s.kind == "instruction"]
            self.assertEqual((block_cost(statements)[0], block_cost(statements, is_far=True)[0]), (near, far))


class Misses(unittest.TestCase):
    """A thread that reads 3 words over and over, and one of 1000 words each."""

    def counts(self, *distances):
        bins = [0] * 16
        for distance in distances:
            bins[min(distance.bit_length(), 15)] += 1
        launch = dict(
            kernel="step",
            block=[1, 32, 1],
            shared=0,
            grid=[1, 1, 1],
            warp_instructions=32,
            thread_instructions=32,
            warp_clocks=320,
            warp_far_clocks=3200,
            warp_issue=32,
            instructions={},
            bytes={},
            touched_issue=1,
            local_reuse=dict(load=bins, store=[0] * 16),
        )
        return roofline.Counts([launch], 32)

    def test_a_cache_has_the_words_that_were_used_last(self):
        counts = self.counts(2, 2, 999, 999, 999)
        self.assertEqual([counts.misses("load", words) for words in (1, 4, 512, 1024, 4096)], [5, 3, 3, 0, 0])

    def test_a_first_access_misses_every_cache(self):
        self.assertEqual(self.counts(1 << 30).misses("load", 1 << 14), 1)

    def test_loads_that_miss_take_longer(self):
        counts = self.counts(2, 999)
        self.assertEqual(counts.cycles(1024, 1024), counts.cycles())
        self.assertGreater(counts.cycles(512, 1024), counts.cycles(1024, 1024))
        self.assertGreater(counts.cycles(512, 512), counts.cycles(512, 1024))


class Rows(unittest.TestCase):
    def test_a_row_has_what_a_kernel_executes_and_needs_and_a_prediction_for_every_gpu(self):
        names = (
            "scene",
            "preset",
            "worlds",
            "load",
            "kernel",
            "warp_instructions",
            "active_lanes",
            "cycles",
            "scratch_bytes",
            "touched_code_bytes",
            "registers",
            "spill_bytes",
            "stack_bytes",
            "launches",
            "contact_slots",
            "predicted",
        )
        case, kernel = ("quadruped", "approx32", "moving", "thread", "0"), "sap_kernel_step_thread_approx32"
        figures = {(kernel, gpu["code"]): dict(registers=128, spill=8, stack=64) for gpu in roofline.GPUS.values()}
        report = dict(coordinates=19, dofs=18, bodies=13, contact_slots=16)
        rows = list(roofline.rows_of(case, {kernel: Misses().counts(2, 999)}, report, figures))
        self.assertEqual([row["worlds"] for row in rows], [4096, 65536])
        for row in rows:
            self.assertEqual([name for name in names if name not in row], [])
            self.assertEqual(list(row["predicted"]), ["A100", "H100", "RTX 4090", "B200"])
            self.assertTrue(all(rate > 0 for rate in row["predicted"].values()))


class Budgets(unittest.TestCase):
    key = ("quadruped", "approx32", "settled", "sap_kernel_step")
    row = dict(
        scene=key[0],
        preset=key[1],
        load=key[2],
        kernel=key[3],
        warp_instructions=100,
        cycles=200,
        scratch_bytes=300,
        touched_code_bytes=400,
    )

    def test_what_is_within_its_budget_is_not_complained_about(self):
        self.assertEqual(list(roofline.judge([self.row], {self.key: (100, 200, 300, 400)})), [])

    def test_each_figure_above_its_budget_is_told(self):
        for i, name in enumerate(roofline.BUDGETED):
            most = [100, 200, 300, 400]
            most[i] -= 1
            (complaint,) = roofline.judge([self.row], {self.key: tuple(most)})
            self.assertIn(f"{name} is {most[i] + 1}; its budget is {most[i]}", complaint)

    def test_a_kernel_without_a_budget_and_a_budget_without_a_kernel_are_errors(self):
        other = self.key[:3] + ("gone",)
        complaints = list(roofline.judge([self.row], {other: (1, 1, 1, 1)}))
        self.assertEqual(
            complaints,
            [
                "quadruped approx32 settled gone has a budget, but was not counted",
                "quadruped approx32 settled sap_kernel_step has no budget",
            ],
        )


if __name__ == "__main__":
    unittest.main()
