"""Pushes of named boxes (`push the box at C4 right by 2`, `the box moves from C4 to E4`), or the player's own steps
(`R R U`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from gamegen.core.cell import STEPS, Cell
from gamegen.games.sokoban import BOXES, PLAYERS, Position
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Sentence, Told, straight, walks

_PUSH = re.compile(r"push|shove|推", re.IGNORECASE)
_BOX = re.compile(r"\b(?:box|crate)\b|箱", re.IGNORECASE)


def tellings(told: Told) -> Iterator[Telling]:
    pushes = tuple(_pushes(told))
    if pushes:
        yield Telling(pushes)
    (player,) = told.problem.position.cells(PLAYERS)
    for walk in walks(told, player):
        yield Telling(tuple(_steps(told, [direction for direction, count in walk for _ in range(count)])))


def alike(one: Position, other: Position) -> bool:
    """Where the player stops in the end is nobody's business, as long as the boxes are the same."""
    return set(one.cells(BOXES)) == set(other.cells(BOXES))


def _pushes(told: Told) -> Iterator[str]:
    """Sentence by sentence: the box it names that is a box now, or else the one pushed last."""
    boxes = set(told.problem.position.cells(BOXES))
    last = _only_box(told)
    for sentence in told.sentences:
        named = [cell for cell in sentence.cells if cell in boxes]
        box = named[0] if named else None if sentence.cells and last is None else last
        if box is None or not sentence.sure:
            continue
        for direction, count in _legs(sentence, box):
            yield f"push {box} {direction} {count}"
            boxes.discard(box)
            for _ in range(count):
                box = box.moved(direction)
            boxes.add(box)
            last = box


def _only_box(told: Told) -> Cell | None:
    """The box that is meant where a text names none: the one that was asked for, or the only one.

    No box is meant where the player's steps are told, too: these say which one it is.
    """
    if any(
        not _PUSH.search(sentence.text[: way.start - sentence.start])
        for sentence in told.sentences
        for way in sentence.ways
    ):
        return None
    if told.problem.kind == "push":
        return Cell.parse(told.problem.text("box"))
    boxes = told.problem.position.cells(BOXES)
    return boxes[0] if len(boxes) == 1 else None


def _legs(sentence: Sentence, box: Cell) -> list[tuple[str, int]]:
    """How a sentence has a box move: in the direction after the verb, or from its cell to the others that it names."""
    verb = _PUSH.search(sentence.text)
    ways = [way for way in sentence.ways if way.direction in STEPS]
    if verb and ways:
        way = next((way for way in ways if way.start >= sentence.start + verb.start()), ways[0])
        return [(way.direction, way.count if way.counted else _distance(sentence, box, way.direction))]
    if not ways and box in sentence.cells and (verb or _BOX.search(sentence.text)):
        cells = sentence.cells[sentence.cells.index(box) :]
        legs = [straight(one, other) for one, other in pairwise(cells)]
        return [leg for leg in legs if leg] if None not in legs else []
    return []


def _distance(sentence: Sentence, box: Cell, direction: str) -> int:
    """How far the box goes if the sentence names where to; else one cell."""
    goals = [leg[1] for cell in sentence.cells if (leg := straight(box, cell)) and leg[0] == direction]
    return goals[-1] if goals else 1


def _steps(told: Told, steps: list[str]) -> Iterator[str]:
    """The player's steps as walks and pushes."""
    position = told.problem.position
    boxes = set(position.cells(BOXES))
    (player,) = position.cells(PLAYERS)
    at = player
    for direction in steps:
        at = at.moved(direction)
        if at in boxes:
            yield f"push {at} {direction} 1"
            boxes = boxes - {at} | {at.moved(direction)}
        else:
            yield f"walk {at}"
