"""Kubernetes minors with their support dates, and how mature each GPU scheduling feature is.

Dates are those of the upstream project; vendors sell longer support. Minors are given as the
number after "1.": 36 for Kubernetes 1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache

from fleet.catalogue.tables import rows
from fleet.words import say


@dataclass(frozen=True, slots=True)
class Release:
    """One minor release. ``None``: the sources do not say."""

    minor: int
    released: date | None
    maintenance_from: date | None  # only critical fixes from here
    end_of_life: date | None
    source: str
    as_of: date


@dataclass(frozen=True, slots=True)
class Maturity:
    """How a feature stands in one minor, by upstream defaults."""

    feature: str  # "Gang scheduling"
    gate: str  # "GangScheduling"
    minor: int
    stage: str  # "none", "alpha", "beta", "ga"
    default: str  # "", "off", "on", "locked"
    note: str
    source: str

    @property
    def on_by_default(self) -> bool:
        return self.default in ("on", "locked")

    @property
    def words(self) -> str:
        """ "alpha, off by default", "generally available", "not there yet"."""
        if self.stage == "none":
            return say("not there yet")
        stage = {"alpha": say("alpha"), "beta": say("beta")}.get(
            self.stage, say("generally available")
        )
        match self.default:
            case "on":
                return say("{stage}, on by default", stage=stage)
            case "off":
                return say("{stage}, off by default", stage=stage)
            case "locked":
                return say("{stage}, always on", stage=stage)
        return stage


def _minor(cell: str) -> int:
    return int(cell.removeprefix("1."))


def _day(cell: str) -> date | None:
    return date.fromisoformat(cell) if cell else None


@cache
def releases() -> dict[int, Release]:
    """All minors of the table by number, oldest first."""
    return {
        _minor(row["minor"]): Release(
            minor=_minor(row["minor"]),
            released=_day(row["released"]),
            maintenance_from=_day(row["maintenance_from"]),
            end_of_life=_day(row["end_of_life"]),
            source=row["source"],
            as_of=date.fromisoformat(row["as_of"]),
        )
        for row in rows("kubernetes_releases.csv")
    }


def newest_supported(today: date) -> Release | None:
    """The newest minor of the table that is released and not past its end of life."""
    fit = [
        r
        for r in releases().values()
        if (r.released is None or r.released <= today)
        and (r.end_of_life is None or r.end_of_life >= today)
    ]
    return max(fit, key=lambda r: r.minor, default=None)


@cache
def _features() -> dict[tuple[str, int], Maturity]:
    return {
        (row["gate"], _minor(row["minor"])): Maturity(
            feature=row["feature"],
            gate=row["gate"],
            minor=_minor(row["minor"]),
            stage=row["stage"],
            default=row["default"],
            note=row["note"],
            source=row["source"],
        )
        for row in rows("features.csv")
    }


def maturity(gate: str, minor: int) -> Maturity | None:
    """How the feature behind ``gate`` stands in ``minor``; None when the table does not say."""
    return _features().get((gate, minor))


def gates() -> tuple[str, ...]:
    """The gates that the table knows, in its order."""
    return tuple(dict.fromkeys(gate for gate, _ in _features()))
