# Shortcuts to the CMake build: CMakePresets.json has the builds and CMakeLists.txt the options.
#
#   make setup      installs what the build and the tests need (Debian's packages)
#   make build      the library and the programs, in build/release; installs nothing
#   make cuda-all   the same with the machine code of every GPU architecture: 8.0, 9.0, 10.0 and 12.0
#   make run        steps a scene:              make run SCENE=my.yaml ARGS="--worlds 64 --steps 1000"
#                   with a program built for the CPU of this machine only, in build/run
#   make check      builds and runs the fast tests; installs nothing
#   make test       builds and runs all tests, including Python; warnings are errors
#   make lint       clang-format, clang-tidy, ruff and mypy (scripts/lint)
#   make docs       the documentation as a site with search, in build/docs
#   make wheel      the Python package as a wheel that needs no other library, in build/wheel
#   make python-test    installs the wheel into a new virtual environment and runs its tests
#   make bench      measures throughput
#   make ptx-test   builds and runs the tests of the PTX executor only
#   make instructions   counts the instructions of a step and updates tests/data/instructions.txt
#   make plots      measures, and draws the figures in docs/images
#   make mutants    changes 100 expressions of kernels and host, one at a time, and counts how many the fast tests catch
#   make ptx-mutants    removes each barrier of the kernels in turn and runs the race check of the executor
#   make fuzz       runs each libFuzzer harness of lab/fuzz for FUZZ_SECONDS (60)
#   make soak       steps scenes for SOAK_STEPS (10 million) world-steps with resets and randomisation, then runs
#                   SOAK_SCENES (2000) generated scenes from seed SOAK_SEED
#   make valgrind   runs the program without SIMD under valgrind
#   make roofline   predicts the performance limits on GPUs, see docs/gpu.md
#   make ptxas-table    writes registers, stack and code of the kernels to lab/results/ptxas.md
#   make roofline-table writes counts and predictions to lab/results/roofline.md
#   make compare    runs the same scenes in MuJoCo, see bench/compare/README.md
#   make format     formats all C, CUDA and Python sources
#   make install    installs into PREFIX
#   make clean      removes build/
#   make gcc-test asan-test tsan-test    the tests in other builds: gcc; address and undefined; thread sanitizer
#   make aarch64-test   the kernels of aarch64 under qemu: the same hashes
#   make learn-test     learners train a few iterations; a page opens in Chromium
#   make hosts-test     mpirun over two hosts made of network namespaces (needs root)
#   make slow-test      barriers removed one by one; the GPU kernels of another code generator, budgets of the dual
#                       solvers and of MuJoCo's law; every compiler with -O0, -O2 and -O3
#   make long-test      10,000 steps of the scenes with loops, in every preset, and of a stack of ten, by every solver
#   make test-all       make lint, make docs, make test, make wheel-test and these eight

SCENE  = bench/scenes/quadruped.yaml
ARGS   = --worlds 4096 --steps 400
PREFIX = /usr/local
PYTHON = python3
FUZZ_SECONDS = 60
SOAK_STEPS = 10300000
SOAK_SCENES = 2000
SOAK_SEED = 1000
PTX_DRIVER = $(CURDIR)/build/release/lab/ptx/driver
# The kernels as the tests of lab/ptx translate them.
PTX_TRANSLATED = PTX_CHECK=2 PTX_CACHE=$(CURDIR)/build/release/lab/ptx/work/cache
JOBS   = $(shell nproc)

.DEFAULT_GOAL = build
.PHONY: setup build release cuda-all run check test test-all wheel python-test wheel-test learn-test ptx-test slow-test \
    long-test hosts-test gcc-test asan-test tsan-test aarch64-test lint format docs fuzz soak valgrind mutants ptx-mutants \
    ptxas-table roofline roofline-table bench instructions plots compare install clean

setup:
	@scripts/setup

# Without the packages of the tests it leaves the tests out.
build:
	@scripts/setup check build
	@test -f build/release/build.ninja || \
	    cmake --preset release -DSAPWOOD_TESTS=$$(scripts/setup check test 2>/dev/null && echo ON || echo OFF)
	@cmake --build --preset release --target sapwood_all

# The same with the packages of the tests, in a build that has them.
release: setup
	@cmake --preset release
	@cmake --build --preset release --target sapwood_all

cuda-all: setup
	cmake --preset release "-DSAPWOOD_CUDA_CODE=80;90;100;120"
	@cmake --build --preset release --target sapwood_all

# A program for this machine: the generic kernels and those of its best instruction set, no CUDA kernels, and no packages
# of the tests.
run:
	@scripts/setup run
	@test -f build/run/build.ninja || cmake --preset run
	@cmake --build --preset run --target sapwood_program
	build/run/sapwood run $(SCENE) $(ARGS)

bench: build
	build/release/sapwood bench $(BENCH_ARGS)

instructions: build
	bench/instructions --record

plots: build
	bench/plots.py

compare: build
	bench/compare/run $(COMPARE_ARGS)

# $(call test_build,preset) and $(call test_run,preset)
define test_build
	cmake --preset $(1) -DSAPWOOD_WERROR=ON
	cmake --build --preset $(1)
endef
define test_run
	ctest --preset $(1) -j $(JOBS)
endef

# The tests with the label fast, in a build for this machine without CUDA kernels.
check:
	@scripts/setup check test
	@cmake --preset check
	@cmake --build --preset check
	@ctest --preset check -j $(JOBS)

# Python tests run first, so that the output ends with the summary of ctest.
test: setup
	$(call test_build,release)
	$(MAKE) python-test
	$(call test_run,release)

# All tests in four builds, the kernels of aarch64, the learners, the slow tests and the long runs: an hour on two cores.
test-all: lint docs test slow-test asan-test tsan-test gcc-test aarch64-test wheel-test learn-test hosts-test long-test

# The tag of a wheel names the oldest C library that it runs with: that of this machine.
WHEEL_PLATFORM = $(shell getconf GNU_LIBC_VERSION | sed 's/glibc /manylinux_/; s/\./_/')_$(shell uname -m)
WHEEL_ARGS =
# Instruction sets of a wheel; native: this machine's; none: the generic kernels, not optimised.
WHEEL_ISAS = avx2;avx512
ifeq ($(WHEEL_ISAS),none)
WHEEL_ARGS += --config-setting=cmake.define.SAPWOOD_ISAS= --config-setting=cmake.define.SAPWOOD_KERNEL_OPT=-O0
else
WHEEL_ARGS += --config-setting="cmake.define.SAPWOOD_ISAS=$(WHEEL_ISAS)"
endif

wheel: setup
	rm -rf build/wheel build/wheel-venv
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/pip install --quiet build
	_PYTHON_HOST_PLATFORM=$(WHEEL_PLATFORM) build/wheel-venv/bin/python -m build --wheel --outdir build/wheel $(WHEEL_ARGS)

# $(call install_wheel): as a user would, in a new environment, with what the tests need.
define install_wheel
	rm -rf build/python-venv
	$(PYTHON) -m venv build/python-venv
	build/python-venv/bin/pip install --quiet "$$(ls build/wheel/*.whl)[test]"
endef

# The tests of the package that a wheel installs. That wheel has kernels that compile at once, which the first tests run; the
# others have the library of build/release.
python-test: release
	$(MAKE) wheel WHEEL_ISAS=none
	$(call install_wheel)
	build/python-venv/bin/python -m pytest -q python/tests/test_package.py
	SAPWOOD_LIBRARY=$(CURDIR)/build/release/src/libsapwood.so SAPWOOD_PROGRAM=$(CURDIR)/build/release/sapwood \
	    build/python-venv/bin/python -m pytest -q -rs python/tests lab/conform
# Batches on a GPU, if the stand-in driver has been built (make test, make ptx-test).
	@if test -f $(PTX_DRIVER)/libcuda.so.1; then \
	    SAPWOOD_LIBRARY=$(CURDIR)/build/release/src/libsapwood.so SAPWOOD_CUDA_DRIVER=$(PTX_DRIVER)/libcuda.so.1 \
	    $(PTX_TRANSLATED) PTX_LEAKS=fail build/python-venv/bin/python -m pytest -q python/tests/test_cuda.py; fi

# The tests of the wheel that is given to others: it has the kernels of all instruction sets.
wheel-test: release wheel
	$(call install_wheel)
	SAPWOOD_WHEEL=full SAPWOOD_PROGRAM=$(CURDIR)/build/release/sapwood build/python-venv/bin/python -m pytest -q -rs python/tests

# Learners, with PyTorch for CPUs, and the page in a browser: a gigabyte of packages, so it is no part of make test.
learn-test:
	@scripts/setup learn
	$(MAKE) wheel WHEEL_ISAS=native
	rm -rf build/learn-venv
	$(PYTHON) -m venv build/learn-venv
	build/learn-venv/bin/pip install --quiet torch --index-url https://download.pytorch.org/whl/cpu || \
	    build/learn-venv/bin/pip install --quiet torch
	build/learn-venv/bin/pip install --quiet "$$(ls build/wheel/*.whl)[test,view,learn]"
	build/learn-venv/bin/python -m pytest -q -rs python/tests_learn
# A task on a GPU, if the stand-in driver has been built.
	@if test -f $(PTX_DRIVER)/libcuda.so.1; then \
	    SAPWOOD_LIBRARY=$(CURDIR)/build/release/src/libsapwood.so SAPWOOD_CUDA_DRIVER=$(PTX_DRIVER)/libcuda.so.1 \
	    $(PTX_TRANSLATED) build/learn-venv/bin/python -m pytest -q python/tests_learn/test_tensors.py -k gpu; fi

ptx-test: setup
	cmake --preset release -DSAPWOOD_WERROR=ON
	cmake --build --preset release --target ptx_tests
	ctest --preset release -j $(JOBS) -R '^ptx_'

# $(call ptx_script,name): a script that runs the program under the PTX executor
define ptx_script
	cmake --preset release
	cmake --build --preset release --target sapwood_all ptx_cuda
	$(PYTHON) -B lab/ptx/$(1).py --program build/release/sapwood --driver build/release/lab/ptx/driver
endef

# All mutants in one build behind a run-time switch: lab/mutants/README.md.
mutants: setup
	$(PYTHON) -B lab/mutants/run --work build/mutants $(MUTANT_ARGS)

ptx-mutants: setup
	cmake --preset release
	cmake --build --preset release --target ptx_barriers ptx_libraries
	$(if $(MUTANTS),$(PYTHON) -B lab/ptx/barrier_mutants.py --driver build/release/lab/ptx/driver \
		--work build/release/lab/ptx/mutants $(MUTANTS),$(PYTHON) -B lab/results.py barriers)

ptxas-table: cuda-all
	$(PYTHON) -B lab/results.py ptxas

# Registers of a thread per world are those of the cubin that its budget test assembles.
FIGURES = --figures build/release/cuda --figures build/release/lab/ptx

roofline: setup
	$(call ptx_script,roofline) $(FIGURES) $(ROOFLINE_ARGS)

roofline-table: release
	ctest --preset release -C all -R '^ptx_budgets_thread$$'
	cmake --build --preset release --target sapwood_all ptx_cuda
	$(PYTHON) -B lab/results.py roofline

fuzz: setup
	cmake --preset release
	cmake --build --preset release --target fuzz_scene fuzz_geometry fuzz_reference fuzz_api fuzz_constraints fuzz_dual fuzz_dump
	FUZZ_SECONDS=$(FUZZ_SECONDS) ctest --preset release -R '^fuzz_' --verbose

hosts-test: release
	ctest --preset release -C all -R '^cluster_hosts$$'

# Every barrier of the CPU's teams removed in turn; the kernels of the other code generator.
slow-test: cuda-all
	cmake --build --preset release --target all ptx_step_100
	ctest --preset release -C all -R '^(barrier_mutants|ptx_audit_100|ptx_backend_bits|ptx_backend_bits_100|ptx_backend_rounding|ptx_budgets|ptx_budgets_dual|ptx_budgets_mujoco|ptx_budgets_thread|compilers_all)$$'

long-test: release
	cmake --build --preset release --target test_linkages test_dual_scenes
	SAPWOOD_TEST_STEPS=10000 build/release/tests/test_linkages --filter '*/scenes_*'
	SAPWOOD_TEST_SCALE=10 build/release/tests/test_dual_scenes --filter '*/a_stack_of_ten*'

soak: release
	cmake --build --preset release --target soak generate
	build/release/tests/soak $(SOAK_STEPS)
	build/release/tests/generate --from $(SOAK_SEED) --count $(SOAK_SCENES)

valgrind: release
	tests/build/valgrind.sh build/release/sapwood

gcc-test: setup
	$(call test_build,gcc)
	$(call test_run,gcc)

asan-test: setup
	$(call test_build,dev)
	$(call test_run,dev)

# The kernels of aarch64, cross-compiled and run under qemu.
aarch64-test:
	scripts/setup aarch64
	bash tests/build/test_compilers.sh $(CURDIR) $(CURDIR)/build/aarch64 --aarch64

tsan-test: setup
	$(call test_build,tsan)
	$(call test_run,tsan)

lint:
	@scripts/setup lint
	@scripts/lint

format:
	@scripts/setup lint
	@scripts/lint --fix format python

# The site needs the library, because Sphinx imports the Python package: SAPWOOD_LIBRARY, or the one of build/release, or
# of make run.
docs:
	@scripts/setup docs
	@test -n "$$SAPWOOD_LIBRARY" || test -f build/release/src/libsapwood.so || \
	    { cmake --preset run && cmake --build --preset run --target sapwood; }
	@scripts/docs

install: build
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
