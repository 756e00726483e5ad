"""WebDataset tar shards: `000017.original.png`, `.edited.png`, `.mask.png` and `.json` of each sample side by side.

Negatives, if asked for, are `000017.negative0.png`, `.negative1.png` and so on; the JSON names their errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from gamegen.writing.format import Item, Note, Shard, replacing

_BLOCK = 512
_RECORD = 20 * _BLOCK


class WebDatasetFormat:
    name = "webdataset"
    holds_negatives = True

    def write(self, folder: Path, shard: Shard, items: Sequence[Item]) -> list[Note]:
        size = 0
        with replacing(folder / f"{shard.split}-{shard.number:06d}.tar") as stream:
            for item in items:
                row = item.sample.row()
                text = {name: value for name, value in row.items() if not isinstance(value, bytes)}
                members = {
                    "original.png": row["original_image"],
                    "edited.png": row["edited_image"],
                    "mask.png": row["mask_image"],
                    **{f"negative{place}.png": each.image for place, each in enumerate(item.negatives or ())},
                    "json": orjson.dumps(text | item.negative_columns()),
                }
                for ending, data in members.items():
                    entry = _entry(f"{item.number:06d}.{ending}", data)
                    stream.write(entry)
                    size += len(entry)
            stream.write(b"\0" * (2 * _BLOCK + -(size + 2 * _BLOCK) % _RECORD))
        return [{} for _ in items]

    def finish(self, folder: Path, notes: Sequence[Note], about: Note) -> None:
        """The shards are the dataset; WebDataset needs no index."""


def _entry(name: str, data: bytes) -> bytes:
    """A ustar header with fixed owner, mode and time, the data, and padding to whole blocks."""
    fields = (
        name.encode().ljust(100, b"\0"),
        b"0000644\0" + b"0000000\0" * 2,
        b"%011o\0" % len(data),
        b"00000000000\0",
        b" " * 8,
        b"0".ljust(101, b"\0"),
        b"ustar\x0000".ljust(8 + 32 * 2 + 8 * 2 + 155 + 12, b"\0"),
    )
    header = b"".join(fields)
    checksum = b"%06o\0 " % sum(header)
    return header[:148] + checksum + header[156:] + data + b"\0" * (-len(data) % _BLOCK)
