"""Contact problems in impulses, solved without a simulator.

>>> import numpy as np, sapwood
>>> solution = sapwood.dual_solve(W=2 * np.eye(3), b=[20.0, 0.0, 30.0], mu=[0.3])
>>> solution.impulse  # (t1, t2, n): on the friction cone
array([ 4.9541..., 0. , 16.5137...])
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _layout
from ._library import _C_TYPES, address, check, lib
from .arguments import nearest

_Options, _Problem, _Solution = (_C_TYPES[f"SapDual{name}"] for name in ("Options", "Problem", "Solution"))


def _words(enum: str, prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix).lower(): value for name, value in _layout.ENUMS[enum].items()}


_KINDS = _words("SapDualKind", "SAP_DUAL_")
_METHODS = _words("SapDualMethod", "SAP_DUAL_")
_LAWS = _words("SapFrictionLaw", "SAP_FRICTION_")
_PRECISIONS = {"f32": 0, "fp32": 0, "f64": 1, "fp64": 1}


def _word(name: str, value: str, words: dict[str, int]) -> int:
    if value not in words:
        hint = nearest(value, words, f"allowed: {', '.join(words)}")
        raise ValueError(f"{name} is {value!r}{hint}")
    return words[value]


@dataclass(frozen=True)
class DualSolution:
    """The results of dual_solve; the fields of SapDualSolution (sapwood/dual.h). Arrays have the batch axis of inputs,
    if it has one. `status` holds bits SAP_WORLD_...; `converged` is derived from them."""

    impulse: np.ndarray
    velocity: np.ndarray
    cost: np.ndarray
    residual: np.ndarray
    status: np.ndarray
    iterations: np.ndarray
    inner_iterations: np.ndarray
    safeguards: np.ndarray
    active: np.ndarray
    region: np.ndarray

    @property
    def converged(self) -> np.ndarray:
        """Whether a stopping test passed for the problem as it was posed: with friction_law = "coulomb" not where the
        solution belongs to the convex law, and never where the targets contradict each other."""
        done = _layout.BITS["SAP_WORLD_OPTIMAL"] | _layout.BITS["SAP_WORLD_COST_SETTLED"]
        other = _layout.BITS["SAP_WORLD_COULOMB_NOT_CONVERGED"] | _layout.BITS["SAP_WORLD_UNBOUNDED"]
        return np.asarray(((self.status & done) != 0) & ((self.status & other) == 0))

    @property
    def unbounded(self) -> np.ndarray:
        """Whether the targets contradict each other, so that the solution is one with compliance."""
        return np.asarray((self.status & _layout.BITS["SAP_WORLD_UNBOUNDED"]) != 0)


def _array(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """`value` as a contiguous f64 array of `shape`; without the batch axis it applies to every problem."""
    if value is None:
        return None
    found = np.asarray(value, dtype=np.float64)
    if found.shape not in (shape, shape[1:]):
        raise ValueError(f"{name} has the shape {found.shape}; expected {shape} or {shape[1:]}")
    return np.ascontiguousarray(np.broadcast_to(found, shape))


def _kinds(kinds: Sequence[str] | None, rows: int) -> np.ndarray:
    if kinds is None:
        if rows % 3:
            raise ValueError(f"b has {rows} rows, which are not contacts of 3; pass kinds")
        return np.zeros(rows // 3, dtype=np.int32)
    found = np.array([_word("kinds", kind, _KINDS) for kind in kinds], dtype=np.int32)
    needed = int(np.where(found == 0, 3, 1).sum())
    if needed != rows:
        raise ValueError(f"kinds have {needed} rows; b has {rows}")
    return found


def dual_solve(
    W: Any,
    b: Any,
    mu: Any = None,
    *,
    kinds: Sequence[str] | None = None,
    R: Any = None,
    lo: Any = None,
    hi: Any = None,
    guess: Any = None,
    method: str = "cone",
    friction_law: str = "convex",
    rel_tol: float | None = None,
    abs_tol: float = 0.0,
    max_iterations: int = -1,
    omega: float = 1.0,
    precision: str = "f64",
    threads: int = 1,
    lanes: int = 0,
) -> DualSolution:
    """Minimises 1/2 l'(W + R) l - b'l over impulses l, for one problem or for n of the same shape.

    W: [n, rows, rows] or [rows, rows]; b: [n, rows] or [rows], rows of a contact are (t1, t2, n).
    kinds: one of "contact", "unilateral", "free", "box" per block; default: contacts only.
    mu, lo, hi: [n, blocks] or [blocks], of contacts and boxes. R, guess: as b.
    method: "cone", "pgs", "pgs_rows", "active_set", "active_set_single"; friction_law: "convex", "coulomb".
    The other arguments are the fields of SapDualOptions; rel_tol is optimality_rel_tol (1e-6, or 1e-4 in f32).
    """
    right = np.asarray(b, dtype=np.float64)
    matrix = np.asarray(W, dtype=np.float64)
    if right.ndim not in (1, 2):
        raise ValueError(f"b has {right.ndim} axes; expected [rows] or [n, rows]")
    single = right.ndim == 1 and matrix.ndim == 2
    n = 1 if single else right.shape[0] if right.ndim == 2 else matrix.shape[0]
    rows = right.shape[-1]
    kind = _kinds(kinds, rows)
    blocks = len(kind)

    options = _Options()
    lib.sap_dual_options_default(ctypes.byref(options))
    options.method = _word("method", method, _METHODS)
    options.friction_law = _word("friction_law", friction_law, _LAWS)
    options.precision = _word("precision", precision, _PRECISIONS)
    options.optimality_rel_tol = rel_tol if rel_tol is not None else 1e-6 if options.precision else 1e-4
    options.optimality_abs_tol, options.max_iterations, options.pgs_omega = abs_tol, max_iterations, omega
    options.threads, options.lanes = threads, lanes

    inputs = {
        "kind": kind,
        "W": _array("W", matrix, (n, rows, rows)),
        "R": _array("R", R, (n, rows)),
        "b": _array("b", right, (n, rows)),
        "mu": _array("mu", mu, (n, blocks)),
        "lo": _array("lo", lo, (n, blocks)),
        "hi": _array("hi", hi, (n, blocks)),
        "guess": _array("guess", guess, (n, rows)),
    }
    outputs: dict[str, NDArray[Any]] = {
        **{name: np.zeros((n, rows)) for name in ("impulse", "velocity")},
        **{name: np.zeros(n) for name in ("cost", "residual")},
        "status": np.zeros(n, dtype=np.uint32),
        **{name: np.zeros(n, dtype=np.int32) for name in ("iterations", "inner_iterations", "safeguards", "active")},
        "region": np.zeros((n, blocks), dtype=np.int32),
    }
    problem, solution = _Problem(num_problems=n, num_blocks=blocks), _Solution()
    for struct, arrays in ((problem, inputs), (solution, outputs)):
        for name, array in arrays.items():
            setattr(struct, name, address(name, array))
    check(lib.sap_dual_solve(ctypes.byref(problem), ctypes.byref(options), ctypes.byref(solution)))
    return DualSolution(**{name: array[0] if single else array for name, array in outputs.items()})
