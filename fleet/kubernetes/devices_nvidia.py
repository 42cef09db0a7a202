"""NVIDIA GPUs of a node: model, boards and sharing, from whatever the node carries.

Sources for the number of boards, best first: DRA slices, a sharing system's own register, the
GFD count (except under MIG ``single``, where it counts MIG devices), capacity divided by the
sharing factor, cloud labels, the instance type, capacity as it stands.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from fleet.catalogue.accelerators import Accelerator
from fleet.catalogue.card_names import (
    candidates,
    from_gke_label,
    from_karpenter,
    mig_suffix,
    vgpu_profile,
)
from fleet.catalogue.mig_profiles import profile
from fleet.device_names import is_passthrough
from fleet.inventory import DeviceGroup, Sharing, UnitKind, Units
from fleet.kubernetes.device_facts import ModelGuess, NodeFacts, decide_model
from fleet.kubernetes.hami import HamiNode, hami_node
from fleet.kubernetes.sharing_labels import sharing_labels

_PRODUCT = "nvidia.com/gpu.product"
_MIG_PRODUCT = re.compile(r"nvidia\.com/mig-(.+)\.product")
_NFD = re.compile(r"feature\.node\.kubernetes\.io/pci-(?:03[0-9]{2}[_-])?10de(?:[_-].*)?\.present")
_MODELS = (
    "eks.amazonaws.com/instance-gpu-name",
    "karpenter.azure.com/sku-gpu-name",
    "gpu.nvidia.com/model",
    "gpu.nvidia.com/class",
    "nebius.com/gpu-name",
)
# Labels that people, clouds and tools set; the value may be a model, a vendor or anything.
_NAMED = (
    *_MODELS,
    "k8s.amazonaws.com/accelerator",
    "kubernetes.azure.com/accelerator",
    "aliyun.accelerator/nvidia_name",
    "cluster-api/accelerator",
    "skypilot.co/accelerator",
    "accelerator",
    "gpu",
)
_COUNTS = (
    "karpenter.k8s.aws/instance-gpu-count",
    "eks.amazonaws.com/instance-gpu-count",
    "karpenter.azure.com/sku-gpu-count",
    "gpu.nvidia.com/count",
)
_MANUFACTURERS = (
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "eks.amazonaws.com/instance-gpu-manufacturer",
    "karpenter.azure.com/sku-gpu-manufacturer",
)


def nvidia_group(facts: NodeFacts) -> DeviceGroup | None:
    """The node's NVIDIA GPUs, or None when nothing speaks for any."""
    units = facts.units("nvidia")
    hami = hami_node(facts.notes)
    boards_listed = facts.capacity.get("aliyun.com/gpu-count", 0)
    dra = tuple(d for d in facts.dra if d.vendor == "nvidia" and d.devices)
    model, vgpu = _model(facts, hami)
    evident = units or hami or dra or boards_listed or model.name or vgpu or _is_labelled(facts)
    if not evident and not facts.unreadable_of("nvidia"):
        return None
    return _Group(facts, units, hami, model, vgpu, boards_listed).build()


def _is_labelled(facts: NodeFacts) -> bool:
    labels = facts.labels
    if labels.get("nvidia.com/gpu.present") == "true" or facts.number("nvidia.com/gpu.count"):
        return True
    if any(labels.get(key, "").lower() == "nvidia" for key in (*_MANUFACTURERS, *_NAMED)):
        return True
    return any(value == "true" and _NFD.fullmatch(key) for key, value in labels.items())


def _only_nvidia(cards: tuple[Accelerator, ...]) -> tuple[Accelerator, ...]:
    return tuple(card for card in cards if card.vendor == "NVIDIA")


def _model(facts: NodeFacts, hami: HamiNode | None) -> tuple[ModelGuess, str]:
    """The model, and the vGPU profile when the devices are slices of a board ("A100 40C")."""
    labels = facts.labels
    texts: list[tuple[str, str]] = [
        (f"ResourceSlice of {d.driver}", d.product) for d in facts.dra if d.vendor == "nvidia"
    ]
    if hami is not None:
        texts.append(("annotation hami.io/node-nvidia-register", hami.type))
    texts.append((f"label {_PRODUCT}", labels.get(_PRODUCT, "")))
    texts.extend((f"label {key}", v) for key, v in labels.items() if _MIG_PRODUCT.fullmatch(key))
    texts.extend(
        (f"resource {name}", name.partition("/")[2])
        for name in facts.capacity
        if is_passthrough(name) or name.startswith(("nvidia.com/GRID_", "nvidia.com/NVIDIA_"))
    )
    for where, text in texts:
        found = vgpu_profile(text)
        if found is not None:
            return ModelGuess(f"{found[0]} vGPU {found[1]}", where), found[1]
    memory = _labelled_memory(facts)
    sources = [(where, _only_nvidia(candidates(text))) for where, text in texts if text]
    gke = labels.get("cloud.google.com/gke-accelerator", "")
    sources.append(("label cloud.google.com/gke-accelerator", _only_nvidia(from_gke_label(gke))))
    name = labels.get("karpenter.k8s.aws/instance-gpu-name", "")
    if name:
        size = facts.number("karpenter.k8s.aws/instance-gpu-memory")
        where = "label karpenter.k8s.aws/instance-gpu-name"
        sources.append((where, _only_nvidia(from_karpenter(name, size))))
    sources.extend(
        (f"label {key}", _only_nvidia(candidates(labels[key]))) for key in _NAMED if key in labels
    )
    if facts.instance_type is not None:
        cards = _only_nvidia(candidates(facts.instance_type.gpu_model))
        sources.append((f"instance type {facts.instance_type.name}", cards))
    return decide_model(sources, memory), ""


def _model_label(facts: NodeFacts, hami: HamiNode | None) -> str:
    """What the node calls its model, from the sources that hold nothing but models."""
    return (
        facts.dra_product("nvidia")
        or (hami.type if hami is not None else "")
        or facts.first_text(
            _PRODUCT,
            *(key for key in facts.labels if _MIG_PRODUCT.fullmatch(key)),
            "cloud.google.com/gke-accelerator",
            "karpenter.k8s.aws/instance-gpu-name",
            *_MODELS,
        )
    )


def _labelled_memory(facts: NodeFacts) -> int | None:
    if mig_suffix(facts.labels.get(_PRODUCT, "")):
        return None  # of one MIG device, not of the board
    found = facts.number("nvidia.com/gpu.memory")
    return found or facts.number("karpenter.k8s.aws/instance-gpu-memory") or None


class _Group:
    """One NVIDIA group under construction: the facts, and what follows from them."""

    def __init__(
        self,
        facts: NodeFacts,
        units: tuple[Units, ...],
        hami: HamiNode | None,
        model: ModelGuess,
        vgpu: str,
        boards_listed: int,
    ) -> None:
        self.facts = facts
        self.units = units
        self.hami = hami
        self.model = model
        self.vgpu = vgpu
        self.boards_listed = boards_listed
        self.dra = tuple(d for d in facts.dra if d.vendor == "nvidia" and d.devices)
        self.count = facts.number("nvidia.com/gpu.count") or None
        self.labels = sharing_labels(facts)
        self.single = self.labels.profile
        self.fractional = hami is not None or boards_listed > 0 or any(
            u.resource == "aliyun.com/gpu-mem" for u in units
        )  # fmt: skip
        self.notes: list[str] = []
        self.details: dict[str, str] = {}

    def build(self) -> DeviceGroup:
        physical, source, estimated = self._physical()
        replicas = self._replicas(physical)
        sharing = self._sharing(physical, replicas)
        memory = self._memory()
        units = tuple(self._finished(u, replicas, memory) for u in self.units)
        if self.hami is not None:
            self._hami_notes()
        advertised = any(u.capacity for u in units)
        if self.dra and advertised:
            self.notes.append("offered by the device plugin and through DRA: counted once")
        return DeviceGroup(
            vendor="nvidia",
            model=self.model.name,
            model_source=self.model.source,
            physical=physical,
            physical_source=source,
            physical_estimated=estimated,
            memory_mib=memory,
            sharing=sharing,
            replicas=replicas,
            units=(*units, *self.facts.dra_units("nvidia")),
            unhealthy=self._unhealthy(replicas),
            notes=tuple(self.notes),
            memory_gib=self._memory_gib(),
            whole_free=self._whole_free(),
            cuts_possible=sum(d.parts for d in self.dra),
            model_certain=self._is_certain(physical),
            details=self.details,
            model_label=_model_label(self.facts, self.hami)[:253],
        )

    def _capacity(self, *kinds: UnitKind) -> int:
        return sum(u.capacity for u in self.units if u.kind in kinds)

    def _physical(self) -> tuple[int | None, str, bool]:
        if self.dra:
            return sum(d.boards for d in self.dra), "ResourceSlices", False
        if self.hami is not None:
            return len(self.hami.boards), "annotation hami.io/node-nvidia-register", False
        if self.boards_listed:
            return self.boards_listed, "resource aliyun.com/gpu-count", False
        passed = sum(u.capacity for u in self.units if is_passthrough(u.resource))
        if passed:
            return passed, "resources of the passthrough plugin", False
        if self.single:
            # GFD counts MIG devices here; GKE says only how each board is cut.
            devices = self.count or self._capacity(UnitKind.WHOLE) // max(
                1, self.labels.replicas or 1
            )
            return self._boards_of_single(devices)
        if self.count:
            return self.count, "label nvidia.com/gpu.count", False
        if self._capacity(UnitKind.MIG):
            return self._boards_of_mixed()
        if self._capacity(UnitKind.VGPU):
            return None, "slices of boards: the node does not say of how many", False
        replicas = self.labels.replicas or 1
        plain = self._capacity(UnitKind.WHOLE)
        shared = self._capacity(UnitKind.SHARE)
        if replicas > 1 and (shared or plain):
            return math.ceil((shared or plain) / replicas), "capacity / replicas", True
        for label in _COUNTS:
            found = self.facts.number(label)
            if found:
                return found, f"label {label}", False
        kind = self.facts.instance_type
        if kind is not None and kind.gpu_count >= 1 and kind.gpu_count == int(kind.gpu_count):
            return int(kind.gpu_count), f"instance type {kind.name}", False
        if plain:
            self.notes.append("no label says whether the units are shared")
            return plain, "capacity, which may be shared", False
        if shared:
            return 1, "at least one board must be behind the shared units", True
        return None, "no object says how many", False

    def _boards_of_single(self, count: int) -> tuple[int | None, str, bool]:
        cut = profile(self.model.name or "", self.single)
        if cut is None or not cut.max_instances or not count:
            return (
                None,
                f"MIG devices of profile {self.single} on a board that we do not know",
                False,
            )
        boards = math.ceil(count / cut.max_instances)
        return boards, f"{count} MIG devices / {cut.max_instances} per board", True

    def _boards_of_mixed(self) -> tuple[int | None, str, bool]:
        whole = self._capacity(UnitKind.WHOLE)
        shares = 0.0
        for unit in self.units:
            if unit.kind is UnitKind.MIG and unit.capacity and unit.profile:
                cut = profile(self.model.name or "", unit.profile)
                if cut is None or not cut.memory_slices_total:
                    return None, "MIG devices of a board that we do not know", False
                by_memory = cut.memory_slices / cut.memory_slices_total
                shares += unit.capacity * max(by_memory, 1 / cut.max_instances)
        return whole + math.ceil(shares - 1e-9), "whole boards and MIG slices in use", True

    def _replicas(self, physical: int | None) -> int | None:
        if self.hami is not None:
            return self.hami.split
        labelled = self.labels.replicas
        shared = sum(
            u.capacity for u in self.units if u.kind is UnitKind.SHARE and "/mig-" not in u.resource
        )
        if shared and physical and (labelled or 1) * physical != shared:
            if labelled is not None:
                self.notes.append(
                    f"label {self.labels.source}={labelled} contradicts {shared} shared units "
                    f"on {physical} GPU"
                )
            return max(1, round(shared / physical))
        return labelled if labelled and labelled > 1 else None

    def _sharing(self, physical: int | None, replicas: int | None) -> str:
        if self.fractional:
            return Sharing.FRACTIONAL
        if any(is_passthrough(u.resource) for u in self.units):
            return Sharing.PASSTHROUGH
        if self.vgpu or self.facts.labels.get("nvidia.com/vgpu.present") == "true":
            return Sharing.VGPU
        if not any(u.capacity for u in self.units):
            return Sharing.DRA if self.dra else Sharing.NONE
        how = self._how_shared(replicas)
        if self.single and self.single != "INVALID":
            return f"{Sharing.MIG_SINGLE}+{how}" if how else Sharing.MIG_SINGLE
        if self._capacity(UnitKind.MIG):
            return f"{Sharing.MIG_MIXED}+{how}" if how else Sharing.MIG_MIXED
        return how or Sharing.WHOLE

    def _how_shared(self, replicas: int | None) -> str:
        if replicas is None:
            return ""
        if self.labels.strategy:
            return self.labels.strategy
        discovered = any(key.startswith("nvidia.com/gpu.") for key in self.facts.labels)
        if not discovered and self._capacity(UnitKind.SHARE):
            # The MPS daemon only runs where GFD has set mps.capable: no GFD, no MPS.
            return Sharing.TIME_SLICING
        return f"shared-x{replicas}"

    def _finished(self, unit: Units, replicas: int | None, memory: int | None) -> Units:
        kind, cut_name, size = unit.kind, unit.profile, memory
        if unit.resource == "nvidia.com/gpu":
            if self.vgpu or self.facts.labels.get("nvidia.com/vgpu.present") == "true":
                kind, cut_name = UnitKind.VGPU, self.vgpu or None
            elif self.single:
                kind, cut_name = UnitKind.MIG, self.single
            elif replicas is not None and not any(
                u.kind is UnitKind.SHARE and u.capacity for u in self.units
            ):
                kind = UnitKind.SHARE
        if kind is UnitKind.MIG or (cut_name is not None and kind is UnitKind.SHARE):
            size = self._mig_memory(unit.resource, cut_name)
        elif kind is UnitKind.SHARE and size is not None and replicas:
            size = size // replicas if self.labels.strategy == Sharing.MPS else size
        elif kind in (UnitKind.MEMORY, UnitKind.CORE):
            size = None
        return replace(unit, kind=kind, profile=cut_name, memory_mib=size)

    def _mig_memory(self, resource: str, cut_name: str | None) -> int | None:
        if resource == "nvidia.com/gpu":
            return self.facts.number("nvidia.com/gpu.memory")
        labelled = self.facts.number(f"{resource.removesuffix('.shared')}.memory")
        if labelled:
            return labelled
        cut = profile(self.model.name or "", cut_name or "")
        return cut.memory_mib if cut is not None else None

    def _memory(self) -> int | None:
        for found in self.dra:
            if found.memory_mib is not None:
                return found.memory_mib
        if self.hami is not None:
            return self.hami.memory_mib
        return _labelled_memory(self.facts)

    def _memory_gib(self) -> int | None:
        total = next((u.capacity for u in self.units if u.resource == "aliyun.com/gpu-mem"), 0)
        if total and self.boards_listed:
            return total // self.boards_listed  # the unit is a GiB
        return None

    def _unhealthy(self, replicas: int | None) -> int | None:
        if self.hami is not None and self.hami.unhealthy:
            return self.hami.unhealthy
        if any(u.kind is UnitKind.MIG and u.capacity > u.allocatable for u in self.units):
            return None  # withdrawn MIG devices do not say how many boards are sick
        missing = sum(
            u.capacity - u.allocatable
            for u in self.units
            if u.kind in (UnitKind.WHOLE, UnitKind.SHARE, UnitKind.VGPU)
        )
        return math.ceil(missing / (replicas or 1))

    def _whole_free(self) -> int | None:
        if self.hami is not None:
            if not any(u.allocatable for u in self.units if u.resource == "nvidia.com/gpu"):
                return 0
            return sum(ok and uuid not in self.facts.used for uuid, ok in self.hami.boards)
        if self.boards_listed:
            free = self.boards_listed - len(self.facts.used)
            return max(0, free) if any(u.allocatable for u in self.units) else 0
        if self.dra and not any(u.capacity for u in self.units):
            return sum(d.whole_free for d in self.dra)
        return None

    def _hami_notes(self) -> None:
        assert self.hami is not None  # noqa: S101 called only then
        if self.hami.mode:
            self.details["hami_mode"] = self.hami.mode
        if self.hami.is_unanswered:
            self.details["stale"] = "true"
            self.notes.append("HAMi's handshake was not answered: the register may be stale")

    def _is_certain(self, physical: int | None) -> bool:
        """GFD keeps one product label even where two models sit in one node."""
        if not self.model.source.startswith("label nvidia.com/") or physical == 1:
            return True
        kind = self.facts.instance_type
        return kind is not None and bool(kind.gpu_model)
