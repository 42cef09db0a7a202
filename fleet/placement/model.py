"""The placement problem over classes of nodes as an integer program.

``x`` counts the parts of an item on a class, ``y`` the replicas of an item in a domain. With one
node a class the program is exact; with more it is a relaxation (a class is treated as one big
node, with cuts for parts too large to share a node), so its bound always holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from fleet.placement.classes import NodeClass, group_of
from fleet.placement.highs import IntegerProgram
from fleet.placement.instance import Instance, Replica, Spot, priorities
from fleet.placement.problem import Demand

_CUT_SHARES = (1, 2, 3, 4)


class Model:
    """Columns and rows, and the coefficients of each goal."""

    def __init__(self, instance: Instance, found: Sequence[NodeClass], seed: int) -> None:
        self.instance = instance
        self.classes = found
        self.parts: list[tuple[int, int, int]] = []  # column -> (item, class, use)
        self.gangs: list[tuple[int, tuple[str, str]]] = []  # column - len(parts) -> (item, group)
        self._upper: list[int] = []
        self._rows: list[tuple[dict[int, int], int | None, int]] = []
        self._add_columns()
        self._limit_replicas()
        self._limit_nodes()
        self._limit_quotas()
        self.program = IntegerProgram(self._upper, seed)
        for row, lower, upper in self._rows:
            self.program.add_row(row, lower=lower, upper=upper)

    def _add_columns(self) -> None:
        members: dict[tuple[int, tuple[str, str]], dict[int, int]] = defaultdict(dict)
        for c, one in enumerate(self.classes):
            for use, (number, _) in enumerate(one.uses):
                item = self.instance.items[number]
                wanted = self.instance.demands[item.demand].replicas * item.parts
                column = len(self.parts)
                self.parts.append((number, c, use))
                self._upper.append(min(one.count * one.fits[use], wanted))
                if item.parts > 1:
                    group = group_of(self.instance, number, one)
                    if group is not None:
                        members[(number, group)][column] = 1
        for key in sorted(members):
            item = self.instance.items[key[0]]
            room = sum(self._upper[column] for column in members[key])
            column = len(self._upper)
            self.gangs.append(key)
            wanted = self.instance.demands[item.demand].replicas
            most = room // item.parts if item.is_gang else -(-room // item.parts)
            self._upper.append(min(most, wanted))
            # A gang has all its parts; another replica has at most so many.
            lower = 0 if item.is_gang else None
            self._rows.append(({**members[key], column: -item.parts}, lower, 0))

    def _limit_replicas(self) -> None:
        rows: dict[int, dict[int, int]] = defaultdict(dict)
        for column, item in self.replica_columns():
            rows[self.instance.items[item].demand][column] = 1
        for demand in sorted(rows):
            self._at_most(rows[demand], self.instance.demands[demand].replicas)

    def replica_columns(self) -> list[tuple[int, int]]:
        """(column, item) of the columns that count replicas."""
        alone = [
            (column, number)
            for column, (number, _, _) in enumerate(self.parts)
            if self.instance.items[number].parts == 1
        ]
        first = len(self.parts)
        return alone + [(first + k, number) for k, (number, _) in enumerate(self.gangs)]

    def _limit_nodes(self) -> None:
        by_class: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for column, (number, c, use) in enumerate(self.parts):
            by_class[c].append((column, number, use))
        for c, columns in by_class.items():
            one = self.classes[c]
            items = self.instance.items
            for slot, free in enumerate(one.units):
                needs = {
                    column: items[number].units
                    for column, number, use in columns
                    if one.uses[use][1] == slot
                }
                self._limit_resource(needs, free, one.count)
            for free, attribute in ((one.cpu, "cpu"), (one.memory, "memory"), (one.pods, "pods")):
                needs = {column: getattr(items[number], attribute) for column, number, _ in columns}
                self._limit_resource({k: v for k, v in needs.items() if v}, free, one.count)

    def _limit_resource(self, needs: dict[int, int], free: int, count: int) -> None:
        self._at_most(needs, free * count)
        if count == 1:
            return
        # A node holds at most k parts that each need more than 1/(k+1) of it.
        for k in _CUT_SHARES:
            large = {column: 1 for column, need in needs.items() if need * (k + 1) > free}
            if len(large) > 1:
                self._at_most(large, k * count)

    def _limit_quotas(self) -> None:
        rows: dict[int, dict[int, int]] = defaultdict(dict)
        for column, (number, c, use) in enumerate(self.parts):
            spot = self.classes[c].spots[use]
            for quota, amount in self.instance.quota_use(self.instance.items[number], spot):
                rows[quota][column] = amount
        for quota in sorted(rows):
            self._at_most(rows[quota], self.instance.quotas[quota].left)

    def _at_most(self, row: dict[int, int], upper: int) -> None:
        """Add the row unless the bounds of its columns keep it anyway."""
        if row and sum(need * self._upper[column] for column, need in row.items()) > upper:
            self._rows.append((row, None, upper))

    def counts(self, priority: int) -> dict[int, int]:
        """Coefficients of what is placed at that priority, a whole replica being ``scale``."""
        items = self.instance.items
        counted = {
            column: self.instance.scale
            for column, number in self.replica_columns()
            if items[number].is_gang or items[number].parts == 1
        }
        for column, (number, _, _) in enumerate(self.parts):
            if column not in counted and not items[number].is_gang:
                counted[column] = items[number].worth
        return {
            column: worth
            for column, worth in sorted(counted.items())
            if self._demand_of(column).priority == priority
        }

    def _demand_of(self, column: int) -> Demand:
        first = len(self.parts)
        number = self.parts[column][0] if column < first else self.gangs[column - first][0]
        return self.instance.demands[self.instance.items[number].demand]

    def standing(self) -> dict[int, int]:
        """Coefficients of the computing power taken on cards without a price."""
        return self._costs(lambda spot: spot.standing)

    def micro(self) -> dict[int, int]:
        """Coefficients of the cost per hour, in millionths."""
        return self._costs(lambda spot: spot.micro)

    def _costs(self, of: Callable[[Spot], int]) -> dict[int, int]:
        found = {}
        for column, (number, c, use) in enumerate(self.parts):
            cost = of(self.classes[c].spots[use]) * self.instance.items[number].units
            if cost:
                found[column] = cost
        return found

    def largest(self, row: dict[int, int]) -> int:
        """The most that a goal of counts could reach by the limits of demand alone."""
        demands = {demand.workload: demand for demand in map(self._demand_of, row)}
        return self.instance.scale * sum(demand.replicas for demand in demands.values())

    def encode(self, replicas: Iterable[Replica]) -> tuple[int, ...]:
        """The counts of an answer: a valid start for every goal."""
        classes_of = {node: c for c, one in enumerate(self.classes) for node in one.nodes}
        columns = {
            (number, c, self.classes[c].uses[use][1]): column
            for column, (number, c, use) in enumerate(self.parts)
        }
        first = len(self.parts)
        gangs = {key: first + k for k, key in enumerate(self.gangs)}
        numbers = {(item.demand, item.shape): n for n, item in enumerate(self.instance.items)}
        values = [0] * len(self._upper)
        for replica in replicas:
            number = numbers[(replica.demand, replica.shape)]
            for spot in replica.spots:
                values[columns[(number, classes_of[spot.node], spot.slot)]] += 1
            if self.instance.items[number].parts > 1:
                group = group_of(
                    self.instance, number, self.classes[classes_of[replica.spots[0].node]]
                )
                if group is not None:
                    values[gangs[(number, group)]] += 1
        return tuple(values)

    def levels(self) -> tuple[int, ...]:
        return priorities(self.instance)
