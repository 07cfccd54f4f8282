"""A batch with no option set: nothing sinks, and a world that says it is solved is solved."""

import numpy as np

import sapwood

BALL = """schema_version: 1
simulation: {dt: 0.002}
builder: {gravity: -9.81, defaults: {shape: {density: 1000, mu: 1, ke: 1e5}}}
bodies: [{id: ball, shapes: [{type: sphere, radius: 0.1}]}]
joints: [{id: free, type: free, parent: world, child: ball}]
"""


def test_a_thousand_thrown_balls_stay_on_the_ground(tmp_path):
    """A ball that lands at 3.9 m/s on 1e5 N/m is stopped after less than 25 mm."""
    (tmp_path / "ball.yaml").write_text(BALL)
    batch, random = sapwood.Batch(sapwood.Model.load(tmp_path / "ball.yaml"), 1000), np.random.default_rng(0)
    batch.joint_q[:, 2] = random.uniform(0.1, 0.6, 1000)
    batch.joint_qd[:, :3] = random.uniform(-2, 2, (1000, 3))
    batch.joint_qd[:, 3:] = random.uniform(-20, 20, (1000, 3))
    for _ in range(500):
        batch.step()
        assert batch.stats["not_converged"] == 0
        assert batch.residual.max() <= 1e-2
        assert (0.1 - batch.joint_q[:, 2]).max() < 0.03
    assert batch.joint_q.dtype == np.float32 and batch.options["preset"] == "fast32"
