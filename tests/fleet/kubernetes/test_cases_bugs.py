"""Mis-readings of other tools, each with the right value, and never the wrong one.

One test for each ``bug`` of the real cases. ``RIGHT`` and ``WRONG`` say in numbers of our report
what the source says in words; the wrong one is what a plausible rule would give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.fleet.kubernetes.known_cases import BY_ID, EXPECTED, Json, inventory_of, report_of

GPU = "nvidia.com/gpu"


def total(number: str, key: str) -> Any:
    return report_of(number)["totals"][key]


def node(number: str, name: str = "node-a") -> Json:
    found: Json = report_of(number)["nodes"][name]
    return found


def units(number: str, resource: str = GPU, name: str = "node-a") -> Json:
    found: Json = node(number, name)["resources"][resource]
    return found


def pod(number: str, name: str) -> Json:
    found: Json = report_of(number)["pods"][name]
    return found


def work(number: str, name: str) -> Json:
    found: Json = report_of(number)["fits"]["workloads"][name]
    return found


def running(number: str, resource: str = GPU) -> int:
    return sum(p["requests"].get(resource, 0) for p in pods_bound(number))


def pods_bound(number: str) -> list[Json]:
    return [p for p in report_of(number)["pods"].values() if p["node"] and p["counts_now"]]


BUGS: dict[str, tuple[str, Callable[[], object], object, object]] = {
    "02": (
        "withdrawn GPU counted as usable",
        lambda: (total("02", "usable_gpus"), total("02", "unhealthy_gpus")),
        (7, 1),
        (8, 0),
    ),
    "03": (
        "size of a node taken from allocatable",
        lambda: (node("03")["physical_gpus"], node("03").get("unhealthy", 0)),
        (8, 3),
        (5, 0),
    ),
    "10": (
        "GPU nodes without devices end the whole import",
        lambda: (
            len(report_of("10")["nodes"]),
            total("10", "gpu_nodes"),
            total("10", "allocatable"),
            inventory_of("10").problems,
        ),
        (6, 4, 0, ()),
        (0, 0, 0, ()),
    ),
    "11": (
        "empty labels taken for a GPU",
        lambda: (node("11")["gpu_node"], node("11").get("model", "no group")),
        (False, "no group"),
        (True, ""),
    ),
    "12": (
        "labelled nodes times eight",
        lambda: (total("12", "advertised"), total("12", "free_whole_gpus")),
        (56, 48),
        (64, 64),
    ),
    "13": (
        "nodes that are not ready counted as available",
        lambda: (total("13", "usable_gpus"), total("13", "physical_gpus")),
        (48, 64),
        (64, 64),
    ),
    "14": (
        "free computed below zero",
        lambda: (units("14", name="node-b")["free"], total("14", "free_whole_gpus")),
        (0, 0),
        (2**64 - 1, 2**64 - 1),
    ),
    "16": (
        "accelerator name of a cloud not known",
        lambda: {n["model"] for n in report_of("16")["nodes"].values()},
        {"H100-SXM5-80GB"},
        {None},
    ),
    "17": (
        "memory of one GPU taken for that of the node",
        lambda: (node("17", "node-b")["memory_mib_total"], node("17", "node-b")["physical_gpus"]),
        (192_512, 2),
        (96_256, 2),
    ),
    "19": (
        "units of a shared GPU taken for GPUs",
        lambda: [
            (node("19", name)["physical_gpus"], sum(u["capacity"] for u in resources.values()))
            for name in ("renamed", "same-name")
            for resources in [node("19", name)["resources"]]
        ],
        [(1, 4), (1, 4)],
        [(4, 4), (4, 4)],
    ),
    "20": (
        "sharing label that was not updated",
        lambda: (
            node("20")["physical_gpus"],
            units("20", "nvidia.com/gpu.shared")["capacity"],
            any("replicas" in note for note in node("20")["notes"]),
        ),
        (1, 50, True),
        (50, 1, False),
    ),
    "21": (
        "allocatable expected to shrink with use",
        lambda: (units("21")["allocatable"], units("21")["free"]),
        (12, 8),
        (12, 12),
    ),
    "27": (
        "a board that is cut listed as no GPU",
        lambda: (node("27")["physical_gpus"], node("27")["mig_devices"]),
        (1, 4),
        (0, 0),
    ),
    "28": (
        "MIG devices under nvidia.com/gpu read as boards",
        lambda: (node("28")["physical_gpus"], units("28")["capacity"]),
        (2, 14),
        (14, 14),
    ),
    "35": (
        "a request and the claim made for it counted both",
        lambda: (
            pod("35", "team-a/gpu-full-pod")["gpus_once"],
            total("35", "requested"),
            total("35", "running_gpus"),
        ),
        (1, 1, 1),
        (2, 2, 2),
    ),
    "40": (
        "memory of a partition taken for the board's",
        lambda: (
            node("40", "node-dpx")["physical_memory_gib"],
            node("40", "node-dpx")["device_memory_gib"],
        ),
        (288, 144),
        (144, 144),
    ),
    "44": (
        "allocatable read as remaining",
        lambda: total("44", "free_whole_gpus"),
        2,
        4,
    ),
    "47": (
        "cores of a virtual node in the totals",
        lambda: (total("47", "cpu_cores"), node("47", "vk-1")["virtual"]),
        (8, True),
        (10_008, True),
    ),
    "48": (
        "units of memory read as devices",
        lambda: (node("48", "node-8")["physical_gpus"], node("48", "node-8")["memory_gib_per_gpu"]),
        (8, 31),
        (248, 31),
    ),
    "49": (
        "shares left taken for GPUs left",
        lambda: total("49", "free_whole_gpus"),
        2,
        65,
    ),
    "52": (
        "a register trusted after its plugin had gone",
        lambda: (total("52", "physical_gpus"), total("52", "usable_gpus")),
        (2, 0),
        (2, 2),
    ),
    "53": (
        "a sidecar treated as an ordinary init container",
        lambda: {
            k: v
            for k, v in pod("53", "team-a/share-with-sidecar")["requests"].items()
            if k.startswith("volcano.sh/")
        },
        {"volcano.sh/gpu-memory": 8, "volcano.sh/gpu-number": 2},
        {"volcano.sh/gpu-memory": 4, "volcano.sh/gpu-number": 1},
    ),
    "54": (
        "a reservation charged to its own namespace",
        lambda: {
            space: sum(
                (p.get("gpu_fraction") or 0) if p["node"] and not p["infrastructure"] else 0
                for name, p in report_of("54")["pods"].items()
                if name.startswith(f"{space}/")
            )
            for space in ("team-a", "kai-resource-reservation")
        },
        {"team-a": 1.0, "kai-resource-reservation": 0},
        {"team-a": 0, "kai-resource-reservation": 1},
    ),
    "56": (
        "every pod on a GPU node counted as a GPU, and finished ones",
        lambda: (
            total("56", "requested"),
            sum(p["counts_now"] for p in report_of("56")["pods"].values()),
        ),
        (0, 0),
        (12, 2),
    ),
    "57": (
        "a toleration expected that nobody adds",
        lambda: report_of("57")["fits"]["pods"]["team-a/gpu-pod"]["fits"],
        False,
        True,
    ),
    "59": (
        "a pod held by a foreign gate called admitted",
        lambda: pod("59", "team-b/kueue-sleep-1")["state"],
        "gated by 'test'",
        "running",
    ),
    "60": (
        "units of four kinds added up",
        lambda: (
            pod("60", "team-a/mixed")["whole_gpus"],
            pod("60", "team-a/mixed")["mig_devices"],
            pod("60", "team-a/mixed")["unclassified"],
        ),
        (3, 2, {"foo.bar/gpu": 2}),
        (7, 0, {}),
    ),
    "61": (
        "a quarter of a GPU charged as one",
        lambda: (
            pod("61", "team-a/quarter")["gpu_share"],
            pod("61", "team-a/quarter")["whole_gpus"],
        ),
        (0.25, 0),
        (1.0, 1),
    ),
    "63": (
        "GPUs in use taken for groups that serve",
        lambda: (
            total("63", "requested"),
            total("63", "groups_complete"),
            work("63", "team-a/vllm")["groups_fit_if_restarted"],
        ),
        (4, 0, 2),
        (4, 4, 0),
    ),
    "65": (
        "a gang admitted to a queue that has half of it",
        lambda: [
            (limit["needed_per_group"], limit["left"], limit["groups"])
            for limit in report_of("65")["fits"]["workloads"][
                next(iter(report_of("65")["fits"]["workloads"]))
            ]["limits"]
        ],
        [(16, 8, 0)],
        [],
    ),
    "66": (
        "a job that fits its queue refused",
        lambda: (
            work("66", "team-b/job-1")["queue"]["fits"],
            report_of("66")["queues"]["a800"]["left"],
            work("66", "team-b/job-1")["needs_per_group"],
        ),
        (True, {GPU: 4, "cpu": 5000}, {GPU: 3, "cpu": 4000}),
        (False, {GPU: 4, "cpu": 5000}, {GPU: 3, "cpu": 4000}),
    ),
    "70": (
        "a key that limits nothing believed",
        lambda: (
            report_of("70")["quota"]["team-a/kf-resource-quota"]["enforced"],
            report_of("70")["quota"]["team-a/kf-resource-quota"]["gpus_running"],
        ),
        (False, 4),
        (True, 1),
    ),
    "78": (
        "a running pod expected to go back to Pending",
        lambda: (
            running("78"),
            report_of("78")["quota"]["team-a/vc-quota"]["used"],
            report_of("78")["quota"]["team-a/vc-quota"]["hard"],
        ),
        (2, 2, 1),
        (1, 1, 1),
    ),
}
"""Case -> (the mis-reading, our answer, the right one, the wrong one)."""


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [pytest.param(*row, id=f"{number}-{name}") for number, (name, *row) in BUGS.items()],
)
def test_it_is_not_misread(answer: Callable[[], object], right: object, wrong: object) -> None:
    assert right != wrong
    found = answer()
    assert found == right
    assert found != wrong


def test_every_known_misreading_has_its_test() -> None:
    assert set(BUGS) == {case["id"] for case in EXPECTED if "bug" in case}
    assert len(BUGS) == 33


def test_the_words_of_the_source_name_the_numbers_that_are_asserted() -> None:
    """The table above was not made up: the numbers stand in the words of the cases."""
    for number, words in {
        "02": ("7 usable, 1 unhealthy", "8 usable"),
        "12": ("56 advertised, 48 free", "8 nodes x 8 = 64"),
        "17": ("192,512 MiB per node", "96,256 MiB per 2-GPU node"),
        "49": ("2 whole GPUs free", "65 of 70 free"),
        "63": ("2 complete groups", "4 GPUs in use, 0 groups serving"),
        "65": ("not admitted (16 > 8)", "admitted"),
    }.items():
        assert (BY_ID[number]["bug"]["right"], BY_ID[number]["bug"]["wrong"]) == words
