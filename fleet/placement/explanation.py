"""Why a workload waits: the dominant reason, its numbers and the nearest miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fleet.placement.constructive import place
from fleet.placement.funnel import (
    Pair,
    cards,
    cores,
    count_free,
    domain_name,
    place_name,
    short,
    static_funnel,
    taint_of,
)
from fleet.placement.instance import Instance, Item, Replica
from fleet.placement.problem import Demand
from fleet.placement.result import ReasonCode, Unplaced
from fleet.placement.room import Room
from fleet.readiness.wording import many
from fleet.units import gib_text


def explain(
    instance: Instance, replicas: Sequence[Replica], *, may_be_placed: bool
) -> tuple[Unplaced, ...]:
    """One answer for each demand with replicas that wait, in the order of the demands.

    ``may_be_placed``: the search was cut, so that room may exist that it did not find.
    """
    placed = Counter(replica.demand for replica in replicas)
    room = Room(instance)
    for replica in replicas:
        item = instance.item_of(replica)
        for spot in replica.spots:
            room.take(item, spot)
    return tuple(
        _Case(instance, index, placed[index], replicas, room, may_be_placed).answer()
        for index, demand in enumerate(instance.demands)
        if placed[index] < demand.replicas
    )


class _Case:
    """One demand that waits."""

    def __init__(
        self,
        instance: Instance,
        index: int,
        placed: int,
        replicas: Sequence[Replica],
        room: Room,
        may_be_placed: bool,
    ) -> None:
        self.instance = instance
        self.index = index
        self.demand: Demand = instance.demands[index]
        self.missing = self.demand.replicas - placed
        self.replicas = replicas
        self.room = room
        self.may_be_placed = may_be_placed
        self.funnel = static_funnel(instance, self.demand)

    def answer(self) -> Unplaced:
        demand, funnel = self.demand, self.funnel
        if not demand.shapes:
            code, sentence, nearest = self._no_shape()
        elif funnel.code is not None:
            code = funnel.code
            sentence, nearest = self._static(code)
        else:
            code, sentence, nearest = self._counted()
        if self.missing < demand.replicas:
            done = demand.replicas - self.missing
            sentence = f"{done} of {demand.replicas} replicas are placed. {sentence}"
        return Unplaced(demand.workload, self.missing, code, sentence, nearest, tuple(funnel.steps))

    def _no_shape(self) -> tuple[ReasonCode, str, str]:
        refusals = self.demand.sizing_refusals
        nearest = f"Closest: {refusals[0]}" if refusals else ""
        return ReasonCode.NO_SHAPE, "No GPU that was judged can hold it.", nearest

    def _static(self, code: ReasonCode) -> tuple[str, str]:
        """Sentence and nearest miss where a filter that counts nothing left no node."""
        demand, funnel = self.demand, self.funnel
        total = len(self.instance.nodes)
        names = cards(demand.shapes)
        if code is ReasonCode.NO_CARD:
            unknown = [n for n in self.instance.nodes if n.unknown_cards]
            nearest = ""
            if unknown:
                cards_unknown = sum(n.unknown_cards for n in unknown)
                nearest = (
                    f"{many(cards_unknown, 'GPU')} of unknown model on "
                    f"{many(len(unknown), 'node')} cannot be proved to fit."
                )
            return f"No GPU node has {names}; {many(total, 'node')} looked at.", nearest
        step, first = funnel.steps[-1], funnel.before[0]
        nearest = f"Closest: {step.example}." if step.example else ""
        would_do = f"{many(step.nodes_before, 'node')} would do"
        if code is ReasonCode.CONSTRAINT:
            return f"{would_do}, none is left after “{step.label}”.", nearest
        if code is ReasonCode.TAINT:
            taint = taint_of(funnel, first)
            return f"{would_do}, but for taints that are not tolerated.", (
                f"Closest: {place_name(funnel.node(first))} with {taint}."
            )
        if code is ReasonCode.NOT_SCHEDULABLE:
            return f"{would_do}, none takes pods now.", nearest
        name = domain_name(demand)
        return f"{would_do}, none says which {name} it is in.", nearest

    def _counted(self) -> tuple[ReasonCode, str, str]:
        """What is missing in the room that the plan leaves, and who took it."""
        funnel = self.funnel
        alone = len(place(self.instance, Room(self.instance), self.index, self.demand.replicas))
        if alone == 0:
            # Not even an empty plan holds it: this plan's other workloads are no reason.
            self.room = Room(self.instance)
        count_free(funnel, self.room)
        if funnel.code is not None:
            code = funnel.code
            sentence, nearest = self._short_of(code)
        else:
            code, sentence, nearest = self._together()
        if code is ReasonCode.TIME:
            return code, sentence, nearest
        if alone < self.demand.replicas:
            return code, sentence, nearest
        higher, same = self._takers()
        if higher:
            return (
                ReasonCode.PRIORITY,
                f"The room is taken by workloads of higher priority: {higher}.",
                nearest,
            )
        if self.may_be_placed:
            return ReasonCode.TIME, _CUT, nearest
        if same:
            sentence += f" Alone it would fit; {same} of the same priority take the room."
        return code, sentence, nearest

    def _short_of(self, code: ReasonCode) -> tuple[str, str]:
        funnel, room, demand = self.funnel, self.room, self.demand
        merged = demand.domain == "node"
        before = len({pair.node for pair in funnel.before})

        def pods(pair: Pair) -> int:
            return funnel.shape(pair).pods if merged else 1

        def need(pair: Pair) -> int:
            shape = funnel.shape(pair)
            return (
                pods(pair)
                * {
                    ReasonCode.GPUS: shape.gpus_per_pod,
                    ReasonCode.CPU: shape.cpu_milli,
                    ReasonCode.MEMORY: shape.memory_mib,
                    ReasonCode.PODS: 1,
                }[code]
            )

        def have(pair: Pair) -> int:
            if code is ReasonCode.GPUS:
                return room.units[pair.node][pair.slot]
            counts = {ReasonCode.CPU: room.cpu, ReasonCode.MEMORY: room.memory}
            return counts.get(code, room.pods)[pair.node]

        best = min(funnel.before, key=lambda p: (need(p) - have(p), p.node, p.slot, p.shape))
        where = place_name(funnel.node(best))
        one = "replica" if merged else "pod"
        if code is ReasonCode.GPUS:
            wanted = self._wanted(merged=merged)
            free = sum(
                room.units[n][s] for n, s in sorted({(p.node, p.slot) for p in funnel.before})
            )
            return (
                f"No node has {wanted} free for one {one}; in all {free} such are free on "
                f"{many(before, 'node')}.",
                f"Closest: {where} with {have(best)} of {need(best)} "
                f"{funnel.shape(best).unit} free.",
            )
        said = {
            ReasonCode.CPU: ("cores", cores(need(best)), cores(have(best))),
            ReasonCode.MEMORY: ("of memory", gib_text(need(best)), gib_text(have(best))),
            ReasonCode.PODS: ("pod places", str(need(best)), str(have(best))),
        }[code]
        return (
            f"{many(before, 'node')} with the GPUs free, but none with {said[1]} {said[0]} free "
            f"for one {one}.",
            f"Closest: {where} with {said[2]} {said[0]} free.",
        )

    def _wanted(self, *, merged: bool) -> str:
        texts = dict.fromkeys(
            f"{s.gpus if merged else s.gpus_per_pod} × {s.unit}"
            for s in self.demand.shapes
            if any(self.demand.shapes[p.shape] is s for p in self.funnel.before)
        )
        names = list(texts)
        more = f" or {len(names) - 3} other choices" if len(names) > 3 else ""
        return " or ".join(names[:3]) + more

    def _together(self) -> tuple[ReasonCode, str, str]:
        """One part fits somewhere: a quota, the gang or its domain is in the way."""
        items = [self.instance.items[i] for i in self.instance.by_demand[self.index]]
        quota = self._quota(items)
        if quota is not None:
            return ReasonCode.QUOTA, *quota
        gangs = [item for item in items if item.parts > 1]
        if self.may_be_placed or not gangs:
            return ReasonCode.TIME, _CUT, ""
        return self._gang(gangs)

    def _quota(self, items: list[Item]) -> tuple[str, str] | None:
        """Sentence when the nodes would hold a replica and only a quota says no."""
        for item in items:
            for _, members in item.groups or (((("", ""), item.spots)),):
                open_spots = [s for s in members if self.room.on_node(item, s)]
                if sum(self.room.on_node(item, s) for s in open_spots) < item.parts:
                    continue
                for spot in open_spots:
                    for number, use in self.instance.quota_use(item, spot):
                        left, asked = self.room.quota[number], use * item.parts
                        if left < asked:
                            q = self.instance.quotas[number]
                            return (
                                f"Quota {short(q.namespace)}/{short(q.quota)} in "
                                f"{short(q.cluster)} allows {_amount(q.resource, left)} more "
                                f"{short(q.resource)}, {_amount(q.resource, asked)} are asked "
                                "for one replica.",
                                f"Closest: {place_name(self.instance.nodes[spot.node])} has "
                                "the room.",
                            )
        return None

    def _gang(self, gangs: list[Item]) -> tuple[ReasonCode, str, str]:
        room, demand = self.room, self.demand
        domain = domain_name(demand)
        domains: list[tuple[int, int, int, int, tuple[str, str]]] = []
        in_cluster: dict[tuple[int, str], int] = {}
        for number, item in enumerate(gangs):
            for spot in item.spots:
                key = (number, self.instance.nodes[spot.node].cluster)
                in_cluster[key] = in_cluster.get(key, 0) + room.on_node(item, spot)
            for group, members in item.groups:
                fits = sum(room.on_node(item, s) for s in members)
                loose = sum(room.units[s.node][s.slot] for s in members) - fits * item.units
                domains.append((item.parts - fits, number, fits, loose, group))
        _, number, fits, loose, (cluster, path) = min(domains)
        item = gangs[number]
        unit = demand.shapes[item.shape].unit
        where = f"{short(cluster)} / {short(path)}" if path else short(cluster)
        nearest = (
            f"Closest: {where} with room for {fits} of {item.parts} pods and {loose} loose GPUs."
        )
        enough = any(total >= gangs[number].parts for (number, _), total in in_cluster.items())
        if demand.domain != "any" and enough:
            return (
                ReasonCode.DOMAIN,
                f"No {domain} has room for {item.parts} pods of {item.units} × {unit}; "
                f"across {domain}s there would be.",
                nearest,
            )
        return (
            ReasonCode.GANG,
            f"{fits} of the {item.parts} pods of one replica fit ({item.units} × {unit} each), "
            "and they are useful only all together.",
            nearest,
        )

    def _takers(self) -> tuple[str, str]:
        """Who holds units on the nodes that would do: of higher and of the same priority."""
        nodes = {
            spot.node
            for i in self.instance.by_demand[self.index]
            for spot in self.instance.items[i].spots
        }
        units: Counter[int] = Counter()
        for replica in self.replicas:
            item = self.instance.item_of(replica)
            units[replica.demand] += item.units * sum(s.node in nodes for s in replica.spots)
        del units[self.index]
        demands = self.instance.demands

        def text(wanted: list[int]) -> str:
            named = [f"{demands[d].workload} ({units[d]} GPUs)" for d in wanted[:3]]
            return ", ".join(named) + (f" and {len(wanted) - 3} more" if len(wanted) > 3 else "")

        own = self.demand.priority
        order = [d for d in sorted(units, key=lambda d: (-units[d], d)) if units[d]]
        higher = [d for d in order if demands[d].priority > own]
        return text(higher), text([d for d in order if demands[d].priority == own])


_CUT = "The time budget ended before a place was found or ruled out."


def _amount(resource: str, value: int) -> str:
    if resource == "cpu":
        return cores(value)
    return gib_text(value) if resource == "memory" else str(value)
