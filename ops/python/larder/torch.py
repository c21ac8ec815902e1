"""Arrays of a store for PyTorch: datasets for ``DataLoader``, a loader without worker processes, tensors over shared
pages.

>>> rows = larder.torch.Rows("mnist", "train-images", "train-labels")
>>> for images, labels in DataLoader(rows, 256, shuffle=True, num_workers=4):      # unchanged code; one gather a batch
...     train(images, labels)
>>> for batch in larder.torch.Loader("mnist", ["train-images", "train-labels"], batch_size=256, shuffle=42):     # no workers
...     train(batch["train-images"], batch["train-labels"])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils import data

from . import _loader
from ._arrays import Array, _private
from ._columns import _picked
from ._datasets import Dataset, _require_array
from ._errors import LarderError, _message, _note
from ._failures import _FailurePolicy

__all__ = ["Loader", "Rows", "tensor"]


def tensor(array: np.ndarray, private: bool = False) -> torch.Tensor:
    """Return a tensor over the pages of a stored array, or of a view of one: nothing is copied, and PyTorch does not
    warn.

    **It is for reading.** PyTorch has no read-only tensors: writing into this one (``tensor.sub_(0.5)``) ends the
    process with SIGSEGV.

    With ``private=True`` it is writable: a write copies its page for this process, and the store does not
    change. That costs up to a whole copy, page by page. The file's pages are small ones. Copying such a
    tensor to a GPU may copy every page on machines whose GPU shares the page table (GH200).
    ``torch.from_numpy(array.copy())`` is better if most of it will be written.

    The version stays leased as long as the tensor lives. Raises `LarderError` for a dtype that PyTorch does not have.
    """
    _require_array(array)
    _require_dtype(array.dtype)
    if private and isinstance(array, Array) and array._mmap is not None:
        return torch.from_numpy(_private(array))
    return torch.from_numpy(array if array.flags.writeable else np.asarray(_Unmarked(array)))


class _Unmarked:
    """The memory of an array without its read-only flag, which would make PyTorch warn."""

    def __init__(self, array):
        self._array = array  # keeps it mapped, and leased
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def _require_dtype(dtype):
    try:
        torch.from_numpy(np.empty(0, dtype))
    except (TypeError, ValueError) as e:
        raise LarderError(_message("PyTorch has no such dtype", "convert a copy with astype, or read the array with numpy", dtype=dtype,
                                   torch=torch.__version__, reason=e)) from None


class Rows(data.Dataset):
    """A map-style dataset: sample ``i`` is the tuple of the i-th rows of some arrays with equally many rows, as
    tensors. If the arrays are a list, or not named, samples and batches are dicts, as those of `Loader`.

    A `DataLoader` of PyTorch 2 requests whole batches: one gather for each array, no loop over samples, in the main
    process and in workers. With PyTorch 1 pass the row numbers, and let `collate` gather:
    ``DataLoader(range(len(rows)), 256, collate_fn=rows.collate)``. ``rows[i]`` with a list, an array, a slice or a mask
    is a whole batch, for a ``BatchSampler`` as ``sampler`` and ``batch_size=None``.

    Tensors have the stored dtype and are writable copies. `transform` gets those of a whole batch,
    ``transform(images, labels)`` or a dict, and returns a tensor, or a tuple, list or dict of tensors, which may be nested:
    ``(view1, view2), labels``. Each has one row for each sample. A sample has the same form, with a row of each tensor. It may also be a dict
    from names of arrays to functions of one tensor.

    If the transform of a batch fails, it is tried again `retries` times. Then up to `max_skipped` samples are skipped, in each process, with a warning: the
    batch is shorter. A single sample cannot be skipped.

    It pickles as the name of the dataset, so workers share the pages, whether forked, spawned or started by a fork
    server.
    """

    def __init__(self, dataset: str | Dataset, *arrays: str | Sequence[str], transform: Callable[..., Any] | Mapping[str, Callable[[Any], Any]] | None = None,
                 retries: int = 0, max_skipped: int = 0, store: Any = None) -> None:
        self._dataset = _loader._opened(dataset, store)
        self._names, self._is_tuple = _loader._named(self._dataset, arrays)
        self._sources = [_loader._Source(self._dataset, name) for name in self._names]
        self._rows = _loader._equal_rows(self._dataset, self._sources)
        for source in self._sources:
            _require_dtype(source.dtype)
        self._arrays = [source.array for source in self._sources]  # for single rows: a gather takes ten times as long
        self._transform = _loader._of_batch(transform, self._dataset, self._names, self._is_tuple)
        self._policy = _FailurePolicy(retries, max_skipped)
        self._arguments = self._dataset, self._names, self._is_tuple, transform, retries, max_skipped

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, row: Any) -> Any:
        if type(row) is not int or not 0 <= row < self._rows:
            row = _picked(row, self._rows, dataset=self._dataset.name)
            if type(row) is not int:
                return self._whole(row)
        if self._transform is None:
            tensors = [torch.from_numpy(array[row, ...].copy()) for array in self._arrays]  # numpy copies a row in half the time
            sample = _Sample(tensors) if self._is_tuple else _NamedSample(zip(self._names, tensors))
            sample.row = row
            return sample
        return _sample(self._policy.tried(self._of_row, row), 0, row)

    def __getitems__(self, rows: Sequence[int]) -> Sequence[Any]:
        samples = _Samples(self, rows)
        return samples if type(samples.whole) in _SAMPLES else list(samples)

    def collate(self, samples: Sequence[Any]) -> Any:
        """Make a batch of samples or row numbers, with one gather for each array."""
        if isinstance(samples, _Samples):
            return samples.whole
        numbers = [getattr(sample, "row", sample) for sample in samples]
        if all(isinstance(number, (int, np.integer)) for number in numbers):
            return self._whole(_picked(numbers, self._rows, dataset=self._dataset.name))
        return data.default_collate(samples)

    def __reduce__(self) -> Any:
        return _rows, self._arguments

    def __repr__(self) -> str:
        return f"<larder.torch.Rows {self._dataset.name} version {self._dataset.version}: {self._rows} of {self._names}>"

    def _of_row(self, row):
        return self._transformed([torch.from_numpy(array[row:row + 1].copy()) for array in self._arrays], [row])

    def _whole(self, rows):
        return self._good(rows)[0]

    def _good(self, rows):
        """Return the batch of rows, and the rows in it: all, without those that were skipped."""
        if rows.ndim != 1:
            raise IndexError(_message("rows are picked by one number, or by one list of them", "flatten the list", dataset=self._dataset.name,
                                      shape=rows.shape))
        if not self._policy:
            return self._gathered(rows), rows
        whole, places = self._policy.made(lambda places: self._gathered(rows[places]), len(rows),
                                          lambda place: {"dataset": self._dataset.name, "row": rows[place]})
        return whole, rows[places]

    def _gathered(self, rows):
        tensors = []
        for source in self._sources:
            out = _empty((len(rows), *source.shape), source.dtype)
            source.gather(rows, out.numpy())
            tensors.append(out)
        if self._transform is not None:
            return self._transformed(tensors, rows)
        return tensors if self._is_tuple else dict(zip(self._names, tensors))

    def _transformed(self, tensors, rows):
        try:
            whole = self._transform(dict(zip(self._names, tensors)))
        except Exception as e:
            _note(e, "the transform of larder.torch.Rows failed", dataset=self._dataset.name, rows=_loader._shown(rows))
            raise
        for path, part in _leaves(whole):
            count = len(part) if getattr(part, "shape", ()) else None
            if count != len(rows):
                raise LarderError(_message("a transform has to return one row for each sample", "return a tensor, or tuples, lists and dicts of tensors, "
                                           "whose first dimension is the samples", dataset=self._dataset.name, samples=len(rows),
                                           returned=f"{type(part).__name__}{path}", rows=count))
        return whole


def _rows(dataset, names, is_tuple, transform, retries, max_skipped):
    """Open the rows of a dataset: the result of unpickling a `Rows`."""
    return Rows(dataset, *(names if is_tuple else [names]), transform=transform, retries=retries, max_skipped=max_skipped)


def _empty(shape, dtype):
    """Return memory for a batch; in a worker in ``/dev/shm``, so that passing it on copies nothing."""
    made = torch.from_numpy(np.empty(0, dtype))
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if data.get_worker_info() is None or size == 0:
        return torch.empty(shape, dtype=made.dtype)
    return made.set_(torch.UntypedStorage._new_shared(size), 0, shape)


class _Samples(Sequence):
    """The samples of a batch, which were gathered together. Each is created on access."""

    def __init__(self, rows, numbers):
        self._numbers = list(numbers)
        self.whole, kept = rows._good(_picked(self._numbers, len(rows), dataset=rows._dataset.name))
        if len(kept) < len(self._numbers):
            self._numbers = kept.tolist()
            if not self._numbers:
                raise LarderError(_message("all samples of a batch were skipped", "check the data, or make larger batches", dataset=rows._dataset.name))

    def __len__(self):
        return len(self._numbers)

    def __getitem__(self, i):
        return _sample(self.whole, range(len(self))[i], self._numbers[i])


class _Sample(tuple):
    """One sample of a batch, with its `row`. PyTorch has a function to collate this type."""

    def __reduce__(self):
        return tuple, (tuple(self),)


class _NamedSample(dict):
    """One sample of a batch whose transform returned a dict, with its `row`."""

    def __reduce__(self):
        return dict, (dict(self),)


_SAMPLES = {tuple: _Sample, list: _Sample, dict: _NamedSample}


def _sample(whole, place, row):
    """Return one sample of a batch: the batch's own form with a row of each tensor."""
    kind = _SAMPLES.get(type(whole))
    part = _part(whole, place)
    if kind is None:
        return part
    sample = kind(part)
    sample.row = row
    return sample


def _part(whole, place):
    if isinstance(whole, Mapping):
        return {key: _part(value, place) for key, value in whole.items()}
    if isinstance(whole, tuple) and hasattr(whole, "_fields"):
        return type(whole)(*[_part(value, place) for value in whole])
    if isinstance(whole, (tuple, list)):
        return tuple([_part(value, place) for value in whole])
    return whole[place]


def _leaves(whole, path=""):
    """Yield the tensors of a batch, each with its path in it."""
    if isinstance(whole, Mapping):
        for key, value in whole.items():
            yield from _leaves(value, f"{path}[{key!r}]")
    elif isinstance(whole, (tuple, list)):
        for i, value in enumerate(whole):
            yield from _leaves(value, f"{path}[{i}]")
    else:
        yield path, whole


def _collate(samples, *, collate_fn_map=None):
    if isinstance(samples, _Samples):
        return samples.whole
    return data.default_collate([_plain(sample) for sample in samples])


def _plain(sample):
    return dict(sample) if isinstance(sample, dict) else tuple(sample)


_collated = getattr(data._utils.collate, "default_collate_fn_map", None)
if _collated is not None:  # PyTorch 1 has none
    _collated.update({kind: _collate for kind in _SAMPLES.values()})


class Loader(_loader.Loader, data.IterableDataset):
    """Like `larder.Loader`, with tensors: ``batch["train-images"]`` is a writable tensor of the
    stored dtype.

    If a program needs a `DataLoader`, or torchdata's `StatefulDataLoader`, pass this as its dataset with
    ``batch_size=None`` and no workers. Every worker would make every batch, so an epoch in a worker is refused.

    With `pin_memory`, by default if there is CUDA, batches are in page-locked memory that PyTorch allocates, so
    ``batch["x"].to("cuda", non_blocking=True)`` copies while the next batches are gathered; PyTorch does not reuse such
    memory before the copy is done.
    """

    def __init__(self, *arguments: Any, pin_memory: bool | None = None, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for source in self._sources:
            _require_dtype(source.dtype)
        self._pins = torch.cuda.is_available() if pin_memory is None else pin_memory
        if self._pins:
            self._together = 1  # slices of one tensor would share its storage, which torch.save writes whole

    def __iter__(self) -> Iterator[Any]:
        worker = data.get_worker_info()
        if worker is not None:
            raise LarderError(_message("a loader cannot run an epoch in a worker of a DataLoader", "use num_workers=0, as it gathers in"
                                       " threads, or larder.torch.Rows", worker=worker.id, workers=worker.num_workers))
        return super().__iter__()

    def _gatherer(self, epoch, plan):
        kind = _PinningGatherer if self._pins else _TensorGatherer
        return kind(self, epoch, plan)


class _TensorGatherer(_loader._Gatherer):
    _handed_out = staticmethod(torch.from_numpy)


class _PinningGatherer(_loader._Gatherer):
    def _gathered(self, rows, size, first, row):
        arrays = []
        for source, name, shape, dtype, _ in self._parts:
            like = torch.from_numpy(np.empty(0, dtype))
            out = torch.empty((size, *shape), dtype=like.dtype, pin_memory=True)
            source.gather(rows, out.numpy(), first, row)
            arrays.append((name, out))
        return arrays


for _public in Loader, Rows, tensor:
    _public.__module__ = __name__
