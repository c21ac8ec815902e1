"""Samples that cannot be read or transformed."""

from __future__ import annotations

import threading
import time
import warnings

import numpy as np

from ._errors import LarderError, _message
from ._order import _integer

_FIRST_RETRY_S, _LONGEST_RETRY_S = 1e-3, 0.1  # as in Java
_MOST_NAMED = 10


class _FailurePolicy:
    """Retries batches, and skips the samples that fail, as Java's ``FailurePolicy`` does. It counts those of one epoch.

    Python's code gets whole batches. So if a batch fails, each of its samples is tried alone, and then the others together.
    """

    def __init__(self, retries, max_skipped):
        self.retries, self.max_skipped = _integer("retries", retries, 0), _integer("max_skipped", max_skipped, 0)
        self.skipped, self._lock = 0, threading.Lock()

    def __bool__(self):
        return bool(self.retries or self.max_skipped)

    def begun(self):
        """Return the policy for another epoch."""
        return _FailurePolicy(self.retries, self.max_skipped)

    def tried(self, make, places):
        """Return ``make(places)``, after as many retries as it needs and the policy has."""
        pause = _FIRST_RETRY_S
        for _ in range(self.retries):
            try:
                return make(places)
            except MemoryError:
                raise
            except Exception:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_RETRY_S)
        return make(places)

    def made(self, make, count, describe):
        """Return ``make(places)`` for all places below `count` that do not fail, and these places. ``describe(place)`` names a sample."""
        places = np.arange(count)
        try:
            return self.tried(make, places), places
        except MemoryError:
            raise
        except Exception as e:
            if not self.max_skipped:
                raise
            failure = e
        kept = [place for place in range(count) if self._is_good(make, place, describe)]
        if len(kept) == count:
            raise failure  # it is none of a sample
        places = np.array(kept, np.intp)
        try:
            return self.tried(make, places), places
        except MemoryError:
            raise
        except Exception as e:
            if kept:
                raise
            raise LarderError(_message("all samples of a batch were skipped, and the transform fails without samples", "check the data, or make larger batches",
                                       **describe(0), error=f"{type(e).__name__}: {e}")) from failure

    def _is_good(self, make, place, describe):
        try:
            self.tried(make, np.array([place]))
            return True
        except MemoryError:
            raise
        except Exception as e:
            with self._lock:
                self.skipped += 1
                count = self.skipped
            values = {**describe(place), "maxSkipped": self.max_skipped, "error": f"{type(e).__name__}: {e}"}
            if count > self.max_skipped:
                raise LarderError(_message("too many samples cannot be read", "check the data, or raise max_skipped", **values)) from e
            if count <= _MOST_NAMED:
                warnings.warn(_message("skipped a sample", "check it", **values), stacklevel=2)
            return False
