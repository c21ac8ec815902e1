"""Arrays that all processes of a machine share: the Python side of Larder.

It needs Python 3.9 and numpy 1.23, or later. ``help(larder.Loader)`` and the like are shorter than this page, which repeats numpy's help.

>>> import larder
>>> mnist = larder.dataset("mnist")             # one version, leased while you use it
>>> images = mnist["train-images"]              # a read-only np.memmap; no byte is copied
>>> scan = larder.dataset("scan")
>>> row = scan["scene"]["scene0685_01"]         # an index is a dict without its memory
>>> features = scan["obj_feat"][row]            # the row in its own shape
>>> larder.load("mine", "/data/mine")           # the daemon loads it; one is started if none runs
>>> labels = larder.cache("labels", compute)    # computed once, by one process, for all
>>> for batch in larder.Loader("mnist", ["train-images", "train-labels"], batch_size=256, shuffle=42):      # an epoch
...     train(torch.from_numpy(batch["train-images"]), torch.from_numpy(batch["train-labels"]))
>>> for batch in larder.batches("run1"):        # finished batches that a loader in Java publishes: copies, writable
...     train(torch.from_numpy(batch["image"]), torch.from_numpy(batch["label"]))
>>> with larder.feed("mnist", ["train-images", "train-labels"], shuffle=42) as batches:     # the same, started for you
...     for batch in batches: train(batch)

`larder.torch` has a dataset for ``DataLoader``, the loader with tensors, and tensors over the shared pages; `larder.hf`
reads and stores Hugging Face datasets; `larder.jax` has device arrays and batches of them; `cached` keeps the results of functions, `rows`
the results of a function for each row, computed once by the first process that needs them, and `records` a list of Python objects;
`frame` is a dataset as a frame of pandas or polars. `shared` is an array that processes write together, in Python and Java.

**Stored arrays are read-only, and native code that ignores this crashes the process.** numpy refuses to write to them.
PyTorch does not: a tensor from ``torch.from_numpy(images)`` or ``torch.from_dlpack(images)`` shares the pages, and
``tensor.sub_(0.5)`` ends with SIGSEGV. Read such tensors, or make a copy: ``torch.from_numpy(images[rows])``
(picking rows copies), ``torch.from_numpy(images.copy())``, ``torch.tensor(images)``.

**A pickle is a reference, not the data.** Datasets, arrays, views of arrays and columns pickle as names, so the workers
of a ``DataLoader`` or of ``multiprocessing``, forked or spawned, share the pages of their parent. For the same reason
``pickle.dump``, ``joblib.dump`` and ``torch.save`` write a few hundred bytes that can only be read while the store has
that version. To save the data, use ``np.save(path, array)``, or give them ``array.copy()``.

A store is ``store=``, else ``$LARDER_STORE``, else the first of these with a daemon: your own ``/dev/shm/larder-<user>``, your own
``/var/tmp/larder-<user>``, a service's ``/dev/shm/larder``; else the first one that exists; else a new one of your own, in ``/var/tmp`` if
``/dev/shm`` is smaller than an eighth of the memory, as in most containers. Folders that other users control are skipped.
"""

import sys

if sys.version_info < (3, 9):
    raise ImportError("larder needs Python 3.9 or later: python={}.{}.{}; run a newer python3".format(*sys.version_info))

__version__ = "0.1.0.dev0"
__all__ = ["dataset", "open", "datasets", "load", "register", "wait", "reload", "create", "cache", "cached", "rows", "records", "frame", "shared", "batches",
           "feed", "ls", "status", "pin", "unpin", "evict", "verify", "serve", "Dataset", "Array", "Index", "Strings", "Ragged", "Bytes", "Builder",
           "Batches", "Batch", "Feed", "Loader", "Sampler", "ComputedRows", "Records", "Shared", "Hold", "LarderError", "NoStore", "NotFound", "Refused", "TimedOut",
           "RequestFailed"]


def _is_command():
    """Return whether this is ``python -m larder``, which needs no numpy: importing it takes longer than most commands."""
    if sys.argv[:1] != ["-m"]:  # its name until the module has been found
        return False
    with open("/proc/self/cmdline", encoding="utf-8", errors="replace") as file:
        words = file.read().split("\0")
    return "-m" in words and words[words.index("-m") + 1:][:1] == [__name__]


if not _is_command():
    import numpy as np

    if tuple(map(int, np.__version__.split(".")[:2])) < (1, 23):
        raise ImportError(f"larder needs numpy 1.23 or later: numpy={np.__version__}; {sys.executable} -m pip install -U numpy")

    from ._arrays import Array, _restore_array
    from ._batches import Batch, Batches, batches
    from ._build import Builder, create
    from ._cache import cache, load, register, reload, wait
    from ._calls import cached
    from ._columns import Bytes, Index, Ragged, Strings
    from ._datasets import Dataset, _restore, dataset, open
    from ._errors import LarderError, NoStore, NotFound, Refused, RequestFailed, TimedOut
    from ._feed import Feed, feed
    from ._frames import frame
    from ._loader import Loader
    from ._records import Records, records
    from ._requests import evict, ls, pin, status, unpin, verify
    from ._rows import ComputedRows, rows
    from ._samplers import Sampler
    from ._serve import serve
    from ._shared import Hold, Shared, shared
    from ._store import datasets

    for _name in (*__all__, "_restore", "_restore_array"):
        globals()[_name].__module__ = __name__  # not the module of its code: pickles and messages use the public name
    del _name


_NEEDS = {"hf": "datasets", "jax": "jax", "torch": "torch"}  # modules, and the frameworks that they import


def __getattr__(name):
    """Import a module that needs a framework at its first use."""
    import importlib

    if name in _NEEDS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """List the public names, with the modules of installed frameworks."""
    from importlib import util

    return [*__all__, "__version__", "__doc__", *(room for room, needed in _NEEDS.items() if "__path__" in globals() and util.find_spec(needed))]
