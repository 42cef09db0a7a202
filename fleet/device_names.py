"""What a resource name means: which vendor, and what one unit of it is.

Units of different kinds are never added up: a MIG device, a time slice, a GiB of memory and a
board are different things even when their names end alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from fleet.catalogue.card_names import candidates, vgpu_profile
from fleet.catalogue.mig_profiles import canonical_profile
from fleet.inventory import UnitKind


@dataclass(frozen=True, slots=True)
class DeviceName:
    """``is_gpu`` False: another accelerator (TPU, Neuron, Gaudi, NPU), shown apart."""

    vendor: str
    kind: UnitKind
    is_gpu: bool = True
    profile: str | None = None


DEVICE_KINDS = frozenset(
    {UnitKind.WHOLE, UnitKind.MIG, UnitKind.SHARE, UnitKind.PARTITION, UnitKind.VGPU, UnitKind.DRA}
)
"""Kinds whose units are devices or shares of devices; the others are memory, cores or unknown."""

_EXACT: dict[str, DeviceName | None] = {
    "nvidia.com/gpu": DeviceName("nvidia", UnitKind.WHOLE),
    "nvidia.com/pgpu": DeviceName("nvidia", UnitKind.WHOLE),
    "nvidia.com/gpumem": DeviceName("nvidia", UnitKind.MEMORY),
    "nvidia.com/gpumem-percentage": DeviceName("nvidia", UnitKind.CORE),
    "nvidia.com/gpucores": DeviceName("nvidia", UnitKind.CORE),
    "amd.com/gpu": DeviceName("amd", UnitKind.WHOLE),
    "gpu.intel.com/i915": DeviceName("intel", UnitKind.WHOLE),
    "gpu.intel.com/xe": DeviceName("intel", UnitKind.WHOLE),
    "volcano.sh/vgpu-number": DeviceName("nvidia", UnitKind.SHARE),
    "volcano.sh/vgpu-memory": DeviceName("nvidia", UnitKind.MEMORY),
    "volcano.sh/vgpu-cores": DeviceName("nvidia", UnitKind.CORE),
    "volcano.sh/gpu-number": DeviceName("nvidia", UnitKind.SHARE),
    "volcano.sh/gpu-memory": DeviceName("nvidia", UnitKind.MEMORY),
    "aliyun.com/gpu-mem": DeviceName("nvidia", UnitKind.MEMORY),
    "aliyun.com/gpu-core.percentage": DeviceName("nvidia", UnitKind.CORE),
    "aliyun.com/gpu-count": None,  # how many boards there are: evidence, not a unit
    "nvidia.com/priority": None,  # what HAMi's scheduler understands, no device
    "k8s.amazonaws.com/vgpu": DeviceName("nvidia", UnitKind.SHARE),
    "google.com/tpu": DeviceName("google", UnitKind.WHOLE, is_gpu=False),
    "aws.amazon.com/neuron": DeviceName("aws", UnitKind.WHOLE, is_gpu=False),
    "aws.amazon.com/neurondevice": DeviceName("aws", UnitKind.WHOLE, is_gpu=False),
    "aws.amazon.com/neuroncore": DeviceName("aws", UnitKind.CORE, is_gpu=False),
    "habana.ai/gaudi": DeviceName("habana", UnitKind.WHOLE, is_gpu=False),
    "qualcomm.com/qaic": DeviceName("qualcomm", UnitKind.WHOLE, is_gpu=False),
}
_MEMORY_SIZES = {
    "nvidia.com/gpumem": 1,
    "volcano.sh/vgpu-memory": 1,
    "volcano.sh/gpu-memory": 1,
    "aliyun.com/gpu-mem": 1024,
}
_OTHER_VENDORS = {
    "huawei.com": "huawei",
    "cambricon.com": "cambricon",
    "hygon.com": "hygon",
    "metax-tech.com": "metax",
    "enflame.com": "enflame",
    "kunlunxin.com": "kunlunxin",
    "birentech.com": "biren",
    "mthreads.com": "mthreads",
    "iluvatar.com": "iluvatar",
    "iluvatar.ai": "iluvatar",
    "habana.ai": "habana",
}
# What the last part of such a name says, first match first. None: no device at all.
_OTHER_KINDS: tuple[tuple[re.Pattern[str], UnitKind | None], ...] = (
    (re.compile(r"monitoring|priority|count"), None),
    (re.compile(r"mem"), UnitKind.MEMORY),
    (re.compile(r"core|percent|smlu"), UnitKind.CORE),
    # Huawei's vNPU templates, Biren's halves and quarters, Cambricon's MIM instances.
    (re.compile(r"ascend[0-9a-z]+-[0-9]+c.*|[0-9]+-[0-9]+-gpu|.*\.mim-.*"), UnitKind.PARTITION),
    (re.compile(r"[vs](?:gpu|mlu|gcu|xpu|dcu|npu)|dcunum|drs-gcu|.*[-.](?:vgpu|share)"),
     UnitKind.SHARE),
    (re.compile(r"(?:gpu|mlu|gcu|xpu|dcu|npu|ascend|gaudi)[0-9a-z-]*"), UnitKind.WHOLE),
)  # fmt: skip
_AMD_PARTITION = re.compile(r"amd\.com/([sdtqc]px_nps[0-9])")
# KubeVirt's plugin names a passed-through board by chip and marketing name.
_PASSTHROUGH = re.compile(r"nvidia\.com/(?!GRID_|NVIDIA_)[A-Z]{2}[0-9]{3}[A-Z]*_[A-Za-z0-9_.-]+")
# NVIDIA's network operators hand out ports under the same domain, under names of one's own.
_NETWORK = re.compile(
    r"hostdev|rdma|roce|sriov|mlnx|dpu|(?:^|[^a-z])(?:nics?|vfs?|ib|eth|bf[0-9]|cx[0-9])"
)
_BRANDS = re.compile(r"(?:^|[^a-z])gpus?(?![a-z])|tesla|geforce|quadro|(?:^|[^a-z])rtx")
_MACHINE_VGPU = ("nvidia.com/GRID_", "nvidia.com/NVIDIA_")
_UNKNOWN_ACCELERATOR = re.compile(r".+/(?:v?gpu|mlu|npu|xpu)[^/]*", re.IGNORECASE)
_DEVICE_CLASS = "deviceclass.resource.kubernetes.io/"


@lru_cache(maxsize=8192)  # names come from clusters: any number of them
def device_name(resource: str) -> DeviceName | None:
    """What the resource is; None when it is no accelerator (CPU, a NIC, a monitoring handle)."""
    if "/" not in resource or len(resource) > 317:
        return None
    if resource in _EXACT:
        return _EXACT[resource]
    base = resource.removesuffix(".shared")
    if base.startswith("nvidia.com/"):
        return _nvidia(resource, base)
    partition = _AMD_PARTITION.fullmatch(resource)
    if partition is not None:
        profile = partition.group(1)
        kind = UnitKind.WHOLE if profile.startswith("spx") else UnitKind.PARTITION
        return DeviceName("amd", kind, profile=profile)
    if resource.startswith(("gpu.intel.com/", "kubernetes.io/", "devices.kubevirt.io/")):
        return None
    if resource.startswith(_DEVICE_CLASS):
        return DeviceName("unknown", UnitKind.DRA)
    domain, _, name = resource.partition("/")
    vendor = _OTHER_VENDORS.get(domain)
    if vendor is not None:
        return _other(vendor, name.lower())
    if _UNKNOWN_ACCELERATOR.fullmatch(resource):
        return DeviceName("unknown", UnitKind.UNCLASSIFIED)
    return None


def _nvidia(resource: str, base: str) -> DeviceName | None:
    if base.startswith("nvidia.com/mig-"):
        kind = UnitKind.MIG if resource == base else UnitKind.SHARE
        return DeviceName("nvidia", kind, profile=canonical_profile(base))
    vgpu = vgpu_profile(base.removeprefix("nvidia.com/"))
    if vgpu is not None:
        return DeviceName("nvidia", UnitKind.VGPU, profile=vgpu[1])
    if _PASSTHROUGH.fullmatch(base):
        return DeviceName("nvidia", UnitKind.WHOLE)
    return _renamed(base.removeprefix("nvidia.com/").lower(), is_shared=resource != base)


def _renamed(name: str, *, is_shared: bool) -> DeviceName | None:
    """A name that the plugin's configuration gives ("nvidia.com/a100"): any name at all.

    Those that name a card or a brand are GPUs. The rest may be: the node's labels tell.
    """
    if _NETWORK.search(name):
        return None
    if "vgpu" in name:
        return DeviceName("nvidia", UnitKind.UNCLASSIFIED)
    if "mem" in name:
        return DeviceName("nvidia", UnitKind.MEMORY)
    if "core" in name or "percent" in name:
        return DeviceName("nvidia", UnitKind.CORE)
    if _BRANDS.search(name) or any(card.vendor == "NVIDIA" for card in candidates(name)):
        return DeviceName("nvidia", UnitKind.SHARE if is_shared else UnitKind.WHOLE)
    return DeviceName("nvidia", UnitKind.UNCLASSIFIED)


def _other(vendor: str, name: str) -> DeviceName | None:
    for pattern, kind in _OTHER_KINDS:
        found = pattern.fullmatch(name) or (
            pattern.search(name) if kind in (None, UnitKind.MEMORY, UnitKind.CORE) else None
        )
        if found:
            return DeviceName(vendor, kind, is_gpu=False) if kind is not None else None
    return DeviceName(vendor, UnitKind.UNCLASSIFIED, is_gpu=False)


def unit_size(resource: str) -> int | None:
    """MiB of device memory that one unit of a memory resource is, by the plugin's defaults; None
    for plugins that we do not know."""
    return _MEMORY_SIZES.get(resource)


def is_passthrough(resource: str) -> bool:
    """Whether one unit is a board handed to a virtual machine."""
    return resource == "nvidia.com/pgpu" or _PASSTHROUGH.fullmatch(resource) is not None


def is_for_machines(resource: str) -> bool:
    """Whether only a virtual machine can use it: KubeVirt's plugin names boards and vGPUs so."""
    return is_passthrough(resource) or resource.startswith(_MACHINE_VGPU)


def accelerators_only(requests: Mapping[str, int]) -> dict[str, int]:
    """The accelerator resources of a request, zeros left out."""
    return {name: n for name, n in requests.items() if n and device_name(name) is not None}
