"""Draw docs/pairs.png, the picture at the top of the README: pairs of every game, made by the package itself.

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
    "wordsearch/find-all@1:train:2:4:0?skin=tiles",
    "spaceinvaders/shoot@1:train:3:4:0?skin=classic",
    "tictactoe/best@1:train:3:4:0?skin=dark",
    "sudoku/solve@1:train:3:4:0?skin=tiles",
    "pacman/sweep@1:train:3:4:0?skin=pastel",
)
COLUMNS, SIDE, GAP, APART = 3, 210, 4, 22


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
    sheet.save(ROOT / "docs" / "pairs.png", optimize=True)


if __name__ == "__main__":
    main()
