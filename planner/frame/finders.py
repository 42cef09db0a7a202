"""Serving plotly.min.js from the installed wheel: one file, no CDN, always the right version."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

NAME = "plotly/plotly.min.js"


def _folder() -> Path:
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise RuntimeError("the plotly package is not installed")
    return Path(spec.origin).parent / "package_data"


class PlotlyFinder(BaseFinder):
    """Finds exactly one file. The folder around it holds megabytes that nobody needs."""

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != NAME:
            return []
        found = str(_folder() / "plotly.min.js")
        return [found] if find_all else found

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        storage = FileSystemStorage(location=str(_folder()))
        storage.prefix = "plotly"  # type: ignore[attr-defined]  # read by collectstatic
        yield "plotly.min.js", storage
