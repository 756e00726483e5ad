"""How far a judge can be trusted: its scores for edits whose worth is known, against the exact verdict.

A judge accepts an edit on a question when its score reaches a threshold. A false accept is an edit that does not
deserve the full score and is accepted; a false refusal is one that deserves it and is not. `accuracy` accepts when all
three questions are answered with 5, as the paper's accuracy does. Replies that the judge did not give count apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gamegen.sample import Sample
from gamegen.stored import StoredRow
from scoring.dual import Scores
from scoring.known import KINDS, KnownEdit, known_edits
from scoring.parse import HIGHEST, LOWEST
from scoring.prompts import QUESTIONS
from scoring.statistics import Rate

THRESHOLDS = tuple(range(LOWEST + 1, HIGHEST + 1))
ACCURACY = "accuracy"


@dataclass(frozen=True, slots=True)
class Trial:
    """An edit, where it lies, and what the judge said of it."""

    edit: KnownEdit
    output: str
    scores: Scores
    record: dict[str, Any]

    @property
    def category(self) -> str:
        return str(self.edit.sample["category"])

    def deserves(self, question: str) -> bool | None:
        """Whether the full score is due; None where that is open."""
        if question != ACCURACY:
            return self.edit.deserves.get(question)
        return all(self.edit.deserves.values()) if len(self.edit.deserves) == len(QUESTIONS) else None

    def accepted(self, question: str, threshold: int) -> bool | None:
        """Whether the judge accepts; None where it failed."""
        if question != ACCURACY:
            score = self.scores[question]
            return None if score is None else score >= threshold
        scores = list(self.scores.values())
        return None if None in scores else all(score == HIGHEST for score in scores)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.edit.id,
            "output": self.output,
            "category": self.category,
            "kind": self.edit.kind,
            "deserves": dict(self.edit.deserves),
            "exact": asdict(self.edit.verdict),
            "scores": self.scores,
            "replies": self.record["replies"][0],
            "failure": self.record["failure"],
        }


def lay_out(samples: Iterable[Sample], folder: Path) -> tuple[list[tuple[KnownEdit, StoredRow]], int]:
    """Make the edits, write their pictures as an editor's outputs would lie, and count those that are not used."""
    made: list[tuple[KnownEdit, StoredRow]] = []
    places: dict[str, int] = {}
    unused = 0
    for sample in samples:
        for edit in known_edits(sample):
            if edit is None:
                unused += 1
                continue
            category = str(sample["category"])
            stored = StoredRow({**sample.row(), "id": edit.id}, category, places.get(category, 0))
            places[category] = stored.place + 1
            path = folder / f"{stored.output_name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(edit.image)
            made.append((edit, stored))
        sample.forget_pictures()
    return made, unused


def trials(made: Sequence[tuple[KnownEdit, StoredRow]], records: Sequence[dict[str, Any]]) -> list[Trial]:
    """The judge's records (one pass) beside what they are about."""
    return [
        Trial(edit, stored.output_name, record["passes"][0], record)
        for (edit, stored), record in zip(made, records, strict=True)
    ]


def agreement(found: Sequence[Trial]) -> dict[str, Any]:
    """All numbers: over all edits, by category, and by kind of edit."""
    categories = sorted({trial.category for trial in found})
    return {
        "edits": len(found),
        "right": sum(trial.edit.verdict.correct for trial in found),
        "judge_failures": sum(bool(trial.record["failure"]) for trial in found),
        "questions": _questions(found),
        "by_category": {name: _questions([trial for trial in found if trial.category == name]) for name in categories},
        "by_kind": {
            kind: _kind([trial for trial in found if trial.edit.kind == kind])
            for kind in KINDS
            if any(trial.edit.kind == kind for trial in found)
        },
    }


def _questions(found: Sequence[Trial]) -> dict[str, Any]:
    """By question and threshold, with the threshold that errs least: the higher one, if two do."""
    numbers: dict[str, Any] = {}
    for question in QUESTIONS:
        at = {threshold: _at(found, question, threshold) for threshold in THRESHOLDS}
        known = {threshold: error for threshold, each in at.items() if (error := _error(each)) is not None}
        numbers[question] = {
            "at": {str(threshold): each for threshold, each in at.items()},
            "best": min(known, key=lambda threshold: (known[threshold], -threshold)) if known else None,
        }
    return numbers | {ACCURACY: {"at": {str(HIGHEST): _at(found, ACCURACY, HIGHEST)}, "best": None}}


def _at(found: Sequence[Trial], question: str, threshold: int) -> dict[str, Any]:
    asked = [(trial.deserves(question), trial.accepted(question, threshold)) for trial in found]
    judged = [(due, accepted) for due, accepted in asked if due is not None and accepted is not None]
    good = [accepted for due, accepted in judged if due]
    bad = [accepted for due, accepted in judged if not due]
    return {
        "false_accepts": Rate(sum(bad), len(bad)).as_json(),
        "false_refusals": Rate(len(good) - sum(good), len(good)).as_json(),
        "agreement": Rate(sum(due == accepted for due, accepted in judged), len(judged)).as_json(),
        "failures": sum(due is not None and accepted is None for due, accepted in asked),
    }


def _error(numbers: dict[str, Any]) -> float | None:
    """The mean of the two rates; None if one of them has nothing to be measured on."""
    rates = [numbers[name]["rate"] for name in ("false_accepts", "false_refusals")]
    return None if None in rates else round(sum(rates) / 2, 9)


def _kind(found: Sequence[Trial]) -> dict[str, Any]:
    """How one kind of edit fared: how often each question gave it 5, and its mean scores."""

    def five(question: str) -> Rate:
        accepted = [each for trial in found if (each := trial.accepted(question, HIGHEST)) is not None]
        return Rate(sum(accepted), len(accepted))

    return {
        "edits": len(found),
        "five": {question: five(question).as_json() for question in (*QUESTIONS, ACCURACY)},
        "mean": {question: _mean([trial.scores[question] for trial in found]) for question in QUESTIONS},
    }


def _mean(scores: Sequence[int | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return round(sum(known) / len(known), 6) if known else None
