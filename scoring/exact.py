"""The rules as judge, over all cores: a verdict for every row that has rules, picture or no picture.

Where an editor's thinking lies beside its pictures (`CATEGORY/NUMBER.txt`), that is checked as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from gamegen.judge import verify
from gamegen.reward import NEEDED
from gamegen.stored import StoredRow, read_dataset
from gamegen.thinking import check_reasoning
from gamegen.workers import use_one_thread

SINGLE = 64
"""Up to this many rows are judged in this process: starting others would take longer."""

MEASURES = ("correct", "legal", "readable", "preserved", "quality")

THOUGHTS = ("holds", "legal", "correct", "consistent_with_image")
"""What is asked of a thinking text; each may be unanswered, where the text says nothing to that end."""

_QUESTION = ("rules", "instruction")


def judge_exactly(dataset: Path, outputs: Path, *, rows: int, jobs: int = 0) -> Iterator[dict[str, Any]]:
    """Verdicts in the dataset's order. Rows without rules, as those of photographs, are left out."""
    work = ((_light(stored), outputs) for stored in read_dataset(dataset) if has_rules(stored))
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1 or rows <= SINGLE:
        yield from map(_verdict, work)
        return
    with get_context("spawn").Pool(jobs, use_one_thread) as pool:
        yield from pool.imap(_verdict, work, chunksize=16)


def has_rules(stored: StoredRow) -> bool:
    return all(stored.row.get(name) is not None for name in NEEDED)


def _light(stored: StoredRow) -> StoredRow:
    """The row without its pictures, which need not travel to other processes."""
    kept = {name: stored.row[name] for name in (*NEEDED, *_QUESTION) if name in stored.row}
    return StoredRow(kept, stored.category, stored.place)


def _verdict(item: tuple[StoredRow, Path]) -> dict[str, Any]:
    stored, outputs = item
    path = stored.output(outputs)
    return {
        "id": stored.row["id"],
        "category": stored.category,
        "output": stored.output_name,
        "found": path is not None,
        **asdict(verify(stored.row, path)),
        "thinking": _thinking(stored, outputs, path),
    }


def _thinking(stored: StoredRow, outputs: Path, picture: Path | None) -> dict[str, Any] | None:
    """What the editor's thinking is worth; None if it left none."""
    path = (picture or outputs / f"{stored.output_name}.png").with_suffix(".txt")
    if not path.is_file():
        return None
    thinking = check_reasoning(stored.row, path.read_text(encoding="utf-8", errors="replace"), picture)
    false = thinking.first_false
    return {**{name: getattr(thinking, name) for name in THOUGHTS}, "false": None if false is None else false.text}
