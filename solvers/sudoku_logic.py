"""How a person solves a sudoku: the techniques, from the easiest to the hardest.

A *candidate* of an empty cell is a digit that is not ruled out for it; sets of candidates are bit masks (bit d - 1
for digit d). A *single* is a cell with one candidate left (naked), or the only cell of a house with a certain
candidate (hidden). A *cut* rules candidates out without filling a cell. Cuts are looked for only when there is no
single, in this order: locked candidates, naked and hidden pairs, naked triples, X-wings, and last a trial: a
candidate that, through singles alone, leaves a cell without candidates or a house without a place for a digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from operator import itemgetter
from typing import Any

from gamegen.games.sudoku import BOXES, Grid, houses, houses_of, peers

TECHNIQUES = ("naked", "hidden", "locked-box", "locked-line", "naked-pair", "hidden-pair", "naked-triple", "x-wing")
"""Rules in rising order of difficulty; `suppose-cell` and `suppose-house` (trials) are harder, `search` hardest."""

LONGEST_TRIAL, SHORT_TRIAL = 6, 3
"""Forced cells that a trial may run through: a person can still follow these, or finds them short enough to stop."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Candidates that a pattern rules out. Which of the fields a rule uses, its sentence shows."""

    rule: str
    digits: tuple[int, ...]
    cells: tuple[int, ...]  # of the pattern
    gone: tuple[tuple[int, int], ...]  # cell number and the mask of the candidates it loses
    house: int = -1  # a place in houses(size)
    lines: tuple[int, ...] = ()  # further places in houses(size)
    chain: tuple[tuple[int, int], ...] = ()  # of a trial: the cells and digits it forces, in order
    dead: int = -1  # of a trial: the cell or the house that is left without


class Marks:
    """The candidates of a grid while it is being solved. Filled cells have none."""

    __slots__ = ("digits", "masks", "size")

    def __init__(self, grid: Grid) -> None:
        self.size = grid.size
        self.digits = list(grid.digits)
        full = (1 << grid.size) - 1
        self.masks = [0 if digit else full for digit in grid.digits]
        for number, digit in enumerate(grid.digits):
            if digit:
                self._clear(number, digit)

    def copy(self) -> Marks:
        twin = Marks.__new__(Marks)
        twin.size, twin.digits, twin.masks = self.size, self.digits.copy(), self.masks.copy()
        return twin

    def place(self, number: int, digit: int) -> None:
        self.digits[number] = digit
        self.masks[number] = 0
        self._clear(number, digit)

    def _clear(self, number: int, digit: int) -> None:
        masks, keep = self.masks, ~(1 << digit - 1)
        for peer in peers(self.size)[number]:
            masks[peer] &= keep

    def cut(self, gone: Iterable[tuple[int, int]]) -> None:
        for number, mask in gone:
            self.masks[number] &= ~mask

    def singles(self) -> dict[int, int]:
        """Every single, naked or hidden: cell number -> digit."""
        masks = self.masks
        found = {number: mask.bit_length() for number, mask in enumerate(masks) if mask and not mask & (mask - 1)}
        for house, masks_of in _getters(self.size):
            once = twice = 0
            for mask in masks_of(masks):
                twice |= once & mask
                once |= mask
            alone = once & ~twice
            if alone:
                for number in house:
                    if masks[number] & alone:
                        found.setdefault(number, (masks[number] & alone).bit_length())
        return found

    def dead_end(self) -> tuple[str, int, int] | None:
        """`cell`, its number and 0, or `house`, its place and a digit without a place in it; None if there is none."""
        for number, mask in enumerate(self.masks):
            if not mask and not self.digits[number]:
                return "cell", number, 0
        full = (1 << self.size) - 1
        for place, house in enumerate(houses(self.size)):
            held = 0
            for number in house:
                held |= self.masks[number] | 1 << self.digits[number] >> 1
            if held != full:
                return "house", place, ((~held & full) & -(~held & full)).bit_length()
        return None

    def is_single(self, number: int, digit: int) -> bool:
        mask, bit = self.masks[number], 1 << digit - 1
        if mask == bit:
            return True
        return bool(mask & bit) and any(
            not any(self.masks[other] & bit for other in house if other != number)
            for house in houses_of(self.size)[number]
        )


def find_cut(marks: Marks) -> Cut | None:
    """The first cut of the easiest technique that rules anything out."""
    for technique in (_locked, _naked_pairs, _hidden_pairs, _naked_triples, _x_wings):
        for cut in technique(marks):
            return cut
    return _trial(marks)


def _locked(marks: Marks) -> Iterator[Cut]:
    """A digit of one box only in one line, or of one line only in one box: it goes nowhere else in the other."""
    for box_place, line_place, shared, in_box, in_line in _crossings(marks.size):
        masks = marks.masks
        here = _union(masks, shared)
        rest_box, rest_line = _union(masks, in_box), _union(masks, in_line)
        for rule, mask, losers, house, line in (
            ("locked-box", here & ~rest_box & rest_line, in_line, box_place, line_place),
            ("locked-line", here & ~rest_line & rest_box, in_box, line_place, box_place),
        ):
            if mask:
                bit = mask & -mask
                cells = tuple(number for number in shared if masks[number] & bit)
                gone = tuple((number, bit) for number in losers if masks[number] & bit)
                yield Cut(rule, (bit.bit_length(),), cells, gone, house, (line,))


def _naked_pairs(marks: Marks) -> Iterator[Cut]:
    yield from _naked(marks, 2, "naked-pair")


def _naked_triples(marks: Marks) -> Iterator[Cut]:
    yield from _naked(marks, 3, "naked-triple")


def _naked(marks: Marks, count: int, rule: str) -> Iterator[Cut]:
    """Some cells of a house share as many candidates: no other cell of the house can have them."""
    masks = marks.masks
    for place, house in enumerate(houses(marks.size)):
        few = [number for number in house if masks[number] and masks[number].bit_count() <= count]
        for cells in combinations(few, count):
            mask = _union(masks, cells)
            if mask.bit_count() != count:
                continue
            gone = tuple((n, masks[n] & mask) for n in house if masks[n] & mask and n not in cells)
            if gone:
                yield Cut(rule, digits_of(mask), cells, gone, place)


def _hidden_pairs(marks: Marks) -> Iterator[Cut]:
    """Two digits of a house with the same two places left: nothing else can stand there."""
    masks = marks.masks
    for place, house in enumerate(houses(marks.size)):
        homes: dict[tuple[int, ...], int] = {}
        for digit in range(1, marks.size + 1):
            bit = 1 << digit - 1
            cells = tuple(number for number in house if masks[number] & bit)
            if len(cells) != 2:
                continue
            mask = homes.get(cells, 0) | bit
            homes[cells] = mask
            gone = tuple((number, masks[number] & ~mask) for number in cells if masks[number] & ~mask)
            if mask.bit_count() == 2 and gone:
                yield Cut("hidden-pair", digits_of(mask), cells, gone, place)


def _x_wings(marks: Marks) -> Iterator[Cut]:
    """A digit whose two places in each of two rows share two columns: the columns' other cells lose it; or turned."""
    size, masks, lines = marks.size, marks.masks, houses(marks.size)
    for digit in range(1, size + 1):
        bit = 1 << digit - 1
        for first, across in ((0, size), (size, 0)):
            pairs: dict[tuple[int, ...], int] = {}
            for place in range(first, first + size):
                inner = tuple(i for i, number in enumerate(lines[place]) if masks[number] & bit)
                if len(inner) != 2:
                    continue
                twin = pairs.setdefault(inner, place)
                crossed = tuple(across + i for i in inner)
                cells = tuple(lines[line][i] for line in (twin, place) for i in inner)
                gone = tuple((n, bit) for line in crossed for n in lines[line] if masks[n] & bit and n not in cells)
                if twin != place and gone:
                    yield Cut("x-wing", (digit,), cells, gone, -1, (twin, place, *crossed))


def _trial(marks: Marks) -> Cut | None:
    """The first short trial that fails, in a cell with two candidates, else the shortest; None if all are too long."""
    best: Cut | None = None
    for number, mask in enumerate(marks.masks):
        if mask.bit_count() != 2:
            continue
        for digit in digits_of(mask):
            cut = _refute(marks, number, digit)
            if cut and len(cut.chain) <= SHORT_TRIAL:
                return cut
            if cut and (best is None or len(cut.chain) < len(best.chain)):
                best = cut
    return best


def _refute(marks: Marks, number: int, digit: int) -> Cut | None:
    trial = marks.copy()
    trial.place(number, digit)
    chain: list[tuple[int, int]] = []
    while not (dead := trial.dead_end()):
        singles = trial.singles()
        if not singles or len(chain) > 2 * LONGEST_TRIAL:
            return None
        for entry in singles.items():
            chain.append(entry)
            trial.place(*entry)
    for entry in reversed(chain.copy()):
        shorter = [each for each in chain if each != entry]
        if end := replay_trial(marks, number, digit, shorter):
            chain, dead = shorter, end
    if len(chain) > LONGEST_TRIAL:
        return None
    what, place, missing = dead
    digits = (digit, missing) if what == "house" else (digit,)
    return Cut(f"suppose-{what}", digits, (number,), ((number, 1 << digit - 1),), chain=tuple(chain), dead=place)


def replay_trial(
    marks: Marks, number: int, digit: int, chain: Iterable[tuple[int, int]]
) -> tuple[str, int, int] | None:
    """The dead end that a trial runs into through this chain; None if a link is not forced, or there is no dead end."""
    trial = marks.copy()
    trial.place(number, digit)
    for link in chain:
        if not trial.is_single(*link):
            return None
        trial.place(*link)
    return trial.dead_end()


def digits_of(mask: int) -> tuple[int, ...]:
    return tuple(digit for digit in range(1, mask.bit_length() + 1) if mask >> digit - 1 & 1)


def _union(masks: list[int], numbers: Iterable[int]) -> int:
    union = 0
    for number in numbers:
        union |= masks[number]
    return union


@lru_cache(maxsize=8)
def _getters(size: int) -> tuple[tuple[tuple[int, ...], itemgetter[Any]], ...]:
    """Every house, and what fetches its cells' masks fastest."""
    return tuple((house, itemgetter(*house)) for house in houses(size))


Crossing = tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]


@lru_cache(maxsize=8)
def _crossings(size: int) -> tuple[Crossing, ...]:
    """Every box and line that share cells: their places, the shared cells, the rest of the box, that of the line."""
    if BOXES[size] is None:
        return ()
    every, found = houses(size), []
    for box in range(2 * size, 3 * size):
        for line in range(2 * size):
            shared = tuple(number for number in every[box] if number in every[line])
            if shared:
                in_box = tuple(number for number in every[box] if number not in shared)
                in_line = tuple(number for number in every[line] if number not in shared)
                found.append((box, line, shared, in_box, in_line))
    return tuple(found)
