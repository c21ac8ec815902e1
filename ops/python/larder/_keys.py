"""Keys of calls: texts that are equal only for calls with equal results. `cached` and `rows` use the same ones."""

from __future__ import annotations

import contextlib
import functools
import json
import operator
import os
import struct
import sys
import types
import weakref

import numpy as np

from ._arrays import Array
from ._columns import _Column
from ._datasets import Dataset
from ._errors import LarderError, _message
from ._foreign import _MOST_GLOBAL_BYTES, _foreign
from ._inputs import _path_digest, _sha256
from ._libraries import _MAIN, _imported, _is_builtin, _is_found, _library, _name_of, _version_of

_LONGEST_NAME = 40
_MOST_PLACES = 6  # of a path to a value in a message
_KEYABLE = ("pass numbers, texts, arrays, frames, datasets, functions, and tuples, lists, dicts, sets, dataclasses and objects of Python classes "
            "that have only such")
_CODE_REMEDY = "give a version=, which replaces the code in the key: change it when the results change"

_cached_functions: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # maps results of `cached` to their function, name, version and inputs

# Types with their whole value in their pickle. By name, because most programs never import them.
_PICKLED = frozenset("""builtins.range builtins.slice datetime.date datetime.datetime datetime.time datetime.timedelta datetime.timezone
    zoneinfo.ZoneInfo decimal.Decimal fractions.Fraction uuid.UUID collections.OrderedDict collections.defaultdict collections.Counter
    collections.deque _collections._tuplegetter collections._tuplegetter types.SimpleNamespace operator.itemgetter operator.attrgetter
    operator.methodcaller pathlib.PurePosixPath pathlib.PureWindowsPath pathlib.PosixPath pathlib._local.PurePosixPath pathlib._local.PureWindowsPath pathlib._local.PosixPath""".split())

# Types with their whole value in their text.
_TEXTS = frozenset(("torch.dtype", "torch.device", "torch.layout", "torch.memory_format", "torch.Size"))

_ALIASES = types.GenericAlias, getattr(types, "UnionType", types.GenericAlias)

# Members and attributes that do not affect results, or that differ between processes.
_NOT_CODE = frozenset("""__dict__ __weakref__ __doc__ __module__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__
    __firstlineno__ __static_attributes__ __abstractmethods__ _abc_impl __orig_bases__ __parameters__ __type_params__ __slots__""".split())


def _digest_of(key):
    text = json.dumps(key, ensure_ascii=False)  # with escapes, two unpaired surrogates would equal their character
    return _sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _call_key(function, name, version, arguments, inputs):
    """Return the digest of a call. `inputs` are the keys of its inputs."""
    keys = _Keys(version is None)
    with _flat_enough(function):
        return _digest_of([2, keys.identity(function, name, version), keys.named("argument", arguments), inputs, keys.rest()])


@contextlib.contextmanager
def _flat_enough(function):
    """Convert the end of the stack to an error with the name of the function."""
    try:
        yield
    except RecursionError:
        raise LarderError(_message("a value is nested too deeply for a key", "pass flatter values", function=_label(function))) from None


def _rows_key(function, version, arguments):
    """Return the text that identifies the function of computed rows. It equals Java's if there is a version and no bound values.

    `arguments` are passed in addition to the values of a row.
    """
    keys = _Keys(version is None)
    with _flat_enough(function):
        if version is None:
            return "python " + _digest_of([2, keys.identity(function, None, None), keys.named("argument", arguments), keys.rest()])
        inner, bound = _unbound(function)
        added = [keys.value(bound) if bound else None, keys.closure(inner), keys.named("argument", arguments)]
        return f"version {version}" + (f" with {_digest_of([2, *added, keys.rest()])}" if any(added) else "")


def _unbound(function):
    """Return the function inside partials, bound methods and callable objects, and the values that these bind."""
    bound = []
    while not isinstance(function, types.FunctionType):
        if type(function) is functools.partial:  # a user-defined class may call it in another way
            bound.append([function.args, function.keywords])
            function = function.func
        elif isinstance(function, types.MethodType):
            bound.append(function.__self__)
            function = function.__func__
        elif isinstance(getattr(type(function), "__call__", None), types.FunctionType):
            bound.append(function)
            function = type(function).__call__
        else:
            break
    return function, bound


def _label(function):
    return getattr(function, "__qualname__", None) or _name_of(_unbound(function)[0])


def _has_code(function):
    return isinstance(_unbound(function)[0], types.FunctionType)


class _Keys:
    """Computes one key. A repeated object becomes a number, as in a pickle: so cycles end, and shared objects differ from equal ones."""

    def __init__(self, follows):
        self._follows = follows  # whether the key contains code, or only the names of functions and classes
        self._met, self._kept = {}, []
        self.at = []  # the path to the value, for messages
        self.in_global = self._sorts = False
        self._attributes, self._modules = set(), []
        self._functions = []  # functions whose code counts, with the paths to them

    def identity(self, function, name, version):
        """Return the key of a function and of its bound values."""
        inner, bound = _unbound(function)
        if version is None:
            called = ["code", sys.version_info[:2], name, self.function(inner)]
        else:
            called = ["version", self.value(version), self._name_for_version(inner, name), self.closure(inner)]
        return [called, self.value(bound)]

    def _name_for_version(self, inner, name):
        if name is not None:
            return ["name", str(name)]
        if not isinstance(inner, types.FunctionType):
            return self.value(inner)
        module = self.module_name(inner.__module__)
        if "<" in inner.__qualname__ or module in _MAIN:
            raise LarderError(_message("a version needs a name that no other function has", "give one: name=\"...\"",
                                       function=inner.__qualname__, module=inner.__module__))
        return ["function", module, inner.__qualname__]

    def named(self, what, values):
        return [[name, self._within(f"{what} {name}", value)] for name, value in values.items()]

    def _within(self, place, value):
        self.at.append(place)
        key = self.value(value)
        self.at.pop()
        return key

    def value(self, value):
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return [kind.__name__, value]
        if kind is int:
            return ["int", hex(value)]
        if kind is float:
            return ["float", struct.pack(">d", value).hex()]
        if kind is complex:
            return ["complex", struct.pack(">dd", value.real, value.imag).hex()]
        if kind is bytes:
            return ["bytes", _sha256(value).hexdigest()]
        if kind is memoryview:
            return ["memoryview", value.format, value.shape, value.strides, _sha256(value.tobytes()).hexdigest()]
        if value is Ellipsis or value is NotImplemented:
            return ["constant", repr(value)]
        if kind is types.CodeType:
            return ["code", _scan(value)[0]]
        if kind is tuple:
            return ["tuple", [self.value(member) for member in value]]
        if kind is frozenset:
            return ["frozenset", self._unordered(value)]
        if id(value) in self._met:
            return ["again", self._met[id(value)]]
        self._met[id(value)] = len(self._met)
        self._kept.append(value)  # otherwise another object could get its id
        if kind is list:
            return ["list", [self.value(member) for member in value]]
        if kind is bytearray:
            return ["bytearray", _sha256(value).hexdigest()]
        if kind in (dict, types.MappingProxyType):
            return [kind.__name__, [[self.value(name), self._within((name,), member)] for name, member in value.items()]]
        if kind is set:
            return ["set", self._unordered(value)]
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(value)
        return self._ours(value) or self._code(value) or self._object(value)

    def _unordered(self, members):
        """Return the keys of the members of a set, in the order of their digests, because the order of a set differs between processes."""
        if self._sorts:  # only the outermost set needs this
            return sorted(map(self._alone, members))
        if len(members) > 1:
            members = sorted(members, key=self._alone)
        return [self.value(member) for member in members]

    def _alone(self, member):
        """Return the digest of a value, independent of earlier values."""
        met, modules, functions = len(self._met), len(self._modules), len(self._functions)
        was, self._sorts = self._sorts, True
        digest = _digest_of(self.value(member))
        self._sorts = was
        while len(self._met) > met:
            self._met.popitem()
        del self._modules[modules:], self._functions[functions:]
        return digest

    def refuse(self, value, reason="", remedy=None):
        """Raise the error for a value that cannot be in a key, with the path to it."""
        kind = type(value)
        where = {"value": " of ".join(_item_text(*place) if isinstance(place, tuple) else place for place in reversed(self.at))} if self.at else {}
        if reason:
            where["reason"] = reason
        raise LarderError(_message("a value cannot be part of a key", remedy or (
            _CODE_REMEDY if self.in_global else _KEYABLE + ("" if self._follows else "; or have the function read it from a global, for which "
                                                                                       "the version stands")),
                                   type=kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}", **where))

    # Arrays.

    def _array(self, array):
        kind = type(array)
        if array.dtype.hasobject and (array.dtype != object or kind is not np.ndarray):
            self.refuse(array, f"dtype {array.dtype}")
        if isinstance(array, np.generic):
            if kind is not array.dtype.type:
                self.refuse(array)
            return ["scalar", self._dtype(array.dtype), array.tobytes().hex()]
        if kind is Array and array._mmap is not None:
            segment = array._mmap
            return ["stored", segment.version.digest, segment.file, array.offset, array.shape, array.strides, self._dtype(array.dtype)]
        if self.in_global and array.nbytes > _MOST_GLOBAL_BYTES:
            self.refuse(array, f"{array.nbytes} bytes in a global", "keep it in the store, with larder.cache, or pass it as an argument")
        key = [f"{kind.__module__}.{kind.__qualname__}", self._dtype(array.dtype), array.shape, array.strides, None]
        if kind is np.ma.MaskedArray:
            return [*key, self._array(array.data), array.mask is np.ma.nomask or self._array(np.ma.getmaskarray(array)),
                    self.value(array._fill_value), array.hardmask, self.value(array._optinfo)]
        if kind is np.memmap:
            key.append([None if array.filename is None else os.fspath(array.filename), array.mode, array.offset])
        elif kind not in (np.ndarray, Array):
            self.refuse(array, remedy="pass numpy.asarray of it")
        plain = array.view(np.ndarray)
        plain = plain.T if plain.flags.f_contiguous else plain  # the key contains the strides, so it needs no copy here
        if plain.dtype.hasobject:
            key[4] = [self.value(member) for member in plain.ravel().tolist()]
        elif plain.size:
            key[4] = _sha256(np.ascontiguousarray(plain).reshape(-1).view(np.uint8) if plain.dtype.itemsize else b"").hexdigest()
        return key

    def _dtype(self, dtype):
        if dtype.metadata:
            self.refuse(dtype, "it has metadata")
        for part in (*(field[0] for field in (dtype.fields or {}).values()), *(dtype.subdtype or ())[:1]):
            self._dtype(part)
        return [repr(dtype), self._name(dtype.type)]  # two types of other libraries may have the same repr

    # Objects of Larder and of other libraries.

    def _ours(self, value):
        if isinstance(value, Dataset):
            return ["dataset", value.name, value.digest]
        if hasattr(type(value), "_larder_key"):
            return value._larder_key()
        if isinstance(value, _Column):
            return ["column", value._version.name, value._version.digest, value.name]
        if isinstance(value, np.dtype):
            return ["dtype", self._dtype(value)]
        if isinstance(value, types.FunctionType) and value in _cached_functions:
            function, name, version, inputs = _cached_functions[value]
            return ["cached", self.identity(function, name, version), self.value(inputs) if callable(inputs) else list(map(_input_key, inputs))]
        return _foreign(self, value)

    # Functions, classes and modules.

    def _code(self, value):
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, types.MethodType):
            return ["method", self.value(value.__func__), self.value(value.__self__)]
        if type(value) is functools.partial:
            return ["partial", self.value(value.func), self.value(value.args), self.value(value.keywords), self.value(vars(value))]
        if isinstance(value, (staticmethod, classmethod)):
            return [self._class(type(value)), self.value(value.__func__), self._attributes_of(value)]
        if isinstance(value, property):
            return [self._class(type(value)), self.value(value.fget), self.value(value.fset), self.value(value.fdel), self._attributes_of(value)]
        if isinstance(value, (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
                              types.GetSetDescriptorType, types.MemberDescriptorType)):
            return ["descriptor", self._name(value.__objclass__), value.__name__]
        if isinstance(value, types.MethodWrapperType) or (isinstance(value, types.BuiltinFunctionType)
                                                          and not isinstance(value.__self__, (types.ModuleType, type(None)))):
            return ["method", value.__name__, self.value(value.__self__)]
        if isinstance(value, np.ufunc) and getattr(np, value.__name__, None) is value:
            return ["numpy", value.__name__, _version_of("numpy")]
        if _is_found(value):
            return ["library", self._name(value), _library(value.__module__)]
        if type(value).__module__ == "typing" or isinstance(value, _ALIASES):
            parts = [getattr(value, part, None) for part in ("__origin__", "__args__", "__metadata__")]
            return ["typing", self._name(type(value)), [self.value(part) for part in parts] if parts[1] else repr(value)]
        wrapped = getattr(value, "__wrapped__", None)
        if callable(value) and callable(wrapped) and _has_hidden_state(type(value)):  # such as the result of functools.lru_cache
            return ["wrapper", self._class(type(value)), self.value(wrapped),
                    self.named("attribute", {name: member for name, member in getattr(value, "__dict__", {}).items() if name[:1] != "_"})]
        return None

    def _attributes_of(self, value):
        return self.named("attribute", {name: member for name, member in getattr(value, "__dict__", {}).items() if name not in _NOT_CODE})

    def _name(self, thing):
        return [self.module_name(getattr(thing, "__module__", None)), _name_of(thing)]

    def module_name(self, name):
        """Return the name of a module. With a version the key of the script has its path, because it does not contain its code."""
        if name not in _MAIN or self._follows:
            return _MAIN[0] if name in _MAIN else name
        main = sys.modules["__main__"]
        spec = getattr(main, "__spec__", None)
        path = getattr(main, "__file__", None)
        return spec.name if spec is not None else os.path.abspath(path) if path is not None and os.path.isfile(path) else _MAIN[0]

    def _is_followed(self, thing):
        """Return whether code counts: without a version, and for names that many functions have."""
        return self._follows or "<" in thing.__qualname__

    def function(self, function):
        """Return the key of a function with its code."""
        number = self._met.setdefault(id(function), len(self._met))
        return ["again", number] if number < len(self._met) - 1 else self._function(function, True)

    def _function(self, function, is_followed=False):
        if _is_found(function):
            return ["library", self._name(function), _library(function.__module__)]
        key = ["function", self._name(function), self.closure(function)]
        library = _library(function.__globals__.get("__name__"))
        if library is not None:  # a wrapper of a library around a function that counts
            key += [[function.__globals__["__name__"], function.__code__.co_name, function.__code__.co_firstlineno, library]]
        elif is_followed or self._is_followed(function):
            key += [len(self._functions)]  # its code is added at the end: chains of functions may be too deep for the stack
            self._functions.append((function, self.at[-_MOST_PLACES:]))
        self.at.append(f"the function {function.__qualname__}")
        key += [self.value(function.__defaults__), self.value(function.__kwdefaults__), self.value(function.__dict__)]
        self.at.pop()
        return key

    def closure(self, function):
        """Return the names and values that a function closes over."""
        key = []
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()) if isinstance(function, types.FunctionType) else ():
            try:
                value = cell.cell_contents
            except ValueError:  # not set yet
                key.append([name])
                continue
            key.append([name, self._within(f"{name} that {function.__qualname__} closes over", value)])
        return key

    def _code_of(self, function):
        code, names, imported, attributes = _scan(function.__code__)
        self._attributes.update(attributes)
        read, was = [], self.in_global
        self.in_global = True
        for name in names:
            if name in function.__globals__:
                read.append([name, self._within(f"the global {name} of {function.__qualname__}", function.__globals__[name])])
            else:
                read.append([name, _is_builtin(function, name)])
        for name, level, members in imported:
            read.append([name, level, [self._within(f"the import of {name} in {function.__qualname__}", module)
                                       for module in _imported(function.__globals__, name, level, members)]])
        self.in_global = was
        return [code, read]

    def _class(self, kind):
        library = _library(kind.__module__)
        if _is_found(kind) or library is None and not self._is_followed(kind):
            return ["class", self._name(kind), library]
        number = self._met.get((id(kind),))
        if number is not None:  # an instance or the class itself was first
            return ["class again", number]
        self._met[(id(kind),)] = len(self._met)
        was, self.in_global = self.in_global, True
        self.at.append(f"the class {kind.__qualname__}")
        members = vars(kind).items()
        if isinstance(kind, _enum_type()):
            members = [*((name, member.value) for name, member in kind.__members__.items()),
                       *((name, member) for name, member in members if not name.startswith("_") and name not in kind.__members__
                         or isinstance(member, (types.FunctionType, property, staticmethod, classmethod)))]
        key = ["class", self._name(kind), [self._class(base) for base in kind.__bases__], self._class(type(kind)),
               [[name, self._within(name, member)] for name, member in sorted(members, key=operator.itemgetter(0)) if name not in _NOT_CODE]]
        self.at.pop()
        self.in_global = was
        return key

    def _module(self, module):
        library = _library(module.__name__)
        if library is None and self._follows:
            self._modules.append((module, set()))  # the attributes that are read are added at the end
        return ["module", self.module_name(module.__name__), library]

    def rest(self):
        """Return the keys of the code of functions, and of attributes of the user's modules: each attribute that the code reads by name anywhere."""
        found, is_new, done_functions = [], True, 0
        self.in_global = True
        while is_new:
            is_new = False
            while done_functions < len(self._functions):
                function, self.at = self._functions[done_functions]
                done_functions += 1
                found.append(self._code_of(function))
            self.at = []
            for number, (module, done) in enumerate(self._modules):
                for name in sorted(((self._attributes | {"__getattr__"}) & vars(module).keys()) - done):
                    done.add(name)
                    is_new = True
                    found.append([number, name, self._within(f"{module.__name__}.{name}", vars(module)[name])])
        self.in_global = False
        return found

    # Other objects.

    def _object(self, value):
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name in _PICKLED:
            _, arguments, *state = value.__reduce_ex__(4)  # older protocols omit the fold of times
            if name == "operator.attrgetter":
                self._attributes.update(part for text in arguments for part in text.split("."))
            return ["pickled", name, self.value(arguments), *(self.value(part if part is None or type(part) in (dict, tuple) else list(part))
                                                              for part in state)]
        if name == "re.Pattern":
            return ["pattern", self.value(value.pattern), value.flags]
        if name in ("logging.Logger", "logging.RootLogger"):
            return ["logger", self.module_name(value.name)]
        if name == "functools.cached_property":
            return ["property", self.value(value.func)]
        if name == "dataclasses.Field":  # its type is an annotation
            return ["field", [self.value(getattr(value, part, None)) for part in (
                "name", "default", "default_factory", "init", "repr", "hash", "compare", "kw_only")], self.value(dict(value.metadata))]
        if isinstance(kind, _enum_type()):
            return ["enum", self._class(kind), value.name, self.value(value._value_)]
        if isinstance(value, tuple) and hasattr(kind, "_fields") and not getattr(value, "__dict__", None):
            return ["namedtuple", self._class(kind), list(kind._fields), [self.value(member) for member in tuple.__iter__(value)]]
        if name in _TEXTS:
            return ["text", name, str(value)]
        if kind is object or _has_hidden_state(kind):
            self.refuse(value)
        self.at.append(f"a {kind.__qualname__}")
        slots = [[slot.__name__, self._slot(slot, value)] for slot in _slots(kind)]
        key = ["object", self._class(kind), self._attributes_of(value), slots]
        self.at.pop()
        return key

    def _slot(self, slot, value):
        try:
            return self._within(f"attribute {slot.__name__}", slot.__get__(value))
        except AttributeError:  # not set
            return None


def _item_text(name):
    """Return an item of a dict for a message."""
    try:
        text = repr(name)
    except Exception:  # a user-defined key, or an integer with thousands of digits
        text = type(name).__qualname__
    return f"[{text if len(text) <= _LONGEST_NAME else text[:_LONGEST_NAME] + '...'}]"


def _enum_type():
    enum = sys.modules.get("enum")
    return enum.EnumMeta if enum is not None else ()


def _slots(kind):
    return [member for base in kind.__mro__ for member in vars(base).values() if isinstance(member, types.MemberDescriptorType)]


def _has_hidden_state(kind):
    """Return whether instances have state in C, beyond a __dict__ and slots."""
    pointers = len(_slots(kind)) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__itemsize__ != 0 or kind.__basicsize__ > object.__basicsize__ + pointers * struct.calcsize("P")


# Inputs: files, folders, datasets, arrays and columns.


def _input_key(value):
    if isinstance(value, (np.ndarray, Dataset, _Column)):
        return _Keys(False).value(value)
    return ["input", _path_digest(os.path.abspath(os.fspath(value)))]


# Code objects.


@functools.lru_cache(4096)
def _scan(code):
    """Return the digest of code alone, and the names of the globals, imports and attributes that it reads. If the code has getattr or
    attrgetter, these include its constant texts."""
    import dis

    names, imports, attributes, before = set(), [], set(), []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            imports.append((instruction.argval, before[-2].argval, tuple(before[-1].argval or ())))
            attributes.update(instruction.argval.split("."))
        elif instruction.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")):
            names.add(instruction.argval)
        elif instruction.opcode in dis.hasname and not instruction.opname.startswith(("STORE_", "DELETE_")):
            attributes.add(instruction.argval)
        before = [*before[-1:], instruction] if instruction.opname != "EXTENDED_ARG" else before
    if not {"getattr", "hasattr", "attrgetter", "methodcaller"}.isdisjoint(code.co_names):
        attributes.update(part for constant in code.co_consts if isinstance(constant, str) for part in constant.split("."))
    constants = []
    for constant in code.co_consts:
        constants.append(_Keys(False).value(constant))
        if isinstance(constant, types.CodeType):
            _, its_names, its_imports, its_attributes = _scan(constant)
            names.update(its_names)
            imports += its_imports
            attributes.update(its_attributes)
    key = [code.co_name, code.co_code.hex(), getattr(code, "co_exceptiontable", b"").hex(), code.co_flags, code.co_argcount,
           code.co_posonlyargcount, code.co_kwonlyargcount, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants]
    return _digest_of(key), sorted(names), imports, attributes
