"""Parquet shards with embedded pictures and a dataset card: `datasets.load_dataset(FOLDER)` reads them as they are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gamegen.negatives import MEANINGS
from gamegen.sample import COLUMNS
from gamegen.writing.format import Item, Note, Shard, replacing

IMAGES = ("original_image", "edited_image", "mask_image")
INTEGERS = ("level", "seed", "index", "pixels", "solution_length", "search_nodes", "generator_version")
FLOATS = ("effort", "branching", "forced_share")
NEGATIVES = ("negative_images", "negative_errors", "negative_positions")
"""Lists, one entry a negative; columns of datasets that were made with negatives, and of no others."""

ROW_GROUP = 100


class ParquetFormat:
    name = "parquet"
    holds_negatives = True

    def write(self, folder: Path, shard: Shard, items: Sequence[Item]) -> list[Note]:
        rows = [item.sample.row() for item in items]
        write_rows(
            folder / "data" / f"{shard.stem}.parquet",
            {name: [row[name] for row in rows] for name in COLUMNS} | _negative_columns(items),
            numbers=[item.number for item in items],
        )
        return [{"task": row["task"]} for row in rows]

    def finish(self, folder: Path, notes: Sequence[Note], about: Note) -> None:
        with replacing(folder / "README.md") as stream:
            stream.write(_card(notes, about).encode())


def write_rows(path: Path, columns: Mapping[str, Sequence[Any]], *, numbers: Sequence[int]) -> None:
    """One file. Columns are texts, but for those that are named above; pictures are given as PNG bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(columns)
    stored = dict(columns)
    for name in set(IMAGES).intersection(names):
        kind = name.removesuffix("_image")
        stored[name] = [
            {"bytes": data, "path": f"{number:06d}-{kind}.png"}
            for data, number in zip(columns[name], numbers, strict=True)
        ]
    packing = {_leaf(name): "none" if name in (*IMAGES, NEGATIVES[0]) else "zstd" for name in names}
    table = pa.table(stored, schema=_schema(names))
    with replacing(path) as stream:
        pq.write_table(table, stream, row_group_size=ROW_GROUP, compression=packing, use_dictionary=False)


def _columns(negatives: bool) -> tuple[str, ...]:
    return COLUMNS + NEGATIVES if negatives else COLUMNS


def _negative_columns(items: Sequence[Item]) -> dict[str, list[Any]]:
    if items[0].negatives is None:
        return {}
    images = [
        [
            {"bytes": each.image, "path": f"{item.number:06d}-negative{place}.png"}
            for place, each in enumerate(item.negatives or ())
        ]
        for item in items
    ]
    texts = [item.negative_columns() for item in items]
    return {NEGATIVES[0]: images} | {name: [text[name] for text in texts] for name in NEGATIVES[1:]}


def _leaf(name: str) -> str:
    if name in NEGATIVES:
        return f"{name}.list.element.bytes" if name == NEGATIVES[0] else f"{name}.list.element"
    return f"{name}.bytes" if name in IMAGES else name


def _schema(names: Sequence[str]) -> Any:
    """Our columns, with the note by which `datasets` knows which of them are pictures."""
    import pyarrow as pa

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    kinds = dict.fromkeys(names, pa.string())
    kinds |= dict.fromkeys(INTEGERS, pa.int64()) | dict.fromkeys(FLOATS, pa.float64()) | dict.fromkeys(IMAGES, image)
    kinds |= {name: pa.list_(image if name == NEGATIVES[0] else pa.string()) for name in NEGATIVES}
    features = {name: _feature(name) for name in names}
    note = json.dumps({"info": {"features": features}})
    return pa.schema([(name, kinds[name]) for name in names], metadata={"huggingface": note})


def _feature(name: str) -> dict[str, Any]:
    if name in NEGATIVES:
        item = {"_type": "Image"} if name == NEGATIVES[0] else {"dtype": "string", "_type": "Value"}
        return {"feature": item, "_type": "Sequence"}
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
    "negative_images": "minimal wrong results (list of PNGs): each refused by the rules",
    "negative_errors": "the error of each, by name",
    "negative_positions": "the position that each shows",
}


def _card(notes: Sequence[Note], about: Note) -> str:
    counts = Counter(note["task"] for note in notes)
    total, split = len(notes), about["plan"]["split"]
    names = _columns("negatives" in about["plan"])
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
        *[f"  - name: {name}\n    {_kind(name)}" for name in names],
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
        *[f"| `{name}` | {_MEANING[name]} |" for name in names if name in _MEANING],
        "",
        *(_pairs(split) if "negatives" in about["plan"] else ()),
        "| task | samples |",
        "| --- | --- |",
        *[f"| {task} | {count} |" for task, count in sorted(counts.items())],
        "",
    ]
    return "\n".join(lines)


def _pairs(split: str) -> list[str]:
    """How the negatives are used, and what their errors mean."""
    return [
        "## Preference pairs",
        "",
        "`edited_image` is the chosen result and every picture of `negative_images` a rejected one, for DPO and the "
        "like; to calibrate a judge, count how many of them it accepts. Each was refused by the exact solver and reads "
        "back as its position.",
        "",
        "```python",
        f'for row in datasets.load_dataset(PATH, split="{split}"):',
        '    for rejected, error in zip(row["negative_images"], row["negative_errors"]):',
        '        prompt = row["rules"] + " " + row["instruction"]',
        '        pair = (row["original_image"], prompt, row["edited_image"], rejected)',
        "```",
        "",
        "| error | meaning |",
        "| --- | --- |",
        *[f"| `{error}` | {meaning} |" for error, meaning in MEANINGS.items()],
        "",
    ]


def _kind(name: str) -> str:
    """The column's type as the card's header writes it."""
    feature = _feature(name)
    if name in NEGATIVES:
        return f"sequence: {feature['feature'].get('dtype', 'image')}"
    return f"dtype: {feature.get('dtype', 'image')}"


def _size(total: int) -> str:
    for below, label in ((1000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if total < below:
            return label
    return "n>1M"
