"""What is not known about a cluster while one of its resources may not be read."""

from __future__ import annotations

from fleet.kubernetes.resources import RESOURCES
from fleet.words import say

_WORKLOAD_GROUPS = frozenset(
    {
        "apps",
        "batch",
        "batch.volcano.sh",
        "jobset.x-k8s.io",
        "leaderworkerset.x-k8s.io",
        "ray.io",
        "trainer.kubeflow.org",
        "kubeflow.org",
        "serving.kserve.io",
        "grove.io",
    }
)
_GANG_PLURALS = frozenset({"podgroups", "workloads", "hypernodes", "podcliques"})


def lost_with(key: str) -> str:
    """The answers that reading the resource ``key`` (``Resource.key``) would give, in words."""
    resource = next((r for r in RESOURCES if r.key == key), None)
    group, plural = (resource.group, resource.plural) if resource is not None else ("", key)
    match key:
        case "nodes" | "pods":
            return say("Without it there is no inventory.")
        case "namespaces":
            return say("Namespaces in which nothing lives are not known to the quota checks.")
        case "resourcequotas":
            return say(
                "What quotas still allow is unknown, and whether each namespace that asks for GPUs "
                "has one."
            )
        case "priorityclasses.scheduling.k8s.io":
            return say("Which workloads may preempt others is unknown.")
        case "replicasets.apps":
            return say("Pods of a Deployment may be shown by their ReplicaSet.")
        case "deviceclasses.resource.k8s.io":
            return say(
                "Which DRA classes there are is unknown, and which of them stand for an ordinary "
                "resource such as nvidia.com/gpu."
            )
        case "resourceslices.resource.k8s.io":
            return say("GPUs that are offered through DRA are not counted.")
        case "resourceclaims.resource.k8s.io":
            return say(
                "Who holds the GPUs offered through DRA is unknown, and so is how many are free."
            )
        case "resourceclaimtemplates.resource.k8s.io":
            return say("How many DRA devices a pod wants that has no claim yet is unknown.")
    if group.startswith(("kueue.", "scheduling.volcano")) and plural not in _GANG_PLURALS:
        return say("What the queues of {group} allow and hold is unknown.", group=group)
    if plural in _GANG_PLURALS or group.startswith("scheduling."):
        return say(
            "Which pods must start together, how many of them and where, is unknown for {group}.",
            group=group,
        )
    if group.startswith(("topology.", "kai.")):
        return say("The topology that {group} states is unknown.", group=group)
    if group in _WORKLOAD_GROUPS:
        return say(
            "{resource} are known only by their pods: demand that has no pods yet, gang sizes and "
            "probes of the templates are unknown.",
            resource=plural,
        )
    return say("What {resource} say is unknown.", resource=key)
