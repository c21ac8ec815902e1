"""Arrays: read-only views of a segment that pickle as names."""

from __future__ import annotations

import functools

import numpy as np

from ._errors import _message
from ._memory import _Segment
from ._versions import _map, _with_identity


_item = np.ndarray.__getitem__  # looking it up takes as long as a part of the call


class Array(np.memmap):
    """A read-only array in a store, or a view of one. Results computed from it are plain `numpy.ndarray` objects.

    Slices, ``reshape``, ``transpose`` and other views are Arrays too, and keep the version leased. Results and copies
    (``x + 1``, ``x.copy()``, ``x.astype("f4")``, ``np.sort(x)``, ``x[[1, 5]]``) are plain arrays that can be written.
    Writing to the Array itself raises ValueError. **Native code that ignores the read-only flag crashes the process**:
    ``torch.from_numpy(x).add_(1)`` ends with SIGSEGV. Use ``torch.from_numpy(x.copy())`` to change a tensor in place.

    It pickles as a reference (the store, the dataset's name, the version's digest), even for a view. That suits worker
    processes, but not a file that has to outlive the store. ``np.save`` writes the data; so does pickling ``x.copy()``.
    ``copy.copy`` and ``copy.deepcopy`` copy the data.
    """

    def __new__(cls, *_, **__):
        raise TypeError("larder arrays come from a dataset: larder.dataset(name)[array]")

    __array_finalize__ = np.ndarray.__array_finalize__  # numpy does not call it; np.memmap's own takes five times as long as a slice

    def __getitem__(self, index):
        if type(index) is int:  # an element, or a view
            return _item(self, index)
        if type(index) is np.ndarray or type(index) is list:  # a copy; as a plain array it owns its memory
            return _shared(self.view(np.ndarray)[index])  # a list of field names makes a view
        result = _item(self, index)
        if type(result) is Array and type(result.base) is not Array:  # selected rows, which are copies
            result = result.view(np.ndarray)
            result.flags.writeable = True  # numpy 1 loses it
        return result

    def __iter__(self):
        if self.ndim > 1:
            return map(_item.__get__(self), range(len(self)))
        return iter(self.view(np.ndarray))

    def __setitem__(self, index, value):
        if self.flags.writeable:  # a copy that numpy returned as an Array
            super().__setitem__(index, value)
            return
        raise ValueError(_message("cannot write to a stored array, it is read-only", "all processes share its memory: change a copy, "
                                  "x.copy()", file=self.filename))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        out = options.get("out", ())
        for x in (*out, *inputs[:method == "at"]):
            if isinstance(x, Array) and not x.flags.writeable:
                raise ValueError(_message("cannot compute into a stored array, it is read-only", "compute a new array, or "
                                          "change a copy: x.copy()", file=x.filename))
        result = getattr(ufunc, method)(*_plain(inputs), **_plain(options))
        if len(out) == 1:
            return _returned(result, out[0])
        return tuple(map(_returned, result, out)) if out and result is not NotImplemented else result

    def __array_function__(self, function, types, arguments, options):
        result = super().__array_function__(function, types, _plain(arguments), _plain(options))
        return _returned(result, options.get("out"))

    def __array_wrap__(self, array, *_):
        return array[()] if array.ndim == 0 else array.view(np.ndarray)

    def __copy__(self):
        return self.view(np.ndarray).copy()

    def __deepcopy__(self, _):
        return self.view(np.ndarray).copy()

    @property
    def flat(self):
        """A flat iterator over the elements."""
        return self.view(np.ndarray).flat

    @property
    def imag(self):
        """The imaginary part."""
        return _shared(self.view(np.ndarray).imag)

    def __reduce_ex__(self, protocol):
        segment = self._mmap
        if segment is None:
            return self.view(np.ndarray).__reduce_ex__(protocol)
        if self.size == 0:  # numpy may place it beyond the end of the file
            name = segment.version.array_at(segment.file, 0)[0]
            return _restore_array, (segment.version.identity, name, 0, self.shape, self.dtype, None)
        offset = self.offset
        name, start = segment.version.array_at(segment.file, offset)
        return _restore_array, (segment.version.identity, name, offset - start, self.shape, self.dtype, self.strides)

    @property
    def _mmap(self):  # the mapping that holds the data; None for a copy
        return _segment_of(self)

    @property
    def filename(self) -> str | None:
        """The path of the file that holds the data."""
        segment = self._mmap
        return segment and segment.path

    @property
    def offset(self) -> int | None:
        """The offset of the first element in `filename`, in bytes."""
        segment = self._mmap
        return segment and self.__array_interface__["data"][0] - segment.address

    mode = "r"


def _plain_method(name):
    """Return a method for `Array` that calls numpy's on a plain view. Without it numpy would return Arrays."""
    method = getattr(np.ndarray, name)

    @functools.wraps(method)
    def call(self, *arguments, **options):
        result = method(self.view(np.ndarray), *_plain(arguments), **_plain(options))
        return _returned(result, options.get("out"))

    return call


for _name in ("all any argmax argmin argpartition argsort astype byteswap choose clip compress conj conjugate copy cumprod "
              "cumsum diagonal dot flatten getfield max mean min newbyteorder nonzero prod ptp ravel repeat reshape round "
              "searchsorted squeeze std sum swapaxes take trace transpose var").split():
    if hasattr(np.ndarray, _name):  # numpy 2 has no newbyteorder and ptp
        setattr(Array, _name, _plain_method(_name))


def _segment_of(array):
    """Return the segment with the memory of an array, or None."""
    base = array.base
    while base is not None and not isinstance(base, _Segment):
        base = getattr(base, "base", None)
    return base


def _plain(value):
    """Replace Arrays with plain views, also within lists, tuples and dicts."""
    if isinstance(value, Array):
        return value.view(np.ndarray)
    if type(value) is tuple or type(value) is list:
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {key: _plain(member) for key, member in value.items()}
    return value


def _shared(result):
    """Convert plain views of a store to Arrays, also within lists and tuples. Arrays with their own memory stay as they are."""
    if type(result) is np.ndarray:
        return result if result.base is None or _segment_of(result) is None else result.view(Array)
    if type(result) is tuple or type(result) is list:
        return type(result)(map(_shared, result))
    return result


def _returned(result, out):
    """Return the caller's `out` if there is one, else the result, as numpy does."""
    return out if isinstance(out, Array) and result is not NotImplemented else _shared(result)


def _view(segment, offset, shape, dtype, strides=None, order="C"):
    return np.ndarray.__new__(Array, shape, dtype, segment.memory, offset, strides, order)


def _private(array):
    """Return the same array over private pages: it is writable, and a write copies its page."""
    segment = array._mmap
    copied = _map(segment.version, segment.file, private=True)
    return np.ndarray(array.shape, array.dtype, copied.memory, array.offset, array.strides)


def _whole(segment, entry):
    return _view(segment, entry.offset, entry.shape, entry.dtype, None, entry.order)


def _restore_array(identity, name, offset, *geometry):
    """Open a view of an array. This unpickles an Array."""
    version = _with_identity(*identity)
    entry = version.arrays[name]
    return _view(version.segment(entry.file), entry.offset + offset, *geometry)
