"""Names of the environments for gymnasium.make_vec and gymnasium.make, which exist once `sapwood.gym` is imported, or
`sapwood` after gymnasium."""

from __future__ import annotations

from typing import Any

# name, task, its settings
TASKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("QuadrupedVelocity-v0", "Quadruped", {}),
    ("QuadrupedRough-v0", "Quadruped", {"ground": "rough"}),
    ("HumanoidWalk-v0", "Humanoid", {}),
    ("GripperLift-v0", "Gripper", {}),
)


def register() -> None:
    import gymnasium

    for name, task, settings in TASKS:
        if f"sapwood/{name}" in gymnasium.registry:
            continue
        gymnasium.register(
            f"sapwood/{name}",
            entry_point=f"sapwood.gym.single:{task.lower()}",
            vector_entry_point=f"sapwood.gym:{task}",
            kwargs=settings,
        )
