"""Training rows from Parquet, in an order that depends on nothing but the seed.

Two kinds of files: ours (pictures embedded) and UniREdit's (paths of pictures, relative to the data folder). All row
groups are shuffled and laid end to end, and the rows are dealt out in equal consecutive shares, so every row belongs
to exactly one rank and no rank is without rows. A rank reads its share in windows of a few row groups, shuffled
inside. Row number n of a rank is a pure function of (files, seed, rank, ranks), for all n: the position is one integer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from edit_models.bagel.keyed import shuffled
from gamegen.core.errors import BadInput
from gamegen.images import load_rgb

WINDOW = 8  # row groups that are open and mixed together
OURS = ("original_image", "edited_image")
UNIREDIT = ("before_image_path", "after_image_path")
WORDS = ("instruction", "reasoning", "rules")


@dataclass(frozen=True, slots=True)
class Place:
    """One row on disk."""

    group: int  # number of the row group, over all files
    row: int


@dataclass(frozen=True, slots=True)
class Example:
    """One row, ready to become a training sample."""

    source: Image.Image
    target: Image.Image
    instruction: str  # rules first, if there are any
    reasoning: str


class Rows:
    """The rows of all Parquet files under a folder, for one rank."""

    def __init__(self, folder: Path, *, seed: int, rank: int = 0, ranks: int = 1) -> None:
        self.folder, self.seed, self.rank, self.ranks = folder, seed, rank, ranks
        files = sorted(folder.rglob("*.parquet")) if folder.is_dir() else [folder]
        if not files or not all(file.exists() for file in files):
            raise BadInput(f"no Parquet files in {folder}")
        self.groups: list[tuple[Path, int, int]] = []  # (file, row group in it, rows)
        for file in files:
            metadata = pq.ParquetFile(file).metadata
            for group in range(metadata.num_row_groups):
                self.groups.append((file, group, metadata.row_group(group).num_rows))
        self.pictures = _picture_columns(files[0])
        self.total = sum(rows for _, _, rows in self.groups)
        if self.total < ranks:
            raise BadInput(f"{folder} has {self.total} rows: too few for {ranks} ranks")
        # Shares are consecutive: the first `total % ranks` ranks have one row more.
        begin, end = (self.total * r // ranks for r in (rank, rank + 1))
        self.begin, self.count = begin, end - begin
        self._open: OrderedDict[int, pa.Table] = OrderedDict()

    def place(self, number: int) -> Place:
        """Where row `number` of this rank's endless order is."""
        lap, index = divmod(number, self.count)
        return self._lap(lap)[index]

    def key(self, number: int) -> str:
        """A name for this row in this lap, the same on whichever rank it falls: what its noise is drawn from."""
        place = self.place(number)
        return f"{number // self.count}:{place.group}:{place.row}"

    def example(self, number: int) -> Example:
        row = self.row(number)
        source, target = (self._picture(row, column) for column in self.pictures)
        instruction, reasoning, rules = ((row.get(name) or "").strip().strip('"') for name in WORDS)
        return Example(source, target, f"{rules} {instruction}".strip(), reasoning)

    def row(self, number: int) -> dict[str, Any]:
        place = self.place(number)
        if place.group not in self._open:
            file, group, _ = self.groups[place.group]
            self._open[place.group] = pq.ParquetFile(file).read_row_group(group)
            if len(self._open) > WINDOW:
                self._open.popitem(last=False)
        return self._open[place.group].slice(place.row, 1).to_pylist()[0]

    @lru_cache(maxsize=2)  # noqa: B019 - one object per run
    def _lap(self, lap: int) -> list[Place]:
        """One pass over this rank's share. The share itself changes from lap to lap with the order of the groups."""
        order = shuffled(range(len(self.groups)), self.seed, "groups", lap)
        places, passed = [], 0
        windows: list[list[Place]] = []
        for group in order:
            rows = self.groups[group][2]
            low, high = max(self.begin - passed, 0), min(self.begin + self.count - passed, rows)
            if low < high:
                windows.append([Place(group, row) for row in range(low, high)])
            passed += rows
        for number in range(0, len(windows), WINDOW):
            mixed = [place for window in windows[number : number + WINDOW] for place in window]
            places += shuffled(mixed, self.seed, "rows", lap, self.rank, number)
        return places

    def _picture(self, row: Mapping[str, Any], column: str) -> Image.Image:
        value = row[column]["bytes"] if isinstance(row[column], Mapping) else row[column]
        if isinstance(value, str):
            value = (self._root / value).resolve()
            if not value.is_relative_to(self._root):
                raise BadInput(f"{column}: {row[column]!r} leads out of {self._root}")
        return Image.fromarray(load_rgb(value))

    @property
    def _root(self) -> Path:
        return (self.folder if self.folder.is_dir() else self.folder.parent).resolve()


def _picture_columns(file: Path) -> tuple[str, str]:
    names = set(pq.ParquetFile(file).schema_arrow.names)
    for pair in (OURS, UNIREDIT):
        if names.issuperset(pair):
            return pair
    wanted = " or ".join(" and ".join(pair) for pair in (OURS, UNIREDIT))
    raise BadInput(f"{file}: expected the columns {wanted}, found {', '.join(sorted(names))}")
