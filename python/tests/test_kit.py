"""Parts of tasks: each against what it says."""

import re

import numpy as np
import pytest

import sapwood
from sapwood import kit
from sapwood.keys import random_keys

from conftest import ROOT, SCENES

KEYS = random_keys(np.arange(20000))
SOME = np.arange(4)


@pytest.fixture
def batch():
    return sapwood.Batch(sapwood.Model.load(SCENES / "quadruped.yaml"), 4)


@pytest.mark.parametrize(
    "distribution, mean, std",
    [
        (kit.Uniform(2, 5), 3.5, 3 / np.sqrt(12)),
        (kit.Gaussian(1, 2), 1, 2),
        (kit.LogUniform(0.5, 2), 1.5 / np.log(4), None),
    ],
)
def test_distributions_have_their_moments(distribution, mean, std):
    x = distribution.draw(KEYS, 3)
    assert x.mean(axis=0) == pytest.approx([mean] * 3, abs=0.03)
    assert std is None or x.std(axis=0) == pytest.approx([std] * 3, rel=0.02)
    assert np.abs(np.corrcoef(x.T) - np.eye(3)).max() < 0.03, "columns are independent"
    assert np.array_equal(distribution.draw(KEYS[5:9], 3), x[5:9]), "a world's numbers depend on its key only"


def test_halving_is_as_likely_as_doubling():
    assert np.median(kit.LogUniform(0.5, 2).draw(KEYS, 1)) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    "make",
    [
        lambda: kit.Uniform(2, 1),
        lambda: kit.LogUniform(0, 1),
        lambda: kit.Gaussian(0, -1),
        lambda: kit.Uniform(0, np.inf),
    ],
)
def test_ranges_that_make_no_sense_are_refused(make):
    with pytest.raises(ValueError, match="must be finite"):
        make()


def test_a_mass_that_is_scaled_scales_the_inertia(batch):
    randomize = kit.Randomizer(batch, body_mass=kit.Scale(kit.Uniform(0.5, 2), each=True))
    randomize(np.array([1, 3]), KEYS[:2])
    factor = batch.body_mass / batch.model.body_mass
    assert np.array_equal(factor[[0, 2]], np.ones((2, 13))) and len(np.unique(factor[1])) == 13
    assert batch.body_inertia == pytest.approx(factor[..., None] * batch.model.body_inertia)
    batch.check_parameters()


def test_values_are_those_of_the_world_or_of_each_entry(batch):
    mu = kit.Value(kit.Uniform(0.4, 1.2))
    kit.Randomizer(batch, shape_material_mu=mu, joint_damping=kit.Value(kit.Uniform(0, 1), each=True))(SOME, KEYS[:4])
    assert (
        all(len(np.unique(row)) == 1 for row in batch.shape_material_mu)
        and len(np.unique(batch.shape_material_mu)) == 4
    )
    legs = np.s_[:, 6:]
    assert len(np.unique(batch.joint_damping[legs])) == 4 * 12


def test_the_base_of_a_robot_keeps_its_dofs_unless_its_joint_is_named(batch):
    friction, base = kit.Value(kit.Uniform(1, 2), each=True), batch.model.joint_friction[:6].copy()
    kit.Randomizer(batch, joint_friction=friction)(SOME, KEYS[:4])
    assert np.array_equal(batch.joint_friction[:, :6], np.tile(base, (batch.num_worlds, 1)))
    legs = batch.joint_friction[SOME, 6:].copy()
    assert np.all((legs >= 1) & (legs <= 2))
    named = kit.Value(kit.Uniform(1, 2), each=True, of=[batch.model.joint_name[0], "*_knee"])
    kit.Randomizer(batch, joint_friction=named)(SOME, KEYS[:4])
    assert np.all(batch.joint_friction[SOME, :6] >= 1) and np.array_equal(batch.joint_friction[SOME, 6:], legs)


def test_the_example_of_the_documentation_leaves_the_base_alone():
    text = (ROOT / "docs/tasks.md").read_text()
    code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "Randomizer(" in block)
    names = {}
    exec(code, names)
    friction = names["batch"].joint_friction
    assert np.all(friction[:, :6] == 0) and np.all(friction[:, 6:] > 0)


def test_entries_are_chosen_by_names_and_patterns(batch):
    names = batch.model.body_name
    chosen = [i for i, name in enumerate(names) if name.endswith("thigh")]
    kit.Randomizer(batch, body_mass=kit.Scale(kit.Uniform(2, 3), of="*thigh"))(SOME, KEYS[:4])
    changed = batch.body_mass[SOME] != batch.model.body_mass
    assert 0 < len(chosen) < len(names) and np.array_equal(np.nonzero(changed.all(axis=0))[0], chosen)
    assert np.array_equal(changed.any(axis=0), changed.all(axis=0))
    batch.check_parameters()
    with pytest.raises(ValueError, match=r"body_mass: nothing has the name 'trnk'; did you mean 'trunk'\?"):
        kit.Randomizer(batch, body_mass=kit.Scale(kit.Uniform(2, 3), of="trnk"))
    with pytest.raises(ValueError, match="gravity has no entries with names"):
        kit.Randomizer(batch, gravity=kit.Scale(kit.Uniform(2, 3), of="trunk"))


def test_commands_change_after_their_period_and_depend_on_the_world_only():
    wide, narrow = (kit.Commands(n, [kit.Uniform(0, 1), kit.Uniform(-1, 0)], period=10) for n in (6, 2))
    wide.reset(np.arange(6), KEYS[:6])
    narrow.reset(np.arange(2), KEYS[4:6])
    seen = []
    for age in range(1, 31):
        wide.tick(np.full(6, age))
        narrow.tick(np.full(2, age))
        assert np.array_equal(wide.value[4:], narrow.value)
        seen.append(wide.value[0, 0])
    assert len(set(seen)) == 4 and np.all(wide.value[:, 1] <= 0)


def test_a_part_of_the_commands_is_to_stand_still():
    commands = kit.Commands(20000, [kit.Uniform(0.1, 1)], period=5, still=0.25)
    commands.reset(np.arange(20000), KEYS)
    assert np.mean(commands.value == 0) == pytest.approx(0.25, abs=0.02)


def test_rewards_add_up_and_log_their_terms_per_second():
    rewards = kit.Rewards(3, 0.5, good=(2.0, lambda: np.array([1.0, 2, np.nan])), bad=(-1.0, lambda: np.ones(3)))
    assert rewards().tolist() == [0.5, 1.5, -0.5]
    rewards()
    assert rewards.log(np.zeros(3, bool)) == {}
    assert rewards.log(np.array([False, True, False])) == {"reward/good": 4.0, "reward/bad": -1.0}
    assert rewards.steps.tolist() == [2, 0, 2]


def test_a_history_has_the_newest_first_and_starts_full():
    history = kit.History(2, 1, 3)
    for t in (1.0, 2.0, 3.0):
        out = history(np.full((2, 1), t, np.float32))
    assert out.tolist() == [[3, 2, 1]] * 2
    history.reset(np.array([1]))
    assert history(np.full((2, 1), 9, np.float32)).tolist() == [[9, 3, 2], [9, 9, 9]]


def test_a_history_moves_on_only_in_worlds_whose_age_has_changed():
    """An environment with SAME_STEP observes twice in a step in which a world ends: the others must not notice."""
    history, once = kit.History(2, 1, 3), kit.History(2, 1, 3)
    for t in (1, 2, 3):
        frame, age = np.full((2, 1), t, np.float32), np.full(2, t)
        once(frame, age), history(frame, age)
        out = history(frame, age)
    assert out.tolist() == [[3, 2, 1]] * 2 and np.array_equal(out, once(frame, age))
    history.reset(np.array([1]))
    assert history(np.full((2, 1), 9, np.float32), np.array([3, 0])).tolist() == [[9, 2, 1], [9, 9, 9]]


def test_the_motion_of_a_base_is_in_its_own_axes(batch):
    turn = [0, 0, np.sqrt(0.5), np.sqrt(0.5)]  # a quarter turn about z: the x axis of the base is the world's y
    batch.joint_q[0, 3:7], batch.joint_qd[0, :6] = turn, [0, 2, 0, 1, 0, 0]
    batch.joint_q[1, 3:7] = [1, 0, 0, 0]  # upside down
    motion = kit.base_motion(batch.joint_q, batch.joint_qd)
    assert motion.gravity[:2] == pytest.approx(np.array([[0, 0, -1], [0, 0, 1]]), abs=1e-7)
    assert motion.velocity[0] == pytest.approx([2, 0, 0], abs=1e-6)
    assert motion.turning[0] == pytest.approx([0, -1, 0], abs=1e-6)


def test_a_delayed_action_arrives_whole_and_late():
    delay = kit.Delay(200, 1, 2)
    delay.reset(np.arange(200), KEYS[:200])
    out = np.array([delay(np.full((200, 1), float(t)))[:, 0] for t in range(1, 6)])
    assert np.array_equal(out[-1], 5 - delay.steps) and set(delay.steps) == {0, 1, 2}
    assert np.array_equal(out[0], np.where(delay.steps == 0, 1, 0))


def test_a_low_pass_follows_the_exponential():
    filtered = kit.LowPass(1, 1, time=0.3, dt=0.1)
    values = [float(filtered(np.ones((1, 1)))[0, 0]) for _ in range(5)]
    assert values == pytest.approx(1 - np.exp(-np.arange(1, 6) / 3))
    assert kit.LowPass(1, 1, time=0.0, dt=0.1)(np.ones((1, 1)))[0, 0] == 1


def test_noise_has_the_scale_of_each_column():
    observation = np.zeros((20000, 2), np.float32)
    kit.Noise(kit.Gaussian(0, 1), [0.5, 0.0])(observation, KEYS)
    assert observation.std(axis=0) == pytest.approx([0.5, 0], abs=0.01)


def test_a_motor_is_weaker_the_faster_it_turns(batch):
    motor = kit.DcMotor(batch, np.arange(6, 18), stall=30.0, no_load=20.0)
    batch.joint_qd[:, 6] = [0, 10, -10, 25]
    motor()
    assert batch.joint_effort_limit[:, 6] == pytest.approx([30, 15, 15, 3e-5])
    batch.check_parameters()
    batch.joint_target_pos[:, 6:] += 100  # far beyond the limit
    batch.step()
    assert batch.stats["failed"] == 0


def test_pushes_come_after_their_period(batch):
    push = kit.Pushes(batch, kit.Uniform(0.5, 1), period=3)
    before = batch.joint_qd.copy()
    push(np.array([0, 3, 4, 6]), KEYS[:4])
    changed = batch.joint_qd - before
    assert np.array_equal(np.any(changed, axis=1), [False, True, False, True])
    assert np.all(changed[[1, 3], :2] >= 0.5) and not changed[:, 2:].any()


def test_levels_go_up_and_down_and_pass_round():
    levels = kit.Levels(4, 3, kinds=2, start=1)
    yes, no = np.ones(4, bool), np.zeros(4, bool)
    levels.update(SOME, yes, no, KEYS[:4])
    assert levels.level.tolist() == [2] * 4
    levels.update(SOME[:2], no[:2], yes[:2], KEYS[:2])
    assert levels.level.tolist() == [1, 1, 2, 2] and levels.kind.tolist() == [0, 1, 0, 1]
    for _ in range(3):
        levels.update(SOME, no, yes, KEYS[:4])
    assert levels.level.tolist() == [0] * 4
    levels = kit.Levels(20000, 3, start=2)
    levels.update(np.arange(20000), np.ones(20000, bool), np.zeros(20000, bool), KEYS)
    assert np.bincount(levels.level) / 20000 == pytest.approx([1 / 3] * 3, abs=0.02)
