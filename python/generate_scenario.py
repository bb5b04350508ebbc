"""Writes thalweg/scenario.py, the typed scenarios, from the JSON Schema of scenario files.

    python python/generate_scenario.py

It needs the package to be installed, whose engine has the schema. tests/test_scenario.py fails if the file differs from
what this program writes.
"""

from __future__ import annotations

import json
import keyword
import pathlib
import textwrap
from typing import Any

FILE = pathlib.Path(__file__).parent / "thalweg" / "scenario.py"

HEAD = '''"""Scenarios with types: each table of a scenario file is a class, each key a keyword.

docs/scenarios.md describes the keys. Hyphens become underscores, ``from`` becomes ``from_``, and the lists of links and
flows have plural names. Keys that are not given have the defaults of scenario files.

This file is written by generate_scenario.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from ._data import Keys
'''

# Tables that become classes, in an order in which each is known before it is used.
TABLES = ["Bursts", "Reorder", "Change", "Shaper", "Jitter", "Reverse", "Path", "Link", "Flow", "Traffic", "Compare", "Measure", "Scenario"]

# Lists of tables, which are singular in TOML.
PLURAL = {"link": "links", "flow": "flows"}

WIDTH = 120


def text(schema: dict[str, Any]) -> str:
    """The file for this schema."""
    definitions = {**schema["$defs"], "Scenario": schema}
    return HEAD + "".join("\n\n" + table(name, definitions) for name in TABLES)


def table(name: str, definitions: dict[str, Any]) -> str:
    """The class of a table."""
    definition = definitions[name]
    if "properties" not in definition:
        definition = merged(definition["oneOf"])
    lines = [
        "@dataclasses.dataclass(kw_only=True, slots=True)",
        f"class {name}(Keys):",
        *docstring(definition["description"]),
        "",
    ]
    properties = definition["properties"]
    renamed = {PLURAL[key]: key for key in properties if key in PLURAL}
    if renamed:
        lines += [f"    _names: ClassVar[dict[str, str]] = {json.dumps(renamed)}", ""]
    required = definition.get("required", [])
    for key, of in properties.items():
        field = PLURAL.get(key, key.replace("-", "_")) + "_" * keyword.iskeyword(key)
        kind = type_of(key, of, definitions)
        lines += annotation(field, kind if key in required else f"{kind} | None", "" if key in required else " = None")
        lines += docstring(with_default(of.get("description", ""), of))
    return "\n".join(lines) + "\n"


def annotation(field: str, kind: str, default: str) -> list[str]:
    """The lines that declare a field."""
    line = f"    {field}: {kind}{default}"
    if len(line) <= WIDTH:
        return [line]
    first, *others = kind.split(" | ")
    return [f"    {field}: (", f"        {first}", *(f"        | {other}" for other in others), f"    ){default}"]


def merged(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """One table with the keys of all kinds. Those that not all kinds require may be left out."""
    properties: dict[str, Any] = {}
    for kind in kinds:
        for key, of in kind["properties"].items():
            properties.setdefault(key, of)
    consts = [kind["properties"]["kind"] for kind in kinds]
    each = [f"``{const['const']}``: {const['description'][0].lower()}{const['description'][1:]}" for const in consts]
    properties["kind"] = {"description": " ".join(each), "enum": [const["const"] for const in consts]}
    required = [key for key in properties if all(key in kind.get("required", []) for kind in kinds)]
    return {"description": "Traffic beside the flows.", "properties": properties, "required": required}


def type_of(key: str, schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """The type of a value. None, which stands for a key that is not given, is left out."""
    if key == "controller" and schema.get("type") == "object":
        return "Mapping[str, Mapping[str, Any]]"
    if key in ("controller", "controllers"):  # also controllers in Python, which the schema does not know
        return "str" if key == "controller" else "Sequence[str]"
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        return name if name in TABLES else type_of(key, definitions[name], definitions)
    if "enum" in schema:
        return "Literal[" + ", ".join(json.dumps(value) for value in schema["enum"] if value is not None) + "]"
    if "const" in schema:
        return f"Literal[{json.dumps(schema['const'])}]"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            kinds = [type_of(key, one, definitions) for one in schema[several] if one.get("type") != "null"]
            literals = [kind for kind in kinds if kind.startswith("Literal")]
            if len(literals) > 1:
                values = ", ".join(kind.removeprefix("Literal[").removesuffix("]") for kind in literals)
                kinds = [f"Literal[{values}]"] + [kind for kind in kinds if kind not in literals]
            return " | ".join(dict.fromkeys(kinds))
    kind = schema.get("type")
    if isinstance(kind, list):
        (kind,) = [one for one in kind if one != "null"]
    match kind:
        case "array":
            items = schema["items"]
            of = "Any" if items is True else type_of(key, items, definitions)
            return f"Sequence[{of}]"
        case "object":
            more = schema.get("additionalProperties")
            of = type_of(key, more, definitions) if isinstance(more, dict) else "Any"
            return f"Mapping[str, {of}]"
        case None:
            return "Any"
        case _:
            return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[kind]


def with_default(description: str, schema: dict[str, Any]) -> str:
    """The description, and the default if there is one and the description does not tell."""
    default = schema.get("default")
    told = default in (None, [], {}, False, "0 ps") or "not given" in description
    return description if told else f"{description} Default: {default}."


def docstring(description: str) -> list[str]:
    """The lines of a docstring within a class."""
    words = " ".join(description.split())
    if not words:
        return []
    lines = textwrap.wrap(words, WIDTH - 10)
    if len(lines) == 1:
        return [f'    """{lines[0]}"""']
    return [f'    """{lines[0]}', *(f"    {line}" for line in lines[1:]), '    """']


if __name__ == "__main__":
    from thalweg import _thalweg

    FILE.write_text(text(json.loads(_thalweg.schema())))
