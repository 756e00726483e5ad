"""Pushes of named boxes (`push the box at C4 right by 2`), or the player's own steps (`R R U`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gamegen.core.cell import STEPS, Cell
from gamegen.games.sokoban import BOXES, PLAYERS, Position
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Sentence, Told, straight, walks

_PUSH = re.compile(r"push|shove|推", re.IGNORECASE)


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
    last: Cell | None = None
    for sentence in told.sentences:
        ways = [way for way in sentence.ways if way.direction in STEPS]
        if not sentence.sure or not _PUSH.search(sentence.text) or not ways:
            continue
        box = next(
            (cell for cell in sentence.cells if cell in boxes), None if sentence.cells and last is None else last
        )
        if box is None:
            continue
        direction = ways[0].direction
        count = ways[0].count if ways[0].counted else _distance(sentence, box, direction)
        yield f"push {box} {direction} {count}"
        boxes.discard(box)
        for _ in range(count):
            box = box.moved(direction)
        boxes.add(box)
        last = box


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
