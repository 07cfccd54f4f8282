"""The translator refuses what it does not know, and says where."""

import re
import unittest
from unittest import mock

import harness
from translator.audit import audit
from translator.module import ModuleEmitter
from translator.parse import parse
from translator.types import PtxError


def translate(body, **options):
    return ModuleEmitter(harness.ptx_function(body, **options))


class Refusals(unittest.TestCase):
    def check(self, body, *words):
        with self.assertRaises(PtxError) as caught:
            translate(body)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_an_unknown_instruction_is_named_with_its_line(self):
        self.check("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned", "line 7")

    def test_an_unknown_modifier_is_named(self):
        self.check("add.relu.f32 %f1, %f2, %f3;", ".relu", "add.relu.f32")

    def test_an_unknown_type_is_named(self):
        self.check("add.f16 %h1, %h2, %h3;", ".f16")

    def test_an_unknown_register_is_named(self):
        self.check("add.s32 %r1, %x2, 1;", "%x2")

    def test_asynchronous_copies_are_refused(self):
        self.check("cp.async.ca.shared.global [%r1], [%rd1], 4;", "cp.async")

    def test_an_access_past_a_parameter_is_refused(self):
        self.check("ld.param.u64 %rd1, [p+4];", "p has 8 bytes")

    def test_a_register_too_narrow_is_refused(self):
        self.check("ld.global.u64 %r1, [%rd1];", "%r1")

    def test_an_unknown_directive_is_refused(self):
        self.check(".unheard_of 3;", ".unheard_of")


class Parsing(unittest.TestCase):
    def test_lines_and_source_locations_are_kept(self):
        text = harness.ptx_function(
            ".loc 1 42 0\nadd.s32 %r1, %r2, 3;\n"
            ".loc 1 42 3, function_name $f, inlined_at 7 12 1\nsub.s32 %r1,\n  %r2, 3;"
        )
        body = [s for s in parse(text).functions["k"].body if s.kind == "instruction"]
        self.assertEqual(
            [(s.name, s.line, s.location) for s in body[:2]], [("add", 8, (1, 42, 0, 0)), ("sub", 10, (1, 42, 7, 12))]
        )

    def test_comments_and_strings_do_not_end_statements(self):
        text = harness.ptx_function('/* ; { */ add.s32 %r1, %r2, 3; // }\n.pragma "no;unroll";')
        names = [s.name for s in parse(text).functions["k"].body if s.kind == "instruction"]
        self.assertEqual(names, ["add", "ret"])

    def test_labels_scopes_and_vectors_are_told_apart(self):
        text = harness.ptx_function("$L1:\n{ .reg .b32 t; mov.b64 {t, %r1}, %rd1; }\nbra $L1;")
        kinds = [s.kind for s in parse(text).functions["k"].body if s.kind != "registers"]
        self.assertEqual(kinds, ["label", "open", "instruction", "close", "instruction", "instruction"])


class Pieces(unittest.TestCase):
    """A long function is cut before labels. The loop below is: L1, in the first piece; L2 and L3, in the second."""

    BODY = """mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r6, 0;
$L1: add.s32 %r1, %r1, 1; mov.u32 %r3, %r1; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 7;
$L2: @%p1 mov.u32 %r4, 5; add.s32 %r6, %r6, 1; mov.u32 %r5, %r4; mov.u32 %r8, %r7; mov.u32 %r7, 1;
$L3: @%p1 bra $L1;"""

    def module(self):
        with mock.patch("translator.split.MAX_LINES", 10), mock.patch("translator.function.MAX_LINES", 10):
            return translate(self.BODY)

    def test_registers_whose_value_may_pass_a_label_are_shared(self):
        struct = self.module().declarations[0]
        shared = set(re.findall(r"r_(\w+);", struct))
        self.assertLessEqual({"r1", "p1", "r6"}, shared, "they are named after more than one label")
        self.assertLessEqual({"r4", "r7"}, shared, "they may keep what the last turn of the loop left")
        self.assertFalse({"r2", "r3", "r5", "r8"} & shared, "they are computed and used between two labels")

    def test_a_jump_to_another_piece_returns_its_place(self):
        code = {name: " ".join(lines) for name, lines in self.module().code.items()}
        self.assertEqual(sorted(code), ["k_k", "k_k_0", "k_k_1"])
        self.assertIn("switch (label) { case 1: goto L_SL1; }", code["k_k_0"])
        self.assertIn("return 65536u; }", code["k_k_0"])
        self.assertIn("return 1u; }", code["k_k_1"])
        self.assertNotIn("goto", code["k_k_1"])


class Audit(unittest.TestCase):
    def check(self, instruction, exact):
        rows = audit(harness.ptx_function(instruction + ";"))
        self.assertEqual([row[2] for row in rows], [exact], instruction)

    def test_rounded_instructions_are_exact(self):
        for text in (
            "add.rn.f32 %f1, %f2, %f3",
            "fma.rn.f64 %fd1, %fd2, %fd3, %fd4",
            "div.rn.f64 %fd1, %fd2, %fd3",
            "sqrt.rn.f32 %f1, %f2",
            "rcp.rn.f64 %fd1, %fd2",
            "cvt.rn.f32.f64 %f1, %fd2",
            "cvt.f64.f32 %fd1, %f1",
            "min.f32 %f1, %f2, %f3",
            "setp.lt.f32 %p1, %f1, %f2",
            "mul.rz.f32 %f1, %f2, %f3",
        ):
            self.check(text, True)

    def test_approximate_flushed_and_fusable_instructions_are_not(self):
        for text in (
            "div.approx.f32 %f1, %f2, %f3",
            "div.full.f32 %f1, %f2, %f3",
            "sqrt.approx.f32 %f1, %f2",
            "rsqrt.approx.f64 %fd1, %fd2",
            "add.rn.ftz.f32 %f1, %f2, %f3",
            "add.f32 %f1, %f2, %f3",
            "mul.f64 %fd1, %fd2, %fd3",
            "sin.approx.f32 %f1, %f2",
            "ex2.approx.ftz.f32 %f1, %f2",
            "rcp.approx.ftz.f64 %fd1, %fd2",
            "atom.global.add.f32 %f1, [%rd1], %f2",
        ):
            self.check(text, False)

    def test_integer_instructions_are_not_listed(self):
        self.assertEqual(audit(harness.ptx_function("add.s32 %r1, %r2, 1;")), [])


if __name__ == "__main__":
    unittest.main()
