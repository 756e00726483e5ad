"""Datasets from disk, whichever of our formats they are in: rows, and where an editor's output for each belongs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gamegen.core.errors import BadInput

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row, with its number in its category (its `idx`, or else a running one): outputs lie at CATEGORY/NUMBER.png."""

    row: dict[str, Any]
    category: str
    place: int

    @property
    def output_name(self) -> str:
        return f"{self.category}/{self.place}"

    def output(self, folder: Path) -> Path | None:
        """The editor's picture for this row, whatever its ending; None if there is none.

        For imported rows, a folder that is named as upstream names it will do, too.
        """
        for name in dict.fromkeys((self.category, str(self.row.get("upstream_name") or self.category))):
            for ending in ENDINGS:
                path = folder / name / f"{self.place}{ending}"
                if Path(name).name == name and path.is_file():
                    return path
        return None


def read_dataset(folder: Path | str) -> Iterator[StoredRow]:
    """Every row of a dataset folder, in order; pictures as PNG bytes in `original_image` and `edited_image`.

    A dataset with negatives has theirs as a list of PNG bytes in `negative_images`, whatever its format.
    """
    places: Counter[str] = Counter()
    taken: set[tuple[str, int]] = set()
    for row in _rows(Path(folder)):
        category = str(row["category"])
        place = _number(row, places[category])
        if (category, place) in taken:
            raise BadInput(f"{folder}: two rows are {category} {place}, so their outputs would be one file")
        taken.add((category, place))
        yield StoredRow(row, category, place)
        places[category] += 1


def _number(row: dict[str, Any], running: int) -> int:
    """Upstream's own `idx`, where a row has one: outputs are named by it."""
    idx = row.get("idx", running)
    if isinstance(idx, str) and idx.isdecimal():
        return int(idx)
    if not isinstance(idx, int) or isinstance(idx, bool) or idx < 0:
        raise BadInput(f"idx must be a number from 0 on, not {idx!r}")
    return idx


def count_rows(folder: Path | str) -> int:
    """How many rows there are, without reading pictures where that can be avoided."""
    folder = Path(folder)
    plan = folder / "plan.json"
    if plan.exists():
        return int(json.loads(plan.read_text(encoding="utf-8"))["size"])
    if (folder / "data.json").exists() and not list(folder.glob("data/*.parquet")):
        return len(_index(folder / "data.json"))
    return sum(1 for _ in _rows(folder))


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    if not folder.is_dir():
        raise BadInput(f"no such dataset folder: {folder}")
    if (folder / ".parts").exists() and not (folder / "manifest.json").exists():
        raise BadInput(f"{folder} is unfinished; run the command that made it again, then come back")
    if list(folder.glob("data/*.parquet")):
        return _from_parquet(folder)
    if (folder / "data.json").exists():
        return _from_uniredit(folder)
    if (folder / "metadata.jsonl").exists():
        return _from_jsonl(folder)
    if list(folder.glob("*.tar")):
        return _from_tar(folder)
    raise BadInput(f"{folder} holds no dataset: expected data/*.parquet, data.json, metadata.jsonl or *.tar")


def _from_parquet(folder: Path) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in sorted(folder.glob("data/*.parquet")):
        try:
            for batch in pq.ParquetFile(path).iter_batches(batch_size=64):
                for row in batch.to_pylist():
                    for name in ("original_image", "edited_image", *(["mask_image"] if "mask_image" in row else [])):
                        row[name] = row[name]["bytes"]  # photographs have no mask
                    if "negative_images" in row:
                        row["negative_images"] = [image["bytes"] for image in row["negative_images"]]
                    yield row
        except (pa.ArrowException, KeyError, TypeError) as error:
            raise BadInput(f"{path} is not a shard of ours, or is damaged: {error}") from error


def _from_uniredit(folder: Path) -> Iterator[dict[str, Any]]:
    path = folder / "data.json"
    for number, row in enumerate(_index(path)):
        try:
            yield row | {
                "category": row["name"],
                "original_image": inside(folder, row["original_image_path"]).read_bytes(),
                "edited_image": inside(folder, row["reference_image_path"]).read_bytes(),
            }
        except KeyError as error:
            raise BadInput(f"{path}, row {number}: there is no {error.args[0]}") from error
        except (ValueError, TypeError, OSError) as error:
            raise BadInput(f"{path}, row {number}: {error}") from error


def _index(path: Path) -> list[Any]:
    """The rows of a data.json."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is no JSON, or is cut off: {error}") from error
    if not isinstance(rows, list):
        raise BadInput(f"{path} must be a list of rows, not {type(rows).__name__}")
    return rows


def _from_jsonl(folder: Path) -> Iterator[dict[str, Any]]:
    path = folder / "metadata.jsonl"
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = orjson.loads(line)
                if "negative_images" in row:
                    row["negative_images"] = [inside(folder, name).read_bytes() for name in row["negative_images"]]
                yield row | {
                    "original_image": inside(folder, row["edit_image"]).read_bytes(),
                    "edited_image": inside(folder, row["image"]).read_bytes(),
                }
            except KeyError as error:
                raise BadInput(f"{path}, line {number}: there is no {error.args[0]}") from error
            except (ValueError, TypeError, OSError) as error:
                raise BadInput(f"{path}, line {number}: {error}") from error


def _from_tar(folder: Path) -> Iterator[dict[str, Any]]:
    import tarfile

    names = {"original.png": "original_image", "edited.png": "edited_image", "mask.png": "mask_image"}
    for path in sorted(folder.glob("*.tar")):
        try:
            with tarfile.open(path) as tar:
                pictures: dict[str, Any] = {}
                for member in tar:
                    data = tar.extractfile(member)
                    if data is None:
                        continue
                    ending = member.name.partition(".")[2]
                    if ending == "json":
                        yield orjson.loads(data.read()) | pictures
                        pictures = {}
                    elif ending in names:
                        pictures[names[ending]] = data.read()
                    elif ending.startswith("negative"):  # they come in order
                        pictures.setdefault("negative_images", []).append(data.read())
        except (tarfile.TarError, ValueError) as error:
            raise BadInput(f"{path} is damaged: {error}") from error


def inside(folder: Path, name: str) -> Path:
    """A path from foreign JSON, which may not leave its folder."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise BadInput(f"the path {name!r} leaves {folder}")
    return path
