"""A dataset as one HTML page that needs no network: pairs, texts, steps, and an editor's outputs with their verdicts.

Texts go into one JSON block, the pictures of each sample into a block of their own; the page's script turns a block
into images only while its card is near the screen, so thousands of samples stay smooth. The page's policy forbids it
to load anything.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import orjson
from PIL import Image

from gamegen.core.errors import BadInput, UnreadableImage
from gamegen.core.key import Key
from gamegen.images import load_rgb
from gamegen.judge import verify
from gamegen.stored import StoredRow

FOLDER = Path(__file__).parent
LARGEST_OUTPUT = 400_000
"""Bytes of an editor's picture that are embedded as they are; larger ones are reduced."""

REDUCED_SIDE = 1024
NOTHING = "-"
MARK = "§"
"""Stands on both sides of each name in the template that a value replaces."""


def page(stored: Iterable[StoredRow], *, title: str, lead: str, outputs: Path | None = None) -> Iterator[bytes]:
    """The page, piece by piece, so that a large one is never held as a whole."""
    rows: list[dict[str, Any]] = []
    pictures: list[str] = []
    for number, each in enumerate(stored):
        path = each.output(outputs) if outputs else None
        rows.append({**entry(each.row), "verdict": _verdict(each, path) if outputs else None})
        sources = (
            *(_png(each.row.get(name)) for name in ("original_image", "edited_image", "mask_image")),
            _foreign(path),
        )
        pictures.append(f'<script type="text/plain" id="p{number}">' + "\n".join(sources) + "</script>\n")
    values = {
        "TITLE": [escape(title)],
        "LEAD": [escape(lead)],
        "STYLE": [(FOLDER / "page.css").read_text(encoding="utf-8")],
        "SCRIPT": [(FOLDER / name).read_text(encoding="utf-8") for name in ("elements.js", "page.js")],
        "ROWS": [embeddable(rows)],
        "PICTURES": pictures,
    }
    yield from filled((FOLDER / "page.html").read_text(encoding="utf-8"), values)


def filled(template: str, values: Mapping[str, Iterable[str]]) -> Iterator[bytes]:
    """A template with its names replaced, each by the pieces of its value."""
    for place, part in enumerate(template.split(MARK)):
        yield from (text.encode() for text in (values[part] if place % 2 else [part]))


def embeddable(data: Any) -> str:
    """JSON that cannot close the script element it stands in."""
    return orjson.dumps(data).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def entry(row: dict[str, Any]) -> dict[str, Any]:
    """What a page says of a row. Formats that store fewer columns tell the rest by the sample's id and style."""
    key = _key(row)
    task = str(row.get("task") or "")
    return {
        "id": str(row.get("id") or ""),
        "task": task,
        "game": task.partition("/")[0],
        "level": row.get("level", key and key.level),
        "split": row.get("split", key and key.split),
        "language": row.get("language", key and key.language),
        "skin": row.get("skin") or _json(row.get("style"), {}).get("skin"),
        "instruction": row.get("instruction") or "",
        "rules": row.get("rules") or "",
        "reasoning": row.get("reasoning") or "",
        "effect": row.get("reference_effect") or "",
        "before": row.get("position_before") or "",
        "after": row.get("position_after") or "",
        "steps": _json(row.get("steps"), []),
        "difficulty": _difficulty(row),
    }


def _key(row: dict[str, Any]) -> Key | None:
    try:
        return Key.parse(str(row.get("id")))
    except BadInput:
        return None


def _json(text: str | None, default: Any) -> Any:
    try:
        return orjson.loads(text) if text else default
    except orjson.JSONDecodeError:
        return default


def _difficulty(row: dict[str, Any]) -> dict[str, str]:
    if row.get("effort") is None:
        return {}
    return {
        "effort": f"{row['effort']:g}",
        "actions": str(row["solution_length"]),
        "search nodes": f"{row['search_nodes']:,}",
        "branching": f"{row['branching']:.2f}",
        "forced": f"{row['forced_share']:.0%}",
    }


def _verdict(stored: StoredRow, path: Path | None) -> dict[str, Any]:
    found = verify(stored.row, path)
    names = ("correct", "legal", "readable", "preserved", "quality", "confidence", "reason", "position")
    return {"found": path is not None, **{name: getattr(found, name) for name in names}}


def _png(data: bytes | None) -> str:
    return _uri("png", data) if data else NOTHING


def _foreign(path: Path | None) -> str:
    """An editor's picture: as it is when it is small and of a kind that browsers know, else reduced."""
    if path is None:
        return NOTHING
    try:
        pixels = load_rgb(path)
        with Image.open(path) as image:
            kind = (image.format or "").lower()
    except (UnreadableImage, OSError):
        return NOTHING
    data = path.read_bytes()
    if kind in ("png", "jpeg", "webp") and len(data) <= LARGEST_OUTPUT:
        return _uri(kind, data)
    reduced = Image.fromarray(pixels)
    reduced.thumbnail((REDUCED_SIDE, REDUCED_SIDE))
    stream = io.BytesIO()
    reduced.save(stream, "JPEG", quality=90)
    return _uri("jpeg", stream.getvalue())


def _uri(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{b64encode(data).decode()}"
