"""Devices offered through ResourceSlices and taken through ResourceClaims.

Devices are not boards: with dynamic MIG a slice lists the whole GPU and every possible cut of
it, and a passthrough twin repeats it. Boards are counted by their identity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from fleet.catalogue.mig_profiles import canonical_profile
from fleet.inventory import UnitKind, Units
from fleet.kubernetes.objects_dra import (
    Attribute,
    Capacity,
    ClaimSpec,
    Device,
    ResourceClaimObject,
    ResourceSliceObject,
)
from fleet.kubernetes.requests import bounded_quantity
from fleet.units import QuantityError

DeviceKey = tuple[str, str, str]  # driver, pool, device: names repeat across pools

_PART_TYPES = ("mig", "amdgpu-partition")
_BLOCKING = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class DraDevices:
    """The GPU devices of one driver on one node."""

    driver: str
    vendor: str
    devices: int  # as published: whole boards and their possible cuts
    boards: int
    whole_free: int  # boards nobody holds any part of
    units: Units
    product: str  # "" when no device names it
    memory_mib: int | None  # of a whole board
    parts: int  # cuts published
    idle: int  # held by claims that no pod uses


@dataclass(slots=True)
class _Pool:
    generation: int
    expected: int
    slices: list[ResourceSliceObject] = field(default_factory=list)


def driver_vendor(driver: str) -> str | None:
    """The vendor of a GPU driver; None for drivers of anything else (IMEX channels, NICs)."""
    if not driver.startswith("gpu."):
        return None
    for vendor in ("nvidia", "amd", "intel"):
        if vendor in driver:
            return vendor
    return "unknown"


def allocated_devices(claims: Iterable[ResourceClaimObject]) -> dict[DeviceKey, int]:
    """Devices held by claims, and how many claims hold each. Admin access holds nothing."""
    held: dict[DeviceKey, int] = defaultdict(int)
    for claim in claims:
        allocation = claim.status.allocation if claim.status else None
        devices = allocation.devices if allocation else None
        for result in (devices.results if devices else None) or ():
            if not result.adminAccess:
                held[result.driver, result.pool, result.device] += 1
    return dict(held)


def idle_devices(claims: Iterable[ResourceClaimObject]) -> frozenset[DeviceKey]:
    """Devices that a claim holds and no pod uses: nobody else can have them either."""
    return frozenset(
        key
        for claim in claims
        if claim.status is not None and not claim.status.reservedFor
        for key in allocated_devices((claim,))
    )


def devices_by_node(
    slices: Iterable[ResourceSliceObject], claims: Iterable[ResourceClaimObject]
) -> tuple[dict[str, tuple[DraDevices, ...]], tuple[str, ...]]:
    """GPU devices by node, and a line for each pool that cannot be counted."""
    claims = tuple(claims)
    held, idle = allocated_devices(claims), idle_devices(claims)
    pools: dict[tuple[str, str], _Pool] = {}
    for item in slices:
        if driver_vendor(item.spec.driver) is None:
            continue
        key = (item.spec.driver, item.spec.pool.name)
        pool = pools.get(key)
        if pool is None or item.spec.pool.generation > pool.generation:
            pool = pools[key] = _Pool(item.spec.pool.generation, 0)
        if item.spec.pool.generation == pool.generation:
            pool.expected = max(pool.expected, item.spec.pool.resourceSliceCount)
            pool.slices.append(item)
    found: dict[tuple[str, str], list[tuple[str, Device]]] = defaultdict(list)
    problems = []
    for (driver, name), pool in pools.items():
        if len(pool.slices) < pool.expected:
            problems.append(
                f"DRA pool {name[:100]} of {driver[:100]}: {len(pool.slices)} of {pool.expected} "
                "slices are there, so its devices are not counted"
            )
            continue
        for item in pool.slices:
            for device in item.spec.devices or ():
                node = item.spec.nodeName or device.facts.nodeName
                if node:
                    found[node, driver].append((name, device))
                else:
                    problems.append(
                        f"DRA device {device.name[:100]} of {driver[:100]} names no node"
                    )
    by_node: dict[str, list[DraDevices]] = defaultdict(list)
    for (node, driver), devices in found.items():
        by_node[node].append(_summary(driver, devices, held, idle))
    return {n: tuple(d) for n, d in by_node.items()}, tuple(dict.fromkeys(problems))


def _attribute(driver: str, device: Device, name: str) -> str:
    attributes = device.facts.attributes or {}
    value: Attribute | None = attributes.get(name) or attributes.get(f"{driver}/{name}")
    return (value.string or "") if value is not None else ""


def _memory(driver: str, device: Device) -> int | None:
    capacity = device.facts.capacity or {}
    value = capacity.get("memory", capacity.get(f"{driver}/memory"))
    amount = value.value if isinstance(value, Capacity) else value
    try:
        return int(bounded_quantity("memory", amount)) // 2**20 if amount is not None else None
    except QuantityError:
        return None


def _board(driver: str, pool: str, device: Device) -> str:
    names = ("parentUUID", "parentPciAddr", "uuid", "pciAddr", "resource.kubernetes.io/pciBusID")
    for name in names:
        value = _attribute(driver, device, name)
        if value:
            return value
    return f"{pool}/{device.name}"


def _is_part(driver: str, device: Device) -> bool:
    return _attribute(driver, device, "type") in _PART_TYPES or bool(
        _attribute(driver, device, "parentUUID")
    )


def _summary(
    driver: str,
    devices: list[tuple[str, Device]],
    held: dict[DeviceKey, int],
    idle: frozenset[DeviceKey],
) -> DraDevices:
    whole_held: set[str] = set()
    any_held: set[str] = set()
    boards: set[str] = set()
    for pool, device in devices:
        board = _board(driver, pool, device)
        boards.add(board)
        if held.get((driver, pool, device.name)):
            any_held.add(board)
            if not _is_part(driver, device):
                whole_held.add(board)
    requested = blocked = parts = 0
    profiles: set[str] = set()
    part_memory: set[int | None] = set()
    whole_memory: set[int] = set()
    for pool, device in devices:
        board = _board(driver, pool, device)
        part = _is_part(driver, device)
        mine = bool(held.get((driver, pool, device.name)))
        requested += mine
        taken = board in whole_held if part else board in any_held
        sick = any(t.effect in _BLOCKING for t in device.facts.taints or ())
        blocked += not mine and (taken or sick)
        memory = _memory(driver, device)
        if part:
            parts += 1
            part_memory.add(memory)
            name = _attribute(driver, device, "profile")
            name = canonical_profile(name) if name else ""
            profiles.add(name or _attribute(driver, device, "partitionProfile"))
        elif memory is not None:
            whole_memory.add(memory)
    part_size = next(iter(part_memory)) if len(part_memory) == 1 else None
    return DraDevices(
        driver=driver,
        vendor=driver_vendor(driver) or "unknown",
        devices=len(devices),
        boards=len(boards),
        whole_free=len(boards - any_held) if parts < len(devices) else 0,
        units=Units(
            resource=f"dra:{driver}",
            kind=UnitKind.DRA,
            capacity=len(devices),
            allocatable=len(devices) - blocked,
            requested=requested,
            # The size of a cut where cuts are published, all alike: the unit that differs.
            memory_mib=part_size if parts else max(whole_memory, default=None),
            profile=next(iter(profiles)) if len(profiles) == 1 else None,
        ),
        product=next(filter(None, (_attribute(driver, d, "productName") for _, d in devices)), ""),
        memory_mib=max(whole_memory, default=None),
        parts=parts,
        idle=sum((driver, pool, device.name) in idle for pool, device in devices),
    )


def devices_wanted(spec: ClaimSpec | None) -> int:
    """Devices that a claim asks for; mode ``All`` is counted as one, since nobody knows."""
    requests = (spec.devices.requests if spec and spec.devices else None) or ()
    total = 0
    for request in requests:
        wanted = request.wanted
        if wanted.allocationMode == "All":
            total += 1
        else:
            total += wanted.count if wanted.count is not None else 1
    return total
