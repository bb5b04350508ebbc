"""Scenarios and settings as plain data."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import ClassVar


class Keys:
    """A table of a scenario. Fields are keys, with underscores in place of hyphens; ``None`` is a key not given."""

    __slots__ = ()
    _names: ClassVar[dict[str, str]] = {}
    """The keys of fields whose names differ by more than that."""

    def to_dict(self) -> dict[str, object]:
        """The table as a dictionary, with the keys of scenario files."""
        given = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is not None:
                given[self._names.get(field.name, field.name.rstrip("_").replace("_", "-"))] = plain(value)
        return given


def plain(value: object) -> object:
    """``value`` as what JSON knows: scenarios and their tables, paths, and the numbers and arrays of numpy as well."""
    if isinstance(value, Keys):
        return value.to_dict()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(of) for key, of in value.items() if of is not None}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return value.tolist()
    if isinstance(value, Iterable):
        return [plain(of) for of in value]
    raise TypeError(f"{value!r} is no value of a scenario; give a text, a number, a list or a dictionary")
