from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from fleet import words
from fleet.workloads import LlmWorkload
from planner.accounts.models import AuditEvent, Team, User
from planner.inventory.models import Cluster
from planner.plans.free_units import fleet_now
from planner.plans.models import Workload
from planner.plans.price_books import book_for
from planner.plans.sizing_panel import Panel, panel_for
from tests.planner.plans.forms import LLM, WORKLOADS

ClientFor = Callable[..., Client]


def sizing(client: Client, kind: str, data: dict[str, object]) -> str:
    response = client.post(
        reverse("plans:workload-sizing", args=[kind]), data, headers={"HX-Request": "true"}
    )
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("kind", sorted(WORKLOADS))
def test_the_fragment_answers_for_each_kind(
    kind: str, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    text = sizing(client_for(pia), kind, WORKLOADS[kind])

    assert "What one replica needs" in text
    assert "usable memory per GPU" in text
    assert "Show the arithmetic" in text
    assert 'id="model-note" hx-swap-oob="true"' in text
    assert "<html" not in text


def test_the_engine_speaks_the_readers_language_in_the_fragment(
    monkeypatch: pytest.MonkeyPatch, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)
    assert "Usable memory" in sizing(client, "llm", LLM)
    german = {"Usable memory": "Nutzbar"}
    translator = words._Translator(lambda text: german.get(text, text), words._english_many)
    monkeypatch.setattr(words, "_translator", translator)
    text = sizing(client, "llm", LLM)
    assert "Nutzbar" in text
    assert "Usable memory" not in text


def test_the_fragment_writes_nothing(
    fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)
    with CaptureQueriesContext(connection) as queries:
        sizing(client, "llm", LLM)

    verbs = {query["sql"].split()[0] for query in queries}
    assert not verbs & {"INSERT", "UPDATE", "DELETE"}
    assert not Workload.objects.exists()
    assert not AuditEvent.objects.exists()


def test_a_name_that_is_not_finished_does_not_stop_the_sizing(
    pia: User, client_for: ClientFor
) -> None:
    text = sizing(client_for(pia), "llm", LLM | {"name": ""})

    assert "It cannot be worked out yet" not in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "no-such-model"}, "The catalogue has no model"),
        ({"concurrency": "-1"}, "greater than or equal to 1"),
        ({"model": "BAAI/bge-m3"}, "BAAI/bge-m3"),
    ],
)
def test_what_is_wrong_is_said_in_the_fragment(
    change: dict[str, str], words: str, pia: User, client_for: ClientFor
) -> None:
    assert words in sizing(client_for(pia), "llm", LLM | change)


def test_without_a_fleet_nothing_is_said_to_be_free(pia: User, client_for: ClientFor) -> None:
    text = sizing(client_for(pia), "llm", LLM)

    assert "No cluster has been read yet" in text
    assert ">unknown<" in text


def test_free_replicas_count_whole_pods_by_cluster(
    team: Team, fleet: list[Cluster], declare: Callable[..., Workload], three: list[Workload]
) -> None:
    panel = panel_for(team, three[1].value)
    assert isinstance(panel, Panel)
    now = fleet_now(team)

    for row in (row for row in panel.rows if row.works):
        held = now.free.get((row.shape.gpu_model, row.shape.mig_profile), [])
        for cluster, count in row.free.items():
            pods = sum(
                node.free // row.shape.gpus_per_pod for node in held if node.cluster == cluster
            )
            assert count == pods // row.shape.pods
    assert any(row.free_total for row in panel.rows)


def test_free_units_of_another_team_are_not_counted(
    team: Team, other_team: Team, fleet: list[Cluster]
) -> None:
    assert fleet_now(other_team).free == {}
    assert fleet_now(team).free != {}


def test_a_card_without_a_price_has_no_month(team: Team, fleet: list[Cluster]) -> None:
    now, book = fleet_now(team), book_for(team)
    panel = panel_for(team, LlmWorkload(name="x", model="meta-llama/Meta-Llama-3.1-8B"))
    assert isinstance(panel, Panel)
    for row in panel.rows:
        places = now.machines.get(row.shape.gpu_model, set())
        priced = any(
            book.price_for(kind, row.shape.gpu_model, region, cluster)
            for kind, region, cluster in places
        )
        if row.works:
            assert (row.month is not None) == priced


def test_the_browser_does_not_hold_back_a_form_that_is_not_finished(
    pia: User, client_for: ClientFor
) -> None:
    """htmx sends nothing from a form that the browser finds invalid, and a new form is."""
    client = client_for(pia)

    workload = client.get(reverse("plans:workload-create", args=["llm"])).content.decode()
    owned = client.get(reverse("plans:price-create", args=["owned"])).content.decode()

    for text in (workload, owned):
        form = next(part for part in text.split("<form ")[1:] if "delay:300ms" in part)
        assert "novalidate" in form.split(">")[0]
