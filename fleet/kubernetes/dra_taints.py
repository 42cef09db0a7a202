"""Taints on devices: those that drivers publish, and those of DeviceTaintRules.

Only NoSchedule and NoExecute keep a device from being allocated; None and effects that nobody
knows inform. NVIDIA's driver taints with ``gpu.nvidia.com/xid`` and ``/gpu-lost`` (NoSchedule)
what is broken, and with None what it only noticed.
Sources: kubernetes/api resource/v1 DeviceTaintEffect; dynamic-resource-allocation
resourceslice/tracker and resourceclaim/devicetoleration.go; guides/gpu-health-checking of the
NVIDIA DRA driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fleet.inventory import DeviceTaint
from fleet.kubernetes.objects_core import TolerationObject
from fleet.kubernetes.objects_dra import Basic, DeviceTaintRuleObject, Taint

BLOCKING = ("NoSchedule", "NoExecute")
_SLICE = "ResourceSlice"
_Key = tuple[str | None, str | None, str | None]  # driver, pool, device; None: any


@dataclass(frozen=True, slots=True)
class Tainted:
    """A taint on one device, and who put it there."""

    taint: Taint
    source: str

    @property
    def blocks(self) -> bool:
        return self.taint.effect in BLOCKING

    def is_sick(self, driver: str) -> bool:
        """Whether the driver itself says that the device is broken: a key of its own domain,
        published by itself."""
        own = self.taint.key.startswith(f"{driver}/")
        return own and self.blocks and self.source == _SLICE


class Rules:
    """DeviceTaintRules, found by device without looking at each rule."""

    def __init__(self, rules: Iterable[DeviceTaintRuleObject]) -> None:
        self._by_selector: dict[_Key, list[Tainted]] = {}
        self.problems: list[str] = []
        for rule in rules:
            selector, name = rule.spec.deviceSelector, rule.metadata.name
            if selector is None:
                continue  # selects no device
            if selector.deviceClassName or selector.selectors:
                self.problems.append(
                    f"DeviceTaintRule {name[:100]} selects by class or expression, which is not "
                    "evaluated: its taint is not counted"
                )
                continue
            key = (selector.driver, selector.pool, selector.device)
            source = f"DeviceTaintRule {name}"
            self._by_selector.setdefault(key, []).append(Tainted(rule.spec.taint, source))

    def of(self, driver: str, pool: str, device: str, facts: Basic) -> list[Tainted]:
        """All taints of one device."""
        found = [Tainted(taint, _SLICE) for taint in facts.taints or ()]
        if self._by_selector:
            for key in _selectors(driver, pool, device):
                found += self._by_selector.get(key, ())
        return found


def _selectors(driver: str, pool: str, device: str) -> Iterator[_Key]:
    """Every selector that selects the device."""
    for a in (None, driver):
        for b in (None, pool):
            for c in (None, device):
                yield a, b, c


def tolerated(taint: Taint, tolerations: Iterable[TolerationObject]) -> bool:
    """Whether a claim's tolerations cover the taint, without end or for a time."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: TolerationObject, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in (None, "", "Equal"):
        return (toleration.value or "") == (taint.value or "")
    return toleration.operator == "Exists"


class Tally:
    """The taints of a group of devices, each once, with how many devices carry it."""

    def __init__(self, driver: str) -> None:
        self._driver = driver
        self._found: dict[tuple[str, str, str, str], list[int]] = {}
        self._sick: dict[tuple[str, str, str, str], tuple[bool, str]] = {}

    def add(self, tainted: Tainted, device: str, *, hit: bool) -> None:
        """``hit``: a claim holds the device and does not tolerate the taint."""
        taint = tainted.taint
        key = (taint.key, taint.value or "", taint.effect, tainted.source)
        counts = self._found.setdefault(key, [0, 0])
        counts[0] += 1
        counts[1] += hit
        self._sick.setdefault(key, (tainted.is_sick(self._driver), device))

    def result(self) -> tuple[DeviceTaint, ...]:
        return tuple(
            DeviceTaint(*key, devices, hit, *self._sick[key])
            for key, (devices, hit) in self._found.items()
        )
