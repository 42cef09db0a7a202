"""What the row of a pod says: devices in one unit, never devices and memory in one sum; and why
it does not simply run, since when, and for whom it holds what it holds."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.device_names import DEVICE_KINDS, device_name
from fleet.inventory import Pod
from planner.inventory.pod_facts import (
    BY_CLAIM,
    BY_PART,
    MOST_NAMES,
    facts_of,
    requests_of,
    reservations,
    stored_facts,
    units_of,
)
from tests.fleet.kubernetes.written import cluster, node
from tests.fleet.kubernetes.written import pod as written_pod

GPU, MEMORY, CORES = "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores"
VOLCANO = "volcano.sh/vgpu-number"
WHEN = datetime(2026, 6, 1, 12, tzinfo=UTC)


def pod(**changes: object) -> Pod:
    (made,) = cluster(node(gpus=8), written_pod("a", "node-a", gpus=1)).pods
    return replace(made, **changes)  # type: ignore[arg-type]


def told(**changes: object) -> tuple[int, str]:
    made = pod(**changes)
    return units_of(made, requests_of(made))


@pytest.mark.parametrize(
    ("requests", "units"),
    [
        ({GPU: 2}, (2, GPU)),
        ({GPU: 1, MEMORY: 4096}, (1, GPU)),
        ({GPU: 1, MEMORY: 4096, CORES: 30}, (1, GPU)),
        ({"aliyun.com/gpu-mem": 8}, (8, "aliyun.com/gpu-mem")),
        ({VOLCANO: 1, "volcano.sh/vgpu-memory": 8000}, (1, VOLCANO)),
        ({GPU: 1, "nvidia.com/mig-1g.10gb": 2}, (3, f"nvidia.com/mig-1g.10gb + {GPU}")),
        ({"google.com/tpu": 4}, (4, "google.com/tpu")),
        ({}, (0, "")),
    ],
)  # fmt: skip
def test_devices_are_counted_and_memory_never_with_them(
    requests: dict[str, int], units: tuple[int, str]
) -> None:
    assert told(requests=requests) == units


NAMES = [GPU, MEMORY, CORES, "aliyun.com/gpu-mem", "nvidia.com/mig-1g.10gb", "amd.com/gpu"]


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 10**6), max_size=6))
def test_the_resource_names_exactly_what_is_in_the_number(requests: dict[str, int]) -> None:
    units, resource = told(requests=requests)
    named = resource.split(" + ") if resource else []
    assert units == sum(requests[name] for name in named)
    kinds = {name: device_name(name) for name in requests}
    devices = {name for name, kind in kinds.items() if kind and kind.kind in DEVICE_KINDS}
    assert set(named) == devices or (not devices and len(named) == min(1, len(requests)))


def test_devices_by_claim_are_devices() -> None:
    assert told(requests={}, claim_devices=2) == (2, BY_CLAIM)
    assert told(requests={GPU: 1, MEMORY: 9000}, claim_devices=2) == (3, f"{BY_CLAIM} + {GPU}")


def test_a_part_of_a_board_is_a_part_whatever_its_size() -> None:
    assert told(requests={}, gpu_fraction=0.25) == (1, BY_PART)
    assert told(requests={}, gpu_memory_mib=2000) == (1, BY_PART)


def test_a_reservation_uses_nothing_while_somebody_shares_its_device() -> None:
    holder = pod(namespace="kai-resource-reservation", name="r", stands_for=("team-a/x",))
    assert units_of(holder, requests_of(holder)) == (0, "")
    assert reservations([holder, pod()]) == {"team-a/x": "kai-resource-reservation/r"}
    assert told(stands_for=()) == (1, GPU)  # held for nobody: still held


def test_a_pod_that_simply_runs_stores_nothing() -> None:
    assert stored_facts(pod()) == {}


@pytest.mark.parametrize(
    ("changes", "reason", "since"),
    [
        ({"state": "gated", "state_reason": "queued by Kueue", "created": WHEN},
         "queued by Kueue", WHEN),
        ({"state": "terminating", "state_reason": "being deleted", "terminating_since": WHEN},
         "being deleted", WHEN),
        ({"state": "orphaned", "state_reason": "bound to node x, which is not there",
          "created": WHEN}, "bound to node x, which is not there", None),
    ],
)  # fmt: skip
def test_facts_come_back_as_they_were(
    changes: dict[str, object], reason: str, since: datetime | None
) -> None:
    stored = json.loads(json.dumps(stored_facts(pod(**changes))))
    found = facts_of(stored)
    assert (found.reason, found.since) == (reason, since)


def test_the_pods_of_a_reservation_are_bounded_and_counted() -> None:
    names = tuple(f"team-a/p{n}" for n in range(MOST_NAMES + 3))
    found = facts_of(stored_facts(pod(stands_for=names)))
    assert (found.stands_for, found.more) == (names[:MOST_NAMES], 3)
