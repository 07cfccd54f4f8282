"""Every form of arithmetic instruction of the kernels is one that a GPU is tested for (src/host/cuda/device_test.c).

test_forms.py FILE.ptx ...
"""

import re
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3] / "src" / "host" / "cuda" / "device_test.c"
# Not arithmetic: memory, control, moves between registers, and what threads tell each other.
OTHERS = (
    "ld",
    "ldu",
    "st",
    "mov",
    "cvta",
    "bra",
    "brx",
    "call",
    "ret",
    "exit",
    "bar",
    "barrier",
    "trap",
    "membar",
    "fence",
    "shfl",
    "vote",
    "match",
    "activemask",
    "atom",
    "red",
)
FILES = []


def tested_forms():
    """The names in the macro FORMS, written out or in lists of forms for a type."""
    text = re.sub(r"\\\n", " ", SOURCE.read_text())
    lists = {
        name: re.findall(r'X\("([^"]+)" type', body)
        for name, body in re.findall(r"#define (\w+_FORMS)\(X, type,[^)]*\)(.*)", text)
    }
    body = re.search(r"#define FORMS\(X\)(.*)", text).group(1)
    forms = set(re.findall(r'\bX\("([^"]+)",', body))
    for name, kind in re.findall(r'(\w+_FORMS)\(X, "(\w+)"', body):
        forms |= {prefix + kind for prefix in lists[name]}
    return forms


def used_forms(text):
    names = set(re.findall(r"^\s+(?:@!?%p\d+ )?([a-z]\w*(?:\.[\w:]+)+)\s", text, re.M))
    return {name for name in names if name.split(".")[0] not in OTHERS}


class Forms(unittest.TestCase):
    def test_the_lists_are_read(self):
        forms = tested_forms()
        self.assertGreater(len(forms), 100)
        self.assertLessEqual(
            {"fma.rn.f32", "fma.rn.f64", "setp.geu.f32", "and.pred", "cvt.rzi.s32.f64", "bfi.b32"}, forms
        )

    def test_every_form_of_the_kernels_is_tested(self):
        for path in FILES:
            missing = used_forms(Path(path).read_text()) - tested_forms()
            self.assertEqual(missing, set(), f"{path} has instructions that sap_device_test does not know")


if __name__ == "__main__":
    FILES = [argument for argument in sys.argv[1:] if argument.endswith(".ptx")]
    unittest.main(argv=[argument for argument in sys.argv if argument not in FILES])
