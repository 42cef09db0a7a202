"""The collector during a sync: on, but not through everything that is held."""

from __future__ import annotations

import gc
import weakref

import pytest

from planner.inventory.collector import young_only


class Ring:
    """A cycle of itself alone."""

    def __init__(self) -> None:
        self.me = self


def test_cycles_that_die_young_are_collected_during_a_sync() -> None:
    with young_only():
        assert gc.isenabled()
        dead = [weakref.ref(Ring()) for _ in range(10)]
        kept = [[number] for number in range(200_000)]
        assert not any(ring() for ring in dead)
    assert kept


def test_what_is_held_is_not_gone_through_again_and_again() -> None:
    with young_only():
        held = [[number] for number in range(200_000)]
        before = gc.get_stats()[2]["collections"]
        held += [[number] for number in range(1_000_000)]
        assert gc.get_stats()[2]["collections"] == before
    assert held


def test_several_syncs_at_a_time_leave_the_collector_as_it_was() -> None:
    before = gc.get_threshold()
    first, second = young_only(), young_only()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() != before
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before


def test_a_sync_that_fails_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold()
    with pytest.raises(RuntimeError), young_only():
        raise RuntimeError
    assert gc.get_threshold() == before
