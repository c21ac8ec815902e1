"""Arrays of a store for JAX: device arrays over shared pages, and batches that are pytrees of them.

>>> images = larder.jax.array(larder.open("mnist/train-images"))        # on a CPU nothing is copied
>>> for batch in larder.jax.Loader("mnist", ["train-images", "train-labels"], batch_size=256, shuffle=42):
...     parameters = step(parameters, batch)                            # jitted; a batch is a pytree
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from . import _loader
from ._batches import Batch
from ._datasets import _require_array
from ._errors import LarderError, _message

try:
    import jax
except ImportError as e:
    raise ImportError(_message("larder.jax needs JAX", f"{sys.executable} -m pip install jax", reason=e)) from e

__all__ = ["Loader", "array"]


def array(stored: np.ndarray, device: Any = None) -> jax.Array:
    """Return a `jax.Array` of a stored array, or of a view of one, on a device or with a sharding.

    On a CPU it uses the shared pages, and the version stays leased as long as it lives; elsewhere it is a copy. It has
    the stored shape and dtype. Without ``jax_enable_x64`` 64-bit values become 32-bit values in a copy. Raises
    `LarderError` for a dtype that JAX does not have.
    """
    _require_array(stored)
    _require_dtype(stored.dtype)
    return jax.device_put(stored, device)


def _require_dtype(dtype):
    try:
        jax.device_put(np.empty(0, dtype))
    except (TypeError, ValueError) as e:
        raise LarderError(_message("JAX has no such dtype", "convert a copy with astype, or read the array with numpy", dtype=dtype,
                                   jax=jax.__version__, reason=e)) from None


class Loader(_loader.Loader):
    """Like `larder.Loader`, with device arrays: ``batch["train-images"]`` is a `jax.Array`.

    `device` is a device or a sharding, by default JAX's own. A batch is a pytree, like every `larder.Batch` after this
    module is imported, and can be passed to a jitted function. Only its arrays are leaves, so its numbers cause no compilation;
    results of ``jax.tree.map`` have no numbers.
    """

    def __init__(self, *arguments: Any, device: Any = None, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for source in self._sources:
            _require_dtype(source.dtype)
        self._device = device

    def _gatherer(self, epoch, plan):
        gatherer = super()._gatherer(epoch, plan)
        gatherer._handed_out = functools.partial(jax.device_put, device=self._device)
        return gatherer


def _flattened(batch):
    names = sorted(batch)
    return [(jax.tree_util.DictKey(name), batch[name]) for name in names], tuple(names)


jax.tree_util.register_pytree_with_keys(Batch, _flattened, lambda names, arrays: Batch(zip(names, arrays)))

for _public in Loader, array:
    _public.__module__ = __name__
