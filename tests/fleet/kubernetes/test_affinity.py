"""Required node affinity, roles, queues and wishes of workload objects, as the inventory holds
them: what answers where a pod fits."""

from __future__ import annotations

from typing import Any

from fleet.inventory import NodeRule
from tests.fleet.kubernetes.written import cluster, node, pod

Json = dict[str, Any]


def required(*terms: Json) -> Json:
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}
        }
    }


def test_terms_and_rules_are_kept_in_their_order() -> None:
    zone = {"key": "zone", "operator": "In", "values": ["a", "b"]}
    name = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    waiting = pod(gpus=1, affinity=required({"matchExpressions": [zone]}, {"matchFields": [name]}))
    (found,) = cluster(waiting).pods
    assert found.node_affinity == (
        (NodeRule("zone", "In", ("a", "b")),),
        (NodeRule("metadata.name", "In", ("n1",), is_field=True),),
    )


def test_nothing_required_is_no_condition_and_no_term_is_one_that_never_holds() -> None:
    preferred: Json = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
    for affinity, terms in (({}, ()), (preferred, ()), (required(), ((),))):
        (found,) = cluster(pod(gpus=1, affinity=affinity)).pods
        assert found.node_affinity == terms


def test_a_pod_that_has_its_node_needs_no_condition_any_more() -> None:
    rule = {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}
    (found,) = cluster(node(gpus=8), pod(on="node-a", gpus=1, affinity=required(rule))).pods
    assert found.node_affinity == ()


def lws(labels: Json | None = None, notes: Json | None = None) -> Json:
    def template(gpus: int, **spec: Any) -> Json:
        limits = {"nvidia.com/gpu": str(gpus)} if gpus else {"cpu": "1"}
        body = {"containers": [{"name": "main", "resources": {"limits": limits}}]} | spec
        return {"metadata": {"annotations": notes or {}}, "spec": body}

    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "llm", "namespace": "team-a", "labels": labels or {}},
        "spec": {
            "replicas": 3,
            "leaderWorkerTemplate": {
                "size": 4,
                "leaderTemplate": template(0),
                "workerTemplate": template(8, nodeSelector={"pool": "big"}),
            },
        },
    }


def test_leaders_and_workers_are_roles_of_their_own() -> None:
    (found,) = cluster(lws()).controllers
    leader, worker = found.roles
    assert (leader.pods, leader.requests, leader.cpu_milli) == (3, {}, 1000)
    assert (worker.pods, worker.requests, worker.cpu_milli) == (9, {"nvidia.com/gpu": 8}, 0)
    assert worker.node_selector == {"pool": "big"}
    assert leader.node_selector == {}


def test_a_preferred_level_is_a_wish_and_a_required_one_is_not() -> None:
    kueue = "kueue.x-k8s.io/podset-{}-topology"
    (wish,) = cluster(lws(notes={kueue.format("preferred"): "rack"})).controllers
    assert wish.topology_keys == wish.preferred_topology_keys == ("rack",)
    (must,) = cluster(lws(notes={kueue.format("required"): "rack"})).controllers
    assert (must.topology_keys, must.preferred_topology_keys) == (("rack",), ())


def test_the_queue_of_kueue_or_volcano_is_kept() -> None:
    (kueue,) = cluster(lws(labels={"kueue.x-k8s.io/queue-name": "gpus"})).controllers
    assert kueue.queue == "gpus"
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "team-a"},
        "spec": {
            "queue": "a800",
            "tasks": [{"replicas": 1, "template": pod(gpus=1) | {"status": None}}],
        },
    }
    (volcano,) = cluster(job).controllers
    assert volcano.queue == "a800"


def test_what_a_flavor_tolerates_is_kept_whole() -> None:
    flavor = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "big"},
        "spec": {"tolerations": [{"key": "gpu", "operator": "Equal", "value": "yes"}]},
    }
    (found,) = cluster(flavor).gang_objects
    (toleration,) = found.tolerations
    assert (toleration.key, toleration.operator, toleration.value) == ("gpu", "Equal", "yes")
