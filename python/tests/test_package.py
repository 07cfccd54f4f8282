"""The installed package: its scenes, its console script, and that it needs no library of the machine but the C library."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sapwood

PACKAGE = Path(sapwood.__file__).parent
PROGRAM = PACKAGE / "bin" / "sapwood"
wheel = pytest.mark.skipif(not PROGRAM.exists(), reason="the package is not installed from a wheel")


def test_every_shipped_scene_is_found_by_name():
    assert {"quadruped", "humanoid", "gripper", "stack5"} <= set(sapwood.scene_names())
    for name in sapwood.scene_names():
        assert sapwood.scene(name).num_bodies > 0


def test_an_unknown_scene_is_refused_with_the_names_that_exist():
    with pytest.raises(
        ValueError, match=r"scene is 'quadrupedd'; did you mean 'quadruped'\? Allowed: .*quadruped.*\(in .*scenes\)"
    ):
        sapwood.scene("quadrupedd")


@wheel
def test_the_console_script_runs_a_scene_by_name_outside_the_source_tree(tmp_path):
    script = Path(sys.executable).parent / "sapwood"
    run = subprocess.run(
        [script, "run", "quadruped", "--worlds", "2", "--steps", "2"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


@wheel
@pytest.mark.parametrize("command", ["conform", "selftest", "dump-problem", "bench-newton", "compare-solvers"])
def test_the_separate_programs_are_beside_the_program(command, tmp_path):
    run = subprocess.run([PROGRAM, command, "--help"], cwd=tmp_path, env={}, capture_output=True, text=True)
    assert run.returncode == 0 and f"Usage: sapwood {command}" in run.stdout, run.stderr


@wheel
def test_every_instruction_set_of_the_program_gives_the_same_bits(tmp_path):
    def state_hash(isa):
        command = [PROGRAM, "run", "quadruped", "--worlds", "8", "--steps", "20", "--json", "--isa", isa]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return re.search(r'"state_hash": "(\w+)"', run.stdout).group(1) if run.returncode == 0 else run.stderr

    expected, flags = state_hash("generic"), Path("/proc/cpuinfo").read_text()
    have = [isa for isa, flag in (("avx2", " avx2 "), ("avx512", " avx512f ")) if flag in flags]
    # A wheel of `make test` has the generic kernels only.
    for isa in have if os.environ.get("SAPWOOD_WHEEL") == "full" else []:
        assert state_hash(isa) == expected


@wheel
def test_every_library_of_others_in_the_package_has_its_licence():
    libraries = {p.name for p in PACKAGE.glob("*.so*")} - {"libsapwood.so"}
    assert len(libraries) >= 3 and {p.name for p in (PACKAGE / "licenses").iterdir()} == {f"{n}.txt" for n in libraries}
    assert all("Copyright" in p.read_text() for p in (PACKAGE / "licenses").iterdir())


@wheel
def test_the_package_needs_no_library_outside_itself_but_the_c_library():
    for file in (PROGRAM, PACKAGE / "libsapwood.so"):
        needed = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        paths = re.findall(r"=> (\S+)", needed)
        outside = [p for p in paths if PACKAGE.resolve() not in Path(p).resolve().parents]
        assert paths and all(re.match(r"(lib(c|m|dl|rt|pthread)|ld-linux.*)\.so", Path(p).name) for p in outside), (
            needed
        )
        assert "not found" not in needed
