"""Chess moves described in words: drawing them by level, telling them, and the facts they consist of."""

from __future__ import annotations

from collections.abc import Mapping

import chess

from gamegen.core.errors import Rejected
from gamegen.core.problem import Fact, Step
from gamegen.core.stream import Stream
from gamegen.games.chess import EMPTY, Diagram, diagram_of, legal_moves, played, side_of
from solvers.chessattacks import named
from solvers.chessplay import castling, passing, playout, promotion

LINE = 3
"""Moves in a line of play."""

_CORNERS = {"c1": ("a1", "d1"), "g1": ("h1", "f1"), "c8": ("a8", "d8"), "g8": ("h8", "f8")}
"""Where the rook comes from and goes to, by the castling king's new square."""


def draw(level: int, rng: Stream) -> tuple[Diagram, str, tuple[chess.Move, ...]]:
    """A position, how its moves are told, and the moves."""
    if level == 4:
        make = rng.choice((castling, passing, promotion))
        board, move = make(rng)
        position = diagram_of(board)
        return position, manner(position, move), (move,)
    board = playout(rng, rng.between(8, 50))
    position, moves = diagram_of(board), list(board.generate_legal_moves())
    if level == 5:
        return position, "line", _draw_line(position, board, rng)
    captures = level == 2 or (level == 3 and rng.chance(0.5))
    fitting = [move for move in moves if manner(position, move) == ("capture" if captures else "move")]
    if level == 3:
        fitting = [move for move in fitting if _needs_search(position, move, moves)]
    if not fitting:
        raise Rejected("no such move here")
    move = rng.choice(fitting)
    told = manner(position, move)
    return position, f"find-{told}" if level == 3 else told, (move,)


def manner(position: Diagram, move: chess.Move) -> str:
    """What kind of move it is."""
    start, end = chess.square_name(move.from_square), chess.square_name(move.to_square)
    piece, there = position.piece(start), position.piece(end)
    if piece in "Kk" and abs(move.from_square - move.to_square) == 2:
        return "castle-short" if end[0] == "g" else "castle-long"
    if move.promotion:
        return "promote" if there == EMPTY else "promote-capture"
    if piece in "Pp" and start[0] != end[0] and there == EMPTY:
        return "passant"
    return "move" if there == EMPTY else "capture"


def facts_of(position: Diagram, move: chess.Move) -> dict[str, Fact]:
    """Everything there is to say about a move."""
    start, end = chess.square_name(move.from_square), chess.square_name(move.to_square)
    piece, kind = position.piece(start), manner(position, move)
    facts: dict[str, Fact] = {"side": f"@{side_of(piece)}", "piece": named(piece), "from": start, "to": end}
    if position.piece(end) != EMPTY:
        facts["taken"] = named(position.piece(end))
    if kind == "passant":
        stood = end[0] + start[1]
        facts |= {"taken": named(position.piece(stood)), "stood": stood}
    if move.promotion:
        new = chess.piece_symbol(move.promotion)
        facts["new"] = named(new.upper() if piece.isupper() else new)
    if kind.startswith("castle"):
        corner, beside = _CORNERS[end]
        facts |= {"rook": named("R" if piece.isupper() else "r"), "rook-from": corner, "rook-to": beside}
    return facts


def effort(position: Diagram, told: str, moves: tuple[chess.Move, ...]) -> int:
    """Squares that change, pieces that might be meant, rules beyond plain moving, and a bit for each further move."""
    total = 2 * (len(moves) - 1)
    for move in moves:
        after = played(position, move)
        total += sum(a != b for rows in zip(position.rows, after.rows, strict=True) for a, b in zip(*rows, strict=True))
        total += "taken" in facts_of(position, move)
        if told.startswith("find"):
            total += 2 * (len(_alike(position, move)) - 1)
        elif told not in ("move", "capture", "line"):
            total += 3
        position = after
    return total


def tell(position: Diagram, told: str, move: chess.Move) -> list[Step]:
    """The steps of one move; the last one plays it."""
    facts, kind = facts_of(position, move), manner(position, move)
    base: dict[str, Fact] = {name: facts[name] for name in ("piece", "from", "to")}
    steps = [Step("stands", {"piece": facts["piece"], "from": facts["from"]})]
    if told.startswith("find"):
        steps = [Step("only-one", {**base, "squares": _alike(position, move)})]
    if kind.startswith("castle"):
        between = _between(str(facts["from"]), str(facts["rook-from"]))
        steps.append(Step("castle-free", {"squares": between, "from": facts["from"], "to": facts["to"]}))
        return [*steps, Step("castle", facts, move.uci())]
    way = _between(str(facts["from"]), str(facts["to"]))
    if way and facts["piece"] not in ("@white-knight", "@black-knight"):
        steps.append(Step("way-free", {"from": facts["from"], "to": facts["to"], "squares": way}))
    if kind == "passant":
        return [*steps, Step("passant", facts, move.uci())]
    if "taken" in facts:
        steps.append(Step("takes", {**base, "taken": facts["taken"]}))
    if move.promotion:
        return [*steps, Step("promote", {**base, "new": facts["new"]}, move.uci())]
    return [*steps, Step("play", base, move.uci())]


def truth(position: Diagram, step: Step) -> Mapping[str, Fact]:
    """The facts of a step as they should be, from its squares and from the list of all legal moves."""
    start, end = str(step.facts.get("from")), str(step.facts.get("to"))
    if start not in chess.SQUARE_NAMES or position.piece(start) == EMPTY:
        return {}
    if step.rule == "stands":
        return {"piece": named(position.piece(start)), "from": start}
    legal = legal_moves(position, side_of(position.piece(start)))
    moves = [move for move in legal if move.uci()[:4] == start + end and step.action in ("", move.uci())]
    if not moves:
        return {}
    move = moves[0]
    facts, kind = facts_of(position, move), manner(position, move)
    base: dict[str, Fact] = {name: facts[name] for name in ("piece", "from", "to")}
    if step.rule == "only-one":
        alike = _alike(position, move)
        able = [m for m in legal if m.to_square == move.to_square and chess.square_name(m.from_square) in alike]
        return {**base, "squares": alike} if len(able) == 1 else {}
    if step.rule in ("way-free", "castle-free"):
        far = _CORNERS[end][0] if step.rule == "castle-free" else end
        way = _between(start, far)
        return {"from": start, "to": end, "squares": way} if all(position.piece(s) == EMPTY for s in way) else {}
    if step.rule == "takes":
        return {**base, "taken": facts["taken"]} if "taken" in facts else {}
    if step.rule == "promote":
        return {**base, "new": facts["new"]} if move.promotion and step.action else {}
    if step.rule in ("castle", "passant"):
        return facts if kind.startswith(step.rule) and step.action else {}
    return base if step.rule == "play" and step.action else {}


def _draw_line(position: Diagram, board: chess.Board, rng: Stream) -> tuple[chess.Move, ...]:
    """Plain moves and captures in turn that touch six different squares."""
    line: list[chess.Move] = []
    touched: set[int] = set()
    for _ in range(LINE):
        here = diagram_of(board)
        fitting = [
            move
            for move in board.legal_moves
            if not {move.from_square, move.to_square} & touched and manner(here, move) in ("move", "capture")
        ]
        if not fitting:
            raise Rejected("no line of plain moves")
        captures = [move for move in fitting if board.is_capture(move)]
        move = rng.choice(captures if captures and rng.chance(0.5) else fitting)
        touched |= {move.from_square, move.to_square}
        line.append(move)
        board.push(move)
    return tuple(line)


def _needs_search(position: Diagram, move: chess.Move, legal: list[chess.Move]) -> bool:
    """Several pieces of the kind (no pawns: they are too many) are there, and only this one can go there."""
    if position.piece(chess.square_name(move.from_square)) in "Pp":
        return False
    alike = _alike(position, move)
    able = [m for m in legal if m.to_square == move.to_square and chess.square_name(m.from_square) in alike]
    return len(alike) > 1 and len(able) == 1


def _alike(position: Diagram, move: chess.Move) -> tuple[str, ...]:
    """The squares of all pieces of the moving kind and colour."""
    piece = position.piece(chess.square_name(move.from_square))
    return tuple(name for name in chess.SQUARE_NAMES if position.piece(name) == piece)


def _between(start: str, end: str) -> tuple[str, ...]:
    mask = chess.between(chess.parse_square(start), chess.parse_square(end))
    return tuple(chess.square_name(square) for square in chess.scan_forward(mask))
