"""Tic-tac-toe: O moves first, three in a row wins. Small enough that everything about it is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

EMPTY = "."
PLAYERS = ("O", "X")
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
SYMMETRIES = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8), (6, 3, 0, 7, 4, 1, 8, 5, 2), (8, 7, 6, 5, 4, 3, 2, 1, 0), (2, 5, 8, 1, 4, 7, 0, 3, 6),
    (2, 1, 0, 5, 4, 3, 8, 7, 6), (0, 3, 6, 1, 4, 7, 2, 5, 8), (6, 7, 8, 3, 4, 5, 0, 1, 2), (8, 5, 2, 7, 4, 1, 6, 3, 0),
)  # fmt: skip
"""The eight ways to turn or flip the board, as orders of its places."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Nine places, row by row: `O`, `X` or `.`; written as three rows, `O.X/.../..O`."""

    places: str

    def __str__(self) -> str:
        return "/".join(self.places[at : at + 3] for at in (0, 3, 6))

    @property
    def turn(self) -> str:
        return "O" if self.places.count("O") == self.places.count("X") else "X"


@dataclass(frozen=True, slots=True)
class Mark:
    """Put the mark of the player to move on an empty place."""

    player: str
    cell: Cell

    def __str__(self) -> str:
        return f"{self.player}@{self.cell}"


class TicTacToe(Game[Grid, Mark]):
    name = "tictactoe"
    title = "Tic-tac-toe"
    dimension = "Logic Puzzle Solving"
    category = "Tictactoe"
    tasks = (Task("best", "play an optimal move; every optimal move is right"),)
    finite = True

    def parse(self, text: str) -> Grid:
        rows = text.split("/")
        if [len(row) for row in rows] != [3, 3, 3] or set(text) - set("OX./"):
            raise BadInput(f"a tic-tac-toe position looks like 'O.X/.../..O', not {text!r}")
        return Grid("".join(rows))

    def parse_action(self, text: str) -> Mark:
        player, at, cell = text.partition("@")
        try:
            if player in PLAYERS and at:
                return Mark(player, Cell.parse(cell))
        except ValueError:
            pass
        raise BadInput(f"a tic-tac-toe action looks like 'O@1,2', not {text!r}")

    def actions(self, position: Grid) -> Iterator[Mark]:
        """Empty places, row by row."""
        if winner(position) is None:
            for place in empties(position):
                yield Mark(position.turn, Cell(*divmod(place, 3)))

    def apply(self, position: Grid, action: Mark) -> Grid:
        if winner(position) is not None:
            raise IllegalAction(f"{position} is over")
        if action.player != position.turn:
            raise IllegalAction(f"it is {position.turn}'s turn in {position}, not {action.player}'s")
        row, col = action.cell
        if not (0 <= row < 3 and 0 <= col < 3) or position.places[row * 3 + col] != EMPTY:
            raise IllegalAction(f"cell ({row}, {col}) is not an empty place of {position}")
        return put(position, row * 3 + col)

    def canonical(self, position: Grid) -> str:
        places = position.places
        return min("".join(places[at] for at in order) for order in SYMMETRIES)

    def faults(self, position: Grid) -> list[str]:
        o, x = position.places.count("O"), position.places.count("X")
        found = [] if o - x in (0, 1) else [f"there are {o} O and {x} X, but O moves first and they take turns"]
        won = {player for player in PLAYERS if has_won(position, player)}
        if len(won) == 2 or (won == {"O"} and o == x) or (won == {"X"} and o > x):
            found.append("play went on after somebody had won")
        return found

    def may_change(self, problem: Problem[Grid]) -> frozenset[Cell]:
        return frozenset(Cell(*divmod(place, 3)) for place in empties(problem.position))

    def mutate(self, position: Grid, rng: Stream) -> Grid:
        place = rng.below(9)
        others = [mark for mark in "OX." if mark != position.places[place]]
        return Grid(position.places[:place] + rng.choice(others) + position.places[place + 1 :])


def empties(position: Grid) -> tuple[int, ...]:
    return tuple(place for place, mark in enumerate(position.places) if mark == EMPTY)


@cache
def winner(position: Grid) -> str | None:
    return next((player for player in PLAYERS if has_won(position, player)), None)


def has_won(position: Grid, player: str) -> bool:
    return any(all(position.places[place] == player for place in line) for line in LINES)


def put(position: Grid, place: int) -> Grid:
    """The position after the player to move marked this empty place."""
    return Grid(position.places[:place] + position.turn + position.places[place + 1 :])


game = TicTacToe()
