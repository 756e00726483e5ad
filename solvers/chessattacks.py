"""Which squares a chess piece attacks, direction by direction, and why each line ends where it does."""

from __future__ import annotations

from collections.abc import Mapping

import chess

from gamegen.core.errors import Rejected
from gamegen.core.problem import Fact, Step
from gamegen.core.stream import Stream
from gamegen.games.chess import EMPTY, Diagram, board_of, cell_of, diagram_of, side_of
from solvers.chessplay import playout

ROOK_WAYS = {"up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0)}
BISHOP_WAYS = {"up-right": (1, 1), "down-right": (1, -1), "down-left": (-1, -1), "up-left": (-1, 1)}
WAYS = {"r": ROOK_WAYS, "b": BISHOP_WAYS, "q": ROOK_WAYS | BISHOP_WAYS}

BANDS = {1: (2, 4), 2: (5, 7), 3: (8, 11), 4: (12, 17), 5: (18, 40)}
"""How many squares have to be looked at, by level."""

PLIES = {1: (10, 40), 2: (12, 50), 3: (20, 70), 4: (30, 90), 5: (60, 140)}


def draw(level: int, rng: Stream) -> tuple[Diagram, str]:
    """A played position and the square of a piece in it that needs as much looking as the level asks."""
    board = playout(rng, rng.between(*PLIES[level]))
    low, high = BANDS[level]
    fitting = []
    for square in chess.scan_forward(board.occupied):
        reach = board.attacks_mask(square)
        own = board.occupied_co[bool(board.color_at(square))]
        if low <= reach.bit_count() <= high and reach & ~own:
            fitting.append(chess.square_name(square))
    if not fitting:
        raise Rejected("no piece of this difficulty")
    return diagram_of(board), rng.choice(fitting)


def attacked(position: Diagram, square: str) -> frozenset[str]:
    """Where the piece could capture: its lines of attack without the squares that its own side holds."""
    board = board_of(position, side_of(position.piece(square)))
    mask = board.attacks_mask(chess.parse_square(square)) & ~board.occupied_co[board.turn]
    return frozenset(chess.square_name(each) for each in chess.scan_forward(mask))


def looked_at(position: Diagram, square: str) -> int:
    """Squares a person has to look at: all those reached, own pieces in the way too."""
    board = board_of(position, side_of(position.piece(square)))
    return board.attacks_mask(chess.parse_square(square)).bit_count()


def tell(position: Diagram, square: str, colour: str) -> list[Step]:
    piece = position.piece(square)
    facts: dict[str, Fact] = {"piece": named(piece), "square": square}
    if piece.lower() not in WAYS:
        return [Step(f"attacks-{chess.piece_name(_kind(piece))}", facts), *_tell_jumps(position, square, colour)]
    steps = [Step(f"attacks-{chess.piece_name(_kind(piece))}", facts)]
    for way in WAYS[piece.lower()]:
        facts = dict(ray(position, square, way))
        squares = facts.get("squares")
        action = f"{','.join(map(str, squares))} {colour}" if isinstance(squares, tuple) else ""
        if facts:
            steps.append(Step(str(facts.pop("rule")), {**facts, "square": square}, action))
    return steps


def ray(position: Diagram, square: str, way: str) -> Mapping[str, Fact]:
    """What a line from the square meets; nothing at all if it starts at the edge."""
    d_file, d_rank = (ROOK_WAYS | BISHOP_WAYS)[way]
    side = side_of(position.piece(square))
    file, rank = ord(square[0]) + d_file, int(square[1]) + d_rank
    squares: list[str] = []
    facts: dict[str, Fact] = {"way": f"@{way}"}
    while "a" <= chr(file) <= "h" and 1 <= rank <= 8:
        here = f"{chr(file)}{rank}"
        met = position.piece(here)
        if met != EMPTY:
            facts |= {"met": named(met), "at": here}
            if side_of(met) != side:
                return {**facts, "rule": "line-takes", "squares": (*squares, here)}
            return (
                {**facts, "rule": "line-stops", "squares": tuple(squares)}
                if squares
                else {**facts, "rule": "line-shut"}
            )
        squares.append(here)
        file, rank = file + d_file, rank + d_rank
    return {**facts, "rule": "line-free", "squares": tuple(squares)} if squares else {}


def truth(position: Diagram, step: Step) -> Mapping[str, Fact]:
    """The facts of a step as they should be."""
    square = str(step.facts.get("square"))
    if square not in chess.SQUARE_NAMES or position.piece(square) == EMPTY:
        return {}
    piece = position.piece(square)
    if step.rule.startswith("line-"):
        way = str(step.facts.get("way")).removeprefix("@")
        facts = dict(ray(position, square, way)) if way in WAYS.get(piece.lower(), {}) else {}
        return {**facts, "square": square} if facts.pop("rule", "") == step.rule else {}
    if step.rule == "jumps":
        return {"square": square, "squares": _sorted(attacked(position, square))}
    if step.rule == "jumps-own":
        return {"square": square, "squares": _sorted(_held(position, square))}
    return {"piece": named(piece), "square": square} if step.rule == f"attacks-{chess.piece_name(_kind(piece))}" else {}


def named(piece: str) -> str:
    """A piece as a fact: `@white-knight`."""
    return f"@{side_of(piece)}-{chess.piece_name(_kind(piece))}"


def _tell_jumps(position: Diagram, square: str, colour: str) -> list[Step]:
    squares, held = _sorted(attacked(position, square)), _sorted(_held(position, square))
    steps = [Step("jumps-own", {"square": square, "squares": held})] if held else []
    return [*steps, Step("jumps", {"square": square, "squares": squares}, f"{','.join(squares)} {colour}")]


def _held(position: Diagram, square: str) -> frozenset[str]:
    """Squares in reach on which a piece of the same side stands."""
    board = board_of(position, side_of(position.piece(square)))
    mask = board.attacks_mask(chess.parse_square(square)) & board.occupied_co[board.turn]
    return frozenset(chess.square_name(each) for each in chess.scan_forward(mask))


def _sorted(squares: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(squares, key=cell_of))


def _kind(piece: str) -> chess.PieceType:
    return chess.PIECE_SYMBOLS.index(piece.lower())
