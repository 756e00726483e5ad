"""Hiding words in a square of letters: placing them, decoys that begin like them, and letters for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gamegen.core.errors import Rejected
from gamegen.core.stream import Stream
from gamegen.core.words import FOLDER
from gamegen.games.wordsearch import ALPHABET, DIRECTIONS
from solvers.wordlines import count_lines

WORD_LIST = FOLDER / "lists" / "common.txt"
LETTER_BAG = "EEEEEEAAAAAOOOOIIIINNNNRRRRTTTTSSSSLLLDDDUUUCCMMPPGGHHBBYYFFWWKKVVJXQZ"
"""Letters for the cells between the words, roughly as often as in English words."""

PLACINGS = 40
"""How often a word or decoy is thrown onto the grid before it is given up."""


@dataclass(frozen=True, slots=True)
class Level:
    sizes: tuple[int, int]
    lengths: tuple[int, int]
    directions: int  # how many of DIRECTIONS are used, in their order
    words: int  # for find-all
    decoys: tuple[int, int]  # lines that begin like a word and go on otherwise
    echo: float  # share of the other cells that repeat letters of the words


LEVELS = {
    1: Level((6, 7), (3, 5), 2, 2, (0, 0), 0.0),
    2: Level((8, 9), (4, 6), 4, 3, (1, 1), 0.0),
    3: Level((10, 12), (5, 7), 8, 3, (2, 4), 0.1),
    4: Level((13, 16), (5, 8), 8, 4, (5, 8), 0.2),
    5: Level((17, 20), (6, 10), 8, 5, (10, 14), 0.3),
}


def hide(level: int, kind: str, rng: Stream) -> tuple[list[str], tuple[str, ...]]:
    """Words, and the letters of a grid in which each of them stands exactly once."""
    plan = LEVELS[level]
    size = rng.between(*plan.sizes)
    words = _draw_words(plan, plan.words if kind == "find-all" else 1, rng)
    grid: list[str] = [""] * (size * size)
    for word in words:
        if not _place(grid, size, word, plan.directions, rng):
            raise Rejected("no room for a word")
    for _ in range(rng.between(*plan.decoys)):
        _place(grid, size, _decoy(rng.choice(words), rng), len(DIRECTIONS), rng)
    letters = _filled(grid, size, "".join(words), plan.echo, rng)
    if any(count_lines(letters, word) != 1 for word in words):
        raise Rejected("a word occurs twice")
    return words, letters


@lru_cache(maxsize=16)
def _words(shortest: int, longest: int) -> tuple[str, ...]:
    rows = WORD_LIST.read_text(encoding="utf-8").splitlines()
    words = (word for row in rows if not row.startswith("#") for word in row.split())
    return tuple(word for word in words if shortest <= len(word) <= longest)


def _draw_words(plan: Level, count: int, rng: Stream) -> list[str]:
    """Words of which none can be read inside another, in either direction."""
    words: list[str] = []
    for _ in range(count):
        word = rng.choice(_words(*plan.lengths))
        if any(a in b or a[::-1] in b for other in words for a, b in ((word, other), (other, word))):
            raise Rejected("one word is part of another")
        words.append(word)
    return words


def _decoy(word: str, rng: Stream) -> str:
    """Two or more letters of the word, then a wrong one."""
    fits = rng.between(2, len(word) - 1)
    wrong = rng.choice([letter for letter in ALPHABET if letter != word[fits]])
    return word[:fits] + wrong


def _place(grid: list[str], size: int, word: str, directions: int, rng: Stream) -> bool:
    """Write the word on free cells; False if no throw of PLACINGS finds room."""
    steps = tuple(DIRECTIONS.values())
    for _ in range(PLACINGS):
        d_row, d_col = steps[rng.below(directions)]
        row, col = rng.below(size), rng.below(size)
        reach = len(word) - 1
        if not (0 <= row + d_row * reach < size and 0 <= col + d_col * reach < size):
            continue
        places = [(row + d_row * i) * size + col + d_col * i for i in range(len(word))]
        if not any(grid[place] for place in places):
            for place, letter in zip(places, word, strict=True):
                grid[place] = letter
            return True
    return False


def _filled(grid: list[str], size: int, echoed: str, echo: float, rng: Stream) -> tuple[str, ...]:
    draw = rng.random
    bag = LETTER_BAG
    if echo:
        repeats = round(len(bag) * echo / (1 - echo) / len(echoed)) or 1
        bag += echoed * repeats
    count = len(bag)
    text = "".join([letter or bag[int(draw() * count)] for letter in grid])
    return tuple(text[i : i + size] for i in range(0, size * size, size))
