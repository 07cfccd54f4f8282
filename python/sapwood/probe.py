"""How many contact slots the worlds of a model need: the default of max_contacts (sapwood/batch.h)."""

from __future__ import annotations

import ctypes

from ._library import check, lib
from .model import Model
from .options import Options

UNSET = "0"  # the default of the option: a probe chooses the number


def contact_capacity(model: Model, options: Options) -> int:
    """What a probe of the library finds; the model remembers it for each set of options."""
    keep = {name: value for name, value in options.items() if name not in ("threads", "device", "cuda_device")}
    key = str(sorted(keep.items()))
    if key not in model._capacities:
        slots = ctypes.c_int()
        check(lib.sap_batch_probe_contacts(model.pointer, ctypes.byref(options.struct), ctypes.byref(slots)))
        model._capacities[key] = slots.value
    return model._capacities[key]
