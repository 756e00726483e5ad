"""Parquet shards with embedded pictures and a dataset card: `datasets.load_dataset(FOLDER)` reads them as they are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gamegen.sample import COLUMNS
from gamegen.writing.format import Item, Note, Shard, replacing

IMAGES = ("original_image", "edited_image", "mask_image")
INTEGERS = ("level", "seed", "index", "pixels", "solution_length", "search_nodes", "generator_version")
FLOATS = ("effort", "branching", "forced_share")
ROW_GROUP = 100


class ParquetFormat:
    name = "parquet"

    def write(self, folder: Path, shard: Shard, items: Sequence[Item]) -> list[Note]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = [item.sample.row() for item in items]
        columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in COLUMNS}
        for name in IMAGES:
            kind = name.removesuffix("_image")
            columns[name] = [
                {"bytes": data, "path": f"{item.number:06d}-{kind}.png"}
                for data, item in zip(columns[name], items, strict=True)
            ]
        table = pa.table(columns, schema=_schema())
        packing = {_leaf(name): "none" if name in IMAGES else "zstd" for name in COLUMNS}
        with replacing(folder / "data" / f"{shard.stem}.parquet") as stream:
            pq.write_table(table, stream, row_group_size=ROW_GROUP, compression=packing, use_dictionary=False)
        return [{"task": row["task"]} for row in rows]

    def finish(self, folder: Path, notes: Sequence[Note], about: Note) -> None:
        with replacing(folder / "README.md") as stream:
            stream.write(_card(notes, about).encode())


def _leaf(name: str) -> str:
    return f"{name}.bytes" if name in IMAGES else name


def _schema() -> Any:
    """Our columns, with the note by which `datasets` knows which of them are pictures."""
    import pyarrow as pa

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    kinds = dict.fromkeys(COLUMNS, pa.string())
    kinds |= dict.fromkeys(INTEGERS, pa.int64()) | dict.fromkeys(FLOATS, pa.float64()) | dict.fromkeys(IMAGES, image)
    features = {name: _feature(name) for name in COLUMNS}
    note = json.dumps({"info": {"features": features}})
    return pa.schema([(name, kinds[name]) for name in COLUMNS], metadata={"huggingface": note})


def _feature(name: str) -> dict[str, str]:
    if name in IMAGES:
        return {"_type": "Image"}
    kind = "int64" if name in INTEGERS else "float64" if name in FLOATS else "string"
    return {"dtype": kind, "_type": "Value"}


_MEANING = {
    "id": "rebuilds the sample anywhere: `gamegen show ID`",
    "original_image": "what the editor is given (PNG, palette)",
    "edited_image": "one right result (PNG, palette)",
    "mask_image": "white where an editor may draw; it does not show where the answer is",
    "instruction": "what is asked",
    "rules": "the rules needed to decide it",
    "reference_effect": "the result in words",
    "reasoning": "chain of thought, the solver's own trace",
    "steps": "the same as data (JSON): rule, facts, action",
    "params": "parameters of the question (JSON)",
    "position_before": "the position as text",
    "position_after": "the position of the right result",
    "style": "every width and colour of the pictures (JSON); the judge reads with it",
    "effort": "measured difficulty, rises with the level",
}


def _card(notes: Sequence[Note], about: Note) -> str:
    counts = Counter(note["task"] for note in notes)
    total, split = len(notes), about["plan"]["split"]
    lines = [
        "---",
        "license: apache-2.0",
        f"language: [{about['plan']['language']}]",
        "pretty_name: gamegen puzzles for reasoning-based image editing",
        "task_categories: [image-to-image]",
        "tags: [image-editing, reasoning, puzzles, synthetic, gamegen]",
        f"size_categories: ['{_size(total)}']",
        "configs:",
        "- config_name: default",
        "  data_files:",
        f"  - split: {split}",
        f"    path: data/{split}-*.parquet",
        "dataset_info:",
        "  features:",
        *[f"  - name: {name}\n    dtype: {_dtype(name)}" for name in COLUMNS],
        "---",
        "",
        "# Puzzles for reasoning-based image editing",
        "",
        f"{total} samples made by gamegen, seed {about['plan']['seed']}, {split} split, generator version "
        f"{about['generator_version']}. Every sample is a pure function of its `id`, every answer was found by an "
        "exact solver, and every edited picture can be judged by the rules without a model:",
        "",
        "```python",
        "import datasets, gamegen",
        f'row = datasets.load_dataset(PATH, split="{split}")[0]',
        "print(gamegen.verify(row, my_edited_image).correct)",
        "```",
        "",
        "Pictures are palette PNGs; call `.convert('RGB')` before turning them into arrays.",
        "",
        "| column | meaning |",
        "| --- | --- |",
        *[f"| `{name}` | {_MEANING[name]} |" for name in COLUMNS if name in _MEANING],
        "",
        "| task | samples |",
        "| --- | --- |",
        *[f"| {task} | {count} |" for task, count in sorted(counts.items())],
        "",
    ]
    return "\n".join(lines)


def _dtype(name: str) -> str:
    feature = _feature(name)
    return feature.get("dtype", "image")


def _size(total: int) -> str:
    for below, label in ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if total < below:
            return label
    return "n>1M"
