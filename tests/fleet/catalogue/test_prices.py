"""Which price wins, where it comes from, and that a missing one is never 0."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.catalogue.accelerators import accelerators
from fleet.catalogue.instance_types import instance_type, instance_types
from fleet.catalogue.mig_profiles import profiles
from fleet.catalogue.prices import (
    MatchBy,
    OwnedHardware,
    PriceBook,
    PriceEntry,
    PriceKind,
    default_book,
    instance_price,
    median_price,
    unit_share,
)
from fleet.units import Money

H100 = "H100-SXM5-80GB"


def entry(match_by: MatchBy, match: str, amount: str, **more: object) -> PriceEntry:
    return PriceEntry(
        PriceKind.NEGOTIATED,
        match_by,
        match,
        Money(Decimal(amount)),
        "contract",
        **more,  # type: ignore[arg-type]
    )


def owned(model: str = H100, **more: object) -> OwnedHardware:
    values: dict[str, object] = {
        "gpu_model": model,
        "node_price": Decimal(325_000),
        "gpus": 8,
        "gpu_watts": Decimal(1_275),
        "host_watts": Decimal(0),
    }
    values.update(more)
    return OwnedHardware(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("region", "told"), [("ap-northeast-1", "us-east-1"), ("us-east-1", ""), ("", "")]
)
def test_a_list_price_of_another_region_says_which(region: str, told: str) -> None:
    price = default_book().price_for("g4dn.xlarge", "T4", region)
    assert price is not None
    assert price.other_region == told


def test_a_machine_with_one_gpu_is_priced_in_the_singular() -> None:
    price = default_book().price_for("g4dn.xlarge", "T4", "us-east-1")
    assert price is not None
    assert price.basis.endswith(" / 1 GPU")


def test_list_price_of_a_node_is_divided_by_its_gpus() -> None:
    price = default_book().price_for("p5.48xlarge", H100)
    assert price is not None
    assert price.per_gpu_hour == Money(Decimal("6.88"))
    assert "55.04 USD / 8 GPUs" in price.basis
    assert price.as_of == date(2026, 7, 20)
    assert price.source


def test_without_a_known_instance_type_the_median_of_the_model_is_used() -> None:
    price = default_book().price_for("", H100)
    assert price is not None
    assert "median" in price.basis
    assert price.per_gpu_hour.rounded() == Money(Decimal("6.05"))


def test_an_instance_type_with_other_gpus_than_the_node_does_not_count() -> None:
    price = default_book().price_for("p5.48xlarge", "T4")
    assert price is not None
    assert "GPU model T4" in price.basis


def test_a_family_name_takes_the_median_of_its_family() -> None:
    price = default_book().price_for("", "H100")
    assert price is not None
    assert price.basis.startswith("GPU family H100")


def test_no_price_is_none_and_never_zero() -> None:
    assert default_book().price_for("nobody-sells-this", "Not-A-GPU") is None
    assert default_book().price_for("nobody-sells-this", None) is None
    assert PriceBook(use_catalogue=False).price_for("p5.48xlarge", H100) is None


def test_every_instance_type_has_a_positive_price_or_none() -> None:
    for kind in instance_types():
        assert kind.on_demand is None or kind.on_demand > 0, kind.name
        assert kind.gpu_count > 0, kind.name
        assert kind.source or kind.on_demand is None, kind.name
        assert kind.gpu_model in accelerators(), kind.name


def test_instance_types_are_found_in_any_case_and_prefer_the_region() -> None:
    first = instance_types()[0]
    found = instance_type(first.name.upper(), first.region)
    assert found is not None
    assert found.name == first.name
    assert instance_type("no-such-type") is None


def test_own_prices_go_before_the_catalogue_and_the_instance_type_before_the_model() -> None:
    book = PriceBook(
        entries=(
            entry(MatchBy.GPU_MODEL, H100, "4.00"),
            entry(MatchBy.INSTANCE_TYPE, "p5.48xlarge", "3.50"),
        )
    )
    by_type = book.price_for("p5.48xlarge", H100)
    by_model = book.price_for("other", H100)
    assert by_type is not None
    assert by_model is not None
    assert by_type.per_gpu_hour.amount == Decimal("3.50")
    assert by_type.kind is PriceKind.NEGOTIATED
    assert by_model.per_gpu_hour.amount == Decimal("4.00")


def test_a_price_for_one_cluster_goes_before_one_for_all_and_stays_there() -> None:
    book = PriceBook(
        entries=(
            entry(MatchBy.GPU_MODEL, H100, "4.00"),
            entry(MatchBy.GPU_MODEL, H100, "2.00", cluster="onprem"),
        )
    )
    here = book.price_for("", H100, cluster="onprem")
    there = book.price_for("", H100, cluster="cloud")
    assert here is not None
    assert there is not None
    assert (here.per_gpu_hour.amount, there.per_gpu_hour.amount) == (Decimal(2), Decimal(4))


def test_a_price_holds_only_within_its_dates() -> None:
    dated = entry(
        MatchBy.GPU_MODEL, H100, "1.00", valid_from=date(2026, 1, 1), valid_to=date(2026, 6, 30)
    )
    inside = PriceBook(entries=(dated,), on_day=date(2026, 6, 30)).price_for("", H100)
    outside = PriceBook(entries=(dated,), on_day=date(2026, 7, 1)).price_for("", H100)
    assert inside is not None
    assert outside is not None
    assert inside.kind is PriceKind.NEGOTIATED
    assert outside.kind is PriceKind.LIST


def test_spot_nodes_say_so_when_only_the_on_demand_price_is_known() -> None:
    labels = {"karpenter.sh/capacity-type": "spot"}
    price = default_book().price_for("p5.48xlarge", H100, node_labels=labels)
    assert price is not None
    assert "spot" in price.basis


def test_owned_hardware_follows_the_formula() -> None:
    """325,000 USD, 20 % left after 4 years, 10.2 kW × 0.8, PUE 1.4, 0.10 USD/kWh, 10 % a year:
    0.93 + 0.14 + 0.46 = 1.53 USD for each installed GPU-hour."""
    assert owned().per_installed_gpu_hour.quantize(Decimal("0.01")) == Decimal("1.53")
    assert owned().price().kind is PriceKind.OWNED


def test_owned_hardware_of_a_cluster_goes_before_the_list_and_of_all_after_it() -> None:
    here = PriceBook(owned=(owned(cluster="onprem"),)).price_for("", H100, cluster="onprem")
    listed = PriceBook(owned=(owned(),)).price_for("", H100, cluster="onprem")
    alone = PriceBook(owned=(owned("Own-Card"),)).price_for("", "Own-Card")
    assert here is not None
    assert listed is not None
    assert alone is not None
    assert [p.kind for p in (here, listed, alone)] == [
        PriceKind.OWNED,
        PriceKind.LIST,
        PriceKind.OWNED,
    ]


@pytest.mark.parametrize(
    "wrong",
    [{"gpus": 0}, {"years": Decimal(0)}, {"residual": Decimal(2)}, {"node_price": Decimal(-1)},
     {"pue": Decimal("NaN")}],
)  # fmt: skip
def test_owned_hardware_refuses_impossible_figures(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="owned"):
        owned(**wrong)


def test_price_entries_refuse_empty_matches_and_negative_amounts() -> None:
    with pytest.raises(ValueError, match="match"):
        entry(MatchBy.GPU_MODEL, " ", "1")
    with pytest.raises(ValueError, match="0 or more"):
        entry(MatchBy.GPU_MODEL, H100, "-1")
    with pytest.raises(ValueError, match="valid_to"):
        entry(MatchBy.GPU_MODEL, H100, "1", valid_from=date(2026, 2, 1), valid_to=date(2026, 1, 1))


def test_mig_share_is_the_larger_of_compute_and_memory() -> None:
    assert unit_share("A100-SXM4-80GB", "1g.20gb") == Decimal("0.25")
    assert unit_share("A100-SXM4-80GB", "1g.10gb") == Decimal(1) / 7
    assert unit_share("A100-SXM4-80GB", "7g.80gb") == 1
    assert unit_share("A100-SXM4-80GB", None) == 1


def test_an_unreadable_profile_counts_as_a_whole_board() -> None:
    assert unit_share("A100-SXM4-80GB", "odd") == 1


@given(st.sampled_from([m for m in accelerators() if profiles(m)]), st.data())
def test_every_mig_share_lies_between_nothing_and_a_board(model: str, data: st.DataObject) -> None:
    cut = data.draw(st.sampled_from(profiles(model)))
    assert 0 < unit_share(model, cut.name) <= 1


def test_medians_lie_within_the_prices_that_they_come_from() -> None:
    for model in {k.gpu_model for k in instance_types()}:
        found = median_price(model)
        each = [
            k.on_demand / k.gpu_count
            for k in instance_types()
            if k.gpu_model == model and k.on_demand is not None
        ]
        assert (found is None) == (not each)
        if found is not None:
            assert min(each) - 1 < found.per_gpu_hour.amount < max(each) + 1


def test_what_a_price_rests_on_is_told_in_the_readers_language(
    request: pytest.FixtureRequest,
) -> None:
    for name in (H100, "H100"):
        assert median_price(name) is not None  # the figures are kept, their sentence is not
    request.getfixturevalue("shouting")
    typed = [
        PriceBook((entry(by, match, "2"),))
        for by, match in ((MatchBy.INSTANCE_TYPE, "g6.xlarge"), (MatchBy.GPU_MODEL, "L4"))
    ]
    found = [
        OwnedHardware("L4", Decimal(9_000), 4, Decimal(72)).price(),
        median_price(H100),
        median_price("H100"),
        *(book.price_for("g6.xlarge", "L4") for book in typed),
        *(instance_price(name, spot=True) for name in ("p5.48xlarge", "a3-highgpu-8g")),
        instance_price("p5.48xlarge"),
    ]
    told = [price for price in found if price is not None]
    assert len(told) > 5
    assert [p.basis for p in told if not re.match(r"[A-Z]{3,} [A-Z]{2,}", p.basis)] == []
    assert [p.basis for p in told if re.search(r"\b[a-z]{2,} [a-z]{2,}\b", p.basis)] == []
    assert told[0].source == "OWNED HARDWARE, OWN FIGURES"
