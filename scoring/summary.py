"""From records to numbers: means by category, by dimension and over all, each with its interval and its coverage.

Strict numbers count a judge's failure as the lowest score; lenient ones leave the sample out. A missing or broken
picture is the editor's failure and has the lowest score in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gamegen.core.categories import CATEGORIES, category
from gamegen.core.errors import BadInput
from gamegen.core.stream import Stream
from scoring.exact import MEASURES, THOUGHTS
from scoring.parse import HIGHEST, LOWEST
from scoring.prompts import QUESTIONS
from scoring.statistics import estimate, nothing, spread

WEIGHTS = {"instruction_following": 0.5, "visual_consistency": 0.3, "visual_quality": 0.2}
VLM_MEASURES = ("percent", "accuracy", *QUESTIONS)

Record = dict[str, Any]


def overall(scores: Mapping[str, int]) -> float:
    """The weighted score, from 1 to 5."""
    return sum(weight * scores[question] for question, weight in WEIGHTS.items())


def percent(score: float) -> float:
    return 25.0 * (score - 1)


def summarise(
    exact: Sequence[Record] | None, vlm: Sequence[Record] | None, *, about: Mapping[str, Any]
) -> dict[str, Any]:
    """The whole, and its parts; `about` names the run and comes first."""
    records = [*(exact or ()), *(vlm or ())]
    by_category = _grouped(exact, vlm, sorted({record["category"] for record in records}), lambda name: name)
    dimensions = sorted({dimension_of(record["category"]) for record in records})
    by_dimension = _grouped(exact, vlm, dimensions, dimension_of)
    return {
        **about,
        **_numbers(exact, vlm, "all"),
        "by_category": by_category,
        "by_dimension": by_dimension,
    }


def dimension_of(name: str) -> str:
    try:
        return CATEGORIES[category(name)][1]
    except BadInput:
        return "Other"


def _grouped(
    exact: Sequence[Record] | None, vlm: Sequence[Record] | None, names: Sequence[str], of: Callable[[str], str]
) -> dict[str, Any]:
    def part(records: Sequence[Record] | None, name: str) -> list[Record] | None:
        return None if records is None else [record for record in records if of(record["category"]) == name]

    return {name: _numbers(part(exact, name), part(vlm, name), name) for name in names}


def _numbers(exact: Sequence[Record] | None, vlm: Sequence[Record] | None, name: str) -> dict[str, Any]:
    return {
        "exact": exact_numbers(exact, name) if exact else None,
        "vlm": vlm_numbers(vlm, name) if vlm else None,
    }


def exact_numbers(records: Sequence[Record], name: str) -> dict[str, Any]:
    samples = [{measure: float(record[measure]) for measure in MEASURES} for record in records]
    found = sum(record["found"] for record in records)
    return {
        "missing": len(records) - found,
        **_estimates(samples, records, MEASURES, Stream("exact", name), found),
        "thinking": thinking_numbers(records),
    }


def thinking_numbers(records: Sequence[Record]) -> dict[str, Any] | None:
    """Of the thinking texts: how many there are, how many answer each question, and the share that answer it well."""
    texts = [record["thinking"] for record in records if record.get("thinking")]
    if not texts:
        return None
    numbers: dict[str, Any] = {"texts": len(texts)}
    for name in THOUGHTS:
        answers = [text[name] for text in texts if text[name] is not None]
        numbers[name] = {"share": sum(answers) / len(answers) if answers else None, "count": len(answers)}
    return numbers


def vlm_numbers(records: Sequence[Record], name: str) -> dict[str, Any]:
    missing = sum(bool(record["model_failure"]) for record in records)
    failed = sum(bool(record["failure"]) for record in records)
    covered = len(records) - missing - failed
    numbers: dict[str, Any] = {"missing": missing, "judge_failures": failed, "passes": len(records[0]["passes"])}
    for kind, strict in (("strict", True), ("lenient", False)):
        samples = [sample_measures(record["passes"], strict=strict) for record in records]
        numbers[kind] = _estimates(samples, records, VLM_MEASURES, Stream("vlm", name), covered)
        numbers[kind]["spread"] = _spread(records, strict=strict)
    return numbers


def sample_measures(passes: Sequence[Mapping[str, int | None]], *, strict: bool) -> dict[str, float] | None:
    """The means over the passes that count; None if none does."""
    counted = [_filled(scores) for scores in passes if strict or None not in scores.values()]
    if not counted:
        return None
    each = [
        {
            "percent": percent(overall(scores)),
            "accuracy": float(all(scores[question] == HIGHEST for question in QUESTIONS)),
            **scores,
        }
        for scores in counted
    ]
    return {name: sum(float(measures[name]) for measures in each) / len(each) for name in VLM_MEASURES}


def _filled(scores: Mapping[str, int | None]) -> dict[str, int]:
    return {question: LOWEST if (score := scores[question]) is None else score for question in QUESTIONS}


def _spread(records: Sequence[Record], *, strict: bool) -> dict[str, float | None]:
    """How far the means of the repeated passes lie apart."""
    means: dict[str, list[float]] = {"percent": [], "accuracy": []}
    for number in range(len(records[0]["passes"])):
        found = [sample_measures([record["passes"][number]], strict=strict) for record in records]
        present = [measures for measures in found if measures is not None]
        for name, values in means.items():
            if present:
                values.append(sum(measures[name] for measures in present) / len(present))
    return {name: spread(values) for name, values in means.items()}


def _estimates(
    samples: Sequence[Mapping[str, float] | None],
    records: Sequence[Record],
    measures: Sequence[str],
    stream: Stream,
    covered: int,
) -> dict[str, Any]:
    found = estimate(samples, [record["category"] for record in records], stream, covered=covered)
    return {name: found.get(name, nothing(len(records))).as_json() for name in measures}
