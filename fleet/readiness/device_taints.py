"""Do taints keep devices offered through DRA from being used, or evict who holds them?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.inventory import DeviceGroup, DeviceTaint, ReadStatus, UnitKind
from fleet.readiness.finding import Evidence, Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded, not_applicable, of_node, of_object, unknown
from fleet.words import say, say_many

CHECK = "device-taints"
QUESTION = 2

_RULES = "devicetaintrules.resource.k8s.io"
_SOURCE = "KEP-5055; resource/v1 DeviceTaintEffect"


def check(subject: Subject) -> Iterator[Finding]:
    if not any(_has_dra(group) for group, _ in _groups(subject)):
        yield not_applicable(CHECK, QUESTION, say("No GPU is offered through DRA"))
        return
    evicting = _found(subject, "NoExecute", hit=True)
    if evicting:
        yield _evicting(evicting)
    blocked = [*_found(subject, "NoSchedule"), *_found(subject, "NoExecute")]
    blocked = [pair for pair in blocked if pair not in evicting]
    if blocked:
        yield _blocked(blocked)
    if evicting or blocked:
        return
    if subject.status(_RULES) in (ReadStatus.FORBIDDEN, ReadStatus.FAILED):
        yield unknown(
            CHECK,
            QUESTION,
            say("Are devices tainted by DeviceTaintRules?"),
            _RULES,
            subject.inventory.read(_RULES),
        )
        return
    yield Finding(
        CHECK,
        QUESTION,
        Verdict.PASS,
        say("No taint keeps a device from being used"),
        source=_SOURCE,
    )


_Pair = tuple[DeviceTaint, Evidence]


def _groups(subject: Subject) -> Iterator[tuple[DeviceGroup, Evidence]]:
    """Device groups of nodes and of pools that several nodes reach, each with where it is."""
    for node in subject.gpu_nodes:
        for group in node.groups:
            yield group, of_node(node, "ResourceSlice.spec.devices[].taints", "")
    for pool in subject.inventory.attached:
        name = say("DRA pool {pool} of {driver}", pool=pool.pool, driver=pool.driver)
        yield pool.group, of_object(name, "spec.devices[].taints", "")


def _has_dra(group: DeviceGroup) -> bool:
    return any(u.kind is UnitKind.DRA and u.capacity for u in group.units)


def _found(subject: Subject, effect: str, *, hit: bool = False) -> list[_Pair]:
    return [
        (taint, Evidence(where.object, where.field, _text(taint), node=where.node))
        for group, where in _groups(subject)
        for taint in group.device_taints
        if taint.effect == effect and (taint.hit or not hit)
    ]


def _text(taint: DeviceTaint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return say_many(
        "{taint} on {n} device such as {example}, by {source}",
        "{taint} on {n} devices such as {example}, by {source}",
        taint.devices,
        taint=f"{taint.key}{value}:{taint.effect}",
        example=taint.example,
        source=taint.source,
    )


def _evicting(found: list[_Pair]) -> Finding:
    return Finding(
        CHECK,
        QUESTION,
        Verdict.FAIL,
        say_many(
            "A taint evicts the pods of {n} device that claims hold",
            "Taints evict the pods of {n} devices that claims hold",
            sum(taint.hit for taint, _ in found),
        ),
        say("NoExecute ends every pod whose claim does not tolerate it."),
        bounded([evidence for _, evidence in found]),
        say(
            "Tolerate the taint in the request of the claim (exactly.tolerations) where the work "
            "may end by itself; else move the work before the device is serviced."
        ),
        source=_SOURCE,
    )


def _blocked(found: list[_Pair]) -> Finding:
    sick = sum(taint.devices for taint, _ in found if taint.is_sick)
    detail = say("Claims that do not tolerate the taint never get these devices.")
    if sick:
        detail += " " + say_many(
            "Of {n} device the driver itself says that it is broken.",
            "Of {n} devices the driver itself says that they are broken.",
            sick,
        )
    return Finding(
        CHECK,
        QUESTION,
        Verdict.WARN,
        say_many(
            "{n} device offered through DRA is tainted",
            "{n} devices offered through DRA are tainted",
            sum(taint.devices for taint, _ in found),
        ),
        detail,
        bounded([evidence for _, evidence in found]),
        say("Repair what is broken and delete the DeviceTaintRules that are no longer needed:"),
        "kubectl get devicetaintrules\n",
        source=_SOURCE,
    )
