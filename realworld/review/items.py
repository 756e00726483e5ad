"""Candidates as people are shown them: each has a key that follows from what is to be seen.

A decision is about texts and pictures. If a later run of the pipeline makes others under the same id, the key is
another one, and the old decisions are not counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gamegen.core.errors import BadInput
from realworld.run import Candidate, Run, fingerprint

SIDES = ("original", "edited")
MAX_IMAGE = 64 * 2**20  # bytes
KINDS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"RIFF", "image/webp"))


@dataclass(frozen=True, slots=True)
class Item:
    key: str
    place: int
    candidate: Candidate


def items(candidates: Iterable[Candidate]) -> list[Item]:
    return [Item(fingerprint(each.id, each.key), place, each) for place, each in enumerate(candidates)]


def check_images(run: Run, found: Iterable[Item]) -> None:
    """Every candidate has both pictures, inside the run's folder; or BadInput names the first that has not."""
    for item in found:
        for side in SIDES:
            image_kind(run, getattr(item.candidate, side))


def image_kind(run: Run, path: Path) -> str:
    """The media type of a picture that may be shown, or BadInput. Paths come from journals and may lead anywhere."""
    if not path.resolve().is_relative_to(run.folder.resolve()):
        raise BadInput(f"{path} is outside of the run folder {run.folder}; it is not shown")
    try:
        with path.open("rb") as stream:
            start, length = stream.read(16), os.fstat(stream.fileno()).st_size
    except OSError as error:
        raise BadInput(f"cannot read the picture {path}: {error.strerror}") from error
    kind = next((kind for magic, kind in KINDS if start.startswith(magic)), None)
    if kind is None or (kind == "image/webp" and start[8:12] != b"WEBP"):
        raise BadInput(f"{path} is no PNG, JPEG or WebP picture")
    if length > MAX_IMAGE:
        raise BadInput(f"{path} has {length} bytes; at most {MAX_IMAGE} are shown")
    return kind
