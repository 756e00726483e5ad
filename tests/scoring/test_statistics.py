"""Intervals against numbers worked out by hand, and against a plain bootstrap written with loops."""

from __future__ import annotations

import numpy as np
import pytest

from gamegen.core.stream import Stream
from scoring.statistics import RESAMPLES, Estimate, nothing, spread
from scoring.statistics import estimate as estimate_all


def estimate(values: list[float | None], names: list[str], stream: Stream, *, resamples: int = RESAMPLES) -> Estimate:
    samples = [None if value is None else {"it": value} for value in values]
    covered = sum(value is not None for value in values)
    return estimate_all(samples, names, stream, covered=covered, resamples=resamples)["it"]


def test_a_constant_has_no_spread() -> None:
    found = estimate([0.5] * 7, ["a"] * 4 + ["b"] * 3, Stream("t"))
    assert (found.mean, found.interval, found.count) == (0.5, (0.5, 0.5), 7)


def test_the_interval_of_a_fair_coin_is_that_of_the_binomial() -> None:
    """400 tosses, half heads: the standard error is 0.025, so the interval is 0.5 -/+ 1.96 x 0.025."""
    found = estimate([0.0, 1.0] * 200, ["a"] * 400, Stream("t"), resamples=4000)
    assert found.mean == 0.5 and found.interval is not None
    assert found.interval == pytest.approx((0.451, 0.549), abs=0.004)


def test_categories_that_differ_widen_the_interval() -> None:
    """Ten categories, half all right and half all wrong: the clusters decide, standard error 0.5 / sqrt(10)."""
    values = [float(number % 2) for number in range(10) for _ in range(40)]
    names = [f"c{number}" for number in range(10) for _ in range(40)]
    found = estimate(values, names, Stream("t"))
    assert found.interval == pytest.approx((0.2, 0.8), abs=0.11)
    alone = estimate(values, ["one"] * 400, Stream("t"))
    assert found.interval is not None and alone.interval is not None
    assert found.interval[1] - found.interval[0] > 4 * (alone.interval[1] - alone.interval[0])


def test_it_agrees_with_a_bootstrap_written_with_loops() -> None:
    groups = {"a": [0.0, 1.0, 1.0, 0.0, 1.0], "b": [1.0, 0.2, 0.9], "c": [0.0, 0.0, 0.1, 0.4]}
    draws = np.random.default_rng(5)
    means = []
    for _ in range(3000):
        drawn: list[float] = []
        for name in draws.choice(list(groups), 3):
            drawn.extend(draws.choice(groups[name], len(groups[name])))
        means.append(np.mean(drawn))
    values = [value for group in groups.values() for value in group]
    names = [name for name, group in groups.items() for _ in group]
    found = estimate(values, names, Stream("t"), resamples=3000)
    assert found.interval == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.03)


def test_what_has_no_verdict_is_counted_and_not_averaged() -> None:
    found = estimate([1.0, None, 0.0, None], ["a", "a", "b", "b"], Stream("t")).as_json()
    assert found["mean"] == 0.5 and found["count"] == 2 and found["coverage"] == 0.5 and found["failures"] == 2
    assert estimate_all([None], ["a"], Stream("t"), covered=0) == {}
    assert nothing(1).as_json() == {"mean": None, "interval": None, "count": 0, "coverage": 0.0, "failures": 1}


def test_the_same_stream_gives_the_same_interval_in_any_order_of_categories() -> None:
    values, names = [0.0, 1.0, 1.0, 0.25], ["a", "a", "b", "b"]
    one = estimate(values, names, Stream("t"))
    assert one == estimate(values, names, Stream("t"))
    assert one == estimate(values[2:] + values[:2], names[2:] + names[:2], Stream("t"))
    spaced = [number**1.5 for number in range(40)]
    assert estimate(spaced, ["a"] * 40, Stream("t")) != estimate(spaced, ["a"] * 40, Stream("other"))


def test_lengths_must_agree_and_spread_needs_two() -> None:
    with pytest.raises(ValueError, match="shorter"):
        estimate([1.0], [], Stream("t"))
    assert spread([3.0]) is None
    assert spread([1.0, 3.0]) == pytest.approx(2**0.5)
