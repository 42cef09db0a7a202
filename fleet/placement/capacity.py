"""From inventories to what can still be placed: free units, CPU, memory, pods, domains, quotas.

Whole GPUs and MIG devices are placed on. Shared, fractional, partitioned, passed-through and
DRA units are not whole devices that a pod can be promised: they are counted and said, not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal

from fleet.catalogue.accelerators import accelerator
from fleet.catalogue.prices import Price, PriceBook, unit_share
from fleet.inventory import DeviceGroup, Inventory, Node, Quota, Sharing, UnitKind
from fleet.placement.problem import NodeCapacity, QuotaRoom, Slot
from fleet.units import QuantityError, mib, mib_request, milli_cpu, whole
from fleet.words import say

_PLACEABLE = frozenset({UnitKind.WHOLE, UnitKind.MIG})
_STEP = Decimal("0.000001")


def capacity(
    inventories: Mapping[str, Inventory], prices: PriceBook, currency: str | None = None
) -> tuple[NodeCapacity, ...]:
    """Capacity of every GPU node, ordered by cluster and node.

    Prices in another currency than ``currency`` (default: ``main_currency``) count as no price,
    since adding two currencies would be a guess.
    """
    wanted = currency or main_currency(inventories, prices)
    return tuple(
        _node(cluster, node, prices, wanted)
        for cluster in sorted(inventories)
        for node in sorted(inventories[cluster].nodes, key=lambda n: n.name)
        if node.is_gpu_node
    )


def main_currency(inventories: Mapping[str, Inventory], prices: PriceBook) -> str:
    """The currency of most priced GPU groups; the first by name on a tie; "USD" without any."""
    counts: Counter[str] = Counter()
    for cluster, inventory in inventories.items():
        for node in inventory.nodes:
            for group in node.groups:
                price = board_price(prices, cluster, node, group)
                if price is not None:
                    counts[price.per_gpu_hour.currency] += 1
    return min(counts, key=lambda c: (-counts[c], c)) if counts else "USD"


def board_price(prices: PriceBook, cluster: str, node: Node, group: DeviceGroup) -> Price | None:
    """The price of one board of the group, None when there is none."""
    return prices.price_for(node.instance_type, group.model, node.region, cluster, node.labels)


def _node(cluster: str, node: Node, prices: PriceBook, currency: str) -> NodeCapacity:
    slots: list[Slot] = []
    unknown = 0
    unusable: list[str] = []
    for group in node.groups:
        for units in group.units:
            free = units.free or 0  # none where nobody knows what is held
            if units.kind not in _PLACEABLE or group.sharing == Sharing.PASSTHROUGH:
                if units.allocatable:
                    unusable.append(f"{units.allocatable} {units.resource} ({group.sharing})")
            elif group.model is None:
                unknown += units.allocatable
            elif units.kind is UnitKind.MIG and units.profile is None:
                unknown_profile = say("MIG profile unknown")
                unusable.append(f"{units.allocatable} {units.resource} ({unknown_profile})")
            else:
                price = board_price(prices, cluster, node, group)
                slots.append(
                    Slot(
                        resource=units.resource,
                        gpu_model=group.model,
                        mig_profile=units.profile,
                        free=free,
                        price_per_unit_hour=_unit_price(
                            price, group.model, units.profile, currency
                        ),
                    )
                )
    return NodeCapacity(
        cluster=cluster,
        node=node.name,
        schedulable=node.schedulable,
        reason=node.not_schedulable_reason,
        slots=tuple(slots),
        cpu_free=max(0, node.cpu_allocatable - node.cpu_requested),
        memory_free_mib=max(0, node.memory_allocatable_mib - node.memory_requested_mib),
        pods_free=max(0, node.pods_allocatable - node.pods_count),
        taints=node.taints,
        labels=node.labels,
        domains=_domains(node),
        unknown_cards=unknown,
        unusable=tuple(unusable),
    )


def _unit_price(
    price: Price | None, model: str, mig_profile: str | None, currency: str
) -> Decimal | None:
    if price is None or price.per_gpu_hour.currency != currency:
        return None
    return (price.per_gpu_hour.amount * unit_share(model, mig_profile)).quantize(_STEP)


def _domains(node: Node) -> dict[str, str | None]:
    """Domain of each kind as the path of values from the coarsest level down to it.

    Values are unique only under their parent, hence the path; a parent that the node lacks is
    written "?". A missing level is None: such a node is in no known domain.
    """
    found: dict[str, str | None] = {"node": node.name, "nvlink": None, "rack": None, "zone": None}
    path: list[str] = []
    for level in node.topology:
        path.append(level.value if level.value else "?")
        if level.value and level.name in found:
            found[level.name] = "/".join(path)
    if found["zone"] is None and node.zone:
        found["zone"] = node.zone
    if found["nvlink"] is None and _is_one_nvlink_domain(node):
        found["nvlink"] = f"node {node.name}"
    return found


def _is_one_nvlink_domain(node: Node) -> bool:
    """Whether the boards of the node are all joined by NVLink, by the model's domain size."""
    for group in node.groups:
        card = accelerator(group.model) if group.model is not None else None
        size = card.nvlink_domain_size if card is not None else None
        if group.physical is None or size is None or size < group.physical:
            return False
    return len(node.groups) == 1


def quota_rooms(inventories: Mapping[str, Inventory]) -> tuple[QuotaRoom, ...]:
    """What each unscoped ResourceQuota still allows of what we place: accelerators, CPU, memory
    and pods. CPU in millicores, memory in MiB.

    Quotas with scopes cover only some pods (by priority class, by deadline); they are left out,
    since the plan does not know those.
    """
    found: list[QuotaRoom] = []
    for cluster in sorted(inventories):
        for quota in inventories[cluster].quotas:
            if quota.scopes:
                continue
            for key in sorted(quota.hard):
                room = _room(cluster, quota, key)
                if room is not None:
                    found.append(room)
    return tuple(found)


def _room(cluster: str, quota: Quota, key: str) -> QuotaRoom | None:
    # Extended resources are limited only under "requests.<name>"; a bare name does nothing.
    resource = key.removeprefix("requests.")
    if resource == key and key not in ("cpu", "memory", "pods"):
        return None
    if resource != key and "/" not in resource and resource not in ("cpu", "memory"):
        return None  # storage and the like
    if resource == "requests.storage" or "deviceclass" in resource:
        return None
    try:
        hard, used = quota.hard[key], quota.used.get(key, "0")
        if resource == "cpu":
            left = milli_cpu(hard) - milli_cpu(used)
        elif resource == "memory":
            left = mib(hard) - mib_request(used)
        else:
            left = int(whole(hard)) - whole(used)
    except QuantityError:
        return None
    return QuotaRoom(cluster, quota.namespace, quota.name, resource, max(0, left))
