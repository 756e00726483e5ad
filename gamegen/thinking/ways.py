"""Directions as people write them: `right, right, down`, `R R D`, `→→↓`, `3 cells to the right`, `向右走3格`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BLANK = "\x00"
"""What stands in for the characters of a cell's name, which are not to be read as anything else."""

_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {
    **{word: number for number, word in enumerate(_WORDS, start=1)},
    **{word: number for number, word in enumerate("一二三四五六七八九十", start=1)},
    "两": 2,
    "once": 1,
    "twice": 2,
}
_NUMBER = rf"(\d{{1,2}}|once|twice|{'|'.join(_WORDS)}|[一二两三四五六七八九十])"
_UNIT = r"(?:cells?|steps?|squares?|spaces?|tiles?|times|columns?|格|步|次|列|行)?"
_COUNT_AFTER = re.compile(
    rf"\s*(?:by|for|x|×|\*|走|推|画|移动?|前进)?\s*[(（]?{_NUMBER}(?![A-Za-z0-9]|\s*[,，]\s*\d)\s*[)）]?\s*{_UNIT}",
    re.IGNORECASE,
)
_COUNT_BEFORE = re.compile(
    rf"(?<![\w,]){_NUMBER}\s*(?:×|x|\*)?\s*{_UNIT}\s*(?:to the|towards the|to)?\s*$", re.IGNORECASE
)

_SIGNS = {
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
    "⬆": "up",
    "⬇": "down",
    "⬅": "left",
    "➡": "right",
    "↖": "up-left",
    "↗": "up-right",
    "↙": "down-left",
    "↘": "down-right",
}
_LETTERS = {"U": "up", "D": "down", "L": "left", "R": "right", "上": "up", "下": "down", "左": "left", "右": "right"}
_POINTS = {"north": "up", "south": "down", "west": "left", "east": "right"}

_SLANT = r"(?P<level>up|down|top|bottom|upper|lower)[-\s]?(?P<side>left|right)"
_COMPASS = r"(?P<pole>north|south)[-\s]?(?P<coast>east|west)"
_UP = rf"up(?!\s+to\s(?!{BLANK}))"  # not "up to you"
_LEFT = r"(?<!is )(?<!are )(?<!was )left(?!\s+(?:over|with|for)\b)"  # not "three are left"
_RIGHT = r"right(?!\s+(?:answer|there|in front|behind|away|now|move|choice|solution|place|next to|before|after)\b)"
_PLAIN = rf"(?<!facing )(?<!looks )(?<!looking )(?P<plain>{_UP}|down|{_LEFT}|{_RIGHT}|north|south|west|east)"
_NO_LINK = rf"→(?!\s*[A-Za-z{BLANK}])|(?<![A-Za-z{BLANK}])(?<![A-Za-z{BLANK}]\s)→"  # not "A1 → A2"
_ARROW = rf"(?P<sign>[{''.join(_SIGNS).replace('→', '')}]|{_NO_LINK})"
_TOWARDS = r"(?<!面)[向往朝](?P<towards>[左右][上下]|[上下左右])(?!看)"
_MOVED = r"(?P<moved>[左右][上下]|(?<![一以剩落留之如及])[上下左右])(?=[移走推]|一?\d*格)"
_LISTED = r"(?<![^、，,。：:\s])(?P<listed>[左右上下])(?=[、，,。；\s]|$)"
_WAY = re.compile(
    rf"(?<![\w-])(?:{_SLANT}|{_COMPASS}|{_PLAIN})(?:wards?)?(?![\w-])|{_ARROW}|{_TOWARDS}|{_MOVED}|{_LISTED}",
    re.IGNORECASE,
)
_LETTER_LIST = re.compile(
    r"(?<![A-Za-z0-9'])[UDLR]\d{0,2}(?:[\s,，、\-–→>]*[UDLR]\d{0,2})+(?![A-Za-z0-9'])"
    r"|(?<=[:：]\s)[UDLR](?![A-Za-z0-9'])|[上下左右]{3,}"
)
_LETTER = re.compile(r"([UDLR上下左右])(\d{0,2})")


@dataclass(frozen=True, slots=True)
class Way:
    """A direction, and how far."""

    direction: str
    count: int
    start: int
    end: int
    counted: bool  # the text says how far


def ways_in(text: str) -> list[Way]:
    """The directions of a text, in its order; the names of cells in it are blanked."""
    return sorted([*_in_letters(text), *_in_words(text)], key=lambda way: way.start)


def _in_letters(text: str) -> Iterator[Way]:
    for match in _LETTER_LIST.finditer(text):
        for letter in _LETTER.finditer(text, *match.span()):
            yield Way(_LETTERS[letter[1]], int(letter[2] or 1), *letter.span(), counted=bool(letter[2]))


def _in_words(text: str) -> Iterator[Way]:
    matches = list(_WAY.finditer(text))
    starts = [match.start() for match in matches[1:]] + [len(text)]
    since = 0
    for match, until in zip(matches, starts[: len(matches)], strict=True):
        count = _COUNT_AFTER.match(text, match.end(), until)
        end = count.end() if count else match.end()
        count = count or _COUNT_BEFORE.search(text[since : match.start()])
        far = 1 if count is None else int(count[1]) if count[1].isdecimal() else NUMBERS[count[1].lower()]
        yield Way(_direction(match), far, match.start(), end, counted=count is not None)
        since = end


def _direction(match: re.Match[str]) -> str:
    words = {name: word.lower() for name, word in match.groupdict().items() if word}
    if "level" in words:
        return f"{'up' if words['level'][0] in 'ut' else 'down'}-{words['side']}"
    if "pole" in words:
        return f"{_POINTS[words['pole']]}-{_POINTS[words['coast']]}"
    (word,) = words.values()
    if len(word) == 2 and word[0] in _LETTERS and word[1] in _LETTERS:  # 左上: the other way round than up-left
        return f"{_LETTERS[word[1]]}-{_LETTERS[word[0]]}"
    return _POINTS.get(word) or _SIGNS.get(word) or _LETTERS.get(word) or word
