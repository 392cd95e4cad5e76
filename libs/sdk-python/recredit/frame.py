"""Rows in columns, as the platform sent them: an Arrow IPC stream."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Frame"]


class Frame:
    """Columns as in docs/guides/arrow-columns.md. The packages that read them come with `pip install 'recredit[arrow]'`."""

    def __init__(self, content: bytes, shards: tuple[int, int] | None = None) -> None:
        self._content = content
        self.shards = shards
        """of credit: how many shards of the analysis it is of, and how many there are"""

    def to_bytes(self) -> bytes:
        """The stream itself, which any Arrow library reads."""
        return self._content

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the stream to a file."""
        target = Path(path)
        target.write_bytes(self._content)
        return target

    def to_arrow(self) -> pyarrow.Table:
        """:raises ImportError: without pyarrow"""
        table: pyarrow.Table = _needed("pyarrow.ipc").open_stream(self._content).read_all()
        return table

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """What was not said is NaN.

        :param options: of ``pyarrow.Table.to_pandas``
        :raises ImportError: without pyarrow and pandas
        """
        _needed("pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas(**options)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """What was not said is null.

        :raises ImportError: without polars
        """
        frame: polars.DataFrame = _needed("polars").read_ipc_stream(self._content)
        return frame

    def __repr__(self) -> str:
        return f"Frame({len(self._content)} bytes; to_pandas(), to_polars(), to_arrow())"


def _needed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"this needs {package}: pip install 'recredit[arrow]' (or {package} alone)") from error
