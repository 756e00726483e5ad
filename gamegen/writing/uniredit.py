"""UniREditBench's own layout: `data.json`, `train_data.json`, picture folders; its public scripts run on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gamegen.writing.format import Item, Note, Shard, replacing

BENCH_FIELDS = (
    "original_image_path",
    "reference_image_path",
    "instruction",
    "rules",
    "name",
    "idx",
    "reference_effect",
)
TRAIN_FIELDS = ("instruction", "reasoning", "rules", "original_image_path", "edited_image_path")
EXTRA = ("id", "task", "params", "position_before", "style")
"""What upstream does not have and the exact judge needs; upstream's scripts ignore it. Photographs have only the id."""


class UniREditFormat:
    name = "uniredit"
    holds_negatives = False

    def write(self, folder: Path, shard: Shard, items: Sequence[Item]) -> list[Note]:
        return [write_pictures(folder, item.sample.row(), item.place) for item in items]

    def finish(self, folder: Path, notes: Sequence[Note], about: Note) -> None:
        write_index(folder, notes)


def write_pictures(folder: Path, row: Mapping[str, Any], place: int) -> Note:
    """Write a row's two pictures; the row as the index has it. `place` is its number in its category."""
    name = f"{row['category']}/{place}.png"
    for kind, column in (("original_image", "original_image"), ("reference_image", "edited_image")):
        path = folder / kind / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(row[column])
    return {
        "original_image_path": f"original_image/{name}",
        "reference_image_path": f"reference_image/{name}",
        "edited_image_path": f"reference_image/{name}",
        "name": row["category"],
        "idx": place,
        **{field: row[field] for field in ("instruction", "rules", "reference_effect", "reasoning")},
        **{field: row[field] for field in EXTRA if field in row},
    }


def write_index(folder: Path, notes: Sequence[Note]) -> None:
    for name, fields in (("data.json", BENCH_FIELDS), ("train_data.json", TRAIN_FIELDS)):
        rows = [{field: note[field] for field in (*fields, *EXTRA) if field in note} for note in notes]
        with replacing(folder / name) as stream:
            stream.write(json.dumps(rows, ensure_ascii=False, indent=2).encode())
