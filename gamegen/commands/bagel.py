"""Look into a BAGEL checkpoint, edit a picture with it, or export a training run.

gamegen bagel inspect CKPT
gamegen bagel edit CKPT board.png "Make the best move." --out edited.png
gamegen bagel export RUN OUT
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from gamegen.core.errors import BadInput, MissingExtra


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="{inspect,edit,export}")

    inspect = actions.add_parser("inspect", help="say what a checkpoint is, and whether it would load")
    inspect.add_argument("checkpoint", type=Path, help="checkpoint folder or safetensors file")
    inspect.add_argument("--json", action="store_true", help="print JSON")

    edit = actions.add_parser("edit", help="edit one picture")
    edit.add_argument("checkpoint", type=Path, help="checkpoint folder")
    edit.add_argument("image", type=Path, help="the picture to edit")
    edit.add_argument("instruction", help="what to do, with the rules if there are any")
    edit.add_argument("--out", type=Path, required=True, help="where to write the edited picture")
    edit.add_argument("--seed", type=int, default=42, help="decides the noise and the words (default: 42)")
    edit.add_argument("--no-think", action="store_true", help="draw at once, without thinking in words first")
    edit.add_argument("--think-prompt", help="thinking prompt; the default is the one we train with")
    edit.add_argument("--think-tokens", type=int, default=2048, help="longest thought (default: 2048)")
    edit.add_argument("--temperature", type=float, default=0.3, help="of the words; 0 is greedy (default: 0.3)")
    edit.add_argument("--points", type=int, default=50, help="times on the way from noise to picture (default: 50)")
    edit.add_argument("--shift", type=float, default=3.0, help="how far these lean towards noise (default: 3)")
    edit.add_argument("--text-scale", type=float, default=4.0, help="text guidance; 1 is off (default: 4)")
    edit.add_argument("--image-scale", type=float, default=2.0, help="image guidance; 1 is off (default: 2)")
    edit.add_argument(
        "--renorm", choices=["global", "channel", "text_channel"], default="text_channel",
        help="how guidance is kept from blowing up (default: text_channel)",
    )  # fmt: skip
    edit.add_argument("--device", help="cpu, cuda, cuda:1, ...; the default is a GPU if there is one")
    edit.add_argument("--dtype", choices=["bf16", "fp16", "fp32"], help="default: bf16 on a GPU, as stored on a CPU")
    edit.add_argument("--json", action="store_true", help="print JSON")

    export = actions.add_parser("export", help="write a training run as a checkpoint folder")
    export.add_argument("run_folder", type=Path, metavar="run", help="folder of a training run")
    export.add_argument("out", type=Path, help="checkpoint folder to write")
    export.add_argument("--step", type=int, help="which save; the default is the last")
    export.add_argument("--last", action="store_true", help="the last weights instead of their average")
    export.add_argument("--dtype", choices=["bf16", "fp32"], help="type to store; the default is as trained")
    export.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    try:
        answer = {"inspect": _inspect, "edit": _edit, "export": _export}[args.action](args)
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "torch", "bagel") from None
    if args.json:
        print(json.dumps(answer))
    else:
        for name, value in answer.items():
            print(f"{name}: {_shown(value)}")
    return 1 if answer.get("problems") else 0


def _inspect(args: argparse.Namespace) -> dict[str, Any]:
    from edit_models.bagel.loading import Checkpoint

    facts: dict[str, Any] = Checkpoint(args.checkpoint).facts()
    return facts


def _edit(args: argparse.Namespace) -> dict[str, Any]:
    from PIL import Image

    from edit_models.bagel.editor import THINK_PROMPT, BagelEditor, Settings
    from gamegen.images import load_rgb

    settings = Settings(
        think=not args.no_think,
        think_prompt=args.think_prompt or THINK_PROMPT,
        think_tokens=args.think_tokens,
        temperature=args.temperature,
        points=args.points,
        shift=args.shift,
        text_scale=args.text_scale,
        image_scale=args.image_scale,
        renorm=args.renorm,
    )
    image = Image.fromarray(load_rgb(args.image))
    editor = BagelEditor.load(
        args.checkpoint, device=args.device, dtype=args.dtype, settings=settings, progress=sys.stderr.isatty()
    )
    edit = editor.edit(image, args.instruction, seed=args.seed)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    edit.image.save(args.out)
    return {"image": str(args.out), "size": list(edit.image.size), "thinking": edit.thinking}


def _export(args: argparse.Namespace) -> dict[str, Any]:
    from edit_models.bagel.checkpoint import export
    from edit_models.bagel.loading import DTYPES

    if not (args.run_folder / "recipe.json").exists():
        raise BadInput(f"{args.run_folder} is not a training run: it has no recipe.json")
    dtype = DTYPES[args.dtype] if args.dtype else None
    path = export(args.run_folder, args.out, step=args.step, ema=not args.last, dtype=dtype)
    return {"checkpoint": str(path)}


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
