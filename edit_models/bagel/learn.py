"""Does it learn? A small model from scratch, on a CPU, by the real script, judged by the exact verifier.

    python -m edit_models.bagel.learn overfit --out out/learn           # a handful of boards, in minutes
    python -m edit_models.bagel.learn generalise --out out/generalise   # unseen positions, about 20 CPU minutes

The model sees 32-pixel copies of 256-pixel boards and draws in squares of 4 pixels through a lossless autoencoder; its
answers are enlarged to 256 pixels again, as the editor always does, and then judged. Nothing else is special: data,
loader, training, export and editor are those of the large model. `overfit` fails (exit 1) unless every board is right.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

import gamegen
from edit_models.bagel.checkpoint import export
from edit_models.bagel.data import Rows
from edit_models.bagel.editor import THINK_CLOSE, THINK_OPEN, THINK_PROMPT, BagelEditor, Settings
from edit_models.bagel.evaluate import accuracy, judge_edits, sheet
from edit_models.bagel.recipe import Recipe
from edit_models.bagel.tiny import small_config, write_small_checkpoint
from edit_models.bagel.train import train
from gamegen.writing.run import write_dataset

TASK = {"level": 1, "pixels": 256, "skin": "dark"}
SETTINGS = Settings(think_tokens=24, temperature=0.0, points=12, text_scale=1.0, image_scale=1.0)


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the two experiments differ in."""

    boards: int  # to learn from
    unseen: int  # of the test split; 0 judges the boards it learned
    steps: int
    tokens: int  # per update
    lr: float
    every: int  # updates between judgements
    samples: int  # rows judged each time
    final: int  # rows judged at the end


EXPERIMENTS = {
    "overfit": Experiment(boards=6, unseen=0, steps=500, tokens=1100, lr=3e-3, every=100, samples=6, final=6),
    "generalise": Experiment(
        boards=1500, unseen=200, steps=3600, tokens=2100, lr=3e-3, every=150, samples=50, final=200
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=list(EXPERIMENTS))
    parser.add_argument("--out", type=Path, required=True, help="folder for data, run and checkpoint")
    parser.add_argument("--task", default="tictactoe/best")
    parser.add_argument("--steps", type=int, help="updates, if not the experiment's own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="CPU threads")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    torch.set_num_threads(args.threads)
    experiment = EXPERIMENTS[args.experiment]
    if args.steps:
        experiment = replace(experiment, steps=args.steps)
    figures = learn(experiment, args.out, task=args.task, seed=args.seed)
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name}: {value}")
    return 0 if args.experiment != "overfit" or figures["trained"] == 1.0 else 1


def learn(experiment: Experiment, out: Path, *, task: str, seed: int) -> dict[str, Any]:
    """Makes boards, trains from random weights, and judges: a copying editor, the untrained and the trained model."""
    boards = gamegen.create_dataset(task, seed=seed, size=experiment.boards, **TASK)
    write_dataset(boards, out / "boards")
    texts = [
        text for sample in boards[:400] for text in (sample.prompt, f"{THINK_OPEN}{sample.reasoning}{THINK_CLOSE}")
    ]
    config = small_config(hidden=128, layers=4, pixels=32, patch=2, vit_patch=8)
    write_small_checkpoint(out / "untrained", [*texts, *[THINK_PROMPT] * 50], config=config, vocab=1000, seed=seed)
    judged_on = out / "boards"
    if experiment.unseen:
        judged_on = out / "unseen"
        write_dataset(gamegen.create_dataset(task, seed=seed, size=experiment.unseen, split="test", **TASK), judged_on)
    recipe = Recipe(
        data=str(out / "boards"),
        model=str(out / "untrained"),
        out=str(out / "run"),
        steps=experiment.steps,
        warmup=experiment.steps // 20,
        lr=experiment.lr,
        min_lr=experiment.lr / 20,
        tokens=experiment.tokens,
        shift=4.0,
        drop_source=0.0,
        ema=0.98,
        dtype="fp32",
        recompute=False,
        seed=seed,
        sample_every=experiment.every,
        sample_data=str(judged_on),
        samples=experiment.samples,
        sample_points=SETTINGS.points,
        sample_tokens=SETTINGS.think_tokens,
        text_scale=1.0,
        image_scale=1.0,
    )
    began = time.process_time()
    train(recipe)
    seconds = time.process_time() - began
    export(out / "run", out / "trained")

    rows = _rows(judged_on, experiment.final)
    trained = judge_edits(BagelEditor.load(out / "trained", device="cpu", settings=SETTINGS), rows)
    untrained = judge_edits(BagelEditor.load(out / "untrained", device="cpu", settings=SETTINGS), rows)
    sheet(trained).save(out / "trained.png")
    figures: dict[str, Any] = {
        "task": task,
        "boards": experiment.boards,
        "judged": len(rows),
        "copy": sum(gamegen.verify(row, row["original_image"]["bytes"]).correct for row in rows) / len(rows),
        "untrained": accuracy(untrained),
        "trained": accuracy(trained),
    }
    if experiment.unseen:
        seen = judge_edits(
            BagelEditor.load(out / "trained", device="cpu", settings=SETTINGS), _rows(out / "boards", 100)
        )
        figures["trained_on_seen_boards"] = accuracy(seen)
    return figures | {"curve": _curve(out / "run"), "updates": experiment.steps, "training_cpu_s": round(seconds)}


def _rows(folder: Path, count: int) -> list[Mapping[str, Any]]:
    rows = Rows(folder, seed=0)
    return [rows.row(number) for number in range(min(count, rows.count))]


def _curve(run: Path) -> list[tuple[int, float]]:
    lines = map(json.loads, (run / "log.jsonl").read_text(encoding="utf-8").splitlines())
    return [(line["step"], line["accuracy"]) for line in lines if "accuracy" in line]


if __name__ == "__main__":
    sys.exit(main())
