from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client
from django.urls import reverse

from fleet.workloads import LlmWorkload
from planner.accounts.models import AuditEvent, User
from planner.plans.models import Plan, PriceEntry, Workload
from tests.planner.plans.forms import LLM, PRICE

ClientFor = Callable[..., Client]


def test_of_two_people_who_edit_a_workload_the_second_sees_both_texts(
    declare: Callable[..., Workload], pia: User, ada: User, client_for: ClientFor
) -> None:
    row = declare(LlmWorkload(name="chat-8b", model="meta-llama/Meta-Llama-3.1-8B"))
    address = reverse("plans:workload-edit", args=[row.pk])
    first, second = client_for(pia), client_for(ada)
    versions = [c.get(address).context["form"].initial["version"] for c in (first, second)]

    won = first.post(address, LLM | {"version": versions[0], "concurrency": "48"})
    lost = second.post(address, LLM | {"version": versions[1], "concurrency": "64"})

    assert (won.status_code, lost.status_code) == (302, 409)
    row.refresh_from_db()
    assert (row.value.concurrency, row.version, row.updated_by) == (48, 2, pia)  # type: ignore[union-attr]
    line = next(d for d in lost.context["differences"] if d.label == "At once")
    assert (line.yours, line.theirs) == ("64", "48")
    assert [d.label for d in lost.context["differences"]] == ["At once"]
    assert AuditEvent.objects.filter(action="workload.changed").count() == 1

    again = lost.context["form"].data["version"]
    assert second.post(address, LLM | {"version": again, "concurrency": "64"}).status_code == 302
    row.refresh_from_db()
    assert (row.value.concurrency, row.version) == (64, 3)  # type: ignore[union-attr]


def test_a_form_without_a_version_changes_nothing(
    declare: Callable[..., Workload], pia: User, client_for: ClientFor
) -> None:
    row = declare(LlmWorkload(name="chat-8b", model="meta-llama/Meta-Llama-3.1-8B"))

    response = client_for(pia).post(
        reverse("plans:workload-edit", args=[row.pk]), LLM | {"replicas": "9"}
    )

    row.refresh_from_db()
    assert response.status_code == 409
    assert row.value.replicas == 1


def plan_data(plan: Plan, **changes: Any) -> dict[str, Any]:
    return {
        "name": plan.name,
        "workloads": [str(pk) for pk in plan.workloads.values_list("pk", flat=True)],
        "budget_s": "5",
        "seed": "0",
        "version": str(plan.version),
    } | changes


def test_of_two_people_who_edit_a_plan_the_second_sees_both_texts(
    plan: Plan, three: list[Workload], pia: User, ada: User, client_for: ClientFor
) -> None:
    address = reverse("plans:plan-edit", args=[plan.pk])
    one = plan_data(plan, workloads=[str(three[0].pk)])
    two = plan_data(plan, workloads=[str(three[1].pk)])

    won = client_for(pia).post(address, one)
    lost = client_for(ada).post(address, two)

    assert (won.status_code, lost.status_code) == (302, 409)
    assert list(plan.workloads.all()) == [three[0]]
    line = next(d for d in lost.context["differences"] if d.label == "Workloads")
    assert line.yours.startswith("chat")
    assert line.theirs.startswith("bge")


def test_of_two_people_who_edit_a_price_the_second_sees_both_texts(
    pia: User, ada: User, client_for: ClientFor
) -> None:
    client_for(pia).post(reverse("plans:price-create", args=["price"]), PRICE)
    row = PriceEntry.objects.get()
    address = reverse("plans:price-edit", args=[row.pk])

    won = client_for(pia).post(address, PRICE | {"version": "1", "per_gpu_hour": "0.29"})
    lost = client_for(ada).post(address, PRICE | {"version": "1", "per_gpu_hour": "0.27"})

    assert (won.status_code, lost.status_code) == (302, 409)
    row.refresh_from_db()
    assert str(row.per_gpu_hour) == "0.2900"
    labels = [d.label for d in lost.context["differences"]]
    assert labels == ["Price of one GPU"]
