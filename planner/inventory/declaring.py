"""Which workloads a team has declared. The app that keeps them registers here, since the inventory
must not import it; without one nothing is declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fleet.workloads import Workload
from planner.accounts.models import Team

_sources: list[Callable[[Team], Sequence[Workload]]] = []


def register(workloads_of: Callable[[Team], Sequence[Workload]]) -> None:
    """Say where the serving workloads that a team declared come from."""
    _sources[:] = [workloads_of]


def serving_workloads(team: Team) -> tuple[Workload, ...]:
    """The embedding and LLM workloads that ``team`` declared."""
    return tuple(_sources[0](team)) if _sources else ()
