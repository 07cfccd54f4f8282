"""The structs of ctypes against what the compiler makes of the headers."""

import ctypes
import shutil
import subprocess

import pytest

from sapwood import _layout, _library

from conftest import ROOT

COMPILER = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """{("struct", name): size, (struct, field): offset, ("enum", name): value} from a C program."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    lines = []
    for struct, fields in _layout.STRUCTS.items():
        lines.append(f'printf("struct {struct} %zu\\n", sizeof({struct}));')
        lines += [f'printf("{struct} {field} %zu\\n", offsetof({struct}, {field}));' for field, _ in fields]
    for names in [*_layout.ENUMS.values(), _layout.BITS]:
        lines += [f'printf("enum {name} %ld\\n", (long){name});' for name in names]
    folder = tmp_path_factory.mktemp("layout")
    source = folder / "layout.c"
    source.write_text(
        "#include <sapwood/sapwood.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n"
        + "\n".join(lines)
        + "\nreturn 0;\n}\n"
    )
    subprocess.run(
        [COMPILER, "-std=c11", f"-I{ROOT / 'include'}", str(source), "-o", str(folder / "layout")], check=True
    )
    text = subprocess.run([str(folder / "layout")], check=True, capture_output=True, text=True).stdout
    return {tuple(line.split()[:2]): int(line.split()[2]) for line in text.splitlines()}


def test_every_field_is_where_the_compiler_puts_it(compiled):
    for struct, fields in _layout.STRUCTS.items():
        ours = _library._C_TYPES[struct]
        for field, _ in fields:
            assert getattr(ours, field).offset == compiled[struct, field], f"{struct}.{field}"


def test_every_struct_has_the_size_of_the_compiler(compiled):
    for struct in _layout.STRUCTS:
        assert ctypes.sizeof(_library._C_TYPES[struct]) == compiled["struct", struct], struct


def test_every_constant_has_the_value_of_the_header(compiled):
    for names in [*_layout.ENUMS.values(), _layout.BITS]:
        for name, value in names.items():
            assert value == compiled["enum", name], name


def test_the_table_is_what_the_generator_makes_of_the_headers():
    made = subprocess.run(
        ["python3", str(ROOT / "python/tools/layout.py"), str(ROOT / "include/sapwood")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert made == (ROOT / "python/sapwood/_layout.py").read_text()


def test_the_library_has_every_function():
    for name in _library._PROTOTYPES:
        assert getattr(_library.lib, name) is not None
