"""Which resources we read, in one table: the live reader, the export loop and the printed
ClusterRole all follow it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    group: str  # "" for core
    versions: tuple[str, ...]  # best first; the first one that discovery lists is read
    plural: str
    kind: str
    needed: bool = False  # without it there is no inventory

    @property
    def key(self) -> str:
        """Name as kubectl takes it: "nodes", "resourceslices.resource.k8s.io"."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


RESOURCES: tuple[Resource, ...] = (
    Resource("", ("v1",), "nodes", "Node", needed=True),
    Resource("", ("v1",), "pods", "Pod", needed=True),
    Resource("", ("v1",), "namespaces", "Namespace"),
    Resource("", ("v1",), "resourcequotas", "ResourceQuota"),
    Resource("scheduling.k8s.io", ("v1",), "priorityclasses", "PriorityClass"),
    Resource("apps", ("v1",), "deployments", "Deployment"),
    Resource("apps", ("v1",), "statefulsets", "StatefulSet"),
    Resource("apps", ("v1",), "daemonsets", "DaemonSet"),
    Resource("apps", ("v1",), "replicasets", "ReplicaSet"),
    Resource("batch", ("v1",), "jobs", "Job"),
    Resource("batch", ("v1",), "cronjobs", "CronJob"),
    Resource("resource.k8s.io", ("v1", "v1beta2", "v1beta1"), "deviceclasses", "DeviceClass"),
    Resource("resource.k8s.io", ("v1", "v1beta2", "v1beta1"), "resourceslices", "ResourceSlice"),
    Resource("resource.k8s.io", ("v1", "v1beta2", "v1beta1"), "resourceclaims", "ResourceClaim"),
    Resource(
        "resource.k8s.io",
        ("v1", "v1beta2", "v1beta1"),
        "resourceclaimtemplates",
        "ResourceClaimTemplate",
    ),
    Resource(
        "resource.k8s.io",
        ("v1", "v1beta2", "v1alpha3"),
        "devicetaintrules",
        "DeviceTaintRule",
    ),
    Resource("scheduling.k8s.io", ("v1beta1", "v1alpha3", "v1alpha2"), "podgroups", "PodGroup"),
    Resource(
        "scheduling.k8s.io",
        ("v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"),
        "workloads",
        "Workload",
    ),
    Resource("scheduling.k8s.io", ("v1alpha3",), "compositepodgroups", "CompositePodGroup"),
    Resource("scheduling.x-k8s.io", ("v1alpha1",), "podgroups", "PodGroup"),
    Resource("scheduling.volcano.sh", ("v1beta1",), "podgroups", "PodGroup"),
    Resource("scheduling.volcano.sh", ("v1beta1",), "queues", "Queue"),
    Resource("batch.volcano.sh", ("v1alpha1",), "jobs", "Job"),
    Resource("topology.volcano.sh", ("v1alpha1",), "hypernodes", "HyperNode"),
    Resource("scheduling.run.ai", ("v2alpha2",), "podgroups", "PodGroup"),
    Resource("kai.scheduler", ("v1alpha1",), "topologies", "Topology"),
    Resource("scheduler.grove.io", ("v1alpha1",), "podgangs", "PodGang"),
    Resource("grove.io", ("v1alpha1",), "podcliquesets", "PodCliqueSet"),
    Resource("grove.io", ("v1alpha1",), "clustertopologybindings", "ClusterTopologyBinding"),
    Resource("grove.io", ("v1alpha1",), "podcliques", "PodClique"),
    Resource("grove.io", ("v1alpha1",), "podcliquescalinggroups", "PodCliqueScalingGroup"),
    Resource("kueue.x-k8s.io", ("v1beta2", "v1beta1"), "clusterqueues", "ClusterQueue"),
    Resource("kueue.x-k8s.io", ("v1beta2", "v1beta1"), "localqueues", "LocalQueue"),
    Resource("kueue.x-k8s.io", ("v1beta2", "v1beta1"), "resourceflavors", "ResourceFlavor"),
    Resource("kueue.x-k8s.io", ("v1beta2", "v1beta1", "v1alpha1"), "topologies", "Topology"),
    Resource("kueue.x-k8s.io", ("v1beta2", "v1beta1"), "workloads", "Workload"),
    Resource("jobset.x-k8s.io", ("v1", "v1alpha2"), "jobsets", "JobSet"),
    Resource("leaderworkerset.x-k8s.io", ("v1",), "leaderworkersets", "LeaderWorkerSet"),
    Resource("ray.io", ("v1",), "rayclusters", "RayCluster"),
    Resource("ray.io", ("v1",), "rayjobs", "RayJob"),
    Resource("ray.io", ("v1",), "rayservices", "RayService"),
    Resource("trainer.kubeflow.org", ("v1alpha1",), "trainjobs", "TrainJob"),
    Resource("trainer.kubeflow.org", ("v1alpha1",), "trainingruntimes", "TrainingRuntime"),
    Resource(
        "trainer.kubeflow.org", ("v1alpha1",), "clustertrainingruntimes", "ClusterTrainingRuntime"
    ),
    Resource("kubeflow.org", ("v1",), "pytorchjobs", "PyTorchJob"),
    Resource("kubeflow.org", ("v2beta1", "v1"), "mpijobs", "MPIJob"),
    Resource("kubeflow.org", ("v1",), "tfjobs", "TFJob"),
    Resource("kubeflow.org", ("v1",), "xgboostjobs", "XGBoostJob"),
    Resource("kubeflow.org", ("v1",), "paddlejobs", "PaddleJob"),
    Resource("kubeflow.org", ("v1",), "jaxjobs", "JAXJob"),
    Resource("serving.kserve.io", ("v1beta1",), "inferenceservices", "InferenceService"),
    Resource(
        "serving.kserve.io", ("v1alpha2", "v1alpha1"), "llminferenceservices", "LLMInferenceService"
    ),
)

NODES, PODS = (resource for resource in RESOURCES if resource.needed)
