"""Files that are complete or absent: whatever fails while one is written, the former file stays as it was."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import sapwood
from sapwood.files import replacing


def alone(path):
    return [entry.name for entry in path.parent.iterdir()] == [path.name]


def write(path, data):
    with replacing(path) as file:
        file.write(data)


def test_a_file_is_created_and_replaced_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "file"
    write(path, b"one")
    path.chmod(0o640)
    write(path, b"two")
    assert path.read_bytes() == b"two" and path.stat().st_mode & 0o777 == 0o640 and alone(path)


def test_a_block_that_fails_leaves_the_former_file(tmp_path):
    path = tmp_path / "file"
    write(path, b"one")
    with pytest.raises(KeyError), replacing(path) as file:
        file.write(b"half")
        raise KeyError
    assert path.read_bytes() == b"one" and alone(path)


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    write(path, b"one")
    link.symlink_to(path)
    write(link, b"two")
    assert link.is_symlink() and path.read_bytes() == b"two"


def test_only_regular_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path, "/dev/null"):
        before = os.stat(place).st_ino
        with pytest.raises(sapwood.FileError, match="not a regular file"):
            write(place, b"one")
        assert os.stat(place).st_ino == before
    with pytest.raises(sapwood.FileError, match="cannot be created: No such file"):
        write(tmp_path / "no" / "folder", b"one")
    with pytest.raises(sapwood.ArgumentError, match="NUL"):
        write(f"{tmp_path}/a\0b", b"one")


def runs(code, *arguments):
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True)


SAVE = """
import resource, sys
from sapwood.gym import Quadruped
env = Quadruped(4, threads=1)
env.reset(seed=1)
env.save(sys.argv[1])
print("saved", flush=True)
{before}
env.step(env.action_space.sample())
env.save(sys.argv[1])
"""
FAILURES = {
    "limit": "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))",
    "kill": """
import numpy, os, signal
def savez(file, **arrays):
    file.write(b"half"), file.flush(), os.kill(os.getpid(), signal.SIGKILL)
numpy.savez = savez""",
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_checkpoint_that_cannot_be_written_leaves_the_last_one(tmp_path, failure):
    gym = pytest.importorskip("sapwood.gym")
    path = tmp_path / "checkpoint"
    done = runs(SAVE.format(before=FAILURES[failure]), path)
    assert done.stdout == "saved\n" and done.returncode == (-signal.SIGKILL if failure == "kill" else 1)
    if failure == "limit":
        assert f"FileError: {path}: cannot be written: File too large" in done.stderr and alone(path)
    env = gym.Quadruped(4)
    env.load(path)
    assert np.all(env.episodes == 1) and np.all(env.age == 0)


FULL = """
import ctypes, os, sys
from sapwood.files import replacing
libc = ctypes.CDLL(None, use_errno=True)
def mount(source, place, kind, flags, data):
    return libc.mount(source, place.encode(), kind, ctypes.c_ulong(flags), data)
if libc.unshare(0x20000) or mount(b"none", "/", None, 0x44000, None) or mount(b"none", sys.argv[1], b"tmpfs", 0, b"size=64k"):
    sys.exit(77)
path = sys.argv[1] + "/file"
with replacing(path) as file:
    file.write(b"one")
try:
    with replacing(path) as file:
        file.write(bytes(1 << 20))
except OSError as error:
    print(error, os.listdir(sys.argv[1]), open(path).read())
"""


def test_a_full_disk_leaves_the_former_file(tmp_path):
    done = runs(FULL, tmp_path)
    if done.returncode == 77:
        pytest.skip("a file system cannot be mounted here")
    assert done.stdout == f"{tmp_path}/file: cannot be written: No space left on device ['file'] one\n", done.stderr


def test_a_damaged_file_of_convex_parts_is_made_again(tmp_path, monkeypatch):
    from sapwood import hulls

    corners = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T.astype(float)

    class Coacd:
        Mesh, set_log_level = staticmethod(lambda *_: None), staticmethod(lambda _: None)
        run_coacd = staticmethod(lambda *_, **__: [(corners, None)])

    monkeypatch.setattr(hulls, "_coacd", lambda: Coacd)
    options = hulls.HullOptions(decompose=True, cache=tmp_path / "parts")
    faces = np.zeros((1, 3), np.int32)
    hulls.convex_parts(corners, faces, options)
    (file,) = (tmp_path / "parts").iterdir()
    file.write_bytes(file.read_bytes()[:50])
    assert np.array_equal(hulls.convex_parts(corners, faces, options)[0], corners)
    monkeypatch.setattr(hulls, "_coacd", None)  # it is read now
    assert np.array_equal(hulls.convex_parts(corners, faces, options)[0], corners)
