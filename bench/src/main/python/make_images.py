#!/usr/bin/env python3
"""Writes JPEG files of ImageNet's usual sizes: three quarters synthetic scenes of filtered noise, one quarter enlarged Fashion-MNIST.

usage: make_images.py FOLDER FASHION-MNIST COUNT [SEED]    prints the seed and the mean size
"""
import gzip
import os
import sys

import numpy as np
from PIL import Image

SIZES = [(500, 375), (375, 500), (500, 333), (500, 375)]  # width × height
NOISE = [(4, 60), (12, 45), (40, 35), (120, 24)]  # grains across 500 pixels, and how strong they are
QUALITY = 93


def scene(random, width, height):
    image = np.full((height, width, 3), 120.0)
    for grains, strength in NOISE:
        size = (max(2, height * grains // 500 + 2), max(2, width * grains // 500 + 2), 3)
        noise = random.normal(0, 1, size).astype("f4")
        planes = [Image.fromarray(noise[..., i]).resize((width, height), Image.BICUBIC) for i in range(3)]
        image += strength * np.stack([np.asarray(plane) for plane in planes], -1)
    return image + random.normal(0, 10, (height, width, 1))  # grain, as a sensor has it


def garment(random, picture, width, height):
    image = np.asarray(Image.fromarray(picture).resize((width, height), Image.BICUBIC)).astype("f4")
    return image[..., None] * random.uniform(0.5, 1, 3) + random.normal(0, 12, (height, width, 1))


def main():
    folder, source, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    random = np.random.default_rng(seed)
    with gzip.open(os.path.join(source, "t10k-images-idx3-ubyte.gz")) as file:
        pictures = np.frombuffer(file.read(), "u1", offset=16).reshape(-1, 28, 28)
    os.makedirs(folder)
    total = 0
    for i in range(count):
        width, height = SIZES[i % len(SIZES)]
        image = garment(random, pictures[i], width, height) if i % 4 == 3 else scene(random, width, height)
        path = os.path.join(folder, f"{i:05}.jpg")
        Image.fromarray(np.clip(image, 0, 255).astype("u1")).save(path, quality=QUALITY)
        total += os.path.getsize(path)
    print(f"{count} images, seed {seed}, {total // count} bytes on average")


main()
