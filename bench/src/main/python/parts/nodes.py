"""Sums over two nodes, next to Gloo over all ranks: the rows as they are."""
import os


def tables(folder, pace):
    with open(os.path.join(folder, "nodes.jsonl"), encoding="utf-8") as file:
        yield file.read().rstrip("\n")
