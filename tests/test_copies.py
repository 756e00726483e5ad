"""Pieces of a right answer that lie on it a second time: what once passed, one of each class."""

from __future__ import annotations

import pytest
from PIL import Image

from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.perturb import PERTURBATIONS
from gamegen.sample import make_sample

Place = tuple[int, int]


def with_piece(answer: Image.Image, start: Place, end: Place, size: Place) -> Image.Image:
    """The answer with a piece so wide and high, from a place, laid onto another place."""
    image = answer.convert("RGB")
    image.paste(image.crop((*start, start[0] + size[0], start[1] + size[1])), end)
    return image


@pytest.mark.parametrize(
    ("name", "start", "end", "size"),
    [
        ("maze/path@1:train:1:9:0?pixels=256", (138, 5), (206, 190), (12, 12)),  # a thread of the path is left
        ("maze/shortest@1:train:1:9:19?pixels=256", (61, 190), (127, 123), (13, 21)),
        ("maze/shortest@1:train:1:9:21?pixels=256", (23, 0), (131, 83), (9, 18)),  # a hole in it
        ("tictactoe/best@1:train:1:7:6?pixels=256", (190, 206), (139, 86), (8, 24)),  # a notch in a block
        ("tictactoe/best@1:train:3:9:7?pixels=256", (30, 55), (178, 91), (28, 9)),  # a wide one, and no grid line
        ("tictactoe/best@1:train:3:7:5?pixels=256", (166, 198), (125, 150), (7, 32)),  # an arm that is cut off
        ("tictactoe/best@1:train:5:7:3?pixels=256", (225, 238), (199, 28), (18, 12)),  # a bite of a ring
    ],
)
def test_a_piece_over_what_is_new_is_seen(name: str, start: Place, end: Place, size: Place) -> None:
    sample = make_sample(name)
    assert not verify(sample, with_piece(sample.edited, start, end, size)).correct


@pytest.mark.parametrize("perturbation", ["jpeg", "resize"])
@pytest.mark.parametrize(
    ("name", "start", "end", "size"),
    [
        ("chess/move@1:train:2:7:3?pixels=256", (0, 129), (154, 197), (14, 16)),  # page beside a pawn
        ("chess/move@1:train:2:7:6?pixels=256", (14, 53), (90, 134), (27, 14)),  # a label on the board
        ("chess/move@1:train:4:7:0?pixels=256", (74, 1), (82, 38), (12, 20)),  # page on two squares
    ],
)
def test_a_piece_beside_what_is_new_is_seen(
    name: str, start: Place, end: Place, size: Place, perturbation: str
) -> None:
    sample = make_sample(name)
    image = with_piece(sample.edited, start, end, size)
    assert not verify(sample, PERTURBATIONS[perturbation](image, 0.3, Stream("piece"))).correct
