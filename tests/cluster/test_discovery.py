"""What a server says that it is and serves: versions, CRDs, APIs whose server is away."""

from __future__ import annotations

from datetime import date

from fleet.inventory import Inventory, ReadStatus
from fleet.readiness import report
from fleet.readiness.finding import Verdict
from tests.cluster.control_plane import ControlPlane
from tests.cluster.creating import create_whole, wait_until_served
from tests.cluster.objects import container, crd, gpu_node
from tests.cluster.planes import Running
from tests.cluster.product import inventory_of, reader_token
from tests.processes import wait_for

RACK = "cloud.example.com/rack"
BLOCK = "cloud.example.com/block"


def inventory(running: Running) -> Inventory:
    return inventory_of(running.plane.access(running.token))


def status(found: Inventory, resource: str) -> tuple[ReadStatus, int]:
    read = found.read(resource)
    assert read is not None
    return read.status, read.count


def test_the_version_is_the_servers_own(cluster: Running) -> None:
    found = inventory(cluster).version
    assert found.git_version == cluster.admin.get("/version")["gitVersion"]
    assert (found.major, found.minor) == (1, int(cluster.minor.partition(".")[2]))
    assert found.source == "GET /version"
    assert found.emulation_minor == found.minor


def test_an_emulated_version_is_told_from_the_binarys() -> None:
    with ControlPlane("1.37", flags=("--emulated-version=1.36",)) as plane, plane.client() as admin:
        found = inventory_of(plane.access(reader_token(admin)))
    assert (found.version.minor, found.version.emulation_minor) == (37, 36)
    (finding,) = (f for f in report.check(found, today=date(2026, 12, 1)) if f.check == "emulation")
    assert finding.verdict is Verdict.WARN
    # 1.36 serves no DeviceTaintRule of v1, and so does a 1.37 that behaves as 1.36.
    assert found.serves("resource.k8s.io/v1", "resourceslices")
    assert not found.serves("resource.k8s.io/v1", "devicetaintrules")


def test_a_definition_without_objects_is_not_the_same_as_none(cluster: Running) -> None:
    jobsets = "jobsets.jobset.x-k8s.io"
    assert status(inventory(cluster), jobsets) == (ReadStatus.NOT_SERVED, 0)
    definition = crd("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
    cluster.admin.create(definition)
    wait_until_served(cluster.admin, definition)
    assert status(inventory(cluster), jobsets) == (ReadStatus.READ, 0)


def test_a_job_set_is_seen_through_discovery(cluster: Running) -> None:
    template = {"spec": {"containers": [container(limits={"nvidia.com/gpu": "8"})]}}
    job = {"parallelism": 4, "completions": 4, "template": template}
    create_whole(
        cluster.admin,
        [
            gpu_node("a"),
            {
                "apiVersion": "jobset.x-k8s.io/v1alpha2",
                "kind": "JobSet",
                "metadata": {"name": "training", "namespace": "research"},
                "spec": {
                    "replicatedJobs": [
                        {"name": "workers", "replicas": 2, "template": {"spec": job}}
                    ]
                },
            },
        ],
    )
    found = inventory(cluster)
    (controller,) = found.controllers
    assert (controller.kind, controller.namespace, controller.name) == (
        "JobSet",
        "research",
        "training",
    )
    assert (controller.pods_wanted, controller.total_requests) == (8, {"nvidia.com/gpu": 64})


def test_a_topology_of_kueue_is_seen_through_discovery(cluster: Running) -> None:
    levels = [{"nodeLabel": key} for key in (BLOCK, RACK, "kubernetes.io/hostname")]
    create_whole(
        cluster.admin,
        [
            gpu_node("a", labels={BLOCK: "b1", RACK: "r1"}),
            gpu_node("b", labels={BLOCK: "b1", RACK: "r2"}),
            {
                "apiVersion": "kueue.x-k8s.io/v1beta1",
                "kind": "Topology",
                "metadata": {"name": "default"},
                "spec": {"levels": levels},
            },
        ],
    )
    found = inventory(cluster)
    assert status(found, "topologies.kueue.x-k8s.io") == (ReadStatus.READ, 1)
    assert status(found, "workloads.kueue.x-k8s.io") == (ReadStatus.NOT_SERVED, 0)
    assert [key for _, key in found.topology_keys if key in (BLOCK, RACK)] == [BLOCK, RACK]


def test_an_api_whose_server_is_away_is_not_called_absent(cluster: Running) -> None:
    """An APIService that points at nothing: its resources are neither served nor missing."""
    admin = cluster.admin
    group, version = "scheduling.run.ai", "v2alpha2"
    service = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{version}.{group}"},
        "spec": {
            "group": group,
            "version": version,
            "service": {"namespace": "default", "name": "away"},
            "insecureSkipTLSVerify": True,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
        },
    }
    admin.create(gpu_node("a"))
    admin.create(service)
    try:
        wait_for(
            "the server knows that the API is away",
            lambda: admin.send("GET", f"/apis/{group}/{version}")[0] == 503,
        )
        found = inventory(cluster)
    finally:
        admin.delete(service)
    assert len(found.nodes) == 1
    read, count = status(found, "podgroups.scheduling.run.ai")
    assert (read, count) == (ReadStatus.FAILED, 0)
    assert status(found, "podgroups.scheduling.volcano.sh")[0] is ReadStatus.NOT_SERVED
