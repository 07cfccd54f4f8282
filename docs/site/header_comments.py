"""header_comments.py HEADER: prints a public header with its comments marked for Doxygen.

The comments of the headers are plain text. The first one describes the file, one behind code belongs to that code, and
any other to what follows it.
"""

import re
import sys
from pathlib import Path


def marked(text: str, name: str) -> str:
    first = True

    def mark(match: re.Match[str]) -> str:
        nonlocal first
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        body = re.sub(r"([\\@<>&#%$])", r"\\\1", match.group(1))
        opening = f"/** \\file {name}\n *\n *" if first else "/**<" if line.strip() else "/**"
        first = False
        return f"{opening}{body}*/"

    return re.sub(r"/\*(.*?)\*/", mark, text, flags=re.S)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    print(marked(path.read_text(), path.name))
