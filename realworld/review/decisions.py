"""What people decided about the candidates of a run: for the export of the dataset, and for files of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from realworld.review import outcome
from realworld.review.ballot import STAGES, Verdict, Vote
from realworld.review.items import Item, items
from realworld.review.store import Store
from realworld.run import Run


@dataclass(frozen=True, slots=True)
class Correction:
    """A text as a reviewer left it; the original stays in the candidate."""

    text: str
    by: str
    made: str  # UTC, ISO 8601


@dataclass(frozen=True, slots=True)
class Decision:
    """None for a stage means: not decided there yet."""

    stage1: Verdict | None = None
    stage2: Verdict | None = None
    reasons: tuple[str, ...] = ()  # of the stage that dropped it, the most frequent first
    corrections: Mapping[str, Correction] = field(default_factory=dict)  # by field: instruction, effect, reasoning
    reviewers: tuple[str, ...] = ()  # everyone who voted, in order
    times: tuple[str, ...] = ()  # of their votes
    votes: tuple[Vote, ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """The corrected texts only."""
        return {name: correction.text for name, correction in self.corrections.items()}


def decisions(run: Run) -> Mapping[str, Decision]:
    """The decision about every candidate that somebody voted on, by its id, in the run's order."""
    if not run.decisions.exists():
        return {}
    with Store(run.decisions) as store:
        return decided(store, items(run.candidates()))


def decided(store: Store, found: Iterable[Item]) -> dict[str, Decision]:
    """Votes on candidates that are no longer what they were are left out."""
    asked = {stage: store.asked(stage) for stage in STAGES}
    by_key: dict[str, list[Vote]] = defaultdict(list)
    for vote in store.votes():
        by_key[vote.key].append(vote)
    return {item.candidate.id: _decision(by_key[item.key], asked) for item in found if item.key in by_key}


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _decision(votes: Sequence[Vote], asked: Mapping[int, int]) -> Decision:
    by_stage = {stage: [vote for vote in votes if vote.stage == stage] for stage in STAGES}
    first, second = (outcome.verdict(by_stage[stage], asked[stage]) for stage in STAGES)
    dropped = by_stage[1] if first == "drop" else by_stage[2] if second == "drop" else []
    standing = outcome.corrections(by_stage[2]) if second == "keep" else {}
    return Decision(
        stage1=first,
        stage2=second,
        reasons=outcome.reasons(dropped),
        corrections={
            name: Correction(vote.ballot.texts[name], vote.annotator, moment(vote.made))
            for name, vote in standing.items()
        },
        reviewers=tuple(dict.fromkeys(vote.annotator for vote in votes)),
        times=tuple(moment(vote.made) for vote in votes),
        votes=tuple(votes),
    )
