"""Files that are complete or absent: written beside their place, and renamed into it once they are on the disk."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from ._library import FileError, text_of

_numbers = itertools.count()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes the place of `path`, which it keeps the permissions of, when the block ends. Until then, and if
    the block or a write fails, `path` stays as it was. Only regular files are replaced, also behind a link."""
    shown, place = os.fsdecode(text_of(path)), os.path.realpath(path)
    part = f"{place}.{os.getpid()}.{next(_numbers)}.part"
    try:
        mode = _mode(shown, place)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise error if isinstance(error, FileError) else _error(shown, "created", error) from error
    try:
        with open(part, "wb", opener=lambda *_: descriptor) as file:  # its name is that of the part
            if mode is not None:
                os.fchmod(descriptor, mode)
            yield file
            file.flush()
            os.fsync(descriptor)
        os.replace(part, place)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise _error(shown, "written", error) from error
        raise
    _sync_folder(os.path.dirname(place))


def _mode(shown: str, place: str) -> int | None:
    """The permissions of the file that is there."""
    try:
        found = os.stat(place).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise FileError(f"{shown}: not a regular file")
    if not os.access(place, os.W_OK):
        raise FileError(f"{shown}: cannot be written: Permission denied")
    return stat.S_IMODE(found)


def _error(shown: str, what: str, error: OSError) -> FileError:
    return FileError(f"{shown}: cannot be {what}: {error.strerror or error}")


def _sync_folder(folder: str) -> None:
    """Makes the new name last; the file itself is on the disk."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
