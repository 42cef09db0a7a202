"""What waits, in lines: each pod once, the most devices first, bounded and with its reason."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from fleet.inventory_report.fit_words import fit_words
from fleet.inventory_report.waiting import (
    MOST_JUDGED,
    MOST_LINES,
    Waiting,
    WaitingList,
    waiting_in,
)
from tests.fleet.kubernetes.known_cases import inventory_of
from tests.fleet.kubernetes.written import Json, cluster, node, pod
from tests.fleet.test_demand import job, made_by

GPU = "nvidia.com/gpu"


def lines(*objects: Json) -> tuple[Waiting, ...]:
    return waiting_in(cluster(*objects)).lines


def told(line: Waiting) -> tuple[str, str, int, int]:
    return line.name, line.state, line.pods, line.requests.get(GPU, 0)


def words(line: Waiting) -> str:
    assert line.fit is not None
    return fit_words(line.fit)


def test_pods_of_one_owner_that_wait_alike_are_one_line() -> None:
    gated = made_by("Job", "train", 2, schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])
    (line,) = lines(node(gpus=8), *gated)
    assert told(line) == ("train", "gated", 2, 16)
    assert line.reason == "queued by Kueue"


def test_a_suspended_workload_waits_without_pods_and_is_judged_whole() -> None:
    (line,) = lines(node(gpus=8), job(suspend=True, parallelism=2))
    assert told(line) == ("train", "suspended", 2, 16)
    assert words(line).startswith("0 of 1 group fits now")


def test_pods_that_nobody_created_wait_beside_those_that_are_there() -> None:
    found = lines(node(gpus=8), job(parallelism=3), *made_by("Job", "train", 1))
    assert sorted(map(told, found)) == [("train", "missing", 2, 16), ("train", "pending", 1, 8)]


def test_what_runs_waits_for_nothing() -> None:
    assert lines(node(gpus=8), pod("a", "node-a", gpus=8)) == ()


@pytest.mark.parametrize(
    ("free", "said"),
    [
        (8, "one such pod fits on node-a"),
        (4, "fits no node now: 1 node has only 4 nvidia.com/gpu"),
    ],
)
def test_a_pod_of_nobody_is_judged_by_itself(free: int, said: str) -> None:
    (line,) = lines(node(gpus=free), pod("lone", gpus=8))
    assert words(line) == said


def test_a_gang_known_by_its_pods_is_judged_whole() -> None:
    """Each pod of it fits, the four together do not."""
    pods = made_by("Job", "train", 4)
    (line,) = lines(node(gpus=8), *pods)
    assert words(line).startswith("0 of 1 group fits now")


def test_what_does_not_fit_into_the_list_is_counted() -> None:
    many = [pod(f"p{n}", gpus=1 + n % 8, meta={"labels": {}}) for n in range(MOST_LINES + 30)]
    found = waiting_in(cluster(node(gpus=8), *many))
    assert (len(found.lines), found.more, found.more_pods) == (MOST_LINES, 30, 30)
    asked = [line.requests[GPU] for line in found.lines]
    assert asked == sorted(asked, reverse=True)
    judged = [line.fit is not None for line in found.lines]
    assert judged == [place < MOST_JUDGED for place in range(MOST_LINES)]


def test_a_part_of_a_board_is_no_board() -> None:
    meta = {"annotations": {"gpu-fraction": "0.5"}}
    (line,) = lines(node(gpus=8), pod("half", meta=meta))
    assert (line.requests, line.gpu_fraction) == ({}, 0.5)
    assert words(line) == "not judged, it asks for a part of a GPU by annotation"


def test_a_claim_that_two_pods_share_counts_once() -> None:
    found = cluster(node(gpus=8), *made_by("Job", "train", 2))
    both = [
        replace(waits, claims=("shared",), claim_counts=(4,), claim_devices=4)
        for waits in found.pods
    ]
    own = replace(both[0], claims=("shared", "own"), claim_counts=(4, 1), claim_devices=5)
    (line,) = waiting_in(replace(found, pods=(own, both[1]))).lines
    assert line.claim_devices == 5


@pytest.mark.parametrize("number", ["08", "23", "58", "68", "77"])
def test_it_can_be_stored_and_told_again(number: str) -> None:
    found = waiting_in(inventory_of(number))
    assert found.lines
    again = msgspec.convert(msgspec.json.decode(msgspec.json.encode(found)), type=WaitingList)
    assert again == found
    assert [words(line) for line in again.lines] == [words(line) for line in found.lines]
