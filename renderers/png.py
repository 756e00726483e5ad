"""Palette pictures to PNG bytes and back, and nothing else.

Pictures stay in palette space from tile to file: expanding 512 x 512 indices to RGB alone costs several times
the whole encoding. The writer makes one 8-bit indexed image with one IDAT chunk. Packing pixels to 4 bits was
measured: it costs more than the smaller input saves.

Bytes are the same for every run of one compressor, but not promised across compressors or processors. What is
promised is the pixels: compare pictures by `pixel_hash`.
"""

from __future__ import annotations

import struct
import zlib
from types import ModuleType
from typing import TypeAlias

import numpy as np
import xxhash
from numpy.typing import NDArray

from gamegen.core.errors import BadInput

deflate: ModuleType
try:
    from isal import isal_zlib as deflate
except ImportError:  # no wheel for this platform: the same pixels, several times slower
    deflate = zlib

Pixels: TypeAlias = NDArray[np.uint8]
Palette: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]

MAX_SIDE = 8192

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LEVEL = 1
_FILTER_NONE, _FILTER_UP = 0, 2
_GREY, _INDEXED = 0, 3
# A prime, so that the rows looked at do not fall on the same line of every cell.
_SAMPLE_STRIDE = 13


def encode_indexed(pixels: Pixels, palette: Palette) -> bytes:
    """An 8-bit indexed PNG of `pixels` (height, width) in the colours of `palette` (entries, 3)."""
    _check_pixels(pixels)
    _check_palette(palette)
    if len(palette) < 256 and (top := int(pixels.max())) >= len(palette):
        raise BadInput(f"pixel index {top} is outside a palette of {len(palette)} entries")
    height, width = pixels.shape
    rows = np.empty((height, width + 1), np.uint8)
    if _rows_repeat(pixels):
        rows[:, 0] = _FILTER_UP
        rows[0, 1:] = pixels[0]
        np.subtract(pixels[1:], pixels[:-1], out=rows[1:, 1:])
    else:
        rows[:, 0] = _FILTER_NONE
        rows[:, 1:] = pixels
    return _assemble(width, height, 8, _INDEXED, palette.tobytes(), rows)


def encode_mask(mask: Mask) -> bytes:
    """A 1-bit grey PNG of `mask` (height, width): white where True."""
    if mask.dtype != np.bool_:
        raise BadInput(f"expected a mask of booleans, got {mask.dtype}")
    _check_shape(mask.shape)
    height, width = mask.shape
    rows = np.empty((height, (width + 7) // 8 + 1), np.uint8)
    rows[:, 0] = _FILTER_UP  # most rows of a mask repeat the row above
    packed = np.packbits(mask, axis=1)
    rows[0, 1:] = packed[0]
    np.subtract(packed[1:], packed[:-1], out=rows[1:, 1:])
    return _assemble(width, height, 1, _GREY, b"", rows)


def decode_indexed(data: bytes) -> tuple[Pixels, Palette]:
    """The pixels and palette of a file written by `encode_indexed`; any other file is refused.

    Never inflates more than the header's size, and the header may not state more than MAX_SIDE a side.
    """
    chunks = _chunks(data)
    if [name for name, _ in chunks] != [b"IHDR", b"PLTE", b"IDAT", b"IEND"]:
        raise BadInput(f"expected chunks IHDR, PLTE, IDAT, IEND; got {[name.decode('latin-1') for name, _ in chunks]}")
    header, colours, packed, end = (body for _, body in chunks)
    if len(header) != 13 or header[8:] != bytes((8, _INDEXED, 0, 0, 0)) or end:
        raise BadInput(f"expected the header of an 8-bit indexed picture, got {header!r}")
    width, height = struct.unpack_from(">II", header)
    _check_shape((height, width))
    if len(colours) % 3 or not 1 <= len(colours) // 3 <= 256:
        raise BadInput(f"expected a palette of 1 to 256 colours, got {len(colours)} bytes")
    palette = np.frombuffer(colours, np.uint8).reshape(-1, 3)
    pixels = _unfilter(_inflate(packed, height, width + 1))
    if (top := int(pixels.max())) >= len(palette):
        raise BadInput(f"pixel index {top} is outside a palette of {len(palette)} entries")
    return pixels, palette


def pixel_hash(pixels: Pixels, palette: Palette) -> str:
    """32 hex digits for the decoded picture (size, palette, indices), whatever encoder wrote the file."""
    _check_pixels(pixels)
    _check_palette(palette)
    height, width = pixels.shape
    digest = xxhash.xxh3_128(struct.pack(">III", width, height, len(palette)))
    digest.update(palette.tobytes())
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()


def _rows_repeat(pixels: Pixels) -> bool:
    """Whether the Up filter pays: of the rows looked at, over a third equal the row above."""
    below, above = pixels[_SAMPLE_STRIDE::_SAMPLE_STRIDE], pixels[_SAMPLE_STRIDE - 1 : -1 : _SAMPLE_STRIDE]
    return 3 * int(np.count_nonzero((below == above).all(axis=1))) > len(below)


def _assemble(width: int, height: int, depth: int, kind: int, palette: bytes, rows: Pixels) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    parts = [_SIGNATURE, *_chunk(b"IHDR", header)]
    if palette:
        parts += _chunk(b"PLTE", palette)
    parts += _chunk(b"IDAT", deflate.compress(rows, _LEVEL))
    parts += _chunk(b"IEND", b"")
    return b"".join(parts)


def _chunk(name: bytes, body: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    return struct.pack(">I", len(body)), name, body, struct.pack(">I", _crc(name, body))


def _crc(name: bytes, body: bytes) -> int:
    return int(deflate.crc32(body, deflate.crc32(name)))


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """Every chunk as (name, body), its checksum proved; at most the four that we write."""
    if not data.startswith(_SIGNATURE):
        raise BadInput(f"not a PNG: it starts with {data[:8]!r}")
    found: list[tuple[bytes, bytes]] = []
    at = len(_SIGNATURE)
    while at < len(data):
        if len(data) - at < 12:
            raise BadInput(f"truncated PNG: {len(data) - at} bytes left where a chunk should start")
        (size,) = struct.unpack_from(">I", data, at)
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        if len(data) - at - 12 < size:
            raise BadInput(f"truncated PNG: chunk {name!r} states {size} bytes, {len(data) - at - 12} are left")
        if data[at + 8 + size : at + 12 + size] != struct.pack(">I", _crc(name, body)):
            raise BadInput(f"damaged PNG: wrong checksum in chunk {name!r}")
        found.append((name, body))
        if len(found) > 4:
            raise BadInput("expected four chunks, got more")
        at += size + 12
    return found


def _inflate(packed: bytes, rows: int, row_bytes: int) -> Pixels:
    """Exactly `rows` x `row_bytes` bytes; the inflater is never asked for more than one byte beyond."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(packed, rows * row_bytes + 1)
    except zlib.error as error:
        raise BadInput(f"damaged PNG: {error}") from error
    if len(raw) != rows * row_bytes or not stream.eof or stream.unused_data:
        raise BadInput(f"expected {rows * row_bytes} bytes of pixels, the data holds another number")
    return np.frombuffer(raw, np.uint8).reshape(rows, row_bytes)


def _unfilter(rows: Pixels) -> Pixels:
    filters, pixels = rows[:, 0], rows[:, 1:].copy()
    if (filters == _FILTER_NONE).all():
        return pixels
    if (filters == _FILTER_UP).all():
        return np.cumsum(pixels, axis=0, dtype=np.uint8)
    raise BadInput(f"expected every row filtered by None or every row by Up, got {np.unique(filters).tolist()}")


def _check_pixels(pixels: Pixels) -> None:
    if pixels.dtype != np.uint8:
        raise BadInput(f"expected pixels of uint8, got {pixels.dtype}")
    _check_shape(pixels.shape)


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or not all(1 <= side <= MAX_SIDE for side in shape):
        raise BadInput(f"expected a picture (height, width) of 1 to {MAX_SIDE} a side, got {shape}")


def _check_palette(palette: Palette) -> None:
    if palette.dtype != np.uint8 or palette.ndim != 2 or palette.shape[1] != 3 or not 1 <= len(palette) <= 256:
        raise BadInput(f"expected a palette (1..256, 3) of uint8, got {palette.shape} of {palette.dtype}")
