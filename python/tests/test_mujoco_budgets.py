"""contact_solver = mujoco: a solve that its budget of iterations or evaluations ends is where MuJoCo's is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood

mujoco = pytest.importorskip("mujoco")

LEG = """<body pos="{0} {1} 0"><joint axis="1 0 0" range="-0.4 0.4"/><joint axis="0 1 0" range="-1 1"/>
 <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.03"/>
 <body pos="0 0 -0.2"><joint axis="0 1 0" range="-1.5 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.025"/>
  <geom type="sphere" size="0.03" pos="0 0 -0.2"/></body></body>"""
QUADRUPED = """<mujoco><compiler autolimits="true" angle="radian"/>
<option timestep="0.004" integrator="{integrator}" cone="{cone}" jacobian="dense"><flag island="disable"/></option>
<default><joint frictionloss="{loss}" damping="{damping}" armature="0.01"/></default>
<worldbody><geom type="plane" size="5 5 1" friction="0.8"/>
 <body pos="0 0 0.45"><freejoint/><geom type="sphere" size="0.1" mass="5"/>{legs}</body></worldbody></mujoco>"""


def quadruped(integrator: str, cone: str, loss: float, damping: float) -> Any:
    legs = "".join(LEG.format(x, y) for x in (-0.2, 0.2) for y in (-0.1, 0.1))
    text = QUADRUPED.format(integrator=integrator, cone=cone, loss=loss, damping=damping, legs=legs)
    return mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize("iterations, evaluations", [(5, 8), (100, 5), (100, 3), (3, 50), (2, 6), (100, 50)])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("integrator, loss, damping", [
    ("implicitfast", 0.3, 0.2),
    ("implicitfast", 0.3, 0.0),
    ("Euler", 0.3, 0.2),
    ("Euler", 0.0, 0.0),
    ("RK4", 0.3, 0.2),
    ("discrete", 0.3, 0.2),
])  # fmt: skip
def test_a_solve_ends_where_mujocos_does(
    integrator: str, loss: float, damping: float, cone: str, iterations: int, evaluations: int
) -> None:
    """The velocity at the end of a step has the forces of the last iterate, which is not the minimum."""
    m = quadruped(integrator, cone, loss, damping)
    m.opt.iterations, m.opt.ls_iterations = iterations, evaluations
    d, model = mujoco.MjData(m), sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco")
    batch = sapwood.Batch(model, 1, preset="mujoco64", options={"threads": 1})
    d.qvel[:] = 0.5 * np.random.default_rng(0).normal(size=m.nv)
    ended = 0
    for step in range(60):
        batch.qpos, batch.qvel = d.qpos, d.qvel
        mujoco.mj_step(m, d)
        batch.step()
        scale = max(1.0, float(np.abs(d.qvel).max()))
        assert np.abs(batch.qvel[0] - d.qvel).max() < 1e-11 * scale, f"step {step}"
        n = d.solver_niter[0]
        ended += n >= iterations or any(d.solver.neval[i] >= evaluations for i in range(n))
    assert ended > 0 or iterations == 100 and evaluations >= 50 or iterations == 5


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_solve_without_warmstart_starts_where_mujocos_does(cone: str) -> None:
    m = quadruped("implicitfast", cone, 0.3, 0.2)
    m.opt.iterations = 2
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
    model = sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco")
    assert not any("warmstart" in line for line in model.report("mujoco"))
    d, batch = mujoco.MjData(m), sapwood.Batch(model, 1, preset="mujoco64")
    d.qvel[:] = 0.5 * np.random.default_rng(0).normal(size=m.nv)
    warm = mujoco.MjData(m)
    differs = False
    for step in range(60):
        batch.qpos, batch.qvel = d.qpos, d.qvel
        warm.qpos[:], warm.qvel[:], warm.qacc_warmstart[:] = d.qpos, d.qvel, d.qacc_warmstart
        m.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
        mujoco.mj_step(m, warm)
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
        mujoco.mj_step(m, d)
        batch.step()
        assert np.abs(batch.qvel[0] - d.qvel).max() < 1e-11 * max(1.0, float(np.abs(d.qvel).max())), f"step {step}"
        differs |= bool(np.abs(warm.qvel - d.qvel).max() > 1e-6)
    assert differs
