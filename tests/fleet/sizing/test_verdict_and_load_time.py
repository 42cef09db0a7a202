from __future__ import annotations

import pytest

from fleet.sizing.load_time import load_time
from fleet.sizing.requirement import Fit
from fleet.sizing.verdict import safety_margin, verdict

GIB = 1024.0


@pytest.mark.parametrize(
    ("weights", "usable", "margin"),
    [(10, 20, 0.3 + 0.2 + 0.5), (50, 80, 1.5 + 0.8 + 1.0), (0, 30, 0.3 + 1.0)],
)
def test_the_margin_grows_with_weights_and_memory(
    weights: float, usable: float, margin: float
) -> None:
    assert safety_margin(weights * GIB, usable * GIB) == pytest.approx(margin * GIB)


def test_the_verdict_changes_at_nothing_left_and_at_the_margin() -> None:
    margin = safety_margin(10 * GIB, 20 * GIB)
    assert verdict(-0.1, 10 * GIB, 20 * GIB) is Fit.NO
    assert verdict(0.0, 10 * GIB, 20 * GIB) is Fit.TIGHT
    assert verdict(margin - 0.1, 10 * GIB, 20 * GIB) is Fit.TIGHT
    assert verdict(margin, 10 * GIB, 20 * GIB) is Fit.FITS


def test_load_time_runs_from_local_disk_to_a_slow_network_disk() -> None:
    found = load_time(16.06, "dense")
    assert found.low == pytest.approx(16.06 / 2.0 + 38)
    assert found.high == pytest.approx(16.06 / 0.31 + 110 + 180)
    assert "46 s to 5 min 42 s" in found.line.formula


def test_pods_share_the_reading_at_the_fast_end_only() -> None:
    one, two = load_time(700, "moe"), load_time(700, "moe", pods=2)
    assert two.low == pytest.approx(350 / 2.0 + 60)
    assert two.high == one.high
