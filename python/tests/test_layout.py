"""The structs of ctypes against what the compiler makes of the headers."""

import ctypes
import os
import shutil
import subprocess
import sys

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


# ---- a library of other headers ----


class Other:
    """The library, but for one function."""

    def __init__(self, name, result):
        self.path, self.name, self.result = "libother.so", name, result

    def __getattr__(self, name):
        if name != self.name:
            return getattr(_library.lib, name)
        if self.result is None:
            raise AttributeError(f"libother.so: undefined symbol: {name}")
        return self.result


def names(*texts):
    array = (ctypes.c_char_p * (len(texts) + 1))(*[t.encode() for t in texts], None)
    return lambda: array


@pytest.mark.parametrize(
    "function, result, message",
    [
        ("sap_version", lambda: b"9.8.7", "version 9.8.7 and"),
        (
            "sap_struct_size",
            lambda name: 12 if name == b"SapOptions" else _library.lib.sap_struct_size(name),
            "SapOptions of 12 and",
        ),
        ("sap_batch_field_names", names("joint_q", "joint_z"), "arrays .*joint_z"),
        (
            "sap_parameter_names",
            names(*reversed(list(_library.enum_names("SapParameter", "SAP_PARAMETER_")))),
            "in another order",
        ),
        ("sap_options_names", names("threads"), "options .*lanes"),
        ("sap_struct_size", None, "undefined symbol: sap_struct_size"),
    ],
)
def test_a_library_of_other_headers_is_refused_with_what_differs(function, result, message):
    _library._check_library(Other("none", None))
    with pytest.raises(ImportError, match=f"libother.so and this package differ.*{message}"):
        _library._check_library(Other(function, result))


def test_the_library_tells_the_sizes_of_structs():
    for name in _layout.STRUCTS:
        assert _library.lib.sap_struct_size(name.encode()) == ctypes.sizeof(_library._C_TYPES[name])
    assert _library.lib.sap_struct_size(b"SapNothing") == 0


def test_importing_with_another_library_says_so(tmp_path):
    if COMPILER is None:
        pytest.skip("no C compiler")
    source, library = tmp_path / "other.c", tmp_path / "libother.so"
    source.write_text('const char *sap_version(void) { return "0.0.9"; }\n')
    subprocess.run([COMPILER, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    run = subprocess.run(
        [sys.executable, "-c", "import sapwood"],
        env={**os.environ, "SAPWOOD_LIBRARY": str(library)},
        capture_output=True,
        text=True,
    )
    assert run.returncode != 0 and "ImportError" in run.stderr and "libother.so and this package differ" in run.stderr
