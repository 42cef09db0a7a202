"""Cost lines add up, unknown is never 0, and idle boards are paid for."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalogue.prices import MatchBy, PriceBook, PriceEntry, PriceKind
from fleet.costs import boards_used, cost_report, idle_boards, idle_cost, idle_priced
from fleet.inventory import DeviceGroup, Inventory, Sharing, UnitKind
from fleet.placement.capacity import capacity
from fleet.placement.problem import Problem
from fleet.placement.result import Placement
from fleet.placement.solver import solve
from fleet.units import Money
from tests.fleet.inventories import gpu_node, group, inventory, units
from tests.fleet.placement.builders import A100, H100, demand, shape

MIG = "nvidia.com/mig-1g.10gb"


def own(model: str, amount: str, currency: str = "USD") -> PriceEntry:
    return PriceEntry(
        PriceKind.NEGOTIATED,
        MatchBy.GPU_MODEL,
        model,
        Money(Decimal(amount), currency),
        "contract",
    )


def book(*entries: PriceEntry) -> PriceBook:
    return PriceBook(entries=entries, use_catalogue=False)


def placed(fleet: dict[str, Inventory], prices: PriceBook, *demands: object) -> Placement:
    return solve(Problem(capacity(fleet, prices), demands))  # type: ignore[arg-type]


def mixed_fleet() -> dict[str, Inventory]:
    whole_and_mig = group(
        A100,
        units(count=4),
        units(MIG, 14, kind=UnitKind.MIG, profile="1g.10gb"),
        physical=6,
        sharing=Sharing.MIG_MIXED,
    )
    return {
        "a": inventory(gpu_node("a1", whole_and_mig), gpu_node("h1", group(H100))),
        "b": inventory(gpu_node("h2", group(H100, units(count=8, requested=2)))),
    }


def test_a_workload_costs_its_gpus_times_the_price_and_730_hours_a_month() -> None:
    prices = book(own(H100, "6.88"))
    fleet = {"a": inventory(gpu_node("h", group(H100)))}
    placement = placed(fleet, prices, demand("llm", shape(H100, 2), replicas=3))
    report = cost_report(placement, fleet, prices)
    (line,) = report.of("llm")
    assert line.units == 6
    assert line.per_hour == Money(Decimal("41.28"))
    assert line.per_month == Money(Decimal("30134.40"))
    assert line.price is not None
    assert line.price.source == "contract"
    assert report.per_hour == (Money(Decimal("41.28")),)


def test_a_missing_price_is_no_amount_and_is_counted() -> None:
    fleet = {"a": inventory(gpu_node("h", group(H100)))}
    placement = placed(fleet, book(), demand("llm", shape(H100, 2)))
    report = cost_report(placement, fleet, book())
    assert report.lines[0].per_hour is None
    assert report.lines[0].note == "no price"
    assert report.per_hour == ()
    assert report.unpriced_gpus == 2


def test_a_mig_device_costs_its_share_of_the_board() -> None:
    prices = book(own(A100, "7"))
    small = demand("small", shape(A100, mig="1g.10gb"), replicas=3)
    fleet = mixed_fleet()
    report = cost_report(placed(fleet, prices, small), fleet, prices)
    assert report.lines[0].per_hour == Money(Decimal("3.000000"))
    assert report.lines[0].gpus.quantize(Decimal("0.001")) == Decimal("0.429")


def test_currencies_are_never_added() -> None:
    prices = book(own(A100, "400", "JPY"), own(H100, "6.88"))
    fleet = mixed_fleet()
    demands = (demand("x", shape(A100, 2)), demand("y", shape(H100, 1)))
    report = cost_report(placed(fleet, prices, *demands), fleet, prices)
    assert report.per_hour == (Money(Decimal(800), "JPY"), Money(Decimal("6.88"), "USD"))


@given(
    st.decimals("0.01", "99", places=4),
    st.decimals("0.01", "99", places=4),
    st.integers(0, 9),
    st.integers(0, 20),
)
def test_lines_add_up_to_the_total_and_to_the_score(
    h100: Decimal, a100: Decimal, large: int, small: int
) -> None:
    prices = book(own(H100, str(h100)), own(A100, str(a100)))
    fleet = mixed_fleet()
    demands = [
        demand("large", shape(H100), shape(A100, 2), replicas=large + 1),
        demand("small", shape(A100, mig="1g.10gb"), replicas=small + 1),
    ]
    placement = placed(fleet, prices, *demands)
    report = cost_report(placement, fleet, prices)
    lines = [line.per_hour for line in report.lines if line.per_hour is not None]
    assert sum((m.amount for m in lines), Decimal(0)) == report.per_hour[0].amount
    assert report.per_hour[0].amount == placement.score.cost_per_hour
    months = [line.per_month for line in report.lines if line.per_month is not None]
    assert sum((m.amount for m in months), Decimal(0)) == report.per_month[0].amount


def test_idle_is_what_nobody_asks_for_and_a_plan_takes_from_it() -> None:
    prices = book(own(H100, "5"), own(A100, "2"))
    fleet = mixed_fleet()
    before = idle_cost(fleet, prices)
    lines = {(line.cluster, line.gpu_model): line for line in before.lines}
    assert lines[("b", H100)].idle == 6
    assert lines[("b", H100)].per_hour == Money(Decimal(30))
    assert lines[("a", A100)].idle == 6
    after = idle_cost(fleet, prices, placed(fleet, prices, demand("x", shape(H100, 8))))
    assert before.per_hour[0].amount - after.per_hour[0].amount == 40


def test_idle_boards_are_told_apart_by_the_kind_of_machine() -> None:
    nodes = [
        gpu_node(name, group(H100), instance_type=kind)
        for name, kind in (("n1", "big.8"), ("n2", "big.8"), ("n3", "small.8"))
    ]
    report = idle_cost({"a": inventory(*nodes)}, book(own(H100, "5")))
    assert [(line.instance_type, line.idle) for line in report.lines] == [
        ("big.8", 16),
        ("small.8", 8),
    ]


def test_idle_boards_of_each_cluster_can_be_kept_and_priced_later() -> None:
    spot = {"karpenter.sh/capacity-type": "spot", "team": "a"}
    fleet = mixed_fleet() | {
        "c": inventory(
            gpu_node("on-demand", group(H100), instance_type="p5.48xlarge"),
            gpu_node("spot", group(H100), instance_type="p5.48xlarge", labels=spot),
        )
    }
    kept = [line for name in fleet for line in idle_boards({name: fleet[name]})]
    prices = PriceBook(entries=(own(A100, "2"),))
    report = idle_priced(kept, prices)
    assert report == idle_cost(fleet, prices)
    bases = [line.price.basis for line in report.lines if line.cluster == "c" and line.price]
    assert len(bases) == 2
    assert sum("spot node" in basis for basis in bases) == 1
    assert ("karpenter.sh/capacity-type", "spot") in {
        label for line in kept for label in line.price_labels
    }
    assert not any(key == "team" for line in kept for key, _value in line.price_labels)


def test_idle_without_a_price_or_a_count_is_unknown_not_zero() -> None:
    fleet = {
        "a": inventory(
            gpu_node("unpriced", group(H100)),
            gpu_node("uncounted", group(A100, physical=None)),
        )
    }
    report = idle_cost(fleet, book())
    assert [line.per_hour for line in report.lines] == [None, None]
    assert report.unknown == 2
    assert report.per_hour == ()
    by_model = {line.gpu_model: line for line in report.lines}
    assert by_model[A100].idle is None
    assert by_model[H100].idle == 8


@pytest.mark.parametrize(
    ("device_group", "used"),
    [
        (group(H100, units(count=8, requested=3)), 3),
        (group(H100, units(count=40, requested=10, kind=UnitKind.SHARE), physical=4), 1),
        (
            group(A100, units(MIG, 14, 7, kind=UnitKind.MIG, profile="1g.10gb"), physical=2),
            1,
        ),
        (
            group(
                H100,
                units("x/gpu-memory", 160, 40, kind=UnitKind.MEMORY),
                units("x/gpu-core", 200, 100, kind=UnitKind.CORE),
                physical=2,
            ),
            1,
        ),
        (group(H100, units(count=2, requested=5), physical=2), 2),
        (group(H100, units(count=8, requested=1, kind=UnitKind.UNCLASSIFIED)), None),
        (group(H100, physical=None), None),
    ],
)
def test_use_is_counted_in_boards(device_group: DeviceGroup, used: int | None) -> None:
    found = boards_used(device_group)
    assert (None if found is None else round(found, 6)) == used
