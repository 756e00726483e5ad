"""What editors do to pictures besides the edit: the ways and strengths in which reading is tested.

A perturbation takes a picture and a strength from 0 (none) to 1 (the strongest stated) and is a pure function of both
and of its stream. `MODERATE` names strengths at which reading must be exact; at full strength it may abstain, not err.
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Callable

import cv2
import numpy as np
from PIL import Image, ImageEnhance, ImageFilter

from gamegen.core.stream import Stream

Perturbation = Callable[[Image.Image, float, Stream], Image.Image]


def jpeg(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """JPEG from quality 95 down to 30."""
    return _through(image, "JPEG", quality=round(95 - 65 * strength))


def webp(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Lossy WebP from quality 95 down to 40."""
    return _through(image, "WEBP", quality=round(95 - 55 * strength))


def resize(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Another size, from half to double; each side a little differently from strength one half on."""
    factor = 2.0 ** (strength * rng.choice((-1, 1)))
    uneven = 1 + 0.12 * max(0.0, strength - 0.5) * rng.choice((-1, 1))
    size = max(64, round(image.width * factor)), max(64, round(image.height * factor * uneven))
    return image.resize(
        size, rng.choice((Image.Resampling.BICUBIC, Image.Resampling.LANCZOS, Image.Resampling.BILINEAR))
    )


def shift(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Up to 8 px of 512 in each direction; the page's edge fills what comes in."""
    most = 8 * strength * image.width / 512
    return _warp(image, dx=most * _side(rng), dy=most * _side(rng))


def zoom(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """In or out by up to 5 %."""
    return _warp(image, scale=1 + 0.05 * strength * rng.choice((-1, 1)))


def crop(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Up to 3 % cut from each side and stretched back."""
    most = 0.03 * strength * image.width
    left, top, right, bottom = (rng.random() * most for _ in range(4))
    box = (left, top, image.width - right, image.height - bottom)
    return image.resize(image.size, Image.Resampling.BICUBIC, box=box)


def pad(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Up to 3 % added at each side, in black, grey, white or the page's own colour."""
    most = 0.03 * strength * image.width
    left, top, right, bottom = (round(rng.random() * most) for _ in range(4))
    return _framed(image, (left, top, right, bottom), rng)


def letterbox(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Bars at two sides that bring a square to another format, up to 16:9 or 9:16."""
    bars = (16 / 9 - 1) * strength * image.width
    first = round(bars * rng.choice((0.5, 0.5, 0.0, 1.0)))
    sides = (first, 0, round(bars) - first, 0) if rng.chance(0.5) else (0, first, 0, round(bars) - first)
    return _framed(image, sides, rng)


def rotate(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Up to 2 degrees."""
    return _warp(image, angle=math.radians(2) * strength * rng.choice((-1, 1)))


def perspective(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Corners moved by up to 1.5 % of the side."""
    return _warp(image, tilt=(0.015 * strength * _side(rng), 0.015 * strength * _side(rng)))


def bend(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Bent smoothly, one part of the picture to the left and another up, by up to 3 px of 512: so do those who redraw
    it."""
    grain = np.random.default_rng(rng.below(2**32))
    coarse = grain.normal(size=(2, 4, 4)).astype(np.float32)
    fields = [cv2.resize(each, image.size, interpolation=cv2.INTER_CUBIC) for each in coarse]
    down, across = np.mgrid[: image.height, : image.width].astype(np.float32)
    x, y = (3 * strength * image.width / 512 * field / np.abs(field).max() for field in fields)
    bent = cv2.remap(np.asarray(image), across + x, down + y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return Image.fromarray(bent, "RGB")


def gamma(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Gamma 0.7 to 1.4."""
    power = 1.4**strength if rng.chance(0.5) else 0.7**strength
    table = [round(255 * (level / 255) ** power) for level in range(256)]
    return image.point(table * 3)


def hue(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Hue turned by up to 15 degrees, about the grey axis."""
    turn = math.radians(15) * strength * rng.choice((-1, 1))
    cos, sin = math.cos(turn), math.sin(turn)
    third, root = (1 - cos) / 3, sin / math.sqrt(3)
    matrix = np.array(
        [
            [cos + third, third - root, third + root],
            [third + root, cos + third, third - root],
            [third - root, third + root, cos + third],
        ]
    )
    return _array(cv2.transform(np.asarray(image, float), matrix))


def tone(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Saturation and brightness changed by up to 20 %."""
    image = ImageEnhance.Color(image).enhance(1 + 0.2 * strength * rng.choice((-1, 1)))
    return ImageEnhance.Brightness(image).enhance(1 + 0.2 * strength * rng.choice((-1, 1)))


def blur(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Gaussian blur up to sigma 2 px of 512."""
    return image.filter(ImageFilter.GaussianBlur(2 * strength * image.width / 512))


def noise(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Gaussian noise up to sigma 15."""
    grain = np.random.default_rng(rng.below(2**32)).normal(0, 15 * strength, (image.height, image.width, 3))
    grain += np.asarray(image)
    return _array(grain)


def quantise(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Fewer colours: 64 down to 8."""
    return image.quantize(max(8, round(64 * (1 - strength) + 8 * strength))).convert("RGB")


def sharpen(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """Unsharp mask up to 200 %."""
    return image.filter(ImageFilter.UnsharpMask(radius=2, percent=round(200 * strength), threshold=0))


# Forms in which pictures come: other modes and headers. They are PIL images that only `gamegen.images` makes RGB of.


def alpha(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """RGBA: the outermost 3 % fade away, as soft selections leave them."""
    width, height = image.size
    reach = max(1e-6, 0.03 * strength)
    across, down = (np.minimum(np.arange(n) + 0.5, n - np.arange(n) - 0.5) / n for n in (width, height))
    opaque = (np.minimum(across[None, :], down[:, None]) / reach).clip(0, 1)
    layer = image.convert("RGBA")
    layer.putalpha(Image.fromarray((255 * opaque + 0.5).astype(np.uint8)))
    return layer


def palette(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """A palette of 256 down to 32 colours, dithered, as GIF and small PNG have."""
    colours = round(256 * 0.125**strength)
    return image.convert("P", palette=Image.Palette.ADAPTIVE, colors=colours, dither=Image.Dither.FLOYDSTEINBERG)


def deep(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """A PNG of 16 bits a channel; the lower ones are noise."""
    width, height = image.size
    grain = np.random.default_rng(rng.below(2**32)).integers(0, 1 + round(255 * strength), (height, width, 3))
    samples = (np.asarray(image, np.uint16) * 256 + grain).astype(">u2")
    lines = np.pad(samples.reshape(height, -1).view(np.uint8), ((0, 0), (1, 0))).tobytes()  # 0: a line without filter
    header = struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 1)), (b"IEND", b""))
    packed = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    ]
    return Image.open(io.BytesIO(b"\x89PNG\r\n\x1a\n" + b"".join(packed)))


def orientation(image: Image.Image, strength: float, rng: Stream) -> Image.Image:
    """A JPEG (quality 95) whose pixels lie on their side, and whose EXIF tag says how to turn them."""
    tag = rng.choice(tuple(_TURNED_BY))
    exif = Image.Exif()
    exif[_ORIENTATION] = tag
    data = io.BytesIO()
    image.transpose(_TURNED_BY[tag]).save(data, "JPEG", quality=95, exif=exif)
    return Image.open(data)


_ORIENTATION = 0x0112
_TURNED_BY = {
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}  # fmt: skip
"""How pixels are turned so that the tag of this number turns them back."""

PERTURBATIONS: dict[str, Perturbation] = {
    "jpeg": jpeg, "webp": webp, "resize": resize, "shift": shift, "zoom": zoom, "crop": crop, "pad": pad,
    "letterbox": letterbox, "rotate": rotate, "perspective": perspective, "bend": bend, "gamma": gamma, "hue": hue,
    "tone": tone, "blur": blur, "noise": noise, "quantise": quantise, "sharpen": sharpen, "alpha": alpha,
    "palette": palette, "deep": deep, "orientation": orientation,
}  # fmt: skip

FORMS = ("alpha", "palette", "deep", "orientation")
"""Those that leave a picture of few colours as it was, or nearly so, in another form."""

MODERATE: dict[str, float] = {
    "jpeg": 0.7, "webp": 0.7, "resize": 0.5, "shift": 0.5, "zoom": 0.6, "crop": 0.5, "pad": 0.5,
    "letterbox": 0.43, "rotate": 0.5, "perspective": 0.5, "bend": 0.5, "gamma": 0.5, "hue": 0.67,
    "tone": 0.5, "blur": 0.5, "noise": 0.5, "quantise": 0.5, "sharpen": 0.5, "alpha": 0.5,
    "palette": 0.5, "deep": 0.5, "orientation": 1.0,
}  # fmt: skip
"""JPEG q50, 3 % zoom, 4 px, hue 10°, blur 1, a format of 4:3, and the like."""


def _through(image: Image.Image, form: str, *, quality: int) -> Image.Image:
    data = io.BytesIO()
    image.convert("RGB").save(data, form, quality=quality)
    with Image.open(data) as back:
        return back.convert("RGB")


def _framed(image: Image.Image, sides: tuple[int, int, int, int], rng: Stream) -> Image.Image:
    """A picture with so much more at its left, top, right and bottom, all of one colour."""
    left, top, right, bottom = sides
    colour = rng.choice(((0, 0, 0), (128, 128, 128), (255, 255, 255), image.getpixel((0, 0))))
    frame = Image.new("RGB", (image.width + left + right, image.height + top + bottom), colour)
    frame.paste(image, (left, top))
    return frame


def _side(rng: Stream) -> float:
    return 2 * rng.random() - 1


def _array(pixels: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Image.Image:
    """Rounded; the given pixels are written over."""
    pixels += 0.5
    return Image.fromarray(np.clip(pixels, 0, 255, out=pixels).astype(np.uint8), "RGB")


def _warp(
    image: Image.Image,
    *,
    scale: float = 1.0,
    dx: float = 0.0,
    dy: float = 0.0,
    angle: float = 0.0,
    tilt: tuple[float, float] = (0.0, 0.0),
) -> Image.Image:
    """Similarity or tilt about the centre; beyond the edge the page goes on, as editors paint it."""
    pad = round(image.width * 0.12)
    wide = Image.fromarray(cv2.copyMakeBorder(np.asarray(image), pad, pad, pad, pad, cv2.BORDER_REPLICATE), "RGB")
    half_w, half_h = image.width / 2, image.height / 2
    cos, sin = math.cos(angle) / scale, math.sin(angle) / scale
    tx, ty = tilt[0] / half_w, tilt[1] / half_h
    centre = np.array([[1, 0, half_w + pad], [0, 1, half_h + pad], [0, 0, 1.0]])
    turn = np.array([[cos, -sin, -dx], [sin, cos, -dy], [tx, ty, 1.0]])
    back = np.array([[1, 0, -half_w], [0, 1, -half_h], [0, 0, 1.0]])
    matrix = centre @ turn @ back
    matrix /= matrix[2, 2]
    data = tuple(float(value) for value in matrix.ravel()[:8])
    return wide.transform(image.size, Image.Transform.PERSPECTIVE, data, Image.Resampling.BICUBIC)
