"""Reading a live API server over real sockets."""

from __future__ import annotations

import pytest

from fleet.inventory import ReadStatus
from fleet.kubernetes.address import AddressPolicy
from fleet.kubernetes.api import FetchProgress, fetch
from fleet.kubernetes.fetching import FetchLimits
from tests.fakes.kubeapi import Authority, FakeKubeApi

LOOPBACK = AddressPolicy((), allow_loopback=True)
QUICK = FetchLimits(connect_s=2, silence_s=1, back_off_s=0.01)


@pytest.fixture
def authority() -> Authority:
    return Authority()


def node(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}, "status": {"capacity": {"nvidia.com/gpu": "8"}}}


def test_a_cluster_is_read_page_by_page_over_tls(authority: Authority) -> None:
    with FakeKubeApi(tls=authority.server(), ca_pem=authority.pem) as fake:
        fake.add("/api/v1/nodes", "NodeList", [node(f"n{i}") for i in range(7)])
        fake.add("/api/v1/pods", "PodList", [])
        fake.add("/apis/apps/v1/deployments", "DeploymentList", [])
        seen: list[FetchProgress] = []
        raw = fetch(fake.access(), LOOPBACK, limits=QUICK, page_size=3, progress=seen.append)
    assert [item.metadata.name for item in raw.objects["nodes"]] == [f"n{i}" for i in range(7)]
    assert raw.version is not None
    assert raw.version.gitVersion == "v1.36.3"
    assert raw.apis == {"v1": ("nodes", "pods"), "apps/v1": ("deployments",)}
    reads = {read.resource: read for read in raw.reads}
    assert (reads["nodes"].status, reads["nodes"].count) == (ReadStatus.READ, 7)
    assert reads["nodes"].resource_version == "4711"
    assert reads["deployments.apps"].status is ReadStatus.READ
    assert reads["resourceslices.resource.k8s.io"].status is ReadStatus.NOT_SERVED
    assert [p.objects for p in seen if p.phase == "nodes"] == [0, 3, 6, 7]
    assert seen[-1].phase == "done"
    assert [r.query for r in fake.requests if r.path == "/api/v1/nodes"] == [
        {"limit": "3"},
        {"limit": "3", "continue": "3"},
        {"limit": "3", "continue": "6"},
    ]
