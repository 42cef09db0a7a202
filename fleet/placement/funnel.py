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
from fleet.placement.instance import Instance, is_merged
from fleet.placement.phrases import (
    cores_text,
    domain_name,
    either,
    gpus_text,
    place_name,
    pod_places_text,
    short,
)
from fleet.placement.problem import Demand, NodeCapacity, Slot
from fleet.placement.result import ReasonCode, Step
from fleet.placement.room import Room
from fleet.sizing.requirement import Shape
from fleet.tolerations import taint_text
from fleet.units import gib_text
from fleet.words import say


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
    label: str = ""  # of the filter that left nothing
    example: str = ""  # of the same: one node that fell there, and why

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
        fallen = example(lost) if lost is not None else ""
        self.steps.append(Step(label, self.nodes(), len(stay), fallen))
        if not kept:
            self.empty(code, label, fallen)
        self.pairs = kept

    def empty(self, code: ReasonCode, label: str, example: str) -> None:
        """Note that a filter left nothing of the pairs."""
        self.code, self.before, self.label, self.example = code, self.pairs, label, example


def cards(demand: Demand) -> str:
    """The cards that the demand may use: "T4, L4 or A10", whole ones first (at most four
    named). All that were judged when the demand allows none of them."""
    shapes = [s for s in demand.shapes if model_allowed(demand, s)] or demand.shapes
    whole_first = sorted(shapes, key=lambda s: s.mig_profile is not None)
    names = list(dict.fromkeys(shape.unit for shape in whole_first))
    if len(names) > 4:
        return say("{names} or {n} more", names=", ".join(names[:3]), n=len(names) - 3)
    return either(names)


def static_funnel(instance: Instance, demand: Demand) -> Funnel:
    """The filters that do not depend on what is free: card, choices, taints, node state."""
    funnel = Funnel(instance, demand)
    _has_card(funnel)
    if demand.shapes and not any(model_allowed(demand, shape) for shape in demand.shapes):
        funnel.keep(
            say("GPU model among {models}", models=", ".join(demand.gpu_models)),
            ReasonCode.CONSTRAINT,
            lambda p: model_allowed(demand, funnel.shape(p)),
            lambda p: f"{place_name(funnel.node(p))}: {funnel.slot(p).gpu_model}",
        )
    if demand.node_selector:
        wanted = ", ".join(f"{k}={v}" for k, v in sorted(demand.node_selector.items()))
        funnel.keep(
            say("carries the labels {labels}", labels=wanted),
            ReasonCode.CONSTRAINT,
            lambda p: matches_selector(demand, funnel.node(p)),
            lambda p: _label_example(demand, funnel.node(p)),
        )
    funnel.keep(
        say("its taints are tolerated"),
        ReasonCode.TAINT,
        lambda p: blocking_taint(demand, funnel.node(p), funnel.slot(p).resource) is None,
        lambda p: f"{place_name(funnel.node(p))}: {taint_of(funnel, p)}",
    )
    funnel.keep(
        say("takes pods"),
        ReasonCode.NOT_SCHEDULABLE,
        lambda p: funnel.node(p).schedulable,
        lambda p: _state_example(funnel.node(p)),
    )
    if demand.domain not in ("any", "node"):
        name = domain_name(demand)
        funnel.keep(
            say("in a known {domain}", domain=name),
            ReasonCode.DOMAIN,
            lambda p: not lacks_domain(demand, funnel.shape(p), funnel.node(p)),
            lambda p: say(
                "{node}: no {domain} known", node=place_name(funnel.node(p)), domain=name
            ),
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
            if seen is None:
                return say("{node}: {label} not set", node=place_name(node), label=short(key))
            return say(
                "{node}: {label} is {value}",
                node=place_name(node),
                label=short(key),
                value=short(seen),
            )
    return place_name(node)


def _state_example(node: NodeCapacity) -> str:
    reason = short(node.reason) or say("unknown")
    return f"{place_name(node)}: {reason}"


def _has_card(funnel: Funnel) -> None:
    """The first steps: the clusters that were chosen, then the cards that may be used."""
    demand, nodes = funnel.demand, list(enumerate(funnel.instance.nodes))
    shapes = list(enumerate(demand.shapes))
    shapes = [(i, s) for i, s in shapes if model_allowed(demand, s)] or shapes
    funnel.pairs = [
        Pair(n, s, number)
        for n, node in nodes
        for s, slot in enumerate(node.slots)
        for number, shape in shapes
        if card_matches(shape, slot)
    ]
    if not funnel.pairs:
        funnel.code = ReasonCode.NO_CARD
    if demand.clusters:
        label = say("in cluster {names}", names=", ".join(short(c) for c in demand.clusters))
        chosen = [(n, node) for n, node in nodes if in_clusters(demand, node)]
        other = next((node for _, node in nodes if not in_clusters(demand, node)), None)
        example = say("{node}: another cluster", node=place_name(other)) if other else ""
        funnel.steps.append(Step(label, len(nodes), len(chosen), example))
        nodes = chosen
        inside = [p for p in funnel.pairs if in_clusters(demand, funnel.node(p))]
        if funnel.pairs and not inside:
            elsewhere = say(
                "{node}: another cluster", node=place_name(funnel.node(funnel.pairs[0]))
            )
            funnel.empty(ReasonCode.CONSTRAINT, label, elsewhere)
        funnel.pairs = inside
    with_card = {pair.node for pair in funnel.pairs}
    lost = next((node for n, node in nodes if n not in with_card), None)
    label = say("has {cards}", cards=cards(demand)) if shapes else say("has a card that works")
    funnel.steps.append(Step(label, len(nodes), len(with_card), _other_card(lost) if lost else ""))


def _other_card(node: NodeCapacity) -> str:
    if node.slots:
        names = dict.fromkeys(
            f"{s.gpu_model} MIG {s.mig_profile}" if s.mig_profile else s.gpu_model
            for s in node.slots
        )
        return f"{place_name(node)}: {', '.join(names)}"
    if node.unknown_cards:
        return say(
            "{node}: {gpus}, model unknown",
            node=place_name(node),
            gpus=gpus_text(node.unknown_cards),
        )
    why = short("; ".join(node.unusable)) or say("no whole GPU")
    return f"{place_name(node)}: {why}"


def count_free(funnel: Funnel, room: Room) -> None:
    """The filters that count what is free for one part of a replica: GPUs, CPU, memory, pods."""
    instance, demand = funnel.instance, funnel.demand
    merged = is_merged(demand)

    def pods(pair: Pair) -> int:
        return funnel.shape(pair).pods if merged else 1

    def units(pair: Pair) -> int:
        return room.units[pair.node][pair.slot]

    def name(pair: Pair) -> str:
        return place_name(instance.nodes[pair.node])

    one = say("replica") if merged else say("pod")
    funnel.keep(
        say("GPUs free for one {replica_or_pod}", replica_or_pod=one),
        ReasonCode.GPUS,
        lambda p: units(p) >= funnel.shape(p).gpus_per_pod * pods(p),
        lambda p: say("{node}: {n} free", node=name(p), n=units(p)),
    )
    funnel.keep(
        say("CPU free for one {replica_or_pod}", replica_or_pod=one),
        ReasonCode.CPU,
        lambda p: room.cpu[p.node] >= funnel.shape(p).cpu_milli * pods(p),
        lambda p: say("{node}: {n} free", node=name(p), n=cores_text(room.cpu[p.node])),
    )
    funnel.keep(
        say("memory free for one {replica_or_pod}", replica_or_pod=one),
        ReasonCode.MEMORY,
        lambda p: room.memory[p.node] >= funnel.shape(p).memory_mib * pods(p),
        lambda p: say("{node}: {n} free", node=name(p), n=gib_text(room.memory[p.node])),
    )
    funnel.keep(
        say("pod places free for one {replica_or_pod}", replica_or_pod=one),
        ReasonCode.PODS,
        lambda p: room.pods[p.node] >= pods(p),
        lambda p: say("{node}: {n} free", node=name(p), n=pod_places_text(room.pods[p.node])),
    )
