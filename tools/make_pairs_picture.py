"""Draw docs/pairs.png, the picture at the top of the README: one pair of every game, made by the package itself.

python tools/make_pairs_picture.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gamegen import make_sample  # noqa: E402

SAMPLES = (
    "sokoban/solve@1:train:3:4:0?skin=classic",
    "jewel2/swap@1:train:3:4:0?skin=classic",
    "maze/path@1:train:2:4:2?skin=modern",
    "chess/mate@1:train:3:4:0?skin=classic",
    "pacman/route@1:train:2:4:0?skin=classic",
    "sudoku/solve@1:train:2:4:1?skin=classic",
    "reconstruction/voxel@1:train:3:4:0?skin=classic",
    "wordsearch/find-all@1:train:2:4:0?skin=modern",
    "spaceinvaders/shoot@1:train:3:4:0?skin=classic",
    "tictactoe/best@1:train:3:4:0?skin=dark",
)
COLUMNS, SIDE, GAP, APART = 2, 240, 6, 26


def main() -> None:
    rows = -(-len(SAMPLES) // COLUMNS)
    wide, high = 2 * SIDE + GAP + APART, SIDE + APART
    sheet = Image.new("RGB", (COLUMNS * wide - APART, rows * high - APART), "white")
    for number, name in enumerate(SAMPLES):
        sample = make_sample(name)
        left, top = number % COLUMNS * wide, number // COLUMNS * high
        for place, image in enumerate((sample.original, sample.edited)):
            small = image.resize((SIDE, SIDE), Image.Resampling.LANCZOS)
            sheet.paste(small, (left + place * (SIDE + GAP), top))
    sheet.quantize(256).save(ROOT / "docs" / "pairs.png", optimize=True)


if __name__ == "__main__":
    main()
