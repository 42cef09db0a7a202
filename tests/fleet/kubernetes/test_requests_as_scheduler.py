"""Random pods, counted by us and by the scheduler's own rules."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.kubernetes.objects_core import PodObject
from fleet.kubernetes.requests import PodRequest, pod_request
from tests.fleet.kubernetes.scheduler_rules import Json, Sums, defaulted, pod_requests, quantity

GPU, SLICE = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"


def spelled(unit: str) -> st.SearchStrategy[object]:
    """One quantity of a resource in one of the ways in which people and servers write it."""
    if unit == "cpu":
        return st.one_of(
            st.integers(0, 64), st.integers(0, 64).map(str), st.integers(0, 9000).map("{}m".format),
            st.integers(0, 900).map(lambda n: f"{n}e-2"),
            st.integers(0, 900).map(lambda n: f"{n / 100:.2f}"),
            st.integers(0, 3).map("{}k".format),
        )  # fmt: skip
    if unit == "memory":
        plain = st.integers(0, 5000)
        return st.one_of(
            plain, plain.map(str), plain.map("{}Mi".format), plain.map("{}Ki".format),
            plain.map("{}M".format), plain.map("{}e6".format), plain.map("{}000m".format),
            st.integers(0, 64).map("{}Gi".format), st.integers(0, 64).map("{}.5G".format),
        )  # fmt: skip
    count = st.integers(0, 8)
    return st.one_of(
        count, count.map(str), count.map("{}000m".format), count.map("{}e0".format),
        st.sampled_from(["1k", "1e3", "1Ki"]),
    )  # fmt: skip


def resources(*names: str) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({}, optional={name: spelled(name) for name in names})


@st.composite
def containers(draw: st.DrawFn, prefix: str, most: int) -> list[Json]:
    found = []
    for number in range(draw(st.integers(0, most))):
        asked = draw(resources("cpu", "memory"))
        limits = draw(resources("cpu", "memory"))
        devices = draw(resources(GPU, SLICE))  # a device's request is its limit
        how = draw(st.sampled_from(["requests", "limits", "both"]))
        if how != "limits":
            asked |= devices
        if how != "requests":
            limits |= devices
        body: Json = {"name": f"{prefix}{number}", "resources": {"requests": asked}}
        body["resources"]["limits"] = limits
        if prefix == "init" and draw(st.booleans()):
            body["restartPolicy"] = "Always"
        found.append(body)
    return found


@st.composite
def templates(draw: st.DrawFn) -> Json:
    spec: Json = {
        "containers": draw(containers("app", 3)),
        "initContainers": draw(containers("init", 4)),
        "overhead": draw(resources("cpu", "memory")),
    }
    if draw(st.booleans()):
        spec["resources"] = {
            "requests": draw(resources("cpu", "memory", GPU)),
            "limits": draw(resources("cpu", "memory")),
        }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def like(draw: st.DrawFn, asked: Json) -> Json:
    """What a kubelet reports for such a request: the same resources, other CPU and memory."""
    return {
        name: draw(spelled(name)) if name in ("cpu", "memory") else text
        for name, text in asked.items()
    }


@st.composite
def running(draw: st.DrawFn, all_resized: bool) -> Json:
    """A stored pod, with one container or all of them in the middle of a resize."""
    pod = defaulted(draw(templates()))
    status: Json = {"phase": "Running", "containerStatuses": [], "initContainerStatuses": []}
    everyone = [*pod["spec"]["containers"], *pod["spec"]["initContainers"]]
    chosen = draw(st.integers(0, max(0, len(everyone) - 1)))
    for place, container in enumerate(everyone):
        asked = container["resources"]["requests"]
        moved = all_resized or place == chosen
        kind = "initContainerStatuses" if container["name"][0] == "i" else "containerStatuses"
        ordinary = kind[0] == "i" and container.get("restartPolicy") != "Always"
        moved = moved and not ordinary  # an init container runs once: it is never resized
        status[kind].append(
            {
                "name": container["name"],
                "resources": {"requests": like(draw, asked) if moved else asked},
                "allocatedResources": like(draw, asked) if moved else asked,
            }
        )
    if draw(st.booleans()):
        reason = draw(st.sampled_from(["Infeasible", "Deferred"]))
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
    whole = pod["spec"].get("resources", {}).get("requests")
    if whole and draw(st.booleans()):
        supported = {name: text for name, text in whole.items() if "/" not in name}
        status["resources"] = {"requests": like(draw, supported)}
        status["allocatedResources"] = like(draw, supported)
    return pod | {"status": status}


def counted(pod: Json) -> PodRequest:
    """Our own count, from the bytes that a server sends."""
    read = msgspec.json.decode(json.dumps(pod).encode(), type=PodObject)
    return pod_request(read.spec, read.status if "status" in pod else None)


def in_our_units(sums: Sums) -> tuple[int, int, dict[str, int]]:
    """Millicores, MiB and devices, each rounded up once."""
    zero = Fraction(0)
    return (
        math.ceil(sums.get("cpu", zero) * 1000),
        math.ceil(sums.get("memory", zero) / 2**20),
        {name: math.ceil(n) for name, n in sums.items() if "/" in name and n},
    )


def ours(pod: Json) -> tuple[int, int, dict[str, int]]:
    found = counted(pod)
    assert found.problems == ()
    return found.cpu_milli, found.memory_mib, found.devices


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), (1, 1), ("1000m", 1), ("1e3", 1000), ("1Ki", 1024), ("0.5", Fraction(1, 2)),
     ("2k", 2000), ("3M", 3_000_000), ("1.5Gi", 3 * 2**29), ("250u", Fraction(1, 4000))],
    ids=repr,
)  # fmt: skip
def test_the_oracle_reads_each_spelling(text: object, expected: Fraction) -> None:
    assert quantity(text) == expected


@given(templates())
def test_a_template_takes_what_the_scheduler_takes_for_its_pods(template: Json) -> None:
    assert ours(template) == in_our_units(pod_requests(defaulted(template), 36))


@given(running(all_resized=True))
def test_a_pod_in_the_middle_of_resizes_takes_what_the_scheduler_of_1_36_takes(pod: Json) -> None:
    assert ours(pod) == in_our_units(pod_requests(pod, 36))


@given(running(all_resized=False))
def test_a_pod_with_one_container_resized_takes_what_the_scheduler_of_1_37_takes(
    pod: Json,
) -> None:
    assert ours(pod) == in_our_units(pod_requests(pod, 37))


@given(running(all_resized=True))
def test_resizes_in_opposite_directions_never_count_for_less_than_in_1_37(pod: Json) -> None:
    cpu, memory, devices = in_our_units(pod_requests(pod, 37))
    found = counted(pod)
    assert (found.cpu_milli >= cpu, found.memory_mib >= memory) == (True, True)
    assert found.devices == devices


@given(templates(), st.lists(resources("cpu", "memory"), max_size=3))
def test_what_claims_bring_along_counts_as_in_1_36(template: Json, claims: list[Json]) -> None:
    held = [{"resourceClaimName": "c", "resources": claim} for claim in claims]
    pod = defaulted(template) | {"status": {"nodeAllocatableResourceClaimStatuses": held}}
    assert ours(pod) == in_our_units(pod_requests(pod, 36))


claims_of_1_37 = st.fixed_dictionaries(
    {"containers": st.lists(st.sampled_from("abc"), unique=True)},
    optional={
        "mapping": st.lists(
            st.sampled_from(["cpu", "memory"]).flatmap(
                lambda n: st.fixed_dictionaries({"name": st.just(n), "quantity": spelled(n)})
            ),
            max_size=2,
        ),
        "overhead": st.lists(
            st.sampled_from(["cpu", "memory"]).flatmap(
                lambda n: st.fixed_dictionaries(
                    {"name": st.just(n)},
                    optional={"perPod": spelled(n), "perContainer": spelled(n)},
                )
            ),
            max_size=2,
        ),
    },
)


@given(templates(), st.lists(claims_of_1_37, max_size=3))
def test_what_claims_bring_along_counts_as_in_1_37(template: Json, claims: list[Json]) -> None:
    pod = defaulted(template) | {"status": {"nodeAllocatableResourceClaimStatuses": claims}}
    assert ours(pod) == in_our_units(pod_requests(pod, 37))


def test_a_pod_limit_stands_in_only_where_no_container_asks() -> None:
    pod: Json = {
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}],
            "resources": {"limits": {"cpu": "10", "memory": "4Gi"}},
        },
    }
    assert ours(pod) == (1000, 4096, {})


def test_a_refused_resize_of_the_whole_pod_counts_what_is_held() -> None:
    pod: Json = {
        "metadata": {"name": "p"},
        "spec": {"containers": [], "resources": {"requests": {"cpu": "64", "memory": "1Gi"}}},
        "status": {
            "resources": {"requests": {"cpu": "2", "memory": "1Gi"}},
            "allocatedResources": {"cpu": "3", "memory": "1Gi"},
            "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        },
    }
    assert ours(pod) == (3000, 1024, {})
