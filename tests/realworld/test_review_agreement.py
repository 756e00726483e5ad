"""Agreement beyond chance, against values worked out by hand."""

from __future__ import annotations

import pytest

from realworld.review.agreement import agreement, cohen_kappa, fleiss_kappa, observed_agreement
from realworld.review.ballot import Ballot, Vote


def cast(*said: tuple[str, str, str]) -> list[Vote]:
    """Votes of stage 1, in order: who, on what, and what."""
    return [
        Vote(number, 1, key, key, who, float(number), None, Ballot(verdict))  # type: ignore[arg-type]
        for number, (who, key, verdict) in enumerate(said, 1)
    ]


def test_cohen_of_a_two_by_two_table() -> None:
    """20 both yes, 15 both no, 5 yes/no, 10 no/yes: observed 0.7; by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa 0.4."""
    pairs = [("y", "y")] * 20 + [("n", "n")] * 15 + [("y", "n")] * 5 + [("n", "y")] * 10
    assert cohen_kappa(pairs) == pytest.approx(0.4)


def test_cohen_at_its_ends() -> None:
    assert cohen_kappa([("y", "y"), ("n", "n")]) == 1
    assert cohen_kappa([("y", "n"), ("n", "y")]) == pytest.approx(-1)  # observed 0, by chance 1/2
    assert cohen_kappa([("y", "y"), ("y", "n")]) == pytest.approx(0)  # observed 1/2, by chance 1/2
    assert cohen_kappa([("y", "y")] * 9) is None, "who always says the same cannot be told from chance"
    assert cohen_kappa([]) is None


def test_fleiss_of_three_people_and_four_items() -> None:
    """Agreeing pairs 1, 1/3, 1/3, 1: mean 2/3. Of 12 votes 7 keep: by chance (49 + 25) / 144 = 37/72.

    kappa = (2/3 - 37/72) / (1 - 37/72) = (48 - 37) / 35 = 11/35.
    """
    ratings = ["kkk", "kkd", "kkd", "ddd"]
    assert observed_agreement(ratings) == pytest.approx(2 / 3)
    assert fleiss_kappa(ratings) == pytest.approx(11 / 35)


def test_fleiss_of_the_published_example() -> None:
    """Fourteen raters, ten subjects, five categories (the usual textbook table): kappa 0.210."""
    table = (
        "0 0 0 0 14, 0 2 6 4 2, 0 0 3 5 6, 0 3 9 2 0, 2 2 8 1 1, 7 7 0 0 0, 3 2 6 3 0, 2 5 3 2 2, 6 5 2 1 0, 0 2 2 3 7"
    )
    rows = [
        [category for category, count in enumerate(map(int, row.split())) for _ in range(count)]
        for row in table.split(", ")
    ]
    assert {len(row) for row in rows} == {14}
    assert fleiss_kappa(rows) == pytest.approx(0.2099, abs=5e-5)


def test_fleiss_where_all_say_the_same() -> None:
    assert fleiss_kappa(["kk", "kk"]) is None and fleiss_kappa([]) is None
    assert fleiss_kappa(["kd", "kd"]) == pytest.approx(-1)


def test_only_items_with_all_votes_count_and_of_those_the_first() -> None:
    votes = cast(
        ("ann", "a", "keep"), ("ben", "a", "keep"),
        ("ann", "b", "keep"), ("ben", "b", "drop"), ("cem", "b", "drop"),  # the third broke the tie
        ("ben", "c", "drop"), ("ann", "c", "drop"),  # in another order
        ("ann", "d", "keep"),
    )  # fmt: skip
    found = agreement(votes, asked=2)
    assert found.items == 3 and found.observed == pytest.approx(2 / 3)
    # keep keep, keep drop, drop drop: half of the six votes keep, by chance 1/2; (2/3 - 1/2) / (1/2)
    assert found.fleiss == pytest.approx(1 / 3)
    ann_ben, ann_cem, ben_cem = found.pairs
    assert (ann_ben.first, ann_ben.second, ann_ben.items) == ("ann", "ben", 3)
    # ann keeps 2 of 3, ben 1 of 3: by chance 2/9 + 2/9; (2/3 - 4/9) / (5/9)
    assert ann_ben.kappa == pytest.approx(0.4) and ann_ben.observed == pytest.approx(2 / 3)
    assert (ann_cem.items, ann_cem.observed, ann_cem.kappa) == (1, 0, 0)
    assert (ben_cem.items, ben_cem.observed, ben_cem.kappa) == (1, 1, None)


def test_one_vote_for_each_agrees_with_nobody() -> None:
    found = agreement(cast(("ann", "a", "keep"), ("ben", "b", "drop")), asked=1)
    assert (found.items, found.observed, found.fleiss, found.pairs) == (0, None, None, ())
