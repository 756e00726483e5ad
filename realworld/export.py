"""Last stage: what passed the filters and the people, as a dataset folder like those of the games.

Rows have no position and no rules, so only a model can judge edits of them. A folder is written under another name and
takes its place when it is whole; an older export is replaced.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gamegen import __version__
from gamegen.core.categories import CATEGORIES
from gamegen.core.errors import BadInput, UnreadableImage, unknown
from gamegen.images import load_rgb
from gamegen.writing.folder import write_json
from gamegen.writing.format import replacing
from gamegen.writing.parquet import ROW_GROUP, write_rows
from gamegen.writing.uniredit import write_index, write_pictures
from realworld.people import UNDECIDED, decisions_of, standing
from realworld.run import STAGES, Candidate, Run, fingerprint

FORMATS = ("parquet", "uniredit")
SHARD = 10 * ROW_GROUP
COLUMNS = {
    "id": "names the sample in its run",
    "scenario": "`real`",
    "dimension": "one of the paper's",
    "category": "one of the paper's",
    "original_image": "what the editor is given (PNG)",
    "edited_image": "one right result (PNG)",
    "instruction": "what is asked",
    "rules": "empty: photographs have none",
    "reference_effect": "the result in words",
    "reasoning": "chain of thought in the first person",
    "description": "what the original was drawn from",
    "scores": "of the six filters (JSON)",
    "provenance": "models, prompts and seeds (JSON), and who reviewed it",
}
"""What a row holds, and what each column means."""


@dataclass(frozen=True, slots=True)
class Exported:
    folder: Path
    kept: dict[str, int]  # rows, by category
    left_out: dict[str, int]  # candidates, by reason

    @property
    def count(self) -> int:
        return sum(self.kept.values())


def export(run: Run, *, format: str = "parquet", unreviewed: bool = False) -> Exported:
    """Write RUN/dataset: what people kept in both stages, with `unreviewed` also what they have not decided on."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    folder = run.folder / "dataset"
    if folder.exists() and not (folder / "manifest.json").exists():
        raise BadInput(f"{folder} is no export of ours; move it away")
    left_out: Counter[str] = Counter()
    rows = []
    decided = decisions_of(run)
    pictures = run.results("pairs")
    plans = {stage: run.plan(stage) for stage in STAGES}
    for candidate in run.candidates():
        decision = decided.get(candidate.id)
        trouble = standing(decision)
        if trouble and not (unreviewed and trouble == UNDECIDED):
            left_out[trouble] += 1
            continue
        edited = pictures[candidate.id]
        seeds = {"original": pictures[edited["triple"]]["seed"], "edited": edited["seed"]}
        reviewers = list(decision.reviewers) if decision else []
        provenance = {"gamegen": __version__, "seeds": seeds, "reviewers": reviewers, "stages": plans}
        rows.append(_row(candidate, decision.texts if decision else {}, provenance))
    if not rows:
        raise BadInput(_nothing(run, left_out))
    kept = dict(Counter(row["category"] for row in rows))
    about = {
        "gamegen": __version__,
        "format": format,
        "keep": run.keep,
        "kept": kept,
        "left_out": dict(left_out),
        "stages": plans,
    }
    try:
        _write(folder, format, rows, about)
    except OSError as error:
        raise BadInput(f"cannot write {folder}: {error}") from error
    return Exported(folder, kept, dict(left_out))


def _nothing(run: Run, left_out: Mapping[str, int]) -> str:
    if not left_out:
        return f"{run.folder} has no candidates that passed the filter; see `gamegen real status`"
    reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
    return f"nothing to export: {reasons}; `gamegen real review` is for people, --unreviewed exports without them"


def _row(candidate: Candidate, corrected: Mapping[str, str], provenance: Mapping[str, Any]) -> dict[str, Any]:
    scenario, dimension = CATEGORIES[candidate.category]
    return {
        "id": f"real/{candidate.id}",
        "scenario": scenario,
        "dimension": dimension,
        "category": candidate.category,
        "original_image": _png(candidate.original),
        "edited_image": _png(candidate.edited),
        "instruction": corrected.get("instruction", candidate.instruction),
        "rules": "",
        "reference_effect": corrected.get("effect", candidate.effect),
        "reasoning": corrected.get("reasoning", candidate.reasoning),
        "description": candidate.description,
        "scores": json.dumps(dict(candidate.scores)),
        "provenance": json.dumps(provenance),
    }


def _png(path: Path) -> bytes:
    try:
        load_rgb(path)
        return path.read_bytes()
    except (OSError, UnreadableImage) as error:
        raise BadInput(
            f"{path} cannot be exported: {error}; `gamegen real pairs` makes it again if it is gone"
        ) from error


def _write(folder: Path, format: str, rows: Sequence[dict[str, Any]], about: Mapping[str, Any]) -> None:
    draft, old = folder.with_name(".dataset.tmp"), folder.with_name(".dataset.old")
    for left in (draft, old):
        shutil.rmtree(left, ignore_errors=True)
    draft.mkdir()
    if format == "parquet":
        _write_parquet(draft, rows)
    else:
        places: Counter[str] = Counter()
        notes = []
        for row in rows:
            notes.append(write_pictures(draft, row, places[row["category"]]))
            places[row["category"]] += 1
        write_index(draft, notes)
    with replacing(draft / "hashes.tsv") as stream:
        stream.write(b"id\toriginal\tedited\n")
        for row in rows:
            hashes = (fingerprint(row[name]) for name in ("original_image", "edited_image"))
            stream.write("\t".join([row["id"], *hashes]).encode() + b"\n")
    write_json(draft / "manifest.json", dict(about))
    if folder.exists():
        folder.rename(old)
    draft.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _write_parquet(folder: Path, rows: Sequence[dict[str, Any]]) -> None:
    shards = [rows[start : start + SHARD] for start in range(0, len(rows), SHARD)]
    for number, shard in enumerate(shards):
        start = number * SHARD
        write_rows(
            folder / "data" / f"train-{number:05d}-of-{len(shards):05d}.parquet",
            {name: [row[name] for row in shard] for name in COLUMNS},
            numbers=range(start, start + len(shard)),
        )
    (folder / "README.md").write_text("\n".join(_card(rows)), encoding="utf-8")


def _card(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield from (
        "---",
        "language: [en]",
        "task_categories: [image-to-image]",
        "tags: [image-editing, reasoning, gamegen]",
    )
    yield from ("configs:", "- config_name: default", "  data_files:", "  - split: train")
    yield from ("    path: data/train-*.parquet", "---", "", "# Real-world pairs for reasoning-based image editing", "")
    yield f"{len(rows)} pairs: text first, pictures made from it, filtered by a model; `provenance` says by which."
    yield from ("", "| column | meaning |", "| --- | --- |")
    yield from (f"| `{name}` | {meaning} |" for name, meaning in COLUMNS.items())
    yield from ("", "| category | samples |", "| --- | --- |")
    yield from (f"| {name} | {count} |" for name, count in Counter(row["category"] for row in rows).items())
    yield ""
