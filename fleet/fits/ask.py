"""What one pod asks of a node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fleet.inventory import NodeAffinity, Pod, PodRole, Toleration

_HAMI_MEMORY = "nvidia.com/gpumem"
_HAMI_PERCENT = "nvidia.com/gpumem-percentage"
_HAMI_CORES = "nvidia.com/gpucores"
SIDE_REQUESTS = frozenset({_HAMI_MEMORY, _HAMI_PERCENT, _HAMI_CORES})
"""Say how much of a board a unit takes. HAMi's scheduler reads them; no node offers them."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One pod: what it takes of a node and which nodes it may go to. Hashable, so that the answer
    for thousands of equal pods is found once."""

    requests: tuple[tuple[str, int], ...]  # accelerators, by name
    cpu_milli: int = 0
    memory_mib: int = 0
    tolerations: tuple[Toleration, ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    node_affinity: NodeAffinity = ()
    model: str = ""  # of the catalogue, or a family of it ("V100"); "" for any

    @property
    def devices(self) -> tuple[tuple[str, int], ...]:
        """The requests that a node must offer."""
        return tuple(pair for pair in self.requests if pair[0] not in SIDE_REQUESTS)

    def board_share(self, board_mib: int) -> int:
        """Device memory in MiB that one unit takes of a board of that size under HAMi: what the
        pod says, else the whole board. Cores that say more than the memory count as memory."""
        asked = dict(self.requests)
        memory = asked.get(_HAMI_MEMORY)
        if memory is None:
            percent = asked.get(_HAMI_PERCENT)
            memory = board_mib if percent is None else -(-board_mib * min(percent, 100) // 100)
        cores = min(100, asked.get(_HAMI_CORES, 0))
        return max(1, memory, board_mib * cores // 100)

    def boards_of(self, resource: str, board_mib: int) -> int:
        """Device memory in MiB that all its units of a resource take of boards of that size."""
        return dict(self.requests).get(resource, 0) * self.board_share(board_mib)


def ask(
    requests: Mapping[str, int],
    *,
    cpu_milli: int = 0,
    memory_mib: int = 0,
    tolerations: Iterable[Toleration] = (),
    node_selector: Mapping[str, str] | None = None,
    node_affinity: NodeAffinity = (),
    model: str = "",
) -> Ask:
    """An ask out of plain values."""
    return Ask(
        tuple(sorted((name, number) for name, number in requests.items() if number > 0)),
        cpu_milli,
        memory_mib,
        tuple(tolerations),
        tuple(sorted((node_selector or {}).items())),
        node_affinity,
        model,
    )


def ask_of(asking: Pod | PodRole) -> Ask:
    """What a pod that waits, or one pod of a template, asks for."""
    return ask(
        asking.requests,
        cpu_milli=asking.cpu_milli,
        memory_mib=asking.memory_mib,
        tolerations=asking.tolerations,
        node_selector=asking.node_selector,
        node_affinity=asking.node_affinity,
    )


def with_flavor(
    asked: Ask, tolerations: Iterable[Toleration], node_labels: Mapping[str, str]
) -> Ask:
    """The ask once Kueue has put the tolerations and node labels of a flavor on the pod."""
    return replace(
        asked,
        tolerations=(*asked.tolerations, *tolerations),
        node_selector=tuple(sorted({**dict(asked.node_selector), **node_labels}.items())),
    )
