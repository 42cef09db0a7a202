"""What clouds, node groups and autoscalers write on nodes about GPUs, where the vendor's own
discovery is missing: model, number, memory, maker, or only that there is one.

Sources: the label tables of cluster-autoscaler's providers, Karpenter, EKS Auto Mode, GKE, AKS,
CoreWeave, Nebius, ACK and DOKS. Labels are anybody's text: an unknown value says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.catalogue.card_names import Cards, candidates, from_gke_label, from_karpenter, narrowed
from fleet.kubernetes.device_facts import NodeFacts
from fleet.units import plain_count

_GKE = "cloud.google.com/gke-accelerator"
_KARPENTER = ("karpenter.k8s.aws/instance-gpu-name", "eks.amazonaws.com/instance-gpu-name")
# Labels that hold nothing but a model.
_MODELS = (
    "karpenter.azure.com/sku-gpu-name",
    "gpu.nvidia.com/model",
    "gpu.nvidia.com/class",
    "nebius.com/gpu-name",
    "aliyun.accelerator/nvidia_name",
    "cloud.tencent.com/tke-accelerator",
    "doks.digitalocean.com/gpu-model",
)
# Labels by which a node group says that it has GPUs; the value is a model, a maker or "true".
_GROUPS = (
    "k8s.amazonaws.com/accelerator",
    "kubernetes.azure.com/accelerator",
    "cluster-api/accelerator",
    "k8s.scw.cloud/gpu",
    "cloud.digitalocean.com/gpu-node",
    "node.kubernetes.ovhcloud.com/gpu",
    "magnum.openstack.org/gpu",
)
# Labels of people and tools: only a model or a maker in them means anything.
_ANYBODYS = ("skypilot.co/accelerator", "accelerator", "gpu")
_MAKERS = (
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "eks.amazonaws.com/instance-gpu-manufacturer",
    "karpenter.azure.com/sku-gpu-manufacturer",
    "doks.digitalocean.com/gpu-brand",
)
_COUNTS = (
    "karpenter.k8s.aws/instance-gpu-count",
    "eks.amazonaws.com/instance-gpu-count",
    "karpenter.azure.com/sku-gpu-count",
    "gpu.nvidia.com/count",
    "aliyun.accelerator/nvidia_count",
)
_MEMORY = (
    "karpenter.k8s.aws/instance-gpu-memory",
    "eks.amazonaws.com/instance-gpu-memory",
    "aliyun.accelerator/nvidia_mem",
)
_MEBIBYTES = re.compile(r"([0-9]{1,7})(?:MiB)?")
_NO = frozenset({"false", "none", "no", "off", "0"})
_VENDORS = {"NVIDIA": "nvidia", "AMD": "amd", "Intel": "intel"}


def cloud_models(facts: NodeFacts, vendor: str) -> Iterator[tuple[str, Cards]]:
    """Where a label names a model, and which cards of that vendor it may mean; best first."""
    for where, cards in _models(facts):
        yield where, tuple(c for c in cards if gpu_vendor(c.vendor, c.name) == vendor)


def _models(facts: NodeFacts) -> Iterator[tuple[str, Cards]]:
    labels = facts.labels
    memory = cloud_memory(facts) or _coreweave_memory(facts)
    if _GKE in labels:
        yield f"label {_GKE}", from_gke_label(labels[_GKE])
    for key in _KARPENTER:
        if key in labels:
            yield f"label {key}", from_karpenter(labels[key], memory)
    for key in (*_MODELS, *_GROUPS, *_ANYBODYS):
        if key in labels:
            yield f"label {key}", narrowed(candidates(labels[key]), memory)
    if facts.instance_type is not None:
        name = facts.instance_type.gpu_model
        yield f"instance type {facts.instance_type.name}", candidates(name)


def model_text(facts: NodeFacts) -> str:
    """What the cloud calls the model, from labels that hold nothing but models."""
    return facts.first_text(_GKE, *_KARPENTER, *_MODELS)


def gpu_vendor(maker: str, model: str) -> str:
    """Our word for the maker of a GPU; "" for makers of other accelerators (and for Gaudi)."""
    return "" if model.startswith("Gaudi") else _VENDORS.get(maker, "")


def named_maker(facts: NodeFacts) -> str:
    """The maker that a label names ("nvidia", "amd" …), lower case; "" when none does."""
    for key in (*_MAKERS, *_GROUPS, *_ANYBODYS, _GKE, *_MODELS):
        value = facts.labels.get(key, "").lower()
        if not value:
            continue
        first = re.split(r"[^a-z]", value, maxsplit=1)[0]
        first = "nvidia" if first in ("tesla", "geforce") else first
        if first in ("nvidia", "amd", "intel", "habana"):
            return first
    return ""


def cloud_count(facts: NodeFacts, vendor: str) -> tuple[int, str] | None:
    """Boards by a cloud's label, else by the instance type; None when neither says.

    A fraction of a board (a sixth of an A10) is no count of boards.
    """
    maker = named_maker(facts)
    if not maker or maker == vendor:
        for key in _COUNTS:
            found = facts.number(key)
            if found:
                return found, f"label {key}"
    kind = facts.instance_type
    if kind is None or kind.gpu_count < 1 or kind.gpu_count != int(kind.gpu_count):
        return None
    cards = candidates(kind.gpu_model)
    if any(gpu_vendor(card.vendor, card.name) == vendor for card in cards):
        return int(kind.gpu_count), f"instance type {kind.name}"
    return None


def part_of_board(facts: NodeFacts, vendor: str) -> str:
    """The instance type, where it has only a part of a board of that vendor (a sixth of an A10);
    "" where it has whole ones, or nobody knows it."""
    kind = facts.instance_type
    if kind is None or not kind.gpu_count % 1:
        return ""
    makers = {gpu_vendor(card.vendor, card.name) for card in candidates(kind.gpu_model)}
    return kind.name if vendor in makers or not makers else ""


def cloud_memory(facts: NodeFacts) -> int | None:
    """MiB of one board by a cloud's label."""
    for key in _MEMORY:
        match = _MEBIBYTES.fullmatch(facts.labels.get(key, ""))
        if match is not None and int(match[1]):
            return int(match[1])
    return None


def _coreweave_memory(facts: NodeFacts) -> int | None:
    """CoreWeave writes the marketing size in GB: good to tell models apart, no memory in MiB."""
    gigabytes = plain_count(facts.labels.get("gpu.nvidia.com/vram"), 4)
    return gigabytes * 1024 if gigabytes else None


def unnamed_gpu(facts: NodeFacts) -> str:
    """The label by which a node group says that it has GPUs; "" when there is none.

    Only of use where nothing else tells whose they are.
    """
    for key in (_GKE, *_KARPENTER, *_MODELS, *_GROUPS):
        value = facts.labels.get(key, "").lower()
        if not value or value in _NO:
            continue
        cards = from_gke_label(value) or from_karpenter(value)
        if not cards or any(gpu_vendor(card.vendor, card.name) for card in cards):
            return key
    return ""
