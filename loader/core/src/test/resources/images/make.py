"""Makes the images of this folder, and beside each what Pillow makes of it: python3 make.py, with Pillow and numpy (seed 20)."""

import io
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image, ImageEnhance

HERE = pathlib.Path(__file__).parent
SIZES = [(13, 17), (100, 90), (40, 24), (5, 70)]  # height × width
FILTERS = {"box": Image.BOX, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}


def scene(width, height, seed=20):
    """Returns smooth colours with an edge and some noise."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (5, 6, 3)).astype("u1")
    image = np.asarray(Image.fromarray(coarse).resize((width, height), Image.BICUBIC)).astype(int)
    image[:, width // 3 : width // 3 + 4] = (250, 20, 30)
    return np.clip(image + random.normal(0, 6, image.shape), 0, 255).astype("u1")


def golden(name, image):
    (HERE / name).write_bytes(np.asarray(image).tobytes())


def main():
    photo = Image.fromarray(scene(64, 48))
    photo.save(HERE / "photo.png")
    photo.save(HERE / "photo.jpg", quality=85)
    photo.save(HERE / "progressive.jpg", quality=85, progressive=True)
    photo.convert("L").save(HERE / "grey.jpg", quality=85)
    photo.convert("CMYK").save(HERE / "cmyk.jpg", quality=90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    photo.save(HERE / "turned.jpg", quality=85, exif=exif)
    photo.crop((0, 0, 1, 1)).save(HERE / "one.jpg")
    Image.fromarray(scene(320, 240)).save(HERE / "large.jpg", quality=85)
    photo.quantize(16).save(HERE / "palette.png")
    Image.fromarray(scene(64, 48)[..., 1]).save(HERE / "grey.png")
    Image.fromarray(np.dstack([scene(64, 48), scene(64, 48, 21)[..., :1]])).save(HERE / "alpha.png")
    wide = (scene(64, 48)[..., 0].astype("u2") * 256 + 77).astype(">u2")
    (HERE / "grey16.png").write_bytes(png(wide.tobytes(), 64, 48, 16, 0))
    (HERE / "grey16.png.rgb").write_bytes(np.repeat((wide >> 8).astype("u1")[..., None], 3, 2).tobytes())

    jpeg = (HERE / "photo.jpg").read_bytes()
    (HERE / "truncated.jpg").write_bytes(jpeg[: len(jpeg) // 2])
    frame = jpeg.index(b"\xff\xc0")  # height and width stand behind its length and precision
    (HERE / "liar.jpg").write_bytes(jpeg[: frame + 5] + struct.pack(">HH", 60000, 60000) + jpeg[frame + 9 :])
    (HERE / "bomb.png").write_bytes(png(b"", 100000, 100000, 8, 2))
    (HERE / "none.jpg").write_bytes(b"GIF? PNG? No: this is a text.")

    for name in ["photo.jpg", "progressive.jpg", "grey.jpg", "cmyk.jpg", "turned.jpg", "one.jpg", "palette.png", "grey.png", "alpha.png"]:
        image = Image.open(HERE / name)
        if image.mode == "RGBA":
            image = Image.fromarray(np.asarray(image)[..., :3])
        golden(name + ".rgb", image.convert("RGB"))
    grey = Image.open(HERE / "photo.jpg")
    grey.draft("L", None)
    golden("photo.jpg.grey", grey.convert("L"))
    golden("photo.png.grey", photo.convert("L"))
    for height, width in SIZES:
        for name, kind in FILTERS.items():
            golden(f"photo.png.{height}x{width}.{name}", photo.resize((width, height), kind))
    golden("photo.png.grey.13x17.bilinear", photo.convert("L").resize((17, 13), Image.BILINEAR))
    large = Image.open(HERE / "large.jpg")  # shrinks to half or less, which decoders can do by themselves, but not to the same bytes
    golden("large.jpg.120x160.bilinear", large.resize((160, 120), Image.BILINEAR))
    golden("large.jpg.28x36.bicubic", large.resize((36, 28), Image.BICUBIC))
    golden("photo.png.cut", photo.crop((5, 3, 41, 40)).resize((16, 20), Image.BILINEAR))  # rows 3 to 39, columns 5 to 40
    golden("photo.png.brightness", ImageEnhance.Brightness(photo).enhance(1.25))
    golden("photo.png.contrast", ImageEnhance.Contrast(photo).enhance(0.75))
    golden("photo.png.saturation", ImageEnhance.Color(photo).enhance(1.5))
    hue, saturation, value = photo.convert("HSV").split()
    hue = Image.fromarray((np.asarray(hue) + 25).astype("u1"))
    golden("photo.png.hue", Image.merge("HSV", (hue, saturation, value)).convert("RGB"))


def png(rows, width, height, depth, colours):
    """Returns a PNG of raw rows, whatever Pillow thinks of it."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    stride = len(rows) // height
    lines = io.BytesIO()
    for i in range(height if rows else 0):
        lines.write(b"\0" + rows[i * stride : (i + 1) * stride])
    header = struct.pack(">IIBBBBB", width, height, depth, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines.getvalue())) + chunk(b"IEND", b"")


main()
