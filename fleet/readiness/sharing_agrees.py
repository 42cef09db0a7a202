"""Do the labels about sharing and the counts of each node say the same?"""

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
    if not shared:
        yield not_applicable(CHECK, QUESTION, say("No GPU is shared or cut"))
        return
    odd = [line for node, group in shared if (line := _odd(node, group)) is not None]
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
            "{n} group of shared GPUs contradicts its labels",
            "{n} groups of shared GPUs contradict their labels",
            len(odd),
        ),
        say("The counts of units are used; how many boards stand behind them may be wrong."),
        bounded(odd),
        say(
            "Restart the device plugin and the feature discovery of the node, so that both read "
            "the same configuration."
        ),
        source=_source(),
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
