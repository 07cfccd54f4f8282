"""Read by mypy (scripts/lint types): it knows the arrays, and finds misspelt ones. An ignore that is not needed is an
error, so a misspelling that mypy does not find fails."""

import sapwood

batch = sapwood.Batch(sapwood.scene("quadruped"), 4)
batch.joint_target_pos = 0
batch.joint_q[:, 2] += 1
mean: float = batch.joint_qd.mean()
names: list[str] = batch.model.body_name
count: int = batch.model.num_dofs + sapwood.gym.Quadruped(2).num_envs
batch.expand("body_mass")
batch.body_mass *= 2

batch.joint_qvel  # type: ignore[attr-defined]
batch.joint_trget_pos = 0  # type: ignore[attr-defined]
batch.model.bodymass  # type: ignore[attr-defined]
sapwood.Btach  # type: ignore[attr-defined]
