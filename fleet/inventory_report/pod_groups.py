"""What the report says of each group of pods: who must start together, and who is there now."""

from __future__ import annotations

from typing import Any

from fleet.gang_members import GangMembers, gang_members
from fleet.inventory import Inventory
from fleet.inventory_report.naming import by_unique_name

Report = dict[str, Any]


def pod_groups_report(inventory: Inventory) -> Report:
    """PodGroups, PodGangs and groups that only pods name, by namespace/name; where two systems
    share a name, by namespace/name and system."""
    return by_unique_name(
        (f"{group.namespace}/{group.group}", group.system, _group(group))
        for group in gang_members(inventory)
    )


def _group(group: GangMembers) -> Report:
    return {
        "system": group.system,
        "minimum": group.minimum,
        "is_gang": group.is_gang,
        "pods_present": len(group.pods),
        "pods_bound": group.bound,
        "is_whole": group.is_whole,
        "started_in_part": group.is_partial,
        "has_lost_members": group.has_lost_members,
    }
