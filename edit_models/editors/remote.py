"""Editors behind an OpenAI-compatible server: `images/edits`, and chat models that answer with a picture.

The key and the address come from OPENAI_API_KEY and OPENAI_BASE_URL or from options. A busy or broken server is asked
again, each time after twice the pause (when it names one, all requests wait that long); what it answers in the end is
the sample's failure. A refused key stops the run.
"""

from __future__ import annotations

import base64
import binascii
import io
import re
import time
from collections.abc import Mapping
from typing import Any

from PIL import Image

from edit_models.editors.protocol import Edit, Stop
from edit_models.endpoint import AGAIN, HOPELESS, LONGEST_PAUSE, reach, refusal, retry_after
from gamegen.core.errors import GamegenError, MissingExtra
from gamegen.images import load_rgb

DATA_URL = re.compile(r"data:image/[a-z]+;base64,([A-Za-z0-9+/=\s]+)")


class BadReply(GamegenError):
    """The server gave no picture; the message says what it gave."""


class Server:
    """Posts with retries; may be shared by threads."""

    def __init__(
        self, *, base_url: str | None, api_key: str | None, timeout: float, retries: int, backoff: float
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtra("httpx", "editors") from None
        self.url, headers = reach(base_url, api_key)
        self.retries, self.backoff = retries, backoff
        self.timeout = timeout
        self.client = httpx.Client(headers=headers, timeout=timeout)
        self._not_before = 0.0  # by the monotonic clock; threads may set it at once, and the later time counts

    def post(self, path: str, **content: Any) -> Any:
        """The JSON answer; BadReply when all tries are used up or this request is refused, Stop if any would be."""
        import httpx

        url, problem = f"{self.url}/{path}", ""
        for attempt in range(self.retries + 1):
            time.sleep(max(0.0, self._not_before - time.monotonic()))
            try:
                reply = self.client.post(url, **content)
                if reply.status_code == 200:
                    return reply.json()
            except httpx.TimeoutException:
                problem = f"no answer within {self.timeout:g} s"
            except (httpx.TransportError, ValueError) as error:  # cut off, unreachable, or not JSON
                problem = f"{type(error).__name__}: {error}"
            else:
                problem = self._trouble(url, reply)
            if attempt < self.retries:
                time.sleep(min(self.backoff * 2**attempt, LONGEST_PAUSE))
        raise BadReply(f"gave up after {self.retries + 1} tries; the last: {problem}")

    def _trouble(self, url: str, reply: Any) -> str:
        """What is wrong, if it may pass; else it is raised."""
        status, text = reply.status_code, reply.text[:200]
        if status in HOPELESS:
            raise Stop(refusal(url, status, text))
        if status not in AGAIN:
            raise BadReply(f"the server refused with {status}: {text}")
        named = retry_after(reply.headers)
        if named is not None:
            self._not_before = max(self._not_before, time.monotonic() + min(named, LONGEST_PAUSE))
        return f"{status}: {text}"

    def picture(self, source: str) -> Image.Image:
        """From a data URL, base64, or an address; the key is not sent to the address."""
        import httpx

        if source.startswith(("http://", "https://")):
            try:
                return _decoded(httpx.get(source, timeout=self.timeout).raise_for_status().content)
            except httpx.HTTPError as error:
                raise BadReply(f"the picture's address does not answer: {error}") from error
        try:
            return _decoded(base64.b64decode(source.partition("base64,")[2] or source, validate=True))
        except binascii.Error as error:
            raise BadReply(f"the picture is not base64: {error}") from error


class ServerModel:
    """What all kinds are made with; `fields` (size, quality…) go into every request, the seed only if told so."""

    def __init__(
        self,
        target: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 300.0,
        retries: int = 5,
        backoff: float = 1.0,
        send_seed: bool = False,
        **fields: Any,
    ) -> None:
        self.server = Server(base_url=base_url, api_key=api_key, timeout=timeout, retries=retries, backoff=backoff)
        self.fields: dict[str, Any] = {"model": target, **fields}
        self.send_seed = send_seed

    def request(self, seed: int, **content: Any) -> dict[str, Any]:
        return {**self.fields, **content} | ({"seed": seed} if self.send_seed else {})

    def picture_of(self, answer: Any) -> Image.Image:
        """The first picture of an answer by one of the `images` addresses."""
        match answer:
            case {"data": [{"b64_json": str(data)}, *_]} | {"data": [{"url": str(data)}, *_]}:
                return self.server.picture(data)
        raise BadReply(f"no picture in the answer: {str(answer)[:200]}")


class ImagesEditor(ServerModel):
    """`POST images/edits`."""

    def edit(self, image: Image.Image, instruction: str, *, seed: int) -> Edit:
        fields = {name: str(value) for name, value in self.request(seed, prompt=instruction).items()}
        files = {"image": ("image.png", _png(image), "image/png")}
        return Edit(self.picture_of(self.server.post("images/edits", data=fields, files=files)))


class ChatEditor(ServerModel):
    """`POST chat/completions` with a model that draws; its words are kept as its thinking."""

    def edit(self, image: Image.Image, instruction: str, *, seed: int) -> Edit:
        url = f"data:image/png;base64,{base64.b64encode(_png(image)).decode()}"
        content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": instruction}]
        return self.ask(content, seed=seed)

    def ask(self, content: list[dict[str, Any]], *, seed: int) -> Edit:
        body = {"modalities": ["image", "text"], **self.request(seed, messages=[{"role": "user", "content": content}])}
        answer = self.server.post("chat/completions", json=body)
        match answer:
            case {"choices": [{"message": dict(message)}, *_]}:
                return self._edit(message)
        raise BadReply(f"no message in the answer: {str(answer)[:200]}")

    def _edit(self, message: Mapping[str, Any]) -> Edit:
        """Servers put the picture into `images`, into a part of the content, or as a data URL into the text."""
        content = message.get("content") or ""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        words = [str(message.get("reasoning") or message.get("reasoning_content") or "")]
        pictures: list[str] = []
        for part in [*(message.get("images") or []), *parts]:
            match part:
                case {"image_url": {"url": str(url)}} | {"image_url": str(url)}:
                    pictures.append(url)
                case {"text": str(text)}:
                    pictures += [found.group(0) for found in DATA_URL.finditer(text)]
                    words.append(DATA_URL.sub("", text).replace("![]()", ""))
        if not pictures:
            raise BadReply(f"the model answered without a picture: {' '.join(words).strip()[:200]!r}")
        thinking = "\n".join(filter(None, (each.strip() for each in words)))
        return Edit(self.server.picture(pictures[-1]), thinking)


def _png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def _decoded(data: bytes) -> Image.Image:
    return Image.fromarray(load_rgb(data))
