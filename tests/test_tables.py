"""Tables in pages: written between markers, again and again, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from gamegen.core.errors import BadInput
from gamegen.core.tables import fill, table


def test_a_table_lines_up() -> None:
    lines = table(["attack", "maze"], [["copy", 12], ["one_cell_off", "3 / 4"]]).splitlines()
    assert lines == [
        "| attack       |  maze |",
        "| ------------ | ----: |",
        "| copy         |    12 |",
        "| one_cell_off | 3 / 4 |",
    ]


def test_filling_replaces_only_what_is_between(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- a -->\nold\n<!-- /a -->\nbetween\n<!-- b -->\n<!-- /b -->\nbelow\n", encoding="utf-8")
    fill(page, "b", "text b")
    fill(page, "a", "new\nlines\n")
    fill(page, "a", "newer\n")
    assert page.read_text(encoding="utf-8") == (
        "above\n<!-- a -->\nnewer\n<!-- /a -->\nbetween\n<!-- b -->\ntext b\n<!-- /b -->\nbelow\n"
    )


@pytest.mark.parametrize("text", ["", "<!-- a -->\n", "<!-- /a -->\n<!-- a -->\n", "<!-- a -->\n<!-- /a -->\n" * 2])
def test_a_page_without_its_markers_is_refused(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="<!-- a -->"):
        fill(page, "a", "x")
    assert page.read_text(encoding="utf-8") == text


def test_an_audit_asks_for_its_page_before_it_attacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt marker must not be found out after hours."""
    from gamegen.__main__ import main
    from gamegen.commands import audit

    page = tmp_path / "page.md"
    page.write_text("<!-- audit -->\n<!-- /audit -->\n")
    monkeypatch.setattr(audit, "_attack", lambda args: pytest.fail("it attacked first"))
    for arguments in (["--write", str(page), "--marker", "adit"], ["--write", str(tmp_path / "none.md")]):
        assert main(["audit", "tictactoe", *arguments]) == 2
