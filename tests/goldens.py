"""Hashes of positions and pixels of a few keys of every task, committed in goldens.json.

Adding a game: `python -m tests.goldens` writes the missing ones and touches no other. When bytes change on purpose,
raise the generator version first (gamegen/core/key.py), then `python -m tests.goldens --all` writes them anew.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import gamegen
from gamegen.core.key import Key
from renderers.png import pixel_hash

PATH = Path(__file__).with_name("goldens.json")
Goldens = dict[str, list[str]]


def keys() -> list[Key]:
    """An easy, a middling and a hard sample of every task, one of them in the test split and one in Chinese."""
    found = []
    for task in gamegen.list_tasks():
        found += [
            Key(task, level=1, seed=1, index=0, pixels=256),
            Key(task, split="test", level=3, seed=42, index=17),
            Key(task, level=5, seed=-7, index=3, language="zh"),
        ]
    return found


def make() -> Goldens:
    """By id: a hash of the texts, and those of the two pictures."""
    return {key.id: _hashes(gamegen.make_sample(key)) for key in keys()}


def load() -> Goldens:
    found: Goldens = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    return found


def environment() -> dict[str, str]:
    """For another process that must find this package and these tests."""
    return dict(os.environ) | {"PYTHONPATH": os.pathsep.join([str(PATH.parent.parent), *filter(None, sys.path)])}


def _hashes(sample: gamegen.Sample) -> list[str]:
    import xxhash

    texts = [f"{name}={value}" for name, value in sample.row().items() if not isinstance(value, bytes)]
    pictures = [pixel_hash(each.pixels, each.palette) for each in (sample.original_picture, sample.edited_picture)]
    return [xxhash.xxh3_128_hexdigest("\n".join(texts).encode()), *pictures]


def main() -> None:
    found, old = make(), {} if "--all" in sys.argv else load()
    merged = {key: old.get(key, found[key]) for key in sorted(found)}
    PATH.write_text(json.dumps(merged, indent=0) + "\n", encoding="utf-8")
    print(f"{len(merged)} goldens, {len(merged.keys() - old.keys())} of them new")


if __name__ == "__main__":
    main()
