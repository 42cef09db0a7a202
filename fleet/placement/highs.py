"""The MIP solver HiGHS behind a narrow door: whole variables, rows of whole numbers, one goal.

One thread and a fixed seed: equal input gives an equal answer, unless the clock ends the search.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np

NAME = "HiGHS 1.16"
_CONSTRUCTION = threading.Lock()


@dataclass(frozen=True, slots=True)
class Solved:
    """What one run gave."""

    values: tuple[int, ...]  # the start when nothing was found in time
    bound: float  # no answer has a smaller goal value
    is_optimal: bool


class IntegerProgram:
    """Whole variables from 0 to an upper bound, rows with limits, a goal to minimise."""

    def __init__(self, upper: Sequence[int], seed: int) -> None:
        self._count = len(upper)
        self._highs = _quiet_highs()
        for option, value in (
            ("threads", 1),
            ("random_seed", seed % 2**31),
            ("mip_feasibility_tolerance", 1e-7),
            ("mip_abs_gap", 5e-7),
        ):
            self._highs.setOptionValue(option, value)
        index = np.arange(self._count, dtype=np.int32)
        bounds = np.array(upper, dtype=np.float64)
        self._highs.addVars(self._count, np.zeros(self._count), bounds)
        kinds = np.full(self._count, highspy.HighsVarType.kInteger)
        self._highs.changeColsIntegrality(self._count, index, kinds)

    def add_row(
        self, row: Mapping[int, int], *, lower: int | None = None, upper: int | None = None
    ) -> None:
        """A row of whole coefficients. Divided by their greatest common divisor, since small
        numbers keep the arithmetic of the solver exact."""
        divisor = math.gcd(*row.values()) or 1
        low = -highspy.kHighsInf if lower is None else float(-(-lower // divisor))
        high = highspy.kHighsInf if upper is None else float(upper // divisor)
        index = np.array(list(row), dtype=np.int32)
        values = np.array([value // divisor for value in row.values()], dtype=np.float64)
        self._highs.addRow(low, high, len(row), index, values)

    def minimise(
        self,
        goal: Mapping[int, float],
        *,
        seconds: float,
        relative_gap: float,
        start: Sequence[int],
        stop: Callable[[], bool],
    ) -> Solved:
        """Minimise the goal within the time. The answer is never worse than ``start``.

        The start is not handed to the solver: HiGHS 1.16 then at times calls an answer optimal
        and gives the start's values (a start that presolve improves in the reduced space). For
        the same reason an optimum counts only when its values are worth its bound.
        """
        highs = self._highs
        costs = np.zeros(self._count)
        for column, cost in goal.items():
            costs[column] = cost
        index = np.arange(self._count, dtype=np.int32)
        highs.changeColsCost(self._count, index, costs)
        highs.setOptionValue("time_limit", max(0.01, seconds))
        highs.setOptionValue("mip_rel_gap", relative_gap)

        def watch(event: Any) -> None:
            if stop():
                event.interrupt()

        highs.cbMipInterrupt.subscribe(watch)
        highs.cbSimplexInterrupt.subscribe(watch)
        try:
            highs.run()
        finally:
            highs.cbMipInterrupt.unsubscribe(watch)
            highs.cbSimplexInterrupt.unsubscribe(watch)
        info = highs.getInfo()
        bound = float(info.mip_dual_bound)
        values, value = tuple(start), _worth(goal, start)
        if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
            found = tuple(round(v) for v in highs.getSolution().col_value)
            if _worth(goal, found) < value:
                values, value = found, _worth(goal, found)
        allowed = relative_gap * abs(value) + 1e-6 + 1e-9 * abs(value)  # rounding of floats
        is_done = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return Solved(values, bound, is_done and value - bound <= allowed)


def _worth(goal: Mapping[int, float], values: Sequence[int]) -> float:
    return math.fsum(cost * values[column] for column, cost in goal.items())


def _quiet_highs() -> Any:
    """A solver that prints nothing.

    Its constructor writes a banner to the process's standard output before any option can be
    set, which would spoil the JSON and CSV of the command line.
    """
    construct: Callable[[], Any] = highspy.Highs
    with _CONSTRUCTION:
        try:
            kept = os.dup(1)
        except OSError:  # no standard output: nothing to spoil
            highs = construct()
        else:
            sink = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(sink, 1)
                highs = construct()
            finally:
                os.dup2(kept, 1)
                os.close(kept)
                os.close(sink)
    highs.setOptionValue("output_flag", False)
    return highs
