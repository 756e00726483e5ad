"""Where a word lies: its first and last cell, its first cell and a direction, or its cells one by one."""

from __future__ import annotations

from collections.abc import Iterator

from gamegen.core.cell import Cell
from gamegen.games.wordsearch import DIRECTIONS
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Sentence, Told


def tellings(told: Told) -> Iterator[Telling]:
    problem = told.problem
    if problem.kind == "find":
        words, colours = [problem.text("word")], [problem.text("colour")]
    else:
        words, colours = problem.text("words").split(), problem.text("colours").split()
    found = [
        f"{line} {colour}"
        for word, colour in zip(words, colours, strict=True)
        if (line := _line(told, word, alone=len(words) == 1))
    ]
    if found:
        yield Telling(tuple(found))


def _line(told: Told, word: str, *, alone: bool) -> str | None:
    """The last line of the word's length that a sentence about it tells."""
    for sentence in reversed(told.sentences):
        if alone or word in sentence.text.upper():
            line = _told_line(sentence, len(word))
            if line:
                return line
    return None


def _told_line(sentence: Sentence, length: int) -> str | None:
    if not sentence.cells:
        return None
    first, last = sentence.cells[0], sentence.cells[-1]
    ways = [way.direction for way in sentence.ways]
    direction = _towards(first, last) or (ways[-1] if ways and first == last else None)
    if direction is None or (ways and ways[-1] != direction):
        return f"{first} {ways[-1]} {length}" if ways else None
    steps = max(abs(last.row - first.row), abs(last.col - first.col)) + 1
    return f"{first} {direction} {length if first == last else steps}"


def _towards(first: Cell, last: Cell) -> str | None:
    d_row, d_col = last.row - first.row, last.col - first.col
    far = max(abs(d_row), abs(d_col))
    if not far or {abs(d_row), abs(d_col)} - {0, far}:
        return None
    return next(name for name, step in DIRECTIONS.items() if step == (d_row // far, d_col // far))
