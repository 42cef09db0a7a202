"""Devices offered through ResourceSlices and taken through ResourceClaims, by node.

A device that one node reaches is counted on that node. A device that several nodes reach (over a
network or a fabric) is counted once, in ``DraCluster.attached``, and on no node.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from fleet.kubernetes.dra_devices import Entry
from fleet.kubernetes.dra_drivers import UNKNOWN, driver_vendor, is_gpu_type
from fleet.kubernetes.dra_places import Places, UnknownPlaceError
from fleet.kubernetes.dra_pools import Pool, pools_of
from fleet.kubernetes.dra_state import PoolState
from fleet.kubernetes.dra_sums import DraDevices, summaries
from fleet.kubernetes.dra_taints import Rules
from fleet.kubernetes.dra_unread import KNOWN_USE, UnknownUse
from fleet.kubernetes.dra_use import PodStates, Use, use_of
from fleet.kubernetes.objects_core import NodeObject
from fleet.kubernetes.objects_dra import (
    Device,
    DeviceTaintRuleObject,
    ResourceClaimObject,
    ResourceSliceObject,
)


@dataclass(frozen=True, slots=True)
class AttachedPool:
    """Devices of one pool that the same nodes reach: several, or none that is there."""

    pool: str
    nodes: tuple[str, ...]
    devices: tuple[DraDevices, ...]


@dataclass(frozen=True, slots=True)
class DraCluster:
    """All that a cluster offers through DRA."""

    by_node: dict[str, tuple[DraDevices, ...]] = field(default_factory=dict)
    others: dict[str, dict[str, int]] = field(default_factory=dict)
    """By node: devices that are no GPUs, by driver."""
    others_attached: dict[str, int] = field(default_factory=dict)
    """By driver: devices that are no GPUs and that no single node has, each once."""
    attached: tuple[AttachedPool, ...] = ()
    problems: tuple[str, ...] = ()


def read_dra(
    slices: Iterable[ResourceSliceObject],
    claims: Iterable[ResourceClaimObject],
    *,
    nodes: Iterable[NodeObject] = (),
    rules: Iterable[DeviceTaintRuleObject] = (),
    pods: PodStates | None = None,
    unknown: UnknownUse = KNOWN_USE,
    unread: str = "",
) -> DraCluster:
    """Devices by place, and a line for each pool or device that cannot be counted.

    ``nodes`` are needed for node selectors; ``pods`` tell claims whose pods are gone, and None
    says that pods were not read. ``unknown``: where claims that were not read may hold devices.
    ``unread``: why slices were not read; the claims are then all that speaks of devices.
    """
    reading = _Reading(Places(nodes), use_of(claims), Rules(rules))
    pools = pools_of(slices)
    for pool in pools.values():
        reading.add(pool)
    if unread:
        reading.add_unread(unread)
    else:
        reading.find_unpublished(pools)
    return reading.result(pods, unknown)


class _Reading:
    """What is collected before it is summed up."""

    def __init__(self, places: Places, use: Use, rules: Rules) -> None:
        self._places = places
        self._use = use
        self._rules = rules
        self._problems = list(rules.problems)
        self._on_node: dict[tuple[str, str], list[Entry]] = defaultdict(list)  # (node, driver)
        self._notes: dict[tuple[str, str], list[str]] = defaultdict(list)  # (node, driver)
        self._incomplete: dict[tuple[str, str], list[str]] = defaultdict(list)  # (node, driver)
        self._attached: dict[tuple[str, str, tuple[str, ...]], list[Entry]] = defaultdict(list)
        self._others: dict[str, Counter[str]] = defaultdict(Counter)
        self._others_attached: Counter[str] = Counter()
        self._published: set[tuple[str, str, str]] = set()  # of devices that claims hold

    def add(self, pool: Pool) -> None:
        """Count the devices of a pool, or say on its nodes why they cannot be counted."""
        is_gpu = driver_vendor(pool.driver) is not None
        reason = pool.incomplete
        if reason:
            if is_gpu:
                self._add_incomplete(pool, reason)
            return
        state = PoolState(pool, self._use, self._rules) if is_gpu else None
        touched: set[str] = set()
        for device in pool.devices():
            key = (pool.driver, pool.name, device.name)
            if self._use.is_held(key):
                self._published.add(key)
        for item in pool.slices:
            for device, nodes in self._placed(pool, item):
                if state is None:
                    self._add_other(pool, nodes)
                    continue
                entry = state.entry(device)
                if not is_gpu_type(entry.texts.get("type", "")):
                    self._add_other(pool, nodes)
                    continue
                if len(nodes) == 1:
                    self._on_node[nodes[0], pool.driver].append(entry)
                    touched.add(nodes[0])
                else:
                    self._attached[pool.driver, pool.name, nodes].append(entry)
        if state is not None:
            self._problems += state.problems
            if state.invalid:
                note = f"{pool.label}: the scheduler takes nothing from it, {state.invalid}"
                for node in touched:
                    self._notes[node, pool.driver].append(note)

    def _placed(
        self, pool: Pool, item: ResourceSliceObject
    ) -> Iterable[tuple[Device, tuple[str, ...]]]:
        """The devices of a slice, each with the nodes that reach it."""
        spec = item.spec
        shared = None
        if not spec.perDeviceNodeSelection and (
            spec.nodeName or spec.allNodes or spec.nodeSelector is not None
        ):
            try:
                shared = self._places.of(spec)
            except UnknownPlaceError as error:
                self._problems.append(f"{pool.label}, slice {item.metadata.name[:100]}: {error}")
                return
        for device in spec.devices or ():
            if shared is not None:
                yield device, shared
                continue
            try:
                yield device, self._places.of(device.facts)
            except UnknownPlaceError as error:
                self._problems.append(f"{pool.label}, device {device.name[:100]}: {error}")

    def _add_other(self, pool: Pool, nodes: tuple[str, ...]) -> None:
        if len(nodes) == 1:
            self._others[nodes[0]][pool.driver] += 1
        else:
            self._others_attached[pool.driver] += 1

    def _add_incomplete(self, pool: Pool, reason: str) -> None:
        self._problems.append(f"{pool.label}: {reason}, so its devices are not counted")
        nodes: set[str] = set()
        for item in (*pool.slices, *pool.older):
            if item.spec.nodeName:
                nodes.add(item.spec.nodeName)
            elif item.spec.perDeviceNodeSelection:
                nodes.update(n for _, where in self._placed(pool, item) for n in where)
            elif item.spec.nodeSelector is not None or item.spec.allNodes:
                continue  # of no node in particular
        for node in nodes:
            self._incomplete[node, pool.driver].append(f"{pool.label}: {reason}")

    def add_unread(self, reason: str) -> None:
        """Nobody says how many devices there are. Drivers name the pool of a node after it: there
        are some, in an unknown number, on the nodes whose devices claims hold."""
        self._problems.append(f"GPUs offered through DRA are not counted: {reason}")
        known = frozenset(self._places.all)
        for driver, pool in {(driver, pool) for driver, pool, _ in self._use.holds}:
            if pool in known and driver_vendor(driver) is not None:
                self._incomplete[pool, driver].append(f"DRA pool of {driver[:100]}: {reason}")

    def find_unpublished(self, pools: dict[tuple[str, str], Pool]) -> None:
        """Name devices that claims hold and complete pools do not list: withdrawn while in use."""
        for key, holds in self._use.holds.items():
            driver, name, device = key
            if key in self._published or driver_vendor(driver) is None:
                continue
            pool = pools.get((driver, name))
            if pool is not None and pool.incomplete:
                continue
            claim = holds[0].claim.metadata
            self._problems.append(
                f"ResourceClaim {claim.namespace}/{claim.name}: holds device {device[:100]} of DRA "
                f"pool {name[:100]} of {driver[:100]}, which no slice lists"
            )

    def _find_lost(self) -> None:
        known = frozenset(self._places.all)
        lost = sorted({node for node, _ in self._on_node} - known) if known else []
        if lost:
            self._problems.append(
                f"ResourceSlices offer devices on {len(lost):,} nodes that are not there, such as "
                f"{lost[0][:100]}: they are not counted"
            )

    def _find_unknown(self, unknown: UnknownUse) -> None:
        """One line, however many nodes it is about."""
        places: set[tuple[str, ...]] = {(node,) for node, _ in self._on_node}
        places.update(nodes for _, _, nodes in self._attached)
        reasons = [reason for place in sorted(places) if (reason := unknown.of(place))]
        if reasons:
            self._problems.append(
                f"{reasons[0]}: who holds the GPUs offered through DRA is unknown on "
                f"{len(reasons):,} of {len(places):,} places that have some"
            )

    def result(self, pods: PodStates | None, unknown: UnknownUse) -> DraCluster:
        self._find_lost()
        self._find_unknown(unknown)
        by_node: dict[str, list[DraDevices]] = defaultdict(list)
        seen: dict[tuple[str, str], set[str]] = defaultdict(set)  # boards by (node, vendor)
        for node, driver in sorted({*self._on_node, *self._incomplete}):
            by_node[node] += summaries(
                driver,
                self._on_node.get((node, driver), ()),
                seen=seen[node, driver_vendor(driver) or UNKNOWN],
                pods=pods,
                incomplete=tuple(self._incomplete.get((node, driver), ())),
                notes=tuple(self._notes.get((node, driver), ())),
                use_unknown=unknown.of((node,)),
            )
        return DraCluster(
            by_node={node: tuple(found) for node, found in by_node.items()},
            others={node: dict(found) for node, found in self._others.items()},
            others_attached=dict(self._others_attached),
            attached=tuple(
                AttachedPool(
                    pool,
                    nodes,
                    tuple(
                        summaries(
                            driver,
                            entries,
                            seen=set(),
                            pods=pods,
                            use_unknown=unknown.of(nodes),
                        )
                    ),
                )
                for (driver, pool, nodes), entries in self._attached.items()
            ),
            problems=tuple(dict.fromkeys(self._problems)),
        )
