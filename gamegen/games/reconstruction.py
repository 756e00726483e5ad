"""3D reconstruction: stacked cubes in a corner view, and their silhouettes from two sides.

Every column of cubes stands on the floor without gaps, so a structure is a map of heights. The front view (Y-Z) looks
along the X axis: its square y, z is filled if some column with that y is at least z high. The side view (X-Z) looks
along the Y axis. The views are drawn things of their own, so they can disagree with the structure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.isometric import Heights, decidable
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

FILLED, BLANK = "#", "."
View = tuple[str, ...]
"""A silhouette as it is drawn: rows from the greatest z down, columns from y or x = 1 on."""


@dataclass(frozen=True, slots=True)
class Position:
    """Heights as heights[x][y], places from 0 (their labels in the picture start from 1), and the two views."""

    heights: Heights
    front: View
    side: View

    def __str__(self) -> str:
        """The heights as a map: greatest y first, x to the right."""
        n = self.size
        plan = ["".join(str(self.heights[x][y]) for x in range(n)) for y in reversed(range(n))]
        return "\n".join((f"{n}x{n}x{n}", "heights", *plan, "front", *self.front, "side", *self.side))

    @property
    def size(self) -> int:
        return len(self.heights)

    def tallest(self, view: str, column: int) -> int:
        """The greatest height behind a column (from 1) of a view."""
        if view == "front":
            return max(row[column - 1] for row in self.heights)
        return max(self.heights[column - 1])

    def view(self, name: str) -> View:
        return self.front if name == "front" else self.side

    def with_height(self, x: int, y: int, height: int) -> Position:
        """The column at the labels x, y made so high; the views stay as they are drawn."""
        rows = [list(row) for row in self.heights]
        rows[x - 1][y - 1] = height
        return replace(self, heights=tuple(map(tuple, rows)))

    def with_view(self, name: str, view: View) -> Position:
        return replace(self, front=view) if name == "front" else replace(self, side=view)

    def with_square(self, name: str, row: int, col: int, mark: str) -> Position:
        """One square of a view redrawn; row and col from 0, as drawn."""
        view = list(self.view(name))
        view[row] = view[row][:col] + mark + view[row][col + 1 :]
        return self.with_view(name, tuple(view))


@dataclass(frozen=True, slots=True)
class Stack:
    """Put one cube on top of the column at the labels x, y."""

    x: int
    y: int

    def __str__(self) -> str:
        return f"add {self.x},{self.y}"


@dataclass(frozen=True, slots=True)
class Unstack:
    """Take the top cube off the column at the labels x, y."""

    x: int
    y: int

    def __str__(self) -> str:
        return f"remove {self.x},{self.y}"


@dataclass(frozen=True, slots=True)
class Project:
    """Redraw one column of a view, `front` or `side`, as the structure projects onto it."""

    view: str
    column: int

    def __str__(self) -> str:
        return f"{self.view} {self.column}"


Action = Stack | Unstack | Project
_ACTION = re.compile(r"(?P<what>add|remove) (?P<x>[1-9]),(?P<y>[1-9])|(?P<view>front|side) (?P<column>[1-9])")
_SIZE = re.compile(r"([1-9])x\1x\1")


class Reconstruction(Game[Position, Action]):
    """Cells, for masks: rows 0 to n - 1 are the front view, n to 2n - 1 the side view, (2n, 0) is the corner view."""

    name = "reconstruction"
    title = "3D Reconstruction"
    dimension = "Spatial Intelligence"
    category = "3D Reconstruction"
    tasks = (
        Task("project", "Draw both silhouettes of a structure of cubes.", unique=True),
        Task("voxel", "Add or remove a cube, in the structure and in both silhouettes.", unique=True),
    )

    def parse(self, text: str) -> Position:
        size, *rows = text.split("\n")
        if not _SIZE.fullmatch(size):
            raise BadInput(f"expected a size such as '3x3x3' first, not {size[:20]!r}")
        n = int(size[0])
        headings = rows[0 :: n + 1]
        if len(rows) != 3 * (n + 1) or headings != ["heights", "front", "side"]:
            raise BadInput(f"expected heights, front and side with {n} rows each, not {text[:80]!r}")
        plan, front, side = (tuple(rows[start : start + n]) for start in (1, n + 2, 2 * n + 3))
        if not all(len(row) == n and row.isascii() and row.isdecimal() for row in plan):
            raise BadInput(f"expected {n} rows of {n} heights, not {plan!r}")
        if not all(len(row) == n and set(row) <= {FILLED, BLANK} for row in front + side):
            raise BadInput(f"expected rows of {n} squares, each {FILLED!r} or {BLANK!r}, not {front + side!r}")
        heights = tuple(tuple(int(plan[n - 1 - y][x]) for y in range(n)) for x in range(n))
        return Position(heights, front, side)

    def parse_action(self, text: str) -> Action:
        match = _ACTION.fullmatch(text)
        if match is None:
            raise BadInput(f"expected an action such as 'add 2,3', 'remove 2,3' or 'front 1', not {text!r}")
        if match["view"]:
            return Project(match["view"], int(match["column"]))
        kind = Stack if match["what"] == "add" else Unstack
        return kind(int(match["x"]), int(match["y"]))

    def actions(self, position: Position) -> Iterator[Action]:
        """What can be stacked, then unstacked, by x and y; then the columns of the front and of the side view."""
        n, labels = position.size, range(1, position.size + 1)
        yield from (Stack(x, y) for x in labels for y in labels if position.heights[x - 1][y - 1] < n)
        yield from (Unstack(x, y) for x in labels for y in labels if position.heights[x - 1][y - 1] > 0)
        yield from (Project(view, column) for view in ("front", "side") for column in labels)

    def apply(self, position: Position, action: Action) -> Position:
        n = position.size
        if isinstance(action, Project):
            if action.column > n:
                raise IllegalAction(f"{action}: the views have only {n} columns")
            return _projected(position, action)
        if action.x > n or action.y > n:
            raise IllegalAction(f"{action}: the floor is only {n} by {n}")
        height = position.heights[action.x - 1][action.y - 1] + (1 if isinstance(action, Stack) else -1)
        if not 0 <= height <= n:
            raise IllegalAction(f"{action}: the column would be {height} cubes high in\n{position}")
        return position.with_height(action.x, action.y, height)

    def canonical(self, position: Position) -> str:
        """The structure alone, or its mirror image in the plane through the eye, whichever comes first.

        The views are left out: with other drawings beside it, a structure is still the same puzzle.
        """
        n, heights = position.size, position.heights
        mirrored = tuple(tuple(heights[n - 1 - y][n - 1 - x] for y in range(n)) for x in range(n))
        return "/".join("".join(map(str, row)) for row in min(heights, mirrored))

    def faults(self, position: Position) -> list[str]:
        n = position.size
        faults = [
            f"the column at x = {x + 1}, y = {y + 1} is {height} cubes high, but {n} is the most"
            for x, row in enumerate(position.heights)
            for y, height in enumerate(row)
            if height > n
        ]
        for name, axis in (("front", "y"), ("side", "x")):
            columns = ("".join(column) for column in zip(*position.view(name), strict=True))
            faults += [
                f"the {name} view has a filled square above a blank one at {axis} = {number}"
                for number, column in enumerate(columns, start=1)
                if FILLED + BLANK in column
            ]
        return faults

    def may_change(self, problem: Problem[Position]) -> frozenset[Cell]:
        n = problem.position.size
        squares = {Cell(row, col) for row in range(2 * n) for col in range(n)}
        return frozenset(squares | {Cell(2 * n, 0)} if problem.kind == "voxel" else squares)

    def mutate(self, position: Position, rng: Stream) -> Position:
        """One square of a view flipped, or one column made higher or lower by a cube so that the change can be seen."""
        n = position.size
        if rng.chance(0.4):
            x, y = rng.between(1, n), rng.between(1, n)
            height = position.heights[x - 1][y - 1] + rng.choice((-1, 1))
            changed = position.with_height(x, y, max(0, min(n, height)))
            if changed != position and decidable(changed.heights):
                return changed
        name, row, col = rng.choice(("front", "side")), rng.below(n), rng.below(n)
        mark = BLANK if position.view(name)[row][col] == FILLED else FILLED
        return position.with_square(name, row, col, mark)


def silhouette(heights: list[int], n: int) -> View:
    """The view whose columns are filled from the ground to these heights."""
    return tuple("".join(FILLED if z <= height else BLANK for height in heights) for z in range(n, 0, -1))


def _projected(position: Position, action: Project) -> Position:
    n = position.size
    column = silhouette([position.tallest(action.view, action.column)], n)
    view = tuple(
        row[: action.column - 1] + mark + row[action.column :]
        for row, mark in zip(position.view(action.view), column, strict=True)
    )
    return position.with_view(action.view, view)


game = Reconstruction()
