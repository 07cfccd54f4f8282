"""doc_links.py SOURCE_DIR: every relative link and #anchor of the documentation resolves, every source it names exists,
and every function that it names behind a source, as in `solve/solve.h: stage_solve`, is in that source.

Pages are the Markdown files of the root, docs, lab, tests, bench, examples and python. A source is a file name in
backticks: with a folder, such as `collide/shapes.h`, it is below one of ROOTS; without one, such as `lane.h`, anywhere
in the sources.
"""

import pathlib
import re
import sys

FOLDERS = ("docs", "lab", "tests", "bench", "examples", "python", "presets")
SOURCES = ("include", "src", "cmake", "scripts", *FOLDERS)
ROOTS = ("", "include", "src", "src/kernels", "src/host", "tests", "lab", "lab/ptx", "python", "python/tests")
EXTENSIONS = r"(?:h|c|cu|cuh|py|sh|cmake)"


def plain(text):
    """The text without code blocks, its lines kept."""
    return re.sub(r"^( *)```.*?^ *```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)


def slug(heading):
    """The anchor that GitHub gives a heading."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(page):
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", plain(page.read_text()), re.M):
        name, number = slug(heading), 0
        while (name if number == 0 else f"{name}-{number}") in found:
            number += 1
        found.add(name if number == 0 else f"{name}-{number}")
    return found


def broken_links(page, text):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"the link ({link}) leads to no file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"the link ({link}) leads to no heading"


def missing_sources(root, names, text):
    for quoted in re.findall(r"`([^`\n]+)`", text):
        for word in quoted.split():
            word = word.rstrip(":,;").split(":")[0]
            if not re.fullmatch(rf"(?:[\w.-]+/)*[a-z_][\w-]*\.{EXTENSIONS}", word):
                continue
            if word.startswith(("build/", "generated/", "/")):
                continue
            if not (any((root / top / word).exists() for top in ROOTS) if "/" in word else word in names):
                yield f"`{word}` is no file of the sources"


def missing_functions(root, text):
    for name, function in re.findall(rf"`((?:[\w.-]+/)+[a-z_][\w-]*\.{EXTENSIONS}): (\w+)`", text):
        sources = [root / top / name for top in ROOTS if (root / top / name).exists()]
        if sources and not any(re.search(rf"\b{function}\b", source.read_text()) for source in sources):
            yield f"`{name}` has no {function}"


def main(root):
    root = pathlib.Path(root)
    names = {path.name for folder in SOURCES for path in (root / folder).rglob("*.*")}
    pages = [*root.glob("*.md"), *(page for folder in FOLDERS for page in sorted((root / folder).rglob("*.md")))]
    complaints = 0
    for page in pages:
        text = plain(page.read_text())
        for complaint in [
            *broken_links(page, text),
            *missing_sources(root, names, text),
            *missing_functions(root, text),
        ]:
            print(f"{page.relative_to(root)}: {complaint}", file=sys.stderr)
            complaints += 1
    if len(pages) < 30:
        sys.exit(f"doc_links: only {len(pages)} pages found below {root}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
