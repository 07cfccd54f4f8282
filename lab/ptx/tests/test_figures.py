"""What ptxas_figures.py reads out of ptxas -v, and what it complains about."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import ptxas_figures  # noqa: E402

LOG = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'fast' for 'sm_80'
ptxas info    : Function properties for fast
    528 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 100 registers, used 1 barriers, 528 bytes cumulative stack size, 64 bytes smem, 2888 bytes cmem[0]
ptxas info    : Function properties for callee
    0 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Compiling entry function 'small' for 'sm_80'
ptxas info    : Function properties for small
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 20 registers, used 0 barriers
"""
WITHIN = {
    "fast": dict(registers=100, stack=528, spill=12, shared=64, code=0),
    "small": dict(registers=20, stack=0, spill=0, shared=0, code=0),
}


class Figures(unittest.TestCase):
    def setUp(self):
        self.figures = ptxas_figures.read_log(LOG)

    def complaints(self, **budget_of_fast):
        budgets = {**WITHIN, "fast": {**WITHIN["fast"], **budget_of_fast}}
        return list(ptxas_figures.judge(self.figures, budgets))

    def test_spills_of_called_functions_are_the_kernels(self):
        self.assertEqual(self.figures["fast", "sm_80"], WITHIN["fast"])
        self.assertEqual(self.figures["small", "sm_80"], WITHIN["small"])

    def test_what_is_within_its_budget_is_not_complained_about(self):
        self.assertEqual(self.complaints(), [])

    def test_one_more_than_the_budget_is_told_with_kernel_figure_and_budget(self):
        for key, value in WITHIN["fast"].items():
            if value:
                with self.subTest(key):
                    (complaint,) = self.complaints(**{key: value - 1})
                    self.assertIn("fast for sm_80: %d " % value, complaint)
                    self.assertTrue(complaint.endswith("its budget is %d" % (value - 1)))

    def test_a_kernel_without_a_budget_and_a_budget_without_a_kernel_are_errors(self):
        budgets = {"fast": WITHIN["fast"], "gone": WITHIN["small"]}
        self.assertEqual(
            list(ptxas_figures.judge(self.figures, budgets)),
            ["small has no budget", "gone has a budget, but sm_80 has no such kernel"],
        )

    def test_the_table_has_a_row_per_kernel_and_architecture(self):
        rows = ptxas_figures.markdown_table(self.figures).splitlines()
        self.assertEqual(
            rows[2:], ["| fast | sm_80 | 100 | 528 | 12 | 64 | 0 |", "| small | sm_80 | 20 | 0 | 0 | 0 | 0 |"]
        )


if __name__ == "__main__":
    unittest.main()
