"""What the tables of ``gpu-fleet`` say beside their figures: prices, ages, counts, what is left
out."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from fleet.cli import main
from fleet.cli.size_command import SHOWN

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/data/cases"
WORKLOADS = """workloads:
- {kind: embedding, name: embed, model: BAAI/bge-m3}
- {kind: llm, name: chat, model: Qwen/Qwen3-8B, replicas: 2}
"""
LARGE = """workloads:
- kind: embedding
  name: large
  shape: {total_params_b: 30, hidden_size: 5120, num_layers: 60, num_heads: 40}
"""
DAY = 86_400
NOON = 1_785_758_400  # 3 August 2026 12:00 UTC


def case(number: str) -> str:
    (path,) = CASES.glob(f"{number}-*.json")
    return str(path)


@pytest.fixture
def workloads(tmp_path: Path) -> str:
    path = tmp_path / "workloads.yaml"
    path.write_text(WORKLOADS)
    return str(path)


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    return capsys.readouterr().out


def one_node(folder: Path, gpus: int, **labels: str) -> str:
    """A cluster of one node."""
    held = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    node: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": labels},
        "status": {
            "capacity": held,
            "allocatable": held,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    path = folder / "node.json"
    path.write_text(json.dumps(node))
    return str(path)


# plan


def test_plan_over_three_clusters_places_where_the_model_is_known(
    workloads: str, capsys: pytest.CaptureFixture[str]
) -> None:
    clusters = [
        part
        for name, number in (("mixed", "06"), ("tokyo", "12"), ("osaka", "16"))
        for part in ("--cluster", f"{name}={case(number)}")
    ]
    report = json.loads(told(capsys, "plan", workloads, *clusters, "--json"))
    assert {row["status"] for row in report["rows"]} == {"placed"}
    # The H100 of tokyo take the median of their family, those of osaka the price of their machine.
    assert {row["cluster"] for row in report["rows"]} == {"tokyo"}

    out = told(capsys, "plan", workloads, *clusters)
    assert out.startswith("3 of 3 replicas placed for ")
    assert all(f"  {name}: {CASES}" in out for name in ("mixed", "tokyo", "osaka"))
    assert "Unknown model: 8 GPUs on 4 nodes." in out


def test_plan_says_where_its_price_is_from(
    workloads: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(capsys, "plan", workloads, case("16"))
    assert "\nPrices\n  H100-SXM5-80GB 11.62 USD a GPU-hour: list price, instance type " in out
    (line,) = (line for line in out.splitlines() if "a GPU-hour" in line)
    assert "a3-megagpu-8g in us-east4" in line
    assert "karpenter-provider-gcp" in line
    assert line.endswith(", 3 August 2026")


def test_plan_names_a_card_without_a_price(
    workloads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = one_node(tmp_path, 8, **{"nvidia.com/gpu.product": "NVIDIA-GeForce-RTX-3090"})
    out = told(capsys, "plan", workloads, cluster)
    assert out.startswith("3 of 3 replicas placed for no known price; ")
    assert "\nPrices\n  RTX-3090: no price\n" in out


def test_plan_that_places_nothing_speaks_of_no_price(
    workloads: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(capsys, "plan", workloads, case("06"), code=3)
    assert out.startswith("0 of 3 replicas placed; ")
    assert "price" not in out.lower()


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (-3_600, "less than a day old"),  # a clock that runs ahead
        (3_600, "less than a day old"),
        (DAY + 60, "1 day old"),
        (9 * DAY + 60, "9 days old"),
    ],
)
def test_plan_says_how_old_its_inventory_is(
    age: int,
    words: str,
    workloads: str,
    tmp_path: Path,
    time_machine: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = one_node(tmp_path, 1)
    os.utime(path, (NOON, NOON))
    time_machine.move_to(NOON + age, tick=False)
    out = told(capsys, "plan", workloads, path, code=3)
    assert f"cluster: {path}, last changed 3 August 2026 12:00 UTC ({words})\n" in out


def test_plan_over_a_folder_is_as_old_as_its_oldest_file(
    workloads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    os.utime(one_node(folder, 1), (NOON, NOON))
    (folder / "pods.json").write_text('{"kind": "List", "apiVersion": "v1", "items": []}')
    out = told(capsys, "plan", workloads, "--cluster", f"a={folder}", code=3)
    assert "a: 2 files, the oldest last changed 3 August 2026 12:00 UTC (" in out


def test_plan_from_standard_input_is_of_now(
    workloads: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = io.BytesIO(Path(case("16")).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
    assert "  cluster: read from standard input now\n" in told(capsys, "plan", workloads, "-")


# size


def test_size_shows_the_best_few_and_counts_the_others(
    workloads: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = told(capsys, "size", workloads)
    whole = told(capsys, "size", workloads, "--all")
    found = json.loads(told(capsys, "size", workloads, "--json"))["requirements"]
    sums = [len(r["shapes"]) + len(r["refused"]) for r in found]
    assert len(re.findall(r"^fits ", out, re.MULTILINE)) == SHOWN * len(found)
    assert re.findall(r"  (\d+) more; --all shows them\n", out) == [str(n - SHOWN) for n in sums]
    assert len(re.findall(r"^(?:fits|tight|no) ", whole, re.MULTILINE)) == sum(sums)
    assert "more;" not in whole


def test_size_explains_the_first_shape_unless_all_are_asked_for(
    workloads: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(capsys, "size", workloads, "--arithmetic").count("FORMULA") == 2
    cards = ["--card", "L4", "--card", "A10"]
    assert told(capsys, "size", workloads, *cards, "--explain").count("FORMULA") == 2
    assert told(capsys, "size", workloads, *cards, "--explain", "--all").count("FORMULA") == 4


def test_size_says_why_a_card_that_was_asked_about_does_not_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "large.yaml"
    path.write_text(LARGE)
    out = told(capsys, "size", str(path), "--card", "T4", "--card", "B300")
    assert re.search(r"^fits +B300 ", out, re.MULTILINE)
    assert re.search(r"^no +T4 ", out, re.MULTILINE)
    assert "WHY" in out
    out = told(capsys, "size", str(path))
    assert " T4 " not in out.partition("FIT")[2]
    assert "WHY" not in out


# one is not many


def test_one_is_told_as_one(
    workloads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = one_node(tmp_path, 1)
    out = told(capsys, "inventory", cluster)
    assert out.startswith("1 GPU on 1 of 1 node, 0 requested. Free: 1 whole GPU. ")
    out = told(capsys, "plan", workloads, cluster, code=3)
    assert "0 of 1 node (" in out


def test_one_odd_object_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.json"
    items = [{"apiVersion": "v1", "kind": "Node", "metadata": 7}]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert "\n1 odd object:\n" in told(capsys, "inventory", str(path))
