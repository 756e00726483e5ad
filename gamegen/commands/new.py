"""Start a new game: files of a small game that already runs and obeys every law, for you to edit.

In a checkout of gamegen the files go where games live (gamegen/games, solvers, renderers, tests). Anywhere else they
become a package of their own that gamegen finds once it is installed, `pip install -e gamegen-NAME`.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="lower case, e.g. lamps or word_ladder")
    parser.add_argument("--dir", type=Path, default=Path(), metavar="DIR", help="where (default: the current folder)")


def run(args: argparse.Namespace) -> int:
    from gamegen.core.errors import BadInput
    from gamegen.registry import games

    _check_name(args.name, games())
    own = (args.dir / "gamegen" / "games").is_dir()
    files = _in_checkout(args.name) if own else _as_package(args.name)
    paths = {args.dir / place: text for place, text in files.items()}
    for path in paths:
        if path.exists():
            raise BadInput(f"{path} exists already; nothing was written")
    try:
        for path, text in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")
    except OSError as error:
        raise BadInput(f"cannot write to {args.dir}: {error}") from error
    install = "" if own else f"pip install -e {args.dir / _project(args.name)} && "
    print(f"try:  {install}gamegen show {args.name}/light --open")
    return 0


def _check_name(name: str, taken: tuple[str, ...]) -> None:
    import keyword
    import re

    from gamegen.core.errors import BadInput

    if not re.fullmatch(r"[a-z][a-z0-9_]{1,39}", name) or name.endswith("_") or keyword.iskeyword(name):
        raise BadInput(f"a game's name is 2 to 40 of a-z, 0-9 and _, begins with a letter, like 'lamps'; not {name!r}")
    if name in taken:
        raise BadInput(f"there is a game {name!r} already; choose another name")


def _in_checkout(name: str) -> dict[str, str]:
    words = _words(name) | {
        "game_module": f"gamegen.games.{name}",
        "solver_module": f"solvers.{name}",
        "path_import": "",
        "skin_path": "",
    }
    places = {
        f"gamegen/games/{name}.py": "game.py",
        f"solvers/{name}.py": "solver.py",
        f"renderers/{name}.py": "renderer.py",
        f"renderers/skins/{name}.toml": "skins.toml",
        f"gamegen/words/{name}.toml": "words.toml",
        f"tests/test_{name}.py": "test.py",
    }
    return {place: _fill(blank, words) for place, blank in places.items()}


def _as_package(name: str) -> dict[str, str]:
    package, project = f"gamegen_{name}", _project(name)
    words = _words(name) | {
        "project": project,
        "package": package,
        **{f"{part}_module": f"{package}.{part}" for part in ("game", "solver", "renderer")},
        "path_import": "from pathlib import Path\n",
        "skin_path": '    skin_path = Path(__file__).with_name("skins.toml")\n',
    }
    inside = {"__init__.py": "init.py"} | {
        each: each for each in ("game.py", "solver.py", "renderer.py", "skins.toml", "words.toml")
    }
    places = {"pyproject.toml": "pyproject.toml", f"tests/test_{name}.py": "test.py", "tests/test_laws.py": "laws.py"}
    places |= {f"{package}/{place}": blank for place, blank in inside.items()}
    return {f"{project}/{place}": _fill(blank, words) for place, blank in places.items()}


def _project(name: str) -> str:
    return f"gamegen-{name.replace('_', '-')}"


def _words(name: str) -> dict[str, str]:
    parts = name.split("_")
    return {"name": name, "title": " ".join(parts).capitalize(), "class": "".join(part.capitalize() for part in parts)}


def _fill(blank: str, words: dict[str, str]) -> str:
    """A blank file with every `{{word}}` filled in."""
    text = (Path(__file__).parent.parent / "blank" / f"{blank}.txt").read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace("{{" + word + "}}", value)
    return text
