"""The PNG writer against Pillow, and the reader against damage."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gamegen.core.errors import BadInput
from renderers import png


def picture(seed: int, height: int, width: int, entries: int, *, tall: int = 1) -> tuple[png.Pixels, png.Palette]:
    """Noise whose rows repeat `tall` times, so that both filters are met."""
    source = np.random.Generator(np.random.PCG64(seed))
    rows = source.integers(0, entries, ((height + tall - 1) // tall, width), dtype=np.uint8)
    palette = source.integers(0, 256, (entries, 3), dtype=np.uint8)
    return np.repeat(rows, tall, axis=0)[:height], palette


pictures = st.builds(
    picture,
    st.integers(0, 2**32),
    st.integers(1, 70),
    st.integers(1, 70),
    st.integers(1, 256),
    tall=st.integers(1, 9),
)


@given(pictures)
@settings(max_examples=150, deadline=None)
def test_pillow_sees_the_same_picture(case: tuple[png.Pixels, png.Palette]) -> None:
    pixels, palette = case
    with Image.open(io.BytesIO(png.encode_indexed(pixels, palette))) as image:
        assert image.mode == "P"
        assert np.array_equal(np.asarray(image.convert("RGB")), palette[pixels])


@given(pictures)
@settings(max_examples=150, deadline=None)
def test_decode_is_the_inverse(case: tuple[png.Pixels, png.Palette]) -> None:
    pixels, palette = case
    again, colours = png.decode_indexed(png.encode_indexed(pixels, palette))
    assert np.array_equal(again, pixels)
    assert np.array_equal(colours, palette)
    assert png.pixel_hash(again, colours) == png.pixel_hash(pixels, palette)


def test_both_filters_are_used() -> None:
    tall = png.encode_indexed(*picture(1, 64, 64, 16, tall=8))
    noise = png.encode_indexed(*picture(1, 64, 64, 16))
    assert (filter_of(tall), filter_of(noise)) == (2, 0)


def filter_of(data: bytes) -> int:
    at = data.index(b"IDAT")
    (size,) = struct.unpack(">I", data[at - 4 : at])
    return zlib.decompress(data[at + 4 : at + 4 + size])[0]


def test_views_that_are_not_contiguous_are_written_right() -> None:
    pixels, palette = picture(3, 40, 30, 9)
    for view in (pixels.T, pixels[::2, ::3], pixels[:, ::-1]):
        again, _ = png.decode_indexed(png.encode_indexed(view, palette))
        assert np.array_equal(again, view)
        assert png.pixel_hash(view, palette) == png.pixel_hash(np.ascontiguousarray(view), palette)


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_mask_is_black_and_white(seed: int, height: int, width: int) -> None:
    mask = picture(seed, height, width, 2)[0].astype(np.bool_)
    with Image.open(io.BytesIO(png.encode_mask(mask))) as image:
        assert image.mode == "1"
        assert np.array_equal(np.asarray(image.convert("L")), np.where(mask, 255, 0))


PROGRAM = """
import hashlib
import numpy as np
from renderers import png
palette = (np.arange(93, dtype=np.uint8) * 37).reshape(31, 3)
for tall in (1, 8):
    rows = (np.arange(200 // tall * 150) ** 2 % 31).astype(np.uint8).reshape(-1, 150)
    pixels = np.repeat(rows, tall, axis=0)
    print(hashlib.sha256(png.encode_indexed(pixels, palette)).hexdigest(), png.pixel_hash(pixels, palette))
"""


def test_same_bytes_in_another_process(capsys: pytest.CaptureFixture[str]) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    exec(PROGRAM, {})
    assert len(run.stdout.split()) == 4
    assert run.stdout == capsys.readouterr().out


def test_without_isal_the_pixels_are_the_same() -> None:
    program = "import sys; sys.modules['isal'] = None\n" + PROGRAM + "assert png.deflate.__name__ == 'zlib'\n"
    program += "pixels, palette = png.decode_indexed(png.encode_indexed(pixels, palette))\n"
    program += "print(png.pixel_hash(pixels, palette))\n"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split()[3] == run.stdout.split()[4]


def test_hash_notices_size_palette_and_pixels() -> None:
    pixels, palette = picture(5, 8, 6, 4)
    other = pixels.copy()
    other[0, 0] ^= 1
    brighter = palette.copy()
    brighter[0, 0] ^= 1
    cases = [(pixels, palette), (other, palette), (pixels, brighter), (pixels.reshape(6, 8), palette)]
    assert len({png.pixel_hash(*case) for case in cases}) == len(cases)


def test_hash_is_pinned() -> None:
    """Manifests hold this hash: it may never change."""
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4) % 4
    palette = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0], [255, 255, 255]], np.uint8)
    assert png.pixel_hash(pixels, palette) == "91055410584c44d561e94bb0c6b13137"


def test_every_truncation_is_refused() -> None:
    data = png.encode_indexed(*picture(2, 20, 20, 5))
    for size in range(len(data)):
        with pytest.raises(BadInput):
            png.decode_indexed(data[:size])


def test_every_flipped_byte_is_refused() -> None:
    data = png.encode_indexed(*picture(2, 12, 12, 5))
    for at in range(len(data)):
        with pytest.raises(BadInput):
            png.decode_indexed(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])


def forge(width: int, height: int, rows: bytes, *, palette: bytes = bytes(6), packed: bytes = b"") -> bytes:
    """A PNG with right checksums around whatever it is told to hold."""
    packed = packed or zlib.compress(rows)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n"
    for name, body in ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", packed), (b"IEND", b"")):
        data += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return data


@pytest.mark.parametrize(
    "data",
    [
        forge(4, 4, bytes(21)),
        forge(4, 4, bytes(19)),
        forge(10**6, 10**6, bytes(100)),
        forge(0, 4, b""),
        forge(2, 1, b"\0\0\2"),
        forge(2, 2, b"\4\0\0\4\0\0"),
        forge(2, 2, bytes(6), palette=b"\0\0"),
        forge(2, 2, bytes(6)) + b"\0",
        forge(2, 2, b"", packed=zlib.compress(bytes(6)) + b"more"),
        forge(2, 2, b"", packed=zlib.compress(bytes(6))[:-4]),
        forge(2, 2, b"", packed=b"not deflated"),
    ],
    ids=["long", "short", "huge", "empty", "index", "filter", "palette", "tail", "more", "cut", "raw"],
)
def test_forged_files_are_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        png.decode_indexed(data)


def test_a_bomb_is_not_inflated() -> None:
    bomb = forge(4, 4, bytes(50_000_000))
    tracemalloc.start()
    with pytest.raises(BadInput):
        png.decode_indexed(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_forged_file_that_is_sound_is_read() -> None:
    pixels, _ = png.decode_indexed(forge(2, 2, b"\0\0\1\0\1\0"))
    assert pixels.tolist() == [[0, 1], [1, 0]]


def test_unfit_input_is_refused() -> None:
    pixels, palette = picture(4, 6, 6, 4)
    for bad in (pixels.astype(np.int64), pixels[0], pixels[:0], pixels[None]):
        with pytest.raises(BadInput):
            png.encode_indexed(bad, palette)  # type: ignore[arg-type]
    for colours in (palette[:0], palette[:, :2], palette.astype(np.float64), np.zeros((257, 3), np.uint8)):
        with pytest.raises(BadInput):
            png.encode_indexed(pixels, colours)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="index 3"):
        png.encode_indexed(np.full((2, 2), 3, np.uint8), palette[:3])
    with pytest.raises(BadInput):
        png.encode_mask(pixels)  # type: ignore[arg-type]
