"""Pac-Man: boards a person checked, routes against brute force, tampered reasons, and faults of older generators."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamegen.core.cell import OPPOSITE, STEPS, Cell
from gamegen.core.errors import BadInput, IllegalAction, Rejected, Unsolvable
from gamegen.core.problem import Problem, Step
from gamegen.core.stream import Stream
from gamegen.games.pacman import BEAN, BLOCKED, FACING, FOOD, GHOSTS, NOTHING, PACMAN, WALL, Position, Walk, game
from gamegen.judge import verify
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import make_sample
from renderers.pacman import renderer
from solvers.pacman import PLANS, solver
from solvers.pacman_maze import maze, with_trail
from solvers.pacman_route import FAR, Errand


def board(*rows: str) -> Position:
    return game.parse("\n".join([f"pacman {len(rows)}x{len(rows[0])}", *rows]))


def problems(kind: str, level: int, count: int) -> list[Problem[Position]]:
    found: list[Problem[Position]] = []
    at = 0
    while len(found) < count:
        at += 1
        try:
            found.append(solver.generate(kind, level, Stream("test", kind, level, at)))
        except Rejected:
            continue
    return found


SWEEP = board(
    "########",
    "#...B..#",
    "#.##.#.#",
    "#..._..#",
    "#.#>...#",
    "#.#_#..#",
    "#..__.o#",
    "########",
)
"""From (4, 3): up 1 bean to (3, 3), down none to (6, 3), left a wall at once, right 3 beans to (4, 6)."""


def test_the_best_run_of_a_board_a_person_checked() -> None:
    solution = solver.solve(Problem("sweep", SWEEP))
    rules = [(step.rule, step.facts.get("beans")) for step in solution.steps]
    assert rules == [("seen-sweep", None), ("count", 1), ("barren", None), ("wall", None), ("count", 3), ("most", 3)]
    assert solution.after == board(
        "########",
        "#...B..#",
        "#.##.#.#",
        "#..._..#",
        "#.#___>#",
        "#.#_#..#",
        "#..__.o#",
        "########",
    )


def test_a_line_that_meets_a_ghost_is_out_however_full_it_is() -> None:
    trapped = SWEEP.with_things({Cell(4, 6): "P"})
    solution = solver.solve(Problem("sweep", trapped))
    assert [step.rule for step in solution.steps][1:5] == ["count", "barren", "wall", "ghost"]
    assert str(solution.steps[-1].action) == "up 1"


def test_a_tie_has_no_answer() -> None:
    with pytest.raises(Unsolvable):
        solver.solve(Problem("sweep", board("#####", "#.>.#", "#####")))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({(4, 6): ">", (4, 3): "_"}, "The bean on cell (4, 4) is still there."),
        ({(4, 6): "v", (4, 3): "_", (4, 4): "_", (4, 5): "_"}, "faces down instead of right"),
        ({(4, 6): ">", (4, 4): "_", (4, 5): "_"}, "There are 2 Pac-Men"),
        ({(4, 3): "_"}, "Pac-Man is missing."),
        ({(4, 3): "_", (3, 3): "^"}, "Pac-Man stands on cell (3, 3)"),
        ({(4, 3): "_", (4, 4): "_", (4, 5): "_", (4, 6): ">", (1, 1): "_"}, "The bean on cell (1, 1) is gone"),
        ({(4, 3): "_", (4, 4): "_", (4, 5): "_", (4, 6): ">", (2, 2): "_"}, "Cell (2, 2) held a wall"),
        ({(4, 3): "_", (4, 4): "_", (4, 5): "_", (4, 6): ">", (3, 4): "."}, "Cell (3, 4) held nothing and now shows"),
    ],
)
def test_wrong_runs_are_named(changes: dict[tuple[int, int], str], says: str) -> None:
    shown = SWEEP.with_things({Cell(*cell): thing for cell, thing in changes.items()})
    check = solver.check(Problem("sweep", SWEEP), shown)
    assert not check.correct and says in check.reason


OPEN = board(
    "######",
    "#>..B#",
    "#.#..#",
    "#...%#",
    "######",
)
"""Three shortest routes of 5 steps: over the top in two ways, and around below."""


@pytest.mark.parametrize(
    ("walks", "correct", "legal"),
    [
        (["right 2", "down 1", "right 1", "down 1"], True, True),
        (["right 2", "down 2", "right 1"], True, True),
        (["down 2", "right 3"], True, True),
        (["down 2", "right 2", "up 1", "right 1", "down 1"], False, True),  # two steps too many
        (["right 2", "down 1"], False, True),  # not there yet
    ],
)
def test_every_shortest_route_is_right_and_no_other(walks: list[str], correct: bool, legal: bool) -> None:
    problem = Problem("route", OPEN, (("goal", "cherry"),))
    shown = OPEN
    for walk in walks:
        shown = game.apply(shown, game.parse_action(walk))
    check = solver.check(problem, shown)
    assert (check.correct, check.legal) == (correct, legal), check.reason


def test_beans_of_two_routes_at_once_are_no_route() -> None:
    problem = Problem("route", OPEN, (("goal", "cherry"),))
    right = solver.solve(problem).after
    eaten = {cell: NOTHING for cell in OPEN.find(".") if right[cell] == "."}
    assert not solver.check(problem, right.with_things(eaten)).correct
    first = next(iter(eaten))
    assert not solver.check(problem, right.with_things({first: NOTHING})).correct


def test_walls_and_ghosts_cannot_be_entered() -> None:
    for walk in (Walk("up", 1), Walk("left", 1), Walk("right", 3), Walk("down", 3)):
        with pytest.raises(IllegalAction, match="stands in the way"):
            game.apply(OPEN, walk)
    assert {str(action) for action in game.actions(OPEN)} == {"down 1", "down 2", "right 1", "right 2"}


@pytest.mark.parametrize("text", ["pacman 1x2\n#", "pacman 1x1\nx", "pacman 2x2\n##\n#", "##\n##"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        game.parse(text)


small_boards = st.integers(0, 10**9)


def scattered(seed: int, *, pellets: int) -> Position | None:
    """A small board of any kind, not a maze of ours: walls, gaps, ghosts and pellets at random."""
    rng = Stream("scattered", seed)
    inner = [rng.weighted("#._", (3, 6, 2)) for _ in range(16)]
    inner[rng.below(16)] = rng.choice("^v<>")
    free = [at for at in range(16) if inner[at] in "._"]
    if len(free) < pellets + 1 or not any(sign in inner for sign in FACING):
        return None
    for at in rng.sample(free, pellets):
        inner[at] = "o"
    if rng.chance(0.6):
        left = [at for at in free if inner[at] != "o"]
        inner[rng.choice(left)] = rng.choice(GHOSTS)
    lines = ["".join(inner[at : at + 4]) for at in range(0, 16, 4)]
    return board("######", *(f"#{line}#" for line in lines), "######")


def graph(position: Position) -> nx.Graph[Cell]:
    cells = [cell for cell in position.cells() if position[cell] not in BLOCKED]
    edges = [(a, b) for a in cells for b in (a.moved("down"), a.moved("right")) if position[b] not in BLOCKED]
    made: nx.Graph[Cell] = nx.Graph(edges)
    made.add_nodes_from(cells)
    return made


@settings(max_examples=150, deadline=None)
@given(small_boards, st.integers(1, 3))
def test_the_length_agrees_with_networkx(seed: int, pellets: int) -> None:
    position = scattered(seed, pellets=pellets)
    if position is None:
        return
    goals, start = tuple(position.find("o")), position.pacman()
    steps = dict(nx.all_pairs_shortest_path_length(graph(position)))
    lengths = [sum(steps[a].get(b, FAR) for a, b in pairwise([start, *order])) for order in permutations(goals)]
    if min(lengths) >= FAR:
        with pytest.raises(Unsolvable):
            Errand(position, goals)
        return
    errand = Errand(position, goals)
    assert errand.length == min(lengths)
    route = errand.route
    assert len(route) == errand.length + 1 and set(goals) <= set(route)


@settings(max_examples=80, deadline=None)
@given(small_boards, st.integers(1, 2))
def test_what_a_shortest_route_leaves_agrees_with_walking_them_all(seed: int, pellets: int) -> None:
    position = scattered(seed, pellets=pellets)
    if position is None:
        return
    goals = tuple(position.find("o"))
    try:
        errand = Errand(position, goals)
    except Unsolvable:
        return
    if errand.length > 9:
        return
    left = results(position, goals, errand.length)
    assert errand.touched() == {cell for *_, walked in walks(position, errand.length) if set(goals) <= set(walked)
                                for cell in walked}  # fmt: skip
    rival = [walked for _, walked in walks(position, errand.length) if set(goals) <= set(walked)]
    assert turns(errand.route) == min(map(turns, rival))
    for eaten, end, way in left:
        assert errand.explains(set(eaten), end, way)
        for cell in position.find(FOOD):
            changed = eaten ^ {cell}
            if cell != end:
                assert errand.explains(set(changed), end, way) == ((changed, end, way) in left)
        for other in STEPS:
            assert errand.explains(set(eaten), end, other) == ((eaten, end, other) in left)


def turns(walked: list[Cell]) -> int:
    steps = [(there.row - here.row, there.col - here.col) for here, there in pairwise(walked)]
    return sum(one != other for one, other in pairwise(steps))


def walks(position: Position, length: int) -> list[tuple[str, list[Cell]]]:
    """Every walk of this many steps: its last direction and its cells."""
    found: list[tuple[str, list[Cell]]] = [("", [position.pacman()])]
    for _ in range(length):
        found = [
            (way, [*walked, walked[-1].moved(way)])
            for _, walked in found
            for way in STEPS
            if position[walked[-1].moved(way)] not in BLOCKED
        ]
    return found


def results(position: Position, goals: tuple[Cell, ...], length: int) -> set[tuple[frozenset[Cell], Cell, str]]:
    food = set(position.find(FOOD))
    return {
        (frozenset(food & set(walked)), walked[-1], way)
        for way, walked in walks(position, length)
        if set(goals) <= set(walked)
    }


def test_every_maze_is_whole_and_pacman_came_the_way_he_faces() -> None:
    """Older generators sealed beans off, and left the eaten trail on the wrong side of Pac-Man."""
    for seed in range(150):
        rng = Stream("maze", seed)
        try:
            empty = maze(rng.between(8, 20), rng.between(20, 90), rng)
        except Rejected:
            continue
        position = with_trail(empty, rng.choice(empty.find(".")), 3, rng)
        assert not game.faults(position)
        place = position.pacman()
        behind = place.moved(OPPOSITE[FACING[position[place]]])
        assert position[behind] == NOTHING


@pytest.mark.parametrize("kind", ["sweep", "route"])
@pytest.mark.parametrize("level", PLANS)
def test_reasons_hold_and_tampering_is_caught(kind: str, level: int) -> None:
    for problem in problems(kind, level, 3):
        position = problem.position
        for step in solver.solve(problem).steps:
            assert solver.confirm(problem, position, step), step
            for wrong in tampered(step):
                assert not solver.confirm(problem, position, wrong), wrong
            if step.action:
                position = game.apply(position, game.parse_action(step.action))


def tampered(step: Step) -> list[Step]:
    """The step with one fact changed a little, for every fact."""
    wrong = []
    for name, fact in step.facts.items():
        if isinstance(fact, Cell):
            wrong.append(replace(step, facts={**step.facts, name: Cell(fact.row, fact.col + 1)}))
        elif isinstance(fact, int):
            wrong.append(replace(step, facts={**step.facts, name: fact + 1}))
        elif isinstance(fact, tuple):
            wrong.append(replace(step, facts={**step.facts, name: fact[1:]}))
        elif fact[1:] in STEPS and step.rule != "wall":
            wrong.append(replace(step, facts={**step.facts, name: "@" + OPPOSITE[fact[1:]]}))
    return wrong


@pytest.mark.parametrize(
    ("name", "perturbation"),
    [
        ("pacman/route@1:train:5:31:99", "gamma"),
        ("pacman/route@1:train:5:32:99", "resize"),
        ("pacman/route@1:train:5:32:179", "resize"),
        ("pacman/sweep@1:train:2:2120:2", "blur"),  # a wall that seemed to have faded
    ],
)
def test_walls_beside_a_change_need_not_change(name: str, perturbation: str) -> None:
    """Pac-Man in a wall: the walls around him take other forms, by a corner too small to be drawn faintly or not."""
    sample = make_sample(name)
    rng = sample.key.stream("reading")
    position = game.mutate(sample.solution.after, rng)
    clean = renderer.render(position, sample.style).image().convert("RGB")
    image = PERTURBATIONS[perturbation](clean, MODERATE[perturbation], rng)
    assert renderer.read(np.asarray(image), sample.problem, sample.style).position == position


def test_turned_and_mirrored_boards_are_one() -> None:
    forms = {SWEEP}
    for _ in range(3):
        forms |= {turned(position) for position in forms} | {mirrored(position) for position in forms}
    assert len(forms) == 8
    assert len({game.canonical(position) for position in forms}) == 1
    assert game.canonical(SWEEP) != game.canonical(SWEEP.with_things({Cell(1, 1): NOTHING}))


def turned(position: Position) -> Position:
    """A quarter turn clockwise."""
    after = {"^": ">", ">": "v", "v": "<", "<": "^"}
    lines = ["".join(line)[::-1] for line in zip(*position.rows, strict=True)]
    return Position(tuple("".join(after.get(thing, thing) for thing in line) for line in lines))


def mirrored(position: Position) -> Position:
    after = {">": PACMAN["left"], "<": PACMAN["right"]}
    return Position(tuple("".join(after.get(thing, thing) for thing in row[::-1]) for row in position.rows))


def test_a_maze_without_its_walls_is_not_read() -> None:
    """Where colours drifted so far that walls looked like floor, a maze without any was read."""
    sample = make_sample("pacman/sweep@1:train:4:2028:6")
    bare = Position(tuple(row.replace(WALL, NOTHING) for row in sample.solution.after.rows))
    verdict = verify(sample, sample.plugin.renderer.render(bare, sample.style).image())
    assert not verdict.readable and "walls" in verdict.reason


@pytest.mark.parametrize("name", ["route@1:train:4:4243:17", "sweep@1:train:3:4243:54"])
def test_beans_that_lost_their_colour_are_no_stains(name: str) -> None:
    """Compression takes the yellow of beans six pixels wide, from one in a hundred twice as much as from most; a bar
    over one of them is a stain all the same."""
    sample = make_sample(f"pacman/{name}?pixels=256")
    pale = PERTURBATIONS["jpeg"](sample.edited.convert("RGB"), MODERATE["jpeg"], Stream(name))
    verdict = verify(sample, pale)
    assert verdict.correct, verdict.reason
    frame = renderer.board(sample.style, *renderer.size(sample.problem.position)).frame
    bean = sample.solution.after.find(BEAN)[0]
    top, left, half = frame.top + bean.row * frame.cell, frame.left + bean.col * frame.cell, frame.cell // 2
    barred = sample.edited.convert("RGB")
    barred.paste((255, 255, 255), (left + 2, top + half - 1, left + frame.cell - 2, top + half + 2))
    assert not verify(sample, PERTURBATIONS["jpeg"](barred, MODERATE["jpeg"], Stream(name))).correct
