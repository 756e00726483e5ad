"""Pictures that are nothing but our own drawing are told from all others."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from PIL import Image

from gamegen import list_games, make_sample
from gamegen.core.key import Key
from gamegen.core.rendering import Pixels
from gamegen.registry import plugin
from renderers.reading.drawn import is_as_drawn
from renderers.reading.register import Floats

GAMES = list_games()


def _drawn(game: str, pixels: int = 512) -> Pixels:
    kind = plugin(game).game.tasks[0].kind
    return np.asarray(make_sample(Key(f"{game}/{kind}", level=2, seed=5, pixels=pixels)).edited)


def _jpeg(image: Pixels, quality: int) -> Pixels:
    data = io.BytesIO()
    Image.fromarray(image).save(data, "JPEG", quality=quality)
    return np.asarray(Image.open(data))


def _moved(image: Pixels, matrix: Floats) -> Pixels:
    """The picture where the matrix, between corners at -1 and 1, takes its points."""
    half = len(image) / 2
    pixels = np.array([[half, 0, half - 0.5], [0, half, half - 0.5], [0, 0, 1.0]])
    way = pixels @ matrix @ np.linalg.inv(pixels)
    return np.asarray(cv2.warpPerspective(image, way, image.shape[:2], borderMode=cv2.BORDER_REPLICATE))


@pytest.mark.parametrize("game", GAMES)
def test_our_own_drawing_is_known_again(game: str) -> None:
    drawn = _drawn(game)
    assert is_as_drawn(drawn.copy(), drawn)
    assert is_as_drawn(_jpeg(drawn, 90), drawn)
    turn = np.array([[1.01, 0.006, 0.004], [-0.006, 1.01, -0.007], [0.0, 0.0, 1.0]])
    assert is_as_drawn(_moved(drawn, turn), drawn, turn)


@pytest.mark.parametrize("game", GAMES)
def test_another_answer_is_not(game: str) -> None:
    sample = make_sample(Key(f"{game}/{plugin(game).game.tasks[0].kind}", level=2, seed=5))
    rng = sample.key.stream("drawn")
    other = sample.plugin.game.mutate(sample.solution.after, rng)
    image = sample.plugin.renderer.render(other, sample.style).rgb()
    drawn = np.asarray(sample.edited)
    assert not is_as_drawn(image, drawn)
    assert not is_as_drawn(_jpeg(image, 90), drawn)
    assert not is_as_drawn(image, drawn, np.eye(3))


@given(
    game=st.sampled_from(GAMES),
    across=st.integers(20, 470),
    down=st.integers(20, 470),
    colour=st.tuples(*[st.integers(0, 255)] * 3),
    quality=st.sampled_from([None, 95, 80]),
    is_moved=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_stroke_hides_in_it(
    game: str, across: int, down: int, colour: tuple[int, int, int], quality: int | None, is_moved: bool
) -> None:
    """Not even where it is, on the whole, as dark as what it covers."""
    drawn = _drawn(game)
    image = drawn.copy()
    part = np.s_[down : down + 4, across : across + 24]
    image[part] = colour
    assume(np.median(np.abs(image[part].astype(int) - drawn[part]).max(axis=1)) >= 90)
    image = image if quality is None else _jpeg(image, quality)
    assert not is_as_drawn(image, drawn, np.eye(3) if is_moved else None)


def test_no_bar_is_as_dark_as_the_text_that_it_covers() -> None:
    drawn = np.full((256, 256, 3), 255, np.uint8)
    drawn[64:192:3, 32:224] = drawn[64:192, 32:224:3] = 0
    image = drawn.copy()
    image[96:104, 40:200] = image[96:104, 40:200].mean().astype(np.uint8)
    for matrix in (None, np.eye(3)):
        assert is_as_drawn(_jpeg(drawn, 90), drawn, matrix) and not is_as_drawn(_jpeg(image, 90), drawn, matrix)


def test_a_few_pixels_drawn_into_an_untouched_picture_are_seen() -> None:
    drawn = _drawn("maze")
    image = drawn.copy()
    image[100:102, 100:103] //= 2
    assert not is_as_drawn(image, drawn)


def test_flat_areas_have_their_very_shade() -> None:
    drawn = _drawn("chess")
    image = drawn.copy()
    shade = image[200, 200].copy()
    image[(image == shade).all(axis=2)] = np.where(shade < 128, shade + 14, shade - 14)
    assert not is_as_drawn(image, drawn)


def test_pictures_of_other_sizes_moved_or_are_other_pictures() -> None:
    drawn = _drawn("sudoku")
    small = np.asarray(Image.fromarray(drawn).resize((400, 400), Image.Resampling.BICUBIC))
    assert not is_as_drawn(small, drawn)
    assert is_as_drawn(small, drawn, np.eye(3))
