"""PTX file -> shared object: translate, compile the parts in parallel, link. The result is kept under the hash of all
that it is made of."""

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .module import ModuleEmitter
from .split import MAX_LINES
from .types import PtxError

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parent / "runtime"
# No contraction: a fused multiply-add is an instruction of its own. The rest makes C mean what PTX means.
FLAGS = [
    "-std=gnu17",
    "-march=native",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fvisibility=hidden",
    "-fPIC",
    "-w",
    "-Werror=implicit-function-declaration",
]
LINES_PER_PART = 6000


def _key(text, check, compiler):
    digest = hashlib.sha256()
    for part in [text, str(check), str(MAX_LINES), " ".join(compiler + FLAGS)]:
        digest.update(part.encode() + b"\0")
    for path in sorted(HERE.glob("*.py")) + sorted(RUNTIME.glob("*.h")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def _write_sources(folder, text):
    module = ModuleEmitter(text)
    lines = sum(len(code) for code in module.code.values())
    (folder / "module.h").write_text(module.header())
    sources = {f"part{i}.c": part for i, part in enumerate(module.parts(lines // LINES_PER_PART + 1))}
    sources["tables.c"] = module.tables()
    for name, source in sources.items():
        (folder / name).write_text(source)
    return list(sources)


def _run_all(commands, jobs):
    """Runs commands, at most `jobs` at a time; raises with the output of the first that fails."""
    waiting, running = list(commands), []
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(
                subprocess.Popen(waiting.pop(0), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            )
        process = running.pop(0)
        output = process.communicate()[0]
        if process.returncode:
            raise PtxError(f"{' '.join(process.args)}:\n{output}")


def build(path, cache, check, compiler, jobs, verbose=False):
    """The path of the shared object for a PTX file."""
    text = Path(path).read_text()
    cache = Path(cache)
    cache.mkdir(parents=True, exist_ok=True)
    result = cache / f"{_key(text, check, compiler)}.so"
    if result.exists():
        return result
    # A folder of its own and a rename at the end: several processes may build the same file.
    folder = Path(tempfile.mkdtemp(prefix="build-", dir=cache))
    try:
        start = time.monotonic()
        names = _write_sources(folder, text)
        translated = time.monotonic()
        flags = compiler + FLAGS + [f"-DCHECK={check}", f"-I{RUNTIME}", f"-I{folder}"]
        _run_all([flags + ["-c", str(folder / name), "-o", str(folder / f"{name}.o")] for name in names], jobs)
        objects = [str(folder / f"{name}.o") for name in names]
        _run_all([compiler + ["-shared", "-o", str(folder / "module.so")] + objects + ["-lm"]], 1)
        os.replace(folder / "module.so", result)
        if verbose:
            seconds = time.monotonic() - translated
            print(f"translated in {translated - start:.2f} s, compiled in {seconds:.2f} s", flush=True)
    finally:
        shutil.rmtree(folder)
    return result
