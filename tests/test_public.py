"""The public names: stable, lazy, and never shadowed by a file of the same name."""

from __future__ import annotations

import pkgutil

import gamegen
import gamegen.judge


def test_no_file_shadows_a_public_name() -> None:
    """Importing a submodule binds its name in the package; `gamegen.verify` once became a module that way."""
    files = {module.name for module in pkgutil.iter_modules(gamegen.__path__)}
    assert not files & set(gamegen.__all__)
    assert gamegen.verify is gamegen.judge.verify


def test_public_names_load() -> None:
    assert {"list_tasks", "create_dataset", "verify"} <= set(gamegen.__all__)
    for name in gamegen.__all__:
        assert callable(getattr(gamegen, name))
