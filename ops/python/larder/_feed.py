"""Feeds: the loader in Java, started for one program, and for others that attach."""

from __future__ import annotations

import os
import signal
import weakref
from collections.abc import Mapping, Sequence
from typing import NoReturn

from ._batches import Batch, Batches
from ._command import _command_line, _require_success
from ._errors import RequestFailed, LarderError, _message, _near
from ._order import _integer, _seed
from ._ring import _FAILED
from ._serve import _served
from ._store import _trusted

_FEED_ENDS = 10  # seconds for a feed to end by itself
_LEFT_OUT = "skipped a sample: "
_OF_LOADER = {"sampler", "threads", "prefetch", "tail"}


def feed(dataset: str, arrays: Sequence[str], *, batch_size: int = 256, shuffle: int | None = None,
         shard: tuple[int, int] | None = None, drop_last: bool = False, epochs: int | range | None = 1,
         transform: Mapping[str, str | Sequence[str]] | None = None, consumers: int = 1, on_slow: str = "block",
         name: str | None = None, timeout: float = 300, copy: bool = True, retries: int = 0, max_skipped: int = 0,
         store: str | os.PathLike[str] | None = None, **unknown: NoReturn) -> Feed:
    """Start ``larder feed``, which shuffles and transforms batches in another process, and iterate over them as with `batches`.

    `arrays` is a list of names of arrays and columns with equally many rows, and each batch is a dict of them. Ragged rows are padded to the longest of
    the batch, ``batch["tokens.mask"]`` marks those without padding, and ``batch.rows("tokens")`` is a list of the rows
    without it, ``batch.texts("caption")`` one of the texts. `shuffle` is a seed: the order is that of torch's ``randperm`` for ``shuffle + epoch``.
    `shard` is ``(rank, world)``. `epochs` is a number, or a range: ``range(3, 10)`` continues after epoch 2. None means endless.
    `transform` maps names of arrays to steps, which ``larder feed --help`` lists: ``{"image": "randomFlip,toFloat,normalize(0.5,0.2)"}``. Those of a
    column come first: ``{"tokens": "truncate(512),padLeft"}``. Functions of your own are for `Loader`.

    With `name` and ``consumers=n``, other processes attach with ``larder.batches(name)``, and the first batch waits for n of them, including
    this one. If a consumer is behind by all slots, `on_slow="block"` waits for it and ``"drop"`` drops it.
    `timeout` is the longest wait, in seconds, for others to attach and for each batch. `copy` is as for `batches`.

    A row that cannot be read or transformed is tried again `retries` times. `max_skipped` is the maximum number of rows of an epoch that are then skipped, such as broken images. Their
    batches are shorter, or empty; a warning at the end has the number. One more such row ends the feed.

    Use it in ``with``, which ends the feed. It also ends with this process, even after Ctrl-C or SIGKILL. If the feed
    fails, the loop raises its error: `NotFound` for a dataset or an array, `NoStore`, `Refused` if `name` is taken, otherwise `RequestFailed`.

    >>> with larder.feed("mnist", ["train-images", "train-labels"], shuffle=42, epochs=3,
    ...                  transform={"train-images": "toFloat,normalize(0.286,0.353)"}) as batches:
    ...     for batch in batches:
    ...         train(torch.from_numpy(batch["train-images"]), torch.from_numpy(batch["train-labels"]))
    """
    if unknown:
        raise _no_such_setting_of_feed(*next(iter(unknown.items())))
    consumers = _integer("consumers", consumers, 1, "count this process, too")
    batch_size, seed = _integer("batch_size", batch_size, 1), _seed(shuffle)
    if isinstance(arrays, str):
        raise TypeError(_message("a feed has dicts of the arrays of a list", f"write arrays=[{arrays!r}]", arrays=repr(arrays)))
    _require_steps(dataset, arrays, transform)
    name = name or f"feed-{os.getpid()}-{os.urandom(4).hex()}"
    words = ["feed", name, dataset, "--arrays", ",".join(arrays), "--batch-size", batch_size,
             "--epochs", _epoch_range(epochs), "--consumers", consumers, "--on-slow", on_slow,
             "--timeout", f"{max(1, int(timeout * 1000))}ms", "--retries", _integer("retries", retries, 0),
             "--max-skipped", _integer("max_skipped", max_skipped, 0), "--until-eof"]
    if seed is not None:
        words += ["--shuffle", seed]
    if shard is not None:
        words += ["--shard", "{}/{}".format(*shard)]
    if drop_last:
        words.append("--drop-last")
    for array, steps in (transform or {}).items():
        words += ["--transform", f"{array}={steps if isinstance(steps, str) else ','.join(steps)}"]
    path = _trusted(_served(store))
    return Feed(path, name, timeout, copy, _FeedProcess(_command_line(words, path)))


def _require_steps(dataset, arrays, transform):
    """Refuse a transform without steps by name. Functions of Python cannot run in the feed."""
    if transform is None:
        return
    steps = transform.values() if isinstance(transform, Mapping) else [transform]
    if any(callable(step) for some in steps for step in (some if isinstance(some, (list, tuple)) else [some])):
        raise TypeError(_message("a feed runs in another process, so it has no functions of this one", f"larder.Loader({dataset!r}, {[*arrays]}, "
                                 "batch_size=..., transform=...) runs them on each batch", transform=transform))
    if not isinstance(transform, Mapping):
        raise TypeError(_message("transform has steps by the names of arrays", "write transform={'image': 'decode,toFloat'}",
                                 transform=transform))


def _no_such_setting_of_feed(name, value):
    if name in _OF_LOADER:
        remedy = f"larder.Loader has {name}="
    else:
        remedy = "use batch_size=" if name == "batch" else _near(name, [*feed.__kwdefaults__])
    return TypeError(_message("a feed has no such setting", remedy, **{name: repr(value)}))


def _epoch_range(epochs):
    if epochs is None:
        return "0.."
    wanted = epochs if isinstance(epochs, range) else range(epochs)
    if not wanted or wanted.step != 1:
        raise ValueError(f"epochs is a number of epochs, a range of them in steps of 1, or None: epochs={epochs}")
    return f"{wanted.start}..{wanted.stop - 1}"


class Feed(Batches):
    """An iterator over the batches of a feed that this process has started: see `feed`. Other processes attach to `name`."""

    def __init__(self, store, name, timeout, copy, process):
        self._process = process
        self._end = weakref.finalize(self, process.end)  # at the end of the interpreter, too
        try:
            process.await_name()
            super().__init__(store, name, timeout, copy, False, process.require_running)
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> Feed:
        return self

    def __next__(self) -> Batch:
        try:
            return super().__next__()
        except LarderError as e:
            ring = self._ring
            if ring is not None and (ring.state() == _FAILED or ring.is_producer_dead()):
                self._process.raise_error(e)
            raise

    def close(self) -> None:
        """Release the seat and end the feed. Idempotent."""
        super().close()
        self._end()


class _FeedProcess:
    """The command that publishes. It ends when its standard input does, which only this process has open."""

    alive = weakref.WeakSet()

    def __init__(self, words):
        import subprocess
        import tempfile

        self.pid = os.getpid()
        self.is_late = subprocess.TimeoutExpired
        self.errors = tempfile.TemporaryFile()
        try:
            # In its own session it does not receive the terminal's Ctrl-C: this process ends it.
            self.command = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                            start_new_session=True)
        except BaseException:
            self.errors.close()
            raise
        self.alive.add(self)

    def await_name(self):
        """Wait until the feed has its name. A ring with that name before belongs to another producer."""
        if not self.command.stdout.readline():
            self.raise_error(None)

    def require_running(self):
        if self.command.poll() is not None:
            self.raise_error(None)
            raise RequestFailed(_message("the feed ended before this process had a seat", "start it again", pid=self.command.pid))

    def raise_error(self, cause):
        """Raise the error of the feed, which has ended or is about to."""
        try:
            code = self.command.wait(_FEED_ENDS)
        except self.is_late:
            return
        self.errors.seek(0)
        said = self.errors.read().decode("utf-8", "replace")
        try:
            if code < 0:
                failure = RequestFailed(_message(f"the feed was killed by {signal.Signals(-code).name}", "start it again; if no person "
                                                 "killed it, memory may have run out", pid=self.command.pid))
                failure.code = 128 - code
                raise failure
            _require_success(code, said)
        except LarderError as e:
            raise e from cause

    def end(self):
        if os.getpid() != self.pid:
            return  # the process of a forked child, whose parent continues
        self.alive.discard(self)
        self.command.stdin.close()
        try:
            self.command.wait(_FEED_ENDS)
        except self.is_late:
            self.command.kill()
            self.command.wait()
        self._warn_of_skipped()
        self.command.stdout.close()
        self.errors.close()

    def _warn_of_skipped(self):
        _, found, rest = self.command.stdout.read().decode("utf-8", "replace").rpartition(" skipped=")  # in the summary
        if found:
            import warnings

            self.errors.seek(0)
            lines = self.errors.read().decode("utf-8", "replace").splitlines()
            first = next((line for line in lines if _LEFT_OUT in line), "").partition(_LEFT_OUT)[2]
            warnings.warn(_message("the feed left out samples", "check them", skipped=rest.split()[0], first=first), stacklevel=2)


def _close_inherited_feeds():
    """Close the feed's input in a forked child. Otherwise the feed would last until the last child ends."""
    for process in list(_FeedProcess.alive):
        process.command.stdin.close()


os.register_at_fork(after_in_child=_close_inherited_feeds)
