"""The door of our servers: an address that is taken, or none at all, is the user's mistake, told before work begins."""

from __future__ import annotations

import socket

from gamegen.core.errors import BadInput


def listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise BadInput(f"cannot listen on {host}, port {port}: {error}") from error
