"""Adapters: the published signatures, real tensors in every layout, and the same reward through every door."""

from __future__ import annotations

import asyncio
import base64
import importlib
import inspect
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

import numpy as np
import pytest
from PIL import Image
from pydantic import BaseModel

from gamegen.adapters import flow_grpo, lmms_eval, trl, verifiers_env, verl, verl_omni
from gamegen.adapters.inputs import picture, pictures, row_of, said_picture
from gamegen.core.errors import BadInput
from gamegen.reward import IDLE, NEEDED
from gamegen.sample import make_sample

torch = pytest.importorskip("torch")

A, B, C = TypeVar("A"), TypeVar("B"), TypeVar("C")
ROOT = Path(__file__).parent.parent
SAMPLES = [make_sample(f"tictactoe/best@1:train:1:5:{index}") for index in range(3)]
ROWS = [{name: sample[name] for name in NEEDED} for sample in SAMPLES]
ROW, GOLD, COPY = ROWS[0], SAMPLES[0].edited.convert("RGB"), SAMPLES[0].original.convert("RGB")


def nhwc(images: list[Image.Image]) -> np.ndarray[Any, Any]:
    return np.stack([np.asarray(image.convert("RGB")) for image in images])


def data_url(image: Image.Image) -> str:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """Names and defaults, `...` for none; stars as in source."""
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    return [
        (stars.get(each.kind, "") + each.name, ... if each.default is inspect.Parameter.empty else each.default)
        for each in inspect.signature(function).parameters.values()
    ]


# flow_grpo ------------------------------------------------------------------------------------------------------------

FLOW = [("images", ...), ("prompts", ...), ("metadata", ...), ("ref_images", None), ("only_strict", True)]


@pytest.mark.parametrize("factory", [flow_grpo.gamegen_score, flow_grpo.gamegen_dense_score])
def test_flow_grpo_has_the_published_signature(factory: Callable[[object], flow_grpo.Scorer]) -> None:
    assert "device" in factory.__code__.co_varnames  # flow_grpo looks there before it passes its device
    assert parameters(factory) == [("device", ...)] and parameters(factory("cuda:0")) == FLOW


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "nhwc uint8", "nchw uint8", "list"])
def test_flow_grpo_scores_every_kind_of_batch(kind: str) -> None:
    array = nhwc([SAMPLES[0].edited, SAMPLES[1].original, SAMPLES[2].edited])
    nchw = torch.from_numpy(array.transpose(0, 3, 1, 2).copy())
    batch = {
        "nhwc uint8": array,
        "nchw uint8": nchw,
        "list": [Image.fromarray(array[0]), array[1], nchw[2]],
    }.get(kind)
    if batch is None:
        batch = (nchw.float() / 255).to(getattr(torch, kind)).requires_grad_()
    scores, info = flow_grpo.gamegen_score("cpu")(batch, ["", "", ""], ROWS)
    assert scores == [1.0, 0.0, 1.0]
    assert info["readable"] == [1.0, 1.0, 1.0] and all(len(values) == 3 for values in info.values())
    dense, _ = flow_grpo.gamegen_dense_score("cpu")(batch, ["", "", ""], [json.dumps(row) for row in ROWS])
    assert dense == [1.0, IDLE, 1.0]
    assert dense == flow_grpo.gamegen_score("cpu")(batch, ["", "", ""], ROWS, only_strict=False)[0]


def test_flow_grpo_refuses_a_batch_of_another_length() -> None:
    with pytest.raises(ValueError):
        flow_grpo.gamegen_score("cpu")(nhwc([GOLD]), [""], ROWS)


def test_pictures_that_diverged_get_nothing() -> None:
    scores, info = flow_grpo.gamegen_score("cpu")(torch.full((1, 3, 64, 64), float("nan")), [""], [ROW])
    assert scores == [0.0] and info["readable"] == [0.0]


# verl and verl-omni ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [verl.compute_score, verl.compute_dense_score])
def test_verl_has_the_published_signature(function: Callable[..., Any]) -> None:
    names = [
        ("data_source", ...),
        ("solution_str", ...),
        ("ground_truth", ...),
        ("extra_info", None),
        ("**kwargs", ...),
    ]
    assert parameters(function) == names


def test_verl_judges_the_last_picture_in_the_text() -> None:
    truth = json.dumps(ROW)
    text = f"<think>First try {data_url(COPY)}, then</think> ![]({data_url(GOLD)})"
    assert verl.compute_score("gamegen", text, truth, reward_router_address=None)["score"] == 1.0
    copied = verl.compute_dense_score("gamegen", f"{data_url(GOLD)} {data_url(COPY)}", truth)
    assert copied["score"] == IDLE and copied["strict"] == 0.0
    silent = verl.compute_score("gamegen", "I cannot draw.", truth)
    assert silent["score"] == 0.0 and silent.keys() == copied.keys()


def test_verl_follows_no_path_in_a_models_text(tmp_path: Path) -> None:
    gold = tmp_path / "gold.png"
    GOLD.save(gold)
    for text in (str(gold), f"![]({gold})", gold.as_uri()):
        assert verl.compute_score("gamegen", text, ROW)["score"] == 0.0
    assert verl.compute_score("gamegen", "", ROW, {"solution_image": gold})["score"] == 1.0


def test_verl_never_takes_the_answer_for_the_solution() -> None:
    assert verl.compute_score("gamegen", "", ROW, dict(SAMPLES[0]))["score"] == 0.0


@pytest.mark.parametrize("function", [verl_omni.compute_score, verl_omni.compute_dense_score])
def test_verl_omni_has_the_published_signature(function: Callable[..., Any]) -> None:
    names = [("data_source", ...), ("solution_image", ...), ("ground_truth", ...), ("extra_info", ...)]
    assert parameters(function) == names


def test_verl_omni_judges_uint8_tensors() -> None:
    chw = torch.from_numpy(nhwc([GOLD])[0].transpose(2, 0, 1).copy())
    copy = torch.from_numpy(nhwc([COPY])[0].transpose(2, 0, 1).copy())
    truth = json.dumps(ROW)
    assert verl_omni.compute_score("gamegen", chw, truth, None)["score"] == 1.0
    assert verl_omni.compute_score("gamegen", chw[None], truth, {})["score"] == 1.0
    assert verl_omni.compute_score("gamegen", copy, truth, None)["score"] == 0.0
    assert verl_omni.compute_dense_score("gamegen", copy, truth, None)["score"] == IDLE
    with pytest.raises(BadInput, match="batch of 2"):
        verl_omni.compute_score("gamegen", torch.stack([chw, chw]), truth, None)


# TRL ------------------------------------------------------------------------------------------------------------------


def call_trl(function: Callable[..., list[float | None]], completions: list[Any], **changed: Any) -> list[float | None]:
    """As the trainer calls it: everything by keyword, every column as a list."""
    columns = {name: [row[name] for row in ROWS[: len(completions)]] for name in NEEDED}
    return function(
        prompts=[""] * len(completions),
        completions=completions,
        completion_ids=[[]] * len(completions),
        trainer_state=None,
        log_extra=None,
        log_metric=None,
        environments=None,
        **{**columns, **changed},
    )


def test_trl_reads_every_form_of_completion() -> None:
    message = [{"role": "assistant", "content": [{"type": "text", "text": "Here."}, {"type": "image", "image": GOLD}]}]
    url = [{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": data_url(GOLD)}}]}]
    text = [{"role": "assistant", "content": f"Here: {data_url(GOLD)}"}]
    for completion in (message, url, text, data_url(GOLD), GOLD):
        assert call_trl(trl.gamegen_reward, [completion]) == [1.0]
    assert call_trl(trl.gamegen_reward, [[{"role": "assistant", "content": "No."}]]) == [0.0]
    shown = [{"role": "tool", "content": data_url(GOLD)}, {"role": "assistant", "content": "That one."}]
    assert call_trl(trl.gamegen_reward, [shown]) == [0.0]


def test_trl_skips_rows_of_other_rewards_and_names_missing_columns() -> None:
    completions = [COPY, SAMPLES[1].edited, GOLD]
    tasks = [ROWS[0]["task"], ROWS[1]["task"], None]
    assert call_trl(trl.gamegen_dense_reward, completions, task=tasks) == [IDLE, 1.0, None]
    with pytest.raises(BadInput, match="style"):
        trl.gamegen_reward(prompts=[""], completions=[GOLD], **{n: [ROW[n]] for n in NEEDED if n != "style"})


# lmms-eval ------------------------------------------------------------------------------------------------------------


def test_lmms_eval_judges_the_stored_picture(tmp_path: Path) -> None:
    assert [name for name, _ in parameters(lmms_eval.process_results)] == ["doc", "results", "**kw"]
    doc = {**SAMPLES[0].row(), "original_image": COPY}
    GOLD.save(tmp_path / "7.png")
    answer = json.dumps({"text": "", "images": [str(tmp_path / "7.png")]})
    metrics = lmms_eval.process_results(doc, [answer], full_docs=None)
    assert metrics["gamegen_strict"] == metrics["gamegen_dense"] == 1.0
    for missing in ("words alone", json.dumps({"text": "", "images": []}), json.dumps({"images": ["gone.png"]}), "3"):
        zeros = lmms_eval.process_results(doc, [missing])
        assert zeros.keys() == metrics.keys() and set(zeros.values()) == {0.0}
    assert lmms_eval.doc_to_visual(doc)[0].size == COPY.size
    prompt = SAMPLES[0].prompt
    assert lmms_eval.doc_to_text(doc) == prompt
    assert lmms_eval.doc_to_text(doc, {"pre_prompt": "Edit. ", "post_prompt": " Go."}) == f"Edit. {prompt} Go."


# verifiers ------------------------------------------------------------------------------------------------------------


def test_verifiers_imports_nothing_of_ours() -> None:
    code = "import sys, gamegen.adapters.verifiers_env\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.partition(".")[0] == "gamegen"} == {
        "gamegen", "gamegen.adapters", "gamegen.adapters.verifiers_env"
    }  # fmt: skip
    assert not {name.partition(".")[0] for name in loaded} & {"renderers", "solvers", "numpy", "PIL"}
    assert verifiers_env.NEEDED == NEEDED


@pytest.mark.parametrize(
    "completion",
    [
        "nothing",
        f"{data_url(COPY)} then {data_url(GOLD)}",
        [{"role": "assistant", "content": data_url(GOLD)}, {"role": "assistant", "content": None}],
        [{"role": "user", "content": data_url(GOLD)}, {"role": "assistant", "content": "no"}],
        [{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": data_url(GOLD)}}]}],
        [{"role": "assistant", "content": [{"type": "text", "text": data_url(GOLD)}, {"type": "text", "text": "so"}]}],
    ],
)
def test_verifiers_finds_the_same_picture_as_the_others(completion: Any) -> None:
    found = verifiers_env.last_picture(completion)
    assert (None if found is None else base64.b64decode(found)) == said_picture(completion)


def test_verifiers_sends_the_row_and_reads_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    answers = iter([{"rewards": [0.5], "verdicts": [{}]}, {"rewards": [None], "verdicts": [{"error": "no such task"}]}])

    def urlopen(request: Any, timeout: float) -> io.BytesIO:
        assert request.full_url == "http://127.0.0.1:9/reward" and timeout == 60
        sent.append(json.loads(request.data))
        return io.BytesIO(json.dumps(next(answers)).encode())

    monkeypatch.setattr(verifiers_env.urllib.request, "urlopen", urlopen)
    reward = verifiers_env.make_reward("http://127.0.0.1:9/", dense=True)
    example = verifiers_env.to_example(SAMPLES[0])
    assert asyncio.run(reward(completion=data_url(GOLD), info=example["info"], state={})) == 0.5
    assert sent == [{"items": [{"row": ROW, "image": data_url(GOLD).partition(",")[2]}], "dense": True}]
    with pytest.raises(RuntimeError, match="no such task"):
        asyncio.run(reward(completion="", info=ROW))


class Runtime:
    """The part of verifiers' runtimes that the taskset uses: files in a working directory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    async def run(self, argv: list[str], env: dict[str, str]) -> Any:
        assert argv[:2] == ["test", "-f"]
        return SimpleNamespace(exit_code=int(argv[2] not in self.files))

    async def read(self, path: str, max_bytes: int | None = None) -> bytes:
        assert max_bytes is not None and len(self.files[path]) <= max_bytes
        return self.files[path]

    async def write(self, path: str, data: bytes) -> None:
        self.files[path] = data


@pytest.fixture
def taskset(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The taskset on stand-ins with the published signatures of verifiers 0.4, which cannot be installed beside us."""

    class Part(BaseModel):
        type: str
        text: str | None = None
        image_url: dict[str, str] | None = None

    class Message(BaseModel):
        role: str
        content: list[Part]

    class TaskData(BaseModel):
        id: str | None = None
        prompt: list[Message]

    class Task(Generic[A, B, C]):
        def __init__(self, data: Any, config: Any) -> None:
            self.data, self.config = data, config

    class Taskset(Generic[A, B]):
        def __init__(self, config: Any) -> None:
            self.config = config

    def reward(weight: float) -> Any:
        return lambda function: function

    names = SimpleNamespace(
        TaskData=TaskData, TaskConfig=BaseModel, State=object, Task=Task, TasksetConfig=BaseModel, Taskset=Taskset,
        reward=reward,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "verifiers", SimpleNamespace(v1=names))
    monkeypatch.setitem(sys.modules, "verifiers.v1", names)
    yield importlib.import_module("gamegen.adapters.verifiers_taskset")
    sys.modules.pop("gamegen.adapters.verifiers_taskset")


def test_the_taskset_of_verifiers_judges_replies_and_files(
    taskset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = tmp_path / "examples.jsonl"
    lines.write_text("".join(json.dumps(verifiers_env.to_example(sample)) + "\n" for sample in SAMPLES))
    config = taskset.GamegenTasksetConfig(examples=lines, task={"server": "http://127.0.0.1:9", "dense": True})
    tasks = list(taskset.GamegenTaskset(config).load())
    assert [task.data.id for task in tasks] == [sample.id for sample in SAMPLES]
    asked: list[tuple[str, Any]] = []

    def ask(url: str, item: dict[str, Any], dense: bool, timeout: float) -> float:
        assert (url, item["row"], dense, timeout) == ("http://127.0.0.1:9/reward", ROW, True, 60.0)
        return asked.append(item["image"]) or 0.5  # type: ignore[func-returns-value, return-value]

    monkeypatch.setattr(verifiers_env, "_ask", ask)
    runtime, gold, copy = Runtime(), data_url(GOLD), data_url(COPY)
    asyncio.run(tasks[0].setup(None, runtime))
    assert runtime.files == {"original.png": SAMPLES[0]["original_image"]}
    for reply, box in (("nothing", None), ("nothing", runtime), (gold, None)):
        assert asyncio.run(tasks[0].gamegen(SimpleNamespace(last_reply=reply), box)) == 0.5
    runtime.files["answer.png"] = base64.b64decode(copy.partition(",")[2])
    for reply in ("saved", gold):
        asyncio.run(tasks[0].gamegen(SimpleNamespace(last_reply=reply), runtime))
    assert asked == [None, None, *(each.partition(",")[2] for each in (gold, copy, gold))]


# What comes in --------------------------------------------------------------------------------------------------------


def test_ground_truth_is_a_row_or_its_json() -> None:
    assert row_of(json.dumps(ROW)) == row_of(json.dumps(ROW).encode()) == row_of(ROW) == ROW
    for wrong in ("", "X wins", "[1]", "null"):
        with pytest.raises(BadInput, match="ground truth"):
            row_of(wrong)


@pytest.mark.parametrize("shape", [(40, 50, 3), (3, 40, 50), (1, 40, 50), (40, 50, 1), (4, 40, 50), (1, 3, 40, 50)])
def test_layouts_become_channels_last(shape: tuple[int, ...]) -> None:
    assert picture(torch.zeros(shape)).shape[:2] == (40, 50)


@pytest.mark.parametrize(
    "wrong", [torch.zeros(3, 40, 50, dtype=torch.int64), torch.zeros(40, 50), np.zeros((2, 2, 2, 2, 2))]
)
def test_what_is_no_picture_is_the_callers_mistake(wrong: Any) -> None:
    with pytest.raises(BadInput):
        picture(wrong)
    with pytest.raises(BadInput):
        pictures(wrong)
