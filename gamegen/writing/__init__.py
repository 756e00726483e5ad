"""Datasets onto disk: one file a format, and the run that makes any of them crash-safe and resumable."""

from __future__ import annotations

from gamegen.core.errors import unknown
from gamegen.writing.bagel import BagelFormat
from gamegen.writing.format import Format
from gamegen.writing.jsonl import JsonlFormat
from gamegen.writing.parquet import ParquetFormat
from gamegen.writing.uniredit import UniREditFormat
from gamegen.writing.webdataset import WebDatasetFormat

FORMATS: dict[str, Format] = {
    each.name: each for each in (ParquetFormat(), UniREditFormat(), BagelFormat(), WebDatasetFormat(), JsonlFormat())
}


def format_named(name: str) -> Format:
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return FORMATS[name]
