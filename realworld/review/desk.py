"""What the page asks for, without HTTP: the next items of somebody, a decision, undo. Answers are ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from realworld.review.ballot import FIELDS, Ballot, annotator_name, checked
from realworld.review.decisions import decided
from realworld.review.export import as_csv, as_json
from realworld.review.items import Item
from realworld.review.progress import progress, results
from realworld.review.reasons import REASONS
from realworld.review.store import Lease, Refused, Store
from realworld.run import Run

Scores = Literal["after", "always", "never"]
"""When people see what the models scored; by default after they have decided, so that they judge for themselves."""

SCORES: tuple[str, ...] = get_args(Scores)
AHEAD = 2
"""Items held at once: the one that is looked at, and the next, whose pictures load meanwhile."""


@dataclass(frozen=True, slots=True)
class Desk:
    run: Run
    store: Store
    items: Mapping[str, Item]  # by key, in the run's order
    stage: int
    scores: Scores
    hold: float  # seconds that an item is kept for somebody who shows no sign of life

    def about(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "asked": self.store.asked(self.stage),
            "reasons": [asdict(reason) for reason in REASONS.values()],
            "hold": self.hold,
            "annotators": self.store.annotators(),
            "run": self.run.folder.resolve().name,
        }

    def work(self, annotator: str) -> dict[str, Any]:
        """What lies before this annotator now."""
        name = self.named(annotator)
        leases = self.store.take(self.stage, name, most=AHEAD, hold=self.hold)
        last = self.store.last(self.stage, name)
        return {
            "annotator": name,
            "items": [self._shown(lease) for lease in leases],
            "progress": progress(self.store, self.stage, name),
            "last": last and {"number": last.number, "id": last.id, "verdict": last.ballot.verdict},
        }

    def decide(self, annotator: str, key: str, token: str, ballot: Ballot) -> dict[str, Any]:
        item = self.item(key)
        ballot = checked(ballot, item.candidate, stage=self.stage)
        self.store.cast(self.stage, self.named(annotator), item, ballot, token=token)
        told = {} if self.scores == "never" else {"scores": dict(item.candidate.scores)}
        return {**self.work(annotator), **told}

    def undo(self, annotator: str, number: int) -> dict[str, Any]:
        key = self.store.undo(self.stage, self.named(annotator), number, hold=self.hold)
        return {**self.work(annotator), "again": key}

    def later(self, annotator: str, key: str) -> dict[str, Any]:
        self.store.postpone(self.stage, self.named(annotator), self.item(key).key)
        return self.work(annotator)

    def leave(self, annotator: str) -> dict[str, Any]:
        self.store.release(self.stage, self.named(annotator))
        return {}

    def results(self) -> dict[str, Any]:
        return results(self.store, self.stage, self.items.values())

    def exported(self, kind: str) -> str:
        found = decided(self.store, self.items.values())
        candidates = [item.candidate for item in self.items.values()]
        return as_json(candidates, found) if kind == "json" else as_csv(candidates, found)

    def item(self, key: str) -> Item:
        if key not in self.items:
            raise Refused("this sample has gone or changed since the page was loaded")
        return self.items[key]

    def named(self, annotator: str) -> str:
        return annotator_name(annotator, self.store.annotators())

    def _shown(self, lease: Lease) -> dict[str, Any]:
        candidate = self.items[lease.key].candidate
        texts = {name: getattr(candidate, name) for name in ("id", "category", "description", *FIELDS)}
        scores = {"scores": dict(candidate.scores)} if self.scores == "always" else {}
        former = lease.former and asdict(lease.former)
        return {"key": lease.key, "token": lease.token, **texts, **scores, "former": former}
