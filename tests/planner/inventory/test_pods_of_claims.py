"""Pods that get their GPUs through claims are users of GPUs like all others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from fleet.kubernetes.dump import Source
from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.models import PodRow

CASES = Path(__file__).parents[2] / "data" / "cases"


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.glob("3*dra*.json")))
def test_a_pod_with_devices_by_claim_is_among_those_that_ask(
    case: str, team: Team, ada: User, client_for: Callable[..., Client]
) -> None:
    source = Source(case, (CASES / case).read_bytes())
    cluster = clusters.create_from_files(team=team, name="dra", sources=[source], by=ada)
    assert cluster.current_snapshot is not None
    pods = [pod for pod in cluster.current_snapshot.inventory().pods if pod.claim_devices]
    running = client_for(ada).get(reverse("inventory:cluster-running", args=[cluster.uuid]))
    for pod in pods:
        row = PodRow.objects.get(namespace=pod.namespace, name=pod.name)
        assert row.gpu_units == sum(pod.requests.values()) + pod.claim_devices
        assert row.requests["devices by ResourceClaim"] == pod.claim_devices
        assert row.owner in running.content.decode()


def test_some_case_has_such_a_pod(team: Team, ada: User) -> None:
    sources = [Source(path.name, path.read_bytes()) for path in sorted(CASES.glob("3*dra*.json"))]
    inventories = [clusters.read_files([source]) for source in sources]
    assert any(pod.claim_devices for inventory in inventories for pod in inventory.pods)
