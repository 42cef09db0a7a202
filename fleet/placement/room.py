"""What is still free while an answer is being built: counts that can be taken and given back."""

from __future__ import annotations

from fleet.placement.instance import Instance, Item, Spot

_PLENTY = 1 << 60


class Room:
    """Free units, CPU, memory and pods of each node, and what each quota still allows."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self.units = [[slot.free for slot in node.slots] for node in instance.nodes]
        self.cpu = [node.cpu_free for node in instance.nodes]
        self.memory = [node.memory_free_mib for node in instance.nodes]
        self.pods = [node.pods_free for node in instance.nodes]
        self.quota = [quota.left for quota in instance.quotas]

    def copy(self) -> Room:
        """The same room, to try something in."""
        other = Room.__new__(Room)
        other._instance = self._instance
        other.units = [list(units) for units in self.units]
        other.cpu, other.memory = list(self.cpu), list(self.memory)
        other.pods, other.quota = list(self.pods), list(self.quota)
        return other

    def holds_one(self, item: Item, spot: Spot) -> bool:
        """Whether the node has room for one part of the item, quotas aside."""
        node = spot.node
        return (
            self.units[node][spot.slot] >= item.units
            and self.cpu[node] >= item.cpu
            and self.memory[node] >= item.memory
            and self.pods[node] >= item.pods
        )

    def on_node(self, item: Item, spot: Spot) -> int:
        """How many parts of the item the node has room for, quotas aside."""
        if not self.holds_one(item, spot):
            return 0
        node = spot.node
        count = self.units[node][spot.slot] // item.units
        for free, need in (
            (self.cpu[node], item.cpu),
            (self.memory[node], item.memory),
            (self.pods[node], item.pods),
        ):
            if need:
                count = min(count, free // need)
        return count

    def in_quota(self, item: Item, spot: Spot) -> int:
        """How many parts of the item the quotas of its namespace still allow there."""
        uses = self._instance.quota_use(item, spot)
        return max(0, min((self.quota[q] // use for q, use in uses), default=_PLENTY))

    def count(self, item: Item, spot: Spot) -> int:
        """How many parts of the item can be placed there now."""
        count = self.on_node(item, spot)
        return min(count, self.in_quota(item, spot)) if count else 0

    def take(self, item: Item, spot: Spot, parts: int = 1) -> None:
        """Place parts there; a negative number gives them back."""
        node = spot.node
        self.units[node][spot.slot] -= item.units * parts
        self.cpu[node] -= item.cpu * parts
        self.memory[node] -= item.memory * parts
        self.pods[node] -= item.pods * parts
        for quota, use in self._instance.quota_use(item, spot):
            self.quota[quota] -= use * parts
