"""A forced chess mate in sentences: what the king can do, which checks fail, and what answers every reply."""

from __future__ import annotations

from collections.abc import Mapping

import chess

from gamegen.core.problem import Fact, Step
from gamegen.games.chess import Diagram, board_of
from solvers.chessattacks import named
from solvers.chessmates import forces, mating_moves

TOLD_CHECKS = 2
TOLD_REPLIES = 4


def tell(position: Diagram, side: str, moves: int, key: chess.Move) -> list[Step]:
    """Everything up to, and without, the step that plays the key move."""
    board = board_of(position, side)
    steps = [_tell_flights(board)]
    if moves == 1:
        steps += [_tell_failing(board, move) for move in _failing_checks(board, key)[:TOLD_CHECKS]]
        return [*steps, _tell_check(board, key), _tell_mate(board, key)]
    steps.append(Step("no-faster", {"side": f"@{side}", "count": board.legal_moves.count(), "moves": moves}))
    replies = _replies(board, key)
    steps.append(Step("key", {**_move_facts(board, key), "other": _side(not board.turn), "count": len(replies)}))
    steps += [_tell_reply(board, key, reply, moves - 1) for reply in replies[:TOLD_REPLIES]]
    if len(replies) > TOLD_REPLIES:
        steps.append(Step("more-replies", {"key": key.uci(), "count": len(replies) - TOLD_REPLIES}))
    return steps


def truth(position: Diagram, side: str, moves: int, step: Step) -> Mapping[str, Fact]:
    """The facts of a step as they should be, worked out by playing on the board."""
    board = board_of(position, side)
    facts = step.facts
    if step.rule in ("flights", "no-flights"):
        told = _tell_flights(board)
        return told.facts if told.rule == step.rule else {}
    if step.rule == "no-faster":
        faster = next(mating_moves(board, moves - 1), None)
        return {} if faster else {"side": f"@{side}", "count": board.legal_moves.count(), "moves": moves}
    if step.rule == "more-replies":
        key = _legal(board, str(facts.get("key")))
        return {"key": facts["key"], "count": len(_replies(board, key)) - TOLD_REPLIES} if key else {}
    if step.rule in ("then-mate", "then-forced"):
        return _true_reply(board, moves, step)
    move = _legal(board, f"{facts.get('from')}{facts.get('to')}")
    if move is None:
        return {}
    if step.rule == "key":
        if not forces(board, move, moves):
            return {}
        return {**_move_facts(board, move), "other": _side(not board.turn), "count": len(_replies(board, move))}
    if step.rule == "check-fails":
        return _true_failing(board, move, step)
    if step.rule == "check":
        return _tell_check(board, move).facts if board.gives_check(move) else {}
    told = _tell_mate(board, move)
    return told.facts if told.rule == step.rule and forces(board, move, 1) else {}


def _tell_flights(board: chess.Board) -> Step:
    """Where the king in danger could go if it were its turn."""
    king = board.king(not board.turn)
    assert king is not None
    waiting = board.copy(stack=False)
    waiting.turn, waiting.ep_square = not board.turn, None
    moves = waiting.generate_legal_moves(chess.BB_SQUARES[king], chess.BB_KING_ATTACKS[king])
    flights = tuple(sorted(chess.square_name(move.to_square) for move in moves))
    facts: dict[str, Fact] = {"king": _named(board, king), "square": chess.square_name(king)}
    return Step("flights", {**facts, "squares": flights}) if flights else Step("no-flights", facts)


def _tell_failing(board: chess.Board, move: chess.Move) -> Step:
    reply = _replies(board, move)[0]
    return Step("check-fails", {**_move_facts(board, move), **_reply_facts(board, move, reply)})


def _true_failing(board: chess.Board, move: chess.Move, step: Step) -> Mapping[str, Fact]:
    answer = f"{step.facts.get('reply-from')}{step.facts.get('reply-to')}"
    replies = [reply for reply in _replies(board, move) if reply.uci()[:4] == answer]
    if not replies or not board.gives_check(move):
        return {}
    return {**_move_facts(board, move), **_reply_facts(board, move, replies[0])}


def _tell_check(board: chess.Board, key: chess.Move) -> Step:
    king = board.king(not board.turn)
    assert king is not None
    return Step("check", {**_move_facts(board, key), "king": _named(board, king), "square": chess.square_name(king)})


def _tell_mate(board: chess.Board, key: chess.Move) -> Step:
    """The squares around the mated king: attacked, or taken by its own side."""
    king = board.king(not board.turn)
    assert king is not None
    board.push(key)
    around = chess.BB_KING_ATTACKS[king]
    own = _names(around & board.occupied_co[board.turn])
    open_squares = _names(around & ~board.occupied_co[board.turn])
    board.pop()
    facts: dict[str, Fact] = {**_move_facts(board, key), "king": _named(board, king)}
    if own and open_squares:
        return Step("mate-both", {**facts, "own": own, "covered": open_squares})
    return (
        Step("mate-blocked", {**facts, "own": own}) if own else Step("mate-covered", {**facts, "covered": open_squares})
    )


def _tell_reply(board: chess.Board, key: chess.Move, reply: chess.Move, moves: int) -> Step:
    facts = {"key": key.uci(), **_reply_facts(board, key, reply)}
    board.push(key)
    board.push(reply)
    answer = next(mating_moves(board, moves))
    facts |= {f"then-{name}": fact for name, fact in _move_facts(board, answer).items()}
    mated = forces(board, answer, 1)
    board.pop()
    board.pop()
    return Step("then-mate", facts) if mated else Step("then-forced", {**facts, "left": moves - 1})


def _true_reply(board: chess.Board, moves: int, step: Step) -> Mapping[str, Fact]:
    """Whether the answer to this reply really mates in time; the answer itself is taken from the step."""
    key = _legal(board, str(step.facts.get("key")))
    if key is None:
        return {}
    reply = _legal_after(board, [key], f"{step.facts.get('reply-from')}{step.facts.get('reply-to')}")
    if reply is None:
        return {}
    answer = _legal_after(board, [key, reply], f"{step.facts.get('then-from')}{step.facts.get('then-to')}")
    if answer is None:
        return {}
    facts: dict[str, Fact] = {"key": key.uci(), **_reply_facts(board, key, reply)}
    left = 1 if step.rule == "then-mate" else moves - 1
    board.push(key)
    board.push(reply)
    facts |= {f"then-{name}": fact for name, fact in _move_facts(board, answer).items()}
    held = forces(board, answer, left)
    board.pop()
    board.pop()
    if not held:
        return {}
    return facts if step.rule == "then-mate" else {**facts, "left": left - 1}


def _legal(board: chess.Board, text: str) -> chess.Move | None:
    return next((move for move in board.legal_moves if text in (move.uci(), move.uci()[:4])), None)


def _legal_after(board: chess.Board, line: list[chess.Move], text: str) -> chess.Move | None:
    after = board.copy(stack=False)
    for move in line:
        after.push(move)
    return _legal(after, text)


def _failing_checks(board: chess.Board, key: chess.Move) -> list[chess.Move]:
    """Checks that do not mate, one for each pair of squares: promotions to several pieces would sound the same."""
    checks = (move for move in board.legal_moves if board.gives_check(move) and not forces(board, move, 1))
    failing: dict[str, chess.Move] = {}
    for move in checks:
        failing.setdefault(move.uci()[:4], move)
    failing.pop(key.uci()[:4], None)
    return list(failing.values())


def _replies(board: chess.Board, move: chess.Move) -> list[chess.Move]:
    board.push(move)
    replies = sorted(board.legal_moves, key=chess.Move.uci)
    board.pop()
    return replies


def _move_facts(board: chess.Board, move: chess.Move) -> dict[str, Fact]:
    return {
        "piece": _named(board, move.from_square),
        "from": chess.square_name(move.from_square),
        "to": chess.square_name(move.to_square),
    }


def _reply_facts(board: chess.Board, key: chess.Move, reply: chess.Move) -> dict[str, Fact]:
    board.push(key)
    facts = {f"reply-{name}": fact for name, fact in _move_facts(board, reply).items()}
    board.pop()
    return facts


def _named(board: chess.Board, square: int) -> str:
    piece = board.piece_at(square)
    assert piece is not None
    return named(piece.symbol())


def _names(mask: int) -> tuple[str, ...]:
    return tuple(chess.square_name(square) for square in chess.scan_forward(mask))


def _side(white: bool) -> str:
    return "@white" if white else "@black"
