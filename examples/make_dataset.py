"""Make a small training set and a test set that cannot overlap, then read the first back."""

from __future__ import annotations

from pathlib import Path

import gamegen
from gamegen.stored import read_dataset
from gamegen.writing.run import write_dataset

OUT = Path("out/examples/sets")

for split, size in (("train", 40), ("test", 10)):
    dataset = gamegen.create_dataset("tictactoe,maze", seed=7, size=size, level=[1, 2], split=split, pixels=256)
    written = write_dataset(dataset, OUT / split)  # run it again: it is there already, nothing is made twice
    print(f"{split}: {written.count} samples, {written.kept}, {written.resumed} of them there already")

first = next(iter(read_dataset(OUT / "train"))).row
print(first["id"], "|", first["instruction"])
assert gamegen.verify(first, first["edited_image"]).correct
