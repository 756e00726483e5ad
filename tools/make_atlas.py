"""Rebuild the glyph masters in renderers/atlas from font files.

    python tools/make_atlas.py --out renderers/atlas \\
        sans=Inter-Medium.otf bold=Inter-Bold.otf serif=SourceSerifPro-Semibold.otf \\
        mono=JetBrainsMono-SemiBold.ttf round=FredokaOne-Regular.ttf plain=DejaVuSans.ttf

writes for each face NAME.png (16 levels of coverage) and NAME.json: which font file, by its digest, and for each
glyph [x, y, width, height] in the picture, then [left, top, advance] from the pen and the cap line. Glyphs are drawn
four times too large and averaged down. The same fonts and the same FreeType give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from renderers.glyphs import CHARACTERS, MASTER
from renderers.inks import FULL
from renderers.png import encode_indexed

OVERSAMPLE = 4
SHEET_WIDTH = 2048
MARGIN = MASTER  # room around a glyph while it is drawn, in master pixels


@dataclass(frozen=True, slots=True)
class Drawn:
    """One glyph: its ink, the place of the ink relative to pen and cap line, and the pen's advance."""

    ink: NDArray[np.uint8]
    left: int
    top: int
    advance: int


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Rebuild the glyph masters from font files.")
    parser.add_argument("faces", nargs="+", metavar="NAME=FONT")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    for argument in options.faces:
        name, _, file = argument.partition("=")
        if not Path(file).is_file():
            parser.error(f"expected NAME=FONT with a font file, got {argument!r}")
        make_face(Path(file), options.out / name)
    return 0


def make_face(file: Path, out: Path) -> None:
    font = sized(file)
    glyphs = {char: draw(font, char) for char in CHARACTERS}
    sheet, places = pack({char: glyph.ink for char, glyph in glyphs.items()})
    grey = np.repeat(np.arange(FULL + 1, dtype=np.uint8)[:, None] * 17, 3, axis=1)
    out.with_suffix(".png").write_bytes(encode_indexed(sheet, grey))
    table = {
        "font": " ".join(part for part in font.getname() if part),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "space": advance(font, " "),
        "glyphs": {
            char: [*places[char], *glyph.ink.shape[::-1], glyph.left, glyph.top, glyph.advance]
            for char, glyph in glyphs.items()
        },
    }
    text = json.dumps(table, ensure_ascii=False).replace("], ", "],\n ").replace(': {"', ': {\n "')
    out.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def sized(file: Path) -> ImageFont.FreeTypeFont:
    """The font at the size where its H is MASTER x OVERSAMPLE pixels high."""
    wanted = MASTER * OVERSAMPLE
    size = float(wanted)
    for _ in range(20):
        font = ImageFont.truetype(str(file), size, layout_engine=ImageFont.Layout.BASIC)
        _, top, _, bottom = font.getbbox("H", anchor="ls")
        if bottom - top == wanted:
            return font
        size *= wanted / (bottom - top)
    raise SystemExit(f"{file}: found no size at which H is {wanted} pixels high")


def advance(font: ImageFont.FreeTypeFont, char: str) -> int:
    return round(font.getlength(char) / OVERSAMPLE)


def draw(font: ImageFont.FreeTypeFont, char: str) -> Drawn:
    side = MASTER + 2 * MARGIN
    canvas = Image.new("L", (side * OVERSAMPLE, side * OVERSAMPLE))
    pen = (MARGIN * OVERSAMPLE, (MARGIN + MASTER) * OVERSAMPLE)
    ImageDraw.Draw(canvas).text(pen, char, fill=255, font=font, anchor="ls")
    fine = np.asarray(canvas, np.int64).reshape(side, OVERSAMPLE, side, OVERSAMPLE).sum(axis=(1, 3))
    whole = 255 * OVERSAMPLE * OVERSAMPLE
    ink = ((fine * FULL * 2 + whole) // (whole * 2)).astype(np.uint8)
    rows, cols = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    top, left = int(rows[0]), int(cols[0])
    tight = ink[top : rows[-1] + 1, left : cols[-1] + 1]
    return Drawn(tight, left - MARGIN, top - MARGIN, advance(font, char))


def pack(inks: dict[str, NDArray[np.uint8]]) -> tuple[NDArray[np.uint8], dict[str, tuple[int, int]]]:
    """All glyphs on shelves of one sheet, and the left top corner of each."""
    places: dict[str, tuple[int, int]] = {}
    x = y = shelf = 0
    for char, ink in sorted(inks.items(), key=lambda item: (-item[1].shape[0], item[0])):
        height, width = ink.shape
        if x + width > SHEET_WIDTH:
            x, y, shelf = 0, y + shelf, 0
        places[char] = (x, y)
        x, shelf = x + width, max(shelf, height)
    sheet = np.zeros((y + shelf, SHEET_WIDTH), np.uint8)
    for char, (left, top) in places.items():
        height, width = inks[char].shape
        sheet[top : top + height, left : left + width] = inks[char]
    return sheet, places


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
