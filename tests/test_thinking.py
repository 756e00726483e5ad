"""Our own texts check out in both languages, and no longer do once a cell, digit or direction in them is another one;
strangers' texts are read in their own words; texts that say nothing are left alone."""

from __future__ import annotations

import random
import re
from functools import lru_cache
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gamegen
from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput
from gamegen.core.key import Key
from gamegen.negatives import negatives
from gamegen.sample import Sample
from gamegen.thinking import Thinking, check_reasoning
from tests import strangers

TASKS = gamegen.list_tasks()
FOUND = 0.95
"""The share of texts with one number, cell or direction changed that must be found wrong, over all tasks. Some of the
changed sentences are still true (a second reply that also refutes a move), some lose only their grammar: lines left."""

FOUND_PER_TASK = 0.75
NUMBERS_AND_WAYS = {
    "en": re.compile(r"(?<![\w-])(?:up|down|left|right)(?![\w-])|(?<![A-Za-z0-9])[A-Ha-g](?=\d)|\d+"),
    "zh": re.compile(r"(?<=[向往])[上下左右](?![上下左右])|(?<![A-Za-z0-9])[A-Ha-g](?=\d)|\d+"),
}
WAYS = {"en": ("up", "down", "left", "right"), "zh": tuple("上下左右")}


@lru_cache(maxsize=512)
def sample_of(task: str, language: str = "en", *, index: int = 0, level: int = 0, skin: str | None = None) -> Sample:
    level = level or 1 + (TASKS.index(task) + index) % 5
    return gamegen.make_sample(Key(task, level=level, seed=21, index=index, language=language, pixels=256, skin=skin))


def languages(task: str) -> list[tuple[int, str]]:
    """Every level, in turns in both languages."""
    return [(level, ("en", "zh")[(TASKS.index(task) + level) % 2]) for level in range(1, 6)]


def changed(text: str, language: str, rng: random.Random) -> str:
    """The text with one number, column letter or direction replaced by another."""
    spot = rng.choice(list(NUMBERS_AND_WAYS[language].finditer(text)))
    if spot[0].isdecimal():
        new = str(int(spot[0]) + rng.choice((1, 2)))
    elif spot[0] in WAYS[language]:
        new = rng.choice([way for way in WAYS[language] if way != spot[0]])
    else:
        new = chr(ord(spot[0]) + 1)
    return text[: spot.start()] + new + text[spot.end() :]


@pytest.mark.parametrize("task", TASKS)
def test_our_own_texts_hold(task: str) -> None:
    for level, language in languages(task):
        sample = sample_of(task, language, level=level)
        thinking = check_reasoning(sample.row(), sample.reasoning, sample.edited)
        assert thinking.holds and thinking.legal and thinking.correct and thinking.valid == 1, sample.reasoning
        assert thinking.consistent_with_answer
        assert thinking.consistent_with_image or (task, level) == ("wordsearch/find-all", 5)  # too small to read
        heard = sum(claim.end - claim.start for claim in thinking.claims)
        assert heard > 0.95 * len(sample.reasoning)


@pytest.mark.parametrize("task", TASKS)
def test_our_own_texts_do_not_fit_an_untouched_picture(task: str) -> None:
    sample = sample_of(task, level=1)
    assert check_reasoning(sample.row(), sample.reasoning, sample.original).consistent_with_image is False


def test_one_change_is_found() -> None:
    rng = random.Random(5)
    found: dict[str, list[bool]] = {}
    for task in TASKS:
        for level, language in languages(task)[:4]:
            sample = sample_of(task, language, level=level, index=1)
            for _ in range(3):
                text = changed(sample.reasoning, language, rng)
                found.setdefault(task, []).append(check_reasoning(sample.row(), text).holds is False)
    assert {task: hits for task, hits in found.items() if sum(hits) < FOUND_PER_TASK * len(hits)} == {}
    everything = [hit for hits in found.values() for hit in hits]
    assert sum(everything) >= FOUND * len(everything)


@pytest.mark.parametrize("task", TASKS)
def test_another_samples_text_is_not_accepted(task: str) -> None:
    skin = sample_of(task).plugin.renderer.skins[0]
    for index in range(2):
        sample, other = (sample_of(task, index=number, level=3, skin=skin) for number in (index, index + 2))
        thinking = check_reasoning(sample.row(), other.reasoning)
        assert thinking.holds is False
        false = thinking.first_false
        assert false is not None and other.reasoning[false.start : false.end] == false.text


# Strangers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_a_strangers_words_are_read(task: str) -> None:
    for level in (1, 3, 4):
        sample = sample_of(task, level=level, index=2)
        for text in strangers.right(sample):
            thinking = check_reasoning(sample.row(), text)
            assert thinking.legal and thinking.correct and thinking.holds, text
            assert thinking.claims == ()


@pytest.mark.parametrize("task", TASKS)
def test_a_strangers_mistakes_are_found(task: str) -> None:
    for level in (1, 3, 4):
        sample = sample_of(task, level=level, index=2)
        for text in strangers.wrong(sample):
            assert check_reasoning(sample.row(), text).holds is False, text


def test_an_illegal_move_is_named() -> None:
    sample = sample_of("maze/path", level=1)
    start = next(step.action for step in sample.solution.steps if step.action).split()[0]
    replay = check_reasoning(sample.row(), "up 40, then down").replays
    assert replay is not None and not replay.legal and replay.position is None
    assert replay.broken == f"{start} up 40 down 1"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "The picture shows a puzzle. I looked at it carefully and solved it with great care.",
        "I am confident that this is what was asked for!",
        "图中是一个谜题，我仔细看过，已经按照要求完成。",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    ],
)
def test_prose_is_left_alone(task: str, text: str) -> None:
    sample = sample_of(task)
    assert check_reasoning(sample.row(), text, sample.edited) == Thinking((), None, (), (), 1.0, None, None)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(task=st.sampled_from(TASKS), text=st.text(max_size=200))
def test_any_text_gets_a_verdict(task: str, text: str) -> None:
    thinking = check_reasoning(sample_of(task, level=1).row(), text)
    assert thinking.holds in (True, False, None) and 0 <= thinking.valid <= 1


def test_unsure_clauses_tell_no_move() -> None:
    sample = sample_of("pacman/sweep", level=1)
    (action,) = [step.action for step in sample.solution.steps if step.action]
    way = action.split()[0]
    others = [each for each in ("up", "down", "left", "right") if each != way]
    text = f"Going {others[0]} would be worse. So I go {way}, because {others[1]} is blocked."
    assert check_reasoning(sample.row(), text).correct
    assert check_reasoning(sample.row(), f"Going {way} would be worse.").replays is None


# Another right answer -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("index", range(4))
def test_every_mark_is_replayed(language: str, index: int) -> None:
    sample = sample_of("tictactoe/best", language, index=index)
    places = str(sample.problem.position).replace("/", "")
    for place in range(9):
        cell = Cell(*divmod(place, 3))
        replay = check_reasoning(sample.row(), f"{sample.style.labels.name(cell, language)}!").replays
        assert replay is not None and replay.legal == (places[place] == ".")
        if replay.legal:
            (action,) = replay.actions
            position = sample.plugin.game.apply(sample.problem.position, sample.plugin.game.parse_action(action))
            shown = sample.plugin.renderer.render(position, sample.style).image()
            assert replay.correct == gamegen.verify(sample, shown).correct
        else:
            assert not replay.correct


def test_a_text_that_ends_on_another_right_answer_contradicts_itself() -> None:
    for index in range(40):
        sample = sample_of("tictactoe/best", index=index)
        game, problem = sample.plugin.game, sample.problem
        right = [
            action
            for action in game.actions(problem.position)
            if sample.plugin.solver.check(problem, game.apply(problem.position, action)).correct
        ]
        chosen = next(step.action for step in sample.solution.steps if step.action)
        others = [action for action in right if str(action) != chosen]
        if not others:
            continue
        name = sample.style.labels.name(others[0].cell, "en")
        assert check_reasoning(sample.row(), f"I take {name}.").holds
        own = sample.style.labels.name(game.parse_action(chosen).cell, "en")
        torn = sample.reasoning.replace(sample.reference_effect, sample.reference_effect.replace(own, name))
        assert check_reasoning(sample.row(), torn).holds is False


# The picture ----------------------------------------------------------------------------------------------------------


def test_a_picture_may_contradict_a_right_text() -> None:
    sample = sample_of("tictactoe/best", index=2)
    for negative in negatives(sample, 6):
        thinking = check_reasoning(sample.row(), sample.reasoning, negative.image)
        assert thinking.consistent_with_answer and thinking.correct
        assert thinking.consistent_with_image is False
    assert check_reasoning(sample.row(), sample.reasoning, b"no picture").consistent_with_image is None


def test_where_the_sokoban_player_stops_does_not_count() -> None:
    sample = sample_of("sokoban/solve", level=2)
    game, after = sample.plugin.game, sample.solution.after
    walk = next(action for action in game.actions(after) if str(action).startswith("walk"))
    image = sample.plugin.renderer.render(game.apply(after, walk), sample.style).image()
    assert check_reasoning(sample.row(), sample.reasoning, image).consistent_with_image


# Cells ----------------------------------------------------------------------------------------------------------------


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
        ("11", "R2C3 or r1c1, row 2 of column 3", [(1, 2), (0, 0), (1, 2)]),
        ("1A", "C2, row 1, column B; not a1, nor X-86, X860", [(1, 2), (0, 1)]),
        ("1A", "所以B3是空的", [(2, 1)]),
        ("11", "row 2, columns 1 to 3; column 3, from row 1 to row 2", [(1, 0), (1, 2), (0, 2), (1, 2)]),
        ("11", "columns 1-2 of row 3, row 1", [(2, 0), (2, 1)]),
        ("1A", "row 2, columns A through C, row 1, column B to a place", [(1, 0), (1, 2), (0, 1)]),
        ("11", "row 2, column 3 to 2 cells below", [(1, 2)]),
        ("11", "第2行第1列到第3列，第2列第1到3行", [(1, 0), (1, 2), (0, 1), (2, 1)]),
        ("11", "交换(1, 2)和(3, 1)", [(0, 1), (2, 0)]),
        ("8a", "The rook goes from e4 to a8.", [(4, 4), (0, 0)]),
        ("11", "C2 means nothing where columns have numbers, nor does column 2", []),
    ],
)
def test_cells_are_read_by_the_labels(labels: str, text: str, cells: list[tuple[int, int]]) -> None:
    assert read_with(labels, text).named == tuple(Cell(*cell) for cell in cells)


def test_cells_off_the_board() -> None:
    off = read_with("11", "row 4, column 1 or row 1, column 1")
    assert off.valid == 0.5 and off.holds is False
    with pytest.raises(BadInput, match="lacks"):
        check_reasoning({"task": "tictactoe/best"}, "row 1, column 1")
