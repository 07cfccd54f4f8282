"""The CUDA backend when calls of the driver fail, and how many calls it makes. backend_use is the program that is
run."""

import json
import os
import pty
import subprocess
import unittest
from pathlib import Path

import harness

PROGRAM = os.environ.get("PTX_TEST_BACKEND_USE", "")
SAPWOOD = os.environ.get("PTX_TEST_SAPWOOD", "")
STEP = os.environ.get("PTX_TEST_STEP", "")
# Calls that a batch makes when it is destroyed: where one fails, something may stay behind, and no caller gets the
# error.
RELEASES = {
    "cuMemFree",
    "cuMemFreeHost",
    "cuStreamDestroy",
    "cuEventDestroy",
    "cuModuleUnload",
    "cuDevicePrimaryCtxRelease",
    "cuStreamSynchronize",
    "cuCtxPushCurrent",
    "cuCtxPopCurrent",
}


def run(*arguments, program=PROGRAM, **environment):
    process = subprocess.run(
        [program, *arguments], capture_output=True, text=True, env={**os.environ, "PTX_LEAKS": "fail", **environment}
    )
    return process.returncode, process.stdout.strip(), process.stderr.strip()


def count_calls(*arguments, **environment):
    path = harness.WORK / f"backend-calls-{os.getpid()}.json"
    harness.WORK.mkdir(parents=True, exist_ok=True)
    status, out, messages = run(*arguments, PTX_CALLS=str(path), **environment)
    calls = json.loads(path.read_text())
    path.unlink()
    return calls, status, out, messages


class Backend(unittest.TestCase):
    def test_a_step_is_two_launches_and_neither_waits_nor_allocates(self):
        none, *_ = count_calls("0")
        many, status, out, messages = count_calls("25")
        self.assertEqual((status, out, messages), (0, "ok", ""))
        more = {name: many[name] - none.get(name, 0) for name in many if many[name] != none.get(name, 0)}
        # backend_use asks for impulses: such steps take the general kernels, whose collision is a launch
        self.assertEqual(more, {"cuLaunchKernel": 50, "cuCtxPushCurrent": 25, "cuCtxPopCurrent": 25})

    def test_every_call_that_fails_gives_an_error_with_the_drivers_words_and_leaves_nothing_behind(self):
        calls, status, out, messages = count_calls()
        self.assertEqual((status, out, messages), (0, "ok", ""))
        for name, count in sorted(calls.items()):
            for n in range(1, count + 1):
                with self.subTest(call=name, n=n):
                    self.check_failure(name, n)

    def check_failure(self, name, n):
        status, out, messages = run(PTX_FAIL=f"{name}:{n}")
        if out == "ok":  # the call was made while the batch was destroyed
            self.assertIn(name, RELEASES)
            self.assertIn(status, (0, 86), messages)
            return
        self.assertEqual(status, 0, messages + out)
        error = "CUDA_ERROR_OUT_OF_MEMORY" if "MEMORY" in out else "CUDA_ERROR_UNKNOWN"
        self.assertIn(f"{name} failed: {error}", out)
        self.assertTrue(out.startswith("SAP_ERROR_MEMORY" if error.endswith("MEMORY") else "SAP_ERROR_DEVICE"), out)
        self.assertTrue(out.endswith("unknown error") or out.endswith("out of memory"), out)

    def test_the_drivers_number_and_words_are_told(self):
        of_creation = count_calls("1", "once")[0]["cuLaunchKernel"] - 1
        for number, name, words in (
            (700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"),
            (719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"),
        ):
            status, out, _ = run(PTX_FAIL=f"cuLaunchKernel:{of_creation + 1}:{number}")
            self.assertEqual(
                (status, out),
                (0, f"SAP_ERROR_DEVICE: sap_batch_step: cuLaunchKernel failed: {name} ({number}): {words}"),
            )

    def test_without_a_device_or_a_driver_the_message_says_so(self):
        status, out, _ = run(PTX_DEVICE="none")
        self.assertEqual((status, "it finds no GPU; allowed here: cpu" in out), (0, True), out)
        status, out, _ = run(SAPWOOD_CUDA_DRIVER="/nowhere/libcuda.so.1")
        self.assertEqual((status, "no driver: /nowhere/libcuda.so.1" in out), (0, True), out)
        status, out, _ = run(SAPWOOD_CUDA_DRIVER="libm.so.6")
        self.assertEqual((status, "'libm.so.6' has no cuInit" in out), (0, True), out)

    def test_drivers_from_cuda_11_7_on_and_a_t4_load_the_kernels(self):
        for environment in (
            {"PTX_DRIVER": "11070"},
            {"PTX_DRIVER": "12020"},
            {"PTX_DEVICE": "75"},
            {"PTX_DEVICE": "120"},
        ):
            with self.subTest(**environment):
                self.assertEqual(run(**environment)[:2], (0, "ok"))
        status, out, _ = run(PTX_DRIVER="11060")
        self.assertEqual((status, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)" in out), (0, True), out)

    def test_compilation_is_announced_at_a_terminal_and_only_there(self):
        master, terminal = pty.openpty()
        process = subprocess.run([PROGRAM], stdout=subprocess.PIPE, stderr=terminal, env=os.environ)
        os.close(terminal)
        try:
            said = os.read(master, 4096).decode()
        finally:
            os.close(master)
        self.assertEqual(process.stdout, b"ok\n")
        self.assertIn(
            "sapwood: the driver compiles the kernels of the step for 'PTX executor (sm_80)'; this can take", said
        )
        self.assertEqual(run(), (0, "ok", ""))

    def test_kernels_that_are_none_are_refused(self):
        empty = harness.WORK / "empty.ptx"
        harness.WORK.mkdir(parents=True, exist_ok=True)
        empty.write_text(harness.ptx_function("", name="sap_kernel_step"))
        status, out, _ = run(SAPWOOD_CUDA_IMAGE=str(empty))
        self.assertEqual((status, "the kernels have no 'sap_kernel_kinematics'" in out), (0, True), out)
        status, out, _ = run(SAPWOOD_CUDA_IMAGE="/nowhere.ptx")
        self.assertEqual((status, "/nowhere.ptx" in out), (0, True), out)

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_a_bench_says_which_gpu_it_ran_on_and_nothing_of_the_cpus_lanes(self):
        arguments = (
            "bench",
            "--device",
            "cuda",
            "--scene",
            "cube",
            "--preset",
            "approx32",
            "--worlds",
            "3",
            "--steps",
            "2",
            "--warmup",
            "1",
            "--repeat",
            "1",
            "--set",
            "team_size=16",
        )
        status, out, messages = run(*arguments, "--format", "json", program=SAPWOOD)
        self.assertEqual((status, messages), (0, ""), out)
        (row,) = json.loads(out)["rows"]
        self.assertEqual(
            [row[key] for key in ("device", "isa", "lanes", "threads", "share_of_peak")], ["cuda"] + 4 * [None]
        )
        self.assertEqual((row["gpu"]["name"], row["gpu"]["team_size"]), ("PTX executor (sm_80)", 16))
        status, out, messages = run(*arguments, program=SAPWOOD)
        self.assertEqual(
            (status, "on PTX executor (sm_80), 16 threads per world" in out, "avx" in out), (0, True, False), out
        )

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_a_thread_per_world_is_refused_where_it_is_impossible_and_a_team_says_why_it_is_one(self):
        arguments = ("--device", "cuda", "--worlds", "2", "--steps", "1")
        for scene, image, reason in (
            ("stack5", "", "its scratch is too large"),
            ("cube", "/nowhere.ptx", "cannot be loaded: /nowhere.ptx"),
        ):
            status, out, messages = run(
                "run", scene, *arguments, "--set", "team_size=1", program=SAPWOOD, SAPWOOD_CUDA_THREAD_IMAGE=image
            )
            self.assertEqual(
                (status != 0, "option team_size is '1'" in messages, reason in messages), 3 * (True,), messages
            )
        status, out, messages = run("run", "cube", *arguments, "--json", program=SAPWOOD)
        gpu = json.loads(out)["gpu"]
        self.assertEqual((status, gpu["team_size"], "too few worlds" in gpu["mapping"]), (0, 8, True), out + messages)

    THREADS = (
        "run",
        "quadruped",
        "--preset",
        "fast32",
        "--device",
        "cuda",
        "--worlds",
        "800",
        "--steps",
        "0",
        "--json",
    )

    def gpu_of(self, *arguments, **environment):
        status, out, messages = run(*arguments, program=SAPWOOD, PTX_MULTIPROCESSORS="2", **environment)
        self.assertEqual(status, 0, out + messages)
        return json.loads(out)["gpu"]

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_a_refused_module_leaves_the_drivers_words_in_the_mapping(self):
        calls, status, out, messages = count_calls(*self.THREADS, program=SAPWOOD, PTX_MULTIPROCESSORS="2")
        self.assertEqual((status, json.loads(out)["gpu"]["team_size"]), (0, 1), out + messages)
        gpu = self.gpu_of(*self.THREADS, PTX_FAIL=f"cuModuleLoadData:{calls['cuModuleLoadData']}:222")
        self.assertEqual(gpu["team_size"], 8)
        self.assertIn(
            "cannot be loaded: device cuda: the kernels: cuModuleLoadData failed: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)",
            gpu["mapping"],
        )

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_local_memory_is_taken_and_counted_when_a_batch_is_created(self):
        kernel, bytes = "sap_kernel_step_thread_fast32", 10**9
        none = self.gpu_of(*self.THREADS)
        some = self.gpu_of(*self.THREADS, PTX_LOCAL=f"{kernel}:{bytes}")
        self.assertEqual((some["team_size"], some["local_bytes"], none["local_bytes"]), (1, bytes, 0))
        self.assertEqual(some["device_bytes"] - none["device_bytes"], bytes)
        team = self.gpu_of(*self.THREADS, PTX_LOCAL=f"{kernel}:{10**10}")
        self.assertEqual((team["team_size"], team["local_bytes"]), (8, 0))
        self.assertIn("local memory for a thread each cannot be had", team["mapping"])
        self.assertIn("CUDA_ERROR_OUT_OF_MEMORY (2)", team["mapping"])
        status, _, messages = run(
            *self.THREADS, "--set", "team_size=1", program=SAPWOOD, PTX_LOCAL=f"{kernel}:{10**10}"
        )
        self.assertEqual(
            (status != 0, "option team_size is '1'" in messages, "out of memory" in messages), 3 * (True,), messages
        )

    def test_a_launch_has_at_most_64_steps_where_a_watchdog_runs(self):
        stats = harness.WORK / f"watchdog-{os.getpid()}.json"
        hashes = set()
        for watchdog, launches in (("0", 1), ("1", 3)):
            stats.unlink(missing_ok=True)
            process = subprocess.run(
                [PROGRAM, "130", "once"],
                env={**os.environ, "PTX_STATS": str(stats), "PTX_WATCHDOG": watchdog},
                capture_output=True,
                text=True,
            )
            self.assertEqual((process.returncode, process.stderr, "ok" in process.stdout), (0, "", True))
            kernels = [json.loads(line)["kernel"] for line in stats.read_text().splitlines()]
            steps = [kernel for kernel in kernels if kernel.startswith("sap_kernel_step_")]
            self.assertEqual(len(steps) - 1, launches, kernels)  # one when the batch is created
            hashes.add(process.stdout)
        self.assertEqual(len(hashes), 1)
        stats.unlink()

    def selftest(self, *arguments, **environment):
        report = harness.WORK / f"report-{os.getpid()}.json"
        few = ("--device", "cuda", "--worlds", "1", "--steps", "2", "--report", str(report), "cube")
        status, out, messages = run("selftest", *arguments, *few, program=SAPWOOD, **environment)
        return status, json.loads(report.read_text()), out + messages

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_a_selftest_runs_calls_with_streams_graphs_and_memory_of_the_caller(self):
        status, report, out = self.selftest("--kinds=a ", PTX_DEFER="1")
        self.assertEqual((status, report["different"], report["other"]), (0, 0, []), out)
        names = [kind["kind"] for kind in report["kinds"]]
        self.assertEqual(names[-3:], ["a mask on the device", "a stream of the caller", "a graph"])
        self.assertTrue(all(kind["same"] for kind in report["kinds"]) and "the report is in" in out, out)

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_a_fault_ends_one_case_of_a_selftest(self):
        status, report, out = self.selftest("--kinds=a ", PTX_FAIL="cuGraphLaunch:2:719")
        (other,) = report["other"]
        self.assertEqual(
            (status, report["different"], other["case"], other["error"]), (1, 1, "a graph", "ended with status 2")
        )
        self.assertIn("cuGraphLaunch failed: CUDA error 719", other["last_line"])
        self.assertEqual(len(report["rows"]), 7, out)
        self.assertIn("a graph: FAILED: ended with status 2: ", out)

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_a_crash_ends_one_case_of_a_selftest(self):
        # a library that is none of NVIDIA's, which the first batch of a kind calls
        broken = harness.WORK / "broken.c"
        broken.write_text(
            "int nvrtcVersion(int *a, int *b) { *(volatile int *)0 = 1; return *a + *b; }\n"
            + "".join(
                f"int nvrtc{name}(void) {{ return 1; }}\n"
                for name in (
                    "GetNumSupportedArchs GetSupportedArchs CreateProgram DestroyProgram CompileProgram GetProgramLogSize "
                    "GetProgramLog GetPTXSize GetPTX GetCUBINSize GetCUBIN"
                ).split()
            )
        )
        library = harness.WORK / "libbroken.so"
        source = broken.read_text().replace(
            "nvrtcGetNumSupportedArchs(void) { return 1; }", "nvrtcGetNumSupportedArchs(int *n) { *n = 1; return 0; }"
        )
        source = source.replace(
            "nvrtcGetSupportedArchs(void) { return 1; }", "nvrtcGetSupportedArchs(int *a) { *a = 80; return 0; }"
        )
        broken.write_text(source)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, broken], check=True)
        status, report, out = self.selftest("--kinds=teams", SAPWOOD_NVRTC=str(library))
        (other,) = report["other"]
        self.assertEqual((status, other["case"]), (1, "made for the batch, teams"), out)
        self.assertIn("ended by signal 11", other["error"])
        self.assertEqual(len(report["rows"]), 7, out)

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_a_selftest_prints_measured_speeds_beside_predicted_ones(self):
        status, out, messages = run(
            "selftest",
            "--device",
            "cuda",
            "--worlds",
            "1",
            "--steps",
            "2",
            "--speed",
            "1",
            "--json",
            "cube",
            program=SAPWOOD,
        )
        self.assertEqual(status, 0, out + messages)
        report = json.loads(out)
        self.assertGreater(report["arithmetic"]["forms"], 100)
        self.assertIsNone(report["arithmetic"]["difference"])
        self.assertEqual(
            {(row["scene"], row["preset"]) for row in report["speed"]},
            {(scene, preset) for scene in ("quadruped", "humanoid") for preset in ("approx32", "fast32", "drake")},
        )
        for row in report["speed"]:
            self.assertEqual((row["worlds"], len(row["predicted"])), (1, 4))
            self.assertGreater(min(row["world_steps_per_second"], *row["predicted"].values()), 0)

    @unittest.skipUnless(SAPWOOD, "needs the program")
    def test_the_steps_of_a_call_are_one_launch_if_all_pairs_have_closed_forms(self):
        for team, step in (("1", "step_thread_fast32"), ("8", "step_fast32")):
            for scene, has_closed_forms in (("cube", True), ("humanoid", False)):
                with self.subTest(team=team, scene=scene):
                    self.check_launches(team, step, scene, has_closed_forms)

    def check_launches(self, team, step, scene, has_closed_forms):
        stats = harness.WORK / "launches.json"
        stats.unlink(missing_ok=True)
        status, out, messages = run(
            "bench",
            "--device",
            "cuda",
            "--scene",
            scene,
            "--preset",
            "fast32",
            "--worlds",
            "2",
            "--steps",
            "4",
            "--warmup",
            "4",
            "--repeat",
            "1",
            "--set",
            f"team_size={team}",
            program=SAPWOOD,
            PTX_STATS=str(stats),
        )
        self.assertEqual(status, 0, out + messages)
        kernels = [json.loads(line)["kernel"] for line in stats.read_text().splitlines()]
        count = {name: kernels.count("sap_kernel_" + name) for name in ("step", step, "collide_approx32")}
        # each has one launch when the batch is created; steps that report gaps take the general kernels, one launch each
        apart = count["collide_approx32"] - count["step"]
        self.assertEqual((apart == 0, apart == count[step] - 1), (has_closed_forms, not has_closed_forms), count)
        self.assertGreater(count[step], 1)


class Rounding(unittest.TestCase):
    """Translates a module that no other test runs (make slow-test)."""

    @unittest.skipUnless(SAPWOOD and STEP, "needs the program and the PTX of the step")
    def test_a_selftest_finds_one_kind_of_instruction_that_rounds_otherwise(self):
        text = Path(STEP).read_text()
        other = harness.WORK / "rounds_otherwise.ptx"
        harness.WORK.mkdir(parents=True, exist_ok=True)
        other.write_text(text.replace("div.rn.f64", "div.rz.f64"))
        self.assertNotEqual(text, other.read_text())
        for image, code, word in ((STEP, 0, "9 cases, 0 differ"), (str(other), 1, " DIFFER ")):
            status, out, messages = run(
                "selftest",
                "--device",
                "cuda",
                "--worlds",
                "3",
                "--steps",
                "100",
                "cube",
                program=SAPWOOD,
                SAPWOOD_CUDA_IMAGE=image,
            )
            self.assertEqual(
                (status, word in out, "forms of instructions compute as in C" in out),
                (code, True, True),
                out + messages,
            )


if __name__ == "__main__":
    unittest.main()
