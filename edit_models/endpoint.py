"""Manners towards OpenAI-compatible servers: where they are, when to ask again, how long to wait, when to give up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from gamegen.core.errors import BadInput

HOME = "https://api.openai.com/v1"
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Answers that may be better next time."""

HOPELESS = {401: "the key", 402: "to work unpaid", 403: "the key", 404: "the address or the model's name"}
"""Answers that every further request would get as well, by what is refused."""

LONGEST_PAUSE = 120.0


def reach(base_url: str | None, key: str | None) -> tuple[str, dict[str, str]]:
    """The address and the headers that carry the key, from the arguments or from the environment."""
    address = (base_url or os.environ.get("OPENAI_BASE_URL") or HOME).rstrip("/")
    key = key or os.environ.get("OPENAI_API_KEY", "")
    if not address.startswith(("http://", "https://")):
        raise BadInput(f"the base URL must begin with http:// or https://, not {address!r}")
    if not key and address == HOME:
        raise BadInput(f"{HOME} needs a key: set OPENAI_API_KEY, or name another endpoint by OPENAI_BASE_URL")
    return address, {"Authorization": f"Bearer {key}"} if key else {}


def refusal(url: str, status: int, text: str) -> str:
    """What to say of a hopeless answer."""
    return f"{url} refuses {HOPELESS[status]}: HTTP {status} {text[:200]}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from a number or from a date that is taken against the endpoint's own clock."""
    said = headers.get("retry-after", "").strip()
    if not said:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        then, now = parsedate_to_datetime(said), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None
