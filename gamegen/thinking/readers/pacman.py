"""A run in one direction, the last one that is said for sure; or a route, as directions or as cells."""

from __future__ import annotations

from collections.abc import Iterator

from gamegen.core.cell import STEPS
from gamegen.games.pacman import run
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Told, walks


def tellings(told: Told) -> Iterator[Telling]:
    position = told.problem.position
    start = position.pacman()
    if told.problem.kind == "sweep":
        for way in [way for way in told.sure_ways if way.direction in STEPS][-1:]:
            yield Telling((f"{way.direction} {max(1, len(run(position, start, way.direction)))}",))
        return
    for walk in walks(told, start):
        yield Telling(tuple(f"{direction} {count}" for direction, count in walk))
