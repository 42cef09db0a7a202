"""Who gets what at the URLs of workloads, prices and plans."""

from __future__ import annotations

import zlib
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec
from django.db.models.functions import Now

from fleet.planning import make_plan
from fleet.workloads import LlmWorkload
from planner.accounts.models import Team, User
from planner.plans import plan_services, run_results, workload_services
from planner.plans.models import Plan, PlanRun, PriceEntry
from tests.planner.matrix import (
    LIST,
    MARKER,
    PLANNER_ACTS,
    PLANNER_OPENS,
    READ,
    Entry,
    Row,
    World,
)
from tests.planner.plans.forms import LLM, OWNED, PRICE

NEW_FORM = Row(302, 200, 403, 200, 200)  # a form without an object: a stranger fills their own
NEW_POST = Row(302, 302, 403, 302, 302)
ANSWER = Row(302, 200, 403, 200, 200)  # a fragment that writes nothing


def objects(team: Team, admin: User) -> dict[str, Any]:
    value = LlmWorkload(name=MARKER, model="meta-llama/Meta-Llama-3.1-8B")
    workload = workload_services.create_workload(team=team, by=admin, value=value)
    price = PriceEntry.objects.create(
        team=team,
        kind=PriceEntry.Kind.NEGOTIATED,
        gpu_model="T4",
        per_gpu_hour=Decimal("0.3"),
        source=MARKER,
        as_of=date(2026, 11, 1),
    )
    plan = plan_services.create_plan(
        team=team, by=admin, name=MARKER, workloads=[workload], clusters=[], budget_s=1, seed=0
    )
    answer = make_plan([value], {})
    run = PlanRun.objects.create(
        plan=plan,
        number=1,
        finished_at=Now(),
        inputs={"workloads": [workload.spec], "clusters": [], "budget_s": 1, "seed": 0},
        result=zlib.compress(msgspec.msgpack.encode(answer)),
        summary=run_results.summary(answer),
        **run_results.counts(answer),
    )
    Plan.objects.filter(pk=plan.pk).update(current_run=run)
    return {"plans_workload": workload, "plans_price": price, "plans_plan": plan}


def _workload(w: World) -> list[Any]:
    return [w["plans_workload"].pk]


def _price(w: World) -> list[Any]:
    return [w["plans_price"].pk]


def _plan(w: World) -> list[Any]:
    return [w["plans_plan"].pk]


def _llm(w: World) -> dict[str, Any]:
    return LLM | {"name": f"{MARKER}-new", "version": "1"}


def _plan_form(w: World) -> dict[str, Any]:
    return {
        "name": f"{MARKER} two",
        "workloads": [w["plans_workload"].pk],
        "budget_s": "1",
        "seed": "0",
        "version": "1",
    }


ENTRIES = {
    "plans:workload-list": Entry(get=LIST),
    "plans:workload-create": Entry(
        get=NEW_FORM, post=NEW_POST, args=lambda w: ["llm"], data=lambda w: LLM | {"name": "new"}
    ),
    "plans:workload-sizing": Entry(post=ANSWER, args=lambda w: ["llm"], data=lambda w: LLM),
    "plans:workload-import": Entry(
        get=NEW_FORM,
        post=NEW_POST,
        data=lambda w: {"text": "workloads: [{kind: llm, name: new, model: Qwen/Qwen3-8B}]"},
    ),
    "plans:workload-export-all": Entry(get=LIST),
    "plans:workload-detail": Entry(get=READ, args=_workload),
    "plans:workload-edit": Entry(get=PLANNER_OPENS, post=PLANNER_ACTS, args=_workload, data=_llm),
    "plans:workload-clone": Entry(get=PLANNER_OPENS, post=PLANNER_ACTS, args=_workload, data=_llm),
    "plans:workload-delete": Entry(get=PLANNER_OPENS, post=PLANNER_ACTS, args=_workload),
    "plans:workload-export": Entry(get=READ, args=_workload),
    "plans:price-list": Entry(get=LIST),
    "plans:price-create": Entry(
        get=NEW_FORM, post=NEW_POST, args=lambda w: ["price"], data=lambda w: PRICE
    ),
    "plans:owned-rate": Entry(post=ANSWER, data=lambda w: OWNED),
    "plans:price-edit": Entry(
        get=PLANNER_OPENS, post=PLANNER_ACTS, args=_price, data=lambda w: PRICE | {"version": "1"}
    ),
    "plans:price-delete": Entry(get=PLANNER_OPENS, post=PLANNER_ACTS, args=_price),
    "plans:plan-list": Entry(get=LIST),
    "plans:plan-create": Entry(
        get=NEW_FORM,
        post=Row(302, 422, 403, 302, 302),  # the stranger names a workload of another team
        data=lambda w: _plan_form(w) | {"name": "two"},
    ),
    "plans:plan-detail": Entry(get=READ, args=_plan),
    "plans:plan-tab": Entry(get=READ, args=lambda w: [w["plans_plan"].pk, "cost"]),
    "plans:plan-edit": Entry(get=PLANNER_OPENS, post=PLANNER_ACTS, args=_plan, data=_plan_form),
    "plans:plan-clone": Entry(get=PLANNER_OPENS, post=PLANNER_ACTS, args=_plan, data=_plan_form),
    "plans:plan-delete": Entry(get=PLANNER_OPENS, post=PLANNER_ACTS, args=_plan),
    "plans:plan-solve": Entry(post=PLANNER_ACTS, args=_plan),
    "plans:plan-csv": Entry(get=READ, args=_plan),
    "plans:plan-json": Entry(get=READ, args=_plan),
}
