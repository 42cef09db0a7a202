"""The snippet that makes a workload a gang on this cluster, with the machinery found there."""

from __future__ import annotations

from fleet.readiness.distributed import Distributed
from fleet.readiness.gang_systems import installed, native_is_alpha
from fleet.readiness.pasting import yaml_text
from fleet.readiness.queues import KUEUE_LABEL, local_queues
from fleet.readiness.subject import Subject
from fleet.words import say


def topology_remedy() -> tuple[str, str]:
    """Remedy for a workload that Kueue holds by quota only."""
    return (
        say(
            "Kueue reserves quota, not nodes. Name the level that its pods must share (a Topology "
            "must exist), or turn on waitForPodsReady in Kueue:"
        ),
        "metadata:\n  annotations:\n"
        "    kueue.x-k8s.io/podset-preferred-topology: kubernetes.io/hostname\n",
    )


def _found(subject: Subject) -> str:
    """How a system was found: live by its API, in a file by its objects."""
    return (
        say("found by its API")
        if subject.inventory.apis is not None
        else say("found by its objects")
    )


_SUSPENDABLE = frozenset({"Job", "JobSet", "RayJob", "TrainJob"})


def remedy(subject: Subject, gang: Distributed) -> tuple[str, str]:
    """(sentence, snippet) that fits what the cluster has installed and the workload already has."""
    if gang.held and gang.gang is not None:
        if gang.gang.system == "kueue":
            return topology_remedy()
        if gang.minimum:
            return (
                say(
                    "Its group waits for {minimum} pods, and it needs {needed}: correct the "
                    "minimum of the group.",
                    minimum=gang.minimum,
                    needed=gang.needed,
                ),
                "",
            )
        return (
            say(
                "Its group waits for an unknown number of pods, and it needs {needed}: correct the "
                "minimum of the group.",
                needed=gang.needed,
            ),
            "",
        )
    by = _found(subject)
    for system in installed(subject):
        if system == "kueue":
            return _kueue(subject, gang)
        if system == "volcano":
            return (
                say(
                    "This cluster runs Volcano ({by}). Give the pods a group and its scheduler:",
                    by=by,
                ),
                _group(gang, "scheduling.volcano.sh/v1beta1")
                + "---  # in the pod template\nmetadata:\n  annotations:\n"
                f"    scheduling.k8s.io/group-name: {_name(gang)}\n"
                "spec:\n  schedulerName: volcano\n",
            )
        if system == "kai":
            return (
                say(
                    "This cluster runs KAI Scheduler ({by}). Its pod grouper makes the group; name "
                    "the scheduler and a queue in the pod template:",
                    by=by,
                ),
                "metadata:\n  labels:\n    kai.scheduler/queue: QUEUE\n"
                "spec:\n  schedulerName: kai-scheduler\n",
            )
        if system == "coscheduling":
            return (
                say(
                    "This cluster has the coscheduling plugin ({by}). Give the pods a group and "
                    "the scheduler that runs the plugin:",
                    by=by,
                ),
                _group(gang, "scheduling.x-k8s.io/v1alpha1")
                + "---  # in the pod template\nmetadata:\n  labels:\n"
                f"    scheduling.x-k8s.io/pod-group: {_name(gang)}\n"
                "spec:\n  schedulerName: SCHEDULER\n",
            )
        if system == "native" and not native_is_alpha(subject):
            return (
                say(
                    "This cluster serves the native PodGroup API. Create a group and name it in "
                    "the pod template:"
                ),
                "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata:\n"
                f"  name: {_name(gang)}\n  namespace: {_namespace(gang)}\n"
                f"spec:\n  schedulingPolicy:\n    gang:\n      minCount: {gang.needed}\n"
                "---  # in the pod template\nspec:\n  schedulingGroup:\n"
                f"    podGroupName: {_name(gang)}\n",
            )
    return (
        say(
            "No gang scheduler was found. Install Kueue (quota and topology for whole jobs), "
            "Volcano or KAI Scheduler; the native API of 1.36 is alpha and off by default. With "
            "Kueue, give the workload a queue:"
        ),
        _kueue_snippet(gang, "QUEUE"),
    )


def _kueue(subject: Subject, gang: Distributed) -> tuple[str, str]:
    by = _found(subject)
    queues = local_queues(subject).get(gang.namespace, ())
    if queues:
        return (
            say("This cluster runs Kueue ({by}). Give the {kind} a queue:", by=by, kind=gang.kind),
            _kueue_snippet(gang, queues[0].name),
        )
    return (
        say(
            "This cluster runs Kueue ({by}), and {namespace} has no LocalQueue yet. Create one and "
            "give the {kind} its name:",
            by=by,
            namespace=gang.namespace,
            kind=gang.kind,
        ),
        "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata:\n  name: gpus\n"
        f"  namespace: {_namespace(gang)}\nspec:\n  clusterQueue: CLUSTER-QUEUE\n"
        f"---  # in the {gang.kind}\n" + _kueue_snippet(gang, "gpus"),
    )


def _kueue_snippet(gang: Distributed, queue: str) -> str:
    text = f"metadata:\n  labels:\n    {KUEUE_LABEL}: {yaml_text(queue)}\n"
    if gang.kind in _SUSPENDABLE:
        text += "spec:\n  suspend: true\n"
    return text


def _group(gang: Distributed, api_version: str) -> str:
    return (
        f"apiVersion: {api_version}\nkind: PodGroup\nmetadata:\n  name: {_name(gang)}\n"
        f"  namespace: {_namespace(gang)}\nspec:\n  minMember: {gang.needed}\n"
    )


def _name(gang: Distributed) -> str:
    """Name for a group, as YAML."""
    return yaml_text(gang.name.partition("/")[2])


def _namespace(gang: Distributed) -> str:
    return yaml_text(gang.namespace)
