"""Things that were cut out and laid elsewhere: right answers that once seemed to have something foreign on them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from gamegen.adversary import ATTACKS
from gamegen.core.cell import Cell
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.sample import Sample, make_sample
from renderers.placed import PlacedRenderer

LAID = [
    ("sokoban/push@1:train:1:3000000:0?pixels=256", 0),  # a box tinted green: no colour of the look
    ("sokoban/push@1:train:1:411000001:0?pixels=256", 285),  # a tinted box, a pixel too high
    ("sokoban/solve@1:train:4:411000000:0?pixels=256", 243),  # tinted boxes, one of them larger
    ("sokoban/solve@1:train:4:700:6?pixels=256", 106),  # larger ones, with soft edges
    ("sokoban/solve@1:train:2:421000000:0?pixels=256", 101),  # the frame of the target is seen beside the box
    ("sokoban/solve@1:train:2:421000003:0?pixels=256", 214),  # a box of our own, once taken for a tinted one
    ("pacman/route@1:train:1:411000001:0?pixels=256", 314),  # turned by a quarter: the eye is on the other side
    ("jewel2/swap@1:train:1:411000000:0?pixels=256", 68),  # facets a pixel lower
    ("jewel2/best@1:train:1:800:2?pixels=256", 818),  # most stones lie off to the same side, the labels do not
    ("jewel2/swap@1:train:5:431000000:0?pixels=256", 285),  # a smaller diamond, once unlike any other
    ("jewel2/best@1:train:1:411000001:0?pixels=256", 335),  # a rim of a colour that little else of the stone has
]


def painted(name: str, number: int) -> tuple[Sample, Image.Image]:
    sample = make_sample(name)
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", number))
    assert made is not None and made[1]
    return sample, made[0]


@pytest.mark.parametrize(("name", "number"), LAID)
def test_a_thing_may_lie_a_little_off(name: str, number: int) -> None:
    sample, image = painted(name, number)
    assert verify(sample, image).correct


@pytest.mark.parametrize(("name", "number"), LAID)
def test_a_stroke_over_a_thing_that_lies_a_little_off_is_seen(name: str, number: int) -> None:
    sample, image = painted(name, number)
    renderer, before = sample.plugin.renderer, sample.problem.position
    assert isinstance(renderer, PlacedRenderer)
    changed = renderer.encode(before, sample.style) != renderer.encode(sample.solution.after, sample.style)
    for row, col in np.argwhere(changed).tolist():
        mask = renderer.mask(frozenset({Cell(row, col)}), before, sample.style)
        left, top, right, bottom = Image.fromarray(mask).getbbox() or (0, 0, 0, 0)
        spoilt = image.copy()
        ImageDraw.Draw(spoilt).line([(left + 1, top + 1), (right - 2, bottom - 2)], fill=(255, 0, 200), width=2)
        assert not verify(sample, spoilt).correct, (row, col)


@pytest.mark.parametrize("struck", [(0,), (1, 3), (2, 1)])
def test_of_several_struck_things_the_first_is_named(struck: tuple[int, ...]) -> None:
    """All cells drawn anew are compared at once, wherever the first is that shows more than it should."""
    sample = make_sample("jewel2/best@1:train:4:77:3")
    renderer, after = sample.plugin.renderer, sample.solution.after
    assert isinstance(renderer, PlacedRenderer)
    symbols, given = (renderer.encode(each, sample.style) for each in (after, sample.problem.position))
    cells = [Cell(*place) for place in np.argwhere(symbols != given).tolist()]
    frame = renderer.board(sample.style, *renderer.size(after)).frame
    image = sample.edited.convert("RGB")
    for cell in (cells[number] for number in struck):
        top, left = frame.top + cell.row * frame.cell, frame.left + cell.col * frame.cell
        ImageDraw.Draw(image).line((left, top, left + frame.cell, top + frame.cell), fill="#808080", width=5)
    stain = renderer.read(np.asarray(image), sample.problem, sample.style).stain
    first = cells[min(struck)]
    assert stain == f"cell ({first.row}, {first.col})"
