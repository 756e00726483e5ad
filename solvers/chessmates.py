"""Forced mates, by two searches.

One plays every line on the package's own board: exact for any position, and slow. The other, `Lone`, is for a king
that stands alone against pieces other than pawns: a position is then a few numbers, a reply is a square next to the
king, and whole attack maps come from tables, so that mates in two and three are found in time. Tests hold them
together.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import chess

from gamegen.core.errors import Unsolvable

NODES = 200_000
"""Positions one call of `forces` may look at."""

Pieces = tuple[tuple[int, int], ...]
"""(kind, square) of the attacking side, its king first."""


def forces(board: chess.Board, move: chess.Move, moves: int) -> bool:
    """Whether this legal first move mates within so many moves of its side, whatever the other side does."""
    lone = Lone.of(board)
    return lone.forces(move, moves) if lone else _forces(board, move, moves, [NODES])


def mating_moves(board: chess.Board, moves: int) -> Iterator[chess.Move]:
    """Every first move that forces mate within so many moves."""
    lone = Lone.of(board)
    return lone.keys(moves) if lone else mating_moves_by_play(board, moves)


def mating_moves_by_play(board: chess.Board, moves: int) -> Iterator[chess.Move]:
    """The same, always by playing, checks first."""
    budget = [NODES]
    for move in _ordered(board):
        if _forces(board, move, moves, budget):
            yield move


def _forces(board: chess.Board, move: chess.Move, moves: int, budget: list[int]) -> bool:
    budget[0] -= 1
    if budget[0] < 0:
        raise Unsolvable(f"no verdict on {move} within {NODES} positions of {board.fen()}")
    if moves == 1 and not board.gives_check(move):
        return False
    board.push(move)
    try:
        replies = list(board.legal_moves)
        if not replies:
            return board.is_check()
        return moves > 1 and all(_answered(board, reply, moves - 1, budget) for reply in replies)
    finally:
        board.pop()


def _answered(board: chess.Board, reply: chess.Move, moves: int, budget: list[int]) -> bool:
    board.push(reply)
    try:
        return any(_forces(board, move, moves, budget) for move in _ordered(board))
    finally:
        board.pop()


def _ordered(board: chess.Board) -> list[chess.Move]:
    return sorted(board.legal_moves, key=lambda move: not board.gives_check(move))


class Lone(NamedTuple):
    """Pieces that are to move and mate a king alone, which none of them attacks now."""

    pieces: Pieces
    king: int

    @classmethod
    def of(cls, board: chess.Board) -> Lone | None:
        """The board as such a position; None if it is none."""
        enemy = board.occupied_co[not board.turn]
        if enemy & ~board.kings or board.pawns or board.castling_rights:
            return None
        own = [
            (board.piece_type_at(square) or 0, square) for square in chess.scan_forward(board.occupied_co[board.turn])
        ]
        return cls(tuple(sorted(own, key=lambda each: (each[0] != chess.KING, each))), enemy.bit_length() - 1)

    def keys(self, moves: int) -> Iterator[chess.Move]:
        """The first moves that force mate within so many moves, in order of square."""
        for at, target in _moves(self.pieces, self.king):
            if _holds(_moved(self.pieces, at, target), self.king, moves):
                yield chess.Move(self.pieces[at][1], target)

    def forces(self, move: chess.Move, moves: int) -> bool:
        at = next(at for at, (_, square) in enumerate(self.pieces) if square == move.from_square)
        return _holds(_moved(self.pieces, at, move.to_square), self.king, moves)

    def mates(self, moves: int) -> bool:
        return _mates(self.pieces, self.king, moves)


@lru_cache(maxsize=200_000)
def _mates(pieces: Pieces, king: int, moves: int) -> bool:
    """Whether the side to move, with these pieces, mates within so many moves."""
    return moves > 0 and any(_holds(_moved(pieces, at, to), king, moves) for at, to in _moves(pieces, king))


def _holds(pieces: Pieces, king: int, moves: int) -> bool:
    """Whether the king to move is mated, or will be within the moves that remain."""
    covered = _covered(pieces)
    flights = chess.BB_KING_ATTACKS[king] & ~covered
    if not flights:
        return bool(covered & chess.BB_SQUARES[king])
    if moves == 1:
        return False
    return all(_mates(_without(pieces, square), square, moves - 1) for square in chess.scan_forward(flights))


def _moves(pieces: Pieces, king: int) -> Iterator[tuple[int, int]]:
    """(piece, target square) of every legal move: a king alone gives no check, it only keeps the other king away."""
    own = _mask(pieces)
    taken = own | chess.BB_SQUARES[king]
    for at, (kind, square) in enumerate(pieces):
        targets = _reach(kind, square, taken) & ~own
        if kind == chess.KING:
            targets &= ~chess.BB_KING_ATTACKS[king]
        for target in chess.scan_forward(targets):
            yield at, target


def _moved(pieces: Pieces, at: int, target: int) -> Pieces:
    return (*pieces[:at], (pieces[at][0], target), *pieces[at + 1 :])


def _without(pieces: Pieces, square: int) -> Pieces:
    return tuple(each for each in pieces if each[1] != square)


def _covered(pieces: Pieces) -> int:
    """The squares where a king could be taken; it shields none of them, since it cannot hide behind itself."""
    taken = _mask(pieces)
    covered = 0
    for kind, square in pieces:
        covered |= _reach(kind, square, taken)
    return covered


def _mask(pieces: Pieces) -> int:
    mask = 0
    for _, square in pieces:
        mask |= chess.BB_SQUARES[square]
    return mask


def _reach(kind: int, square: int, taken: int) -> int:
    if kind == chess.KING:
        return chess.BB_KING_ATTACKS[square]
    if kind == chess.KNIGHT:
        return chess.BB_KNIGHT_ATTACKS[square]
    reach = 0
    if kind != chess.ROOK:
        reach |= chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & taken]
    if kind != chess.BISHOP:
        reach |= chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & taken]
        reach |= chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & taken]
    return reach
