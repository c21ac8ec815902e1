"""The interface of the control plane, as in dev.larder.Store.varlink. Checks calls in tests."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE = os.environ.get("LARDER_INTERFACE", os.path.join(ROOT, "cache-client/src/main/resources/dev/larder/internal/protocol/dev.larder.Store.varlink"))
SIMPLE = {"int": int, "bool": bool, "string": str}


class Interface:
    """Types and methods by name: the fields of a type or a call, with their types."""

    def __init__(self, text):
        text = re.sub("#.*", "", text)
        self.types = {name: self._fields(body) for name, body in re.findall(r"type (\w+) \((.*?)\)", text, re.DOTALL)}
        self.methods = {name: self._fields(body) for name, body in re.findall(r"method (\w+)\((.*?)\) ->", text, re.DOTALL)}

    @staticmethod
    def _fields(body):
        parts = [part.strip() for part in body.split(",")]
        return {name.strip(): kind.strip() for name, _, kind in (part.partition(":") for part in parts if part)}

    def objections(self, method, parameters):
        """Return the reason why the daemon would refuse a call, or an empty text."""
        if method not in self.methods:
            return [f"no method {method}"]
        return self._struct(method, self.methods[method], parameters)

    def _struct(self, place, fields, value):
        if not isinstance(value, dict):
            return [f"{place} is {value!r}"]
        found = [f"{place} has no {key}" for key in value.keys() - fields.keys()]
        found += [f"{place} needs {key}" for key, kind in fields.items() if key not in value and not kind.startswith("?")]
        return found + [one for key in value.keys() & fields.keys() for one in self._value(f"{place}.{key}", fields[key].lstrip("?"), value[key])]

    def _value(self, place, kind, value):
        if kind.startswith("[]"):
            return [one for item in value for one in self._value(place, kind[2:], item)] if isinstance(value, list) else [f"{place} is {value!r}"]
        if kind in SIMPLE:
            return [] if type(value) is SIMPLE[kind] else [f"{place} is {value!r}"]
        fields = self.types[kind]
        if not any(fields.values()):
            return [] if value in fields else [f"{place} is {value!r}"]
        return self._struct(place, fields, value)


def interface():
    """Return the interface, or None without a checkout."""
    try:
        with open(FILE, encoding="utf-8") as file:
            return Interface(file.read())
    except FileNotFoundError:
        return None
