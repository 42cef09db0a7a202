"""Pools of devices: which ResourceSlices make up a pool, and whether it can be counted.

A pool is named by driver and name together: two drivers may use one name. Only slices of the
highest generation count, and only when exactly as many are there as they themselves state.
Source: kubernetes/dynamic-resource-allocation structured/internal, GatherPools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fleet.kubernetes.objects_dra import CounterSet, Device, ResourceSliceObject


@dataclass(slots=True)
class Pool:
    """The slices of one pool. ``older``: of generations that are being replaced."""

    driver: str
    name: str
    generation: int
    slices: list[ResourceSliceObject] = field(default_factory=list)
    older: list[ResourceSliceObject] = field(default_factory=list)

    @property
    def label(self) -> str:
        return f"DRA pool {self.name[:100]} of {self.driver[:100]}"

    @property
    def incomplete(self) -> str:
        """Why the pool cannot be counted now; "" when it can."""
        stated = {item.spec.pool.resourceSliceCount for item in self.slices}
        if len(stated) > 1:
            return f"its slices disagree on how many they are ({_numbers(stated)})"
        (expected,) = stated
        if expected < 1:
            return f"its slices state {expected:,} as their number"
        if len(self.slices) != expected:
            return f"{len(self.slices):,} of {expected:,} slices are there"
        return ""

    @property
    def invalid(self) -> str:
        """Why the scheduler takes nothing from the pool; "" for a sound one."""
        names: set[str] = set()
        for device in self.devices():
            if device.name in names:
                return f"device {device.name[:100]} is there twice"
            names.add(device.name)
        sets: dict[str, CounterSet] = {}
        for counters in self.counter_sets():
            if counters.name in sets:
                return f"counter set {counters.name[:100]} is there twice"
            sets[counters.name] = counters
        return next(filter(None, (_unmet(d, sets) for d in self.devices())), "")

    def devices(self) -> Iterator[Device]:
        for item in self.slices:
            yield from item.spec.devices or ()

    def counter_sets(self) -> Iterator[CounterSet]:
        """Since 1.35 in slices of their own, before beside the devices."""
        for item in self.slices:
            yield from item.spec.sharedCounters or ()


def _numbers(found: set[int]) -> str:
    return ", ".join(f"{number:,}" for number in sorted(found)[:3])


def _unmet(device: Device, sets: dict[str, CounterSet]) -> str:
    """The counter that a device consumes and nobody publishes."""
    for use in device.facts.consumesCounters or ():
        known = sets.get(use.counterSet)
        if known is None:
            return f"counter set {use.counterSet[:100]} is not published"
        for name in use.counters or ():
            if name not in (known.counters or {}):
                return f"counter {name[:100]} of {use.counterSet[:100]} is not published"
    return ""


def pools_of(slices: Iterable[ResourceSliceObject]) -> dict[tuple[str, str], Pool]:
    """Pools by (driver, name), each with the slices of its highest generation."""
    pools: dict[tuple[str, str], Pool] = {}
    for item in slices:
        spec = item.spec
        key = (spec.driver, spec.pool.name)
        pool = pools.get(key)
        if pool is None:
            pool = pools[key] = Pool(spec.driver, spec.pool.name, spec.pool.generation)
        if spec.pool.generation > pool.generation:
            pool.older += pool.slices
            pool.slices, pool.generation = [], spec.pool.generation
        (pool.slices if spec.pool.generation == pool.generation else pool.older).append(item)
    return pools
