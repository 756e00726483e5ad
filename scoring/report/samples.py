"""What the page says of each sample: its texts, and for each run the verdicts, the scores and the thinking."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gamegen.gallery import entry
from gamegen.stored import StoredRow
from scoring.prompts import QUESTIONS
from scoring.report.runs import Run
from scoring.report.tables import known_category
from scoring.summary import sample_measures

LONGEST_THINKING = 20_000
"""Characters of a thinking text that are shown."""

Entry = dict[str, Any]


def sample_entry(stored: StoredRow, runs: list[Run]) -> Entry:
    told = entry(stored.row)
    names = (
        "id",
        "task",
        "level",
        "skin",
        "language",
        "instruction",
        "rules",
        "effect",
        "reasoning",
        "before",
        "after",
    )
    return {
        "output": stored.output_name,
        "category": known_category(stored.category),
        **{name: told[name] for name in names},
        "runs": [_run_entry(run, stored) for run in runs],
    }


def verdict_word(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not judged"
    if not verdict["found"]:
        return "missing"
    if not verdict["readable"]:
        return "unreadable"
    return "correct" if verdict["correct"] else "wrong" if verdict["legal"] else "against the rules"


def _run_entry(run: Run, stored: StoredRow) -> Entry:
    path, exact, vlm = run.output(stored), run.exact.get(stored.output_name), run.vlm.get(stored.output_name)
    told: Entry = {
        "word": verdict_word(exact),
        "here": path is not None,
        "thinking": _thinking(path),
        "failure": run.failures.get(stored.output_name, "") if path is None else "",
        "stale": any(record is not None and record["found"] != (path is not None) for record in (exact, vlm)),
    }
    if exact is not None:
        names = ("reason", "position", "preserved", "quality", "confidence", "parts")
        told["exact"] = {name: exact.get(name) for name in names}
    if vlm is not None:
        measures = sample_measures(vlm["passes"], strict=True)
        told["vlm"] = {
            "percent": None if measures is None else measures["percent"],
            "passes": [[scores.get(question) for question in QUESTIONS] for scores in vlm["passes"]],
            "failure": str(vlm["model_failure"] or vlm["failure"]),
            "judge_failed": bool(vlm["failure"]),
        }
    return told


def replies(run: Run, stored: StoredRow) -> list[dict[str, str]]:
    """What the seeing model wrote, pass by pass."""
    record = run.vlm.get(stored.output_name)
    return [dict(each) for each in record.get("replies", ())] if record else []


def _thinking(path: Path | None) -> str:
    text = path.with_suffix(".txt") if path else None
    if text is None or not text.is_file():
        return ""
    said = text.read_text(encoding="utf-8", errors="replace").strip()
    return said if len(said) <= LONGEST_THINKING else said[:LONGEST_THINKING] + " […]"
