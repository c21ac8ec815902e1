"""Samplers: the rows of an epoch and their order. Those of Java have the same rows for the same seed."""

from __future__ import annotations

import copy
import functools
import operator
from typing import Any

import numpy as np

from ._columns import _picked
from ._errors import LarderError, _message, _note
from ._order import _integer, _shuffled

_HALF, _LOWER = np.uint64(32), np.uint64(0xffffffff)
_MULTIPLIERS, _WEYL = (np.uint64(0xd2511f53), np.uint64(0xcd9e8d57)), (0x9e3779b9, 0xbb67ae85)
_PHILOX_ROUNDS, _EPOCH_SPREAD, _DRAWN_TOGETHER = 10, 0x9e3779b97f4a7c15, 1 << 14
_DRAW_PERMUTED, _DRAW_WEIGHTED, _DRAW_WEIGHTED_ONCE, _DRAW_TIME, _DRAW_CLASS = -2, -4, -6, -8, -10  # Java's Draws
_FEWEST_ROUNDS, _MOST_ROUNDS, _FEWER_ROUNDS_A_BIT = 8, 48, 4
_MIX, _MIXED_BITS = np.uint64(0xd6e8feb86659fd93), 63
_CASTAGNOLI = 0x82f63b78
_LOG = (0, *map(float.fromhex, ("0x1.5555555555593p-1", "0x1.999999997fa04p-2", "0x1.2492494229359p-2", "0x1.c71c51d8e78afp-3",
                               "0x1.7466496cb03dep-3", "0x1.39a09d078c69fp-3", "0x1.2f112df3e5244p-3")))
_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")


class Sampler:
    """The rows of an epoch and their order, for ``larder.Loader(sampler=...)``: a function of the seed and the epoch.

    Java's ``Sampler`` has the same functions, and the same rows for the same seed, so a state resumes in both languages. A sampler pickles.

    >>> labels = larder.open("mnist/train-labels")
    >>> larder.Loader("mnist", ["train-images", "train-labels"], batch_size=256, sampler=larder.Sampler.stratified(labels, seed=42))
    """

    def __init__(self, description, draw, count=None, over=None, is_pure=True):
        self.description, self._draw, self._count, self._parts, self._is_pure = description, draw, count, over, is_pure

    @staticmethod
    def sequential() -> Sampler:
        """Visit the rows in their stored order: a loader without `shuffle`."""
        return Sampler("sequential", None)

    @staticmethod
    def random(seed: int) -> Sampler:
        """Visit every row once, in the order of PyTorch's ``randperm``: a loader with ``shuffle=seed``."""
        seed = _integer("seed", seed)
        return Sampler(f"random(seed={seed})", functools.partial(_random_order, seed))

    @staticmethod
    def permuted(seed: int) -> Sampler:
        """Visit every row once, in the pseudo-random order that Java computes row by row, without memory for it. Here it takes as much as `random`."""
        seed = _integer("seed", seed)
        return Sampler(f"permuted(seed={seed})", functools.partial(_permuted_order, seed))

    @staticmethod
    def weighted(weights: Any, samples: int, seed: int) -> Sampler:
        """Draw `samples` rows with replacement, in proportion to `weights`, one for each row.

        ``torch.utils.data.WeightedRandomSampler`` has the same probabilities and other draws. Takes about a microsecond for each row.
        """
        weights, samples, seed = np.array(weights, np.float64), _integer("samples", samples, 0), _integer("seed", seed)
        table = _alias_table(_checked_weights(weights, 1))
        return Sampler(f"weighted(weights({_numbers_shown(weights, '>f8')}) samples={samples} seed={seed})", functools.partial(_weighted_order, table, samples, seed),
                       samples, functools.partial(_made_over, Sampler.weighted, "weights", weights, (samples, seed)))

    @staticmethod
    def weighted_without_replacement(weights: Any, samples: int, seed: int) -> Sampler:
        """Draw `samples` different rows, each in proportion to its weight among the rows that are left. At least `samples` weights are above 0.

        ``torch.utils.data.WeightedRandomSampler(..., replacement=False)`` has the same probabilities and other draws.
        """
        weights, samples, seed = np.array(weights, np.float64), _integer("samples", samples, 0), _integer("seed", seed)
        _checked_weights(weights, samples)
        return Sampler(f"weightedWithoutReplacement(weights({_numbers_shown(weights, '>f8')}) samples={samples} seed={seed})",
                       functools.partial(_weighted_once_order, weights, samples, seed), samples,
                       functools.partial(_made_over, Sampler.weighted_without_replacement, "weights", weights, (samples, seed)))

    @staticmethod
    def stratified(labels: Any, seed: int) -> Sampler:
        """Visit every row once, so that any beginning of an epoch has the classes in nearly the same proportions as the whole.

        `labels` has an integer for each row: its class, or a group of rows.
        """
        labels, seed = np.array(labels), _integer("seed", seed)
        if labels.ndim != 1 or labels.dtype.kind not in "iub":
            raise ValueError(_message("labels are not integers", "give a one-dimensional array of integers, one for each row",
                                      dtype=labels.dtype, shape=labels.shape))
        labels = labels.astype(np.int64)
        members = np.argsort(labels, kind="stable")
        sizes = np.unique(labels, return_counts=True)[1]
        return Sampler(f"stratified(labels({_numbers_shown(labels, '>i8')}) seed={seed})", functools.partial(_stratified_order, members, sizes, seed), None,
                       functools.partial(_made_over, Sampler.stratified, "labels", labels, (seed,)))

    def over(self, rows: Any) -> Sampler:
        """Return a sampler for some rows only, given as integers, a range or a mask. Weights and labels are still given for all rows."""
        text = f"range(first={rows.start} count={len(rows)})" if isinstance(rows, range) and rows.step == 1 and rows.start >= 0 else None
        rows = np.asarray(rows)
        masked = len(rows) if rows.ndim == 1 and rows.dtype == bool else None
        rows = rows if masked is None else np.flatnonzero(rows)
        if rows.ndim != 1 or rows.size and (rows.dtype.kind not in "iu" or rows.min() < 0 or int(rows.max()) > np.iinfo(np.intp).max):
            raise ValueError(_message("rows of a sampler are integers from 0 on", "give a list of rows, or a mask", rows=repr(rows)))
        rows = rows.astype(np.intp)
        inner = self if self._parts is None else self._parts(rows)

        text = text or f"rows(count={len(rows)} crc32c={_numbers_crc(rows, '>i8')})"
        return Sampler(f"{inner.description} over {text}", functools.partial(_order_over, inner, rows, masked),
                       len(rows) if inner._count is None else inner._count, None, inner._is_pure)

    def _order(self, rows, epoch):
        """Return the rows of an epoch as an array; None for the stored order."""
        return None if self._draw is None else self._draw(rows, epoch)

    def _samples(self, rows):
        """Return the number of samples of an epoch."""
        return rows if self._count is None else self._count

    def __repr__(self):
        return f"<larder.Sampler {self.description}>"


def _sampler_of(given, seed, rows, world, **owner):
    """Return the sampler for the settings ``sampler`` and ``shuffle`` of a loader."""
    if isinstance(given, Sampler):
        if seed is not None:
            raise ValueError(_message("a sampler has a seed of its own", "leave shuffle out", **owner, sampler=given.description, shuffle=seed))
        return given
    plain = Sampler.sequential() if seed is None else Sampler.random(seed)
    if given is None:
        return plain
    if hasattr(given, "batch_size") or not hasattr(given, "__iter__"):
        raise TypeError(_message("not a sampler of rows", _OF_BATCHES if hasattr(given, "batch_size") else "give a list of rows, a larder.Sampler, or a "
                                 "sampler of torch", **owner, sampler=type(given).__name__))
    if not hasattr(given, "__getitem__"):
        if world > 1 and hasattr(given, "num_replicas"):
            raise ValueError(_message("the sampler has other rows for each rank", "leave shard out", **owner, sampler=type(given).__name__, world=world))
        if seed is None and world > 1 and getattr(given, "generator", 0) is None:
            raise ValueError(_message("each rank would draw other rows", "give the sampler a seed: shuffle=42", **owner, sampler=type(given).__name__, world=world))
        return _iterated(given, seed, owner)
    picked = _picked(given, rows, **owner)
    if np.ndim(picked) != 1:
        raise TypeError(_message("a sampler yields one row after the other", _OF_BATCHES, **owner, shape=np.shape(picked)))
    return plain.over(given if isinstance(given, range) else picked)


_OF_BATCHES = "batches of one's own are for a DataLoader: DataLoader(larder.torch.Rows(...), batch_sampler=...)"


def _iterated(sampler, seed, owner):
    """Return the sampler for an iterable of rows, such as those of torch, which a seed makes a function of the epoch."""
    name = type(sampler).__name__
    try:
        count = len(sampler)
    except TypeError:
        raise TypeError(_message("a sampler has no length", "give it __len__, or give a list of rows", **owner, sampler=name)) from None
    if seed is not None and not hasattr(sampler, "generator"):
        raise ValueError(_message("the sampler has no generator for the seed", "leave shuffle out", **owner, sampler=name, shuffle=seed))

    return Sampler(f"{name}(samples={count}" + ("" if seed is None else f" seed={seed}") + ")", functools.partial(_iterated_order, sampler, seed, owner, count),
                   count, None, is_pure=False)


# Orders. They are bound to their settings as partials, which pickle.


def _random_order(seed, rows, epoch):
    return _shuffled(rows, seed + epoch)


def _permuted_order(seed, rows, epoch):
    return _permuted(rows, seed, epoch, np.zeros(1, np.intp), _DRAW_PERMUTED)[0]


def _weighted_order(table, samples, seed, rows, epoch):
    kept, aliases = table
    _require_one_each("weights", len(kept), rows)
    bits = _philox(seed, epoch, np.arange(samples), _DRAW_WEIGHTED)
    places = _upper(bits, len(kept)).astype(np.intp)
    return np.where(_unit(bits * np.uint64(len(kept))) < kept[places], places, aliases[places])


def _weighted_once_order(weights, samples, seed, rows, epoch):
    """Return the rows with the smallest exponential random times, after Efraimidis and Spirakis."""
    _require_one_each("weights", len(weights), rows)
    times, scaled = np.full(rows, np.nan), weights / (weights.max(initial=0) or 1)  # NaN comes last
    drawn = np.flatnonzero(scaled)
    with np.errstate(over="ignore"):  # a very small weight may have an infinite time
        times[drawn] = -_log(1 - _unit(_philox(seed, epoch, drawn, _DRAW_WEIGHTED_ONCE))) / scaled[drawn]
    return np.argsort(times, kind="stable")[:samples]


def _stratified_order(members, sizes, seed, rows, epoch):
    _require_one_each("labels", len(members), rows)
    starts = np.cumsum(sizes) - sizes
    times, visited = _unit(_philox(seed, epoch, np.arange(rows), _DRAW_TIME)), np.empty(rows, np.intp)
    for size in np.unique(sizes).tolist():  # classes of a size together, because there may be many
        its = np.flatnonzero(sizes == size)
        places = starts[its, None] + np.arange(size)
        visited[places] = members[starts[its, None] + _permuted(size, seed, epoch, its, _DRAW_CLASS)]
        times[places] = (np.arange(size) + times[places]) / size
    return visited[np.argsort(times, kind="stable")]


def _order_over(inner, chosen, masked, rows, epoch):
    if masked not in (None, rows):
        raise LarderError(_message("a mask has to have one element for each row", "or give a list of rows", rows=rows, mask=masked))
    if chosen.max(initial=-1) >= rows:
        raise LarderError(_message("a sampler has rows beyond the last one", "choose rows of this dataset", row=chosen.max(), rows=rows))
    places = inner._order(len(chosen), epoch)
    return chosen if places is None else chosen[places]


def _iterated_order(sampler, seed, owner, count, rows, epoch):
    seeded = sampler
    if seed is not None:
        import torch

        seeded = copy.copy(sampler)
        seeded.generator = torch.Generator().manual_seed(seed + epoch & 0xffffffff)
    elif hasattr(sampler, "set_epoch"):
        sampler.set_epoch(epoch)
    where = {**owner, "epoch": epoch, "sampler": type(sampler).__name__}
    try:
        drawn = list(seeded)
    except Exception as e:
        _note(e, "the sampler of a loader failed", **where)
        raise
    try:
        found = np.fromiter(map(operator.index, drawn), np.intp, len(drawn))
    except TypeError:
        raise TypeError(_message("a sampler yields one row after the other", _OF_BATCHES, **where)) from None
    wrong = np.flatnonzero((found < 0) | (found >= rows))
    if len(wrong):
        raise LarderError(_message("a sampler returned a row that does not exist", "", **where, position=wrong[0], row=found[wrong[0]], rows=rows))
    if len(found) != count:
        raise LarderError(_message("a sampler returned another number of rows than its length", "", **where, length=count, returned=len(found)))
    return found


def _made_over(make, what, values, settings, rows):
    """Return a sampler for some rows, of weights or labels for all rows."""
    if rows.max(initial=-1) >= len(values):
        raise LarderError(_message(f"a sampler has rows without {what}", "choose rows that have some", row=rows.max(), **{what: len(values)}))
    return make(values[rows], *settings)


# Draws.


def _require_one_each(what, count, rows):
    if count != rows:
        raise LarderError(_message(f"the dataset's rows differ in number from the {what}", "give one for each row", **{what: count}, rows=rows))


def _checked_weights(weights, needed):
    wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights))) if weights.ndim == 1 else ()
    if weights.ndim != 1 or len(wrong):
        values = {"row": wrong[0], "weight": weights[wrong[0]]} if len(wrong) else {"shape": weights.shape}
        raise ValueError(_message("weights are not finite numbers of at least 0, one for each row", "use the weight 0 for rows that must not be drawn", **values))
    positive = np.count_nonzero(weights)
    if positive < needed:
        raise ValueError(_message("too few rows can be drawn", "draw fewer samples, or give more rows a weight above 0", rows=len(weights),
                                  positiveWeights=positive, needed=needed))
    return weights


def _alias_table(weights):
    """Return Vose's table, as Java's ``AliasTable`` does: the share of a place for its own row, and the row that has the rest."""
    scaled = weights / weights.max()
    kept = (scaled / (_compensated_sum(scaled.tolist()) / len(scaled))).tolist()
    aliases, below, above = list(range(len(kept))), [], []
    for row, share in enumerate(kept):
        (below if share < 1 else above).append(row)
    while below and above:
        small, large = below.pop(), above[-1]
        aliases[small] = large
        kept[large] -= 1 - kept[small]
        if kept[large] < 1:
            below.append(above.pop())
    for row in below:  # by rounding
        kept[row] = 1.0
    return np.array(kept), np.array(aliases, np.intp)


def _compensated_sum(values):
    """Return the sum of numbers as Java's ``DoubleStream.sum`` rounds it."""
    total = rest = 0.0
    for value in values:
        value -= rest
        larger = total + value
        rest = larger - total - value
        total = larger
    return total - rest


def _philox(seed, epoch, positions, draw):
    """Return 64 random bits for each position, as Java's ``Philox.bits`` does for even draws."""
    key = (seed + (epoch >> 32) * _EPOCH_SPREAD) % 2**64
    high = (epoch << 32 | (draw & 0xffffffff) >> 1) % 2**64
    bits = np.empty(len(positions), np.uint64)
    for start in range(0, len(positions), _DRAWN_TOGETHER):
        some = positions[start:start + _DRAWN_TOGETHER].astype(np.uint64)
        words = [some & _LOWER, some >> _HALF, np.full(len(some), high & 0xffffffff, np.uint64), np.full(len(some), high >> 32, np.uint64)]
        keys = key & 0xffffffff, key >> 32
        for _ in range(_PHILOX_ROUNDS):
            first, second = _MULTIPLIERS[0] * words[0], _MULTIPLIERS[1] * words[2]
            words = [second >> _HALF ^ words[1] ^ np.uint64(keys[0]), second & _LOWER, first >> _HALF ^ words[3] ^ np.uint64(keys[1]), first & _LOWER]
            keys = keys[0] + _WEYL[0] & 0xffffffff, keys[1] + _WEYL[1] & 0xffffffff
        bits[start:start + len(some)] = words[1] << _HALF | words[0]
    return bits


def _unit(bits):
    """Return numbers of 0 to below 1."""
    return (bits >> np.uint64(11)) * 2.0**-53


def _upper(bits, bound):
    """Return the upper half of products with a bound below 2^32."""
    bound = np.uint64(bound)
    return (bits >> _HALF) * bound + ((bits & _LOWER) * bound >> _HALF) >> _HALF


def _permuted(length, seed, epoch, which, draw):
    """Return permutations of 0 to ``length - 1``, each as one of Java's ``Permutation``: a Feistel network over two unlike halves."""
    bits = (length - 1).bit_length() if length > 1 else 0
    low_bits, rounds = bits // 2, max(_FEWEST_ROUNDS, _MOST_ROUNDS - _FEWER_ROUNDS_A_BIT * bits)
    keys = _philox(seed, epoch, (which[:, None] * _MOST_ROUNDS + np.arange(rounds)).ravel(), draw).reshape(len(which), rounds)
    shift, low_shift, low_mask = np.uint64(low_bits), np.uint64(_MIXED_BITS - low_bits), np.uint64((1 << low_bits) - 1)
    bound = (length >> low_bits) + ((length & (1 << low_bits) - 1) != 0)
    numbers, left = np.empty(len(which) * length, np.intp), np.arange(len(which) * length)
    walked = (left % length).astype(np.uint64) if length else left
    while len(left):
        high, low = walked >> shift, walked & low_mask
        its_keys = keys[left // length].T if len(which) > 1 else keys.T
        for own, other in zip(its_keys[::2], its_keys[1::2]):
            high += _upper(_mixed(low ^ own), bound << 1)
            high -= np.where(high >= bound, np.uint64(bound), np.uint64(0))
            low ^= _mixed(high ^ other) >> low_shift
        walked = high << shift | low
        numbers[left] = walked
        beyond = np.flatnonzero(walked >= length)  # they walk on until they are inside
        left, walked = left[beyond], walked[beyond]
    return numbers.reshape(len(which), length)


def _mixed(numbers):
    """Return 63 bits. The upper ones depend on all bits of a number."""
    product = numbers * _MIX
    return (product ^ product >> _HALF) * _MIX >> np.uint64(1)


def _log(numbers):
    """Return natural logarithms of normal numbers, as Java's ``StrictMath.log`` rounds them: fdlibm's ``e_log.c``, which has the reasons.

    numpy's own differ in the last bit between releases and processors, and other logarithms are another order.
    """
    fractions, exponents = np.frexp(numbers)
    high = ((fractions * 2 - 1) * 2.0**20).astype(np.intp)  # the upper bits of the fraction decide
    is_small = high < 0x6a09c
    f, powers = np.where(is_small, fractions * 2, fractions) - 1, (exponents - is_small).astype(np.float64)
    s = f / (2 + f)
    z = s * s
    w = z * z
    rest = z * (_LOG[1] + w * (_LOG[3] + w * (_LOG[5] + w * _LOG[7]))) + w * (_LOG[2] + w * (_LOG[4] + w * _LOG[6]))
    half, lower = 0.5 * f * f, powers * _LN2_LOW
    taken = np.where((high >= 0x6147a) & (high <= 0x6b851), half - (s * (half + rest) + lower), s * (f - rest) - lower)
    near = f * f * (0.5 - 0.33333333333333333 * f) - lower
    return powers * _LN2_HIGH - (np.where((high == 0) | (high >= 0xffffe), near, taken) - f)


def _numbers_shown(numbers, form):
    return f"rows={len(numbers)} crc32c={_numbers_crc(numbers, form)}"


def _numbers_crc(numbers, form):
    """Return the CRC32C of numbers of eight bytes, in the form of Java's descriptions."""
    return f"{_crc32c(numbers.astype(form).view(np.uint8)):08x}"


def _crc32c(data):
    """Return the CRC32C of an array of bytes. Parts of it are computed side by side, and joined two by two."""
    table, parts = _crc_table(), 1 << max(0, len(data).bit_length() - 1) // 2
    length = len(data) // parts
    sums = np.zeros(parts, np.uint32)
    sums[0] = 0xffffffff
    zeros = np.uint32(1) << np.arange(32, dtype=np.uint32)  # each bit of a sum after as many zeros
    for column in data[:parts * length].reshape(parts, length).T:
        sums, zeros = _crc_step(table, sums, column), _crc_step(table, zeros, 0)
    while len(sums) > 1:
        sums, zeros = _crc_moved(zeros, sums[::2]) ^ sums[1::2], _crc_moved(zeros, zeros)
    for byte in data[parts * length:]:
        sums = _crc_step(table, sums, byte)
    return int(sums[0]) ^ 0xffffffff


def _crc_step(table, sums, byte):
    return sums >> np.uint32(8) ^ table[(sums ^ byte) & 0xff]


def _crc_moved(zeros, sums):
    bits = sums[:, None] >> np.arange(32, dtype=np.uint32) & 1
    return np.bitwise_xor.reduce(np.where(bits, zeros, np.uint32(0)), axis=1)


@functools.lru_cache(maxsize=None)
def _crc_table():
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(_CASTAGNOLI), table >> 1)
    return table
