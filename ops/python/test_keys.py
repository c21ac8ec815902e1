"""Tests of keys: equal keys only for calls with equal results. $LARDER_TEST_SEED repeats a run of random calls."""

import collections
import collections.abc
import copy
import dataclasses
import datetime
import decimal
import enum
import functools
import importlib.metadata
import importlib.util
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import types
import typing
import unittest
from unittest import mock

import numpy as np

from test_larder import larder, room

PAIRS = int(os.environ.get("LARDER_TEST_PAIRS", "1000"))
P, Q, P2 = (collections.namedtuple("P", fields) for fields in ("h w", "w h", "h w"))


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


class More(Plain):
    pass


def added(plain):
    plain.more = 0
    return plain


def twice(n):
    return lambda y: [n, n]


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
            return f"again {met[id(value)][0]}"
        met[id(value)] = len(met), value  # kept, else another one could have its id
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


# Values that differ in one small thing, in groups, as Python texts: code has them as constants, too.
LITERALS = [
    ["1", "True", "1.0", "'1'", "b'1'", "1j", "(1,)", "[1]", "{1}", "frozenset({1})", "{1: 2}", "bytearray(b'1')", "2", "1 << 70", "-1"],
    ["0.0", "-0.0", "0", "False", "0j", "complex(0, -0.0)", "float('nan')", "-float('nan')", "float('inf')"],
    ["None", "''", "b''", "()", "[]", "{}", "set()", "...", "'None'", "'a'", "'a\\x00'", "'A'", "b'a'"],
    ["(1, 2)", "(2, 1)", "[1, 2]", "[[1], [2]]", "[[1, 2]]", "(1, (2,))", "range(1, 3)", "slice(1, 2)", "slice(1, 2, 1)", "{1, 2}", "{1, 2, 3}"],
    ["{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", "{'a': 2, 'b': 1}", "{'a': 1}", "[('a', 1), ('b', 2)]", "{'a': 1, 'b': 2.0}", "{1: 1, 2: 2}", "{True: 1, 2: 2}"],
]
X = np.arange(6.0)
MAKERS = [
    *([eval(f"lambda: {text}") for text in group] for group in LITERALS),
    [lambda: X.copy(), lambda: X.reshape(2, 3), lambda: np.asfortranarray(X.reshape(2, 3)), lambda: X.reshape(3, 2), lambda: X.reshape(1, 6),
     lambda: X.astype(">f8"), lambda: X.astype("f4"), lambda: X.astype("i8"), lambda: X.astype("u8"), lambda: X.astype("c8"), lambda: X.tolist(),
     lambda: np.repeat(X, 2)[::2], lambda: np.arange(6.0)[::-1], lambda: X.astype(object)],
    [lambda: np.ma.array(X, mask=X > 3), lambda: np.ma.array(X, mask=X > 1), lambda: np.ma.array(X), lambda: np.ma.array(X, mask=False),
     lambda: np.ma.array(X, mask=X > 3, fill_value=7), lambda: X.copy(), lambda: np.ma.array(np.where(X > 3, 9, X), mask=X > 3)],
    [lambda: np.zeros(1), lambda: -np.zeros(1), lambda: np.array([np.nan]), lambda: np.array([-np.nan]), lambda: np.zeros(1, bool),
     lambda: np.zeros((1, 1)), lambda: np.array(0.0), lambda: np.zeros(1, "m8[s]"), lambda: np.zeros(1, "M8[s]"), lambda: np.zeros(1, "M8[D]")],
    [lambda: np.array(1), lambda: np.int64(1), lambda: np.int32(1), lambda: np.float64(1), lambda: np.bool_(True), lambda: np.str_("1"),
     lambda: np.bytes_(b"1"), lambda: 1, lambda: np.array(["1"]), lambda: np.array([b"1"]), lambda: np.array([1, "1"], object),
     lambda: np.array([1, 1.0], object), lambda: np.array([True, 1.0], object)],
    [lambda: np.array([(1, 2)], "i4,i4"), lambda: np.array([(1, 2)], [("f0", "i4"), ("g", "i4")]), lambda: np.array([(1, 2)], "i4,u4"),
     lambda: np.array([[1, 2]], "i4"), lambda: np.zeros((0, 3)), lambda: np.zeros((3, 0)), lambda: np.zeros(0)],
    [lambda: np.dtype("f4"), lambda: np.dtype(">f4"), lambda: np.float32, lambda: float, lambda: "f4", lambda: np.dtype("i4,i4")],
    [lambda: P(1, 2), lambda: Q(1, 2), lambda: P(2, 1), lambda: (1, 2), lambda: P(1, 2.0), lambda: P2(1, 2)],
    [lambda: Settings(1), lambda: Settings(1.0), lambda: Settings(1, 1), lambda: Settings(0, 1), lambda: Elsewhere(1), lambda: Elsewhere(1, 1)],
    [lambda: Plain(1), lambda: Plain(True), lambda: Plain([1]), lambda: Slots(1), lambda: Slots(2), lambda: More(1), lambda: added(Plain(1))],
    [lambda: Colour.RED, lambda: Colour.BLUE, lambda: Level.RED, lambda: 1, lambda: Level.BLUE],
    [lambda: collections.OrderedDict(a=1, b=2), lambda: collections.OrderedDict(b=2, a=1), lambda: collections.defaultdict(int, a=1, b=2),
     lambda: collections.defaultdict(float, a=1, b=2), lambda: collections.Counter("abb"), lambda: {"a": 1, "b": 2}],
    [lambda: collections.deque([1, 2]), lambda: collections.deque([1, 2], 2), lambda: [1, 2], lambda: decimal.Decimal("1.0"),
     lambda: decimal.Decimal("1.00"), lambda: datetime.date(2020, 1, 1), lambda: datetime.datetime(2020, 1, 1), lambda: datetime.timedelta(1)],
    [lambda: (lambda y: 1), lambda: (lambda y: 2), lambda: (lambda y: True), lambda: (lambda y, z=1: z), lambda: (lambda y, z=2: z), lambda: twice(1),
     lambda: twice(2), lambda: twice(1.0)],
    [lambda: [[0]] * 2, lambda: [[0], [0]], lambda: [X, X], lambda: [X, X.copy()], lambda: [X, X[:]]],
]


def nested(make, how):
    """Make a value within another, so that a key has to look into that."""
    value = make()
    if how == "object array":
        held = np.empty(1, object)
        held[0] = value
        return held
    return {"plain": lambda: value, "list": lambda: [value, 0], "dict": lambda: {"k": value}, "dataclass": lambda: Settings(value),
            "object": lambda: Plain(value), "pair": lambda: (make(), value), "named": lambda: P(0, value)}[how]()


# A function with a slot for each way in which code reads something.
SLOTS = "constant helper default keyword nested attribute method base wrapped alias comprehension docstring module imported".split()
SOURCE = """
K = 0
C = {constant}
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
    return describe([helper(x), K, C, inside(extra), more, unit.grow(1), unit.size, unit.area(), decorated(0), keys_a.k, keys_b.k, held(),
                     [{comprehension} for _ in range(2)]])
"""


@functools.lru_cache(None)
def compiled(slot, text):
    filled = {one: "0" for one in SLOTS}
    filled[slot] = text
    return compile(SOURCE.format(**filled), "drawn.py", "exec")


class Drawn:
    """A call that differs from others like it in one thing."""

    def __init__(self, draw):
        self.binding = draw.choice("plain plain partial keyword method object closure wrapped".split())
        self.has_version = draw.random() < 0.4
        self.slot, self.literals = draw.choice(SLOTS), draw.choice(LITERALS)
        self.text = draw.choice(self.literals)
        self.makers = {what: draw.choice(MAKERS) for what in ("argument", "bound", "constant")}
        self.drawn = {what: draw.choice(makers) for what, makers in self.makers.items()}
        self.how = {what: draw.choice("plain plain plain list dict dataclass object pair named".split() + ["object array"]) for what in self.makers}

    def change(self, draw):
        """Return a call that has another thing of the same group."""
        other = copy.copy(self)
        what = draw.choice(["argument", "bound"] if self.has_version else ["argument", "bound", "text", "text", "constant"])
        if what == "text":
            other.text = draw.choice(self.literals)
        else:
            other.drawn = {**self.drawn, what: draw.choice(self.makers[what])}
        return other

    def value(self, what):
        return nested(self.drawn[what], self.how[what])

    def done(self):
        """Return the key of the call, and what it returns."""
        text = self.text if self.slot != "docstring" else "nothing reads this"
        for name, slot in ("keys_a", "module"), ("keys_b", "imported"):
            sys.modules[name].k = eval(text) if self.slot == slot else 0
        scope = {"__name__": "drawn", "describe": describe, "functools": functools, "keys_a": sys.modules["keys_a"]}
        exec(compiled(self.slot, text), scope)
        scope["K"] = self.value("constant")
        function, bound, argument = scope["called"], self.value("bound"), self.value("argument")
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
        draw = random.Random(seed)
        equal = stricter = 0
        for number in range(PAIRS):
            one = Drawn(draw)
            other = one
            for _ in range(draw.choice((0, 1, 1, 1, 2))):
                other = other.change(draw)
            with self.subTest(seed=seed, number=number, binding=one.binding):
                (key, result), (other_key, other_result) = one.done(), other.done()
                self.assertFalse(key == other_key and result != other_result, (result, other_result))
                equal += key == other_key
                stricter += key != other_key and result == other_result
        print(f"seed={seed} pairs={PAIRS} equal={equal} stricter={stricter}", file=sys.stderr)
        self.assertGreater(equal, PAIRS // 10)
        self.assertLess(stricter, PAIRS // 10)


class KeysTest(unittest.TestCase):
    """Each way in which calls once met, or could not be told apart."""

    def key(self, function, *arguments, **options):
        return larder.cached(function, **options).dataset_of(*arguments)

    def scoped(self, source, name="f", **scope):
        """Return a function of a module of its own."""
        scope["__name__"] = "scoped"
        exec(source, scope)
        return scope[name]

    def differ(self, *keys):
        self.assertEqual(len(set(keys)), len(keys))

    def scripts(self, *texts):
        """Run scripts, and return the keys that they print."""
        for text in texts:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "job.py")
                with open(path, "w") as file:
                    file.write(f"import sys; sys.path[:0] = {sys.path[:2]!r}\nimport larder, multiprocessing\n{text}")
                yield subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True, check=True).stdout.strip()

    def test_scripts_meet_only_with_equal_code_and_globals(self):
        text = "SCALE = {}\n@larder.cached{}\ndef features(n): return n * SCALE\nprint(features.dataset_of(3))"
        first, same, other = self.scripts(*(text.format(scale, "") for scale in (2, 2, 3)))
        self.assertEqual(first, same)
        self.assertNotEqual(first, other)
        self.differ(*self.scripts(*[text.format(2, "(version=1)")] * 2))  # of two files, whose code a version hides
        named = list(self.scripts(*[text.format(2, "(version=1, name='features')")] * 2))
        self.assertEqual(named[0], named[1])

    def test_a_spawned_process_has_the_keys_of_its_parent(self):
        for options in "", "(version=1)":
            text = (f"@larder.cached{options}\ndef features(n): return n\ndef of(n): return features.dataset_of(n)\n"
                    "if __name__ == '__main__':\n    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
                    "        print(pool.apply(of, (1,)) == of(1))")
            self.assertEqual([*self.scripts(text)], ["True"])

    def test_a_version_needs_a_name_that_no_other_function_has(self):
        def inside(x):
            return x

        for function in (lambda x: x), inside:
            with self.assertRaisesRegex(larder.LarderError, "a version needs a name that no other function has: .*name="):
                self.key(function, 1, version=1)
        self.differ(*(self.key(lambda x: x, 1, version=1, name=name) for name in "ab"), self.key(lambda x: x, 1, version=2, name="a"))
        self.assertEqual(self.key(lambda x: x, 1, version=1, name="a"), self.key(lambda x: x + 1, 1, version=1, name="a"))
        text = f"import sys; sys.path[:0] = {sys.path[:2]!r}\nimport larder\ndef f(): pass\nlarder.cached(f, version=1).dataset_of()"
        for arguments in ("-c", text), ("-",):
            done = subprocess.run([sys.executable, *arguments], input=text, capture_output=True, text=True)
            self.assertIn("a version needs a name", done.stderr)

    def test_bound_values_count_with_a_version(self):
        self.differ(*(self.key(functools.partial(pow, n), 3, version=1) for n in (1, 2)), self.key(functools.partial(divmod, 1), 3, version=1))
        self.differ(*(self.key(Plain(n), 3, version=1) for n in (1, 2)), *(self.key(Plain(n).method, 3, version=1) for n in (1, 2)))
        self.differ(*(self.key(twice(n), 3, version=1, name="twice") for n in (1, 2)))

    def test_what_code_reads_counts(self):
        text = "K = {}\ndef helper(x):\n    return x + {}\nclass Unit:\n    size = {}\n    def grow(self): return {}\n"
        text += "def f(x):\n    return (lambda: helper(x) * K + Unit().grow() + Unit.size)()"
        self.differ(*(self.key(self.scoped(text.format(*(9 if place == changed else 1 for place in range(4)))), 1) for changed in range(5)))
        wrapped = "import functools\ndef deco(g):\n    @functools.wraps(g)\n    def call(x): return g(x)\n    return call\n@deco\ndef f(x): return {}"
        self.differ(*(self.key(self.scoped(wrapped.format(n)), 1) for n in (1, 2)))
        recursive = "def f(n): return n if n < 2 else g(n - 1)\ndef g(n): return f(n - {})"
        self.differ(*(self.key(self.scoped(recursive.format(n)), 1) for n in (1, 2)))
        missing = self.scoped("def f(x): return later")
        before = self.key(missing, 1)
        missing.__globals__["later"] = 1
        self.assertNotEqual(before, self.key(missing, 1))

    def test_texts_and_times_differ_in_all_that_they_are(self):
        night = datetime.datetime(2020, 10, 25, 2, 30)
        shared, array = bytearray(b"a"), np.asfortranarray(np.arange(6).reshape(2, 3))
        described = np.dtype((np.dtype("i4", metadata={"unit": "m"}), (2,)))

        for one, other in (("\ud83d\ude00", "\U0001f600"), (night, night.replace(fold=1)), (night.time(), night.time().replace(fold=1)),
                           ([shared, shared], [shared, bytearray(shared)]), (array, array + 1), (array, np.ascontiguousarray(array))):
            self.differ(*(self.key(describe, value) for value in (one, other)))
        self.differ(*(self.key(describe, types.MappingProxyType({"a": n})) for n in (1, 2)))
        with self.assertRaisesRegex(larder.LarderError, "metadata"):
            self.key(describe, np.zeros(1, [("a", described)]))

    def test_objects_that_stand_around_functions_count_with_their_state_and_class(self):
        around = ("import functools\nclass Around:\n    def __init__(self, g, scale):\n        functools.update_wrapper(self, g)\n        self.scale = scale\n"
                  "    def __call__(self, x): return self.__wrapped__(x) * self.scale\nh = Around(lambda x: x, {})\ndef f(x): return h(x)")
        special = "class Special({}):\n    def __get__(self, of, kind=None): return {}\nclass Unit:\n    @Special\n    def a(self): pass\ndef f(x): return Unit().a"
        partial = "import functools\nclass Twice(functools.partial):\n    def __call__(self, x): return super().__call__(x) * {}\nf = Twice(abs)"

        self.differ(*(self.key(self.scoped(around.format(n)), 1) for n in (2, 3)), *(self.key(describe, self.scoped(around.format(n), "h")) for n in (2, 3)))
        kept = "import functools\nh = functools.lru_cache(lambda x: x)\nh.scale = {}\ndef f(x): return h.scale"
        self.differ(*(self.key(self.scoped(kept.format(n)), 1) for n in (2, 3)))
        for base in "property", "staticmethod", "classmethod":
            self.differ(*(self.key(self.scoped(special.format(base, n)), 1) for n in (2, 3)))
        self.differ(*(self.key(self.scoped(partial.format(n)), 1) for n in (2, 3)))

    def test_a_wrapper_counts_with_the_arguments_that_it_gets(self):
        source = ("import functools\ndef deco(g):\n    @functools.wraps(g)\n    def call(x, y={}): return g(x, y)\n    return call\n"
                  "@deco\ndef f(x, y=1): return x * y")
        one, other = (larder.cached(self.scoped(source.format(n))) for n in (5, 6))

        self.differ(one.dataset_of(3), one.dataset_of(3, 1), other.dataset_of(3))
        self.assertEqual(one.dataset_of(3), one.dataset_of(3, 5))

    def test_attributes_of_modules_count_also_by_constant_names(self):
        def of(source, **attributes):
            module = types.ModuleType("keys_c")
            module.__dict__.update(attributes)
            return self.key(self.scoped(f"import operator\ntake = operator.attrgetter('a.K')\ndef f(x): return {source}", m=module), 1)

        for source in "getattr(m, 'K')", "operator.attrgetter('K')(m)", "take(m)":
            self.differ(*(of(source, K=n) for n in (1, 2)))
        self.differ(*(of("m.K", __getattr__=self.scoped(f"def f(name): return {n}")) for n in (1, 2)))
        self.differ(*(self.key(self.scoped(f"import enum\nclass E(enum.Enum):\n    A = 1\nE.more = {n}\ndef f(x): return E.more"), 1) for n in (1, 2)))

    def test_a_type_that_an_alias_names_counts(self):
        source = "def make():\n    class A:\n        size = {}\n    return A\nA = make()"
        self.differ(*(self.key(describe, list[self.scoped(source.format(n), "A")]) for n in (1, 2)))
        self.differ(*(self.key(describe, one) for one in (list[int], typing.List[int], list[bool], typing.Optional[int], typing.Literal[1], typing.Literal[True],
            collections.abc.Callable[[int], int], collections.abc.Callable[[int], str])))

    def test_sets_have_one_key_in_all_processes(self):
        text = ("import dataclasses, enum, logging, typing\nclass E(enum.Enum):\n    A = 1; B = 2; C = 3\n@dataclasses.dataclass(frozen=True)\nclass P:\n    a: str\n"
                "log = logging.getLogger(__name__)\nPAIR = typing.Tuple[P, int]\n@larder.cached\ndef f(x):\n    log.info(x)\n    return PAIR\n"
                "def of(n): return f.dataset_of([{*E}, {P(c) for c in 'abc'}, frozenset([frozenset(E), frozenset([P('a'), P('b')])])])\n"
                "if __name__ == '__main__':\n    print(of(0))\n"
                "    with multiprocessing.get_context('spawn').Pool(1) as pool: print(pool.apply(of, (0,)))")
        keys = []
        for seed in "1", "2", "3":
            with mock.patch.dict(os.environ, {"PYTHONHASHSEED": seed}):
                keys += [line for said in self.scripts(text) for line in said.split()]
        self.assertEqual((len(keys), len(set(keys))), (6, 1))
        deep = frozenset()
        for n in range(60):
            deep = frozenset([deep, n])  # each level is read twice, and not each twice as often as the one around it
        self.assertEqual(self.key(describe, deep), self.key(describe, deep))

    def test_many_functions_that_call_each_other_have_a_key(self):
        source = "".join(f"def g{n}(x): return g{n + 1}(x)\n" for n in range(2000)) + "def g2000(x): return {}\ndef f(x): return g0(x)"
        self.differ(*(self.key(self.scoped(source.format(n)), 1) for n in (1, 2)))

    def test_a_library_without_a_version_has_that_of_its_package(self):
        libraries = room("_libraries")
        with mock.patch.object(importlib.metadata, "packages_distributions", lambda: {"json": ["numpy", "numpy"]}, create=True):
            self.assertEqual(libraries._versions_of_packages("json"), f"numpy {importlib.metadata.version('numpy')}")
            self.assertEqual(libraries._versions_of_packages("other"), "")

    def test_a_function_that_is_kept_itself_counts_with_its_version_and_inputs(self):
        def of(**options):
            scope = {"larder": larder, "__name__": "scoped"}
            exec("def inner(x): return x\ndef f(x): return kept(x)", scope)
            scope["kept"] = larder.cached(scope["inner"], **options)
            return self.key(scope["f"], 1)

        self.assertEqual(of(), of())
        self.differ(of(), of(version=1), of(version=2), of(inputs=[__file__]), of(name="n"))

    def test_modules_of_the_user_count_and_libraries_by_their_version(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "site-packages")
            os.mkdir(library)
            sys.path[:0] = [folder, library]
            self.addCleanup(lambda: [sys.path.remove(one) for one in (folder, library)])
            keys = [self.of_modules(folder, library, mine, theirs, version)
                    for mine, theirs, version in ((1, 1, 1), (1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2))]
        self.assertEqual(keys[0], keys[1])
        self.assertEqual(keys[0], keys[3])  # code of a library that keeps its version
        self.differ(keys[0], keys[2], keys[4])

    def of_modules(self, folder, library, mine, theirs, version):
        with open(os.path.join(folder, "keys_mine.py"), "w") as file:
            file.write(f"def scale(x): return x * {mine}\n")
        with open(os.path.join(library, "keys_theirs.py"), "w") as file:
            file.write(f"__version__ = '{version}'\ndef shift(x): return x + {theirs}\n")
        for name in "keys_mine", "keys_theirs":
            sys.modules.pop(name, None)
        sys.path_importer_cache.clear()
        importlib.invalidate_caches()
        room("_keys")._version_of.cache_clear()
        function = self.scoped("def f(x):\n    from keys_mine import scale\n    import keys_theirs\n    return keys_theirs.shift(scale(x))")
        with mock.patch.object(sys, "dont_write_bytecode", True):
            first = self.key(function, 1)
            function(1)  # imports both
            self.assertEqual(first, self.key(function, 1))
        return first

    def test_values_that_no_key_can_contain_are_refused_with_the_way_to_them(self):
        big = np.zeros((1 << 17) + 1)
        for function, argument, reason in (
                (len, object(), "type=object value=argument obj; pass None, a text or a member of an enum, or keep"), (describe, np.zeros(2, "f4,i2").view(np.recarray), "numpy.asarray"),
                (describe, [Plain({"a": threading.Lock()})], r"lock value=\['a'\] of attribute state of a Plain of argument value"),
                (describe, iter([1]), "list_iterator"), (self.scoped("def f(value): return big", big=big), 1, "global big of f .*larder.cache"),
                (self.scoped("def f(value): return held", held=threading.Lock()), 1, "the global held of f; give a version="),
                (describe, type("Int", (int,), {})(1), "Int"), (describe, np.zeros(1, np.dtype("i4", metadata={"a": 1})), "metadata")):
            with self.subTest(reason), self.assertRaisesRegex(larder.LarderError, reason):
                self.key(function, argument, version=1 if function is len else None)
        nest = []
        for _ in range(100_000):
            nest = [nest]
        with self.assertRaisesRegex(larder.LarderError, "nested too deeply"):
            self.key(describe, nest)

    def test_cycles_loggers_and_patterns_have_keys(self):
        loop = []
        loop.append(loop)
        self.assertEqual(self.key(describe, loop), self.key(describe, loop))  # cycles end
        slow = self.scoped("import logging, re\nlog = logging.getLogger('a')\nword = re.compile('a')\ndef f(x):\n    log.info(x)\n    return word.match(x)")
        self.assertEqual(self.key(slow, "a"), self.key(slow, "a"))

    def test_inputs_are_files_arrays_or_datasets(self):
        def of(inputs):
            return self.key(describe, 1, inputs=inputs)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x")
            with open(path, "w") as file:
                file.write("1")
            os.utime(path, (1, 1))
            before = of(path)
            with open(path, "w") as file:
                file.write("2")
            os.utime(path, (1, 1))  # as copies that keep times are
            self.differ(before, of(path), of(X), of([X, X]), of([X + 1]))
            os.mkfifo(os.path.join(folder, "pipe"))
            with self.assertRaisesRegex(larder.LarderError, "an input cannot be read: input=.*pipe reason=it is neither"):
                of(folder)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs torch")
    def test_tensors_are_told_apart(self):
        import torch

        x = torch.arange(6.0)
        self.assertEqual(self.key(describe, x), self.key(describe, x.clone()))
        self.differ(*(self.key(describe, one) for one in (
            x, x.reshape(2, 3), x.reshape(2, 3).T.contiguous().T, x.bfloat16(), x.double(), x[::2], x.numpy(), x.clone().requires_grad_(),
            torch.nn.Parameter(x), torch.nn.Linear(2, 2), torch.nn.Linear(2, 2), torch.tensor(1.0), torch.zeros(0),
            torch.float32, torch.float16, torch.device("cpu"), torch.device("meta"), torch.Size([1, 2]), torch.Size([2, 1]), torch.channels_last)))
        with self.assertRaisesRegex(larder.LarderError, "tensor.detach"):
            self.key(describe, x.clone().requires_grad_() * 2)

    def told_apart(self, texts, scope):
        """Each text is a value of its own: made twice, it has one key, in another process too, and no other one has that."""
        made = {text: [self.key(describe, eval(text, scope)) for _ in range(2)] for text in texts}
        for text, keys in made.items():
            with self.subTest(text):
                self.assertEqual(*keys)
        of = collections.defaultdict(list)
        for text, keys in made.items():
            of[keys[0]].append(text)
        self.assertEqual([same for same in of.values() if len(same) > 1], [])
        names = [name for name in ("pandas", "polars", "numpy") if name in scope]
        script = "".join(f"import {name}\n" for name in names) + f"scope = {{{', '.join(f'{name!r}: {name}' for name in names)}}}\n"
        script += f"@larder.cached(version=1, name='f')\ndef f(x): return x\nprint(*(f.dataset_of(eval(text, scope)) for text in {[*texts]!r}))"
        first, other = self.scripts(script, script)
        self.assertEqual((first, len({*first.split()})), (other, len(texts)))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "needs pandas")
    def test_frames_of_pandas_are_told_apart(self):
        import pandas

        arrays = ("[1, 2]", "[1, 3]", "[1.0, 2]", "[1, None]", "['x', 'y']", "['x', None]", "[True, False]", "numpy.array([1, 2], 'i4')",
                  "pandas.array([1, 2], dtype='Int64')", "pandas.array([1, None], dtype='Int64')", "pandas.array([1, 2], dtype='Float64')",
                  "[1, 2], dtype=object", "[1, '2'], dtype=object", "[True, 2], dtype=object",
                  "['x', None], dtype=object", "['x', float('nan')], dtype=object", "['x', pandas.NA], dtype=object",
                  "[pandas.Timestamp('2020'), pandas.NaT], dtype=object", "[pandas.Timestamp('2020', tz='UTC'), pandas.NaT], dtype=object",
                  "pandas.array(['x', 'y'], dtype='string')", "pandas.array(['x', 'y'], dtype='string[python]')", "pandas.array([True, None], dtype='boolean')",
                  "pandas.Categorical(['x', 'y'])", "pandas.Categorical(['x', 'y'], ['y', 'x'])", "pandas.Categorical(['x', 'y'], ordered=True)", "pandas.Categorical([1, 2])",
                  "pandas.to_datetime(['2020-01-01', '2020-01-02'])", "pandas.to_datetime(['2020-01-01', None])", "pandas.to_datetime(['2020-01-01', '2020-01-02']).as_unit('s')",
                  "pandas.date_range('2020', periods=2, tz='UTC')", "pandas.date_range('2020', periods=2, tz='Europe/Berlin')", "pandas.to_timedelta([1, 2], 's')")
        if importlib.util.find_spec("pyarrow"):
            arrays += tuple(f"pandas.array({values}, dtype='{dtype}[pyarrow]')" for values, dtype in (
                ("[1, 2]", "int64"), ("[1, 2]", "int32"), ("[1, None]", "int64"), ("[None, 1]", "int64"), ("['x', 'y']", "large_string"), ("['xy', '']", "large_string"),
                ("[0.0]", "double"), ("[-0.0]", "double"), ("[True, False]", "bool"))) + ("pandas.array([1, 2, 3], dtype='int64[pyarrow]')[1:]",)
        indexes = ("pandas.Index([0, 1])", "pandas.RangeIndex(2)", "pandas.RangeIndex(1, 3)", "pandas.Index([0, 1], name='n')", "pandas.Index(['0', '1'])",
                   "pandas.date_range('2020', periods=2)", "pandas.DatetimeIndex(['2020-01-01', '2020-01-02'])", "pandas.MultiIndex.from_tuples([(0, 'x'), (1, 'y')])",
                   "pandas.MultiIndex.from_tuples([(0, 'x'), (1, 'y')], names=['a', 'b'])", "pandas.CategoricalIndex(['x', 'y'])")
        series = [f"pandas.Series({array})" for array in arrays] + [f"pandas.Series([1, 2], {index})" for index in indexes if index != "pandas.RangeIndex(2)"]
        frames = ["pandas.DataFrame({'a': [1, 2], 'b': [3, 4]})", "pandas.DataFrame({'b': [3, 4], 'a': [1, 2]})", "pandas.DataFrame({'a': [1, 2], 'b': [3, 5]})",
                  "pandas.DataFrame({'a': [1, 2], 'c': [3, 4]})", "pandas.DataFrame({'a': [1, 2], 'b': [3.0, 4]})", "pandas.DataFrame({'a': [1, 2], 'b': [3, 4]}, index=['x', 'y'])",
                  "pandas.DataFrame({'a': [1, 2]}).assign(b=[3, 4])", "pandas.DataFrame({'a': [1, 2], 'b': [3, 4]}).rename_axis(columns='c')",
                  "pandas.DataFrame({'a': [1, 2], 'b': [3, 4]}).set_flags(allows_duplicate_labels=False)", "pandas.DataFrame({1: [1, 2], 2: [3, 4]})",
                  "pandas.DataFrame({('a', 1): [1, 2], ('b', 1): [3, 4]})", "pandas.DataFrame()", "pandas.DataFrame(index=[0])", "pandas.DataFrame(columns=['a'])"]
        self.told_apart([*series, *frames, *indexes, "pandas.NA", "pandas.NaT", "pandas.Timestamp('2020')", "pandas.Timestamp('2020', tz='UTC')", "pandas.Timedelta(1)"],
                        {"pandas": pandas, "numpy": np})
        marked = pandas.DataFrame({"a": [1]})
        marked.attrs["unit"] = "m"
        self.differ(*(self.key(describe, frame) for frame in (marked, pandas.DataFrame({"a": [1]}))))
        shared = pandas.Series([1])
        self.differ(*(self.key(describe, [shared, other]) for other in (shared, shared.copy())))
        for refused, reason in ((pandas.Series(pandas.period_range("2020", periods=2)), r"dtype period.*it\.to_numpy\(\)"),
                                (pandas.DataFrame({"a": [object()]}), "type=object value=column a of argument value"), (type("Mine", (pandas.DataFrame,), {})(), "type=.*Mine"),
                                (pandas.interval_range(0, 2), "type=.*IntervalIndex.*reset_index")):
            with self.subTest(reason), self.assertRaisesRegex(larder.LarderError, reason):
                self.key(describe, refused)

    @unittest.skipUnless(importlib.util.find_spec("polars"), "needs polars")
    def test_frames_of_polars_are_told_apart(self):
        import polars

        arrays = ("[1, 2]", "[1, 3]", "[2, 1]", "[1.0, 2.0]", "[1, None]", "['x', 'y']", "['x', None]", "[True, False]", "[[1], [2, 3]]", "[[1, 2], [3]]", "[{'a': 1}]", "[{'b': 1}]",
                  "[1, 2], dtype=polars.Int32", "['x', 'y'], dtype=polars.Enum(['x', 'y'])", "['x', 'y'], dtype=polars.Enum(['y', 'x'])", "[0, 1], dtype=polars.Datetime('ms')",
                  "[0, 1], dtype=polars.Datetime('us')", "[0, 1], dtype=polars.Datetime('us', 'UTC')", "[0, 1], dtype=polars.Date", "[0.0]", "[-0.0]", "[float('nan')]", "[]")
        series = [f"polars.Series('a', {array})" for array in arrays] + ["polars.Series('b', [1, 2])", "polars.Series('a', [1, 2]).set_sorted()",
                                                                        "polars.Series('a', [1]).append(polars.Series('a', [2]))"]
        frames = ["polars.DataFrame({'a': [1, 2], 'b': [3, 4]})", "polars.DataFrame({'b': [3, 4], 'a': [1, 2]})", "polars.DataFrame({'a': [1, 2]})", "polars.DataFrame()"]
        self.told_apart([*series, *frames], {"polars": polars})
        for refused, reason in ((polars.Series("c", ["x"], dtype=polars.Categorical), r"column c of dtype Categorical.*cast\(polars.String\)"),
                                (polars.DataFrame({"o": polars.Series([object()], dtype=polars.Object)}), "column o of dtype Object"), (polars.LazyFrame(), r"it\.collect\(\)")):
            with self.subTest(reason), self.assertRaisesRegex(larder.LarderError, reason):
                self.key(describe, refused)

    def test_objects_without_state_are_the_names_that_they_have(self):
        module = types.ModuleType("keys_sentinels")
        module.MISSING, module.OTHER = object(), object()
        sys.modules[module.__name__] = module
        self.addCleanup(sys.modules.pop, module.__name__)
        source = "from keys_sentinels import MISSING, OTHER\ndef f(x=MISSING, y=0): return x is {}, y"
        missing = [self.scoped(source.format("MISSING")) for _ in range(2)]

        self.assertEqual(*(self.key(function) for function in missing))
        self.differ(self.key(missing[0]), self.key(self.scoped(source.format("OTHER"))), self.key(missing[0], 1), self.key(missing[0], module.OTHER),
                    *(self.key(describe, value, version=1) for value in (module.MISSING, module.OTHER)))
        before = self.key(describe, module.MISSING, version=1)
        module.MISSING, module.OTHER = module.OTHER, module.MISSING
        self.assertNotEqual(before, self.key(describe, module.OTHER, version=1))
        text = "MISSING = object()\n@larder.cached\ndef f(x=MISSING): return x is MISSING\nprint(f.dataset_of(), f.dataset_of(1))"
        first, same = self.scripts(text, text)
        self.assertEqual(first, same)

    def test_generators_are_refused_as_a_kept_result_does_not_advance_them(self):
        for value, remedy in ((np.random.default_rng(1), "numpy.random.default_rng"), (np.random.RandomState(1), "numpy.random.default_rng"),
                              (np.random.PCG64(1), "numpy.random.default_rng"), (random.Random(1), "random.Random")):
            with self.subTest(type(value)), self.assertRaisesRegex(larder.LarderError, rf"value=argument value; pass a seed, .*{remedy}\(seed\)"):
                self.key(describe, value)


if __name__ == "__main__":
    unittest.main()
