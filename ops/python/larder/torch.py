"""Arrays of a store for PyTorch: datasets for ``DataLoader``, a loader without worker processes, tensors over shared
pages.

>>> rows = larder.torch.Rows("mnist", "train-images", "train-labels")
>>> for images, labels in DataLoader(rows, 256, shuffle=True, num_workers=4):      # unchanged code; one gather a batch
...     train(images, labels)
>>> for batch in larder.torch.Loader("mnist", ["train-images", "train-labels"], batch_size=256, shuffle=42):     # no workers
...     train(batch["train-images"], batch["train-labels"])
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils import data

from . import _loader
from ._arrays import Array, _private
from ._datasets import Dataset
from ._errors import LarderError, _message

__all__ = ["Loader", "Rows", "tensor"]


def tensor(array: np.ndarray, private: bool = False) -> torch.Tensor:
    """Return a tensor over the pages of a stored array, or of a view of one: nothing is copied, and nothing is warned
    of.

    **It is for reading.** PyTorch has no read-only tensors: to write into this one (``tensor.sub_(0.5)``) ends the
    process with SIGSEGV.

    With ``private=True`` it can be written: each page that is written to is copied for this process, the store keeps
    what it has. That costs up to a whole copy, page by page; the file's pages come as small ones; and copying such a
    tensor to a GPU may copy every page on machines whose GPU shares the page table (GH200).
    ``torch.from_numpy(array.copy())`` is better where most of it will be written.

    The version stays leased as long as the tensor lives. Raises `LarderError` for a dtype that PyTorch does not have.
    """
    _require_dtype(array.dtype)
    if private and isinstance(array, Array) and array._mmap is not None:
        return torch.from_numpy(_private(array))
    return torch.from_numpy(array if array.flags.writeable else np.asarray(_Unmarked(array)))


class _Unmarked:
    """The memory of an array without the mark that it is read-only, of which PyTorch would warn."""

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
    tensors.

    A `DataLoader` of PyTorch 2 asks for a batch at once: one gather for each array, no loop over samples, in the main
    process as in workers. With PyTorch 1 give it the numbers of the rows, and let `collate` gather:
    ``DataLoader(range(len(rows)), 256, collate_fn=rows.collate)``. ``rows[i]`` with a list, an array or a slice is a
    whole batch, for a ``BatchSampler`` as ``sampler`` and ``batch_size=None``.

    Tensors have the stored dtype and are copies: writable, and yours. `transform` gets those of a whole batch,
    ``transform(images, labels)``, and returns what takes their place: a tensor, or a tuple, list or dict of tensors,
    with the samples as first dimension.

    It pickles as the name of the dataset, so workers share the pages, whether forked, spawned or started by a fork
    server.
    """

    def __init__(self, dataset: str | Dataset, *arrays: str, transform: Callable[..., Any] | None = None, store: Any = None) -> None:
        self._dataset = _loader._opened(dataset, store)
        self._names = _loader._names(self._dataset, arrays or None)
        self._sources = [_loader._Source(name, _loader._array(self._dataset, name)) for name in self._names]
        self._rows = _loader._equal_rows(self._dataset, self._sources)
        self._transform = transform
        for source in self._sources:
            _require_dtype(source.dtype)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, row: Any) -> Any:
        try:
            number = operator.index(row)
        except TypeError:
            return self._whole(range(*row.indices(self._rows)) if isinstance(row, slice) else row)
        return _Samples(self, [number])[0]

    def __getitems__(self, rows: Sequence[int]) -> Sequence[Any]:
        return _Samples(self, rows)

    def collate(self, samples: Sequence[Any]) -> Any:
        """Make a batch of samples, or of numbers of rows, with one gather for each array."""
        if isinstance(samples, _Samples):
            return samples.whole
        return self._whole([sample.row if isinstance(sample, _Sample) else operator.index(sample) for sample in samples])

    def __reduce__(self) -> Any:
        return _rows, (self._dataset, self._names, self._transform)

    def __repr__(self) -> str:
        return f"<larder.torch.Rows {self._dataset.name} version {self._dataset.version}: {self._rows} of {self._names}>"

    def _whole(self, rows):
        rows = np.asarray(rows, np.intp)
        if rows.ndim != 1:
            raise TypeError(f"rows are numbers, or one list of them: shape={rows.shape}")
        if rows.size and not (-self._rows <= rows.min() and rows.max() < self._rows):
            raise IndexError(f"row out of range: dataset={self._dataset.name} rows={self._rows} asked={rows.min()}..{rows.max()}")
        rows = np.where(rows < 0, rows + self._rows, rows)
        tensors = []
        for source in self._sources:
            out = _empty((len(rows), *source.shape), source.dtype)
            source.gather(rows, out.numpy())
            tensors.append(out)
        return tensors if self._transform is None else self._transform(*tensors)


def _rows(dataset, names, transform):
    """Open the rows of a dataset: what a pickled `Rows` becomes."""
    return Rows(dataset, *names, transform=transform)


def _empty(shape, dtype):
    """Return memory for a batch; in a worker that of ``/dev/shm``, so that handing it over copies nothing."""
    made = torch.from_numpy(np.empty(0, dtype))
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if data.get_worker_info() is None or size == 0:
        return torch.empty(shape, dtype=made.dtype)
    return made.set_(torch.UntypedStorage._new_shared(size), 0, shape)


class _Samples(Sequence):
    """The samples of a batch, which were gathered together; each is made when it is asked for."""

    def __init__(self, rows, numbers):
        self._numbers = list(numbers)
        self.whole = rows._whole(self._numbers)

    def __len__(self):
        return len(self._numbers)

    def __getitem__(self, i):
        return _Sample(self.whole, range(len(self))[i], self._numbers[i])


class _Sample(tuple):
    """One sample of a batch. PyTorch is told how to collate this type."""

    def __new__(cls, whole, place, row):
        sample = super().__new__(cls, _parts(whole, place))
        sample.row = row
        return sample

    def __reduce__(self):
        return tuple, (tuple(self),)


def _parts(whole, place):
    parts = whole if isinstance(whole, (tuple, list)) else (whole,)
    return [{key: value[place] for key, value in part.items()} if isinstance(part, dict) else part[place] for part in parts]


def _collate(samples, *, collate_fn_map=None):
    if isinstance(samples, _Samples):
        return samples.whole
    return data.default_collate([tuple(sample) for sample in samples])


_collated = getattr(data._utils.collate, "default_collate_fn_map", None)
if _collated is not None:  # PyTorch 1 has none
    _collated[_Sample] = _collate


class Loader(_loader.Loader, data.IterableDataset):
    """As `larder.Loader`, with tensors in the place of arrays: ``batch["train-images"]`` is a writable tensor of the
    stored dtype.

    Where a program asks for a `DataLoader`, or torchdata's `StatefulDataLoader`, give it this as its dataset with
    ``batch_size=None`` and no workers: every worker would make every batch, so an epoch in one is refused.

    With `pin_memory`, by default where CUDA is there, batches lie in page-locked memory that PyTorch allocates, so
    ``batch["x"].to("cuda", non_blocking=True)`` copies while the next batches are gathered; PyTorch does not use such
    memory again before the copy is done.
    """

    def __init__(self, *arguments: Any, pin_memory: bool | None = None, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for source in self._sources:
            _require_dtype(source.dtype)
        self._pins = torch.cuda.is_available() if pin_memory is None else pin_memory

    def __iter__(self) -> Iterator[Any]:
        worker = data.get_worker_info()
        if worker is not None:
            raise LarderError(_message("a loader was asked for an epoch in a worker of a DataLoader", "use num_workers=0, as it gathers in"
                                       " threads, or larder.torch.Rows", worker=worker.id, workers=worker.num_workers))
        return super().__iter__()

    def _gatherer(self, epoch, plan):
        kind = _PinningGatherer if self._pins else _TensorGatherer
        return kind(self._sources, self._pool, plan, epoch, self._transform)


class _TensorGatherer(_loader._Gatherer):
    _handed_out = staticmethod(torch.from_numpy)


class _PinningGatherer(_loader._Gatherer):
    def _fill(self, batch, rows, size):
        for source in self._sources:
            like = torch.from_numpy(np.empty(0, source.dtype))
            batch[source.name] = out = torch.empty((size, *source.shape), dtype=like.dtype, pin_memory=True)
            source.gather(rows, out.numpy())


for _public in Loader, Rows, tensor:
    _public.__module__ = __name__
