"""The stand-in driver library: what a host side in C relies on, and the failures it should live through."""

import json
import os
import subprocess
import unittest

import harness

NOT_INITIALIZED, INVALID_VALUE, OUT_OF_MEMORY, NO_DEVICE, INVALID_DEVICE = 3, 1, 2, 100, 101
INVALID_CONTEXT, INVALID_PTX, INVALID_HANDLE, NOT_FOUND, CAPTURE_UNSUPPORTED, UNKNOWN = 201, 218, 400, 500, 900, 999
CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_IMPLICIT, CAPTURED_EVENT = 901, 905, 906, 907
NO_BINARY, UNSUPPORTED_PTX, ILLEGAL_ADDRESS, NOT_SUPPORTED = 209, 222, 700, 801

# p[i] += n for one block
ADD = harness.ptx_function(
    """
ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [p]; mov.u32 %r2, %tid.x;
mad.wide.u32 %rd2, %r2, 4, %rd1;
ld.global.u32 %r3, [%rd2]; add.s32 %r3, %r3, %r1; st.global.u32 [%rd2], %r3;
""",
    ".param .u32 n, .param .u64 p",
    name="add",
)

PRELUDE = (
    """
import ctypes, harness, sys
from ctypes import c_int, c_void_p, c_uint64, c_size_t, c_float, byref
from harness import Driver, CudaError
ADD = %r
def code(action, *arguments):
    try:
        action(*arguments)
        return 0
    except CudaError as e:
        return e.code
def add_kernel(d):
    module = d.load(ADD)
    return module, d.function(module, 'add')
"""
    % ADD
)


def run(script, **environment):
    process = harness.run_isolated(PRELUDE + script, **environment)
    return process.stdout.split(), process.stderr, process.returncode


class Library(unittest.TestCase):
    def check(self, script, *want, **environment):
        out, messages, status = run(script, **environment)
        self.assertEqual((out, status), ([str(w) for w in want], 0), messages)
        return messages


class Start(Library):
    def test_nothing_works_before_init_or_without_a_context(self):
        self.check(
            """
d = Driver()
print(code(d.get, 'cuDeviceGetCount', c_int))
d.call('cuInit', 0)
print(d.get('cuDeviceGetCount', c_int).value, code(d.allocate, 16), code(d.get, 'cuDeviceGet', c_int, 1))
""",
            NOT_INITIALIZED,
            1,
            INVALID_CONTEXT,
            INVALID_DEVICE,
        )

    def test_a_process_uses_one_of_several_devices(self):
        self.check(
            """
d = Driver()
d.call('cuInit', 0)
print(d.get('cuDeviceGetCount', c_int).value, d.get('cuDeviceGet', c_int, 1).value)
d.get('cuDevicePrimaryCtxRetain', c_void_p, 1)
print(code(d.get, 'cuDevicePrimaryCtxRetain', c_void_p, 0), code(d.call, 'cuDevicePrimaryCtxRelease', 0))
d.call('cuDevicePrimaryCtxRelease', 1)
""",
            2,
            1,
            NOT_SUPPORTED,
            INVALID_CONTEXT,
            PTX_DEVICES="2",
        )

    def test_a_machine_without_a_device(self):
        self.check("d = Driver(); print(code(d.call, 'cuInit', 0))", NO_DEVICE, PTX_DEVICE="none")

    def test_attributes_are_those_of_the_device_asked_for(self):
        script = """
d = Driver().start()
a = lambda n: d.get('cuDeviceGetAttribute', c_int, n, 0).value
print(a(75), a(76), a(10), a(97), code(d.get, 'cuDeviceGetAttribute', c_int, 9999, 0))
d.call('cuDevicePrimaryCtxRelease', 0)
"""
        self.check(script, 8, 0, 32, 166912, INVALID_VALUE)
        self.check(script, 10, 0, 32, 232448, INVALID_VALUE, PTX_DEVICE="100")

    def test_contexts_are_counted_and_stacked(self):
        self.check(
            """
d = Driver().start()
d.get('cuDevicePrimaryCtxRetain', c_void_p, 0)
d.call('cuDevicePrimaryCtxRelease', 0)
print(code(d.get, 'cuCtxGetDevice', c_int))
d.call('cuCtxPushCurrent', d.context)
popped = d.get('cuCtxPopCurrent', c_void_p)
print(popped.value == d.context.value, code(d.get, 'cuCtxGetDevice', c_int))
d.call('cuDevicePrimaryCtxRelease', 0)
print(code(d.get, 'cuCtxGetDevice', c_int), code(d.call, 'cuDevicePrimaryCtxRelease', 0))
""",
            0,
            True,
            0,
            INVALID_CONTEXT,
            INVALID_CONTEXT,
        )

    def test_errors_have_names_and_texts(self):
        self.check(
            """
d = Driver()
for e in (0, 2, 700, 999):
    n, s = ctypes.c_char_p(), ctypes.c_char_p()
    d.call('cuGetErrorName', e, byref(n)); d.call('cuGetErrorString', e, byref(s))
    print(n.value.decode(), len(s.value) > 5)
print(code(d.call, 'cuGetErrorName', 12345, byref(ctypes.c_char_p())))
""",
            "CUDA_SUCCESS",
            True,
            "CUDA_ERROR_OUT_OF_MEMORY",
            True,
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            True,
            "CUDA_ERROR_UNKNOWN",
            True,
            INVALID_VALUE,
        )

    def test_functions_are_found_by_documented_name(self):
        self.check(
            """
d = Driver().start()
f = c_void_p()
d.library.cuGetProcAddress_v2(b'cuMemAlloc', byref(f), 13000, c_uint64(0), None)
print(f.value == ctypes.cast(d.library.cuMemAlloc_v2, c_void_p).value)
print(d.library.cuGetProcAddress_v2(b'cuNothing', byref(f), 1, c_uint64(0), None))
d.call('cuDevicePrimaryCtxRelease', 0)
""",
            True,
            NOT_FOUND,
        )


class Memory(Library):
    def test_copies_fills_and_bounds(self):
        messages = self.check(
            """
d = Driver().start()
p = d.upload((c_int * 4)(1, 2, 3, 4))
d.call('cuMemsetD32', c_uint64(p.value + 4), 9, c_size_t(2))
print(*d.download(p, c_int, 4))
print(code(d.download, p, c_int, 5), code(d.download, c_uint64(p.value + 12), c_int, 1))
d.call('cuMemFree', p)
print(code(d.download, p, c_int, 1), code(d.call, 'cuMemFree', p), code(d.allocate, 0))
d.call('cuDevicePrimaryCtxRelease', 0)
""",
            1,
            9,
            9,
            4,
            INVALID_VALUE,
            0,
            INVALID_VALUE,
            INVALID_VALUE,
            INVALID_VALUE,
        )
        self.assertIn("leaves its allocation", messages)

    def test_use_after_free_is_found(self):
        self.check(
            """
d = Driver().start()
m, f = add_kernel(d)
p = d.upload((c_int * 32)())
d.call('cuMemFree', p)
d.launch(f, 1, 32, [c_int(1), p])
print(code(d.synchronize), code(d.allocate, 8) == 0)
""",
            ILLEGAL_ADDRESS,
            True,
        )

    def test_deferred_work_sees_memory_as_it_is_when_somebody_waits(self):
        script = """
d = Driver().start()
h = d.get('cuMemAllocHost', c_void_p, c_size_t(16))
p = d.allocate(16)
s = d.get('cuStreamCreate', c_void_p, 0)
ctypes.memset(h, 1, 16)
d.call('cuMemcpyHtoDAsync', p, h, c_size_t(16), s)
ctypes.memset(h, 2, 16)          # too early: the copy may not have run
d.call('cuStreamSynchronize', s)
print(hex(d.download(p, c_int, 1)[0]))
"""
        self.check(script, "0x1010101")
        self.check(script, "0x2020202", PTX_DEFER="1")


class Launches(Library):
    def test_limits_of_a_launch(self):
        self.check(
            """
d = Driver().start()
m, f = add_kernel(d)
p = d.upload((c_int * 32)())
arguments = [c_int(1), p]
for grid, block in ((0, 32), (1, 1025), ((1, 70000), 32)):
    print(code(d.launch, f, grid, block, arguments))
print(code(d.launch, f, 1, 32, arguments, 49153))
print(code(d.call, 'cuFuncSetAttribute', f, 8, 200000), code(d.call, 'cuFuncSetAttribute', f, 8, 100000))
print(code(d.launch, f, 1, 32, arguments, 100000))
print(d.get('cuFuncGetAttribute', c_int, 0, f).value, d.get('cuFuncGetAttribute', c_int, 8, f).value)
""",
            INVALID_VALUE,
            INVALID_VALUE,
            INVALID_VALUE,
            INVALID_VALUE,
            INVALID_VALUE,
            0,
            0,
            1024,
            100000,
        )

    def test_names_and_handles_are_checked(self):
        self.check(
            """
d = Driver().start()
m, f = add_kernel(d)
print(code(d.function, m, 'nothing'), code(d.call, 'cuStreamSynchronize', c_void_p(0x1234560)))
d.call('cuModuleUnload', m)
print(code(d.function, m, 'add'), code(d.load, 'this is not PTX;'), code(d.load, '\\x7fELF...'))
""",
            NOT_FOUND,
            INVALID_HANDLE,
            INVALID_HANDLE,
            INVALID_PTX,
            NO_BINARY,
        )

    def test_a_captured_graph_runs_as_often_as_it_is_launched(self):
        script = """
d = Driver().start()
m, f = add_kernel(d)
p = d.upload((c_int * 32)())
s = d.get('cuStreamCreate', c_void_p, 0)
d.call('cuStreamBeginCapture', s, 0)
for n in (1, 10):
    d.launch(f, 1, 32, [c_int(n), p], stream=s)
print(code(d.call, 'cuStreamSynchronize', s))
g = c_void_p(); d.call('cuStreamEndCapture', s, byref(g))
count = c_size_t(); d.call('cuGraphGetNodes', g, None, byref(count))
e = d.get('cuGraphInstantiate', c_void_p, g, c_uint64(0))
d.call('cuGraphDestroy', g)
print(count.value, d.download(p, c_int, 1)[0])
for k in range(3): d.call('cuGraphLaunch', e, s)
d.call('cuStreamSynchronize', s)
print(*set(d.download(p, c_int, 32)))
d.call('cuGraphExecDestroy', e); d.call('cuStreamDestroy', s); d.call('cuMemFree', p); d.call('cuModuleUnload', m)
d.call('cuDevicePrimaryCtxRelease', 0)
"""
        for defer in ({}, {"PTX_DEFER": "1"}):
            self.check(script, CAPTURE_UNSUPPORTED, 2, 0, 33, PTX_LEAKS="fail", **defer)

    def test_streams_run_as_late_as_allowed_and_only_what_they_depend_on(self):
        script = """
d = Driver().start()
h = d.get('cuMemAllocHost', c_void_p, c_size_t(16))
p = d.allocate(16)
s = d.get('cuStreamCreate', c_void_p, {flags})
d.call('cuMemsetD32', p, 1, c_size_t(4))
d.call('cuMemcpyDtoH', h, p, c_size_t(4))
d.call('cuMemsetD32Async', p, 7, c_size_t(4), s)
{between}
print(d.download(p, c_int, 1)[0])
"""
        other = "t = d.get('cuStreamCreate', c_void_p, 1)"
        event = "e = d.get('cuEventCreate', c_void_p, 0); d.call('cuEventRecord', e, s); d.call('cuStreamWaitEvent', {}, e, 0)"
        for flags, between, want in (
            (0, "", 7),  # a blocking stream is ordered with the default one
            (1, "", 1),
            (1, "d.call('cuStreamSynchronize', s)", 7),
            (1, f"{other}; d.call('cuStreamSynchronize', t)", 1),
            (1, f"{other}; {event.format('t')}; d.call('cuStreamSynchronize', t)", 7),
            (1, event.format("None"), 7),
            (
                1,
                "e = d.get('cuEventCreate', c_void_p, 0); d.call('cuEventRecord', e, s); d.call('cuEventSynchronize', e)",
                7,
            ),
            (1, "d.call('cuStreamDestroy', s)", 7),
        ):
            self.check(script.format(flags=flags, between=between), want, PTX_DEFER="1")

    def test_a_capture_waits_for_no_work_outside(self):
        self.check(
            """
d = Driver().start()
s, t = (d.get('cuStreamCreate', c_void_p, 1) for k in range(2))
e = d.get('cuEventCreate', c_void_p, 0)
d.call('cuEventRecord', e, t)
d.call('cuStreamBeginCapture', s, 0)
print(code(d.call, 'cuStreamWaitEvent', s, e, 0))
g = c_void_p(); print(code(d.call, 'cuStreamEndCapture', s, byref(g)))
d.call('cuStreamBeginCapture', s, 0)
d.call('cuEventRecord', e, s)
print(code(d.call, 'cuStreamWaitEvent', s, e, 0), code(d.call, 'cuEventSynchronize', e))
print(code(d.call, 'cuStreamEndCapture', s, byref(g)), code(d.call, 'cuStreamWaitEvent', t, e, 0))
""",
            CAPTURE_ISOLATION,
            CAPTURE_INVALIDATED,
            0,
            CAPTURED_EVENT,
            0,
            CAPTURED_EVENT,
        )

    def test_the_default_stream_is_not_for_work_while_a_blocking_stream_captures(self):
        script = """
d = Driver().start()
p = d.allocate(16)
s = d.get('cuStreamCreate', c_void_p, {flags})
d.call('cuStreamBeginCapture', s, 1)
print(code(d.call, 'cuMemsetD32Async', p, 7, c_size_t(4), None))
g = c_void_p(); print(code(d.call, 'cuStreamEndCapture', s, byref(g)))
"""
        self.check(script.format(flags=0), CAPTURE_IMPLICIT, CAPTURE_INVALIDATED)
        self.check(script.format(flags=1), 0, 0)

    def test_an_allocation_spoils_a_capture_unless_it_is_relaxed(self):
        self.check(
            """
d = Driver().start()
s = d.get('cuStreamCreate', c_void_p, 0)
for mode in (0, 1, 2):
    d.call('cuStreamBeginCapture', s, mode)
    print(code(d.allocate, 8))
    g = c_void_p(); print(code(d.call, 'cuStreamEndCapture', s, byref(g)))
""",
            CAPTURE_UNSUPPORTED,
            CAPTURE_INVALIDATED,
            CAPTURE_UNSUPPORTED,
            CAPTURE_INVALIDATED,
            0,
            0,
        )

    def test_parameters_of_a_captured_launch_can_be_changed(self):
        self.check(
            """
class Node(ctypes.Structure):
    _fields_ = [('func', c_void_p)] + [(n, ctypes.c_uint) for n in 'gx gy gz bx by bz shared'.split()] + [
        ('params', c_void_p), ('extra', c_void_p), ('kern', c_void_p), ('ctx', c_void_p)]
d = Driver().start()
m, f = add_kernel(d)
p = d.upload((c_int * 32)())
s = d.get('cuStreamCreate', c_void_p, 0)
d.call('cuStreamBeginCapture', s, 0)
d.launch(f, 1, 32, [c_int(1), p], stream=s)
g = c_void_p(); d.call('cuStreamEndCapture', s, byref(g))
nodes, count = (c_void_p * 1)(), c_size_t(1)
d.call('cuGraphGetNodes', g, nodes, byref(count))
e = d.get('cuGraphInstantiate', c_void_p, g, c_uint64(0))
hundred = c_int(100)
pointers = (c_void_p * 2)(ctypes.cast(byref(hundred), c_void_p), ctypes.cast(byref(p), c_void_p))
node = Node(f, 1, 1, 1, 32, 1, 1, 0, ctypes.cast(pointers, c_void_p))
d.call('cuGraphExecKernelNodeSetParams', e, c_void_p(nodes[0]), byref(node))
d.call('cuGraphLaunch', e, s)
d.call('cuStreamSynchronize', s)
print(*set(d.download(p, c_int, 32)))
""",
            100,
        )

    def test_events_measure(self):
        self.check(
            """
d = Driver().start()
e = [d.get('cuEventCreate', c_void_p, 0) for k in range(2)]
print(code(d.get, 'cuEventElapsedTime', c_float, e[0], e[1]))
for x in e: d.call('cuEventRecord', x, None)
print(d.get('cuEventElapsedTime', c_float, e[0], e[1]).value >= 0)
""",
            INVALID_HANDLE,
            True,
        )

    def test_counts_of_a_launch_are_written_as_json(self):
        path = harness.WORK / f"stats-{os.getpid()}.json"
        path.unlink(missing_ok=True)
        run(
            """
d = Driver().start()
m, f = add_kernel(d)
p = d.upload((c_int * 48)())
d.launch(f, 1, 48, [c_int(1), p])
""",
            PTX_STATS=str(path),
        )
        line = json.loads(path.read_text())
        self.assertEqual((line["kernel"], line["block"]), ("add", [48, 1, 1]))
        self.assertEqual(line["thread_instructions"], 48 * 8)
        self.assertEqual(line["warp_instructions"], 2 * 8)
        self.assertEqual(
            line["instructions"],
            {"integer": 96, "move": 48, "branch": 48, "load_global": 48, "store_global": 48, "load_param": 96},
        )
        moved = [line["bytes"][name] for name in ("load_global", "store_global", "load_param")]
        self.assertEqual(moved, [192, 192, 576])


class Failures(Library):
    USE = """
d = Driver()
try:
    d.start()
    m, f = add_kernel(d)
    p = d.allocate(128)
    q = d.allocate(128)
    print('done')
except CudaError as e:
    print(e.function, e.code)
"""

    def test_the_call_named_fails_with_the_error_given_or_its_own(self):
        for fail, want in (
            ("cuMemAlloc:2", ["cuMemAlloc", str(OUT_OF_MEMORY)]),
            ("cuMemAlloc:3", ["done"]),
            ("cuModuleLoadData:1:209", ["cuModuleLoadData", "209"]),
            ("cuInit:1", ["cuInit", str(UNKNOWN)]),
            ("cuMemFree:1,cuModuleGetFunction:1", ["cuModuleGetFunction", str(UNKNOWN)]),
        ):
            with self.subTest(fail=fail):
                self.assertEqual(run(self.USE, PTX_FAIL=fail)[0], want)

    def test_only_the_call_named_fails(self):
        self.check(
            "d = Driver().start(); print(*[code(d.allocate, 8) for k in range(3)])",
            0,
            OUT_OF_MEMORY,
            0,
            PTX_FAIL="cuMemAlloc:2",
        )

    def test_calls_are_counted(self):
        path = harness.WORK / f"calls-{os.getpid()}.json"
        run(self.USE, PTX_CALLS=str(path))
        calls = json.loads(path.read_text())
        self.assertEqual((calls["cuInit"], calls["cuMemAlloc"], calls["cuModuleLoadData"]), (1, 2, 1))

    def test_what_is_not_released_is_named(self):
        out, messages, status = run(self.USE, PTX_LEAKS="fail")
        self.assertEqual(status, 86)
        self.assertIn("not released: 1 module, 2 device allocations, 1 context", messages)


@harness.needs_nvcc
class Images(Library):
    SOURCE = """
extern "C" __global__ void which(int *p) { p[threadIdx.x] = __CUDA_ARCH__; }
"""

    def fatbin(self, *flags):
        harness.WORK.mkdir(parents=True, exist_ok=True)
        source, image = harness.WORK / "which.cu", harness.WORK / f"which{len(flags)}.fatbin"
        source.write_text(self.SOURCE)
        code = [f"-gencode=arch=compute_{a},code=compute_{a}" for a in ("80", "100")]
        subprocess.run([harness.NVCC, "-fatbin", *code, *flags, "-o", image, source], check=True)
        return image

    SCRIPT = """
d = Driver().start()
image = open({path!r}, 'rb').read()
m = c_void_p()
error = code(d.call, 'cuModuleLoadData', byref(m), image)
if error:
    print(error)
    sys.exit()
p = d.allocate(4)
d.launch(d.function(m, 'which'), 1, 1, [p])
print(d.download(p, c_int, 1)[0])
"""

    def test_a_fatbin_gives_the_newest_ptx_the_device_can_run(self):
        kernels = [f'extern "C" __global__ void k{i}(int *p) {{ p[{i}] = {i}; }}\n' for i in range(50)]
        for compress in (("--no-compress",), ("--compress-mode=speed",)):
            script = self.SCRIPT.format(path=str(self.fatbin(*compress)))
            for device, arch in (("80", 800), ("90", 800), ("100", 1000), ("120", 1000)):
                self.check(script, arch, PTX_DEVICE=device)
            self.check(script, NO_BINARY, PTX_DEVICE="75")
            self.SOURCE += "".join(kernels)  # enough to compress

    def test_ptx_is_refused_by_a_driver_that_is_older(self):
        script = (
            "d = Driver().start(); print(code(d.load, ADD.replace('.version 9.0', '.version 7.7')), code(d.load, ADD))"
        )
        self.check(script, 0, 0)
        self.check(script, 0, UNSUPPORTED_PTX, PTX_DRIVER="12040")
        self.check(script, 0, UNSUPPORTED_PTX, PTX_DRIVER="11070")
        self.check(script, UNSUPPORTED_PTX, UNSUPPORTED_PTX, PTX_DRIVER="11060")

    def test_a_fatbin_for_newer_drivers_is_refused_with_the_remedy(self):
        kernels = [f'extern "C" __global__ void k{i}(int *p) {{ p[{i}] = {i}; }}\n' for i in range(50)]
        self.SOURCE += "".join(kernels)
        messages = self.check(self.SCRIPT.format(path=str(self.fatbin("--compress-mode=size"))), NO_BINARY)
        self.assertIn("--compress-mode=speed", messages)


if __name__ == "__main__":
    unittest.main()
