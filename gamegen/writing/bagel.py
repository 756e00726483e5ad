"""Bagel's native training Parquet: `image_list`, `instruction_list` and `parquet_info.json`.

Bagel looks a shard up in `parquet_info.json` by the very path string it opens, `data_dir` joined with the file name.
The keys here are relative to the dataset's folder: start the trainer there, with `data_dir` "parquet".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from gamegen.writing.format import Item, Note, Shard, replacing

ROW_GROUP = 50


class BagelFormat:
    name = "bagel"
    holds_negatives = False

    def write(self, folder: Path, shard: Shard, items: Sequence[Item]) -> list[Note]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = [item.sample.row() for item in items]
        schema = pa.schema(
            [
                ("image_list", pa.list_(pa.binary())),
                ("instruction_list", pa.list_(pa.list_(pa.string()))),
                ("output_text_list", pa.list_(pa.string())),
                ("id", pa.string()),
            ]
        )
        columns = {
            "image_list": [[row["original_image"], row["edited_image"]] for row in rows],
            "instruction_list": [[[f"{row['rules']} {row['instruction']}"]] for row in rows],
            "output_text_list": [[row["reasoning"]] for row in rows],
            "id": [row["id"] for row in rows],
        }
        name = f"parquet/{shard.stem}.parquet"
        with replacing(folder / name) as stream:
            pq.write_table(pa.table(columns, schema=schema), stream, row_group_size=ROW_GROUP, compression="none")
        return [{"file": name} for _ in rows]

    def finish(self, folder: Path, notes: Sequence[Note], about: Note) -> None:
        counts: dict[str, int] = {}
        for note in notes:
            counts[note["file"]] = counts.get(note["file"], 0) + 1
        info = {
            name: {"num_row_groups": -(-count // ROW_GROUP), "num_rows": count}
            for name, count in sorted(counts.items())
        }
        with replacing(folder / "parquet_info.json") as stream:
            stream.write(json.dumps(info, indent=2).encode())
        summary = {
            "data_dir": "parquet",
            "num_files": len(info),
            "num_total_samples": len(notes),
            "parquet_info_path": "parquet_info.json",
        }
        with replacing(folder / "dataset_info.json") as stream:
            stream.write(json.dumps(summary, indent=2).encode())
