"""``gpu-fleet inventory`` says what waits, where it fits now, and why not elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fleet.cli import main
from fleet.cli.waiting import MOST, waiting_lines
from fleet.fits.node import No
from fleet.inventory_report.report import as_report
from tests.fleet.kubernetes.known_cases import CASES, of_objects, report_of
from tests.fleet.kubernetes.written import node, pod

Json = dict[str, Any]


def lines(number: str) -> list[str]:
    return waiting_lines(report_of(number))


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (
            "08",
            [
                "team-a/serve-a fits no node now: 1 node offers no nvidia.com/gpu; "
                "1 node is closed by the taint tritonOnly=true:NoExecute",
                "team-a/serve-b fits on node-b",
            ],
        ),
        (
            "23",
            [
                "Job team-a/job-b: 0 of 1 group fits now (ClusterQueue gpu-cluster-queue leaves 3 "
                "nvidia.com/gpu.shared, one group needs 5; 1 node has only 3 "
                "nvidia.com/gpu.shared free)"
            ],
        ),
        ("58", [f"team-a/bad-{kind}: the API server refuses its pods" for kind in ("gpu", "npu")]),
        ("68", ["LeaderWorkerSet team-a/nginx-leaderworkerset: all 2 groups fit now"]),
        (
            "77",
            [
                "team-a/job-test-7g80g fits no node now: 2 nodes offer no nvidia.com/mig-7g.79gb "
                "(the nearest name is nvidia.com/mig-7g.80gb)"
            ],
        ),
        ("76", []),
    ],
)
def test_what_waits_is_told_in_sentences(number: str, told: list[str]) -> None:
    assert lines(number) == told


def test_half_started_groups_are_told_what_a_fresh_start_would_give() -> None:
    assert lines("63")[-1].endswith("2 would, if the pods of half-started groups were gone)")


def test_without_nodes_nothing_is_judged() -> None:
    assert lines("66") == [
        f"{name}: not judged, no node was read"
        for name in ("team-a/dist-mnist-master-0", "team-b/job-1", "team-a/dist-mnist")
    ]


def refused(reason: No, **more: Any) -> str:
    found = {"reason": reason.value, "nodes": 2, "examples": [], "about": "x", "most": 2048} | more
    fits = {"pods": {"a/b": {"fits": False, "why_not": [found]}}, "workloads": {}}
    (line,) = waiting_lines({"fits": fits})
    return line


@pytest.mark.parametrize("reason", list(No))
def test_every_reason_has_its_sentence(reason: No) -> None:
    line = refused(reason)
    assert line.startswith("a/b fits no node now: ")
    assert "2 nodes" in line
    assert "{" not in line


def test_amounts_are_told_in_units_that_people_use() -> None:
    assert refused(No.CPU).endswith("at most 2.0 cores free")
    assert refused(No.MEMORY).endswith("at most 2.0 GiB of memory free")
    assert refused(No.IN_USE, most=0).endswith("2 nodes have no x free")


def export(tmp_path: Path, *objects: Json) -> str:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(path)


def test_a_long_queue_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waiting = [pod(f"p{number:02}", gpus=1) for number in range(MOST + 3)]
    assert main(["inventory", export(tmp_path, node(gpus=8), *waiting)]) == 0
    out = capsys.readouterr().out
    assert "\nWaiting:\n- team-a/p00 fits on node-a\n" in out
    assert out.count("fits on node-a") == MOST
    assert "- and 3 more\n" in out


def test_nothing_waits_and_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inventory", str(next(CASES.glob("76-*.json")))]) == 0
    assert "Waiting" not in capsys.readouterr().out


def test_a_gate_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gated = pod("held", gpus=1, schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])
    assert main(["inventory", export(tmp_path, node(gpus=8), gated)]) == 0
    told = capsys.readouterr().out
    assert "team-a/held fits on node-a, once kueue.x-k8s.io/admission lets it go" in told


def test_node_affinity_decides_as_the_scheduler_would() -> None:
    rule = {"key": "zone", "operator": "NotIn", "values": ["a"]}
    term = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}
    nodes = [node(name, {"zone": name}, gpus=8) for name in ("a", "b")]
    found = as_report(of_objects([*nodes, pod("p", gpus=1, affinity=affinity)]))
    assert found["fits"]["pods"]["team-a/p"]["nodes"] == ["b"]
    assert found["fits"]["pods"]["team-a/p"]["why_not"] == [
        {"reason": "affinity", "nodes": 1, "examples": ["a"], "about": "zone NotIn a"}
    ]
