"""Runs whose candidates stand in one file, so that the inspection can be tested without the stages before it.

`python -m tests.realworld.runs FOLDER '{"stage": 1}'` serves one with the options of `serve`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from realworld.run import Candidate, Run, fingerprint

CATEGORIES = ("Temporal Evolution", "Medium Interaction", "Motion State Change")
SCORES = {"instruction_following": 5, "visual_quality": 5, "cot_quality": 4}


class ReadyRun(Run):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {})

    def candidates(self) -> Iterator[Candidate]:
        for entry in json.loads((self.folder / "ready.json").read_text(encoding="utf-8")):
            places = {side: self.folder / entry.pop(side) for side in ("original", "edited")}
            texts = (entry[name] for name in ("instruction", "effect", "reasoning"))
            pictures = (place.read_bytes() if place.is_file() else b"" for place in places.values())
            yield Candidate(**entry, **places, key=fingerprint(*texts, *pictures))


def ready_run(folder: Path, count: int, *, changed: Mapping[str, Any] | None = None, side: int = 48) -> ReadyRun:
    """`count` candidates, c0, c1 …; what is `changed` holds for the first of them."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [_entry(place) for place in range(count)]
    entries[0].update(changed or {})
    for place, entry in enumerate(entries):
        for name, colour in (("original", (200, place % 256, 40)), ("edited", (20, place % 256, 180))):
            if entry[name].startswith("images/"):
                (folder / entry[name]).parent.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (side, side), colour).save(folder / entry[name])
    (folder / "ready.json").write_text(json.dumps(entries), encoding="utf-8")
    return ReadyRun(folder)


def _entry(place: int) -> dict[str, Any]:
    return {
        "id": f"c{place}",
        "category": CATEGORIES[place % len(CATEGORIES)],
        "description": f"thing {place}",
        "instruction": f"Wait until {place} is over.",
        "effect": f"Then it is {place + 1} o'clock.",
        "reasoning": f"I see {place}, so {place + 1} comes next.",
        "scores": SCORES,
        "original": f"images/t{place}/original.png",
        "edited": f"images/t{place}/edited-0.png",
    }


def main(arguments: Sequence[str]) -> None:
    from realworld.review.serve import serve

    serve(ReadyRun(Path(arguments[0])), **json.loads(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
