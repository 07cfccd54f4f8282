"""Kernels made for a batch where NVRTC is missing or the driver refuses them: those of the library run instead. The
other cases, which need no process of their own, are in backend_specialized.c."""

import json
import os
import shutil
import unittest

import harness
from test_backend import count_calls, run

SAPWOOD = os.environ.get("PTX_TEST_SAPWOOD", "")
CACHE = harness.WORK / f"made-cache-{os.getpid()}"
IMAGE = harness.WORK / f"made-{os.getpid()}.ptx"
COMMAND = "run cube --device cuda --worlds 2 --steps 3 --json --set".split()


@unittest.skipUnless(SAPWOOD, "needs the program")
class Made(unittest.TestCase):
    def setUp(self):
        harness.WORK.mkdir(parents=True, exist_ok=True)
        IMAGE.write_text(
            ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry sap_kernel_step_specialized() { ret; }\n"
            ".visible .entry sap_kernel_collide_specialized() { ret; }\n"
        )

    def tearDown(self):
        shutil.rmtree(CACHE, ignore_errors=True)
        IMAGE.unlink(missing_ok=True)

    def step(self, specialize="on", **environment):
        """The hash of the state after three steps, of which the program asks only some for reports, and what the batch
        says of its kernels."""
        environment = {
            "SAPWOOD_NVRTC_PTX": "1",
            "SAPWOOD_CACHE": str(CACHE),
            "PTX_NVRTC_IMAGE": str(IMAGE),
            **environment,
        }
        status, out, messages = run(*COMMAND, f"specialize={specialize}", program=SAPWOOD, **environment)
        self.assertEqual(status, 0, messages)
        report = json.loads(out)
        return report["state_hash"], report["gpu"]["kernels"]

    def test_without_nvrtc_or_with_a_driver_that_refuses_them_the_librarys_kernels_run(self):
        plain, text = self.step(specialize="off")
        self.assertEqual(text, "compiled with the library")
        idle, text = self.step()
        self.assertEqual(text, "made for this batch by NVRTC")
        self.assertNotEqual(idle, plain)
        # calls before those of the made kernels: the library's kernels are loaded and get their shared memory
        calls, *_ = count_calls(*COMMAND, "specialize=off", program=SAPWOOD)
        for reason, environment in (
            ("there is no NVRTC", {"SAPWOOD_NVRTC": "/nowhere/libnvrtc.so"}),
            # a driver that is older than NVRTC; one whose shared memory is too small
            (
                "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)",
                {"PTX_FAIL": f"cuModuleLoadData:{calls['cuModuleLoadData'] + 1}:222"},
            ),
            (
                "shared memory: cuFuncSetAttribute failed",
                {"PTX_FAIL": f"cuFuncSetAttribute:{calls['cuFuncSetAttribute'] + 1}:1"},
            ),
        ):
            state, text = self.step(**environment)
            self.assertEqual((state, text.split(":")[0]), (plain, "compiled with the library"), text)
            self.assertIn(reason, text)


if __name__ == "__main__":
    unittest.main()
