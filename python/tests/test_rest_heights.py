"""contact_solver = mujoco with our own collision: bodies come to rest where they do in MuJoCo.

pytest -s python/tests/test_rest_heights.py     prints the table
"""

from __future__ import annotations

import numpy as np
import pytest

import sapwood

mujoco = pytest.importorskip("mujoco")

SCENE = """<mujoco><option timestep="0.002"><flag island="disable"/></option><asset><mesh name="roof" vertex="-.1 -.1 -.06
 .1 -.1 -.06  .1 .1 -.06  -.1 .1 -.06  0 0 .14"/></asset><worldbody><geom type="plane" size="5 5 1"/>{below}
 <body pos="0 0 {height}"><freejoint/><geom density="800" {geom}/></body></worldbody></mujoco>"""
TABLE = '<geom type="box" size="0.3 0.3 0.05" pos="0 0 0.05"/>'
BAR = '<geom type="capsule" size="0.1 0.2" euler="0 90 0" pos="0 0 0.1"/>'
GEOMS = {
    "sphere": ('type="sphere" size="0.1"', 0.11),
    "capsule": ('type="capsule" size="0.05 0.1" euler="90 0 0"', 0.06),
    "box": ('type="box" size="0.1 0.08 0.05"', 0.06),
    "upright cylinder": ('type="cylinder" size="0.08 0.05"', 0.06),
    "lying cylinder": ('type="cylinder" size="0.05 0.1" euler="90 0 0"', 0.06),
    "ellipsoid": ('type="ellipsoid" size="0.1 0.08 0.05"', 0.06),
    "mesh": ('type="mesh" mesh="roof"', 0.08),
}
PAIRS = [("plane", name) for name in GEOMS] + [("box", name) for name in GEOMS if name != "lying cylinder"]
PAIRS += [("capsule", "capsule")]
OTHER_COUNT = {("plane", "upright cylinder"): (3, 4)}  # MuJoCo's and our number of contacts


@pytest.mark.parametrize("preset", ["mujoco64", "mujoco32"])
@pytest.mark.parametrize("below, name", PAIRS)
def test_a_body_rests_within_a_tenth_of_a_millimetre_of_mujocos(below: str, name: str, preset: str) -> None:
    geom, height = GEOMS[name]
    ground, lift = {"plane": ("", 0.0), "box": (TABLE, 0.1), "capsule": (BAR, 0.2)}[below]
    m = mujoco.MjModel.from_xml_string(SCENE.format(below=ground, height=height + lift, geom=geom))
    d = mujoco.MjData(m)
    batch = sapwood.Batch(
        sapwood.Model.from_mjmodel(m, quiet=True, law="mujoco"), 1, preset=preset, options={"threads": 1}
    )
    mujoco.mj_step(m, d, 1500)
    batch.step(1500)
    ours, theirs = float(batch.qpos[0, 2]), float(d.qpos[2])
    count = int(batch.contact_count[0])
    print(f"| {preset} | {below} | {name} | {d.ncon} | {count} | {1e3 * theirs:.4f} | {1e3 * ours:.4f} |")
    assert np.abs(batch.qvel).max() < 1e-3
    assert abs(ours - theirs) < 1e-4
    assert (d.ncon, count) == OTHER_COUNT.get((below, name), (d.ncon, d.ncon))
