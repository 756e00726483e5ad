"""The pictures of one sample: original, reference, and for each run its output, what the reader saw, the difference.

Pictures that are alike pixel for pixel are stored once: what the reader saw in a right answer is mostly the reference.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gamegen.core.errors import BadInput, UnreadableImage
from gamegen.core.rendering import Pixels
from gamegen.images import load_rgb
from gamegen.judge import problem_of
from gamegen.registry import plugin_of
from gamegen.stored import StoredRow

AMPLIFIED = 4
"""A difference of a quarter of the scale, in any channel, is already drawn in full colour."""

SHADES = 16
DIFFERENT = (214, 20, 120)
LARGEST, LARGEST_DIFFERENCE, SMALLEST_SIDE = 80_000, 12_000, 128
"""Bytes of a picture; one that takes more, as noise does, is halved until it fits or is small."""

Shown = dict[str, Any]


@dataclass(slots=True)
class Album:
    """Distinct pictures as data addresses, in the order in which they came."""

    side: int  # larger pictures are reduced to this
    sources: list[str] = field(default_factory=list)
    _known: dict[tuple[tuple[int, ...], bytes], int] = field(default_factory=dict)

    def add(self, pixels: Pixels) -> int:
        """The number of a picture (H, W, 3) in the album."""
        key = (pixels.shape, pixels.tobytes())
        if key not in self._known:
            self._known[key] = self.put(_webp(Image.fromarray(pixels), self.side), "webp")
        return self._known[key]

    def put(self, data: bytes, kind: str) -> int:
        self.sources.append(f"data:image/{kind};base64,{b64encode(data).decode()}")
        return len(self.sources) - 1


def sample_pictures(
    stored: StoredRow, runs: Sequence[tuple[Path | None, Mapping[str, Any] | None]], side: int
) -> Shown:
    """What the page needs to show a row. Each run has the path of its output, and the exact verdict on it if any."""
    album = Album(side)
    original, reference = (_own(stored, name) for name in ("original_image", "edited_image"))
    shown: Shown = {
        "original": None if original is None else album.add(original),
        "reference": None if reference is None else album.add(reference),
        "runs": [_run_pictures(album, stored, path, verdict, reference) for path, verdict in runs],
    }
    return {"sources": album.sources, **shown}


def difference(output: Pixels, reference: Pixels) -> Pixels:
    """(H, W) in 0 to 255, at the reference's size: the largest difference of the three colours, amplified."""
    high, wide = reference.shape[:2]
    if output.shape != reference.shape:
        output = np.asarray(Image.fromarray(output).resize((wide, high), Image.Resampling.BILINEAR))
    apart = np.abs(output.astype(np.int16) - reference.astype(np.int16)).max(axis=2)
    amplified: Pixels = np.minimum(apart * AMPLIFIED, 255).astype(np.uint8)
    return amplified


def reader_saw(row: Mapping[str, Any], position: str) -> Pixels:
    """The position that was read, drawn clean in the row's own skin."""
    _, style = problem_of(row)
    plugin, _ = plugin_of(str(row["task"]))
    return plugin.renderer.render(plugin.game.parse(position), style).rgb()


def _own(stored: StoredRow, column: str) -> Pixels | None:
    try:
        return load_rgb(stored.row[column]) if stored.row.get(column) else None
    except UnreadableImage:
        return None


def _run_pictures(
    album: Album,
    stored: StoredRow,
    path: Path | None,
    verdict: Mapping[str, Any] | None,
    reference: Pixels | None,
) -> Shown:
    shown: Shown = {"output": None, "output_note": "no picture", "saw": None, "difference": None}
    shown["saw_note"], shown["difference_note"] = _saw_nothing(verdict), ""
    if path is None:
        return shown
    try:
        pixels = load_rgb(path)
    except UnreadableImage as error:
        return shown | {"output_note": str(error).replace(str(path), path.name)}
    shown["output"] = album.add(pixels)
    if verdict is not None and verdict.get("position"):
        try:
            shown["saw"] = album.add(reader_saw(stored.row, str(verdict["position"])))
        except (BadInput, UnreadableImage) as error:
            shown["saw_note"] = f"cannot be drawn: {error}"
    if reference is not None:
        apart = difference(pixels, reference)
        if apart.any():
            shown["difference"] = album.put(_drawn(apart, album.side), "png")
        else:
            shown["difference_note"] = "none, pixel for pixel"
    return shown


def _saw_nothing(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not judged by the rules"
    return "" if verdict.get("position") else str(verdict["reason"])


def _webp(image: Image.Image, side: int) -> bytes:
    """Without loss where there are few colours, as on boards; else as a photograph."""
    stream = io.BytesIO()
    if max(image.size) <= side and image.getcolors(256) is not None:
        image.save(stream, "WEBP", lossless=True, method=1, quality=20)
        return stream.getvalue()
    image.thumbnail((side, side), Image.Resampling.BICUBIC)
    while True:
        image.save(stream, "WEBP", quality=80, method=2)
        if stream.tell() <= LARGEST or max(image.size) <= SMALLEST_SIDE:
            return stream.getvalue()
        image, stream = image.reduce(2), io.BytesIO()


def _drawn(apart: Pixels, side: int) -> bytes:
    """A PNG that is clear where nothing differs, and the stronger coloured the more does."""
    image = Image.fromarray(apart)
    image.thumbnail((side, side), Image.Resampling.BOX)
    while True:
        levels = np.ceil(np.asarray(image) / 255 * (SHADES - 1)).astype(np.uint8)
        shades = Image.fromarray(levels, "P")
        shades.putpalette(DIFFERENT * SHADES)
        stream = io.BytesIO()
        clear = bytes(round(255 * level / (SHADES - 1)) for level in range(SHADES))
        shades.save(stream, "PNG", transparency=clear, bits=4)
        if len(stream.getvalue()) <= LARGEST_DIFFERENCE or max(image.size) <= SMALLEST_SIDE:
            return stream.getvalue()
        image = image.reduce(2)
