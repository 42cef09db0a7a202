"""What can still be placed: free units, quotas, domains and prices out of an inventory."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from fleet.catalogue.prices import MatchBy, PriceBook, PriceEntry, PriceKind, default_book
from fleet.inventory import Quota, Sharing, UnitKind
from fleet.placement.capacity import capacity, main_currency, quota_rooms
from fleet.units import Money
from tests.fleet.inventories import gpu_node, group, inventory, levels, units

H100 = "H100-SXM5-80GB"
A100 = "A100-SXM4-80GB"


def test_free_is_allocatable_less_requested_and_never_negative() -> None:
    nodes = (
        gpu_node("a", group(H100, units(count=8, requested=5)), cpu_requested=90_000),
        gpu_node("b", group(H100, units(count=4, requested=6)), memory_requested_mib=2_000_000),
    )
    a, b = capacity({"prod": inventory(*nodes)}, default_book())
    assert (a.slots[0].free, a.cpu_free, a.pods_free) == (3, 6_000, 100)
    assert (b.slots[0].free, b.memory_free_mib) == (0, 0)


def test_nodes_without_gpus_hold_nothing_to_place_on() -> None:
    assert capacity({"prod": inventory(gpu_node("cpu-only"))}, default_book()) == ()


def test_mig_devices_carry_their_share_of_the_board_price() -> None:
    both = group(
        A100,
        units(count=1),
        units("nvidia.com/mig-1g.10gb", 3, kind=UnitKind.MIG, profile="1g.10gb"),
        units("nvidia.com/mig-1g.20gb", 2, kind=UnitKind.MIG, profile="1g.20gb"),
    )
    entry = PriceEntry(PriceKind.NEGOTIATED, MatchBy.GPU_MODEL, A100, Money(Decimal(7)), "contract")
    (node,) = capacity({"prod": inventory(gpu_node("a", both))}, PriceBook(entries=(entry,)))
    assert [slot.price_per_unit_hour for slot in node.slots] == [
        Decimal(7),
        Decimal(1),  # one of 7 compute slices is more than one of 8 memory slices
        Decimal("1.75"),  # two of 8 memory slices are more than one of 7 compute slices
    ]


def test_unknown_models_are_counted_and_never_offered() -> None:
    (node,) = capacity({"prod": inventory(gpu_node("a", group(None)))}, default_book())
    assert node.slots == ()
    assert node.unknown_cards == 8


@pytest.mark.parametrize(
    "kind",
    [UnitKind.SHARE, UnitKind.PARTITION, UnitKind.VGPU, UnitKind.MEMORY, UnitKind.DRA],
)
def test_shared_and_partial_units_are_not_whole_gpus(kind: UnitKind) -> None:
    shared = group(H100, units(count=40, kind=kind), sharing=Sharing.TIME_SLICING)
    (node,) = capacity({"prod": inventory(gpu_node("a", shared))}, default_book())
    assert node.slots == ()
    assert "40 nvidia.com/gpu" in node.unusable[0]


def test_devices_passed_to_virtual_machines_are_not_for_pods() -> None:
    passed = group(H100, units("nvidia.com/GH100_H100"), sharing=Sharing.PASSTHROUGH)
    (node,) = capacity({"prod": inventory(gpu_node("a", passed))}, default_book())
    assert node.slots == ()


def test_a_domain_is_the_path_of_values_since_values_repeat_under_other_parents() -> None:
    nodes = (
        gpu_node("a", group(H100), topology=levels(zone="z1", block="b1", rack="r1")),
        gpu_node("b", group(H100), topology=levels(zone="z2", block="b1", rack="r1")),
        gpu_node("c", group(H100), topology=levels(zone="z1", block="b1", rack=None)),
    )
    a, b, c = capacity({"prod": inventory(*nodes)}, default_book())
    assert a.domains["rack"] == "z1/b1/r1"
    assert b.domains["rack"] == "z2/b1/r1"
    assert c.domains["rack"] is None
    assert a.domains["zone"] == c.domains["zone"] == "z1"


def test_a_board_with_eight_nvlinked_gpus_is_its_own_nvlink_domain() -> None:
    nodes = (
        gpu_node("hgx", group(H100)),
        gpu_node("pcie", group("L40S")),
        gpu_node("nvl72", group("GB200", physical=4), topology=levels(nvlink="clique-7")),
    )
    found = {
        n.node: n.domains["nvlink"] for n in capacity({"p": inventory(*nodes)}, default_book())
    }
    assert found == {"hgx": "node hgx", "pcie": None, "nvl72": "clique-7"}


def quota(hard: dict[str, str], used: dict[str, str], scopes: tuple[str, ...] = ()) -> Quota:
    return Quota("search", "gpu", hard, used, scopes, None)


def rooms(*quotas: Quota) -> dict[str, int]:
    return {r.resource: r.left for r in quota_rooms({"prod": inventory(quotas=quotas)})}


def test_quota_room_is_hard_less_used_per_resource() -> None:
    hard = {"requests.nvidia.com/gpu": "8", "requests.cpu": "4", "memory": "10Gi", "pods": "5"}
    used = {"requests.nvidia.com/gpu": "3", "requests.cpu": "500m", "memory": "1Gi", "pods": "5"}
    assert rooms(quota(hard, used)) == {
        "nvidia.com/gpu": 5,
        "cpu": 3_500,
        "memory": 9 * 1024,
        "pods": 0,
    }


def test_quota_keys_that_kubernetes_ignores_limit_nothing() -> None:
    hard = {"nvidia.com/gpu": "0", "limits.nvidia.com/gpu": "0", "requests.storage": "1Gi"}
    assert rooms(quota(hard, {})) == {}


def test_a_quota_lowered_below_its_use_leaves_nothing() -> None:
    key = "requests.nvidia.com/gpu"
    assert rooms(quota({key: "2"}, {key: "6"})) == {"nvidia.com/gpu": 0}


def test_scoped_and_unreadable_quotas_are_left_out() -> None:
    key = "requests.nvidia.com/gpu"
    assert rooms(quota({key: "2"}, {}, ("PriorityClass",)), quota({key: "lots"}, {})) == {}


def test_prices_in_another_currency_count_as_no_price() -> None:
    yen = PriceEntry(
        PriceKind.NEGOTIATED, MatchBy.GPU_MODEL, A100, Money(Decimal(450), "JPY"), "contract",
        as_of=date(2026, 11, 1),
    )  # fmt: skip
    book = PriceBook(entries=(yen,))
    fleet = {
        "prod": inventory(
            *(gpu_node(n, group(m)) for n, m in (("a", A100), ("b", A100), ("c", H100)))
        )
    }
    assert main_currency(fleet, book) == "JPY"
    prices = {n.node: n.slots[0].price_per_unit_hour for n in capacity(fleet, book)}
    assert prices == {"a": Decimal(450), "b": Decimal(450), "c": None}
