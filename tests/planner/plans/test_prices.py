from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from planner.accounts.models import AuditEvent, Team, User
from planner.inventory.models import Cluster
from planner.plans.models import PriceEntry
from planner.plans.price_books import book_for
from planner.plans.price_views import prices_in_use
from tests.planner.plans.forms import OWNED, PRICE

ClientFor = Callable[..., Client]


def add(client: Client, what: str, data: dict[str, Any]) -> Any:
    return client.post(reverse("plans:price-create", args=[what]), data)


def test_an_own_price_goes_before_the_list_price(
    team: Team, pia: User, client_for: ClientFor
) -> None:
    assert add(client_for(pia), "price", PRICE).status_code == 302

    price = book_for(team).price_for("g4dn.xlarge", "T4")

    assert price is not None
    assert (price.per_gpu_hour.amount, price.kind) == (Decimal("0.3100"), "negotiated")
    assert (price.source, price.as_of) == ("contract 17", date(2026, 11, 1))
    assert AuditEvent.objects.filter(action="price.created").count() == 1


def test_a_price_for_one_cluster_counts_only_there(
    team: Team, pia: User, client_for: ClientFor
) -> None:
    cluster = Cluster.objects.create(team=team, name="prod", source=Cluster.Source.FILE)
    add(client_for(pia), "price", PRICE | {"cluster": str(cluster.pk), "currency": "EUR"})
    book = book_for(team)

    here, there = (book.price_for("", "T4", "", name) for name in ("prod", "lab"))

    assert here is not None
    assert here.per_gpu_hour.currency == "EUR"
    assert there is None or there.kind == "list"


def test_owned_hardware_is_priced_by_the_formula(
    team: Team, pia: User, client_for: ClientFor
) -> None:
    cluster = Cluster.objects.create(team=team, name="prod", source=Cluster.Source.FILE)
    add(client_for(pia), "owned", OWNED | {"cluster": str(cluster.pk)})

    row = PriceEntry.objects.get()
    # capital 7.4201 + power 1.204 + running 3.7100 an hour, over 8 GPUs
    capital = Decimal(325_000) * Decimal("0.8") / (4 * 8760)
    power = (8 * Decimal(1000) * Decimal("0.8") + 2200) / 1000 * Decimal("1.4") * Decimal("0.1")
    running = Decimal(325_000) * Decimal("0.1") / 8760
    expected = (capital + power + running) / 8
    price = book_for(team).price_for("", "H100-SXM5-80GB", "", "prod")
    assert abs(row.per_gpu_hour - expected) < Decimal("0.0001")
    assert price is not None
    assert price.kind == "owned"
    assert abs(price.per_gpu_hour.amount - expected) < Decimal("0.00001")


def test_the_calculator_shows_both_rates_and_writes_nothing(
    pia: User, client_for: ClientFor
) -> None:
    response = client_for(pia).post(reverse("plans:owned-rate"), OWNED)

    text = response.content.decode()
    assert "per installed GPU-hour" in text
    assert "per used GPU-hour" in text
    assert "$1.5418" in text  # 1.541767, rounded half up
    assert not PriceEntry.objects.exists()


@pytest.mark.parametrize(
    ("what", "data", "field"),
    [
        ("price", PRICE | {"per_gpu_hour": "-1"}, "per_gpu_hour"),
        ("price", PRICE | {"per_gpu_hour": "NaN"}, "per_gpu_hour"),
        ("price", PRICE | {"per_gpu_hour": "1e40"}, "per_gpu_hour"),
        ("price", PRICE | {"match": "T9000"}, "match"),
        ("price", PRICE | {"currency": "XXX"}, "currency"),
        ("price", PRICE | {"as_of": "yesterday"}, "as_of"),
        ("price", PRICE | {"cluster": "9999"}, "cluster"),
        ("price", PRICE | {"kind": "owned"}, "kind"),
        ("owned", OWNED | {"years": "0"}, "years"),
        ("owned", OWNED | {"residual": "1.5"}, "residual"),
        ("owned", OWNED | {"gpus": "0"}, "gpus"),
        ("owned", OWNED | {"gpu_model": ""}, "gpu_model"),
    ],
)
def test_a_wrong_price_is_refused_beside_its_field(
    what: str, data: dict[str, Any], field: str, pia: User, client_for: ClientFor
) -> None:
    response = add(client_for(pia), what, data)

    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert not PriceEntry.objects.exists()


def test_the_cluster_of_another_team_is_no_choice(
    other_team: Team, pia: User, client_for: ClientFor
) -> None:
    theirs = Cluster.objects.create(team=other_team, name="theirs", source=Cluster.Source.FILE)

    response = add(client_for(pia), "price", PRICE | {"cluster": str(theirs.pk)})

    assert response.status_code == 422
    assert not PriceEntry.objects.exists()


def test_the_list_names_every_machine_of_the_fleet_and_what_has_no_price(
    team: Team, fleet: list[Cluster], vic: User, client_for: ClientFor
) -> None:
    text = client_for(vic).get(reverse("plans:price-list")).content.decode()

    lines = prices_in_use(team)
    assert lines
    for line in lines:
        assert line.gpu_model in text
    assert any(line.price is None for line in lines) == ("verdict-unknown" in text)


def test_deleting_a_price_brings_the_list_price_back(
    team: Team, pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)
    add(client, "price", PRICE)

    client.post(reverse("plans:price-delete", args=[PriceEntry.objects.get().pk]))

    price = book_for(team).price_for("g4dn.xlarge", "T4")
    assert price is None or price.kind == "list"
