"""Means that say how sure they are: a 95 % bootstrap interval, and how much was covered.

The bootstrap draws in two stages: categories with replacement, then samples with replacement within each drawn
category. Samples of one category succeed and fail together, so drawing samples alone would give too narrow an interval.
With one category the first stage is empty, and the interval is the ordinary bootstrap's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from gamegen.core.stream import Stream

RESAMPLES = 2000
LEVEL = 0.95
Z = 1.959963984540054
"""The normal quantile that belongs to the level."""
CHUNK = 200_000
"""Draws that are held at once."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `count` samples of `total`; `covered` of them had a picture and a complete verdict."""

    mean: float | None  # None if nothing was counted
    interval: tuple[float, float] | None
    count: int
    total: int
    covered: int

    def as_json(self) -> dict[str, Any]:
        return {
            "mean": None if self.mean is None else round(self.mean, 6),
            "interval": None if self.interval is None else [round(bound, 6) for bound in self.interval],
            "count": self.count,
            "coverage": round(self.covered / self.total, 6) if self.total else 0.0,
            "failures": self.total - self.covered,
        }


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many. The interval is Wilson's, which stays honest where a bootstrap shrinks to a point: at none
    and at all. It takes the cases as independent."""

    count: int
    of: int

    @property
    def rate(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.of:
            return None
        share, square = self.count / self.of, Z * Z / self.of
        centre = (share + square / 2) / (1 + square)
        half = Z / (1 + square) * sqrt(share * (1 - share) / self.of + square / (4 * self.of))
        return max(0.0, centre - half), min(1.0, centre + half)

    def as_json(self) -> dict[str, Any]:
        rate, interval = self.rate, self.interval
        return {
            "count": self.count,
            "of": self.of,
            "rate": None if rate is None else round(rate, 6),
            "interval": None if interval is None else [round(bound, 6) for bound in interval],
        }


def estimate(
    samples: Sequence[Mapping[str, float] | None],
    categories: Sequence[str],
    stream: Stream,
    *,
    covered: int,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate]:
    """The mean of every measure, with its interval; None is a sample without a verdict. Measures share the draws."""
    groups: dict[str, list[list[float]]] = {}
    names: list[str] = []
    for sample, category in zip(samples, categories, strict=True):
        if sample is not None:
            names = list(sample)
            groups.setdefault(category, []).append(list(sample.values()))
    if not groups:
        return {}
    present = [np.asarray(groups[category], dtype=np.float64) for category in sorted(groups)]  # each (n, measures)
    every = np.concatenate(present)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(bootstrap_means(present, stream, resamples=resamples), [tail, 1 - tail], axis=0)
    return {
        name: Estimate(
            float(every[:, place].mean()), (float(low[place]), float(high[place])), len(every), len(samples), covered
        )
        for place, name in enumerate(names)
    }


def nothing(total: int) -> Estimate:
    """The estimate when no sample had a verdict."""
    return Estimate(None, None, 0, total, 0)


def bootstrap_means(groups: Sequence[Floats], stream: Stream, *, resamples: int) -> Floats:
    """(resamples, measures): the means of each resample of non-empty groups, of shape (n, measures) each."""
    values = np.concatenate(groups)
    sizes = np.array([len(group) for group in groups])
    starts = np.cumsum(sizes) - sizes
    # The raw bits of a bit generator are promised never to change; numpy's ways of drawing from them are not.
    bits = np.random.PCG64(stream.below(2**53))
    means = np.empty((resamples, values.shape[1]))
    if len(groups) == 1:
        return _means_of_one(values, bits, means)
    for number in range(resamples):
        drawn = (_uniform(bits, len(groups)) * len(groups)).astype(np.intp)
        counts = sizes[drawn]
        within = _uniform(bits, int(counts.sum())) * np.repeat(counts, counts)
        means[number] = values[np.repeat(starts[drawn], counts) + within.astype(np.intp)].mean(axis=0)
    return means


def _means_of_one(values: Floats, bits: np.random.PCG64, means: Floats) -> Floats:
    """As for several groups, and from the same bits, but many resamples at a time: each takes equally many."""
    size = len(values)
    at_once = max(1, CHUNK // (size + 1))
    for first in range(0, len(means), at_once):
        count = min(at_once, len(means) - first)
        drawn = _uniform(bits, count * (size + 1)).reshape(count, size + 1)[:, 1:]  # the first chose the only group
        means[first : first + count] = values[(drawn * size).astype(np.intp)].mean(axis=1)
    return means


def spread(passes: Sequence[float]) -> float | None:
    """The standard deviation between the means of repeated passes (n - 1); None for fewer than two."""
    return float(np.std(passes, ddof=1)) if len(passes) > 1 else None


def _uniform(bits: np.random.PCG64, count: int) -> Floats:
    """Numbers in [0, 1) from the upper 53 of 64 raw bits."""
    raw: npt.NDArray[np.uint64] = np.asarray(bits.random_raw(count), dtype=np.uint64)
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53
