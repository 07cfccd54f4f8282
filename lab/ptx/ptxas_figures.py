"""Registers, stack, spills and code size of every kernel and architecture, as ptxas reports them: budgets and a table.

    ptxas_figures.py BUDGETS CUBIN...         each CUBIN with the output of `ptxas -v` beside it, in CUBIN.log
    ptxas_figures.py --markdown FOLDER        prints the figures of the cubins of FOLDER as a table (make ptxas-table)

A line of BUDGETS is: kernel, most registers, most bytes of stack, of spill stores, of static shared memory and of code
(kB); '#' begins a comment. A kernel above its budget, without one, or missing from an architecture is an error.
"""

import pathlib
import re
import struct
import sys

COLUMNS = ("registers", "stack", "spill", "shared", "code")  # bytes, code in kB
NAMES = {
    "registers": "registers",
    "stack": "bytes of stack",
    "spill": "bytes of spill stores",
    "shared": "bytes of static shared memory",
    "code": "kB of code",
}


def read_log(text):
    """{(kernel, architecture): figures}, from the output of ptxas -v. Functions are reported after the kernel that
    calls them."""
    figures, current, compiling = {}, None, None
    for line in text.splitlines():
        if found := re.search(r"Compiling entry function '(\w+)' for '(sm_\w+)'", line):
            compiling = found.groups()
            current = figures[compiling] = dict.fromkeys(COLUMNS, 0)
        elif found := re.search(r"(\d+) bytes spill stores", line):
            if current is None:
                raise ValueError("spills before the first kernel: not an output of ptxas -v?")
            current["spill"] += int(found[1])
        elif found := re.search(r"Used (\d+) registers", line):
            current["registers"] = int(found[1])
            for key, pattern in (("stack", r"(\d+) bytes cumulative stack"), ("shared", r"(\d+) bytes smem")):
                if found := re.search(pattern, line):
                    current[key] = int(found[1])
    return figures


def section_sizes(data):
    """{name: bytes} of the sections of an ELF file of 64 bits."""
    if data[:5] != b"\x7fELF\x02":
        raise ValueError("not an ELF file of 64 bits")
    (table,) = struct.unpack_from("<Q", data, 40)
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * entry) for i in range(count)]
    start = headers[names][4]
    return {data[start + h[0] : data.index(b"\0", start + h[0])].decode(): h[5] for h in headers}


def read_cubin(path):
    with open(path + ".log") as file:
        figures = read_log(file.read())
    with open(path, "rb") as file:
        sizes = section_sizes(file.read())
    for (kernel, _), of in figures.items():
        of["code"] = (sizes[".text." + kernel] + 1023) // 1024
    return figures


def read_budgets(path):
    budgets = {}
    with open(path) as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                budgets[words[0]] = dict(zip(COLUMNS, map(int, words[1:]), strict=True))
    return budgets


def judge(figures, budgets):
    """The complaints, as lines of text."""
    for (kernel, architecture), of in sorted(figures.items()):
        if kernel not in budgets:
            yield f"{kernel} has no budget"
            continue
        for key in COLUMNS:
            if of[key] > budgets[kernel][key]:
                yield f"{kernel} for {architecture}: {of[key]} {NAMES[key]}; its budget is {budgets[kernel][key]}"
    for kernel in budgets:
        for architecture in sorted({a for _, a in figures}):
            if (kernel, architecture) not in figures:
                yield f"{kernel} has a budget, but {architecture} has no such kernel"


def table_rows(figures):
    rows = [("kernel", "architecture", *COLUMNS)]
    by_number = sorted(figures.items(), key=lambda item: (item[0][0], int(re.search(r"\d+", item[0][1])[0])))
    return rows + [(k, a, *(str(of[c]) for c in COLUMNS)) for (k, a), of in by_number]


def text_table(figures):
    return "\n".join("%-28s %-12s" % row[:2] + "".join("%10s" % c for c in row[2:]) for row in table_rows(figures))


def markdown_table(figures):
    rows = table_rows(figures)
    rows.insert(1, ("---",) * len(rows[0]))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main(arguments):
    markdown = arguments[:1] == ["--markdown"]
    budgets, *cubins = arguments
    if markdown:
        cubins = map(str, pathlib.Path(arguments[1]).glob("*.cubin"))
    figures = {}
    for path in cubins:
        figures.update(read_cubin(path))
    if not figures:
        sys.exit("ptxas_figures: no kernels found")
    if markdown:
        print(markdown_table(figures))
        return 0
    print(text_table(figures))
    complaints = list(judge(figures, read_budgets(budgets)))
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
