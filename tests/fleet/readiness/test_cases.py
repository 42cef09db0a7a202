"""The checklist on real cluster objects, held against the right answers that came with them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import pytest

from fleet.inventory import Inventory, Owner
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read
from fleet.readiness.finding import ORDER, Finding, Verdict
from fleet.readiness.report import check
from tests.fleet.readiness.clusters import TAKEN_AT, pod

CASES = Path(__file__).parents[2] / "data/cases"
TODAY = date(2026, 12, 1)

CHECKS: dict[str, tuple[str, ...]] = {
    "advertised": ("devices-advertised",),
    "health": ("devices-usable", "devices-advertised"),
    "ready": ("devices-usable",),
    "labels": ("models-known",),
    "sharing": ("sharing-agrees",),
    "network": ("network-devices",),
    "topology": ("topology-known",),
    "taint": ("gpu-taint",),
    "toleration": ("workload-tolerations",),
    "request": ("request-offered",),
    "template": ("request-offered",),
    "quota": ("quota-coverage", "quota-keys", "quota-headroom"),
    "gang": ("gang-evidence", "gang-partial", "gang-feasible"),
    "probes": ("probe-readiness", "probe-startup"),
}
"""Words of the expected answers -> our checks."""

OTHERWISE = {
    # The file holds no quota. Whether there is none or none was exported, it does not say.
    ("62", "quota"): Verdict.UNKNOWN,
    ("66", "quota"): Verdict.UNKNOWN,
    ("23", "quota"): Verdict.UNKNOWN,  # beside the queue, which passes
    ("68", "quota"): Verdict.UNKNOWN,
    # "pass for quota only" is a warning by the rule for Kueue without topology.
    ("59", "gang"): Verdict.WARN,
    # A device offered in both ways is the subject of the DRA check.
    ("26", "advertised"): Verdict.PASS,
    # Whether HAMi's handshake is stale is judged when the node is read, not here.
    ("51", "health"): Verdict.PASS,
    # No load was measured: "fail if the load takes more than 210 s" cannot be told.
    ("72", "probes"): Verdict.WARN,
    # No GPU is asked for: ordinary web servers are not judged as model servers.
    ("73", "probes"): Verdict.NOT_APPLICABLE,
}
"""Answers of ours that differ from the stated word, each with its reason."""


def cases() -> list[tuple[str, str, str]]:
    listed = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))["cases"]
    return [
        (case["id"], name, words)
        for case in listed
        for name, words in case.get("checks", {}).items()
    ]


@cache
def inventory(case: str) -> Inventory:
    (path,) = CASES.glob(f"{case}-*.json")
    return read(load([Source(path.name, path.read_bytes())]))


@cache
def findings(case: str) -> tuple[Finding, ...]:
    return check(inventory(case), today=TODAY)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    found = set(verdicts)
    return next(verdict for verdict in ORDER if verdict in found)


def allowed(words: str) -> set[Verdict]:
    """ "pass or warn: …" allows both; "pass for a; fail for b" asks for the worst."""
    named = [Verdict(word) for word in re.findall(r"\b(pass|warn|fail|na)\b", words)]
    return set(named[:2]) if " or " in words.split(":")[0] else {worst(named)}


@pytest.mark.parametrize(("case", "name", "words"), cases())
def test_verdict_is_the_right_one(case: str, name: str, words: str) -> None:
    checks = CHECKS[name]
    found = {f.verdict for f in findings(case) if f.check in checks}
    wanted = {OTHERWISE[case, name]} if (case, name) in OTHERWISE else allowed(words)
    assert worst(found) in wanted, (words, found)


NAMED: dict[tuple[str, str], set[str]] = {
    ("07", "devices-advertised"): {"node-a"},
    ("10", "devices-advertised"): {"gpu-0", "gpu-1", "gpu-2", "gpu-3"},
    ("12", "devices-advertised"): {"node-7"},
    ("14", "devices-advertised"): {"node-b"},
    ("33", "devices-advertised"): {"node-a", "node-b"},
    ("43", "devices-advertised"): {"node-b"},
    ("48", "devices-advertised"): {"node-0"},
    ("52", "devices-advertised"): {"node-a"},
    ("02", "devices-usable"): {"node-a"},
    ("13", "devices-usable"): {"node-6", "node-7"},
    ("48", "devices-usable"): {"node-1b"},
    ("18", "network-devices"): {"node-a"},
    ("20", "sharing-agrees"): {"node-a"},
    ("30", "models-known"): {"node-b"},
    ("26", "dra"): {"node-40c", "node-4c"},
}
"""Nodes that the words of a case name, by our check."""


@pytest.mark.parametrize(("case", "name"), NAMED)
def test_the_nodes_that_are_at_fault_are_named_and_no_others(case: str, name: str) -> None:
    named = {
        evidence.node
        for finding in findings(case)
        if finding.check == name and finding.verdict in (Verdict.FAIL, Verdict.WARN)
        for evidence in finding.evidence
    }
    assert named == NAMED[case, name]


def test_withdrawn_boards_are_counted_in_boards() -> None:
    assert [of(n, "devices-usable")[0][1] for n in ("02", "03", "05")] == [
        "1 GPU withdrawn as unhealthy on 1 node",
        "3 GPUs withdrawn as unhealthy on 1 node",
        "1 GPU withdrawn as unhealthy on 1 node",
    ]


def test_ten_withdrawn_shares_are_one_board() -> None:
    assert of("49", "devices-usable")[0][1] == "1 GPU withdrawn as unhealthy on 1 node"


def test_three_levels_of_topology_are_found() -> None:
    ((verdict, title),) = of("16", "topology-known")
    assert (verdict, title) == ("pass", "3 levels of topology are known of every GPU node")


def test_two_racks_of_one_name_are_told_by_their_paths() -> None:
    (finding,) = [f for f in findings("68") if f.check == "topology-known"]
    assert [e.value for e in finding.evidence if "rack" in e.field] == [
        "block-a/rack-1",
        "block-b/rack-1",
    ]


def of(case: str, name: str) -> list[tuple[str, str]]:
    return [(f.verdict.value, f.title) for f in findings(case) if f.check == name]


def test_only_the_pod_without_the_toleration_fails() -> None:
    assert of("08", "workload-tolerations") == [
        ("fail", "team-a/serve-a tolerates no node that has its GPUs"),
        ("pass", "1 of 2 tolerate the taints of its nodes"),
    ]


def test_half_started_groups_are_counted() -> None:
    (finding,) = [f for f in findings("63") if f.check == "gang-partial"]
    assert finding.detail.startswith("4 of 4 groups started in part.")
    assert finding.costs.startswith("4 GPUs held for nothing")


def test_gang_of_16_against_a_queue_of_8_names_both_numbers() -> None:
    (finding,) = [f for f in findings("65") if f.check == "quota-headroom" and f.verdict == "fail"]
    assert finding.detail == "It needs 16 × nvidia.com/gpu at once; ClusterQueue cq has 8."


def test_racks_of_one_name_in_two_blocks_are_two_racks() -> None:
    assert of("68", "gang-feasible")[0][0] == "pass"


def test_keys_that_do_nothing_are_named_one_by_one() -> None:
    assert [t for v, t in of("70", "quota-keys") if v == "fail"] == [
        "team-a/kf-resource-quota: nvidia.com/gpu limits nothing",
        "team-c/legacy: requests.alpha.kubernetes.io/nvidia-gpu limits nothing",
    ]


def test_nearest_mig_profile_is_offered() -> None:
    (finding,) = [f for f in findings("77") if f.check == "request-offered"]
    assert "nearest name is nvidia.com/mig-7g.80gb" in finding.detail


def with_loads(case: str, loads: dict[str, float]) -> dict[str, Verdict]:
    """Verdicts of the startup check once a pod of each Deployment was seen to load."""
    base = inventory(case)
    start = TAKEN_AT - timedelta(hours=3)
    controllers = tuple(
        dataclasses.replace(
            c,
            requests=c.requests or {"nvidia.com/gpu": 1},
            probes=tuple(dataclasses.replace(p, wants_gpu=True) for p in c.probes),
        )
        for c in base.controllers
    )
    pods = tuple(
        pod(
            f"{c.name}-0",
            namespace=c.namespace,
            owner=Owner(c.kind, c.name),
            started=start,
            ready=start + timedelta(seconds=loads[c.name]),
        )
        for c in controllers
        if c.name in loads
    )
    found = check(dataclasses.replace(base, controllers=controllers, pods=pods), today=TODAY)
    verdicts = {}
    for c in controllers:
        wanted = [
            f.verdict
            for f in found
            if f.check == "probe-startup" and f"{c.namespace}/{c.name} " in f.title
        ]
        verdicts[c.name] = wanted[0] if wanted else Verdict.PASS
    return verdicts


@pytest.mark.parametrize(("seconds", "verdict"), [(210, Verdict.WARN), (211, Verdict.FAIL)])
def test_kserve_before_its_startup_probe_allows_210_seconds(
    seconds: float, verdict: Verdict
) -> None:
    assert with_loads("72", {"before": seconds, "after": 400})["before"] is verdict


@pytest.mark.parametrize(("seconds", "verdict"), [(400, Verdict.PASS), (401, Verdict.WARN)])
def test_kserve_with_its_startup_probe_is_comfortable_up_to_400_seconds(
    seconds: float, verdict: Verdict
) -> None:
    assert with_loads("72", {"before": 10, "after": seconds})["after"] is verdict


def test_startup_budgets_are_held_against_the_reported_loads() -> None:
    loads = {"gemma-before": 159, "gemma-after": 159, "ultra-before": 4501}
    assert with_loads("74", loads) == {
        "gemma-before": Verdict.FAIL,
        "gemma-after": Verdict.PASS,
        "ultra-before": Verdict.FAIL,
        "ultra-after": Verdict.WARN,
        "pd": Verdict.WARN,
    }


def test_every_case_gives_a_checklist_that_can_be_shown() -> None:
    for path in sorted(CASES.glob("[0-9]*.json")):
        for finding in findings(path.name[:2]):
            assert finding.title, path.name
            assert finding.title[:1] not in " .,", path.name
            assert len(finding.evidence) <= 12
            for evidence in finding.evidence:
                assert evidence.object, (path.name, finding.check)
                assert len(evidence.value) <= 240
