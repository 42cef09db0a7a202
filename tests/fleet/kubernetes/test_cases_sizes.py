"""Clusters like those of the cases, of any size: other counts, other factors, other profiles.

Hypothesis invents the cluster; the expected numbers are counted by hand from what it invented,
and never by the rules under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.inventory_report.report import as_report
from tests.fleet.kubernetes.known_cases import Json, of_objects
from tests.fleet.kubernetes.written import node, pod

GPU = "nvidia.com/gpu"
PROFILES = {"1g.10gb": 7, "2g.20gb": 3, "3g.40gb": 2, "7g.80gb": 1}


@dataclass(frozen=True)
class Made:
    """One invented node with what must be said of it."""

    form: str
    boards: int
    factor: int
    sick: int
    held: int  # units
    ready: bool
    cordoned: bool

    @property
    def name(self) -> str:
        return f"{self.form}-{self.boards}"

    @property
    def resource(self) -> str:
        return f"{GPU}.shared" if self.form == "renamed" else GPU

    @property
    def units(self) -> int:
        return self.boards * (1 if self.form == "whole" else self.factor)

    @property
    def allocatable(self) -> int:
        return (self.boards - self.sick) * (1 if self.form == "whole" else self.factor)

    @property
    def takes_pods(self) -> bool:
        return self.ready and not self.cordoned

    @property
    def free(self) -> int:
        return max(0, self.allocatable - self.held) if self.takes_pods else 0

    @property
    def whole_free(self) -> int:
        return self.free if self.form == "whole" else 0

    def objects(self, number: int) -> list[Json]:
        labels = {
            "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"
            + ("-SHARED" if self.form == "same-name" else ""),
            "nvidia.com/gpu.count": str(self.boards),
            "nvidia.com/gpu.memory": "81920",
        }
        held = {self.resource: str(self.units)}
        if self.form != "whole":
            labels["nvidia.com/gpu.replicas"] = str(self.factor)
            labels["nvidia.com/gpu.sharing-strategy"] = "time-slicing"
        if self.form == "renamed":
            held[GPU] = "0"
        name = f"n{number}"
        made = node(
            name,
            labels,
            ready="True" if self.ready else "False",
            allocatable=held | {self.resource: str(self.allocatable)},
            resources=held,
            **({"unschedulable": True} if self.cordoned else {}),
        )
        pods = [
            pod(f"p{number}-{i}", on=name, requests={self.resource: "1"}) for i in range(self.held)
        ]
        return [made, *pods]


@st.composite
def made(draw: st.DrawFn) -> Made:
    form = draw(st.sampled_from(["whole", "same-name", "renamed"]))
    boards = draw(st.integers(1, 16))
    factor = draw(st.integers(2, 20))
    sick = draw(st.integers(0, min(2, boards - 1)))
    return Made(
        form=form,
        boards=boards,
        factor=factor,
        sick=sick,
        held=draw(st.integers(0, 6)),
        ready=draw(st.booleans()),
        cordoned=draw(st.booleans()),
    )


@settings(max_examples=80)
@given(st.lists(made(), min_size=1, max_size=5))
def test_physical_schedulable_and_requested_stay_three_numbers(nodes: list[Made]) -> None:
    objects = [o for number, item in enumerate(nodes) for o in item.objects(number)]
    found = as_report(of_objects(objects))
    for number, item in enumerate(nodes):
        said = found["nodes"][f"n{number}"]
        assert said["physical_gpus"] == item.boards
        assert said.get("unhealthy", 0) == item.sick
        assert said["schedulable"] is item.takes_pods
        assert said["resources"][item.resource] == {
            "capacity": item.units,
            "allocatable": item.allocatable,
            "requested": item.held,
            "free": item.free,
        }
    totals = found["totals"]
    assert totals["physical_gpus"] == sum(n.boards for n in nodes)
    assert totals["memory_mib"] == 81920 * totals["physical_gpus"]
    assert totals["unhealthy_gpus"] == sum(n.sick for n in nodes)
    assert totals["advertised"] == sum(n.units for n in nodes)
    assert totals["allocatable"] == sum(n.allocatable for n in nodes)
    assert totals["usable_gpus"] == sum(n.allocatable for n in nodes if n.takes_pods)
    assert totals["requested"] == totals["running"] == sum(n.held for n in nodes)
    assert totals["running_gpus"] == sum(n.held for n in nodes if n.form == "whole")
    assert totals["free_units"] == sum(n.free for n in nodes)
    assert totals["free_whole_gpus"] == sum(n.whole_free for n in nodes)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(list(PROFILES)), st.integers(1, 7)), max_size=4),
    st.integers(0, 8),
    st.integers(0, 8),
)
def test_boards_that_are_cut_and_boards_that_are_not(
    cuts: list[tuple[str, int]], whole: int, asked: int
) -> None:
    """MIG strategy ``mixed``: each cut board holds devices of one profile here."""
    listed: dict[str, int] = {}
    for profile, number in cuts:
        number = min(number, PROFILES[profile])
        listed[f"nvidia.com/mig-{profile}"] = listed.get(f"nvidia.com/mig-{profile}", 0) + number
    boards = whole + len(cuts)
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
        "nvidia.com/gpu.count": str(boards),
        "nvidia.com/mig.strategy": "mixed",
        "nvidia.com/mig.capable": "true",
    }
    if not boards:
        return
    resources = {GPU: str(whole)} | {name: str(n) for name, n in listed.items()}
    waiting = pod("waits", gpus=asked) if asked else pod("waits", requests={"cpu": "1"})
    found = as_report(of_objects([node("n", labels, resources=resources), waiting]))
    said = found["nodes"]["n"]
    assert said["physical_gpus"] == boards
    assert found["totals"]["free_whole_gpus"] == whole
    assert (
        found["totals"]["mig_devices"]
        == found["totals"]["free_mig_devices"]
        == sum(listed.values())
    )
    if asked:
        fit = found["fits"]["pods"]["team-a/waits"]
        assert fit["fits"] is (asked <= whole)
    else:
        assert found["fits"]["pods"] == {}


def worker_set(groups: int, size: int, gpus: int, **spec: Any) -> Json:
    template = {
        "spec": {"containers": [{"name": "m", "resources": {"limits": {GPU: str(gpus)}}}]} | spec
    }
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "llm", "namespace": "team-a"},
        "spec": {
            "replicas": groups,
            "leaderWorkerTemplate": {"size": size, "workerTemplate": template},
        },
    }


@settings(max_examples=60)
@given(
    st.integers(1, 6), st.integers(2, 5), st.integers(1, 8),
    st.lists(st.integers(0, 8), min_size=1, max_size=5),
)  # fmt: skip
def test_groups_pods_and_gpus_of_a_gang_of_any_size(
    groups: int, size: int, gpus: int, boards: list[int]
) -> None:
    machines = [node(f"n{i}", gpus=n) for i, n in enumerate(boards)]
    found = as_report(of_objects([worker_set(groups, size, gpus), *machines]))
    gang = found["gang"]["team-a/llm"]
    assert gang["groups"] == groups
    assert gang["pods_per_group"] == size
    assert gang["gpus_per_pod"] == gpus
    assert gang["gpus_per_group"] == size * gpus
    assert gang["gpus_total"] == groups * size * gpus
    assert found["totals"]["declared_pods"] == groups * size
    assert found["totals"]["declared_gpus"] == groups * size * gpus
    assert found["totals"]["largest_gang_gpus"] == size * gpus
    work = found["fits"]["workloads"]["team-a/llm"]
    places = sum(n // gpus for n in boards)
    assert work["groups_fit"] == min(groups, places // size)
    assert work["fits"] is (places // size >= groups)


@settings(max_examples=60)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_a_queue_leaves_what_its_workloads_have_not_taken(
    nominal: int, running: int, pods: int, gpus: int, cohort: bool
) -> None:
    def job(name: str, number: int, each: int, suspend: bool) -> Json:
        limits = {"resources": {"limits": {GPU: str(each)}}}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": name,
                "namespace": "team-a",
                "labels": {"kueue.x-k8s.io/queue-name": "local"},
            },
            "spec": {
                "suspend": suspend,
                "parallelism": number,
                "template": {"spec": {"containers": [{"name": "m", **limits}]}},
            },
        }

    flavor = {"name": "any", "resources": [{"name": GPU, "nominalQuota": nominal}]}
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "all"},
        "spec": {"resourceGroups": [{"coveredResources": [GPU], "flavors": [flavor]}]}
        | ({"cohortName": "many"} if cohort else {}),
    }
    local = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "local", "namespace": "team-a"},
        "spec": {"clusterQueue": "all"},
    }
    jobs = [job("waits", pods, gpus, suspend=True)]
    if running:
        jobs.append(job("runs", running, 1, suspend=False))
    found = as_report(of_objects([queue, local, *jobs, node(gpus=100)]))
    assert found["queues"]["all"]["used"][GPU] == running
    left = max(0, nominal - running)
    assert found["queues"]["all"]["left"][GPU] == left
    assert found["totals"]["queue_gpu_quota"] == nominal
    fits = pods * gpus <= left or cohort
    assert found["fits"]["workloads"]["team-a/waits"]["queue"]["fits"] is fits
    assert found["fits"]["workloads"]["team-a/waits"]["fits"] is fits
    assert found["totals"]["queued_gpus"] == pods * gpus
