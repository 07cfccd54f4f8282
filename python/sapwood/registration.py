"""Names of the environments for gymnasium.make_vec. gymnasium calls `register` when it is imported, by the entry point
"gymnasium.envs" of the package, in the namespace `sapwood`."""

from __future__ import annotations


def register() -> None:
    import gymnasium

    gymnasium.register("QuadrupedVelocity-v0", vector_entry_point="sapwood.gym:Quadruped")
