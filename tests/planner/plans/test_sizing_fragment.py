from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from fleet import words
from planner.accounts.models import AuditEvent, User
from planner.inventory.models import Cluster
from planner.plans.models import Workload
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
        ({"model": "70b", "concurrency": "-1"}, "3 models match; choose one."),
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


def test_a_part_of_a_name_offers_its_models_without_a_fault(
    pia: User, client_for: ClientFor
) -> None:
    text = sizing(client_for(pia), "llm", LLM | {"model": "70b"})

    assert "3 models match; choose one." in text
    assert 'class="sizing-problems errors"' not in text
    assert text.count('type="button" class="model-choice" data-fill="id_model"') == 3
    assert 'value="meta-llama/Meta-Llama-3.1-70B"' in text


def test_at_most_eight_models_are_offered_and_only_of_the_kind(
    pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)

    text = sizing(client, "llm", LLM | {"model": "a"})
    assert text.count('model-choice"') == 8
    assert "choose one or type more of the name." in text
    assert "Embedding-8B" not in sizing(client, "llm", LLM | {"model": "8b"})


def test_a_model_by_hand_asks_for_what_is_still_needed_without_a_fault(
    pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)
    by_hand = LLM | {"model_source": "shape", "model": ""}

    text = sizing(client, "llm", by_hand)
    assert "Still needed:" in text
    assert 'class="sizing-problems errors"' not in text
    for name in ("total_params_b", "hidden_size", "num_layers", "num_heads"):
        assert f'href="#id_{name}"' in text

    text = sizing(client, "llm", by_hand | {"num_layers": "-3", "hidden_size": "4096"})
    assert 'class="sizing-problems errors"' in text
    assert 'href="#id_hidden_size"' not in text


def test_saving_what_is_not_finished_still_names_every_field(
    pia: User, client_for: ClientFor
) -> None:
    address = reverse("plans:workload-create", args=["llm"])
    response = client_for(pia).post(address, LLM | {"model_source": "shape", "model": ""})

    assert response.status_code == 422
    assert set(response.context["form"].errors) == {
        "total_params_b",
        "hidden_size",
        "num_layers",
        "num_heads",
    }
