"""Sizing against runs that people measured. Figures in docs/sizing.md."""

from __future__ import annotations

from fleet.sizing.requirement import Fit
from tests.fleet.sizing.accuracy import (
    kv_token_errors,
    right,
    serving_verdicts,
    summary,
    training_errors,
    training_verdicts,
    weight_errors,
)


def test_weights_per_gpu_are_within_two_percent_of_half_the_logs() -> None:
    count, median, p90 = summary(weight_errors())
    assert count >= 28
    assert median <= 0.02
    assert p90 <= 0.23


def test_tokens_in_the_kv_cache_are_within_half_a_percent_of_half_the_logs() -> None:
    count, median, p90 = summary(kv_token_errors())
    assert count >= 13
    assert median <= 0.005
    assert p90 <= 0.05


def test_serving_verdicts_are_right_and_every_refusal_is_foreseen() -> None:
    verdicts = serving_verdicts()
    assert len(verdicts) >= 68
    assert right(verdicts) >= 0.98
    refused = [fit for ran, fit in verdicts.values() if not ran]
    assert len(refused) == 7
    assert all(fit is Fit.NO for fit in refused)


def test_training_peaks_are_within_seven_percent_of_half_the_runs() -> None:
    count, median, p90 = summary(training_errors())
    assert count >= 12
    assert median <= 0.07
    assert p90 <= 0.20


def test_training_verdicts_are_right_in_19_of_20_jobs() -> None:
    verdicts = training_verdicts()
    assert len(verdicts) >= 22
    assert right(verdicts) >= 0.95
