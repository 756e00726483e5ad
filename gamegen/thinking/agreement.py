"""Whether a text ends on the cells that changed in a result: a weaker test, where its moves cannot be replayed."""

from __future__ import annotations

from typing import Any

from gamegen.core.cell import Cell
from gamegen.core.plugin import Plugin
from gamegen.core.problem import Problem
from gamegen.core.rendering import Style
from renderers.board import BoardRenderer

IN_PASSING = ("spaceinvaders/volley",)
"""Tasks in which things move on after a text has named their cells: its cells are not those of the result."""

REDRAWN = 0.06
"""Share of a cell's pixels that a border around it takes at least; what leans over from next door is less."""


def agree(told: set[Cell], named: set[Cell], changed: set[Cell]) -> bool:
    """All cells that a text ends on changed; or, where more did than it ends on, the whole text names every one.

    A text that names all cells there are passes as well.
    """
    if not changed:
        return False
    return told <= changed or (len(changed) > len(told) and named >= changed)


def share_on_board(plugin: Plugin, problem: Problem[Any], named: tuple[Cell, ...]) -> float:
    if not named or not isinstance(plugin.renderer, BoardRenderer):
        return 1.0
    rows, cols = plugin.renderer.size(problem.position)
    return sum(0 <= cell.row < rows and 0 <= cell.col < cols for cell in named) / len(named)


def changed_cells(plugin: Plugin, problem: Problem[Any], style: Style, position: str) -> set[Cell] | None:
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
