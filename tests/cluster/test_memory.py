"""What a real server serves, remembered: it says itself whether that still holds."""

from __future__ import annotations

from fleet.inventory import ReadStatus
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.served import Served
from tests.cluster.creating import wait_until_served
from tests.cluster.objects import crd
from tests.cluster.planes import Running
from tests.cluster.product import fetched

JOB_SETS = "jobsets.jobset.x-k8s.io"


class Kept:
    """A memory that lasts as long as the test."""

    def __init__(self) -> None:
        self.served: Served | None = None
        self.kept = 0
        self.is_fresh = True

    def recall(self) -> Served | None:
        return self.served if self.is_fresh else None

    def last(self) -> Served | None:
        return self.served

    def keep(self, served: Served) -> None:
        self.served, self.kept = served, self.kept + 1

    def forget(self) -> None:
        self.served = None


def status(raw: RawCluster, resource: str) -> ReadStatus:
    return next(read.status for read in raw.reads if read.resource == resource)


def test_what_is_installed_between_two_readings_is_read_once_memory_is_old(
    cluster: Running,
) -> None:
    access, memory = cluster.plane.access(cluster.token), Kept()
    first = fetched(access, memory=memory)
    assert status(first, JOB_SETS) is ReadStatus.NOT_SERVED
    assert memory.served is not None
    etags = dict(memory.served.etags)
    assert set(etags) == {"/api", "/apis"}

    memory.is_fresh = False
    again = fetched(access, memory=memory)
    assert (again.apis, memory.served.etags, memory.kept) == (first.apis, etags, 2)

    definition = crd("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
    cluster.admin.create(definition)
    wait_until_served(cluster.admin, definition)
    assert status(fetched(access, memory=memory), JOB_SETS) is ReadStatus.READ
    assert memory.served.etags["/apis"] != etags["/apis"]
