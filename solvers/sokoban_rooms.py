"""Sokoban rooms by reverse play: carve a room, stand the boxes on their targets, and pull them away.

Whatever was reached by pulling can be undone by pushing, so every position made here has a solution; how long and how
hard it is, only the forward search can tell. Rooms are overlapping halls and corridors cut out of solid wall, with a
few pillars left standing, and cropped so that one layer of wall remains around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gamegen.core.errors import Rejected
from gamegen.core.stream import Stream
from gamegen.games.sokoban import BOX, BOX_ON_TARGET, FLOOR, PLAYER, PLAYER_ON_TARGET, TARGET, WALL, Position
from solvers.sokoban_bits import Board, State, bits
from solvers.sokoban_search import lone_pushes

AWAY, SAME_BOX = 12, 3
"""How much likelier a pull is that leads away from the box's own target; that goes on with the box pulled last."""

CORRIDORS, CLUSTERED = 0.35, 0.6
"""The share of halls that are one cell wide; of targets that are put beside another one."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a level's rooms are like; pairs are the least and the most."""

    side: tuple[int, int]  # rows and columns, outer walls included
    share: tuple[int, int]  # floor, in percent of what the outer walls enclose
    pillars: int  # at most
    boxes: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Room:
    board: Board
    height: int
    targets: int
    state: State

    def position(self, player: int) -> Position:
        """The room in signs, with the player on this cell."""
        width, floor, targets, boxes = self.board.width, self.board.floor, self.targets, self.state.boxes
        signs = []
        for number in range(self.height * width):
            bit = 1 << number
            if not floor & bit:
                signs.append(WALL)
            elif targets & bit:
                signs.append(BOX_ON_TARGET if boxes & bit else PLAYER_ON_TARGET if bit == player else TARGET)
            else:
                signs.append(BOX if boxes & bit else PLAYER if bit == player else FLOOR)
        text = "".join(signs)
        return Position(tuple(text[start : start + width] for start in range(0, len(text), width)))


class Pull(NamedTuple):
    """Where a box stands, where it would come, and where the player would come."""

    box: int
    to: int
    player: int


def draw_room(shape: Shape, pulls: tuple[int, int], rng: Stream) -> Room:
    """A room with its boxes pulled away from the targets; Rejected if the draw leads nowhere."""
    board, height = _carve(shape, rng)
    targets = _targets(board, rng.between(*shape.boxes), rng)
    return Room(board, height, targets, _pull_away(board, targets, rng.between(*pulls), rng))


def _carve(shape: Shape, rng: Stream) -> tuple[Board, int]:
    """Halls and corridors, each laid over a cell of an earlier one, until enough is floor; then pillars."""
    height, width = rng.between(*shape.side), rng.between(*shape.side)
    wanted = (height - 2) * (width - 2) * rng.between(*shape.share) // 100
    halls = [(rng.between(1, height - 4), rng.between(1, width - 4), 3, 3)]
    floor = _rectangle(width, *halls[0])
    while floor.bit_count() < wanted:
        top, left, rows, cols = rng.choice(halls)
        row, col = top + rng.below(rows), left + rng.below(cols)
        rows, cols = rng.between(2, 4), 1 if rng.chance(CORRIDORS) else rng.between(2, 4)
        if rng.chance(0.5):
            rows, cols = cols, rows
        rows, cols = min(rows, height - 2), min(cols, width - 2)
        top = min(max(1, row - rng.below(rows)), height - 1 - rows)
        left = min(max(1, col - rng.below(cols)), width - 1 - cols)
        halls.append((top, left, rows, cols))
        floor |= _rectangle(width, top, left, rows, cols)
    for _ in range(shape.pillars):
        top, left, rows, cols = rng.choice(halls)
        without = floor & ~_rectangle(width, top + rng.below(rows), left + rng.below(cols), 1, 1)
        if Board(width, 0).flood(without & -without, without) == without:
            floor = without
    return _cropped(floor, width)


def _rectangle(width: int, top: int, left: int, rows: int, cols: int) -> int:
    line = ((1 << cols) - 1) << left
    return sum(line << width * row for row in range(top, top + rows))


def _cropped(floor: int, width: int) -> tuple[Board, int]:
    """The same floor in the smallest grid that leaves one layer of wall around it, and that grid's height."""
    lines = []
    while floor:
        lines.append(floor & (1 << width) - 1)
        floor >>= width
    used = [line for line in lines if line]
    columns = 0
    for line in used:
        columns |= line
    left = (columns & -columns).bit_length() - 1
    new_width = columns.bit_length() - left + 2
    packed = sum((line >> left << 1) << new_width * row for row, line in enumerate(used, 1))
    return Board(new_width, packed), len(used) + 2


def _targets(board: Board, count: int, rng: Stream) -> int:
    """Cells that a box can be pulled away from, side by side or anywhere."""
    floor, shift = board.floor, board.shift
    usable = 0
    for direction in range(4):
        usable |= floor & shift(floor, direction) & shift(shift(floor, direction), direction)
    chosen = 0
    for _ in range(count):
        near = chosen | chosen << 1 | chosen >> 1 | chosen << board.width | chosen >> board.width
        around = usable & near & ~chosen
        places = around if around and rng.chance(CLUSTERED) else usable & ~chosen
        if not places:
            raise Rejected("no place for the targets")
        chosen |= rng.choice(list(bits(places)))
    return chosen


def _pull_away(board: Board, targets: int, pulls: int, rng: Stream) -> State:
    """The farthest state on a random walk of pulls: most boxes off the targets, then most pushes back to them.

    A player that has pulled itself into a dead end goes back to some earlier state.
    """
    floor = board.floor
    if not floor & ~targets:
        raise Rejected("no place for the player")
    reach = board.flood(rng.choice(list(bits(floor & ~targets))), floor & ~targets)
    # A box's cell -> pushes from any cell back to the target it started on.
    homes = {box: lone_pushes(board, box) for box in bits(targets)}
    trail = [(State(targets, reach), homes, Pull(0, 0, 0))]
    best, farthest = State(targets, reach), (0, 0)
    for _ in range(pulls):
        state, homes, last = trail[-1]
        choices = [pull for pull in _pulls(board, state) if pull.box != last.to or pull.to != last.box]
        if not choices:
            trail = trail[: 1 + rng.below(len(trail))]
            continue
        weights = [
            (AWAY if homes[box][to] > homes[box][box] else 1) * (SAME_BOX if box == last.to else 1)
            for box, to, _ in choices
        ]
        pull = rng.weighted(choices, weights)
        homes = {(pull.to if box == pull.box else box): home for box, home in homes.items()}
        boxes = state.boxes ^ pull.box ^ pull.to
        state = State(boxes, board.flood(pull.player, floor & ~boxes))
        trail.append((state, homes, pull))
        far = ((boxes & ~targets).bit_count(), sum(home[box] for box, home in homes.items()))
        if far > farthest:
            best, farthest = state, far
    return best


def _pulls(board: Board, state: State) -> list[Pull]:
    """Every pull the player can make."""
    shift, free = board.shift, board.floor & ~state.boxes
    found = []
    for direction in range(4):
        back = direction ^ 1
        for box in bits(state.boxes & shift(state.reach, back) & shift(shift(free, back), back)):
            to = shift(box, direction)
            found.append(Pull(box, to, shift(to, direction)))
    return found
