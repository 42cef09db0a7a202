"""The answer of the solver: assignments, and for what was not placed the reason and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Assignment:
    """One pod on one node."""

    workload: str
    replica: int  # from 0
    pod: int  # from 0 within the replica
    cluster: str
    node: str
    resource: str
    gpu_model: str
    mig_profile: str | None
    gpus: int  # units of the resource
    cpu_milli: int
    memory_mib: int
    shape: int  # index into Demand.shapes
    why_here: str  # "cheapest card that fits (T4, 0.35 USD an hour a replica)"


class ReasonCode(StrEnum):
    """The dominant reason, in the order in which a person would look for it."""

    NO_SHAPE = "no-shape"  # no card can hold it
    NO_CARD = "no-card"  # no allowed cluster has a card that works
    CONSTRAINT = "constraint"  # selector, cluster or model choice leaves nothing
    TAINT = "taint"
    NOT_SCHEDULABLE = "not-schedulable"
    GPUS = "gpus"  # too few free units on any one node
    CPU = "cpu"
    MEMORY = "memory"
    PODS = "pods"
    DOMAIN = "domain"  # enough in all, not within one domain
    GANG = "gang"  # some pods of the gang fit, not all
    QUOTA = "quota"
    PRIORITY = "priority"  # taken by workloads of higher priority
    TIME = "time"  # the budget ended first


@dataclass(frozen=True, slots=True)
class Step:
    """One filter of the funnel: how many nodes were left after it."""

    label: str  # "has A100-80GB or H100", "tolerates the taints"
    nodes_before: int
    nodes_after: int
    example: str  # one node that fell here and why


@dataclass(frozen=True, slots=True)
class PartlyPlaced:
    """A replica that need not be whole, with some of its pods placed."""

    replica: int
    placed: int  # pods 0 to placed - 1
    pods: int  # of the whole replica


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A replica set that waits: how many replicas, why, with the numbers and the nearest miss."""

    workload: str
    replicas: int  # not placed whole: those of ``parts``, and those without any pod placed
    code: ReasonCode
    sentence: str  # "No rack has 4 whole H100 nodes free."
    nearest: str  # "Closest: train-osaka / r3 with room for 2 of 4 pods."
    steps: tuple[Step, ...]
    parts: tuple[PartlyPlaced, ...] = ()
    shape: int | None = None
    """Index into ``Demand.shapes``: the shape that comes closest, which the sentence is about."""


class Status(StrEnum):
    OPTIMAL = "optimal"  # proven: bound met
    FEASIBLE = "feasible"  # within the stated gap
    CUT = "cut"  # budget or cancel ended it; valid, gap stated
    EMPTY = "empty"  # nothing to place


@dataclass(frozen=True, slots=True)
class Score:
    """What is optimised, in this order: placed replicas by priority, then cost per hour."""

    placed_by_priority: tuple[tuple[int, int], ...]  # (priority, whole replicas), high first
    cost_per_hour: Decimal
    pods_by_priority: tuple[tuple[int, int], ...] = ()
    """(priority, pods placed of replicas that are not whole), where there are any."""


class SearchNote(StrEnum):
    """What the search has to say about its answer; ``fleet.placement.notes`` has the words."""

    TOO_LARGE = "too-large"  # value: choices
    CUT = "cut"
    REPLACED = "replaced"  # value: the fault


@dataclass(frozen=True, slots=True)
class Placement:
    assignments: tuple[Assignment, ...]
    unplaced: tuple[Unplaced, ...]
    status: Status
    score: Score
    bound_replicas: int  # no answer can place more replicas than this
    bound_cost_per_hour: Decimal | None  # no answer that places as much can cost less
    gap: float | None  # relative; 0.0 proven best; None unknown
    solver: str  # "HiGHS 1.16 (exact)", "constructive"
    seed: int
    seconds: float
    notes: tuple[str, ...] = ()
    search_notes: tuple[tuple[SearchNote, str], ...] = ()  # behind the last notes, with a value
