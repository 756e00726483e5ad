"""UniREditBench's own layout: `data.json`, `train_data.json`, picture folders; its public scripts run on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

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
"""What upstream does not have and the exact judge needs; upstream's scripts ignore it."""


class UniREditFormat:
    name = "uniredit"
    holds_negatives = False

    def write(self, folder: Path, shard: Shard, items: Sequence[Item]) -> list[Note]:
        notes = []
        for item in items:
            row = item.sample.row()
            name = f"{row['category']}/{item.place}.png"
            for kind, column in (("original_image", "original_image"), ("reference_image", "edited_image")):
                path = folder / kind / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(row[column])
            notes.append(
                {
                    "original_image_path": f"original_image/{name}",
                    "reference_image_path": f"reference_image/{name}",
                    "edited_image_path": f"reference_image/{name}",
                    "name": row["category"],
                    "idx": item.place,
                    **{
                        field: row[field] for field in ("instruction", "rules", "reference_effect", "reasoning", *EXTRA)
                    },
                }
            )
        return notes

    def finish(self, folder: Path, notes: Sequence[Note], about: Note) -> None:
        for name, fields in (("data.json", BENCH_FIELDS), ("train_data.json", TRAIN_FIELDS)):
            rows = [{field: note[field] for field in (*fields, *EXTRA)} for note in notes]
            with replacing(folder / name) as stream:
                stream.write(json.dumps(rows, ensure_ascii=False, indent=2).encode())
