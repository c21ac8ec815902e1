"""Tests of larder.cached, against the fake of the command that test_larder has."""

import collections
import dataclasses
import enum
import functools
import importlib.util
import multiprocessing
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from test_larder import BuildsCase, larder, same


@dataclasses.dataclass
class Settings:
    size: int
    names: tuple


def noted(calls):
    with open(calls, "a") as file:
        file.write("called\n")
    return 5


def total(calls):
    return larder.cached(noted, version=1)(calls)


_counted = []  # a global, which is in no key where there is a version


def count(*arguments, **named):
    _counted.append((arguments, named))
    return len(_counted)


_given = []
_remembered = []


def give(number):
    return _given[0]


class CachedTest(BuildsCase):
    def setUp(self):
        super().setUp()
        _counted.clear()

    def counted(self, **options):
        return larder.cached(count, version=1, **options)

    def kept(self, result):
        """Return what comes back for a result."""
        _given[:] = [result]
        return larder.cached(give, version=1)(len(larder.datasets()))

    def test_a_function_that_changes_its_own_key_is_named(self):
        def remember(number):
            _remembered.append(number)
            return number

        def fill(array):
            array[0] += 1
            return array

        expected = "a function changes a value that its key contains, so the next call has another key and computes again: function=.*{}; do not change"
        for act, name in ((lambda: larder.cached(remember)(1), "remember"), (lambda: larder.cached(fill)(np.zeros(3)), "fill"),
                          (lambda: larder.cached(fill, version=1, name="fill")(np.ones(3)), "fill")):
            with self.subTest(name=name), self.assertWarnsRegex(UserWarning, expected.format(name)) as caught:
                act()
            self.assertEqual(os.path.basename(caught.warnings[0].filename), "test_calls.py")

        _remembered.clear()
        for _ in range(2):
            larder.cached(remember, version=1, name="remember")(1)  # its key has no globals: warnings are errors here
        self.assertEqual(_remembered, [1])

    def test_a_function_is_called_once_for_the_same_arguments(self):
        @larder.cached
        def squares(size, start=0):
            return np.arange(start, size) ** 2

        first = squares(5)
        self.assertIs(type(first), larder.Array)
        self.assertEqual(first.tolist(), [0, 1, 4, 9, 16])
        self.assertEqual(squares(size=5, start=0).filename, first.filename)
        self.assertEqual(squares(5, 3).tolist(), [9, 16])
        self.assertEqual(len(larder.datasets()), 2)
        self.assertIn(squares.dataset_of(5), larder.datasets())
        self.assertEqual(squares.__name__, "squares")

    def test_arguments_of_every_kind_tell_calls_apart(self):
        compute, stored = self.counted(), larder.cache("s", lambda: np.arange(6))
        kinds = [1, 1.0, True, "1", b"1", None, (1,), [1], {1}, {"a": 1}, {"a": 2}, np.int8(1), np.arange(3), np.arange(3.0), np.arange(4)[::2],
                 stored, stored[1:], stored[::2], larder.dataset("s"), Settings(1, ("a",)), Settings(1, ("b",)), np.dtype("f4"), 1j,
                 np.zeros((0, 3)), np.zeros((3, 0)), np.array(5)]
        results = [compute(kind) for kind in kinds]
        self.assertEqual([compute(kind) for kind in kinds], results)
        self.assertEqual(len(set(results)), len(kinds))
        self.assertNotEqual(compute({"b": 1, "a": 2}), compute({"a": 2, "b": 1}))  # a function may read it in order
        with self.assertRaisesRegex(larder.LarderError, "a value cannot be part of a key: type=object value=argument arguments; pass None"):
            compute(object())

    def test_a_change_of_an_input_computes_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            file, below = os.path.join(folder, "x"), os.path.join(folder, "deeper", "y")
            os.mkdir(os.path.dirname(below))
            compute = self.counted(inputs=[folder])
            results = []
            for path, text in (file, "1"), (file, "2"), (below, "1"), (file, "1"):
                with open(path, "w") as out:
                    out.write(text)
                results.append((compute(), compute()))
            self.assertEqual(results, [(1, 1), (2, 2), (3, 3), (4, 4)])
            os.unlink(below)
            self.assertEqual(compute(), 1)  # as it was at first
        by_argument = self.counted(inputs=lambda name: os.path.join(folder, name))
        with self.assertRaisesRegex(larder.LarderError, "an input cannot be read: input=.*/z reason=No such file"):
            by_argument("z")

    def test_the_code_is_part_of_the_key_unless_a_version_is(self):
        def make(source, **options):
            scope = {}
            exec(source, scope)
            return larder.cached(scope["f"], **options)

        one, same_code, other = (make(f"{space}\ndef f(x):\n    return x in {{1, 2, 'a'}} or {result}")
                                 for space, result in (("", 1), ("# a comment", 1), ("", 2)))
        self.assertEqual(one.dataset_of(1), same_code.dataset_of(1))
        self.assertNotEqual(one.dataset_of(1), other.dataset_of(1))
        versions = [make(f"def f(x): return {result}", version=version, name="f").dataset_of(1) for result, version in ((1, 1), (2, 1), (2, 2))]
        self.assertEqual(versions[0], versions[1])
        self.assertNotEqual(versions[1], versions[2])

    def test_what_a_function_closes_over_is_part_of_the_key(self):
        def adder(n):
            return larder.cached(lambda x: x + n)

        self.assertEqual((adder(1)(10), adder(2)(10)), (11, 12))
        with self.assertRaisesRegex(larder.LarderError, "type=object value=n that .*<lambda> closes over; pass None"):
            adder(object())(1)

    def test_a_function_that_nothing_is_known_of_is_refused(self):
        for function in (functools.partial(max, 1), len, np.abs):
            with self.assertRaisesRegex(larder.LarderError, "without code that could be a key: .*version=1"):
                larder.cached(function)
        self.assertEqual(larder.cached(functools.partial(pow, 2), version=1)(5), 32)

        async def later():
            return 1

        with self.assertRaisesRegex(larder.LarderError, "only what a function returns"):
            larder.cached(later)

    def test_results_come_back_as_they_were(self):
        x = np.arange(6.0).reshape(2, 3)
        result = {"arrays": (x, x[0], np.array(3)), "texts": ["a", "", "é"], "files": [b"12", b""], "rows": [x, x[:1]], "none": None,
                  "number": 1.5, "nothing": [], "mixed": [1, "a", [2]], "long": [10**5000, -1 << 64], "scalar": np.float32(2), "deeper": [{"x": x}, {"x": x[1]}],
                  "halves": "\ud83d\ude00", "swapped": [x[0].astype(">f4"), x[1].astype(">f4")]}
        made = self.kept(result)
        for mine, other in zip(made["arrays"], result["arrays"]):
            same(self, mine, other)
        self.assertEqual(type(made["arrays"]), tuple)
        self.assertEqual((type(made["texts"]), list(made["texts"])), (larder.Strings, result["texts"]))
        self.assertEqual(list(map(bytes, made["files"])), result["files"])
        self.assertEqual([row.tolist() for row in made["rows"]], [row.tolist() for row in result["rows"]])
        for name in "none", "number", "nothing", "mixed", "long", "scalar", "halves":
            self.assertEqual(made[name], result[name])
        self.assertEqual([(row.dtype.str, row.tolist()) for row in made["swapped"]], [(">f4", [0, 1, 2]), (">f4", [3, 4, 5])])
        self.assertEqual((type(made["scalar"]), made["deeper"][1]["x"].tolist()), (np.float32, x[1].tolist()))
        with self.assertRaises(ValueError):
            made["arrays"][0][0] = 1

    def test_results_that_would_come_back_as_others_are_refused_and_nothing_stays(self):
        pair, kind = collections.namedtuple("Pair", "x y"), enum.IntEnum("Kind", "ONE")
        described = np.zeros(1, np.dtype("i4", metadata={"unit": "m"}))
        loop = []
        loop.append(loop)
        for result, reason in ((loop, "contains itself"), (np.zeros(1, np.dtype((np.record, [("a", "i4")]))), "return it.astype.it.dtype.descr"),
                               (np.str_("a\0"), "zeros at its end"), (object(), "type=object; return arrays, numbers"), ({1: 2}, "type=dict; return dict.it., with texts as keys"),
                               (list(range(10**6)), "too many small values"), (np.array([None]), "Python objects"), (1j, "complex128"),
                               (pair(1, 2), r"Pair; return tuple.it., or it._asdict.."), (collections.OrderedDict(a=1), "return dict.it."),
                               ([np.ma.array([1, 2], mask=[0, 1])], r"return {'data': it.data"), ({"a": {"b": kind.ONE}}, r"at=\['a'\]\['b'\]"),
                               (np.zeros(2, "f4,i2").view(np.recarray), "return numpy.asarray"), (["a", "\ud800"], "surrogate"),
                               (described, "dtype int32")):
            with self.subTest(reason), self.assertRaisesRegex(larder.LarderError, reason):
                self.kept(result)
        self.assertEqual(larder.datasets(), [])

    @unittest.skipUnless(importlib.util.find_spec("torch"), "needs torch")
    def test_tensors_are_refused_with_what_to_return(self):
        import torch

        tensor = torch.ones(2, dtype=torch.bfloat16)
        for store in lambda: self.kept([tensor]), lambda: larder.cache("c", lambda: tensor):
            with self.assertRaisesRegex(larder.LarderError, "type=torch.Tensor.*; return it.numpy"):
                store()
        self.assertEqual(larder.datasets(), [])

    def test_one_of_many_processes_computes(self):
        calls = os.path.join(self.store, "calls")
        with multiprocessing.get_context("fork").Pool(4) as pool:
            self.assertEqual(pool.map(total, [calls] * 8), [5] * 8)
        with open(calls) as file:
            self.assertEqual(file.read(), "called\n")

    def test_another_process_finds_the_result(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "job.py")
            with open(script, "w") as file:
                file.write("import sys; sys.path[:0] = sys.argv[1:]\nimport larder\n@larder.cached\ndef f(x, y={'b', 'a'}):\n"
                           "    print('computed')\n    return x\nprint(f(3), f.dataset_of(3))\n")
            said = [subprocess.run([sys.executable, "-W", "error", script, *sys.path[:2]], capture_output=True, text=True, check=True,
                                   env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")]
        self.assertEqual(said[0], "computed\n" + said[1])


if __name__ == "__main__":
    unittest.main()
