"""Match three, judged: what the rules say of any drawn result of a swap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from gamegen.core.cell import Cell
from gamegen.core.problem import Check
from gamegen.games.jewel2 import EMPTY, Position, Swap, game, rounds, swapped

NAMES = {
    "R": "a red ruby", "S": "a blue sapphire", "E": "a green emerald", "T": "a yellow topaz", "A": "a purple amethyst",
    "O": "an orange opal", "D": "a white diamond", ".": "no gem",
}  # fmt: skip
MARKED = {"-": " (a row gem)", "|": " (a column gem)", "*": " (a bomb)", ".": ""}


def judge(before: Position, swap: Swap, shown: Position) -> Check:
    """`swap` is the one that was asked for."""
    if (before.height, before.width) != (shown.height, shown.width):
        return Check(False, False, 0.0, f"The board must have {before.height} rows and {before.width} columns.")
    after = _after(before, swap)
    changed, stayed, holes = _kinds(before, after)
    return Check(
        correct=shown == after,
        legal=shown in (before, after) or shown in _results(before),
        preserved=_share(shown[cell] == before[cell] for cell in stayed),
        reason=_reason(before, swap, shown, after),
        parts={
            "changed": _share(shown[cell] == after[cell] for cell in changed),
            "empty": _share(shown[cell] == EMPTY for cell in holes),
        },
    )


@lru_cache(maxsize=64)
def _after(before: Position, swap: Swap) -> Position:
    """Worked out once for all pictures of one board."""
    return game.apply(before, swap)


@lru_cache(maxsize=64)
def _kinds(before: Position, after: Position) -> tuple[list[Cell], list[Cell], list[Cell]]:
    """The cells that change, those that stay, and those that are empty in the end."""
    changed = [cell for cell in before.cells() if before[cell] != after[cell]]
    stayed = [cell for cell in before.cells() if before[cell] == after[cell]]
    return changed, stayed, [cell for cell in after.cells() if after[cell] == EMPTY]


def _reason(before: Position, swap: Swap, shown: Position, after: Position) -> str:
    if shown == after:
        return "The swap was made, and every run was cleared until the board was quiet."
    if shown == before:
        return "Nothing has changed."
    start = swapped(before, swap)
    if shown == start:
        return "The two gems were swapped, but the run was not cleared."
    found = rounds(start)
    for number, each in enumerate(found, start=1):
        if shown == each.holes:
            return f"After clearing number {number} the gems did not fall."
        if shown == each.after:
            return f"Only {number} of {len(found)} clearings {'was' if number == 1 else 'were'} made."
    other = _results(before).get(shown)
    if other is not None:
        return f"Another swap was made: {_at(other.first)} with {_at(other.second)}."
    wrong = [cell for cell in after.cells() if shown[cell] != after[cell]]
    first = f"Cell {_at(wrong[0])} shows {_name(shown[wrong[0]])} instead of {_name(after[wrong[0]])}"
    return f"{first}; {len(wrong)} cells are wrong." if len(wrong) > 1 else f"{first}."


@lru_cache(maxsize=64)
def _results(before: Position) -> Mapping[Position, Swap]:
    """What legal swaps lead to, each with the first that does; kept for the next picture of a group."""
    found: dict[Position, Swap] = {}
    for swap in game.actions(before):
        found.setdefault(game.apply(before, swap), swap)
    return found


def _name(thing: str) -> str:
    return NAMES[thing[0]] + MARKED[thing[1]]


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / len(values) if values else 1.0


def _at(cell: Cell) -> str:
    return f"({cell.row}, {cell.col})"
