"""The mistakes that people make in each game, by name: a wrong box, one too far, through a wall, over a clue.

`slips(problem, after)` gives wrong results of a problem whose answer is `after`. They are candidates: a slip that the
rules happen to accept is left out by whoever asks, as is one that a reader could not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import IllegalAction
from gamegen.core.problem import Problem
from gamegen.registry import plugin

Slip = tuple[str, Any]

MEANINGS = {
    "illegal-move": "what was asked, as it seems, but by a move that the rules forbid",
    "wrong-box": "the right push, of another box",
    "off-by-one": "one cell, column or digit beside what was right",
    "wall-crossed": "straight through a wall",
    "clue-changed": "the right answer, and one of the given things made to fit something else",
}


def slips(game: str, problem: Problem[Any], after: Any) -> list[Slip]:
    """Every slip of a game of ours, in a stated order; none for a game that nobody has described."""
    return list(_SLIPS[game](problem, after)) if game in _SLIPS else []


def _played(game: str, problem: Problem[Any], *actions: str) -> Any | None:
    rules, position = plugin(game).game, problem.position
    try:
        for action in actions:
            position = rules.apply(position, rules.parse_action(action))
    except IllegalAction:
        return None
    return position


def _sokoban(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    from gamegen.games.sokoban import BOXES, PLAYERS, WALL

    position = problem.position
    boxes = frozenset(position.cells(BOXES))
    if problem.kind == "push":
        box, direction = Cell.parse(problem.text("box")), problem.text("direction")
        for other in sorted(boxes - {box}):
            if (pushed := _played("sokoban", problem, f"push {other} {direction} 1")) is not None:
                yield "wrong-box", pushed
        if (pushed := _played("sokoban", problem, f"push {box} {direction} 2")) is not None:
            yield "off-by-one", pushed
    ended = frozenset(after.cells(BOXES))
    (player,) = after.cells(PLAYERS)
    for box in sorted(ended):
        for direction in STEPS:
            there = box.moved(direction)
            if there not in ended and there != player and after[there] != WALL:
                yield "off-by-one", after.placed(ended - {box} | {there}, player)
        for direction in STEPS:
            there = box.moved(direction).moved(direction)
            inside = 0 <= there.row < after.height and 0 <= there.col < after.width
            open_there = inside and there not in ended and there != player and after[there] != WALL
            if after[box.moved(direction)] == WALL and open_there:
                yield "wall-crossed", after.placed(ended - {box} | {there}, player)


def _maze(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    from gamegen.games.maze import END, FLOOR, PAINT, SMEAR, START, WALL

    maze = problem.position
    (row, col), (end_row, end_col) = (divmod(maze.cells.index(mark), maze.size) for mark in (START, END))
    for first in ("rows", "cols"):
        cells = list(maze.cells)
        corner = (end_row, col) if first == "rows" else (row, end_col)
        for one, other in (((row, col), corner), (corner, (end_row, end_col))):
            for at_row in range(min(one[0], other[0]), max(one[0], other[0]) + 1):
                for at_col in range(min(one[1], other[1]), max(one[1], other[1]) + 1):
                    at = at_row * maze.size + at_col
                    cells[at] = {FLOOR: PAINT, WALL: SMEAR}.get(cells[at], cells[at])
        yield "wall-crossed", replace(maze, cells="".join(cells))
    painted = [at for at, mark in enumerate(after.cells) if mark == PAINT]
    for at in (painted[0], painted[-1]):
        yield "off-by-one", after.with_mark(at, FLOOR)


def _pacman(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    from gamegen.games.pacman import BLOCKED, NOTHING, PACMAN, WALL

    position = problem.position
    end = after.pacman()
    facing = after[end]
    for direction in STEPS:
        beside = end.moved(direction)
        if after[beside] not in BLOCKED:
            yield "off-by-one", after.with_things({end: NOTHING, beside: facing})
    start = position.pacman()
    for direction in STEPS:
        wall = start
        while position[wall.moved(direction)] not in BLOCKED:
            wall = wall.moved(direction)
        beyond = wall.moved(direction).moved(direction)
        inside = 0 < beyond.row < len(position.rows) - 1 and 0 < beyond.col < len(position.rows[0]) - 1
        if position[wall.moved(direction)] == WALL and inside and position[beyond] not in BLOCKED:
            yield "wall-crossed", position.with_things({start: NOTHING, beyond: PACMAN[direction]})


def _sudoku(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    given = problem.position
    for number, digit in enumerate(given.digits):
        written = after.digits[number]
        error = "clue-changed" if digit else "off-by-one"
        if written:
            yield error, after.filled([(number, written % given.size + 1)])


def _tictactoe(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    before = problem.position
    for place, mark in enumerate(before.places):
        places = list(before.places)
        if mark == ".":
            places[place] = "X" if before.turn == "O" else "O"
            yield "illegal-move", replace(before, places="".join(places))
        elif mark != before.turn:
            places[place] = before.turn
            yield "illegal-move", replace(before, places="".join(places))
            changed = list(after.places)
            changed[place] = before.turn
            yield "clue-changed", replace(after, places="".join(changed))


def _jewel2(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    from gamegen.games.jewel2 import swapped

    position, rules = problem.position, plugin("jewel2").game
    for cell in position.cells():
        for direction in ("right", "down"):
            try:
                moved = swapped(position, rules.parse_action(f"{cell} {cell.moved(direction)}"))
            except (IllegalAction, IndexError):
                continue
            if moved != position:
                yield "illegal-move", moved


def _spaceinvaders(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    if problem.kind == "volley":
        return
    (start,), (ship,) = problem.position.ships(), after.ships()
    for column in (ship.col - 1, ship.col + 1):
        by = column - start.col
        move = (f"{'R' if by > 0 else 'L'}{abs(by)}",) if by else ()
        if 0 <= column < after.width and (shot := _played("spaceinvaders", problem, *move, "F")) is not None:
            yield "off-by-one", shot


def _wordsearch(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    from gamegen.games.wordsearch import ALPHABET, UNMARKED

    size = after.size
    for d_row, d_col in STEPS.values():
        rows = [
            "".join(
                after.marks[row - d_row][col - d_col]
                if 0 <= row - d_row < size and 0 <= col - d_col < size
                else UNMARKED
                for col in range(size)
            )
            for row in range(size)
        ]
        if sum(row.count(UNMARKED) for row in rows) == sum(row.count(UNMARKED) for row in after.marks):
            yield "off-by-one", replace(after, marks=tuple(rows))
    for cell in after.cells():
        if after.mark(cell) != UNMARKED:
            other = ALPHABET[(ALPHABET.find(after.letter(cell)) + 1) % len(ALPHABET)]
            yield "clue-changed", replace(after, letters=_put(after.letters, cell, other))


def _reconstruction(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    from gamegen.games.reconstruction import BLANK, FILLED

    n = after.size
    for view in ("front", "side"):
        for column in range(1, n + 1):
            tallest = after.tallest(view, column)
            if tallest < n:
                yield "off-by-one", after.with_square(view, n - 1 - tallest, column - 1, FILLED)
            if tallest:
                yield "off-by-one", after.with_square(view, n - tallest, column - 1, BLANK)


def _chess(problem: Problem[Any], after: Any) -> Iterator[Slip]:
    """A square of the answer left unmarked; or the piece that should move, on an empty square it cannot go to."""
    from gamegen.games.chess import EMPTY, Diagram, name_of

    before = problem.position
    board = [Cell(row, col) for row in range(8) for col in range(8)]
    if problem.kind == "attacks":
        for row, col in board:
            if after.marks[row][col] != before.marks[row][col]:
                yield "off-by-one", Diagram(after.rows, _put(after.marks, Cell(row, col), before.marks[row][col]))
        return
    left = [cell for cell in board if before.rows[cell.row][cell.col] != EMPTY == after.rows[cell.row][cell.col]]
    for start in left[:1]:
        moves = [str(action) for action in plugin("chess").game.actions(before)]
        legal = {move[2:4] for move in moves if move[:2] == name_of(start)}
        for cell in board:
            if before.rows[cell.row][cell.col] == EMPTY and name_of(cell) not in legal:
                rows = _put(_put(before.rows, start, EMPTY), cell, before.rows[start.row][start.col])
                yield "illegal-move", Diagram(rows, before.marks)


def _put(rows: tuple[str, ...], cell: Cell, char: str) -> tuple[str, ...]:
    row = rows[cell.row]
    return (*rows[: cell.row], row[: cell.col] + char + row[cell.col + 1 :], *rows[cell.row + 1 :])


_SLIPS: dict[str, Callable[[Problem[Any], Any], Iterator[Slip]]] = {
    "chess": _chess,
    "jewel2": _jewel2,
    "maze": _maze,
    "pacman": _pacman,
    "reconstruction": _reconstruction,
    "sokoban": _sokoban,
    "spaceinvaders": _spaceinvaders,
    "sudoku": _sudoku,
    "tictactoe": _tictactoe,
    "wordsearch": _wordsearch,
}
