"""The filters that a node passes on its way to a workload, with what is left after each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fleet.placement.eligibility import (
    blocking_taint,
    card_matches,
    in_clusters,
    lacks_domain,
    matches_selector,
    model_allowed,
)
from fleet.placement.instance import Instance
from fleet.placement.problem import Demand, NodeCapacity, Slot
from fleet.placement.result import ReasonCode, Step
from fleet.placement.room import Room
from fleet.sizing.requirement import Shape
from fleet.tolerations import taint_text
from fleet.units import gib_text

NAME_LIMIT = 80


def short(name: str) -> str:
    """A name from a cluster, of bounded length."""
    return name if len(name) <= NAME_LIMIT else f"{name[: NAME_LIMIT - 1]}…"


def place_name(node: NodeCapacity) -> str:
    return f"{short(node.cluster)} / {short(node.node)}"


def cores(milli: int) -> str:
    """Millicores as a text in cores: "12", "0.5"."""
    return f"{milli / 1000:g}"


def domain_name(demand: Demand) -> str:
    """The topology domain as a person says it."""
    return {"nvlink": "NVLink domain", "any": "cluster"}.get(demand.domain, demand.domain)


@dataclass(frozen=True, slots=True)
class Pair:
    """One shape on one slot of one node: what the filters look at."""

    node: int
    slot: int
    shape: int


@dataclass(slots=True)
class Funnel:
    """Pairs that passed so far, the steps, and the filter that left nothing."""

    instance: Instance
    demand: Demand
    pairs: list[Pair] = field(default_factory=list)
    before: list[Pair] = field(default_factory=list)  # pairs before the filter that left nothing
    steps: list[Step] = field(default_factory=list)
    code: ReasonCode | None = None

    def nodes(self) -> int:
        return len({pair.node for pair in self.pairs})

    def shape(self, pair: Pair) -> Shape:
        return self.demand.shapes[pair.shape]

    def node(self, pair: Pair) -> NodeCapacity:
        return self.instance.nodes[pair.node]

    def slot(self, pair: Pair) -> Slot:
        return self.node(pair).slots[pair.slot]

    def keep(
        self,
        label: str,
        code: ReasonCode,
        test: Callable[[Pair], bool],
        example: Callable[[Pair], str],
    ) -> None:
        """Apply a filter, unless an earlier one left nothing."""
        if self.code is not None:
            return
        kept = [pair for pair in self.pairs if test(pair)]
        stay = {pair.node for pair in kept}
        lost = next((pair for pair in self.pairs if pair.node not in stay), None)
        self.steps.append(
            Step(label, self.nodes(), len(stay), example(lost) if lost is not None else "")
        )
        if not kept:
            self.code, self.before = code, self.pairs
        self.pairs = kept


def cards(shapes: tuple[Shape, ...]) -> str:
    """The cards of the shapes: "T4, L4 or A10" (at most four named)."""
    names = list(dict.fromkeys(shape.unit for shape in shapes))
    if len(names) > 4:
        return f"{', '.join(names[:3])} or {len(names) - 3} more"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def static_funnel(instance: Instance, demand: Demand) -> Funnel:
    """The filters that do not depend on what is free: card, choices, taints, node state."""
    funnel = Funnel(instance, demand)
    _has_card(funnel)
    if demand.gpu_models:
        funnel.keep(
            f"GPU model among {', '.join(demand.gpu_models)}",
            ReasonCode.CONSTRAINT,
            lambda p: model_allowed(demand, funnel.shape(p)),
            lambda p: f"{place_name(funnel.node(p))}: {funnel.slot(p).gpu_model}",
        )
    if demand.clusters:
        funnel.keep(
            f"in cluster {', '.join(short(c) for c in demand.clusters)}",
            ReasonCode.CONSTRAINT,
            lambda p: in_clusters(demand, funnel.node(p)),
            lambda p: f"{place_name(funnel.node(p))}: another cluster",
        )
    if demand.node_selector:
        wanted = ", ".join(f"{k}={v}" for k, v in sorted(demand.node_selector.items()))
        funnel.keep(
            f"carries the labels {wanted}",
            ReasonCode.CONSTRAINT,
            lambda p: matches_selector(demand, funnel.node(p)),
            lambda p: _label_example(demand, funnel.node(p)),
        )
    funnel.keep(
        "its taints are tolerated",
        ReasonCode.TAINT,
        lambda p: blocking_taint(demand, funnel.node(p), funnel.slot(p).resource) is None,
        lambda p: f"{place_name(funnel.node(p))}: {taint_of(funnel, p)}",
    )
    funnel.keep(
        "takes pods",
        ReasonCode.NOT_SCHEDULABLE,
        lambda p: funnel.node(p).schedulable,
        lambda p: f"{place_name(funnel.node(p))}: {short(funnel.node(p).reason) or 'unknown'}",
    )
    if demand.domain not in ("any", "node"):
        name = domain_name(demand)
        funnel.keep(
            f"in a known {name}",
            ReasonCode.DOMAIN,
            lambda p: not lacks_domain(demand, funnel.shape(p), funnel.node(p)),
            lambda p: f"{place_name(funnel.node(p))}: no {name} known",
        )
    return funnel


def taint_of(funnel: Funnel, pair: Pair) -> str:
    """The taint that blocks the pair, as kubectl writes it."""
    taint = blocking_taint(funnel.demand, funnel.node(pair), funnel.slot(pair).resource)
    return short(taint_text(taint)) if taint is not None else ""


def _label_example(demand: Demand, node: NodeCapacity) -> str:
    for key, value in sorted(demand.node_selector.items()):
        if node.labels.get(key) != value:
            seen = node.labels.get(key)
            said = "not set" if seen is None else f"is {short(seen)}"
            return f"{place_name(node)}: {short(key)} {said}"
    return place_name(node)


def _has_card(funnel: Funnel) -> None:
    instance, demand = funnel.instance, funnel.demand
    for n, node in enumerate(instance.nodes):
        for s, slot in enumerate(node.slots):
            for number, shape in enumerate(demand.shapes):
                if card_matches(shape, slot):
                    funnel.pairs.append(Pair(n, s, number))
    with_card = {pair.node for pair in funnel.pairs}
    lost = next((n for i, n in enumerate(instance.nodes) if i not in with_card), None)
    label = f"has {cards(demand.shapes)}" if demand.shapes else "has a card that works"
    funnel.steps.append(
        Step(label, len(instance.nodes), len(with_card), _other_card(lost) if lost else "")
    )
    if not funnel.pairs:
        funnel.code = ReasonCode.NO_CARD


def _other_card(node: NodeCapacity) -> str:
    if node.slots:
        names = dict.fromkeys(
            f"{s.gpu_model} MIG {s.mig_profile}" if s.mig_profile else s.gpu_model
            for s in node.slots
        )
        return f"{place_name(node)}: {', '.join(names)}"
    if node.unknown_cards:
        return f"{place_name(node)}: {node.unknown_cards} GPUs, model unknown"
    return f"{place_name(node)}: {short('; '.join(node.unusable)) or 'no whole GPU'}"


def count_free(funnel: Funnel, room: Room) -> None:
    """The filters that count what is free for one part of a replica: GPUs, CPU, memory, pods."""
    instance, demand = funnel.instance, funnel.demand
    merged = demand.domain == "node"

    def pods(pair: Pair) -> int:
        return funnel.shape(pair).pods if merged else 1

    def units(pair: Pair) -> int:
        return room.units[pair.node][pair.slot]

    one = "replica" if merged else "pod"
    funnel.keep(
        f"GPUs free for one {one}",
        ReasonCode.GPUS,
        lambda p: units(p) >= funnel.shape(p).gpus_per_pod * pods(p),
        lambda p: f"{place_name(instance.nodes[p.node])}: {units(p)} free",
    )
    funnel.keep(
        f"CPU free for one {one}",
        ReasonCode.CPU,
        lambda p: room.cpu[p.node] >= funnel.shape(p).cpu_milli * pods(p),
        lambda p: f"{place_name(instance.nodes[p.node])}: {cores(room.cpu[p.node])} cores free",
    )
    funnel.keep(
        f"memory free for one {one}",
        ReasonCode.MEMORY,
        lambda p: room.memory[p.node] >= funnel.shape(p).memory_mib * pods(p),
        lambda p: f"{place_name(instance.nodes[p.node])}: {gib_text(room.memory[p.node])} free",
    )
    funnel.keep(
        f"pod places free for one {one}",
        ReasonCode.PODS,
        lambda p: room.pods[p.node] >= pods(p),
        lambda p: f"{place_name(instance.nodes[p.node])}: {room.pods[p.node]} pod places free",
    )
