"""One answer of the checklist: verdict, sentence, evidence (object and field), remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fleet.words import say


class Verdict(StrEnum):
    FAIL = "fail"
    WARN = "warn"
    UNKNOWN = "unknown"
    PASS = "pass"  # noqa: S105 (a verdict, not a password)
    NOT_APPLICABLE = "na"


ORDER: tuple[Verdict, ...] = (
    Verdict.FAIL,
    Verdict.WARN,
    Verdict.UNKNOWN,
    Verdict.PASS,
    Verdict.NOT_APPLICABLE,
)
"""Problems before successes."""

QUESTIONS = (1, 2, 3, 4, 5)


def question_title(question: int) -> str:
    """What the question is about, for a heading."""
    match question:
        case 1:
            return say("Version and GPU scheduling features")
        case 2:
            return say("GPU nodes are kept for GPU work")
        case 3:
            return say("GPU use is limited by quota")
        case 4:
            return say("Distributed jobs start all together or not at all")
        case 5:
            return say("Probes give models the time they need to load")
    raise ValueError(f"no question {question}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where it was seen: object "batch/v1 Job train/pretrain", field, value."""

    object: str
    field: str
    value: str
    node: str = ""  # set when the object is a node, so that a page can link to it


@dataclass(frozen=True, slots=True)
class Finding:
    check: str  # stable id: "version-support"
    question: int  # one of QUESTIONS
    verdict: Verdict
    title: str
    detail: str = ""
    evidence: tuple[Evidence, ...] = ()
    remedy: str = ""
    snippet: str = ""  # YAML or a command to paste
    costs: str = ""  # what it costs as long as it stays: "24 GPUs held for nothing, 125 GPU-hours"
    source: str = ""  # where the rule comes from
