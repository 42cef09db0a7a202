"""Compares sizing with the measured runs of ``tests/data/measured.csv``.

``python -m tests.fleet.sizing.accuracy`` prints the table of docs/sizing.md; the tests assert
its aggregates.
"""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fleet.catalogue.accelerators import accelerator, usable_mib
from fleet.catalogue.models import Model, model
from fleet.sizing.cards import Card
from fleet.sizing.kv_cache import kv_cost
from fleet.sizing.llm import judge
from fleet.sizing.parallelism import Split
from fleet.sizing.requirement import Fit, Shape
from fleet.sizing.training import judge as judge_training
from fleet.sizing.training import peak_gib
from fleet.sizing.weights import weights_per_gpu
from fleet.workloads import LlmWorkload, TrainingWorkload

DATA = Path(__file__).parents[2] / "data" / "measured.csv"
GIB = 2**30

# Names in reports -> catalogue name and billions of vision parameters that the entry lacks.
MODELS = {
    r"Qwen2.5-VL-72B": ("Qwen/Qwen2.5-72B", 0.705),
    r"Lingshu-32B": ("Qwen/Qwen2.5-32B", 0.689),
    r"gemma-3-27b": ("google/gemma-3-27b-it", 0.0),
    r"gpt-oss-120b|GPT-OSS-120B": ("openai/gpt-oss-120b", 0.0),
    r"gpt-oss-20b": ("openai/gpt-oss-20b", 0.0),
    r"Qwen3-235B-A22B": ("Qwen/Qwen3-235B-A22B", 0.0),
    r"Qwen3-30B-A3B": ("Qwen/Qwen3-30B-A3B", 0.0),
    r"Qwen3.6-35B-A3B": ("Qwen/Qwen3.6-35B-A3B", 0.0),
    r"Qwen3.5-35B-A3B": ("Qwen/Qwen3.5-35B-A3B", 0.0),
    r"Qwen3.8-27B|Qwen3.6-27B": ("Qwen/Qwen3.6-27B", 0.0),
    r"Qwen3-32B": ("Qwen/Qwen3-32B", 0.0),
    r"Qwen3-Next-80B": ("Qwen/Qwen3-Next-80B-A3B-Instruct", 0.0),
    r"DeepSeek-V4-Flash": ("deepseek-ai/DeepSeek-V4-Flash", 0.0),
    r"DeepSeek-Coder-V2-Lite": ("deepseek-ai/DeepSeek-V2-Lite", 0.0),
    r"R1-Distill-Qwen-32B": ("Qwen/Qwen2.5-32B", 0.0),
    r"GGUF|turbomind|unnamed": ("", 0.0),
    r"DeepSeek-V3": ("deepseek-ai/DeepSeek-V3", 0.0),
    r"DeepSeek-R1": ("deepseek-ai/DeepSeek-R1", 0.0),
    r"Qwen2.5-14B": ("Qwen/Qwen2.5-14B", 0.0),
    r"small 0.5B": ("Qwen/Qwen2.5-0.5B", 0.0),
    r"Qwen2.5-1.5B": ("Qwen/Qwen2.5-1.5B", 0.0),
    r"7B-class int4": ("Qwen/Qwen2.5-7B", 0.0),
    r"Qwen3-4B": ("Qwen/Qwen3-4B", 0.0),
    r"Qwen3-8B": ("Qwen/Qwen3-8B", 0.0),
    r"Llama-3.2-3B": ("meta-llama/Llama-3.2-3B", 0.0),
    r"Llama-?3?.?1?-405B": ("meta-llama/Meta-Llama-3.1-405B", 0.0),
    r"Llama-?3(.[13])?-70B": ("meta-llama/Meta-Llama-3.1-70B", 0.0),
    r"Llama-?3(.1)?-8B": ("meta-llama/Meta-Llama-3.1-8B", 0.0),
    r"Llama-2-70b": ("meta-llama/Llama-2-70b-hf", 0.0),
    r"Llama-2-7b": ("meta-llama/Llama-2-7b-hf", 0.0),
    r"Mixtral-8x7B": ("mistralai/Mixtral-8x7B-v0.1", 0.0),
    r"Mistral-7B": ("mistralai/Mistral-7B-v0.3", 0.0),
    r"Yi-1.5-34B|Yi-34B": ("01-ai/Yi-1.5-34B-Chat", 0.0),
    r"Phi-4-mini": ("microsoft/Phi-4-mini-instruct", 0.0),
    r"MiniMax-M2.5": ("MiniMaxAI/MiniMax-M2.5", 0.0),
    r"Qwen3.5-397B": ("Qwen/Qwen3.5-397B-A17B", 0.0),
    r"Kimi-K2.5": ("moonshotai/Kimi-K2.5", 0.0),
    r"GLM-5": ("zai-org/GLM-5", 0.0),
}
GPUS = {
    r"^A100/H100": "H100-SXM5-80GB",
    r"^A100-80": "A100-SXM4-80GB",
    r"^A100-40": "A100-SXM4-40GB",
    r"^H100-96": "H100-SXM5-96GB",
    r"(?i)^h100": "H100-SXM5-80GB",
    r"(?i)^h200": "H200-SXM-141GB",
    r"(?i)^b200": "B200",
    r"(?i)^b300": "B300",
    r"(?i)^gb200": "GB200",
    r"^RTX PRO 6000": "RTX-PRO-6000-Blackwell-Server",
    r"^RTX 4090": "RTX-4090",
    r"^RTX 3090": "RTX-3090",
    r"^RTX 5090": "RTX-5090",
    r"^RTX A6000|^A6000": "RTX-A6000",
    r"^L40S": "L40S",
    r"^A10G": "A10G",
    r"^T4": "T4",
    r"^MI300X": "MI355X",
    r"^MI50": "MI60",
    r"^V100": "V100-SXM2-32GB",
}
PRECISIONS = {
    "fp4": "nvfp4",
    "awq-int4": "int4",
    "gptq-int4": "int4",
    "bnb-nf4": "int4",
    "bf16-4bit": "int4",
    "int4/fp8": "int4",
    "fp8-block128": "fp8",
}
# Training rows that the form cannot express: tensor, pipeline or expert parallel ...
SPLIT_OTHERWISE = frozenset({"T044", "T045", "T061", "T062", "T065", "T067", "T068", "T071"})
# ... and selective recomputation, which lies between checkpointing and none.
SELECTIVE = frozenset({"T040", "T042", "T046"})


@dataclass(frozen=True)
class Run:
    """One row: the model that it ran, on which card, split how."""

    row: dict[str, str]
    entry: Model
    precision: str
    card: Card | None

    @property
    def split(self) -> Split:
        return Split(int(self.row["tp"] or 1), int(self.row["pp"] or 1), 1)

    def figure(self, column: str) -> float | None:
        return float(self.row[column]) if self.row[column] else None


def runs(kind: str) -> Iterator[Run]:
    """Rows of a kind whose model the catalogue holds."""
    with DATA.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            entry = _model(row["model"])
            if row["kind"] != kind or entry is None or row["id"] in SPLIT_OTHERWISE:
                continue
            yield Run(row, entry, _precision(row, entry), _card(row))


def _model(name: str) -> Model | None:
    for pattern, (known, vision) in MODELS.items():
        if re.search(pattern, name):
            entry = model(known)
            if entry is None or not vision:
                return entry
            total = entry.total_params_b + vision
            return replace(entry, kind="vlm", vision_params_b=vision, total_params_b=total)
    return None


def _precision(row: dict[str, str], entry: Model) -> str:
    found = PRECISIONS.get(row["dtype"], row["dtype"])
    if found == "nvfp4" and entry.name.startswith("openai/"):
        return "mxfp4"
    if found == "nvfp4" and entry.name == "moonshotai/Kimi-K2.5":
        return "int4"
    return found


def _card(row: dict[str, str]) -> Card | None:
    stated = float(row["gpu_mem_gib"]) if row["gpu_mem_gib"] else None
    for pattern, name in GPUS.items():
        if re.search(pattern, row["gpu"]):
            board = accelerator(name)
            assert board is not None
            exact = stated is not None and stated != int(stated)
            usable = stated * 1024 if exact and stated else usable_mib(board)
            return Card(name, board, usable, 8)
    return Card(row["gpu"], None, stated * 1024, 8) if stated else None


def weight_errors() -> dict[str, float]:
    """Signed relative error of weights per GPU, by row id."""
    found = {}
    for run in runs("llm"):
        logged = run.figure("reported_weights_gib_per_gpu")
        if logged:
            mib, _ = weights_per_gpu(run.entry, run.precision, run.split.tp, run.split.pp)
            found[run.row["id"]] = mib / 1024 / logged - 1
    return found


def kv_token_errors() -> dict[str, float]:
    """Signed relative error of tokens held by a KV cache of the logged size."""
    found = {}
    for run in runs("llm"):
        gib, tokens = run.figure("reported_kv_gib_per_gpu"), run.figure("reported_kv_tokens")
        if not gib or not tokens:
            continue
        width = 1 if run.row["kv_dtype"] == "fp8" else 2
        cost = kv_cost(run.entry, value_bytes=width, tp=run.split.tp, pp=run.split.pp)
        found[run.row["id"]] = gib * GIB / cost.per_token / tokens - 1
    return found


def judged(run: Run) -> Shape | None:
    """Our verdict for the run as it was configured; None when memory is not stated."""
    if run.card is None:
        return None
    batch = run.row["batch_seqs"]
    seen = re.search(r"concurrency (\d+), ISL (\d+) OSL (\d+)", batch)
    concurrency, inp, out = (int(v) for v in seen.groups()) if seen else (1, 400, 100)
    limit = re.search(r"max_num_seqs=(\d+)", batch)
    engine = next(
        (
            e
            for e, mark in (("sglang", "glang"), ("tensorrt-llm", "rt"))
            if mark in run.row["framework"].lower().replace("tensorrt", "trt")
        ),
        "vllm",
    )
    context = int(run.row["max_model_len"] or 2048)
    workload = LlmWorkload(
        name="run",
        model=run.entry.name,
        precision=run.precision,  # type: ignore[arg-type]
        kv_precision="fp8" if run.row["kv_dtype"] == "fp8" else "auto",
        engine=engine,  # type: ignore[arg-type]
        input_tokens=min(inp, context),
        output_tokens=out,
        max_context=max(context, inp + out) if seen else context,
        concurrency=concurrency,
        memory_utilization=run.figure("gpu_memory_utilization") or 0.9,
    )
    return judge(
        run.entry, workload, run.card, run.split, sequences=int(limit[1]) if limit else None
    )


def serving_verdicts() -> dict[str, tuple[bool, Fit]]:
    """Whether each run started and served, and what we say, by row id."""
    found = {}
    for run in runs("llm"):
        shape = judged(run) if int(run.row["dp"] or 1) == 1 else None
        if shape is not None:
            found[run.row["id"]] = (run.row["oom"] == "no", shape.fit)
    return found


def _training(run: Run) -> tuple[TrainingWorkload, int] | None:
    row = run.row
    seen = re.search(r"(\d+)(?: per GPU, packed| x) (\d+)", row["batch_seqs"])
    seen = seen or re.search(r"MBS(\d+) x (\d+)", row["batch_seqs"])
    if seen is None:
        return None
    text = row["framework"]
    method = "qlora" if "QLoRA" in text else "lora" if "LoRA" in text else "full"
    return (
        TrainingWorkload(
            name="run",
            model=run.entry.name,
            method=method,  # type: ignore[arg-type]
            recipe="bf16" if row["dtype"] == "bf16 pure" else "mixed",
            sharding="zero3" if row["zero_stage"] == "3" or int(row["dp"]) > 1 else "ddp",
            sequence_tokens=int(seen[2]),
            micro_batch=int(seen[1]),
            checkpointing=True,
        ),
        int(row["num_gpus"]),
    )


def training_errors() -> dict[str, float]:
    """Signed relative error of the peak of tensors (torch peak, else the total reported)."""
    found = {}
    for run in runs("training"):
        job = _training(run)
        total = run.figure("reported_total_gib_per_gpu")
        if job is None or run.row["oom"] == "yes" or total is None or run.row["id"] in SELECTIVE:
            continue
        torch = re.search(r"torch peak ([\d.]+) GiB", run.row["notes"])
        measured = float(torch[1]) if torch else total
        found[run.row["id"]] = peak_gib(run.entry, *job) / measured - 1
    return found


def training_verdicts() -> dict[str, tuple[bool, Fit]]:
    """Whether each job ran, and what we say."""
    found = {}
    for run in runs("training"):
        job = _training(run)
        if job is not None and run.card is not None:
            shape = judge_training(run.entry, job[0], run.card, job[1])
            found[run.row["id"]] = (run.row["oom"] == "no", shape.fit)
    return found


def summary(errors: dict[str, float]) -> tuple[int, float, float]:
    """Count, median and 90th percentile of the absolute errors."""
    sizes = sorted(abs(error) for error in errors.values())
    return len(sizes), statistics.median(sizes), sizes[min(int(0.9 * len(sizes)), len(sizes) - 1)]


def right(verdicts: dict[str, tuple[bool, Fit]]) -> float:
    """Share of runs where "no" means refused and all else means ran."""
    hits = [ran == (fit is not Fit.NO) for ran, fit in verdicts.values()]
    return sum(hits) / len(hits)


def _show() -> None:
    for title, errors in (
        ("weights per GPU", weight_errors()),
        ("tokens in the KV cache", kv_token_errors()),
        ("training peak", training_errors()),
    ):
        count, median, p90 = summary(errors)
        print(f"{title}: n {count}, median {median:.1%}, p90 {p90:.1%}")
        for key, error in sorted(errors.items(), key=lambda item: -abs(item[1]))[:8]:
            print(f"    {key} {error:+.1%}")
    for title, verdicts in (
        ("serving verdict", serving_verdicts()),
        ("training verdict", training_verdicts()),
    ):
        print(f"{title}: n {len(verdicts)}, right {right(verdicts):.0%}")
        for key, (ran, fit) in verdicts.items():
            if ran != (fit is not Fit.NO) or (fit is Fit.TIGHT):
                print(f"    {key} {'ran' if ran else 'refused'}, we say {fit}")


if __name__ == "__main__":
    _show()
