"""Chess, as far as a picture shows it: which piece stands where, and which squares are highlighted.

Whose turn it is, and whether a pawn has just advanced two squares, no picture shows; the task says it. So here a move
is legal if it is legal for the side that owns the piece. As composers of chess problems do, a king and a rook on their
home squares are taken not to have moved, and a pawn that could just have advanced two squares may be taken en passant.

The rules of movement are those of the package `chess`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import chess

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction
from gamegen.core.game import Game, Task
from gamegen.core.problem import Problem
from gamegen.core.stream import Stream

PIECES = "KQRBNPkqrbnp"
EMPTY, UNMARKED = ".", "."
COLOURS = {"red": "r", "green": "g", "blue": "b", "orange": "o", "purple": "p"}
COLOUR_OF = {code: name for name, code in COLOURS.items()}

_TEXT = re.compile(rf"[{EMPTY}{PIECES}\n]{{71}}(\n\n[{UNMARKED}{''.join(COLOUR_OF)}\n]{{71}})?")
_NO_MARKS = (UNMARKED * 8,) * 8


@dataclass(frozen=True, slots=True)
class Diagram:
    """What a chess picture shows. Row 0 is rank 8; capitals are White's pieces."""

    rows: tuple[str, ...]
    marks: tuple[str, ...] = _NO_MARKS

    def __str__(self) -> str:
        text = "\n".join(self.rows)
        return text if self.marks == _NO_MARKS else text + "\n\n" + "\n".join(self.marks)

    def piece(self, square: str) -> str:
        cell = cell_of(square)
        return self.rows[cell.row][cell.col]

    def mark(self, square: str) -> str:
        cell = cell_of(square)
        return self.marks[cell.row][cell.col]

    def marked(self, squares: tuple[str, ...], colour: str) -> Diagram:
        marks = self.marks
        for square in squares:
            marks = _replaced(marks, cell_of(square), COLOURS[colour])
        return Diagram(self.rows, marks)


@dataclass(frozen=True, slots=True)
class Move:
    """Move a piece by the rules of chess: castling takes the rook along, capturing en passant removes the pawn."""

    uci: str

    def __str__(self) -> str:
        return self.uci


@dataclass(frozen=True, slots=True)
class Highlight:
    """Highlight squares that have no highlight yet in one colour."""

    squares: tuple[str, ...]
    colour: str

    def __str__(self) -> str:
        return f"{','.join(self.squares)} {self.colour}"


Action = Move | Highlight


class Chess(Game[Diagram, Action]):
    name = "chess"
    title = "Chess"
    dimension = "Strategic Reasoning"
    category = "Chess"
    tasks = (
        Task("move", "play the described legal move or moves", unique=True),
        Task("mate", "play the first move of a forced mate in one, two or three"),
        Task("attacks", "highlight the squares that a piece attacks", unique=True),
    )

    def parse(self, text: str) -> Diagram:
        rows, gap, marks = text.partition("\n\n")
        lines = rows.split("\n") + (marks.split("\n") if gap else [])
        if not _TEXT.fullmatch(text) or any(len(line) != 8 for line in lines):
            raise BadInput(f"expected eight rows of eight pieces, and perhaps as many of highlights, not {text[:80]!r}")
        return Diagram(tuple(rows.split("\n")), tuple(marks.split("\n")) if gap else _NO_MARKS)

    def parse_action(self, text: str) -> Action:
        if re.fullmatch(r"([a-h][1-8])(?!\1)[a-h][1-8][qrbn]?", text):
            return Move(text)
        squares, _, colour = text.partition(" ")
        if colour in COLOURS and re.fullmatch(r"[a-h][1-8](,[a-h][1-8])*", squares):
            return Highlight(tuple(squares.split(",")), colour)
        raise BadInput(f"expected a move such as 'e2e4' or 'e7e8q', or 'a1,b2 red', not {text!r}")

    def actions(self, position: Diagram) -> Iterator[Action]:
        """White's moves, Black's moves, then the highlights of single squares, by colour."""
        if has_kings(position):
            for side in ("white", "black"):
                yield from (Move(move.uci()) for move in legal_moves(position, side))
        for colour in COLOURS:
            for name in chess.SQUARE_NAMES:
                if position.mark(name) == UNMARKED:
                    yield Highlight((name,), colour)

    def apply(self, position: Diagram, action: Action) -> Diagram:
        if isinstance(action, Highlight):
            if taken := [square for square in action.squares if position.mark(square) != UNMARKED]:
                raise IllegalAction(f"{taken[0]} is highlighted already")
            return position.marked(action.squares, action.colour)
        piece = position.piece(action.uci[:2])
        if piece == EMPTY:
            raise IllegalAction(f"there is no piece on {action.uci[:2]}")
        if not has_kings(position):
            raise IllegalAction("each side needs one king before anybody can move")
        move = chess.Move.from_uci(action.uci)
        if move not in legal_moves(position, side_of(piece)):
            raise IllegalAction(f"{action} is not a legal move in\n{position}")
        return played(position, move)

    def canonical(self, position: Diagram) -> str:
        return min(map("\n".join, _views(position.rows)))

    def faults(self, position: Diagram) -> list[str]:
        text = "".join(position.rows)
        found = []
        for side, king in (("White", "K"), ("Black", "k")):
            if text.count(king) != 1:
                found.append(f"{side} has {text.count(king)} kings")
        for rank, row in ((8, position.rows[0]), (1, position.rows[7])):
            if "p" in row.lower():
                found.append(f"a pawn stands on rank {rank}")
        if not found and all(board_of(position, side).is_check() for side in ("white", "black")):
            found.append("both kings are in check")
        return found

    def may_change(self, problem: Problem[Diagram]) -> frozenset[Cell]:
        return frozenset(Cell(row, col) for row in range(8) for col in range(8))

    def mutate(self, position: Diagram, rng: Stream) -> Diagram:
        """Another piece, no piece, or another highlight on one square."""
        cell = Cell(rng.below(8), rng.below(8))
        if rng.chance(0.7):
            others = [piece for piece in EMPTY + PIECES if piece != position.rows[cell.row][cell.col]]
            return Diagram(_replaced(position.rows, cell, rng.choice(others)), position.marks)
        others = [mark for mark in (UNMARKED, *COLOUR_OF) if mark != position.marks[cell.row][cell.col]]
        return Diagram(position.rows, _replaced(position.marks, cell, rng.choice(others)))


def cell_of(square: str) -> Cell:
    return Cell(8 - int(square[1]), ord(square[0]) - ord("a"))


def name_of(cell: Cell) -> str:
    return f"{chr(ord('a') + cell.col)}{8 - cell.row}"


def has_kings(position: Diagram) -> bool:
    text = "".join(position.rows)
    return text.count("K") == text.count("k") == 1


def diagram_of(board: chess.Board) -> Diagram:
    return Diagram(tuple(str(board).replace(" ", "").split("\n")))


def board_of(position: Diagram, side: str, *, passing: int | None = None) -> chess.Board:
    """The board with this side to move; `passing` is the square that a pawn has just passed over, if any."""
    board = chess.Board(None)
    board.set_board_fen("/".join(_fen_row(row) for row in position.rows))
    board.turn = side == "white"
    board.castling_rights = chess.BB_CORNERS
    board.castling_rights = board.clean_castling_rights()
    board.ep_square = passing
    return board


def legal_moves(position: Diagram, side: str) -> list[chess.Move]:
    """Every move of a side, those en passant last."""
    board = board_of(position, side)
    moves = list(board.legal_moves)
    for passing in _passable(board):
        moves += board_of(position, side, passing=passing).generate_legal_ep()
    return moves


def played(position: Diagram, move: chess.Move) -> Diagram:
    """The diagram after a move that is known to be legal."""
    board = board_of(position, side_of(position.piece(chess.square_name(move.from_square))))
    if board.piece_type_at(move.from_square) == chess.PAWN and move.to_square in _passable(board):
        board.ep_square = move.to_square
    board.push(move)
    return Diagram(diagram_of(board).rows, position.marks)


def side_of(piece: str) -> str:
    return "white" if piece.isupper() else "black"


def _passable(board: chess.Board) -> list[int]:
    """Squares that an enemy pawn could just have passed over, with a pawn of the side to move beside it."""
    ahead = 8 if board.turn else -8
    rank = chess.BB_RANK_5 if board.turn else chess.BB_RANK_4
    found = []
    for square in chess.scan_forward(board.pawns & board.occupied_co[not board.turn] & rank):
        crossed = chess.BB_SQUARES[square + ahead] | chess.BB_SQUARES[square + 2 * ahead]
        beside = chess.BB_KING_ATTACKS[square] & rank & board.pawns & board.occupied_co[board.turn]
        if beside and not crossed & board.occupied:
            found.append(square + ahead)
    return found


@lru_cache(maxsize=4096)
def _fen_row(row: str) -> str:
    return re.sub(r"\.+", lambda gap: str(len(gap[0])), row)


def _views(rows: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The same game seen otherwise: mirrored, with colours exchanged, and turned if no pawn gives a direction."""
    turned = tuple(map("".join, zip(*rows, strict=True)))
    boards = [rows] if "p" in "".join(rows).lower() else [rows, rows[::-1], turned, turned[::-1]]
    for board in boards:
        for each in (board, tuple(row.swapcase() for row in board[::-1])):
            yield from (each, tuple(row[::-1] for row in each))


def _replaced(rows: tuple[str, ...], cell: Cell, char: str) -> tuple[str, ...]:
    row = rows[cell.row]
    return (*rows[: cell.row], row[: cell.col] + char + row[cell.col + 1 :], *rows[cell.row + 1 :])


game = Chess()
