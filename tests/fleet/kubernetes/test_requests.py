"""Pod request arithmetic, against a brute-force model of what runs when."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from fleet.kubernetes.objects_core import (
    Condition,
    Container,
    ContainerStatus,
    PodSpec,
    PodStatus,
    Resources,
)
from fleet.kubernetes.requests import Amounts, combine, pod_request

amount = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]),
    st.integers(0, 50).map(Decimal),
    max_size=3,
)


def most_at_any_moment(
    containers: list[Amounts], init: list[tuple[Amounts, bool]], overhead: Amounts, name: str
) -> Decimal:
    """Walk through the pod's life and look at each moment what runs: the oracle."""
    moments = []
    sidecars = Decimal(0)
    for amounts, is_sidecar in init:
        taken = amounts.get(name, Decimal(0))
        moments.append(sidecars + taken)  # this one starts beside the sidecars before it
        if is_sidecar:
            sidecars += taken
    moments.append(sidecars + sum((c.get(name, Decimal(0)) for c in containers), Decimal(0)))
    return max(moments) + overhead.get(name, Decimal(0))


@given(
    st.lists(amount, max_size=4),
    st.lists(st.tuples(amount, st.booleans()), max_size=5),
    amount,
)
def test_a_pod_takes_the_most_that_it_ever_runs_at_once(
    containers: list[Amounts], init: list[tuple[Amounts, bool]], overhead: Amounts
) -> None:
    total = combine(containers, init, overhead)
    for name in ("cpu", "memory", "nvidia.com/gpu"):
        expected = most_at_any_moment(containers, init, overhead, name)
        assert total.get(name, Decimal(0)) == expected


@given(st.lists(amount, max_size=3), st.lists(st.tuples(amount, st.booleans()), max_size=3))
def test_arithmetic_changes_none_of_its_inputs(
    containers: list[Amounts], init: list[tuple[Amounts, bool]]
) -> None:
    before = (repr(containers), repr(init))
    combine(containers, init, {})
    assert (repr(containers), repr(init)) == before


def container(name: str = "main", restart: str | None = None, **resources: object) -> Container:
    return Container(name=name, restartPolicy=restart, resources=Resources(**resources))  # type: ignore[arg-type]


def test_a_template_with_limits_only_asks_for_its_limits() -> None:
    found = pod_request(PodSpec(containers=[container(limits={"nvidia.com/gpu": "8", "cpu": "4"})]))
    assert (found.devices, found.cpu_milli) == ({"nvidia.com/gpu": 8}, 4000)


def test_a_request_beside_a_higher_limit_stays_for_cpu() -> None:
    found = pod_request(PodSpec(containers=[container(requests={"cpu": "1"}, limits={"cpu": "4"})]))
    assert (found.cpu_milli, found.problems) == (1000, ())


def test_a_device_request_unlike_its_limit_is_a_problem() -> None:
    both = container(requests={"nvidia.com/gpu": "1"}, limits={"nvidia.com/gpu": "3"})
    found = pod_request(PodSpec(containers=[both]))
    assert found.devices == {"nvidia.com/gpu": 3}
    assert found.problems == ("nvidia.com/gpu: request 1 differs from limit 3",)


def test_a_part_of_a_device_is_a_problem() -> None:
    """The API server takes whole numbers only of what is no CPU and no memory."""
    part = container(limits={"nvidia.com/gpu": "500m", "cpu": "0.5"})
    found = pod_request(PodSpec(containers=[part]))
    assert found.problems == ("nvidia.com/gpu: 0.5 is no whole number of devices",)
    whole = container(limits={"nvidia.com/gpu": "2000m"})
    assert pod_request(PodSpec(containers=[whole])).problems == ()


def test_pod_level_resources_replace_cpu_and_memory_never_devices() -> None:
    spec = PodSpec(
        containers=[container(requests={"cpu": "1", "nvidia.com/gpu": "2"})],
        resources=Resources(requests={"cpu": "10", "memory": "4Gi", "nvidia.com/gpu": "9"}),
        overhead={"cpu": "100m", "memory": "64Mi"},
    )
    found = pod_request(spec)
    assert (found.cpu_milli, found.memory_mib) == (10_100, 4096 + 64)
    assert found.devices == {"nvidia.com/gpu": 2}


def test_a_resize_under_way_counts_the_larger_of_spec_and_held() -> None:
    spec = PodSpec(containers=[container(requests={"cpu": "1", "memory": "1Gi"})])
    held = ContainerStatus(name="main", allocatedResources={"cpu": "3", "memory": "512Mi"})
    status = PodStatus(containerStatuses=[held])
    found = pod_request(spec, status)
    assert (found.cpu_milli, found.memory_mib) == (3000, 1024)


def test_an_infeasible_resize_counts_what_is_held() -> None:
    spec = PodSpec(containers=[container(requests={"cpu": "64"})])
    held = ContainerStatus(name="main", allocatedResources={"cpu": "3"})
    waiting = Condition(type="PodResizePending", status="True", reason="Infeasible")
    found = pod_request(spec, PodStatus(containerStatuses=[held], conditions=[waiting]))
    assert found.cpu_milli == 3000


def test_sums_are_rounded_once_and_up() -> None:
    third = {"cpu": "0.3333", "memory": "100"}
    found = pod_request(PodSpec(containers=[container("a", requests=third)] * 3))
    assert (found.cpu_milli, found.memory_mib) == (1000, 1)


def test_unreadable_negative_and_giant_quantities_are_left_out_and_named() -> None:
    bad = {"cpu": "many", "memory": "-1Gi", "nvidia.com/gpu": "99999999999999999999"}
    found = pod_request(PodSpec(containers=[container(requests=bad)]))  # type: ignore[arg-type]
    assert (found.cpu_milli, found.memory_mib, found.devices) == (0, 0, {})
    assert [line.split(":")[0] for line in found.problems] == ["cpu", "memory", "nvidia.com/gpu"]
