"""contact_solver = mujoco: the geometry of contacts where a normal or a tangent has no direction of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood

mujoco = pytest.importorskip("mujoco")

CAPSULE = """<mujoco><option timestep="0.002" cone="{cone}" jacobian="dense"><flag island="disable"/></option>
<worldbody><geom type="plane" size="5 5 1" quat="{plane}" friction="0.6"/>
 <body pos="0 0 1"><freejoint/><geom type="capsule" size="0.1 0.3" mass="2"/></body></worldbody></mujoco>"""


def quaternion(axis: Any, angle: float) -> Any:
    q = np.zeros(4)
    mujoco.mju_axisAngle2Quat(q, np.asarray(axis, float) / np.linalg.norm(axis), angle)
    return q


def product(p: Any, q: Any) -> Any:
    out = np.zeros(4)
    mujoco.mju_mulQuat(out, p, q)
    return out


# Turns of a plane: level, inclined, vertical, and as a ceiling; with it turns the capsule that stands on it.
PLANES = {
    "level": quaternion([0, 0, 1], 0.0),
    "turned": quaternion([0, 0, 1], 0.7),
    "inclined": quaternion([1, 0, 0], 0.3),
    "oblique": quaternion([0.3, 0.5, 0.2], 0.6),
    "wall": quaternion([0, 1, 0], np.pi / 2),
    "ceiling": quaternion([1, 0, 0], np.pi),
}


class Twin:
    """A capsule that stands on its plane, turned by `tilt` (and upside down), in MuJoCo and in a batch."""

    def __init__(self, plane: str, tilt: float, upside_down: bool, cone: str, preset: str):
        turn = PLANES[plane]
        text = CAPSULE.format(cone=cone, plane=" ".join(repr(float(x)) for x in turn))
        self.m = mujoco.MjModel.from_xml_string(text)
        self.d = mujoco.MjData(self.m)
        own = product(quaternion([0.6, 0.8, 0], tilt), quaternion([1, 0, 0], np.pi if upside_down else 0.0))
        mujoco.mju_rotVecQuat(self.d.qpos[:3], np.array([0.02, 0.01, 0.3995]), turn)
        self.d.qpos[3:] = product(turn, own)
        mujoco.mju_rotVecQuat(self.d.qvel[:3], np.array([0.3, -0.2, -0.1]), turn)
        model = sapwood.Model.from_mjmodel(self.m, quiet=True, law="mujoco")
        self.batch = sapwood.Batch(model, 1, preset=preset, options={"threads": 1})
        self.frames = self.batch.contact_frame
        self.batch.qpos, self.batch.qvel = self.d.qpos, self.d.qvel

    def step(self) -> float:
        """The largest difference of a velocity after a step of both."""
        mujoco.mj_step(self.m, self.d)
        self.batch.step()
        assert self.d.ncon == 1 and self.batch.contact_count[0] == 1
        assert not np.any(self.batch.status & sapwood.batch.FAILED)
        return float(np.abs(self.batch.qvel[0] - self.d.qvel).max())

    def frame_error(self) -> float:
        """MuJoCo's frame has the rows n, t1, t2; ours t1, t2, n."""
        theirs = np.roll(self.d.contact[0].frame.reshape(3, 3), -1, axis=0)
        return float(np.abs(self.frames[0, 0].reshape(3, 3) - theirs).max())


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("upside_down", [False, True])
@pytest.mark.parametrize("plane", PLANES)
def test_an_upright_capsule_has_the_tangent_of_mujoco(plane: str, upside_down: bool, cone: str) -> None:
    """MuJoCo takes the x axis of the world, also where that is not orthogonal to the normal."""
    for preset, tolerance in (("mujoco64", 1e-12), ("mujoco32", 2e-5)):
        twin = Twin(plane, 0.0, upside_down, cone, preset)
        assert twin.step() < tolerance
        assert twin.frame_error() < tolerance
    twin = Twin(plane, 0.0, upside_down, cone, "mujoco64")
    if plane == "level":  # where gravity keeps the contact
        assert max(twin.step() for _ in range(10)) < 1e-11


@pytest.mark.parametrize("plane", ["level", "inclined", "oblique", "ceiling"])
def test_a_capsule_that_leans_has_the_tangent_of_its_axis(plane: str) -> None:
    for tilt, tolerance in ((1e-9, 1e-6), (1e-6, 1e-9), (1e-3, 1e-11)):  # the rounding of an axis over its tilt
        twin = Twin(plane, tilt, False, "pyramidal", "mujoco64")
        assert twin.step() < tolerance
        assert twin.frame_error() < tolerance
    for tilt in (1e-9, 1e-7, 1e-6, 1e-5, 1e-3):  # f32 has a frame too, with the direction of a tilt above its rounding
        twin = Twin(plane, tilt, False, "pyramidal", "mujoco32")
        error = twin.step()
        assert tilt < 1e-3 or error < 1e-3


def test_a_robot_on_straight_legs_stands() -> None:
    """Legs of capsules that are straight in the first state: all worlds step, as in MuJoCo."""
    legs = "".join(
        f'<body pos="{x} {y} 0"><joint axis="0 1 0" damping="2" stiffness="200"/>'
        f'<geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.3"/></body>'
        for x in (-0.2, 0.2)
        for y in (-0.1, 0.1)
    )
    m = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.002"><flag island="disable"/></option><worldbody><geom type="plane" size="5 5 1"/>'
        f'<body pos="0 0 0.329"><freejoint/><geom type="box" size="0.25 0.12 0.03"/>{legs}</body></worldbody></mujoco>'
    )
    d = mujoco.MjData(m)
    model = sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco")
    for preset, tolerance in (("mujoco64", 1e-9), ("mujoco32", 1e-3)):
        mujoco.mj_resetData(m, d)
        batch = sapwood.Batch(model, 5, preset=preset)
        for _ in range(20):
            mujoco.mj_step(m, d)
            batch.step()
            assert not np.any(batch.status & sapwood.batch.FAILED)
            assert np.abs(batch.qpos - d.qpos).max() < tolerance


ROUND = {"sphere": "0.07", "capsule": "0.05 0.1"}


@pytest.mark.parametrize("preset, tolerance", [("mujoco64", 1e-9), ("mujoco32", 1e-3)])
@pytest.mark.parametrize("first", ROUND)
@pytest.mark.parametrize("second", ROUND)
def test_shapes_with_one_centre_have_the_normal_of_mujoco(
    first: str, second: str, preset: str, tolerance: float
) -> None:
    """The common normal of both z axes, or the x axis of the world."""
    bodies = "".join(
        f'<body pos="0 0 {1 + k}"><freejoint/><geom type="{kind}" size="{ROUND[kind]}"/></body>'
        for k, kind in enumerate((first, second))
    )
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    d, random = mujoco.MjData(m), np.random.default_rng(1)
    batch = sapwood.Batch(sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco"), 1, preset=preset)
    frames, gaps, places = batch.contact_frame, batch.contact_gap, batch.contact_position
    for k in range(12):
        mujoco.mj_resetData(m, d)
        for body in (d.qpos[:7], d.qpos[7:]):
            body[3:] = [1, 0, 0, 0] if k == 0 else random.normal(size=4)
        d.qpos[:3] = d.qpos[7:10] = np.round(random.normal(size=3), 1)
        if k % 3 == 0:  # parallel axes
            d.qpos[10:] = d.qpos[3:7]
        mujoco.mj_normalizeQuat(m, d.qpos)
        batch.qpos, batch.qvel = d.qpos, d.qvel
        mujoco.mj_step(m, d)
        batch.step()
        assert batch.contact_count[0] == d.ncon
        for ours, theirs in enumerate(d.contact[: d.ncon]):
            frame = np.roll(theirs.frame.reshape(3, 3), -1, axis=0)
            assert np.abs(frames[0, ours].reshape(3, 3) - frame).max() < tolerance, k
            assert abs(gaps[0, ours] - theirs.dist) < tolerance
            assert np.abs(places[0, ours] - theirs.pos).max() < tolerance
        assert np.abs(batch.qvel[0] - d.qvel).max() < tolerance * max(1, float(np.abs(d.qvel).max()))
