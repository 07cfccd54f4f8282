"""Every page of lab/results has a command that exists, and the pages of docs have no tables of measured figures."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))
import results  # noqa: E402

# Tables of numbers that no machine changes: (page, first column): what they are.
CONSTANTS = {
    ("cli.md", "option"): "defaults",
    ("contact_law.md", "region"): "regions",
    ("factor.md", "row"): "an example of a pattern",
    ("factor.md", "scene"): "numbers of entries of matrices",
    ("joints.md", "type"): "columns of joints",
    ("model.md", "joint type"): "numbers of joint types",
    ("model.md", "type"): "numbers of shape types",
    ("options.md", "option"): "defaults",
    ("scene.md", "key"): "defaults",
    ("sleep.md", "unit"): "values of a flag",
    ("solve.md", "line search"): "tolerances",
    ("tasks.md", "task"): "sizes of spaces",
    ("trig.md", "range"): "errors of sine and cosine over every number",
}
FIGURE = re.compile(r"^[~+-]?\d[\d.,e+-]*( ?(%|k|M|G|x|us|ms|s|ns|kB|MB|GB|mm|times))?$")


def tables(text):
    """[(header cells, [row cells])] of a page."""
    found = re.findall(r"^(\|.*)\n\|[ -|]+\n((?:\|.*\n)*)", text + "\n", re.M)
    split = lambda line: [cell.strip() for cell in line.strip().strip("|").split(" | ")]  # noqa: E731
    return [(split(header), [split(row) for row in rows.splitlines()]) for header, rows in found]


def is_measured(rows):
    """More than half of the cells after the first column are single figures."""
    cells = [cell for row in rows for cell in row[1:] if cell]
    return bool(cells) and 2 * sum(all(FIGURE.match(part) for part in cell.split(", ")) for cell in cells) > len(cells)


class Results(unittest.TestCase):
    def test_every_page_was_written_by_its_command(self):
        pages = [page for page in results.PAGES.glob("*.md") if page.name != "README.md"]
        self.assertGreater(len(pages), 5)
        for page in pages:
            with self.subTest(page.name):
                title, command = results.RESULTS[page.stem]
                lines = page.read_text().splitlines()
                self.assertEqual(lines[0], f"# {title}")
                self.assertEqual(lines[2], f"Written by `lab/results.py {page.stem}`, which runs `{command}`.")
                self.assertRegex(lines[3], r"^Commit [0-9a-f]{7,}, \d{4}-\d\d-\d\d, \d+ CPUs of .+\.$")

    def test_every_command_exists(self):
        for name, (_, command) in results.RESULTS.items():
            words = command.split()
            program = next(word for word in words if "/" in word)
            with self.subTest(name):
                self.assertTrue(program.startswith("build/release/") or (ROOT / program).is_file(), program)

    def test_the_documentation_has_no_tables_of_measured_figures(self):
        for page in sorted((ROOT / "docs").glob("*.md")):
            for header, rows in tables(page.read_text()):
                if is_measured(rows) and (page.name, header[0]) not in CONSTANTS:
                    with self.subTest(f"{page.name}: {header}"):
                        self.fail("figures of one machine belong into lab/results")

    def test_a_table_of_figures_is_recognised(self):
        ((header, rows),) = tables(
            "| case | us | gain |\n| --- | --- | --- |\n| a | 12.5 us | 3.1x |\n| b | 7 | 1e-3 |\n"
        )
        self.assertEqual(header, ["case", "us", "gain"])
        self.assertTrue(is_measured(rows))
        self.assertFalse(is_measured([["a", "meaning", "1"], ["b", "other", "text"]]))


if __name__ == "__main__":
    unittest.main()
