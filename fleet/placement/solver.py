"""The one door to the solver: ``solve(problem, budget)``. Same input and seed, same answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[["SolveProgress"], None]
Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one solve. Raises ``ValueError`` on values out of range."""

    seconds: float = 20.0
    relative_gap: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= 3600:
            raise ValueError("budget: seconds must be above 0 and at most 3600")
        if not 0 <= self.relative_gap <= 1:
            raise ValueError("budget: relative_gap must be between 0 and 1")


@dataclass(frozen=True, slots=True)
class SolveProgress:
    phase: str  # "first answer", "proving"
    placed: int
    total: int
    gap: float | None
    seconds: float
