"""Right answers told as somebody who never saw our texts would tell them: one function a game, many wordings each.

`right(sample)` gives texts that tell the solver's answer, `wrong(sample)` the same texts with one thing in them changed
so that no rule could accept the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from gamegen.core.cell import OPPOSITE, Cell
from gamegen.games import chess as chess_rules
from gamegen.games.sokoban import PLAYERS, shortest_walk
from gamegen.sample import Sample

SIGN = {"up": "↑", "down": "↓", "left": "←", "right": "→"}
CHAR = {"up": "上", "down": "下", "left": "左", "right": "右"}


def right(sample: Sample) -> Iterator[str]:
    yield from _BY_GAME[sample.plugin.game.name](sample, wrong=False)


def wrong(sample: Sample) -> Iterator[str]:
    yield from _BY_GAME[sample.plugin.game.name](sample, wrong=True)


def _actions(sample: Sample) -> list[Any]:
    game = sample.plugin.game
    return [game.parse_action(step.action) for step in sample.solution.steps if step.action]


def _name(sample: Sample, cell: Cell) -> str:
    labels = sample.style.labels
    row, col = labels.row(cell.row), labels.col(cell.col)
    return f"{col}{row}" if col.isalpha() else f"({row}, {col})"


def _walk(runs: list[tuple[str, int]], *, wrong: bool) -> Iterator[str]:
    """One walk in every notation; wrong, if its last leg turns back."""
    if wrong:
        runs = [*runs[:-1], (OPPOSITE[runs[-1][0]], runs[-1][1])]
    steps = [direction for direction, count in runs for _ in range(count)]
    yield ", ".join(steps)
    yield "Path: " + " ".join(step[0].upper() for step in steps)
    yield "".join(SIGN[step] for step in steps)
    yield "I " + ", then ".join(f"go {direction} {count}" for direction, count in runs) + " and that is it."
    yield "; ".join(f"move {count} {'cell' if count == 1 else 'cells'} {direction}" for direction, count in runs)
    yield "先" + "，再".join(f"向{CHAR[direction]}走{count}格" for direction, count in runs) + "。"
    yield "、".join(CHAR[step] for step in steps)


def _maze(sample: Sample, *, wrong: bool) -> Iterator[str]:
    runs = [run for action in _actions(sample) for run in action.runs]
    yield from _walk(runs, wrong=wrong)
    at = _actions(sample)[0].tip
    cells = [at]
    for direction, count in runs:
        for _ in range(count):
            at = at.moved(direction)
            cells.append(at)
    if not wrong:
        yield " -> ".join(_name(sample, cell) for cell in cells)


def _pacman(sample: Sample, *, wrong: bool) -> Iterator[str]:
    walks = [(action.direction, action.cells) for action in _actions(sample)]
    if sample.problem.kind == "route":
        yield from _walk(walks, wrong=wrong)
        return
    ((direction, _),) = walks
    direction = OPPOSITE[direction] if wrong else direction
    yield f"If he went {OPPOSITE[direction]}, he would get less. Best: {direction}."
    yield f"The answer is {SIGN[direction]}"
    yield f"所以吃豆人应该向{CHAR[direction]}走。"


def _sokoban(sample: Sample, *, wrong: bool) -> Iterator[str]:
    pushes = _actions(sample)
    told = [(push.box, OPPOSITE[push.direction] if wrong else push.direction, push.cells) for push in pushes]
    yield " ".join(f"Push the box at {_name(sample, box)} {way} {n}." for box, way, n in told)
    yield "".join(f"把{_name(sample, box)}的箱子向{CHAR[way]}推{n}格。" for box, way, n in told)
    yield " ".join(
        f"The box goes from {_name(sample, box)} to {_name(sample, _after(box, way, n))}." for box, way, n in told
    )
    if sample.problem.kind == "push":
        yield f"Push the box {told[0][1]}."
    yield "Moves: " + " ".join(_lurd(sample, wrong=wrong))


def _after(cell: Cell, direction: str, count: int) -> Cell:
    for _ in range(count):
        cell = cell.moved(direction)
    return cell


def _lurd(sample: Sample, *, wrong: bool) -> Iterator[str]:
    game, position = sample.plugin.game, sample.problem.position
    for push in _actions(sample):
        (player,) = position.cells(PLAYERS)
        walk = shortest_walk(position, player, push.box.moved(OPPOSITE[push.direction])) or []
        for one, other in itertools.pairwise(walk):
            yield next(way for way in SIGN if one.moved(way) == other)[0].upper()
        yield from push.direction[0].upper() * (push.cells + (20 if wrong else 0))
        position = game.apply(position, push)


def _sudoku(sample: Sample, *, wrong: bool) -> Iterator[str]:
    size, after = sample.problem.position.size, sample.solution.after
    if sample.problem.kind == "solve":
        digits = list(after.digits)
        if wrong:
            at = sample.problem.position.empty[0]
            digits[at] = digits[at] % size + 1
        rows = [digits[start : start + size] for start in range(0, size * size, size)]
        yield "So the grid is:\n" + "\n".join(" ".join(map(str, row)) for row in rows)
        yield "\n".join("|" + "|".join(map(str, row)) + "|" for row in rows)
        return
    ((cell, digit),) = _actions(sample)[0].entries
    digit = digit % size + 1 if wrong else digit
    terms = sample.plugin.renderer.terms(sample.style, "en")
    word = terms.get(f"d{digit}", str(digit))
    yield f"{_name(sample, cell)} = {word}"
    yield f"Only one cell is forced. I put {word} into {_name(sample, cell)}."


def _tictactoe(sample: Sample, *, wrong: bool) -> Iterator[str]:
    (action,) = _actions(sample)
    places = sample.problem.position.places
    cell = Cell(*divmod(next(at for at in range(9) if places[at] != "."), 3)) if wrong else action.cell
    yield f"I play {_name(sample, cell)}."
    high, wide = ("top", "middle", "bottom")[cell.row], ("left", "middle", "right")[cell.col]
    yield f"My mark goes to the {high} {wide}." if cell != Cell(1, 1) else "I take the centre."
    yield f"The {wide}-{high} one wins." if cell.row == 1 != cell.col else f"Then {high} {wide} square it is."


def _jewel2(sample: Sample, *, wrong: bool) -> Iterator[str]:
    (swap,) = _actions(sample)
    second = Cell(swap.second.row + 2, swap.second.col) if wrong else swap.second
    yield f"Swap {_name(sample, swap.first)} with {_name(sample, second)}."
    yield f"交换{_name(sample, swap.first)}和{_name(sample, second)}"


def _spaceinvaders(sample: Sample, *, wrong: bool) -> Iterator[str]:
    labels = sample.style.labels
    if sample.problem.kind == "volley":
        commands = sample.problem.text("program").split()
        commands = commands[:-1] if wrong else commands
        yield "I run " + ", ".join(commands)
        yield " ".join(commands)
        return
    (ship,) = sample.solution.after.ships()
    free = [col for col in range(sample.problem.position.width) if sample.problem.position.lowest(col) is None]
    column = labels.col(free[0] if wrong else ship.col)
    if not wrong or free:
        yield f"The ship should fire from column {column}."
        yield f"飞船移到第{column}列再射击。"
    (old,) = sample.problem.position.ships()
    by = (free[0] if wrong and free else ship.col) - old.col
    if by and (free or not wrong):
        yield f"The ship goes {abs(by)} to the {'right' if by > 0 else 'left'} and fires."


def _wordsearch(sample: Sample, *, wrong: bool) -> Iterator[str]:
    game = sample.plugin.game
    told = []
    for action in _actions(sample):
        word = "".join(sample.problem.position.letter(cell) for cell in action.cells)
        cells = action.cells[:-1] if wrong else action.cells
        told.append((word, cells, action.direction))
    yield " ".join(f"{word} runs from {_name(sample, c[0])} to {_name(sample, c[-1])}." for word, c, _ in told)
    yield " ".join(f"{word}: {', '.join(_name(sample, cell) for cell in c)}." for word, c, _ in told)
    if all(way in ("left", "right") for _, _, way in told):
        yield " ".join(f"{word} is in {_stretch(sample, c)}." for word, c, _ in told)
    if not wrong:
        yield " ".join(f"{word} starts at {_name(sample, c[0])} going {way}." for word, c, way in told)
    assert game.name == "wordsearch"


def _stretch(sample: Sample, cells: tuple[Cell, ...]) -> str:
    labels = sample.style.labels
    return f"row {labels.row(cells[0].row)}, columns {labels.col(cells[0].col)} to {labels.col(cells[-1].col)}"


def _reconstruction(sample: Sample, *, wrong: bool) -> Iterator[str]:
    after, problem = sample.solution.after, sample.problem
    n = after.size
    if problem.kind == "project":
        front = [after.tallest("front", column) for column in range(1, n + 1)]
        side = [after.tallest("side", column) for column in range(1, n + 1)]
        front[0] = (front[0] + 1) % (n + 1) if wrong else front[0]
        yield f"Front view: {', '.join(map(str, front))}. Side view: {', '.join(map(str, side))}."
        yield f"前视图的高度是{'、'.join(map(str, front))}，侧视图是{'、'.join(map(str, side))}。"
        return
    x, y = int(problem["x"]), int(problem["y"])
    x = x % n + 1 if wrong else x
    verb = {"add": "Add a cube at", "remove": "Remove the top cube at"}[problem.text("order")]
    yield f"{verb} ({x}, {y}) and update both views."
    yield f"{verb} x = {x}, y = {y}."


def _chess(sample: Sample, *, wrong: bool) -> Iterator[str]:
    position = sample.problem.position
    if sample.problem.kind == "attacks":
        squares = [square for action in _actions(sample) for square in action.squares]
        own = sample.problem.text("square")
        squares = squares[:-1] or ["a1", "h8"] if wrong else squares
        yield f"The piece on {own} attacks " + ", ".join(squares) + "."
        return
    moves = [action.uci for action in _actions(sample)]
    moves = [move[2:4] + move[:2] for move in moves] if wrong else moves
    yield ", then ".join(moves)
    if all(len(move) == 4 for move in moves):
        yield "; ".join(f"{move[:2]}-{move[2:]}" for move in moves)
        yield "，".join(f"从{move[:2]}走到{move[2:]}" for move in moves)
    if len(moves) == 1 and not wrong and sample.problem.kind == "mate":
        board = chess_rules.board_of(position, sample.problem.text("turn"))
        yield f"The key move is {board.san(board.parse_uci(moves[0]))}"


_BY_GAME = {
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
