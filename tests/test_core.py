"""The foundation: streams, keys, words, categories, errors, steps, and pictures from outside."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gamegen.core.categories import CATEGORIES, category
from gamegen.core.cell import OPPOSITE, STEPS, Cell, Labels
from gamegen.core.errors import BadInput, GamegenError, UnreadableImage, unknown
from gamegen.core.key import DEFAULT_PIXELS, LANGUAGES, LARGEST, LEVELS, SMALLEST, SPLITS, VERSION, Key
from gamegen.core.problem import Step, steps_from_json, steps_to_json
from gamegen.core.rendering import Style
from gamegen.core.stream import Stream
from gamegen.core.verdict import Verdict
from gamegen.core.words import Count, Speaker
from gamegen.images import MAX_PIXELS, MIN_SIDE, load_rgb

# Streams --------------------------------------------------------------------------------------------------------------


def test_a_stream_is_pinned_for_ever() -> None:
    """Draws written down once; if they change, every dataset ever made changes."""
    stream = Stream("maze/path@1:train:3:42:17", "problem", 0)
    assert [stream.below(1000) for _ in range(5)] == [329, 459, 758, 132, 746]
    assert Stream("a", 1).shuffled(range(10)) == [5, 2, 6, 0, 3, 9, 4, 1, 7, 8]


def test_names_are_told_apart() -> None:
    """`ab` + `c` is not `a` + `bc`, and 1 after 11 not 11 after 1."""
    names = [("ab", "c"), ("a", "bc"), ("abc",), ("a", "b", "c"), ("x", 1, 11), ("x", 11, 1)]
    assert len({Stream(*name).random() for name in names}) == len(names)


def test_draws_keep_their_bounds_and_are_fair() -> None:
    stream = Stream("fair")
    assert {stream.between(3, 5) for _ in range(200)} == {3, 4, 5}
    assert {stream.below(4) for _ in range(200)} == {0, 1, 2, 3}
    counts = Counter(stream.weighted("abc", (1, 2, 7)) for _ in range(5000))
    for letter, share in zip("abc", (0.1, 0.2, 0.7), strict=True):
        assert abs(counts[letter] / 5000 - share) < 0.03
    assert 0.25 < sum(stream.chance(0.3) for _ in range(5000)) / 5000 < 0.35


def test_shuffles_reach_every_order_equally() -> None:
    counts = Counter(tuple(Stream("shuffle", n).shuffled("abc")) for n in range(3000))
    assert len(counts) == 6 and min(counts.values()) > 400


@given(st.lists(st.integers()), st.integers(0, 50))
def test_samples_are_parts(items: list[int], count: int) -> None:
    stream = Stream("sample", count)
    if count > len(items):
        with pytest.raises(ValueError, match="cannot draw"):
            stream.sample(items, count)
    else:
        drawn = stream.sample(items, count)
        assert len(drawn) == count and not Counter(drawn) - Counter(items)
    assert sorted(stream.shuffled(items)) == sorted(items)


# Keys -----------------------------------------------------------------------------------------------------------------

KEYS = st.builds(
    Key,
    task=st.from_regex(r"[a-z0-9_]{1,12}/[a-z0-9-]{1,12}", fullmatch=True),
    split=st.sampled_from(SPLITS),
    level=st.sampled_from(LEVELS),
    seed=st.integers(),
    index=st.integers(0),
    skin=st.none() | st.from_regex(r"[a-z0-9-]{1,12}", fullmatch=True),
    language=st.sampled_from(LANGUAGES),
    pixels=st.integers(SMALLEST, LARGEST),
)


@given(KEYS)
def test_ids_parse_back(key: Key) -> None:
    assert Key.parse(key.id) == key and Key.parse(f"  {key.id}\n") == key
    assert key.id.startswith(key.base)


@given(KEYS, KEYS)
def test_different_keys_have_different_ids(one: Key, two: Key) -> None:
    assert (one == two) == (one.id == two.id)


def test_how_a_sample_is_shown_does_not_change_what_it_is() -> None:
    plain, shown = Key("maze/path", seed=3), Key("maze/path", seed=3, skin="dark", language="zh", pixels=256)
    assert plain.stream("problem").random() == shown.stream("problem").random()
    assert plain.stream("problem").random() != plain.stream("style").random()


@pytest.mark.parametrize(
    "text",
    [
        "", "maze", "maze/path", "maze/path@1:train:3:42", "maze/path@1:train:3:42:-1", "maze/path@1:train:9:42:1",
        "maze/path@1:dev:3:42:17", "maze/path@99:train:3:42:17", "maze/path@1:train:3:42:17?colour=red",
        "maze/path@1:train:3:42:17?pixels=big", "maze/path@1:train:3:42:17?pixels=99999",
        "maze/path@1:train:3:42:17?language=tlh", "MAZE/path@1:train:3:42:17", "../maze@1:train:3:42:17",
    ],
)  # fmt: skip
def test_ids_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadInput):
        Key.parse(text)


def test_the_documented_id_is_one() -> None:
    key = Key.parse("sokoban/push@1:train:3:42:17?skin=dark&language=zh&pixels=256")
    assert key == Key("sokoban/push", "train", 3, 42, 17, VERSION, "dark", "zh", 256)
    assert Key.parse("sokoban/push@1:train:3:42:17").pixels == DEFAULT_PIXELS


# Cells, labels and words ----------------------------------------------------------------------------------------------


@given(st.integers(0, 99), st.integers(0, 25))
def test_cells_parse_back_and_steps_undo_each_other(row: int, col: int) -> None:
    cell = Cell(row, col)
    assert Cell.parse(str(cell)) == cell
    assert all(cell.moved(way).moved(OPPOSITE[way]) == cell != cell.moved(way) for way in STEPS)


def test_labels_name_cells_as_people_do() -> None:
    cell = Cell(2, 1)
    assert Labels.parse("1A").name(cell, "en") == "B3"
    assert Labels.parse("00").name(cell, "en") == "row 2, column 1"
    assert Labels.parse("11").name(cell, "zh") == "第3行第2列"
    assert (Labels.parse("0A").row(0), Labels.parse("0A").col(0)) == ("0", "A")


BOOK = """
[en.go]
rules = ["{mover} moves to {cell}."]
several = ["one {cell}", "two {cell}", "three {cell}"]
[en.steps]
count = ["there {n:#is|are} {n:box|boxes} at {where}, all {colour}"]
[en.terms]
crate = "wooden crate"
[zh.steps]
count = ["{where}有{n}个{colour}的箱子"]
"""


def speaker(tmp_path: Path, language: str = "en", labels: str = "11") -> Speaker:
    book = tmp_path / "book.toml"
    book.write_text(BOOK, encoding="utf-8")
    return Speaker(book, language, labels=Labels.parse(labels), terms={"mover": "red"}, rng=Stream("words"))


def test_facts_become_sentences(tmp_path: Path) -> None:
    where = (Cell(0, 0), Cell(0, 1), Cell(2, 2))
    facts = {"n": 3, "where": where, "colour": "@red"}
    assert (
        speaker(tmp_path).say("steps", "count", facts)
        == "There are 3 boxes at row 1, column 1; row 1, column 2 and row 3, column 3, all red"
    )
    assert (
        speaker(tmp_path, labels="1A").say("steps", "count", facts | {"n": 1})
        == "There is 1 box at A1, B1 and C3, all red"
    )
    assert speaker(tmp_path, "zh").say("steps", "count", {**facts, "where": where[:2]}) == (
        "第1行第1列和第1行第2列有3个红色的箱子"
    )
    assert speaker(tmp_path).say("go", "rules", {"cell": Cell(0, 0)}) == "Red moves to row 1, column 1."


def test_wordings_are_picked_by_the_stream(tmp_path: Path) -> None:
    voice = speaker(tmp_path)
    assert len({voice.say("go", "several", {"cell": "@crate"}) for _ in range(40)}) == 3


def test_sentences_name_cells_by_the_labels() -> None:
    assert Labels("1", "A").told("Cell (0, 2) is still empty.") == "C1 is still empty."
    assert Labels("0", "0").told("a box at cell (3, 2), but none") == "A box at row 3, column 2, but none"
    assert Labels("1", "1").told("Cells (1, 4) and (1, 11) hold the same.") == (
        "Row 2, column 5 and row 2, column 12 hold the same."
    )
    assert Labels("8", "a").told("Nothing is said of cells (or squares).") == "Nothing is said of cells (or squares)."


def test_missing_words_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"steps\.fly.*'en'"):
        speaker(tmp_path).say("steps", "fly", {})
    with pytest.raises(BadInput, match="'fr'"):
        speaker(tmp_path, "fr")


def test_counts_choose_their_noun() -> None:
    assert (
        f"{Count(1):box|boxes} {Count(0):box|boxes} {Count(2):#box|boxes} {Count(7):03d}" == "1 box no boxes boxes 007"
    )


FACTS = st.recursive(
    st.text(max_size=5) | st.integers(-99, 99) | st.builds(Cell, st.integers(0, 9), st.integers(0, 9)),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)


@given(st.lists(st.builds(Step, st.text(max_size=5), st.dictionaries(st.text(max_size=5), FACTS, max_size=3))))
def test_steps_survive_json(steps: list[Step]) -> None:
    back = steps_from_json(steps_to_json(steps))
    assert [(s.rule, dict(s.facts), s.action) for s in back] == [(s.rule, dict(s.facts), s.action) for s in steps]


# Styles and verdicts -------------------------------------------------------------------------------------------------


def test_styles_survive_json_and_nonsense_is_refused() -> None:
    style = Style("dark", 512, (("labels", "1A"), ("line_width", 3), ("page", "#0a0b0c")))
    assert Style.from_json(style.to_json()) == style
    assert style.colours() == {"page": (10, 11, 12)} and style.number("line_width") == 3
    with pytest.raises(KeyError, match="picks no 'face'"):
        style.text("face")
    for text in (
        "",
        "[]",
        "{}",
        '{"skin": "a", "pixels": "wide", "picks": {}}',
        '{"skin": 1, "pixels": 5, "picks": 3}',
    ):
        with pytest.raises(BadInput):
            Style.from_json(text)


def test_partial_credit_is_not_in_the_score() -> None:
    nearly = Verdict(False, True, True, 1.0, 1.0, 1.0, "Nearly.", parts={"cells": 0.99})
    assert nearly.score == 0.0


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("came", "is_known_as"),
    [
        ("Tic-tac-toe", "Tictactoe"), ("tic_tac_toe", "Tictactoe"), ("3DReconstruction", "3D Reconstruction"),
        ("3d reconstruct", "3D Reconstruction"), ("Space Invaders", "Space Invader"), ("jewel", "Jewel2"),
        ("WordSearch", "Word Search"), ("World Search", "Word Search"), ("PACMAN", "Pacman"),
    ],
)  # fmt: skip
def test_categories_in_other_spellings(came: str, is_known_as: str) -> None:
    assert category(came) == is_known_as


def test_categories_are_the_papers() -> None:
    paper = {name: place for name, place in CATEGORIES.items() if name != "Chess"}
    assert len(paper) == 18 and len({dimension for _, dimension in paper.values()}) == 8
    assert Counter(scenario for scenario, _ in paper.values()) == {"real": 9, "game": 9}
    assert all(category(name) == name for name in CATEGORIES)
    with pytest.raises(BadInput, match="did you mean 'Sudoku'"):
        category("sudokku")


def test_unknown_names_suggest_the_nearest() -> None:
    assert str(unknown("game", "mase", ["maze", "sokoban"])) == "unknown game 'mase'; did you mean 'maze'?"
    assert str(unknown("game", "qqq", ["maze", "sokoban"])) == "unknown game 'qqq'; known: maze, sokoban"
    assert isinstance(unknown("a", "b", []), GamegenError)


# Pictures from outside -----------------------------------------------------------------------------------------------


def encoded(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


@pytest.fixture
def corner() -> Image.Image:
    """Grey, with a red patch in the top left corner: tells turned from upright."""
    image = Image.new("RGB", (64, 48), (90, 90, 90))
    image.paste((255, 0, 0), (0, 0, 16, 16))
    return image


def test_all_ways_in_give_the_same_pixels(corner: Image.Image, tmp_path: Path) -> None:
    wanted = np.asarray(corner)
    corner.save(tmp_path / "corner.png")
    ways = (
        corner, encoded(corner), str(tmp_path / "corner.png"), tmp_path / "corner.png", wanted,
        wanted.transpose(2, 0, 1), wanted / 255.0, corner.convert("RGBA"), corner.quantize(16),
        encoded(corner.quantize(4)), encoded(corner, "WEBP", lossless=True), encoded(corner, "BMP"),
    )  # fmt: skip
    for way in ways:
        assert np.array_equal(load_rgb(way), wanted), way


def test_transparency_becomes_white() -> None:
    clear = Image.new("RGBA", (40, 40), (255, 0, 0, 0))
    assert (load_rgb(encoded(clear)) == 255).all()
    palette = Image.new("P", (40, 40))
    palette.putpalette([200, 0, 0, 0, 0, 0])
    assert (load_rgb(encoded(palette, transparency=0)) == 255).all()
    half = Image.new("LA", (40, 40), (0, 128))
    assert abs(int(load_rgb(encoded(half))[0, 0, 0]) - 127) <= 1


def test_deep_and_grey_pictures_keep_their_tones() -> None:
    ramp = np.linspace(0, 65535, 64 * 64).astype(np.uint16).reshape(64, 64)
    seen = load_rgb(encoded(Image.fromarray(ramp)))
    assert seen.shape == (64, 64, 3) and np.abs(seen[..., 0].astype(int) - ramp / 257).max() <= 1
    assert (load_rgb(Image.new("L", (40, 40), 77)) == 77).all()
    assert (load_rgb(Image.new("1", (40, 40), 1)) == 255).all()


def test_pictures_are_turned_upright(corner: Image.Image) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # taken with the camera on its side: turn by a quarter, clockwise
    sideways = corner.transpose(Image.Transpose.ROTATE_90)
    seen = load_rgb(encoded(sideways, "PNG", exif=exif))
    assert np.array_equal(seen, np.asarray(corner))


def bomb(width: int, height: int) -> bytes:
    """The header of a huge picture, and next to no data."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [
        b"", b"not a picture", b"\x89PNG\r\n\x1a\n", bomb(30_000, 30_000), bomb(2**31 - 1, 2**31 - 1),
        bomb(4097, 4096), bomb(64, 64), b"GIF89a" + b"\0" * 50, b"\xff\xd8\xff\xe0" + b"\0" * 100,
    ],
)  # fmt: skip
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableImage):
        load_rgb(data)


def test_sizes_have_limits() -> None:
    assert MAX_PIXELS == 4096**2
    with pytest.raises(UnreadableImage, match="shows no board"):
        load_rgb(Image.new("RGB", (MIN_SIDE - 1, 400)))
    assert load_rgb(Image.new("RGB", (MIN_SIDE, MIN_SIDE))).shape == (MIN_SIDE, MIN_SIDE, 3)
    with pytest.raises(UnreadableImage, match="are not opened"):
        load_rgb(Image.new("1", (4097, 4096)))


def test_every_truncation_is_refused_or_whole(corner: Image.Image) -> None:
    """A file cut anywhere is an UnreadableImage, never another exception and never half a picture."""
    for form in ("PNG", "JPEG", "WEBP"):
        data = encoded(corner, form)
        for cut in random.Random(form).sample(range(len(data) - 4), 40):
            try:
                seen = load_rgb(data[:cut])
            except UnreadableImage:
                continue
            assert np.array_equal(seen, load_rgb(data)), (form, cut)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((64, 64, 2), np.uint8), np.zeros((64,), np.uint8), np.zeros((2, 3, 64, 64), np.uint8),
        np.zeros((64, 64, 3), np.int64), np.full((64, 64, 3), np.nan), np.full((64, 64, 3), np.inf),
        np.zeros((0, 0, 3), np.uint8), np.zeros((64, 64, 3), object),
    ],
)  # fmt: skip
def test_arrays_that_are_no_picture_are_refused(array: np.ndarray) -> None:
    with pytest.raises(UnreadableImage):
        load_rgb(array)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableImage, match="gone"):
        load_rgb(tmp_path / "gone.png")
    with pytest.raises(UnreadableImage):
        load_rgb(tmp_path)
