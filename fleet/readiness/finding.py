"""One answer of the checklist: verdict, sentence, evidence (object and field), remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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

QUESTIONS: dict[int, str] = {
    1: "Version and GPU scheduling features",
    2: "GPU nodes are kept for GPU work",
    3: "GPU use is limited by quota",
    4: "Distributed jobs start all together or not at all",
    5: "Probes give models the time they need to load",
}


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
    question: int  # key of QUESTIONS
    verdict: Verdict
    title: str
    detail: str = ""
    evidence: tuple[Evidence, ...] = ()
    remedy: str = ""
    snippet: str = ""  # YAML or a command to paste
    costs: str = ""  # what it costs as long as it stays: "24 GPUs held for nothing, 125 GPU-hours"
    source: str = ""  # where the rule comes from
