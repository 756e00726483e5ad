"""Where words stand in a square of letters, by two methods that share no code.

`count_lines` searches rows, columns and diagonals as texts, forwards and backwards. `scan` does what a person does:
from every cell that holds the word's first letter, letter by letter in each of the eight directions.
"""

from __future__ import annotations

from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from gamegen.core.cell import Cell
from gamegen.games.wordsearch import DIRECTIONS, WordGrid


class Try(NamedTuple):
    """How far the word goes from one start in one direction; at least its first letter fits."""

    start: Cell
    direction: str
    fits: int


def scan(position: WordGrid, word: str) -> list[Try]:
    """Every try of a word, in reading order of its start."""
    width = position.size + 1
    text = "\n" * width + "\n".join(position.letters) + "\n" * (width + 1)
    steps = [(name, d_row * width + d_col) for name, (d_row, d_col) in DIRECTIONS.items()]
    tries = []
    at = text.find(word[0])
    while at >= 0:
        start = Cell(at // width - 1, at % width)
        for name, step in steps:
            fits, here = 1, at + step
            while fits < len(word) and text[here] == word[fits]:
                fits += 1
                here += step
            tries.append(Try(start, name, fits))
        at = text.find(word[0], at + 1)
    return tries


def count_lines(letters: tuple[str, ...], word: str) -> int:
    """How often a word stands in the grid, in all eight directions."""
    total = 0
    backwards = word[::-1]
    flat = "".join(letters) + "\n"
    for order in _orders(len(letters)):
        text = "".join(order(flat))
        total += _count(text, word) + _count(text, backwards)
    return total


def _count(text: str, word: str) -> int:
    """Overlapping ones too, which str.count leaves out."""
    total, at = 0, text.find(word)
    while at >= 0:
        total += 1
        at = text.find(word, at + 1)
    return total


@lru_cache(maxsize=32)
def _orders(size: int) -> tuple[itemgetter[Any], ...]:
    """Rows, columns and both diagonals, each as the places of one text; the place past the last is the line break."""
    stop, span = size * size, range(size)
    lines = (
        [[row * size + col for col in span] for row in span],
        [[row * size + col for row in span] for col in span],
        [[row * size + row + shift for row in span if 0 <= row + shift < size] for shift in range(1 - size, size)],
        [[row * size + total - row for row in span if 0 <= total - row < size] for total in range(2 * size - 1)],
    )
    return tuple(itemgetter(*(place for each in group for place in (*each, stop))) for group in lines)
