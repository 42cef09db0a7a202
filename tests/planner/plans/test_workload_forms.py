from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.urls import reverse

from fleet.workloads import LlmWorkload, TrainingWorkload
from planner.accounts.models import AuditEvent, Team, User
from planner.inventory.models import Cluster
from planner.plans.models import Workload
from tests.planner.plans.forms import LLM, TRAINING, WORKLOADS

ClientFor = Callable[..., Client]


def create(client: Client, kind: str, data: dict[str, Any]) -> Any:
    return client.post(reverse("plans:workload-create", args=[kind]), data)


@pytest.mark.parametrize("kind", sorted(WORKLOADS))
def test_each_kind_is_declared_by_its_form(kind: str, pia: User, client_for: ClientFor) -> None:
    response = create(client_for(pia), kind, WORKLOADS[kind])

    row = Workload.objects.get()
    assert response.status_code == 302
    assert (row.kind, row.name, row.created_by) == (kind, WORKLOADS[kind]["name"], pia)
    assert row.value.model == WORKLOADS[kind]["model"]
    assert row.value.replicas == int(WORKLOADS[kind]["replicas"])
    assert AuditEvent.objects.filter(action="workload.created").count() == 1


def test_every_field_of_the_llm_form_reaches_the_declared_value(
    team: Team, pia: User, client_for: ClientFor
) -> None:
    Cluster.objects.create(team=team, name="prod", source=Cluster.Source.FILE)
    data = LLM | {
        "precision": "fp8",
        "engine": "sglang",
        "kv_precision": "fp8",
        "memory_utilization": "0.85",
        "namespace": "serving",
        "priority_level": "number",
        "priority_number": "7",
        "preemptible": "on",
        "clusters": ["prod"],
        "gpu_models": ["H100-SXM5-80GB", "L4"],
        "topology": "rack",
        "node_selector": "pool=gpu\nzone=a",
        "tolerations": "team=search:NoSchedule\nspot",
    }
    del data["gang"], data["allow_mig"], data["tolerate_gpu_taints"]

    create(client_for(pia), "llm", data)

    value = Workload.objects.get().value
    assert isinstance(value, LlmWorkload)
    assert (value.precision, value.engine, value.kv_precision) == ("fp8", "sglang", "fp8")
    assert (value.input_tokens, value.output_tokens, value.max_context) == (2000, 400, 16384)
    assert (value.concurrency, value.memory_utilization) == (32, 0.85)
    assert (value.namespace, value.priority, value.preemptible) == ("serving", 7, True)
    held = value.constraints
    assert (held.clusters, held.gpu_models) == (("prod",), ("H100-SXM5-80GB", "L4"))
    assert (held.topology, held.gang, held.allow_mig) == ("rack", False, False)
    assert held.tolerate_gpu_taints is False
    assert held.node_selector == {"pool": "gpu", "zone": "a"}
    assert [(t.key, t.operator, t.value, t.effect) for t in held.tolerations] == [
        ("team", "Equal", "search", "NoSchedule"),
        ("spot", "Exists", "", ""),
    ]


def test_a_model_by_hand_replaces_the_one_of_the_catalogue(
    pia: User, client_for: ClientFor
) -> None:
    shape = {
        "model_source": "shape",
        "total_params_b": "13",
        "hidden_size": "5120",
        "num_layers": "40",
        "num_heads": "40",
    }

    create(client_for(pia), "training", TRAINING | shape)

    value = Workload.objects.get().value
    assert isinstance(value, TrainingWorkload)
    assert value.model == ""
    assert value.shape is not None
    assert (value.shape.total_params_b, value.shape.num_layers) == (13.0, 40)
    assert value.shape.vocab_size == 128_256


def test_the_context_of_a_model_by_hand_is_not_the_context_of_its_serving(
    pia: User, client_for: ClientFor
) -> None:
    shape = {
        "model_source": "shape",
        "total_params_b": "8",
        "hidden_size": "4096",
        "num_layers": "32",
        "num_heads": "32",
        "shape_max_context": "131072",
    }
    client = client_for(pia)

    create(client, "llm", LLM | shape)

    row = Workload.objects.get()
    assert isinstance(row.value, LlmWorkload)
    assert row.value.shape is not None
    assert (row.value.max_context, row.value.shape.max_context) == (16384, 131072)
    form = client.get(reverse("plans:workload-edit", args=[row.pk])).context["form"]
    assert (form.initial["max_context"], form.initial["shape_max_context"]) == (16384, 131072)


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"replicas": "0"}, "replicas", "greater than or equal to 1"),
        ({"replicas": "20000"}, "replicas", "less than or equal to 10000"),
        ({"input_tokens": "many"}, "input_tokens", "whole number"),
        ({"name": "Chat 8B"}, "name", "lower-case"),
        ({"name": ""}, "name", "required"),
        ({"namespace": "-x"}, "namespace", "lower-case"),
        ({"model": "meta-llama/Meta-Llama-3.1-9B"}, "model", "Did you mean"),
        ({"model": ""}, "model", "Choose a model"),
        ({"precision": "fp2"}, "precision", "not one of the available"),
        ({"memory_utilization": "0"}, "memory_utilization", "above 0 and at most 1"),
        ({"tolerations": "team:Sometimes"}, "tolerations", "NoSchedule"),
        ({"node_selector": "pool"}, "node_selector", "key=value"),
        ({"gpu_models": ["H900"]}, "gpu_models", "not one of the available"),
        ({"clusters": ["elsewhere"]}, "clusters", "not one of the available"),
        ({"model_source": "shape"}, "total_params_b", "required"),
        ({"model_source": "shape"}, "num_layers", "required"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_stored(
    change: dict[str, Any], field: str, words: str, pia: User, client_for: ClientFor
) -> None:
    response = create(client_for(pia), "llm", LLM | change)

    assert response.status_code == 422
    errors = response.context["form"].errors
    assert field in errors, errors
    assert words in " ".join(errors[field])
    assert not Workload.objects.exists()


def test_a_name_is_used_once_in_a_team(pia: User, client_for: ClientFor) -> None:
    client = client_for(pia)
    create(client, "llm", LLM)

    response = create(client, "llm", LLM)

    assert response.status_code == 422
    assert "already has a workload" in str(response.context["form"].errors["name"])
    assert Workload.objects.count() == 1


def test_editing_keeps_what_the_form_does_not_change(
    three: list[Workload], pia: User, client_for: ClientFor
) -> None:
    client, row = client_for(pia), three[1]
    address = reverse("plans:workload-edit", args=[row.pk])
    form = client.get(address).context["form"]
    data = {
        name: value
        for name, bound in form.fields.items()
        if (value := form.get_initial_for_field(bound, name)) not in (None, False)
    }
    before = row.value

    assert client.post(address, data | {"replicas": "5"}).status_code == 302

    row.refresh_from_db()
    assert row.value == msgspec.structs.replace(before, replicas=5)
    assert row.version == 2


def test_a_copy_starts_with_the_fields_of_its_source_and_a_free_name(
    three: list[Workload], pia: User, client_for: ClientFor
) -> None:
    response = client_for(pia).get(reverse("plans:workload-clone", args=[three[1].pk]))

    form = response.context["form"]
    assert form.initial["name"] == "chat-2"
    assert form.initial["model"] == three[1].value.model
    assert response.context["panel"] is not None


def test_deleting_asks_first(three: list[Workload], pia: User, client_for: ClientFor) -> None:
    client = client_for(pia)
    address = reverse("plans:workload-delete", args=[three[0].pk])

    client.get(address)
    assert Workload.objects.filter(pk=three[0].pk).exists()
    client.post(address)

    assert not Workload.objects.filter(pk=three[0].pk).exists()
    assert AuditEvent.objects.filter(action="workload.deleted").count() == 1


def test_an_exported_file_imports_as_the_same_workloads(
    three: list[Workload], pia: User, sam: User, client_for: ClientFor
) -> None:
    content = client_for(pia).get(reverse("plans:workload-export-all")).content.decode()

    response = client_for(sam).post(reverse("plans:workload-import"), {"text": content})

    assert response.status_code == 302
    theirs = {row.name: row.value for row in Workload.objects.exclude(team=three[0].team)}
    assert theirs == {row.name: row.value for row in three}


def test_an_import_is_all_or_nothing_and_names_the_place(
    three: list[Workload], pia: User, client_for: ClientFor
) -> None:
    text = (
        "workloads:\n"
        "- {kind: llm, name: new-one, model: Qwen/Qwen3-8B}\n"
        "- {kind: llm, name: bge, model: Qwen/Qwen3-8B}\n"
    )
    client = client_for(pia)

    taken = client.post(reverse("plans:workload-import"), {"text": text})
    broken = client.post(
        reverse("plans:workload-import"), {"text": "workloads:\n- {kind: llm, name: a, b: 1}\n"}
    )

    assert taken.status_code == broken.status_code == 422
    assert "another kind" in str(taken.context["form"].errors)
    assert "workloads[0]" in str(broken.context["form"].errors)
    assert not Workload.objects.filter(name="new-one").exists()
