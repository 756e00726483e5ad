"""A folder of outputs: whose it is, which pictures are done, and how a picture gets into it.

A picture counts as done when it can be read. It is written under a temporary name and renamed, after its thinking text,
so that nothing half-written is ever taken for an output.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
from PIL import Image

from edit_models.editors.protocol import Edit
from gamegen import __version__
from gamegen.core.errors import BadInput, UnreadableImage
from gamegen.images import load_rgb
from gamegen.stored import StoredRow
from gamegen.writing.folder import alone_in
from gamegen.writing.format import replacing

ABOUT, FAILURES = "edit.json", "failures.jsonl"
UNRECORDED = ("api_key", "device", "timeout", "retries", "backoff")
"""Options that do not decide the pictures, or that nobody should read in a file."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A sample without a picture, and why; the next run tries it again."""

    output: str
    id: str
    reason: str


def dataset_id(dataset: Path) -> str:
    """A hash of what the dataset says of itself: its hashes, else its manifest, else its index."""
    for name in ("hashes.tsv", "manifest.json", "data.json", "metadata.jsonl"):
        path = dataset / name
        if path.is_file():
            return blake2b(path.read_bytes(), digest_size=16).hexdigest()
    raise BadInput(f"{dataset} has neither hashes.tsv nor manifest.json nor an index; it cannot be told from others")


def foreign(out: Path, dataset: Path, *, editor: str, options: Mapping[str, Any]) -> bytes:
    """What says whose the folder is; BadInput if it is another's. Nothing is written yet."""
    mine = {
        "dataset": dataset_id(dataset),
        "folder": _way(out, dataset),
        "editor": editor,
        "options": {name: value for name, value in options.items() if name not in UNRECORDED},
        "protocol": "direct",
        "gamegen": __version__,
    }
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out} is a file, not a folder")
    there = [path.name for path in out.iterdir() if path.name[0] != "."] if out.exists() else []
    about = out / ABOUT
    if about.exists():  # looked for after the others: another share of this run may just have begun
        try:
            theirs = orjson.loads(about.read_bytes())
            other = [name for name in ("dataset", "editor", "options") if theirs[name] != mine[name]]
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{about} is damaged: {error!r}") from error
        if other:
            was = f"{theirs[other[0]]!r}, not {mine[other[0]]!r}"
            raise BadInput(f"{out} holds outputs of another {other[0]}: {was}; choose another folder")
    elif there:
        raise BadInput(f"{out} exists and is no folder of an earlier run (it has no {ABOUT}); choose another")
    return orjson.dumps(mine, option=orjson.OPT_INDENT_2) + b"\n"


@contextmanager
def claimed(out: Path, about: bytes, *, shared: bool) -> Iterator[None]:
    """Make the folder this run's, with other shares of it or alone; a run that dies leaves it free."""
    with alone_in(out, shared=shared):
        if not (out / ABOUT).exists():
            with replacing(out / ABOUT) as stream:
                stream.write(about)
        if not shared:  # then nobody else can be writing, and what is half-written was left by a killed run
            for draft in [*out.glob(".*.tmp"), *out.glob("*/.*.tmp")]:
                draft.unlink(missing_ok=True)
        yield


def _way(out: Path, dataset: Path) -> str:
    """From the outputs to their dataset, so that both can be moved together; `gamegen report` looks there."""
    try:
        return Path(os.path.relpath(dataset.resolve(), out.resolve())).as_posix()
    except ValueError:  # another drive
        return dataset.resolve().as_posix()


def picture_path(stored: StoredRow, out: Path) -> Path:
    path = out / f"{stored.output_name}.png"
    if path.resolve().parent.parent != out.resolve():
        raise BadInput(f"the category {stored.category!r} is no folder name")
    return path


def is_done(stored: StoredRow, out: Path) -> bool:
    path = picture_path(stored, out)
    try:
        return path.exists() and load_rgb(path) is not None
    except UnreadableImage:
        return False


def keep(edit: Edit, path: Path) -> str:
    """Write what the editor gave; the reason if it is no picture."""
    try:
        image = Image.fromarray(load_rgb(edit.image))
    except UnreadableImage as error:
        return f"the editor gave no usable picture: {error}"
    text = path.with_suffix(".txt")
    if edit.thinking:
        with replacing(text) as stream:
            stream.write(edit.thinking.encode())
    else:
        text.unlink(missing_ok=True)
    with replacing(path) as stream:
        image.save(stream, "PNG")
    return ""


def write_failures(out: Path, failures: Sequence[Failure], name: str = FAILURES) -> None:
    """The whole run's list takes the place of those of its shares."""
    with replacing(out / name) as stream:
        for failure in failures:
            line = {"output": failure.output, "id": failure.id, "reason": failure.reason}
            stream.write(orjson.dumps(line) + b"\n")
    if name == FAILURES:
        for part in out.glob("failures-*-of-*.jsonl"):
            part.unlink(missing_ok=True)
