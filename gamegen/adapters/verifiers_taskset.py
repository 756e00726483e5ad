"""For verifiers 0.4 and later (its v1 API): a taskset whose reward asks a running `gamegen serve`.

Like `verifiers_env`, which must lie beside it, it imports nothing of ours: copy both into your taskset's package. The
tasks are the lines of a JSONL file, each made by `verifiers_env.to_example`. A model answers with a data URL; an agent
with a shell finds the picture as `original.png` and leaves the edited one as `answer.png`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import verifiers.v1 as vf  # type: ignore[import-not-found, unused-ignore]

from .verifiers_env import last_picture, make_reward

__all__ = ["GamegenTaskset"]

ORIGINAL, ANSWER = "original.png", "answer.png"
"""The files in an agent's working directory."""

LARGEST = 32 * 2**20
"""Bytes of an answer that are read."""


class GamegenData(vf.TaskData):  # type: ignore[misc, unused-ignore]
    """A prompt with its picture, and the columns that judging needs, as JSON."""

    info: str


class GamegenTaskConfig(vf.TaskConfig):  # type: ignore[misc, unused-ignore]
    """Where the judge is, and which of its rewards counts: `--env.taskset.task.server`, `…dense`, `…timeout`."""

    server: str = "http://127.0.0.1:8000"
    dense: bool = False
    timeout: float = 60.0


class GamegenTask(vf.Task[GamegenData, vf.State, GamegenTaskConfig]):  # type: ignore[misc, unused-ignore]
    async def setup(self, trace: Any, runtime: Any) -> None:
        """Lay the picture where an agent can open it."""
        [message] = self.data.prompt
        picture = last_picture([{"content": [part.model_dump() for part in message.content]}])
        if picture is not None:
            await runtime.write(ORIGINAL, base64.b64decode(picture))

    @vf.reward(weight=1.0)  # type: ignore[misc, untyped-decorator, unused-ignore]
    async def gamegen(self, trace: Any, runtime: Any = None) -> float:
        """1 if the edit is right by the rules (or the dense reward); an item that cannot be judged raises."""
        asked = self.config
        reply = trace.last_reply
        if last_picture(reply) is None:
            reply = await _left_in(runtime)
        return await make_reward(asked.server, dense=asked.dense, timeout=asked.timeout)(reply, self.data.info)


class GamegenTasksetConfig(vf.TasksetConfig):  # type: ignore[misc, unused-ignore]
    """Which tasks: `--env.taskset.examples FILE`."""

    examples: Path = Path("examples.jsonl")
    task: GamegenTaskConfig = GamegenTaskConfig()


class GamegenTaskset(vf.Taskset[GamegenTask, GamegenTasksetConfig]):  # type: ignore[misc, unused-ignore]
    def load(self) -> Iterator[GamegenTask]:
        with self.config.examples.open(encoding="utf-8") as lines:
            for line in lines:
                example = json.loads(line)
                known = json.loads(example["info"])["id"]
                yield GamegenTask(GamegenData(id=known, **example), self.config.task)


async def _left_in(runtime: Any) -> str:
    """The answer that an agent left in its runtime, as a data URL; nothing if there is none."""
    found = None if runtime is None else await runtime.run(["test", "-f", ANSWER], {})
    if found is None or found.exit_code:
        return ""
    return "data:image/png;base64," + base64.b64encode(await runtime.read(ANSWER, LARGEST)).decode()
