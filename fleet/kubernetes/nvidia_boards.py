"""How many NVIDIA boards a node has: the best source that there is, and which one it was.

Best first: DRA slices, a sharing system's own register, what a plugin lists, the GFD count
(except under MIG ``single``, where it counts MIG devices), capacity divided by the sharing
factor, the cloud's label or machine type, capacity as it stands.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from fleet.catalogue.mig_profiles import agreed_profile
from fleet.device_names import is_passthrough
from fleet.inventory import UnitKind, Units
from fleet.kubernetes.cloud_labels import cloud_count
from fleet.kubernetes.device_facts import ModelGuess, NodeFacts
from fleet.kubernetes.dra_sums import DraDevices
from fleet.kubernetes.hami import Register
from fleet.kubernetes.sharing_labels import INVALID, UNNAMED, SharingLabels

_COMPUTE = re.compile(r"([0-9])c\.(([0-9])g\..+)")  # a compute instance inside a MIG device
_PERCENT = ("aliyun.com/gpu-core.percentage",)  # a hundred to a board


def _multiple(units: int, devices: int | None) -> int | None:
    """How many units each device is, where that is a whole number."""
    return units // devices if devices and units and units % devices == 0 else None


@dataclass(frozen=True, slots=True)
class NvidiaFacts:
    """What a node says about its NVIDIA GPUs, read but not yet judged."""

    node: NodeFacts
    units: tuple[Units, ...]
    register: Register | None
    model: ModelGuess
    vgpu: str  # "40C", "" when the devices are no vGPU
    labels: SharingLabels
    dra: tuple[DraDevices, ...]

    @property
    def count(self) -> int | None:
        """The GFD label; 0 is what it says of an invalid MIG layout."""
        return self.node.number("nvidia.com/gpu.count") or None

    @property
    def listed(self) -> tuple[int, str] | None:
        """Boards that a plugin lists by a resource of its own."""
        for name in ("aliyun.com/gpu-count", "volcano.sh/gpu-number"):
            boards = self.node.capacity.get(name, 0)
            if boards:
                return boards, f"resource {name}"
        return None

    @property
    def mig_units(self) -> tuple[Units, ...]:
        """What is offered by the profile names of strategy ``mixed``, renamed or not."""
        return tuple(u for u in self.units if "/mig-" in u.resource and u.capacity)

    def mig_replicas(self, unit: Units) -> int:
        """How many pods may share one MIG device of that resource; 1 when no label says."""
        name = unit.resource.removesuffix(".shared")
        stated = self.node.number(f"{name}.replicas")
        if stated:
            return stated
        return _multiple(unit.capacity, self.node.number(f"{name}.count")) or max(
            1, self.labels.replicas or 1
        )

    @property
    def single_replicas(self) -> int:
        """The same under strategy ``single``, where the plain resource is MIG devices."""
        if self.labels.replicas:
            return self.labels.replicas
        offered = self.capacity(UnitKind.SHARE) or self.capacity(UnitKind.WHOLE)
        return _multiple(offered, self.count) or 1

    def capacity(self, *kinds: UnitKind) -> int:
        return sum(u.capacity for u in self.units if u.kind in kinds)

    def per_board(self, profile: str) -> int | None:
        """MIG devices of that profile that one board can hold; None when boards differ in it."""
        compute = _COMPUTE.fullmatch(profile)
        base = compute[2] if compute is not None else profile
        cut = agreed_profile([card.name for card in self.model.cards], base)
        if cut is None or not cut.max_instances:
            return None
        inside = int(compute[3]) // max(1, int(compute[1])) if compute is not None else 1
        return cut.max_instances * max(1, inside)

    def share(self, profile: str) -> float | None:
        """The part of a board that one MIG device of that profile takes, in memory or number."""
        compute = _COMPUTE.fullmatch(profile)
        base = compute[2] if compute is not None else profile
        per_board = self.per_board(profile)
        cut = agreed_profile([card.name for card in self.model.cards], base)
        if cut is None or not per_board or not cut.memory_slices_total:
            return None
        by_memory = cut.memory_slices / cut.memory_slices_total
        return max(by_memory * cut.max_instances / per_board, 1 / per_board)


@dataclass(frozen=True, slots=True)
class Boards:
    """``number`` None: no object says how many."""

    number: int | None
    source: str
    is_estimated: bool = False


def count_boards(n: NvidiaFacts) -> Boards:
    """The boards of a node."""
    if n.dra:
        return Boards(sum(d.boards for d in n.dra), "ResourceSlices")
    if n.register is not None:
        return Boards(len(n.register.boards), n.register.source)
    if n.listed is not None:
        return Boards(*n.listed)
    passed = sum(u.capacity for u in n.units if is_passthrough(u.resource))
    if passed:
        return Boards(passed, "resources of the passthrough plugin")
    if n.labels.profile:
        return _of_single(n)
    if n.count:
        return Boards(n.count, "label nvidia.com/gpu.count")
    return _without_gfd_count(n)


def _without_gfd_count(n: NvidiaFacts) -> Boards:
    cloud = cloud_count(n.node, "nvidia")
    if n.mig_units:
        return Boards(*cloud) if cloud is not None else _of_mixed(n)
    if n.capacity(UnitKind.VGPU):
        return Boards(None, "slices of boards: the node does not say of how many")
    plain, shared = n.capacity(UnitKind.WHOLE), n.capacity(UnitKind.SHARE)
    replicas = n.labels.replicas or 1
    if replicas > 1 and (shared or plain):
        return Boards(math.ceil((shared or plain) / replicas), "capacity / replicas", True)
    if cloud is not None:
        return Boards(*cloud)
    percent = sum(n.node.capacity.get(name, 0) for name in _PERCENT)
    if percent >= 100 and not plain:
        return Boards(percent // 100, "100 percent of cores per board", True)
    if plain:
        return Boards(plain, "capacity, which may be shared")
    if shared:
        return Boards(1, "at least one board must be behind the shared units", True)
    return Boards(None, "no object says how many")


def _of_single(n: NvidiaFacts) -> Boards:
    """GFD counts MIG devices here; GKE says only how each board is cut."""
    offered = n.capacity(UnitKind.SHARE) or n.capacity(UnitKind.WHOLE)
    devices = n.count or math.ceil(offered / max(1, n.labels.replicas or 1))
    named = n.labels.profile not in (INVALID, UNNAMED)
    per_board = n.per_board(n.labels.profile) if named else None
    if devices and per_board:
        boards = math.ceil(devices / per_board)
        return Boards(boards, f"{devices} MIG devices / {per_board} per board", True)
    cloud = cloud_count(n.node, "nvidia")
    if cloud is not None:
        return Boards(*cloud)
    if not named:
        return Boards(None, "MIG devices whose profile no label names")
    return Boards(None, f"MIG devices of profile {n.labels.profile} on a board that we do not know")


def _of_mixed(n: NvidiaFacts) -> Boards:
    shares = 0.0
    for unit in n.mig_units:
        share = n.share(unit.profile or "")
        if share is None:
            return Boards(None, "MIG devices of a board that we do not know")
        shares += unit.capacity / n.mig_replicas(unit) * share
    boards = n.capacity(UnitKind.WHOLE) + math.ceil(shares - 1e-9)
    return Boards(boards, "whole boards and MIG slices in use", True)
