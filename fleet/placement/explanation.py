"""Why a workload waits: the dominant reason, its numbers and the nearest miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fleet.placement.answer import in_order
from fleet.placement.constructive import place
from fleet.placement.funnel import cards, count_free, static_funnel, taint_of
from fleet.placement.instance import Instance, Replica
from fleet.placement.phrases import domain_name, gpus_text, place_name
from fleet.placement.problem import Demand
from fleet.placement.result import PartlyPlaced, ReasonCode, Unplaced
from fleet.placement.room import Room
from fleet.placement.shortage import short_of
from fleet.placement.together import apart_reason, gang_reason, quota_reason
from fleet.words import say, say_many


def explain(
    instance: Instance, replicas: Sequence[Replica], *, may_be_placed: bool
) -> tuple[Unplaced, ...]:
    """One answer for each demand with replicas that wait, in the order of the demands.

    ``may_be_placed``: the search was cut, so that room may exist that it did not find.
    """
    room = Room(instance)
    own: dict[int, list[Replica]] = {}
    for replica in in_order(instance, replicas):
        own.setdefault(replica.demand, []).append(replica)
        item = instance.item_of(replica)
        for spot in replica.spots:
            room.take(item, spot)
    cases = (
        _Case(instance, index, own.get(index, []), replicas, room, may_be_placed)
        for index in range(len(instance.demands))
    )
    return tuple(case.answer() for case in cases if case.missing)


class _Case:
    """One demand, waiting unless nothing is missing."""

    def __init__(
        self,
        instance: Instance,
        index: int,
        own: Sequence[Replica],
        replicas: Sequence[Replica],
        room: Room,
        may_be_placed: bool,
    ) -> None:
        self.instance = instance
        self.index = index
        self.demand: Demand = instance.demands[index]
        self.own = own
        self.parts = tuple(
            PartlyPlaced(number, len(replica.spots), instance.item_of(replica).parts)
            for number, replica in enumerate(own)
            if not instance.is_whole(replica)
        )
        self.done = len(own) - len(self.parts)
        self.missing = self.demand.replicas - self.done
        self.replicas = replicas
        self.room = room
        self.may_be_placed = may_be_placed

    def answer(self) -> Unplaced:
        demand = self.demand
        funnel = self.funnel = static_funnel(self.instance, demand)
        self.shape = funnel.before[0].shape if funnel.before else None
        if not demand.shapes:
            code, sentence, nearest = self._no_shape()
        elif funnel.code is not None:
            code = funnel.code
            sentence, nearest = self._static(code)
        else:
            code, sentence, nearest = self._counted()
        sentence = " ".join((*self._placed(), sentence))
        steps = tuple(funnel.steps)
        return Unplaced(
            demand.workload, self.missing, code, sentence, nearest, steps, self.parts, self.shape
        )

    def _placed(self) -> list[str]:
        said = []
        if self.done:
            said.append(
                say(
                    "{done} of {replicas} replicas are placed.",
                    done=self.done,
                    replicas=self.demand.replicas,
                )
            )
        if self.parts:
            said.append(
                say_many(
                    "{n} replica has {placed} of its {pods} pods placed.",
                    "{n} replicas have {placed} of their {pods} pods placed.",
                    len(self.parts),
                    placed=sum(part.placed for part in self.parts),
                    pods=sum(part.pods for part in self.parts),
                )
            )
        return said

    def _no_shape(self) -> tuple[ReasonCode, str, str]:
        refusals = self.demand.sizing_refusals
        nearest = say("Closest: {refusal}", refusal=refusals[0]) if refusals else ""
        return ReasonCode.NO_SHAPE, say("No GPU that was judged can hold it."), nearest

    def _static(self, code: ReasonCode) -> tuple[str, str]:
        """Sentence and nearest miss where a filter that counts nothing left no node."""
        funnel = self.funnel
        if code is ReasonCode.NO_CARD:
            return self._no_card()
        first = funnel.before[0]
        nodes = len({pair.node for pair in funnel.before})
        nearest = say("Closest: {example}.", example=funnel.example) if funnel.example else ""
        if code is ReasonCode.CONSTRAINT:
            text = say_many(
                "{n} node would do, none is left after “{step}”.",
                "{n} nodes would do, none is left after “{step}”.",
                nodes,
                step=funnel.label,
            )
            return text, nearest
        if code is ReasonCode.TAINT:
            where, taint = place_name(funnel.node(first)), taint_of(funnel, first)
            return (
                say_many(
                    "{n} node would do, but for taints that are not tolerated.",
                    "{n} nodes would do, but for taints that are not tolerated.",
                    nodes,
                ),
                say("Closest: {node} with {taint}.", node=where, taint=taint),
            )
        if code is ReasonCode.NOT_SCHEDULABLE:
            text = say_many(
                "{n} node would do, none takes pods now.",
                "{n} nodes would do, none takes pods now.",
                nodes,
            )
            return text, nearest
        text = say_many(
            "{n} node would do, none says which {domain} it is in.",
            "{n} nodes would do, none says which {domain} it is in.",
            nodes,
            domain=domain_name(self.demand),
        )
        return text, nearest

    def _no_card(self) -> tuple[str, str]:
        unknown = [n for n in self.instance.nodes if n.unknown_cards]
        nearest = ""
        if unknown:
            nearest = say_many(
                "{gpus} of unknown model on {n} node cannot be proved to fit.",
                "{gpus} of unknown model on {n} nodes cannot be proved to fit.",
                len(unknown),
                gpus=gpus_text(sum(n.unknown_cards for n in unknown)),
            )
        sentence = say_many(
            "No GPU node has {cards}; {n} node looked at.",
            "No GPU node has {cards}; {n} nodes looked at.",
            len(self.instance.nodes),
            cards=cards(self.demand),
        )
        return sentence, nearest

    def _counted(self) -> tuple[ReasonCode, str, str]:
        """What is missing in the room that the plan leaves, and who took it."""
        instance, funnel = self.instance, self.funnel
        alone = place(instance, Room(instance), self.index, self.demand.replicas)
        if not alone:
            # Not even an empty plan holds it: this plan's other workloads are no reason.
            self.room = Room(instance)
        count_free(funnel, self.room)
        if funnel.code is not None:
            code = funnel.code
            self.shape, sentence, nearest = short_of(funnel, self.room)
        else:
            code, sentence, nearest = self._together()
        if code is ReasonCode.TIME:
            return code, sentence, nearest
        if sum(map(instance.is_whole, alone)) < self.demand.replicas:
            return code, sentence, nearest
        higher, same = self._takers()
        if higher:
            return (
                ReasonCode.PRIORITY,
                say(
                    "The room is taken by workloads of higher priority: {workloads}.",
                    workloads=higher,
                ),
                nearest,
            )
        if self.may_be_placed:
            return ReasonCode.TIME, _cut(), nearest
        if same:
            alone_text = say(
                "Alone it would fit; {workloads} of the same priority take the room.",
                workloads=same,
            )
            sentence = f"{sentence} {alone_text}"
        return code, sentence, nearest

    def _together(self) -> tuple[ReasonCode, str, str]:
        """One part fits somewhere: a quota, the gang or its domain is in the way."""
        instance = self.instance
        items = [instance.items[i] for i in instance.by_demand[self.index]]
        quota = quota_reason(instance, items, self.room)
        if quota is not None:
            return ReasonCode.QUOTA, *quota
        several = [item for item in items if item.parts > 1]
        if self.may_be_placed or not several:
            return ReasonCode.TIME, _cut(), ""
        if self.demand.gang:
            reason = gang_reason(instance, self.demand, several, self.room)
        else:
            apart = [replica for replica in self.own if not instance.is_whole(replica)]
            reason = apart_reason(instance, self.demand, several, self.room, apart)
        code, self.shape, sentence, nearest = reason
        return code, sentence, nearest

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
            named = ", ".join(
                say(
                    "{workload} ({units})",
                    workload=demands[d].workload,
                    units=gpus_text(units[d]),
                )
                for d in wanted[:3]
            )
            if len(wanted) <= 3:
                return named
            return say("{names} and {n} more", names=named, n=len(wanted) - 3)

        own = self.demand.priority
        order = [d for d in sorted(units, key=lambda d: (-units[d], d)) if units[d]]
        higher = [d for d in order if demands[d].priority > own]
        return text(higher), text([d for d in order if demands[d].priority == own])


def _cut() -> str:
    return say("The time budget ended before a place was found or ruled out.")
