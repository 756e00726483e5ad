"""For verifiers: an environment whose reward asks a running `gamegen serve`.

It imports nothing of ours, and may be copied: the verifiers stack brings a package named `renderers`, as we do, so the
judge runs in an environment of its own. Rows travel in the dataset's `info` column, as mappings or JSON.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import urllib.request
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

NEEDED = ("id", "task", "position_before", "params", "style")

_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,([A-Za-z0-9+/=]+)")

Reward = Callable[..., Awaitable[float]]


def load_environment(
    dataset: Any, url: str = "http://127.0.0.1:8000", dense: bool = False, timeout: float = 60.0
) -> Any:
    """A single-turn environment over a dataset with the columns `prompt` and `info`."""
    import verifiers  # type: ignore[import-not-found, unused-ignore]

    rubric = verifiers.Rubric(funcs=[make_reward(url, dense=dense, timeout=timeout)], weights=[1.0])
    return verifiers.SingleTurnEnv(dataset=dataset, rubric=rubric)


def to_example(row: Mapping[str, Any]) -> dict[str, Any]:
    """One dataset line from a row: the prompt with its picture, and the columns that judging needs."""
    picture = "data:image/png;base64," + base64.b64encode(row["original_image"]).decode()
    content = [
        {"type": "text", "text": f"{row['rules']} {row['instruction']}"},
        {"type": "image_url", "image_url": {"url": picture}},
    ]
    return {
        "prompt": [{"role": "user", "content": content}],
        "info": json.dumps({name: row[name] for name in NEEDED}),
    }


def make_reward(url: str, *, dense: bool = False, timeout: float = 60.0) -> Reward:
    """The reward function; an item that the server cannot judge raises, and is not held against the model."""

    async def gamegen_reward(completion: Any, info: Mapping[str, Any] | str, **_: object) -> float:
        row = json.loads(info) if isinstance(info, str) else info
        item = {"row": {name: row[name] for name in NEEDED}, "image": last_picture(completion)}
        return await asyncio.to_thread(_ask, f"{url.rstrip('/')}/reward", item, dense, timeout)

    return gamegen_reward


def last_picture(completion: str | Sequence[Mapping[str, Any]]) -> str | None:
    """The base64 of the last data URL that the assistant wrote, in text or as an image part."""
    if isinstance(completion, str):
        found: list[str] = _DATA_URL.findall(completion)
        return found[-1] if found else None
    texts = [
        part if isinstance(part, str) else (part.get("image_url") or {}).get("url") or part.get("text") or ""
        for message in completion
        if message.get("role", "assistant") == "assistant"
        for part in _parts(message.get("content"))
    ]
    return last_picture("\n".join(texts))


def _parts(content: Any) -> list[Any]:
    if content is None:
        return []
    return [content] if isinstance(content, str) else list(content)


def _ask(url: str, item: Mapping[str, Any], dense: bool, timeout: float) -> float:
    body = json.dumps({"items": [item], "dense": dense}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as response:
        answer = json.load(response)
    if answer["rewards"][0] is None:
        raise RuntimeError(f"{url} could not judge {item['row']['id']!r}: {answer['verdicts'][0]['error']}")
    return float(answer["rewards"][0])
