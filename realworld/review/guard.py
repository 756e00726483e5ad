"""Who may come in, and what a browser may do with our pages.

On this machine anybody may; a page of another site may not, though the same browser shows it: requests must name a
host that is ours (against DNS rebinding), come from our own page (Origin), and send JSON (which other sites cannot
without being asked). On a network everybody shows the token: once in the address, then in a cookie.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
A_DAY = 86_400
DAYS = 30


class Guard:
    def __init__(self, app: ASGIApp, *, token: str, hosts: Collection[str] | None, cookie: str) -> None:
        """No `token`: none is needed. `hosts` are the names the server may be addressed by; None: by any."""
        self.app, self.token, self.hosts, self.cookie = app, token, hosts, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in POLICY.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        answer = self._greeting(scope) or self.app
        await answer(scope, receive, guarded)

    def _greeting(self, scope: Scope) -> ASGIApp | None:
        """What is answered instead of the page; None lets the request in."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if self.hosts is not None and urlsplit(f"//{host}").hostname not in self.hosts:
            return PlainTextResponse(f"This server is not called {host!r}.\n", 421)
        if origin is not None and urlsplit(origin).netloc != host:
            return PlainTextResponse("Other sites may not send here.\n", 403)
        if not self.token:
            return None
        shown = QueryParams(scope["query_string"]).get("token", "")
        if scope["path"] == "/" and self._fits(shown):
            response = RedirectResponse("/", 303)
            response.set_cookie(self.cookie, self.token, max_age=DAYS * A_DAY, httponly=True, samesite="lax")
            return response
        if self._fits(HTTPConnection(scope).cookies.get(self.cookie, "")) or self._fits(
            headers.get("authorization", "")[len("Bearer ") :]
        ):
            return None
        return PlainTextResponse("Open the whole address that the command printed: it ends in ?token=…\n", 401)

    def _fits(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode(), self.token.encode())
