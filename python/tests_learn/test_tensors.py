"""Tasks that compute with torch: the numbers of numpy, and on a GPU nothing but tensors."""

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import sapwood
from sapwood import kit, xp
from sapwood.gym import Gripper, Humanoid, Quadruped
from sapwood.keys import random_integers, random_keys, random_units

torch.set_num_threads(1)
TASKS = {
    "quadruped": Quadruped,
    "rough": lambda worlds, **rest: Quadruped(worlds, ground="rough", **rest),
    "humanoid": Humanoid,
    "gripper": Gripper,
    "disturbed": lambda worlds, **rest: Quadruped(
        worlds,
        randomize={"body_mass": kit.Scale(kit.LogUniform(0.8, 1.25), each=True)},
        pushes=(kit.Uniform(0.3, 0.5), 0.1),
        sensor_noise=kit.Noise(kit.Gaussian(0, 1), 0.05),
        delay=2,
        critic=True,
        **rest,
    ),
}


@pytest.fixture
def tensors():
    with sapwood.Batch(sapwood.scene("cube"), 1) as batch:
        yield xp.Torch(batch)


def test_keys_give_the_same_bits_in_numpy_and_torch():
    seeds, worlds = np.arange(-3, 500), np.arange(503) * 2**55
    ours, theirs = random_keys(seeds, worlds, 7), random_keys(torch.from_numpy(seeds), torch.from_numpy(worlds), 7)
    assert np.array_equal(ours.view(np.int64), theirs.numpy())
    assert np.array_equal(random_units(ours, 5), random_units(theirs, 5).numpy())
    assert np.array_equal(random_integers(ours, 9), random_integers(theirs, 9).numpy())


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("task", TASKS)
def test_a_task_of_tensors_is_the_task_of_numpy(task, mode):
    """The state is the library's, bit for bit; functions such as exp differ in the last digit."""
    settings = {"autoreset_mode": mode, "threads": 1, "time_limit": 15, "seed": 3}
    arrays, tensors = TASKS[task](6, **settings), TASKS[task](6, arrays="torch", **settings)
    rng, ends = np.random.default_rng(0), 0
    ours, theirs = arrays.reset(seed=5)[0], tensors.reset(seed=5)[0]
    assert isinstance(theirs, torch.Tensor) and theirs.dtype == torch.float32
    for _ in range(40):
        assert np.allclose(ours, theirs.numpy(), rtol=1e-5, atol=1e-6)
        action = 2 * rng.uniform(-1, 1, arrays.action_space.shape)
        ours, reward, *flags, info = arrays.step(action)
        theirs, its_reward, *its_flags, its_info = tensors.step(torch.from_numpy(action))
        assert np.allclose(reward, its_reward.numpy(), rtol=1e-9, atol=1e-12)
        assert all(np.array_equal(a, b.numpy()) for a, b in zip(flags, its_flags))
        assert info.keys() == its_info.keys() and np.array_equal(arrays.batch.joint_q, tensors.batch.joint_q)
        assert info.get("log", {}) == pytest.approx(its_info.get("log", {}), rel=1e-9)
        ends += int(np.sum(flags))
    assert ends > 6


def test_a_nan_action_ends_its_world_and_no_tensor_has_a_nan():
    env = Quadruped(3, arrays="torch", threads=1, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    actions = torch.zeros(3, 12)
    actions[1, 4] = torch.nan
    observation, reward, terminated, _, info = env.step(actions)
    assert terminated.tolist() == [False, True, False] and env.failures == 1
    assert all(torch.isfinite(x).all() for x in (observation, reward, info["final_obs"]))


def test_a_checkpoint_of_tensors_continues_bit_for_bit(tmp_path):
    def run(env, steps):
        for step in range(steps):
            out = env.step(torch.full((4, 12), 0.3 * np.sin(step)))
        return out[0].clone()

    one, two = (Quadruped(4, arrays="torch", threads=1, ground="rough", time_limit=9) for _ in range(2))
    one.reset(seed=1), two.reset(seed=2)
    run(one, 12)
    one.save(tmp_path / "state.npz")
    assert torch.equal(two.load(tmp_path / "state.npz"), one._buffers[one._turn])
    assert torch.equal(run(one, 12), run(two, 12))


def test_parts_of_tasks_compute_with_tensors(tensors):
    keys = random_keys(np.arange(64))
    bits, worlds = torch.from_numpy(keys.view(np.int64)), np.arange(64)
    for distribution in (kit.Uniform(-1, 2), kit.LogUniform(0.5, 2), kit.Gaussian(1, 3)):
        assert np.allclose(distribution.draw(keys, 3), distribution.draw(bits, 3).numpy(), rtol=1e-12)
    makers = {
        "history": lambda arrays: kit.History(64, 2, 3, arrays),
        "delay": lambda arrays: kit.Delay(64, 2, 3, arrays),
        "filter": lambda arrays: kit.LowPass(64, 2, 0.1, 0.02, arrays),
    }
    for name, make in makers.items():
        ours, theirs = make(xp.NUMPY), make(tensors)
        if name == "delay":
            ours.reset(worlds, keys), theirs.reset(torch.from_numpy(worlds), bits)
        for step in range(5):
            x = np.sin(np.arange(128).reshape(64, 2) + step)
            assert np.allclose(ours(x), theirs(torch.from_numpy(x)).numpy(), rtol=1e-6)
            if step == 2 and name != "delay":
                ours.reset(worlds[::2]), theirs.reset(torch.from_numpy(worlds[::2]))
    seen, tensor = np.zeros((64, 2), np.float32), torch.zeros(64, 2)
    noise = kit.Noise(kit.Gaussian(0, 1), [0.1, 0.2])
    noise(seen, keys), noise(tensor, bits)
    assert np.allclose(seen, tensor.numpy(), rtol=1e-6)


def test_pushes_change_velocities_through_tensors():
    batches = [sapwood.Batch(sapwood.scene("quadruped"), 8, threads=1) for _ in range(2)]
    keys, age = random_keys(np.arange(8)), np.arange(8)
    kit.Pushes(batches[0], kit.Uniform(-1, 1), 3)(age, keys)
    pushes = kit.Pushes(batches[1], kit.Uniform(-1, 1), 3, arrays=xp.Torch(batches[1]))
    pushes(torch.from_numpy(age), torch.from_numpy(keys.view(np.int64)))
    assert np.array_equal(batches[0].joint_qd, batches[1].joint_qd) and np.any(batches[1].joint_qd[3])


def test_other_arrays_are_refused():
    with pytest.raises(ValueError, match="arrays is 'jax'; it must be 'numpy' or 'torch'"):
        Quadruped(2, arrays="jax")
    from sapwood.rl import sb3

    with pytest.raises(ValueError, match="Stable-Baselines3 needs 'numpy'"):
        sb3.VecEnv(Quadruped(2, arrays="torch", autoreset_mode=AutoresetMode.SAME_STEP))


class OnTheDevice:
    """A tensor over an array of a GPU that is a stand-in: its memory is that of this process."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = {"version": 3, "data": (array.pointer, False), "shape": array.shape}
        self.__array_interface__["typestr"] = array.dtype.str


def test_on_a_gpu_a_step_of_a_task_touches_no_array_of_the_host(monkeypatch):
    """The batch is on the stand-in for a GPU of lab/ptx; torch has none, so tensors are views of its memory."""
    try:
        sapwood.Batch(sapwood.scene("cube"), 1, device="cuda").close()
    except sapwood.DeviceError as error:
        pytest.skip(str(error))

    def create(space, batch):
        space.torch, space.device = torch, torch.device("cpu")

    def live(space, batch, name):
        return torch.from_numpy(np.asarray(OnTheDevice(getattr(batch, name))))

    def refuse(*_):
        raise AssertionError("a copy to the host")

    monkeypatch.setattr(xp.Torch, "__init__", create)
    monkeypatch.setattr(xp.Torch, "live", live)
    settings = {"autoreset_mode": AutoresetMode.SAME_STEP, "time_limit": 3}
    host, gpu = Quadruped(3, threads=1, **settings), Quadruped(3, device="cuda", **settings)
    ours, theirs = host.reset(seed=5)[0], gpu.reset(seed=5)[0]
    monkeypatch.setattr(sapwood.arrays.DeviceArray, "numpy", refuse)
    monkeypatch.setattr(sapwood.arrays.DeviceArray, "write", refuse)
    for step in range(5):
        assert np.allclose(ours, theirs.numpy(), rtol=1e-5, atol=1e-6)
        action = np.full((3, 12), 0.2 * np.sin(step))
        ours, theirs = host.step(action)[0], gpu.step(torch.from_numpy(action))[0]
        gpu.batch.synchronize()
