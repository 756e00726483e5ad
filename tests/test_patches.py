"""A patch that alone is otherwise: seen where a cell was spoilt, and not where all of a picture was changed."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image

from gamegen.audit import attacked
from gamegen.core.rendering import Pixels
from gamegen.core.stream import Stream
from gamegen.judge import verify
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import make_sample
from renderers.reading.patches import find_patch

SIDE, CELL = 256, 24.0

MOVING = ("shift", "zoom", "crop", "pad", "letterbox", "rotate", "perspective", "bend", "resize", "orientation")
"""They move the page, which is laid straight before it is looked at."""


def page() -> Pixels:
    """A page of squares and dots."""
    rows, cols = np.mgrid[:SIDE, :SIDE] // 12
    squares = np.where(((rows + cols) % 2)[..., None], (230, 220, 200), (90, 110, 140)).astype(np.uint8)
    for place in range(30, SIDE, 40):
        cv2.circle(squares, (place, SIDE - place), 9, (200, 40, 40), -1)
    return squares


def everywhere() -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.ones((SIDE, SIDE), np.bool_)


@pytest.mark.parametrize("name", [name for name in PERTURBATIONS if name not in MOVING])
def test_what_is_done_to_all_of_a_picture_is_no_patch(name: str) -> None:
    image = PERTURBATIONS[name](Image.fromarray(page()), MODERATE[name], Stream("patches", name))
    seen = np.asarray(image.convert("RGB"))
    assert find_patch(seen, page(), everywhere(), CELL) is None


@pytest.mark.parametrize("filtered", [False, True], ids=["as it was", "blurred"])
def test_a_smeared_patch_is_found_where_it_is(filtered: bool) -> None:
    seen = page()
    seen[100:124, 60:84] = cv2.blur(seen[100:124, 60:84], (24, 1))
    if filtered:
        seen = np.asarray(cv2.GaussianBlur(seen, (0, 0), 1.0))
    place = find_patch(seen, page(), everywhere(), CELL)
    assert place is not None
    assert abs(place[0] * SIDE - 112) < 16 and abs(place[1] * SIDE - 72) < 16


def test_what_was_to_be_drawn_anew_is_not_looked_at() -> None:
    seen, old = page(), everywhere()
    seen[100:124, 60:84] = 0
    old[96:128, 56:88] = False
    assert find_patch(seen, page(), old, CELL) is None


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("spaceinvaders/shoot@1:train:3:701000000:3?pixels=256", 275),  # slid in its cell, through JPEG
        ("spaceinvaders/volley@1:train:4:701000000:1?pixels=256", 137),  # a bare cell without its lines
        ("reconstruction/voxel@1:train:3:701000000:8?pixels=256", 672),  # the side of a cube, mirrored
        ("reconstruction/voxel@1:train:1:701000000:2?pixels=256", 170),  # a heading that is half a heading
        ("sokoban/push@1:train:3:701000000:0?pixels=256", 42),
        ("tictactoe/best@1:train:4:701000002:0?pixels=256", 31),  # a mark in another colour
    ],
)
def test_a_spoilt_cell_is_refused(name: str, number: int) -> None:
    attack = attacked("spoilt_cell", sample := make_sample(name), number)
    assert attack is not None and not attack[1]
    assert not verify(sample, attack[0]).correct
