"""How far people agree beyond what chance would give: Cohen's kappa for two, Fleiss' kappa for a fixed number of votes.

Both compare the observed agreement with the one expected if everyone kept their own (Cohen), or all shared the same
(Fleiss), habit of keeping and dropping. Where everyone always says the same there is nothing to compare: None.
J. Cohen, 1960; J. L. Fleiss, 1971.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from realworld.review.ballot import Vote


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two annotators on the items that both of them voted on."""

    first: str
    second: str
    items: int
    observed: float
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over the items with all the votes that were asked for, the first ones of each; and every two annotators."""

    asked: int
    items: int
    observed: float | None  # share of agreeing pairs of votes
    fleiss: float | None
    pairs: tuple[PairAgreement, ...]


def observed_agreement(ratings: Sequence[Sequence[Hashable]]) -> float | None:
    """The share of pairs of votes on the same item that agree; every row has the votes of one item."""
    if not ratings:
        return None
    return sum(_agreeing(row) for row in ratings) / len(ratings)


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float | None:
    """Rows are items, each with the same number of votes, at least two."""
    if not ratings:
        return None
    shares = Counter(vote for row in ratings for vote in row)
    total = shares.total()
    by_chance = sum((count / total) ** 2 for count in shares.values())
    return _beyond(sum(_agreeing(row) for row in ratings) / len(ratings), by_chance)


def cohen_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """One pair of votes for each item: the first person's and the second's."""
    if not pairs:
        return None
    first, second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    by_chance = sum(first[vote] * second[vote] for vote in first) / len(pairs) ** 2
    return _beyond(sum(a == b for a, b in pairs) / len(pairs), by_chance)


def agreement(votes: Iterable[Vote], *, asked: int) -> Agreement:
    """Of the votes of one stage."""
    by_item: dict[str, dict[str, str]] = defaultdict(dict)  # key -> annotator -> verdict, in the order they were cast
    for vote in votes:
        by_item[vote.key][vote.annotator] = vote.ballot.verdict
    full = [tuple(said.values())[:asked] for said in by_item.values() if len(said) >= asked > 1]
    both: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for said in by_item.values():
        for one, other in combinations(sorted(said), 2):
            both[one, other].append((said[one], said[other]))
    pairs = tuple(
        PairAgreement(*names, len(said), sum(a == b for a, b in said) / len(said), cohen_kappa(said))
        for names, said in sorted(both.items())
    )
    return Agreement(asked, len(full), observed_agreement(full), fleiss_kappa(full), pairs)


def _agreeing(row: Sequence[Hashable]) -> float:
    """The share of agreeing pairs among the votes of one item."""
    size = len(row)
    return sum(count * (count - 1) for count in Counter(row).values()) / (size * (size - 1))


def _beyond(observed: float, by_chance: float) -> float | None:
    return None if by_chance > 1 - 1e-12 else (observed - by_chance) / (1 - by_chance)
