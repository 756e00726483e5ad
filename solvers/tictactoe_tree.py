"""The whole game tree of tic-tac-toe, as a table.

A position's *value* is what the player to move can force: 1 a win, 0 a draw, -1 a loss. A move is optimal if it keeps
that value. A position is worth asking about if some move is optimal, some is not, and the game is not lost anyway. Its
level is how many moves one must look ahead, no less, to tell the optimal moves from the others: 1 win now, 2 stop a
win, 3 make a fork, 4 stop a fork, 5 further than that.
"""

from __future__ import annotations

from functools import cache, lru_cache

from gamegen.core.cell import Cell
from gamegen.games.tictactoe import EMPTY, LINES, Grid, empties, put, winner

FARTHEST = 9


def value(position: Grid, depth: int = FARTHEST) -> int:
    """What the player to move can force within `depth` moves; what lies beyond counts as a draw."""
    return _value(position, min(depth, position.places.count(EMPTY)))


@cache
def _value(position: Grid, depth: int) -> int:
    if winner(position) is not None:
        return -1
    if depth == 0:
        return 0
    best = -1
    for move in empties(position):
        best = max(best, -value(put(position, move), depth - 1))
        if best == 1:
            break
    return best


@cache
def optimal_moves(position: Grid, depth: int = FARTHEST) -> tuple[int, ...]:
    """Moves that keep the value, as far as `depth` moves can tell."""
    values = {move: -value(put(position, move), depth - 1) for move in empties(position)}
    best = max(values.values())
    return tuple(move for move, result in values.items() if result == best)


def look_ahead(position: Grid) -> int:
    """The least depth from which on every apparently optimal move really is optimal."""
    optimal = set(optimal_moves(position))
    depth = position.places.count(EMPTY)
    while depth > 1 and set(optimal_moves(position, depth - 1)) <= optimal:
        depth -= 1
    return depth


@lru_cache(maxsize=1)
def reachable() -> tuple[Grid, ...]:
    """Every position that play can reach, the empty board first."""
    found = {Grid(EMPTY * 9): None}
    frontier = list(found)
    while frontier:
        new = {put(p, move): None for p in frontier if winner(p) is None for move in empties(p)}
        found |= new
        frontier = list(new)
    return tuple(found)


@lru_cache(maxsize=1)
def by_level() -> dict[int, tuple[Grid, ...]]:
    """The positions worth asking about, by level, in the order of `reachable`."""
    levels: dict[int, list[Grid]] = {level: [] for level in (1, 2, 3, 4, 5)}
    for position in reachable():
        moves = empties(position)
        if winner(position) is not None or not moves or value(position) < 0:
            continue
        if len(optimal_moves(position)) < len(moves):
            levels[min(5, look_ahead(position))].append(position)
    return {level: tuple(positions) for level, positions in levels.items()}


def completions(position: Grid, player: str) -> tuple[int, ...]:
    """Empty places that would complete a line for the player, row by row."""
    found = set()
    for line in LINES:
        marks = [position.places[at] for at in line]
        if marks.count(player) == 2 and marks.count(EMPTY) == 1:
            found.add(line[marks.index(EMPTY)])
    return tuple(sorted(found))


@cache
def plies_to_end(position: Grid) -> int:
    """Moves until the game is over when the winner hurries and the loser delays."""
    if winner(position) is not None or not empties(position):
        return 0
    lengths = [plies_to_end(put(position, move)) for move in optimal_moves(position)]
    return 1 + (min(lengths) if value(position) > 0 else max(lengths))


@cache
def tree_size(position: Grid) -> int:
    if winner(position) is not None:
        return 1
    return 1 + sum(tree_size(put(position, move)) for move in empties(position))


def other(player: str) -> str:
    return "X" if player == "O" else "O"


def cell_of(place: int) -> Cell:
    return Cell(*divmod(place, 3))


def side(player: str) -> str:
    return f"@{player.lower()}"


def mark(player: str) -> str:
    return f"@{player.lower()}-mark"
