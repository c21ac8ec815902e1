#!/usr/bin/env python3
"""Writes a folder of small .npy files, each with its own number.

usage: make_many_arrays.py FOLDER COUNT
"""
import io
import os
import sys

import numpy

ELEMENTS = 64


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder)
    image = io.BytesIO()
    numpy.save(image, numpy.zeros(ELEMENTS, numpy.int64))
    header = image.getvalue()[: -ELEMENTS * 8]
    for number in range(count):
        with open(os.path.join(folder, f"array-{number:06d}.npy"), "wb", buffering=0) as file:
            file.write(header + numpy.full(ELEMENTS, number, numpy.int64).tobytes())


if __name__ == "__main__":
    main()
