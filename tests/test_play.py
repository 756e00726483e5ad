"""Playing a sample: pointing at moves, walking through the solution, and the window, on a screen that nobody sees."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np
import pytest

import gamegen
from gamegen.__main__ import main
from gamegen.core.cell import Cell
from gamegen.core.key import Key
from gamegen.play.pointing import Places, Pointer, named
from gamegen.play.session import Session
from gamegen.registry import plugin_of
from gamegen.sample import Sample


def start(task: str, level: int = 1, index: int = 0) -> Session:
    return Session.start(Key(task, level=level, index=index, pixels=256))


def at(session: Session, position: str) -> Session:
    """The session with another position on its board."""
    parsed = session.sample.plugin.game.parse(position)
    sample = session.sample
    problem = type(sample.problem)(sample.problem.kind, parsed, sample.problem.params)
    other = Sample(sample.key, sample.plugin, problem, sample.drops)
    places = Places(other)
    return Session(other, (parsed,), (), places, Pointer(other, parsed, places))


# Every game ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", gamegen.list_tasks())
def test_the_solution_can_be_walked_there_and_back(task: str) -> None:
    session = start(task)
    seen = [session]
    while seen[-1].at < len(session.line) - 1:
        seen.append(seen[-1].next_step())
    assert len(seen) == 1 + len(session.sample.solution.steps)
    assert seen[-1].position == session.sample.solution.after
    assert np.array_equal(seen[-1].picture.rgb(), np.asarray(session.sample.edited))
    assert seen[-1].check().message.startswith("Right: ") and seen[0].check().message.startswith("Not right: ")
    back = seen[-1]
    for expected in reversed(seen[:-1]):
        back = back.previous_step()
        assert (back.at, back.position) == (expected.at, expected.position)
    assert back.previous_step().at == 0 and "beginning" in back.previous_step().message
    assert "end of the solution" in seen[-1].next_step().message
    said = " ".join([*(each.thought for each in seen[1:]), session.sample.reference_effect])
    assert said == session.sample.reasoning


@pytest.mark.parametrize("task", [task for task in gamegen.list_tasks() if not task.startswith("wordsearch")])
def test_every_move_that_can_be_seen_can_be_made_by_clicks(task: str) -> None:
    """Clicking on all the cells that an action touches offers it, or one with the same result."""
    session = start(task)
    game, pointer = session.sample.plugin.game, session.pointer
    legal = tuple(game.actions(session.position))
    assert pointer.actions == legal
    found = 0
    for action in legal[:40]:
        after = game.apply(session.position, action)
        picture = session.sample.plugin.renderer.render(after, session.sample.style)
        names = named(action)
        touched = names if len(names) > 1 else names | session.places.changed(session.picture, picture)
        clicks = tuple(sorted(touched & set(session.places.cells)))
        if clicks:
            offer = pointer.offer(clicks)
            found += 1
            assert after in {game.apply(session.position, each) for each in offer.actions}
            assert set(offer.actions) <= set(legal)
    assert found


@pytest.mark.parametrize("task", gamegen.list_tasks())
def test_pixels_lead_to_the_cells_they_belong_to(task: str) -> None:
    session = start(task)
    sample, places = session.sample, session.places
    assert set(places.cells) == sample.plugin.game.may_change(sample.problem)
    assert np.array_equal(places.numbers > 0, sample.mask)
    for cell in places.cells[:: max(1, len(places.cells) // 5)]:
        alone = sample.plugin.renderer.mask(frozenset({cell}), sample.problem.position, sample.style)
        assert np.array_equal(places.numbers == 1 + places.cells.index(cell), alone)
        left, top, width, height = places.box(cell)
        assert alone[top : top + height, left : left + width].sum() == alone.sum()
        rows, cols = np.nonzero(alone)
        assert places.at(int(cols[0]), int(rows[0])) == cell
    assert places.at(0, 0) is None and places.at(-1, 10) is None and places.at(10, 10**6) is None


# Clicks in games that a person worked out --------------------------------------------------------------------------

ROOM = "sokoban 5x7\n#######\n#-----#\n#-$-.-#\n#-@---#\n#######"


def test_a_box_is_pushed_to_the_cell_clicked_second() -> None:
    session = at(start("sokoban/solve"), ROOM)
    picked = session.click(Cell(2, 2))
    assert picked.clicks == (Cell(2, 2),) and not picked.tried
    assert {str(each) for each in picked.options} == {
        "push 2,2 up 1", "push 2,2 down 1", "push 2,2 left 1",
        "push 2,2 right 1", "push 2,2 right 2", "push 2,2 right 3",
    }  # fmt: skip
    pushed = picked.click(Cell(2, 4))
    assert str(pushed.position).split("\n")[3] == "#--@*-#" and pushed.check().message.startswith("Right")
    assert not pushed.clicks and not pushed.options
    walked = session.click(Cell(1, 5))
    assert str(walked.position).split("\n")[2] == "#----@#"
    assert walked.undo().position == session.position == session.reset().position
    assert picked.click(Cell(2, 2)).clicks == () and picked.click(Cell(2, 2)).options == ()


def test_a_run_ends_at_the_cell_clicked() -> None:
    maze = at(start("maze/path"), "green\n#######\n#S....#\n#####.#\n#####.#\n#####.#\n#####E#\n#######")
    drawn = maze.click(Cell(1, 4))
    assert str(drawn.position).split("\n")[2] == "#S***.#"
    assert drawn.click(Cell(4, 5)).tried == drawn.tried and "No legal move" in drawn.click(Cell(4, 5)).message
    pacman = at(start("pacman/sweep"), "pacman 3x7\n#######\n#>..._#\n#######")
    assert str(pacman.click(Cell(1, 3)).position).endswith("#__>._#\n#######")


def test_a_swap_is_two_clicks_and_never_guessed_from_what_falls() -> None:
    session = start("jewel2/swap", level=3)
    swap = session.pointer.actions[0]
    first, second = sorted(named(swap))
    once = session.click(first)
    twice = once if once.tried else once.click(second)
    assert len(twice.tried) == 1 and (once.tried or str(twice.position) == str(session.pointer.after(swap)))
    unnamed = set(session.places.cells) - {cell for each in session.pointer.actions for cell in named(each)}
    assert all(not session.click(cell).tried for cell in unnamed)


def test_a_word_is_its_two_ends_and_a_colour() -> None:
    session = start("wordsearch/find")
    (action,) = [step.action for step in session.sample.solution.steps if step.action]
    line = session.sample.plugin.game.parse_action(action)
    picked = session.click(line.cells[0]).click(line.cells[-1])
    colours = tuple(each for each in picked.options if each.length == line.length)
    assert picked.options[:6] == colours and len({each.colour for each in colours}) == 6
    while picked.options[picked.chosen].colour != line.colour:
        picked = picked.choose(1)
    assert picked.play_chosen().position == session.sample.solution.after


def test_a_chess_move_is_two_squares() -> None:
    session = start("chess/mate")
    (uci,) = [step.action for step in session.sample.solution.steps if step.action]
    squares = [Cell(8 - int(uci[at + 1]), ord(uci[at]) - ord("a")) for at in (0, 2)]
    moved = session.click(squares[0]).click(squares[1])
    assert moved.position == session.sample.solution.after and moved.tried[0].action == uci


# Choosing, and other samples ----------------------------------------------------------------------------------------


def test_all_moves_can_be_listed_and_chosen() -> None:
    session = start("sudoku/next")
    first = session.choose(1)
    assert first.options == session.pointer.actions and first.chosen == 0
    assert session.choose(-1).chosen == len(first.options) - 1 == first.choose(-1).chosen
    assert first.choose(1).chosen == 1 and first.choose(-1).choose(1).chosen == 0
    played = first.choose(1).play_chosen()
    assert played.position == session.pointer.after(first.options[1]) and "Played" in played.message
    assert "Tab" in session.play_chosen().message and "take back" in session.undo().message
    cell, digit = first.options[1].entries[0]
    assert played.tried[0].action == f"{session.sample.style.labels.name(cell, 'en')}={digit}"


def test_steps_and_hand_moves_take_turns() -> None:
    session = start("sudoku/solve").next_step().next_step()
    tried = session.choose(1).play_chosen()
    assert tried.position != session.position and tried.at == session.at
    assert tried.next_step().position == session.next_step().position and not tried.next_step().tried
    assert tried.previous_step().position == session.position and tried.undo().position == session.position
    assert tried.reset().position == session.sample.problem.position


def test_other_samples_levels_and_skins() -> None:
    session = start("tictactoe/best").toggle_hint()
    assert session.other_index(1).sample.key.index == 1 and session.other_index(1).hint
    assert session.other_index(-1).sample is session.sample and "first" in session.other_index(-1).message
    assert session.other_level(4).sample.key == Key("tictactoe/best", level=4, pixels=256)
    skins = plugin_of("tictactoe/best")[0].renderer.skins
    dressed = session.click(session.places.cells[0])
    seen = []
    for _ in skins:
        dressed = dressed.next_skin()
        seen.append(dressed.sample.style.skin)
        assert len(dressed.tried) == 1
    assert sorted(seen) == sorted(skins) and dressed.position == session.click(session.places.cells[0]).position
    assert Session.start(Key("tictactoe/best", language="zh")).sample.key.language == "en"


# The window ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def pygame(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return pytest.importorskip("pygame")


def press(pygame: Any, *names: str) -> list[Any]:
    codes = [getattr(pygame, f"K_{name if len(name) == 1 else name.upper()}") for name in names]
    return [pygame.event.Event(pygame.KEYDOWN, key=code, mod=0) for code in codes]


def test_the_window_shows_the_picture_and_follows_keys_and_clicks(pygame: Any) -> None:
    from gamegen.play.window import Window

    window = Window(start("sokoban/push"))

    def shown() -> Any:
        window.draw()
        return pygame.surfarray.array3d(window.surface).transpose(1, 0, 2)[:256, :256]

    assert np.array_equal(shown(), np.asarray(window.session.sample.original))
    for event in press(pygame, *["right"] * (len(window.session.line) - 1), "s", "c"):
        window.handle(event)
    assert np.array_equal(shown(), np.asarray(window.session.sample.edited))
    assert window.session.hint and window.session.message.startswith("Right: ")
    for event in press(pygame, "backspace", "r", "tab", "down"):
        window.handle(event)
    assert window.session.at == 0 and window.session.chosen == 1
    window.draw()
    box, number = window._options[3]
    window.handle(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=box.center, button=1))
    assert number == 3 and len(window.session.tried) == 1
    assert window.session.position == start("sokoban/push").choose(1).choose(3).play_chosen().position
    for event in press(pygame, "u", "k", "n", "3", "tab", "return"):
        window.handle(event)
    assert (window.session.sample.key.index, window.session.sample.key.level) == (1, 3)
    assert len(window.session.tried) == 1 and window.open
    pygame.quit()


def test_a_click_in_the_picture_is_a_move(pygame: Any) -> None:
    from gamegen.play.window import Window

    window = Window(start("tictactoe/best"))
    cell = window.session.places.cells[0]
    left, top, width, height = window.session.places.box(cell)
    for button in (3, 1):
        assert not window.session.tried
        pos = (left + width // 2, top + height // 2)
        window.handle(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=pos, button=button))
    assert window.session.position == start("tictactoe/best").click(cell).position != window.session.line[0]
    pygame.quit()


@pytest.mark.parametrize("task", sorted({task.partition("/")[0]: task for task in gamegen.list_tasks()}.values()))
def test_the_command_runs_until_somebody_quits(task: str, pygame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from gamegen.play import window

    keys = press(pygame, "tab", "return", "c", "s", "right", "right", "k", "q")
    monkeypatch.setattr(pygame.event, "wait", lambda: keys.pop(0))
    states = []
    monkeypatch.setattr(window.Window, "draw", _watched(window.Window.draw, states))
    assert main(["play", task, "--pixels", "256"]) == 0
    assert not keys and states[-1].at == 2 and states[2].tried and len({each.sample.style.skin for each in states}) == 2


def _watched(draw: Any, states: list[Session]) -> Any:
    def watched(self: Any) -> None:
        states.append(self.session)
        draw(self)

    return watched


def test_without_pygame_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name == "pygame":
            raise ModuleNotFoundError("No module named 'pygame'", name="pygame")
        return real(name, *args)

    monkeypatch.delitem(sys.modules, "gamegen.play.window", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["play", "tictactoe/best"]) == 2
    assert "pip install 'gamegen[play]'" in capsys.readouterr().err


def test_without_a_screen_it_says_so(
    pygame: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "nosuchdriver")
    pygame.quit()
    assert main(["play", "tictactoe/best"]) == 2
    assert "cannot open a window" in capsys.readouterr().err
