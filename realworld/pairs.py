"""Third stage: the original picture of each triple from its description, then edited pictures from that.

The editor reads the instruction and the effect; the dataset keeps the instruction alone. All originals are made before
the first edit, so that only one model is loaded at a time. A picture's seed is made of its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from PIL import Image

from edit_models.editors.outputs import keep
from edit_models.editors.protocol import Edit
from edit_models.editors.registry import EDITORS
from edit_models.editors.run import attempt
from edit_models.generators.registry import GENERATORS
from edit_models.registry import Registry
from gamegen.core.errors import BadInput
from gamegen.core.stream import Stream
from gamegen.images import load_rgb
from realworld.recipe import Pairs
from realworld.run import Run, Triple, fingerprint, wish
from realworld.stage import Done, Piece, Progress, Stage, at_work


@dataclass(frozen=True, slots=True)
class Picture:
    """One to make: number 0 is the original, the others are edited."""

    triple: Triple
    number: int
    folder: Path
    seed: int

    @property
    def path(self) -> Path:
        return self.folder / (f"edited-{self.number}.png" if self.number else "original.png")

    def made_by(self, model: Any) -> Any:
        if not self.number:
            return model.generate(self.triple.description, seed=self.seed)
        original = Image.fromarray(load_rgb(self.folder / "original.png"))
        return model.edit(original, wish(self.triple), seed=self.seed)


@dataclass(frozen=True, slots=True)
class Maker:
    """Who makes pictures: models of one kind, one for each job."""

    registry: Registry
    method: str
    name: str
    options: Mapping[str, Any]

    def build(self, jobs: int) -> list[Any]:
        """A model that waits for a server is shared; others are loaded once a job, each onto the next GPU."""
        built: list[Any] = []
        for worker in range(jobs):
            shared = bool(built) and self.registry.waits(self.name)
            built.append(built[0] if shared else self.registry.build(self.name, self.options, worker=worker))
        if not hasattr(built[0], self.method):
            what = self.registry.what
            raise BadInput(
                f"{what} {self.name!r} gives {built[0]!r:.100}, which has no {self.method}(); see gamegen real"
            )
        return built


def make_pairs(run: Run, options: Pairs, progress: Progress) -> Done:
    generator = Maker(GENERATORS, "generate", options.generator, options.generator_options)
    editor = Maker(EDITORS, "edit", options.editor, options.editor_options)
    for maker in (generator, editor):
        maker.registry.check(maker.name, maker.options)
    triples = list(run.unique())
    if not triples:
        raise BadInput(f"{run.folder} has no triples to draw; `gamegen real dedup` says which are left")
    plan = {name: getattr(options, name) for name in ("generator", "generator_options", "editor", "editor_options")}
    with at_work(run, "pairs", {**plan, "seed": options.seed}, progress) as stage:
        originals = [_piece(run, options, triple, 0, triple.description) for triple in triples]
        missing = stage.missing(originals, _is_there)
        if missing:
            editor.build(1)  # and let go: what is wrong with it is to be known before the first picture
        _make(stage, missing, generator, options.jobs)
        edits = [
            _piece(run, options, triple, number, drawn, wish(triple))
            for triple in triples
            if (drawn := stage.result(triple.id).get("picture"))
            for number in range(1, options.candidates + 1)
        ]
        _make(stage, stage.missing(edits, _is_there), editor, options.jobs)
        return stage.settle([*originals, *edits])


def _piece(run: Run, options: Pairs, triple: Triple, number: int, *of: str) -> Piece[Picture]:
    name = f"{triple.id}-{number}" if number else triple.id
    seed = Stream("picture", options.seed, name).below(2**31)
    return Piece(name, fingerprint(*of), Picture(triple, number, run.images(triple), seed))


def _is_there(picture: Picture) -> bool:
    return picture.path.is_file()


def _make(stage: Stage, missing: Sequence[Piece[Picture]], maker: Maker, jobs: int) -> None:
    if not missing:
        return
    models: SimpleQueue[Any] = SimpleQueue()
    for model in maker.build(jobs):
        models.put(model)

    def make(picture: Picture) -> Edit | str:
        model = models.get()
        try:
            return attempt(lambda: picture.made_by(model))
        finally:
            models.put(model)

    with ThreadPoolExecutor(jobs) as pool:
        flying = {pool.submit(make, piece.work): piece for piece in missing}
        try:
            for future in as_completed(flying):
                _keep(stage, flying[future], future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _keep(stage: Stage, piece: Piece[Picture], made: Edit | str) -> None:
    picture = piece.work
    try:
        trouble = made if isinstance(made, str) else keep(made, picture.path)
    except OSError as error:
        raise BadInput(f"cannot write {picture.path}: {error}; run the same command again to go on") from error
    if trouble:
        stage.fail(piece, trouble)
        return
    result = {"picture": fingerprint(picture.path.read_bytes()), "seed": picture.seed}
    stage.add(piece, result | ({"triple": picture.triple.id, "number": picture.number} if picture.number else {}))
