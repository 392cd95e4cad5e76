"""Training goes on, whatever recording does."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["guarded", "warn_of"]


def guarded(record: Callable[..., Any]) -> Callable[..., Any]:
    """The same without exceptions: what is raised becomes a warning with its reason, and None is returned."""

    @functools.wraps(record)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            return record(*args, **kwargs)
        except Exception as error:
            warn_of(record.__name__, error)
            return None

    return recorded


def warn_of(what: str, error: Exception) -> None:
    reason = f"recredit could not record ({what}): {type(error).__name__}: {error}"
    warnings.warn(reason[:1000], RuntimeWarning, stacklevel=3)
