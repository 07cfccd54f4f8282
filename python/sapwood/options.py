"""Solver options by name."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from ._library import OptionsStruct, check, lib, texts
from .arguments import nearest


def preset_names() -> list[str]:
    """The presets: fast32 (the default), fast64, approx32, approx64, drake, mujoco32, mujoco64."""
    return texts(lib.sap_preset_names())


def _text_of(value: Any) -> str:
    """The text of a value: True is "true", None is "none", 0.1 is "0.1"."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else str(value)  # numpy's repr is "np.float64(0.1)"


class Options(MutableMapping[str, str]):
    """A preset, by default fast32, with changes. Values are strings; numbers, flags and None are converted.

    >>> options = Options("approx64", threads=2)
    >>> options["max_iterations"] = 50
    >>> options["max_iterations"]
    '50'
    """

    def __init__(self, preset: str | None = None, **changes: Any) -> None:
        self.struct = OptionsStruct()
        check(lib.sap_options_preset(preset or None, ctypes.byref(self.struct)))
        self.update(changes)

    @classmethod
    def of(cls, preset: str | None, options: Options | Mapping[str, Any] | None) -> Options:
        """A copy of `options`; a mapping is applied on top of the preset."""
        if isinstance(options, Options):
            return options.copy()
        return cls(preset, **(options or {}))

    def copy(self) -> Options:
        out = Options(None)
        ctypes.memmove(ctypes.byref(out.struct), ctypes.byref(self.struct), ctypes.sizeof(self.struct))
        return out

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "struct":
            known, item = name in self, f"options[{name!r}] = {value!r}"
            hint = item if known else f"there is no option {name!r}{nearest(name, self)}"
            raise AttributeError(f"options are items, not attributes: {hint}")
        super().__setattr__(name, value)

    def __reduce__(self) -> Any:
        return Options, (None,), None, None, iter(self.items())

    def __setitem__(self, name: str, value: Any) -> None:
        check(lib.sap_options_set(ctypes.byref(self.struct), name, _text_of(value)))

    def __getitem__(self, name: str) -> str:
        value = self._read(name)
        if value is None:
            raise KeyError(f"there is no option {name!r}{nearest(name, self)}")
        return value

    def _read(self, name: str) -> str | None:
        """The value of an option, also by SAP Warp's name; None for an unknown name."""
        text = ctypes.create_string_buffer(64)
        status = lib.sap_options_get(ctypes.byref(self.struct), name, text, len(text))
        return None if status else text.value.decode()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._read(name) is not None

    def __delitem__(self, name: str) -> None:
        raise TypeError("options cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(texts(lib.sap_options_names()))

    def __len__(self) -> int:
        return len(texts(lib.sap_options_names()))

    def __repr__(self) -> str:
        return "Options(" + ", ".join(f"{name}={value}" for name, value in self.items()) + ")"
