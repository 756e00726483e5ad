"""Start a game of your own: let gamegen write one that runs, then make, draw and judge a problem with its parts."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gamegen.__main__ import main
from gamegen.core.stream import Stream

with TemporaryDirectory() as folder:
    assert main(["new", "porch", "--dir", folder]) == 0
    sys.path.insert(0, str(Path(folder) / "gamegen-porch"))  # `pip install -e` would do, and register it too
    from gamegen_porch import plugin

    problem = plugin.solver.generate("light", 2, Stream("an example"))
    solution = plugin.solver.solve(problem)
    style = plugin.renderer.style(problem, skin="night", pixels=256, rng=Stream("a look"))
    picture = plugin.renderer.render(solution.after, style)
    seen = plugin.renderer.read(np.asarray(picture.image()), problem, style)
    print(problem.position, "->", seen.position)
    print(plugin.solver.check(problem, seen.position).reason)
