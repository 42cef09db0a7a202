"""The state of each device of one pool: held, open, tainted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet.kubernetes.dra_counters import Counters, Shared
from fleet.kubernetes.dra_devices import Entry, texts_of
from fleet.kubernetes.dra_pools import Pool
from fleet.kubernetes.dra_taints import Rules
from fleet.kubernetes.dra_use import Use
from fleet.kubernetes.objects_dra import Basic, Device
from fleet.units import QuantityError


class PoolState:
    """Answers for the devices of one complete pool what the scheduler would answer."""

    def __init__(self, pool: Pool, use: Use, rules: Rules) -> None:
        self._pool = pool
        self._use = use
        self._rules = rules
        self.problems: list[str] = []
        self.invalid = pool.invalid
        """Why nothing is taken from the pool; "" for a sound one."""
        self._counters: Counters | None = None
        if not self.invalid:
            try:
                self._counters = Counters(pool.counter_sets(), self._held())
            except QuantityError as error:
                self.invalid = f"its counters cannot be read ({error})"
        if self.invalid:
            self.problems.append(f"{pool.label}: nothing is taken from it, {self.invalid}")

    def _held(self) -> Iterator[Basic]:
        for device in self._pool.devices():
            if self._use.is_held((self._pool.driver, self._pool.name, device.name)):
                yield device.facts

    def entry(self, device: Device) -> Entry:
        """The device with its state; one that cannot be read is published and not open."""
        pool, facts = self._pool, device.facts
        key = (pool.driver, pool.name, device.name)
        tainted = self._rules.of(*key, facts)
        is_open, draws_all = False, True
        counters = self._counters
        if counters is not None:
            try:
                draws_all = counters.are_drawn_by(facts)
                is_open = (
                    key not in self._use.whole
                    and not any(t.blocks for t in tainted)
                    and self._fits(counters, key, facts)
                )
            except QuantityError as error:
                self.problems.append(f"{pool.label}, device {device.name[:100]}: {error}")
        return Entry(
            pool=pool.name,
            device=device,
            texts=texts_of(pool.driver, facts),
            open=is_open,
            draws_all=draws_all,
            holds=self._use.holds.get(key, ()),
            tainted=tainted,
        )

    def _fits(self, counters: Counters, key: tuple[str, str, str], facts: Basic) -> bool:
        if not facts.allowMultipleAllocations:
            return counters.carry(facts)
        # A device in use has paid its counters already: a further share costs none.
        if not self._use.is_held(key) and not counters.carry(facts):
            return False
        return Shared(facts, self._use.shares(key)).fits({})


def shares_left(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Shared, int | None]]:
    """What is left of devices of which claims hold shares, and how many more claims fit; devices
    that cannot be read are left out."""
    for entry in entries:
        shares = [h.result.consumedCapacity or {} for h in entry.holds if h.is_shared]
        if shares and len(shares) == len(entry.holds):
            try:
                shared = Shared(entry.device.facts, shares)
                yield entry, shared, shared.more()
            except QuantityError:
                continue
