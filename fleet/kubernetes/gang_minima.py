"""How many pods each group must start with: plain numbers, and numbers of groups of groups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from fleet.kubernetes.objects_gangs import (
    CompositePodGroupObject,
    PodGangObject,
    PodGroupObject,
    SubGroup,
)
from fleet.kubernetes.objects_workloads import SchedulingPolicy

_MOST_DEPTH = 8
_Either = CompositePodGroupObject | PodGroupObject


def gang_count(policy: SchedulingPolicy | None) -> int | None:
    """``gang.minCount``; None under the ``basic`` policy, which promises nothing."""
    return policy.gang.minCount if policy is not None and policy.gang is not None else None


def pod_group_minimum(item: PodGroupObject) -> int | None:
    """The minimum of a PodGroup of any of the four systems; None when it promises nothing."""
    spec = item.spec
    if spec.minMember is not None:
        return spec.minMember
    if spec.subGroups:
        return _of_sub_groups(spec.subGroups, spec.minSubGroup)
    return gang_count(spec.schedulingPolicy)


def pod_gang_minimum(item: PodGangObject) -> int:
    """Grove: the pods of every clique that are guaranteed to start together."""
    return sum(max(0, group.minReplicas or 0) for group in item.spec.podgroups or ())


def _of_sub_groups(groups: Iterable[SubGroup], least: int | None) -> int | None:
    """KAI: the fewest pods with which enough sub-groups, and enough of theirs, are ready."""
    below: dict[str, list[SubGroup]] = defaultdict(list)
    for group in groups:
        below[group.parent or ""].append(group)

    def needs(group: SubGroup, depth: int) -> int | None:
        if group.minMember is not None or depth >= _MOST_DEPTH:
            return group.minMember
        return _smallest([needs(g, depth + 1) for g in below[group.name]], group.minSubGroup)

    return _smallest([needs(group, 0) for group in below[""]], least)


def composite_minima(
    composites: Iterable[CompositePodGroupObject], groups: Iterable[PodGroupObject]
) -> Mapping[tuple[str, str], int | None]:
    """(namespace, name) of each CompositePodGroup -> the fewest pods with which it may start."""
    below: dict[tuple[str, str], list[_Either]] = defaultdict(list)
    composites = tuple(composites)
    everything: list[_Either] = [*composites, *groups]
    for item in everything:
        parent = item.spec.parentCompositePodGroupName
        if parent:
            below[item.metadata.namespace, parent].append(item)

    def needs(item: _Either, depth: int) -> int | None:
        if isinstance(item, PodGroupObject):
            return pod_group_minimum(item)
        gang = item.spec.schedulingPolicy.gang if item.spec.schedulingPolicy else None
        if gang is None or depth >= _MOST_DEPTH:  # basic: its groups start one by one
            return None
        children = below[item.metadata.namespace, item.metadata.name]
        return _smallest([needs(child, depth + 1) for child in children], gang.minGroupCount)

    return {(c.metadata.namespace, c.metadata.name): needs(c, 0) for c in composites}


def _smallest(each: Iterable[int | None], enough: int | None) -> int | None:
    """The sum of as many of the smallest as are enough; all of them when nobody says how many.

    None when they are too few, or when one that may be needed promises nothing.
    """
    numbers = sorted(each, key=lambda n: (n is None, n or 0))
    wanted = len(numbers) if enough is None else max(0, enough)
    chosen = numbers[:wanted]
    if not chosen or len(chosen) < wanted or None in chosen:
        return None
    return sum(max(0, n or 0) for n in chosen)
