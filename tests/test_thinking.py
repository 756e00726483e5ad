"""Our own texts check out in both languages, and no longer do once a cell or a digit in them is another one."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest

import gamegen
from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput
from gamegen.core.key import Key
from gamegen.negatives import negatives
from gamegen.sample import Sample
from gamegen.thinking import Thinking, check_reasoning
from renderers.board import BoardRenderer

TASKS = gamegen.list_tasks()
SILENT = ("reconstruction/project", "reconstruction/voxel", "spaceinvaders/volley")
"""Tasks whose texts do not name the cells of the result."""


def sample_of(task: str, language: str = "en", *, index: int = 0, skin: str | None = None) -> Sample:
    level = 1 + (TASKS.index(task) + index) % 5
    return gamegen.make_sample(Key(task, level=level, seed=21, index=index, language=language, pixels=256, skin=skin))


def untouched_cells(sample: Sample) -> list[Cell]:
    """The cells whose pixels are the same before and after, to the last."""
    renderer, position = sample.plugin.renderer, sample.problem.position
    assert isinstance(renderer, BoardRenderer)
    differ = (sample.original_picture.rgb() != sample.edited_picture.rgb()).any(axis=2)
    rows, cols = renderer.size(position)
    cells = [Cell(row, col) for row in range(rows) for col in range(cols)]
    return [each for each in cells if not differ[renderer.mask(frozenset({each}), position, sample.style)].any()]


def renamed(sample: Sample, text: str, old: Cell, new: Cell) -> str:
    labels, language = sample.style.labels, sample.key.language
    turned = f"第{labels.col(old.col)}列第{labels.row(old.row)}行"
    return re.sub(rf"(?i:{re.escape(labels.name(old, language))}|{turned})(?!\d)", labels.name(new, language), text)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("task", TASKS)
def test_our_own_texts_check_out(task: str, language: str) -> None:
    for index in range(2):
        sample = sample_of(task, language, index=index)
        thinking = check_reasoning(sample.row(), sample.reasoning, sample.edited)
        assert thinking.valid == 1
        assert thinking.consistent_with_answer is thinking.consistent_with_image is not False
        if task in SILENT:
            assert thinking.consistent_with_answer is None
        elif not task.startswith("spaceinvaders"):  # whose texts may say "column 7" alone
            assert thinking.consistent_with_answer and thinking.named
            assert check_reasoning(sample.row(), sample.reasoning, sample.original).consistent_with_image is False


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("task", [task for task in TASKS if task not in SILENT])
def test_another_cell_does_not(task: str, language: str) -> None:
    sample = sample_of(task, language)
    thinking = check_reasoning(sample.row(), sample.reasoning)
    if thinking.consistent_with_answer is None:
        assert task.startswith("spaceinvaders")
        return
    same = untouched_cells(sample)
    old = next(cell for cell in (*thinking.final, *thinking.named) if cell not in same)
    new = next(cell for cell in same if cell not in thinking.named)
    tampered = renamed(sample, sample.reasoning, old, new)
    assert tampered != sample.reasoning
    assert check_reasoning(sample.row(), tampered, sample.edited).consistent_with_image is False
    assert check_reasoning(sample.row(), tampered).consistent_with_answer is False


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("index", range(4))
def test_every_mark_is_replayed(language: str, index: int) -> None:
    sample = sample_of("tictactoe/best", language, index=index)
    places = str(sample.problem.position).replace("/", "")
    for place in range(9):
        cell = Cell(*divmod(place, 3))
        text = f"{sample.reasoning} {sample.style.labels.name(cell, language)}!"
        replay = check_reasoning(sample.row(), text).replays
        assert replay is not None and replay.legal == (places[place] == ".")
        if replay.legal:
            position = sample.plugin.game.apply(sample.problem.position, sample.plugin.game.parse_action(replay.action))
            shown = sample.plugin.renderer.render(position, sample.style).image()
            assert replay.correct == gamegen.verify(sample, shown).correct
        else:
            assert not replay.correct


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("skin", ["colours", "newspaper"])
def test_another_digit_or_colour_is_replayed_and_wrong(skin: str, language: str) -> None:
    for index in range(3):
        sample = sample_of("sudoku/next", language, index=index, skin=skin)
        row, effect = sample.row(), sample.reference_effect
        terms = sample.plugin.renderer.terms(sample.style, language)
        replay = check_reasoning(row, effect).replays
        assert replay is not None and replay.legal and replay.correct
        cell, _, right = replay.action.partition("=")
        name = sample.style.labels.name(Cell.parse(cell), language)
        for digit in "1234":
            word = terms.get(f"d{digit}", digit)
            told = check_reasoning(row, f"{effect} {name}: {word}.").replays
            assert told is not None and told.action == f"{cell}={digit}" and told.correct == (digit == right)


def test_a_picture_may_contradict_a_right_text() -> None:
    sample = sample_of("tictactoe/best", index=2)
    for negative in negatives(sample, 6):
        thinking = check_reasoning(sample.row(), sample.reasoning, negative.image)
        assert thinking.consistent_with_answer and thinking.replays is not None and thinking.replays.correct
        if negative.error in ("wrong-move", "untouched"):
            assert thinking.consistent_with_image is False
    assert check_reasoning(sample.row(), sample.reasoning, b"no picture").consistent_with_image is None


def read_with(labels: str, text: str) -> Thinking:
    row: dict[str, Any] = dict(sample_of("tictactoe/best").row())
    style = orjson.loads(row["style"])
    style["picks"]["labels"] = labels
    return check_reasoning(row | {"style": orjson.dumps(style).decode()}, text)


@pytest.mark.parametrize(
    ("labels", "text", "cells"),
    [
        ("11", "Row 3, column 2 is free", [(2, 1)]),
        ("00", "row 1 and column 2, then (0,1).", [(1, 2), (0, 1)]),
        ("11", "第3行第2列、第1行第1列和第2列第3行", [(2, 1), (0, 0), (2, 1)]),
        ("11", "row 1, column 2 and row 3, column 1", [(0, 1), (2, 0)]),
        ("1A", "C2, row 1, column B; not a1, nor X-86, X860", [(1, 2), (0, 1)]),
        ("1A", "所以B3是空的", [(2, 1)]),
        ("8a", "The rook goes from e4 to a8.", [(4, 4), (0, 0)]),
        ("11", "C2 means nothing where columns have numbers, nor does column 2", []),
    ],
)
def test_cells_are_read_by_the_labels(labels: str, text: str, cells: list[tuple[int, int]]) -> None:
    assert read_with(labels, text).named == tuple(Cell(*cell) for cell in cells)


def test_cells_off_the_board_and_no_cells() -> None:
    off = read_with("11", "row 4, column 1 or row 1, column 1")
    assert off.valid == 0.5 and off.consistent_with_answer is False
    nothing = read_with("11", "I take the centre.")
    assert nothing == Thinking((), (), 1.0, None, None, None)
    with pytest.raises(BadInput, match="lacks"):
        check_reasoning({"task": "tictactoe/best"}, "row 1, column 1")
