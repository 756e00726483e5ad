"""Registration: a picture that only came back in another size lies where it lay."""

from __future__ import annotations

from itertools import product

import cv2
import numpy as np
import pytest
from PIL import Image

from gamegen.core.errors import UnreadableImage
from gamegen.core.key import Key
from gamegen.judge import look
from gamegen.registry import games, plugin
from gamegen.sample import make_sample
from renderers.board import BoardRenderer, given_board
from renderers.reading.register import Floats, Scan, register

HALF_A_PIXEL = 2 * 0.5 / 512


@pytest.mark.parametrize("size", [(512, 512), (724, 724), (575, 575), (767, 767), (700, 724), (1000, 767), (383, 383)])
@pytest.mark.parametrize("name", ["chess/mate@1:train:4:33:40", "sudoku/solve@1:train:4:3:0"])
def test_a_picture_of_any_size_is_whole(name: str, size: tuple[int, int]) -> None:
    """The odd pixels at the right and below were cut off, and the rest taken for the whole: a zoom of up to 0.3 %."""
    sample = make_sample(name)
    assert isinstance(sample.plugin.renderer, BoardRenderer)
    given = given_board(sample.plugin.renderer, sample.problem, sample.style)
    image = sample.original.convert("RGB").resize(size, Image.Resampling.BICUBIC)
    found = register(Scan(np.asarray(image)), given.landmarks)
    assert np.abs(found.matrix - np.eye(3)).sum(axis=1).max() < HALF_A_PIXEL


@pytest.mark.parametrize("game", games())
def test_answers_lie_where_they_lay(game: str) -> None:
    for task, index in product(plugin(game).game.tasks, range(2)):
        sample = make_sample(Key(f"{game}/{task.kind}", level=5, seed=77, index=index, pixels=256))
        for image in (sample.original, sample.edited):
            assert look(sample.plugin, sample.problem, sample.style, image).is_still, sample.id


@pytest.mark.parametrize("game", games())
def test_what_was_given_has_the_greys_of_its_picture(game: str) -> None:
    """They were rounded in another way, so that dark chess boards never seemed to lie where they lay."""
    for skin in plugin(game).renderer.skins:
        task = plugin(game).game.tasks[0]
        picture = make_sample(Key(f"{game}/{task.kind}", seed=77, skin=skin, pixels=256)).original_picture
        mean = cv2.transform(picture.rgb(), np.full((1, 3), 1 / 3, np.float32))
        assert (picture.grey() == mean).all(), skin


@pytest.mark.parametrize(
    ("name", "move"),
    [
        ("sudoku/solve@1:train:2:880031:0", np.diag([1.0125, 1.0125, 1.0])),
        ("sudoku/solve@1:train:1:880020:0", np.array([[1, 0, 0.0062], [0, 1, 0.0055], [0, 0, 1]])),
        ("pacman/route@1:train:2:880006:0", np.diag([0.9875, 0.9875, 1.0])),
    ],
)
def test_a_picture_that_was_moved_a_little_is_found_there(name: str, move: Floats) -> None:
    """Half of it agreed where it was, which was taken for enough: its corners were up to two pixels off."""
    sample = make_sample(name)
    assert isinstance(sample.plugin.renderer, BoardRenderer)
    given = given_board(sample.plugin.renderer, sample.problem, sample.style)
    to_pixels = np.array([[256, 0, 255.5], [0, 256, 255.5], [0, 0, 1.0]])
    way = to_pixels @ move @ np.linalg.inv(to_pixels)
    image = cv2.warpPerspective(
        np.asarray(sample.edited), way, (512, 512), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    found = register(Scan(np.asarray(image)), given.landmarks)
    corners = 0.8 * np.array([[[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]])
    off = cv2.perspectiveTransform(corners, found.matrix) - cv2.perspectiveTransform(corners, move)
    assert np.abs(off).max() < HALF_A_PIXEL


@pytest.mark.parametrize("task", ["sokoban/push", "maze/path", "reconstruction/voxel", "wordsearch/find"])
def test_what_cannot_be_read_says_where_it_lies(task: str) -> None:
    """So that nobody has to look for it again before it is ironed."""
    sample = make_sample(Key(task, level=2, seed=3))
    both = Image.blend(sample.original, sample.edited, 0.5)
    moved = np.asarray(both.transform(both.size, Image.Transform.AFFINE, (1, 0, 3, 0, 1, 2), fillcolor="white"))
    with pytest.raises(UnreadableImage) as caught:
        sample.plugin.renderer.read(moved, sample.problem, sample.style)
    shift = np.array(caught.value.matrix)[:2, 2] * both.width / 2
    assert np.abs(shift - (-3, -2)).max() < 0.5
