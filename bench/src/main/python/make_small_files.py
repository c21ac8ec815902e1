#!/usr/bin/env python3
"""Writes what trainers on scenes have: SCENE_KEY.npy, 1,513 scenes with 6 keys, at most 1 KB of data each.

usage: make_small_files.py FOLDER [SCENES]
"""
import os
import sys

import numpy as np

KEYS = {
    "feat": ("<f4", (5, 50)),
    "label": ("<i8", (20,)),
    "obj_box": ("<f4", (12, 6)),
    "obj_feat": ("<f4", (8, 16)),
    "pose": ("<f8", (4, 4)),
    "rgb_mean": ("|u1", (16, 16, 3)),
}
RAGGED = ("label", "obj_box")
SEED = 42


def main():
    folder = sys.argv[1]
    scenes = int(sys.argv[2]) if len(sys.argv) > 2 else 1513
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(SEED)
    for scene in range(scenes):
        for key, (dtype, shape) in KEYS.items():
            array = (rng.random(shape) * 100).astype(dtype)
            if key in RAGGED:
                array = array[: rng.integers(1, shape[0] + 1)]
            np.save(os.path.join(folder, f"scene{scene // 10:04d}_{scene % 10:02d}_{key}.npy"), array)


if __name__ == "__main__":
    main()
