"""Batches of shuffled rows for one process. Threads gather them; no other process is needed."""

from __future__ import annotations

import atexit
import collections
import contextlib
import json
import mmap
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ._ahead import _file_rows, _ReadAhead, _row_numbers, _Window
from ._batches import Batch
from ._counters import _GATHERING, _STARTING, _USER_CODE, _WAITING, _WAITING_FOR_CONSUMER, _Counters
from ._datasets import Dataset, _require_dataset, dataset
from ._errors import LarderError, NotFound, TimedOut, _message, _near, _note
from ._failures import _FailurePolicy
from ._order import _integer, _parsed_receipt, _Plan, _receipt, _seed, _WIDTH
from ._samplers import _sampler_of

_TAILS = "pad", "drop", "exact"
_ALIGNMENT = 64
_TOUCHED_FROM = 1 << 10  # bytes of a row: prefetching shorter ones gains nothing (docs/decisions/0037)
_LEAST_LAID_AHEAD, _MOST_LAID_AHEAD = 1 << 14, 1 << 27  # rows: an order of fewer takes no time, and one of more takes half a gigabyte
_TOGETHER_BYTES = 1 << 16  # smaller batches are gathered together: to pass one from thread to thread takes as long as to copy as many bytes
_LONG_ROW_BYTES = 1 << 16  # reads of shorter ones from a disk are so short that two threads wait for each other's turn in the interpreter
_LEAST_BATCH_BYTES = 1 << 11  # at most 32 batches are gathered together
_ENDED_EARLY = None, None, None
_EXIT_PATIENCE = 30.0  # seconds
_LONGEST_WAIT = 1e8  # seconds: Python needs a finite timeout
_ROWS_SHOWN = 10
_MOST_CHECKED = 1 << 27  # samples of an order that are compared with a state; as in Java
_SETTINGS = {"num_workers": "threads=", "prefetch_factor": "prefetch=", "collate_fn": "transform=", "generator": "shuffle=SEED", "seed": "shuffle=SEED",
             "batch": "batch_size=", "pin_memory": "larder.torch.Loader", "on_failure": "retries= and max_skipped=",
             "batch_sampler": "DataLoader(larder.torch.Rows(...), batch_sampler=...)"}
_FEED_SETTINGS = {"epochs", "consumers", "on_slow", "name", "copy"}


class Loader:
    """Batches of rows of the arrays of a dataset, gathered by threads: ``for batch in loader`` is one epoch, and the next
    loop is the next epoch.

    `dataset` is a name or an open `Dataset`; `arrays` is a list of names of arrays with equally many rows, by default all
    arrays of the dataset. Each batch is a `Batch`: a dict from these names to arrays of shape ``(batch_size, ...)`` and of
    the stored dtype. If the arrays are named one after the other, ``Loader("mnist", "train-images", "train-labels", batch_size=256)``, it is a
    tuple of them instead. The arrays belong to the caller: writable, and valid as long as you keep them. Their memory is reused when nothing
    refers to it any more, so drop batches that you do not need. A loader gathers plain arrays only: `larder.feed` has batches of images that it
    decodes, of texts and of ragged rows.

    `sampler` chooses the rows: a list or a mask of rows, a `larder.Sampler`, or a sampler of torch, such as a ``WeightedRandomSampler``.
    `shuffle` is a seed: it shuffles the rows of a list, and makes the draws of a torch sampler a function of ``seed + epoch``, which `shard` and
    ``load_state_dict`` need. Without both the rows have their stored order. Epoch ``e`` has the order of ``torch.manual_seed(seed +
    e)`` and ``torch.randperm(rows)``, and with ``shard=(rank, world)`` that of ``DistributedSampler(..., rank=rank,
    seed=seed)`` after ``set_epoch(e)``: the same rows in the same batches as the loader in Java. If each node of a run
    has a shard of the dataset, `rank` still counts over all nodes. `tail` is for samples that do not divide by the ranks:
    ``"pad"`` repeats some, ``"drop"`` omits some, and
    ``"exact"`` gives some ranks fewer, for evaluation: all ranks have equally many batches, and **the last one of some ranks may be empty**
    (``batch.size == 0``, and ``loss.mean()`` is NaN). `drop_last` omits a shorter last batch.

    `threads` gather up to `prefetch` batches ahead, or more if these have less than 64 KiB. A loop that is faster gathers as well instead of
    waiting. With ``threads=0`` only the loop gathers. `transform` gets each batch in the thread that gathered it, the arrays
    of a tuple one by one, and the loop gets its result; or it is a dict from names of arrays to functions of one array. `timeout` is the longest wait for a batch, in seconds; it does not end a transform that hangs with ``threads=0``.

    A batch that cannot be read or transformed is tried again `retries` times. Then up to `max_skipped` samples of an epoch are skipped, with a warning:
    if a batch fails, each of its samples is tried alone, and then those that do not fail are a shorter batch, which may be empty. `skipped` has their number.

    A loader runs one epoch at a time: a loop within a loop needs a second loader.

    `state_dict` and `load_state_dict` are those of ``torchdata``; the state is the JSON object of Java's
    ``LoaderState``, so that a run can resume here, in Java, and with another number of ranks. Its ``seed`` is only for Java's random steps.
    A resumed run counts its epochs from the state: the last example.

    Raises `NotFound` for an unknown name and for the name of a column. Raises ValueError for arrays that do not fit together, for columns
    that would be omitted by default, and for invalid settings.

    >>> loader = larder.Loader("mnist", ["train-images", "train-labels"], batch_size=256, shuffle=42)
    >>> for epoch in range(3):
    ...     for batch in loader:
    ...         step(batch["train-images"], batch["train-labels"])
    >>> state = loader.state_dict()                 # at any time: save it with the model
    >>> loader.load_state_dict(state)               # in the next run
    >>> first = state["epoch"] + (state["consumed"] == state["length"])
    >>> for epoch in range(first, 3):
    ...     for batch in loader:                    # first the rest of the epoch, then whole ones
    ...         step(batch["train-images"], batch["train-labels"])
    """

    def __init__(self, dataset: str | Dataset, *named: str | Sequence[str] | None, arrays: Sequence[str] | None = None, batch_size: int,
                 shuffle: int | None = None, sampler: Any = None, shard: tuple[int, int] = (0, 1), tail: str = "pad", drop_last: bool = False,
                 threads: int | None = None, prefetch: int = 4, transform: Callable[..., Any] | Mapping[str, Callable[[Any], Any]] | None = None,
                 timeout: float = 300, retries: int = 0, max_skipped: int = 0, store: str | os.PathLike[str] | None = None,
                 **unknown: NoReturn) -> None:
        if unknown:
            raise _no_such_setting(*next(iter(unknown.items())))
        self._dataset = _opened(dataset, store)
        self._names, self._is_tuple = _named(self._dataset, named, arrays)
        if len(set(self._names)) < len(self._names):
            raise ValueError(_message("an array is named twice", "a batch has each array once", dataset=self._dataset.name, arrays=self._names))
        self._sources = [_Source(self._dataset, name) for name in self._names]
        self._rows = _equal_rows(self._dataset, self._sources)
        files: dict[str, Any] = {}
        self._files = [_file_rows(self._dataset._array(name), name, files) for name in self._names]
        self._batch_size, self._policy = _integer("batch_size", batch_size, 1), _FailurePolicy(retries, max_skipped)
        rank, world = _ranks(shard)
        if tail not in _TAILS or (drop_last and tail == "exact"):
            raise ValueError(_message("settings of a loader are invalid", "tail is pad, drop or exact, and exact leaves nothing out",
                                      tail=repr(tail), drop_last=drop_last))
        if not isinstance(timeout, (int, float, np.number)) or not timeout > 0:
            raise ValueError(_message("timeout is not a number of seconds", "give a number above 0", timeout=repr(timeout)))
        seed = _seed(shuffle)
        self._sampler = _sampler_of(sampler, seed, self._rows, world, dataset=self._dataset.name)
        self._samples = self._sampler._samples(self._rows)
        self._identity, rank, world = _here(self._dataset, rank, world)
        self._shard, self._drop_last = (rank, world, tail), bool(drop_last)
        self._threads = _fitting_threads(transform, self._files) if threads is None else _integer("threads", threads, 0)
        self._prefetch, self._timeout = _integer("prefetch", prefetch, 1), min(timeout, _LONGEST_WAIT)
        self._transform = _of_batch(transform, self._dataset, self._names, self._is_tuple)
        batch_bytes = self._batch_size * sum(source.row_bytes for source in self._sources)
        fitting = min(_TOGETHER_BYTES // max(batch_bytes, _LEAST_BATCH_BYTES), -(-self._samples // self._batch_size))
        self._together = 1 if transform or self._policy else max(1, fitting)
        self._pool: _Pool | None = None
        self._seed, self._skipped = seed or 0, 0
        self._running: Any = lambda: None
        self._ahead: _OrderAhead | None = None
        self._counters: _Counters | None = None
        self._rewind(0)

    @property
    def dataset(self) -> Dataset:
        """The dataset, one version of it."""
        return self._dataset

    @property
    def skipped(self) -> int:
        """The number of samples that were skipped since the loader was made."""
        return self._skipped + self._policy.skipped

    def __len__(self) -> int:
        """Return how many batches a whole epoch has for this rank."""
        return self._plan(None).batches

    def __iter__(self) -> Iterator[Any]:
        """Begin the next epoch, or the last one again if none of its batches was returned."""
        return self._begin(*self._upcoming())

    def epoch(self, number: int) -> Iterator[Any]:
        """Begin any epoch. This ends a running epoch. The next ``for`` begins the one after it."""
        return self._begin(_integer("epoch", number, 0))

    def set_epoch(self, number: int) -> None:
        """Set the epoch of the next ``for``, as with a ``DistributedSampler``. Without this, epochs count by
        themselves. After ``load_state_dict``, the epoch of the state still continues at the state; `epoch` begins it again."""
        number = _integer("epoch", number, 0)
        epoch, consumed, _ = self._upcoming()
        if epoch != number or consumed == 0:
            self._rewind(number)

    def _rewind(self, number):
        self._next = number, 0, None  # the epoch, the samples of it that are consumed, the samples in all
        self._begun = None  # the same for the epoch that was begun last
        self._reached = number, self._plan(None), -1  # the epoch, its plan, the batch that was returned last

    def state_dict(self) -> dict[str, Any]:
        """Return the position after the returned batches, as a dict that ``json`` can write."""
        epoch, plan, batch = self._reached
        consumed, length = plan.consumed_after(batch), plan.length
        state = {"format": 1, "dataset": self._dataset.name, "digest": self._identity, "sampler": self._sampler.description, "seed": self._seed,
                 "epoch": epoch, "consumed": consumed, "length": length}
        receipt = self.receipt
        return state if receipt is None else {**state, "receipt": receipt}

    @property
    def receipt(self) -> str | None:
        """A digest of the dataset and of the samples that all ranks have consumed in the epoch, at their positions.

        Runs with equal receipts have visited the same samples in the same order, in Python or Java, with any number of ranks. It is
        part of ``state_dict``. None if the epoch was resumed from a state without one. Each access adds the samples since the last one:
        some nanoseconds for each sample of all ranks.
        """
        _, plan, batch = self._reached
        sums = plan.receipt_after(batch)
        if sums is None:
            return None
        visited, skipped = sums
        before = skipped if self._shard[0] == 0 else 0  # one rank keeps those that were skipped before
        return _receipt(self._identity, visited, (before + plan.skipped_after(batch)) % _WIDTH)

    def load_state_dict(self, state: dict[str, Any] | str) -> None:
        """Resume at a state: the next ``for`` continues its epoch, or begins the next one if the epoch was
        complete.

        Also accepts the text that Java writes. Raises `LarderError` for a state of other data or of another order. Computes the order of
        the epoch, to compare the samples before the state with its receipt.
        """
        try:
            values = json.loads(state) if isinstance(state, str) else state
            epoch, consumed, length, seed = (_integer(key, values[key]) for key in ("epoch", "consumed", "length", "seed"))
            digest, sampler, version, receipt = values["digest"], values["sampler"], values["format"], values.get("receipt")
            before = None if receipt is None else _parsed_receipt(receipt, digest)  # the sums of the samples before the state
        except (KeyError, TypeError, ValueError):
            raise LarderError(_message("cannot read a loader's state", "pass what state_dict returned", state=state)) from None
        if version == 2 and "progress" in values:
            raise LarderError(_message("cannot read a loader's state: it is for batches in any order, which this loader does not support",
                                       "finish the epoch in Java", state=state))
        if version != 1 or not 0 <= consumed <= length or epoch < 0:
            raise LarderError(_message("cannot read a loader's state", "pass what state_dict returned", state=state))
        if digest != self._identity and digest.partition("/")[0] == self._identity.partition("/")[0]:
            raise LarderError(_message("state was saved on another number of nodes, each with a shard",
                                       "start the same number of nodes; with whole data on each node, --data NAME=URI, any number can resume",
                                       stateDigest=digest, digest=self._identity))
        if digest != self._identity:
            raise LarderError(_message("state was saved over other data", "open that version, or start over", dataset=self._dataset.name,
                                       version=self._dataset.version, stateDigest=digest, digest=self._identity))
        if sampler != self._sampler.description:
            raise LarderError(_message("state was saved with another order", "make the loader with the seed and the sampler of the state",
                                       dataset=self._dataset.name, stateSampler=sampler, sampler=self._sampler.description))
        plan = self._resumed(epoch, consumed, length, before)
        self._end()
        self._seed, self._reached = seed, (epoch, plan, -1)
        self._next, self._begun = (epoch, consumed, length) if consumed < length else (epoch + 1, 0, None), None

    def close(self) -> None:
        """End the running epoch and its threads. Returned batches stay valid.
        Idempotent."""
        self._end()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a loader belongs to one process: dataset={self._dataset.name}; make one in each process, with shard=(rank, world)")

    def __repr__(self) -> str:
        return f"<larder.Loader {self._dataset.name} version {self._dataset.version}: {self._names} in batches of {self._batch_size}>"

    def _waited_for_disk(self):
        """Return the seconds that gathers have waited for a disk."""
        return sum(file.waited for file in self._files if file)

    def _upcoming(self):
        """Return the start of the next ``for``: the epoch, its consumed samples, its samples in all."""
        begun, handed_out = self._begun, self._reached[2] >= 0
        return self._next if begun is None or handed_out else begun

    def _plan(self, epoch, start=0, length=None):
        order = None if epoch is None else self._order(epoch)
        return _Plan(self._samples, order, self._batch_size, self._drop_last, self._shard, start, length)

    def _resumed(self, epoch, consumed, length, before):
        """Return the plan of the rest of an epoch. Refuses a receipt of other samples than the order has."""
        checks = before is not None and consumed <= _MOST_CHECKED
        plan = self._plan(epoch if checks else None, consumed, length)
        ordered = plan.terms_of_order() if checks else 0
        if checks and ordered != before[0]:
            drawn = "seed the draws of the sampler with shuffle=SEED before you save a state; or " if not self._sampler._is_pure else ""
            raise LarderError(_message("state was saved after other samples than the order has", drawn + "resume with the releases of Larder and of PyTorch or "
                                       "numpy that the state was saved with; or remove its \"receipt\", and samples may come twice or not at all",
                                       dataset=self._dataset.name, epoch=epoch, consumed=consumed, sampler=self._sampler.description,
                                       stateReceipt=_receipt(self._identity, *before), receipt=_receipt(self._identity, ordered)))
        plan.before = before
        return plan

    def _order(self, epoch):
        ahead, self._ahead = self._ahead, None
        order = ahead.await_order() if ahead is not None and ahead.epoch == epoch else None
        return self._sampler._order(self._rows, epoch) if order is None else order

    def _lay_ahead(self, epoch):
        if self._sampler._draw is not None and self._sampler._is_pure and _LEAST_LAID_AHEAD <= self._samples <= _MOST_LAID_AHEAD:
            self._ahead = _OrderAhead(self._sampler, self._rows, epoch)
            _start(self._ahead)

    def _begin(self, epoch, start=0, length=None):
        self._end()
        counters = self._counted()
        counters.consumer.of_this_thread()
        counters.consumer.begin(_STARTING)
        try:
            return self._begun_epoch(epoch, start, length)
        finally:
            counters.consumer.end()

    def _begun_epoch(self, epoch, start, length):
        reached, before, batch = self._reached
        is_same = reached == epoch and before.wanted == (start, length) and batch < 0
        if batch + 1 == before.batches and not is_same:
            before.release()  # not earlier, because the state at its end has its receipt
        plan = before if is_same and before.has_order else self._plan(epoch, start, length)
        if is_same:
            plan.before = before.before
        self._next, self._begun, self._reached = (epoch + 1, 0, None), (epoch, start, length), (epoch, plan, -1)
        self._skipped, self._policy = self.skipped, self._policy.begun()
        running = _Epoch(self, epoch, plan, min(self._threads, plan.batches))
        self._running = weakref.ref(running)  # ends its threads if the loop drops it
        self._lay_ahead(epoch + 1)
        return running

    def _counted(self):
        """Return the counters of this process, which a forked child makes for itself."""
        if self._counters is None or self._counters.pid != os.getpid():
            row_bytes = sum(source.row_bytes for source in self._sources)
            self._counters = _Counters(self._dataset, self._threads, self._prefetch, min(self._batch_size, self._rows), row_bytes)
        return self._counters

    def _end(self):
        running = self._running()
        if running is not None:
            running.close()

    def _pool_for(self, plan):
        """Return the memory of the batches of a plan, which may be shorter than `batch_size`. A resumed epoch may have longer ones than the epoch before."""
        rows = min(self._batch_size * self._together, plan.samples)
        if self._pool is None or self._pool.rows < rows:
            self._pool = _Pool(self._sources, rows)
        return self._pool

    def _gatherer(self, epoch, plan):
        """Return a function that makes the batch of a number. It does not refer to the loader, because threads hold it."""
        return _Gatherer(self, epoch, plan)


def _fitting_threads(transform, files):
    """Return how many threads gather by default. With a transform, or long rows on a disk, there is one more, because the loop only waits."""
    processors = len(os.sched_getaffinity(0))
    only_waits = transform or any(file is not None and file.row_bytes >= _LONG_ROW_BYTES for file in files)
    return min(8, processors if only_waits else max(1, processors - 1))


def _ranks(shard):
    try:
        rank, world = shard
    except (TypeError, ValueError):
        raise ValueError(_message("shard is not a pair of numbers", "give shard=(rank, world)", shard=repr(shard))) from None
    rank, world = _integer("rank", rank, 0), _integer("world", world, 1)
    if rank >= world:
        raise ValueError(_message("a rank is less than the number of ranks", "give shard=(rank, world), where ranks count from 0", rank=rank, world=world))
    return rank, world


def _no_such_setting(name, value):
    known = [*Loader.__init__.__kwdefaults__, "batch_size"]
    if name == "generator" and hasattr(value, "initial_seed"):
        remedy = f"use its seed: shuffle={value.initial_seed()}"
    elif name in _FEED_SETTINGS:
        remedy = f"larder.feed has {name}="
    else:
        remedy = f"use {_SETTINGS[name]}" if name in _SETTINGS else _near(name, known)
    return TypeError(_message("a loader has no such setting", remedy, **{name: repr(value)}))


def _opened(named, store):
    _require_dataset(named)
    return dataset(named, store) if isinstance(named, str) else named


def _here(dataset, rank, world):
    """Return the identity of a dataset for states, and this rank's part among the rows of this node, as in Java's SourceData."""
    shard = dataset._open().shard
    if shard is None or shard["count"] == 1:
        return dataset.digest, rank, world
    index, count, whole = shard["index"], shard["count"], shard["of"]
    if not whole:
        raise LarderError(_message("this shard was loaded again, and its source has changed", "start the run again with larder launch --data, "
                                   "which compares all shards", dataset=dataset.name, version=dataset.version, shard=f"{index}/{count}"))
    if world % count or rank // (world // count) != index:
        raise ValueError(_message("this rank's rows are not on this node", "give shard=(RANK, WORLD_SIZE), with equally many ranks on each node",
                                  dataset=dataset.name, rank=rank, world=world, shard=f"{index}/{count}"))
    return f"{whole}/{count}", rank % (world // count), world // count


def _named(opened, named, arrays=None):
    """Return the names of arrays, and whether batches are tuples. They are if the names are given one after the other, not as a list."""
    if len(named) == 1 and not isinstance(named[0], str):
        named, arrays = (), named[0]
    if named and (arrays is not None or not all(isinstance(name, str) for name in named)):
        raise TypeError(_message("not names of arrays", "give them as one list, or one after the other, and settings by name: batch_size=256",
                                 dataset=opened.name, arrays=named if arrays is None else (*named, arrays)))
    return _names(opened, named or arrays), bool(named)


def _of_batch(transform, opened, names, is_tuple):
    """Return a transform as a function of a dict. It may be a dict of functions for one array each, and it gets the arrays of a tuple one by one."""
    if transform is None:
        return None
    if not isinstance(transform, Mapping):
        if not callable(transform):
            raise TypeError(_message("transform is not a function", "give a function, or a dict from names of arrays to functions", transform=repr(transform)))
        return _never_stopping((lambda batch: transform(*batch.values())) if is_tuple else transform)
    for name, function in transform.items():
        if name not in names:
            raise NotFound(_message("no such array to transform", _near(name, names), dataset=opened.name, array=name))
        if not callable(function):
            raise TypeError(_message("a transform of an array is not a function", f"steps by name are for larder.feed: larder.feed({opened.name!r}, {names}, "
                                     f"transform={{{name!r}: {function!r}}})", dataset=opened.name, array=name, transform=repr(function)))

    def transformed(batch):
        for name, function in transform.items():
            try:
                batch[name] = function(batch[name])
            except Exception as e:
                _note(e, "the transform of an array failed", dataset=opened.name, array=name)
                raise
        return tuple(batch.values()) if is_tuple else batch

    return _never_stopping(transformed)


def _never_stopping(transform):
    """Return a transform that raises no StopIteration: a loop would take that of a `next` in it for the end of the epoch."""
    def checked(batch):
        try:
            return transform(batch)
        except StopIteration as e:
            raise RuntimeError("a transform raised StopIteration") from e

    return checked


def _names(opened, arrays):
    if arrays is None:
        kinds = opened.columns
        arrays = [name for name in opened if name not in kinds]
        columns = [name for name in opened if kinds.get(name, "index") != "index"]  # an index has no rows
        if columns:
            remedy = f"name the arrays that you want, of {arrays}; " if arrays else ""
            raise ValueError(_message("columns would be left out: batches have arrays alone", remedy + _instead(opened, columns, arrays),
                                      dataset=opened.name, columns=columns))
    if isinstance(arrays, str) or not arrays:
        raise ValueError(_message("not a list of arrays", _near("", opened), dataset=opened.name, arrays=repr(arrays)))
    return list(arrays)


def _array(opened, name):
    """Open an array to gather its rows. The error for a column contains the alternatives."""
    arrays = opened._open().arrays
    if name not in arrays and arrays.kind(name):
        raise NotFound(_message("no such array", "it is a column; " + _instead(opened, [name]), dataset=opened.name, version=opened.version,
                                array=name))
    return opened._array(name)


def _instead(opened, columns, arrays=()):
    """Return the remedy for rows of columns, which may be images."""
    kinds = opened.columns
    files = next((name for name in columns if kinds[name] == "bytes"), None)
    if files is None:
        shapes = " (rows may differ in their first dimension only)" if "ragged" in map(kinds.get, columns) else ""
        return (f"larder.feed has batches of columns{shapes}: larder.feed({opened.name!r}, {[*columns, *arrays]}); or read rows with "
                f"larder.dataset({opened.name!r})[{columns[0]!r}][row]")
    return (f"larder.feed decodes images: larder.feed({opened.name!r}, {[files, *arrays]}, "
            f"transform={{{files!r}: 'decode,resize(224,224),toFloat'}})")


def _equal_rows(opened, sources):
    counts = {source.name: source.rows for source in sources}
    if len(set(counts.values())) > 1:
        raise ValueError(_message("arrays differ in their numbers of rows", "name those that belong together", dataset=opened.name, rows=counts))
    return sources[0].rows


class _Source:
    """An array to gather rows from."""

    def __init__(self, opened, name):
        array = _array(opened, name)
        if array.ndim == 0:
            raise ValueError(_message("an array without rows", "name arrays with at least one dimension", array=name))
        self.name, self.rows, self.shape, self.dtype = name, len(array), array.shape[1:], array.dtype
        self.row_bytes = array.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64))
        self.array = array.view(np.ndarray)
        self._takes = array.flags.c_contiguous and array.flags.aligned  # numpy's take would copy the whole array first for another byte order
        touches = self._takes and self.rows and self.row_bytes >= _TOUCHED_FROM
        self._heads = self.array.view(np.uint8).reshape(self.rows, self.row_bytes)[:, 0] if touches else None

    def gather(self, rows, out, _first=0, _row=None):
        """Copy rows into an array of their shape. Their position in the epoch does not matter. Never waits for a disk, as far as is known."""
        if self._takes and type(rows) is not slice:
            if self._heads is not None:
                self._heads[rows]  # overlaps the cache misses of all rows; a copy waits for each row
            self.array.take(rows, 0, out, "clip")  # the rows are valid; with a check numpy copies twice
        else:
            out[...] = self.array[rows]


def _shown(rows):
    """Return the text of rows, or of positions, for an error."""
    if isinstance(rows, slice):
        return f"{rows.start}..{rows.stop - 1}" if rows.step == 1 else f"{rows.start}..{rows.stop - 1} in steps of {rows.step}"
    if len(rows) > 2 and (np.diff(rows) == rows[1] - rows[0]).all() and rows[1] > rows[0]:
        return _shown(slice(rows[0], rows[-1] + 1, rows[1] - rows[0]))
    some = ",".join(map(str, rows[:_ROWS_SHOWN]))
    return some if len(rows) <= _ROWS_SHOWN else f"{some},… ({len(rows)})"


class _Pool:
    """Memory of batches. It is reused when nothing refers to a batch's arrays any more."""

    def __init__(self, sources, rows):
        self.rows, self.offsets, self._bytes = rows, [], 0
        for source in sources:
            self.offsets.append(self._bytes)
            self._bytes += -(-source.row_bytes * rows // _ALIGNMENT) * _ALIGNMENT
        self._free = free = collections.deque()
        self._handed_out = handed_out = set()

        def give_back(reference):
            handed_out.discard(reference)
            free.append(reference.memory)

        self._give_back = give_back

    def take(self):
        """Return an array of bytes. The memory of a batch is in use while this array is reachable."""
        try:
            memory = self._free.pop()
        except IndexError:
            memory = mmap.mmap(-1, max(self._bytes, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            with contextlib.suppress(OSError):  # a kernel without huge pages
                memory.madvise(mmap.MADV_HUGEPAGE)
        slot = np.ndarray(self._bytes, np.uint8, memory)  # the base of its views, because its own base is not an array
        reference = _HandedOut(slot, self._give_back)
        reference.memory = memory
        self._handed_out.add(reference)
        return slot


class _HandedOut(weakref.ref):
    """Memory that is in use while an array is reachable."""

    __slots__ = ("memory",)
    __hash__, __eq__ = object.__hash__, object.__eq__


class _Gatherer:
    """Makes batches. Each Python statement counts: copying a batch of a megabyte takes no longer than a few dozen of them."""

    _handed_out: Any = None  # the conversion of an array for the caller

    def __init__(self, loader, epoch, plan):
        self._pool, self._plan, self._epoch, self._transform = loader._pool_for(plan), plan, epoch, loader._transform
        self._dataset, self._batch_size, self._together = loader._dataset.name, loader._batch_size, loader._together
        self._policy = loader._policy or None
        self._hands_out_tuples = loader._is_tuple and self._transform is None
        window = _Window(sum(file is not None for file in loader._files))
        gathers = [_ReadAhead(source, file, plan, self._batch_size, self._together, window) if file else source
                   for source, file in zip(loader._sources, loader._files)]
        self._ahead = [gather for gather in gathers if type(gather) is _ReadAhead]
        self._parts = [(gather, source.name, source.shape, source.dtype, offset)
                       for gather, source, offset in zip(gathers, loader._sources, self._pool.offsets)]

    def __call__(self, group, row):
        """Return the batches of a group. `row` has the counters of the calling thread, which gathers at present."""
        first, size = group * self._together, self._batch_size
        rows, samples, valid = self._plan.rows(first, self._together)
        if self._policy is not None:
            return [self._made_of_good(first, _row_numbers(rows), samples, valid, row)]
        arrays = self._gathered(rows, samples, first * size, row)
        if self._together == 1:
            return [self._made(arrays, first, samples, valid, rows, row)]
        batches = []
        for number in range(first, min(first + self._together, self._plan.batches)):
            start = (number - first) * size
            stop, its_size, its_valid = start + size, size, size
            if stop > valid:  # the last one, or one with samples that fill up
                stop = min(stop, samples)
                its_size, its_valid = max(0, stop - start), max(0, min(size, valid - start))
            parts = [(name, array[start:stop]) for name, array in arrays]
            batches.append(self._batch(parts, number, its_size, its_valid))
        return batches

    def _made(self, arrays, number, size, valid, rows, row, places=None):
        """Return the batch of some arrays, transformed."""
        batch = self._batch(arrays, number, size, valid)
        if self._transform is None:
            return batch
        row.begin(_USER_CODE)
        try:
            return self._transform(batch)
        except Exception as e:
            positions = self._plan.positions(number, np.arange(size) if places is None else places)
            _note(e, "the transform of a loader failed", dataset=self._dataset, epoch=self._epoch, batch=number, positions=_shown(positions), rows=_shown(rows))
            raise
        finally:
            row.begin(_GATHERING)

    def _made_of_good(self, number, rows, samples, valid, row):
        """Return the batch of the samples that can be read and transformed."""
        def make(places):
            arrays = self._gathered(rows[places], len(places), number * self._batch_size, row)
            return self._made(arrays, number, len(places), int(np.count_nonzero(places < valid)), rows[places], row, places)

        def describe(place):
            return {"dataset": self._dataset, "epoch": self._epoch, "batch": number, "row": rows[place], "position": self._plan.positions(number, place)}

        batch, places = self._policy.made(make, samples, describe)
        self._plan.skip(number, np.delete(np.arange(samples), places))
        return batch

    def _gathered(self, rows, size, first, row):
        """Return the arrays of some rows with their names. `first` is the position of the first row, `row` the caller's counters."""
        slot, arrays = self._pool.take(), []
        for source, name, shape, dtype, offset in self._parts:
            out = np.ndarray((size, *shape), dtype, slot, offset)
            source.gather(rows, out, first, row)
            arrays.append((name, out))
        return arrays

    def may_wait(self):
        """Return whether a gather may wait for a disk."""
        return bool(self._ahead) and any(ahead.may_wait() for ahead in self._ahead)

    def reading(self):
        """Return the start of the read that takes longest, and its file, or None."""
        return min(filter(None, (ahead.reading() for ahead in self._ahead)), default=None)

    def _batch(self, arrays, number, size, valid):
        handed_out = self._handed_out
        if handed_out is not None:
            arrays = [(name, handed_out(array)) for name, array in arrays]
        if self._hands_out_tuples:
            return tuple([array for _, array in arrays])
        return Batch(arrays, self._epoch, number, size, valid)


class _OrderAhead(threading.Thread):
    """Computes the order of the next epoch while one runs."""

    def __init__(self, sampler, rows, epoch):
        super().__init__(name="larder-order", daemon=True)
        self._sampler, self._rows, self.epoch, self._order = sampler, rows, epoch, None

    def run(self):
        with contextlib.suppress(MemoryError):  # then it is computed when it is needed
            self._order = self._sampler._order(self._rows, self.epoch)

    def await_order(self):
        self.join()  # returns immediately in a forked child, which has no order
        return self._order


class _Epoch:
    """The batches of an epoch, in order. Threads get the numbers of groups and return their batches; they have no other reference to it."""

    def __init__(self, loader, epoch, plan, threads):
        self._loader, self._epoch, self._plan, self._pid = weakref.ref(loader), epoch, plan, os.getpid()
        self._gather, self._timeout = loader._gatherer(epoch, plan), loader._timeout
        self._counters, self._consumer, self._helper = loader._counters, loader._counters.consumer, loader._counters.helper
        self._helps = loader._transform is None  # a transform may hang, and a wait would then never end
        self._number, self._lock, self._arrived, self._is_open = 0, threading.Lock(), {}, True
        self._wanted, self._made = queue.SimpleQueue(), queue.SimpleQueue()
        self._together, self._groups = loader._together, -(-plan.batches // loader._together)
        self._asked = min(self._groups, -(-loader._prefetch // self._together)) if threads else 0
        for group in range(self._asked):
            self._wanted.put(group)
        self._stop = weakref.finalize(self, _stop, self._wanted, self._made, threads, self._pid)
        self._threads = [threading.Thread(target=_work, args=(self._gather, self._wanted, self._made, row), name=f"larder-{i}", daemon=True)
                         for i, row in enumerate(self._counters.rows(threads))]
        _EPOCHS.add(self)
        for thread in self._threads:
            _start(thread)

    def __iter__(self):
        return self

    def __len__(self):
        return self._plan.batches

    def __next__(self):
        with self._lock:
            if os.getpid() != self._pid:
                raise LarderError("an epoch belongs to the process that began it; make a loader in this one")
            number = self._number
            if number == self._plan.batches:
                if self._loader() is None:
                    self._plan.release()
                self.close()
                raise StopIteration
            if not self._is_open:
                raise self._ended()
            group, place = divmod(number, self._together)
            batches = self._arrived.get(group, _ENDED_EARLY)[0]
            if batches is None:
                batches = self._await(group)
            if place == 0 and self._threads and self._asked < self._groups:
                self._wanted.put(self._asked)
                self._asked += 1
            batch = batches[place]
            self._number = number + 1  # before the group goes, so that a Ctrl-C between them repeats no batch
            if place == len(batches) - 1:
                self._arrived.pop(group, None)
                self._consumer.took(place + 1)
            loader = self._loader()
            if loader is not None and loader._running() is self:
                loader._reached = self._epoch, self._plan, number
            return batch

    def _await(self, group):
        """Return the batches of a group. They stay in `_arrived` until the last one is returned."""
        end = None
        try:
            while group not in self._arrived:
                if self._made.empty():
                    now = self._consumer.begin(_WAITING if self._number else _STARTING)
                    end = end or now + self._timeout
                    made, batches, failure = self._help(group) or self._wait(group, end - now)
                else:
                    made, batches, failure = self._made.get_nowait()
                if made is None:
                    raise self._ended()
                self._arrived[made] = batches, failure
            batches, failure = self._arrived.get(group) or (None, self._ended())
            if failure is not None:
                raise failure
        except Exception:  # not a Ctrl-C, after which the loop may continue
            self.close()
            raise
        finally:
            if end is not None:
                self._consumer.end()
        return batches

    def _help(self, group):
        """Make a group that no thread has begun, instead of waiting. Return None if there is none. Without threads, make this group."""
        if not self._threads:
            return group, self._gather_here(group), None
        if not self._helps or self._gather.may_wait():  # a disk may hang
            return None
        try:
            group = self._wanted.get_nowait()
        except queue.Empty:
            return None
        if group is None:
            self._wanted.put(None)  # it is for a thread
            return _ENDED_EARLY
        try:
            return group, self._gather_here(group), None
        except Exception as e:
            return group, None, e  # it is raised when its turn comes
        except BaseException:
            self._wanted.put(group)
            raise

    def _gather_here(self, group):
        self._helper.begin(_GATHERING)
        try:
            return self._gather(group, self._helper)
        finally:
            self._helper.end()

    def _wait(self, group, seconds):
        try:
            return self._made.get(timeout=max(0, seconds))
        except queue.Empty:
            late = {"epoch": self._epoch, "batch": group * self._together, "timeout": self._timeout}
            reading = self._gather.reading()
            if reading:
                began, file = reading
                raise TimedOut(_message("no thread has made the batch, because a disk read takes too long", "check the disk or its server, or give a "
                                        "longer timeout", **late, reading=file, since=f"{time.monotonic() - began:.1f}s")) from None
            raise TimedOut(_message("no thread has made the batch", "check what the threads are doing, or give a longer timeout", **late)) from None

    def _ended(self):
        return LarderError(_message("the epoch was ended", "finish one epoch before the next, or make a second loader",
                                    epoch=self._epoch, batch=self._number))

    def close(self):
        self._is_open = False
        self._stop()
        self._arrived.clear()


_EPOCHS: weakref.WeakSet[_Epoch] = weakref.WeakSet()
_THREADS: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def _start(thread):
    thread.start()
    _THREADS.add(thread)


@atexit.register
def _end_threads():
    """End all epochs and their threads. At its end the interpreter stops threads anywhere, and inside
    PyTorch that aborts the process."""
    for epoch in list(_EPOCHS):
        epoch.close()
    for thread in list(_THREADS):
        thread.join(_EXIT_PATIENCE)


def _work(gather, wanted, made, row):
    row.of_this_thread()
    row.begin(_GATHERING)
    while True:
        group = _next_group(wanted, row)
        if group is None:
            row.end()
            row.of_no_thread()
            break
        try:
            made.put((group, gather(group, row), None))
        except BaseException as e:
            made.put((group, None, e))


def _next_group(wanted, row):
    """Return the next group to gather. If it is there already, the time counts as gathering, because counters of two parts cost more."""
    if not wanted.empty():
        try:
            return wanted.get_nowait()
        except queue.Empty:
            pass  # another thread was faster
    row.begin(_WAITING_FOR_CONSUMER)
    group = wanted.get()
    row.begin(_GATHERING)
    return group


def _stop(wanted, made, threads, pid):
    if os.getpid() == pid:  # a forked child has no such threads
        with contextlib.suppress(queue.Empty):
            while True:
                wanted.get_nowait()
        for _ in range(threads):
            wanted.put(None)
        made.put(_ENDED_EARLY)  # for a thread that waits for a batch
