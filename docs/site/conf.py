"""Settings of Sphinx for the site of the documentation (scripts/docs).

The sources are the pages of the repository where they are: README.md, docs and the README files of other folders. The
index is docs/README.md; its tables become the navigation. Sources that pages link to are part of the site.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
VERSION = re.findall(r"#define SAP_VERSION_\w+ (\d+)", (ROOT / "include/sapwood/export.h").read_text())

project = "Sapwood"
author = "the Sapwood authors"
copyright = "the Sapwood authors, Apache-2.0"
release = ".".join(VERSION)
version = release

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
root_doc = "docs/README"
include_patterns = ["*.md", "docs/**.md", "docs/site/*.rst", "*/README.md", "lab/**.md", "bench/**.md", "tests/**.md"]
exclude_patterns = ["build", ".github", "**.pytest_cache"]

html_theme = "furo"
html_title = f"Sapwood {release}"
html_theme_options = {"navigation_with_keys": True}
html_show_sourcelink = False

myst_enable_extensions = ["tasklist"]
myst_heading_anchors = 6
suppress_warnings = ["myst.header", "toc.not_included"]  # tables of results are reached by links

breathe_projects = {"sapwood": str(ROOT / "build/docs/xml")}
breathe_default_project = "sapwood"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
primary_domain = "c"

autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_mock_imports = [
    *("torch", "viser", "trimesh", "scipy", "mujoco", "coacd", "rsl_rl", "stable_baselines3", "torchrl", "tensordict"),
]


def toctree(caption, pages):
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"


def add_navigation(app, page, source):
    """Gives the index a table of contents: for each of its sections the pages in the first column of its tables."""
    if page != root_doc:
        return
    sections = re.split(r"^## (.+)$", source[0], flags=re.M)[1:]
    for title, text in zip(sections[::2], sections[1::2]):
        pages = re.findall(r"^\| (.+?) \|", text, flags=re.M)
        links = [link for cell in pages for link in re.findall(r"\]\(([^)#]+\.md)[^)]*\)", cell)]
        source[0] += toctree(title, dict.fromkeys(links))
    source[0] += toctree("Reference", ["site/python_api", "site/c_api"])


def as_table(rows):
    """Rows of a table in Markdown, as lines of reStructuredText."""
    cells = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in rows]
    header = len(rows) > 1 and set("".join(cells[1])) <= set("-: ")
    out = [".. list-table::", "   :header-rows: 1" if header else "", ""]
    for row in cells[:1] + cells[2:] if header else cells:
        out += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(row)]
    return [*out, ""]


def docstring(app, what, name, thing, options, lines):
    """Docstrings are plain text with names in backticks, tables in Markdown, and examples, indented or of doctest."""
    out, table, example = [], [], False
    for line in [*lines, ""]:
        if table and not table[-1].rstrip().endswith("|"):
            table[-1] += " " + line.strip()
            continue
        if line.startswith("| "):
            table.append(line)
            continue
        if table:
            out, table = [*out, "", *as_table(table)], []
        if line.startswith(("    ", ">>>")) and not example and (not out or out[-1] == ""):
            out, example = [*out, "::", ""], True
        elif line == "" or (example and not line.startswith("    ") and out[-1] == ""):
            example = example and line == "" and out[-1] != ""
        out.append(f"    {line}" if example and line else line)
    text = "\n".join(out)
    text = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", r"``\1``", text)
    parts = re.split(r"(``[^`]+``|^    .*$)", text, flags=re.M)
    parts[::2] = [re.sub(r"([*|]|_(?=\W|$))(?! -)", r"\\\1", part) for part in parts[::2]]
    lines[:] = "".join(parts).split("\n")


def setup(app):
    app.connect("source-read", add_navigation)
    app.connect("autodoc-process-docstring", docstring)
