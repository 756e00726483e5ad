"""Mazes: spanning trees counted, paths against networkx, drawings by hand, tampered reasons."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from gamegen.adversary import ATTACKS
from gamegen.core.cell import STEPS, Cell
from gamegen.core.errors import BadInput, IllegalAction, Rejected, Unsolvable
from gamegen.core.key import Key
from gamegen.core.problem import Fact, Problem
from gamegen.core.stream import Stream
from gamegen.games.maze import PENS, Draw, Maze, game
from gamegen.judge import verify
from gamegen.perturb import MODERATE, PERTURBATIONS
from gamegen.sample import Sample, make_sample
from renderers.maze import renderer
from solvers.carving import ALGORITHMS, Draws, lattice, open_more, wilson
from solvers.maze import solver

TREE = """green
#######
#S....#
#.###.#
#.#...#
#.#####
#...#E#
#.###.#
#.....#
#######"""
RING = """blue
#######
#S....#
#.###.#
#.#...#
#.###.#
#....E#
#######"""


def graph(maze: Maze) -> nx.Graph:
    """The floor as a grid graph minus its walls, made without any of our own neighbour tables."""
    size = maze.size
    grid = nx.grid_2d_graph(size, size)
    grid.remove_nodes_from([(at // size, at % size) for at, mark in enumerate(maze.cells) if mark == "#"])
    return grid


def place(maze: Maze, mark: str) -> tuple[int, int]:
    return divmod(maze.cells.index(mark), maze.size)


def painted(maze: Maze, path: list[tuple[int, int]]) -> Maze:
    for row, col in path[1:-1]:
        maze = maze.with_mark(row * maze.size + col, "*")
    return maze


def problems(kind: str, level: int, count: int) -> list[Problem[Maze]]:
    found: list[Problem[Maze]] = []
    for attempt in range(10 * count):
        try:
            found.append(solver.generate(kind, level, Stream("test", kind, level, attempt)))
        except Rejected:
            continue
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.__name__)
def test_carved_mazes_are_spanning_trees(algorithm: Callable[[int, Draws], bytearray]) -> None:
    for size in (7, 9, 15, 21, 41):
        grid = graph(Maze("green", algorithm(size, Stream("carve", size).random).decode()))
        assert nx.is_tree(grid)
        assert {(at // size, at % size) for at in lattice(size).rooms} <= set(grid)


def test_wilson_draws_all_192_spanning_trees_of_nine_rooms_alike() -> None:
    draw = Stream("wilson").random
    counts = Counter(bytes(wilson(7, draw)) for _ in range(9600))
    assert len(counts) == 192  # the published number for the 3 x 3 grid
    assert sum((seen - 50) ** 2 / 50 for seen in counts.values()) < 262  # chi square, 191 degrees, 1 in 2,000


def test_every_opened_door_closes_one_loop() -> None:
    for count in (1, 3, 8):
        cells = wilson(13, Stream("loops", count).random)
        open_more(cells, 13, count, Stream("doors", count).random)
        grid = graph(Maze("green", cells.decode()))
        assert nx.is_connected(grid) and len(nx.cycle_basis(grid)) == count


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_the_path_is_the_only_one(level: int) -> None:
    for problem in problems("path", level, 12):
        maze, grid = problem.position, graph(problem.position)
        paths = list(nx.all_simple_paths(grid, place(maze, "S"), place(maze, "E")))
        assert len(paths) == 1
        assert solver.solve(problem).after == painted(maze, paths[0])


@pytest.mark.parametrize("level", [1, 2, 3])
def test_shortest_paths_are_accepted_and_longer_ones_refused(level: int) -> None:
    longer = 0
    for problem in problems("shortest", level, 8):
        maze, grid = problem.position, graph(problem.position)
        start, end = place(maze, "S"), place(maze, "E")
        least = nx.shortest_path_length(grid, start, end)
        assert solver.solve(problem).after.cells.count("*") == least - 1
        for number, path in enumerate(nx.shortest_simple_paths(grid, start, end)):
            check = solver.check(problem, painted(maze, path))
            assert check.correct is (len(path) - 1 == least), check.reason
            longer += not check.correct
            if number == 12:
                break
    assert longer >= 8


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([5, 7, 9]), loops=st.integers(0, 3), data=st.data())
def test_any_set_of_painted_cells_is_judged_as_networkx_would(
    seed: int, size: int, loops: int, data: st.DataObject
) -> None:
    """Right is: the painted cells with start and end induce one path of least length. Mutations of right ones too."""
    cells = ALGORITHMS[seed % len(ALGORITHMS)](size, Stream("any", seed).random)
    open_more(cells, size, min(loops, size - 4), Stream("more", seed).random)
    floor = [at for at, mark in enumerate(cells.decode()) if mark == "."]
    start, end = data.draw(st.permutations(floor))[:2]
    cells[start], cells[end] = ord("S"), ord("E")
    maze = Maze("pink", cells.decode())
    grid = graph(maze)
    least = nx.shortest_path(grid, place(maze, "S"), place(maze, "E"))
    if len(least) < 3:
        return
    drawn = {row * size + col for row, col in least[1:-1]}
    drawn ^= set(data.draw(st.lists(st.sampled_from([at for at in floor if at not in (start, end)]), max_size=2)))
    for at in drawn:
        maze = maze.with_mark(at, "*")
    part = grid.subgraph([divmod(at, size) for at in (*drawn, start, end)])
    ends = {divmod(start, size), divmod(end, size)}
    one_path = nx.is_tree(part) and {node for node, degree in part.degree if degree == 1} == ends
    problem = Problem("shortest", Maze("pink", cells.decode()), (("colour", "pink"),))
    assert solver.check(problem, maze).correct is (one_path and len(part) == len(least))


def test_mazes_a_person_solved() -> None:
    solution = solver.solve(Problem("path", square(TREE), (("colour", "green"),)))
    assert [(step.rule, step.action) for step in solution.steps if step.action or step.rule == "dead"] == [
        ("dead", ""),
        ("straight", "1,1 down 4"),
        ("dead", ""),
        ("bend", "5,1 down 2 right 4 up 2"),
    ]
    loop = Problem("shortest", game.parse(RING), (("colour", "blue"),))
    assert [step.rule for step in solver.solve(loop).steps if "left" in step.facts] == ["tie"]


def square(text: str) -> Maze:
    """The hand-made tree is 9 rows by 7; two wall columns make it square."""
    pen, *rows = text.split("\n")
    return game.parse("\n".join([pen, *(row + "##" for row in rows)]))


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("#S....#/#.###.#/#.#...#/#.###.#/#....E#", "No path is drawn."),
        ("#S****#/#.###*#/#.#..*#/#.###*#/#....E#", ""),
        ("#S....#/#*###.#/#*#...#/#*###.#/#****E#", ""),
        ("#S****#/#*###*#/#*#..*#/#*###*#/#****E#", "The path branches at cell (1, 1)."),
        ("#S****#/#.###*#/#.#.**#/#.###*#/#....E#", "The path branches at cell (3, 5)."),
        ("#S****#/#.###*#/#.#...#/#.###*#/#....E#", "Cell (4, 5) has paint that is not joined to the path."),
        ("#S****#/#.###*#/#.#..*#/#.###.#/#....E#", "The path stops at cell (3, 5) and does not reach the end."),
        ("#S.***#/#.###*#/#.#..*#/#.###*#/#....E#", "Cell (1, 3) is painted but not joined to the start."),
        ("#S****#/#.###*#/#.#..~#/#.###*#/#....E#", "The path has a gap at cell (3, 5)."),
        ("#S....#/#%###.#/#*#...#/#*###.#/#****E#", "Cell (2, 1) was floor and now shows the wall."),
        ("#S****#/#.##%*#/#.#..*#/#.###*#/#....E#", "The path runs through the wall at cell (2, 4)."),
        ("#S****#/#.##.*#/#.#..*#/#.###*#/#....E#", "The wall at cell (2, 4) is gone."),
        ("#*****#/#.###*#/#.#..*#/#.###*#/#....E#", "The start at cell (1, 1) is no longer to be seen."),
        ("#S****#/#.###*#/#.#..*#/#.###*#/#...E*#", "Cell (5, 4) was floor and now shows the end."),
    ],
)
def test_wrong_drawings_are_named(rows: str, says: str) -> None:
    problem = Problem("shortest", game.parse(RING), (("colour", "blue"),))
    drawn = game.parse("\n".join(["blue", "#######", *rows.split("/"), "#######"]))
    check = solver.check(problem, drawn)
    assert (check.correct, check.reason) == (not says, says or "The path is right.")
    assert check.correct or min(check.parts.values()) < 1 or not check.legal
    wrong_pen = solver.check(problem, replace(drawn, pen="pink"))
    assert not wrong_pen.correct and (says or wrong_pen.reason == "The path is pink, not blue.")


def test_a_detour_is_not_shortest_but_a_path() -> None:
    wide = RING.replace("#.#...#", "#.....#")
    detour = "blue\n#######\n#S....#\n#*###.#\n#*****#\n#.###*#\n#....E#\n#######"
    longer = "blue\n#######\n#S****#\n#.###*#\n#*****#\n#*###.#\n#****E#\n#######"
    problem = Problem("shortest", game.parse(wide), (("colour", "blue"),))
    assert solver.check(problem, game.parse(detour)).correct
    check = solver.check(problem, game.parse(longer))
    assert check.legal and not check.correct and check.reason == "The path takes 16 steps, and 8 are enough."


def test_unsound_mazes_are_refused() -> None:
    with pytest.raises(Unsolvable, match="loops"):
        solver.solve(Problem("path", game.parse(RING), (("colour", "blue"),)))
    with pytest.raises(Unsolvable):
        solver.solve(Problem("path", game.parse(RING.replace("#....E#", "###.#E#").replace("#.###.#", "#.#####")), ()))
    with pytest.raises(Unsolvable, match="no start"):
        solver.solve(Problem("path", game.parse(RING.replace("S", ".")), ()))
    assert game.faults(game.parse(RING.replace("blue\n#######", "blue\n###.###"))) == ["the outer wall has a hole"]
    for text in ("", "red\n" + RING[5:], RING + "\n#######", RING.replace("S", "?"), RING.replace("#S", "#")):
        with pytest.raises(BadInput):
            game.parse(text)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ("1,1 up 1", "a wall"),
        ("1,2 right 1", "goes on from cell"),
        ("1,1 right 4 down 4 left 1", "reached the end"),
        ("1,1 right 4 left 1", "part of the path"),
    ],
)
def test_illegal_lines(action: str, says: str) -> None:
    with pytest.raises(IllegalAction, match=says):
        game.apply(game.parse(RING), game.parse_action(action))


def test_the_start_and_end_of_a_line() -> None:
    drawn = game.apply(game.parse(RING), Draw(Cell(1, 1), (("right", 4), ("down", 4))))
    assert str(drawn) == "blue\n#######\n#S****#\n#.###*#\n#.#..*#\n#.###*#\n#....E#\n#######"
    assert not list(game.actions(drawn)) and not game.faults(drawn)


def test_symmetric_mazes_are_one() -> None:
    for problem in problems("path", 1, 20):
        maze, size = problem.position, problem.position.size
        rows = [maze.cells[at : at + size] for at in range(0, size * size, size)]
        views = []
        for view in (rows, ["".join(col) for col in zip(*rows, strict=True)]):
            for up in (view, view[::-1]):
                views += [up, [row[::-1] for row in up]]
        swap = str.maketrans("SE", "ES")
        same = {game.canonical(Maze("pink", "".join(view).translate(swap))) for view in views}
        assert same == {game.canonical(maze)}


def lies(maze: Maze, here: Fact, fact: Fact) -> list[Fact]:
    """Other values for a fact; of directions only those that lead into a wall, for another way may be true as well."""
    if isinstance(fact, Cell):
        return [Cell(fact.row, fact.col + 1), Cell(fact.row - 1, fact.col)]
    if isinstance(fact, int):
        return [fact + 1, fact - 1]
    assert isinstance(here, Cell)
    beside = {f"@{name}": here.moved(name) for name in STEPS}
    return [name for name, cell in beside.items() if maze.cells[cell.row * maze.size + cell.col] == "#"]


@pytest.mark.parametrize("kind", ["path", "shortest"])
@pytest.mark.parametrize(("level", "count"), [(1, 6), (3, 3), (4, 1)])
def test_tampered_reasons_are_caught(kind: str, level: int, count: int) -> None:
    for problem in problems(kind, level, count):
        now = problem.position
        for step in solver.solve(problem).steps:
            assert solver.confirm(problem, now, step)
            for name, fact in step.facts.items():
                for lie in lies(now, step.facts.get("here", ""), fact):
                    if name == "way" and step.rule in ("dead", "back"):
                        continue  # which way the path goes on is no part of that sentence
                    tampered = replace(step, facts={**step.facts, name: lie})
                    assert not solver.confirm(problem, now, tampered), (str(problem.position), tampered)
            if step.action:
                now = game.apply(now, game.parse_action(step.action))


# Drawings by hand: what other editors put on the picture ------------------------------------------------------------


def drawn(
    sample: Sample,
    colour: str,
    *,
    width: float,
    wobble: float = 0.0,
    path: list[int] | None = None,
    on: Image.Image | None = None,
) -> Image.Image:
    """The picture with a line from cell centre to cell centre, `width` and `wobble` in cells."""
    size = sample.problem.position.size
    frame = renderer.board(sample.style, size, size).frame
    shake = random.Random(7)
    points = []
    for at in right_path(sample) if path is None else path:
        row, col = divmod(at, size)
        x, y = frame.left + (col + 0.5) * frame.cell, frame.top + (row + 0.5) * frame.cell
        points.append(
            (x + shake.uniform(-wobble, wobble) * frame.cell, y + shake.uniform(-wobble, wobble) * frame.cell)
        )
    image = (on or sample.original).copy()
    pen = ImageDraw.Draw(image)
    pen.line(points, fill=colour, width=max(1, round(width * frame.cell)), joint="curve")
    return image


def right_path(sample: Sample) -> list[int]:
    maze, grid = sample.problem.position, graph(sample.problem.position)
    path = nx.shortest_path(grid, place(maze, "S"), place(maze, "E"))
    return [row * maze.size + col for row, col in path]


def asked_for(colour: str, skin: str, *, kind: str = "path", level: int = 2) -> Sample:
    keys = (Key(f"maze/{kind}", level=level, seed=11, index=index, skin=skin) for index in range(200))
    return next(sample for sample in map(make_sample, keys) if sample.problem.text("colour") == colour)


SHADES = {"green": "#00c000", "blue": "#0000ff", "orange": "#ff8c00", "purple": "#8000c0", "pink": "#ff40b0"}


@pytest.mark.parametrize("skin", renderer.skins)
@pytest.mark.parametrize("colour", PENS)
def test_lines_thick_thin_and_shaky_are_right(skin: str, colour: str) -> None:
    sample = asked_for(colour, skin, kind="path" if colour in "green pink" else "shortest")
    for width, wobble in ((0.12, 0.0), (0.3, 0.1), (0.6, 0.0), (0.9, 0.05)):
        verdict = verify(sample, drawn(sample, SHADES[colour], width=width, wobble=wobble))
        assert verdict.correct, (width, wobble, verdict.reason, verdict.position)


@pytest.mark.parametrize("skin", renderer.skins)
def test_filled_cells_are_right(skin: str) -> None:
    for colour in ("green", "purple"):
        sample = asked_for(colour, skin)
        size = sample.problem.position.size
        frame = renderer.board(sample.style, size, size).frame
        image = sample.original.copy()
        for at in right_path(sample)[1:-1]:
            row, col = divmod(at, size)
            x, y = frame.left + col * frame.cell, frame.top + row * frame.cell
            ImageDraw.Draw(image).rectangle((x, y, x + frame.cell - 1, y + frame.cell - 1), fill=SHADES[colour])
        assert verify(sample, image).correct, verify(sample, image).reason


@pytest.mark.parametrize("skin", renderer.skins)
def test_bad_drawings_are_refused(skin: str) -> None:
    sample = asked_for("blue", skin)
    path, size = right_path(sample), sample.problem.position.size
    cells = sample.problem.position.cells
    middle = len(path) // 2
    gap = drawn(sample, "blue", width=0.3, path=path[:middle])
    rest = drawn(sample, "blue", width=0.3, path=path[middle:], on=gap)
    assert "gap" in verify(sample, rest).reason
    straight = drawn(sample, "blue", width=0.3, path=[path[0], path[-1]])
    assert not verify(sample, straight).correct
    assert "stops" in verify(sample, drawn(sample, "blue", width=0.3, path=path[:middle])).reason
    branch = next(
        (at, other)
        for at in path[1:-1]
        for other in (at - size, at + size, at - 1, at + 1)
        if cells[other] == "." and other not in path
    )
    twig = drawn(sample, "blue", width=0.3, path=list(branch), on=sample.edited)
    assert "branches" in verify(sample, twig).reason
    wrong = verify(sample, drawn(sample, SHADES["orange"], width=0.4))
    assert not wrong.correct and wrong.reason == "The path is orange, not blue."
    for foreign in ("red", "black", "yellow"):
        assert not verify(sample, drawn(sample, foreign, width=0.3)).correct


@pytest.mark.parametrize("skin", renderer.skins)
def test_right_paths_with_scribbles_are_refused(skin: str) -> None:
    sample = asked_for("green", skin)
    size = sample.problem.position.size
    frame = renderer.board(sample.style, size, size).frame
    on_margin, on_wall, on_floor = (sample.edited for _ in range(3))
    ImageDraw.Draw(on_margin).ellipse((2, 2, 26, 26), fill="red")
    assert not verify(sample, on_margin).correct
    x, y = frame.left + frame.cell // 2, frame.top + frame.cell // 2
    ImageDraw.Draw(on_wall).line((x, y, x + 3 * frame.cell, y), fill="#d00000", width=3)
    assert not verify(sample, on_wall).correct
    row, col = divmod(next(at for at, mark in enumerate(sample.solution.after.cells) if mark == "."), size)
    x, y = x + col * frame.cell, y + row * frame.cell
    ImageDraw.Draw(on_floor).line((x - 8, y - 8, x + 8, y + 8), fill="#ff00ff", width=3)
    assert not verify(sample, on_floor).correct


@pytest.mark.parametrize("skin", renderer.skins)
def test_a_see_through_path_is_none(skin: str) -> None:
    for colour in PENS:
        sample = asked_for(colour, skin)
        for share in (0.3, 0.5):
            assert not verify(sample, Image.blend(sample.original, sample.edited, share)).correct


def test_a_thin_line_across_the_path_is_foreign() -> None:
    """Painted cells may look unlike ours, but no part of them may be in quite another colour."""
    sample = make_sample("maze/shortest@1:train:1:3000001:0?pixels=256")
    image = sample.edited
    ImageDraw.Draw(image).line((148, 146, 212, 82), fill="#ff00ff", width=2)
    verdict = verify(sample, image)
    assert not verdict.correct and "foreign" in verdict.reason


@pytest.mark.parametrize(
    ("attack", "name", "number"),
    [
        ("blot", "maze/shortest@1:train:2:411000001:0?pixels=256", 42),  # cyan, over the bend of a green path
        ("ghost_stroke", "maze/path@1:train:1:411000002:0?pixels=256", 256),  # black, across a pink path
        ("ghost_stroke", "maze/path@1:train:1:201000001:0?pixels=256", 356),  # magenta, beside a pink path
        ("cloned_cell", "maze/shortest@1:train:1:101000001:0?pixels=256", 7),  # a second, red end on a pink path
    ],
)
def test_a_path_has_one_colour(attack: str, name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS[attack](sample, Stream(sample.id, "attack", number))
    assert made is not None
    verdict = verify(sample, made[0])
    assert not verdict.correct and "foreign" in verdict.reason


def test_a_faint_dot_far_from_the_path_is_not_overlooked() -> None:
    sample = make_sample("maze/shortest@1:train:3:3000000:0?pixels=256")
    after, size = sample.solution.after, sample.problem.position.size
    alone = [
        at
        for at, mark in enumerate(after.cells)
        if mark == "." and not {after.cells[at + by] for by in (1, -1, size, -size)} - {"#", "."}
    ]
    for at in alone[::20]:
        dotted = renderer.render(after.with_mark(at, "*"), sample.style).image()
        verdict = verify(sample, Image.blend(sample.edited, dotted, 0.5))
        assert not verdict.correct and not verdict.readable, divmod(at, size)


def test_a_speck_on_a_wall_is_seen_where_the_rest_is_untouched() -> None:
    sample = make_sample("maze/shortest@1:train:3:522000006:0?pixels=256")
    image = sample.edited
    ImageDraw.Draw(image).rectangle((223, 33, 226, 36), fill=(122, 127, 139))
    verdict = verify(sample, image)
    assert not verdict.correct and "foreign" in verdict.reason


def read_after(name: str, perturbation: str) -> tuple[Maze, Maze, str]:
    """A position, what is read once its picture was perturbed, and where that seems stained. Of samples with odd
    numbers it is a wrong answer."""
    sample = make_sample(name)
    rng, position = sample.key.stream("reading"), sample.solution.after
    if sample.key.index % 2:
        position = game.mutate(position, rng)
    clean = renderer.render(position, sample.style).image().convert("RGB")
    image = PERTURBATIONS[perturbation](clean, MODERATE[perturbation], rng)
    reading = renderer.read(np.asarray(image.convert("RGB")), sample.problem, sample.style)
    return position, reading.position, "" if sample.key.index % 2 else reading.stain


@pytest.mark.parametrize(
    ("name", "perturbation"),
    [
        ("maze/path@1:train:5:31:58", "shift"),
        ("maze/shortest@1:train:5:32:159", "shift"),
        ("maze/path@1:train:3:32:54", "crop"),
        ("maze/path@1:train:1:32:0", "crop"),  # its right side still agreed
    ],
)
def test_fine_mazes_that_have_moved_are_laid_onto_the_given_one(name: str, perturbation: str) -> None:
    """Edges met other edges half way, and the search ended a quarter of a cell off."""
    position, seen, stain = read_after(name, perturbation)
    assert seen == position and not stain


@pytest.mark.parametrize("name", ["maze/shortest@1:train:5:32:179", "maze/shortest@1:train:5:32:149"])
def test_a_side_of_724_pixels_is_not_one_of_726(name: str) -> None:
    """What was added to it before the vivid colours were wiped off, in threes, counted as part of the picture."""
    position, seen, _ = read_after(name, "resize")
    assert seen == position


@pytest.mark.parametrize("perturbation", ["blur", "shift", "rotate"])
def test_a_column_without_a_label_does_not_show_its_neighbours(perturbation: str) -> None:
    """Two figures nearly fill the width of two columns, and their edge was taken for a label of the column beside."""
    position, seen, stain = read_after("maze/path@1:train:3:32:84", perturbation)
    assert seen == position and not stain


def test_a_start_elsewhere_is_known_by_its_inside() -> None:
    position, seen, _ = read_after("maze/shortest@1:train:4:32:147", "crop")
    assert seen == position


@pytest.mark.parametrize(
    ("name", "perturbation"),
    [
        ("maze/shortest@1:train:5:32:59", "jpeg"),
        ("maze/shortest@1:train:4:32:177", "jpeg"),
        ("maze/shortest@1:train:4:32:7", "webp"),
    ],
)
def test_a_dot_beside_nothing_may_fade(name: str, perturbation: str) -> None:
    position, seen, _ = read_after(name, perturbation)
    assert seen == position


def test_the_edges_of_a_thin_path_are_not_its_shade() -> None:
    """The middle of a path whose edges were more than its middle was taken for a stroke over it."""
    position, seen, stain = read_after("maze/path@1:train:4:31:96", "gamma")
    assert seen == position and not stain


def test_a_dark_maze_may_hide_that_it_was_compressed() -> None:
    """Far from the path hardly a level had changed, so fringes of the path and of the end were taken for strokes."""
    position, seen, stain = read_after("maze/path@1:train:3:32:144", "jpeg")
    assert seen == position and not stain


def test_a_dot_that_lost_its_colour_in_compression_is_still_a_spot() -> None:
    """A green dot on a wall, 4 pixels wide: at JPEG quality 30 only its darkness was left."""
    sample = make_sample("maze/shortest@1:train:5:8444000003:0?pixels=256")
    made = ATTACKS["murky_mutation"](sample, Stream(sample.id, "attack", 131))
    assert made is not None
    verdict = verify(sample, made[0])
    assert not verdict.correct and "foreign" in verdict.reason
    assert verify(sample, PERTURBATIONS["jpeg"](sample.edited, 1.0, Stream("test"))).correct


def struck(sample: Sample, strokes: list[tuple[float, float, float, float]], colour: str, width: float) -> Image.Image:
    """The answer with strokes over a straight cell of its path, in shares of the cell, `x` along the path."""
    path, size, image = right_path(sample), sample.problem.position.size, sample.edited
    frame = renderer.board(sample.style, size, size).frame
    before, at = next((one, at) for one, at, other in zip(path[1:], path[2:], path[3:-1], strict=False)
                      if other - at == at - one)  # fmt: skip
    row, col = divmod(at, size)
    for x, y, to_x, to_y in strokes:
        ends = ((x, y), (to_x, to_y)) if at - before in (1, -1) else ((y, x), (to_y, to_x))
        points = [(frame.left + (col + dx) * frame.cell, frame.top + (row + dy) * frame.cell) for dx, dy in ends]
        pen = max(2, round(width * frame.cell))
        ImageDraw.Draw(image).line([*points[0], *points[1]], fill=sample.style.colours()[colour], width=pen)
    return image


CROSS, ACROSS, ALONG = [(0.03, 0.03, 0.97, 0.97), (0.03, 0.97, 0.97, 0.03)], [(0.4, 0.0, 0.4, 1.0)], [(0, 0.5, 1, 0.5)]


@pytest.mark.parametrize("skin", renderer.skins)
@pytest.mark.parametrize("pixels", [256, 512])
def test_a_path_struck_through_in_the_maze_s_own_colours_is_refused(skin: str, pixels: int) -> None:
    """Every colour between the pen and the grounds was taken for an edge of the path, and a narrow gap for a line."""
    for pen in ("blue", "orange"):
        sample = make_sample(replace(asked_for(pen, skin).key, pixels=pixels))
        for strokes in (CROSS, ACROSS, ALONG):
            for colour in ("wall", "floor"):
                image = struck(sample, strokes, colour, 0.13)
                assert not verify(sample, image).correct, (strokes, colour)
                if pixels == 512:
                    image = PERTURBATIONS["jpeg"](image, 0.4, Stream("test"))
                    assert not verify(sample, image).correct, (strokes, colour, "through JPEG")
        assert verify(sample, PERTURBATIONS["jpeg"](sample.edited, MODERATE["jpeg"], Stream("test"))).correct


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("maze/path@1:train:1:77000002:1?pixels=256", 161),  # the bend of a wide line with soft edges
    ],
)
def test_a_bend_is_no_cut(name: str, number: int) -> None:
    sample = make_sample(name)
    made = ATTACKS["painted"](sample, Stream(sample.id, "attack", number))
    assert made is not None and verify(sample, made[0]).correct


@pytest.mark.parametrize("name", ["maze/path@1:train:3:11:0", "maze/shortest@1:train:3:11:1"])
def test_a_maze_that_moved_straight_up_is_found(name: str) -> None:
    """Half of its edges, the upright ones, are where they were, and it was taken for one that had not moved."""
    sample = make_sample(name)
    assert verify(sample, PERTURBATIONS["shift"](sample.edited, MODERATE["shift"], Stream("x", 3))).correct


def test_an_answer_in_another_skin_is_none() -> None:
    for level in (1, 4):
        for skin in renderer.skins:
            sample = make_sample(Key("maze/path", level=level, seed=22, index=20, skin=skin))
            for other in renderer.skins:
                verdict = verify(sample, make_sample(replace(sample.key, skin=other)).edited)
                assert verdict.correct is (skin == other), (skin, other, verdict.reason)


def test_one_thousand_small_mazes_hardly_repeat() -> None:
    for kind in ("path", "shortest"):
        seen = [game.canonical(problem.position) for problem in problems(kind, 1, 1000)]
        assert len(set(seen)) >= 950


def test_a_bar_of_wall_beside_a_path_is_seen_in_an_even_maze() -> None:
    """It is a mixture of colours that the maze has, but not of what was there."""
    sample = make_sample(Key("maze/path", level=3, skin="sand"))
    colours, image = sample.style.colours(), sample.edited
    assert verify(sample, image).correct
    rows, cols = np.nonzero((np.asarray(image) == colours["pen"]).all(axis=2))
    row = int(np.median(rows))
    left = int(cols[rows == row][0])
    ImageDraw.Draw(image).rectangle((left - 4, row - 8, left - 1, row + 8), fill=colours["wall"])
    assert not verify(sample, image).correct


def test_a_purple_path_that_sharpening_turned_pink_is_in_doubt() -> None:
    sample = make_sample("maze/path@1:train:5:64:18")
    assert sample.problem.position.pen == "purple"
    verdict = verify(sample, PERTURBATIONS["sharpen"](sample.edited, 1.0, Stream("x")))
    assert not verdict.readable and "pink" in verdict.reason
    pink = renderer.render(replace(sample.solution.after, pen="pink"), sample.style).image()
    verdict = verify(sample, pink)
    assert verdict.readable and not verdict.correct


def test_edges_of_walls_that_sharpening_turned_blue_are_no_pieces_of_a_path() -> None:
    sample = make_sample("maze/path@1:train:3:68:4")
    verdict = verify(sample, PERTURBATIONS["sharpen"](sample.edited, MODERATE["sharpen"], Stream("x")))
    assert verdict.correct, verdict.reason


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("maze/path@1:train:4:41:18?pixels=256", "E"),  # red among orange
        ("maze/path@1:train:5:41:29?pixels=256", "S"),  # green among green
        ("maze/path@1:train:5:41:29", "S"),
    ],
)
@pytest.mark.parametrize("strength", [0.1, 0.3])
def test_a_second_start_or_end_on_the_path_is_seen_through_jpeg(name: str, mark: str, strength: float) -> None:
    sample = make_sample(name)
    after = sample.solution.after
    path = [place for place, each in enumerate(after.cells) if each == "*"]
    place = path[len(path) // 3]
    wrong = replace(after, cells=after.cells[:place] + mark + after.cells[place + 1 :])
    image = renderer.render(wrong, sample.style).image().convert("RGB")
    assert verify(sample, PERTURBATIONS["jpeg"](sample.edited, strength, Stream("x"))).correct
    assert not verify(sample, PERTURBATIONS["jpeg"](image, strength, Stream("x"))).correct


@pytest.mark.parametrize("name", ["maze/path@1:train:1:5000:90", "maze/shortest@1:train:1:5000:111"])
def test_floor_as_bright_as_walls_has_not_become_wall(name: str) -> None:
    """Brightened until floor and walls were nearly one colour, all floor was once read as wall."""
    sample = make_sample(name)
    image = PERTURBATIONS["tone"](sample.edited, 1.0, sample.key.stream("tone"))
    verdict = verify(sample, image)
    assert verdict.correct or not verdict.readable


@pytest.mark.parametrize("name", ["maze/shortest@1:train:4:3000:117", "maze/path@1:train:5:3000:378"])
def test_ends_that_faded_are_in_doubt_and_not_gone(name: str) -> None:
    """In eight colours of a dull picture, a start or an end was once read as floor."""
    sample = make_sample(name)
    dull = PERTURBATIONS["tone"](sample.edited, 1.0, sample.key.stream("t"))
    verdict = verify(sample, PERTURBATIONS["quantise"](dull, 1.0, sample.key.stream("q")))
    assert verdict.correct or not verdict.readable
