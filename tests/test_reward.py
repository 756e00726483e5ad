"""Rewards: strict by the rules, dense as documented, nothing for copying or for nothing, order kept over processes."""

from __future__ import annotations

import io
from dataclasses import replace
from operator import le

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gamegen.core.errors import BadInput
from gamegen.core.key import Key
from gamegen.core.stream import Stream
from gamegen.core.verdict import Verdict
from gamegen.registry import tasks
from gamegen.reward import CEILING, IDLE, NEEDED, Grade, RewardPool, dense_reward, grade, progress, reward
from gamegen.sample import Sample, make_sample
from gamegen.slips import slips

WRONG = Verdict(
    correct=False, legal=False, readable=True, preserved=0.0, quality=0.5, confidence=1.0, reason="", position="after"
)
SHARES = st.floats(0, 1)


def sample(task: str, index: int = 0) -> Sample:
    return make_sample(Key(task, split="train", level=1, seed=4, index=index, pixels=384))


def light(row: Sample) -> dict[str, object]:
    return {name: row[name] for name in NEEDED}


@pytest.mark.parametrize("task", tasks())
def test_every_task_pays_for_the_answer_and_for_nothing_else(task: str) -> None:
    one = sample(task)
    row = light(one)
    assert reward(row, one["edited_image"]) == reward(row, one["edited_image"], dense=True) == 1.0
    assert reward(row, one["original_image"]) == 0.0
    assert 0 <= reward(row, one["original_image"], dense=True) <= IDLE
    blank = Image.new("RGB", (384, 384), "white")
    assert reward(row, blank) == 0.0 and reward(row, blank, dense=True) <= IDLE
    assert reward(row, None) == reward(row, None, dense=True) == 0.0


@pytest.mark.parametrize("task", ["sudoku/solve", "tictactoe/best", "sokoban/push", "chess/move"])
def test_another_samples_answer_gets_no_more_than_the_ceiling(task: str) -> None:
    for index in range(1, 4):
        graded = grade(light(sample(task)), sample(task, index)["edited_image"])
        assert graded.strict == 0.0 and 0.0 <= graded.dense <= CEILING
        assert all(0 <= value <= 1 for value in graded.measures().values())


def test_every_digit_of_a_sudoku_pays() -> None:
    one = sample("sudoku/solve")
    before, after = one["position_before"], one["position_after"]
    empty = [place for place, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    credits = []
    for count in range(len(empty) + 1):
        upto = empty[count - 1] + 1 if count else 0
        position = one.plugin.game.parse(after[:upto] + before[upto:])
        credits.append(reward(one, one.plugin.renderer.render(position, one.style).image(), dense=True))
    assert len(credits) > 2 and credits == sorted(set(credits))
    assert credits[0] == IDLE and credits[-2] <= CEILING and credits[-1] == 1.0


@pytest.mark.parametrize("junk", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n" + bytes(40), "no/such/file.png"])
def test_an_unreadable_picture_gets_nothing(junk: bytes | str) -> None:
    row = light(sample("tictactoe/best"))
    assert reward(row, junk) == reward(row, junk, dense=True) == 0.0


def test_a_truncated_picture_gets_nothing() -> None:
    one = sample("maze/path")
    stream = io.BytesIO()
    one.edited.save(stream, "JPEG")
    whole = stream.getvalue()
    assert reward(one, whole) == 1.0
    assert reward(one, whole[: len(whole) // 2]) == 0.0


def test_a_row_that_cannot_be_judged_is_an_error_and_no_zero() -> None:
    one = sample("tictactoe/best")
    with pytest.raises(BadInput, match="lacks position_before"):
        reward({"task": one["task"], "params": "{}", "style": "{}"}, one.edited)
    with pytest.raises(BadInput, match="unknown"):
        reward({**light(one), "task": "tictactoe/bets"}, one.edited)


# The dense formula ----------------------------------------------------------------------------------------------------


def credit(part: float, kept: float, legal: bool) -> float:
    return dense_reward(replace(WRONG, parts={"cells": part}, preserved=kept, legal=legal), "before")


@given(part=SHARES, more_part=SHARES, kept=SHARES, more_kept=SHARES, legal=st.booleans(), more_legal=st.booleans())
def test_dense_grows_with_parts_preservation_and_legality(
    part: float, more_part: float, kept: float, more_kept: float, legal: bool, more_legal: bool
) -> None:
    low = credit(min(part, more_part), min(kept, more_kept), legal and more_legal)
    high = credit(max(part, more_part), max(kept, more_kept), legal or more_legal)
    assert IDLE <= low <= high <= CEILING


@pytest.mark.parametrize("task", tasks())
def test_dense_orders_the_results_of_every_game(task: str) -> None:
    """Whatever is no better in any term gets no more: over results that careless editors and wrong plans lead to."""
    one = make_sample(Key(task, level=2, seed=17, pixels=256))
    plugin, problem, before = one.plugin, one.problem, str(one.problem.position)
    rng = Stream("dense", task)
    results = [plugin.game.mutate(start, rng) for start in (problem.position, one.solution.after) * 12]
    results += [plugin.game.mutate(result, rng) for result in results]
    results += [position for _, position in slips(plugin.game.name, problem, one.solution.after)[:12]]
    graded = []
    for result in results:
        check = plugin.solver.check(problem, result)
        verdict = replace(WRONG, correct=check.correct, legal=check.legal, preserved=check.preserved,
                          parts=check.parts, position=str(result))  # fmt: skip
        terms = (progress(verdict), verdict.preserved, float(verdict.legal))
        graded += [] if check.correct or str(result) == before else [(terms, dense_reward(verdict, before))]
    for terms, dense in graded:
        assert IDLE <= dense <= CEILING
        assert all(dense <= more for better, more in graded if all(map(le, terms, better)))
    assert len({dense for _, dense in graded}) > 1


def test_dense_is_the_documented_sum() -> None:
    assert credit(0.5, 0.25, True) == pytest.approx(0.9 * (0.4 * 0.5 + 0.3 * 0.25 + 0.2 + 0.1))
    assert credit(0.0, 0.0, False) == IDLE == pytest.approx(0.09)
    assert credit(1.0, 1.0, True) == pytest.approx(0.9)
    two = replace(WRONG, parts={"a": 1.0, "b": 0.0})
    assert dense_reward(two, "before") == pytest.approx(0.9 * (0.4 * 0.5 + 0.1))


@given(kept=SHARES, part=SHARES, legal=st.booleans())
def test_copying_gets_the_same_whatever_it_keeps(kept: float, part: float, legal: bool) -> None:
    copy = replace(WRONG, position="before", preserved=kept, parts={"cells": part}, legal=legal)
    assert dense_reward(copy, "before") == IDLE <= credit(part, kept, legal)


def test_right_is_one_and_unreadable_is_nothing_whatever_the_parts() -> None:
    assert dense_reward(replace(WRONG, correct=True), "before") == 1.0
    assert dense_reward(replace(WRONG, readable=False, preserved=1.0, parts={"cells": 1.0}), "before") == 0.0


def test_measures_have_the_same_names_for_every_verdict() -> None:
    assert Grade(WRONG, 0.5).measures().keys() == grade(sample("maze/path"), None).measures().keys()


# Many at once ---------------------------------------------------------------------------------------------------------


def test_the_pool_keeps_the_order() -> None:
    rows = [sample("tictactoe/best", index) for index in range(6)]
    images = [
        row["edited_image"] if index % 2 else None if index == 2 else row["original_image"]
        for index, row in enumerate(rows)
    ]
    with RewardPool(jobs=2, dense=True) as pool:
        assert pool(rows, images) == [IDLE, 1.0, 0.0, 1.0, IDLE, 1.0]
        with pytest.raises(ValueError):
            pool(rows, images[:-1])
