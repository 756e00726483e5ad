"""Space Invaders on a grid: a formation hangs at the top, one ship stands in the last row and shoots straight up.

Nothing here is hidden and nothing moves by itself: the ship moves, fires, and (in a volley) the formation marches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

EMPTY, SHIP = ".", "^"
INVADERS = "321"
"""The kinds from the top of the formation to its bottom; a kind's points are ten times its digit."""

SYMBOLS = EMPTY + INVADERS + SHIP
_BARE = frozenset(EMPTY + SHIP)


@dataclass(frozen=True, slots=True)
class Position:
    """What each cell shows: `.` nothing, `3` `2` `1` an invader of 30, 20 or 10 points, `^` the ship."""

    rows: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((f"{self.height}x{self.width}", *self.rows))

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def __getitem__(self, cell: Cell) -> str:
        return self.rows[cell.row][cell.col]

    def cells(self) -> Iterator[Cell]:
        return (Cell(row, col) for row in range(self.height) for col in range(self.width))

    def ships(self) -> list[Cell]:
        rows = [(row, text) for row, text in enumerate(self.rows) if SHIP in text]
        return [Cell(row, col) for row, text in rows for col, mark in enumerate(text) if mark == SHIP]

    def invaders(self) -> dict[Cell, str]:
        """Every invader's cell and kind, row by row."""
        return {
            Cell(row, col): mark
            for row, text in enumerate(self.rows)
            for col, mark in enumerate(text)
            if mark in INVADERS
        }

    def columns(self) -> list[int]:
        """The columns that hold an invader."""
        return [col for col, marks in enumerate(zip(*self.rows, strict=True)) if not _BARE.issuperset(marks)]

    def lowest(self, col: int) -> Cell | None:
        """The invader that a shot up this column meets first."""
        for row in range(self.height - 1, -1, -1):
            if self.rows[row][col] in INVADERS:
                return Cell(row, col)
        return None

    def with_marks(self, marks: Mapping[Cell, str]) -> Position:
        rows = [list(text) for text in self.rows]
        for cell, mark in marks.items():
            rows[cell.row][cell.col] = mark
        return Position(tuple("".join(row) for row in rows))


@dataclass(frozen=True, slots=True)
class Move:
    """The ship moves along its row, by so many columns: to the right, or to the left if negative."""

    by: int

    def __str__(self) -> str:
        return f"{'R' if self.by > 0 else 'L'}{abs(self.by)}"


@dataclass(frozen=True, slots=True)
class Fire:
    """The ship shoots straight up; the lowest invader of its column disappears, if there is one."""

    def __str__(self) -> str:
        return "F"


@dataclass(frozen=True, slots=True)
class March:
    """All invaders move one cell together: left, right or down."""

    way: str

    def __str__(self) -> str:
        return f"march {self.way}"


Action = Move | Fire | March
_ACTION = re.compile(r"(?P<side>[LR])(?P<by>[1-9]\d?)|(?P<fire>F)|march (?P<way>left|right|down)")


class SpaceInvaders(Game[Position, Action]):
    name = "spaceinvaders"
    title = "Space Invaders"
    dimension = "Strategic Reasoning"
    category = "Space Invader"
    tasks = (
        Task("shoot", "Move the ship to a column and shoot once.", unique=True),
        Task("volley", "Run a short program of moves and shots while the formation marches.", unique=True),
        Task("best", "Shoot once for the most points."),
    )

    def parse(self, text: str) -> Position:
        size, *rows = text.split("\n")
        if not rows or size != f"{len(rows)}x{len(rows[0])}" or not rows[0] or len({len(row) for row in rows}) > 1:
            raise BadInput(f"expected a line 'HEIGHTxWIDTH' and that many rows, not {text[:80]!r}")
        if strange := set("".join(rows)) - set(SYMBOLS):
            raise BadInput(f"a cell is one of {SYMBOLS!r}, not {min(strange)!r}")
        return Position(tuple(rows))

    def parse_action(self, text: str) -> Action:
        match = _ACTION.fullmatch(text)
        if match is None:
            raise BadInput(f"expected an action such as 'R2', 'L1', 'F' or 'march left', not {text!r}")
        if match["fire"]:
            return Fire()
        if match["way"]:
            return March(match["way"])
        return Move(int(match["by"]) if match["side"] == "R" else -int(match["by"]))

    def actions(self, position: Position) -> Iterator[Action]:
        """Moves from the leftmost column to the rightmost, the shot, then the marches that fit into the area."""
        if len(position.ships()) != 1:
            return
        (ship,) = position.ships()
        yield from (Move(col - ship.col) for col in range(position.width) if col != ship.col)
        yield Fire()
        yield from (March(way) for way in ("left", "right", "down") if _marched(position, way))

    def apply(self, position: Position, action: Action) -> Position:
        ships = position.ships()
        if len(ships) != 1:
            raise IllegalAction(f"there must be one ship, not {len(ships)}, in\n{position}")
        (ship,) = ships
        if isinstance(action, Fire):
            hit = position.lowest(ship.col)
            return position if hit is None else position.with_marks({hit: EMPTY})
        if isinstance(action, Move):
            goal = Cell(ship.row, ship.col + action.by)
            if action.by == 0 or not 0 <= goal.col < position.width or position[goal] != EMPTY:
                raise IllegalAction(f"{action}: the ship cannot move there from column {ship.col} in\n{position}")
            return position.with_marks({ship: EMPTY, goal: SHIP})
        after = _marched(position, action.way)
        if after is None:
            raise IllegalAction(f"{action}: the formation has no room there in\n{position}")
        return after

    def canonical(self, position: Position) -> str:
        """The position or its mirror image, whichever text comes first."""
        return min(str(position), str(Position(tuple(row[::-1] for row in position.rows))))

    def faults(self, position: Position) -> list[str]:
        faults = []
        ships, invaders = position.ships(), position.invaders()
        if len(ships) != 1:
            faults.append(f"there are {len(ships)} ships instead of one")
        faults += [
            f"the ship in cell ({s.row}, {s.col}) is not in the last row" for s in ships if s.row < position.height - 1
        ]
        top = min((cell.row for cell in invaders), default=0)
        for cell, kind in invaders.items():
            above = position[cell.moved("up")] if cell.row > top else kind
            if cell.row == position.height - 1:
                faults.append(f"the invader in cell ({cell.row}, {cell.col}) is in the ship's row")
            elif above not in INVADERS:
                faults.append(f"the invader in cell ({cell.row}, {cell.col}) hangs below a gap")
            elif above < kind:
                faults.append(f"the invader in cell ({cell.row}, {cell.col}) is worth more than the one above it")
        return faults

    def may_change(self, problem: Problem[Position]) -> frozenset[Cell]:
        """A single shot can change the ship's row and the lowest invaders; a volley moves everything."""
        position = problem.position
        if problem.kind == "volley":
            return frozenset(position.cells())
        last = {Cell(position.height - 1, col) for col in range(position.width)}
        return frozenset(last | {low for col in range(position.width) if (low := position.lowest(col))})

    def mutate(self, position: Position, rng: Stream) -> Position:
        cell = Cell(rng.below(position.height), rng.below(position.width))
        return position.with_marks({cell: rng.choice([mark for mark in SYMBOLS if mark != position[cell]])})


def _marched(position: Position, way: str) -> Position | None:
    """All invaders one cell on; None if one would leave the area or come into the last row, which is the ship's."""
    (ship,) = position.ships()
    bare = [row.replace(SHIP, EMPTY) for row in position.rows]
    if way == "down":
        moved, lost = [EMPTY * position.width, *bare[:-1]], bare[-1]
    elif way == "right":
        moved, lost = [EMPTY + row[:-1] for row in bare], "".join(row[-1] for row in bare)
    else:
        moved, lost = [row[1:] + EMPTY for row in bare], "".join(row[0] for row in bare)
    row = moved[ship.row]
    if lost.strip(EMPTY) or moved[-1].strip(EMPTY) or row[ship.col] != EMPTY:
        return None
    moved[ship.row] = row[: ship.col] + SHIP + row[ship.col + 1 :]
    return Position(tuple(moved))


game = SpaceInvaders()
