"""Chess positions for problems: by random legal play from the first move, and by composition."""

from __future__ import annotations

from collections.abc import Iterator

import chess

from gamegen.core.errors import Rejected
from gamegen.core.stream import Stream

TAKING = 0.55
"""How often a piece that can capture does: quiet random play never clears the board."""

DRAWS = 10
"""How often a piece is drawn before all legal moves are listed."""


def playout(rng: Stream, plies: int) -> chess.Board:
    """The board after so many random legal moves, or fewer if the game ends."""
    boards = list(play_on(rng, 0, plies))
    return boards[-1]


def play_on(rng: Stream, first: int, last: int) -> Iterator[chess.Board]:
    """One game of random legal moves: always the same board, as it is after moves `first` to `last`."""
    board = chess.Board()
    for ply in range(last + 1):
        if ply >= first:
            yield board
        move = _random_move(board, rng)
        if move is None:
            return
        board.push(move)


def flights(board: chess.Board) -> int:
    """How many squares next to the king of the side that has just moved are neither attacked nor its own."""
    king = board.king(not board.turn)
    assert king is not None
    squares = chess.BB_KING_ATTACKS[king] & ~board.occupied_co[not board.turn]
    return sum(not board.is_attacked_by(board.turn, square) for square in chess.scan_forward(squares))


def castling(rng: Stream) -> tuple[chess.Board, chess.Move]:
    """A played position whose king and rook are back home with nothing between them."""
    board = playout(rng, rng.between(12, 24))
    rank = 0 if board.turn else 56
    short = rng.chance(0.5)
    for square in (5, 6) if short else (1, 2, 3):
        board.remove_piece_at(rank + square)
    for king in chess.scan_forward(board.pieces_mask(chess.KING, board.turn)):
        board.remove_piece_at(king)
    board.set_piece_at(rank + 4, chess.Piece(chess.KING, board.turn))
    board.set_piece_at(rank + (7 if short else 0), chess.Piece(chess.ROOK, board.turn))
    return _composed(board, chess.Move(rank + 4, rank + (6 if short else 2)))


def passing(rng: Stream) -> tuple[chess.Board, chess.Move]:
    """A played position in which a pawn is put beside one that has just advanced two squares."""
    board = playout(rng, rng.between(12, 24))
    up, home = (8, 48) if board.turn else (-8, 8)
    file = rng.below(8)
    beside = file + (1 if file == 0 or (file < 7 and rng.chance(0.5)) else -1)
    start, passed, landed = home + file, home + file - up, home + file - 2 * up
    for square in (start, passed, landed, home + beside - 2 * up):
        if board.piece_type_at(square) == chess.KING:
            raise Rejected("a king is in the way")
        board.remove_piece_at(square)
    board.set_piece_at(landed, chess.Piece(chess.PAWN, not board.turn))
    board.set_piece_at(home + beside - 2 * up, chess.Piece(chess.PAWN, board.turn))
    board.ep_square = passed
    return _composed(board, chess.Move(home + beside - 2 * up, passed))


def promotion(rng: Stream) -> tuple[chess.Board, chess.Move]:
    """A played position in which a pawn is put one step from the last rank."""
    board = playout(rng, rng.between(16, 40))
    seventh, last = (48, 56) if board.turn else (8, 0)
    files = [file for file in range(8) if not board.piece_type_at(seventh + file)]
    if not files:
        raise Rejected("no room for a pawn")
    file = rng.choice(files)
    board.set_piece_at(seventh + file, chess.Piece(chess.PAWN, board.turn))
    targets = [last + file + side for side in (-1, 0, 1) if 0 <= file + side < 8]
    kinds = (chess.QUEEN, chess.QUEEN, chess.KNIGHT, chess.ROOK, chess.BISHOP)
    return _composed(board, chess.Move(seventh + file, rng.choice(targets), promotion=rng.choice(kinds)))


def lone_king(rng: Stream, kinds: tuple[int, ...]) -> chess.Board:
    """White's king and these pieces, to move, against a king at the edge."""
    edge = rng.choice([square for square in chess.SQUARES if chess.BB_SQUARES[square] & _EDGE])
    squares = rng.sample([square for square in chess.SQUARES if square != edge], len(kinds) + 1)
    board = chess.Board(None)
    board.set_piece_at(edge, chess.Piece(chess.KING, chess.BLACK))
    for kind, square in zip((chess.KING, *kinds), squares, strict=True):
        board.set_piece_at(square, chess.Piece(kind, chess.WHITE))
    if not board.is_valid():
        raise Rejected("not a legal position")
    return board


_EDGE = chess.BB_RANK_1 | chess.BB_RANK_8 | chess.BB_FILE_A | chess.BB_FILE_H


def _composed(board: chess.Board, move: chess.Move) -> tuple[chess.Board, chess.Move]:
    board.castling_rights = chess.BB_CORNERS
    board.castling_rights = board.clean_castling_rights()
    board.clear_stack()
    if not board.is_valid() or not board.is_legal(move):
        raise Rejected("the special move is not legal")
    return board, move


def _random_move(board: chess.Board, rng: Stream) -> chess.Move | None:
    own = list(chess.scan_forward(board.occupied_co[board.turn]))
    for _ in range(DRAWS):
        moves = list(board.generate_legal_moves(chess.BB_SQUARES[rng.choice(own)]))
        if moves:
            captures = [move for move in moves if board.is_capture(move)]
            return rng.choice(captures if captures and rng.chance(TAKING) else moves)
    every = list(board.legal_moves)
    return rng.choice(every) if every else None
