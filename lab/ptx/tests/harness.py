"""What the tests of the PTX executor share: compiling CUDA and PTX, and calling the stand-in driver library.

A test that launches runs in a process of its own (run_isolated): an error of a launch stays with its process, as with
CUDA.
"""

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE.parent
WORK = Path(os.environ.get("PTX_TEST_WORK", "/tmp/ptx_tests"))
LIBRARY = os.environ.get("PTX_TEST_LIBRARY", "")
NVCC = os.environ.get("PTX_TEST_NVCC") or shutil.which("nvcc") or ""
CACHE = WORK / "cache"
ARCHITECTURES = ("80", "100")  # one for each of nvcc's two code generators
sys.path.insert(0, str(HOME))

needs_nvcc = unittest.skipUnless(NVCC, "nvcc is not installed")


def compile_cuda(source, arch, flags=()):
    """PTX text of a CUDA source text."""
    WORK.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256("\0".join([source, arch, NVCC, *flags]).encode()).hexdigest()[:16]
    path = WORK / f"{key}.ptx"
    if not path.exists():
        cuda = WORK / f"{key}.cu"
        cuda.write_text(source)
        partial = WORK / f"{key}.{os.getpid()}.ptx"
        options = ["-ptx", "-lineinfo", "--fmad=false", f"-arch=compute_{arch}", *flags]
        subprocess.run([NVCC, *options, "-o", partial, cuda], check=True)
        os.replace(partial, path)
    return path.read_text()


def ptx_function(body, parameters=".param .u64 p", name="k", target="sm_80"):
    """A PTX file of one kernel. `body` may use %p, %r, %rd, %h, %f and %fd registers, and names of its own."""
    return f""".version 9.0
.target {target}
.address_size 64
.visible .entry {name}({parameters})
{{
.reg .pred %p<64>; .reg .b16 %h<64>; .reg .b32 %r<512>; .reg .b64 %rd<512>; .reg .f32 %f<512>; .reg .f64 %fd<512>;
{body}
ret;
}}
"""


class CudaError(Exception):
    def __init__(self, function, code):
        super().__init__(f"{function}: {code}")
        self.function, self.code = function, code


class Driver:
    """The driver API, called by documented names; an error raises CudaError."""

    VERSIONED = {
        "cuMemAlloc",
        "cuMemFree",
        "cuMemcpyHtoD",
        "cuMemcpyDtoH",
        "cuMemcpyDtoHAsync",
        "cuMemcpyHtoDAsync",
        "cuMemsetD8",
        "cuMemsetD32",
        "cuStreamDestroy",
        "cuEventDestroy",
        "cuStreamBeginCapture",
        "cuMemAllocHost",
        "cuCtxPopCurrent",
        "cuCtxPushCurrent",
        "cuDevicePrimaryCtxRelease",
        "cuModuleGetGlobal",
        "cuDeviceTotalMem",
        "cuEventElapsedTime",
        "cuMemGetInfo",
        "cuMemcpyDtoD",
        "cuGraphExecKernelNodeSetParams",
    }

    def __init__(self):
        self.library = ctypes.CDLL(LIBRARY)

    def call(self, name, *arguments):
        symbol = name + ("_v2" if name in self.VERSIONED else "WithFlags" if name == "cuGraphInstantiate" else "")
        code = getattr(self.library, symbol)(*arguments)
        if code:
            raise CudaError(name, code)

    def get(self, name, kind, *arguments):
        value = kind()
        self.call(name, ctypes.byref(value), *arguments)
        return value

    def start(self):
        self.call("cuInit", 0)
        self.context = self.get("cuDevicePrimaryCtxRetain", ctypes.c_void_p, 0)
        self.call("cuCtxSetCurrent", self.context)
        return self

    def load(self, ptx):
        return self.get("cuModuleLoadData", ctypes.c_void_p, ctypes.c_char_p(ptx.encode()))

    def function(self, module, name):
        return self.get("cuModuleGetFunction", ctypes.c_void_p, module, ctypes.c_char_p(name.encode()))

    def allocate(self, size):
        return self.get("cuMemAlloc", ctypes.c_uint64, ctypes.c_size_t(size))

    def upload(self, data):
        """A device array that holds `data`, a ctypes array."""
        address = self.allocate(ctypes.sizeof(data))
        self.call("cuMemcpyHtoD", address, data, ctypes.c_size_t(ctypes.sizeof(data)))
        return address

    def download(self, address, kind, count):
        data = (kind * count)()
        self.call("cuMemcpyDtoH", data, address, ctypes.c_size_t(ctypes.sizeof(data)))
        return data

    def launch(self, function, grid, block, arguments, shared=0, stream=None):
        grid, block = (tuple(x) + (1, 1, 1) if isinstance(x, tuple) else (x, 1, 1) for x in (grid, block))
        addresses = [ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in arguments]
        pointers = (ctypes.c_void_p * max(len(arguments), 1))(*addresses)
        self.call("cuLaunchKernel", function, *grid[:3], *block[:3], shared, stream, pointers, None)

    def synchronize(self):
        self.call("cuCtxSynchronize")


def run_isolated(script, **environment):
    """Runs a Python text, which may use harness, with the stand-in; returns the finished process."""
    variables = {
        **os.environ,
        "PTX_CACHE": str(CACHE),
        "PYTHONPATH": f"{HERE}:{HOME}",
        "PTX_HOME": str(HOME),
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    return subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True, timeout=600)


_LAUNCH = """
import ctypes, json, sys
from harness import Driver, CudaError
job = json.load(open({job!r}))
d = Driver().start()
module = d.load(job['ptx'])
function = d.function(module, job['kernel'])
arrays = [d.upload((ctypes.c_uint8 * len(bytes.fromhex(a))).from_buffer_copy(bytes.fromhex(a))) for a in job['arrays']]
scalars = [ctypes.c_int(x) for x in job['scalars']]
error = 0
try:
    d.launch(function, tuple(job['grid']), tuple(job['block']), scalars + arrays, job['shared'])
    d.synchronize()
    out = [bytes(d.download(p, ctypes.c_uint8, len(a) // 2)).hex() for p, a in zip(arrays, job['arrays'])]
    for p in arrays: d.call('cuMemFree', p)
    d.call('cuModuleUnload', module)
    d.call('cuDevicePrimaryCtxRelease', 0)
except CudaError as e:
    error, out = e.code, []
print(json.dumps({{'error': error, 'arrays': out}}))
"""


class Result:
    def __init__(self, process):
        self.messages = process.stderr
        if process.returncode not in (0, 86) or not process.stdout:
            raise RuntimeError(process.stderr + process.stdout)
        answer = json.loads(process.stdout.splitlines()[-1])
        self.error = answer["error"]
        self.arrays = [bytes.fromhex(a) for a in answer["arrays"]]


def run_kernel(ptx, kernel, arrays, scalars=(), grid=(1,), block=(32,), shared=0, **environment):
    """One launch with parameters (int scalars..., pointers...) in a process of its own. Arrays are bytes, going and
    coming back."""
    pad = (1, 1)
    WORK.mkdir(parents=True, exist_ok=True)
    job = {
        "ptx": ptx,
        "kernel": kernel,
        "arrays": [a.hex() for a in arrays],
        "scalars": list(scalars),
        "grid": list((tuple(grid) + pad)[:3]),
        "block": list((tuple(block) + pad)[:3]),
        "shared": shared,
    }
    path = WORK / f"job-{os.getpid()}.json"
    path.write_text(json.dumps(job))
    return Result(run_isolated(_LAUNCH.format(job=str(path)), **environment))
