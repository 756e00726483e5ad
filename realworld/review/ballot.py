"""What one person says about one candidate in one stage, and the rules that it must keep.

Stage 1 asks whether texts and pictures are good enough to go on; stage 2 corrects texts that are slightly wrong.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from gamegen.core.errors import BadInput
from realworld.review.reasons import REASONS
from realworld.run import Candidate

Verdict = Literal["keep", "drop"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
STAGES = (1, 2)
FIELDS = ("instruction", "effect", "reasoning")
"""The texts that stage 2 may correct."""

MAX_NAME, MAX_NOTE, MAX_TEXT = 40, 1_000, 8_000  # characters
MAX_SECONDS = 3600.0
"""Longer looks count as this much: somebody went to lunch."""


@dataclass(frozen=True, slots=True)
class Ballot:
    verdict: Verdict
    reasons: tuple[str, ...] = ()  # names in reasons.toml, in its order
    note: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)  # corrected fields only
    seconds: float = 0.0  # spent looking


@dataclass(frozen=True, slots=True)
class Vote:
    """A ballot that was cast: by whom, and when."""

    number: int
    stage: int
    key: str
    id: str
    annotator: str
    made: float  # seconds since 1970
    undone: float | None
    ballot: Ballot


def checked(ballot: Ballot, candidate: Candidate, *, stage: int) -> Ballot:
    """The ballot without texts that say what the candidate says anyway, or BadInput."""
    texts = {name: tidy(text) for name, text in ballot.texts.items()}
    texts = {name: text for name, text in texts.items() if name not in FIELDS or text != tidy(getattr(candidate, name))}
    note = tidy(ballot.note)
    unknown = [name for name in ballot.reasons if name not in REASONS]
    if ballot.verdict not in VERDICTS:
        raise BadInput(f"a verdict is one of {', '.join(VERDICTS)}, not {ballot.verdict!r}")
    if unknown:
        raise BadInput(f"unknown reason {unknown[0]!r}; known: {', '.join(REASONS)}")
    if ballot.verdict == "drop" and not ballot.reasons:
        raise BadInput("a drop needs at least one reason")
    if ballot.verdict == "keep" and ballot.reasons:
        raise BadInput("reasons are for a drop; take them off to keep it")
    if "other" in ballot.reasons and not note:
        raise BadInput("the reason 'other' needs a few words in the note")
    if len(note) > MAX_NOTE:
        raise BadInput(f"a note has at most {MAX_NOTE} characters, not {len(note)}")
    _check_texts(texts, stage)
    reasons = tuple(name for name in REASONS if name in ballot.reasons)
    seconds = min(max(ballot.seconds, 0.0), MAX_SECONDS)
    return Ballot(ballot.verdict, reasons, note, texts, seconds)


def annotator_name(text: str, known: list[str]) -> str:
    """A name as it is stored; somebody known who writes it with other capitals stays the same person."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput(f"a name has 1 to {MAX_NAME} printable characters, not {text[:80]!r}")
    return next((other for other in known if other.casefold() == name.casefold()), name)


def tidy(text: str) -> str:
    """One form for one text: browsers send other line ends, and blanks at the ends say nothing."""
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n").replace("\r", "\n").strip()


def _check_texts(texts: Mapping[str, str], stage: int) -> None:
    for name, text in texts.items():
        if name not in FIELDS:
            raise BadInput(f"unknown text {name!r}; {', '.join(FIELDS)} can be corrected")
        if stage == 1:
            raise BadInput("texts are corrected in stage 2")
        if not text:
            raise BadInput(f"the {name} must not be empty; drop the sample if nothing true can be said")
        if len(text) > MAX_TEXT:
            raise BadInput(f"the {name} has at most {MAX_TEXT} characters, not {len(text)}")
        if any(unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t" for letter in text):
            raise BadInput(f"the {name} holds control characters")
