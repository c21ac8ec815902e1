"""Libraries. In keys their versions represent their code."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys

_MAIN = "__main__", "__mp_main__"  # the second is the main module in processes that multiprocessing has spawned
_OURS = __name__.removesuffix("._libraries")


def _name_of(thing):
    return getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None) or type(thing).__qualname__


def _library(name):
    """Return the version of a module's library, or None for the user's code."""
    module = sys.modules.get(name) if isinstance(name, str) and name not in _MAIN else None
    if module is None:
        return None
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if file is None:
        spec = getattr(module, "__spec__", None)
        if name not in sys.builtin_module_names and getattr(spec, "origin", None) not in ("built-in", "frozen"):
            return None
    if name == _OURS or name.startswith(_OURS + "."):
        return sys.modules[_OURS].__version__
    return _version_of(name.partition(".")[0]) if file is None or _is_library(file) else None


@functools.lru_cache(4096)
def _is_library(file):
    if file is None:
        return False
    if file in ("built-in", "frozen"):
        return True
    import sysconfig  # when it is used: see _sha256

    folders = [os.path.realpath(sysconfig.get_path(path)) + os.sep for path in ("stdlib", "platstdlib", "purelib", "platlib")]
    return not {"site-packages", "dist-packages"}.isdisjoint(file.split(os.sep)) or os.path.realpath(file).startswith(tuple(folders))


@functools.lru_cache(None)
def _version_of(top):
    """Return the version of a package, imported or not. For Python's own modules, return Python's version."""
    if top in sys.builtin_module_names or top in getattr(sys, "stdlib_module_names", ()):
        return sys.version.split()[0]
    import importlib.metadata

    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        found = getattr(importlib.import_module(top), "__version__", None)
        return str(found) if found is not None else _versions_of_packages(top) or sys.version.split()[0]


def _versions_of_packages(top):
    """Return the names and versions of the packages that contain a module; empty if there is none."""
    import importlib.metadata

    packages = getattr(importlib.metadata, "packages_distributions", dict)().get(top, ())  # Python 3.9 does not have it
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in sorted(set(packages)))


def _is_found(thing):
    """Return whether a library exports this under its own name."""
    module, name = getattr(thing, "__module__", None), _name_of(thing)
    if not isinstance(name, str) or _library(module) is None:
        return False
    found = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is thing


def _spec_file(top):
    import importlib.util

    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    return spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), None))


def _is_builtin(function, name):
    """Return whether a name that is not a global is a builtin. If not, it is undefined so far."""
    builtins = function.__globals__.get("__builtins__", {})
    return name in (builtins if isinstance(builtins, dict) else vars(builtins))


def _imported(scope, name, level, members):
    """Yield the modules that an import in a function reads; import the user's modules, as the function would."""
    package = scope.get("__package__") or ""
    full = name if not level else ".".join(part for part in (*package.split(".")[:len(package.split(".")) - level + 1], name) if part)
    top = full.partition(".")[0]
    if _library(top) is not None or top not in sys.modules and _is_library(_spec_file(top)):
        yield top, _version_of(top)  # not imported here, because that takes seconds for some
        return
    try:
        module = importlib.import_module(full)
        yield module
        yield importlib.import_module(top)
    except ImportError:
        yield full, None
        return
    for member in members:
        if not hasattr(module, member):  # then it is a module
            with contextlib.suppress(ImportError):
                importlib.import_module(f"{full}.{member}")
