"""Batches on a GPU, or on a stand-in for its driver (lab/ptx): SAPWOOD_CUDA_DRIVER names it."""

import ctypes
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import sapwood
from sapwood import nvrtc, streams
from sapwood.arrays import DeviceArray
from sapwood.batch import FIELDS, PARAMETERS

from conftest import ROOT, SCENES


@pytest.fixture(scope="module")
def driver():
    """The driver's library with its primary context current, or a skipped test."""
    try:
        sapwood.Batch(sapwood.Model.load(SCENES / "cube.yaml"), 1, device="cuda").close()
    except sapwood.DeviceError as error:
        pytest.skip(str(error))
    cuda = ctypes.CDLL(os.environ.get("SAPWOOD_CUDA_DRIVER", "libcuda.so.1"))
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    yield cuda
    cuda.cuCtxSetCurrent(None)
    cuda.cuDevicePrimaryCtxRelease_v2(0)


@pytest.fixture
def cube():
    return sapwood.Model.load(SCENES / "cube.yaml")


@pytest.fixture
def pair(driver, quadruped):
    """The same worlds on both devices."""
    with sapwood.Batch(quadruped, 5, seed=4) as cpu, sapwood.Batch(quadruped, 5, device="cuda", seed=4) as gpu:
        for batch in (cpu, gpu):
            batch.contact_force, batch.body_contact_wrench
            batch.perturb()
        yield cpu, gpu


def assert_same(cpu, gpu):
    for name in FIELDS:
        if name.startswith(("row_", "tree_")):  # of MuJoCo's law, of sleeping trees
            continue
        assert np.array_equal(np.asarray(getattr(cpu, name)), np.asarray(getattr(gpu, name)), equal_nan=True), name


# ---- everywhere ----


def test_without_a_driver_the_exception_says_what_is_missing():
    code = "import sapwood; sapwood.Batch(sapwood.Model.load('bench/scenes/cube.yaml'), 1, device='cuda')"
    environment = {**os.environ, "SAPWOOD_CUDA_DRIVER": "/nowhere/libcuda.so.1"}
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == 1 and "sapwood._library.DeviceError: device cuda: " in run.stderr
    assert "allowed here: cpu" in run.stderr


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cpu:0", ""])
def test_a_device_that_is_none_is_refused_with_what_is_allowed(cube, device):
    with pytest.raises(sapwood.DeviceError, match="'cpu', 'cuda'"):
        sapwood.Batch(cube, 1, device=device)


def test_a_batch_on_the_cpu_has_no_streams_and_nothing_to_wait_for(cube):
    with sapwood.Batch(cube, 1) as batch:
        batch.synchronize()
        with pytest.raises(NotImplementedError, match="no streams"):
            batch.set_stream(1)


def test_nvrtc_of_an_installed_package_is_found(tmp_path, monkeypatch):
    for folder, name in (
        ("cuda_nvrtc", "libnvrtc.so.12"),
        ("cu13", "libnvrtc.so.13"),
        ("cu13", "libnvrtc-builtins.so.13.0"),
    ):
        (tmp_path / "nvidia" / folder / "lib").mkdir(parents=True, exist_ok=True)
        (tmp_path / "nvidia" / folder / "lib" / name).write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    found = nvrtc.find()  # perhaps also that of packages that are installed
    assert [path.name for path in found if tmp_path in path.parents] == ["libnvrtc.so.13", "libnvrtc.so.12"]
    assert found == sorted(found, key=lambda path: path.name, reverse=True)
    nvrtc.preload()  # files that are none are left to the library's message


def test_the_notebook_has_commands_of_the_program_and_python_that_compiles(program):
    cells = json.loads((ROOT / "examples" / "gpu_first_hour.ipynb").read_text())["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    commands = [line[1:] for text in texts for line in text.splitlines() if line.startswith("!sapwood ")]
    assert len(commands) == 1
    for command in commands:  # options before --help are checked
        run = subprocess.run([program, *command.split()[1:], "--help"], capture_output=True, text=True)
        assert run.returncode == 0 and "Usage: sapwood selftest" in run.stdout, run.stderr
    for text in texts:
        compile("\n".join(line for line in text.splitlines() if not line.startswith("!")), "cell", "exec")


# ---- on a GPU ----


def test_the_gpu_has_the_bits_of_the_cpu(pair):
    cpu, gpu = pair
    for steps in (1, 7):
        for batch in pair:
            batch.step(steps)
        assert_same(cpu, gpu)
    assert gpu.stats["contacts_mean"] == cpu.stats["contacts_mean"] > 0
    assert gpu.status_text(0) == cpu.status_text(0)
    assert gpu.info["device"] == "cuda" and gpu.info["team_size"] >= 8 and gpu.memory > gpu.info["device_bytes"] > 0


def test_arrays_tell_gpu_libraries_where_they_are(driver, pair):
    _, gpu = pair
    gpu.step()
    for name in ("joint_q", "body_q", "status", "cost", "contact_count", "body_contact_wrench"):
        array = getattr(gpu, name)
        interface = array.__cuda_array_interface__
        assert isinstance(array, DeviceArray) and getattr(gpu, name) is array
        assert interface["version"] == 3 and interface["strides"] is None and not interface["data"][1]
        assert interface["shape"] == array.shape == np.asarray(array).shape
        assert np.dtype(interface["typestr"]) == array.dtype
        assert interface["stream"] not in (None, 0)  # of the batch's own stream
        seen = np.empty(array.shape, array.dtype)
        gpu.synchronize()
        assert driver.cuMemcpyDtoH_v2(seen.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(array.pointer), ctypes.c_size_t(array.nbytes)) == 0  # fmt: skip
        assert np.array_equal(seen, array.numpy())


def test_a_stream_that_is_set_is_the_one_that_is_told(driver, pair):
    cpu, gpu = pair
    stream = ctypes.c_void_p()
    own = gpu.joint_q.__cuda_array_interface__["stream"]
    assert driver.cuStreamCreate(ctypes.byref(stream), 0) == 0
    gpu.set_stream(stream.value)
    assert gpu.joint_q.__cuda_array_interface__["stream"] == stream.value
    for batch in pair:
        batch.step(2)
    assert_same(cpu, gpu)
    gpu.set_stream(None)
    assert gpu.joint_q.__cuda_array_interface__["stream"] == own
    assert driver.cuStreamDestroy_v2(stream) == 0


class Torch:
    """What a batch asks of torch: its current stream."""

    class Tensor:
        pass

    class cuda:
        stream, initialized = 0, True

        @classmethod
        def is_initialized(cls):
            return cls.initialized

        @classmethod
        def current_stream(cls, device):
            assert device == 0
            return SimpleNamespace(cuda_stream=cls.stream)


@pytest.fixture
def torch_streams(driver, monkeypatch):
    """torch, with three streams that know nothing of others, as those of torch."""
    streams = [ctypes.c_void_p() for _ in range(3)]
    for stream in streams:
        assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
    monkeypatch.setattr(Torch.cuda, "stream", 0)
    monkeypatch.setitem(sys.modules, "torch", Torch)
    yield [stream.value for stream in streams]
    for stream in streams:
        assert driver.cuStreamDestroy_v2(stream) == 0


def test_a_batch_works_on_the_current_stream_of_torch_unless_one_is_set(torch_streams, pair):
    cpu, gpu = pair
    told = lambda: gpu.joint_q.__cuda_array_interface__["stream"]
    assert told() == 1  # torch's 0 is the legacy stream
    for stream in torch_streams:
        Torch.cuda.stream = stream
        for batch in pair:
            batch.step(2)
        assert told() == stream
    assert_same(cpu, gpu)
    gpu.set_stream(torch_streams[0])
    gpu.step()
    assert told() == torch_streams[0]
    gpu.set_stream(None)
    assert told() == torch_streams[2]
    Torch.cuda.initialized = False
    try:  # a torch that does not use the GPU has no streams
        Torch.cuda.stream = torch_streams[1]
        assert told() == torch_streams[2]
    finally:
        Torch.cuda.initialized = True
    gpu.set_stream(2)  # before the streams end


def test_steps_in_a_capture_of_torch_become_its_graph_and_replays_see_parameters(driver, torch_streams, pair):
    cpu, gpu = pair
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    for batch in pair:
        batch.expand("gravity")
        batch.step()
    before = gpu.joint_q.numpy()
    Torch.cuda.stream = torch_streams[1]  # as with torch.cuda.graph
    assert driver.cuStreamBeginCapture_v2(ctypes.c_void_p(torch_streams[1]), 0) == 0
    gpu.step(2)
    Torch.cuda.stream = 0
    assert driver.cuStreamEndCapture(ctypes.c_void_p(torch_streams[1]), ctypes.byref(graph)) == 0
    assert driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_uint64(0)) == 0
    assert np.array_equal(gpu.joint_q.numpy(), before)  # nothing moved while it was captured
    for factor in (1.0, 0.5):
        for batch in pair:
            batch.gravity *= factor
            batch.upload_parameters()
        assert driver.cuGraphLaunch(executable, None) == 0
        cpu.step(2)
    gpu.synchronize()
    assert np.array_equal(gpu.joint_q.numpy(), cpu.joint_q)
    assert driver.cuGraphExecDestroy(executable) == 0 and driver.cuGraphDestroy(graph) == 0
    gpu.set_stream(2)


def test_dlpack_passes_arrays_and_makes_the_consumers_stream_wait(driver, torch_streams, pair):
    _, gpu = pair

    class OnHost:  # memory of the stand-in is memory of the host
        def __dlpack_device__(self):
            return 1, 0

        def __init__(self, capsule):
            self.capsule = capsule

        def __dlpack__(self, **_):
            return self.capsule

    for name in ("joint_q", "status", "contact_count", "cost"):
        array = getattr(gpu, name)
        assert array.__dlpack_device__() == (2, 0)
        capsule = array.__dlpack__(stream=torch_streams[0])
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        device = ctypes.c_int32.from_address(get(capsule, b"dltensor") + 8)
        assert device.value == 2
        if "SAPWOOD_CUDA_DRIVER" in os.environ:
            device.value = 1
            tensor = np.from_dlpack(OnHost(capsule))
            gpu.synchronize()
            assert np.array_equal(tensor, array.numpy()) and tensor.dtype == array.dtype
            del tensor
        del capsule
        assert not streams._exported
    unused = gpu.joint_q.__dlpack__(stream=-1)
    assert len(streams._exported) == 1
    del unused
    assert len(streams._exported) == 0
    with pytest.raises(ValueError, match="stream is 0"):
        gpu.joint_q.__dlpack__(stream=0)
    with pytest.raises(BufferError, match="without a copy"):
        gpu.joint_q.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="on its own GPU"):
        gpu.joint_q.__dlpack__(dl_device=(1, 0))
    gpu.set_stream(2)


def test_an_array_of_dlpack_outlives_its_batch(driver, cube):
    with sapwood.Batch(cube, 3, device="cuda") as batch:
        capsule = batch.joint_q.__dlpack__()
    owner = next(iter(streams._exported.values()))[2]
    assert owner.pointer
    del capsule
    assert not streams._exported


def test_copies_go_both_ways(pair):
    cpu, gpu = pair
    values = cpu.joint_q + np.float32(0.01)
    cpu.joint_q[...] = values
    gpu.joint_q.write(values)
    for batch in pair:
        batch.forward_kinematics()
        batch.step(2)
    assert_same(cpu, gpu)
    assert len(gpu.joint_q) == 5 and gpu.joint_q.ndim == 2 and "DeviceArray" in repr(gpu.joint_q)
    with pytest.raises(ValueError):
        gpu.joint_q.write(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(gpu.joint_q, copy=False)


def test_resets_take_masks_of_either_memory(driver, pair):
    cpu, gpu = pair
    mask = np.array([1, 0, 0, 1, 0], bool)
    for batch in pair:
        batch.step(3)
        batch.reset(mask)
    assert_same(cpu, gpu)

    address = ctypes.c_uint64()
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(5)) == 0
    assert driver.cuMemcpyHtoD_v2(address, mask.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(5)) == 0

    class OnDevice:
        __cuda_array_interface__ = {"version": 3, "shape": (5,), "typestr": "|u1", "data": (address.value, False)}

    for batch in pair:
        batch.step(3)
    cpu.reset(mask)
    gpu.reset(OnDevice())
    assert_same(cpu, gpu)
    OnDevice.__cuda_array_interface__ = {**OnDevice.__cuda_array_interface__, "typestr": "<f4"}
    with pytest.raises(ValueError, match="bytes or booleans"):
        gpu.reset(OnDevice())
    assert driver.cuMemFree_v2(address) == 0


def test_state_moves_between_devices_bit_for_bit(pair, quadruped):
    cpu, gpu = pair
    gpu.step(5)
    cpu.set_state(gpu.get_state([3, 1]), [0, 4])
    with sapwood.Batch(quadruped, 2, device="cuda") as other:
        other.set_state(cpu.get_state([0, 4]))
        for batch in (cpu, gpu, other):
            batch.step(5)
        for name in ("joint_q", "joint_qd", "body_q"):
            here, there, elsewhere = (np.asarray(getattr(b, name)) for b in (cpu, gpu, other))
            assert np.array_equal(here[[0, 4]], there[[3, 1]]) and np.array_equal(here[[0, 4]], elsewhere), name


def test_parameters_of_worlds_reach_the_gpu_when_they_are_written(pair, rng):
    cpu, gpu = pair
    for name in ("body_mass", "shape_material_mu", "gravity", "joint_target_ke"):
        factor = rng.uniform(0.8, 1.2, cpu.expand(name).shape)
        for batch in pair:
            assert isinstance(batch.expand(name), np.ndarray)
            batch.expand(name)[...] *= factor
            batch.step(2)
        assert_same(cpu, gpu)
    for batch in pair:
        batch.body_mass[2, 0] = np.nan
        batch.step(2)
        assert batch.status_text(2) == ["bad_parameters"]
    assert_same(cpu, gpu)
    assert gpu.expanded == [name for name in PARAMETERS if name in gpu.get_state()]


def test_a_rollout_is_the_same_on_both(pair, rng):
    cpu, gpu = pair
    targets = cpu.model.joint_target_pos + 0.1 * rng.normal(size=(3, 5, cpu.model.num_dofs))
    here, there = (batch.rollout({"joint_target_pos": targets}, record=["joint_q", "status"]) for batch in pair)
    assert all(np.array_equal(here[name], there[name]) for name in here)


def test_an_array_outlives_its_batch(driver, cube):
    batch = sapwood.Batch(cube, 3, device="cuda:0")
    array = batch.joint_q
    before = array.numpy()
    batch.close()
    del batch
    assert np.array_equal(array.numpy(), before)


def test_rays_meet_the_same_on_both_devices(pair):
    cpu, gpu = pair
    origins, directions = sapwood.pattern_lidar(3, 40)
    for batch in pair:
        batch.step(3)
    expected, got = (batch.raycast(origins, directions, body=0, exclude_body=0) for batch in (cpu, gpu))
    assert all(np.array_equal(a, b) for a, b in zip(expected, got)) and np.any(got.shape >= 0)


# ---- contacts of the caller ----


def test_contacts_of_numpy_and_of_the_device_give_the_bits_of_the_cpu(pair):
    cpu, gpu = pair
    finder = [sapwood.Batch(cpu.model, 5, device=device, seed=4) for device in ("cpu", "cuda")]
    for batch in finder:
        batch.perturb()
    for k in range(12):
        for batch in finder:
            batch.step(4)
        host = finder[0].contacts.copy()
        cpu.step(contacts=host)
        gpu.step(contacts=finder[1].contacts if k % 2 else host)
        assert np.array_equal(cpu.joint_q, gpu.joint_q.numpy()) and np.array_equal(cpu.status, gpu.status.numpy()), k
    assert cpu.contact_count.sum() > 0 and finder[1].contacts.on_gpu
    assert np.array_equal(cpu.contact_force, gpu.contact_force.numpy())


@pytest.mark.parametrize("capacity", [3, 40])
def test_contacts_of_numpy_with_more_or_fewer_slots_than_the_batch_lose_none_uncounted(pair, capacity):
    contacts = sapwood.Contacts(5, capacity)
    contacts.body1[:], contacts.normal[..., 2], contacts.point1[..., 2], contacts.mu[:] = 0, 1, -0.2, 0.3
    contacts.count, contacts.dropped[4] = [0, 2, capacity, capacity + 7, 1], 2
    for batch in pair:
        batch.step(contacts=contacts)
    cpu, gpu = pair
    for name in ("joint_q", "contact_count", "contact_dropped", "status"):
        assert np.array_equal(getattr(cpu, name), getattr(gpu, name).numpy()), name
    used = np.arange(cpu.contact_mu.shape[1]) < cpu.contact_count[:, None]
    assert np.all(cpu.contact_mu[used] == 0.3) and np.all(gpu.contact_mu.numpy()[used] == 0.3)
    slots = min(capacity, cpu.info["capacity"])
    assert cpu.contact_dropped.tolist() == [0, 0, capacity - slots, capacity + 7 - slots, 2]


def test_contacts_of_two_memories_are_refused(pair):
    cpu, gpu = pair
    with pytest.raises(sapwood.DeviceError, match="the contacts are in GPU memory, and the worlds are on the CPU"):
        cpu.step(contacts=gpu.contacts)
    with pytest.raises(sapwood.DeviceError, match="some arrays of the contacts are in GPU memory"):
        gpu.step(contacts={**dict(gpu.contacts.items()), "mu": np.zeros(gpu.contact_shape0.shape, gpu.contacts.dtype)})
    with pytest.raises(TypeError, match="the worlds are on the CPU; a batch runs on both"):
        solver = sapwood.Solver(cpu.model, 5)
        solver.step(solver.state(), solver.state(), contacts=gpu.contacts)
