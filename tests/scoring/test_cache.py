"""The cache of replies: what is in its key, and several processes on one file."""

from __future__ import annotations

import resource
import shutil
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from gamegen.core.errors import BadInput
from scoring.cache import ReplyCache, cache_key

ASKED: dict[str, Any] = {"prompt": "quality@1", "judge": "j", "parameters": {"temperature": 0}}


def test_everything_that_decides_a_reply_is_in_the_key() -> None:
    keys = [
        cache_key(["text", b"image"], **ASKED),
        cache_key(["text", b"imagf"], **ASKED),
        cache_key(["texu", b"image"], **ASKED),
        cache_key(["textimage"], **ASKED),
        cache_key(["a", "b"], **ASKED),
        cache_key(["atb"], **ASKED),
        cache_key(["text", "image"], **ASKED),
        cache_key([b"image", "text"], **ASKED),
        cache_key(["text", b"image"], **ASKED | {"prompt": "quality@2"}),
        cache_key(["text", b"image"], **ASKED | {"judge": "k"}),
        cache_key(["text", b"image"], **ASKED | {"parameters": {"temperature": 1}}),
        cache_key(["text", b"image"], **ASKED, number=1),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == cache_key(["text", b"image"], **ASKED)


def test_the_first_reply_stays_and_the_file_travels_alone(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "cache.sqlite"
    with ReplyCache(path) as cache:
        assert cache.get("k") is None
        cache.put("k", "one", judge="j", prompt="p")
        cache.put("k", "two", judge="j", prompt="p")
    shutil.copy(path, tmp_path / "copy.sqlite")
    with ReplyCache(tmp_path / "copy.sqlite") as cache:
        assert cache.get("k") == "one" and len(cache) == 1


def _fill(path: Path, worker: int) -> None:
    with ReplyCache(path) as cache:
        for number in range(60):
            cache.put(f"shared {number}", f"{worker}", judge="j", prompt="p")
            cache.put(f"own {worker} {number}", "x", judge="j", prompt="p")


def test_several_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    workers = [get_context("spawn").Process(target=_fill, args=(path, number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    with ReplyCache(path) as cache:
        assert len(cache) == 60 + 3 * 60


def _close_without_room(path: Path) -> None:
    """What was put is in the log; no file may grow when it is to be folded in."""
    cache = ReplyCache(path)
    for number in range(50):
        cache.put(f"{number}", "x" * 1000, judge="j", prompt="p")
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    with pytest.raises(BadInput, match="cannot be written"):
        cache.put("one more", "x" * 10_000, judge="j", prompt="p")
    cache.close()


def test_a_full_disk_loses_no_reply(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    worker = get_context("spawn").Process(target=_close_without_room, args=(path,))
    worker.start()
    worker.join(60)
    assert worker.exitcode == 0
    with ReplyCache(path) as cache:
        assert len(cache) == 50 and cache.get("49") == "x" * 1000 and cache.get("one more") is None


def test_a_file_that_is_no_cache_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"not a database, but dear to somebody" * 100)
    with pytest.raises(BadInput, match=r"notes\.txt"):
        ReplyCache(path)
    assert path.read_bytes().startswith(b"not a database")
