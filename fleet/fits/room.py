"""What is free on one node, taken and given back while groups of pods are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fleet.fits.ask import Ask
from fleet.inventory import DeviceGroup, Node, Sharing, UnitKind, Units

_PLENTY = 1 << 60

Mapped = Mapping[str, frozenset[str]]
"""Extended resource -> DRA units ("dra:gpu.nvidia.com") that its device classes offer for it; an
empty set stands for those of any driver."""


@dataclass(slots=True)
class Boards:
    """Boards that a sharing system cuts by memory: ``idle`` ones, and what the others have left.

    ``spare`` is a sum over boards that are partly held: nobody says how it lies on them, so that
    an answer that needs it is the most that can be hoped for.
    """

    idle: int
    memory: int  # of one board, in the unit in which pods ask
    spare: int

    def parts(self, each: int) -> int:
        """How many parts of that size there are."""
        return self.idle * (self.memory // each) + self.spare // each

    def take(self, each: int, number: int) -> None:
        """Take parts; a negative number gives back spare room."""
        of_spare = min(number, self.spare // each)
        self.spare -= of_spare * each
        rest = number - of_spare
        if rest > 0 and self.memory >= each:
            opened = -(-rest // (self.memory // each))
            self.idle -= opened
            self.spare += opened * self.memory - rest * each


class Room:
    """Free units, CPU, memory and pod places of one node. CPU in millicores, memory in MiB."""

    __slots__ = ("boards", "cpu", "memory", "model", "node", "offered", "pods", "units")

    def __init__(
        self, node: Node, mapped: Mapped, held: Sequence[Ask] = (), model: str = ""
    ) -> None:
        """``held``: the pods bound here, for systems that cut boards by memory. ``model``: look
        only at boards of that model or family."""
        self.node = node
        self.cpu = max(0, node.cpu_allocatable - node.cpu_requested)
        self.memory = max(0, node.memory_allocatable_mib - node.memory_requested_mib)
        self.pods = max(0, node.pods_allocatable - node.pods_count)
        self.offered: dict[str, int] = {}  # were the node empty
        self.units: dict[str, int] = {}
        self.boards: dict[str, Boards] = {}
        groups = [g for g in node.groups if not model or is_model(g, model)]
        for group in groups:
            self._offer(group, held)
        if not model:
            for unit in node.others:
                self._add(unit)
        for resource, drivers in mapped.items():
            if not self.offered.get(resource):
                self._offer_mapped(resource, drivers, groups)

    def _offer(self, group: DeviceGroup, held: Sequence[Ask]) -> None:
        for unit in group.units:
            if unit.kind is UnitKind.DRA:
                continue
            name = unit.resource
            self._add(unit)
            if group.sharing != Sharing.FRACTIONAL or group.physical is None:
                continue
            idle = min(group.whole_free or 0, group.physical)
            part = max(0, group.physical - (group.unhealthy or 0) - idle)
            if unit.kind is UnitKind.SHARE and group.memory_mib:
                taken = sum(asked.boards_of(name, group.memory_mib) for asked in held)
                spare = max(0, part * group.memory_mib - taken)
                self.boards[name] = Boards(idle, group.memory_mib, spare)
            elif unit.kind is UnitKind.MEMORY and group.memory_gib:
                spare = max(0, self.node.free(unit) - idle * group.memory_gib)
                self.boards[name] = Boards(idle, group.memory_gib, spare)

    def _add(self, unit: Units) -> None:
        name = unit.resource
        self.offered[name] = self.offered.get(name, 0) + unit.allocatable
        self.units[name] = self.units.get(name, 0) + self.node.free(unit)

    def _offer_mapped(
        self, resource: str, drivers: frozenset[str], groups: list[DeviceGroup]
    ) -> None:
        """Devices of DRA that answer to the resource: whole boards, where those are told apart
        from the cuts that are published beside them."""
        for group in groups:
            units = [
                u for u in group.units_of(UnitKind.DRA) if not drivers or u.resource in drivers
            ]
            if not units:
                continue
            idle = group.whole_free
            free = sum(map(self.node.free, units))
            if idle is not None:
                free = min(free, idle) if self.node.schedulable else 0
            have = sum(u.allocatable for u in units)
            have = have if group.physical is None else min(have, group.physical)
            self.offered[resource] = self.offered.get(resource, 0) + have
            self.units[resource] = self.units.get(resource, 0) + free

    def count(self, asked: Ask) -> int:
        """How many more pods of that kind the node has room for, conditions aside."""
        found = self.pods
        for name, number in asked.devices:
            found = min(found, self.units.get(name, 0) // number)
            boards = self.boards.get(name)
            if boards is not None:
                found = min(found, self._by_boards(asked, name, number, boards))
        if asked.cpu_milli:
            found = min(found, self.cpu // asked.cpu_milli)
        if asked.memory_mib:
            found = min(found, self.memory // asked.memory_mib)
        return max(0, found)

    def _by_boards(self, asked: Ask, name: str, number: int, boards: Boards) -> int:
        if _asks_memory(name):
            return boards.parts(number)  # all of it on one board
        return boards.parts(asked.board_share(boards.memory)) // number

    def take(self, asked: Ask, pods: int = 1) -> None:
        """Take the room of some pods."""
        self.pods -= pods
        self.cpu -= asked.cpu_milli * pods
        self.memory -= asked.memory_mib * pods
        for name, number in asked.devices:
            self.units[name] = self.units.get(name, 0) - number * pods
            boards = self.boards.get(name)
            if boards is not None and _asks_memory(name):
                boards.take(number, pods)
            elif boards is not None:
                boards.take(asked.board_share(boards.memory), number * pods)

    def mark(self) -> Callable[[], None]:
        """A call that undoes what is taken from now on."""
        cpu, memory, pods, units = self.cpu, self.memory, self.pods, dict(self.units)
        boards = {name: replace(found) for name, found in self.boards.items()}

        def undo() -> None:
            self.cpu, self.memory, self.pods = cpu, memory, pods
            self.units, self.boards = units, boards

        return undo

    def give_back(self, requests: Mapping[str, int], cpu_milli: int, memory_mib: int) -> None:
        """The room of one pod that is bound here, as if it were gone."""
        self.pods += 1
        self.cpu += cpu_milli
        self.memory += memory_mib
        for name, number in requests.items():
            if name in self.units:
                self.units[name] = min(self.offered[name], self.units[name] + number)


def is_model(group: DeviceGroup, model: str) -> bool:
    """Whether the boards are of that model, or of that family ("V100" of "V100-PCIe-16GB")."""
    found = group.model or ""
    return found == model or found.startswith(f"{model}-")


def _asks_memory(name: str) -> bool:
    return name == "aliyun.com/gpu-mem"
