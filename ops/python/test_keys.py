"""Tests of keys: equal keys only for calls with equal results. $LARDER_TEST_SEED repeats a run of random calls."""

import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import importlib.util
import os
import random
import struct
import subprocess
import sys
import tempfile
import types
import unittest

import numpy as np

from test_larder import larder

PAIRS = 10_000
P, Q = collections.namedtuple("P", "h w"), collections.namedtuple("P", "w h")


@dataclasses.dataclass
class Settings:
    size: object
    more: object = 0


class Plain:
    def __init__(self, state):
        self.state = state

    def __call__(self, x):
        return describe([self.state, x])

    def method(self, x):
        return describe([x, self.state])


class Slots:
    __slots__ = ("state",)

    def __init__(self, state):
        self.state = state


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    RED = 1
    BLUE = 2


Elsewhere = dataclasses.make_dataclass("Settings", [("size", object), ("more", object, dataclasses.field(default=0))])
Elsewhere.__module__ = "elsewhere"


def describe(value, met=None):
    """Write down all that a function can see of a value: what makes two results equal."""
    met = {} if met is None else met
    kind = type(value)
    what = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, (list, dict, set, np.ndarray, Plain, Slots)):
        if id(value) in met:
            return f"again {met[id(value)]}"
        met[id(value)] = len(met)
    if isinstance(value, float):
        return f"{what} {struct.pack('d', value).hex()}"
    if isinstance(value, np.ma.MaskedArray):
        return f"{what} {describe(value.data, met)} {value.mask!r} {value.fill_value!r}"
    if isinstance(value, np.ndarray):
        contents = [describe(member, met) for member in value.ravel().tolist()] if value.dtype.hasobject else value.tobytes().hex()
        return f"{what} {value.dtype!r} {value.shape} {value.strides} {contents}"
    if isinstance(value, np.generic):
        return f"{what} {value.dtype!r} {value.tobytes().hex()}"
    if isinstance(value, dict):
        return f"{what} {[(describe(name, met), describe(member, met)) for name, member in value.items()]}"
    if isinstance(value, (set, frozenset)):
        return f"{what} {sorted(describe(member, met) for member in value)}"
    if isinstance(value, (tuple, list)):
        return f"{what} {getattr(value, '_fields', '')} {[describe(member, met) for member in value]}"
    if isinstance(value, Slots):
        return f"{what} {describe(value.state, met)}"
    if isinstance(value, types.FunctionType):
        return f"{what} {describe(value(3), met)}"
    if dataclasses.is_dataclass(value) or isinstance(value, Plain):
        return f"{what} {[(name, describe(member, met)) for name, member in vars(value).items()]}"
    return f"{what} {value!r}"


def literals():
    """Values that differ in one small thing, by groups, as texts of Python."""
    return ["1", "True", "1.0", "'1'", "b'1'", "(1,)", "[1]", "{1}", "frozenset({1})", "{1: 2}", "1j", "0.0", "-0.0", "0", "False", "None", "''", "b''",
            "()", "[]", "{}", "...", "float('nan')", "-float('nan')", "float('inf')", "2", "1 << 70", "'é'", "(1, 2)", "(2, 1)", "[1, 2]", "[[1], [2]]",
            "{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", "{'a': 2, 'b': 1}", "range(3)", "slice(1, 2)", "bytearray(b'1')", "'a\\x00'", "'a'"]


def values():
    """Functions that make values, each anew."""
    x = np.arange(6.0)
    made = [eval(f"lambda: {text}") for text in literals()]
    arrays = [
        lambda: x.copy(), lambda: x.reshape(2, 3), lambda: np.asfortranarray(x.reshape(2, 3)), lambda: x.astype(">f8"), lambda: x.astype("f4"),
        lambda: x.astype("i8"), lambda: x.astype("u8"), lambda: x[::2], lambda: x[::2].copy(), lambda: x[::-1], lambda: np.zeros(1), lambda: -np.zeros(1),
        lambda: np.ma.array(x, mask=x > 3), lambda: np.ma.array(x, mask=x > 1), lambda: np.ma.array(x), lambda: np.ma.array(x, mask=False),
        lambda: np.ma.array(x, mask=x > 3, fill_value=7), lambda: np.array(["1"]), lambda: np.array([b"1"]), lambda: np.array([1, "1"], object),
        lambda: np.array([1, 1.0], object), lambda: np.array(1), lambda: np.int64(1), lambda: np.int32(1), lambda: np.float64(1), lambda: np.bool_(True),
        lambda: np.str_("1"), lambda: np.bytes_(b"1"), lambda: np.array([(1, 2)], "i4,i4"), lambda: np.array([(1, 2)], [("f0", "i4"), ("g", "i4")]),
        lambda: np.zeros((0, 3)), lambda: np.zeros((3, 0)), lambda: np.array(["2020-01-01"], "M8[D]"), lambda: np.array(["2020-01-01"], "M8[s]"),
        lambda: np.array([np.nan]), lambda: np.array([-np.nan]), lambda: np.dtype("f4"), lambda: np.dtype(">f4"), lambda: np.float32, lambda: float]
    objects = [
        lambda: P(1, 2), lambda: Q(1, 2), lambda: (1, 2), lambda: Settings(1), lambda: Settings(1.0), lambda: Settings(1, 1), lambda: Elsewhere(1),
        lambda: Plain(1), lambda: Plain(True), lambda: Slots(1), lambda: Slots(2), lambda: Colour.RED, lambda: Colour.BLUE, lambda: Level.RED,
        lambda: collections.OrderedDict(a=1, b=2), lambda: collections.OrderedDict(b=2, a=1), lambda: collections.defaultdict(int, a=1, b=2),
        lambda: collections.Counter("ab"), lambda: collections.deque([1, 2]), lambda: collections.deque([1, 2], 2), lambda: decimal.Decimal("1.0"),
        lambda: decimal.Decimal("1.00"), lambda: datetime.date(2020, 1, 1), lambda: datetime.datetime(2020, 1, 1), lambda: datetime.timedelta(1),
        lambda: (lambda y: 1), lambda: (lambda y: 2), lambda: (lambda y, z=1: z), lambda: (lambda y, z=2: z), lambda: [[0]] * 2, lambda: [[0], [0]]]
    return made + arrays + objects


def nested(draw, makers):
    """Draw what makes a value, at times within another."""
    make = draw.choice(makers)
    return draw.choice([make, make, make, lambda: [make(), 0], lambda: {"k": make()}, lambda: Settings(make()), lambda: Plain(make()), lambda: (make(), make()),
                        lambda: P(0, make()), lambda: np.array([make(), 0, 0], object)[:1] if not isinstance(make(), np.ndarray) else [make()]])


# A function with a slot for each way in which code reads something.
SLOTS = "constant helper default keyword nested attribute method base wrapped alias comprehension docstring module imported".split()
SOURCE = """
K = {constant}
def helper(x):
    return x, {helper}
class Base:
    def area(self):
        return {base}
class Unit(Base):
    size = {attribute}
    def grow(self, x):
        return x, {method}
def wrap(function):
    @functools.wraps(function)
    def inner(x):
        return {wrapped}, function(x)
    return inner
decorated = wrap(helper)
held = functools.lru_cache(lambda: {alias})
def called(x, extra={default}, *, more={keyword}):
    '''{docstring}'''
    import keys_b
    def inside(y):
        return y, {nested}
    unit = Unit()
    return describe([helper(x), K, inside(extra), more, unit.grow(1), unit.size, unit.area(), decorated(0), keys_a.k, keys_b.k, held(),
                     [{comprehension} for _ in range(2)]])
"""


@functools.lru_cache(None)
def compiled(slot, text):
    filled = {one: "0" for one in SLOTS}
    filled[slot] = text
    return compile(SOURCE.format(**filled), "drawn.py", "exec")


class Drawn:
    """A call that differs from others like it in one thing."""

    def __init__(self, draw, like=None):
        self.binding = like.binding if like else draw.choice("plain plain partial keyword method object closure wrapped".split())
        self.has_version = like.has_version if like else draw.random() < 0.4
        self.slot, self.text, self.argument, self.bound, self.constant = like.parts if like else (
            draw.choice(SLOTS), "0", lambda: 0, lambda: 0, None)

    @property
    def parts(self):
        return self.slot, self.text, self.argument, self.bound, self.constant

    def change(self, draw, makers):
        what = draw.choice(["argument", "bound"] if self.has_version else ["argument", "bound", "text", "text", "constant"])
        if what == "text":
            self.text = draw.choice(literals())
        elif what == "constant":
            self.constant = nested(draw, makers)
        else:
            setattr(self, what, nested(draw, makers))

    def done(self):
        """Return the key of the call, and what it returns."""
        text = self.text if self.slot != "docstring" else "nothing reads this"
        for name, slot in ("keys_a", "module"), ("keys_b", "imported"):
            sys.modules[name].k = eval(text) if self.slot == slot else 0
        scope = {"__name__": "drawn", "describe": describe, "functools": functools, "keys_a": sys.modules["keys_a"]}
        exec(compiled(self.slot, text), scope)
        if self.constant is not None:
            scope["K"] = self.constant()
        function, bound, argument = scope["called"], self.bound(), self.argument()
        if self.binding == "partial":
            call = functools.partial(lambda b, x: describe([b, function(x)]), bound) if not self.has_version else functools.partial(both, bound)
        elif self.binding == "keyword":
            call = functools.partial(function, more=bound)
        elif self.binding == "method":
            call = Plain(bound).method
        elif self.binding == "object":
            call = Plain(bound)
        elif self.binding == "closure":
            call = closed(bound)
        elif self.binding == "wrapped":
            call = functools.wraps(function)(closed([bound, function] if not self.has_version else bound))
        else:
            call = function
        options = {"version": 1, "name": "drawn"} if self.has_version else {}
        return larder.cached(call, **options).dataset_of(argument), call(argument)


def both(bound, x):
    return describe([bound, x])


def closed(bound):
    def inner(x):
        return describe([bound(x) if isinstance(bound, types.FunctionType) else bound, x])

    return inner


class RandomCallsTest(unittest.TestCase):
    def setUp(self):
        for name in "keys_a", "keys_b":
            sys.modules[name] = types.ModuleType(name)
            self.addCleanup(sys.modules.pop, name)

    def test_no_two_calls_with_equal_keys_have_different_results(self):
        seed = int(os.environ.get("LARDER_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
        draw, makers = random.Random(seed), values()
        equal = stricter = refused = 0
        for number in range(PAIRS):
            one = Drawn(draw)
            one.change(draw, makers)
            other = Drawn(draw, one)
            for _ in range(draw.choice((0, 1, 1, 1, 2))):
                other.change(draw, makers)
            with self.subTest(seed=seed, number=number, binding=one.binding):
                (key, result), (other_key, other_result) = one.done(), other.done()
                self.assertFalse(key == other_key and result != other_result, (result, other_result))
                equal += key == other_key
                stricter += key != other_key and result == other_result
        print(f"seed={seed} pairs={PAIRS} equal={equal} stricter={stricter}", file=sys.stderr)
        self.assertGreater(equal, PAIRS // 10)
        self.assertLess(stricter, PAIRS // 10)


if __name__ == "__main__":
    unittest.main()
