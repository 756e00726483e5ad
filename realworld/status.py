"""How far a run has come: for each category, what is left after each step, and why the rest is not."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gamegen.core.errors import BadInput
from realworld.filter import QUESTIONS
from realworld.people import decisions_of, standing
from realworld.run import STAGES, Run

STEPS = (
    "asked", "parsed", "unique", "pictures", "pairs", "reasoned", "judged", *QUESTIONS, "candidates",
    "stage 1", "stage 2", "exported",
)  # fmt: skip
"""What is counted, in order. `pictures` are originals, `pairs` edited ones; a question counts the pairs that passed it
and all before it; `candidates` are one for a triple."""

Counts = dict[str, Counter[str]]


@dataclass(frozen=True, slots=True)
class Status:
    counts: Counts  # by step, then by category
    drops: Counts  # by stage, then by reason
    failures: Counts  # by stage, then by reason

    def total(self, step: str) -> int:
        return self.counts[step].total()

    def as_json(self) -> dict[str, Any]:
        return {
            "steps": {step: {"all": self.total(step), **self.counts[step]} for step in STEPS},
            "drops": {stage: dict(reasons) for stage, reasons in self.drops.items()},
            "failures": {stage: dict(reasons) for stage, reasons in self.failures.items()},
        }


def status_of(run: Run) -> Status:
    status = Status(defaultdict(Counter), defaultdict(Counter), defaultdict(Counter))
    for stage in STAGES:
        for result in run.results(stage).values():
            if "failure" in result:
                status.failures[stage][result["failure"]] += 1
    _texts(run, status)
    _pictures(run, status)
    _people(run, status)
    return status


def _texts(run: Run, status: Status) -> None:
    for result in run.results("triples").values():
        status.counts["asked"][result.get("category", "")] += result.get("asked", 0)
        status.drops["triples"].update(item["drop"] for item in result.get("triples", ()) if "drop" in item)
    status.counts["asked"] = +status.counts["asked"]
    status.counts["parsed"].update(triple.category for triple in run.triples())
    status.counts["unique"].update(triple.category for triple in run.unique())
    status.drops["dedup"].update(result["drop"] for result in run.results("dedup").values() if "drop" in result)


def _pictures(run: Run, status: Status) -> None:
    pictures = run.results("pairs")
    drawn = (triple.category for triple in run.unique() if "picture" in pictures.get(triple.id, {}))
    status.counts["pictures"].update(drawn)
    status.counts["pairs"].update(pair.triple.category for pair in run.pairs())
    status.counts["reasoned"].update(pair.triple.category for pair in run.reasoned())
    for pair, scores in run.judged():
        status.counts["judged"][pair.triple.category] += 1
        for question in QUESTIONS:
            if scores[question] < run.keep:
                status.drops["filter"][f"{question} below {run.keep}"] += 1
                break
            status.counts[question][pair.triple.category] += 1


def _people(run: Run, status: Status) -> None:
    decided = decisions_of(run)
    for candidate in run.candidates():
        status.counts["candidates"][candidate.category] += 1
        decision = decided.get(candidate.id)
        if decision is None:
            continue
        status.counts["stage 1"][candidate.category] += decision.stage1 == "keep"
        status.counts["stage 2"][candidate.category] += decision.stage1 == decision.stage2 == "keep"
        if "drop" in (decision.stage1, decision.stage2):
            reasons = f": {', '.join(decision.reasons)}" if decision.reasons else ""
            status.drops["review"][f"{standing(decision)}{reasons}"] += 1
    manifest = run.folder / "dataset" / "manifest.json"
    if manifest.exists():
        try:
            status.counts["exported"].update(json.loads(manifest.read_bytes())["kept"])
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{manifest} is damaged: {error!r}; export again") from error


def table(status: Status) -> Iterator[str]:
    """Steps downwards, categories across by number."""
    names = list(status.counts["asked"])
    wide = max(map(len, STEPS))
    yield " " * wide + "    all" + "".join(f"{number:>6}" for number in range(1, len(names) + 1))
    for step in STEPS:
        counts = "".join(f"{status.counts[step][name]:>6}" for name in names)
        yield f"{step:<{wide}} {status.total(step):>6}{counts}"
    yield ""
    yield from (f"{number} {name}" for number, name in enumerate(names, 1))
    yield from _reasons("dropped", status.drops)
    yield from _reasons("failed, to be tried again", status.failures)


def _reasons(title: str, found: Mapping[str, Counter[str]]) -> Iterator[str]:
    lines = [
        f"  {stage}: {count} x {reason}" for stage, reasons in found.items() for reason, count in reasons.most_common()
    ]
    if lines:
        yield from ("", f"{title}:", *lines)
