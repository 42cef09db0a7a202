"""Do the labels about sharing, the number of boards and the units of each node agree?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalogue.mig_profiles import agreed_profile
from fleet.inventory import DeviceGroup, Node, Sharing, UnitKind
from fleet.readiness.devices_advertised import gpu_groups
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_node
from fleet.words import say, say_many

CHECK = "sharing-agrees"
QUESTION = 2

REPLICAS = "nvidia.com/gpu.replicas"
_SLICES = 7  # compute slices of every board but the A30, which is in the catalogue
_UNSHARED = frozenset({Sharing.WHOLE, Sharing.PASSTHROUGH, Sharing.NONE, Sharing.DRA})


def _source() -> str:
    return say("GPU Feature Discovery labels; placements of NVIDIA's MIG profiles")


def check(subject: Subject) -> Iterator[Finding]:
    shared = [
        (node, group)
        for node in subject.gpu_nodes
        for group in gpu_groups(node)
        if group.sharing not in _UNSHARED and any(u.capacity for u in group.units)
    ]
    whole = [
        (node, group)
        for node in subject.gpu_nodes
        for group in gpu_groups(node)
        if group.sharing == Sharing.WHOLE
    ]
    odd = [line for node, group in shared if (line := _odd(node, group)) is not None]
    odd += [line for node, group in whole if (line := _miscounted(node, group)) is not None]
    if not shared and not odd:
        yield not_applicable(CHECK, QUESTION, say("No GPU is shared or cut"))
        return
    if not odd:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("Labels and counts of shared GPUs agree"),
            say_many(
                "{n} group of shared or cut GPUs.", "{n} groups of shared or cut GPUs.", len(shared)
            ),
            source=_source(),
        )
        return
    yield Finding(
        CHECK,
        QUESTION,
        Verdict.WARN,
        say_many(
            "{n} group of GPUs offers another number of units than its boards and labels say",
            "{n} groups of GPUs offer another number of units than their boards and labels say",
            len(odd),
        ),
        say(
            "What is free follows the units, and is never more than the boards. Boards may be lost "
            "to the device plugin, or handed out twice."
        ),
        bounded(odd),
        say(
            "Restart the device plugin and the feature discovery of the node, so that both read "
            "the same configuration."
        ),
        source=_source(),
    )


def _miscounted(node: Node, group: DeviceGroup) -> Evidence | None:
    """Whole boards that the plugin offers in another number than there are."""
    units = sum(u.capacity for u in group.units_of(UnitKind.WHOLE))
    is_known = group.physical is not None and not group.physical_estimated
    if not is_known or units == group.physical or any(group.units_of(UnitKind.DRA)):
        return None
    return of_node(
        node,
        "status.capacity",
        say_many(
            "{units} units on {n} GPU",
            "{units} units on {n} GPUs",
            group.physical or 0,
            units=units,
        ),
    )


def _odd(node: Node, group: DeviceGroup) -> Evidence | None:
    shares = sum(u.capacity for u in group.units_of(UnitKind.SHARE))
    label = node.labels.get(REPLICAS, "")
    known = group.physical is not None and not group.physical_estimated
    if shares and label.isdecimal() and len(label) < 7 and known and label != "0":
        wanted = (group.physical or 0) * int(label)
        if wanted != shares:
            return of_node(
                node,
                REPLICAS,
                say_many(
                    "{label}, and {units} units on {n} GPU",
                    "{label}, and {units} units on {n} GPUs",
                    group.physical or 0,
                    label=label,
                    units=shares,
                ),
            )
    used, room = mig_slices(group)
    if known and used > room:
        return of_node(
            node,
            "status.capacity",
            say("{used} compute slices on boards with {room}", used=used, room=room),
        )
    return None


def mig_slices(group: DeviceGroup) -> tuple[int, int]:
    """Compute slices that the MIG devices of a group take, and those that its cut boards have."""
    used, of_board = 0, _SLICES
    for unit in group.units:
        if not unit.is_of_mig or unit.profile is None or not unit.capacity:
            continue
        devices = -(-unit.capacity // unit.per_device)
        cut = agreed_profile((group.model,) if group.model else (), unit.profile)
        if cut is not None:
            of_board = cut.compute_slices_total
            used += devices * cut.compute_slices
        else:  # a board that is not in the catalogue: the name of a profile begins with it
            head = unit.profile.partition("g.")[0]
            used += devices * (int(head) if head.isdecimal() else 0)
    whole = sum(u.capacity for u in group.units_of(UnitKind.WHOLE))
    return used, of_board * max(0, (group.physical or 0) - whole)
