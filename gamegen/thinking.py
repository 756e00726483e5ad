"""Thinking is judged too: the cells and moves that a text names, held against the board, the answer and the picture.

What this sees: cells called by the picture's own labels (`row 3, column 4`, `(3, 4)`, `C4`, `第3行第4列`), and which of
them the last sentence that names any names. In tic-tac-toe and `sudoku/next` it reads the move in that sentence as well
and plays it. What it does not see: whether the argument is sound, cells described in other words ("the centre", "the
second pillar"), boards without labelled cells, and commands that look like cells (`L3`). A text that names no cell is
neither right nor wrong: the fields that would say so are None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gamegen.core.cell import Cell, Labels
from gamegen.core.errors import BadInput, IllegalAction, UnreadableImage
from gamegen.core.plugin import Plugin
from gamegen.core.problem import Problem
from gamegen.core.rendering import Style
from gamegen.images import Source
from gamegen.judge import problem_of, read
from gamegen.registry import plugin_of
from renderers.board import BoardRenderer

IN_PASSING = ("spaceinvaders/volley",)
"""Tasks in which things move on after a text has named their cells: its cells are not those of the result."""

REDRAWN = 0.06
"""Share of a cell's pixels that a border around it takes at least; what leans over from next door is less."""

_LABEL = r"([A-Za-z]|\d{1,2})"
_EDGE, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_ROW_FIRST = (
    rf"{_EDGE}row\s+{_LABEL}{_END}\s*(?:,|and)?\s*col(?:umn)?\s+{_LABEL}{_END}",
    rf"第\s*{_LABEL}\s*行\s*[，,、]?\s*第\s*{_LABEL}\s*列",
    rf"(?<!\w)\(\s*{_LABEL}\s*[,，]\s*{_LABEL}\s*\)",
)
_COLUMN_FIRST = (
    rf"{_EDGE}col(?:umn)?\s+{_LABEL}{_END}\s*(?:,|and)?\s*row\s+{_LABEL}{_END}",
    rf"第\s*{_LABEL}\s*列\s*[，,、]?\s*第\s*{_LABEL}\s*行",
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+")


@dataclass(frozen=True, slots=True)
class Replay:
    """The move that a text ends with, played in the position that the editor was given."""

    action: str  # as the game's parse_action reads it
    legal: bool
    correct: bool  # it leads to a position that the rules accept as the answer


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a text says, as far as it can be held against something."""

    named: tuple[Cell, ...]  # in the order of the text, as often as it names them; rows and columns from 0
    final: tuple[Cell, ...]  # those of the last sentence that names a cell
    valid: float  # share of the named cells that are on the board; 1 if none is named
    consistent_with_answer: bool | None  # with the row's own answer; another right one may be consistent with itself
    consistent_with_image: bool | None  # with the picture that came with the text; None if it cannot be read
    replays: Replay | None  # None if the game's moves are not read from text, or the text has none


def check_reasoning(row: Mapping[str, Any], text: str, image: Source | None = None) -> Thinking:
    """Hold a text against its row, and against the edited picture that came with it.

    A text is consistent with a result if it ends on cells that changed there: all cells of its last sentence that names
    any (apart from those that the question itself names) changed. Where more cells changed than that sentence names, it
    is enough if the whole text names every one of them; so a text that names all cells there are passes as well.
    """
    problem, style = problem_of(row)
    plugin, _ = plugin_of(str(row["task"]))
    sentences = [found for part in _SENTENCE.findall(text) if (found := list(_cells(part, style.labels)))]
    named = tuple(cell for cells in sentences for cell in cells)
    final = tuple(sentences[-1]) if sentences else ()
    given = set(_cells(f"{row.get('rules', '')} {row.get('instruction', '')}", style.labels))
    told = set(final) - given or set(final)

    def consistent(position: str | None) -> bool | None:
        if position is None or not named:
            return None
        changed = _changed(plugin, problem, style, position)
        return None if changed is None else _agree(told, set(named), changed)

    return Thinking(
        named=named,
        final=final,
        valid=_valid(plugin, problem, named),
        consistent_with_answer=consistent(row.get("position_after")),
        consistent_with_image=consistent(_seen(row, image)),
        replays=_replay(plugin, problem, _last_move(plugin, problem, style, text)),
    )


def _agree(told: set[Cell], named: set[Cell], changed: set[Cell]) -> bool:
    if not changed:
        return False
    return told <= changed or (len(changed) > len(told) and named >= changed)


def _valid(plugin: Plugin, problem: Problem[Any], named: tuple[Cell, ...]) -> float:
    if not named or not isinstance(plugin.renderer, BoardRenderer):
        return 1.0
    rows, cols = plugin.renderer.size(problem.position)
    return sum(0 <= cell.row < rows and 0 <= cell.col < cols for cell in named) / len(named)


def _changed(plugin: Plugin, problem: Problem[Any], style: Style, position: str) -> set[Cell] | None:
    """The cells that look different in the result; None where a picture is not a board of cells."""
    renderer, result = plugin.renderer, plugin.game.parse(position)
    if not isinstance(renderer, BoardRenderer) or f"{plugin.game.name}/{problem.kind}" in IN_PASSING:
        return None
    moved = renderer.encode(problem.position, style) != renderer.encode(result, style)
    changed = {Cell(row, col) for row, col in zip(*(axis.tolist() for axis in moved.nonzero()), strict=True)}
    return changed or _redrawn(renderer, problem.position, result, style)


def _redrawn(renderer: BoardRenderer[Any], before: Any, after: Any, style: Style) -> set[Cell]:
    """The cells around or over which something was drawn that is no symbol of the board: borders, mostly."""
    differ = (renderer.render(before, style).rgb() != renderer.render(after, style).rgb()).any(axis=2)
    rows, cols = renderer.size(before)
    cells = [Cell(row, col) for row in range(rows) for col in range(cols)] if differ.any() else []
    return {cell for cell in cells if differ[renderer.mask(frozenset({cell}), before, style)].mean() > REDRAWN}


def _seen(row: Mapping[str, Any], image: Source | None) -> str | None:
    try:
        return None if image is None else read(row, image)
    except UnreadableImage:
        return None


# Cells ----------------------------------------------------------------------------------------------------------------


def _cells(text: str, labels: Labels) -> Iterator[Cell]:
    """The cells that a text names, in its order."""
    for _, _, cell in _places(text, labels):
        yield cell


def _places(text: str, labels: Labels) -> list[tuple[int, int, Cell]]:
    """Where a text names a cell, from and to, and which."""
    found: list[tuple[int, int, Cell]] = []
    patterns = [(pattern, True) for pattern in _ROW_FIRST] + [(pattern, False) for pattern in _COLUMN_FIRST]
    if labels.cols in "Aa" and labels.rows not in "Aa":
        letters = "A-Z" if labels.cols == "A" else "a-z"
        patterns.append((rf"{_EDGE}(?-i:([{letters}]))(\d{{1,2}}){_END}", False))
    for pattern, row_first in patterns:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            first, second = match.groups()
            row, col = (first, second) if row_first else (second, first)
            number, place = _number(labels.rows, row), _number(labels.cols, col)
            apart = all(match.end() <= start or end <= match.start() for start, end, _ in found)
            if apart and number is not None and place is not None:
                found.append((*match.span(), Cell(number, place)))
    return sorted(found)


def _number(kind: str, label: str) -> int | None:
    """The row or column that a label stands for; None if it is no label of this kind."""
    if kind in "Aa":
        return ord(label.upper()) - ord("A") if label.isalpha() else None
    if label.isalpha():
        return None
    return 8 - int(label) if kind == "8" else int(label) - int(kind)


# Moves ----------------------------------------------------------------------------------------------------------------


def _last_move(plugin: Plugin, problem: Problem[Any], style: Style, text: str) -> str | None:
    """The action in the last sentence that names a cell."""
    reader = _MOVES.get(f"{plugin.game.name}/{problem.kind}")
    sentences = [part for part in _SENTENCE.findall(text) if _places(part, style.labels)]
    return reader(plugin, problem, style, sentences[-1]) if reader and sentences else None


def _mark(plugin: Plugin, problem: Problem[Any], style: Style, sentence: str) -> str | None:
    return f"{problem.position.turn}@{next(_cells(sentence, style.labels))}"


def _entry(plugin: Plugin, problem: Problem[Any], style: Style, sentence: str) -> str | None:
    """The first digit, or the colour that stands for one, that is not part of a cell's name."""
    places = _places(sentence, style.labels)
    rest = sentence
    for start, end, _ in places:
        rest = rest[:start] + "\n" * (end - start) + rest[end:]
    found = []
    for language in ("en", "zh"):
        terms = plugin.renderer.terms(style, language)
        for digit in range(1, 10):
            word = terms.get(f"d{digit}", str(digit))
            at = re.search(rf"{_EDGE}{re.escape(word)}{_END}", rest, re.IGNORECASE)
            found += [(at.start(), digit)] if at else []
    return f"{places[0][2]}={min(found)[1]}" if found else None


_MOVES: dict[str, Callable[[Plugin, Problem[Any], Style, str], str | None]] = {
    "tictactoe/best": _mark,
    "sudoku/next": _entry,
}
"""Tasks whose answer is a single move that one sentence can tell."""


def _replay(plugin: Plugin, problem: Problem[Any], action: str | None) -> Replay | None:
    if action is None:
        return None
    try:
        position = plugin.game.apply(problem.position, plugin.game.parse_action(action))
    except (BadInput, IllegalAction):
        return Replay(action, legal=False, correct=False)
    return Replay(action, legal=True, correct=plugin.solver.check(problem, position).correct)
