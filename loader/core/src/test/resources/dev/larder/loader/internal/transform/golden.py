"""Writes golden.tsv: what numpy makes of samples, for TransformGoldenTest. Random numbers come from a Philox written here anew;
`step` counts the random steps of a transform from 0.

python3 golden.py > golden.tsv
"""
import numpy as np

SEED, EPOCH = 7, 3


def philox(counter, key):
    """Philox4x32-10 of Salmon et al., four words in, four words out."""
    key = list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(p1 >> 32) ^ counter[1] ^ key[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ counter[3] ^ key[1], p0 & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def bits(position, step):
    words = philox([position & 0xFFFFFFFF, position >> 32, step >> 1, EPOCH], [SEED, 0])
    return words[2] | words[3] << 32 if step & 1 else words[0] | words[1] << 32


def crop_parameters(position, step, shape, height, width, padding):
    drawn = bits(position, step)
    rows, columns = shape[0] + 2 * padding - height + 1, shape[1] + 2 * padding - width + 1
    return ((drawn >> 32) * rows) >> 32, ((drawn & 0xFFFFFFFF) * columns) >> 32


def random_crop(x, position, step, height, width, padding):
    y, left = crop_parameters(position, step, x.shape, height, width, padding)
    around = [(padding, padding), (padding, padding)] + [(0, 0)] * (x.ndim - 2)
    return np.pad(x, around)[y:y + height, left:left + width]


def random_flip(x, position, step, probability):
    drawn = np.float32(bits(position, step) >> 40) * np.float32(2.0 ** -24)
    return x[:, ::-1] if drawn < np.float32(probability) else x


def center_crop(x, height, width):
    y, left = (x.shape[0] - height) // 2, (x.shape[1] - width) // 2
    return x[y:y + height, left:left + width]


def to_float(x):
    return x.astype("<f4") / np.float32(255) if x.dtype == np.uint8 else x.astype("<f4")


def normalize(x, means, deviations):
    inverse = np.float32(1) / np.asarray(deviations, "<f4")
    return (x.astype("<f4") - np.asarray(means, "<f4")) * inverse


def scale(x, factor, offset):
    return x.astype("<f4") * np.float32(factor) + np.float32(offset)


def one_hot(x, classes):
    return np.eye(classes, dtype="<f4")[x]


def to_bfloat16(x):
    words = x.astype("<f4").view("<u4")
    rounded = (words + 0x7FFF + ((words >> 16) & 1)) >> 16
    return np.where(np.isnan(x), words >> 16 | 0x40, rounded).astype("<u2")


def row(name, stored, result, position=0):
    shape = lambda a: ",".join(map(str, a.shape))
    print(name, position, stored.dtype.str, shape(stored), stored.tobytes().hex(), result.dtype.str, shape(result),
          np.ascontiguousarray(result).tobytes().hex(), sep="\t")


def casts(random):
    types = ["|b1", "|i1", "|u1", "<i2", ">u2", "<i4", ">u4", "<i8", "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]
    for source in types:
        values = np.array([0, 1, 2, 3, 127, 77, 90, 11])  # in range of every type: what is not, numpy leaves to the machine
        if source[1] == "f":
            values = np.array([0, 0.25, 1.5, 2.999, 126.9, 0.1, 77.7, 1 / 3])
        elif source[1] in "iu":
            values = random.integers(np.iinfo(source).min, np.iinfo(source).max, 8, source[1:], endpoint=True)
        for target in types:
            row("cast " + target, values.astype(source), values.astype(source).astype(target))
    edges = np.array([65519.99, 65520, 6e-8, 2.9e-8, 2.98023223876953125e-8, 1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11, 5.97e-5, -1e9, np.inf])
    with np.errstate(over="ignore"):
        for source in ["<f4", "<f8"]:
            row("cast <f2", edges.astype(source), edges.astype(source).astype("<f2"))


def pictures(random):
    grey = random.integers(0, 256, (6, 5), np.uint8)
    colour = random.integers(0, 256, (5, 6, 3), np.uint8)
    real = random.normal(size=(5, 6, 3)).astype(">f4")
    m, d = [0.49, 0.48, 0.44], [0.2, 0.21, 0.22]
    row("flip", grey, grey[:, ::-1])
    row("flip", real, real[:, ::-1])
    row("centerCrop", colour, center_crop(colour, 4, 3))
    row("channelsFirst", colour, colour.transpose(2, 0, 1))
    row("channelsFirst", grey, grey[None])
    row("toFloat", grey, to_float(grey))
    row("normalize", grey, normalize(to_float(grey), 0.286, 0.353))
    row("normalize3", colour, normalize(to_float(colour), m, d))
    row("normalize3", real, normalize(to_float(real), m, d))
    row("scale", colour, scale(colour, 1 / 127.5, -1))
    for position in range(6):
        cropped = random_flip(random_crop(colour, position, 0, 5, 6, 4), position, 1, 0.5)
        row("augment", colour, normalize(to_float(cropped), m, d).transpose(2, 0, 1), position)
        cropped = random_flip(random_crop(grey, position, 0, 6, 5, 4), position, 1, 0.5)
        row("augmentGrey", grey, normalize(to_float(cropped), 0.286, 0.353), position)
        late = random_crop(normalize(to_float(colour), m, d), position, 0, 4, 4, 2)
        row("late", colour, late, position)


def bfloats(random):
    edges = np.array([0, -0.0, 1, 1 + 2.0 ** -8, 1 + 3 * 2.0 ** -8, 1 + 2.0 ** -8 + 2.0 ** -20, -3.14, 1e-40, -1e-45,
                      3.3895313892515355e38, 3.39e38, 3.4028234e38, -np.inf, np.nan], "<f4")
    real = random.normal(size=(3, 4)).astype("<f4")
    grey = random.integers(0, 256, (4, 5), np.uint8)
    words = random.integers(0, 1 << 16, 12, np.uint16)
    row("toBfloat16", edges, to_bfloat16(edges))
    row("toBfloat16", real.astype(">f8"), to_bfloat16(real))
    row("toFloatToBfloat16", grey, to_bfloat16(to_float(grey)))
    row("fromBfloat16", words, (words.astype("<u4") << 16).view("<f4"))
    row("fromBfloat16", words.astype(">u2"), (words.astype("<u4") << 16).view("<f4"))


def main():
    random = np.random.default_rng(1)
    casts(random)
    pictures(random)
    row("oneHot", np.array(3, "<i8"), one_hot(np.array(3), 5))
    row("oneHot", np.array([4, 0, 1], ">u2"), one_hot(np.array([4, 0, 1]), 5))
    bfloats(random)


main()
