"""The column to shoot from, the last one named, or how far the ship moves; or the commands of a volley (`R2 F`, `move
right 2, fire`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gamegen.core.errors import BadInput, IllegalAction
from gamegen.games.spaceinvaders import game
from gamegen.thinking.cells import index_of
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Sentence, Told
from gamegen.thinking.ways import Way
from solvers.spaceinvaders_volley import next_step

_COLUMN = re.compile(r"\bcol(?:umn)?\s*([A-Za-z]|\d{1,2})(?![A-Za-z0-9])|第\s*([A-Za-z]|\d{1,2})\s*列", re.IGNORECASE)
_COMMANDS = re.compile(r"(?<![A-Za-z0-9])(?:[LR]\d|F)(?:[\s,，、→>]+(?:[LR]\d|F))*(?![A-Za-z0-9])")
_CODE = re.compile(r"(?<![A-Za-z0-9])(?:[LR]\d|F)(?![A-Za-z0-9])")
_SHIP = re.compile(r"\b(?:ship|move|go)|飞船|移动", re.IGNORECASE)
_FIRE = re.compile(r"\b(?:fires?|shoots?|shot)\b|射击|开火|开一枪", re.IGNORECASE)


def tellings(told: Told) -> Iterator[Telling]:
    if told.problem.kind == "volley":
        for commands in _programs(told):
            yield Telling(tuple(_with_marches(told, commands)))
        return
    (ship,) = told.problem.position.ships()
    columns = [index_of(told.style.labels.cols, match[1] or match[2]) for match in _COLUMN.finditer(told.text)]
    for column in [column for column in columns if column is not None][-1:]:
        by = column - ship.col
        yield Telling((*((f"{'R' if by > 0 else 'L'}{abs(by)}",) if by else ()), "F"))
        return
    moves = [_code(way) for sentence in told.sentences if sentence.sure for way in _moves(sentence)]
    if moves:
        yield Telling((*moves, "F"))


def _programs(told: Told) -> Iterator[list[str]]:
    """The longest list of commands; else moves and shots in words, in the order of the text."""
    lists = [re.findall(r"[LR]\d|F", match[0]) for match in _COMMANDS.finditer(told.bare)]
    longest = max(lists, key=len, default=[])
    if len(longest) > 1:
        yield longest
    spoken = [command for sentence in told.sentences for command in _spoken(told, sentence)]
    if spoken:
        yield spoken


def _spoken(told: Told, sentence: Sentence) -> list[str]:
    """The commands of one sentence, as codes or in words; a shot counts once, however often it is mentioned."""
    bare = told.bare[sentence.start : sentence.end]
    found = [(match.start(), match[0]) for match in _CODE.finditer(bare)]
    if not any(code != "F" for _, code in found):
        found += [(way.start - sentence.start, _code(way)) for way in _moves(sentence)]
    shots = list(_FIRE.finditer(bare))[:1] if "F" not in [code for _, code in found] else []
    return [code for _, code in sorted(found + [(match.start(), "F") for match in shots])]


def _moves(sentence: Sentence) -> list[Way]:
    """How the ship moves, if a sentence says how far."""
    ways = [way for way in sentence.ways if way.direction in ("left", "right") and way.counted]
    return ways if _SHIP.search(sentence.text) else []


def _code(way: Way) -> str:
    return f"{way.direction[0].upper()}{way.count}"


def _with_marches(told: Told, commands: list[str]) -> Iterator[str]:
    """Each command and the step of the formation after it, as far as the commands can be played."""
    position, heading = told.problem.position, told.problem.text("march")
    for command in commands:
        yield command
        try:
            position = game.apply(position, game.parse_action(command))
            step, heading = next_step(position, heading)
            position = position if step is None else game.apply(position, step)
        except (IllegalAction, BadInput):
            return
        if step is not None:
            yield str(step)
