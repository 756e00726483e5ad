"""What each sudoku step claims, proved from its facts alone, without asking how the step was found.

Candidates that were ruled out earlier are not in the grid; a step that may rest on them carries them as the fact
`crossed`, a text like `0,3:57 4,3:2` (not 5 or 7 in cell 0,3; not 2 in cell 4,3). A list is true if the grid's only
completion has none of these digits in these cells, which is found by exact counting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gamegen.core.cell import Cell
from gamegen.core.errors import BadInput, Unsolvable
from gamegen.core.problem import Fact, Step
from gamegen.games.sudoku import Fill, Grid, game, houses, peers
from solvers.sudoku_count import Completions, completion
from solvers.sudoku_logic import Marks, digits_of

Facts = Mapping[str, Fact]
_KINDS = ("row", "column", "box")


def confirm(grid: Grid, step: Step) -> bool:
    """Whether a step's claim is true in this grid. Facts that make no sense are simply not true."""
    marks = Marks(grid)
    try:
        crossed = _crossed(str(step.facts.get("crossed", "")), grid.size)
        if crossed:
            end = completion(grid)
            if any(mask >> end.digits[number] - 1 & 1 for number, mask in crossed):
                return False
        marks.cut(crossed)
        return claim_holds(marks, step)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, Unsolvable):
        return False


def claim_holds(marks: Marks, step: Step) -> bool:
    """The same, given the candidates; facts must be well formed."""
    return step.rule in _CLAIMS and _CLAIMS[step.rule](marks, step.facts, step.action)


def house_term(house: tuple[int, ...], size: int) -> str:
    """The word for a house, as facts name it: `@row-0`, `@column-3`, `@box-9-4`."""
    kind, place = divmod(houses(size).index(house), size)
    return f"@box-{size}-{place}" if kind == 2 else f"@{_KINDS[kind]}-{place}"


def cross_out(crossed: Mapping[int, int], marks: Marks) -> dict[str, Fact]:
    """The fact `crossed`, without what the grid itself shows by now; nothing if nothing is left."""
    parts = []
    for number, mask in sorted(crossed.items()):
        seen = {marks.digits[peer] for peer in peers(marks.size)[number]}
        digits = "".join(str(digit) for digit in digits_of(mask) if digit not in seen)
        if digits and not marks.digits[number]:
            parts.append(f"{Cell(*divmod(number, marks.size))}:{digits}")
    return {"crossed": " ".join(parts)} if parts else {}


def _crossed(text: str, size: int) -> list[tuple[int, int]]:
    crossed = []
    for part in text.split():
        place, _, digits = part.partition(":")
        crossed.append((_number(Cell.parse(place), size), sum(1 << int(digit) - 1 for digit in digits)))
    return crossed


# Facts as numbers: every function raises one of the errors above on a fact that makes no sense ------------------------


def _number(cell: Fact, size: int) -> int:
    if not isinstance(cell, Cell) or not (0 <= cell.row < size and 0 <= cell.col < size):
        raise ValueError(f"not a cell of a {size}x{size} grid: {cell!r}")
    return cell.row * size + cell.col


def _numbers(cells: Fact, size: int) -> list[int]:
    if not isinstance(cells, tuple) or len(set(cells)) != len(cells):
        raise ValueError(f"not a list of different cells: {cells!r}")
    return [_number(cell, size) for cell in cells]


def _digit(term: Fact, size: int) -> int:
    digit = int(str(term).removeprefix("@d"))
    if not 1 <= digit <= size:
        raise ValueError(f"not a digit of a {size}x{size} grid: {term!r}")
    return digit


def _digits(terms: Fact, size: int, *, different: bool = True) -> list[int]:
    if not isinstance(terms, tuple) or (different and len(set(terms)) != len(terms)):
        raise ValueError(f"not a list of digits: {terms!r}")
    return [_digit(term, size) for term in terms]


def _house(term: Fact, size: int) -> tuple[int, ...]:
    kind, *middle, place = str(term).removeprefix("@").split("-")
    if middle != ([str(size)] if kind == "box" else []) or not 0 <= int(place) < size:
        raise ValueError(f"not a house of a {size}x{size} grid: {term!r}")
    return houses(size)[_KINDS.index(kind) * size + int(place)]


def _around(facts: Facts, size: int) -> bool:
    return facts["around"] == f"@houses-or-{size}"


def _fills(action: str, number: int, digit: int, size: int) -> bool:
    return action == str(Fill(((Cell(*divmod(number, size)), digit),)))


def _with(marks: Marks, house: tuple[int, ...], digit: int) -> list[int]:
    """The cells of a house that have this candidate."""
    return [number for number in house if marks.masks[number] >> digit - 1 & 1]


# The claims -----------------------------------------------------------------------------------------------------------


def _start(marks: Marks, facts: Facts, action: str) -> bool:
    return not action and facts["blanks"] == marks.digits.count(0) and _around(facts, marks.size)


def _last(marks: Marks, facts: Facts, action: str) -> bool:
    number, digit = _number(facts["cell"], marks.size), _digit(facts["digit"], marks.size)
    house = _house(facts["house"], marks.size)
    held = {marks.digits[other] for other in house if other != number}
    return (
        number in house
        and not marks.digits[number]
        and held == set(range(1, marks.size + 1)) - {digit}
        and _fills(action, number, digit, marks.size)
    )


def _naked(marks: Marks, facts: Facts, action: str) -> bool:
    size = marks.size
    number, digit, seen = _number(facts["cell"], size), _digit(facts["digit"], size), _digits(facts["seen"], size)
    return (
        not marks.digits[number]
        and set(seen) == {marks.digits[peer] for peer in peers(size)[number]} - {0}
        and sorted([*seen, digit]) == list(range(1, size + 1))
        and _around(facts, size)
        and _fills(action, number, digit, size)
    )


def _hidden(marks: Marks, facts: Facts, action: str) -> bool:
    size = marks.size
    number, digit, house = _number(facts["cell"], size), _digit(facts["digit"], size), _house(facts["house"], size)
    others, blockers = _numbers(facts["others"], size), _numbers(facts["blockers"], size)
    return (
        (facts["count"], facts["bars"]) == (len(others), len(blockers))
        and sorted([number, *others]) == [each for each in house if not marks.digits[each]]
        and all(marks.digits[blocker] == digit for blocker in blockers)
        and all(any(blocker in peers(size)[other] for blocker in blockers) for other in others)
        and all(any(other in peers(size)[blocker] for other in others) for blocker in blockers)
        and digit not in [marks.digits[peer] for peer in peers(size)[number]]
        and _fills(action, number, digit, size)
    )


def _left(marks: Marks, facts: Facts, action: str) -> bool:
    number, digit = _number(facts["cell"], marks.size), _digit(facts["digit"], marks.size)
    return marks.masks[number] == 1 << digit - 1 and _fills(action, number, digit, marks.size)


def _only(marks: Marks, facts: Facts, action: str) -> bool:
    number, digit = _number(facts["cell"], marks.size), _digit(facts["digit"], marks.size)
    places = _with(marks, _house(facts["house"], marks.size), digit)
    return places == [number] and _fills(action, number, digit, marks.size)


def _run(marks: Marks, facts: Facts, action: str) -> bool:
    """In some order, each cell is a single of this digit once those before it are filled."""
    size, digit, trial = marks.size, _digit(facts["digit"], marks.size), marks.copy()
    numbers = left = _numbers(facts["cells"], size)
    while ready := [number for number in left if trial.is_single(number, digit)]:
        for number in ready:
            trial.place(number, digit)
        left = [number for number in left if number not in ready]
    entries = tuple((Cell(*divmod(number, size)), digit) for number in numbers)
    return bool(numbers) and not left and action == str(Fill(entries))


def _locked(marks: Marks, facts: Facts, action: str) -> bool:
    size, digit = marks.size, _digit(facts["digit"], marks.size)
    house, line = _house(facts["house"], size), _house(facts["line"], size)
    cells, gone = _numbers(facts["cells"], size), _numbers(facts["gone"], size)
    losers = [number for number in _with(marks, line, digit) if number not in house]
    at_home = sorted(cells) == sorted(_with(marks, house, digit)) and set(cells) <= set(line)
    return not action and at_home and bool(cells) and bool(gone) and set(gone) <= set(losers)


def _naked_set(marks: Marks, facts: Facts, action: str) -> bool:
    size, digits, house = marks.size, _digits(facts["digits"], marks.size), _house(facts["house"], marks.size)
    cells, gone = _numbers(facts["cells"], size), _numbers(facts["gone"], size)
    held = sum(1 << digit - 1 for digit in digits)
    within = all(number in house and marks.masks[number] and not marks.masks[number] & ~held for number in cells)
    losers = {number for number in house if marks.masks[number] & held} - set(cells)
    return not action and within and len(cells) == len(digits) > 1 and bool(gone) and set(gone) <= losers


def _hidden_set(marks: Marks, facts: Facts, action: str) -> bool:
    size, digits, house = marks.size, _digits(facts["digits"], marks.size), _house(facts["house"], marks.size)
    cells, gone = _numbers(facts["cells"], size), _numbers(facts["gone"], size)
    held = sum(1 << digit - 1 for digit in digits)
    homes = {number for digit in digits for number in _with(marks, house, digit)}
    losers = {number for number in cells if marks.masks[number] & ~held}
    return not action and homes == set(cells) and len(cells) == len(digits) > 1 and bool(gone) and set(gone) <= losers


def _x_wing(marks: Marks, facts: Facts, action: str) -> bool:
    size, digit, gone = marks.size, _digit(facts["digit"], marks.size), _numbers(facts["gone"], marks.size)
    lines, across = facts["lines"], facts["across"]
    if not isinstance(lines, tuple) or not isinstance(across, tuple) or len({*lines}) != 2 or len({*across}) != 2:
        return False
    columns = {number for term in across for number in _house(term, size)}
    rows = [_house(term, size) for term in lines]
    pairs = [_with(marks, row, digit) for row in rows]
    losers = {number for number in columns if marks.masks[number] >> digit - 1 & 1} - set(rows[0]) - set(rows[1])
    turned = str(lines[0]).startswith("@row") != str(across[0]).startswith("@row")
    return (
        not action
        and turned
        and all(len(pair) == 2 and set(pair) <= columns for pair in pairs)
        and bool(gone)
        and set(gone) <= losers
    )


def _tried(marks: Marks, facts: Facts, action: str) -> Marks | None:
    """The candidates at the end of a trial; None if a link of its chain is not forced."""
    size, trial = marks.size, marks.copy()
    number, digit = _number(facts["cell"], size), _digit(facts["digit"], size)
    links, forced = _numbers(facts["chain"], size), _digits(facts["forced"], size, different=False)
    if len(forced) == 1:  # the same digit all along
        forced *= len(links)
    elif len(set(forced)) == 1:
        return None
    if action or facts["links"] != len(links) or not marks.masks[number] >> digit - 1 & 1:
        return None
    trial.place(number, digit)
    for link, must in zip(links, forced, strict=True):
        if not trial.is_single(link, must):
            return None
        trial.place(link, must)
    return trial


def _dead_cell(marks: Marks, facts: Facts, action: str) -> bool:
    trial, dead = _tried(marks, facts, action), _number(facts["dead"], marks.size)
    return trial is not None and not trial.digits[dead] and not trial.masks[dead]


def _dead_house(marks: Marks, facts: Facts, action: str) -> bool:
    trial, house = _tried(marks, facts, action), _house(facts["house"], marks.size)
    missing = _digit(facts["missing"], marks.size)
    return (
        trial is not None and not _with(trial, house, missing) and missing not in [trial.digits[each] for each in house]
    )


def _search(marks: Marks, facts: Facts, action: str) -> bool:
    grid = Grid(marks.size, tuple(marks.digits))
    found = Completions(grid, limit=2)
    try:
        after = grid.filled((_number(cell, grid.size), digit) for cell, digit in game.parse_action(action).entries)
    except BadInput:
        return False
    counted = len(grid.empty) == facts["blanks"] and found.nodes == facts["nodes"]
    return counted and found.found == [after.digits]


_CLAIMS: dict[str, Callable[[Marks, Facts, str], bool]] = {
    "start": _start,
    "last": _last,
    "naked": _naked,
    "hidden": _hidden,
    "left": _left,
    "only": _only,
    "run": _run,
    "locked-box": _locked,
    "locked-line": _locked,
    "naked-pair": _naked_set,
    "naked-triple": _naked_set,
    "hidden-pair": _hidden_set,
    "x-wing": _x_wing,
    "suppose-cell": _dead_cell,
    "suppose-house": _dead_house,
    "search": _search,
}
