"""Frames of pandas and polars over the bytes in the store."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from ._arrow import _arrow_names, _arrow_table
from ._datasets import Dataset
from ._errors import LarderError, _message
from ._loader import _names, _opened

_FRAMES = {"pandas": ("pyarrow", "pandas"), "polars": ("pyarrow", "polars")}  # libraries of frames, and the packages that each needs


def frame(dataset: str | Dataset, columns: Sequence[str] | None = None, *, library: str = "pandas",
          store: str | os.PathLike[str] | None = None) -> Any:
    """Return a dataset as a frame over the memory of the store: a ``pandas.DataFrame`` of `ArrowDtype`, or a ``polars.DataFrame``.

    `columns` are names of arrays and columns with equally many rows, by default all except indices. `library` is ``"pandas"`` (2 or later) or
    ``"polars"``; each needs pyarrow.

    - Numbers, dates and `Strings` are not copied; `Bytes` become binaries, `Ragged` lists, and arrays of several dimensions lists of fixed size, also without a
      copy. polars makes 16 bytes for each text of a column.
    - Copied once: bool (Arrow has bits), texts of fixed length (dtypes U and S), arrays that are big-endian or not in C order, and the offsets of
      ragged rows of several dimensions. NaT is a missing value, NaN is a number.

    The version stays leased as long as any column lives. A frame is not written to: operations return new columns. **It pickles as its data**: give workers the
    name of the dataset, and let each of them call `frame`.

    Raises `NotFound` for an unknown name, `LarderError` for a dtype that Arrow does not have, a damaged column and a missing library, ValueError for columns
    that differ in their numbers of rows.

    >>> reviews = larder.frame("reviews", ["text", "stars"])
    >>> reviews[reviews["stars"] > 3]["text"]
    """
    if library not in _FRAMES:
        raise ValueError(_message("no such library of frames", f"give one of {', '.join(_FRAMES)}", library=repr(library)))
    opened = _opened(dataset, store)
    frames = _library_of_frames(library)
    return _as_frame(frames, _arrow_table(opened, _names(opened, _arrow_names(opened) if columns is None else columns)))


def _frame_over(opened, library, arrays):
    """Return a frame with columns of these names over these arrays and columns of a dataset."""
    frames = _library_of_frames(library)
    return _as_frame(frames, _arrow_table(opened, list(arrays.values())).rename_columns(list(arrays)))


def _as_frame(frames, table):
    return frames.from_arrow(table) if frames.__name__ == "polars" else table.to_pandas(types_mapper=frames.ArrowDtype)


def _library_of_frames(library):
    """Import a library of frames with pyarrow, and return it."""
    return [_imported_for_frames(needed, library) for needed in _FRAMES[library]][-1]


def _imported_for_frames(needed, library):
    try:
        module = importlib.import_module(needed)
    except ImportError as e:
        raise _no_frames(needed, library, e) from e
    if needed == "pandas" and int(module.__version__.partition(".")[0]) < 2:
        raise _no_frames(needed, library, f"pandas {module.__version__} is too old, version 2 is needed")
    return module


def _no_frames(needed, library, reason):
    return LarderError(_message(f"larder.frame needs {needed}", f"{sys.executable} -m pip install -U {needed}", library=library, reason=reason))
