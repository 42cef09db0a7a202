"""Pods as they come, page by page: each is reduced at once to what the inventory needs of it."""

from __future__ import annotations

from collections.abc import Iterable

from fleet.device_names import DEVICE_KINDS, device_name
from fleet.inventory import Pod
from fleet.kubernetes.gathered import BoardUse, GatheredPods, NodeUse
from fleet.kubernetes.interned import Interned
from fleet.kubernetes.objects import RawCluster, note
from fleet.kubernetes.objects_core import PodObject
from fleet.kubernetes.pods import asks, build, is_needed_by_others, measure, surroundings_of, use_of


class PodGathering:
    """The pods of one cluster. Everything else of the cluster must have been read before."""

    def __init__(self, raw: RawCluster) -> None:
        self._around = surroundings_of(raw)
        self._same = Interned()
        self.begin_again()

    def begin_again(self) -> None:
        """Forget every pod: their list is read from its start once more."""
        self._places: dict[str, dict[str, int]] = {}  # namespace -> name -> place in the list
        self._pods: list[Pod | None] = []  # None: finished, and asks for nothing
        self._asking = bytearray()
        self._uses: dict[int, BoardUse] = {}
        self._twice = 0

    @property
    def count(self) -> int:
        """Pods so far, each name once."""
        return len(self._pods)

    @property
    def unshared(self) -> int:
        """Bytes, about, of what is held of single pods because too little is common to them."""
        return self._same.unshared

    def add(self, pods: Iterable[PodObject]) -> None:
        """Take a page of pods. The last one of a name counts."""
        for pod in pods:
            measured = measure(pod, self._same)
            asking = asks(measured)
            place = self._place(pod)
            is_wanted = asking or not measured.is_finished
            built = build(measured, self._around, self._same) if is_wanted else None
            self._pods[place] = built
            self._asking[place] = asking or (built is not None and is_needed_by_others(built))
            use = use_of(measured)
            if use is not None:
                self._uses[place] = use
            else:
                self._uses.pop(place, None)

    def _place(self, pod: PodObject) -> int:
        names = self._places.setdefault(self._same.text(pod.metadata.namespace), {})
        place = names.setdefault(pod.metadata.name, len(self._pods))
        if place < len(self._pods):
            self._twice += 1
        else:
            self._pods.append(None)
            self._asking.append(0)
        return place

    def whole(self, problems: list[str]) -> GatheredPods:
        """What the pods come to, once the last page is in; oddities go to ``problems``."""
        if self._twice:
            note(problems, f"pods: {self._twice} objects came twice, the last one counts")
        use: dict[str, NodeUse] = {}
        kept: list[Pod] = []
        asking = bytearray()
        orphans = 0
        for place, pod in enumerate(self._pods):
            if pod is None:
                continue
            kept.append(pod)
            asking.append(self._asking[place])
            if pod.node and pod.state != "finished":
                _take(use.setdefault(pod.node, NodeUse()), pod, self._uses.get(place))
                orphans += pod.node not in self._around.nodes
        return GatheredPods(
            total=len(self._pods),
            use=use,
            pods=tuple(kept),
            asking=bytes(asking),
            orphans=orphans,
            namespaces=frozenset(self._places),
        )


def _boards_at_most(pod: Pod) -> int:
    """Boards that a pod of a sharing system may hold parts of: one per unit, or the one whose
    memory it asks for."""
    kinds = {name: kind for name in pod.requests if (kind := device_name(name)) and kind.is_gpu}
    units = sum(pod.requests[name] for name, kind in kinds.items() if kind.kind in DEVICE_KINDS)
    return units or int(bool(kinds))


def _take(use: NodeUse, pod: Pod, boards: BoardUse | None) -> None:
    """Count one bound pod. One that is being deleted still holds what it has."""
    use.cpu_milli += pod.cpu_milli
    use.memory_mib += pod.memory_mib
    use.pods += 1
    for name, amount in pod.requests.items():
        if boards is None or name not in boards.mapped:
            use.devices[name] = use.devices.get(name, 0) + amount
    if boards is None or not boards.boards:
        use.unnamed_boards += _boards_at_most(pod)
    if boards is not None:
        use.used_boards |= boards.boards
        use.sick_devices |= boards.sick
        if boards.shared_board:
            use.shared_boards.add(boards.shared_board)
