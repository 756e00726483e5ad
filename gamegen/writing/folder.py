"""The folder of a run: one run at a time in it, and what it holds must be what is being made."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from gamegen.core.errors import BadInput
from gamegen.writing.format import Note, replacing

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone_in(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Make the folder and keep other runs out of it; a run that dies, however, leaves it free.

    Runs that share it keep out only those that do not.
    """
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file, not a folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        handle = lock(folder, wait=False, shared=shared)
    except BlockingIOError:
        raise BadInput(f"another run is writing to {folder}; wait for it or choose another folder") from None
    try:
        yield
    finally:
        os.close(handle)


def lock(folder: Path, *, wait: bool = True, shared: bool = False) -> int:
    """Lock a folder until the handle is closed, or the process ends. Where there are no such locks, all get one."""
    if fcntl is None:
        return os.open(os.devnull, os.O_RDONLY)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(handle)
        raise
    return handle


def open_folder(folder: Path, plan: Note) -> Note | None:
    """Make the folder ready; the manifest if it is already complete."""
    here = folder / "plan.json"
    if here.exists():
        try:
            found = json.loads(here.read_text(encoding="utf-8"))
        except ValueError:
            raise BadInput(f"{here} is damaged; choose another folder or remove this one") from None
        if found != plan:
            differs = ", ".join(name for name in plan | found if found.get(name) != plan.get(name))
            raise BadInput(
                f"{folder} holds another dataset (other {differs}); choose another folder or remove this one"
            )
    elif any(not draft.name.endswith(".tmp") for draft in folder.iterdir()):
        raise BadInput(f"{folder} is not empty and holds no dataset of ours; choose another folder")
    if (folder / "manifest.json").exists():
        shutil.rmtree(folder / ".parts", ignore_errors=True)
        manifest: Note = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return manifest
    write_json(here, plan)
    parts = folder / ".parts"
    parts.mkdir(exist_ok=True)
    handle = lock(parts)  # workers of a run that was killed may live a moment longer: see run.py
    try:
        for draft in folder.rglob(".*.tmp"):
            draft.unlink()
    finally:
        os.close(handle)
    return None


def write_json(path: Path, data: Note) -> None:
    with replacing(path) as stream:
        stream.write(orjson.dumps(data, option=orjson.OPT_INDENT_2))
