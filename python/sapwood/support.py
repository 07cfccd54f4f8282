"""What each formulation can do on each device (docs/capabilities.md), as the library answers it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from . import _layout
from ._library import _C_TYPES, check, lib, texts

SUPPORT = {value: name.removeprefix("SAP_SUPPORT_").lower() for name, value in _layout.ENUMS["SapSupport"].items()}


@dataclass(frozen=True)
class Capability:
    """One cell of the table. `support` is "yes", "no" or "not_applicable"; `reason` is why it is not "yes"."""

    name: str  # "guard"; of a parameter or an array its own name
    group: str
    what: str  # a description; "" for parameters and arrays
    solver: str  # the option contact_solver
    device: str
    support: str
    reason: str


def _index(what: str, name: str, names: list[str]) -> int:
    if name not in names:
        raise ValueError(f"{what} is {name!r}; allowed: {', '.join(names)}")
    return names.index(name)


def capability(name: str, solver: str = "sap", device: str = "cpu") -> Capability:
    """Whether a formulation has a capability on a device.

    >>> capability("guard", "mujoco").support
    'no'
    """
    cell = _C_TYPES["SapCapability"]()
    s = _index("solver", solver, texts(lib.sap_contact_solver_names()))
    d = _index("device", device, texts(lib.sap_device_names()))
    check(lib.sap_capability(name, s, d, ctypes.byref(cell)))
    group, what, reason = (ctypes.string_at(text).decode() for text in (cell.group, cell.what, cell.reason))
    return Capability(name, group, what, solver, device, SUPPORT[cell.support], reason)


def capabilities(solver: str | None = None, device: str | None = None) -> list[Capability]:
    """All cells of the table, or of a formulation or a device.

    >>> [c.name for c in capabilities("mujoco", "cpu") if c.support == "no"]  # doctest: +SKIP
    """
    solvers = texts(lib.sap_contact_solver_names()) if solver is None else [solver]
    devices = texts(lib.sap_device_names()) if device is None else [device]
    return [capability(name, s, d) for name in texts(lib.sap_capability_names()) for s in solvers for d in devices]
