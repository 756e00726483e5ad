"""Sokoban: a warehouse keeper pushes boxes onto targets, one box and one cell at a time, and never pulls.

A position is a grid of the signs that Sokoban players have used since the 1980s: `#` wall, `-` floor, `.` target,
`$` box, `*` box on a target, `@` player, `+` player on a target. Any sign may stand anywhere, so a position can also
hold what a careless editor draws.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from gamegen.core.cell import OPPOSITE, STEPS, Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

WALL, FLOOR, TARGET, BOX, BOX_ON_TARGET, PLAYER, PLAYER_ON_TARGET = SIGNS = "#-.$*@+"
TARGETS, BOXES, PLAYERS = TARGET + BOX_ON_TARGET + PLAYER_ON_TARGET, BOX + BOX_ON_TARGET, PLAYER + PLAYER_ON_TARGET
OPEN = FLOOR + TARGET + PLAYERS
"""Signs of cells that a player or a box can enter: the player's own cell is free once it has moved."""

LARGEST_ROOM = 14
"""Rows and columns of the largest room that is generated, its outer walls included."""

_LIFTED = str.maketrans(BOXES + PLAYERS, FLOOR + TARGET + FLOOR + TARGET)
_HEADER = re.compile(r"sokoban (\d+)x(\d+)")
_PUSH = re.compile(r"push (\d+,\d+) (up|down|left|right) (\d+)")
_WALK = re.compile(r"walk (\d+,\d+)")


@dataclass(frozen=True, slots=True)
class Position:
    """The room, row by row, in the signs above."""

    rows: tuple[str, ...]

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return len(self.rows[0])

    def __getitem__(self, cell: Cell) -> str:
        """The sign on a cell; outside the picture everything is wall."""
        row, col = cell
        return self.rows[row][col] if 0 <= row < self.height and 0 <= col < self.width else WALL

    def __str__(self) -> str:
        return "\n".join((f"sokoban {self.height}x{self.width}", *self.rows))

    def cells(self, signs: str) -> tuple[Cell, ...]:
        """The cells that show one of these signs, row by row."""
        return tuple(Cell(r, c) for r, row in enumerate(self.rows) for c, sign in enumerate(row) if sign in signs)

    def lifted(self) -> Position:
        """The bare room: walls, floor and targets."""
        return Position(tuple(row.translate(_LIFTED) for row in self.rows))

    def placed(self, boxes: frozenset[Cell], player: Cell) -> Position:
        """The same room with its boxes and its player standing here instead."""
        grid = [list(row) for row in self.lifted().rows]
        for row, col in boxes:
            grid[row][col] = BOX if grid[row][col] == FLOOR else BOX_ON_TARGET
        row, col = player
        grid[row][col] = PLAYER if grid[row][col] == FLOOR else PLAYER_ON_TARGET
        return Position(tuple(map("".join, grid)))


@dataclass(frozen=True, slots=True)
class Push:
    """Walk to the far side of the box, by a shortest way around walls and boxes, and push it this many cells."""

    box: Cell
    direction: str
    cells: int = 1

    def __str__(self) -> str:
        return f"push {self.box} {self.direction} {self.cells}"


@dataclass(frozen=True, slots=True)
class Walk:
    """Walk to a cell, around walls and boxes, and push nothing."""

    to: Cell

    def __str__(self) -> str:
        return f"walk {self.to}"


class Sokoban(Game[Position, Push | Walk]):
    name = "sokoban"
    title = "Sokoban"
    dimension = "Long-Horizon Planning"
    category = "Sokoban"
    tasks = (
        Task("push", "push the named box one cell in the named direction", unique=True),
        Task("solve", "push every box onto a target; the player may stop anywhere it can then walk to"),
    )

    def parse(self, text: str) -> Position:
        header, *rows = text.split("\n")
        match = _HEADER.fullmatch(header)
        if match is None:
            raise BadInput(f"a Sokoban position begins with 'sokoban ROWSxCOLUMNS', not with {header!r}")
        height, width = int(match[1]), int(match[2])
        if not height or not width or len(rows) != height or any(len(row) != width for row in rows):
            raise BadInput(f"expected {height} rows of {width} signs, got {rows!r}")
        strange = set("".join(rows)) - set(SIGNS)
        if strange:
            raise BadInput(f"unknown signs {''.join(sorted(strange))!r} in a Sokoban position; known: {SIGNS!r}")
        return Position(tuple(rows))

    def parse_action(self, text: str) -> Push | Walk:
        if match := _PUSH.fullmatch(text):
            return Push(Cell.parse(match[1]), match[2], int(match[3]))
        if match := _WALK.fullmatch(text):
            return Walk(Cell.parse(match[1]))
        raise BadInput(f"not a Sokoban action: {text!r}; one looks like 'push 3,4 left 1' or 'walk 2,5'")

    def actions(self, position: Position) -> Iterator[Push | Walk]:
        """Pushes first, by box, direction and length; then walks; all by rows and columns."""
        reach = distances(position, _player(position))
        for box in position.cells(BOXES):
            for direction in STEPS:
                if box.moved(OPPOSITE[direction]) in reach:
                    for count in range(1, room_ahead(position, box, direction) + 1):
                        yield Push(box, direction, count)
        for cell in sorted(reach):
            if reach[cell]:
                yield Walk(cell)

    def apply(self, position: Position, action: Push | Walk) -> Position:
        player = _player(position)
        boxes = frozenset(position.cells(BOXES))
        if isinstance(action, Walk):
            if not distances(position, player).get(action.to):
                raise IllegalAction(f"the player at {player} cannot walk to {action.to} in\n{position}")
            return position.placed(boxes, action.to)
        if action.box not in boxes:
            raise IllegalAction(f"there is no box at {action.box} in\n{position}")
        stand = action.box.moved(OPPOSITE[action.direction])
        if stand not in distances(position, player):
            raise IllegalAction(f"the player at {player} cannot walk to {stand}, behind the box, in\n{position}")
        if not 1 <= action.cells <= room_ahead(position, action.box, action.direction):
            raise IllegalAction(f"the way of '{action}' is not free in\n{position}")
        last, beyond = action.box, action.box.moved(action.direction)
        for _ in range(action.cells - 1):
            last, beyond = beyond, beyond.moved(action.direction)
        return position.placed(boxes - {action.box} | {beyond}, last)

    def canonical(self, position: Position) -> str:
        """The least of the eight turned and mirrored texts."""
        flat = position.rows
        turned = tuple(map("".join, zip(*flat, strict=True)))
        return min("\n".join(rows) for way in (flat, turned) for rows in _mirrored(way))

    def faults(self, position: Position) -> list[str]:
        players, boxes, targets = (position.cells(signs) for signs in (PLAYERS, BOXES, TARGETS))
        found = []
        if len(players) != 1:
            found.append(f"there must be one player, not {len(players)}")
        if not targets:
            found.append("there is no target")
        if len(boxes) != len(targets):
            found.append(f"there must be as many boxes as targets, not {len(boxes)} and {len(targets)}")
        inside: set[Cell] = set()
        for player in players:
            inside |= distances(position.lifted(), player).keys()
        if any(row in (0, position.height - 1) or col in (0, position.width - 1) for row, col in inside):
            found.append("the room is open: the player could walk out of the picture")
        if players and not inside.issuperset(boxes + targets):
            found.append("a box or a target is walled off from the player")
        return found

    def may_change(self, problem: Problem[Position]) -> frozenset[Cell]:
        """Every cell of the room that is not wall: boxes and player may come anywhere there."""
        return frozenset(problem.position.cells(SIGNS.replace(WALL, "")))

    def mutate(self, position: Position, rng: Stream) -> Position:
        """Another sign on one cell, half of the time on a cell that shows more than wall and floor."""
        busy = position.cells(TARGETS + BOXES + PLAYERS)
        if busy and rng.chance(0.5):
            cell = rng.choice(busy)
        else:
            cell = Cell(rng.below(position.height), rng.below(position.width))
        sign = rng.choice([sign for sign in SIGNS if sign != position[cell]])
        rows = list(position.rows)
        rows[cell.row] = rows[cell.row][: cell.col] + sign + rows[cell.row][cell.col + 1 :]
        return Position(tuple(rows))


def distances(position: Position, start: Cell) -> dict[Cell, int]:
    """Steps to every cell that a player on `start` can walk to, around walls and boxes."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for direction in STEPS:
            step = cell.moved(direction)
            if step not in found and position[step] in OPEN:
                found[step] = found[cell] + 1
                queue.append(step)
    return found


def shortest_walk(position: Position, start: Cell, goal: Cell) -> list[Cell] | None:
    """The cells of a shortest walk, both ends included; of several the one that goes straight on where it can."""
    left = distances(position, goal)
    if start not in left:
        return None
    walk, heading = [start], "up"
    while walk[-1] != goal:
        here = walk[-1]
        ways = [way for way in (heading, *STEPS) if left.get(here.moved(way)) == left[here] - 1]
        heading = ways[0]
        walk.append(here.moved(heading))
    return walk


def room_ahead(position: Position, box: Cell, direction: str) -> int:
    """How many cells a box could be pushed before a wall or another box stops it."""
    free = 0
    cell = box.moved(direction)
    while position[cell] in OPEN:
        free += 1
        cell = cell.moved(direction)
    return free


def _player(position: Position) -> Cell:
    players = position.cells(PLAYERS)
    if len(players) != 1:
        raise IllegalAction(f"there must be one player to act, not {len(players)}, in\n{position}")
    return players[0]


def _mirrored(rows: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for way in (rows, rows[::-1]):
        yield way
        yield tuple(row[::-1] for row in way)


game = Sokoban()
