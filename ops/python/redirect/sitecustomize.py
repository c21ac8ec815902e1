"""Lets unchanged programs read cached arrays. ``larder run --redirect`` puts this first on ``PYTHONPATH``.

``np.load`` of a ``.npy`` file that a dataset was loaded from, and that has not changed since, returns the dataset's array:
read-only, as ``np.load(path, mmap_mode="r")`` gives it, and leased until the process ends. The same holds for members of
a ``.npz`` file, ``open_memmap`` and ``np.memmap`` with mode "r". Every other call, and every failure here, goes to numpy's own
function. An array keeps the values that were loaded: unlike a map of numpy, it does not show a later change of the file. A program
that does not import numpy reads only this small file.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class _NumpyWatch:
    """Waits on ``sys.meta_path`` for the import of numpy, and changes its functions when it is done."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "numpy":
            return None
        sys.meta_path.remove(cls)
        try:
            return _then_redirect(name, path, target)
        except Exception:
            return None  # then it is imported as without this


def _then_redirect(name, path, target):
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path, target)
        if spec is not None:
            break
    else:
        return None
    loader, execute = spec.loader, spec.loader.exec_module

    def execute_and_redirect(module):
        execute(module)
        try:
            del loader.exec_module
            _redirect(module)
        except Exception:
            pass  # then numpy stays unchanged

    loader.exec_module = execute_and_redirect
    return spec


def _redirect(numpy):
    from importlib import util

    spec = util.spec_from_file_location("_larder_redirect", os.path.join(_HERE, "larder_redirect.py"))
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.redirect(numpy)


def _run_other():
    """Run the sitecustomize that this one hides, as Python would have."""
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
    this = sys.modules.pop(__name__)
    try:
        __import__(__name__)
    except ImportError as e:
        if e.name != __name__:
            raise
    finally:
        sys.modules.setdefault(__name__, this)


if "LARDER_REDIRECT" in os.environ:
    sys.meta_path.insert(0, _NumpyWatch)
_run_other()
