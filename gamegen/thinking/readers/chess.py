"""Moves as UCI (`e2e4`, `e2-e4`, `from e2 to e4`) or SAN (`Nf3`, `exd5`, `O-O`); or the squares that are attacked."""

from __future__ import annotations

import re
from collections.abc import Iterator

import chess

from gamegen.games.chess import board_of, has_kings, name_of
from gamegen.thinking.replay import Telling
from gamegen.thinking.told import Place, Told

_SQUARE = r"([a-h][1-8])(?![A-Za-z0-9])"
_UCI = re.compile(
    r"(?<![A-Za-z0-9])([a-h][1-8])\s*(?:-|–|x|×|→|->|to|走到|到|吃)?\s*([a-h][1-8])=?([qrbnQRBN])?(?![A-Za-z0-9])"
)
_FROM_TO = re.compile(
    rf"(?:\bfrom\s+|\bleaves\s+|从|离开){_SQUARE}[^.;。；a-h]{{0,4}}(?:[^.;。；]{{0,40}}?){_SQUARE}"
    rf"|{_SQUARE}\s+becomes empty and[^.;]{{0,40}}?{_SQUARE}"
)
_SAN = re.compile(
    r"(?<![A-Za-z0-9])(?:[KQRBN][a-h]?[1-8]?x?[a-h][1-8]|[a-h]x[a-h][1-8](?:=[QRBN])?|[a-h][18]=[QRBN]"
    r"|[O0]-[O0](?:-[O0])?)(?![A-Za-z0-9])"
)
_NOWHERE = "a1a1"
"""Stands for a move that no piece can make: it is refused, as the text deserves."""


def tellings(told: Told) -> Iterator[Telling]:
    problem = told.problem
    if problem.kind == "attacks":
        yield from _attacked(told)
        return
    wanted = len(problem.text("moves").split()) if problem.kind == "move" else 1
    moves = _moves(told)
    if not moves:
        return
    if wanted > 1:
        yield Telling(tuple(dict.fromkeys(moves))[:wanted])
        return
    numbered = re.search(r"(?<!\d)1\s*\.", told.text)
    after = _moves(told, numbered.end()) if numbered else []
    yield Telling((moves[-1],))
    if after:
        yield Telling((after[0],))


def _moves(told: Told, since: int = 0) -> list[str]:
    """Every move that is named, in the order of the text, as UCI."""
    found: dict[int, str] = {}
    for match in _UCI.finditer(told.text, since):
        found[match.start(1)] = match[1] + match[2] + (match[3] or "").lower()
    for match in _FROM_TO.finditer(told.text, since):
        one, other = [square for square in match.groups() if square]
        found.setdefault(match.start(), one + other)
    for match in _SAN.finditer(told.text, since):
        found.setdefault(match.start(), _uci(told, match[0]))
    return [_promoted(told, move) for _, move in sorted(found.items())]


def _promoted(told: Told, move: str) -> str:
    """A pawn that comes to its last rank becomes what was asked for, or a queen, if the text does not say."""
    wanted = {each[:4]: each for each in told.problem.text("moves").split()}
    pawn = told.problem.position.piece(move[:2]) in "Pp" and move[3] in "18"
    return wanted.get(move, move + "q") if pawn and len(move) == 4 else move


def _uci(told: Told, san: str) -> str:
    position = told.problem.position
    sides = [told.problem.text("turn")] if told.problem.kind == "mate" else ["white", "black"]
    for side in sides if has_kings(position) else ():
        try:
            return board_of(position, side).parse_san(san.replace("0", "O")).uci()
        except (chess.InvalidMoveError, chess.IllegalMoveError, chess.AmbiguousMoveError):
            continue
    return _NOWHERE


def _attacked(told: Told) -> Iterator[Telling]:
    """The squares of the last sentence that names any beside the piece's own, or of all sentences together."""
    own, colour = told.problem.text("square"), told.problem.text("colour")
    places = [place for place in told.places if name_of(place.cell) != own]
    lists = [[name_of(cell) for cell in sentence.cells if name_of(cell) != own] for sentence in told.sentences]
    targets = [name_of(place.cell) for place in places if not _stands_on(told.text, place)]
    for squares in (*[each for each in lists if each][-1:], targets, [name_of(place.cell) for place in places]):
        if squares:
            yield Telling((f"{','.join(dict.fromkeys(squares))} {colour}",))


def _stands_on(text: str, place: Place) -> bool:
    """Whether the square is named as that of a piece in the way, not as one that is attacked."""
    return text[: place.start].rstrip().endswith((" on", " before")) or text[place.end :].startswith(
        ("的", "上的", "上")
    )
