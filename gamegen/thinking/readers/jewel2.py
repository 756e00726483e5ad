"""A swap: two cells in one sentence, or a cell and the side of its partner."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gamegen.core.cell import STEPS
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Told

_SWAP = re.compile(r"swap|exchang|switch|trad|交换|互换|对调", re.IGNORECASE)
_SIDES = {
    "above": "up",
    "below": "down",
    "beneath": "down",
    "上方": "up",
    "下方": "down",
    "左边": "left",
    "右边": "right",
}


def tellings(told: Told) -> Iterator[Telling]:
    """The last swap that is named for sure."""
    for sentence in reversed(told.sentences):
        places = [place for place in sentence.places if place.sure]
        if not places or not _SWAP.search(sentence.text):
            continue
        first = places[0].cell
        if len(places) > 1:
            yield Telling((f"{first} {places[1].cell}",))
            return
        sides = [way.direction for way in sentence.ways if way.direction in STEPS]
        sides += [side for word, side in _SIDES.items() if word in sentence.text.lower()]
        if sides:
            yield Telling((f"{first} {first.moved(sides[0])}",))
            return
