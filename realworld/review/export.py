"""Decisions as a file: JSON holds everything, each vote included; CSV is one line for each candidate.

In CSV a text that a spreadsheet would take for a formula gets an apostrophe before it; JSON is exact.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gamegen import __version__
from gamegen.core.errors import BadInput
from gamegen.writing.format import replacing
from realworld.review.ballot import FIELDS, Vote
from realworld.review.decisions import Decision, decisions, moment
from realworld.run import Candidate, Run

COLUMNS = ("id", "category", "stage1", "stage2", "reasons", "notes", *FIELDS, "corrected", "reviewers", "votes", "last")


def write_decisions(run: Run, path: Path) -> int:
    """Write every decision into a .json or .csv file; how many."""
    if path.suffix not in (".json", ".csv"):
        raise BadInput(f"decisions are written as .json or .csv, not as {path.suffix or path.name!r}")
    found = decisions(run)
    text = as_json(run.candidates(), found) if path.suffix == ".json" else as_csv(run.candidates(), found)
    try:
        with replacing(path) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error}") from error
    return len(found)


def as_json(candidates: Iterable[Candidate], found: Mapping[str, Decision]) -> str:
    entries = [_entry(candidate, found[candidate.id]) for candidate in candidates if candidate.id in found]
    return (
        json.dumps({"generator": f"gamegen {__version__}", "decisions": entries}, ensure_ascii=False, indent=1) + "\n"
    )


def as_csv(candidates: Iterable[Candidate], found: Mapping[str, Decision]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for candidate in candidates:
        if candidate.id in found:
            writer.writerow([_safe(value) for value in _line(candidate, found[candidate.id])])
    return stream.getvalue()


def _entry(candidate: Candidate, decision: Decision) -> dict[str, Any]:
    texts = {
        name: {"original": getattr(candidate, name), "corrected": asdict(decision.corrections[name])}
        for name in FIELDS
        if name in decision.corrections
    }
    return {
        "id": candidate.id,
        "category": candidate.category,
        "stage1": decision.stage1,
        "stage2": decision.stage2,
        "reasons": decision.reasons,
        "texts": texts,
        "votes": [_vote(vote) for vote in decision.votes],
    }


def _vote(vote: Vote) -> dict[str, Any]:
    who = {"stage": vote.stage, "annotator": vote.annotator, "made": moment(vote.made)}
    return {**who, **asdict(vote.ballot)}


def _line(candidate: Candidate, decision: Decision) -> list[str]:
    stages = [decision.stage1 or "", decision.stage2 or ""]
    notes = " | ".join(f"{vote.annotator}: {vote.ballot.note}" for vote in decision.votes if vote.ballot.note)
    texts = [decision.texts.get(name, getattr(candidate, name)) for name in FIELDS]
    last = [" ".join(decision.corrections), ", ".join(decision.reviewers), str(len(decision.votes)), decision.times[-1]]
    return [candidate.id, candidate.category, *stages, " ".join(decision.reasons), notes, *texts, *last]


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
