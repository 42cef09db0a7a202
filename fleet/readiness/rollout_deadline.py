"""Does a rollout wait long enough for the new pods of a model server to load?"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.probe_startup import COMFORT, load_of
from fleet.readiness.serving import servers
from fleet.readiness.subject import Subject
from fleet.readiness.wording import bounded_findings, not_applicable, of_controller
from fleet.units import duration_text
from fleet.words import say, say_many

CHECK = "rollout-deadline"
QUESTION = 5

DEFAULT_DEADLINE_S = 600
"""progressDeadlineSeconds of a Deployment that states none."""

_SOURCE = "apps/v1 Deployment progressDeadlineSeconds"


def check(subject: Subject) -> Iterator[Finding]:
    findings: list[Finding] = []
    judged = 0
    for server in servers(subject):
        controller = server.controller
        load = load_of(subject, server)
        if controller is None or controller.kind != "Deployment" or load is None:
            continue
        judged += 1
        deadline = controller.progress_deadline_s or DEFAULT_DEADLINE_S
        if deadline >= COMFORT * load.seconds:
            continue
        late = deadline < load.seconds
        findings.append(
            Finding(
                CHECK,
                QUESTION,
                Verdict.FAIL if late else Verdict.WARN,
                say("A rollout of {name} is given up before the model is loaded", name=server.name)
                if late
                else say("A rollout of {name} has little time to spare", name=server.name),
                say(
                    "The deadline is {deadline}; loading takes {time} ({words}).",
                    deadline=duration_text(deadline),
                    time=duration_text(load.seconds),
                    words=load.words,
                ),
                (of_controller(controller, "spec.progressDeadlineSeconds", str(deadline)),),
                say(
                    "Raise the deadline above the load time of all pods that are replaced at once:"
                ),
                f"spec:\n  progressDeadlineSeconds: {int(2 * load.seconds) + 120}\n",
                source=_SOURCE,
            )
        )
    yield from bounded_findings(findings, "server")
    if findings:
        return
    if judged:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.PASS,
            say("Rollouts wait long enough for models to load"),
            say_many("{n} Deployment.", "{n} Deployments.", judged),
            source=_SOURCE,
        )
    else:
        yield not_applicable(
            CHECK, QUESTION, say("No Deployment of a model server with a known load")
        )
