"""Where the platform and the spool are. What the caller says goes before the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

__all__ = ["Connection", "connection_of", "spool_root"]


class Connection(NamedTuple):
    url: str
    api_key: str | None
    timeout: float
    """of one request, in seconds"""


def connection_of(url: str | None, api_key: str | None, timeout: float = 30.0) -> Connection:
    """:raises ValueError: for an address that is none"""
    url = url or os.environ.get("RECREDIT_URL") or "http://127.0.0.1:4000"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise ValueError(f"url: expected http(s)://host:port, found {url}")
    return Connection(url.rstrip("/"), api_key or os.environ.get("RECREDIT_API_KEY") or _first_key(), timeout)


def spool_root(given: str | os.PathLike[str] | None) -> Path:
    return Path(given or os.environ.get("RECREDIT_SPOOL") or _home() / "spool").resolve()


def _first_key() -> str | None:
    """Where the platform, when it runs on this machine, keeps the key it made at its first start."""
    try:
        return (_home() / "first-key").read_text().strip() or None
    except OSError:
        return None


def _home() -> Path:
    return Path(os.environ.get("RECREDIT_HOME") or ".recredit")
