"""Show one sample: its position, instruction, steps and reasoning; write its pair of pictures.

Name it by its id (maze/path@1:train:3:42:17), or name a task and say which level, seed and index.

gamegen show maze/path --animate                 the solution, step by step, as an animated WebP
gamegen show maze/path --animate solution.gif    as a GIF of this name
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

    from gamegen.core.key import Key
    from gamegen.sample import Sample


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sample", metavar="ID|TASK", help="a sample's id, or a task such as maze/path")
    parser.add_argument("--level", type=int, default=3, help="1 to 5 (default 3)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--index", type=int, default=0)
    parser.add_argument("--split", default="train", help="train or test")
    parser.add_argument("--skin", help="one of the game's skins; default: the sample's own")
    parser.add_argument("--language", default="en", help="en or zh")
    parser.add_argument("--pixels", type=int, default=512, help="side of the pictures, 256 to 1024")
    parser.add_argument("--out", type=Path, help="write the two pictures into this folder (default: the current one)")
    parser.add_argument("--no-images", action="store_true", help="write no pictures")
    parser.add_argument(
        "--animate", type=Path, nargs="?", const=Path(), metavar="FILE",
        help="write the solution as an animation, .webp or .gif (default: a .webp beside the pictures)",
    )  # fmt: skip
    parser.add_argument(
        "--seconds-per-step", type=float, metavar="S", help="how long a frame of the animation is shown"
    )
    parser.add_argument("--open", action="store_true", help="show the pair in the system's picture viewer")
    parser.add_argument("--json", action="store_true", help="print the row as JSON, without the pictures")


def run(args: argparse.Namespace) -> int:
    from gamegen.sample import make_sample

    sample = make_sample(key_of(args))
    if args.json:
        _print_json(sample)
    else:
        _print_text(sample)
    if not args.no_images:
        _write(sample, args.out or Path(), quiet=args.json)
    if args.animate is not None:
        _animate(sample, args)
    if args.open:
        _side_by_side(sample).show(title=sample.id)
    return 0


def key_of(args: argparse.Namespace) -> Key:
    """The key of the sample that the arguments name."""
    from gamegen.core.errors import BadInput
    from gamegen.core.key import Key
    from gamegen.registry import select

    if "@" in args.sample:
        return Key.parse(args.sample)
    tasks = select(args.sample)
    if len(tasks) > 1 and "/" not in args.sample:
        raise BadInput(f"{args.sample} has several tasks; name one: {', '.join(tasks)}")
    return Key(
        task=tasks[0],
        split=args.split,
        level=args.level,
        seed=args.seed,
        index=args.index,
        skin=args.skin,
        language=args.language,
        pixels=args.pixels,
    )


def _print_json(sample: Sample) -> None:
    import orjson

    row = {name: value for name, value in sample.row().items() if not isinstance(value, bytes)}
    print(orjson.dumps(row, option=orjson.OPT_INDENT_2).decode())


def _print_text(sample: Sample) -> None:
    difficulty = sample.solution.difficulty
    print(f"{sample.id}   skin {sample.style.skin}\n")
    print(f"{sample.problem.position}\n")
    print(f"Rules: {sample.rules}\n\nInstruction: {sample.instruction}\n")
    for number, step in enumerate(sample.solution.steps, 1):
        print(f"{number:>3}. {step.rule}" + (f"  -> {step.action}" if step.action else ""))
    print(f"\nReasoning: {sample.reasoning}\n\nResult: {sample.reference_effect}\n\n{sample.solution.after}\n")
    print(
        f"effort {difficulty.effort:g}, {difficulty.length} actions, {difficulty.nodes} nodes, "
        f"branching {difficulty.branching:.2f}, forced {difficulty.forced:.0%}"
    )


def _write(sample: Sample, folder: Path, *, quiet: bool) -> None:
    from gamegen.core.errors import BadInput

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in (("original", sample["original_image"]), ("edited", sample["edited_image"])):
            path = folder / f"{_stem(sample)}-{name}.png"
            path.write_bytes(data)
            if not quiet:
                print(f"wrote {path}")
    except OSError as error:
        raise BadInput(f"cannot write to {folder}: {error}") from error


def _animate(sample: Sample, args: argparse.Namespace) -> None:
    from gamegen.animate import write_animation

    named = args.animate != Path()
    path = args.animate if named else (args.out or Path()) / f"{_stem(sample)}-solution.webp"
    count = write_animation(sample, path, seconds=args.seconds_per_step)
    if not args.json:
        print(f"wrote {path}: {count} frames")


def _stem(sample: Sample) -> str:
    """The sample's id as the beginning of a file name."""
    return sample.id.translate(str.maketrans("/@:?=&", "------"))


def _side_by_side(sample: Sample) -> Image:
    from PIL import Image as Images

    left, right = sample.original, sample.edited
    pair = Images.new("RGB", (left.width * 2 + 16, left.height), "white")
    pair.paste(left, (0, 0))
    pair.paste(right, (left.width + 16, 0))
    return pair
