"""Control and target folders with a JSONL index, as DiffSynth, musubi-tuner and the like train from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from gamegen.writing.format import Item, Note, Shard, replacing


class JsonlFormat:
    name = "jsonl"
    holds_negatives = True

    def write(self, folder: Path, shard: Shard, items: Sequence[Item]) -> list[Note]:
        for kind in ("control", "target"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        notes = []
        for item in items:
            row = item.sample.row()
            name, prompt = f"{item.number:06d}.png", f"{row['rules']} {row['instruction']}"
            (folder / "control" / name).write_bytes(row["original_image"])
            (folder / "target" / name).write_bytes(row["edited_image"])
            (folder / "target" / name).with_suffix(".txt").write_text(prompt, encoding="utf-8")
            text = {column: value for column, value in row.items() if not isinstance(value, bytes)}
            note = {"image": f"target/{name}", "edit_image": f"control/{name}", "prompt": prompt, **text}
            notes.append(note | _write_negatives(folder, item))
        return notes

    def finish(self, folder: Path, notes: Sequence[Note], about: Note) -> None:
        with replacing(folder / "metadata.jsonl") as stream:
            for note in notes:
                stream.write(orjson.dumps(note) + b"\n")


def _write_negatives(folder: Path, item: Item) -> Note:
    """Wrong results beside the right one, and the fields that name them; nothing if none were asked for."""
    if item.negatives is None:
        return {}
    (folder / "negative").mkdir(parents=True, exist_ok=True)
    names = [f"negative/{item.number:06d}-{place}.png" for place in range(len(item.negatives))]
    for name, negative in zip(names, item.negatives, strict=True):
        (folder / name).write_bytes(negative.image)
    return {"negative_images": names, **item.negative_columns()}
