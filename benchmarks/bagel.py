"""How fast BAGEL trains and draws: tokens/s of an update, ms per denoising step, memory, and how they grow.

    python -m benchmarks.bagel                        # a small random model, on a GPU if there is one
    python -m benchmarks.bagel --model CKPT --lengths 4096,8192 --dtype bf16

Each length is measured in its own process, so that memory peaks do not mix. A length is the number of tokens of one
edit sample: half of them source, half target. Times are medians over `--repeats` after one warm-up; on one CPU thread
they are processor time, so that other programs on the machine do not count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="checkpoint folder; default: a random model of --hidden, --layers")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--lengths", default="256,512,1024,2048", help="tokens per sample, with commas")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dtype", choices=["fp32", "bf16"], default="fp32")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        print(json.dumps(measure(args, args.only)))
        return
    rows = []
    for length in map(int, args.lengths.split(",")):
        again = [sys.executable, "-m", "benchmarks.bagel", *sys.argv[1:], "--only", str(length)]
        rows.append(json.loads(subprocess.run(again, check=True, capture_output=True, text=True).stdout))
    if args.json:
        print(json.dumps(rows))
        return
    print(f"{'tokens':>7} {'update ms':>10} {'tokens/s':>9} {'denoise ms':>11} {'memory MiB':>11}")
    for row in rows:
        print(
            f"{row['tokens']:7d} {row['update_ms']:10.1f} {row['tokens_per_s']:9.0f}"
            f" {row['denoise_ms']:11.2f} {row['memory_mib']:11.0f}"
        )


def measure(args: argparse.Namespace, length: int) -> dict[str, Any]:
    import torch

    from edit_models.bagel.attention import FlexAttention, PackedAttention
    from edit_models.bagel.loading import DTYPES, Checkpoint
    from edit_models.bagel.logs import peak_memory
    from edit_models.bagel.losses import flow_loss
    from edit_models.bagel.sequence import Latents, Markers
    from edit_models.bagel.tiny import small_config, write_small_checkpoint

    torch.set_num_threads(args.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory() as folder:
        if args.model is None:
            config = small_config(hidden=args.hidden, layers=args.layers, pixels=512, patch=4)
            write_small_checkpoint(Path(folder), ["a b c"], config=config, vocab=300)
        model = Checkpoint(args.model or Path(folder)).model(dtype=DTYPES[args.dtype], device=str(device))
    model.train()
    half, side = length // 2 - 2, model.config.latent.side
    if half > side**2:
        raise SystemExit(f"{length} tokens need more than the {side}x{side} places of the position table")
    values = torch.randn(half, model.config.latent.token_width, device=device)
    source = Latents(values, torch.arange(half))
    target = Latents(values, torch.arange(half), time=0.5, denoise=True)
    tokens, layout, _ = model.sequence([[source, target]], Markers(0, 1, 2, 3))
    tokens = tokens.to(device)
    form = FlexAttention if device.type == "cuda" else PackedAttention
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)

    def update() -> None:
        loss = flow_loss(model(tokens, form(layout, device)).velocity, values) / half
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    clock = time.process_time if device.type == "cpu" and args.threads == 1 else time.perf_counter
    update_s = _median(update, args.repeats, clock)
    memory = peak_memory(device) * 1024
    denoise_s = _median(_denoise_step(model, source, target, device), args.repeats, clock)
    return {
        "tokens": length,
        "update_ms": 1000 * update_s,
        "tokens_per_s": length / update_s,
        "denoise_ms": 1000 * denoise_s,
        "memory_mib": memory,
        "device": str(device),
        "dtype": args.dtype,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def _denoise_step(model: Any, source: Any, target: Any, device: Any) -> Callable[[], None]:
    """One evaluation of the target's velocity over the cached source."""
    import torch

    from edit_models.bagel.attention import Cache, CachedAttention
    from edit_models.bagel.sequence import Markers

    markers, cache = Markers(0, 1, 2, 3), Cache(model.config.language.layers)
    with torch.no_grad():
        tokens, layout, ends = model.sequence([[source]], markers, [cache])
        attend = CachedAttention([cache], layout, device)
        model(tokens.to(device), attend)
        attend.keep()
        cache.position = ends[0]
        tokens, layout, _ = model.sequence([[target]], markers, [cache])
        ready, attend = tokens.to(device), CachedAttention([cache], layout, device)

    @torch.no_grad()
    def step() -> None:
        model(ready, attend)

    return step


def _median(action: Callable[[], None], repeats: int, clock: Callable[[], float]) -> float:
    import torch

    times = []
    for _ in range(repeats + 1):
        began = clock()
        action()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        times.append(clock() - began)
    return statistics.median(times[1:])


if __name__ == "__main__":
    main()
