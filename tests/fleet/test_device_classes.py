"""Which DeviceClass answers for an extended resource."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from fleet.device_classes import classes_by_resource
from fleet.inventory import DeviceClass

GPU = "nvidia.com/gpu"
OLD, NEW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


def item(name: str, created: datetime | None = OLD, resource: str = GPU) -> DeviceClass:
    return DeviceClass(name, resource, ("gpu.nvidia.com",), created)


def test_the_newest_class_answers_for_a_resource_that_several_name() -> None:
    assert classes_by_resource([item("a"), item("b", NEW)])[GPU].name == "b"
    assert classes_by_resource([item("b", NEW), item("a")])[GPU].name == "b"


def test_the_lower_name_answers_among_classes_of_one_age() -> None:
    assert classes_by_resource([item("b"), item("a")])[GPU].name == "a"


def test_each_class_answers_for_its_own_name() -> None:
    found = classes_by_resource([item("a", resource=""), item("b", NEW)])
    assert found["deviceclass.resource.kubernetes.io/a"].name == "a"
    assert set(found) == {GPU, *(f"deviceclass.resource.kubernetes.io/{n}" for n in "ab")}


@given(
    st.lists(
        st.builds(item, st.text(min_size=1), st.sampled_from([None, OLD, NEW])),
        unique_by=lambda c: c.name,
        min_size=1,
    )
)
def test_the_order_of_the_list_does_not_matter(classes: list[DeviceClass]) -> None:
    assert classes_by_resource(classes) == classes_by_resource(classes[::-1])
