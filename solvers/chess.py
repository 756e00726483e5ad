"""Chess: described moves, forced mates and attacked squares, each solved exactly and told step by step.

The three tasks share positions and words, little else: `chessmoves` and `chessattacks` make and tell theirs, the mates
are told here and searched for in `chessmates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import chess

from gamegen.core.errors import Rejected, Unsolvable
from gamegen.core.problem import Check, Difficulty, Fact, Problem, Solution, Step
from gamegen.core.solver import Solver
from gamegen.core.stream import Stream
from gamegen.games.chess import (
    COLOUR_OF,
    COLOURS,
    EMPTY,
    UNMARKED,
    Diagram,
    board_of,
    diagram_of,
    game,
    legal_moves,
    played,
    side_of,
)
from solvers import chessattacks, chessmoves, chesstell
from solvers.chessmates import Lone, forces, mating_moves
from solvers.chessplay import flights, lone_king, play_on

Q, R, B, N = chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT
MATES: dict[int, tuple[int, tuple[tuple[int, ...], ...]]] = {
    1: (1, ((R, R), (Q, N), (Q, B))),
    3: (2, ((R, R), (Q, R))),
    4: (2, ((Q, R, N), (R, R, B), (R, R, N), (Q, R, B))),
    5: (3, ((R, R), (R, R), (Q, N))),
}
"""By level: the number of moves, and the pieces that mate a king alone. Level 2 is a mate in one in a played game."""

CALM, PLAYED = 14, 70
"""Level 2 looks for a mate after so many random moves, and gives up after so many."""

FEW_CHOICES = 32
"""Level 1 offers no more legal moves than this, level 2 no fewer."""

SHUT_IN = 1
"""It looks only where the other king has no more squares to go to than this: elsewhere mates are rare."""


class ChessSolver(Solver[Diagram]):
    def generate(self, kind: str, level: int, rng: Stream) -> Problem[Diagram]:
        if kind == "move":
            position, told, moves = chessmoves.draw(level, rng)
            line = " ".join(move.uci() for move in moves)
            return Problem(kind, position, (("told", told), ("moves", line)))
        if kind == "attacks":
            position, square = chessattacks.draw(level, rng)
            return Problem(kind, position, (("square", square), ("colour", rng.choice(tuple(COLOURS)))))
        board, moves_to_mate = _draw_mate(level, rng)
        side = "white" if board.turn else "black"
        return Problem(kind, diagram_of(board), (("turn", side), ("moves", moves_to_mate)))

    def asked(self, problem: Problem[Diagram]) -> Mapping[str, Fact]:
        if problem.kind == "mate":
            side = problem.text("turn")
            return {"side": f"@{side}", "other": f"@{_other(side)}", "moves": int(problem["moves"])}
        if problem.kind == "attacks":
            square = problem.text("square")
            piece = chessattacks.named(problem.position.piece(square))
            return {"piece": piece, "square": square, "colour": f"@{problem.text('colour')}"}
        facts: dict[str, Fact] = {}
        position = problem.position
        for number, move in enumerate(_moves(problem)):
            suffix = str(number + 1) if number else ""
            facts |= {name + suffix: fact for name, fact in chessmoves.facts_of(position, move).items()}
            position = played(position, move)
        told = problem.text("told")
        return {**facts, "deed": f"@deed-{told}", "outcome": f"@outcome-{told.removeprefix('find-')}"}

    def solve(self, problem: Problem[Diagram]) -> Solution[Diagram]:
        if problem.kind == "mate":
            return _solve_mate(problem)
        if problem.kind == "attacks":
            square, colour = problem.text("square"), problem.text("colour")
            steps = chessattacks.tell(problem.position, square, colour)
            squares = chessattacks.attacked(problem.position, square)
            looked = chessattacks.looked_at(problem.position, square)
            after = problem.position.marked(tuple(sorted(squares)), colour)
            length = sum(bool(step.action) for step in steps)
            return Solution(tuple(steps), after, Difficulty(looked, length, looked), {"count": len(squares)})
        told, moves, position = problem.text("told"), _moves(problem), problem.position
        steps = []
        for move in moves:
            steps += chessmoves.tell(position, told, move)
            position = played(position, move)
        effort = chessmoves.effort(problem.position, told, moves)
        return Solution(tuple(steps), position, Difficulty(effort, len(moves), effort))

    def check(self, problem: Problem[Diagram], position: Diagram) -> Check:
        if problem.kind == "mate":
            return _check_mate(problem, position)
        return _compare(problem, _target(problem), position)

    def confirm(self, problem: Problem[Diagram], position: Diagram, step: Step) -> bool:
        if problem.kind == "attacks":
            return dict(step.facts) == chessattacks.truth(position, step)
        if problem.kind == "move":
            told = f"{step.facts.get('from')}{step.facts.get('to', '')}"
            if not any(move.startswith(told) for move in problem.text("moves").split()):
                return False
        if problem.kind == "move" or step.rule == "play":
            return dict(step.facts) == chessmoves.truth(position, step)
        return dict(step.facts) == chesstell.truth(position, problem.text("turn"), int(problem["moves"]), step)


@lru_cache(maxsize=64)
def _target(problem: Problem[Diagram]) -> Diagram:
    """The right answer where there is but one, kept for the next picture of a group."""
    position = problem.position
    if problem.kind == "attacks":
        squares = chessattacks.attacked(position, problem.text("square"))
        return position.marked(tuple(sorted(squares)), problem.text("colour"))
    for move in _moves(problem):
        position = played(position, move)
    return position


def _draw_mate(level: int, rng: Stream) -> tuple[chess.Board, int]:
    if level == 2:
        return _played_mate(rng), 1
    moves, armies = MATES[level]
    board = lone_king(rng, rng.choice(armies))
    lone = Lone.of(board)
    if lone is None or lone.mates(moves - 1) or not lone.mates(moves):
        raise Rejected("no mate in exactly so many moves")
    if level == 1 and board.legal_moves.count() > FEW_CHOICES:
        raise Rejected("too many choices")
    return (board, moves) if rng.chance(0.5) else (board.mirror(), moves)


def _played_mate(rng: Stream) -> chess.Board:
    """Random play, stopped when the side to move can mate, and not only en passant: a picture does not tell of that."""
    for board in play_on(rng, CALM, PLAYED):
        if (
            flights(board) <= SHUT_IN
            and board.legal_moves.count() >= FEW_CHOICES
            and next(mating_moves(board, 1), None)
        ):
            seen = board_of(diagram_of(board), "white" if board.turn else "black")
            if next(mating_moves(seen, 1), None):
                return seen
    raise Rejected("no mate in one")


def _solve_mate(problem: Problem[Diagram]) -> Solution[Diagram]:
    position, side, moves = problem.position, problem.text("turn"), int(problem["moves"])
    board = board_of(position, side)
    key = next(mating_moves(board, moves), None)
    if key is None:
        raise Unsolvable(f"{side} has no mate in {moves} in\n{position}")
    steps = chesstell.tell(position, side, moves, key)
    facts = chessmoves.facts_of(position, key)
    base = {name: facts[name] for name in ("piece", "from", "to")}
    result = {**facts, "outcome": f"@outcome-{chessmoves.manner(position, key)}", "left": moves - 1}
    result["verdict"] = "@mated" if moves == 1 else "@will-be-mated"
    choices = board.legal_moves.count()
    effort = choices**moves
    return Solution(
        (*steps, Step("play", base, key.uci())),
        played(position, key),
        Difficulty(effort=effort, nodes=effort, branching=choices),
        result,
    )


def _check_mate(problem: Problem[Diagram], position: Diagram) -> Check:
    before, side, moves = problem.position, problem.text("turn"), int(problem["moves"])
    changed = _changed(before, position)
    move = _move_between(before, position, side, changed)
    if move is None:
        kept = min(1.0, (64 - len(changed)) / 62)
        where = f"{_first_difference(before, position)}, as no legal move of {side} would have it"
        reason = where[:1].upper() + where[1:] if changed else "No move was played"
        return Check(False, not changed, kept, f"{reason}.", {"mate": 0.0})
    board = board_of(before, side)
    right = forces(board, move, moves)
    verdict = f"forces mate in {moves}" if right else f"does not force mate in {moves}"
    return Check(right, True, 1.0, f"The move {move.uci()} {verdict}.", {"mate": float(right)})


def _move_between(before: Diagram, after: Diagram, side: str, changed: set[str]) -> chess.Move | None:
    """The legal move that turns one board into the other."""
    for move in _moves_of(before, side):
        ends = {chess.SQUARE_NAMES[move.from_square], chess.SQUARE_NAMES[move.to_square]}
        if ends <= changed and played(before, move) == after:
            return move
    return None


@lru_cache(maxsize=64)
def _moves_of(position: Diagram, side: str) -> tuple[chess.Move, ...]:
    """The legal moves, kept for the next picture of a group."""
    return tuple(legal_moves(position, side))


def _compare(problem: Problem[Diagram], target: Diagram, position: Diagram) -> Check:
    asked = _changed(problem.position, target)
    missed = _changed(target, position)
    others = 64 - len(asked)
    kept = (others - len(missed - asked)) / others
    right = (len(asked) - len(missed & asked)) / len(asked)
    correct = position == target
    legal = correct or (not game.faults(position) and _legal(problem, position))
    reason = "Every square shows what it should." if correct else f"{_first_difference(target, position)}."
    return Check(correct, legal, kept, reason[:1].upper() + reason[1:], {"asked squares": right, "other squares": kept})


def _legal(problem: Problem[Diagram], position: Diagram) -> bool:
    """Highlights may go anywhere; a board must be one legal move away, or be the end of the line that was asked for."""
    if problem.kind == "attacks":
        return position.rows == problem.position.rows
    before = problem.position
    side = side_of(before.piece(problem.text("moves")[:2]))
    changed = _changed(before, position)
    return _move_between(before, position, side, changed) is not None


def _first_difference(target: Diagram, position: Diagram) -> str:
    for square, want, got in zip(chess.SQUARE_NAMES, _shown(target), _shown(position), strict=True):
        if want[0] != got[0]:
            return f"{square} shows {_spoken(got[0])} instead of {_spoken(want[0])}"
        if want[1] != got[1]:
            return f"{square} is {_coloured(got[1])} instead of {_coloured(want[1])}"
    return "nothing differs"


def _changed(before: Diagram, after: Diagram) -> set[str]:
    """The squares that show something else."""
    return {s for s, was, now in zip(chess.SQUARE_NAMES, _shown(before), _shown(after), strict=True) if was != now}


def _shown(position: Diagram) -> list[tuple[str, str]]:
    """Piece and highlight of every square, from a1 to h8."""
    pieces, marks = ("".join(reversed(rows)) for rows in (position.rows, position.marks))
    return list(zip(pieces, marks, strict=True))


def _spoken(piece: str) -> str:
    if piece == EMPTY:
        return "nothing"
    return chessattacks.named(piece).removeprefix("@").replace("-", " ", 1).join(("a ", ""))


def _coloured(mark: str) -> str:
    return "not highlighted" if mark == UNMARKED else f"highlighted in {COLOUR_OF[mark]}"


def _moves(problem: Problem[Diagram]) -> tuple[chess.Move, ...]:
    return tuple(chess.Move.from_uci(text) for text in problem.text("moves").split())


def _other(side: str) -> str:
    return "black" if side == "white" else "white"


solver = ChessSolver()
