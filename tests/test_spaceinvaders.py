"""Space Invaders: boards a person checked, an oracle on plain lists, tampered reasons, distinct sprites."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import ImageEnhance

from gamegen.adversary import ATTACKS
from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, IllegalAction, Rejected
from gamegen.core.problem import Problem, Step
from gamegen.core.stream import Stream
from gamegen.games.spaceinvaders import SYMBOLS, Fire, March, Move, Position, game
from gamegen.judge import verify
from gamegen.sample import make_sample
from renderers.spaceinvaders import renderer
from solvers.spaceinvaders import KINDS, LEVELS, solver

PAPER = "6x7\n.33333.\n.2222..\n..1....\n.......\n.......\n...^..."
"""The board of the paper's figure, near enough: three rows, the ship in column 4."""


def shot(column: int, text: str = PAPER) -> Problem[Position]:
    return Problem("shoot", game.parse(text), (("column", column),))


def volley(program: str, march: str, text: str = PAPER) -> Problem[Position]:
    return Problem("volley", game.parse(text), (("program", program), ("march", march)))


def drawn(kind: str, level: int, count: int) -> list[Problem[Position]]:
    found, attempt = [], 0
    while len(found) < count:
        attempt += 1
        try:
            found.append(solver.generate(kind, level, Stream("test", kind, level, attempt)))
        except Rejected:
            continue
    return found


@pytest.mark.parametrize(
    ("column", "after"),
    [
        (5, "6x7\n.33333.\n.222...\n..1....\n.......\n.......\n....^.."),
        (3, "6x7\n.33333.\n.2222..\n.......\n.......\n.......\n..^...."),
        (6, "6x7\n.3333..\n.2222..\n..1....\n.......\n.......\n.....^."),
    ],
)
def test_shots_a_person_checked(column: int, after: str) -> None:
    assert str(solver.solve(shot(column)).after) == after
    assert solver.check(shot(column), game.parse(after)).correct


def test_a_volley_a_person_checked() -> None:
    """To the right edge, down with a turn, and on to the left; the last command is followed by a step as well."""
    problem = volley("R1 F L2 F", "right")
    # R1: ship 5, formation to columns 3-7. F: column 5 loses the 2 in row 2; column 7 is taken, so down, turn left.
    # L2: ship 3, formation to columns 2-6. F: column 3 loses its 1 in row 4; formation to columns 1-5.
    assert str(solver.solve(problem).after) == "6x7\n.......\n33333..\n22.2...\n.......\n.......\n..^...."


def test_shooting_the_outer_column_away_puts_the_turn_off() -> None:
    """Only the invaders that are left count at the edge."""
    text = "5x5\n.33.3\n.2...\n.....\n.....\n....^"
    rules = [step.rule for step in solver.solve(volley("F F", "right", text)).steps]
    assert rules == ["formation", "hit", "march", "miss", "march"]


def _plain_volley(problem: Problem[Position]) -> list[list[str]]:
    """An oracle that shares no code with the solver: a list of lists, moved cell by cell."""
    board = [list(row) for row in problem.position.rows]
    bottom, right = len(board) - 1, len(board[0]) - 1
    ship, aim = board[bottom].index("^"), 1 if problem["march"] == "right" else -1
    board[bottom][ship] = "."
    for code in problem.text("program").split():
        if code == "F":
            for row in range(bottom - 1, -1, -1):
                if board[row][ship] != ".":
                    board[row][ship] = "."
                    break
        else:
            ship += {"R": 1, "L": -1}[code[0]] * int(code[1:])
        if any(row[right if aim > 0 else 0] != "." for row in board):
            board = [["."] * (right + 1), *board[:-1]]
            aim = -aim
        else:
            board = [[".", *row[:-1]] if aim > 0 else [*row[1:], "."] for row in board]
    board[bottom][ship] = "^"
    return board


@pytest.mark.parametrize("level", LEVELS)
def test_volleys_agree_with_the_oracle(level: int) -> None:
    for problem in drawn("volley", level, 60):
        assert ["".join(row) for row in _plain_volley(problem)] == list(solver.solve(problem).after.rows)


@pytest.mark.parametrize("level", LEVELS)
def test_best_accepts_exactly_the_best_columns(level: int) -> None:
    for problem in drawn("best", level, 40):
        position = problem.position
        worth = {}
        for col in range(position.width):
            column = [row[col] for row in position.rows if row[col] in "321"]
            if column:
                worth[col] = int(column[-1])
        (ship,) = position.ships()
        for col, points in worth.items():
            moved = position if col == ship.col else game.apply(position, Move(col - ship.col))
            check = solver.check(problem, game.apply(moved, Fire()))
            assert check.legal and check.correct == (points == max(worth.values())), check.reason


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (".33333. .2222.. ..1.... ....... ....... ...^...", "The ship is in cell (5, 3) instead of cell (5, 4)."),
        (".33333. .2222.. ..1.... ....... ....... ....^..", "Cell (1, 4) shows an invader of 20 points"),
        (".3333.. .222... ..1.... ....... ....... ....^..", "Cell (0, 5) shows nothing instead of"),
        (".33333. .222... ..1.... ....... ....... ...^^..", "There are 2 ships instead of one."),
        (".33333. .222... ..1.... ....... ....... .......", "There are 0 ships instead of one."),
        (".33333. .222... ..1.... ...1... ....... ....^..", "The invader in cell (3, 3) hangs below a gap."),
        (".33333. .232... ..2.... ....... ....^.. .......", "The ship in cell (4, 4) is not in the last row."),
    ],
)  # fmt: skip
def test_wrong_edits_are_named(after: str, says: str) -> None:
    check = solver.check(shot(5), Position(tuple(after.split())))
    assert not check.correct and check.reason.startswith(says)


def test_a_lesser_shot_is_told_its_points() -> None:
    check = solver.check(Problem("best", game.parse(PAPER)), solver.solve(shot(3)).after)
    assert check.legal and not check.correct
    assert check.reason == "The shot up column 3 scores 10 points, but 30 were possible."


def test_what_had_to_stay_is_counted() -> None:
    kept = solver.check(shot(5), game.parse("6x7\n.33333.\n.222...\n..1....\n.......\n.......\n....^.."))
    lost = solver.check(shot(5), game.parse("6x7\n.......\n.222...\n..1....\n.......\n.......\n....^.."))
    assert kept.preserved == 1.0 and lost.preserved == pytest.approx(34 / 39)


def _tampered(step: Step) -> list[Step]:
    """The step with each of its facts made untrue, one at a time."""
    wrong: list[Step] = []
    for name, fact in step.facts.items():
        if isinstance(fact, int):
            wrong.append(replace(step, facts={**step.facts, name: fact + 1}))
        elif fact in ("@left", "@right"):
            wrong.append(replace(step, facts={**step.facts, name: "@right" if fact == "@left" else "@left"}))
        elif isinstance(fact, str) and fact.startswith("@kind"):
            wrong.append(replace(step, facts={**step.facts, name: f"@kind{int(fact[-1]) % 3 + 1}"}))
        elif isinstance(fact, tuple):
            wrong.append(replace(step, facts={**step.facts, name: fact[1:]}))
    return wrong


@pytest.mark.parametrize("kind", ["shoot", "volley", "best"])
def test_claims_hold_and_tampered_ones_do_not(kind: str) -> None:
    for level in LEVELS:
        for problem in drawn(kind, level, 12):
            position = problem.position
            for step in solver.solve(problem).steps:
                assert solver.confirm(problem, position, step), step
                for wrong in _tampered(step):
                    if wrong.rule in ("march", "turn") and wrong.facts["number"] != step.facts["number"]:
                        continue  # the number of the command is not said in these sentences
                    assert not solver.confirm(problem, position, wrong), (wrong, str(position))
                if step.action:
                    position = game.apply(position, game.parse_action(step.action))


def test_formations_have_no_empty_row_and_end_above_the_ship() -> None:
    for level, size in LEVELS.items():
        for problem in drawn("best", level, 40):
            rows = [row for row in problem.position.rows if set(row) & set("321")]
            assert size.rows[0] <= len(rows) <= size.rows[1]
            assert [max(row) for row in rows] == list(KINDS[len(rows)])
            assert problem.position.height >= len(rows) + 2


def test_the_mirror_image_is_the_same_puzzle() -> None:
    mirrored = "\n".join(row if "x" in row else row[::-1] for row in PAPER.split("\n"))
    assert game.canonical(game.parse(PAPER)) == game.canonical(game.parse(mirrored))


@pytest.mark.parametrize("action", [Move(-4), Move(4), Move(0), March("down")])
def test_nothing_leaves_the_area(action: Move | March) -> None:
    low = "4x7\n.33333.\n.2222..\n..1....\n...^..."
    with pytest.raises(IllegalAction):
        game.apply(game.parse(low), action)


@pytest.mark.parametrize("text", ["2x2\n..", "2x3\n..\n..", "1x1\nX", "0x0", "2x2\n..\n..."])
def test_bad_boards_are_refused(text: str) -> None:
    with pytest.raises(BadInput):
        game.parse(text)


def test_every_mark_differs_from_every_other_in_every_skin() -> None:
    """A board with all marks beside each other; no two tiles may look alike."""
    position = Position((SYMBOLS,))
    for skin in renderer.skins:
        style = renderer.style(Problem("best", position), skin=skin, pixels=256, rng=Stream(skin))
        picture = renderer.render(position, style)
        frame = renderer.board(style, 1, len(SYMBOLS)).frame
        tiles = [
            picture.rgb()[frame.top : frame.bottom, frame.left + col * frame.cell : frame.left + (col + 1) * frame.cell]
            for col in range(len(SYMBOLS))
        ]
        for one in range(len(tiles)):
            for other in range(one):
                gap = np.abs(tiles[one].astype(int) - tiles[other].astype(int)).mean()
                assert gap > 8, (skin, SYMBOLS[one], SYMBOLS[other], gap)


def test_a_mask_tells_nothing_about_the_answer() -> None:
    """All columns' lowest invaders and the ship's whole row may change, whichever column was named."""
    assert game.may_change(shot(5)) == game.may_change(shot(2))
    assert Cell(1, 4) in game.may_change(shot(5)) and Cell(0, 4) not in game.may_change(shot(5))


def test_a_stroke_along_a_grid_line_is_seen() -> None:
    """Yellow on white, between black: no channel of it is outside of what is there."""
    sample = make_sample("spaceinvaders/volley@1:train:4:431000000:0?pixels=256")
    made = ATTACKS["ghost_stroke"](sample, Stream(sample.id, "attack", 277))
    assert made is not None and not verify(sample, made[0]).correct
    assert verify(sample, sample.edited).correct
    near = make_sample("spaceinvaders/volley@1:train:2:11:4")  # things so near to the lines that they share pixels
    assert verify(near, near.edited).correct


def test_a_pale_page_that_was_brightened_is_the_same() -> None:
    """It ends at white, and does not tell how much lighter the rest is: it was taken for a board in another look."""
    sample = make_sample("spaceinvaders/volley@1:train:3:7001:27?skin=badge")
    for factor in (1.1, 1.2):
        verdict = verify(sample, ImageEnhance.Brightness(sample.edited).enhance(factor))
        assert verdict.correct, verdict.reason
