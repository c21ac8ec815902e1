#!/usr/bin/env python3
"""Writes ../resources/golden/shard-vectors.txt: which samples of an epoch each rank visits.

The rules are those that PyTorch publishes for torch.utils.data.distributed.DistributedSampler (shuffle=False: an order is
a step of its own here), spelled out in plain Python. torch itself is not needed.

A line is "N W drop_last" and, after a bar each, what rank 0, 1, ... visits: small ones in full, large ones as
"count first last sum weighted", where weighted is the sum of (place + 1) * sample modulo 2^61 - 1.
"""

import math
from pathlib import Path

SMALL = [(n, w) for n in range(31) for w in (1, 2, 3, 4, 5, 6, 7, 8, 11, 32)]
LARGE = [(n, w) for n in (997, 1000, 4096, 60000) for w in (1, 2, 3, 4, 5, 6, 7, 8)] + [(7, 1000), (1000, 1001)]
MODULUS = 2**61 - 1


def visited(n, world, rank, drop_last):
    """What list(DistributedSampler(range(n), world, rank, shuffle=False, drop_last=drop_last)) has."""
    if drop_last and n % world:
        each = math.ceil((n - world) / world)
    else:
        each = math.ceil(n / world)
    total = each * world
    samples = list(range(n))
    if drop_last:
        samples = samples[:total]
    else:
        missing = total - n
        repeated = samples if missing <= n else samples * math.ceil(missing / n)
        samples += repeated[:missing]
    assert len(samples) == total
    mine = samples[rank:total:world]
    assert len(mine) == each
    return mine


def summary(samples):
    weighted = sum((place + 1) * sample for place, sample in enumerate(samples)) % MODULUS
    ends = [samples[0], samples[-1]] if samples else [-1, -1]
    return [len(samples), *ends, sum(samples), weighted]


def line(n, world, drop_last, spell):
    ranks = [spell(visited(n, world, rank, drop_last)) for rank in range(world)]
    return f"{n} {world} {drop_last}".lower() + "".join("|" + " ".join(map(str, rank)) for rank in ranks)


def main():
    lines = [line(n, world, drop, list) for n, world in SMALL for drop in (False, True)]
    lines.append("")
    lines += [line(n, world, drop, summary) for n, world in LARGE for drop in (False, True)]
    target = Path(__file__).parent.parent / "resources" / "golden" / "shard-vectors.txt"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
