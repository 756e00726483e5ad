"""Glyphs against plain averaging, and against what a reader of boards needs: one line, one centre, no twins."""

from __future__ import annotations

import json
import os
import string
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamegen.core.errors import BadInput
from renderers import glyphs
from renderers.inks import FULL

ATLAS = Path(glyphs.__file__).parent / "atlas"
HEIGHTS = (8, 12, 20, 40, 90)


@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 9), st.data())
@settings(max_examples=80, deadline=None)
def test_shrinking_is_the_average_by_area(seed: int, rows: int, cols: int, data: st.DataObject) -> None:
    ink = np.random.Generator(np.random.PCG64(seed)).integers(0, FULL + 1, (rows, cols), dtype=np.uint8)
    high, wide = data.draw(st.integers(1, rows)), data.draw(st.integers(1, cols))
    fine = np.kron(ink, np.ones((high, wide), int))  # rows x high by cols x wide: both grids fit
    sums = fine.reshape(high, rows, wide, cols).sum(axis=(1, 3))
    expected = (2 * sums + rows * cols) // (2 * rows * cols)
    assert np.array_equal(glyphs._scaled(ink, high, wide), expected)


def test_enlarging_keeps_flat_areas_and_order() -> None:
    step = np.repeat(np.array([[0, FULL]], np.uint8), 4, axis=1)
    wide = glyphs._scaled(step, 1, 37)[0].astype(int)
    assert wide[0] == 0
    assert wide[-1] == FULL
    assert (np.diff(wide) >= 0).all()
    assert np.array_equal(glyphs._scaled(np.full((2, 3), 7, np.uint8), 11, 13), np.full((11, 13), 7))


@pytest.mark.parametrize("face", glyphs.FACES)
def test_capitals_fill_their_height_and_width(face: str) -> None:
    for height in HEIGHTS:
        letter = glyphs.glyph("H", face=face, height=height)
        assert letter.shape[0] == height
        assert letter.max() >= FULL - 1  # a thin stem at 8 pixels may miss a fifteenth
        assert letter.any(axis=1).all()
        assert letter[:, 0].any()
        assert letter[:, -1].any()


@pytest.mark.parametrize("face", glyphs.FACES)
def test_every_character_at_every_height(face: str) -> None:
    for char in glyphs.CHARACTERS:
        for height in (1, 5, *HEIGHTS, 192, 300):
            ink = glyphs.glyph(char, face=face, height=height)
            assert (ink.shape[0] - height) % 2 == 0  # so the capitals stay in the middle
            assert 0 < ink.max() <= FULL


@pytest.mark.parametrize("face", glyphs.FACES)
def test_digits_and_capitals_have_no_twins(face: str) -> None:
    """The reader tells cells apart by their tiles; 8 pixels is the smallest label we draw."""
    for height in (8, 12):
        for family in (string.digits, string.ascii_uppercase):
            tiles = [glyphs.glyph(char, face=face, height=height) for char in family]
            assert len({(tile.shape, tile.tobytes()) for tile in tiles}) == len(tiles)


@pytest.mark.parametrize("face", glyphs.FACES)
def test_digits_are_centred(face: str) -> None:
    for height in HEIGHTS:
        for digit in string.digits:
            ink = glyphs.glyph(digit, face=face, height=height)
            rows = np.flatnonzero(ink.any(axis=1))
            middle = (rows[0] + rows[-1] + 1) / 2
            assert abs(middle - ink.shape[0] / 2) <= 0.03 * height + 0.5


def test_letters_stand_on_one_line() -> None:
    for height in HEIGHTS:
        feet = []
        for char in "Hxn":
            ink = glyphs.glyph(char, face="sans", height=height)
            pad = (ink.shape[0] - height) // 2
            feet.append(int(np.flatnonzero(ink.any(axis=1))[-1]) - pad)
        assert feet == [height - 1] * 3
        hanging = glyphs.glyph("g", face="sans", height=height)
        assert hanging.shape[0] > height


def test_text_is_its_glyphs_side_by_side() -> None:
    one, two = (glyphs.glyph(char, face="bold", height=30) for char in "HE")
    line = glyphs.text("HE", face="bold", height=30)
    assert np.array_equal(line[:, : one.shape[1]], one)
    assert np.array_equal(line[:, -two.shape[1] :], two)
    gap = line.shape[1] - one.shape[1] - two.shape[1]
    assert 1 <= gap <= 10
    assert not line[:, one.shape[1] : one.shape[1] + gap].any()
    assert glyphs.text("H E", face="bold", height=30).shape[1] > line.shape[1]
    assert np.array_equal(glyphs.text("7", face="bold", height=30), glyphs.glyph("7", face="bold", height=30))


def test_mono_advances_are_equal() -> None:
    widths = {glyphs.text(f"H{char}H", face="mono", height=48).shape[1] for char in string.ascii_letters}
    assert len(widths) == 1


def test_results_are_read_only_and_remembered() -> None:
    ink = glyphs.glyph("A", face="sans", height=20)
    assert glyphs.glyph("A", face="sans", height=20) is ink
    for coverage in (ink, glyphs.text("A1", face="sans", height=20)):
        with pytest.raises(ValueError, match="read-only"):
            coverage[0, 0] = 1


def test_unfit_requests_are_refused() -> None:
    with pytest.raises(BadInput, match="did you mean 'serif'"):
        glyphs.glyph("A", face="serifs", height=20)
    with pytest.raises(BadInput, match="no glyph for '龍'"):
        glyphs.glyph("龍", face="sans", height=20)
    for height in (0, -3, glyphs.MAX_HEIGHT + 1):
        with pytest.raises(BadInput, match="cap height"):
            glyphs.glyph("A", face="sans", height=height)
    for nothing in ("", "  "):
        with pytest.raises(BadInput):
            glyphs.text(nothing, face="sans", height=20)


def test_the_atlas_holds_every_face_and_its_licence() -> None:
    assert {path.stem for path in ATLAS.glob("*.png")} == set(glyphs.FACES)
    licences = [path.read_text(encoding="utf-8") for path in ATLAS.glob("LICENSE-*.txt")]
    for face in glyphs.FACES:
        table = json.loads((ATLAS / f"{face}.json").read_text(encoding="utf-8"))
        assert "".join(table["glyphs"]) == glyphs.CHARACTERS
        assert any(f"{face}.png" in text and "Copyright" in text for text in licences), table["font"]


PROGRAM = """
import hashlib
import sys
from renderers import glyphs
digest = hashlib.sha256()
for face in glyphs.FACES:
    for height in (8, 19, 57, 250):
        for char in glyphs.CHARACTERS:
            digest.update(glyphs.glyph(char, face=face, height=height).tobytes())
    digest.update(glyphs.text("Row 7 (a, b)", face=face, height=23).tobytes())
print(digest.hexdigest())
assert "PIL" not in sys.modules
"""


def test_same_glyphs_in_another_process_and_for_ever() -> None:
    """Also: nothing that could open a font is loaded."""
    environment = {**os.environ, "PYTHONHASHSEED": "5", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "94d5f24ef4de006a63c06a43ec9f928a6042adad9f47814ca0aeebd1bd6845a1"
