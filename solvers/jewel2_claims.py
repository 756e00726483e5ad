"""Match three's reasoning, checked sentence by sentence, on a second and slower telling of the rules.

The board is a dict from cell to gem here, runs are found by looking right and down from every cell, and marked gems go
off by sweeping until nothing changes: nothing is shared with the rules that the solver plays by, so an error in either
shows as a claim that does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from gamegen.core.cell import Cell
from gamegen.core.problem import Fact, Problem, Step
from gamegen.games.jewel2 import Position

Board = dict[Cell, str]
MARK_OF = {"row-gem": "-", "column-gem": "|", "bomb": "*"}


@dataclass(slots=True)
class Telling:
    """What happens after a swap, round by round."""

    lines: list[set[tuple[str, tuple[Cell, ...]]]] = field(default_factory=list)
    boards: list[Board] = field(default_factory=list)  # before each clearing
    cleared: list[set[Cell]] = field(default_factory=list)
    fallen: list[int] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(map(len, self.cleared))


def holds(problem: Problem[Position], step: Step) -> bool:
    board, facts = _board(problem.position), step.facts
    if step.rule in ("look", "tally", "tally-low", "choose"):
        return _compares(problem.position, step)
    first, second = _asked(problem)
    if step.rule == "trade":
        gems = {"gem": f"@{board[first][0]}", "other": f"@{board[second][0]}"}
        return dict(facts) == {"first": first, "second": second, **gems}
    telling = _telling(board, first, second)
    if step.rule in ("quiet", "quiet-once"):
        many = len(telling.cleared)
        said = dict(facts) == {"total": telling.total, "rounds": many}
        return said and (many > 1) == (step.rule == "quiet") and step.action == f"{first} {second}"
    return _in_round(telling, step)


def _asked(problem: Problem[Position]) -> tuple[Cell, Cell]:
    if problem.kind == "swap":
        return Cell.parse(problem.text("first")), Cell.parse(problem.text("second"))
    return max(_scores(problem.position).items(), key=lambda item: item[1])[0]


def _compares(position: Position, step: Step) -> bool:
    facts, scores = step.facts, _scores(position)
    if step.rule == "look":
        return facts["swaps"] == len(scores)
    gems = int(str(facts["gems"]))
    if step.rule == "tally":
        return facts["swaps"] == sum(score == gems for score in scores.values())
    if step.rule == "tally-low":
        low = [score for score in scores.values() if score <= gems]
        return facts["swaps"] == len(low) and gems in low
    return gems == max(scores.values()) == scores.get((_cell(facts["first"]), _cell(facts["second"])))


def _in_round(telling: Telling, step: Step) -> bool:
    facts, number = step.facts, int(str(step.facts["round"])) - 1
    if not 0 <= number < len(telling.cleared):
        return False
    if step.rule in ("run", "run-again"):
        return (number > 0) == (step.rule == "run-again") and any(
            _line_facts(gem, cells, number) == dict(facts) for gem, cells in telling.lines[number]
        )
    if step.rule in ("fall", "still"):
        fallen = telling.fallen[number]
        return facts["count"] == len(telling.cleared[number]) and fallen == facts.get("fallen", 0)
    return _goes_off(telling, step, number)


def _goes_off(telling: Telling, step: Step, number: int) -> bool:
    """Marked gems go off in reading order; those that are hit by one queue behind the rest."""
    board = telling.boards[number]
    gone = {cell for _, cells in telling.lines[number] for cell in cells}
    queue = sorted(gone)
    for cell in queue:
        hit = sorted(other for other in board if other not in gone and _hits(board[cell][1], cell, other))
        if cell == step.facts["cell"]:
            return board[cell][1] == MARK_OF[step.rule] and 0 < len(hit) == step.facts["more"]
        gone.update(hit)
        queue += hit
    return False


def _line_facts(gem: str, cells: tuple[Cell, ...], number: int) -> Mapping[str, Fact]:
    way = "@in-row" if cells[0].row == cells[1].row else "@in-column"
    ends = {"start": cells[0], "end": cells[-1]}
    return {"round": number + 1, "gems": f"@{gem}s", "count": len(cells), "way": way, **ends}


def _cell(fact: Fact) -> Cell:
    assert isinstance(fact, Cell)
    return fact


def _board(position: Position) -> Board:
    return {cell: position[cell] for cell in position.cells() if position[cell] != ".."}


@lru_cache(maxsize=8)
def _scores(position: Position) -> Mapping[tuple[Cell, Cell], int]:
    """Gems cleared by every swap to the right or down that makes a run."""
    board = _board(position)
    found = {}
    for cell in board:
        for other in (Cell(cell.row, cell.col + 1), Cell(cell.row + 1, cell.col)):
            if other in board and (total := _telling(board, cell, other).total):
                found[cell, other] = total
    return found


def _telling(board: Board, first: Cell, second: Cell) -> Telling:
    board = {**board, first: board[second], second: board[first]}
    floor = max(cell.row for cell in board)
    told = Telling()
    while lines := _lines(board):
        told.lines.append(lines)
        told.boards.append(board)
        gone = {cell for _, cells in lines for cell in cells}
        while more := {
            cell
            for source in gone
            if board[source][1] != "."
            for cell in board
            if cell not in gone and _hits(board[source][1], source, cell)
        }:
            gone |= more
        told.cleared.append(gone)
        left = {cell: thing for cell, thing in board.items() if cell not in gone}
        board = {}
        for cell in sorted(left, reverse=True):  # the lowest first
            depth = sum(other.col == cell.col for other in board)
            board[Cell(floor - depth, cell.col)] = left[cell]
        told.fallen.append(sum(_sinks(cell, left, floor) for cell in left))
    return told


def _sinks(cell: Cell, left: Board, floor: int) -> bool:
    return any(Cell(row, cell.col) not in left for row in range(cell.row + 1, floor + 1))


def _hits(mark: str, source: Cell, cell: Cell) -> bool:
    if mark == "-":
        return source.row == cell.row
    if mark == "|":
        return source.col == cell.col
    return mark == "*" and max(abs(source.row - cell.row), abs(source.col - cell.col)) <= 1


def _lines(board: Board) -> set[tuple[str, tuple[Cell, ...]]]:
    """The longest runs of three or more."""
    found = set()
    for cell, thing in board.items():
        for down, right in ((0, 1), (1, 0)):
            if board.get(Cell(cell.row - down, cell.col - right), "..")[0] == thing[0]:
                continue
            cells = [cell]
            while board.get(Cell(cells[-1].row + down, cells[-1].col + right), "..")[0] == thing[0]:
                cells.append(Cell(cells[-1].row + down, cells[-1].col + right))
            if len(cells) >= 3:
                found.add((thing[0], tuple(cells)))
    return found
