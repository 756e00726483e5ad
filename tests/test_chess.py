"""Chess: published perft numbers, special moves, mates by two searches, and reasoning that cannot be bent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

chess = pytest.importorskip("chess")

from gamegen.adversary import ATTACKS  # noqa: E402
from gamegen.core.errors import BadInput, IllegalAction, Rejected  # noqa: E402
from gamegen.core.problem import Problem  # noqa: E402
from gamegen.core.stream import Stream  # noqa: E402
from gamegen.games.chess import Diagram, Highlight, Move, board_of, diagram_of, game, legal_moves, played  # noqa: E402
from gamegen.judge import verify  # noqa: E402
from gamegen.painters import paint, right_answer  # noqa: E402
from gamegen.perturb import MODERATE, PERTURBATIONS  # noqa: E402
from gamegen.sample import make_sample  # noqa: E402
from solvers.chess import solver  # noqa: E402
from solvers.chessmates import Lone, mating_moves, mating_moves_by_play  # noqa: E402
from solvers.chessplay import lone_king  # noqa: E402

START = diagram_of(chess.Board())
KIWIPETE = diagram_of(chess.Board("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"))


def diagram(fen: str) -> Diagram:
    return diagram_of(chess.Board(fen + " w - - 0 1"))


def generated(kind: str, level: int, number: int) -> Problem[Diagram]:
    for attempt in range(3000):
        try:
            return solver.generate(kind, level, Stream("test", kind, level, number, attempt))
        except Rejected:
            continue
    raise AssertionError("every candidate was rejected")


def perft(position: Diagram, side: str, depth: int) -> int:
    if depth == 0:
        return 1
    other = "black" if side == "white" else "white"
    return sum(perft(played(position, move), other, depth - 1) for move in board_of(position, side).legal_moves)


def test_perft_of_the_starting_position() -> None:
    assert [perft(START, "white", depth) for depth in (1, 2)] == [20, 400]


def test_perft_of_a_position_with_all_special_moves() -> None:
    """Its 2,039 positions at depth 2 include one capture en passant, which depends on the move before."""
    assert perft(KIWIPETE, "white", 1) == 48
    assert perft(KIWIPETE, "white", 2) == 2039 - 1


def test_castling_takes_the_rook_along() -> None:
    before = diagram("4k3/8/8/8/8/8/8/R3K2R")
    assert game.apply(before, Move("e1g1")).rows[7] == "R....RK."
    assert game.apply(before, Move("e1c1")).rows[7] == "..KR...R"
    with pytest.raises(IllegalAction):
        game.apply(diagram("4kr2/8/8/8/8/8/8/R3K2R"), Move("e1g1"))


def test_en_passant_removes_the_pawn_that_was_passed() -> None:
    before = diagram("4k3/8/8/3pP3/8/8/8/4K3")
    assert Move("e5d6") in set(game.actions(before))
    after = game.apply(before, Move("e5d6"))
    assert after.piece("d6") == "P" and after.piece("d5") == after.piece("e5") == "."
    with pytest.raises(IllegalAction):
        game.apply(diagram("4k3/3r4/8/3pP3/8/8/8/4K3"), Move("e5d6"))


def test_promotion_names_its_piece() -> None:
    before = diagram("7k/4P3/8/8/8/8/8/4K3")
    assert game.apply(before, Move("e7e8n")).piece("e8") == "N"
    with pytest.raises(IllegalAction):
        game.apply(before, Move("e7e8"))


@pytest.mark.parametrize("kinds", [(chess.ROOK, chess.ROOK), (chess.QUEEN, chess.KNIGHT), (chess.QUEEN, chess.BISHOP)])
def test_both_mate_searches_agree(kinds: tuple[int, ...]) -> None:
    found = 0
    for number in range(40):
        try:
            board = lone_king(Stream("lone", number, *kinds), kinds)
        except Rejected:
            continue
        lone = Lone.of(board)
        assert lone is not None
        for moves in (1, 2) if number % 5 == 0 else (1,):
            by_play = {move.uci() for move in mating_moves_by_play(board, moves)}
            assert {move.uci() for move in lone.keys(moves)} == by_play
            assert lone.mates(moves) == bool(by_play)
            found += bool(by_play)
    assert found


def test_well_known_mates() -> None:
    back_rank = board_of(diagram("6k1/5ppp/8/8/8/8/8/R5K1"), "white")
    assert [move.uci() for move in mating_moves(back_rank, 1)] == ["a1a8"]
    two_rooks = board_of(diagram("6k1/8/8/8/8/8/R7/1R4K1"), "white")
    assert not list(mating_moves(two_rooks, 1))
    assert "a2a7" in {move.uci() for move in mating_moves(two_rooks, 2)}


def test_every_mating_move_is_right_and_no_other() -> None:
    position = diagram("k7/8/1K6/8/8/8/8/QR6")
    problem = Problem("mate", position, (("turn", "white"), ("moves", 1)))
    mating = {move.uci() for move in mating_moves_by_play(board_of(position, "white"), 1)}
    assert len(mating) > 1
    for move in legal_moves(position, "white"):
        verdict = solver.check(problem, played(position, move))
        assert verdict.legal and verdict.correct == (move.uci() in mating)


def test_a_board_that_no_move_reaches_is_illegal() -> None:
    problem = generated("mate", 1, 0)
    after = solver.solve(problem).after
    rng = Stream("mutations")
    for _ in range(60):
        wrong = game.mutate(after, rng)
        verdict = solver.check(problem, wrong)
        expected = any(
            played(problem.position, m) == wrong for m in legal_moves(problem.position, problem.text("turn"))
        )
        assert verdict.legal == expected
        assert not verdict.correct or expected


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_no_mate_is_quicker_than_claimed(level: int) -> None:
    for number in range(2):
        problem = generated("mate", level, number)
        board, moves = board_of(problem.position, problem.text("turn")), int(problem["moves"])
        assert moves == {1: 1, 2: 1, 3: 2, 4: 2, 5: 3}[level]
        if moves == 2:
            assert not list(mating_moves_by_play(board, 1))
            assert next(mating_moves_by_play(board, 2), None) is not None


def test_attacked_squares_by_hand() -> None:
    position = diagram("4k3/8/1p3n2/8/3R2P1/8/3P4/4K3")
    problem = Problem("attacks", position, (("square", "d4"), ("colour", "red")))
    after = solver.solve(problem).after
    marked = {name for name in chess.SQUARE_NAMES if after.mark(name) == "r"}
    assert marked == {"a4", "b4", "c4", "e4", "f4", "d3", "d5", "d6", "d7", "d8"}
    assert solver.check(problem, after).correct
    assert "d2" not in marked and "g4" not in marked


def test_a_pawn_attacks_diagonally_forward() -> None:
    position = diagram("4k3/8/8/8/8/2n5/1P6/4K3")
    knight = {"a2", "a4", "b1", "b5", "d1", "d5", "e2", "e4"}
    for square, marked in (("b2", {"a3", "c3"}), ("c3", knight)):
        problem = Problem("attacks", position, (("square", square), ("colour", "blue")))
        after = solver.solve(problem).after
        assert {name for name in chess.SQUARE_NAMES if after.mark(name) == "b"} == marked


@pytest.mark.parametrize("kind", ["move", "mate", "attacks"])
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_bent_reasoning_is_noticed(kind: str, level: int) -> None:
    problem = generated(kind, level, 3)
    position = problem.position
    for step in solver.solve(problem).steps:
        assert solver.confirm(problem, position, step)
        for name, fact in step.facts.items():
            bent = replace(step, facts={**step.facts, name: _bent(fact)})
            assert not solver.confirm(problem, position, bent), bent
        if step.action:
            position = game.apply(position, game.parse_action(step.action))


def _bent(fact: object) -> object:
    if isinstance(fact, int):
        return fact + 1
    if isinstance(fact, tuple):
        return fact[:-1]
    assert isinstance(fact, str)
    if fact.startswith("@"):
        return "@black-pawn" if fact != "@black-pawn" else "@white-king"
    return "e4" if fact != "e4" else "e5"


def test_a_move_that_was_not_asked_for_is_wrong() -> None:
    problem = generated("move", 1, 0)
    side = "white" if problem.position.piece(problem.text("moves")[:2]).isupper() else "black"
    right = [
        move.uci()
        for move in legal_moves(problem.position, side)
        if solver.check(problem, played(problem.position, move)).correct
    ]
    assert right == [problem.text("moves")]


def test_faults_are_named() -> None:
    assert game.faults(START) == []
    assert game.faults(diagram("4k3/8/8/8/8/8/8/8")) == ["White has 0 kings"]
    assert game.faults(diagram("4k2P/8/8/8/8/8/8/4K3")) == ["a pawn stands on rank 8"]
    assert game.faults(diagram("3rkR2/8/8/8/8/8/8/3K4")) == ["both kings are in check"]


def test_the_same_game_seen_otherwise_is_one() -> None:
    rows = KIWIPETE.rows
    mirrored = tuple(row[::-1] for row in rows)
    exchanged = tuple(row.swapcase() for row in rows[::-1])
    assert len({game.canonical(Diagram(each)) for each in (rows, mirrored, exchanged)}) == 1
    assert game.canonical(Diagram(rows[::-1])) != game.canonical(Diagram(rows))


def test_highlights_do_not_overlap() -> None:
    marked = game.apply(START, Highlight(("e4", "e5"), "red"))
    assert game.parse(str(marked)) == marked
    with pytest.raises(IllegalAction):
        game.apply(marked, Highlight(("e5",), "blue"))


@pytest.mark.parametrize("text", ["", "rnbqkbnr", "x" * 71, str(START) + "\n\n", str(START)[:-1] + "\n"])
def test_other_text_is_no_position(text: str) -> None:
    with pytest.raises(BadInput):
        game.parse(text)


def test_no_mate_is_asked_for_that_only_en_passant_gives() -> None:
    """Random play once stopped where only f5xg6 en passant mated, which the picture cannot tell."""
    sample = make_sample("chess/mate@1:train:2:99:340")
    assert solver.check(sample.problem, sample.solution.after).correct


@pytest.mark.parametrize(
    ("attack", "name", "number", "right"),
    [
        ("double_exposure", "chess/attacks@1:train:3:101000000:0?pixels=256", 178, False),  # a frame of two colours
        ("double_exposure", "chess/attacks@1:train:5:501000000:0?pixels=256", 312, False),  # a faint man in a frame
        ("double_exposure", "chess/move@1:train:5:502000001:0?pixels=256", 241, False),  # a shadow of a frame
        ("painted", "chess/move@1:train:2:501000001:0?pixels=256", 69, True),  # a man with a rim of his old square
        ("painted", "chess/attacks@1:train:5:502000003:0?pixels=256", 140, True),  # frames on a nearly empty board
        ("painted", "chess/attacks@1:train:5:502000000:0?pixels=256", 353, True),  # soft green on a greenish board
        ("painted", "chess/attacks@1:train:5:7451000001:1?pixels=256", 159, True),  # soft dark green on brown
        ("painted", "chess/attacks@1:train:5:7702000004:0?pixels=256", 51, True),  # red with an orange rim, on brown
    ],
)
def test_judged_right(attack: str, name: str, number: int, right: bool) -> None:
    """Pictures that the judge once got wrong, one of each class."""
    sample = make_sample(name)
    made = ATTACKS[attack](sample, Stream(sample.id, "attack", number))
    assert made is not None
    verdict = verify(sample, made[0])
    assert verdict.correct is right, verdict.reason


@pytest.mark.parametrize(
    ("perturbation", "name"),
    [
        ("gamma", "chess/attacks@1:train:5:31:44"),  # a pixel off: a label was not like itself
        ("jpeg", "chess/attacks@1:train:5:32:14"),  # seven pixels off
        ("webp", "chess/attacks@1:train:5:32:194"),  # borders that went around no square
    ],
)
def test_many_highlights_do_not_pull_the_board_away(perturbation: str, name: str) -> None:
    sample = make_sample(name)
    image = PERTURBATIONS[perturbation](sample.edited, MODERATE[perturbation], sample.key.stream("reading"))
    verdict = verify(sample, image)
    assert verdict.correct, verdict.reason


def test_ink_over_every_edge_is_refused() -> None:
    """Nothing is then left to lay the board by."""
    sample = make_sample("chess/attacks@1:train:5:31:44")
    image = np.array(sample.edited.convert("RGB"))
    image[::4] = image[:, ::4] = 0, 200, 60
    assert not verify(sample, Image.fromarray(image)).correct


@pytest.mark.parametrize(
    ("name", "perturbation"),
    [
        ("chess/attacks@1:train:5:4242:14", "hue"),  # thin red lines, on green squares as near to orange
        ("chess/attacks@1:train:4:4242:11", "sharpen"),
        ("chess/attacks@1:train:5:5151:89", "sharpen"),  # thin green lines, pale in few pixels
        ("chess/mate@1:train:5:5151:103", "sharpen"),  # a board with hardly any other man to tell that it was sharpened
    ],
)
def test_painted_answers_are_read_in_drifted_and_sharpened_pictures(name: str, perturbation: str) -> None:
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    image = paint(sample, right_answer(sample, rng), rng, strength=0.5)
    assert image is not None
    assert verify(sample, PERTURBATIONS[perturbation](image, MODERATE[perturbation], rng)).correct


def test_a_border_on_the_foot_of_a_man_is_no_stroke() -> None:
    sample = make_sample("chess/attacks@1:train:5:31:59?pixels=256")
    rng = sample.key.stream("reading")
    image = paint(sample, right_answer(sample, rng), rng, strength=0.5)
    assert image is not None
    verdict = verify(sample, image)
    assert verdict.correct, verdict.reason
