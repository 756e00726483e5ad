"""Sample edits, judged by the rules of the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from edit_models.editors.protocol import BatchEditor, Edit, Request
from gamegen.core.verdict import Verdict
from gamegen.images import load_rgb
from gamegen.judge import verify


@dataclass(frozen=True, slots=True)
class Judged:
    row: Mapping[str, Any]
    edit: Edit
    verdict: Verdict


def judge_edits(
    editor: BatchEditor, rows: Sequence[Mapping[str, Any]], *, seed: int = 0, batch: int = 16
) -> list[Judged]:
    """Edits every row's picture and asks the exact verifier."""
    judged = []
    for begin in range(0, len(rows), batch):
        part = rows[begin : begin + batch]
        requests = [
            Request(_image(row["original_image"]), f"{row['rules']} {row['instruction']}".strip(), seed + begin + i)
            for i, row in enumerate(part)
        ]
        edits = editor.edit_batch(requests)
        judged += [Judged(row, edit, verify(row, edit.image)) for row, edit in zip(part, edits, strict=True)]
    return judged


def accuracy(judged: Sequence[Judged]) -> float:
    return sum(each.verdict.correct for each in judged) / len(judged)


def sheet(judged: Sequence[Judged], *, side: int = 128, most: int = 8) -> Image.Image:
    """One row per edit: source, what was drawn (framed green if correct, else red), what was wanted."""
    shown = judged[:most]
    page = Image.new("RGB", (3 * (side + 8), len(shown) * (side + 8)), "white")
    for number, each in enumerate(shown):
        images = (_image(each.row["original_image"]), each.edit.image, _image(each.row["edited_image"]))
        for column, image in enumerate(images):
            corner = (column * (side + 8), number * (side + 8))
            colour = "white" if column != 1 else "#2a9d3a" if each.verdict.correct else "#c0392b"
            page.paste(colour, (*corner, corner[0] + side + 8, corner[1] + side + 8))
            page.paste(image.resize((side, side), Image.Resampling.LANCZOS), (corner[0] + 4, corner[1] + 4))
    return page


def _image(value: Any) -> Image.Image:
    data = value["bytes"] if isinstance(value, Mapping) else value
    return Image.fromarray(load_rgb(data))
