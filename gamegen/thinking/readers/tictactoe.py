"""A mark: the first cell of the last sentence that names one, by its labels or its place (`the centre`, `左上角`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gamegen.core.cell import Cell
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Told

_MIDDLES = ("middle", "centre", "center", "central")
_HIGH = {"top": 0, "upper": 0, "bottom": 2, "lower": 2, "上": 0, "中": 1, "下": 2, **dict.fromkeys(_MIDDLES, 1)}
_WIDE = {"left": 0, "right": 2, "左": 0, "中": 1, "右": 2, **dict.fromkeys(_MIDDLES, 1)}
_MIDDLE, _CELL = "|".join(_MIDDLES), r"(?:square|cell|field|space|spot|box|position)"
_PLACE = re.compile(
    rf"\b(?P<high>top|upper|{_MIDDLE}|bottom|lower)[-\s]+(?P<wide>left|{_MIDDLE}|right)\b"
    rf"|\b(?P<edge>left|right)[-\s]+(?P<mid>{_MIDDLE})\b"
    rf"|(?P<centre>\b(?:centre|center|(?:middle|central)\s+{_CELL})\b|中心|正中|中央)"
    r"|(?P<side>[左右])(?P<level>[上下中])角?(?![方面])",
    re.IGNORECASE,
)


def tellings(told: Told) -> Iterator[Telling]:
    named = [(place.start, place.cell) for place in told.places] + list(_described(told.bare))
    for sentence in reversed(told.sentences):
        found = [item for item in named if sentence.start <= item[0] < sentence.end]
        if found:
            yield Telling((f"{told.problem.position.turn}@{min(found)[1]}",))
            return


def _described(text: str) -> Iterator[tuple[int, Cell]]:
    for match in _PLACE.finditer(text):
        if match["centre"]:
            yield match.start(), Cell(1, 1)
        elif match["side"]:
            yield match.start(), Cell(_HIGH[match["level"]], _WIDE[match["side"]])
        elif match["edge"]:
            yield match.start(), Cell(1, _WIDE[match["edge"].lower()])
        else:
            yield match.start(), Cell(_HIGH[match["high"].lower()], _WIDE[match["wide"].lower()])
