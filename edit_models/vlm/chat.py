"""Any OpenAI-compatible `/chat/completions` endpoint that takes pictures.

The key and the address come from the arguments or from OPENAI_API_KEY and OPENAI_BASE_URL. A busy or failing endpoint
is asked again with growing pauses; when it says how long to wait (Retry-After), all questions wait that long. One that
was never there is not waited for.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from edit_models.endpoint import AGAIN, HOPELESS, LONGEST_PAUSE, reach, refusal, retry_after
from edit_models.vlm.protocol import SCHEMA, Part
from gamegen.core.errors import BadInput, JudgeFailed, MissingExtra

if TYPE_CHECKING:
    import httpx


class ChatModel:
    """One model behind one endpoint; at most `concurrency` requests at a time."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key: str | None = None,
        concurrency: int = 8,
        attempts: int = 6,
        timeout: float = 120.0,
        pause: float = 1.0,
        max_tokens: int = 1024,
        temperature: float = 0,
        schema: Mapping[str, Any] | None = SCHEMA,
    ) -> None:
        address, headers = reach(base_url, key)
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra("httpx", "judge") from error
        self.name = model
        self.parameters: Mapping[str, Any] = {"temperature": temperature, "max_tokens": max_tokens}
        self.concurrency = concurrency
        self._attempts, self._timeout, self._pause = attempts, timeout, pause
        self._schema = schema
        self._structured = schema is not None  # until the endpoint refuses it
        self._reached = False
        self._not_before = 0.0
        self._slots = asyncio.Semaphore(concurrency)
        self._url = f"{address}/chat/completions"
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=timeout,
            limits=httpx.Limits(max_connections=concurrency),
        )

    async def ask(self, parts: Sequence[Part]) -> str:
        async with self._slots:
            trouble = "it was never asked"
            for attempt in range(self._attempts):
                await self._wait()
                structured = self._structured
                reply, trouble, pause = await self._once(parts, structured)
                if reply is not None:
                    return reply
                if structured and not self._structured:
                    continue  # the endpoint only dislikes schemas: no reason to wait
                if pause is not None:
                    self._not_before = max(self._not_before, self._now() + min(pause, LONGEST_PAUSE))
                elif attempt + 1 < self._attempts:
                    await asyncio.sleep(min(self._pause * 2.0**attempt, LONGEST_PAUSE))
            raise JudgeFailed(f"{self._url} gave no answer in {self._attempts} attempts; last: {trouble}")

    async def close(self) -> None:
        await self._client.aclose()

    async def _once(self, parts: Sequence[Part], structured: bool) -> tuple[str | None, str, float | None]:
        """One request: the reply, or what went wrong and the pause that the endpoint wants before the next."""
        import httpx

        try:
            async with asyncio.timeout(self._timeout):  # httpx's own limit is between bytes, and a drip would pass it
                response = await self._client.post(self._url, json=self._body(parts, structured))
        except (httpx.HTTPError, TimeoutError) as error:
            if isinstance(error, httpx.ConnectError) and not self._reached:
                raise BadInput(f"nobody answers at {self._url}: {error}") from error
            return None, f"{type(error).__name__} {error}".strip(), None
        self._reached = True
        status = response.status_code
        if status in AGAIN:
            return None, f"HTTP {status}", retry_after(response.headers)
        if status in HOPELESS:
            raise BadInput(refusal(self._url, status, response.text))
        if status in (400, 422) and structured:
            self._structured = False
            return None, f"HTTP {status}: {response.text[:200]}", None
        if status >= 300:
            raise JudgeFailed(f"{self._url} answers HTTP {status}: {response.text[:200]}")
        return (*_content(response), None)

    def _body(self, parts: Sequence[Part], structured: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            **self.parameters,
            "messages": [{"role": "user", "content": [_piece(part) for part in parts]}],
        }
        if structured:
            schema = {"name": "reply", "strict": True, "schema": self._schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    async def _wait(self) -> None:
        while (rest := self._not_before - self._now()) > 0:
            await asyncio.sleep(rest)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def _piece(part: Part) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(part).decode()}"}}


def _content(response: httpx.Response) -> tuple[str | None, str]:
    """The text of a completion, or None and what is wrong with it."""
    try:
        content = response.json()["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None, f"not a chat completion: {response.text[:100]!r}"
    if not isinstance(content, str) or not content.strip():
        return None, f"an empty completion: {content!r}"
    return content, ""
