"""PTX text -> Module: variables and functions, whose bodies are flat lists of statements.

A statement ends with `;`. A brace opens a scope if nothing stands before it, else it is part of an operand or an
initialiser. Line numbers are those of the text; `.loc` gives the line of CUDA source (nvcc -lineinfo).
"""

import re
from dataclasses import dataclass, field

from .types import TYPES, PtxError


@dataclass
class Variable:
    name: str
    space: str
    type: object
    count: int  # elements; 0 = of the size given at launch
    align: int
    init: str | None = None
    is_extern: bool = False

    @property
    def bytes(self):
        return self.type.bytes * self.count


@dataclass
class Statement:
    """kind: open, close, label, registers, variable, branch_targets, prototype, instruction."""

    kind: str
    line: int
    location: tuple = (0, 0, 0, 0)  # file and line of the CUDA source; the same of the call it was inlined for, or 0
    name: str = ""  # of a label or an instruction: its first part
    text: str = ""  # an instruction as written, without its guard
    modifiers: list = field(default_factory=list)
    operands: list = field(default_factory=list)
    guard: str = ""  # '%p1', '!%p1' or ''
    value: object = None  # registers: (type, names); variable: Variable; branch_targets: labels


@dataclass
class Function:
    name: str
    is_entry: bool
    returns: list
    parameters: list
    max_threads: int = 0  # .maxntid or .reqntid; 0 = not said
    body: list | None = None
    line: int = 0


@dataclass
class Module:
    target: str = ""
    files: dict = field(default_factory=dict)
    variables: list = field(default_factory=list)
    functions: dict = field(default_factory=dict)


# ---- text -> statements

_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)
_DEBUG_SECTION = re.compile(r"\.section\b[^{]*\{[^}]*\}")
_LINE_DIRECTIVE = re.compile(r"^([ \t]*\.(?:loc|file|version|target|address_size)\b[^\n;]*)$", re.M)
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[;{}:]|[^";{}:]+')


def _blank(match):
    text = match.group()
    return text if text[0] == '"' else re.sub(r"[^\n]", " ", text)


def _clean(text):
    """Comments and debug sections become blanks, so that lines keep their numbers; every directive ends with `;`."""
    text = _COMMENT.sub(_blank, text)
    text = _DEBUG_SECTION.sub(_blank, text)
    return _LINE_DIRECTIVE.sub(r"\1;", text)


class _Splitter:
    """Cuts cleaned text into (line, text) pairs; a scope's braces and labels are pairs of their own."""

    def __init__(self):
        self.pending = []
        self.line = self.start = 1
        self.depth = 0  # of braces inside a statement

    def _flush(self):
        text = " ".join("".join(self.pending).split())
        self.pending = []
        return (self.start, text)

    def _has_text(self):
        return bool("".join(self.pending).strip())

    def _opens_scope(self):
        text = "".join(self.pending)
        return not text.strip() or (re.search(r"\.(entry|func)\b", text) and "=" not in text)

    def _is_label(self, source, end):
        return (
            self.depth == 0 and source[end : end + 1] != ":" and re.fullmatch(r"\s*[\w$%]+\s*", "".join(self.pending))
        )

    def split(self, source):
        for match in _TOKEN.finditer(source):
            token = match.group()
            if not self._has_text() and token.strip():
                blanks = len(token) - len(token.lstrip())
                self.start = self.line + token.count("\n", 0, blanks)
            yield from self._take(token, source, match.end())
            self.line += token.count("\n")

    def _take(self, token, source, end):
        if token == ";" and self.depth == 0:
            if self._has_text():
                yield self._flush()
        elif token == "{" and self.depth == 0 and self._opens_scope():
            if self._has_text():
                yield self._flush()
            self.pending = []
            yield (self.line, "{")
        elif token == "}" and self.depth == 0:
            yield (self.line, "}")
        elif token == ":" and self._is_label(source, end):
            line, name = self._flush()
            yield (line, name + ":")
        else:
            self.depth += {"{": 1, "}": -1}.get(token, 0)
            self.pending.append(token)


def split_list(text):
    """Splits at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, ch in enumerate(text):
        if ch in "{[(":
            depth += 1
        elif ch in "}])":
            depth -= 1
        elif ch == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


# ---- statements -> declarations

_LINKAGE = r"(?:\.(?:extern|visible|weak|common)\s+)*"
_VARIABLE = re.compile(_LINKAGE + r"\.(global|const|shared|local|param)\b(.*)$", re.S)


def parse_type(name):
    if name not in TYPES:
        raise PtxError(f"type .{name} is not supported")
    return TYPES[name]


def parse_variable(text):
    """`.global .align 4 .b8 x[24] = {...}` and parameters such as `.param .u64 .ptr .align 1 p`."""
    match = _VARIABLE.match(text)
    if not match:
        raise PtxError(f"not a variable: {text}")
    space, rest = match.groups()
    rest, _, init = (part.strip() for part in rest.partition("="))
    align = re.search(r"\.align\s+(\d+)", rest) if ".ptr" not in rest else None
    rest = re.sub(r"\.ptr\b(\s*\.(global|shared|const|local))?|\.align\s+\d+|\.attribute\([^)]*\)", " ", rest)
    match = re.fullmatch(r"\s*\.(\w+)\s+([\w$%]+)\s*((?:\[[^\]]*\])*)\s*", rest)
    if not match:
        raise PtxError(f"variable not understood: {text}")
    kind = parse_type(match.group(1))
    count = 1
    for size in re.findall(r"\[([^\]]*)\]", match.group(3)):
        count *= int(size or "0", 0)
    return Variable(
        match.group(2),
        space,
        kind,
        count,
        max(int(align.group(1)) if align else 1, kind.bytes),
        init or None,
        ".extern" in text,
    )


_HEADER = re.compile(
    r"\.(entry|func)\b\s*(?:\((?P<returns>[^)]*)\))?\s*(?P<name>[\w$%]+)\s*"
    r"(?:\((?P<parameters>.*?)\))?(?P<directives>[^()]*)$",
    re.S,
)
_DIRECTIVES = {"maxntid", "reqntid", "minnctapersm", "maxnreg", "noreturn", "maxclusterrank"}


def parse_header(text, line):
    match = _HEADER.search(text)
    if not match:
        raise PtxError(f"function header not understood: {text}")
    directives = match.group("directives")
    for name in re.findall(r"\.(\w+)", directives):
        if name not in _DIRECTIVES:
            raise PtxError(f"directive .{name} is not supported")
    function = Function(
        match.group("name"),
        match.group(1) == "entry",
        [parse_variable(part) for part in split_list(match.group("returns") or "")],
        [parse_variable(part) for part in split_list(match.group("parameters") or "")],
        line=line,
    )
    limit = re.search(r"\.(?:maxntid|reqntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", directives)
    if limit:
        x, y, z = (int(size or 1) for size in limit.groups())
        function.max_threads = x * y * z
    return function


def _parse_registers(text):
    match = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", text)
    if not match:
        raise PtxError(f"registers not understood: {text}")
    names = []
    for name in split_list(match.group(2)):
        series = re.fullmatch(r"([\w$%]+)<(\d+)>", name)
        names += [f"{series.group(1)}{i}" for i in range(int(series.group(2)))] if series else [name]
    return parse_type(match.group(1)), names


# ---- statements -> bodies

_INSTRUCTION = re.compile(r"(?:@(!?[\w$%]+)\s+)?(([a-z]\w*)([\w.:]*))\s*(.*)$", re.S)


def _parse_instruction(line, text, location):
    match = _INSTRUCTION.fullmatch(text)
    if not match:
        raise PtxError(f"instruction not understood: {text}")
    guard, opcode, name, modifiers, operands = match.groups()
    # A call's operands have a grammar of their own: control.py reads them.
    operands = [operands] if name == "call" else split_list(operands)
    return Statement(
        "instruction",
        line,
        location,
        name,
        f"{opcode} {match.group(5)}".strip(),
        [part for part in modifiers.split(".") if part],
        operands,
        guard or "",
    )


def _parse_location(text):
    match = re.match(r"\.loc\s+(\d+)\s+(\d+)", text)
    call = re.search(r"inlined_at\s+(\d+)\s+(\d+)", text)
    return tuple(map(int, match.groups() + (call.groups() if call else (0, 0))))


_SCOPES = {"{": "open", "}": "close"}


def _parse_statement(line, text, location):
    """One statement of a body; None if it only informs."""
    if text in _SCOPES:
        return Statement(_SCOPES[text], line)
    if text.endswith(":"):
        return Statement("label", line, name=text[:-1])
    if text.startswith(".reg"):
        return Statement("registers", line, value=_parse_registers(text))
    if text.startswith((".local", ".param", ".shared")):
        return Statement("variable", line, value=parse_variable(text))
    if text.startswith(".branchtargets"):
        return Statement("branch_targets", line, value=split_list(text[len(".branchtargets") :]))
    if text.startswith(".callprototype"):
        return Statement("prototype", line)
    if text.startswith(".pragma"):
        return None
    if text.startswith("."):
        raise PtxError(f"directive not supported: {text}")
    return _parse_instruction(line, text, location)


def _parse_body(lines, first):
    """Statements from lines[first], which follows the opening brace; also the index after the closing one."""
    body, location, depth, i = [], (0, 0, 0, 0), 1, first
    while True:
        line, text = lines[i]
        i += 1
        depth += {"{": 1, "}": -1}.get(text, 0)
        if depth == 0:
            return body, i
        if text.startswith(".loc "):
            location = _parse_location(text)
            continue
        with_line(line, lambda: body.append(_parse_statement(line, text, location)))
        if body[-1] is None:
            body.pop()


def with_line(line, action):
    """Runs an action; an error it raises gets the line it is about."""
    try:
        return action()
    except PtxError as error:
        raise error if str(error).startswith("line ") else PtxError(f"line {line}: {error}") from None


def parse(text):
    lines = list(_Splitter().split(_clean(text)))
    module, i = Module(), 0
    while i < len(lines):
        line, text = lines[i]
        if re.search(r"\.(entry|func)\b", text) and not text.startswith(".file"):
            i = _take_function(module, lines, i)
            continue
        with_line(line, lambda: _take_directive(module, text))
        i += 1
    return module


def _take_function(module, lines, i):
    line, text = lines[i]
    function = with_line(line, lambda: parse_header(text, line))
    if i + 1 < len(lines) and lines[i + 1][1] == "{":
        function.body, i = _parse_body(lines, i + 2)
        module.functions[function.name] = function
        return i
    module.functions.setdefault(function.name, function)
    return i + 1


def _take_directive(module, text):
    if text.startswith(".target"):
        module.target = text.split()[1].rstrip(",")
    elif text.startswith(".file"):
        match = re.match(r'\.file\s+(\d+)\s+"([^"]*)"', text)
        module.files[int(match.group(1))] = match.group(2)
    elif re.match(_LINKAGE + r"\.(global|const|shared)\b", text):
        module.variables.append(parse_variable(text))
    elif not text.startswith((".version", ".address_size", ".pragma")):
        raise PtxError(f"directive not supported: {text}")
