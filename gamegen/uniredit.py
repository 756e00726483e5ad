"""The official UniREditBench release (data.json and two picture folders), checked and written as a dataset of ours.

Its rows come from outside: every one is checked before anything is written, and all that is wrong is said at once.
Categories get the paper's spelling through the alias table. The release's own numbers (`idx`) stay, so that outputs
made by its scripts, at NAME/IDX.png, are found. There are no positions in it, so only a model can judge such rows.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gamegen import __version__
from gamegen.core.categories import category
from gamegen.core.errors import BadInput, UnreadableImage
from gamegen.images import load_rgb
from gamegen.stored import inside

OFFICIAL = 150
"""Rows of each category in the official release."""

SHOWN = 5
"""Problems named in one message; the others are counted."""

Text = Annotated[str, Field(min_length=1)]


class _Row(BaseModel):
    """The fields that upstream documents; others are ignored."""

    model_config = ConfigDict(extra="ignore")
    name: Text
    idx: Annotated[int, Field(ge=0)]
    original_image_path: Text
    reference_image_path: Text
    instruction: Text
    reference_effect: Text
    rules: str | None = None  # games only


@dataclass(frozen=True, slots=True)
class Imported:
    folder: Path
    kept: dict[str, int]  # rows by category
    renamed: dict[str, str]  # release's name -> ours, where they differ

    @property
    def count(self) -> int:
        return sum(self.kept.values())


@dataclass(frozen=True, slots=True)
class _Checked:
    row: _Row
    category: str
    pictures: dict[str, Path]  # original, reference
    hashes: dict[str, str]

    @property
    def id(self) -> str:
        return f"uniredit/{self.category}/{self.row.idx}"

    def place(self, kind: str) -> str:
        """Where a picture lies in the dataset."""
        return f"{kind}_image/{self.category}/{self.row.idx}{self.pictures[kind].suffix.lower()}"


def import_release(
    source: Path,
    out: Path,
    *,
    aliases: Mapping[str, str] | None = None,
    progress: Callable[[], object] = lambda: None,
) -> Imported:
    """Check the release, then write it whole or not at all. `aliases` are further spellings of categories."""
    rows = _check(source, aliases or {}, progress)
    hashes = "id\toriginal\tedited\n" + "".join(
        f"{each.id}\t{each.hashes['original']}\t{each.hashes['reference']}\n" for each in rows
    )
    imported = Imported(
        out,
        dict(Counter(each.category for each in rows)),
        {each.row.name: each.category for each in rows if each.row.name != each.category},
    )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        there = out / "hashes.tsv"
        if there.is_file() and there.read_text(encoding="utf-8") == hashes:
            return imported
        raise BadInput(f"{out} exists and holds something else; choose another folder")
    draft = out.with_name(f".{out.name}.import.tmp")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        _write(draft, rows, hashes, imported)
        draft.replace(out)
    except OSError as error:
        raise BadInput(f"cannot write {out}: {error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return imported


def count_release(source: Path) -> int:
    return len(_load(source))


def _load(source: Path) -> list[Any]:
    path = source / "data.json"
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{source} is no UniREditBench release: it has no data.json") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is no JSON, or is cut off: {error}") from error
    if not isinstance(rows, list):
        raise BadInput(f"{path} must be a list of rows, not {type(rows).__name__}")
    if not rows:
        raise BadInput(f"{path} has no rows")
    for kind in ("original", "reference"):
        if (source / f"{kind}_image.zip").exists() and not (source / f"{kind}_image").exists():
            raise BadInput(f"unzip {source / f'{kind}_image.zip'} first")
    return rows


def _check(source: Path, aliases: Mapping[str, str], progress: Callable[[], object]) -> list[_Checked]:
    """Every row, or BadInput that says how many are wrong, and how."""
    known = {name: category(meant) for name, meant in aliases.items()}
    found: dict[tuple[str, int], _Checked] = {}
    problems: list[str] = []
    rows = _load(source)
    for number, raw in enumerate(rows):
        try:
            row = _Row.model_validate(raw)
            checked = _checked(row, known.get(row.name) or category(row.name), source)
            if (checked.category, row.idx) in found:
                raise BadInput(f"there is another {checked.category} {row.idx}")
            found[checked.category, row.idx] = checked
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(f"row {number}: {'.'.join(map(str, first['loc'])) or 'the row'}: {first['msg']}")
        except (BadInput, UnreadableImage) as error:
            problems.append(f"row {number}: {error}")
        progress()
    if problems:
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise BadInput(
            f"{len(problems)} of {len(rows)} rows of {source / 'data.json'} cannot be imported:"
            f" {'; '.join(problems[:SHOWN])}{more}"
        )
    return list(found.values())


def _checked(row: _Row, name: str, source: Path) -> _Checked:
    paths = {
        "original": inside(source, row.original_image_path),
        "reference": inside(source, row.reference_image_path),
    }
    hashes = {}
    for kind, path in paths.items():
        load_rgb(path)
        hashes[kind] = blake2b(path.read_bytes(), digest_size=16).hexdigest()
    return _Checked(row, name, paths, hashes)


def _write(folder: Path, rows: list[_Checked], hashes: str, imported: Imported) -> None:
    for each in rows:
        for kind, path in each.pictures.items():
            target = folder / each.place(kind)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    about = {
        "gamegen": __version__,
        "imported": "UniREditBench",
        "kept": imported.kept,
        "renamed": imported.renamed,
    }
    _write_json(folder / "data.json", list(_rows(rows)))
    (folder / "hashes.tsv").write_text(hashes, encoding="utf-8")
    _write_json(folder / "manifest.json", about)


def _rows(rows: list[_Checked]) -> Iterator[dict[str, Any]]:
    for each in rows:
        row = each.row
        yield {
            "id": each.id,
            "name": each.category,
            "idx": row.idx,
            "upstream_name": row.name,
            "original_image_path": each.place("original"),
            "reference_image_path": each.place("reference"),
            "instruction": row.instruction,
            "rules": row.rules or "",
            "reference_effect": row.reference_effect,
        }


def _write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
