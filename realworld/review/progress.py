"""How a stage of the inspection goes: counts while working, and everything for the page at its end."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any

from realworld.review.agreement import agreement
from realworld.review.ballot import Vote
from realworld.review.decisions import decided, moment
from realworld.review.items import Item
from realworld.review.store import Store

RECENT = 20
"""Decisions that tell how fast somebody is now."""

AT_WORK = 600.0
"""Seconds since the last decision of somebody who counts as at work."""

COUNTS = """
  SELECT count(*) AS items, total(keeps + drops) AS votes, total(missing) AS missing,
         total(missing = 0 AND keeps > drops) AS keep, total(missing = 0 AND keeps < drops) AS "drop"
  FROM standing WHERE stage = ?
"""
MINE = """
  SELECT seconds FROM vote WHERE stage = ? AND annotator = ? AND undone IS NULL AND key IN (SELECT key FROM item)
  ORDER BY number DESC
"""
WORKING = "SELECT count(DISTINCT annotator) FROM vote WHERE stage = ? AND made > ?"


def progress(store: Store, stage: int, annotator: str) -> dict[str, Any]:
    """Counts of the stage; this annotator's number and seconds for each; seconds left at everyone's pace."""
    counts = _counts(store, stage)
    looks = [row[0] for row in store.rows(MINE, stage, annotator)]
    pace = statistics.median(looks[:RECENT]) if looks else None
    people = store.rows(WORKING, stage, store.clock() - AT_WORK)[0][0]
    left = counts["missing"] * pace / max(1, people) if pace is not None else None
    return {**counts, "mine": len(looks), "pace": pace, "people": people, "left": left}


def results(store: Store, stage: int, found: Collection[Item]) -> dict[str, Any]:
    """Outcomes by category, reasons, people, agreement."""
    decisions = decided(store, found)
    here = sorted(
        (vote for decision in decisions.values() for vote in decision.votes if vote.stage == stage),
        key=lambda vote: vote.number,
    )
    asked = store.asked(stage)
    categories: dict[str, Counter[str]] = defaultdict(Counter)
    for item in found:
        decision = decisions.get(item.candidate.id)
        if stage == 1 or (decision and decision.stage1 == "keep"):
            verdict = decision and (decision.stage1 if stage == 1 else decision.stage2)
            categories[item.candidate.category][verdict or "open"] += 1
    return {
        "stage": stage,
        "asked": asked,
        "counts": _counts(store, stage),
        "categories": [
            {"category": name, **{verdict: counts[verdict] for verdict in ("keep", "drop", "open")}}
            for name, counts in sorted(categories.items())
        ],
        "reasons": Counter(reason for vote in here for reason in vote.ballot.reasons),
        "corrected": Counter(name for decision in decisions.values() for name in decision.corrections),
        "people": _people(here),
        "agreement": asdict(agreement(here, asked=asked)),
    }


def _counts(store: Store, stage: int) -> dict[str, int]:
    return {name: int(value) for name, value in dict(store.rows(COUNTS, stage)[0]).items()}


def _people(votes: Iterable[Vote]) -> list[dict[str, Any]]:
    by_name: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        by_name[vote.annotator].append(vote)
    return [
        {
            "annotator": name,
            "votes": len(cast),
            "keep": sum(vote.ballot.verdict == "keep" for vote in cast),
            "corrected": sum(bool(vote.ballot.texts) for vote in cast),
            "seconds": statistics.median(vote.ballot.seconds for vote in cast),
            "last": moment(cast[-1].made),
        }
        for name, cast in by_name.items()
    ]
