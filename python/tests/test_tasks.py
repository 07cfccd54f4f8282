"""The finished tasks: quadrupeds on flat ground and on terrain, a humanoid, a gripper."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")
from gymnasium.vector import AutoresetMode  # noqa: E402

import sapwood  # noqa: E402
from sapwood import terrain  # noqa: E402
from sapwood.gym import Gripper, Humanoid, Legged, Quadruped, legged  # noqa: E402
from sapwood.kit import Gaussian, LogUniform, Noise, Scale, Uniform, Value  # noqa: E402

MAKE = {
    "quadruped": Quadruped,
    "rough": lambda worlds, **rest: Quadruped(worlds, ground="rough", **rest),
    "humanoid": Humanoid,
    "gripper": Gripper,
}
NAMES = {
    "quadruped": "QuadrupedVelocity-v0",
    "rough": "QuadrupedRough-v0",
    "humanoid": "HumanoidWalk-v0",
    "gripper": "GripperLift-v0",
}


@pytest.mark.parametrize("task", MAKE)
def test_random_actions_give_finite_observations_in_their_space(task):
    env = MAKE[task](6, threads=1, time_limit=30, autoreset_mode=AutoresetMode.SAME_STEP)
    rng, logs = np.random.default_rng(0), []
    env.reset(seed=0)
    for _ in range(70):
        observation, reward, *_, info = env.step(rng.uniform(-1, 1, env.action_space.shape))
        assert env.observation_space.contains(observation) and np.isfinite(reward).all()
        logs += [info["log"]] if "log" in info else []
    assert len(logs) >= 2 and all(np.isfinite(list(log.values())).all() for log in logs)


@pytest.mark.parametrize("task", MAKE)
def test_a_checkpoint_continues_with_the_same_bits(task, tmp_path):
    actions = np.random.default_rng(1).uniform(-1, 1, (40, 5, MAKE[task](1).single_action_space.shape[0]))

    def go(env, part):
        return [env.step(a)[:2] for a in part][-1]

    settings = {"time_limit": 13, "autoreset_mode": AutoresetMode.SAME_STEP, "threads": 1}
    env = MAKE[task](5, **settings)
    env.reset(seed=3)
    go(env, actions[:20])
    env.save(tmp_path / "env")
    whole = [x.copy() for x in go(env, actions[20:])]
    other = MAKE[task](5, **settings)
    other.load(tmp_path / "env")
    assert all(np.array_equal(a, b) for a, b in zip(whole, go(other, actions[20:])))


@pytest.mark.parametrize("task", MAKE)
def test_worlds_do_not_depend_on_the_process_that_steps_them(task):
    whole, part = MAKE[task](6, threads=1), MAKE[task](3, threads=1, world_offset=2)
    actions = np.random.default_rng(2).uniform(-1, 1, (20, *whole.action_space.shape))
    whole.reset(seed=5), part.reset(seed=5)
    for a in actions:
        all_worlds, mine = whole.step(a)[0], part.step(a[2:5])[0]
    assert np.array_equal(all_worlds[2:5], mine)


@pytest.mark.parametrize("task", MAKE)
def test_a_task_has_a_name_in_gymnasium(task):
    import gymnasium

    env = gymnasium.make_vec(f"sapwood/{NAMES[task]}", num_envs=2, threads=1)
    assert type(env) is type(MAKE[task](1)) and env.reset(seed=0)[0].shape == env.observation_space.shape
    env.close()


def test_commands_change_every_five_seconds():
    env = Quadruped(4, threads=1, noise=0.0)
    env.reset(seed=0)
    seen = [env.command.copy()]
    for _ in range(251):
        env.step(np.zeros((4, 12)))
        seen.append(env.command.copy())
    changes = [i for i in range(1, len(seen)) if np.any(seen[i] != seen[i - 1])]
    assert changes == [251], "250 steps of 0.02 s, then another command"
    assert np.all((seen[-1][:, 0] >= 0) & (seen[-1][:, 0] <= 1))


def test_terrain_carries_the_robots_and_levels_follow_how_well_they_walk():
    ground = terrain.make(["flat", "slope"], levels=3, size=6.0)
    env = Quadruped(6, ground=ground, threads=1, noise=0.0, command=(0.5, 0, 0), time_limit=20)
    env.reset(seed=0)
    for _ in range(17):
        observation, *_ = env.step(np.zeros((6, 12)))
    assert np.allclose(observation[:, 0], 1, atol=0.2), "all stand on their cells"
    assert np.allclose(env.wanted, 17 * 0.02 * 0.5) and np.abs(env.walked).max() < 0.1, "they stand"
    env.level[:], env.wanted[:], env.walked[:] = 1, 2.0, [1.2, 1.6, 0.9, 1.6, 1.6, 1.6]
    env.wanted[4], env.walked[4] = 1.0, 1.0  # too little to say
    env.batch.joint_q[5, 2] = 0.1  # it falls
    for _ in range(4):  # the last one resets them
        env.step(np.zeros((6, 12)))
    assert env.level.tolist() == [1, 2, 0, 2, 1, 0]
    where = env.batch.joint_q[:, :2] - env.ground.origins[env.level, np.arange(6) % 2, :2]
    assert np.abs(where).max() < 0.01


def test_the_height_scan_is_the_ground_around_the_robot():
    ground = terrain.make(["stairs"], levels=1, size=6.0)
    env = Quadruped(2, ground=ground, threads=1, noise=0.0)
    env.reset(seed=0)
    env.batch.joint_q[:, :2] += [0.97, 0.31]  # from the platform to the stairs
    env.batch.joint_q[1, 3:7] = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]  # it looks along y
    env.batch.forward_kinematics()
    points, _ = sapwood.pattern_grid(*legged.SCAN)
    x, y, z = np.array(env.batch.joint_q[0, :3], float)
    expected = [ground.at(x + points[:, 0], y + points[:, 1]), ground.at(x - points[:, 1], y + points[:, 0])]
    assert np.allclose(env.depths(), z - np.array(expected) - env.height, atol=1e-5)
    assert np.ptp(env.depths()) > 0.3, "there are stairs within the scan"


def test_another_quadruped_can_take_the_task():
    model = sapwood.scene("quadruped")
    model.set_drive(None, 60.0, 2.0, 30.0)
    env = Quadruped(2, model=model, threads=1, noise=0.0, command=(0, 0, 0))
    env.reset(seed=0)
    for _ in range(100):
        observation, *_ = env.step(np.zeros((2, 12)))
    assert env.height == pytest.approx(0.45) and np.allclose(observation[:, 49:53].sum(axis=1), 4, rtol=0.05)


def test_a_model_that_is_no_quadruped_is_refused():
    with pytest.raises(ValueError, match="gripper has 3 bodies without children"):
        Quadruped(2, model=sapwood.scene("gripper"), threads=1)
    with pytest.raises(ValueError, match="cartpole is not free"):
        Legged(2, sapwood.scene("cartpole"), ["pole"], 1.0)


def test_a_model_without_drives_and_a_wrong_ground_are_refused():
    model = sapwood.scene("quadruped")
    bare = sapwood.Model(dt=model.dt, **(model.arrays() | {"joint_target_ke": np.zeros(18)}))
    with pytest.raises(ValueError, match="no drives; model.set_drive"):
        Quadruped(2, model=bare, threads=1)
    with pytest.raises(ValueError, match="'rogh'.*'rough'"):
        Quadruped(2, ground="rogh")


HARD = {
    "randomize": {"body_mass": Scale(LogUniform(0.8, 1.25), each=True), "shape_material_mu": Value(Uniform(0.5, 1.2))},
    "pushes": (Uniform(0.3, 0.5), 0.1),
    "sensor_noise": Noise(Gaussian(0, 1), 0.05),
    "delay": 2,
}


def test_a_robot_with_legs_takes_randomisation_pushes_noise_and_delay():
    plain = Quadruped(4, threads=1, noise=0.0, command=(0, 0, 0))
    hard = Quadruped(4, threads=1, noise=0.0, command=(0, 0, 0), **HARD, critic=True)
    first = plain.reset(seed=0)[0], hard.reset(seed=0)[0]
    assert set(hard.batch.expanded) >= {"body_mass", "shape_material_mu"} and not plain.batch.expanded
    assert np.all(hard.batch.body_mass != plain.batch.model.body_mass)
    error = first[1] - first[0]
    assert 0.03 < error.std() < 0.07 and np.abs(error).max() < 0.3, "noise of 0.05 in every column"
    assert plain.critic_size == 0 and np.array_equal(hard.critic(), first[0]), "a critic sees no noise"
    hard.reset(seed=0)
    action = np.full((4, 12), 0.3)
    speeds = []
    for step in range(1, 6):
        before = hard.batch.joint_qd[:, :2].copy()
        hard.act(action)
        speeds.append(np.abs(hard.batch.joint_qd[:, :2] - before).max())
        moved = np.abs(hard.target[:, 6:] - hard.standing).max(axis=1) > 0.1
        assert np.array_equal(moved, hard.delay.steps < step), "an action arrives after 0, 1 or 2 steps"
        hard.age += 1
    assert len(set(hard.delay.steps.tolist())) > 1
    for _ in range(6):
        before = hard.batch.joint_qd[:, :2].copy()
        hard.act(action)
        speeds.append(np.abs(hard.batch.joint_qd[:, :2] - before).max())
        hard.age += 1
    pushed = [step for step, speed in enumerate(speeds) if speed > 0]
    assert pushed == [5, 10] and min(speeds[5], speeds[10]) >= 0.3, "every 5 steps of 0.02 s"


def test_hard_worlds_do_not_depend_on_others_and_continue_from_a_checkpoint(tmp_path):
    settings = {"autoreset_mode": AutoresetMode.SAME_STEP, "time_limit": 9, "threads": 1, **HARD, "critic": True}
    whole, part = Quadruped(6, **settings), Quadruped(3, world_offset=2, **settings)
    actions = np.random.default_rng(2).uniform(-1, 1, (24, *whole.action_space.shape))
    whole.reset(seed=5), part.reset(seed=5)
    for a in actions[:12]:
        assert np.array_equal(whole.step(a)[0][2:5], part.step(a[2:5])[0])
    assert np.array_equal(whole.critic()[2:5], part.critic())
    whole.save(tmp_path / "env")
    other = Quadruped(6, **settings)
    other.load(tmp_path / "env")
    assert np.array_equal(whole.critic(), other.critic())
    for a in actions[12:]:
        assert np.array_equal(whole.step(a)[0], other.step(a)[0])


def test_a_task_without_a_critic_says_so():
    with pytest.raises(ValueError, match="critic_size is 0"):
        Quadruped(2, threads=1).critic()


def test_a_gripper_that_closes_and_rises_lifts_the_cube_to_the_goal():
    env = Gripper(8, threads=1, time_limit=150)
    observation, _ = env.reset(seed=0)
    logs = []
    for step in range(150):
        rise = -np.ones(8) if step < 25 else observation[:, 19] if step > 40 else np.zeros(8)
        close = np.full(8, -1.0 if step < 25 else 1.0)
        observation, reward, _, truncated, info = env.step(np.stack([rise, close], axis=1))
        logs += [info["log"]] if "log" in info else []
    assert truncated.all() and np.all(env.batch.joint_q[:, 5] > 0.07), "every cube is lifted"
    assert logs[-1]["success"] == 1 and np.all(observation[:, 20:22] > 0.1), "the fingers feel it"
    assert np.all(reward > 1.9), "of at most 2: at the goal, lifted, in place and grasped"


def test_a_humanoid_that_holds_its_pose_bears_its_weight_on_two_feet():
    env = Humanoid(2, threads=1, noise=0.0, command=(0, 0, 0))
    env.reset(seed=0)
    for _ in range(10):
        observation, reward, *_ = env.step(np.zeros((2, 11)))
    assert observation.shape == (2, 50)
    assert np.allclose(observation[:, 46:48].sum(axis=1), 2, rtol=0.3) and np.all(reward > 1)


def test_a_humanoid_is_rewarded_for_the_foot_that_swings():
    env = Humanoid(2, threads=1, noise=0.0, command=(0.5, 0, 0))
    env.reset(seed=0)
    for _ in range(10):
        env.step(np.zeros((2, 11)))  # a quarter of the stride: the left foot should swing
    env.wrench[1, env.feet[0]] = 0
    assert env.term_gait() == pytest.approx([0, 1], abs=0.1), "world 0 stands on both feet"
    env.age[:] = 30  # three quarters: the right foot
    assert env.term_gait() == pytest.approx([0, 0], abs=0.1)


@pytest.mark.parametrize("task", MAKE)
def test_the_checker_of_gymnasium_passes(task):
    import gymnasium
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make(f"sapwood/{NAMES[task]}")
    check_env(env.unwrapped, skip_render_check=True)
    env.close()
