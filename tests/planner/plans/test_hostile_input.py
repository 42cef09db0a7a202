from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from planner.accounts.models import Team, User
from planner.inventory import snapshots
from planner.inventory.models import Cluster
from planner.jobs import runner
from planner.plans import plan_services
from planner.plans.models import Plan, Workload
from tests.planner.plans.forms import LLM, OWNED, PRICE, WORKLOADS

ClientFor = Callable[..., Client]

CORPUS = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "<script>alert(1)</script>",
    "{{7*7}}{% now %}",
    "' OR 1=1 --",
    "../../../etc/passwd",
    "-1",
    "0",
    "1e999",
    "NaN",
    "Infinity",
    "-Infinity",
    "٣",
    "１２",
    "9" * 20,  # a key that no 64 bits hold
    "9" * 400,
    "x" * 20_000,
    "\u202eevil",
    "\ud83d",
    "\n\r\n=1+1",
    "${jndi:ldap://x}",
    "=cmd|' /C calc'!A0",
]
HOSTILE = '<img src=x onerror=alert(1)>"hx-get=/x\u202e'


def _some(fields: Iterable[str], text: str) -> list[str]:
    """A third of the fields, other ones for each text: every field meets seven texts."""
    turn = CORPUS.index(text)
    return [name for place, name in enumerate(fields) if (place + turn) % 3 == 0]


FIELDS = {
    "llm": ("name", "model", "replicas", "precision", "memory_utilization", "version"),
    "embedding": ("namespace", "node_selector", "tolerations", "gpu_models", "clusters"),
    "training": ("priority_level", "priority_number", "model_source", "topology", "gpus"),
}
"""Each field once, with the kind of form that it is tried on."""


@pytest.mark.parametrize("kind", sorted(FIELDS))
@pytest.mark.parametrize("text", CORPUS)
def test_no_field_of_a_workload_form_answers_500(
    kind: str, text: str, pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)
    safe = text.encode("utf-8", "replace").decode()
    address = reverse("plans:workload-create", args=[kind])
    for name in _some(FIELDS[kind], text):
        response = client.post(address, WORKLOADS[kind] | {name: safe})
        assert response.status_code in (302, 422), name


@pytest.mark.parametrize("text", CORPUS)
def test_the_sizing_of_hostile_fields_answers_in_words(
    text: str, pia: User, client_for: ClientFor
) -> None:
    safe = text.encode("utf-8", "replace").decode()
    for field in ("model", "concurrency", "gpu_models"):
        response = client_for(pia).post(
            reverse("plans:workload-sizing", args=["llm"]), LLM | {field: safe}
        )
        assert response.status_code == 200


@pytest.mark.parametrize("text", CORPUS)
def test_no_field_of_the_other_forms_answers_500(
    text: str, plan: Plan, pia: User, client_for: ClientFor
) -> None:
    client = client_for(pia)
    safe = text.encode("utf-8", "replace").decode()
    plan_data: dict[str, Any] = {"name": "p", "workloads": ["1"], "budget_s": "1", "seed": "0"}
    forms = [
        (reverse("plans:price-create", args=["price"]), PRICE),
        (reverse("plans:price-create", args=["owned"]), OWNED),
        (reverse("plans:owned-rate"), OWNED),
        (reverse("plans:plan-create"), plan_data | {"clusters": "", "version": ""}),
        (reverse("plans:workload-import"), {"text": ""}),
    ]
    for address, data in forms:
        for name in _some(data, text):
            response = client.post(address, data | {name: safe})
            assert response.status_code in (200, 302, 422), (address, name)


@pytest.mark.parametrize("key", ["99999999999999999999", "-99999999999999999999", str(2**63)])
@pytest.mark.parametrize("name", ["workloads", "clusters"])
def test_a_key_beyond_64_bits_names_no_row(
    name: str, key: str, plan: Plan, pia: User, client_for: ClientFor
) -> None:
    chosen = list(plan.workloads.values_list("pk", flat=True))
    data: dict[str, Any] = {"name": "p", "workloads": chosen, "budget_s": "1", "seed": "0"}
    for address in (
        reverse("plans:plan-create"),
        reverse("plans:plan-edit", args=[plan.pk]),
    ):
        response = client_for(pia).post(address, data | {name: key})

        assert response.status_code == 422
        assert list(response.context["form"].errors) == [name]


def test_a_price_for_a_cluster_beyond_64_bits_is_refused(pia: User, client_for: ClientFor) -> None:
    data = PRICE | {"cluster": "99999999999999999999"}
    response = client_for(pia).post(reverse("plans:price-create", args=["price"]), data)

    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["cluster"]


def test_addresses_with_keys_beyond_64_bits_are_not_found(pia: User, client_for: ClientFor) -> None:
    client = client_for(pia)
    for name in (
        *(f"plans:plan-{act}" for act in ("detail", "edit", "clone", "delete", "csv", "json")),
        *(f"plans:workload-{act}" for act in ("detail", "edit", "clone", "delete", "export")),
        "plans:price-edit",
        "plans:price-delete",
        "jobs:progress",
    ):
        assert client.get(reverse(name, args=[10**20])).status_code == 404, name


def test_a_page_of_another_app_takes_any_number(
    fleet: list[Cluster], ada: User, client_for: ClientFor
) -> None:
    client = client_for(ada)
    huge = "99999999999999999999"
    for address in (
        reverse("inventory:node-list"),
        reverse("inventory:cluster-list"),
        reverse("inventory:snapshot-detail", args=[fleet[0].uuid, 10**20]),
        reverse("accounts:audit-list"),
    ):
        query = dict.fromkeys(("page", "free", "cluster", "sort", "q"), huge)
        assert client.get(address, query).status_code in (200, 404), address
    response = client.post(reverse("accounts:team-switch"), {"team": huge})
    assert response.status_code in (302, 400, 404)


@pytest.mark.parametrize("text", CORPUS)
def test_no_query_of_a_page_answers_500(
    text: str, plan: Plan, three: list[Workload], vic: User, client_for: ClientFor
) -> None:
    client = client_for(vic)
    safe = text.encode("utf-8", "replace").decode()
    for address in (
        reverse("plans:workload-list"),
        reverse("plans:plan-list"),
        reverse("plans:price-list"),
        reverse("plans:plan-detail", args=[plan.pk]),
        reverse("plans:plan-tab", args=[plan.pk, "pods"]),
    ):
        query = dict.fromkeys(("q", "kind", "page", "run", "cluster", "workload"), safe)
        assert client.get(address, query).status_code in (200, 404)


@pytest.mark.parametrize(
    "text",
    [
        "workloads: [" * 500,
        "a: &a [x]\nb: *a\n",
        "workloads:\n- !!python/object/apply:os.system ['id']\n",
        "[]",
        "workloads: 3",
        '{"workloads": [{"kind": "llm", "name": "x", "replicas": 1e400}]}',
        "\x00\x01\x02",
    ],
)
def test_a_broken_workload_file_is_refused_with_words(
    text: str, pia: User, client_for: ClientFor
) -> None:
    response = client_for(pia).post(reverse("plans:workload-import"), {"text": text})

    assert response.status_code == 422
    assert response.context["form"].errors
    assert not Workload.objects.exists()


def test_names_from_a_cluster_are_shown_literally(
    team: Team, plan: Plan, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    current = fleet[1].current_snapshot
    assert current is not None
    inventory = current.inventory()
    nodes = tuple(
        replace(node, name=f"{HOSTILE}{index}", pool=HOSTILE, instance_type=HOSTILE)
        for index, node in enumerate(inventory.nodes)
    )
    snapshots.publish(snapshots.build(cluster=fleet[1], inventory=replace(inventory, nodes=nodes)))
    job = plan_services.request_solve(plan=plan, by=pia)
    runner.run(job.pk)
    client = client_for(pia)

    pages = [reverse("plans:plan-detail", args=[plan.pk]), reverse("plans:price-list")]
    pages += [
        reverse("plans:plan-tab", args=[plan.pk, tab])
        for tab in ("cost", "pods", "solver", "history")
    ]
    shown = 0
    for page in pages:
        text = client.get(page).content.decode()
        assert "<img" not in text.replace('<img src="/static', "")
        shown += "&lt;img" in text
    assert shown >= 2


def test_a_workload_of_another_team_is_no_choice_of_a_plan(
    plan: Plan, sam: User, client_for: ClientFor, three: list[Workload]
) -> None:
    data = {"name": "stolen", "workloads": [three[0].pk], "budget_s": "5", "seed": "0"}

    response = client_for(sam).post(reverse("plans:plan-create"), data)

    assert response.status_code == 422
    assert "workloads" in response.context["form"].errors
    assert not Plan.objects.filter(name="stolen").exists()


def test_a_cluster_of_another_team_is_no_choice_of_a_plan(
    other_team: Team, three: list[Workload], pia: User, client_for: ClientFor
) -> None:
    theirs = Cluster.objects.create(team=other_team, name="theirs", source=Cluster.Source.FILE)
    data = {
        "name": "x",
        "workloads": [three[0].pk],
        "clusters": [theirs.pk],
        "budget_s": "5",
        "seed": "0",
    }

    response = client_for(pia).post(reverse("plans:plan-create"), data)

    assert response.status_code == 422
    assert "clusters" in response.context["form"].errors


def test_a_get_of_any_page_of_the_app_writes_nothing(
    plan: Plan, fleet: list[Cluster], pia: User, client_for: ClientFor
) -> None:
    job = plan_services.request_solve(plan=plan, by=pia)
    runner.run(job.pk)
    row = plan.workloads.first()
    assert row is not None
    client = client_for(pia)
    addresses = [reverse(f"plans:{n}") for n in ("workload-list", "plan-list", "price-list")]
    addresses += [reverse("plans:workload-create", args=[kind]) for kind in WORKLOADS]
    addresses += [
        reverse(f"plans:workload-{act}", args=[row.pk])
        for act in ("detail", "edit", "clone", "delete", "export")
    ]
    addresses += [
        reverse(f"plans:plan-{act}", args=[plan.pk])
        for act in ("detail", "edit", "clone", "delete", "csv", "json")
    ]
    for address in addresses:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200, address
        verbs = {query["sql"].split()[0] for query in queries}
        assert not verbs & {"INSERT", "UPDATE", "DELETE"}, address


def test_llm_form_data_is_valid_so_that_the_corpus_means_something(
    pia: User, client_for: ClientFor
) -> None:
    response = client_for(pia).post(reverse("plans:workload-create", args=["llm"]), LLM)

    assert response.status_code == 302
