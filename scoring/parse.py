"""A judge's reply read into a whole number from 1 to 5, or refused: a doubtful reply is never turned into a score.

A JSON object with a `score` counts first, the last one if there are several, so that thinking aloud before it does no
harm. Otherwise the last statement such as `Final Score is 4` or `score (1-5): 2` counts; one that is called final goes
before one that is not. A mention of the range itself (`1-5 scale: 3`) is not mistaken for a score.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from gamegen.core.errors import JudgeFailed

LOWEST, HIGHEST = 1, 5

_MARKUP = re.compile(r"[*_`$]|\\boxed|[{}]")
_RANGE = re.compile(r"[(\[]?\b(?:from\s+)?1\s*(?:-|–|—|\bto\b)\s*5\b(?!\.?\d)[)\]]?")
_STATEMENT = re.compile(
    r"\b(?P<final>final\s+)?(?:score|rating|scale)\b"
    r"(?:\s+(?:on|of|for|a|the|this|scale|image|picture|edit|output))*"
    r"\s*(?:\bis\b|\bwas\b|[:=→–—]|[-=]>|-(?=\s))*\s*"
    r"(?P<number>[-+]?\d+(?:[.,]\d+)*)"
    r"(?P<top>\s*(?:/|out\s+of)\s*\d+)?"
    r"(?P<more>\s*(?:%|(?:-|–|—|\bto\b|\bor\b)\s*\d))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge said, once understood."""

    score: int
    reason: str


def parse_reply(reply: str) -> Opinion:
    """The score in a reply; JudgeFailed if there is none, or if it is not a whole number from 1 to 5."""
    found = last_object(reply, "score")
    if found is not None:
        return Opinion(_whole(found["score"], reply), str(found.get("reason", "")))
    text = _RANGE.sub(" ", _MARKUP.sub(" ", reply))
    statements = list(_STATEMENT.finditer(text))
    if not statements:
        raise JudgeFailed(f"the reply states no score: {shortened(reply)}")
    last = ([match for match in statements if match["final"]] or statements)[-1]
    if last["more"] or (last["top"] and int(re.sub(r"\D", "", last["top"])) != HIGHEST):
        raise JudgeFailed(f"expected one score from {LOWEST} to {HIGHEST}, got {last[0].strip()!r}")
    return Opinion(_whole(last["number"].replace(",", "."), reply), text[: last.start()].strip())


def last_object(reply: str, name: str) -> dict[str, Any] | None:
    """The last JSON object in the text that has this name."""
    decoder = json.JSONDecoder()
    found: dict[str, Any] | None = None
    at = reply.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(reply, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found = value if name in value else found
        at = reply.find("{", end)
    return found


def _whole(value: object, reply: str) -> int:
    """`value` as a score. JSON numbers and their spelling as text are equal; 4.0 is whole, 4.5 is not, true is none."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else float("nan")
    except (ValueError, OverflowError):
        number = float("nan")
    if not number.is_integer() or not LOWEST <= number <= HIGHEST:
        raise JudgeFailed(f"expected a whole score from {LOWEST} to {HIGHEST}, got {value!r} in {shortened(reply)}")
    return int(number)


def shortened(reply: str) -> str:
    """A reply as messages quote it."""
    return repr(reply if len(reply) <= 120 else f"{reply[:60]} … {reply[-50:]}")
