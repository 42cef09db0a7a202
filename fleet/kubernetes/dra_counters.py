"""The scheduler's arithmetic of devices: what counters and capacities are left, and what fits.

Partitions of one board draw on shared counters. Devices that several claims may share keep a
capacity each, from which every claim takes an amount that a policy rounds up.
Source: kubernetes/dynamic-resource-allocation structured/internal/incubating
(checkAvailableCounters, CmpRequestOverCapacity, calculateConsumedCapacity).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache

from fleet.kubernetes.objects_core import Quantity
from fleet.kubernetes.objects_dra import Basic, Capacity, CounterSet, CounterUse, RequestPolicy
from fleet.units import QuantityError, parse_quantity

Amounts = dict[str, Decimal]
_ZERO = Decimal(0)
_MOST = Decimal(2**63)


@lru_cache(maxsize=65_536)
def amount(text: Quantity | None) -> Decimal:
    """A quantity in base units. Raises ``QuantityError`` for one that no driver can mean."""
    value = parse_quantity("0" if text is None else text)
    if not 0 <= value <= _MOST:
        raise QuantityError("neither a positive amount nor one of a size that exists")
    return value


class Counters:
    """What is left of the counter sets of one pool, after the devices that claims hold.

    Raises ``QuantityError`` when a set or a held device states no readable amounts.
    """

    def __init__(self, sets: Iterable[CounterSet], held: Iterable[Basic]) -> None:
        self._all: dict[str, Amounts] = {
            found.name: {n: amount(c.value) for n, c in (found.counters or {}).items()}
            for found in sets
        }
        self._left = {(s, n): value for s, names in self._all.items() for n, value in names.items()}
        for device in held:
            for key, taken in _wanted(device.consumesCounters or ()).items():
                if key in self._left:
                    self._left[key] -= taken
        self._overdrawn = any(left < 0 for left in self._left.values())

    def carry(self, device: Basic) -> bool:
        """Whether the device could be allocated now, as far as counters go.

        A pool with a counter below zero carries nothing more that counts.
        """
        if not device.consumesCounters:
            return True
        if self._overdrawn:
            return False
        wanted = _wanted(device.consumesCounters)
        return all(self._left.get(key, taken) >= taken for key, taken in wanted.items())

    def are_drawn_by(self, device: Basic) -> bool:
        """Whether the device takes all of each counter set that it draws on, as a whole board
        does and a cut of one does not. True for a device that draws on none."""
        wanted = _wanted(device.consumesCounters or ())
        sets = {name for name, _ in wanted}
        return all(
            wanted.get((name, counter), _ZERO) >= value
            for name in sets
            for counter, value in self._all.get(name, {}).items()
        )


def _wanted(uses: Iterable[CounterUse]) -> dict[tuple[str, str], Decimal]:
    found: dict[tuple[str, str], Decimal] = {}
    for use in uses:
        for name, counter in (use.counters or {}).items():
            key = (use.counterSet, name)
            found[key] = found.get(key, _ZERO) + amount(counter.value)
    return found


def capacities(device: Basic) -> dict[str, Capacity]:
    """A device's capacities; the oldest API states a plain quantity."""
    return {
        name: value if isinstance(value, Capacity) else Capacity(value=value)
        for name, value in (device.capacity or {}).items()
    }


def consumption(capacity: Capacity, asked: Decimal | None) -> Decimal | None:
    """What a claim takes of one capacity when it asks for that much (None: asks for nothing).

    None: the policy forbids the amount. Steps are exact, as since 1.37; before, the scheduler
    rounded to whole numbers first. Raises ``QuantityError`` on unreadable amounts.
    """
    policy = capacity.requestPolicy
    if asked is None:
        stated = policy.default if policy is not None else None
        taken = amount(stated if stated is not None else capacity.value)
    else:
        taken = _rounded(asked, policy)
    return taken if _is_valid(taken, policy) else None


def _rounded(asked: Decimal, policy: RequestPolicy | None) -> Decimal:
    if policy is None:
        return asked
    limits = policy.validRange
    if limits is not None and limits.min is not None:
        least, step = amount(limits.min), amount(limits.step)
        if asked <= least or not step:
            return max(asked, least)
        return least + ((asked - least) / step).to_integral_value(ROUND_CEILING) * step
    if policy.validValues is not None:
        return next((v for v in map(amount, policy.validValues) if asked <= v), asked)
    return asked


def _is_valid(taken: Decimal, policy: RequestPolicy | None) -> bool:
    if policy is None or (policy.default is not None and taken == amount(policy.default)):
        return True
    limits = policy.validRange
    if limits is not None:
        if limits.max is not None and taken > amount(limits.max):
            return False
        step = amount(limits.step)
        return not step or (taken - amount(limits.min)) % step == 0
    return not policy.validValues or taken in map(amount, policy.validValues)


class Shared:
    """A device that several claims may share: what they took, what is left, what still fits.

    Raises ``QuantityError`` on unreadable amounts.
    """

    def __init__(self, device: Basic, taken: Iterable[Mapping[str, Quantity]]) -> None:
        self._capacities = capacities(device)
        self.of: Amounts = {name: amount(c.value) for name, c in self._capacities.items()}
        self.left: Amounts = dict(self.of)
        for share in taken:
            for name, text in share.items():
                if name in self.left:
                    self.left[name] -= amount(text)

    def fits(self, asked: Mapping[str, Decimal]) -> bool:
        """Whether one more claim fits that asks for these capacities (none: the defaults)."""
        if not asked.keys() <= self._capacities.keys():
            return False
        for name, capacity in self._capacities.items():
            taken = consumption(capacity, asked.get(name))
            if taken is None or taken > self.left[name]:
                return False
        return True

    def more(self) -> int | None:
        """Further claims of the smallest amount allowed; None when no policy states one."""
        fit: int | None = None
        for name, capacity in self._capacities.items():
            least = _least(capacity)
            if least is None:
                return 0
            if least > 0:
                times = max(0, int(self.left[name] // least))
                fit = times if fit is None else min(fit, times)
        return fit


def _least(capacity: Capacity) -> Decimal | None:
    """The smallest amount that a claim can take of a capacity; None: none is allowed."""
    policy = capacity.requestPolicy
    if policy is None:
        return _ZERO
    options = (consumption(capacity, _ZERO), consumption(capacity, None))
    return min((option for option in options if option is not None), default=None)
